"""The gate: nothing of a program runs that this module has not understood and written anew.

Default deny. A clause passes when each goal in its body is a predicate the program defines or one of a short list
(`predicates`); goals and closures must be written out, never computed. What passes is emitted as canonical text without
operators, and only that text reaches an engine: what the engine reads is what was checked.

A call of a predicate nobody defines is an error for the author, but no danger: it is emitted as a goal that raises an
existence error when it is reached, as in any Prolog.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from bestresponse.core.errors import ProgramRefused
from bestresponse.logic.diagnostics import Diagnostic, Severity, Stage
from bestresponse.logic.gate_goals import Refusal, checked_body, indicator
from bestresponse.logic.predicates import (
    CALLABLE,
    FORBIDDEN,
    FORBIDDEN_EXACT,
    GAME,
    HARMLESS_LIBRARIES,
    PROTECTED,
    SOLVER,
)
from bestresponse.logic.reader import Clause, read, read_term
from bestresponse.logic.solver_language import DEFAULTS, TRUSTED
from bestresponse.logic.solver_language import SOLVER as SOLVER_TEXT
from bestresponse.logic.terms import CONS, Atom, Struct, Term, Var, items_of, list_of, variables_of, write

__all__ = ["GatedClause", "GatedGoal", "GatedProgram", "check", "check_goal"]

MAX_CLAUSES = 5_000
MAX_DEPTH = 100
MAX_UNDEFINED = 50
MAX_NAMES = 1_000

_REFUSING = frozenset({"syntax", "size", "character", "forbidden", "directive", "reserved", "goal", "depth", "clause"})


@dataclass(frozen=True, slots=True)
class GatedClause:
    """A clause as it will run, and where its author wrote it."""

    head: Atom | Struct
    body: Term
    line: int
    column: int
    source_line: str

    @property
    def canonical(self) -> str:
        """The clause as text, without its full stop."""
        if isinstance(self.body, Atom) and self.body == "true":
            return write(self.head)
        return write(Struct(":-", (self.head, self.body)))


@dataclass(frozen=True, slots=True)
class GatedProgram:
    """The verdict on a program: what may run of it (nothing, where it is refused) and what is wrong with it."""

    source: str
    clauses: tuple[GatedClause, ...]
    diagnostics: tuple[Diagnostic, ...]
    defined: frozenset[str]

    @property
    def refusals(self) -> tuple[Diagnostic, ...]:
        """Why it must not run; empty if it may."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.ERROR and d.code in _REFUSING)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Everything that is wrong, whether or not it may run."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.ERROR)

    @property
    def canonical(self) -> str:
        """The only text an engine ever sees."""
        return "".join(clause.canonical + ".\n" for clause in self.clauses)

    def require(self) -> GatedProgram:
        """Itself, or `ProgramRefused` with the reasons."""
        refusals = self.refusals
        if refusals:
            more = f" (and {len(refusals) - 3} more)" if len(refusals) > 3 else ""
            raise ProgramRefused("The program was refused: " + "; ".join(map(str, refusals[:3])) + more)
        return self

    def given(self, fluents: Iterable[tuple[Term, Term]]) -> GatedProgram:
        """The program with these fluents in place of what `initially/2` says of the same name and first argument."""
        clauses = list(self.clauses)
        for fluent, situation in fluents:
            clauses = [clause for clause in clauses if not _replaced(clause.head, fluent, situation)]
            fact = Struct("initially", (fluent, situation))
            clauses.append(GatedClause(fact, Atom("true"), 0, 0, ""))
        return GatedProgram(self.source, tuple(clauses), self.diagnostics, self.defined | {"initially/2"})


@dataclass(frozen=True, slots=True)
class GatedGoal:
    """A goal that may be asked: `canonical` is the text of `Goal-[Variables]` in the order of `names`."""

    term: Term
    names: tuple[str, ...]
    variables: tuple[Var, ...]
    given: tuple[tuple[Term, Term], ...]

    @property
    def canonical(self) -> str:
        """`Goal-[Variables]` as text."""
        return write(Struct("-", (self.term, list_of(self.variables))))


