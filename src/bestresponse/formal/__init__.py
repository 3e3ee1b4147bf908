"""Words into games: stories become checked logic programs, and what they mean is validated.

Names are imported when first used, so that `import bestresponse.formal` costs nothing.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.formal.evaluate.dataset import (
        Story as Story,
    )
    from bestresponse.formal.evaluate.equivalence import (
        Match as Match,
    )
    from bestresponse.formal.evaluate.equivalence import (
        same_game as same_game,
    )
    from bestresponse.formal.evaluate.equivalence import (
        same_order as same_order,
    )
    from bestresponse.formal.evaluate.equivalence import (
        strategically_equivalent as strategically_equivalent,
    )
    from bestresponse.formal.evaluate.named_games import (
        Named as Named,
    )
    from bestresponse.formal.evaluate.named_games import (
        check_constraints as check_constraints,
    )
    from bestresponse.formal.evaluate.named_games import (
        find_names as find_names,
    )
    from bestresponse.formal.evaluate.named_games import (
        named_game as named_game,
    )
    from bestresponse.formal.evaluate.validation import (
        Finding as Finding,
    )
    from bestresponse.formal.evaluate.validation import (
        Levels as Levels,
    )
    from bestresponse.formal.evaluate.validation import (
        judge_levels as judge_levels,
    )
    from bestresponse.formal.formalize.autoformalizer import (
        Attempt as Attempt,
    )
    from bestresponse.formal.formalize.autoformalizer import (
        Formalization as Formalization,
    )
    from bestresponse.formal.formalize.autoformalizer import (
        Formalizer as Formalizer,
    )
    from bestresponse.formal.formalize.autoformalizer import (
        Settings as Settings,
    )
    from bestresponse.formal.formalize.back_translation import (
        BackCheck as BackCheck,
    )
    from bestresponse.formal.formalize.back_translation import (
        compare as compare,
    )
    from bestresponse.formal.formalize.candidates import (
        Election as Election,
    )
    from bestresponse.formal.formalize.candidates import (
        elect as elect,
    )
    from bestresponse.formal.formalize.candidates import (
        formalize_many as formalize_many,
    )
    from bestresponse.formal.formalize.examples import (
        Example as Example,
    )
    from bestresponse.formal.formalize.extract_code import (
        find_code as find_code,
    )
    from bestresponse.formal.formalize.retrieval import (
        nearest as nearest,
    )
    from bestresponse.games.logic.program_writer import (
        write_program as write_program,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
