"""Which plays of which runs are kept to be described, which are of no use and why."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from unhashed import add_hashes, drop_hashes

import bestresponse as br
from bestresponse.core.episode import Record, Submission, Void
from bestresponse.core.errors import UsageError
from bestresponse.core.player import Decision
from bestresponse.games.dialogue.domain import load_domain, scenarios
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.games.lookup import find_game
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.execution import Execution, Outcome
from bestresponse.runs.settings import list_settings, read_extra
from bestresponse.runs.store.folder import Manifest, RunFolder, read_lines
from bestresponse.studies.behave import estimates, moves
from bestresponse.studies.behave.config import BehaveConfig
from bestresponse.studies.behave.moves import copy_plays, list_recorded_plays, prepare_behave
from bestresponse.studies.behave.study import behave
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.games.normal_form import NormalForm

NO_NAME = "its game is not known by name, so that its payoff table is not known either"


def make_dialogue():
    domain = load_domain("meeting")
    return DialogueGame(domain, (scenarios(domain, 0, 1)[0],), domain.manners())


PEOPLE = {"row": "person", "col": "strategy:cooperator"}


def write_session(path, plays):
    """Write a run of sessions; `plays` are (spec, record, data beside the game)."""
    with RunFolder.open(path, Manifest(path.name, "sessions", {})) as folder:
        for spec, record, data in plays:
            folder.finish(spec, {"setup": {"game": {"name": "prisoners-dilemma"}}, **data}, record)
    return path


def make_record(*pairs):
    """Make the record of a match of the prisoner's dilemma."""
    submissions = tuple(
        Submission(role, Decision(move))
        for pair in pairs
        for role, move in zip(PEOPLE, pair, strict=True)
    )
    return Record("repeated prisoners-dilemma", 2, PEOPLE, submissions, {"row": 0.0, "col": 0.0})


VOID = Record("repeated prisoners-dilemma", 2, PEOPLE, (), {}, Void("row", "left"))
MATCH = make_record(("defect", "cooperate"))


def test_persons_of_sessions_are_the_subjects_of_their_seats(tmp_path):
    (play,) = list_recorded_plays(
        write_session(tmp_path / "s", [("a", MATCH, {"subjects": {"row": "t1 0 0"}})])
    )
    assert play["data"]["subjects"] == ["t1 0 0", ""]


def test_a_play_keeps_its_table_and_its_treatment(tmp_path):
    path = write_session(tmp_path / "s", [("a", MATCH, {"treatment": "kind"}), ("b", MATCH, {})])
    kind, plain = list_recorded_plays(path)
    assert kind["data"] == {
        "form": {
            "name": "prisoners-dilemma",
            "actions": (("cooperate", "defect"), ("cooperate", "defect")),
            "payoffs": [[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]],
            "players": ("row", "col"),
        },
        "treatment": {"treatment": "kind"},
        "subjects": ["", ""],
    }
    assert plain["data"]["treatment"] == {}
    assert [submission["action"] for submission in kind["record"]["submissions"]] == [
        "defect",
        "cooperate",
    ]


def test_what_a_stand_in_did_is_not_told_of_the_person(tmp_path):
    """The person defects; in the second round the time is up, and a stand-in cooperates."""
    late = Submission("row", Decision("cooperate", stand_in="random"))
    record = replace(
        MATCH, submissions=(*MATCH.submissions, late, Submission("col", Decision("defect")))
    )
    path = write_session(tmp_path / "s", [("a", record, {}), ("b", MATCH, {})])
    why, kept, whole = list_recorded_plays(path)
    assert why == "a seat for which a stand-in answered"
    # The moves stay, as the other player has seen them; a seat without a player is in no group.
    assert kept["record"]["players"] == {"row": "", "col": "strategy:cooperator"}
    assert [submission["action"] for submission in kept["record"]["submissions"]][2:] == [
        "cooperate",
        "defect",
    ]
    assert whole["record"]["players"] == PEOPLE


