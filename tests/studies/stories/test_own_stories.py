"""Stories of one's own: texts with games beside them are measured like those that come along."""

import json

import pytest

import bestresponse as br
from bestresponse.core.errors import InvalidGame, SettingError, UsageError
from bestresponse.formal.formalize.plan import library
from bestresponse.games.logic.tables import format_game
from bestresponse.games.lookup import find_game
from bestresponse.studies.stories.study import StoriesConfig, estimate_calls

PROGRAMS = {example.name: example.program for example in library()}


@pytest.fixture
def folder(tmp_path):
    """Two stories with the prisoner's dilemma as their game, once as a program and once as a
    tree."""
    place = tmp_path / "mine"
    place.mkdir()
    (place / "cell.txt").write_text("Ada and Ben sit in separate rooms.\n")
    (place / "cell.pl").write_text(PROGRAMS["prisoners_dilemma"])
    (place / "loan.txt").write_text("Ines lends, Jonas pays back or keeps it.\n")
    (place / "loan.efg").write_text(format_game(find_game(place / "cell.pl").solvable(), ".efg"))
    return place


def test_a_folder_of_texts_with_games_is_a_benchmark(folder, tmp_path):
    def answer(prompt):
        return (
            f"```\n{PROGRAMS['trust' if 'Jonas pays back' in prompt else 'prisoners_dilemma']}\n```"
        )

    run = br.stories.bench(
        answer, stories=folder, form="program", attempts=1, output_dir=tmp_path / "runs"
    )
    rows = {row["story"]: row["verdict"] for row in run.frames["programs"]}
    assert rows == {"cell": "same tree", "loan": "different"}
    shares = {row["verdict"]: row["programs"] for row in run.frames["verdicts"]}
    assert shares == {
        "same tree": 1,
        "same reduced form, other tree": 0,
        "same order of payoffs": 0,
        "different": 1,
        "no game": 0,
    }


def test_a_run_keeps_texts_and_games_and_opens_no_folder_again(folder):
    config = StoriesConfig("m", stories=folder)
    kept = json.loads(json.dumps(config.to_json()))["stories"]
    assert [entry["name"] for entry in kept] == ["cell", "loan"]
    assert StoriesConfig("m", stories=kept).known_stories[0].table == config.known_stories[0].table


def test_a_text_without_a_game_or_a_folder_without_texts_is_refused(folder, tmp_path):
    (folder / "lost.txt").write_text("Nobody knows.")
    with pytest.raises(
        UsageError, match=r"has no game beside it; expected lost\.efg, lost\.nfg or lost\.pl"
    ):
        StoriesConfig("m", stories=folder)
    with pytest.raises(SettingError, match="there is no such folder"):
        StoriesConfig("m", stories=tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no stories"):
        StoriesConfig("m", stories=tmp_path / "empty")
    with pytest.raises(SettingError, match=r"expected a folder, or stories .* got 'pd'"):
        StoriesConfig("m", stories=["pd"])


WORDS = """
[[story]]
id = "cell"
game = "prisoners-dilemma"
numeric = false
players = ["ada", "ben"]
moves = ["Silent", "Betray"]
payoffs = "3,3 1,4 4,1 2,2"
text = "Ada and Ben would rather betray."

[[story]]
id = "loan"
game = "loan"
numeric = false
players = ["ada", "ben"]
moves = ["Silent", "Betray"]
payoffs = "2,2 0,3 3,0 1,1"
orders = ["ada: 3 > 1 > 4"]
text = "Ada prefers the third end to the first, and that to the fourth."
"""


def test_stories_of_a_file_are_judged_by_what_they_tell_also_when_the_run_is_opened_again(tmp_path):
    # Neither story has numbers: the payoffs 3, 0, 5, 1 of the program are other numbers than the
    # ranks, and right.
    (tmp_path / "words.toml").write_text(WORDS)
    answer = f"```\n{PROGRAMS['prisoners_dilemma']}\n```"
    run = br.stories.bench(
        lambda prompt: answer,
        stories=tmp_path / "words.toml",
        form="program",
        output_dir=tmp_path / "runs",
    )
    rows = [
        (row["story"], row["game"], row["numeric"], row["exact"], row["meaning"])
        for row in run.frames["programs"]
    ]
    assert rows == [
        ("cell", "prisoners-dilemma", False, False, True),
        ("loan", "loan", False, False, True),
    ]
    config = StoriesConfig("m", stories=tmp_path / "words.toml")
    kept = json.loads(json.dumps(config.to_json()))["stories"]
    assert StoriesConfig("m", stories=kept).known_stories == config.known_stories


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('id = "loan"', 'id = "cell"', "2 are called cell; expected different names"),
        # Ada gets 3 at the third end and 2 at the first.
        (
            "3 > 1 > 4",
            "1 > 3",
            r"story loan is .* wrong: ada should have 1 > 3 \(numbers of ends\), but it is 2 and 3",
        ),
        ("ada: 3", "Eve: 3", "story loan is incomplete or wrong"),
    ],
)
def test_a_file_whose_stories_cannot_be_judged_is_refused_before_any_model_is_asked(
    tmp_path, old, new, why
):
    (tmp_path / "words.toml").write_text(WORDS.replace(old, new))
    with pytest.raises((InvalidGame, SettingError), match=why):
        StoriesConfig("m", stories=tmp_path / "words.toml")


def test_the_estimate_counts_calls_at_most_and_the_tokens_of_one_call_each(folder):
    estimate = estimate_calls(StoriesConfig("m", stories=folder, attempts=5, samples=3))
    assert estimate.calls == {"m": 30}
    assert estimate.reply_tokens == {"m": 6 * 350}
    assert 6 * 1_150 <= estimate.prompt_tokens["m"] <= 6 * 1_550  # as seen with fifty stories


def test_recorded_games_of_any_method_are_compared_with_the_true_ones(folder):
    for story, name, text in (
        ("cell", "1.efg", (folder / "loan.efg").read_text()),
        ("cell", "2.pl", "nothing."),
        ("loan", "1.pl", PROGRAMS["trust"]),
    ):
        place = folder / "recorded" / "chain" / story
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
        (place / "notes.txt").write_text("what the method thought: no game")
    (table,) = br.reproduce("stories", folder).tables
    assert table.rows[0][:8] == ("chain", 2, 3, 1, 0, 0, 1, 1)
    assert table.rows[0][8].estimate == pytest.approx(1 / 3)
    (folder / "recorded" / "chain" / "else").mkdir()
    (folder / "recorded" / "chain" / "else" / "1.pl").write_text("nothing.")
    with pytest.raises(InvalidGame, match=r"there is no story else\.txt"):
        br.reproduce("stories", folder)
