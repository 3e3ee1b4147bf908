"""What becomes of the rows of a file of recorded play, cell by cell."""

import gzip
import json
import tracemalloc
from types import SimpleNamespace

import pytest

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.runs.execution import Execution, Outcome
from bestresponse.runs.settings import list_settings, read_extra
from bestresponse.runs.store.folder import Manifest, RunFolder, read_lines
from bestresponse.studies.behave.importing import (
    ImportConfig,
    make_recorded_game,
    measure_import,
    prepare_import,
    read_into_run,
)
from bestresponse.studies.behave.layouts import Layout, find_layout, find_mapping, read_rows
from bestresponse.studies.behave.reader import Reader

LAYOUT = {
    "players": ("p", "q"),
    "moves": ("a", "b"),
    "actions": ("C", "D"),
    "game": "dilemma",
    "table": (3, 3, 0, 5, 5, 0, 1, 1),
}
MAPPING = """
[[files]]
players = ["p", "q"]
moves = ["a", "b"]
actions = ["C", "D"]
game = "dilemma"
table = [3, 3, 0, 5, 5, 0, 1, 1]
"""


def read(tmp_path, text, **layout):
    """Read a CSV file by a layout; return its matches, what did not fit and the reader."""
    (tmp_path / "plays.csv").write_text(text)
    problems = []
    reader = Reader(tmp_path / "plays.csv", Layout(**{**LAYOUT, **layout}), problems.append)
    return SimpleNamespace(matches=list(reader.list_matches()), problems=problems, reader=reader)


def list_moves(match):
    return [(row["role"], row["action"]) for row in match["record"]["submissions"]]


def test_a_row_without_a_match_is_a_match_of_one_round(tmp_path):
    result = read(tmp_path, "p,q,a,b\nann,bob,C,D\neve,bob,D,D\n", subjects=("p",))
    first, second = result.matches
    assert first["data"] == {
        "study": "import",
        "line": 2,
        "key": ["2"],
        "rounds": 1,
        "form": {
            "name": "dilemma",
            "actions": (("C", "D"), ("C", "D")),
            "payoffs": [[[3, 0], [5, 1]], [[3, 5], [0, 1]]],
        },
        "subjects": ["ann"],
        "treatment": {},
    }
    assert first["record"]["players"] == {"row": "ann", "column": "bob"}
    assert first["record"]["payoffs"] == {"row": 0.0, "column": 5.0}
    assert first["record"]["version"] == 1
    assert (second["data"]["line"], second["data"]["key"]) == (3, ["3"])
    assert second["record"]["payoffs"] == {"row": 1.0, "column": 1.0}
    assert (result.reader.rows, result.reader.left_out) == (2, 0)


def test_rows_of_a_match_are_put_together_wherever_they_stand(tmp_path):
    text = "n,p,q,a,b\n7,ann,bob,C,C\n8,eve,bob,D,C\n7,ann,bob,D,D\n"
    first, second = read(tmp_path, text, match=("n",)).matches
    assert (first["data"]["key"], first["data"]["rounds"], first["data"]["line"]) == (["7"], 2, 2)
    assert list_moves(first) == [("row", "C"), ("column", "C"), ("row", "D"), ("column", "D")]
    assert first["record"]["payoffs"] == {"row": 4.0, "column": 4.0}
    assert (second["data"]["key"], second["data"]["rounds"], second["data"]["line"]) == (
        ["8"],
        1,
        3,
    )
    assert first["data"]["subjects"] == []


def test_both_players_may_have_their_own_actions(tmp_path):
    actions = (("up", "down"), ("left", "middle", "right"))
    table = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
    result = read(tmp_path, "p,q,a,b\nann,bob,down,middle\n", actions=actions, table=table)
    # Cells are listed row by row, of each first what the row gets: down, middle is the fifth pair.
    assert result.matches[0]["record"]["payoffs"] == {"row": 9.0, "column": 10.0}
    assert result.matches[0]["data"]["form"]["actions"] == actions


