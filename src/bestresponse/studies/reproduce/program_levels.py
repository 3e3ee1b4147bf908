"""The levels of validation that the published study gives a program of a game.

The study loads a program, plays four rounds and compares payoffs. An agent plays tit-for-tat
against a clone of itself that plays anti-tit-for-tat; with two moves this visits all four pairs of
moves (Mensfelt, Stathis and Trencsenyi 2024, section 4.2). *Approximate* compares the total of the
four rounds with the target, *exact* the payoffs of each round with the true matrix up to the names
of the moves. A load fails on any message of the loader, warnings about singletons included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, permutations

from bestresponse.core.errors import LogicError
from bestresponse.formal.evaluate.validation import Named, broken
from bestresponse.logic.engine import LogicEngine, Program
from bestresponse.logic.language.terms import Atom, write
from bestresponse.logic.programs.plays import label
from bestresponse.logic.programs.table import published_cells

ROUNDS_WITH_CLONE = 4
LOADER_SPEAKS = {"singleton", "marked", "discontiguous", "syntax"}
TrueMatrix = Mapping[tuple[str, str], tuple[Fraction, Fraction]]
"""What both earn for each pair of moves."""
FoundMatrix = Mapping[tuple[str, str], tuple[Fraction | None, Fraction | None]]
"""The same, with None where a program gives no payoff."""


@dataclass(frozen=True, slots=True)
class PublishedLevels:
    """Whether a program passes each level; None where there is no truth to compare it with."""

    syntactic: bool = False
    approximate: bool | None = False
    exact: bool | None = False
    constraints: bool | None = False


def published_levels(
    engine: LogicEngine,
    source: str,
    true: TrueMatrix | None,
    target: Fraction | None,
    named: Named | None,
) -> PublishedLevels:
    """All verdicts of the published procedure on one program.

    Without a truth, only those that need none.
    """
    # What cannot be loaded fails every level of which the truth is known, and no other.
    failed = PublishedLevels(
        syntactic=False,
        approximate=None if target is None else False,
        exact=None if true is None else False,
        constraints=None if named is None else False,
    )
    try:
        program = engine.load(source)
        cells = {(row, col): (u, v) for row, col, u, v in published_cells(engine, program)}
    except LogicError:
        return failed
    silent = not any(message.code in LOADER_SPEAKS for message in program.gated.diagnostics)
    if not (silent and cells and "finally/2" in program.gated.defined):
        return failed
    rounds = _play(engine, program, cells)
    whole = len(rounds) == ROUNDS_WITH_CLONE
    played = {pair: cells.get(pair, (None, None)) for pair in rounds}
    earned = [played[pair][0] for pair in rounds]
    known = [amount for amount in earned if amount is not None]

    approximate = exact = constraints = None
    if target is not None:
        approximate = whole and None not in earned and sum(known, Fraction(0)) == target
    if true is not None:
        exact = whole and _equal_up_to_names(played, true)
    if named is not None:
        facts = _read_facts(engine, program)
        constraints = bool(broken(facts, named, shared=True))
    return PublishedLevels(True, approximate, exact, constraints)


def _play(engine: LogicEngine, program: Program, cells: FoundMatrix) -> list[tuple[str, str]]:
    """Play tit-for-tat against anti-tit-for-tat, as far as the program knows moves and payoffs."""
    player = engine.solutions(program, "holds(player(P), s0)", 1)[0]["P"]
    default = engine.solutions(program, f"holds(default_move({write(player)}, M), s0)", 1)
    rounds: list[tuple[str, str]] = []
    if not default:
        return rounds
    own = other = label(default[0]["M"])
    for _ in range(ROUNDS_WITH_CLONE):
        rounds.append((own, other))
        opposite = engine.solutions(program, f"opposite_move({write(Atom(own))}, M)", 1)
        if cells.get((own, other), (None,))[0] is None or not opposite:
            break
        own = other
        other = label(opposite[0]["M"])
    return rounds


def _equal_up_to_names(cells: FoundMatrix, true: TrueMatrix) -> bool:
    moves = tuple(dict.fromkeys(chain.from_iterable(cells)))
    wanted = tuple(dict.fromkeys(chain.from_iterable(true)))
    if len(cells) != len(true) or len(moves) != len(wanted):
        return False
    for order in permutations(wanted):
        names = dict(zip(moves, order, strict=True))
        renamed = {(names[a], names[b]): pair for (a, b), pair in cells.items()}
        if renamed == true:
            return True
    return False


def _read_facts(
    engine: LogicEngine, program: Program
) -> dict[tuple[str, str], list[tuple[Fraction, Fraction]]]:
    """Read what `payoff/4` says, wherever else the program goes wrong."""
    facts: dict[tuple[str, str], list[tuple[Fraction, Fraction]]] = {}
    if "payoff/4" in program.gated.defined:
        for answer in engine.solutions(program, "payoff(A, B, U, V)"):
            match answer["U"], answer["V"]:
                case int() | Fraction() as first, int() | Fraction() as second:
                    pair = (Fraction(first), Fraction(second))
                    facts.setdefault((label(answer["A"]), label(answer["B"])), []).append(pair)
    return facts