def test_a_formalized_game_is_not_taken_for_another_one_of_its_name(tmp_path):
    formalized = {"setup": {"game": {"name": "prisoners-dilemma", "program": "other payoffs"}}}
    assert list(list_recorded_plays(write_session(tmp_path / "s", [("a", MATCH, formalized)]))) == [
        NO_NAME
    ]


def test_a_session_with_noise_is_of_no_use_and_one_of_another_length_is(tmp_path):
    # With noise a submission is what was meant: the other player met, and answered, what nature
    # made of it.
    noisy, longer = (
        {"setup": {"game": {"name": "prisoners-dilemma", "parameters": parameters}}}
        for parameters in ({"noise": 0.1}, {"rounds": 3, "continuation": 0.9})
    )
    why, kept = list_recorded_plays(
        write_session(tmp_path / "s", [("a", MATCH, noisy), ("b", MATCH, longer)])
    )
    assert why == NO_NAME
    assert kept["spec"] == "b"


def test_a_session_never_opens_a_file_as_its_game(tmp_path):
    (tmp_path / "mine.nfg").write_text('NFG 1 R "mine" { "row" "col" } { 2 2 } 3 3 5 0 0 5 1 1')
    game = {"setup": {"game": {"name": str(tmp_path / "mine.nfg")}}}
    (why,) = list_recorded_plays(write_session(tmp_path / "s", [("a", MATCH, game)]))
    assert isinstance(why, str)
    assert find_game(tmp_path / "mine.nfg").name == "mine"  # the file itself could be read


@pytest.mark.parametrize(
    ("game", "why"),
    [
        (RepeatedGame(load("prisoners-dilemma"), noise=0.1), "moves go wrong there"),
        (MatrixGame(NormalForm(np.zeros((3, 2, 2, 2)))), "matrix has 3 players"),
        (find_game("kuhn-poker").playable(), "kuhn-poker has no payoff table"),
        (find_game("water").playable(), "water has no payoff table, which every estimate needs"),
        (make_dialogue(), "a dialogue: what people say is text"),
    ],
    ids=["with noise", "of three", "without a table", "water", "dialogue"],
)
def test_games_without_a_table_of_two_and_noisy_ones_are_of_no_use(
    tmp_path, monkeypatch, game, why
):
    loaded = SimpleNamespace(playable=lambda: game)
    monkeypatch.setattr(moves, "find_game", lambda name, allow_files: loaded)
    path = write_session(tmp_path / "s", [("a", MATCH, {}), ("b", MATCH, {})])
    reasons = list(list_recorded_plays(path))
    assert len(reasons) == 2
    assert all(reason.startswith(why) for reason in reasons)


def test_all_runs_below_a_folder_are_read_but_those_that_describe_others(tmp_path):
    write_session(tmp_path / "results" / "one", [("a", MATCH, {})])
    write_session(tmp_path / "results" / "deeper" / "two", [("a", MATCH, {})])
    with RunFolder.open(tmp_path / "results" / "behave-1", Manifest("behave-1", "behave", {})):
        pass
    folders = moves.list_folders([tmp_path / "results"])
    assert [folder.name for folder in folders] == ["two", "one"]
    assert moves.list_folders([tmp_path / "results", tmp_path / "results" / "one"]) == folders


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(UsageError, match="contains no run"):
        moves.list_folders([tmp_path])


@pytest.mark.parametrize(
    ("game", "fits"),
    [
        ("prisoners-dilemma", ("strategies",)),
        ("stag-hunt", ("strategies", "qre", "level-k", "cognitive-hierarchy")),
    ],
)
def test_a_single_dilemma_is_described_by_strategies_alone(game, fits):
    seen = moves.SeatMoves({"seat": "row", "run": "r"}, load(game), 0, (0,), (0,), "m")
    assert estimates.choose_fits(estimates.PlayerGroup([seen], 0)) == fits


