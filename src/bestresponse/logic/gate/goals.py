"""Which goals may be in the body of a clause: the part of the gate that walks through it."""

from collections.abc import Callable, Set

from bestresponse.logic.language import predicates
from bestresponse.logic.language.library import RENAMED
from bestresponse.logic.language.terms import (
    CONS,
    NIL,
    Atom,
    Struct,
    Term,
    Var,
    brief,
    goals_of,
    items_of,
    variables_of,
    walk_terms,
)

MAX_DEPTH = 100
MAX_GOALS = 3_000

_COMMON = predicates.CALLABLE | predicates.GAME
_ARITHMETIC = frozenset({"is/2", "=:=/2", "=\\=/2", "</2", ">/2", "=</2", ">=/2"})
_ARITHMETIC_HINT = (
    "numbers are exact: use + - * / // mod div ** min max abs sign gcd floor ceiling round truncate"
)
_CONSTANTS = frozenset(
    {
        "pi",
        "e",
        "inf",
        "infinite",
        "nan",
        "epsilon",
        "random",
        "random_float",
        "cputime",
        "realtime",
    }
)
_SUMMARIES = {
    "count": "list length",
    "sum": "sum of",
    "max": "max of",
    "min": "min of",
    "set": "sorted set",
    "bag": "",
}
_GROUPS = {"setof/3": "set of", "bagof/3": "bag of"}
_UNSUPPORTED = {
    ":/2": "a call into another module",
    "^/2": "^",
    ">>/2": "this lambda expression",
    "initialise/2": "initialise/2 inside a program",
}


class Refusal(Exception):
    """A goal must not run; its text says why."""

    def __init__(self, message: str, hint: str = "", code: str = "goal") -> None:
        super().__init__(message)
        self.hint = hint
        self.code = code


def indicator(term: Term, extra: int = 0) -> str:
    """`name/arity` of a goal, its arity raised by the arguments a caller will add.

    Returns an empty result if it is no goal.
    """
    if isinstance(term, Struct):
        return f"{term.name}/{len(term.args) + extra}"
    return f"{term}/{extra}" if isinstance(term, Atom) else ""


