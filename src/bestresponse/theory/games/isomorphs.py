"""The same game in other clothes: isomorphs of a game, and the 2x2 games up to the order of their payoffs.

The same game written differently: permuted actions and players, new labels, positive affine payoffs.

An isomorphism maps player i of the new game to player `order[i]` of the old one, its action k to that player's action
`actions[i][k]`, and its payoff to scale * payoff + shift with scale > 0. Best responses, equilibria and every solution
concept that does not compare payoffs between players are carried along, so a solver or a model that answers both
games differently is reacting to the presentation.

The 144 strictly ordinal 2x2 games and their names.

Two players rank four outcomes without ties: 4! * 4! = 576 pairs of matrices, 144 games up to exchanging rows and
exchanging columns, 78 if exchanging the players makes no difference either (Rapoport & Guyer, "A taxonomy of 2x2
games", General Systems 11, 1966). Written so that the row player's best outcome is in the right column and the column
player's best in the upper row, each game is a combination of two of twelve payoff patterns, one for each player; a
pattern is named after the symmetric game it comes from (Robinson & Goforth, "The Topology of the 2x2 Games: A New
Periodic Table", Routledge, 2005; names and orientation of Bruns, "Names for games: locating 2x2 games", Games 6, 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.seeds import Seed, generator


@dataclass(frozen=True, eq=False, slots=True)
class Isomorph:
    """A rewritten game and the way back."""

    game: NormalForm
    order: tuple[int, ...]
    actions: tuple[tuple[int, ...], ...]
    scale: tuple[float, ...]
    shift: tuple[float, ...]

    def carry(self, profile: Sequence[Array]) -> tuple[Array, ...]:
        """Return a mixed profile of the old game, in the new one."""
        return tuple(np.asarray(profile[old])[list(ks)] for old, ks in zip(self.order, self.actions, strict=True))

    def back(self, profile: Sequence[Array]) -> tuple[Array, ...]:
        """Return a mixed profile of the new game, in the old one."""
        found: list[Array] = [np.empty(0)] * len(self.order)
        for old, ks, strategy in zip(self.order, self.actions, profile, strict=True):
            found[old] = np.asarray(strategy, dtype=np.float64)[np.argsort(ks)]
        return tuple(found)

    def then(self, following: Isomorph) -> Isomorph:
        """This rewriting followed by one of its result."""
        order = tuple(self.order[i] for i in following.order)
        actions = tuple(
            tuple(self.actions[i][k] for k in ks) for i, ks in zip(following.order, following.actions, strict=True)
        )
        scale = tuple(self.scale[i] * s for i, s in zip(following.order, following.scale, strict=True))
        shift = tuple(
            self.shift[i] * s + b for i, s, b in zip(following.order, following.scale, following.shift, strict=True)
        )
        return Isomorph(following.game, order, actions, scale, shift)


def permute_actions(game: NormalForm, actions: Sequence[Sequence[int]]) -> Isomorph:
    """Player i's new action k is its old action `actions[i][k]`; labels move with the actions.

    >>> swapped = permute_actions(NormalForm.zero_sum([[1, 2], [3, 4]]), [[1, 0], [0, 1]])
    >>> swapped.game.payoffs[0].tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    if len(actions) != game.num_players:
        raise UsageError(f"expected one order of actions for each of {game.num_players} players, got {len(actions)}")
    for who, ks, count in zip(game.players, actions, game.shape, strict=True):
        if sorted(ks) != list(range(count)):
            raise UsageError(f"actions of {who}: expected an order of 0 to {count - 1}, got {list(ks)}")
    cells = np.ix_(range(game.num_players), *actions)
    exact = None if game.rationals is None else game.rationals[cells]
    labels = tuple(tuple(names[k] for k in ks) for names, ks in zip(game.actions, actions, strict=True))
    return _made(
        game,
        replace(game, payoffs=game.payoffs[cells], actions=labels, rationals=exact),
        actions=tuple(tuple(ks) for ks in actions),
    )