def test_a_table_of_another_size_is_refused(tmp_path):
    actions = (("up", "down"), ("left", "middle", "right"))
    with pytest.raises(UsageError, match="needs 12 numbers, got 8"):
        read(tmp_path, "p,q,a,b\nann,bob,down,middle\n", actions=actions)


def test_columns_of_payoffs_of_codes_and_of_a_join_are_looked_for_in_the_first_row(tmp_path):
    for layout, name in [
        ({"payoffs": ("x",)}, "x"),
        ({"match": ("n",)}, "n"),
        ({"round": "turn"}, "turn"),
        ({"before": "earlier"}, "earlier"),
        ({"codes": ("left", "right")}, "left"),
        ({"table": ("r", 3, 0, 5, 5, 0, 1, 1)}, "r"),
        ({"table": ("r", 3, 0, 5, 5, 0, 1, 1), "codes": {"1": "C"}}, "r"),
    ]:
        with pytest.raises(UsageError, match=f"has no column '{name}'; it has p, q, a, b"):
            read(tmp_path, "p,q,a,b\nann,bob,C,D\n", **layout)


def test_codes_that_are_a_table_name_actions_and_no_columns(tmp_path):
    codes = {"1": "C", "2": "D"}
    result = read(tmp_path, "p,q,a,b\nann,bob,2,1\n", codes=codes)
    assert list_moves(result.matches[0]) == [("row", "D"), ("column", "C")]


def test_codes_that_are_columns_say_in_every_row_which_word_is_which_action(tmp_path):
    text = "p,q,a,b,first,second\nann,bob,J,F,J,F\neve,bob,J,F,F,J\n"
    straight, turned = read(tmp_path, text, codes=("first", "second")).matches
    assert list_moves(straight) == [("row", "C"), ("column", "D")]
    assert list_moves(turned) == [("row", "D"), ("column", "C")]


def test_a_second_file_fills_in_columns_by_what_both_have(tmp_path):
    (tmp_path / "games.csv").write_text("n,R\n1,3\n2,4\n")
    table = ("R", "R", 0, 5, 5, 0, 1, 1)
    join = {"file": "games.csv", "on": "n"}
    first, second, third = read(
        tmp_path, "n,p,q,a,b\n1,ann,bob,C,C\n2,ann,bob,C,C\n2,ann,bob,D,D\n", table=table, join=join
    ).matches
    assert [match["record"]["payoffs"]["row"] for match in (first, second, third)] == [
        3.0,
        4.0,
        1.0,
    ]


def test_a_join_on_a_column_that_is_missing_is_refused(tmp_path):
    (tmp_path / "games.csv").write_text("n,R\n1,3\n")
    with pytest.raises(UsageError, match="has no column 'n'"):
        read(tmp_path, "p,q,a,b\nann,bob,C,C\n", join={"file": "games.csv", "on": "n"})


@pytest.mark.parametrize(
    "name", ["../games.csv", "/etc/passwd", "..", "a/games.csv", "..\\games.csv"]
)
def test_a_join_names_a_file_beside_the_imported_one(tmp_path, name):
    with pytest.raises(
        UsageError, match="join: expected the name of a file beside the one that is imported, got"
    ):
        read(tmp_path, "p,q,a,b\nann,bob,C,C\n", join={"file": name, "on": "n"})


def test_a_treatment_may_differ_between_seats(tmp_path):
    treatment = {"tone": "t", "persona": ("t", "u")}
    (match,) = read(tmp_path, "p,q,a,b,t,u\nann,bob,C,C,kind,rude\n", treatment=treatment).matches
    assert match["data"]["treatment"] == {"tone": "kind", "persona": ["kind", "rude"]}


def test_rounds_count_from_1_within_their_match(tmp_path):
    text = "n,t,p,q,a,b\n1,1,ann,bob,C,C\n1,2,ann,bob,C,C\n1,4,ann,bob,C,C\n1,5,ann,bob,C,\n"
    result = read(tmp_path, text, match=("n",), round="t")
    # Only the first fault of a match is named, and the match counted once.
    assert result.problems == [
        {
            "line": 4,
            "match": "from line 2",
            "problem": "round out of order",
            "detail": "4 after 2",
            "effect": "the match is left out",
        }
    ]
    assert (result.reader.left_out, result.matches) == (1, [])