class GoalChecker:
    """Checks the bodies of a program that defines `own`.

    Is told whom to call about what is undefined or drawn by lot.

    Lambda expressions are added to `clauses`, unless there can be no more (`closed`).
    """

    def __init__(
        self,
        own: Set[str],
        undefined: Callable[[str], None],
        random: Callable[[str], None] = lambda key: None,
        closed: bool = False,
    ) -> None:
        self.own = own
        self.undefined = undefined
        self.random = random
        self.closed = closed
        self.clauses: list[tuple[Struct, Term]] = []
        self._lambdas = 0
        self._goals = 0

    def check(self, body: Term) -> Term:
        """Return the body as it may run, or raise `Refusal`."""
        self._goals = 0
        return self._check_goal(body)

    def _check_goal(self, term: Term) -> Term:
        if isinstance(term, Struct) and term.name in (",", ";") and len(term.args) == 2:
            return self._check_chain(term, term.name)
        self._goals += 1
        if self._goals > MAX_GOALS:
            raise Refusal(
                f"a clause of more than {MAX_GOALS:,} goals", "split it into several predicates"
            )
        key = _require_name(term)
        if key in self.own:
            return term
        if key in predicates.OUTPUT:
            if isinstance(term, Struct) and key == "format/3" and isinstance(term.args[0], Struct):
                raise Refusal("format/3 cannot make a text here", predicates.DROPPED["atom_concat"])
            return Atom("true")
        if key in predicates.GOAL_ARGUMENTS and isinstance(term, Struct):
            return self._check_meta(term, key)
        _require_permission(key)
        if key in _COMMON:
            if isinstance(term, Struct) and key in _ARITHMETIC:
                _require_functions(term)
            return self._call_library(term, key)
        self.undefined(key)
        name, _, arity = key.rpartition("/")
        return Struct("undefined predicate", (Struct("/", (Atom(name), int(arity))),))

    def _check_chain(self, term: Term, name: str) -> Term:
        """Check goals joined by commas or semicolons, however many."""
        *goals, result = map(self._check_goal, goals_of(term, name))
        for goal in reversed(goals):
            result = Struct(name, (goal, result))
        return result

    def _check_meta(self, term: Struct, key: str) -> Term:
        """Check a predicate that calls goals: each of them in its place."""
        if key == "aggregate_all/3":
            return self._collect(*term.args)
        if key in _GROUPS:
            return self._group(_GROUPS[key], *term.args)
        arguments = list(term.args)
        for position, extra in predicates.GOAL_ARGUMENTS[key].items():
            argument = arguments[position]
            arguments[position] = (
                self._check_closure(argument, extra) if extra else self._check_goal(argument)
            )
        return Struct(term.name, tuple(arguments))

    def _collect(self, spec: Term, goal: Term, result: Term) -> Term:
        """Write `aggregate_all(Spec, Goal, Result)` as `findall/3` and its evaluation.

        The evaluation is what is made of the list that it gives.
        """
        match spec:
            case Atom("count"):
                template: Term = Atom("x")
                summary = "list length"
            case Struct(name=name, args=(template,)) if name in _SUMMARIES:
                summary = _SUMMARIES[name]
            case Struct(name="max" | "min" as name, args=(value, witness)):
                template = Struct("-", (value, witness))
                summary = "largest pair" if name == "max" else "smallest pair"
            case _:
                hint = "use count, sum(X), max(X), min(X), max(X, Witness), bag(X) or set(X)"
                raise Refusal(f"aggregate_all cannot make {brief(spec, 40)}", hint)
        answers = Var() if summary else result
        collecting = Struct("findall", (template, self._check_goal(goal), answers))
        return (
            Struct(",", (collecting, Struct(summary, (answers, result)))) if summary else collecting
        )

    def _group(self, summary: str, template: Term, goal: Term, result: Term) -> Term:
        """Write `setof/3` or `bagof/3` as `findall/3` and a choice among the groups of its list.

        A group is of one value of the variables that are neither in the template nor before `^`.
        """
        bound = list(variables_of(template))
        while isinstance(goal, Struct) and indicator(goal) == "^/2":
            bound += variables_of(goal.args[0])
            goal = goal.args[1]
        free = [v for v in variables_of(goal) if not any(v is other for other in bound)]
        group = Struct("of", tuple(free)) if free else NIL
        answers = Var()
        pair = Struct("-", (group, template))
        collecting = Struct("findall", (pair, self._check_goal(goal), answers))
        return Struct(",", (collecting, Struct(summary, (group, answers, result))))

    def _check_closure(self, term: Term, extra: int) -> Term:
        """Check a goal to which arguments are added later.

        It is a named predicate that calls no goals itself, or a lambda expression, which becomes
        one.
        """
        lifted = self._lift_lambda(term, extra)
        if lifted is not None:
            return lifted
        _require_name(term)
        key = indicator(term, extra)
        _require_permission(key)
        if key in self.own:
            return term
        if key in predicates.OUTPUT:
            return Atom("say nothing")
        if key in predicates.GOAL_ARGUMENTS:
            raise Refusal(
                f"{key} cannot be handed to another predicate",
                "write a small predicate of your own for it",
            )
        if key not in _COMMON:
            raise Refusal(f"{key} is handed to another predicate but not defined", "define it")
        return self._call_library(term, key)

    def _call_library(self, term: Term, key: str) -> Term:
        """Call the library's own predicate where a built-in one stands."""
        if key in predicates.RANDOM:
            self.random(key)
        name = RENAMED.get(key)
        if name is None:
            return term
        return Struct(name, term.args) if isinstance(term, Struct) else Atom(name)

    def _lift_lambda(self, term: Term, extra: int) -> Term | None:
        """Make a clause of a lambda expression and return the closure that calls it.

        The expression has `extra` parameters.

        The meaning is that of SWI-Prolog's library yall: each call takes a copy of the expression,
        so variables that are still free at the call do not become bound by it, unless they are
        named before the parameters: `{Free}/[Parameters]>>Body` or `Free/[Parameters]>>Body`.
        """
        if self.closed or not (
            isinstance(term, Struct) and term.name == ">>" and len(term.args) == 2
        ):
            return None
        parameters, body = term.args
        free: Term = NIL
        if isinstance(parameters, Struct) and parameters.name == "/" and len(parameters.args) == 2:
            free, parameters = parameters.args
        items, end = items_of(parameters)
        if len(items) != extra or end != NIL:
            return None
        shared = tuple(variables_of(free))
        own = tuple(
            variable
            for variable in variables_of(term)
            if not any(variable is other for other in shared)
        )
        arity = len(shared) + 1 + extra
        while f"lambda {self._lambdas}/{arity}" in self.own:
            self._lambdas += 1
        name = f"lambda {self._lambdas}"
        self._lambdas += 1
        copied = Struct("of", own) if own else NIL
        captured = Var()
        arguments = tuple(Var() for _ in items)
        goal = self._check_goal(body)
        for parameter, argument in zip(reversed(items), reversed(arguments), strict=True):
            goal = Struct(",", (Struct("=", (parameter, argument)), goal))
        goal = Struct(",", (Struct("fresh copy", (captured, copied)), goal))
        self.clauses.append((Struct(name, (*shared, captured, *arguments)), goal))
        return Struct(name, (*shared, copied))


