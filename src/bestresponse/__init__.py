"""Language models meet game theory: describe, formalize, solve, play, measure.

The benchmark's Python interface is here; everything else lives in the packages `core`, `theory`, `logic`, `models`,
`games`, `players`, `report` and `studies`. Names are imported when first used.
"""

from bestresponse.core.lazy import lazy

__version__ = "0.1.0"

_EXPORTS = {
    "Benchmark": "studies.bench.classic",
    "GamePromptFormatter": "studies.bench.classic",
    "LLMInterface": "studies.bench.classic",
    "generate_games": "studies.bench.classic",
    "matrix_game": "studies.bench.classic",
}

__all__ = ["Benchmark", "GamePromptFormatter", "LLMInterface", "__version__", "generate_games", "matrix_game"]

__getattr__, __dir__ = lazy(__name__, _EXPORTS)