def test_rows_in_any_order_are_the_rounds_that_they_name(tmp_path):
    text = "n,t,p,q,a,b\n1,3,ann,bob,D,C\n2,1,ann,bob,C,C\n1,1,ann,bob,C,D\n1,2,ann,bob,D,D\n"
    result = read(tmp_path, text, match=("n",), round="t")
    assert result.problems == []
    first, second = result.matches
    moves = [submission["action"] for submission in first["record"]["submissions"]]
    assert moves == ["C", "D", "D", "D", "D", "C"]
    assert second["data"]["rounds"] == 1


def test_a_round_that_is_there_twice_leaves_its_match_out(tmp_path):
    text = "n,t,p,q,a,b\n1,2,ann,bob,D,C\n1,2,ann,bob,C,C\n1,1,ann,bob,C,D\n"
    result = read(tmp_path, text, match=("n",), round="t")
    assert [(row["line"], row["detail"]) for row in result.problems] == [(3, "2 after 0")]
    assert result.matches == []


def test_faults_say_whose_move_is_missing_and_what_is_not_known(tmp_path):
    result = read(tmp_path, "p,q,a,b\nann,bob,C,\nann,bob,X,C\n")
    assert [(row["problem"], row["detail"]) for row in result.problems] == [
        ("missing move", "no move of column"),
        ("unknown move", "'X'"),
    ]


def test_the_move_before_belongs_to_the_round_before(tmp_path):
    text = "n,p,a,o\n1,ann,C,\n1,ann,D,D\n1,ann,C,C\n"
    layout = {"match": ("n",), "players": ("p",), "moves": ("a",), "before": "o"}
    (match,) = read(tmp_path, text, **layout).matches
    assert list_moves(match) == [
        ("row", "C"),
        ("column", "D"),
        ("row", "D"),
        ("column", "C"),
        ("row", "C"),
    ]
    assert match["record"]["players"] == {"row": "ann", "column": ""}
    # What the last round paid is not known.
    assert match["record"]["payoffs"] == {}


def test_a_move_is_inferred_only_where_one_alone_pays_as_much(tmp_path):
    layout = {"players": ("p", "q"), "moves": ("a",), "infer": True, "payoffs": ("x",)}
    (match,) = read(tmp_path, "p,q,a,x\nann,bob,D,5\n", **layout).matches
    assert list_moves(match) == [("row", "D"), ("column", "C")]
    tied = (3, 3, 3, 5, 5, 0, 1, 1)
    result = read(tmp_path, "p,q,a,x\nann,bob,C,3\nann,bob,D,4\n", table=tied, **layout)
    assert [(row["problem"], row["detail"]) for row in result.problems] == [
        ("impossible payoff", "3.0 cannot be earned by C"),
        ("impossible payoff", "4.0 cannot be earned by D"),
    ]


@pytest.mark.parametrize(
    ("cells", "detail"),
    [
        ("0,5", None),
        ("0.0000000001,5", None),
        ("0.1,5", "C, D pays 0, 5, recorded is 0.1, 5"),
        ("-0,-5", "C, D pays 0, 5, recorded is -0, -5"),
        (",5", "C, D pays 0, 5, recorded is nothing, 5"),
        ("nan,5", "C, D pays 0, 5, recorded is nothing, 5"),
    ],
)
def test_recorded_payoffs_are_compared_with_those_of_the_moves(tmp_path, cells, detail):
    result = read(tmp_path, f"p,q,a,b,x,y\nann,bob,C,D,{cells}\n", payoffs=("x", "y"))
    assert [row["detail"] for row in result.problems] == ([detail] if detail else [])
    assert len(result.matches) == 1


