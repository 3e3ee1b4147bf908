"""`bestresponse steer` from settings to files, without a language model."""

import json

import pytest
from steer_command import count_calls, find_figures, steer, summary
from typer.testing import CliRunner
from unhashed import add_hashes, drop_hashes

from bestresponse.cli.app import app
from bestresponse.core.errors import InvalidGame, StoreError, TooLarge, UsageError


@pytest.mark.parametrize(
    ("replies", "wordings", "most"),
    [(1, 1, 140), (1, 2, 536), pytest.param(2, 1, 2300, marks=pytest.mark.soak)],
)
def test_the_calls_made_are_counted_and_a_second_run_makes_none(tmp_path, replies, wordings, most):
    words = (
        "meeting",
        "--model",
        "simulated",
        "--settings",
        f"replies={replies}",
        "--settings",
        f"wordings={wordings}",
    )
    first = summary(tmp_path, *words)
    assert 0 < first["calls"] <= most
    again = summary(tmp_path, *words, "--iterations", "20")
    assert again["calls"] == 0
    assert again["games"][0]["nodes"] == first["games"][0]["nodes"]


def test_a_run_leaves_a_report_and_its_figures(tmp_path):
    found = summary(
        tmp_path,
        "debate",
        "--games",
        "4",
        "--settings",
        "wordings=2",
        "--follow",
        "--settings",
        "second=score",
    )
    (overview,) = found["overview"]
    recorded, fresh = find_figures(found, "recorded texts"), find_figures(found, "fresh texts")
    assert overview["solved_games"] == recorded["gain"]["n"] == fresh["gain"]["n"] == 4
    assert recorded["nash_conv"]["estimate"] < 0.01
    assert recorded["loss"] < 0.01
    assert recorded["gain"]["estimate"] == recorded["credible_gain"]["estimate"]
    assert found["agreement"][0]["same"] == 1.0
    (follow,) = found["following"]
    assert 0.7 < follow["rate"]["low"] <= follow["rate"]["estimate"] <= 1
    assert (follow["classifier"], follow["held_out"]) == ("simulated", False)
    assert (follow["labelled"], follow["labelled_right"]) == (8, 1.0)
    right = sum(
        row["messages"]
        for row in found["named"]
        if row["told"] == row["named"] and not row["labelled"]
    )
    judged = sum(row["messages"] for row in found["named"] if not row["labelled"])
    assert judged == follow["judged"]
    assert right / judged == pytest.approx(follow["rate"]["estimate"])
    assert (overview["plays"], overview["void_plays"]) == (4 * 4 * 3, 0)
    assert overview["known"] + overview["nearest"] + overview["no_advice"] == 4 * 4 * 2
    assert found["calls"] == found["costs"][0]["calls"]
    (folder,) = tmp_path.glob("steer-*")
    assert {path.name for path in folder.iterdir()} >= {
        "manifest.json",
        "report.html",
        "report.json",
        "summary.json",
    }
    assert "Steering simulated in debate dialogues" in (folder / "report.html").read_text()


def test_the_progress_ends_with_the_last_game(tmp_path):
    done = CliRunner().invoke(
        app, ["steer", "debate", "--games", "2", "--fresh", "0", "--output-dir", str(tmp_path)]
    )
    assert [line for line in done.stderr.splitlines() if line.startswith("steps")][
        -1
    ] == "steps: 2 of 2"


def test_psro_from_the_command_line(tmp_path):
    words = ("fruit", "--solver", "psro", "--iterations", "2", "--plays", "6", "--seed", "2")
    found = summary(tmp_path, *words)
    assert found["calls"] > 0
    assert list_manners(found, "player 1")[:4] == ["calm", "assertive", "submissive", "any"]
    table = find_figures(found, "plays of the search")
    assert table["nash_conv"] < 1e-6 < table["unguided_nash_conv"]
    assert found["iterations"][0]["new_prompt_mass"] == 0
    assert find_figures(found, "held-out games")["gain"]["n"] == 20
    assert summary(tmp_path, *words)["calls"] == 0


def test_every_iteration_of_psro_tells_its_equilibrium_over_all_prompts(tmp_path):
    words = (
        "fruit",
        "--solver",
        "psro",
        "--settings",
        "meta=replicator",
        "--settings",
        "swap_seats=true",
        "--seed",
        "3",
    )
    found = summary(
        tmp_path, *words, "--iterations", "2", "--plays", "20", "--settings", "held_out=0"
    )
    rows = [row for row in found["manners"] if row["player"] == "player 1"]
    steps = [[row for row in rows if row["iteration"] == number] for number in range(3)]
    assert [row["manner"] for row in steps[0]] == ["calm", "assertive", "submissive", "any"]
    assert all(sum(row["probability"] for row in step) == pytest.approx(1) for step in steps)
    (new,) = [row for row in steps[1] if row["entered"] == 1]
    assert new["manner"] not in ("calm", "assertive", "submissive", "any")
    (folder,) = tmp_path.glob("steer-*")
    assert (
        "The equilibrium of every iteration over all manners"
        in (folder / "report.html").read_text()
    )


