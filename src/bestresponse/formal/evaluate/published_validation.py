"""The validation of the published study, as it was done there: load, play four rounds, compare payoffs.

An agent plays tit-for-tat against a clone of itself that plays anti-tit-for-tat; with two moves this visits all four
pairs of moves (Mensfelt, Stathis and Trencsenyi 2024, section 4.2). *Approximate* compares the total of the four
rounds with the target, *exact* the payoffs of each round with the true matrix up to the names of the moves, *static*
the whole bimatrix taken out of the program without playing. A load fails on any message of the loader, warnings about
singletons included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from bestresponse.core.errors import LogicError
from bestresponse.formal.evaluate.validation import Named, broken
from bestresponse.logic.engine import LogicEngine, Program
from bestresponse.logic.language.terms import Atom, write
from bestresponse.logic.programs.table import label, published_cells

ROUNDS = 4
_LOAD_MESSAGES = {"singleton", "marked", "discontiguous", "syntax"}

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
    static: bool | None = False
    constraints: bool | None = False


def published_levels(
    engine: LogicEngine, source: str, true: TrueMatrix | None, target: Fraction | None, named: Named | None
) -> PublishedLevels:
    """All verdicts of the published procedure on one program; without a truth, only those that need none."""
    try:
        program = engine.load(source)
        cells = {(row, col): (u, v) for row, col, u, v in published_cells(engine, program)}
    except LogicError:
        return PublishedLevels()
    silent = not any(message.code in _LOAD_MESSAGES for message in program.gated.diagnostics)
    if not (silent and cells and "finally/2" in program.gated.defined):
        return PublishedLevels()
    rounds = _play(engine, program, cells)
    earned = [cells.get(pair, (None, None))[0] for pair in rounds]
    whole = len(rounds) == ROUNDS
    total = sum((amount for amount in earned if amount is not None), Fraction(0))
    played = {pair: cells.get(pair, (None, None)) for pair in rounds}
    return PublishedLevels(
        True,
        None if target is None else whole and None not in earned and total == target,
        None if true is None else whole and _equal_up_to_names(played, true),
        None if true is None else _equal_up_to_names(cells, true),
        None if named is None else bool(broken(_read_facts(engine, program), named, shared=True)),
    )


def _play(engine: LogicEngine, program: Program, cells: FoundMatrix) -> list[tuple[str, str]]:
    """Play tit-for-tat against anti-tit-for-tat, as far as the program knows moves and payoffs."""
    player = engine.solutions(program, "holds(player(P), s0)", 1)[0]["P"]
    default = engine.solutions(program, f"holds(default_move({write(player)}, M), s0)", 1)
    rounds: list[tuple[str, str]] = []
    if not default:
        return rounds
    own = other = label(default[0]["M"])
    for _ in range(ROUNDS):
        rounds.append((own, other))
        opposite = engine.solutions(program, f"opposite_move({write(Atom(own))}, M)", 1)
        if cells.get((own, other), (None,))[0] is None or not opposite:
            break
        own, other = other, label(opposite[0]["M"])
    return rounds


def _equal_up_to_names(found: FoundMatrix, true: TrueMatrix) -> bool:
    moves = tuple(dict.fromkeys(move for pair in found for move in pair))
    wanted = tuple(dict.fromkeys(move for pair in true for move in pair))
    if len(found) != len(true) or len(moves) != len(wanted):
        return False
    namings = (dict(zip(moves, order, strict=True)) for order in permutations(wanted))
    return any(all(pair == true[name[a], name[b]] for (a, b), pair in found.items()) for name in namings)


def _read_facts(engine: LogicEngine, program: Program) -> dict[tuple[str, str], list[tuple[Fraction, Fraction]]]:
    """Read what `payoff/4` says, wherever else the program goes wrong."""
    facts: dict[tuple[str, str], list[tuple[Fraction, Fraction]]] = {}
    if "payoff/4" in program.gated.defined:
        for answer in engine.solutions(program, "payoff(A, B, U, V)"):
            match answer["U"], answer["V"]:
                case int() | Fraction() as first, int() | Fraction() as second:
                    pair = (Fraction(first), Fraction(second))
                    facts.setdefault((label(answer["A"]), label(answer["B"])), []).append(pair)
    return facts
