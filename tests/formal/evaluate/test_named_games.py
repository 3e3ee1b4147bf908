"""The constraints of named games, and how to add more."""

from fractions import Fraction

import pytest

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.formal.evaluate.dataset import read_game_lines
from bestresponse.formal.evaluate.validation import (
    broken,
    check_constraints,
    find_names,
    named_game,
    named_games,
    read_named_games,
)
from bestresponse.games.logic.tables import table_from_cells


def game(*cells, moves=("a", "b")):
    return table_from_cells(
        ("p", "q"), (moves, moves), tuple((Fraction(u), Fraction(v)) for u, v in cells)
    )


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("prisoners-dilemma", game((3, 3), (0, 5), (5, 0), (1, 1))),
        ("hawk-dove", game((3, 3), (1, 5), (5, 1), (0, 0))),
        ("stag-hunt", game((5, 5), (0, 3), (3, 0), (2, 2))),
        ("stag-hunt", game((5, 5), (0, 3), (3, 0), (3, 3))),
        ("battle-of-the-sexes", game((2, 1), (0, 0), (0, 0), (1, 2))),
        ("matching-pennies", game((1, -1), (-1, 1), (-1, 1), (1, -1))),
        ("deadlock", game((1, 1), (0, 3), (3, 0), (2, 2))),
        ("harmony", game((3, 3), (2, 1), (1, 2), (0, 0))),
    ],
)
def test_each_name_is_recognised_whatever_the_moves_are_called(name, table):
    assert find_names(table) == (name,)
    swapped = game(*(row.payoffs for row in reversed(table.rows)))
    assert find_names(swapped) == (name,)


def test_the_verdict_says_why_not():
    why = check_constraints(game((3, 3), (0, 5), (5, 0), (1, 1)), named_game("stag-hunt")).why
    assert why == "it is no Stag Hunt: R > T does not hold (3 > 5)"
    lopsided = check_constraints(
        game((3, 4), (0, 5), (5, 0), (1, 1)), named_game("prisoners-dilemma")
    ).why
    assert "R is both 3 and 4" in lopsided


def test_a_game_that_was_published_as_hawk_dove_but_is_a_dilemma():
    table = game((0, 0), (-5, 5), (5, -5), (-3, -3))
    assert not check_constraints(table, named_game("hawk-dove"))
    assert find_names(table) == ("prisoners-dilemma",)


def test_moves_that_nobody_sees_are_at_the_same_time_in_whatever_order_they_are_written():
    # A tree writes simultaneous moves one after the other; q knows nothing (an empty bracket) when
    # it chooses.
    dilemma = """
    p[] c > q[] {c|d} : {3|0},{3|5}
    p[] d > q[] {c|d} : {5|1},{0|1}
    """
    assert find_names(read_game_lines(("p", "q"), dilemma)) == ("prisoners-dilemma",)
    # Where q is shown the move of p it is no dilemma any more, and neither is it where luck draws
    # first.
    seen = dilemma.replace("p[] c > q[]", "p[] c > q[c]").replace("p[] d > q[]", "p[] d > q[d]")
    assert find_names(read_game_lines(("p", "q"), seen)) == ()
    drawn = "\n".join(
        f"~1/2 {{rain|sun}} > {line}"
        for line in (
            "p[] c > q[] c : 3,3",
            "p[] c > q[] d : 0,5",
            "p[] d > q[] c : 5,0",
            "p[] d > q[] d : 1,1",
        )
    )
    why = check_constraints(read_game_lines(("p", "q"), drawn), named_game("prisoners-dilemma")).why
    assert (
        why
        == "in Prisoner's Dilemma both choose once without knowing of each other, which is not so"
        " here"
    )


def test_other_shapes_are_told():
    three = table_from_cells(("p", "q", "r"), (("a",),) * 3, ((Fraction(0),) * 3,))
    assert (
        check_constraints(three, named_game("stag-hunt")).why
        == "Stag Hunt has two players, this game has 3"
    )


def test_cells_with_several_values_hold_if_some_choice_does():
    cells = {
        ("a", "a"): [(Fraction(9), Fraction(9)), (Fraction(3), Fraction(3))],
        ("a", "b"): [(Fraction(0), Fraction(5))],
        ("b", "a"): [(Fraction(5), Fraction(0))],
        ("b", "b"): [(Fraction(1), Fraction(1))],
    }
    assert broken(cells, named_game("prisoners-dilemma"), shared=True)
    del cells["b", "a"]
    assert "no payoffs for" in broken(cells, named_game("prisoners-dilemma"), shared=True).why


def test_more_games_come_from_a_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        '[snowdrift]\nmoves = ["dig", "wait"]\npayoffs = [["R,R", "S,T"], ["T,S", "P,P"]]\n'
        'holds = ["T > R", "R > S", "S > P", "2 * R > T + S"]\n'
    )
    snowdrift = read_named_games(file)["snowdrift"]
    assert check_constraints(game((3, 3), (1, 4), (4, 1), (0, 0)), snowdrift)
    assert (
        "2 * R > T + S does not hold (6 > 6)"
        in check_constraints(game((3, 3), (1, 5), (5, 1), (0, 0)), snowdrift).why
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[x", "is not TOML"),
        ("[x]\nmoves = ['a']", "needs moves, payoffs"),
        ("[x]\nmoves = ['a', 'b']\npayoffs = [['R,R']]\nholds = []", "needs 2 x 2 cells"),
        ("[x]\nmoves = ['a']\npayoffs = [['R,R']]\nholds = ['R']", "is not a comparison"),
        (
            "[x]\nmoves = ['a']\npayoffs = [['R,R']]\nholds = ['R > Q']",
            "expected letters of the payoffs",
        ),
        (
            "[x]\nmoves = ['a']\npayoffs = [['R,R']]\nholds = ['R > __import__(\"os\").getpid()']",
            "expected letters",
        ),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path, text, why):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises((InvalidGame, UsageError), match=why):
        read_named_games(file)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="stag-hunt"):
        named_game("stag-hnt")
    assert "prisoners-dilemma" in named_games()
