"""The gate: nothing of a program runs that this module has not understood and written anew.

Default deny. A clause passes when each goal in its body is a predicate the program defines or one
of a short list (`predicates`); goals and closures must be written out, never computed. What passes
is emitted as canonical text without operators, and only that text reaches an engine: what the
engine reads is what was checked.

A call of a predicate nobody defines is an error for the author, but no danger: it is emitted as a
goal that raises an existence error when it is reached, as in any Prolog.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from bestresponse.core.errors import ProgramRefused
from bestresponse.logic.gate.goals import MAX_DEPTH, GoalChecker, Refusal, indicator, measure_depth
from bestresponse.logic.language import predicates
from bestresponse.logic.language.diagnostics import Diagnostic, Severity, Stage
from bestresponse.logic.language.library import LIBRARY_TEXT, PRIMITIVES
from bestresponse.logic.language.reader import Clause, read, read_term
from bestresponse.logic.language.terms import (
    CONS,
    Atom,
    Struct,
    Term,
    Var,
    brief,
    items_of,
    list_of,
    variables_of,
    write,
)
from bestresponse.logic.programs.solver_language import SOLVER as SOLVER_TEXT, TRUSTED

REFUSING = frozenset(
    {
        "syntax",
        "size",
        "character",
        "forbidden",
        "random",
        "directive",
        "reserved",
        "goal",
        "depth",
        "clause",
    }
)
"""Codes of diagnostics for which a program must not run."""
_MOST_TOLD = 3
MAX_CLAUSES = 5_000
MAX_UNDEFINED = 50
# Finding a similar name takes long, so it is done for the first few faults, among these many names.
MAX_NAMES = 200
MAX_HINTS = 10
MAX_ARITY = 60
_LONGEST_HINT = 40

_RESERVED = frozenset({"[]", CONS, "{}", ":-", "?-", ":", "!", "|", "@", "?=>"})
_LOADING = ("use_module", "ensure_loaded")
_IGNORED = frozenset({"style_check", "license"})
_DECIMAL = re.compile(r"\d\.\d")
_COMPARED = re.compile(r"=:=|=\\=|[^=\\w]=[^=<>:.\\]|==|\binteger\(|list_to_|sort\(|set\(|member")
"""What may hold of exact numbers and not of rounded ones."""
_RETOLD = """
game(Situation, Situation) :- final(Situation), !.
game(Situation, Final) :- legal(Move, Situation), game(do(Move, Situation), Final).
game(Situation, Final) :-
    not(final(Situation)), legal(Move, Situation), game(do(Move, Situation), Final).
holds(Fluent, do(Move, Situation)) :-
    holds(Fluent, Situation), not(abnormal(Fluent, Move, Situation)).
