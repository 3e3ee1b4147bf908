"""A few questions about the rules, made from the rules: whoever answers them has understood how payoffs come about.

Every question tells some answers and asks what they earn; what is right comes from playing those answers by the rules.
Games of plugins get such questions too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from bestresponse.core.ask import PASS, Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.game import NATURE, REFEREE, Action, Game, Role
from bestresponse.core.seeds import generator
from bestresponse.games.economic.blotto import Blotto
from bestresponse.games.economic.common_pool import CommonPool
from bestresponse.games.economic.guessing import Guessing
from bestresponse.games.economic.public_goods import PublicGoods
from bestresponse.games.economic.sealed_bid import SealedBid
from bestresponse.games.economic.sealed_bid import State as Bids
from bestresponse.games.economic.trust import Trust
from bestresponse.games.economic.ultimatum import Ultimatum
from bestresponse.games.logic.game import LogicGame
from bestresponse.games.trees.game import TreeGame
from bestresponse.games.water.game import Water
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import CHANCE, Tree
from bestresponse.web.sessions.games import stage_form

__all__ = ["Question", "mistakes", "questions"]

_COUNT = 2
_EXACT = 1e-9
_ROUNDING = 0.0051
_MOST_STEPS = 60


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answer is a number; where it has more than two decimals, two are enough."""

    text: str
    answer: float

    def right(self, typed: str) -> bool:
        short = abs(round(self.answer, 2) - self.answer) < _EXACT
        try:
            return abs(float(typed.strip().replace(",", ".")) - self.answer) < (_EXACT if short else _ROUNDING)
        except ValueError:
            return False


def questions(game: Game[Any], seat: int, seed: int) -> tuple[Question, ...]:
    """The quiz for that seat; empty where the rules give nothing to ask."""
    rng = generator(seed, "quiz", seat)
    form = stage_form(game)
    if form is not None:
        return _about_table(form, seat, rng)
    match game:
        case Water():
            return _about_water(game, seat)
        case LogicGame():
            return _about_ends(game, seat, rng)
        case TreeGame():
            return _about_paths(game, seat, rng)
        case SealedBid():
            return _about_auction(game, seat, rng)
        case PublicGoods():
            return _about_public_goods(game, seat, rng)
        case _:
            asked = (_about_play(game, seat, rng) for _ in range(_COUNT))
            return tuple(dict.fromkeys(question for question in asked if question))


def mistakes(quiz: tuple[Question, ...], typed: list[str]) -> dict[int, str]:
    """By number of the question, what is wrong with its answer."""
    return {
        k: "This is not right; look at the rules again." if typed[k].strip() else "Type a number."
        for k, question in enumerate(quiz)
        if not question.right(typed[k])
    }


def _about_table(form: NormalForm, seat: int, rng: Random) -> tuple[Question, ...]:
    cells = rng.sample(range(form.payoffs[0].size), min(_COUNT, form.payoffs[0].size))
    return tuple(_about_cell(form, seat, cell) for cell in sorted(cells))


def _about_cell(form: NormalForm, seat: int, cell: int) -> Question:
    place = tuple(int(k) for k in np.unravel_index(cell, form.shape))
    others = " and ".join(
        f"{who} chooses {form.actions[i][place[i]]}" for i, who in enumerate(form.players) if i != seat
    )
    also = f" and {others}" if others else ""
    text = f"If you choose {form.actions[seat][place[seat]]}{also}, how much do you get?"
    return Question(text, float(form.payoffs[(seat, *place)]))


def _about_water(game: Water, seat: int) -> tuple[Question, ...]:
    resident, nobody = game.rules.residents[seat], tuple(False for _ in game.roles)
    silent = tuple(None for _ in game.roles)
    first = game.settle(game.start(), silent, nobody)
    second = game.settle(first, silent, nobody).standings[seat]
    bid = float(round(resident.salary / 4))
    served = game.settle(
        game.start(),
        tuple(bid if k == seat else None for k in range(len(game.roles))),
        tuple(k == seat for k in range(len(game.roles))),
    )
    health = f"You begin with {game.rules.health:g} health points. If you get no water on the first day"
    asked = [Question("How many units of water do you need each day?", resident.need)]
    if second.alive and game.rules.days > 1:
        asked.append(Question(f"{health} and none on the second, how many have you left?", second.health))
    elif first.standings[seat].alive:
        asked.append(Question(f"{health}, how many have you left?", first.standings[seat].health))
    money = (
        f"You begin with ${resident.salary:g}. If you bid ${bid:g} on the first day and are served, how many dollars "
    )
    asked.append(Question(f"{money}have you left that evening?", served.past[-1].after[seat].balance))
    return tuple(asked)


def _about_ends(game: LogicGame, seat: int, rng: Random) -> tuple[Question, ...]:
    rows = game.table.rows
    drawn = rng.sample(range(len(rows)), min(_COUNT, len(rows)))
    me = game.roles[seat]
    return tuple(
        Question(
            f"If {_listed([_chooses(who, move, me) for who, move in rows[k].moves])}, how much do you get?",
            float(rows[k].payoffs[seat]),
        )
        for k in sorted(drawn)
    )


def _chooses(who: Role, move: str, me: Role) -> str:
    return f"you choose {move}" if who == me else f"{_named(who)} chooses {move}"


