"""A manner that is chosen by a summary of the talk instead of the talk itself."""

import json

import pytest
from steer_command import steer as type_command
from steering import cast_of, dialogue

import bestresponse as br
from bestresponse.core.conformance import check_game
from bestresponse.core.errors import InvalidGame, SettingError, UsageError
from bestresponse.games.dialogue.domain import parse_domain, read_domain_text
from bestresponse.games.dialogue.game import RecordedDialogue
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.players.dialogue.speaker import Arbiter, DealReferee, Observer
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.building import build_dialogue, size_of
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.telling.render import write_history
from bestresponse.theory.trees.compile import compile_game


def say(game, state, manner, text):
    """Let whoever is on turn choose a manner and write."""
    role = game.roles[game.turn(state)]
    return game.apply(game.apply(state, {role: manner}), {role: text})


def build(game, model=None, observer=None):
    model = model or SimulatedSpeaker(0)
    referee = Arbiter(DealReferee(model, game.domain), Observer(observer or model))
    answers = AnswerStore()
    built = build_dialogue(game, cast_of(model, game.domain, referee), answers)
    return answers, built


def test_a_dialogue_with_summaries_keeps_to_what_every_game_promises():
    game = dialogue("meeting", summaries=True)
    answers, _ = build(game)
    check_game(RecordedDialogue(game, answers.book))


def test_a_manner_is_chosen_by_the_summary_and_voiced_by_the_transcript():
    game = dialogue("meeting", summaries=True)
    state = say(game, game.start(), "calm", "There is no hurry. Monday?")
    assert list(game.asks(state)) == ["referee"]
    asked = game.view(state, "referee")
    assert asked.facts == {"summary_for": 1}
    state = game.apply(state, {"referee": "Monday was proposed.\nNobody insists."})
    choosing = game.view(state, "player 2")
    assert "> Monday was proposed.\n> Nobody insists." in write_history(choosing)
    assert "There is no hurry" not in write_history(choosing)
    assert choosing.facts["said"] == [[None, 1, "Monday was proposed.\nNobody insists."]]
    voicing = game.view(game.apply(state, {"player 2": "any"}), "player 2")
    assert "> There is no hurry. Monday?" in write_history(voicing)


def test_a_speaker_remembers_the_summaries_of_its_own_turns_only():
    game = dialogue("meeting", replies=2, summaries=True)
    state = game.start()
    for number in (1, 2, 3):
        state = say(game, state, "calm", f"Message {number}.")
        state = game.apply(state, {"referee": f"Summary {number}."})
    second = [text for _, _, text in game.view(state, "player 2").facts["said"]]
    assert second == ["Summary 1.", "Summary 3."]
    assert game.view(state, "player 2").facts["own"] == ["calm to 0"]


def test_talks_that_are_summed_up_alike_are_one_situation():
    same = ScriptedModel(["Something was said."] * 100)
    game = dialogue("meeting", summaries=True)
    answers, _ = build(game, observer=same)
    tree = compile_game(RecordedDialogue(game, answers.book))
    assert len(tree.infosets) == 2
    apart = dialogue("meeting")
    whole, _ = build(apart)
    # The four manners of the first speaker become three different messages: one slips.
    assert len(compile_game(RecordedDialogue(apart, whole.book)).infosets) == 1 + 3


def test_a_longer_talk_of_summaries_has_perfect_recall():
    game = dialogue("meeting", replies=2, summaries=True, early_end=True)
    answers, _ = build(game)
    tree = compile_game(RecordedDialogue(game, answers.book))  # refused without perfect recall
    assert tree.num_players == 2
    assert len(tree.infosets) > 3


def test_a_summary_that_cannot_be_read_takes_its_wording_out():
    silent = ScriptedModel([""] * 100)
    game = dialogue("meeting", summaries=True)
    answers, _ = build(game, observer=silent)
    with pytest.raises(InvalidGame, match="no meeting dialogue can be played to its end"):
        RecordedDialogue(game, answers.book)


def test_the_size_counts_a_summary_for_every_message_that_is_answered():
    size = size_of(dialogue("meeting", summaries=True), 1)
    # Four openings are answered, in four manners each; the sixteen answers end the talk.
    assert (size.messages, size.rulings, size.summaries) == (4 + 16, 16, 4)
    assert size_of(dialogue("meeting"), 1).summaries == 0


def test_a_domain_words_what_comes_before_and_after_the_dialogue():
    text = read_domain_text("meeting").replace(
        "[texts]",
        '[texts]\nsummary_prefix = "Here is what $names wrote."\n'
        'summary_postfix = "What should $me know?"',
    )
    game = dialogue("meeting", summaries=True)
    object.__setattr__(game, "domain", parse_domain(text))
    state = say(game, game.start(), "calm", "Monday?")
    asked = game.view(state, "referee").rules
    first, second = game.names
    words = str(asked)
    assert f"Here is what {first} and {second} wrote." in words
    assert words.index("Here is what") < words.index("Monday?") < words.index("What should")
    assert f"What should {second} know?" in words
    with pytest.raises(InvalidGame, match=r"texts.summary_postfix: the place \$values"):
        parse_domain(text.replace("$me know", "$values know"))
    with pytest.raises(InvalidGame, match=r"there is no key texts\.sumary"):
        parse_domain(text.replace("summary_prefix", "sumary"))


def test_a_run_by_summaries_reports_them_and_is_repeated_from_its_record(tmp_path):
    done = type_command(
        tmp_path,
        "meeting",
        "--settings",
        "observe=summary",
        "--games",
        "2",
        "--settings",
        "replies=2",
        "--settings",
        "early_end=true",
    )
    assert done.exit_code == 0, done.output
    path = next(tmp_path.glob("steer-*"))
    page = (path / "report.html").read_text("utf-8")
    assert "What a speaker observes is a summary" in page
    run = br.load_run(path)
    heard = [row["last_heard"] for row in run.frames["policy"]]
    assert any(text.startswith("summary: ") and "proposed" in text for text in heard)
    entries = [
        json.loads(line)
        for line in next(tmp_path.glob("dialogues-*/answers.jsonl")).read_text().splitlines()
    ]
    summaries = [entry for entry in entries if entry["by"] == "summary by simulated"]
    assert len(summaries) > 4
    replayed = run.replay()
    assert replayed.same == len(entries)
    assert replayed.different == ()
    with pytest.raises(UsageError, match="by cfr or imitation, without `observe` summary"):
        br.advise("meeting", [], {"values": {"Monday": 3}}, run=path)


def test_imitation_learns_from_summaries(tmp_path, monkeypatch):
    from bestresponse.studies.steer import session
    from bestresponse.studies.steer.imitation import Training

    monkeypatch.setattr(session, "Training", lambda seed: Training(steps=50, hidden=8, seed=seed))
    settings = {"solver": "imitation", "games": 3, "held_out": 2, "output_dir": tmp_path}
    learnt = {
        observe: br.steer("meeting", observe=observe, **settings).frames["learning"][0]
        for observe in ("transcript", "summary")
    }
    assert learnt["summary"]["situations"] < learnt["transcript"]["situations"]
    assert learnt["summary"]["numbers"] == 768


def test_prompt_search_reads_no_observation():
    with pytest.raises(SettingError, match="observe: it belongs to cfr"):
        SteerConfig("meeting", solver="psro", observe="summary")
