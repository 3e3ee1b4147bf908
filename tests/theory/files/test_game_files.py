"""Game files: .efg, .nfg and JSON, read, written and refused."""

import os
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from random_trees import random_tree

from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.theory.catalogue.trees import load_tree, tree_names
from bestresponse.theory.files.efg import format_efg, parse_efg
from bestresponse.theory.files.game_text import number_repeats, write_number
from bestresponse.theory.files.nfg import (
    format_nfg,
    load_game_file,
    parse_matrix_json,
    parse_nfg,
    write_game_file,
)
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.sequence_form_lp import solve_tree
from bestresponse.theory.trees.tree import Tree

POKER = """EFG 2 R "A \\"stripped-down\\" poker" { "Alice" "Bob" }
"Reiley, Urbancic and Walker 2008"

c "" 1 "deal" { "King" 1/2 "Queen" .5 } 0
p "" 1 1 "Alice has the King" { "Bet" "Fold" } 1 "ante" { 1, -1 }
p "" 2 1 "" { "Call" "Fold" } 0
t "" 2 "big win" { 1.0, -1 }
t "" 3 "" { 0e0 0 }
t "" 0
p "" 1 2 "Alice has the Queen" { "Bet" "Fold" } 1
p "" 2 1 0
t "" 4 "" { -6/2, 3 }
t "" 3
t "" 5 "" { -2 2 }
"""


class TestEfg:
    def test_a_file_with_everything_the_format_knows(self):
        """Payoffs on the way add up: outcome 1 (the ante) is worth 1, -1 to everything below it."""
        tree = parse_efg(POKER)
        assert tree.name == 'A "stripped-down" poker'
        assert tree.players == ("Alice", "Bob")
        assert tree.payoffs[tree.leaves].tolist() == [
            [2, -2],
            [1, -1],
            [1, -1],
            [-2, 2],
            [1, -1],
            [-1, 1],
        ]
        assert [i.label for i in tree.infosets] == [
            "Alice has the King",
            "1",
            "Alice has the Queen",
        ]
        assert tree.infoset.tolist().count(1) == 2
        assert tree.probability[[1, 6]].tolist() == [0.5, 0.5]

    def test_the_value_of_stripped_down_poker(self):
        """Reiley et al. 2008: Alice bets a third of her Queens, Bob calls two thirds; worth 1/3 to
        Alice."""
        solution = solve_tree(parse_efg(POKER))
        assert solution.value["Alice"] == pytest.approx(1 / 3)
        assert solution.policy.at("Alice", "Alice has the Queen")["Bet"] == pytest.approx(1 / 3)
        assert solution.policy.at("Bob", "1")["Call"] == pytest.approx(2 / 3)

    @pytest.mark.parametrize("name", tree_names())
    def test_the_classics_survive_a_round_trip(self, name):
        assert_same(parse_efg(format_efg(load_tree(name))), load_tree(name))

    def test_moves_without_or_with_the_same_name_are_numbered(self):
        tree = parse_efg('EFG 2 R "" { "P" } p "" 1 1 "" { "" "x" "x" } 0 t "" 0 t "" 0 t "" 0')
        assert tree.infosets[0].moves == ("1", "x", "x (2)")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "line 1, column 1: expected 'EFG' at the start, got the end of the file"),
            ("NFG 1 R", "line 1, column 1: expected 'EFG' at the start, got NFG"),
            ("EFG 3 R", "line 1, column 5: expected the format's version .* from 2 to 2., got 3"),
            ('EFG 2 R "t" { }', "line 1, column 13: expected at least one player"),
            ('EFG 2 R "t" { "a" 3 }', "expected player's name or '}' in double quotes, got 3"),
            (
                'EFG 2 R "t" { "a" }\nx "" 0',
                "line 2, column 1: expected a node: 'c', 'p' or 't', got x",
            ),
            (
                'EFG 2 R "t" { "a" }\nt "" 1 "" { 1 2 }',
                "line 2, column 11: expected 1 payoffs, got 2",
            ),
            (
                'EFG 2 R "t" { "a" }\nt "" 1 "" { one }',
                "line 2, column 13: expected a payoff or '}' .*, got one",
            ),
            (
                'EFG 2 R "t" { "a" }\nt "" 1 "" { 1/0 }',
                "column 13: expected a payoff .* finite number",
            ),
            (
                'EFG 2 R "t" { "a" }\nt "" 1 "" { 1e999 }',
                "column 13: expected a payoff .* finite number",
            ),
            (
                'EFG 2 R "t" { "a" }\nt "" 1',
                "line 2, column 7: expected '{' and the payoffs of outcome 1, which is new",
            ),
            ('EFG 2 R "t" { "a" }\nt "" 0 "" { 1 }', "expected no payoffs for outcome 0"),
            (
                'EFG 2 R "t" { "a" }\nt "" 0\nt "" 0',
                "line 3, column 1: expected the end of the file",
            ),
            (
                'EFG 2 R "t" { "a" }\np "" 2 1',
                "expected the player's number \\(a whole number from 1 to 1\\), got 2",
            ),
            (
                'EFG 2 R "t" { "a" }\np "" 1 1 0',
                "expected '{' and the moves of information set 1, which is new",
            ),
            ('EFG 2 R "t" { "a" }\np "" 1 1 "" { } 0', "expected at least one move"),
            (
                'EFG 2 R "t" { "a" }\np "" 1 1 "" { "l" } 0',
                "expected a node: .*, got the end of the file",
            ),
            (
                'EFG 2 R "t" { "a" }\np "" 1 1 "" { "l" } 0\np "" 1 1 "" { "r" } 0',
                "line 3, column 10: expected the moves of information set 1 as before: l",
            ),
            ('EFG 2 R "t" { "a" }\nc "" 1 "" { "h" 1/2 "t" 1/3 } 0', "sum to 1, got 0.8333"),
            (
                'EFG 2 R "t" { "a" }\nc "" 1 "" { "h" 3/2 "t" -1/2 } 0',
                "column 17: expected a probability between",
            ),
            ('EFG 2 R "t { "a" }', "expected .*"),
        ],
    )
    def test_a_wrong_file_is_refused_with_line_and_column(self, text, message):
        with pytest.raises(InvalidGame, match=message):
            parse_efg(text)

    def test_blanks_of_any_kind_separate_words(self):
        assert parse_efg('\u00a0EFG\t2\r\nR "" {"P"}t ""0').num_nodes == 1

    def test_a_file_with_more_nodes_than_the_limit(self):
        with pytest.raises(TooLarge, match="more than 10 nodes"):
            parse_efg(format_efg(load_tree("kuhn-poker")), limit=10)