"""


class GatedClause(NamedTuple):
    """A clause as it will run, and where its author wrote it (line 0: nowhere)."""

    head: Atom | Struct
    body: Term
    line: int = 0
    column: int = 0
    source_line: str = ""

    @property
    def canonical(self) -> str:
        """The clause as text, without its full stop."""
        if isinstance(self.body, Atom) and self.body == "true":
            return write(self.head)
        return write(Struct(":-", (self.head, self.body)))


@dataclass(frozen=True, slots=True)
class GatedProgram:
    """The verdict on a program: what may run of it and what is wrong with it.

    Nothing may run if it is refused.
    """

    source: str
    clauses: tuple[GatedClause, ...]
    diagnostics: tuple[Diagnostic, ...]
    defined: frozenset[str]

    @property
    def refusals(self) -> tuple[Diagnostic, ...]:
        """Why it must not run; empty if it may."""
        return tuple(error for error in self.errors if error.code in REFUSING)

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
        shown = refusals[:_MOST_TOLD]
        rest = refusals[_MOST_TOLD:]
        if shown:
            more = f" (and {len(rest)} more)" if rest else ""
            reasons = "; ".join(map(str, shown))
            raise ProgramRefused(f"The program was refused: {reasons}{more}")
        return self

    def initialise(self, fluents: Iterable[tuple[Term, Term]]) -> GatedProgram:
        """The program with these fluents in place of those of `initially/2`.

        A fluent replaces what is said of the same name and first argument.
        """
        clauses = list(self.clauses)
        for fluent, situation in fluents:
            clauses = [
                clause for clause in clauses if not _replaced(clause.head, fluent, situation)
            ]
            fact = Struct("initially", (fluent, situation))
            clauses.append(GatedClause(fact, Atom("true")))
        return GatedProgram(
            self.source,
            tuple(clauses),
            self.diagnostics,
            self.defined | {"initially/2"},
        )


@dataclass(frozen=True, slots=True)
class GatedGoal:
    """A goal that may be asked.

    `canonical` is the text of `Goal-[Variables]` in the order of `names`.
    """

    term: Term
    names: tuple[str, ...]
    variables: tuple[Var, ...]
    fluents: tuple[tuple[Term, Term], ...]

    @property
    def canonical(self) -> str:
        """`Goal-[Variables]` as text."""
        return write(Struct("-", (self.term, list_of(self.variables))))


def check_source(source: str) -> GatedProgram:
    """Read and check a whole program; nothing is run."""
    reading = read(source)
    gate = _Gate(complete=not reading.diagnostics)
    gate.collect(reading.clauses)
    clauses = gate.clauses()
    diagnostics = (*reading.diagnostics, *gate.diagnostics)

    def errors_first(found: Diagnostic) -> tuple[bool, int, int]:
        return found.severity is not Severity.ERROR, found.line, found.column

    ordered = tuple(sorted(diagnostics, key=errors_first))
    program = GatedProgram(source, clauses, ordered, frozenset(gate.defined))
    return (
        program
        if not program.refusals
        else GatedProgram(
            source,
            (),
            ordered,
            program.defined,
        )
    )


def check_goal(goal: str | Term, program: GatedProgram) -> GatedGoal:
    """Check one goal, as text or term, to be asked of a program.

    Leading `initialise/2` goals become `fluents`.
    """
    try:
        whole = (
            goal if not isinstance(goal, str) or isinstance(goal, Atom) else read_term(goal).term
        )
        goal, fluents = _split_fluents(whole)
        if measure_depth(goal) > MAX_DEPTH:
            raise Refusal(f"the goal is nested deeper than {MAX_DEPTH}")
        term = GoalChecker(
            program.defined | predicates.QUESTIONS,
            lambda key: None,
            closed=True,
        ).check(goal)
    except (ValueError, Refusal) as error:
        raise ProgramRefused(f"The goal was refused: {error}") from error
    variables = {variable.name: variable for variable in variables_of(whole)}
    names = tuple(name for name in variables if not name.startswith("_"))
    named = tuple(variables[name] for name in names)
    return GatedGoal(term, names, named, tuple(fluents))


def _split_fluents(term: Term) -> tuple[Term, list[tuple[Term, Term]]]:
    fluents: list[tuple[Term, Term]] = []
    while isinstance(term, Struct) and term.name == "," and len(term.args) == 2:
        first, rest = term.args
        if not isinstance(first, Struct) or indicator(first) != "initialise/2":
            break
        fluent, situation = first.args
        if not isinstance(fluent, Struct) or variables_of(first):
            raise Refusal("initialise/2 takes a fluent and a situation without variables")
        fluents.append((fluent, situation))
        term = rest
    if indicator(term) == "initialise/2":
        raise Refusal("initialise/2 stands before the goal it is meant for")
    return term, fluents


def _replaced(head: Term, fluent: Term, situation: Term) -> bool:
    if not (isinstance(head, Struct) and head.name == "initially" and len(head.args) == 2):
        return False
    old, where = head.args
    if not isinstance(old, Struct) or not isinstance(fluent, Struct):
        return False
    if indicator(old) != indicator(fluent):
        return False
    same_place = isinstance(where, Var) or where == situation
    same_owner = isinstance(old.args[0], Var) or old.args[0] == fluent.args[0]
    return same_place and same_owner


class _Gate:
    """Collects clauses and complaints of one program."""

    def __init__(self, complete: bool) -> None:
        self.complete = complete
        self.diagnostics: list[Diagnostic] = []
        self.kept: list[tuple[Clause, str, Atom | Struct, Term]] = []
        self.directives: list[tuple[Clause, Term]] = []
        self.defined: dict[str, int] = {}
        self.declared: dict[str, Clause] = {}
        self.scattered: set[str] = set()
        self.missed: set[tuple[str, int]] = set()
        self.current: Clause | None = None
        self.head = ""

    def say(self, severity: Severity, code: str, message: str, hint: str = "") -> None:
        """Report something about the clause at hand."""
        clause = self.current
        line, column = (clause.line, clause.column) if clause else (0, 0)
        source_line = _quote_first_line(clause) if clause else ""
        self.diagnostics.append(
            Diagnostic(
                Stage.STATIC,
                severity,
                line=line,
                column=column,
                source_line=source_line,
                message=message,
                hint=hint,
                code=code,
            )
        )

    def refuse(self, code: str, message: str, hint: str = "") -> None:
        """Report an error about the clause at hand."""
        self.say(Severity.ERROR, code, message, hint)

    def collect(self, clauses: tuple[Clause, ...]) -> None:
        """Sort the clauses into directives, rules and facts."""
        if len(clauses) > MAX_CLAUSES:
            self.refuse("size", f"{len(clauses):,} clauses; at most {MAX_CLAUSES:,} are accepted")
            return
        for clause in clauses:
            self.current = clause
            if len(clause.text) > MAX_DEPTH and measure_depth(clause.term) > MAX_DEPTH:
                self.refuse("depth", f"the clause is nested deeper than {MAX_DEPTH}")
                self.complete = False
            elif (
                isinstance(clause.term, Struct)
                and clause.term.name in (":-", "?-")
                and len(clause.term.args) == 1
            ):
                self.directive(clause.term.args[0])
            else:
                self.clause(clause)
        self.current = None

    def directive(self, term: Term) -> None:
        """Declarations are dropped, pure libraries are there anyway, no goal is run."""
        name = term.name if isinstance(term, Struct) else str(term)
        argument = term.args[0] if isinstance(term, Struct) else None
        if name in ("dynamic", "discontiguous", "multifile") and argument is not None:
            self.declaration(name, argument)
        elif name in _IGNORED or write(term) == "encoding(utf8)":
            self.say(Severity.WARNING, "directive", f"the directive {name} is ignored")
        elif name == "table" and argument is not None and None not in _declared(argument):
            hint = "an answer that is found in two ways counts twice"
            self.say(Severity.WARNING, "directive", "the directive table is ignored", hint)
        elif not (name in _LOADING and _harmless(argument)) and self.current is not None:
            self.directives.append((self.current, term))

    def not_run(self, term: Term, checker: GoalChecker) -> None:
        """A directive that only calls what a game may call is left out with a word.

        Any other refuses the program.
        """
        goal = term.args[0] if isinstance(term, Struct) and term.name == "initialization" else term
        try:
            checker.check(goal)
            self.say(Severity.WARNING, "directive", f"the directive :- {brief(term)} is not run")
        except Refusal:
            hint = (
                "only dynamic, discontiguous and use_module of a pure library are accepted, and"
                " none is needed"
            )
            self.refuse("directive", f"the directive :- {brief(term)} is not allowed", hint)

    def declaration(self, name: str, argument: Term) -> None:
        """Check a directive that declares predicates."""
        for key in _declared(argument):
            if key is None:
                self.refuse("directive", f":- {name} takes predicates written name/arity")
            elif _is_forbidden(key):
                self.refuse("forbidden", f"{key} is not allowed in game programs")
            elif key in predicates.PROTECTED or key in predicates.CORE or key in _trusted():
                self.say(
                    Severity.WARNING,
                    "directive",
                    f"the declaration of {key} is ignored: it is built in",
                )
            else:
                self.scattered.add(key)
                if name == "dynamic" and self.current is not None:
                    self.declared.setdefault(key, self.current)

    def clause(self, clause: Clause) -> None:
        """Check one clause and keep it."""
        head, body = clause.parts
        if not isinstance(head, Atom | Struct):
            self.refuse(
                "clause", "the head of a clause must be a predicate, not a variable or number"
            )
            return
        key = indicator(head)
        if key in predicates.SOLVER and write(clause.term) in _solver_clauses():
            self.say(
                Severity.WARNING,
                "repeated",
                f"this clause of {key} is the solver's own and left out",
            )
            return
        if not self.may_define(key, head):
            return
        last_key = self.kept[-1][1] if self.kept else key
        if key in self.defined and key != last_key and key not in self.scattered:
            hint = f"put them together or declare :- discontiguous {key}."
            self.say(
                Severity.WARNING,
                "discontiguous",
                f"the clauses of {key} are not together",
                hint,
            )
        self.defined.setdefault(key, clause.line)
        self.kept.append((clause, key, head, body))
        self.style(clause, key)

    def may_define(self, key: str, head: Atom | Struct) -> bool:
        """Tell whether a program may define a predicate, and report why not."""
        name = head.name if isinstance(head, Struct) else str(head)
        if name in ("-->", "=>"):
            self.refuse(
                "clause",
                f"rules with {name} are not supported",
                "write the clause with :-",
            )
        elif key in _trusted():
            self.refuse(
                "reserved",
                f"{key} belongs to the solver; a game cannot define it",
                "remove its clauses",
            )
        elif _is_forbidden(key):
            self.refuse("forbidden", f"{key} is not allowed in game programs")
        elif isinstance(head, Struct) and len(head.args) > MAX_ARITY:
            self.refuse(
                "reserved",
                f"{name[:40]} has {len(head.args)} arguments; at most {MAX_ARITY} are accepted",
            )
            self.complete = False
        elif key in predicates.PROTECTED or key in predicates.CORE or name in _RESERVED:
            self.refuse(
                "reserved",
                f"{key} is built in and cannot be redefined",
                "choose another name",
            )
        elif name.startswith("$") or not name.isprintable():
            self.refuse("reserved", f"the name {name!r} is reserved", "choose another name")
        else:
            return True
        return False

    def style(self, clause: Clause, key: str) -> None:
        """Report variables that are misspelt or wrongly marked."""
        once = [name for name, count in clause.variables if count == 1 and not name.startswith("_")]
        if once:
            message = (
                f"singleton variable{'s' * (len(once) > 1)} {', '.join(once)} in a clause of {key}"
            )
            self.say(
                Severity.WARNING,
                "singleton",
                message,
                "a misspelling? if not, start the name with _",
            )
        often = [name for name, count in clause.variables if count > 1]
        marked = [name for name in often if name[0] == "_" and name[1:2].isupper()]
        if marked:
            message = f"marked as unused but used more than once: {', '.join(marked)}"
            self.say(Severity.WARNING, "marked", message, "remove the leading _")
        if _DECIMAL.search(clause.text) and _COMPARED.search(clause.text):
            message = f"numbers are exact, so that {key} may hold where other Prologs round"
            self.say(Severity.WARNING, "exact", message, "0.1 + 0.2 =:= 0.3 and 1 = 1.0 hold here")

    def clauses(self) -> tuple[GatedClause, ...]:
        """Check every body against what the whole program defines."""
        defined = frozenset(self.defined) | frozenset(self.declared)
        checker = GoalChecker(defined, self.undefined, self.drawn)
        gated = self.checked(checker)
        for clause, term in self.directives:
            self.current = clause
            self.not_run(term, GoalChecker(defined, _refuse_undefined, closed=True))
        self.current = None
        gated += [GatedClause(head, body) for head, body in checker.clauses]
        may_be_called = predicates.GAME | frozenset(self.declared)
        gated += map(_empty, sorted(may_be_called - frozenset(self.defined)))
        has_percepts = "true" if "sees/3" in self.defined else "fail"
        gated.append(GatedClause(Atom("has percepts"), Atom(has_percepts)))
        return tuple(gated)

    @cached_property
    def needs(self) -> Needs:
        """What the program needs, looked at when something is wrong with it."""
        return Needs((key, body) for _, key, _, body in self.kept)

    def checked(self, checker: GoalChecker) -> list[GatedClause]:
        """The clauses whose bodies may run.

        What may not is a refusal, or left out where the game does not need it.
        """
        gated: list[GatedClause] = []
        faulty: dict[str, Refusal] = {}
        for clause, key, head, body in self.kept:
            self.current, self.head, lifted = clause, key, len(checker.clauses)
            try:
                checked = body if body == "true" else checker.check(body)
            except Refusal as refusal:
                del checker.clauses[lifted:]
                if self.needs.is_needed(self.head):
                    self.refuse(refusal.code, str(refusal), refusal.hint)
                else:
                    faulty.setdefault(self.head, refusal)
                continue
            gated.append(
                GatedClause(
                    head,
                    checked,
                    clause.line,
                    clause.column,
                    _quote_first_line(clause),
                )
            )
        return self.left_out(faulty, gated) if faulty else gated

    def left_out(self, faulty: dict[str, Refusal], gated: list[GatedClause]) -> list[GatedClause]:
        """Leave out clauses that the game does not need, and report them."""
        gone = self.needs.without(faulty)
        first_clauses: dict[str, Clause] = {}
        for clause, key, _, _ in self.kept:
            first_clauses.setdefault(key, clause)
        for key in sorted(gone):
            self.current = first_clauses[key]
            why = str(faulty[key]) if key in faulty else "it calls what is left out"
            self.say(
                Severity.WARNING,
                "unused",
                f"{key} is left out: {why}",
                "the game does not need it",
            )
            del self.defined[key]
        return [clause for clause in gated if indicator(clause.head) not in gone]

    def undefined(self, key: str) -> None:
        """Complain once per predicate and clause about a call of something nobody defines."""
        line = self.current.line if self.current else 0
        if not self.complete or (key, line) in self.missed or len(self.missed) >= MAX_UNDEFINED:
            return
        self.missed.add((key, line))
        severity = Severity.ERROR if self.needs.is_needed(self.head) else Severity.WARNING
        name = _strip_arity(key)
        arities = sorted(other for other in self.known if _strip_arity(other) == name)
        near = find_similar(name, self.names) if len(self.missed) <= MAX_HINTS else ""
        if arities:
            self.say(
                severity,
                "arity",
                f"{key} is called, but only {', '.join(arities)} is defined",
            )
        else:
            hint = f"did you mean {near}?" if near else "define it or remove the call"
            self.say(severity, "undefined", f"{key} is called but not defined", hint)

    @cached_property
    def known(self) -> frozenset[str]:
        """Every predicate that can be called."""
        return frozenset(self.defined) | predicates.CALLABLE | predicates.GAME

    @cached_property
    def names(self) -> list[str]:
        """The names of these predicates, in order."""
        return sorted(set(map(_strip_arity, self.known)))

    def drawn(self, key: str) -> None:
        """Refuse a draw by lot in the rules of a game; a strategy may make one."""
        if self.needs.is_rule(self.head):
            message = f"{key} draws by lot, but the rules of a game must always say the same"
            raise Refusal(
                message,
                "let nature move: chance(Move, Probability, Situation)",
                "random",
            )


_STRATEGY = "select/4"
_ENTRANCES = frozenset({"finally/2", _STRATEGY})


class Needs:
    """What a game needs: which predicates mention which, by name.

    Names count because a name anywhere in a body may be called there.

    Programs come with predicates beside the game: one that prints all outcomes, one that asks for a
    move, one that ends the session. Where such a predicate does what no game may do, it is left out
    and the game is none the worse for it. Only a strategy, `select/4`, is told from other
    predicates of its name, because it may draw by lot.
    """

    def __init__(self, clauses: Iterable[tuple[str, Term]]) -> None:
        self._mentions: dict[str, set[str]] = defaultdict(set)
        for key, body in clauses:
            self._mentions[key] |= _find_names(body)
        by_name: dict[str, set[str]] = defaultdict(set)
        for key, mentioned in self._mentions.items():
            by_name[_find_name(key)] |= mentioned
        entered = _ENTRANCES & self._mentions.keys()
        game = {_find_name(key) for key in predicates.GAME}
        self._needed = _follow(by_name, game) if entered else set(by_name)
        self._rules = _follow(by_name, game - {_STRATEGY}) if "finally/2" in entered else set()

    def is_needed(self, key: str) -> bool:
        """Whether the game or its strategies may come to call this predicate.

        In a program that is neither, all are.
        """
        return _find_name(key) in self._needed

    def is_rule(self, key: str) -> bool:
        """Whether the game's rules, and not only a strategy, may come to call this predicate."""
        return _find_name(key) in self._rules

    def without(self, keys: Iterable[str]) -> frozenset[str]:
        """Return these predicates and all that cannot do without them."""
        mentioning: dict[str, list[str]] = defaultdict(list)
        for key, mentioned in self._mentions.items():
            for name in mentioned:
                mentioning[name].append(key)
        gone = set(keys)
        waiting = list(gone)
        while waiting:
            for key in mentioning.pop(_find_name(waiting.pop()), ()):
                if key not in gone:
                    gone.add(key)
                    waiting.append(key)
        return frozenset(gone)


