"""Claims about games: who reads and reviews them, and a model as a judge."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.formal.claims.review import (
        Reviewer as Reviewer,
    )
    from bestresponse.formal.claims.translation import (
        RulesTranslator as RulesTranslator,
    )
    from bestresponse.studies.verify.config import (
        VerifyConfig as VerifyConfig,
    )
    from bestresponse.studies.verify.judge import (
        judge_reasoning as judge,  # noqa: F401
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