def _require_name(term: Term) -> str:
    """Return the indicator of a goal that is written out."""
    if isinstance(term, Var):
        raise Refusal(
            f"the variable {term.name} stands where a goal is expected",
            "name the predicate to be called",
        )
    key = indicator(term)
    if not key:
        raise Refusal(f"{brief(term, 40)} is not a goal")
    if key in _UNSUPPORTED:
        raise Refusal(
            f"{_UNSUPPORTED[key]} cannot be used", "call a predicate of this program by its name"
        )
    return key


def _require_permission(key: str) -> None:
    name = key.rpartition("/")[0]
    if key in predicates.QUESTIONS:
        raise Refusal(f"{key} belongs to the solver; a game cannot call it", code="reserved")
    if name in predicates.FORBIDDEN or key in predicates.FORBIDDEN_EXACT:
        raise Refusal(f"{key} is not allowed in game programs", code="forbidden")
    if name in predicates.DROPPED and key not in _COMMON:
        raise Refusal(
            f"{key} is not part of the language of games",
            predicates.DROPPED[name],
            "forbidden",
        )


def _require_functions(term: Struct) -> None:
    """Ensure that numbers are compared or assigned by functions of the language only."""
    for part in walk_terms(*(term.args[1:] if term.name == "is" else term.args)):
        foreign = ""
        if isinstance(part, Struct):
            foreign = "" if indicator(part) in predicates.FUNCTIONS else indicator(part)
        elif isinstance(part, Atom) and part in _CONSTANTS:
            foreign = part
        if foreign:
            raise Refusal(
                f"{foreign} is not part of the arithmetic of games",
                _ARITHMETIC_HINT,
                "forbidden",
            )


def measure_depth(term: Term) -> int:
    """How deeply a term is nested.

    The right side of a conjunction or disjunction and the rest of a list nest no deeper.
    """
    deepest = 1
    stack = [(term, 1)]
    while stack:
        term, level = stack.pop()
        deepest = max(deepest, level)
        if term.__class__ is Struct:
            flat = len(term.args) == 2 and term.name in (",", ";", CONS)
            stack += [(argument, level + 1) for argument in (term.args[:1] if flat else term.args)]
            if flat:
                stack.append((term.args[1], level))
    return deepest
