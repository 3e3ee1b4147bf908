"""Tables out of programs: exact payoffs, any number of players, and defects told in words."""

from fractions import Fraction

import pytest
from games_for_logic import DILEMMA, SEQUENTIAL, simultaneous

from bestresponse.core.errors import InvalidGame, LimitReached
from bestresponse.games.logic.game import LogicGame, table_as_normal_form
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, RuntimeFault
from bestresponse.logic.programs.game_table import DecisionNode, End, spell_knowledge, tree
from bestresponse.logic.programs.table import Extraction, GameTable, Row, extract, published_cells
from bestresponse.theory.trees.normal_form import to_normal_form


def extracted(source: str) -> Extraction:
    engine = EmbeddedEngine(Limits())
    return extract(engine, engine.load(source))


def table(source: str) -> GameTable:
    return extracted(source).require()


def defect(source: str) -> str:
    extraction = extracted(source)
    assert extraction.table is None
    return extraction.defects[0].message


def test_the_dilemma_has_four_ends_and_one_row_for_each() -> None:
    found = table(DILEMMA)
    assert found.players == ("p1", "p2")
    assert found.moves == (("D", "C"), ("D", "C"))
    assert not found.sequential
    assert found.rows == (
        Row((("p1", "D"), ("p2", "D")), (Fraction(1), Fraction(1)), (2,)),
        Row((("p1", "D"), ("p2", "C")), (Fraction(5), Fraction(0)), (2,)),
        Row((("p1", "C"), ("p2", "D")), (Fraction(0), Fraction(5)), (2,)),
        Row((("p1", "C"), ("p2", "C")), (Fraction(3), Fraction(3)), (2,)),
    )
    assert found.payoffs(("C", "D")) == (0, 5)


def test_a_sequential_game_keeps_the_order_of_moves() -> None:
    found = table(SEQUENTIAL)
    assert found.sequential
    assert found.rows == (
        Row((("leader", "in"), ("follower", "fight")), (Fraction(-1), Fraction(-1)), (1, 1)),
        Row((("leader", "in"), ("follower", "yield")), (Fraction(1), Fraction(1)), (1, 1)),
        Row((("leader", "out"),), (Fraction(0), Fraction(2)), (1,)),
    )


def test_the_tree_has_one_decision_for_each_information_set() -> None:
    assert tree(table(SEQUENTIAL)) == DecisionNode(
        "leader",
        (),
        ("in", "out"),
        (
            DecisionNode(
                "follower",
                (("leader", "in"),),
                ("fight", "yield"),
                (End((Fraction(-1),) * 2), End((Fraction(1),) * 2)),
            ),
            End((Fraction(0), Fraction(2))),
        ),
    )
    dilemma = tree(table(DILEMMA))
    assert isinstance(dilemma, DecisionNode)
    children = [child for child in dilemma.children if isinstance(child, DecisionNode)]
    assert {(child.player, spell_knowledge(child.knowledge)) for child in children} == {("p2", "")}


def test_the_normal_form_lists_payoffs_with_the_last_player_fastest() -> None:
    form = table_as_normal_form(table(DILEMMA))
    assert form.actions == (("D", "C"), ("D", "C"))
    assert form.payoffs.tolist() == [[[1, 5], [0, 3]], [[1, 0], [5, 3]]]
    entry = to_normal_form(LogicGame(table(SEQUENTIAL)).tree)
    assert entry.payoffs.tolist() == [[[-1, 1], [0, 0]], [[-1, 1], [2, 2]]]


def test_strategies_of_a_sequential_dilemma_are_plans() -> None:
    source = DILEMMA.replace("initially(control(p2), s0).\n", "").replace(
        "effect(did(P, M), move(P, M), _S).",
        "effect(did(P, M), move(P, M), _S).\neffect(control(p2), move(p1, _), _).",
    )
    form = to_normal_form(LogicGame(table(source)).tree)
    assert form.actions[1] == (
        "p1 chose D: D; p1 chose C: D",
        "p1 chose D: D; p1 chose C: C",
        "p1 chose D: C; p1 chose C: D",
        "p1 chose D: C; p1 chose C: C",
    )
    assert form.payoffs[0].tolist() == [[1, 1, 5, 5], [0, 3, 0, 3]]


def test_three_players_with_five_moves_make_125_rows() -> None:
    found = table(simultaneous(3, 5))
    assert len(found.rows) == 125
    assert found.rows[0].blocks == (3,)
    assert found.every_order
    assert not table(simultaneous(5, 3)).every_order
    assert found.payoffs(("m1", "m2", "m4")) == (11, 8, 2)