def check(source: str) -> GatedProgram:
    """Read and check a whole program; nothing is run."""
    reading = read(source)
    gate = _Gate(complete=not reading.diagnostics)
    gate.collect(reading.clauses)
    clauses = gate.clauses()
    diagnostics = (*reading.diagnostics, *gate.diagnostics)
    ordered = tuple(sorted(diagnostics, key=lambda d: (d.severity is not Severity.ERROR, d.line, d.column)))
    program = GatedProgram(source, clauses, ordered, frozenset(gate.defined))
    return program if not program.refusals else GatedProgram(source, (), ordered, program.defined)


def check_goal(goal: str | Term, program: GatedProgram) -> GatedGoal:
    """Check one goal, as text or term, to be asked of a program; leading `initialise/2` goals become `given`."""
    try:
        whole = goal if not isinstance(goal, str) or isinstance(goal, Atom) else read_term(goal).term
        known = program.defined | CALLABLE | GAME
        goal, given = _split_given(whole)
        if _depth(goal) > MAX_DEPTH:
            raise Refusal(f"the goal is nested deeper than {MAX_DEPTH}")
        term = checked_body(goal, known, program.defined, lambda key: None)
    except (ValueError, Refusal) as error:
        raise ProgramRefused(f"The goal was refused: {error}") from error
    found = {variable.name: variable for variable in variables_of(whole)}
    names = tuple(name for name in found if not name.startswith("_"))
    return GatedGoal(term, names, tuple(found[name] for name in names), tuple(given))


def _split_given(term: Term) -> tuple[Term, list[tuple[Term, Term]]]:
    given: list[tuple[Term, Term]] = []
    while isinstance(term, Struct) and term.name == "," and indicator(term.args[0]) == "initialise/2":
        first = term.args[0]
        if not isinstance(first, Struct) or not isinstance(first.args[0], Struct) or variables_of(first):
            raise Refusal("initialise/2 takes a fluent and a situation without variables")
        given.append((first.args[0], first.args[1]))
        term = term.args[1]
    if indicator(term) == "initialise/2":
        raise Refusal("initialise/2 stands before the goal it is meant for")
    return term, given


def _replaced(head: Term, fluent: Term, situation: Term) -> bool:
    if not (isinstance(head, Struct) and head.name == "initially" and len(head.args) == 2):
        return False
    old, where = head.args
    if not (isinstance(old, Struct) and isinstance(fluent, Struct) and indicator(old) == indicator(fluent)):
        return False
    same_place = isinstance(where, Var) or where == situation
    return same_place and (isinstance(old.args[0], Var) or old.args[0] == fluent.args[0])


