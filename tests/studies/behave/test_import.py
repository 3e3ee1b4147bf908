"""Recorded play becomes a run: every row is checked, whatever does not fit is named, and nothing is
repaired."""

import gzip
import json

import pytest
from recorded import needs_recorded, recorded
from recorded_plays import HEADER, MAPPING, read_plays as read

import bestresponse as br
from bestresponse.core.errors import SettingError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore:no play of")  # of some files every row is left out
SOUND = "1,1,ann,bob,C,D,0,5,plain\n1,2,ann,bob,D,D,1,1,plain\n"


def list_problems(run):
    return [(row["line"], row["problem"]) for row in run.frame("problems")]


def test_a_sound_file_becomes_a_run_that_is_loaded(tmp_path):
    run = br.load_run(read(tmp_path, SOUND).path)
    (play,) = run.folder.plays()
    assert play.record.players == {"row": "ann", "column": "bob"}
    assert [(s.role, s.decision.action) for s in play.record.submissions] == [
        ("row", "cooperate"),
        ("column", "defect"),
        ("row", "defect"),
        ("column", "defect"),
    ]
    assert play.record.payoffs == {"row": 1.0, "column": 6.0}
    assert play.data["treatment"] == {"prompt": "plain"}
    assert list_problems(run) == []
    assert run.frame("file").rows == [{"rows": 2, "matches": 1, "left_out": 0}]


def test_parquet_and_lines_of_json_hold_the_same_plays_as_csv(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    names = HEADER.strip().split(",")
    rows = [dict(zip(names, line.split(","), strict=True)) for line in SOUND.splitlines()]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "rounds.parquet")
    (tmp_path / "rounds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "mapping.toml").write_text(MAPPING)
    expected = [play.record for play in read(tmp_path, SOUND).folder.plays()]
    for name in ("rounds.parquet", "rounds.jsonl"):
        run = br.import_plays(
            tmp_path / name, mapping=str(tmp_path / "mapping.toml"), output_dir=tmp_path / name[:-2]
        )
        assert [play.record for play in run.folder.plays()] == expected
        assert list_problems(run) == []


def test_a_payoff_that_the_moves_do_not_give_is_named_and_the_match_kept(tmp_path):
    run = read(tmp_path, SOUND.replace("0,5", "0,4"))
    (problem,) = run.frame("problems")
    assert problem["line"] == 2
    assert problem["detail"] == "cooperate, defect pays 0, 5, recorded is 0, 4"
    assert next(run.folder.plays()).record.payoffs == {"row": 1.0, "column": 6.0}


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("2,1,ann,bob,,D,0,5,plain\n", (4, "missing move")),
        ("2,1,ann,bob,X,D,0,5,plain\n", (4, "unknown move")),
        ("2,1,ann\n", (4, "missing move")),
        ("2,2,ann,bob,C,D,0,5,plain\n", (4, "round out of order")),
        ("1,2,ann,bob,C,D,0,5,plain\n", (4, "round out of order")),
        (
            "2,1,ann,bob,C,D,0,5,plain\n2,2,ann,bob,C,,0,5,plain\n2,3,ann,bob,C,D,0,5,plain\n",
            (5, "missing move"),
        ),
    ],
)
def test_a_match_that_cannot_be_read_is_left_out_and_counted(tmp_path, rows, problem):
    run = read(tmp_path, SOUND + rows)
    assert list_problems(run) == [problem]
    assert run.frame("file")[0]["left_out"] == 1
    assert "1 matches are left out" in run.report().opening[0].text


def test_lists_of_unequal_length_are_refused(tmp_path):
    mapping = MAPPING.replace('match = ["pair"]\nround = "round"\n', "lists = true\n")
    cells = "1,1,ann,bob,\"['C', 'D']\",['D'],[0],[5],plain\n"
    run = read(tmp_path, cells, mapping)
    assert list_problems(run) == [(2, "unequal lengths")]
    good = "1,1,ann,bob,\"['C', 'D']\",\"['D', 'D']\",\"[0, 1]\",\"[5, 1]\",plain\n"
    assert next(read(tmp_path, good, mapping).folder.plays()).record.payoffs == {
        "row": 1.0,
        "column": 6.0,
    }