def _follow(mentions: Mapping[str, Set[str]], start: set[str]) -> set[str]:
    """Find every name that can be reached from the start."""
    reached = set(start)
    waiting = list(start)
    while waiting:
        new = mentions.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached


def _find_name(key: str) -> str:
    return key if key == _STRATEGY else key.rpartition("/")[0]


def _find_names(body: Term) -> set[str]:
    """Find every name in a term.

    Of a goal to which arguments are added when it is called, the one it has then.
    """
    names: set[str] = set()
    stack = [(body, 0)]
    while stack:
        term, added = stack.pop()
        if isinstance(term, Atom | Struct):
            names.add(_find_name(indicator(term, added)))
        if isinstance(term, Struct):
            closures = predicates.GOAL_ARGUMENTS.get(indicator(term), {})
            stack += [
                (argument, closures.get(position, 0)) for position, argument in enumerate(term.args)
            ]
    return names


def find_similar(name: str, names: list[str]) -> str:
    """Find the name that was probably meant, empty if there is none.

    Looks at a bounded number of short names.
    """
    if len(name) > _LONGEST_HINT:
        return ""
    same_letter = [other for other in names if other[:1] == name[:1]]
    near = [other for other in same_letter if abs(len(other) - len(name)) <= 3]
    found = get_close_matches(name, near[:MAX_NAMES], 1, 0.75)
    return found[0] if found else ""


