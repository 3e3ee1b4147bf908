"""When two tables are the same game, and what is said when they are not."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import given, settings, strategies as st

from bestresponse.formal.evaluate.equivalence import same_game, same_order, strategically_equivalent
from bestresponse.formal.formalize.table_data import table_to_data
from bestresponse.games.logic.tables import table_from_cells
from bestresponse.logic.programs.table import GameTable, Row


def two_by_two(cells, moves=("C", "D"), players=("row", "col")):
    payoffs = tuple(tuple(Fraction(u) for u in cell) for cell in cells)
    return table_from_cells(players, (moves, moves), payoffs)


DILEMMA = two_by_two([(3, 3), (0, 5), (5, 0), (1, 1)])
SEXES = two_by_two([(2, 1), (0, 0), (0, 0), (1, 2)], ("opera", "football"), ("olga", "frank"))


def in_turn(ends):
    rows = tuple(Row(moves, tuple(map(Fraction, earned)), (1,) * len(moves)) for moves, earned in ends)
    return GameTable(("a", "b"), (("in", "out"), ("x", "y")), rows)


ENTRY = in_turn(
    [
        ((("a", "out"),), (0, 2)),
        ((("a", "in"), ("b", "x")), (-1, -1)),
        ((("a", "in"), ("b", "y")), (1, 1)),
    ]
)


def read_table(data: Mapping[str, Any]) -> GameTable:
    """Read back the table that `table_to_data` wrote."""
    rows = tuple(
        Row(
            tuple((str(who), str(move)) for who, move in end["moves"]),
            tuple(Fraction(u) for u in end["payoffs"]),
            tuple(int(size) for size in end["blocks"]),
        )
        for end in data["ends"]
    )
    return GameTable(tuple(data["players"]), tuple(tuple(moves) for moves in data["moves"]), rows)


def test_other_names_and_another_order_of_moves_are_the_same_game():
    other = two_by_two([(1, 1), (5, 0), (0, 5), (3, 3)], ("grab", "share"), ("ann", "bob"))
    match = same_game(other, DILEMMA)
    assert match
    assert match.renaming.moves["ann"] == {"grab": "D", "share": "C"}


def test_moves_that_bear_the_true_names_must_mean_the_same():
    inverted = two_by_two([(1, 1), (5, 0), (0, 5), (3, 3)])
    assert not same_game(inverted, DILEMMA)
    assert same_game(inverted, DILEMMA, own_names=False)


def test_swapped_off_diagonal_cells_are_another_game_and_the_cells_are_named():
    swapped = two_by_two([(3, 3), (5, 0), (0, 5), (1, 1)])
    match = same_game(swapped, DILEMMA)
    assert not match
    assert match.why.startswith("after row: C, col: D the payoffs are 5, 0, not 0, 5")


def test_players_who_share_their_moves_share_the_renaming():
    pennies = two_by_two([(1, -1), (-1, 1), (-1, 1), (1, -1)])
    evader_first = two_by_two([(-1, 1), (1, -1), (1, -1), (-1, 1)], ("l", "r"))
    assert not same_game(evader_first, pennies, swap_players=False)
    assert same_game(evader_first, pennies)


def test_seats_may_be_swapped_together_with_everything_else():
    other = two_by_two([(1, 2), (0, 0), (0, 0), (2, 1)], ("opera", "football"), ("frank", "olga"))
    assert same_game(other, SEXES)
    assert not same_game(other, SEXES, swap_players=False)


def test_simultaneous_and_sequential_games_differ_and_so_do_other_shapes():
    assert "one after another" in same_game(ENTRY, DILEMMA).why or "ends" in same_game(ENTRY, DILEMMA).why
    rows = tuple(replace(row, blocks=(1, 1)) for row in DILEMMA.rows)
    assert same_game(replace(DILEMMA, rows=rows), DILEMMA).why == (
        "its players move one after another, those of the true game at the same time"
    )
    three = table_from_cells(("a", "b", "c"), (("x",),) * 3, ((Fraction(1),) * 3,))
    assert same_game(three, DILEMMA).why == "it has 3 players, the true game has 2"


def test_sequential_games_are_compared_end_by_end():
    assert same_game(ENTRY, ENTRY)
    worse = replace(ENTRY, rows=(replace(ENTRY.rows[0], payoffs=(Fraction(0), Fraction(3))), *ENTRY.rows[1:]))
    assert "after a: out the payoffs are 0, 3, not 0, 2" in same_game(worse, ENTRY).why


def test_positive_affine_payoffs_are_strategically_equivalent_and_others_are_not():
    scaled = two_by_two([(16, -4), (10, 0), (20, -10), (12, -8)])
    assert strategically_equivalent(scaled, DILEMMA)
    assert not same_game(scaled, DILEMMA)
    bent = two_by_two([(4, 3), (0, 5), (5, 0), (1, 1)])
    assert not strategically_equivalent(bent, DILEMMA)
    assert same_order(bent, DILEMMA)


def test_tables_survive_the_way_through_json():
    for table in (DILEMMA, ENTRY, two_by_two([("1/3", 0), (1, 1), (2, 2), (0, "-7/2")])):
        assert read_table(table_to_data(table)) == table


cells = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=6, max_size=6)


@settings(max_examples=60, deadline=None)
@given(cells, st.permutations([0, 1]), st.permutations([0, 1, 2]), st.booleans(), st.integers(1, 5), st.integers(-4, 4))
def test_any_renaming_of_players_and_moves_is_recognised(payoffs, rows, cols, swap, scale, shift):
    table = table_from_cells(
        ("p", "q"), (("a", "b"), ("x", "y", "z")), tuple((Fraction(u), Fraction(v)) for u, v in payoffs)
    )
    shuffled = [payoffs[3 * i + k] for i in rows for k in cols]
    moves = (tuple(f"m{i}" for i in rows), tuple(f"n{k}" for k in cols))
    found = tuple((Fraction(u), Fraction(v)) for u, v in shuffled)
    other = table_from_cells(("s", "t"), moves, found)
    if swap:
        turned = tuple((found[3 * i + k][1], found[3 * i + k][0]) for k in range(3) for i in range(2))
        other = table_from_cells(("t", "s"), moves[::-1], turned)
    assert same_game(other, table)
    stretched = replace(
        other, rows=tuple(replace(r, payoffs=tuple(scale * u + shift for u in r.payoffs)) for r in other.rows)
    )
    assert strategically_equivalent(stretched, table)
    assert same_order(stretched, table)