def _about_paths(game: TreeGame, seat: int, rng: Random) -> tuple[Question, ...]:
    """About the shorter ways in which the game can go."""
    leaves = sorted(game.tree.leaves.tolist(), key=lambda leaf: game.tree.path(leaf).count(">"))
    drawn = rng.sample(leaves[: max(2 * _COUNT, len(leaves) // 8)], min(_COUNT, len(leaves)))
    me = game.roles[seat]
    return tuple(
        Question(f"If {_listed(_course(game.tree, leaf, me))}, how much do you get?", game.payoffs(leaf)[me])
        for leaf in sorted(drawn)
    )


def _course(tree: Tree, leaf: int, me: Role) -> list[str]:
    """How the play comes to that leaf, move by move."""
    told: list[str] = []
    node = leaf
    while node > 0:
        move, parent = tree.branch_labels[node], int(tree.parent[node])
        owner = int(tree.owner[parent])
        told.insert(0, f"{move} is drawn" if owner == CHANCE else _chooses(tree.players[owner], move, me))
        node = parent
    return told


def _about_auction(game: SealedBid, seat: int, rng: Random) -> tuple[Question, ...]:
    """Once with the highest bid and once without."""
    me, asked = game.roles[seat], []
    for wins in (True, False):
        levels = rng.sample([step * game.highest / 20 for step in range(2, 17)], len(game.roles))
        bids = sorted(levels, reverse=True)
        bids.insert(seat, bids.pop(0 if wins else 1))
        value = round(bids[seat] + game.highest / 10)
        others = [f"{role} bids {bid:g}" for role, bid in zip(game.roles, bids, strict=True) if role != me]
        text = f"Your value is {value}. If you bid {bids[seat]:g} and {_listed(others)}, what is your payoff?"
        end = Bids(tuple(value for _ in game.roles), tuple(bids))
        asked.append(Question(text, game.payoffs(end)[me]))
    return tuple(asked)


def _about_public_goods(game: PublicGoods, seat: int, rng: Random) -> tuple[Question, ...]:
    me = game.roles[seat]
    own, theirs = rng.sample([0, game.endowment // 2, game.endowment], 2)
    given = {role: own if role == me else theirs for role in game.roles}
    text = f"In the first round you put in {own} and each of the others {theirs}. How many coins do you have then?"
    state = game.apply(game.start(), given)
    first = Question(text, game.payoffs(state)[me])
    if not game.punishment:
        return (first,)
    target = next(role for role in game.roles if role != me)
    points: dict[Role, Action] = {
        role: {other: int(me in (role, other) and target in (role, other)) for other in game.roles if other != role}
        for role in game.roles
    }
    after = game.payoffs(game.apply(state, points))[me]
    text = f"After that you give {target} 1 point of punishment and {target} gives you 1. How many do you have then?"
    return first, Question(text, after)


_VERBS: dict[type, tuple[str, ...]] = {
    CommonPool: ("invest",),
    Guessing: ("choose",),
    Trust: ("send", "return"),
    Ultimatum: ("offer", "choose"),
    Blotto: ("choose",),
}
"""What is done, step by step, in games where there is a better word than to answer."""


def _about_play(game: Game[Any], seat: int, rng: Random) -> Question | None:
    """Some answers by everybody, until the same kind of question would come again or the game is over."""
    me, state, seen = game.roles[seat], game.start(), set()
    told: list[str] = []
    verbs = iter(_VERBS.get(type(game), ()))
    for _ in range(_MOST_STEPS):
        asks = game.asks(state)
        kind = tuple((role, type(ask).__name__) for role, ask in asks.items())
        if not asks or kind in seen:
            break
        seen.add(kind)
        moves = _moves(asks, me, rng)
        if moves is None:
            return None
        told += _told(moves, me, next(verbs, "answer"))
        state = game.apply(state, moves)
    earned = game.payoffs(state).get(me)
    if not told or earned is None:
        return None
    return Question(f"If {_listed(told)}, how much do you have then?", float(earned))


def _moves(asks: Mapping[Role, Ask], me: Role, rng: Random) -> dict[Role, Action] | None:
    """A plain answer to every question, the same from all others who are asked the same; None where words count."""
    drawn: dict[str, Action] = {}
    moves: dict[Role, Action] = {}
    for role, ask in asks.items():
        key = me if role == me else repr(ask)
        if key not in drawn:
            drawn[key] = None if role == REFEREE else _answer(ask, rng, list(drawn.values()))
        if drawn[key] is None:
            return None
        moves[role] = drawn[key]
    return moves


def _answer(ask: Ask, rng: Random, taken: list[Action]) -> Action | None:
    """An answer unlike those that are taken, where there is one."""
    match ask:
        case Choice(options):
            return rng.choice([option for option in options if option != PASS])
        case Amount(low, high):
            steps = [float(round(low + (high - low) * k / 5)) for k in (1, 2, 3)]
            plain = [step for step in steps if low <= step <= high]
            return rng.choice([step for step in plain if step not in taken] or [low])
        case Lottery(chances):
            return rng.choice([outcome for outcome, p in chances if p > 0])
        case Form() | Mixture() | Words():
            return None


def _told(moves: Mapping[Role, Action], me: Role, verb: str) -> list[str]:
    others = {role: move for role, move in moves.items() if role not in (me, NATURE)}
    told = [f"{moves[NATURE]} is drawn"] if NATURE in moves else []
    if me in moves:
        told.append(f"you {verb} {_plain(moves[me])}")
    if len(others) > 1 and len({repr(move) for move in others.values()}) == 1:
        return [*told, f"each of the others {verb}s {_plain(next(iter(others.values())))}"]
    return [*told, *(f"{_named(role)} {verb}s {_plain(move)}" for role, move in others.items())]


def _named(role: Role) -> str:
    return f"the {role}" if role.isalpha() and role.islower() else role


def _plain(move: Action) -> str:
    return f"{move:g}" if isinstance(move, float) else str(move)


def _listed(parts: list[str]) -> str:
    """'a, b and c'."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
