"""Words into games: stories become checked logic programs, and what they mean is validated.

Names are imported when first used, so that `import bestresponse.formal` costs nothing.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.formal.evaluate.dataset import Story as Story
    from bestresponse.formal.evaluate.named_games import (
        Finding as Finding,
        Named as Named,
        check_constraints as check_constraints,
        find_names as find_names,
        named_game as named_game,
    )
    from bestresponse.formal.evaluate.validation import (
        Levels as Levels,
        compare_tables as compare_tables,
        judge_levels as judge_levels,
    )
    from bestresponse.formal.formalize.autoformalizer import (
        Attempt as Attempt,
        Election as Election,
        Formalization as Formalization,
        Formalizer as Formalizer,
        Settings as Settings,
        elect as elect,
        formalize_many as formalize_many,
    )
    from bestresponse.formal.formalize.examples import Example as Example, nearest as nearest
    from bestresponse.formal.formalize.extract_code import find_code as find_code
    from bestresponse.formal.formalize.story_claims import (
        BackCheck as BackCheck,
        compare_with_story as compare_with_story,
    )
    from bestresponse.games.logic.tables import write_program as write_program
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
