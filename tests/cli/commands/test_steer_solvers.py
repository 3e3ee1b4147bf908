"""`bestresponse steer`: games that a model writes, searches in prompt space and their budgets,
symmetric games."""

import json

import pytest
from steer_command import count_calls, steer, summary

from bestresponse.core.errors import UsageError


def test_a_model_writes_the_games_once(tmp_path):
    words = (
        "meeting",
        "--settings",
        "scenarios_by=simulated",
        "--games",
        "5",
        "--fresh",
        "0",
        "--iterations",
        "50",
    )
    # 36 calls a tree at most, and up to 6 questions for the scenarios.
    assert "at most 186 calls" in steer(tmp_path, *words, "--dry-run").stdout
    first = summary(tmp_path, *words)
    assert first["rejected_scenarios"] == []
    drawn = summary(tmp_path, "meeting", "--games", "5", "--fresh", "0", "--iterations", "50")
    names = [[game["scenario"][0]["names"] for game in found["games"]] for found in (first, drawn)]
    assert all(one not in names[1] for one in names[0])
    again = summary(tmp_path, *words)
    assert again["calls"] == 0
    assert again["games"] == first["games"]


def test_a_person_writes_a_message_in_place_of_the_models(tmp_path):
    words = ("meeting", "--fresh", "0")
    first = summary(tmp_path, *words)
    assert first["overview"][0]["by_people"] == 0
    (answers,) = tmp_path.glob("dialogues-meeting-*/answers.jsonl")
    told = next(
        line
        for line in map(json.loads, answers.read_text().splitlines())
        if "propose" in line["text"]
    )
    with answers.open("a") as file:
        file.write(json.dumps({**told, "text": "Could it be Friday?", "by": "person"}) + "\n")
    again = summary(tmp_path, *words)
    assert again["overview"][0]["by_people"] == 1
    # Only what follows that message is asked: 4 answers and their rulings at most.
    assert 0 < again["calls"] <= 8
    assert summary(tmp_path, *words)["calls"] == 0


def list_manners(found, player):
    return [row["manner"] for row in found["solution"] if row["player"] == player]


SEARCH = (
    "meeting",
    "--solver",
    "psro",
    "--iterations",
    "1",
    "--plays",
    "6",
    "--settings",
    "held_out=0",
)


def test_the_budget_of_a_search_is_checked_before_the_first_call(tmp_path):
    # 12 plays of 16 profiles (4 + 16 + 16 calls), 6 plays of 3 candidates for each speaker (3 + 2
    # calls), 2 questions.
    with pytest.raises(UsageError, match="this could take 524 calls, more than the 200 allowed"):
        steer(tmp_path, *SEARCH, "--budget", "200 calls")
    assert 0 < summary(tmp_path, *SEARCH, "--budget", "524 calls")["calls"] <= 524
    assert summary(tmp_path, *SEARCH, "--budget", "1 calls")["calls"] == 0


def test_a_search_that_is_cut_short_reports_its_last_whole_table(tmp_path):
    cut = steer(
        tmp_path, *SEARCH, "--budget", "100 calls", "--settings", "cut_short=true", "--json"
    )
    assert cut.exit_code == 1
    found = json.loads(cut.stdout)
    assert count_calls(tmp_path) == 100
    assert "100" in cut.stderr
    assert "not every answer is on record" in found["overview"][0]["stopped"]
    assert list_manners(found, "player 1") == ["calm", "assertive", "submissive", "any"]
    assert summary(tmp_path, *SEARCH)["overview"][0]["stopped"] is None


def test_speakers_that_swap_seats_share_their_manners(tmp_path):
    found = summary(tmp_path, *SEARCH, "--settings", "swap_seats=true")
    assert list_manners(found, "player 1") == list_manners(found, "player 2")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ("meeting", "--settings", "swap_seats=true"),
            "--settings swap_seats: it belongs to the solver psro",
        ),
        ((*SEARCH, "--follow"), "follow: it belongs to cfr"),
        ((*SEARCH, "--settings", "wordings=2"), "wordings: it belongs to cfr"),
        ((*SEARCH, "--settings", "actions=day"), "the actions 'day' cannot be added to"),
    ],
)
def test_wrong_requests_end_in_a_sentence(tmp_path, words, complaint):
    with pytest.raises(UsageError, match=complaint):
        steer(tmp_path, *words)
