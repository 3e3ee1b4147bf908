"""The same game written differently.

This covers isomorphs of a game, and the 2x2 games up to the order of their payoffs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product

import numpy as np

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    as_normal_form,
)
from bestresponse.theory.seeds import Seed, as_generator


@dataclass(frozen=True, eq=False, slots=True)
class Isomorph:
    """A rewritten game and the way back.

    It has permuted actions and players, new labels, and positive affine payoffs.

    An isomorphism maps player i of the new game to player `order[i]` of the old one, its action k
    to that player's action `actions[i][k]`, and its payoff to scale * payoff + shift with scale >
    0. Best responses, equilibria and every solution concept that does not compare payoffs between
    players are carried along, so a solver or a model that answers both games differently is
    reacting to the presentation.
    """

    game: NormalForm
    order: tuple[int, ...]
    actions: tuple[tuple[int, ...], ...]
    scale: tuple[float, ...]
    shift: tuple[float, ...]

    def carry(self, profile: Sequence[Array]) -> tuple[Array, ...]:
        """Return a mixed profile of the old game, in the new one."""
        carried = []
        for old, actions in zip(self.order, self.actions, strict=True):
            mix = np.asarray(profile[old])
            carried.append(mix[list(actions)])
        return tuple(carried)

    def back(self, profile: Sequence[Array]) -> tuple[Array, ...]:
        """Return a mixed profile of the new game, in the old one."""
        old = {}
        for player, actions, strategy in zip(self.order, self.actions, profile, strict=True):
            mix = np.asarray(strategy, dtype=np.float64)
            old[player] = mix[np.argsort(actions)]
        return tuple(old[player] for player in range(len(old)))


def rewrite_game(
    game: GameLike,
    *,
    order: Sequence[int] | None = None,
    actions: Sequence[Sequence[int]] | None = None,
    scale: Sequence[float] | None = None,
    shift: Sequence[float] | None = None,
) -> Isomorph:
    """Permute players or their actions, or map payoffs.

    Names move along, and what is not given stays as it is.

    Player i becomes the old player `order[i]`, its action k that player's action `actions[i][k]`,
    and its payoffs become scale[i] * payoff + shift[i].

    >>> swapped = rewrite_game(NormalForm.zero_sum([[1, 2], [3, 4]]), actions=[[1, 0], [0, 1]])
    >>> swapped.game.payoffs[0].tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    game = as_normal_form(game)
    count = game.num_players
    players = list(range(count) if order is None else order)
    if sorted(players) != list(range(count)):
        raise UsageError(f"order: expected an order of 0 to {count - 1}, got {players}")
    if actions is None:
        actions = [range(game.shape[i]) for i in players]
    moves = list(map(tuple, actions))
    factors = tuple(map(float, scale or [1.0] * count))
    offsets = tuple(map(float, shift or [0.0] * count))
    if {len(moves), len(factors), len(offsets)} != {count}:
        sizes = f"{len(moves)}, {len(factors)} and {len(offsets)}"
        raise UsageError(
            f"expected orders of actions, scales and shifts for {count} players, got {sizes}"
        )
    for old, ordering in zip(players, moves, strict=True):
        if sorted(ordering) != list(range(game.shape[old])):
            name = game.players[old]
            last = game.shape[old] - 1
            raise UsageError(
                f"actions of {name}: expected an order of 0 to {last}, got {list(ordering)}"
            )
    if not all(0 < factor < float("inf") for factor in factors):
        raise UsageError(f"scale: expected positive numbers, got {list(factors)}")
    axes = (0, *(1 + i for i in players))
    cells = np.ix_(range(count), *moves)
    payoffs = game.payoffs[players].transpose(axes)[cells]
    exact = None
    if scale is not None or shift is not None:
        ones = (1,) * count
        by_player = np.reshape(factors, (-1, *ones))
        payoffs = payoffs * by_player + np.reshape(offsets, (-1, *ones))
    elif game.rationals is not None:
        exact = game.rationals[players].transpose(axes)[cells]

    labels = []
    for old, ordering in zip(players, moves, strict=True):
        names = game.actions[old]
        labels.append(tuple([names[k] for k in ordering]))
    rewritten = replace(
        game,
        payoffs=payoffs,
        players=tuple(game.players[old] for old in players),
        actions=tuple(labels),
        rationals=exact,
    )
    return Isomorph(
        game=rewritten,
        order=tuple(players),
        actions=tuple(moves),
        scale=factors,
        shift=offsets,
    )


