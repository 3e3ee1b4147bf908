"""A hand of poker, as a page draws it: read from the label of its information set."""

from dataclasses import dataclass

_MOVES = {"p": "pass", "b": "bet", "c": "call", "r": "raise"}
_RAISES = (2, 4)


@dataclass(frozen=True, slots=True)
class Hand:
    """The own card, the open card where there is one, the moves so far, and what is in the pot."""

    card: str
    open: str
    moves: tuple[tuple[str, str], ...]
    pot: int


def read_hand(game: str, label: str, roles: tuple[str, ...]) -> Hand | None:
    """Read the label of Kuhn's poker, or of Leduc poker for two; None for other games.

    >>> read_hand("kuhn-poker", "K pb", ("player 1", "player 2"))
    Hand(card='K', open='', moves=(('player 1', 'pass'), ('player 2', 'bet')), pot=3)
    >>> read_hand("kuhn-poker-3", "T pbb", ("player 1", "player 2", "player 3")).moves[-1]
    ('player 3', 'bet')
    >>> read_hand("leduc-poker", "J crc Q r", ("player 1", "player 2")).pot
    10
    """
    card, *rest = label.split(" ")
    if game.startswith("kuhn-poker"):
        letters = rest[0] if rest else ""
        moves = tuple((roles[k % len(roles)], _MOVES[letter]) for k, letter in enumerate(letters))
        return Hand(card, "", moves, len(roles) + letters.count("b"))
    if game != "leduc-poker" or len(roles) != 2:
        return None
    opened = next((part for part in rest if part in ("J", "Q", "K")), "")
    index = rest.index(opened) if opened else len(rest)
    return Hand(
        card, opened, *_count_pot(("".join(rest[:index]), "".join(rest[index + 1 :])), roles)
    )


def _count_pot(
    rounds: tuple[str, str], roles: tuple[str, ...]
) -> tuple[tuple[tuple[str, str], ...], int]:
    paid = [1, 1]
    moves: list[tuple[str, str]] = []
    for size, letters in zip(_RAISES, rounds, strict=True):
        for k, letter in enumerate(letters):
            seat = k % 2
            paid[seat] = paid[1 - seat] + (size if letter == "r" else 0)
            moves.append((roles[seat], _MOVES[letter]))
    return tuple(moves), sum(paid)
