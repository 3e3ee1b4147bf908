"""Validation of a game program in four stages, with feedback its author can use.

`validate` reads, checks, loads and plays a program and returns everything it found as data: syntax (reader), names and
goals (static), the extracted game (contract), errors and limits while running (runtime). Each stage runs as far as the
earlier ones allow; a call of something undefined that no play of the game reaches is a warning. `feedback` is the text
for an author or a model: what is wrong, and the numbered program.
"""

from __future__ import annotations

from dataclasses import replace

from bestresponse.core.errors import LogicError
from bestresponse.logic.confined.engine import ConfinedEngine
from bestresponse.logic.engine import LogicEngine
from bestresponse.logic.gate.check import GatedProgram, check
from bestresponse.logic.gate.goals import indicator
from bestresponse.logic.language.diagnostics import Diagnostic, Severity, Stage, numbered
from bestresponse.logic.programs.report import Expectation, Report, describe_failure
from bestresponse.logic.programs.slips import find_slips, find_unknown_fluents
from bestresponse.logic.programs.solver_language import REQUIRED
from bestresponse.logic.programs.table import GameTable, extract

__all__ = ["Expectation", "Report", "feedback", "validate", "validate_strategy"]

_EXAMPLES = {
    "initial/1": "initial(s0).",
    "initially/2": "initially(player(p1), s0).",
    "legal/2": "legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).",
    "possible/2": "possible(move(P, cooperate), S) :- holds(player(P), S).",
    "effect/3": "effect(did(P, M), move(P, M), _S).",
    "abnormal/3": "abnormal(control(P), move(P, _M), _S).",
    "final/1": "final(do(move(_, _), do(move(_, _), S))) :- initial(S).",
    "finally/2": "finally(goal(P, U), S) :- ...",
    "select/4": "select(P, O, S, M) :- ...",
    "next_memory/4": "next_memory(State, OwnMove, OtherMove, NewState) :- ...",
}

_DEFINED = {"chance": "chance/3", "odds": "chance/3", "seer": "sees/3"}
"""What a defect of the game is about, by its code."""
_MEMORY = "\ninitially(memory(P, State), S) :- initially(player(P), S), start_memory(State).\n"
"""What a strategy remembers before the first round."""


def validate(source: str, engine: LogicEngine, expected: Expectation | None = None) -> Report:
    """Put a game program through all four stages; where the engine is confined, all of them in its worker."""
    if isinstance(engine, ConfinedEngine):
        return engine.validate(source, expected)
    gated = check(source)
    found = [*gated.diagnostics]
    if any(d.stage is Stage.READER for d in gated.refusals):
        return Report(source, gated.defined, tuple(found))
    found += _missing(gated, REQUIRED)
    if gated.refusals:
        return Report(source, gated.defined, tuple(found))
    found += find_slips(gated)
    try:
        program = engine.load(gated)
        extraction = extract(engine, program)
    except LogicError as error:
        return Report(source, gated.defined, (*found, describe_failure(error)))
    if extraction.table is not None:
        found = [_unreached(d) for d in found]
    found += [_locate(defect, gated) for defect in extraction.defects]
    if extraction.table is not None and expected is not None:
        found += _unexpected(extraction.table, expected)
    return Report(source, gated.defined, tuple(found), extraction.table)


def validate_strategy(source: str, game: str, engine: LogicEngine) -> Report:
    """Put a strategy through reader, static checks and a first move in the given game; lines count from the strategy's
    own first line."""
    if isinstance(engine, ConfinedEngine):
        return engine.validate_strategy(source, game)
    alone = check(source)
    if any(d.stage is Stage.READER for d in alone.refusals):
        return Report(source, alone.defined, alone.diagnostics)
    lines = source.count("\n") + 1
    memory = _MEMORY if "start_memory/1" in alone.defined else ""
    gated = check(source.rstrip() + "\n" * (lines - source.rstrip().count("\n")) + game + memory)
    found = [d for d in gated.diagnostics if d.line <= lines]
    found += _missing(alone, ("select/4", *(("next_memory/4",) if memory else ())))
    found += find_unknown_fluents(alone, check(game))
    if gated.refusals or any(d.severity is Severity.ERROR for d in found):
        return Report(source, gated.defined, tuple(found))
    try:
        program = engine.load(gated)
        goal = "initial(S), holds(player(P), S), holds(player(O), S), P \\== O, select(P, O, S, M)"
        if not engine.solutions(program, goal, 1):
            message = "select/4 gives no move in the initial situation"
            found.append(Diagnostic(Stage.CONTRACT, Severity.ERROR, 0, 0, "", message, "give a first move", "select"))
    except LogicError as error:
        return Report(source, gated.defined, (*found, describe_failure(error)))
    return Report(source, gated.defined, tuple(found))


def feedback(report: Report) -> str:
    """What is wrong and the numbered program, nothing else; empty if there is nothing to say."""
    if not report.diagnostics:
        return ""
    lines = []
    for diagnostic in sorted(report.diagnostics, key=lambda d: d.severity is not Severity.ERROR):
        lines.append(f"- {diagnostic}")
        if diagnostic.source_line:
            lines.append(f"    {diagnostic.source_line.strip()}")
    return "\n".join([*lines, "", numbered(report.source)])


def _missing(gated: GatedProgram, required: tuple[str, ...]) -> list[Diagnostic]:
    return [
        Diagnostic(
            Stage.STATIC, Severity.ERROR, 0, 0, "", f"{key} is missing", f"for example: {_EXAMPLES[key]}", "missing"
        )
        for key in required
        if key not in gated.defined
    ]


def _unreached(found: Diagnostic) -> Diagnostic:
    """A call of something undefined, in a game that was played to all its ends without reaching it: only a warning."""
    return (
        replace(found, severity=Severity.WARNING)
        if found.code in ("undefined", "arity") and "called" in found.message
        else found
    )


def _locate(defect: Diagnostic, gated: GatedProgram) -> Diagnostic:
    """Say where chance or a percept is defined that is wrong, or, if a move is not fully known, where a variable
    stands that may be a name in capitals."""
    wrong = next((clause for clause in gated.clauses if indicator(clause.head) == _DEFINED.get(defect.code)), None)
    if wrong is not None:
        return replace(defect, line=wrong.line, column=1, source_line=wrong.source_line)
    singles = [d for d in gated.diagnostics if d.code == "singleton"]
    if defect.code != "move" or not singles:
        return defect
    first = next((d for d in singles if d.source_line.startswith(("possible", "legal", "chance", "sees"))), singles[0])
    return replace(defect, line=first.line, column=first.column, source_line=first.source_line)


def _unexpected(table: GameTable, expected: Expectation) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    if expected.players is not None and len(table.players) != expected.players:
        message = f"the game has {len(table.players)} players ({', '.join(table.players)}), not {expected.players}"
        found.append(Diagnostic(Stage.CONTRACT, Severity.ERROR, 0, 0, "", message, "", "players"))
    for player, moves in zip(table.players, table.moves, strict=True):
        if expected.moves is not None and len(moves) != expected.moves:
            message = f"{player} has {len(moves)} moves ({', '.join(moves)}), not {expected.moves}"
            found.append(Diagnostic(Stage.CONTRACT, Severity.ERROR, 0, 0, "", message, "", "moves"))
    return found
