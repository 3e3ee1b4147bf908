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
        "holds(control(P), S), member",
        "member",
        0,
        "a legal move is not fully known",
        "legal/2 must bind player and move",
    ),
    (
        "holds(control(P), S), member",
        "holds(S, control(P)), member",
        6,
        "control(_1) is not a situation",
        "the last argument of holds/2 is one: s0, or a variable",
    ),
    (
        "legal(move(P, M), S)",
        "legal(S, move(P, M))",
        6,
        "move(_1,_2) is not a",
        "of legal/2 is one",
    ),
    ("initial(s0).", "initial(start).", 0, "s0 is not a situation", "of initially/2 is one: start"),
    (
        "holds(did(ann, _), S), holds(did(bob, _), S).",
        "holds(done, S).",
        9,
        "done/0 is tested",
        "let an effect/3 or initially/2 make it true",
    ),
    ("effect(did(P, M), move(P, M), _S).\n", "", 0, "did/2 is tested with holds/2", "make it true"),
    (
        "holds(control(P), S), member",
        "possible(move(P, M), S), member",
        6,
        "possible/2 is called but not defined",
        "define it",
    ),
    ("holds(control(P), S), member", "P != x, member", 6, "before '!'", "A \\== B for two that"),
    ("U, _).", "U, _), U <= 3.", 10, "before '<='", "write =< for at most"),
    ("U, _).", "X, _), U := X.", 10, "not defined", "write X is Y to compute"),
    ("U, _).", "X, _), if(X > 1, U = 2, U = 1).", 10, "if/3", "( Condition -> Then ; Otherwise )"),
    ("initial(s0).", "# the start\ninitial(s0).", 1, "before 'the'", "a comment begins with %"),
    ("initial(s0).", "// the start\ninitial(s0).", 1, "before 'the'", "a comment begins with %"),
    (
        "holds(control(P), S), m",
        "not holds(x, S), m",
        6,
        "before 'holds'",
        "write \\+ Goal for not",
    ),
    ("payoff(low, high, 3, 0)", "payoff(low, high, 3, \u22121)", 14, "illegal", "plain minus"),
    ("[high, low]", "[\u2018high\u2019, low]", 6, "illegal character", "use the plain quote"),
    ("abnormal(control(P)", "abnormal(move(P)", 0, "ann can move again after ann: high", "missing"),
    ("S), holds(did(bob, _), S).", "S).", 0, "got no payoff at these ends", "(ann: high)"),
    ("goal(bob, U)", "goal(carl, U)", 0, "carl has a payoff, but is not a player", "ann, bob"),
    (
        "payoff(low, low, 1, 1).",
        "payoff(low, low, 1, 1).\npayoff(low, low, 2, 1).",
        0,
        "several",
        "one",
    ),
    ("payoff(low, low, 1, 1).\n", "", 0, "(ann: low, bob: low)", "is there a payoff fact for each"),
    ("U, _).", "X, _), X*2 is U.", 10, "contains an unbound variable", ""),
    ("[high, low])", "[high, low)", 6, "']' or an operator was expected", ""),
    ("U, _).", "U, _), assert(x).", 10, "assert/1 is not allowed", ""),
    ("member(M,", "random_member(M,", 6, "draws by lot", "let nature move: chance("),
    (
        "S) :- holds(did(ann",
        "S) :- final(S), holds(did(ann",
        0,
        "did not come to an end",
        "every rule",
    ),
    (
        "initial(s0).",
        "initial(s0).\nchance(move(nature, a), 1/2, s0).",
        2,
        "sum to 1/2",
        "not to 1",
    ),
    (
        "initial(s0).",
        "initial(s0).\ninitially(player(nature), s0).\nchance(move(nature, a), 1, s0).",
        0,
        "nature is not a player",
        "remove initially(player(nature)",
    ),
    ("initial(s0).", "initial(s0).\nchance(a, 1/2).", 2, "chance/2 is defined", "3 arguments"),
    ("initial(s0).", "initial(s0).\nsees(carl, x, do(_, _)).", 2, "carl sees", "ann, bob"),
    ("initial(s0).", "initial(s0).\nholds(F, s0) :- initially(F, s0).", 2, "solver", "remove its"),
    (
        "payoff(low, low, 1, 1).\n",
        "payoff(low, lo",
        15,
        "ends inside a clause",
        "finish the clause",
    ),
    ("[high, low]", "[1, '1']", 0, "two names that are written alike", "rename one of them"),
    ("member(M, [high, low])", "between(low, high, M)", 6, "must be a whole number, not low", ""),
    ("holds(control(P), S), m", "holds(control(P)), m", 6, "only holds/2 is defined", ""),
    ("payoff(low, low, 1, 1)", "payoff(low, low, 1,000, 1)", 0, "with 4 and with 5", "predicates"),
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