def test_the_others_move_is_inferred_from_what_was_earned(tmp_path):
    mapping = MAPPING.replace('["a", "b"]', '["a"]\ninfer = true').replace('["x", "y"]', '["x"]')
    run = read(tmp_path, SOUND, mapping)
    assert next(run.folder.plays()).record.payoffs == {"row": 1.0, "column": 6.0}
    assert list_problems(read(tmp_path, SOUND.replace("C,D,0", "C,D,5"), mapping)) == [
        (2, "impossible payoff")
    ]


def test_the_last_move_of_the_other_stays_unknown_where_only_the_one_before_is_recorded(tmp_path):
    mapping = MAPPING.replace('["a", "b"]', '["a"]\nbefore = "b"').replace(
        'payoffs = ["x", "y"]\n', ""
    )
    run = read(tmp_path, "1,1,ann,,C,,,,plain\n1,2,ann,,D,D,,,plain\n", mapping)
    (play,) = run.folder.plays()
    assert [s.role for s in play.record.submissions] == ["row", "column", "row"]
    assert play.record.payoffs == {}


def test_a_game_without_a_table_is_left_out_and_one_with_an_empty_cell_too(tmp_path):
    by_name = MAPPING.replace(
        "table = [3, 3, 0, 5, 5, 0, 1, 1]", "tables = { plain = [3, 3, 0, 5, 5, 0, 1, 1] }"
    )
    rows = SOUND + "2,1,ann,bob,C,D,0,5,new\n"
    run = read(tmp_path, rows, by_name.replace('"dilemma"', '"prompt"'))
    assert [row["problem"] for row in run.frame("problems")] == ["no payoff table"]
    cells = MAPPING.replace("[3, 3, 0, 5, 5, 0, 1, 1]", '["x", "x", 0, 5, 5, 0, 1, 1]').replace(
        'payoffs = ["x", "y"]\n', ""
    )
    assert list_problems(read(tmp_path, "1,1,ann,bob,C,D,,5,plain\n", cells)) == [
        (2, "no payoff table")
    ]


def test_ties_of_a_payoff_table_are_named(tmp_path):
    run = read(
        tmp_path,
        SOUND.replace("0,5", "0,3"),
        MAPPING.replace("[3, 3, 0, 5, 5, 0", "[3, 3, 0, 3, 5, 0"),
    )
    assert [row["detail"] for row in run.frame("problems")] == ["dilemma: column gets 3, 3, 0, 1"]


def test_json_lines_and_gzipped_files_are_read_alike(tmp_path):
    run = read(tmp_path, SOUND)
    names = HEADER.strip().split(",")
    lines = [
        json.dumps(dict(zip(names, line.split(","), strict=True))) for line in SOUND.splitlines()
    ]
    (tmp_path / "plays.jsonl").write_text("\n".join(lines))
    with gzip.open(tmp_path / "plays.csv.gz", "wt") as file:
        file.write(HEADER + SOUND)
    for name in ("plays.jsonl", "plays.csv.gz"):
        other = br.import_plays(
            tmp_path / name, mapping=str(tmp_path / "my.toml"), output_dir=tmp_path / "more"
        )
        assert next(other.folder.plays()).record == next(run.folder.plays()).record


