"""A person takes part in a dialogue at the terminal; what it writes stands in place of a model's,
recorded as its."""

import json

import pytest


@pytest.fixture
def play(bestresponse, tmp_path):
    """Type `play` and more."""
    return lambda *words, typed="": bestresponse(
        "play", *words, "--output-dir", tmp_path, typed=typed
    )


def rows(tmp_path, name):
    (file,) = tmp_path.glob(f"play-*/{name}.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_a_person_talks_with_the_simulated_speaker_until_they_agree(play, tmp_path):
    said = "How about Monday?\nYes, that is fine.\n"
    done = play("meeting", "--seed", 3, "--seat", "referee=simulated", typed=said)
    assert done.returncode == 0, done.stderr
    assert "You are Dmitri. The days on which you are free" in done.stdout
    assert "> How about Monday?" in done.stdout
    # The simulated speaker accepts Monday, worth 13 to the person and 5 to it.
    assert "player 1 (me): 13\n  player 2 (simulated): 5" in done.stdout


def test_a_person_offers_is_asked_before_it_accepts_and_moves_decide(play, tmp_path):
    offered = "40 is a fair price.\nmake an offer\n40\n"
    declined = "No, never 7!\naccept\nno\n"
    done = play("bargaining", "--seed", 4, typed=offered + declined + "Words.\naccept\nyes\n")
    assert done.returncode == 0, done.stderr
    assert "What it is worth to you: 32" in done.stdout
    assert done.stdout.count("You are about to accept: 0. Nothing can be changed") == 2
    # The buyer's first offer is 0, for a thing that is worth 32 to the person and 59 to the buyer.
    assert "player 1 (me): -32\n  player 2 (simulated): 59" in done.stdout
    (record,) = rows(tmp_path, "records")
    assert "No, never 7!" not in json.dumps(record)


def test_a_persons_message_is_recorded_as_a_persons(play, tmp_path):
    play("debate", "--seat", "player 2=me", "--seed", 1, typed="I know better.\nAs I said.\n")
    (manifest,) = tmp_path.glob("play-*/manifest.json")
    assert json.loads(manifest.read_text())["config"]["seats"] == {
        "player 1": "simulated",
        "player 2": "me",
        "referee": "simulated",
    }
    (record,) = rows(tmp_path, "records")
    assert "I know better." in json.dumps(record)
    assert record["record"]["players"]["player 2"] == "me"


def test_a_dialogue_that_was_left_goes_on(play, tmp_path):
    left = play("meeting", "--seed", 5, typed="quit\n")
    assert "you left the game" in left.stdout
    assert play("meeting", "--seed", 5, typed="Bye.\nwalk away\nyes\n").returncode == 0


def test_with_three_speakers_a_person_says_whom_it_addresses(play, tmp_path):
    done = play("email", "--seed", 2, typed="1\nI propose the lake house.\n2\nYes, agreed.\n")
    assert done.returncode == 0, done.stderr
    assert "player 1, choose any, to" in done.stdout
    assert "calm" not in done.stdout.partition("Nobody has written yet.")[2].partition(">")[0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["meeting", "--rounds", "3"],
            "meeting dialogue with offers cannot be repeated, because not all choose once",
        ),
        (
            ["meeting", "--seat", "referee=me"],
            "the referee of a dialogue is a model, or `simulated`",
        ),
        (
            ["debate", "--seat", "Ada=me"],
            "there is no seat 'Ada'; expected one of player 1, player 2, referee",
        ),
        (["mine.toml"], "there is no file mine.toml"),
    ],
)
def test_wrong_requests_end_in_a_sentence(play, tmp_path, words, sentence):
    done = play(*words)
    assert done.returncode == 2
    assert sentence in done.stderr
