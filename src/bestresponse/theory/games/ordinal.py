"""The 144 strictly ordinal 2x2 games and their names.

Two players rank four outcomes without ties: 4! * 4! = 576 pairs of matrices, 144 games up to exchanging rows and
exchanging columns, 78 if exchanging the players makes no difference either (Rapoport & Guyer, "A taxonomy of 2x2
games", General Systems 11, 1966). Written so that the row player's best outcome is in the right column and the column
player's best in the upper row, each game is a combination of two of twelve payoff patterns, one for each player; a
pattern is named after the symmetric game it comes from (Robinson & Goforth, "The Topology of the 2x2 Games: A New
Periodic Table", Routledge, 2005; names and orientation of Bruns, "Names for games: locating 2x2 games", Games 6, 2015).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["OrdinalGame", "name_ordinal", "ordinal_games", "patterns"]

# A symmetric game in the usual letters: both cooperate R, both defect P, the cooperator of an unequal pair S, its
# defector T. Each pattern is listed from best to worst outcome; the row player's matrix is [[S, R], [P, T]].
_PATTERNS = {
    "chicken": "TRSP",
    "battle": "TSRP",
    "hero": "TSPR",
    "compromise": "TPSR",
    "deadlock": "TPRS",
    "prisoners-dilemma": "TRPS",
    "stag-hunt": "RTPS",
    "assurance": "RPTS",
    "coordination": "RPST",
    "peace": "RSPT",
    "harmony": "RSTP",
    "concord": "RTSP",
}


@dataclass(frozen=True, slots=True)
class OrdinalGame:
    """One of the 144: each player's pattern, and the game with ranks from 1 (worst) to 4 (best) as payoffs."""

    row: str
    col: str
    game: NormalForm

    @property
    def name(self) -> str:
        """The symmetric game itself, or the row player's pattern followed by the column player's."""
        return self.row if self.row == self.col else f"{self.row}-{self.col}"

    @property
    def symmetric(self) -> bool:
        """Whether both players have the same pattern."""
        return self.row == self.col


def patterns() -> tuple[str, ...]:
    """Return the names of the twelve symmetric games, neighbours differing by one swap of adjacent ranks."""
    return tuple(_PATTERNS)


def ordinal_games(up_to_exchange: bool = False) -> tuple[OrdinalGame, ...]:
    """Return all 144 games, or the 78 that remain if exchanging the players does not make a new game.

    >>> len(ordinal_games()), len(ordinal_games(up_to_exchange=True))
    (144, 78)
    >>> ordinal_games()[0].name, ordinal_games()[1].name
    ('chicken', 'chicken-battle')
    """
    return tuple(_all(up_to_exchange))


def _all(up_to_exchange: bool) -> Iterator[OrdinalGame]:
    order = patterns()
    for at, row in enumerate(order):
        for col in order[at if up_to_exchange else 0 :]:
            yield _make(row, col)


def _make(row: str, col: str) -> OrdinalGame:
    payoffs = np.stack([_ranks(row), _reflect(_ranks(col))])
    labels = (("up", "down"), ("left", "right"))
    name = row if row == col else f"{row}-{col}"
    return OrdinalGame(row, col, NormalForm(payoffs, actions=labels, name=name))


def _ranks(pattern: str) -> Array:
    worth = {letter: float(4 - place) for place, letter in enumerate(_PATTERNS[pattern])}
    return np.array([[worth["S"], worth["R"]], [worth["P"], worth["T"]]])


def _reflect(matrix: Array) -> Array:
    """The same payoffs seen from the other side: reflected in the diagonal from lower left to upper right."""
    return matrix[::-1, ::-1].T


def name_ordinal(game: NormalForm) -> OrdinalGame:
    """Say which of the 144 a 2x2 game is; only the order of each player's payoffs counts.

    >>> name_ordinal(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])).name
    'prisoners-dilemma'
    """
    if game.shape != (2, 2):
        raise UsageError(f"only 2x2 games are in this list, got shape {game.shape}")
    row, col = (_to_ranks(own, who) for own, who in zip(game.payoffs, game.players, strict=True))
    if row[:, 0].max() == 4:
        row, col = row[:, ::-1], col[:, ::-1]
    if col[1].max() == 4:
        row, col = row[::-1], col[::-1]
    return _make(_find(row), _find(_reflect(col)))


def _to_ranks(payoffs: Array, who: str) -> Array:
    if len(np.unique(payoffs)) < 4:
        raise InvalidGame(f"{who} is indifferent between outcomes {payoffs.tolist()}; expected four different payoffs")
    return 1.0 + payoffs.ravel().argsort().argsort().reshape(2, 2).astype(np.float64)


def _find(ranks: Array) -> str:
    return next(name for name in _PATTERNS if np.array_equal(_ranks(name), ranks))
