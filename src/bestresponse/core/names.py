"""Names that can be told apart by whoever reads and types them."""

from __future__ import annotations

from functools import lru_cache

from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE, REFEREE


@lru_cache(maxsize=1024)
def check_roles(names: tuple[str, ...]) -> None:
    """Refuse players whose names are empty, alike, or belong to the game itself.

    >>> try:
    ...     check_roles(("Ann", "nature"))
    ... except InvalidGame as error:
    ...     print(error)
    a player is named 'nature'; this name belongs to the game itself
    """
    for name in names:
        if name.casefold() in (NATURE, REFEREE):
            raise InvalidGame(f"a player is named {name!r}; this name belongs to the game itself")
    check_distinct(names, "a player")


@lru_cache(maxsize=1024)
def check_distinct(names: tuple[str, ...], what: str) -> None:
    """Refuse names that are empty, or equal but for the case of their letters.

    `what` names the place.

    >>> try:
    ...     check_distinct(("left", "Left"), "a move of Ann")
    ... except InvalidGame as error:
    ...     print(str(error).partition("; ")[0])
    a move of Ann is named 'left' and another 'Left'
    """
    known: dict[str, str] = {}
    for name in names:
        if not name.strip():
            raise InvalidGame(f"{what} has an empty name; give every one a name")
        other = known.setdefault(name.casefold(), name)
        if other != name:
            raise InvalidGame(
                f"{what} is named {other!r} and another {name!r}; give them names that differ in"
                " more than capital letters"
            )