def _strip_arity(key: str) -> str:
    """Return the name of a predicate without the number of its arguments."""
    return key.rpartition("/")[0]


def _quote_first_line(clause: Clause) -> str:
    return clause.text.partition("\n")[0][:200]


def _refuse_undefined(key: str) -> None:
    raise Refusal(f"{key} is not defined")


@cache
def _trusted() -> frozenset[str]:
    """Every predicate the solver defines, including its inner ones.

    A game that defined one would play by other rules.
    """
    inner = _heads(LIBRARY_TEXT) - predicates.LIBRARY
    return predicates.SOLVER.union(_heads(TRUSTED), PRIMITIVES, inner)


def _heads(text: str) -> frozenset[str]:
    clauses = read(text).clauses
    return frozenset(indicator(clause.parts[0]) for clause in clauses)


@cache
def _solver_clauses() -> frozenset[str]:
    """The solver's clauses as text: a program that repeats them, as a listing might, means no harm;
    nor if it writes `not` for `\\+` or leaves out what makes no difference."""
    clauses = read(SOLVER_TEXT + _RETOLD).clauses
    return frozenset(write(clause.term) for clause in clauses)


@lru_cache(1024)
def _empty(key: str) -> GatedClause:
    name, _, arity = key.rpartition("/")
    arguments = tuple(Var() for _ in range(int(arity)))
    head = Struct(name, arguments) if arguments else Atom(name)
    return GatedClause(head, Atom("fail"))


def _is_forbidden(key: str) -> bool:
    """Whether a game may not define a predicate by this name."""
    name = _strip_arity(key)
    everyday = name in predicates.EVERYDAY and key not in predicates.CORE
    return (name in predicates.FORBIDDEN or key in predicates.FORBIDDEN_EXACT) and not everyday


def _harmless(argument: Term | None) -> bool:
    """Whether a library, or each of a list of them, does nothing when it is loaded."""
    if argument is None:
        return False
    items, _ = items_of(argument)
    for item in items or [argument]:
        if not isinstance(item, Struct) or item.name != "library":
            return False
        if item.args[0] not in predicates.HARMLESS_LIBRARIES:
            return False
    return True


def _declared(argument: Term) -> list[str | None]:
    items, _ = items_of(argument)
    stack = items[::-1] or [argument]
    keys: list[str | None] = []
    while stack:
        term = stack.pop()
        match term:
            case Struct(name=",", args=(first, second)):
                stack += [second, first]
            case Struct(name="/", args=(Atom() as name, int() as arity)) if 0 <= arity <= 100:
                keys.append(f"{name}/{arity}")
            case _:
                keys.append(None)
    return keys