def test_another_content_of_the_file_is_another_run_and_the_same_is_found_again(tmp_path):
    first = read(tmp_path, SOUND)
    assert read(tmp_path, SOUND).path == first.path
    assert read(tmp_path, SOUND.replace("plain", "chain")).path != first.path


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        (MAPPING.replace('"a", "b"', '"a", "c"'), "plays.csv has no column 'c'"),
        (MAPPING.replace("players =", "player ="), "my.toml: "),
        (MAPPING.replace("[3, 3, 0, 5, 5, 0, 1, 1]", "[3, 3, 0]"), "needs 8 numbers"),
        (
            MAPPING.replace("[[files]]", '[[files]]\nname = "other*"'),
            "no \\[\\[files\\]\\] whose name fits plays.csv",
        ),
        (MAPPING.replace('{ prompt = "prompt" }', '{ prompt = "{tone}" }'), "no column 'tone'"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused_with_the_reason(tmp_path, mapping, words):
    with pytest.raises(UsageError, match=words):
        read(tmp_path, SOUND, mapping)


def test_an_unknown_mapping_or_file_is_refused(tmp_path):
    there = tmp_path / "there.csv"
    there.write_text("match,round\n1,1\n")
    with pytest.raises(
        SettingError,
        match=r"akata, dilemma, fairgame, friend-or-foe, kaggle, .*textarena, or a \.toml file",
    ):
        br.import_plays(there, mapping="acata")
    with pytest.raises(UsageError, match=r"x\.csv: there is no such file"):
        br.import_plays(tmp_path / "x.csv", mapping="dilemma")


@needs_recorded("play")
@pytest.mark.parametrize(
    ("file", "mapping", "matches", "kinds"),
    [
        pytest.param(
            "akata/rounds.csv.gz", "akata", 1800, {"tied payoffs"}, marks=pytest.mark.soak
        ),
        ("akata/pd.csv.gz", "akata", 64, set()),
        ("akata/people.csv.gz", "akata", 387, {"impossible payoff", "tied payoffs"}),
        pytest.param(
            "fairgame/games.csv.gz",
            "fairgame",
            4200,
            {"payoff mismatch", "tied payoffs"},
            marks=pytest.mark.soak,
        ),
    ],
)
def test_published_records_are_read_and_their_faults_are_found(
    tmp_path, file, mapping, matches, kinds
):
    run = br.import_plays(recorded("play") / file, mapping=mapping, output_dir=tmp_path)
    assert run.answered == matches
    assert {row["problem"] for row in run.frame("found")} == kinds


FRIENDS = """"","sex","white","age","play","round","season","cash","sex1","white1","age1","play1","win","win1"
"1","male","yes",20,"foe","1","1",1.2,"female","yes",32,"friend",1.2,0
"2","male","yes",40,"friend","3","1",7.7,"female","no",31,"friend",3.85,3.85
"3","female","no",35,"foe","2","2",3.2,"female","no",24,"foe",0,0
"4","male","yes",26,"foe","1","2",1.2,"male","yes",40,"foe",0,0
"""


def test_pairs_of_a_game_show_are_read_and_described_by_season_and_sex(tmp_path):
    (tmp_path / "FriendFoe.csv").write_text(FRIENDS)
    run = br.import_plays(
        tmp_path / "FriendFoe.csv", mapping="friend-or-foe", output_dir=tmp_path / "runs"
    )
    assert run.frame("file").rows == [{"rows": 4, "matches": 4, "left_out": 0}]
    assert [play.record.payoffs for play in run.folder.plays()] == [
        {"row": 2.0, "column": 0.0},
        {"row": 1.0, "column": 1.0},
        {"row": 0.0, "column": 0.0},
        {"row": 0.0, "column": 0.0},
    ]

    def count_friends(part):
        described = br.behave(
            [run.path], by=(part,), fit=("strategies",), bootstraps=20, output_dir=tmp_path / part
        )
        counted = {}
        for (name,), figures in described.metrics.groups:
            counted[name] = (figures["matches"], figures["cooperation"].estimate)
        return counted

    assert count_friends("season") == {"1": (2, 0.75), "2": (2, 0.0)}
    # Two of the four women are friends, and one of the four men; three pairs have a woman.
    assert count_friends("sex") == {"female": (3, 0.5), "male": (3, 0.25)}
