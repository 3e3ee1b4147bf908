"""Words into games: stories become checked logic programs, and what they mean is validated.

Names are imported when first used, so that `import bestresponse.formal` costs nothing.
"""

from bestresponse.core.lazy import lazy

_EXPORTS = {
    "Attempt": "autoformalizer",
    "BackCheck": "back_translation",
    "Election": "candidates",
    "Example": "examples",
    "Finding": "validation",
    "Formalization": "autoformalizer",
    "Formalizer": "autoformalizer",
    "Levels": "validation",
    "Match": "equivalence",
    "Named": "named_games",
    "Settings": "autoformalizer",
    "Story": "dataset",
    "compare": "back_translation",
    "elect": "candidates",
    "find_code": "extract_code",
    "formalize_many": "candidates",
    "holds_for": "named_games",
    "levels_of": "validation",
    "named_game": "named_games",
    "names_of": "named_games",
    "nearest": "retrieval",
    "same_game": "equivalence",
    "same_order": "equivalence",
    "strategically_equivalent": "equivalence",
    "write_program": "program_writer",
}

__all__ = sorted(_EXPORTS)  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__, __dir__ = lazy(__name__, _EXPORTS)