def list_manners(found, player):
    return [row["manner"] for row in found["solution"] if row["player"] == player]


def test_a_budget_is_checked_before_the_first_call(tmp_path):
    with pytest.raises(UsageError, match="this could take 68 calls, more than the 10 allowed"):
        steer(tmp_path, "meeting", "--budget", "10 calls")
    with pytest.raises(UsageError, match="tokens, more than the 100 allowed"):
        steer(tmp_path, "meeting", "--budget", "100 tokens")
    with pytest.raises(TooLarge, match="more than 20; choose fewer"):
        steer(tmp_path, "meeting", "--settings", "max_nodes=20")
    assert count_calls(tmp_path) == 0


def test_a_tree_cut_short_is_kept_and_the_same_command_goes_on(tmp_path):
    cut = steer(
        tmp_path, "meeting", "--budget", "12 calls", "--settings", "cut_short=true", "--json"
    )
    assert cut.exit_code == 1
    assert count_calls(tmp_path) == 12
    assert "stopped" in cut.stderr
    assert json.loads(cut.stdout)["overview"][0]["solved_games"] == 1
    rest = summary(tmp_path, "meeting")
    assert 0 < rest["calls"] <= 68 - 12
    assert rest["costs"][0]["calls"] == rest["calls"] + 12


def test_a_dry_run_says_what_it_would_take(tmp_path):
    assert (
        "at most 652 calls"
        in steer(tmp_path, "meeting", "--settings", "replies=2", "--dry-run").stdout
    )
    assert (
        "at most 596 calls"
        in steer(tmp_path, "meeting", "--settings", "replies=2", "--fresh", "0", "--dry-run").stdout
    )


def run_again(tmp_path, command, *words):
    (folder,) = tmp_path.glob("steer-*")
    return CliRunner().invoke(app, [command, str(folder), *words], catch_exceptions=False)


@pytest.mark.parametrize(
    "words",
    [
        (
            "meeting",
            "--games",
            "2",
            "--follow",
            "--settings",
            "second=score",
            "--iterations",
            "100",
        ),
        (
            "fruit",
            "--solver",
            "psro",
            "--iterations",
            "1",
            "--plays",
            "3",
            "--settings",
            "held_out=2",
        ),
        ("email", "--fresh", "1", "--iterations", "20"),
    ],
)
def test_a_stored_run_is_reported_and_replayed_without_a_model(tmp_path, words):
    told = summary(tmp_path, *words)
    (folder,) = tmp_path.glob("steer-*")
    page = (folder / "report.html").read_text()
    (folder / "report.html").unlink()
    report = run_again(tmp_path, "report")
    assert report.exit_code == 0, report.stderr
    assert report.stdout.startswith("measured on")
    assert (folder / "report.html").read_text() == page
    assert json.loads((folder / "summary.json").read_text())["costs"][0]["calls"] == told["calls"]
    replay = json.loads(run_again(tmp_path, "replay", "--json").stdout)
    (answers,) = tmp_path.glob("dialogues-*/answers.jsonl")
    assert (replay["same"], replay["different"]) == (len(answers.read_text().splitlines()), [])


def test_a_replay_tells_what_differs(tmp_path):
    summary(tmp_path, "meeting")
    (calls,) = tmp_path.glob("dialogues-*/calls.jsonl")
    changed = drop_hashes(calls.read_text()).replace(
        '"text":"{\\"agreed\\": true', '"text":"{\\"agreed\\": maybe'
    )
    calls.write_bytes(add_hashes(changed))
    replay = run_again(tmp_path, "replay")
    assert replay.exit_code == 1
    assert "were the same" in replay.stdout
    assert "None, recorded '{" in replay.stdout


def test_a_run_without_its_answers_says_where_they_were(tmp_path):
    summary(tmp_path, "meeting")
    (book,) = tmp_path.glob("dialogues-*")
    book.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=r"were kept in .*dialogues-meeting.*, which is not there"):
        run_again(tmp_path, "report")


