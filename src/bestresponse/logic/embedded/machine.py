"""The embedded engine's machine.

It does depth-first resolution with a trail, choice points and budgets.

It is a loop over the code of `compiler`, never a recursion, so a deep proof costs memory but no
stack. Memory is counted in cells as a Prolog heap would be (given back on backtracking) and
bounded, as are steps and seconds. It can do nothing but bind variables: no primitive reaches files,
processes or other programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bestresponse.core.errors import LimitReached
from bestresponse.logic.embedded.builtins import MANY, SINGLE, gather
from bestresponse.logic.embedded.compiler import (
    CALL_AGAIN,
    CALL_CLOSURE,
    CALLS,
    COLLECT,
    CONSTANT,
    CUT,
    CUT_AFTER,
    CUT_AND_FAIL,
    DETERMINATE,
    EITHER,
    FAIL,
    FIRST,
    FORGET,
    GATHER,
    GROUND,
    LATER,
    MARK,
    MULTIPLE,
    SOLVE_ALL,
    TRY,
    VOID,
    Code,
    CompiledClause,
    Predicate,
    build,
    match,
)
from bestresponse.logic.embedded.tables import Situations
from bestresponse.logic.embedded.unify import Fault, allow_visits, copy
from bestresponse.logic.engine import Limits, RuntimeFault
from bestresponse.logic.language.terms import Atom, Struct, Term, Var, deref

_CLAUSES, _BRANCH, _MORE = range(3)
# Steps between two looks at the clock, which take longer than a step.
_CLOCK_EVERY = 255
_VISITS_PER_STEP = 8
"""Terms that may be visited for each step that may be made: a visit takes an eighth of the time or
less."""
# About what a choice point takes.
_CHOICE_CELLS = 8
ENDLESS = "A rule did not come to an end within {0.steps:,} steps."
TOO_MUCH_WORK = "The rules took more than {0.steps_in_all:,} steps in all."
TOO_MANY_POSITIONS = "Walking through the game takes more than {0.positions:,} positions."
TOO_MANY_ENDS = "The game has more than {0.ends:,} ends."
_NO_MORE: Code = (FAIL, None, None, None, (0, ""))


class Machine:
    """Runs goals against the predicates of one program.

    One goal at a time; make a new machine for each.
    """

    __slots__ = (
        "below",
        "charged",
        "draw",
        "limits",
        "nesting",
        "origin",
        "predicates",
        "situations",
        "trail",
        "used",
        "work",
    )

    def __init__(
        self,
        predicates: Mapping[str, Predicate],
        limits: Limits,
        draw: Callable[[int, int], int],
        situations: Situations | None,
    ) -> None:
        self.predicates = predicates
        self.limits = limits
        self.draw = draw
        self.situations = situations
        self.trail: list[Var] = []
        self.charged = 0
        self.used = 0
        self.below = 0
        self.nesting = 0
        self.origin: tuple[int, str] = (0, "")
        self.work: Work = Work(limits)

    def nest(self) -> Machine:
        """Return a machine for a question within a question; both work within the same limits."""
        inner = Machine(self.predicates, self.limits, self.draw, self.situations)
        inner.nesting = self.nesting + 1
        inner.work = self.work
        return inner

    def charge(self, cells: int) -> None:
        """Count memory that a built-in predicate takes.

        If that may be much, it is counted before it is taken.
        """
        self.charged += cells
        if self.used + self.below + self.charged + self.work.held > self.limits.cells:
            raise _make_memory_error(self.limits)
        self.work.spend((cells + 3) >> 2)

    def spend(self, steps: int) -> None:
        """Count work that a built-in predicate does, beside the steps of the machine."""
        self.work.spend(steps)

    def solve(self, code: Code, slots: list[object]) -> Iterator[None]:
        """Each solution once, with the goal's variables bound while the caller looks."""
        self.work.start()
        try:
            yield from self._run(code, slots)
        except Fault as fault:
            raise RuntimeFault(str(fault), *(fault.origin or (0, ""))) from fault

    def run_predicate(self, key: str, arguments: list[Term]) -> Iterator[None]:
        """Each solution of a call once, without looking it up in a table."""
        code = (
            CALL_AGAIN,
            None,
            key,
            tuple((GROUND, argument) for argument in arguments),
            (0, ""),
        )
        return self._run(code, [0])

    def _run(self, code: Code, slots: list[Any]) -> Iterator[None]:
        # Handlers are here and not in `_search`: CPython repeats the handling of an exception for
        # ever where it has no memory left to note a place beyond the 256th instruction of a
        # function.
        choices: list[tuple[Any, ...]] = []
        try:
            solved = self._search(code, slots, choices, failed=False)
            while solved:
                yield
                solved = self._search(None, [], choices, failed=True)
        except Fault as fault:
            if fault.origin is None:
                fault.origin = self.origin
            raise

    def _search(
        self,
        code: Code,
        slots: list[Any],
        choices: list[tuple[Any, ...]],
        failed: bool,
    ) -> bool:
        """Go on to the next solution, after the first from the last choice.

        Say whether there is one.
        """
        # One loop on purpose: this is the inner loop of the engine, and a call per instruction
        # would double its time.
        trail = self.trail
        limits = self.limits
        predicates = self.predicates
        work = self.work
        situations = self.situations
        max_cells = limits.cells - self.below
        frame: tuple[Any, ...] | None = None
        arguments: list[Term] = []
        candidates: list[CompiledClause] = []
        goal_on: tuple[Any, ...] | None = None
        cells = steps = position = 0
        while True:
            steps += 1
            if steps > _CLOCK_EVERY:
                work.spend(steps)
                steps = 0
            if failed:
                if not choices:
                    work.spend(steps)
                    return False
                choice = choices.pop()
                mark = choice[1]
                while len(trail) > mark:
                    trail.pop().ref = None
                cells = choice[2]
                if choice[0] == _CLAUSES:
                    _, _, _, arguments, candidates, position, goal_on = choice
                elif choice[0] == _BRANCH:
                    _, _, _, code, slots, frame = choice
                    failed = False
                    continue
                else:
                    self.origin = choice[7]
                    if next(choice[3], self) is not self:
                        choices.append(choice)
                        _, _, _, _, code, slots, frame, _ = choice
                        failed = False
                    continue
            else:
                if code is None:
                    if frame is None:
                        work.spend(steps)
                        return True
                    code, slots, frame = frame
                    continue
                operation = code[0]
                if operation in CALLS:
                    self.origin = code[4]
                    arguments = []
                    for pattern in code[3]:
                        kind = pattern[0]
                        if kind == LATER:
                            term = slots[pattern[1]]
                            if term is None:
                                term = slots[pattern[1]] = Var()
                            arguments.append(term)
                        elif kind == CONSTANT:
                            arguments.append(pattern[1])
                        else:
                            arguments.append(build(pattern, slots))
                    if operation != CALL_CLOSURE:
                        key = code[2]
                    else:
                        key, arguments = _closure(arguments)
                    predicate = predicates.get(key)
                    if predicate is None:
                        code = self._builtin(key, arguments, code)
                        continue
                    if predicate.tabled and operation != CALL_AGAIN and situations is not None:
                        self.used = cells
                        lookup = situations.find(self, key, arguments)
                        if lookup is not None:
                            table, variables = lookup
                            if table.source is None and table.whole and len(table.answers) < 2:
                                failed = not table.answers
                                for answer in table.answers:
                                    for variable, value in zip(variables, answer, strict=True):
                                        variable.ref = value
                                        trail.append(variable)
                                code = code[1]
                            else:
                                result = table.replay(variables, self)
                                choices.append(
                                    (
                                        _MORE,
                                        len(trail),
                                        cells,
                                        result,
                                        code[1],
                                        slots,
                                        frame,
                                        code[4],
                                    )
                                )
                                cells += _CHOICE_CELLS
                                failed = True
                            continue
                    candidates = predicate.clauses
                    for position, index, default in predicate.indexes:
                        argument = arguments[position]
                        while argument.__class__ is Var and argument.ref is not None:
                            argument = argument.ref
                        if argument.__class__ is Struct:
                            fitting = index.get((argument.name, len(argument.args)), default)
                        elif argument.__class__ is not Var:
                            fitting = index.get(argument, default)
                        else:
                            continue
                        if len(fitting) < len(candidates):
                            candidates = fitting
                    position = 0
                    following = code[1]
                    goal_on = frame if following is None else (following, slots, frame)
                elif operation == DETERMINATE:
                    self.used = cells
                    self.origin = code[4]
                    if code[2](self, [build(pattern, slots) for pattern in code[3]]):
                        if self.charged:
                            cells += self.charged
                            self.charged = 0
                        code = code[1]
                    else:
                        failed = True
                    continue
                elif operation == TRY:
                    slots[code[2]] = len(choices)
                    choices.append((_BRANCH, len(trail), cells, code[3], slots, frame))
                    cells += _CHOICE_CELLS
                    code = code[1]
                    continue
                elif operation == CUT:
                    del choices[slots[code[2]] :]
                    code = code[1]
                    continue
                elif operation == CUT_AND_FAIL:
                    del choices[slots[code[2]] :]
                    failed = True
                    continue
                elif operation == CUT_AFTER:
                    del choices[slots[code[2]] + 1 :]
                    code = code[1]
                    continue
                elif operation == EITHER:
                    choices.append((_BRANCH, len(trail), cells, code[2], slots, frame))
                    cells += _CHOICE_CELLS
                    code = code[1]
                    continue
                elif operation == SOLVE_ALL:
                    slots[code[2]] = _Found()
                    choices.append((_BRANCH, len(trail), cells, code[3], slots, frame))
                    slots[code[2] + 1] = len(choices)
                    cells += _CHOICE_CELLS
                    code = code[1]
                    continue
                elif operation == COLLECT:
                    gathered = slots[code[2]]
                    self.used = cells
                    self.origin = code[4]
                    gathered.append(copy(build(code[3], slots), self.charge, shared=True))
                    self.charged += 2
                    gathered.cells += self.charged
                    work.held += self.charged
                    self.charged = 0
                    if work.held + cells > max_cells:
                        raise _make_memory_error(limits)
                    failed = True
                    continue
                elif operation == MARK:
                    slots[code[2]] = len(choices)
                    code = code[1]
                    continue
                elif operation == FORGET:
                    _, mark, before, *_ = choices[slots[code[2]]]
                    choices[slots[code[2]]] = (
                        _BRANCH,
                        mark,
                        before,
                        _NO_MORE,
                        slots,
                        frame,
                    )
                    code = code[1]
                    continue
                elif operation == FAIL:
                    if code[2] is not None:
                        self.origin = code[4]
                        raise Fault(code[2])
                    failed = True
                    continue
                elif operation == GATHER:
                    gathered = slots[code[2]]
                    slots[code[2]] = None
                    work.held -= gathered.cells
                    cells += gathered.cells
                    self.used = cells
                    self.origin = code[4]
                    failed = not gather(self, gathered, build(code[3], slots))
                    cells += self.charged
                    self.charged = 0
                    code = code[1]
                    continue
                else:
                    self.used = cells
                    self.origin = code[4]
                    result = code[2](self, [build(pattern, slots) for pattern in code[3]])
                    cells += self.charged
                    self.charged = 0
                    if result is True:
                        code = code[1]
                    elif result is False:
                        failed = True
                    else:
                        choices.append(
                            (
                                _MORE,
                                len(trail),
                                cells,
                                result,
                                code[1],
                                slots,
                                frame,
                                code[4],
                            )
                        )
                        cells += _CHOICE_CELLS
                        failed = True
                    continue
            if cells > max_cells:
                raise _make_memory_error(limits)
            # Enter the first clause whose head fits; remember the others.
            failed = True
            mark = len(trail)
            last = len(candidates)
            while position < last:
                clause = candidates[position]
                position += 1
                slots = [None] * clause[2]
                for pattern, argument in zip(clause[0], arguments, strict=False):
                    kind = pattern[0]
                    if kind == FIRST:
                        slots[pattern[1]] = argument
                    elif kind == CONSTANT:
                        while argument.__class__ is Var and argument.ref is not None:
                            argument = argument.ref
                        constant = pattern[1]
                        if argument.__class__ is Var:
                            argument.ref = constant
                            trail.append(argument)
                        elif argument.__class__ is not constant.__class__ or argument != constant:
                            break
                    elif kind != VOID and not match(pattern, argument, slots, trail):
                        break
                else:
                    slots[0] = len(choices)
                    if position < last:
                        choices.append(
                            (
                                _CLAUSES,
                                mark,
                                cells,
                                arguments,
                                candidates,
                                position,
                                goal_on,
                            )
                        )
                        cells += _CHOICE_CELLS
                    cells += clause[3]
                    code = clause[1]
                    frame = goal_on
                    failed = False
                    break
                while len(trail) > mark:
                    trail.pop().ref = None

    def _builtin(
        self,
        key: str,
        arguments: list[Term],
        code: tuple[object, ...],
    ) -> Code:
        """Code for a built-in predicate called through a closure or by an undefined name."""
        patterns = tuple((GROUND, argument) for argument in arguments)
        if key in SINGLE:
            return (DETERMINATE, code[1], SINGLE[key], patterns, code[4])
        if key in MANY:
            return (MULTIPLE, code[1], MANY[key], patterns, code[4])
        raise Fault(f"unknown procedure {key}")