def test_payoffs_beside_a_single_move_are_not_compared(tmp_path):
    layout = {"players": ("p",), "moves": ("a",), "payoffs": ("x",)}
    result = read(tmp_path, "p,a,x\nann,C,7\n", **layout)
    assert (result.problems, list_moves(result.matches[0])) == ([], [("row", "C")])


def test_lists_may_hold_the_moves_of_one_player_alone(tmp_path):
    layout = {"players": ("p",), "moves": ("a",), "lists": True}
    (match,) = read(tmp_path, "p,a\nann,['D']\n", **layout).matches
    assert list_moves(match) == [("row", "D")]


def test_payoffs_of_the_first_player_alone_are_compared_too(tmp_path):
    result = read(tmp_path, "p,q,a,b,x\nann,bob,C,D,5\n", payoffs=("x",))
    assert [row["detail"] for row in result.problems] == ["C, D pays 0, recorded is 5"]


@pytest.mark.parametrize("cell", ["", "nan", "inf"])
def test_a_match_whose_table_lacks_a_number_is_left_out_alone(tmp_path, cell):
    text = f"p,q,a,b,R\nann,bob,C,C,{cell}\nann,bob,C,C,3\n"
    result = read(tmp_path, text, table=("R", "R", 0, 5, 5, 0, 1, 1))
    assert [(row["line"], row["problem"], row["detail"]) for row in result.problems] == [
        (2, "no payoff table", "of the game 'dilemma'")
    ]
    assert [match["data"]["line"] for match in result.matches] == [3]


def test_tables_are_found_by_the_name_of_the_game(tmp_path):
    tables = {"soft": (3, 3, 0, 5, 5, 0, 1, 1), "harsh": (8, 8, 0, 10, 10, 0, 5, 5)}
    text = "p,q,a,b,g\nann,bob,C,C,soft\nann,bob,C,C,harsh\nann,bob,C,C,new\n"
    result = read(tmp_path, text, tables=tables, table=(), game="g")
    assert [match["record"]["payoffs"]["row"] for match in result.matches] == [3.0, 8.0]
    assert [match["record"]["game"] for match in result.matches] == ["soft", "harsh"]
    assert [row["detail"] for row in result.problems] == ["of the game 'new'"]


def test_lists_hold_a_round_each_and_empty_ones_are_no_match(tmp_path):
    cells = [("['C', 'D']", "['D', 'D']"), ("[]", "[]"), ("['C']", "5"), ("['C']", "['C', 'D']")]
    rows = [
        json.dumps({"p": "ann", "q": "bob", "a": first, "b": second}) + "\n"
        for first, second in cells
    ]
    (tmp_path / "plays.jsonl").write_text("".join(rows))
    problems = []
    matches = list(
        Reader(
            tmp_path / "plays.jsonl", Layout(**LAYOUT, lists=True), problems.append
        ).list_matches()
    )
    assert [list_moves(match) for match in matches] == [
        [("row", "C"), ("column", "D"), ("row", "D"), ("column", "D")]
    ]
    assert [(row["line"], row["problem"], row["detail"]) for row in problems] == [
        (2, "missing move", "the lists are empty"),
        (3, "no list", "expected a list of moves or payoffs in every cell"),
        (4, "unequal lengths", "lists of 1, 2 entries"),
    ]


def test_lists_of_a_json_file_are_lists_already(tmp_path):
    (tmp_path / "plays.jsonl").write_text(
        json.dumps({"p": "ann", "q": "bob", "a": ["C", "C"], "b": ["D", "D"]})
    )
    reader = Reader(tmp_path / "plays.jsonl", Layout(**LAYOUT, lists=True), print)
    (match,) = reader.list_matches()
    assert match["record"]["payoffs"] == {"row": 0.0, "column": 10.0}