def test_all_orders_of_a_small_game_are_replayed() -> None:
    assert table(simultaneous(3, 2)).every_order


def test_payoffs_are_exact() -> None:
    source = DILEMMA.replace(
        "payoff('D', 'D', 1, 1).", "payoff('D', 'D', 0.1, U) :- U is 1 rdiv 3."
    )
    assert table(source).payoffs(("D", "D")) == (Fraction(1, 10), Fraction(1, 3))


def test_the_initial_situation_has_any_name_and_moves_any_functor() -> None:
    source = DILEMMA.replace("s0", "situation(zero)").replace("move(P, ", "choice(P, ")
    assert table(source).rows == table(DILEMMA).rows


def test_moves_may_be_numbers_and_terms() -> None:
    source = (
        simultaneous(2, 2)
        .replace("value(m0, 0).", "value(0.5, 0).")
        .replace("value(m1, 1).", "value(bid(3), 1).")
    )
    assert table(source).moves == (("0.5", "bid(3)"),) * 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "initial(s0).",
            "initial(s0). initial(s1).",
            "a game has one initial situation, this one has several",
        ),
        ("initial(s0).", "", "a game has one initial situation, this one has none"),
        ("payoff('C', 'C', 3, 3).", "", "p1 has no payoff after p1: C, p2: C"),
        (
            "payoff('C', 'C', 3, 3).",
            "payoff('C', 'C', high, 3).",
            "the payoff of p1 after p1: C, p2: C is high, which is not a number",
        ),
        (
            "payoff('C', 'C', 3, 3).",
            "payoff('C', 'C', 3, 3). payoff('C', 'C', 4, 3).",
            "p1 has several payoffs after p1: C, p2: C: 3, 4",
        ),
        (
            "holds(did(P1, M1), S)",
            "S = do(_, do(move(_, M1), _))",
            "the payoffs after p1: C, p2: D depend on the order of simultaneous moves",
        ),
        (
            "final(do(M2, do(M1, S))) :- ground(M2), ground(M1), initial(S).",
            "final(x).",
            "after p1: D, p2: D nobody can move, but the situation is not final",
        ),
        ("possible(move(P, 'C'), S)", "possible(move(P, _), S)", "a legal move is not fully known"),
        (
            "legal(move(P, M), S) :- ",
            "legal(move(P, M), S) :- \\+ holds(did(p2, _), S), ",
            "the moves p1: D, p2: D are made at the same time, but not possible in another order",
        ),
    ],
)
def test_defects_are_told(old: str, new: str, message: str) -> None:
    source = DILEMMA.replace(old, new)
    assert source != DILEMMA
    assert defect(source).startswith(message)


def test_equal_payoffs_given_twice_are_one_payoff() -> None:
    twice = "\nfinally(goal(p1, 3), S) :- finally(outcome(p1, _, 3, _, _, _), S).\n"
    assert table(DILEMMA + twice).rows == table(DILEMMA).rows


def test_a_game_without_end_is_stopped_after_300_moves() -> None:
    engine = EmbeddedEngine(Limits())
    source = DILEMMA.replace("final(do(M2, do(M1, S)))", "final(never(M2, M1, S))").replace(
        "abnormal(", "unusual("
    )
    with pytest.raises(RuntimeFault, match="a play is not over after 300 moves"):
        extract(engine, engine.load(source))


def test_a_rule_without_end_reaches_a_limit() -> None:
    engine = EmbeddedEngine(Limits(steps=50_000))
    with pytest.raises(LimitReached, match="A rule did not come to an end within 50,000 steps"):
        extract(engine, engine.load(DILEMMA + "\nlegal(M, S) :- legal(M, do(M, S)).\n"))


def test_a_missing_table_is_an_invalid_game() -> None:
    with pytest.raises(InvalidGame, match="no payoff"):
        extracted(DILEMMA.replace("payoff('C', 'C', 3, 3).", "")).require()


def test_published_cells_follow_possible_moves_only() -> None:
    engine = EmbeddedEngine(Limits())
    assert published_cells(engine, engine.load(DILEMMA)) == (
        ("D", "D", 1, 1),
        ("D", "C", 5, 0),
        ("C", "D", 0, 5),
        ("C", "C", 3, 3),
    )
    illegal = DILEMMA.replace("legal(move(P, M), S) :- ", "legal(move(P, M), S) :- fail, ")
    assert len(published_cells(engine, engine.load(illegal))) == 4