class _Gate:
    """Collects clauses and complaints of one program."""

    def __init__(self, complete: bool) -> None:
        self.complete = complete
        self.diagnostics: list[Diagnostic] = []
        self.kept: list[tuple[Clause, Atom | Struct, Term]] = []
        self.defined: dict[str, int] = {}
        self.declared: dict[str, Clause] = {}
        self.scattered: set[str] = set()
        self.missed: set[tuple[str, int]] = set()
        self.place: Clause | None = None

    def say(self, severity: Severity, code: str, message: str, hint: str = "") -> None:
        clause = self.place
        line, column = (clause.line, clause.column) if clause else (0, 0)
        source_line = clause.text.split("\n", 1)[0][:200] if clause else ""
        self.diagnostics.append(Diagnostic(Stage.STATIC, severity, line, column, source_line, message, hint, code))

    def refuse(self, code: str, message: str, hint: str = "") -> None:
        self.say(Severity.ERROR, code, message, hint)

    def collect(self, clauses: tuple[Clause, ...]) -> None:
        """Sort the clauses into directives, rules and facts."""
        if len(clauses) > MAX_CLAUSES:
            self.refuse("size", f"{len(clauses):,} clauses; at most {MAX_CLAUSES:,} are accepted")
            return
        for clause in clauses:
            self.place = clause
            if _depth(clause.term) > MAX_DEPTH:
                self.refuse("depth", f"the clause is nested deeper than {MAX_DEPTH}")
            elif isinstance(clause.term, Struct) and clause.term.name in (":-", "?-") and len(clause.term.args) == 1:
                self.directive(clause.term.args[0])
            else:
                self.clause(clause)
        self.place = None

    def directive(self, term: Term) -> None:
        """Declarations are dropped, pure libraries are there anyway; nothing else is a directive."""
        name = term.name if isinstance(term, Struct) else str(term)
        argument = term.args[0] if isinstance(term, Struct) else None
        if name in ("dynamic", "discontiguous", "multifile") and argument is not None:
            self.declaration(name, argument)
        elif name in ("use_module", "ensure_loaded") and _harmless_library(argument):
            return
        elif name == "style_check":
            self.say(Severity.WARNING, "directive", "the directive style_check is ignored")
        else:
            hint = "only dynamic, discontiguous and use_module of a pure library are accepted, and none is needed"
            self.refuse("directive", f"the directive :- {write(term)[:60]} is not allowed", hint)

    def declaration(self, name: str, argument: Term) -> None:
        for key in _declared(argument):
            if key is None:
                self.refuse("directive", f":- {name} takes predicates written name/arity")
            elif _forbidden(key):
                self.refuse("forbidden", f"{key} is not allowed in game programs")
            elif key in PROTECTED or key in _trusted():
                self.say(Severity.WARNING, "directive", f"the declaration of {key} is ignored: it is built in")
            else:
                self.scattered.add(key)
                if name == "dynamic" and self.place is not None:
                    self.declared.setdefault(key, self.place)

    def clause(self, clause: Clause) -> None:
        term = clause.term
        head, body = term, Atom("true")
        if isinstance(term, Struct) and term.name == ":-" and len(term.args) == 2:
            head, body = term.args[0], term.args[1]  # type: ignore[assignment]
        if not isinstance(head, Atom | Struct):
            self.refuse("clause", "the head of a clause must be a predicate, not a variable or number")
            return
        key = indicator(head)
        if key in SOLVER and write(term) in _solver_clauses():
            self.say(Severity.WARNING, "repeated", f"this clause of {key} is the solver's own and left out")
            return
        if not self.may_define(key, head):
            return
        if key in self.defined and self.kept and indicator(self.kept[-1][1]) != key and key not in self.scattered:
            hint = f"put them together or declare :- discontiguous {key}."
            self.say(Severity.WARNING, "discontiguous", f"the clauses of {key} are not together", hint)
        self.defined.setdefault(key, clause.line)
        self.kept.append((clause, head, body))
        self.style(clause, key)

    def may_define(self, key: str, head: Atom | Struct) -> bool:
        name = head.name if isinstance(head, Struct) else str(head)
        if name in ("-->", "=>"):
            self.refuse("clause", f"rules with {name} are not supported", "write the clause with :-")
        elif key in _trusted():
            self.refuse("reserved", f"{key} belongs to the solver; a game cannot define it", "remove its clauses")
        elif _forbidden(key):
            self.refuse("forbidden", f"{key} is not allowed in game programs")
        elif key in PROTECTED or name in ("[]", CONS, "{}", ":-", "?-", ":", "!", "|"):
            self.refuse("reserved", f"{key} is built in and cannot be redefined", "choose another name")
        elif name.startswith("$") or not name.isprintable():
            self.refuse("reserved", f"the name {name!r} is reserved", "choose another name")
        else:
            return True
        return False

    def style(self, clause: Clause, key: str) -> None:
        once = [name for name, count in clause.variables if count == 1 and not name.startswith("_")]
        if once:
            message = f"singleton variable{'s' * (len(once) > 1)} {', '.join(once)} in a clause of {key}"
            self.say(Severity.WARNING, "singleton", message, "a misspelling? if not, start the name with _")
        marked = [name for name, count in clause.variables if count > 1 and name[0] == "_" and name[1:2].isupper()]
        if marked:
            message = f"marked as unused but used more than once: {', '.join(marked)}"
            self.say(Severity.WARNING, "marked", message, "remove the leading _")

    def clauses(self) -> tuple[GatedClause, ...]:
        """Check every body against what the whole program defines."""
        gated: list[GatedClause] = []
        defined = frozenset(self.defined) | frozenset(self.declared)
        known = defined | CALLABLE | GAME
        for clause, head, body in self.kept:
            self.place = clause
            try:
                checked = checked_body(body, known, defined, self.undefined)
            except Refusal as refusal:
                self.refuse(refusal.code, str(refusal), refusal.hint)
                continue
            source_line = clause.text.split("\n", 1)[0][:200]
            gated.append(GatedClause(head, checked, clause.line, clause.column, source_line))
        gated += [_empty(key) for key in sorted((GAME | frozenset(self.declared)) - frozenset(self.defined))]
        gated += [default for key, default in _defaults().items() if key not in self.defined]
        self.place = None
        return tuple(gated)

    def undefined(self, key: str) -> None:
        """Complain once per predicate and clause about a call of something nobody defines."""
        place = self.place.line if self.place else 0
        if not self.complete or (key, place) in self.missed or len(self.missed) >= MAX_UNDEFINED:
            return
        self.missed.add((key, place))
        name = key.rsplit("/", 1)[0]
        known = sorted(set(self.defined) | CALLABLE | GAME)
        arities = [other for other in known if other.rsplit("/", 1)[0] == name]
        names = sorted({other.rsplit("/", 1)[0] for other in known})
        near = get_close_matches(name, names, 1, 0.75) if len(names) < MAX_NAMES else []
        if arities:
            self.say(Severity.ERROR, "arity", f"{key} is called, but only {', '.join(arities)} is defined")
        else:
            hint = f"did you mean {near[0]}?" if near else "define it or remove the call"
            self.say(Severity.ERROR, "undefined", f"{key} is called but not defined", hint)


