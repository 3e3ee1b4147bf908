"""Mistakes as models make them: the message says where, why, and what to write instead."""

import shutil

import pytest

from bestresponse.formal.formalize.forms import what_is_wrong
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.swi.engine import SwiEngine

GAME = """initial(s0).
initially(player(ann), s0).
initially(player(bob), s0).
initially(control(ann), s0).
initially(control(bob), s0).
legal(move(P, M), S) :- holds(control(P), S), member(M, [high, low]).
effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).
final(S) :- holds(did(ann, _), S), holds(did(bob, _), S).
finally(goal(ann, U), S) :- holds(did(ann, A), S), holds(did(bob, B), S), payoff(A, B, U, _).
finally(goal(bob, U), S) :- holds(did(ann, A), S), holds(did(bob, B), S), payoff(A, B, _, U).
payoff(high, high, 2, 2).
payoff(high, low, 0, 3).
payoff(low, high, 3, 0).
payoff(low, low, 1, 1).
"""
LATER = "effect(control(bob), move(ann, _), _S).\nsees(ann, nothing, s0).\nabnormal("
ABNORMAL = "abnormal(control(P), move(P, _M), _S).\n"
CAPITAL = "a name that starts with a capital letter is a variable unless it is in quotes"

MISTAKES = [
    ("payoff(A, B, U, _)", "payof(A, B, U, _)", 10, "not defined", "did you mean payoff?"),
    ("payoff(A, B, U, _)", "payoff(A, B, U)", 10, "payoff/3 is called", "only payoff/4 is defined"),
    ("player(ann)", "player(Ann)", 2, "the name of a player is not known", CAPITAL),
    ("[high, low]", "[High, low]", 6, "a legal move is not fully known", CAPITAL),
    (
        ABNORMAL,
        "",
        0,
        "ann can move again after ann: high",
        "is abnormal(control(P), move(P, _), _).",
    ),
    (
        "payoff(low, low, 1, 1)",
        "payoff(low, lwo, 1, 1)",
        15,
        "lwo occurs nowhere else",
        "misspelt?",
    ),
    ("initially(control(bob), s0).\n", "", 0, "nobody can move", "check final/1 and legal/2"),
    ("payoff(A, B, U, _).", "atom_concat(A, B, U).", 10, "not part of the language", "structured"),
    ("U, _).", "U, _), U > bob.", 10, "bob is not a number", ""),
    (
        "s0).\ninitially(control(ann",
        "s0)\ninitially(control(ann",
        4,
        "end of the clause",
        "full stop",
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "line", "cause", "cure"), MISTAKES, ids=[new[:24] for _, new, *_ in MISTAKES]
)
def test_a_mistake_is_told_with_line_cause_and_cure(old, new, line, cause, cure):
    assert GAME.count(old)
    wrong = what_is_wrong(validate(GAME.replace(old, new, 1), EmbeddedEngine()))
    told = next(part for part in wrong.split("\n- ") if cause in part)
    assert cure in told
    assert not line or f"line {line}:" in told


REMARKS = [
    (GAME, ":- table payoff/4.\n" + GAME, "the directive table is ignored"),
    ("initially(control(bob), s0).\n" + ABNORMAL, LATER, "bob moves after ann and sees nothing"),
    ("payoff(A, B, U, _).", "payoff(A, B, U, _), 1 = 1.0.", "numbers are exact"),
    ("payoff(A, B, U, _).", "payoff(A, B, U, _), 0.1 + 0.2 =:= 0.3.", "numbers are exact"),
]


@pytest.mark.parametrize(("old", "new", "remark"), REMARKS)
def test_what_is_taken_but_may_not_be_meant_gets_a_remark(old, new, remark):
    source = GAME.replace("initially(control(bob), s0).\n", "") if "sees" in new else GAME
    old = "abnormal(" if "sees" in new else old
    report = validate(source.replace(old, new, 1), EmbeddedEngine())
    assert report.ok
    assert [warning for warning in report.warnings if remark in warning.message]


@pytest.mark.parametrize("new", ["U is 0.5 * 2", "U is 1.5 + 1"])
def test_decimals_that_are_only_computed_with_get_no_remark(new):
    program = GAME.replace("payoff(A, B, U, _).", f"payoff(A, B, _, _), {new}.", 1)
    assert validate(program, EmbeddedEngine()).warnings == ()


GROUPS = """
value(b, 1). value(a, 2). value(a, 1). value(c, 2).
{}
"""
COLLECTED = [
    ("setof(V, K^value(K, V), [1, 2])", True),
    ("findall(K-L, bagof(V, value(K, V), L), [a-[2, 1], b-[1], c-[2]])", True),
    ("findall(V-L, setof(K, value(K, V), L), [1-[a, b], 2-[a, c]])", True),
    ("setof(K-V, value(K, V), [a-1|_])", True),
    ("setof(V, value(d, V), _)", False),
    ("K = a, bagof(V, value(K, V), [2, 1])", True),
    ("setof(V, A^B^(value(A, V), value(B, V), A \\== B), [1, 2])", True),
]


NEEDS_SWIPL = pytest.mark.skipif(
    shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not on PATH"
)


@pytest.mark.parametrize("engine", [EmbeddedEngine, pytest.param(SwiEngine, marks=NEEDS_SWIPL)])
def test_setof_and_bagof_group_as_in_other_prologs(engine):
    asked = engine()
    clauses = [f"asked({n}) :- {goal}." for n, (goal, _) in enumerate(COLLECTED)]
    program = asked.load(GROUPS.format("\n".join(clauses)))
    for number, (goal, holds) in enumerate(COLLECTED):
        assert bool(asked.solutions(program, f"asked({number})")) == holds, goal
    asked.close()
