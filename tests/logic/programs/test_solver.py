"""The solver language: the papers' listings run as printed and give the printed answers."""

from games_for_logic import DILEMMA

from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.gate.check import check_source
from bestresponse.logic.language.terms import write
from bestresponse.logic.programs.strategies import StrategyReader, strategy_table

TIT_FOR_TAT = """
select(P, O, S, M) :-
    \\+ holds(last_move(O, _LMo), S),
    holds(default_move(P, M), S).
select(_P, O, S, Mo) :-
    holds(last_move(O, Mo), S).
"""

BEST_RESPONSE = """
select(P, O, S, M) :-
    \\+ holds(last_move(O, _), S),
    holds(default_move(P, M), S).
select(P, O, S, M) :-
    holds(last_move(O, LMo), S),
    findall(Ui-Mi, (game(S, F), finally(outcome(P, Mi, Ui, O, LMo, Uo), F), Ui >= Uo), Options),
    sort(0, @>=, Options, Ranked),
    highest(Ranked, M).
"""


def first(goal: str, source: str) -> list[str]:
    engine = EmbeddedEngine()
    return [
        write(next(iter(answer.values()))) for answer in engine.solutions(engine.load(source), goal)
    ]


def test_the_question_of_the_paper_has_the_two_printed_answers() -> None:
    assert first("game(s0, F), finally(goal(p1, 5), F)", DILEMMA) == [
        "do(move(p2,'C'),do(move(p1,'D'),s0))",
        "do(move(p1,'D'),do(move(p2,'C'),s0))",
    ]


def test_the_other_paper_writes_moves_as_choices() -> None:
    source = DILEMMA.replace("move(P, ", "choice(P, ").replace(
        "final(do(M2, do(M1, S))) :- ground(M2), ground(M1), initial(S).",
        "final(S) :- ground(S), S = do(choice(_, _), do(choice(_, _), I)), initial(I).",
    )
    assert first("game(s0, F), finally(goal(p1, 5), F)", source) == [
        "do(choice(p2,'C'),do(choice(p1,'D'),s0))",
        "do(choice(p1,'D'),do(choice(p2,'C'),s0))",
    ]


def test_fluents_hold_by_effect_and_inertia_until_abnormal() -> None:
    situation = "do(move(p1, 'D'), s0)"
    assert first(f"holds(control(X), {situation})", DILEMMA) == ["p2"]
    assert first(f"holds(did(p1, X), {situation})", DILEMMA) == ["'D'"]
    assert first(f"holds(player(X), {situation})", DILEMMA) == ["p1", "p2"]


def test_tit_for_tat_starts_with_the_default_move_and_then_mirrors() -> None:
    source = DILEMMA + TIT_FOR_TAT
    assert first("select(p1, p2, s0, M)", source) == ["'C'"]
    assert first("initialise(last_move(p2, 'D'), s0), select(p1, p2, s0, M)", source) == ["'D'"]


def test_the_printed_best_response_runs() -> None:
    source = DILEMMA + BEST_RESPONSE
    assert first("select(p1, p2, s0, M)", source) == ["'C'"]
    assert first("initialise(last_move(p2, 'C'), s0), select(p1, p2, s0, M)", source) == ["'D'"]


def test_a_strategy_becomes_a_table() -> None:
    table = strategy_table(
        StrategyReader(check_source(DILEMMA + TIT_FOR_TAT), "p1", "p2"), ("C", "D")
    )
    assert table.pure
    assert table.first == (("C", 1),)
    assert table.after == (
        (("C", "C"), (("C", 1),)),
        (("C", "D"), (("D", 1),)),
        (("D", "C"), (("C", 1),)),
        (("D", "D"), (("D", 1),)),
    )


def test_a_random_strategy_becomes_exact_probabilities() -> None:
    source = (
        DILEMMA
        + "select(P, _, S, M) :- findall(N, possible(move(P, N), S), Ns), random_between(1, 3, K),"
        " pick(K, Ns, M).\npick(1, _, 'C').\npick(2, Ns, M) :- random_member(M, Ns).\npick(3, _,"
        " 'D').\n"
    )
    table = strategy_table(StrategyReader(check_source(source), "p1", "p2"), ("C", "D"))
    assert dict(table.first) == {"C": 1 / 2, "D": 1 / 2}
    assert not table.pure