@cache
def _trusted() -> frozenset[str]:
    """Every predicate the solver defines, its inner ones too: a game that defined one would play by other rules."""
    heads = (term.args[0] if isinstance(term, Struct) and term.name == ":-" else term for term in _terms(TRUSTED))
    return SOLVER | frozenset(map(indicator, heads))


def _terms(text: str) -> list[Term]:
    return [clause.term for clause in read(text).clauses]


@cache
def _solver_clauses() -> frozenset[str]:
    """The solver's clauses as text: a program that repeats them, as a listing might, means no harm."""
    return frozenset(map(write, _terms(SOLVER_TEXT)))


@cache
def _defaults() -> dict[str, GatedClause]:
    """Predicates the papers' strategies take for granted, for programs that do not define them."""
    heads = [term for term in _terms(DEFAULTS) if isinstance(term, Struct)]
    return {indicator(head): GatedClause(head, Atom("true"), 0, 0, "") for head in heads}


def _empty(key: str) -> GatedClause:
    name, arity = key.rsplit("/", 1)
    head = Struct(name, tuple(Var() for _ in range(int(arity)))) if int(arity) else Atom(name)
    return GatedClause(head, Atom("fail"), 0, 0, "")


def _forbidden(key: str) -> bool:
    return key.rsplit("/", 1)[0] in FORBIDDEN or key in FORBIDDEN_EXACT


def _harmless_library(argument: Term | None) -> bool:
    return (
        isinstance(argument, Struct)
        and argument.name == "library"
        and len(argument.args) == 1
        and isinstance(argument.args[0], Atom)
        and argument.args[0] in HARMLESS_LIBRARIES
    )


def _declared(argument: Term) -> list[str | None]:
    items, _ = items_of(argument)
    stack, keys = items[::-1] or [argument], []
    while stack:
        term = stack.pop()
        if isinstance(term, Struct) and term.name == "," and len(term.args) == 2:
            stack += [term.args[1], term.args[0]]
            continue
        valid = isinstance(term, Struct) and term.name == "/" and len(term.args) == 2
        name, arity = term.args if valid and isinstance(term, Struct) else (None, None)
        valid = isinstance(name, Atom) and isinstance(arity, int) and 0 <= arity <= 100
        keys.append(f"{name}/{arity}" if valid else None)
    return keys


def _depth(term: Term) -> int:
    """How deeply a term is nested; the right side of a conjunction and the rest of a list nest no deeper."""
    deepest, stack = 1, [(term, 1)]
    while stack:
        term, depth = stack.pop()
        if depth > deepest:
            deepest = depth
        if term.__class__ is Struct:
            flat = len(term.args) == 2 and term.name in (",", CONS)
            stack += [(argument, depth + 1) for argument in (term.args[:1] if flat else term.args)]
            if flat:
                stack.append((term.args[1], depth))
    return deepest
