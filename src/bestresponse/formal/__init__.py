"""Words into games: stories become checked logic programs, and what they mean is validated.

Names are imported when first used, so that `import bestresponse.formal` costs nothing.
"""

from bestresponse.core.lazy import lazy

_EXPORTS = {
    "Match": "equivalence",
    "same_game": "equivalence",
    "same_order": "equivalence",
    "strategically_equivalent": "equivalence",
}

__all__ = sorted(_EXPORTS)  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__, __dir__ = lazy(__name__, _EXPORTS)
