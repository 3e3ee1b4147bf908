"""A mediator: a third party that moves for those who delegate, depending on who does.

Definition: every player has one more move, to delegate. If all delegate, the mediator makes the
moves that are best for all together. If only some do, it makes for them the moves that leave the
others the least: the most that these could get together is smallest.

D. Monderer, M. Tennenholtz, "Strong mediated equilibrium", Artificial Intelligence 173, 2009.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

import numpy as np

from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.core.game import Game, Role, S
from bestresponse.core.told import GameRule, TextPlace, Worded
from bestresponse.games.capabilities import HasNormalForm
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.mechanisms.plays import choose_play, tell_moves
from bestresponse.theory.games.normal_form import NormalForm

DELEGATE = "delegate"
_MOST_CELLS = 100_000
Plan = Mapping[int, int]
"""The move that the mediator makes, by the seat that delegates."""


@dataclass(frozen=True, slots=True)
class MediatorRule(GameRule):
    """What the mediator does if all delegate, and if only some do."""

    message = "mediator"
    move: str
    agreed: TextPlace
    plans: TextPlace


def with_mediator(game: Game[S], **moves: str) -> MatrixGame:
    """Return `game` with a mediator; `moves` are its moves if all delegate, the best by default.

    The best pay all together the most, and of several the poorest the most.

    >>> from bestresponse.games.lookup import find_game
    >>> game = with_mediator(find_game("prisoners-dilemma").playable())
    >>> game.form.payoffs[0].tolist()
    [[3.0, 0.0, 0.0], [5.0, 1.0, 1.0], [5.0, 1.0, 3.0]]
    """
    if not isinstance(game, HasNormalForm):
        raise UsageError(
            f"a mediator moves for players who all choose once and at the same time; {game.name} is"
            " no such game, so put the mediator before other mechanisms"
        )
    form = game.normal_form
    if form.num_players < 2:
        raise UsageError(f"a mediator is for two or more players; {game.name} has one")
    if any(DELEGATE in actions for actions in form.actions):
        raise UsageError(f"{game.name} has a mediator already, or a move called {DELEGATE}")
    if prod(size + 1 for size in form.shape) > _MOST_CELLS:
        raise TooLarge(f"{form.name} has too many payoffs for a mediator; use a smaller game")
    plain = MatrixGame(form)
    best, _ = choose_play(plain, moves, "a mediator")
    agreed = dict(best.steps[0])
    plans = dict(_list_plans(form))
    everybody = tuple(range(form.num_players))
    plans[everybody] = {
        seat: form.actions[seat].index(agreed[role]) for seat, role in enumerate(form.players)
    }
    told = []
    for plan in plans.values():
        made: list[tuple[Role, str]] = []
        for seat, move in plan.items():
            made.append((form.players[seat], form.actions[seat][move]))
        moves_told = tell_moves("moves", [tuple(made)])
        told.append(Worded("{moves}", (moves_told,)))
    some = TextPlace("plans", tuple(told[:-1]), "semicolons")
    rule = MediatorRule(DELEGATE, tell_moves("agreed", best.steps), some)
    return MatrixGame(_mediate(form, plans), rule=rule)


def _list_plans(form: NormalForm) -> Iterator[tuple[tuple[int, ...], Plan]]:
    """Yield what the mediator does for each group that is not all, and not nobody."""
    welfare = form.payoffs
    for count in range(1, form.num_players):
        for seats in combinations(range(form.num_players), count):
            others = [seat for seat in range(form.num_players) if seat not in seats]
            outside = welfare[others].sum(axis=0)
            left = outside.max(axis=tuple(others)).ravel()
            number = int(np.argmin(np.round(left, 9)))
            chosen = np.unravel_index(number, [form.shape[seat] for seat in seats])
            yield seats, dict(zip(seats, map(int, chosen), strict=True))


def _mediate(form: NormalForm, plans: Mapping[tuple[int, ...], Plan]) -> NormalForm:
    """Make the table in which everybody has one more move, to delegate."""
    shape = tuple(size + 1 for size in form.shape)
    cells = []
    for cell in product(*map(range, shape)):
        seats = tuple(seat for seat, move in enumerate(cell) if move == form.shape[seat])
        made = {**dict(enumerate(cell)), **plans.get(seats, {})}
        cells.append(list(made.values()))
    payoffs = form.given[:, *np.transpose(cells)].reshape(form.num_players, *shape)
    actions = tuple((*names, DELEGATE) for names in form.actions)
    name = f"{form.name or 'matrix'} with mediator"
    return NormalForm(payoffs, form.players, actions, name)  # type: ignore[arg-type]
