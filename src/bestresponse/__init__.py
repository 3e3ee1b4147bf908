"""Language models meet game theory: describe, formalize, solve, play, measure.

The benchmark's Python interface is here; everything else lives in the packages `core`, `theory`, `logic`, `models`,
`games`, `players`, `report` and `studies`. Names are imported when first used.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

__version__ = "0.1.0"

if TYPE_CHECKING:
    from bestresponse.studies.bench.classic import (
        Benchmark as Benchmark,
    )
    from bestresponse.studies.bench.classic import (
        GamePromptFormatter as GamePromptFormatter,
    )
    from bestresponse.studies.bench.classic import (
        LLMInterface as LLMInterface,
    )
    from bestresponse.studies.bench.classic import (
        generate_games as generate_games,
    )
    from bestresponse.studies.bench.classic import (
        matrix_game as matrix_game,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
