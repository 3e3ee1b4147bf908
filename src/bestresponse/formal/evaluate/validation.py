"""How much of a story a program has caught, level by level, each verdict with its reason.

The levels are those of Mensfelt, Stathis and Trencsenyi (2024, section 3): *syntactic* (it can be loaded), *functional*
(it plays to an end with a payoff for everybody), *approximate* (the players' total payoffs are right), *exact* (the
payoffs of every end are), and the *constraints* of a named game; and beyond them *order* (every player ranks the ends
as it should) and *equivalent* (the same game up to positive affine payoffs and names).

Tables are compared as trees by `games.comparison`, the one comparison of this package: reduced forms that agree are not
enough, since they forget who learns what.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bestresponse.core.errors import TooLarge
from bestresponse.formal.evaluate.named_games import Finding, Named, check_constraints
from bestresponse.games.capabilities import HasTree
from bestresponse.games.comparison import Comparison, Ends, compare_games, list_isomorphisms
from bestresponse.games.logic.game import LogicGame, as_game
from bestresponse.logic.language.diagnostics import Stage
from bestresponse.logic.programs.table import GameTable
from bestresponse.logic.programs.validate import Report

NOT_ASKED = Finding(None)


@dataclass(frozen=True, slots=True)
class Levels:
    """One finding per level, the weakest demand first."""

    syntactic: Finding
    functional: Finding
    approximate: Finding = NOT_ASKED
    exact: Finding = NOT_ASKED
    order: Finding = NOT_ASKED
    constraints: Finding = NOT_ASKED
    equivalent: Finding = NOT_ASKED
    verdict: str = "no game"
    """How the game is related to the true one, as `compare` says it."""

    def items(self) -> Iterator[tuple[str, Finding]]:
        """Names and findings, in order."""
        for name in ("syntactic", "functional", "approximate", "exact", "order", "constraints", "equivalent"):
            yield name, getattr(self, name)


def judge_levels(
    report: Report,
    true: GameTable | None = None,
    named: Named | None = None,
    orders: Sequence[str] = (),
) -> Levels:
    """Judge a validated program, as far as what is known allows: the true table, the game's name or orders of ends."""
    syntactic = _find_first_error(report, Stage.READER, Stage.STATIC)
    functional = Finding(False, "it cannot be loaded")
    if syntactic:
        functional = _find_first_error(report, Stage.CONTRACT, Stage.RUNTIME)
    if functional and report.table is None:
        functional = Finding(False, "no game could be taken out of it")
    if not functional.ok or report.table is None:
        no = Finding(False, "there is no game to compare")
        asked = no if true is not None else NOT_ASKED
        constrained = named is not None or bool(orders)
        return Levels(syntactic, functional, asked, asked, asked, no if constrained else NOT_ASKED, asked)
    table = report.table
    constraints = NOT_ASKED
    if named is not None:
        constraints = check_constraints(table, named)
    elif orders and true is not None:
        broken = find_broken_order(table, true, orders)
        constraints = Finding(not broken, broken)
    if true is None:
        return Levels(syntactic, functional, constraints=constraints)
    comparison = compare_tables(table, true)
    why = "its payoffs are those of the true game only up to scale"
    for difference in comparison.differences[:1]:
        why = re.sub("the first( game)?", "the program", re.sub("the second( game)?", "the true game", difference))
    order = comparison.same or comparison.relation == "ordinal"
    totals, wanted = _total_payoffs(table), _total_payoffs(true)
    sums = [" and ".join(map(str, numbers)) for numbers in (totals, wanted)]
    differing = "" if totals == wanted else f"over all ends the players earn {sums[0]} in total, not {sums[1]}"
    return Levels(
        syntactic,
        functional,
        Finding(not differing, differing),
        Finding(comparison.exact, "" if comparison.exact else why),
        Finding(order, "" if order else why),
        constraints,
        Finding(comparison.same, "" if comparison.same else why),
        comparison.verdict,
    )


def _find_first_error(report: Report, *stages: Stage) -> Finding:
    wrong = [error for error in report.errors if error.stage in stages]
    return Finding(not wrong, str(wrong[0]) if wrong else "")


def _total_payoffs(table: GameTable) -> list[Fraction]:
    return sorted(sum(paid, Fraction(0)) for paid in zip(*(row.payoffs for row in table.rows), strict=True))


def compare_tables(first: GameTable, second: GameTable, *, any_names: bool = False) -> Comparison:
    """Compare two tables as trees; names in common mean the same unless `any_names` is set."""
    games = [as_game(table) for table in (first, second)]
    trees = [game.tree if isinstance(game, HasTree) else game for game in games]
    try:
        return compare_games(*trees, any_names=any_names)
    except TooLarge as error:
        return Comparison("different", "trees", {}, {}, (f"the games are too large to compare: {error}",), 1)


def find_broken_order(table: GameTable, true: GameTable, orders: Sequence[str]) -> str:
    """Say which of orders such as `Ann: 2 > 1 = 3`, over the ends of `true`, a table built like it breaks; "" if none.

    The ends are numbered from 1; what the orders do not compare is free.
    """
    first, second = (Ends.of(LogicGame(game).tree) for game in (table, true))
    numbers = {frozenset(end): number for number, end in enumerate(second.ends, 1)}
    broken = ""
    for renaming in list_isomorphisms(first, second, "none"):
        earned = {
            (second.players[seat], numbers[frozenset(renaming.moves[move] for move in end)]): float(payoffs[player])
            for end, payoffs in zip(first.ends, first.payoffs, strict=True)
            for player, seat in enumerate(renaming.players)
        }
        reason = next(_find_broken(earned, orders), "")
        if not reason:
            return ""
        broken = broken or reason
    return broken or "the moves do not lead to the same ends"


def _find_broken(earned: Mapping[tuple[str, int], float], orders: Sequence[str]) -> Iterator[str]:
    for order in orders:
        player, _, chain = order.rpartition(":")
        parts = chain.replace("=", " = ").replace(">", " > ").split()
        for better, sign, worse in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            payoffs = earned[player, int(better)], earned[player, int(worse)]
            if not (payoffs[0] > payoffs[1] if sign == ">" else payoffs[0] == payoffs[1]):
                numbers = f"{payoffs[0]:g} and {payoffs[1]:g}"
                yield f"{player} should have {better} {sign} {worse} (numbers of ends), but it is {numbers}"
