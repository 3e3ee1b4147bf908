"""The games of a benchmark run: drawn, given or one in many orders, and told otherwise.

Game k depends only on the seed and k. Payoffs are multiplied by `scale` and rounded to `decimals`,
then solved as rounded: what a model is shown is what it is measured against. One game that the user
names is put in as many orders of its rows and columns as there are games, the first being its own:
a single answer says little about a player.

What should not change a rational player's answer:

    permuted     rows and columns in another order          swapped     the players change seats
    shifted      a constant added to all payoffs            scaled      all payoffs times three
    relabelled   other names for the actions                disguised   a story around it
    format       another way to write it down
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations
from math import factorial
from random import Random

import numpy as np

from bestresponse.core.errors import SettingError
from bestresponse.core.seeds import generator
from bestresponse.games.lookup import NamedGame
from bestresponse.games.matrix.game import FORMATS, themes
from bestresponse.studies.bench.families import (
    Properties,
    draw_family,
)
from bestresponse.studies.bench.given import GivenGames
from bestresponse.studies.bench.hard import draw_hard
from bestresponse.theory.equilibria.selection import select_equilibria
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.zero_sum.solve import ZeroSumSolutions, solve_zero_sum

OWN = "own"
"""The theme that shows a game of the user's under its own names."""
VARIANTS = (
    "permuted",
    "swapped",
    "shifted",
    "scaled",
    "relabelled",
    "disguised",
    "format",
)
_SCALED_BY = 3.0

Order = tuple[tuple[int, ...], tuple[int, ...]]
"""The original index of every row, and of every column."""


@dataclass(frozen=True)
class Source:
    """Where games come from.

    This is a family of games, one game whose actions are put in many orders, a list of games, or
    `hard` ones.
    """

    num_games: int
    seed: int
    shape: tuple[int, int]
    family: str = "zero-sum"
    scale: float = 100.0
    decimals: int = 0
    game: NamedGame | GivenGames | None = None
    properties: Properties = ()
    hard: bool = False

    @property
    def form(self) -> NormalForm | None:
        """The one game; None where games are drawn or several are given."""
        form = self.game.loaded.solvable() if isinstance(self.game, NamedGame) else None
        return form if isinstance(form, NormalForm) else None

    def name_actions(
        self,
        game: int,
        orders: Sequence[Order],
    ) -> dict[str, list[str] | list[list[str]]]:
        """Return the own names of a game's players and of its actions.

        Actions are in the order in which they are put.
        """
        if isinstance(self.game, GivenGames):
            form = self.game.forms[game]
            return {
                "players": list(form.players),
                "actions": [list(names) for names in form.actions],
            }
        one = self.form
        assert one is not None, "only games of the user's have names of their own"
        put = zip(one.actions, orders[game], strict=True)
        return {
            "players": list(one.players),
            "actions": [[names[k] for k in order] for names, order in put],
        }


@dataclass(frozen=True)
class Drawn:
    """All games of a source, payoffs (2, rows, cols) of each.

    `orders` where they are one game in several orders.

    Games of one shape are an array (n, 2, rows, cols); those of a list may have different shapes.
    """

    payoffs: Array | tuple[Array, ...]
    orders: tuple[Order, ...] = ()

    @cached_property
    def zero_sum(self) -> bool:
        """Whether all games are zero-sum."""
        if isinstance(self.payoffs, tuple):
            return all((table[0] == -table[1]).all() for table in self.payoffs)
        return bool((self.payoffs[:, 0] == -self.payoffs[:, 1]).all())

    @cached_property
    def solved(self) -> ZeroSumSolutions:
        """The zero-sum solutions of games of one shape, from the row player's side."""
        return solve_zero_sum(np.asarray(self.payoffs)[:, 0])

    @cached_property
    def _equilibria(self) -> dict[int, tuple[Array, ...]]:
        return {}

    def _solve(self, game: int) -> tuple[Array, ...]:
        if game not in self._equilibria:
            table = self.payoffs[game]
            if (table[0] == -table[1]).all():
                solved = solve_zero_sum(table[0])
                self._equilibria[game] = solved.row[0], solved.col[0]
            else:
                found = nash(NormalForm(table)).equilibria
                self._equilibria[game] = select_equilibria(found)[0].strategies
        return self._equilibria[game]

    def get_equilibrium(self, game: int) -> tuple[Array, Array]:
        """Return the equilibrium that opponents and the baseline `equilibrium` play.

        It is a (row, column strategy) pair: of several, the one with the highest joint payoff, then
        the risk-dominant one.

        One game in many orders is solved in its own order, so that the equilibrium is the same in
        every order.
        """
        if self.zero_sum and not isinstance(self.payoffs, tuple):
            return self.solved.row[game], self.solved.col[game]
        if self.orders:
            (row, col), (rows, cols) = self._solve(0), self.orders[game]
            return row[list(rows)], col[list(cols)]
        row, col = self._solve(game)
        return row, col