def test_a_run_that_lacks_answers_says_so_and_asks_for_them_again(tmp_path):
    words = ("meeting", "--games", "3", "--iterations", "10", "--fresh", "0")
    whole = summary(tmp_path, *words)
    (book,) = tmp_path.glob("dialogues-*/answers.jsonl")
    lines = book.read_text("utf-8").splitlines(keepends=True)
    book.write_text("".join(lines[: len(lines) // 2]), "utf-8")
    report = run_again(tmp_path, "report")
    assert report.exit_code == 1
    assert "stopped: not every answer is on record; the command of the run" in report.stderr
    assert "the same command plays what is missing" in report.stderr
    again = summary(tmp_path, *words)
    assert (again["metrics"], again["overview"]) == (whole["metrics"], whole["overview"])


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    from bestresponse.players.dialogue.simulated import SimulatedSpeaker

    class Dying(SimulatedSpeaker):
        left = 100

        def complete(self, request):
            Dying.left -= 1
            if Dying.left < 0:
                raise KeyboardInterrupt
            return super().complete(request)

    words = ("meeting", "--games", "2", "--settings", "wordings=2", "--iterations", "100")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bestresponse.studies.steer.config.SimulatedSpeaker", Dying)
        killed = CliRunner().invoke(app, ["steer", *words, "--output-dir", str(tmp_path)])
    assert killed.exit_code != 0
    (folder,) = tmp_path.glob("steer-*")
    assert not (folder / "finished").exists()
    rest = summary(tmp_path, *words)
    whole = summary(tmp_path / "elsewhere", *words)
    assert rest["calls"] == whole["calls"] - 100
    assert rest["metrics"] == whole["metrics"]
    assert (folder / "finished").exists()


def test_iterations_change_the_policy_of_cfr_and_what_is_followed(tmp_path):
    words = ("debate", "--games", "3", "--seed", "5", "--fresh", "0", "--policy", "cfr")
    runs = [summary(tmp_path, *words, "--iterations", number) for number in ("1", "10", "1000")]
    tables = [{row["policy"]: row for row in found["policies"]} for found in runs]
    assert list(tables[0]) == ["cfr+ at 1 iteration", "credible", "unguided"]
    assert next(iter(tables[2])) == "cfr+ at 1,000 iterations"
    convs = [next(iter(rows.values()))["nash_conv"]["estimate"] for rows in tables]
    assert convs[0] > 0.3 > 0.05 > convs[1] > convs[2]
    assert convs[2] == pytest.approx(0, abs=1e-4)
    for found, rows in zip(runs, tables, strict=True):
        recorded = find_figures(found, "recorded texts")
        first = next(iter(rows.values()))
        assert recorded["cfr_nash_conv"] == recorded["nash_conv"]
        assert recorded["nash_conv"]["estimate"] == first["nash_conv"]["estimate"]
        assert recorded["gain"]["estimate"] == recorded["cfr_gain"]["estimate"]
        assert first["gain"]["estimate"] == recorded["gain"]["estimate"]
        assert (first["followed"], first["published_nash_conv"], first["published_gain"]) == (
            "yes",
            0.024,
            0.106,
        )
        # What CFR learns does not touch the other policies.
        assert rows["credible"] == tables[0]["credible"]


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("cfr", "Solved by counterfactual regret minimisation (cfr+, 20 iterations)"),
        ("credible", "Solved by best replies at every information set"),
    ],
)
def test_the_report_says_by_what_it_was_solved(tmp_path, policy, words):
    summary(tmp_path, "debate", "--fresh", "0", "--policy", policy, "--iterations", "20")
    (folder,) = tmp_path.glob("steer-*")
    page = (folder / "report.html").read_text()
    assert words in page
    assert ("Solved by counterfactual regret minimisation" in page) == (policy == "cfr")


def test_a_domain_from_a_file(tmp_path):
    from importlib.resources import files

    text = files("bestresponse.games.dialogue.domains").joinpath("meeting.toml").read_text("utf-8")
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace('name = "meeting"', 'name = "mine"'))
    assert summary(tmp_path, str(mine))["overview"][0]["domain"] == "mine"
    report = run_again(tmp_path, "report")
    assert report.exit_code == 0
    reworded = text.replace("You are $me. ", "Your name is $me; ")
    mine.write_text(reworded)
    with pytest.raises(UsageError, match="has others; name another model"):
        steer(tmp_path, str(mine))
    mine.write_text(text.replace("[texts]", "[text]"))
    with pytest.raises(InvalidGame, match=r"mine\.toml: texts\.task is missing"):
        steer(tmp_path, str(mine))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("meetings",), "there is no domain named meetings.*Did you mean meeting"),
        (("meeting", "--solver", "magic"), "expected one of cfr, psro"),
        (
            ("meeting", "--settings", "replies=0"),
            "replies: expected a whole number of at least 1, got 0",
        ),
        (
            ("meeting", "--settings", "actions=colour"),
            "has no actions named 'colour'; expected tone, day",
        ),
        (("meeting", "--settings", "wordings=2", "--temperature", "0"), "need one above 0"),
        (("none.toml",), "there is no file none.toml"),
    ],
)
def test_wrong_requests_end_in_a_sentence(tmp_path, words, complaint):
    with pytest.raises(UsageError, match=complaint):
        steer(tmp_path, *words)