def random_isomorph(seed: Seed, game: GameLike, affine: bool = True) -> Isomorph:
    """Put actions and players in random order and, if `affine`, change the payoffs.

    Payoffs are then scaled by 1/2 to 2 and shifted by -5 to 5.
    """
    game = as_normal_form(game)
    rng = as_generator(seed)
    order = rng.permutation(game.num_players).tolist()
    actions = [rng.permutation(game.shape[old]).tolist() for old in order]
    if not affine:
        return rewrite_game(game, order=order, actions=actions)
    scale = 2.0 ** rng.uniform(-1, 1, game.num_players)
    shift = rng.uniform(-5, 5, game.num_players)
    return rewrite_game(
        game,
        order=order,
        actions=actions,
        scale=scale.tolist(),
        shift=shift.tolist(),
    )


# A symmetric game in the usual letters: both cooperate R, both defect P, the cooperator of an
# unequal pair S, its defector T. Each pattern is listed from best to worst outcome; the row
# player's matrix is [[S, R], [P, T]].
PATTERNS = {
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
"""The twelve symmetric games, neighbours differing by one swap of adjacent ranks."""


@dataclass(frozen=True, slots=True)
class OrdinalGame:
    """One of the 144: each player's pattern, and the game with ranks as payoffs.

    Ranks go from 1 (worst) to 4 (best).
    """

    row: str
    col: str
    game: NormalForm

    @property
    def name(self) -> str:
        """The name of the symmetric game, or the row pattern followed by the column pattern."""
        return self.game.name

    @property
    def symmetric(self) -> bool:
        """Whether both players have the same pattern."""
        return self.row == self.col


def ordinal_games(up_to_exchange: bool = False) -> tuple[OrdinalGame, ...]:
    """Return the 144 strictly ordinal 2x2 games, or the 78 that remain up to exchange.

    The 78 remain if exchanging the players does not make a new game.

    Two players rank four outcomes without ties: 4! * 4! = 576 pairs of matrices, 144 games up to
    exchanging rows and exchanging columns (Rapoport & Guyer, "A taxonomy of 2x2 games", General
    Systems 11, 1966). Written so that the row player's best outcome is in the right column and the
    column player's best in the upper row, each game is a combination of two of twelve payoff
    patterns, one for each player; a pattern is named after the symmetric game it comes from
    (Robinson & Goforth, "The Topology of the 2x2 Games: A New Periodic Table", Routledge, 2005;
    names and orientation of Bruns, "Names for games: locating 2x2 games", Games 6, 2015).

    >>> len(ordinal_games()), len(ordinal_games(up_to_exchange=True))
    (144, 78)
    >>> ordinal_games()[0].name, ordinal_games()[1].name
    ('chicken', 'chicken-battle')
    """
    if up_to_exchange:
        pairs = list(combinations_with_replacement(PATTERNS, 2))
    else:
        pairs = list(product(PATTERNS, PATTERNS))
    return tuple(_make(row, col) for row, col in pairs)


def _make(row: str, col: str) -> OrdinalGame:
    payoffs = np.stack([_ranks(row), _reflect(_ranks(col))])
    name = row if row == col else f"{row}-{col}"
    game = NormalForm(payoffs, actions=(("up", "down"), ("left", "right")), name=name)
    return OrdinalGame(row, col, game)


def _ranks(pattern: str) -> Array:
    worth = {letter: float(4 - position) for position, letter in enumerate(PATTERNS[pattern])}
    return np.array([[worth["S"], worth["R"]], [worth["P"], worth["T"]]])


def _reflect(matrix: Array) -> Array:
    """The same payoffs seen from the other side.

    They are reflected in the diagonal from lower left to upper right.
    """
    return matrix[::-1, ::-1].T


def name_ordinal(game: GameLike) -> OrdinalGame:
    """Say which of the 144 a 2x2 game is; only the order of each player's payoffs counts.

    >>> name_ordinal(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])).name
    'prisoners-dilemma'
    """
    game = as_normal_form(game)
    if game.shape != (2, 2):
        raise UsageError(f"only 2x2 games are in this list, got shape {game.shape}")
    for table, player in zip(game.payoffs, game.players, strict=True):
        if len(np.unique(table)) < 4:
            raise InvalidGame(
                f"{player} is indifferent between outcomes {table.tolist()}; expected four"
                " different payoffs"
            )
    row, col = map(_rank_cells, game.payoffs)
    if row[:, 0].max() == 4:
        row = row[:, ::-1]
        col = col[:, ::-1]
    if col[1].max() == 4:
        row = row[::-1]
        col = col[::-1]
    return _make(_find_pattern(row), _find_pattern(_reflect(col)))


def _rank_cells(table: Array) -> Array:
    """Return the ranks of four different payoffs, from 1 (worst) to 4 (best)."""
    order = table.ravel().argsort()
    return np.asarray(1.0 + order.argsort().reshape(2, 2))


def _find_pattern(ranks: Array) -> str:
    return next(name for name in PATTERNS if np.array_equal(_ranks(name), ranks))