@lru_cache(maxsize=2)
def draw_games(source: Source) -> Drawn:
    """Draw the games of a source; playing and measuring a run share them."""
    if isinstance(source.game, GivenGames):
        return Drawn(source.game.tables[: source.num_games])
    if source.form is not None:
        table = source.form.payoffs
        orders = list_orders(source.shape, source.num_games, source.seed)
        payoffs = np.stack([table[:, list(rows)][:, :, list(cols)] for rows, cols in orders])
        payoffs.setflags(write=False)
        return Drawn(payoffs, orders)
    if source.hard:
        drawn = [
            draw_hard(number, source.seed, source.scale, source.decimals)
            for number in range(source.num_games)
        ]
        return Drawn(tuple(drawn))
    payoffs = draw_family(
        source.family,
        source.num_games,
        source.seed,
        shape=source.shape,
        scale=source.scale,
        decimals=source.decimals,
        properties=source.properties,
    )
    payoffs.setflags(write=False)
    return Drawn(payoffs)


def list_orders(shape: tuple[int, int], count: int, seed: int) -> tuple[Order, ...]:
    """List `count` different orders of rows and columns, the usual one first.

    The others are drawn by `seed`.
    """
    most = factorial(shape[0]) * factorial(shape[1])
    if count > most:
        raise SettingError("num_games", f"the actions can be put in {most} orders, not in {count}")
    usual: Order = (tuple(range(shape[0])), tuple(range(shape[1])))
    rng = generator(seed, "orders")
    if 2 * count > most:
        every = [(rows, cols) for rows in permutations(usual[0]) for cols in permutations(usual[1])]
        rest = [order for order in every if order != usual]
        rng.shuffle(rest)
        return (usual, *rest[: count - 1])
    orders = {usual: None}
    while len(orders) < count:
        rows = list(usual[0])
        cols = list(usual[1])
        rng.shuffle(rows)
        rng.shuffle(cols)
        orders[tuple(rows), tuple(cols)] = None
    return tuple(orders)


def own_view(payoffs: Array, seat: int) -> tuple[Array, Array]:
    """Return games (..., 2, rows, cols) as a seat sees them.

    Its own payoffs come first, then the other's, with its own actions as rows.
    """
    sides = payoffs if seat == 0 else payoffs[..., ::-1, :, :].swapaxes(-1, -2)
    return sides[..., 0, :, :], sides[..., 1, :, :]


@dataclass(frozen=True, slots=True)
class Variant:
    """A game as it is told: `back[i]` is the original index of the seat's own action i.

    `opponent_back` is the same for the opponent's actions; None where they are as drawn.
    """

    name: str
    payoffs: Array
    seat: int
    back: tuple[int, ...]
    shown_as: str
    theme: str
    opponent_back: tuple[int, ...] | None = None


def tell_variant(name: str, original: Variant, source: Source, game: int) -> Variant:
    """Tell `original` in the way that `name` says; game number and seed fix every draw."""
    rng = generator(source.seed, "variant", name, game)
    payoffs = original.payoffs
    seat = original.seat
    back = original.back
    shown_as = original.shown_as
    theme = original.theme
    zero_sum = bool((payoffs[0] == -payoffs[1]).all())
    orders: Order | None = None
    match name:
        case "permuted":
            orders = _shuffle(payoffs.shape[1], rng), _shuffle(payoffs.shape[2], rng)
            payoffs = payoffs[:, list(orders[0])][:, :, list(orders[1])]
        case "swapped":
            payoffs = payoffs[::-1].transpose(0, 2, 1)
            seat = 1 - seat
        case "shifted":  # with opposite signs where the game is zero-sum and has to stay so
            shift = [source.scale, -source.scale if zero_sum else source.scale]
            payoffs = payoffs + np.array(shift).reshape(2, 1, 1)
        case "scaled":
            payoffs = payoffs * _SCALED_BY
        case "relabelled":
            theme = "numbers" if theme != "numbers" else "neutral"
        case "disguised":
            theme = rng.choice(_list_stories(payoffs.shape[1:], theme))
        case "format":
            shown_as = rng.choice([other for other in FORMATS if other != shown_as])
    opponent_back = None
    if orders is not None:
        back = orders[seat]
        opponent_back = orders[1 - seat]
    return Variant(
        name,
        payoffs,
        seat=seat,
        back=back,
        shown_as=shown_as,
        theme=theme,
        opponent_back=opponent_back,
    )


def _shuffle(count: int, rng: Random) -> tuple[int, ...]:
    """Return another order than the usual one, where there is one."""
    order = list(range(count))
    while count > 1 and order == sorted(order):
        rng.shuffle(order)
    return tuple(order)


def _list_stories(shape: tuple[int, ...], current: str) -> list[str]:
    """List the other themes with a story that have names enough.

    The current one where there is none.
    """
    fitting = []
    for name, theme in themes().items():
        if (
            theme.story
            and name != current
            and all(m <= len(a) for m, a in zip(shape, theme.actions, strict=True))
        ):
            fitting.append(name)
    return fitting or [current]