NFG_OUTCOMES = """NFG 1 R "An example" { "A" "B" }
{ { "1" "2" "3" } { "1" "2" } }
"comment"
{
{ "" 1, 1 }
{ "" 0, 0 }
{ "" 0, 0 }
{ "" 1/2, 3.5 }
}
1 2 3 1 0 4
"""


class TestNfg:
    def test_the_payoff_version_lets_the_first_player_s_action_change_fastest(self):
        game = parse_nfg('NFG 1 D "t" { "P 1" "P 2" } { 3 2 }\n1 1 0 2 0 2  1 1 0 3 2 0')
        assert game.payoffs[0].tolist() == [[1, 1], [0, 0], [0, 2]]
        assert game.payoffs[1].tolist() == [[1, 1], [2, 3], [2, 0]]
        assert game.actions == (("1", "2", "3"), ("1", "2"))

    def test_players_without_a_name_are_numbered(self):
        assert parse_nfg('NFG 1 R "" { "" "Bob" } { 1 1 } 1 2').players == ("player 1", "Bob")

    def test_the_outcome_version(self):
        game = parse_nfg(NFG_OUTCOMES)
        assert game.payoffs[0].tolist() == [[1, 1], [0, 0], [0, 0.5]]
        assert game.payoffs[1, 2, 1] == 3.5

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                'NFG 1 R "" { "a" } { 2 } 1',
                "line 1, column 27: expected payoff 2 of 2 .a number., got the end",
            ),
            ('NFG 1 R "" { "a" } { 2 } 1 2 3', "column 30: expected the end of the file"),
            ('NFG 1 R "" { "a" } { 0 } 1', "expected a number of actions"),
            ('NFG 1 R "" { "a" } { { } } 1', "expected at least one action for player 1"),
            ('NFG 1 R "" { "a" "b" } { 2 } 1', "expected the actions of 2 players, got those of 1"),
            (
                'NFG 1 R "" { "a" } { 1 } { { "" 1 } } 2',
                "outcome of contingency 1 of 1 .* from 0 to 1., got 2",
            ),
            ('NFG 1 R "" { "a" } { 1 } { { "" 1 2 } } 1', "expected 1 payoffs, got 2"),
            ('NFG 1 R "" { } { }', "expected at least one player"),
        ],
    )
    def test_a_wrong_file_is_refused_with_line_and_column(self, text, message):
        with pytest.raises(InvalidGame, match=message):
            parse_nfg(text)

    def test_a_game_too_large_is_refused_before_it_is_listed(self):
        with pytest.raises(TooLarge, match="2 players with 200000000000 or more payoffs"):
            parse_nfg('NFG 1 R "" { "a" "b" } { 100000 1000000 } 1')

    @settings(deadline=None)
    @given(
        arrays(
            float, array_shapes(min_dims=1, max_dims=3, max_side=3), elements=st.floats(-1e9, 1e9)
        ),
        st.text(max_size=5),
    )
    def test_round_trip(self, payoffs, name):
        game = NormalForm(np.stack([payoffs * (k + 1) for k in range(payoffs.ndim)]), name=name)
        again = parse_nfg(format_nfg(game))
        assert np.array_equal(again.payoffs, game.payoffs)
        assert (again.players, again.actions, again.name) == (game.players, game.actions, game.name)


