"""Claims about games: who reads and reviews them, and a model as a judge."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.formal.claims.review import (
        Reviewer,
    )
    from bestresponse.formal.claims.translation import (
        RulesTranslator,
    )
    from bestresponse.studies.verify.config import (
        VerifyConfig,
    )
    from bestresponse.studies.verify.judge import (
        judge_reasoning as judge,
    )

    __all__ = ["Reviewer", "RulesTranslator", "VerifyConfig", "judge"]
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
