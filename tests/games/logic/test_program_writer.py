"""A game table written as a program is the same game again, with its chances and secrets."""

from fractions import Fraction

import pytest
from games_for_logic import KUHN

from bestresponse.core.errors import InvalidGame
from bestresponse.formal.formalize.plan import library
from bestresponse.games.logic.game import LogicGame
from bestresponse.games.logic.tables import read_fraction, table_from_tree, write_table_program
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.tree import Chance, Leaf, Turn, build_tree

PROGRAMS = {"kuhn": KUHN} | {example.name: example.program for example in library()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_written_program_has_the_payoffs_of_every_plan(name):
    engine = EmbeddedEngine()
    table = validate(PROGRAMS[name], engine).table
    again = validate(write_table_program(table), engine).table
    assert again.players == table.players
    assert [(row.moves, row.payoffs, row.chances) for row in again.rows] == [
        (row.moves, row.payoffs, row.chances) for row in table.rows
    ]
    if name != "two_offers":  # 171,798,691,840 combinations of plans
        forms = [to_normal_form(LogicGame(written).tree) for written in (again, table)]
        assert forms[0].payoffs.tolist() == forms[1].payoffs.tolist()


def test_chances_and_percepts_stand_in_the_program():
    program = write_table_program(validate(KUHN, EmbeddedEngine()).table)
    assert "lottery(n0, 'deal(jack,queen)', 1/6)." in program
    assert "shown(n1, bob, 'card(queen)')." in program
    assert "end(n3, [ann-(-1), bob-1])." in program


def test_a_player_who_never_learns_anything_stays_blind():
    source = write_table_program(validate(PROGRAMS["committee"], EmbeddedEngine()).table)
    hidden = (
        source.replace("initially(control(vera), s0).\n", "")
        + "effect(control(vera), move(umar, _M), _S).\n"
    )
    table = validate(hidden + "sees(_P, nothing, s0).\n", EmbeddedEngine()).table
    written = write_table_program(table)
    assert "sees(_P, nothing, s0)." in written
    assert validate(written, EmbeddedEngine()).table.private


def test_a_tree_with_an_absent_minded_player_has_no_program():
    second = Turn("driver", "junction", {"go": Leaf([1]), "exit": Leaf([4])})
    driver = build_tree(["driver"], Turn("driver", "junction", {"go": second, "exit": Leaf([0])}))
    with pytest.raises(InvalidGame, match="comes twice to what it cannot tell apart"):
        table_from_tree(driver)


def test_thirds_and_decimals_are_read_exactly_and_lotteries_must_sum_to_one():
    assert [read_fraction(x) for x in (1 / 3, 0.1, -2.5)] == [
        Fraction(1, 3),
        Fraction(1, 10),
        Fraction(-5, 2),
    ]
    odd = build_tree(["a"], Chance({"x": (0.3000000004, Leaf([1])), "y": (0.7, Leaf([0]))}))
    with pytest.raises(InvalidGame, match="a program needs exactly 1"):
        table_from_tree(odd)
