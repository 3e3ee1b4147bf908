"""Make the game again from what was stated of it: the inverse of `games.statements.tell`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.core.told import (
    AtOnce,
    Cell,
    Cells,
    Course,
    Decides,
    Draw,
    LowerClaim,
    LowestEffort,
    NearestWins,
    Options,
    PlayEnd,
    Players,
    Statement,
    list_children,
)
from bestresponse.games.statements import iterate_cells
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Chance, Leaf, Tree, Turn, build_tree


def rebuild(statements: Iterable[Statement], name: str = "") -> NormalForm | Tree:
    """Make the game that was stated; InvalidGame where the statements make none."""
    stated = list(statements)
    match stated:
        case [Players(players), AtOnce(choices), Cells(cells)]:
            return _rebuild_table(players, choices, cells, name)
        case [
            Players(players),
            AtOnce(choices),
            NearestWins() | LowerClaim() | LowestEffort() as rule,
        ]:
            return _rebuild_table(
                players,
                choices,
                tuple(iterate_cells(choices, rule)),
                name,
            )
        case [Players(players), Course() as course]:
            return _rebuild_tree(players, course, name)
        case _:
            names = [type(statement).__name__ for statement in stated]
            kinds = ", ".join(names) or "nothing"
            raise InvalidGame(
                "a game is made from Players, AtOnce and Cells or a rule, or from Players and a"
                f" Course; got {kinds}"
            )


def _rebuild_table(
    players: tuple[str, ...],
    choices: tuple[Options, ...],
    cells: tuple[Cell, ...],
    name: str,
) -> NormalForm:
    if tuple(choice.who for choice in choices) != players:
        raise InvalidGame("in a table every player chooses, in the order in which they are named")
    actions = tuple(choice.options for choice in choices)
    by_moves = {cell.moves: cell.payoffs for cell in cells}
    payoffs = np.empty((len(players), *map(len, actions)), dtype=object)
    for place in np.ndindex(payoffs.shape[1:]):
        moves = tuple(options[k] for options, k in zip(actions, place, strict=True))
        paid = by_moves.get(moves)
        if paid is None or len(paid) != len(players):
            raise InvalidGame(
                f"the moves {', '.join(moves)} need a payoff for each of {len(players)} players"
            )
        for seat, payoff in enumerate(paid):
            payoffs[(seat, *place)] = payoff.numerator if payoff.denominator == 1 else payoff
    return NormalForm(payoffs, players, actions, name)


def _rebuild_tree(players: tuple[str, ...], course: Course, name: str) -> Tree:
    children = list_children(course)

    def expand(node: int) -> Leaf | Chance | Turn:
        below = children[node]
        match course.positions[node]:
            case PlayEnd(payoffs):
                return Leaf(payoffs)
            case Draw(outcomes):
                odds = zip(outcomes, below, strict=True)
                return Chance({outcome.name: (outcome.chance, after) for outcome, after in odds})
            case Decides(who, options, mark):
                # A position without a mark is an information set of its own.
                infoset = f"mark {mark}" if mark else f"position {node}"
                return Turn(who, infoset, dict(zip(options, below, strict=True)))

    return build_tree(players, 0, expand, name=name)
