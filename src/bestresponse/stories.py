"""Stories, programs and strategies that models write: the bundled ones, and studies of them."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.api.formalizing import (
        Formalized as Formalized,
        FormalizedStrategy as FormalizedStrategy,
        formalize_strategy as formalize_strategy,
    )
    from bestresponse.formal.evaluate.dataset import (
        stories as list_stories,  # noqa: F401
    )
    from bestresponse.games.logic.game import (
        as_game as make_logic_game,  # noqa: F401
    )
    from bestresponse.studies.stories.strategies import (
        strategies_study as bench_strategies,  # noqa: F401
    )
    from bestresponse.studies.stories.study import (
        stories_study as bench,  # noqa: F401
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
