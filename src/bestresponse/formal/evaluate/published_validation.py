"""The validation of the published study, as it was done there: load, play four rounds, compare payoffs.

An agent plays tit-for-tat against a clone of itself that plays anti-tit-for-tat; with two moves this visits all four
pairs of moves (Mensfelt, Stathis and Trencsenyi 2024, section 4.2). *Approximate* compares the total of the four
rounds with the target, *exact* the payoffs of each round with the true matrix up to the names of the moves, *static*
the whole bimatrix taken out of the program without playing. A load fails on any message of the loader, warnings about
singletons included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from bestresponse.core.errors import LogicError
from bestresponse.formal.evaluate.named_games import Named, broken
from bestresponse.formal.evaluate.validation import Finding
from bestresponse.logic.engine import LogicEngine, Program
from bestresponse.logic.language.terms import Term
from bestresponse.logic.programs.table import label, published_cells

ROUNDS = 4
_LOAD_MESSAGES = {"singleton", "marked", "discontiguous", "syntax"}

TrueMatrix = Mapping[tuple[str, str], tuple[Fraction, Fraction]]
"""What both earn for each pair of moves."""

Cell = tuple[str, str, Fraction | None, Fraction | None]


@dataclass(frozen=True, slots=True)
class Round:
    """What both moved and earned; None where the program gives no payoff."""

    own: str
    other: str
    earned: Fraction | None
    other_earned: Fraction | None


@dataclass(frozen=True, slots=True)
class PublishedLevels:
    """The verdicts on one program, and the rounds it played."""

    syntactic: Finding
    approximate: Finding
    exact: Finding
    static: Finding
    constraints: Finding
    rounds: tuple[Round, ...] = ()


def published_levels(
    engine: LogicEngine, source: str, true: TrueMatrix | None, target: Fraction | None, named: Named | None
) -> PublishedLevels:
    """All verdicts of the published procedure on one program; without a truth, only those that need none."""
    try:
        program = engine.load(source)
        cells = published_cells(engine, program)
    except LogicError as error:
        return _nothing(Finding(False, str(error)))
    syntactic = _syntactic(program, cells)
    if not syntactic.ok:
        return _nothing(syntactic)
    rounds = play_of(engine, program, cells)
    constraints = Finding(None)
    if named is not None:
        verdict = broken(_facts(engine, program), named, shared=True)
        constraints = Finding(verdict.holds, verdict.why)
    return PublishedLevels(
        syntactic,
        Finding(None) if target is None else _approximate(rounds, target),
        Finding(None) if true is None else _exact(rounds, true),
        Finding(None) if true is None else _static(cells, true),
        constraints,
        rounds,
    )


def _nothing(why: Finding) -> PublishedLevels:
    no = Finding(False, "it could not be loaded")
    return PublishedLevels(why, no, no, no, no)


def _syntactic(program: Program, cells: Sequence[Cell]) -> Finding:
    messages = [one for one in program.gated.diagnostics if one.code in _LOAD_MESSAGES]
    if messages:
        return Finding(False, str(messages[0]))
    if "finally/2" not in program.gated.defined:
        return Finding(False, "finally/2 is missing")
    return Finding(bool(cells), "" if cells else "in s0 there are no two players with possible moves")


def play_of(engine: LogicEngine, program: Program, cells: Sequence[Cell]) -> tuple[Round, ...]:
    """Tit-for-tat against anti-tit-for-tat, as far as the program knows moves and payoffs."""
    payoffs = {(row, col): (u, v) for row, col, u, v in cells}
    players = _answers(engine, program, "holds(player(P), s0)", "P")
    default = _answers(engine, program, f"holds(default_move({_quoted(players[0])}, M), s0)", "M")
    if not default:
        return ()
    own = other = default[0]
    rounds: list[Round] = []
    for _ in range(ROUNDS):
        earned, other_earned = payoffs.get((own, other), (None, None))
        rounds.append(Round(own, other, earned, other_earned))
        opposite = _answers(engine, program, f"opposite_move({_quoted(own)}, M)", "M")
        if earned is None or not opposite:
            break
        own, other = other, opposite[0]
    return tuple(rounds)


def _answers(engine: LogicEngine, program: Program, goal: str, name: str) -> list[str]:
    found = engine.solutions(program, goal)
    return [label(answer[name]) for answer in found if name in answer]


def _quoted(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _approximate(rounds: Sequence[Round], target: Fraction) -> Finding:
    total = sum((one.earned for one in rounds if one.earned is not None), Fraction(0))
    if len(rounds) < ROUNDS or any(one.earned is None for one in rounds):
        return Finding(False, f"it could not play {ROUNDS} rounds")
    return Finding(total == target, "" if total == target else f"{ROUNDS} rounds earn {total}, not {target}")


def _exact(rounds: Sequence[Round], true: TrueMatrix) -> Finding:
    if len(rounds) < ROUNDS:
        return Finding(False, f"it could not play {ROUNDS} rounds")
    played = {(one.own, one.other): (one.earned, one.other_earned) for one in rounds}
    return _equal_up_to_names(played, true, "played")


def _static(cells: Sequence[Cell], true: TrueMatrix) -> Finding:
    return _equal_up_to_names({(row, col): (u, v) for row, col, u, v in cells}, true, "taken out")


def _equal_up_to_names(
    found: Mapping[tuple[str, str], tuple[Fraction | None, Fraction | None]], true: TrueMatrix, how: str
) -> Finding:
    moves = tuple(dict.fromkeys(move for pair in found for move in pair))
    wanted = tuple(dict.fromkeys(move for pair in true for move in pair))
    if len(found) != len(true) or len(moves) != len(wanted):
        return Finding(False, f"{len(found)} pairs of moves were {how}, the true matrix has {len(true)}")
    best: list[str] | None = None
    for order in permutations(wanted):
        name = dict(zip(moves, order, strict=True))
        wrong = [
            f"{a}, {b} gives {_told(pair)}, not {_told(true[name[a], name[b]])}"
            for (a, b), pair in found.items()
            if pair != true[name[a], name[b]]
        ]
        if not wrong:
            return Finding(True)
        best = wrong if best is None or len(wrong) < len(best) else best
    return Finding(False, "; ".join((best or ["no pair of moves"])[:2]))


def _told(pair: tuple[Fraction | None, Fraction | None]) -> str:
    return "nothing" if pair[0] is None else f"{pair[0]}, {pair[1]}"


def _facts(engine: LogicEngine, program: Program) -> dict[tuple[str, str], list[tuple[Fraction, Fraction]]]:
    """What `payoff/4` says, wherever else the program goes wrong."""
    found: dict[tuple[str, str], list[tuple[Fraction, Fraction]]] = {}
    if "payoff/4" not in program.gated.defined:
        return found
    for answer in engine.solutions(program, "payoff(A, B, U, V)"):
        if set(answer) != {"A", "B", "U", "V"}:
            continue
        first, second = _number(answer["U"]), _number(answer["V"])
        if first is not None and second is not None:
            found.setdefault((label(answer["A"]), label(answer["B"])), []).append((first, second))
    return found


def _number(term: Term) -> Fraction | None:
    if isinstance(term, float):
        return Fraction(repr(term))
    return Fraction(term) if isinstance(term, int | Fraction) else None