class TestJson:
    @pytest.mark.parametrize(
        "text",
        [
            "[[1, -1], [-1, 1]]",
            '{"cells": [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]}',
            '{"zero_sum": [[1, -1], [-1, 1]]}',
            '{"row": [[1, -1], [-1, 1]], "col": [[-1, 1], [1, -1]]}',
            '{"tables": [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]}',
        ],
    )
    def test_five_ways_to_write_matching_pennies(self, text):
        game = parse_matrix_json(text)
        assert game.payoffs.tolist() == [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]

    def test_names(self):
        names = '"name": "n", "players": ["x", "y"], "actions": [["a"], ["b", "c"]]'
        game = parse_matrix_json(f'{{"zero_sum": [[1, 2]], {names}}}')
        assert (game.name, game.players, game.actions) == ("n", ("x", "y"), (("a",), ("b", "c")))

    def test_fractions_are_written_as_texts(self):
        assert parse_matrix_json('[["1/3", 0], [0, "-2.5"]]').given[0].tolist()[0][0] == Fraction(
            1, 3
        )

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("[[1, 2]", "line 1, column 8"),
            ("7", "expected a matrix or an object, got a number"),
            ("[1, 2]", "expected a list of rows, got 2 numbers"),
            ("[[[1, 2, 3]]]", "numbers of sizes 1 x 1 x 3 may be cells or a table"),
            ('{"cells": [[[1, 2, 3]]]}', "3 players need 4 axes, the array has 3"),
            ('{"payoffs": [[1, 2]]}', "payoffs may be cells or a table for every player"),
            ("[[1e200]]", "none beyond 1e.150 in size"),
            (
                '[[1, "two"]]',
                "matrix\\[0\\]\\[1\\]: expected a number such as 3, -2.5 or 1/3, got 'two'",
            ),
            ("[[1, NaN]]", "expected finite numbers, got nan"),
            ("[[1, 1e999]]", "expected finite numbers, got inf"),
            ("[[1], [1, 2]]", "rows of different lengths"),
            ("[]", "at least one number"),
            ("[[true]]", "got a truth value"),
            ("{}", "expected 'zero_sum', .*, got nothing"),
            ('{"row": [[1]]}', "got 'row'"),
            (
                '{"zero_sum": [[1]], "players": ["x"]}',
                "players: expected 2 different names, got",
            ),
            ('{"zero_sum": [[1]], "players": ["x", "x"]}', "different names"),
            (
                '{"zero_sum": [[1]], "actions": [["x"]]}',
                "actions: expected names for 2 players, got 1",
            ),
            ('{"zero_sum": [[1]], "actions": 3}', "expected a list of lists"),
            ('{"zero_sum": [[1]], "name": null}', "name: expected a text, got null"),
            ("[" * 100_000, "nested too deeply"),
            ("[" * 100 + "]" * 100, "at most 60 nested lists"),
        ],
    )
    def test_wrong_texts_are_refused(self, text, message):
        with pytest.raises(InvalidGame, match=message):
            parse_matrix_json(text)

    def test_more_values_than_fit_into_memory_are_refused_before_they_are_read(self):
        with pytest.raises(InvalidGame, match="more than 4,000,000 values"):
            parse_matrix_json(f"[{'{}, ' * 4_000_000}1]")


