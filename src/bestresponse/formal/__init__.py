"""Words into games: stories become checked logic programs, and what they mean is validated.

Names are imported when first used, so that `import bestresponse.formal` costs nothing.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.formal.evaluate.validation import (
        LevelFindings as LevelFindings,
        find_names as find_names,
        judge_levels as judge_levels,
        named_game as named_game,
        read_named_games as read_named_games,
    )
    from bestresponse.formal.formalize.autoformalizer import (
        Formalization as Formalization,
        Formalizer as Formalizer,
        Settings as Settings,
        formalize_many as formalize_many,
    )
    from bestresponse.formal.formalize.plan import (
        library as library,
    )
    from bestresponse.formal.strategies.agents import (
        Agent as Agent,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
