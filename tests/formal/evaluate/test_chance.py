"""Games with chance and hidden moves are never taken for games without."""

import pytest
from games_for_logic import KUHN

from bestresponse.formal.evaluate.validation import compare_tables
from bestresponse.games.logic.tables import table_from_cells, table_to_data, write_table_program
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate


@pytest.fixture(scope="module")
def poker():
    table = validate(KUHN, EmbeddedEngine()).table
    assert table is not None
    return table


def test_a_game_with_chance_is_no_game_without(poker):
    plain = table_from_cells(("a", "b"), (("x", "y"), ("x", "y")), ((1, 1), (0, 2), (2, 0), (3, 3)))
    assert (
        compare_tables(poker, plain).verdict == compare_tables(plain, poker).verdict == "different"
    )


def test_the_data_of_a_game_tell_its_chances_and_what_is_seen(poker):
    end = table_to_data(poker)["ends"][0]
    assert end["chances"][0] == "1/6"
    assert set(end["chances"][1:]) == {None}
    assert len(end["percepts"]) == len(end["moves"])


def test_payoffs_are_written_exactly():
    from fractions import Fraction

    payoffs = ((Fraction(10, 3), Fraction(-7, 2)), (Fraction(0), Fraction(1)))
    program = write_table_program(table_from_cells(("a", "b"), (("x", "y"), ("z",)), payoffs))
    table = validate(program, EmbeddedEngine()).table
    assert table is not None
    assert [row.payoffs for row in table.rows] == list(payoffs)
