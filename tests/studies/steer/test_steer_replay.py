"""A steering run is worked out again from the answers on record, and its report shows the first
game."""

import json
from types import SimpleNamespace

import pytest
import running

from bestresponse.core.errors import StoreError
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.report.document import Figure, Paragraph, Quote
from bestresponse.runs.store.folder import encode_rows
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.dialogue_frames import _describe_ruling
from bestresponse.studies.steer.following import list_dialogue_states
from bestresponse.studies.steer.study import locate_calls, show_first_dialogue, steer


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two debates, each solved exactly, without fresh texts."""
    config = SteerConfig("debate", "simulated", games=2, fresh=0, iterations=20)
    return running.run(
        steer, config, tmp_path_factory.mktemp("run"), {"simulated": SimulatedSpeaker(0)}
    )


def test_every_answer_comes_back_when_a_run_is_made_again(run):
    replay = run.replay()
    assert (replay.same, replay.different, replay.unit) == (
        run.frame("overview")[0]["answers"],
        (),
        "answers",
    )


def test_an_answer_that_was_changed_is_told(run, tmp_path):
    calls = locate_calls(run.folder)
    assert calls.name == "calls.jsonl"
    store = calls.parent / "answers.jsonl"
    kept = store.read_text("utf-8")
    lines = [json.loads(line) for line in kept.splitlines()]
    spoken = next(line for line in lines if isinstance(line.get("text"), str))
    original = spoken["text"]
    spoken["text"] = "Something else."
    store.write_bytes(encode_rows(lines))
    try:
        replay = run.replay()
    finally:
        store.write_text(kept, "utf-8")
    (told,) = [line for line in replay.different if line.endswith("recorded 'Something else.'")]
    assert repr(original)[:20] in told


def test_answers_to_other_prompts_are_not_taken_for_answers_to_these(run):
    kept = locate_calls(run.folder).parent / "prompts.json"
    hashes = json.loads(kept.read_text("utf-8"))
    assert hashes == dict(run.folder.manifest.prompts)
    kept.write_text(json.dumps(dict.fromkeys(hashes, "of another version")), "utf-8")
    # Other settings make another run, which shares the answers of the first.
    config = SteerConfig("debate", "simulated", games=2, fresh=0, iterations=30)
    try:
        with pytest.raises(StoreError, match="answers to other prompts"):
            running.run(steer, config, run.folder.path.parent, {"simulated": SimulatedSpeaker(0)})
    finally:
        kept.write_text(json.dumps(hashes), "utf-8")


def test_the_first_game_is_shown_with_its_policy_its_tree_and_what_was_said(run):
    advice, tree, dialogues = show_first_dialogue(run)
    assert (advice.title, tree.title, dialogues.title) == (
        "The policy of game 0",
        "The tree of game 0",
        "Dialogues",
    )
    assert isinstance(tree.blocks[0], Figure)
    assert "; it earns " in tree.blocks[0].alt
    assert isinstance(dialogues.blocks[0], Paragraph)
    assert isinstance(dialogues.blocks[1], Quote)
    assert {row["game"] for row in run.frame("policy")} == {0, 1}
    messages = run.frame("dialogues")
    assert {row["game"] for row in messages} == {0}
    assert messages.list_values("guided")[0] == "nobody is guided"
    assert len(messages.list_values("guided")) == 3
    assert messages.list_values("message") == ["1", "2", "payoffs"]


def test_rulings_of_all_ends_are_counted(run):
    games = run.results.results.games
    ends = [state for game in games for state in list_dialogue_states(game.recorded) if state.over]
    assert sum(row["times"] for row in run.frame("rulings")) == len(ends) == 32
    named = {row["what"]: row["times"] for row in run.frame("rulings")}
    names = [
        (game, state)
        for game in games
        for state in list_dialogue_states(game.recorded)
        if state.over
    ]
    told = [_describe_ruling(json.loads(state.ruling), game.game.names) for game, state in names]
    assert named == {what: told.count(what) for what in told}


def test_a_guided_speaker_opens_as_it_is_advised(run):
    first = run.results.results.games[0].game.names[0]
    (opening,) = [
        row
        for row in run.frame("policy").select(game=0, speaker=first)
        if row["last_heard"] == "nothing yet"
    ]
    advised = [part.rpartition(" ")[0] for part in opening["advice"].split(", ")]
    (said,) = run.frame("dialogues").select(message="1", guided=f"{first} is guided")
    assert any(said["text"].startswith(f"{first} ({manner}):") for manner in advised)


def test_a_run_whose_settings_cannot_be_read_has_its_calls_beside_it(run):
    broken = SimpleNamespace(path=run.path, manifest=SimpleNamespace(config={"domain": "nowhere"}))
    assert locate_calls(broken) == run.path / "calls.jsonl"
