"""Programs that must not get out: each is refused with a reason, reaches a limit, or shows its
right table.

The collection of whole programs is in `tests/logic/hostile`; here are single rules and giants.
"""

import pytest
from games_for_logic import DILEMMA

from bestresponse.core.errors import LogicError
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.embedded.machine import Machine
from bestresponse.logic.engine import Limits
from bestresponse.logic.programs.table import GameTable, extract
from bestresponse.logic.programs.validate import validate

RIGHT = {("D", "D"): (1, 1), ("D", "C"): (5, 0), ("C", "D"): (0, 5), ("C", "C"): (3, 3)}
LIMITS = Limits(steps=100_000, cells=1_000_000)
LEGAL = "legal(move(P, M), S) :- "


def outcome(source: str) -> GameTable | str:
    engine = EmbeddedEngine(LIMITS)
    try:
        found = extract(engine, engine.load(source))
    except LogicError as error:
        return str(error)
    return found.table or str(found.defects[0])


def is_contained(source: str) -> bool:
    result = outcome(source)
    if isinstance(result, str):
        return bool(result)
    return {
        tuple(dict(row.moves)[p] for p in ("p1", "p2")): row.payoffs for row in result.rows
    } == RIGHT


@pytest.mark.parametrize(
    "goal",
    [
        "shell(ls)",
        "halt",
        "G = halt, G",
        "T =.. [shell, ls], findall(x, T, _)",
        "maplist(once, [halt])",
        "length(L, 2000000000), L = [a|_]",
        "X is 7 ** (7 ** (7 ** 7)), X > 0",
        "findall(A-B-C, (between(1, 3000, A), between(1, 3000, B), between(1, 3000, C)), _)",
        "numlist(1, 1000000000, L), sum_list(L, _)",
        "retract(payoff('D', 'D', _, _))",
        "catch(halt, _, true)",
        "M is 2 ** 100000000, M > 0",
        "X = f(X), X == X",
    ],
)
def test_a_poisoned_rule_is_contained(goal: str) -> None:
    source = DILEMMA.replace(LEGAL, f"{LEGAL}{goal}, ")
    assert source != DILEMMA
    assert isinstance(outcome(source), str)


def test_output_does_nothing() -> None:
    assert is_contained(DILEMMA.replace(LEGAL, LEGAL + 'writeln(hello), format("~w", [x]), nl, '))


@pytest.mark.parametrize(
    "giant",
    [
        DILEMMA + "% " + "x" * 10_000_000,
        DILEMMA + "a('" + "x" * 5_000_000 + "').\n",
        DILEMMA + "a(" + "(" * 100_000 + "x" + ")" * 100_000 + ").\n",
        DILEMMA + "a(" + "[" * 49_000 + "x" + "]" * 49_000 + ").\n",
        DILEMMA + "a(" + "9" * 2_000_000 + ").\n",
        DILEMMA + "a.\n" * 40_000,
        DILEMMA + "payoff(" + "f(" * 90 + "x" + ")" * 90 + ", 1, 1, 1).\n",
    ],
    ids=[
        "10 MB",
        "5 MB atom",
        "100,000 brackets",
        "49,000 lists",
        "2,000,000 digits",
        "40,000 clauses",
        "deep, fine",
    ],
)
def test_generated_giants_are_contained(giant: str) -> None:
    assert is_contained(giant)


def test_a_limit_is_reported_as_such_to_the_author() -> None:
    report = validate(
        DILEMMA.replace(LEGAL, LEGAL + "numlist(1, 1000000000, _), "), EmbeddedEngine(LIMITS)
    )
    assert [(d.stage.value, d.code) for d in report.errors] == [("runtime", "limit")]


def test_the_inner_loop_has_no_handler_that_would_repeat_for_ever_without_memory():
    # CPython notes the place of an exception as a number; where there is no memory for it, it
    # handles the exception of having no memory at the same place, again and again. Places before
    # the 257th have their numbers already.
    assert Machine._search.__code__.co_exceptiontable == b""
    assert len(Machine._run.__code__.co_code) // 2 < 256