def permute_players(game: NormalForm, order: Sequence[int]) -> Isomorph:
    """New player i is old player `order[i]`, with its actions, payoffs and name."""
    if sorted(order) != list(range(game.num_players)):
        raise UsageError(f"order: expected an order of 0 to {game.num_players - 1}, got {list(order)}")
    axes = 0, *(1 + i for i in order)
    payoffs = game.payoffs[list(order)].transpose(axes)
    exact = None if game.rationals is None else game.rationals[list(order)].transpose(axes)
    players, labels = tuple(game.players[i] for i in order), tuple(game.actions[i] for i in order)
    return _made(
        game, replace(game, payoffs=payoffs, players=players, actions=labels, rationals=exact), order=tuple(order)
    )


def relabel(
    game: NormalForm, actions: Sequence[Sequence[str]] | None = None, players: Sequence[str] | None = None
) -> Isomorph:
    """New names for actions, players or both; nothing moves."""
    labels = game.actions if actions is None else tuple(tuple(names) for names in actions)
    if len(labels) != game.num_players:
        raise UsageError(f"expected names of actions for {game.num_players} players, got {len(labels)}")
    who = game.players if players is None else tuple(players)
    return _made(game, replace(game, actions=labels, players=who))


def rescale(game: NormalForm, scale: Sequence[float], shift: Sequence[float]) -> Isomorph:
    """Player i's payoffs become scale[i] * payoff + shift[i]."""
    if len(scale) != game.num_players or len(shift) != game.num_players:
        raise UsageError(f"expected {game.num_players} scales and shifts, got {len(scale)} and {len(shift)}")
    if not all(0 < s < float("inf") for s in scale):
        raise UsageError(f"scale: expected positive numbers, got {list(scale)}")
    ones = (1,) * game.num_players
    payoffs = game.payoffs * np.reshape(scale, (-1, *ones)) + np.reshape(shift, (-1, *ones))
    scales, shifts = tuple(float(s) for s in scale), tuple(float(b) for b in shift)
    return _made(game, replace(game, payoffs=payoffs, rationals=None), scale=scales, shift=shifts)


def random_isomorph(seed: Seed, game: NormalForm, affine: bool = True) -> Isomorph:
    """Actions and players in random order and, if `affine`, payoffs scaled by 1/2 to 2 and shifted by -5 to 5."""
    rng = generator(seed)
    found = permute_actions(game, [rng.permutation(m).tolist() for m in game.shape])
    found = found.then(permute_players(found.game, rng.permutation(game.num_players).tolist()))
    if not affine:
        return found
    scale, shift = 2.0 ** rng.uniform(-1, 1, game.num_players), rng.uniform(-5, 5, game.num_players)
    return found.then(rescale(found.game, scale.tolist(), shift.tolist()))


def _made(
    old: NormalForm,
    new: NormalForm,
    order: tuple[int, ...] | None = None,
    actions: tuple[tuple[int, ...], ...] | None = None,
    scale: tuple[float, ...] | None = None,
    shift: tuple[float, ...] | None = None,
) -> Isomorph:
    """An isomorph that changes only what is given."""
    players = order or tuple(range(old.num_players))
    return Isomorph(
        new,
        players,
        actions or tuple(tuple(range(old.shape[i])) for i in players),
        scale or (1.0,) * old.num_players,
        shift or (0.0,) * old.num_players,
    )


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
    order = patterns()
    return tuple(_make(row, col) for at, row in enumerate(order) for col in order[at if up_to_exchange else 0 :])


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
    for own, player in zip(game.payoffs, game.players, strict=True):
        if len(np.unique(own)) < 4:
            raise InvalidGame(
                f"{player} is indifferent between outcomes {own.tolist()}; expected four different payoffs"
            )
    row, col = (1.0 + own.ravel().argsort().argsort().reshape(2, 2) for own in game.payoffs)
    if row[:, 0].max() == 4:
        row, col = row[:, ::-1], col[:, ::-1]
    if col[1].max() == 4:
        row, col = row[::-1], col[::-1]
    return _make(_find(row), _find(_reflect(col)))


def _find(ranks: Array) -> str:
    return next(name for name in _PATTERNS if np.array_equal(_ranks(name), ranks))
