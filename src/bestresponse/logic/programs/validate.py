"""Validation of a game program in four stages, with feedback its author can use.

`validate` reads, checks, loads and plays a program and returns everything it found as data: syntax
(reader), names and goals (static), the extracted game (contract), errors and limits while running
(runtime). Each stage runs as far as the earlier ones allow; a call of something undefined that no
play of the game reaches is a warning. `feedback` is the text for an author or a model: what is
wrong, and the numbered program.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bestresponse.core.errors import LimitReached, LogicError
from bestresponse.logic.confined.engine import ConfinedEngine
from bestresponse.logic.engine import LogicEngine, Program, RuntimeFault
from bestresponse.logic.gate.check import GatedClause, GatedProgram, check_source, find_similar
from bestresponse.logic.gate.goals import indicator
from bestresponse.logic.language.diagnostics import Diagnostic, Severity, Stage, numbered
from bestresponse.logic.language.predicates import GAME
from bestresponse.logic.language.terms import Atom, Struct, Var, walk_terms, write
from bestresponse.logic.programs.orders import make_defect
from bestresponse.logic.programs.report import Report as Report, describe_failure
from bestresponse.logic.programs.solver_language import REQUIRED
from bestresponse.logic.programs.table import extract

_EXAMPLES = {
    "initial/1": "initial(s0).",
    "initially/2": "initially(player(p1), s0).",
    "legal/2": "legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).",
    "final/1": "final(do(move(_, _), do(move(_, _), S))) :- initial(S).",
    "finally/2": "finally(goal(P, U), S) :- ...",
    "select/4": "select(P, O, S, M) :- ...",
    "next_memory/4": "next_memory(State, OwnMove, OtherMove, NewState) :- ...",
}

_CONTRACT = {
    "initial": 1,
    "initially": 2,
    "legal": 2,
    "effect": 3,
    "abnormal": 3,
    "final": 1,
    "finally": 2,
    "chance": 3,
    "sees": 3,
}
_OF_SITUATIONS = frozenset(f"{name}/{count}" for name, count in _CONTRACT.items()) | {"holds/2"}
_GIVEN = frozenset({"last_move/2", "default_move/2"})
"""Fluents that a tournament sets, whatever the program says."""
_DEFINED = {"chance": "chance/3", "odds": "chance/3", "seer": "sees/3"}
"""What a defect of the game is about, by its code."""
_NAMING = {
    "move": ("possible", "legal", "chance", "sees"),
    "player": ("initially(player", "initially"),
}
"""How the clauses begin in which a variable may be meant as a name, by the code of a defect."""
_MEMORY = "\ninitially(memory(P, State), S) :- initially(player(P), S), start_memory(State).\n"
"""What a strategy remembers before the first round."""


def validate(source: str, engine: LogicEngine) -> Report:
    """Put a game program through all four stages.

    Where the engine is confined, all of them in its worker.
    """
    if isinstance(engine, ConfinedEngine):
        return engine.validate(source)
    gated = check_source(source)
    faults = [*gated.diagnostics]
    if any(d.stage is Stage.READER for d in gated.refusals):
        return Report(source, gated.defined, tuple(faults))
    faults += _find_missing(gated, REQUIRED)
    if gated.refusals:
        return Report(source, gated.defined, tuple(faults))
    uses = _collect_uses(gated)
    faults += [*_find_misnamed(uses), *_find_undefined(uses), *_find_odd_situations(gated)]
    faults += _find_dead_fluents(uses)
    try:
        program = engine.load(gated)
        extraction = extract(engine, program)
    except LogicError as error:
        failure = _follow_one_play(engine, program, error)
        return Report(source, gated.defined, (*faults, describe_failure(failure)))
    if any(defect.code == "goal" for defect in extraction.defects):
        faults += _find_lone_names(gated)
    if extraction.table is not None or extraction.positions is not None:
        # The game was played to all its ends: what is undefined was not reached.
        for number, fault in enumerate(faults):
            if fault.code in ("undefined", "arity") and "called" in fault.message:
                faults[number] = replace(fault, severity=Severity.WARNING)
    faults += [_locate(defect, gated) for defect in extraction.defects]
    return Report(source, gated.defined, tuple(faults), extraction.table, extraction.positions)


def _follow_one_play(engine: LogicEngine, program: Program, error: LogicError) -> LogicError:
    """Return why a game is too large: that its first play has no end, where it has none."""
    if isinstance(error, LimitReached):
        try:
            engine.solutions(program, "table_row(Blocks, Goals)", 1)
        except RuntimeFault as fault:
            return fault
        except LogicError:
            return error
    return error


def _find_lone_names(gated: GatedProgram) -> Iterator[Diagnostic]:
    """Find names in facts about payoffs and the like that occur nowhere else."""
    places: dict[str, list[GatedClause]] = {}
    for clause in gated.clauses:
        for term in walk_terms(clause.head, clause.body):
            if isinstance(term, Atom):
                places.setdefault(str(term), []).append(clause)
    for name, (clause, *more) in places.items():
        is_fact = clause.line and isinstance(clause.head, Struct) and clause.body == "true"
        if is_fact and not more and indicator(clause.head) not in GAME:
            yield _say(clause, "lone", f"{name} occurs nowhere else", "is it misspelt?")


def validate_strategy(source: str, game: str, engine: LogicEngine) -> Report:
    """Put a strategy through reader, static checks and a first move in the given game.

    Lines count from the strategy's own first line.
    """
    if isinstance(engine, ConfinedEngine):
        return engine.validate_strategy(source, game)
    alone = check_source(source)
    if any(d.stage is Stage.READER for d in alone.refusals):
        return Report(source, alone.defined, alone.diagnostics)
    lines = source.count("\n") + 1
    memory = _MEMORY if "start_memory/1" in alone.defined else ""
    trimmed = source.rstrip()
    to_next_line = "\n" * (lines - trimmed.count("\n"))
    gated = check_source(trimmed + to_next_line + game + memory)
    faults = [d for d in gated.diagnostics if d.line <= lines]
    faults += _find_missing(alone, ("select/4", *(("next_memory/4",) if memory else ())))
    faults += _find_unknown_fluents(alone, check_source(game))
    if gated.refusals or any(d.severity is Severity.ERROR for d in faults):
        return Report(source, gated.defined, tuple(faults))
    try:
        program = engine.load(gated)
        goal = "initial(S), holds(player(P), S), holds(player(O), S), P \\== O, select(P, O, S, M)"
        if not engine.solutions(program, goal, 1):
            message = "select/4 gives no move in the initial situation"
            faults.append(make_defect("select", message, "give a first move"))
    except LogicError as error:
        return Report(source, gated.defined, (*faults, describe_failure(error)))
    return Report(source, gated.defined, tuple(faults))


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


def _find_missing(gated: GatedProgram, required: tuple[str, ...]) -> list[Diagnostic]:
    missing = []
    for key in required:
        if key not in gated.defined:
            hint = f"for example: {_EXAMPLES[key]}"
            defect = make_defect("missing", f"{key} is missing", hint)
            missing.append(replace(defect, stage=Stage.STATIC))
    return missing


def _locate(defect: Diagnostic, gated: GatedProgram) -> Diagnostic:
    """Say where wrong chance or a wrong percept is defined.

    If a move is not fully known, says where a variable is that may be a name in capitals.
    """
    wanted = _DEFINED.get(defect.code)
    for clause in gated.clauses:
        if indicator(clause.head) == wanted:
            return replace(
                defect,
                line=clause.line,
                column=1,
                source_line=clause.source_line,
            )
    singles = [d for d in gated.diagnostics if d.code == "singleton"]
    if defect.code not in _NAMING or not singles:
        return defect
    first = next(
        (d for d in singles if d.source_line.startswith(_NAMING[defect.code])),
        singles[0],
    )
    return replace(
        defect,
        line=first.line,
        column=first.column,
        source_line=first.source_line,
    )


@dataclass(slots=True)
class _Uses:
    """Where predicates are defined and what is called, tested and made true.

    Holds where each is first defined and called, and which fluents are tested or made true.
    """

    defined: dict[str, GatedClause] = field(default_factory=dict)
    called: dict[str, GatedClause] = field(default_factory=dict)
    tested: dict[str, GatedClause] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)
    anything: bool = False
    """Whether some clause may make any fluent true."""


def _find_unknown_fluents(strategy: GatedProgram, game: GatedProgram) -> list[Diagnostic]:
    """Find fluents that the rules of a strategy test, but that never hold when a strategy is asked.

    Asked it is before anybody has moved in the present round, so that only what `initially/2` says
    holds, and what a tournament sets.
    """
    known = set(_GIVEN)
    if "start_memory/1" in strategy.defined:
        known.add("memory/2")  # which a tournament sets
    anything = False
    for clause in (*game.clauses, *strategy.clauses):
        if (
            clause.line
            and indicator(clause.head) == "initially/2"
            and isinstance(clause.head, Struct)
        ):
            anything = anything or isinstance(clause.head.args[0], Var)
            known.add(indicator(clause.head.args[0]))
    if anything:
        return []
    hint = f"use {', '.join(sorted(known))}"
    unknown = []
    for clause in strategy.clauses:
        for fluent in _find_tested(clause):
            if fluent not in known:
                message = f"{fluent} never holds when a strategy is asked"
                unknown.append(_say(clause, "fluent", message, hint))
    return unknown


def _find_tested(clause: GatedClause) -> Iterator[str]:
    """Find the fluents that a rule for `select/4` tests in the situation in which it is asked."""
    if indicator(clause.head) != "select/4" or not isinstance(clause.head, Struct):
        return
    asked = clause.head.args[2]
    for term in walk_terms(clause.body):
        if not isinstance(term, Struct):
            continue
        is_test = indicator(term) == "holds/2" and term.args[1] == asked
        fluent = indicator(term.args[0]) if is_test else ""
        if fluent:
            yield fluent


def _collect_uses(program: GatedProgram) -> _Uses:
    uses = _Uses()
    for clause in program.clauses:
        if not clause.line:
            continue
        key = indicator(clause.head)
        uses.defined.setdefault(key, clause)
        if key in ("initially/2", "effect/3") and isinstance(clause.head, Struct):
            fluent = clause.head.args[0]
            uses.anything = uses.anything or isinstance(fluent, Var)
            uses.made.add(indicator(fluent))
        _collect_body(clause, uses, tests=key != "select/4")
    return uses


def _collect_body(clause: GatedClause, uses: _Uses, tests: bool) -> None:
    """Note every name in a body as called, and the fluents it tests."""
    for term in walk_terms(clause.body):
        key = indicator(term)
        if key:
            uses.called.setdefault(key, clause)
        if tests and key == "holds/2" and isinstance(term, Struct):
            uses.tested.setdefault(indicator(term.args[0]), clause)
    uses.tested.pop("", None)


def _find_misnamed(uses: _Uses) -> Iterator[Diagnostic]:
    """Find predicates nobody calls whose name is, or resembles, one that the solver asks."""
    for key, clause in uses.defined.items():
        name, arity = key.rsplit("/", 1)
        if key in GAME or key in uses.called:
            continue
        if name in _CONTRACT:
            message = (
                f"{key} is defined, but the solver asks {name}/{_CONTRACT[name]} and nothing calls"
                f" {key}"
            )
            yield _say(
                clause,
                "contract",
                message,
                f"give {name} {_CONTRACT[name]} arguments",
            )
            continue
        others = sorted(other for other, count in _CONTRACT.items() if str(count) == arity)
        near = find_similar(name, others)
        if near:
            yield _say(
                clause,
                "misspelt",
                f"nothing calls {key}",
                f"did you mean {near}/{arity}?",
            )


def _find_undefined(uses: _Uses) -> Iterator[Diagnostic]:
    """Find predicates of every game that this one calls and does not define."""
    for key in ("possible/2", "opposite_move/2"):
        if key in uses.called and key not in uses.defined:
            message = f"{key} is called but not defined"
            yield _say(uses.called[key], "undefined", message, "define it or remove the call")


def _find_odd_situations(program: GatedProgram) -> Iterator[Diagnostic]:
    """Find what is written as a situation and is none."""
    heads = [clause.head for clause in program.clauses if indicator(clause.head) == "initial/1"]
    first = [head.args[0] for head in heads if isinstance(head, Struct)]
    starts = [str(situation) for situation in first if isinstance(situation, Atom)]
    for clause in program.clauses:
        for term in walk_terms(clause.head, clause.body):
            if not isinstance(term, Struct) or not clause.line:
                continue
            situation = term.args[-1]
            known = starts or [str(situation)]
            is_one = indicator(situation) in ("", "do/2") or str(situation) in known
            if indicator(term) in _OF_SITUATIONS and not is_one:
                message = f"{write(situation)} is not a situation"
                hint = f"the last argument of {indicator(term)} is one: {known[0]}, or a variable"
                yield _say(clause, "fluent", message, hint, Severity.WARNING)


def _find_dead_fluents(uses: _Uses) -> Iterator[Diagnostic]:
    """Find fluents that are tested but that no effect/3 or initially/2 makes true."""
    if uses.anything:
        return
    by_name: dict[str, list[str]] = {}
    for key in sorted(uses.made):
        name, _, _ = key.rpartition("/")
        by_name.setdefault(name, []).append(key)
    names = sorted(by_name)
    for fluent, clause in uses.tested.items():
        if fluent in uses.made or fluent in _GIVEN:
            continue
        name, _, arity = fluent.rpartition("/")
        near = name if name in names else find_similar(name, names)
        same = by_name.get(near, [])
        alike = same
        if not alike:
            same_arity = [key for key in sorted(uses.made) if key.rpartition("/")[2] == arity]
            alike = [key for key in same_arity if key[0] == name[0]]
        hint = "let an effect/3 or initially/2 make it true"
        if alike:
            hint = f"did you mean {alike[0]}?"
        message = (
            f"{fluent} is tested with holds/2, but no effect/3 or initially/2 ever makes it true"
        )
        severity = Severity.ERROR if same else Severity.WARNING
        yield _say(clause, "fluent", message, hint, severity)


def _say(
    clause: GatedClause,
    code: str,
    message: str,
    hint: str,
    severity: Severity = Severity.ERROR,
) -> Diagnostic:
    return Diagnostic(
        Stage.STATIC,
        severity,
        line=clause.line,
        column=clause.column,
        source_line=clause.source_line,
        message=message,
        hint=hint,
        code=code,
    )