class TestFiles:
    def test_a_tree_has_a_limited_number_of_players(self):
        players = " ".join(f'"p{number}"' for number in range(1_001))
        with pytest.raises(TooLarge, match="x: 1001 players; the limit is 1000"):
            parse_efg(f'EFG 2 R "" {{ {players} }} t "" 1 "" {{ {"0 " * 1_001} }}', "x")

    def test_a_pipe_is_no_game(self, tmp_path):
        os.mkfifo(tmp_path / "pipe.nfg")
        with pytest.raises(UsageError, match="it is not a regular file"):
            load_game_file(tmp_path / "pipe.nfg")

    def test_many_equal_names_are_told_apart(self):
        names = number_repeats(["m"] * 100_000)
        assert (names[0], names[1], names[-1]) == ("m", "m (2)", "m (100000)")
        assert len(set(names)) == 100_000

    def test_the_ending_says_the_format(self, tmp_path):
        write_game_file(load_tree("centipede"), tmp_path / "c.efg")
        write_game_file(NormalForm.zero_sum([[1, 2]]), tmp_path / "m.NFG")
        (tmp_path / "m.json").write_text("[[1, 2]]")
        assert isinstance(load_game_file(tmp_path / "c.efg"), Tree)
        assert isinstance(load_game_file(tmp_path / "m.NFG"), NormalForm)
        assert load_game_file(str(tmp_path / "m.json")).shape == (1, 2)
        assert load_game_file(tmp_path / "m.json").shape == (1, 2)

    def test_errors_name_the_file(self, tmp_path):
        (tmp_path / "bad.efg").write_text("EFG 2 R\n7")
        with pytest.raises(
            InvalidGame,
            match=r"^bad.efg, line 2, column 1: expected the title in double quotes, got 7",
        ):
            load_game_file(tmp_path / "bad.efg")
        (tmp_path / "bytes.nfg").write_bytes(b"NFG \xff")
        with pytest.raises(
            InvalidGame, match=r"^bytes.nfg: expected UTF-8 text, got other bytes at 4"
        ):
            load_game_file(tmp_path / "bytes.nfg")

    def test_other_files_are_refused(self, tmp_path):
        with pytest.raises(UsageError, match=r"expected a file ending in .efg, .nfg or .json"):
            load_game_file(tmp_path / "x.txt")
        with pytest.raises(UsageError, match="No such file"):
            load_game_file(tmp_path / "x.efg")
        with pytest.raises(UsageError, match=r"ending in .efg for a Tree"):
            write_game_file(load_tree("centipede"), tmp_path / "c.nfg")


class TestProperties:
    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 4))
    def test_random_trees_survive_a_round_trip(self, seed, players):
        tree = random_tree(Random(seed), players, 4, zero_sum=False)
        assert_same(parse_efg(format_efg(tree)), tree)

    @given(st.floats(-1e150, 1e150))
    def test_numbers_survive_writing(self, number):
        text = parse_nfg(f'NFG 1 R "" {{ "a" }} {{ 1 }} {write_number(number)}')
        assert text.payoffs[0, 0] == number

    @settings(max_examples=300, deadline=None)
    @given(st.data())
    def test_a_damaged_efg_is_a_game_or_refused(self, data):
        complaint = complaint_of(parse_efg, damaged(data, POKER))
        assert complaint == "" or "line" in complaint

    @settings(max_examples=300, deadline=None)
    @given(st.data())
    def test_a_damaged_nfg_is_a_game_or_refused(self, data):
        complaint = complaint_of(parse_nfg, damaged(data, NFG_OUTCOMES))
        assert complaint == "" or "line" in complaint or "the limit is" in complaint

    @settings(max_examples=200, deadline=None)
    @given(st.text())
    @example('EFG 2 R "\\')
    @example("EFG 2 R \x00")
    @example('EFG ٢ R "" { "a" }')
    def test_any_text_is_a_game_or_refused(self, text):
        for parse in (parse_efg, parse_nfg, parse_matrix_json):
            with pytest.raises(InvalidGame):
                parse(text + "?")


def complaint_of(parse, text):
    try:
        parse(text)
    except InvalidGame as error:
        return str(error)
    return ""


def damaged(data, text):
    """`text` with a few pieces cut out, doubled or replaced."""
    pieces = st.sampled_from(
        [*'{}",\\ \n', "0", "1", "-1", "1/0", "9" * 500, "1e400", '""', "t", "p", "c", "x", "é"]
    )
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = min(len(text), start + data.draw(st.integers(0, 12)))
        piece = data.draw(st.one_of(st.just(""), pieces, st.just(text[start:stop] * 2)))
        text = text[:start] + piece + text[stop:]
    return text


def assert_same(one, other):
    assert (one.players, one.name, one.branch_labels) == (
        other.players,
        other.name,
        other.branch_labels,
    )
    for name in ("parent", "move", "owner", "infoset", "probability", "payoffs"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert [(i.player, i.label, i.moves) for i in one.infosets] == [
        (i.player, i.label, i.moves) for i in other.infosets
    ]


def test_json_with_a_key_twice_is_refused():
    """JSON itself would take the last of the two, and another game would be solved than the one
    that is read."""
    with pytest.raises(InvalidGame, match=r"JSON text: expected every key once, got row, row, col"):
        parse_matrix_json('{"row": [[1]], "row": [[2]], "col": [[3]]}')
