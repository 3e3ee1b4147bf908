"""When a table is the game that was told: the same tree, never only the same reduced form."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.formal.evaluate.dataset import read_game_lines, stories
from bestresponse.formal.evaluate.validation import compare_tables, judge_levels
from bestresponse.games.logic.game import LogicGame
from bestresponse.games.logic.tables import table_from_cells, table_to_data, write_table_program
from bestresponse.logic.engine import open_engine
from bestresponse.logic.programs.table import GameTable, Row
from bestresponse.logic.programs.validate import validate


def two_by_two(cells, moves=("C", "D"), players=("row", "col")):
    payoffs = tuple(tuple(Fraction(u) for u in cell) for cell in cells)
    return table_from_cells(players, (moves, moves), payoffs)


DILEMMA = two_by_two([(3, 3), (0, 5), (5, 0), (1, 1)])
SEXES = two_by_two([(2, 1), (0, 0), (0, 0), (1, 2)], ("opera", "football"), ("olga", "frank"))
ENTRY = read_game_lines(["a", "b"], "a out : 0,2\na in > b x : -1,-1\na in > b y : 1,1")
DOORS = "\n".join(
    f"~1/3 car {car} > ~1/1 goat {goat} > guest[{{}}] {move} :"
    f" {int((move == 'stay') == (car == 1))}"
    for car, goat in ((1, 2), (2, 3), (3, 2))
    for move in ("stay", "switch")
)


def read_table(data: Mapping[str, Any]) -> GameTable:
    """Read back the table that `table_to_data` wrote."""
    rows = tuple(
        Row(
            tuple((str(player), str(move)) for player, move in end["moves"]),
            tuple(Fraction(u) for u in end["payoffs"]),
            tuple(int(size) for size in end["blocks"]),
        )
        for end in data["ends"]
    )
    return GameTable(tuple(data["players"]), tuple(tuple(moves) for moves in data["moves"]), rows)


def test_other_names_and_another_order_of_moves_are_the_same_game():
    other = two_by_two([(1, 1), (5, 0), (0, 5), (3, 3)], ("grab", "share"), ("ann", "bob"))
    found = compare_tables(other, DILEMMA)
    assert found.exact
    assert found.actions["ann"] == {"grab": "D", "share": "C"}


def test_moves_and_players_that_bear_the_true_names_must_mean_the_same():
    inverted = two_by_two([(1, 1), (5, 0), (0, 5), (3, 3)])
    assert not compare_tables(inverted, DILEMMA).same
    assert compare_tables(inverted, DILEMMA, any_names=True).exact
    crossed = two_by_two([(1, 2), (0, 0), (0, 0), (2, 1)], ("opera", "football"), ("olga", "frank"))
    assert not compare_tables(crossed, SEXES).same


def test_players_may_be_listed_in_another_order():
    other = two_by_two([(1, 2), (0, 0), (0, 0), (2, 1)], ("opera", "football"), ("frank", "olga"))
    assert compare_tables(other, SEXES).exact


def test_swapped_off_diagonal_cells_are_another_game_and_the_cells_are_named():
    found = compare_tables(two_by_two([(3, 3), (5, 0), (0, 5), (1, 1)]), DILEMMA)
    assert not found.same
    assert (
        found.differences[0]
        == "after row: C, col: D the payoffs are 5, 0 in the first game and 0, 5 in the second"
    )


def test_who_sees_the_other_s_move_plays_another_game():
    in_turn = replace(DILEMMA, rows=tuple(replace(row, blocks=(1, 1)) for row in DILEMMA.rows))
    assert not compare_tables(in_turn, DILEMMA).same
    three = table_from_cells(("a", "b", "c"), (("x",),) * 3, ((Fraction(1),) * 3,))
    assert compare_tables(three, DILEMMA).differences == (
        "the first game has 3 players, the second 2",
    )


def test_games_in_turn_are_compared_end_by_end():
    assert compare_tables(ENTRY, ENTRY).exact
    worse = replace(
        ENTRY, rows=(replace(ENTRY.rows[0], payoffs=(Fraction(0), Fraction(3))), *ENTRY.rows[1:])
    )
    assert compare_tables(worse, ENTRY).differences == (
        "after out the payoffs are 0, 3 in the first game and 0, 2 in the second",
    )


def test_positive_affine_payoffs_are_the_same_tree_and_others_are_not():
    scaled = two_by_two([(16, -4), (10, 0), (20, -10), (12, -8)])
    found = compare_tables(scaled, DILEMMA)
    assert (found.same, found.exact) == (True, False)
    bent = two_by_two([(4, 3), (0, 5), (5, 0), (1, 1)])
    assert compare_tables(bent, DILEMMA).verdict == "same order of payoffs"


@pytest.mark.parametrize("engine", ["embedded", "swi"])
def test_a_program_that_shows_more_or_less_than_the_story_is_wrong_on_every_level_of_meaning(
    engine,
):
    """Behind one of three doors is a car. Whether the guest sees which other door was opened
    changes no plan's payoff, and the reduced form of the whole is a choice between staying (1/3)
    and switching (2/3)."""
    seen = read_game_lines(
        ["guest"], "\n".join(line.format(line.split("goat ")[1][0]) for line in DOORS.splitlines())
    )
    unseen = read_game_lines(["guest"], DOORS.format(*[""] * 6).replace("[]", "[nothing]"))
    choice = read_game_lines(["guest"], "guest stay : 1/3\nguest switch : 2/3")
    logic = open_engine(engine)
    try:
        for told, true in (
            (unseen, seen),
            (seen, unseen),
            (choice, seen),
            (choice, unseen),
            (unseen, choice),
        ):
            levels = judge_levels(validate(write_table_program(told), logic), true)
            assert (
                levels.functional.ok,
                levels.exact.ok,
                levels.order.ok,
                levels.equivalent.ok,
            ) == (True, False, False, False)
        assert judge_levels(validate(write_table_program(seen), logic), seen).exact.ok
    finally:
        logic.close()
    assert compare_tables(unseen, choice).verdict == "same reduced form, other tree"


def test_the_ends_of_a_story_are_numbered_as_the_leaves_of_its_tree():
    """The orders of a story name its ends by number."""
    ordered = [story for story in stories() if story.orders]
    assert len(ordered) > 3
    for story in ordered:
        tree = LogicGame(story.table).tree
        paid = [tuple(map(float, row.payoffs)) for row in story.table.rows]
        assert [tuple(row) for row in tree.payoffs[tree.leaves].tolist()] == paid, story.id


def test_tables_survive_the_way_through_json():
    for table in (DILEMMA, ENTRY, two_by_two([("1/3", 0), (1, 1), (2, 2), (0, "-7/2")])):
        assert read_table(table_to_data(table)) == table


cells = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=6, max_size=6)


@settings(max_examples=60, deadline=None)
@given(
    cells,
    st.permutations([0, 1]),
    st.permutations([0, 1, 2]),
    st.booleans(),
    st.integers(1, 5),
    st.integers(-4, 4),
)
def test_any_renaming_of_players_and_moves_is_recognised(payoffs, rows, cols, swap, scale, shift):
    table = table_from_cells(
        ("p", "q"),
        (("a", "b"), ("x", "y", "z")),
        tuple((Fraction(u), Fraction(v)) for u, v in payoffs),
    )
    shuffled = [payoffs[3 * i + k] for i in rows for k in cols]
    moves = (tuple(f"m{i}" for i in rows), tuple(f"n{k}" for k in cols))
    found = tuple((Fraction(u), Fraction(v)) for u, v in shuffled)
    other = table_from_cells(("s", "t"), moves, found)
    if swap:
        turned = tuple(
            (found[3 * i + k][1], found[3 * i + k][0]) for k in range(3) for i in range(2)
        )
        other = table_from_cells(("t", "s"), moves[::-1], turned)
    assert compare_tables(other, table).exact
    stretched = replace(
        other,
        rows=tuple(
            replace(r, payoffs=tuple(scale * u + shift for u in r.payoffs)) for r in other.rows
        ),
    )
    assert compare_tables(stretched, table).same