class Work:
    """What a question and the questions within it have taken, all together."""

    __slots__ = ("ends", "held", "limits", "positions", "since_position", "steps")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.ends = 0
        self.held = 0
        self.positions = 0
        self.since_position = 0
        self.steps = 0

    def start(self) -> None:
        """Let what is counted from one position of a game to the next be counted from here."""
        self.steps += self.since_position
        if self.steps > self.limits.steps_in_all:
            raise LimitReached(TOO_MUCH_WORK.format(self.limits))
        self.since_position = 0
        allow_visits(self.limits.steps * _VISITS_PER_STEP)

    def count_position(self) -> bool:
        """Count a position of a game."""
        self.start()
        self.positions += 1
        if self.positions > self.limits.positions:
            raise LimitReached(TOO_MANY_POSITIONS.format(self.limits))
        return True

    def spend(self, steps: int) -> None:
        """Count steps, and stop what has taken too many."""
        self.since_position += steps
        if self.since_position > self.limits.steps:
            raise LimitReached(ENDLESS.format(self.limits))

    def count_end(self) -> bool:
        """Count an end of a game."""
        self.ends += 1
        self.expect_ends(0)
        return True

    def expect_ends(self, more: int) -> None:
        """Stop a game that will have too many ends, before they are all counted."""
        if self.exceeds_ends(more):
            raise LimitReached(TOO_MANY_ENDS.format(self.limits))

    def exceeds_ends(self, more: int) -> bool:
        """Whether so many ends beside those that were counted are too many."""
        return self.ends + more > self.limits.ends


class _Found(list[Term]):
    """Copies of all solutions so far, and how many cells they take."""

    __slots__ = ("cells",)

    def __init__(self) -> None:
        super().__init__()
        self.cells = 0


def _make_memory_error(limits: Limits) -> LimitReached:
    """Return the error of a question that takes too much memory."""
    return LimitReached(f"It needed more than {limits.cells:,} cells of memory.")


def _closure(arguments: list[Term]) -> tuple[str, list[Term]]:
    """The predicate and arguments of `call(Closure, Extra...)`."""
    closure = deref(arguments[0])
    if isinstance(closure, Struct):
        arguments = [*closure.args, *arguments[1:]]
        return f"{closure.name}/{len(arguments)}", arguments
    if isinstance(closure, Atom):
        return f"{closure}/{len(arguments) - 1}", arguments[1:]
    raise Fault("a variable or number was called as a goal")