def test_plays_are_kept_once_under_the_name_of_their_run_and_the_others_counted(tmp_path):
    first = write_session(
        tmp_path / "one", [("a", MATCH, {}), ("b", VOID, {}), ("c", VOID, {}), ("d", MATCH, {})]
    )
    second = write_session(tmp_path / "two", [("a", MATCH, {})])
    config = BehaveConfig((first, second))
    seen = []
    with RunFolder.open(tmp_path / "out", Manifest("out", "behave", {})) as folder:
        outcome = copy_plays(config, folder, {}, Execution(on_progress=seen.append))
        assert (outcome.played, outcome.found, outcome.failed) == (3, 0, 0)
        # After each run: how many plays were there before, how many were kept, and that none
        # failed.
        assert [(step.total, step.found, step.played, step.failed) for step in seen] == [
            (None, 0, 2, 0),
            (None, 0, 3, 0),
        ]
        kept = list(read_lines(folder.path / "records.jsonl"))
        assert Counter(line["data"]["run"] for line in kept) == {"one": 2, "two": 1}
        assert len({line["spec"] for line in kept}) == 3
        assert list(read_lines(folder.path / "unused.jsonl")) == [
            {"what": "one", "why": "a void play", "times": 2}
        ]
        # What is there already is not kept again.
        assert copy_plays(config, folder, {}, Execution()).played == 0


def test_a_finished_run_is_not_made_again(tmp_path):
    path = write_session(tmp_path / "one", [("a", MATCH, {})])
    with RunFolder.open(tmp_path / "out", Manifest("out", "behave", {})) as folder:
        folder.finish("x", {}, MATCH)
        folder.mark_finished()
        assert copy_plays(BehaveConfig((path,)), folder, {}, Execution()) == Outcome(found=1)
        assert not (folder.path / "unused.jsonl").exists()


def test_what_a_run_holds_is_its_identity_and_where_it_lies_is_not(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    first = write_session(tmp_path / "here" / "s", [("a", MATCH, {})])
    second = write_session(tmp_path / "there" / "s", [("a", MATCH, {})])
    longer = write_session(tmp_path / "s", [("a", MATCH, {}), ("b", MATCH, {})])
    identities = [
        prepare_behave(BehaveConfig((path,))).to_json() for path in (first, second, longer)
    ]
    assert identities[0] == identities[1]
    assert identities[0] != identities[2]


def test_a_strategy_in_words_is_written_for_the_game_of_the_first_play_of_use(tmp_path):
    path = write_session(tmp_path / "s", [("a", VOID, {}), ("b", MATCH, {})])
    (tmp_path / "mine.txt").write_text("Always defect.")
    model = ScriptedModel(["```prolog\nselect(_P, _O, _S, defect).\n```"])
    config = prepare_behave(
        BehaveConfig((path,), strategies=(str(tmp_path / "mine.txt"),), model=model)
    )
    (entry,) = config.strategies
    assert (entry.name, entry.kind) == ("mine", "rules")


def test_four_tables_are_shown_on_the_terminal_with_what_was_left_out():
    assert behave.count_tables(None) == 4


def test_the_command_line_takes_runs_by_position_and_no_sources():
    extra = {name: read_extra(field) for name, field in list_settings(BehaveConfig).items()}
    assert extra["runs"]["argument"]
    assert not extra["sources"]["option"]


@pytest.mark.parametrize(
    ("right", "wrong", "why"),
    [
        ('"spec":"a"', '"spec":Infinity', "a number that is not finite"),
        ('"row":"person"', '"row":7', "the name of a player is not a text"),
    ],
)
def test_damaged_plays_of_others_are_refused_in_a_sentence(tmp_path, right, wrong, why):
    records = write_session(tmp_path / "s", [("a", MATCH, {})]) / "records.jsonl"
    text = drop_hashes(records.read_text("utf-8")).replace(": ", ":")
    assert right in text
    records.write_bytes(add_hashes(text.replace(right, wrong)))
    with pytest.raises(UsageError, match=f"is damaged: .*{why}"):
        br.behave([tmp_path / "s"], output_dir=tmp_path / "out", bootstraps=20)