def test_lines_are_counted_as_an_editor_does(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    (tmp_path / "a.jsonl").write_text('{"x": 1}\n\n{"x": 2}\n')
    with gzip.open(tmp_path / "a.ndjson.gz", "wt") as file:
        file.write('{"x": 1}\n')
    assert list(read_rows(tmp_path / "a.csv")) == [(2, {"x": "1"}), (3, {"x": "2"})]
    assert list(read_rows(tmp_path / "a.jsonl")) == [(1, {"x": 1}), (3, {"x": 2})]
    assert list(read_rows(tmp_path / "a.ndjson.gz")) == [(1, {"x": 1})]
    (tmp_path / "a.txt").write_text("x\n")
    with pytest.raises(UsageError, match=r"expected a \.csv, \.jsonl, \.json or \.parquet file"):
        list(read_rows(tmp_path / "a.txt"))


def test_rows_of_parquet_count_from_1(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist([{"x": 1}, {"x": 2}]), tmp_path / "a.parquet")
    assert list(read_rows(tmp_path / "a.parquet")) == [(1, {"x": 1}), (2, {"x": 2})]


def test_a_mapping_is_one_of_ours_or_a_file(tmp_path):
    assert find_mapping("akata").name == "akata.toml"
    assert find_mapping("akata").exists()
    assert find_mapping("x/mine.toml").as_posix() == "x/mine.toml"
    assert find_layout("akata", tmp_path / "pd.csv.gz").game == "prisoner's dilemma"
    assert find_layout("akata", tmp_path / "bos.csv.gz").game == "battle of the sexes"
    assert not find_layout("akata", tmp_path / "pd.csv.gz").infer
    assert not find_layout("akata", tmp_path / "pd.csv.gz").lists


def import_file(tmp_path, text, seen):
    (tmp_path / "plays.csv").write_text(text)
    (tmp_path / "mine.toml").write_text(MAPPING)
    config = ImportConfig(tmp_path / "plays.csv", mapping=str(tmp_path / "mine.toml"))
    with RunFolder.open(tmp_path / "run", Manifest("run", "import", {})) as folder:
        outcome = read_into_run(config, folder, {}, Execution(on_progress=seen.append))
    return config, folder, outcome


def test_an_import_counts_matches_moves_rows_and_problems(tmp_path):
    seen = []
    text = "p,q,a,b\nann,bob,C,D\nann,bob,D,D\neve,bob,C,\neve,bob,X,C\neve,bob,C,\n"
    config, folder, outcome = import_file(tmp_path, text, seen)
    assert (outcome.played, outcome.found) == (2, 0)
    assert [(step.total, step.found, step.played, step.failed) for step in seen] == [
        (None, 0, 2, 0)
    ]
    measured = measure_import(config, folder)
    assert measured.answered == 2
    assert measured.frames["file"].rows == [{"rows": 5, "matches": 2, "left_out": 3}]
    assert measured.frames["games"].rows == [
        {"game": "dilemma", "players": "ann - bob", "matches": 2, "moves": 4}
    ]
    assert measured.frames["found"].rows == [
        {"problem": "missing move", "effect": "the match is left out", "times": 2},
        {"problem": "unknown move", "effect": "the match is left out", "times": 1},
    ]
    # What is there already is not read again.
    assert import_file(tmp_path, text, seen)[2].played == 0
    RunFolder.read(tmp_path / "run").mark_finished()
    assert import_file(tmp_path, text, seen)[2] == Outcome(found=2)


def test_tied_payoffs_stand_at_no_line_and_are_kept(tmp_path):
    (tmp_path / "plays.csv").write_text("p,q,a,b\nann,bob,C,D\n")
    (tmp_path / "mine.toml").write_text(MAPPING.replace("[3, 3, 0, 5, 5, 0", "[3, 3, 0, 5, 3, 0"))
    config = ImportConfig(tmp_path / "plays.csv", mapping=str(tmp_path / "mine.toml"))
    with RunFolder.open(tmp_path / "run", Manifest("run", "import", {})) as folder:
        read_into_run(config, folder, {}, Execution())
    assert list(read_lines(folder.path / "problems.jsonl")) == [
        {
            "line": 0,
            "match": "",
            "problem": "tied payoffs",
            "detail": "dilemma: row gets 3, 0, 3, 1",
            "effect": "kept",
        }
    ]


def test_the_identity_of_an_import_is_what_the_file_holds_and_not_where_it_lies(tmp_path):
    identities = []
    for folder, text in (
        ("one", "p,q,a,b\n"),
        ("two", "p,q,a,b\n"),
        ("three", "p,q,a,b\nann,bob,C,C\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "plays.csv").write_text(text)
        identities.append(
            prepare_import(
                ImportConfig(tmp_path / folder / "plays.csv", mapping="dilemma")
            ).to_json()
        )
    assert identities[0]["source"] == "plays.csv"
    assert identities[0] == identities[1]
    assert identities[0]["digest"] != identities[2]["digest"]


def test_the_command_line_takes_the_file_by_position_and_no_digests():
    extra = {name: read_extra(field) for name, field in list_settings(ImportConfig).items()}
    assert extra["file"]["argument"]
    assert extra["output_dir"]["how"]
    assert not extra["source"]["option"]
    assert not extra["digest"]["option"]


def test_the_game_of_a_match_has_as_many_rounds_as_were_played(tmp_path):
    (match,) = read(tmp_path, "n,p,q,a,b\n1,ann,bob,C,C\n1,ann,bob,D,D\n", match=("n",)).matches
    game = make_recorded_game(None, match["data"])
    assert (game.rounds, game.form.name, game.form.players) == (2, "dilemma", ("row", "column"))
    assert game.form.payoffs.tolist() == [[[3, 0], [5, 1]], [[3, 5], [0, 1]]]


def test_a_row_with_more_cells_than_columns_is_not_read_from_shifted_cells(tmp_path):
    # an unquoted comma in a name: the moves would be read as "C" and "D" from the cells before
    # theirs
    result = read(tmp_path, "p,q,a,b\nann,Smith,C,D,D\nann,bob,C,C\n")
    assert [list_moves(match) for match in result.matches] == [[("row", "C"), ("column", "C")]]
    assert [(row["line"], row["problem"]) for row in result.problems] == [(2, "too many cells")]


def test_an_empty_cell_after_the_last_column_is_no_fault(tmp_path):
    assert not read(tmp_path, "p,q,a,b\nann,bob,C,C,\n").problems


def test_two_columns_of_one_name_are_refused_because_one_would_be_read_for_both(tmp_path):
    with pytest.raises(UsageError, match="has two columns of one name among p, q, a, b, a"):
        read(tmp_path, "p,q,a,b,a\nann,bob,C,C,D\n")


@pytest.mark.parametrize(
    ("layout", "column"),
    [
        ({}, "p"),
        ({"game": "{g} 1"}, "g"),
        ({"treatment": {"prompt": "g"}}, "g"),
        ({"subjects": ("g",)}, "g"),
    ],
)
def test_a_match_in_which_a_player_or_the_game_changes_is_left_out(tmp_path, layout, column):
    first, other = ("ann", "eve") if column == "p" else ("ann", "ann")
    text = f"n,g,p,q,a,b\n7,x,{first},bob,C,C\n8,x,ann,bob,C,C\n7,y,{other},bob,D,D\n"
    result = read(tmp_path, text, match=("n",), **layout)
    # Match 7 changes in line 4; match 8 is kept.
    assert [match["data"]["key"] for match in result.matches] == [["8"]]
    assert result.reader.left_out == 1
    changed = "eve" if column == "p" else "y"
    assert [(row["line"], row["problem"], row["detail"]) for row in result.problems] == [
        (4, "changed within a match", f"{column} is {changed!r}")
    ]


def test_a_column_that_says_nothing_of_players_and_game_may_change_within_a_match(tmp_path):
    result = read(tmp_path, "n,note,p,q,a,b\n7,x,ann,bob,C,C\n7,y,ann,bob,D,D\n", match=("n",))
    assert [match["data"]["rounds"] for match in result.matches] == [2]


@pytest.mark.parametrize(
    ("line", "words"),
    [("[1, 2]", "line 3 holds no object"), ('{"a": "C", "a": "D"}', "a key occurs twice")],
)
def test_a_json_line_that_is_no_plain_object_is_refused(tmp_path, line, words):
    file = tmp_path / "plays.jsonl"
    file.write_text(f'{{"p": "ann", "q": "bob", "a": "C", "b": "D"}}\n\n{line}\n')
    with pytest.raises(UsageError, match=words):
        list(read_rows(file))


def test_two_rows_of_a_second_file_that_contradict_each_other_are_refused(tmp_path):
    (tmp_path / "games.csv").write_text("n,R\n1,3\n1,3\n1,4\n")
    with pytest.raises(
        UsageError, match="line 4: a row before it has the same 'n' and other cells"
    ):
        read(tmp_path, "n,p,q,a,b\n1,ann,bob,C,C\n", join={"file": "games.csv", "on": "n"})


def test_another_second_file_makes_another_run(tmp_path):
    (tmp_path / "plays.csv").write_text("n,p,q,a,b\n1,ann,bob,C,C\n")
    (tmp_path / "my.toml").write_text(f'{MAPPING}join = {{ file = "games.csv", on = "n" }}\n')
    digests = []
    for text in ("n,R\n1,3\n", "n,R\n1,4\n", "n,R\n1,3\n"):
        (tmp_path / "games.csv").write_text(text)
        digests.append(
            prepare_import(
                ImportConfig(tmp_path / "plays.csv", mapping=str(tmp_path / "my.toml"))
            ).digest
        )
    assert digests[0] != digests[1]
    assert digests[0] == digests[2]


def test_a_row_that_the_second_file_lacks_is_left_out(tmp_path):
    (tmp_path / "games.csv").write_text("n,kind\n1,old\n")
    text = "n,p,q,a,b\n9,ann,bob,C,C\n1,ann,bob,C,C\n"
    result = read(tmp_path, text, join={"file": "games.csv", "on": "n"}, treatment={"kind": "kind"})
    assert [match["data"]["treatment"] for match in result.matches] == [{"kind": "old"}]
    (problem,) = result.problems
    assert (problem["line"], problem["problem"]) == (2, "not joined")
    assert problem["detail"] == "no row of games.csv has this 'n'"


def test_a_second_file_does_not_overwrite_a_cell_that_differs(tmp_path):
    # Both files have a column p: the player of the row is not the one of the second file. The
    # number of the line that both begin with is of no use to the layout, so it may differ.
    (tmp_path / "games.csv").write_text("id,n,p\n1,1,eve\n2,2,ann\n")
    text = "id,n,p,q,a,b\n8,1,ann,bob,C,C\n9,2,ann,bob,C,C\n"
    result = read(tmp_path, text, join={"file": "games.csv", "on": "n"})
    assert [match["data"]["line"] for match in result.matches] == [3]
    (problem,) = result.problems
    assert (problem["problem"], problem["detail"]) == (
        "joined cells differ",
        "p is 'ann', joined 'eve'",
    )


def test_a_player_whom_a_short_row_lacks_is_not_called_like_the_column(tmp_path):
    first, second = read(tmp_path, "a,b,p,q\nC,D,ann,bob\nC,D,ann\n").matches
    assert first["record"]["players"] == {"row": "ann", "column": "bob"}
    assert second["record"]["players"] == {"row": "ann", "column": ""}


def test_a_null_in_json_names_nobody(tmp_path):
    rows = [
        {"p": "ann", "q": "bob", "a": "C", "b": "D", "id": 7},
        {"p": None, "q": "bob", "a": "C", "b": "D", "id": None},
    ]
    (tmp_path / "plays.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    problems = []
    layout = Layout(**{**LAYOUT, "subjects": ("{id}",)})
    first, second = Reader(tmp_path / "plays.jsonl", layout, problems.append).list_matches()
    assert (first["data"]["subjects"], first["record"]["players"]["row"]) == (["7"], "ann")
    assert (second["data"]["subjects"], second["record"]["players"]["row"]) == ([""], "")
    assert not problems


def test_a_short_row_is_left_out_alone_where_the_game_is_filled_in_from_it(tmp_path):
    result = read(tmp_path, "p,q,a,b,study\nann,bob,C,D,old\nann,bob\n", game="{study} dilemma")
    assert [match["record"]["game"] for match in result.matches] == ["old dilemma"]
    assert [problem["problem"] for problem in result.problems] == ["missing move"]


def test_a_line_nested_too_deeply_is_a_sentence(tmp_path):
    (tmp_path / "deep.jsonl").write_text("[" * 100_000 + "\n")
    with pytest.raises(
        UsageError, match=r"deep\.jsonl cannot be read: a line is nested too deeply to be a row"
    ):
        list(read_rows(tmp_path / "deep.jsonl"))


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_line_that_a_small_file_unpacks_to_is_not_read_into_memory(tmp_path, kind):
    path = tmp_path / f"bomb.{kind}.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a,b\n" if kind == "csv" else b'{"a": 1}\n')
        for _ in range(100):
            file.write(b"x" * 1_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(
            UsageError, match=r"cannot be read: line 2 has more than 10,000,000 characters"
        ):
            list(read_rows(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50_000_000


def test_both_seats_may_have_subjects(tmp_path):
    text = "n,g,p,q,a,b\n7,1,x,x,C,C\n8,2,x,x,C,C\n"
    first, second = read(tmp_path, text, subjects=("{p} {n}", "g")).matches
    assert (first["data"]["subjects"], second["data"]["subjects"]) == (["x 7", "1"], ["x 8", "2"])


def test_nobody_meets_themselves(tmp_path):
    result = read(tmp_path, "p,q,a,b\nann,ann,C,C\nann,bob,C,C\n,,C,C\n", subjects=("p", "q"))
    assert [match["data"]["subjects"] for match in result.matches] == [["ann", "bob"], ["", ""]]
    assert [(row["line"], row["problem"]) for row in result.problems] == [
        (2, "one subject in both seats")
    ]


def test_a_match_in_which_the_second_subject_changes_is_left_out(tmp_path):
    text = "n,g,p,q,a,b\n7,x,ann,bob,C,C\n7,y,ann,bob,D,D\n"
    assert not read(tmp_path, text, match=("n",), subjects=("p", "g")).matches


def test_three_subjects_are_refused():
    with pytest.raises(SettingError, match="one or two seats, got 3"):
        Layout(**{**LAYOUT, "subjects": ("p", "q", "a")})


def test_a_mapping_without_players_is_refused():
    with pytest.raises(UsageError, match="players: this setting is missing"):
        Layout(**{name: value for name, value in LAYOUT.items() if name != "players"})


@pytest.mark.parametrize("actions", [(), ((), ())])
def test_a_mapping_without_moves_is_refused(actions):
    with pytest.raises(SettingError, match="expected the names of the moves, got none"):
        Layout(**{**LAYOUT, "actions": actions})


def test_names_in_braces_are_columns_and_no_formats(tmp_path):
    """A width would fill memory, and attributes are none of a mapping's business."""
    for game in ("{p:999999999999}", "{p.__class__}"):
        with pytest.raises(UsageError, match="but the file has no column"):
            read(tmp_path, "p,q,a,b\nann,bob,C,C\n", game=game)
    result = read(tmp_path, "p,q,a,b\nann,bob,C,C\n", game="of {p} and {q}")
    assert [match["data"]["form"]["name"] for match in result.matches] == ["of ann and bob"]


def test_a_mapping_names_one_or_two_columns_of_moves():
    given = {"players": ("a", "b"), "actions": ("C", "D"), "game": "pd"}
    for moves in ((), ("a", "b", "c")):
        with pytest.raises(SettingError, match=f"columns of one or two seats, got {len(moves)}"):
            Layout(**given, moves=moves)
    for more in ({"moves": ("a", "b"), "payoffs": ("x",)}, {"moves": ("a",)}):
        with pytest.raises(SettingError, match="at least one in payoffs to infer from"):
            Layout(**given, **more, infer=True)
