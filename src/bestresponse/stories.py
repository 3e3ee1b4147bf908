"""Stories, programs and strategies that models write: the bundled ones, and studies of them."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.api.formalizing import (
        Formalized,
        FormalizedStrategy,
        formalize_strategy,
    )
    from bestresponse.formal.evaluate.dataset import (
        stories as list_stories,
    )
    from bestresponse.games.logic.game import (
        as_game as make_logic_game,
    )
    from bestresponse.studies.stories.strategies import (
        strategies_study as bench_strategies,
    )
    from bestresponse.studies.stories.study import (
        stories_study as bench,
    )

    __all__ = [
        "Formalized",
        "FormalizedStrategy",
        "bench",
        "bench_strategies",
        "formalize_strategy",
        "list_stories",
        "make_logic_game",
    ]
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
