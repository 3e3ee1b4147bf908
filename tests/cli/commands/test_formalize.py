"""`bestresponse formalize`: from a story to files, a table and equilibria; and what is left when it
fails."""

import io
import json
import sys

import pytest

from bestresponse.cli.app import main
from bestresponse.formal.formalize.plan import library

STORY = (
    "Ann and Bob each share or grab. Both share: 3 each. Both grab: 1 each. A grabber against a"
    " sharer gets 5 to 0."
)
GOOD = next(e.program for e in library() if e.name == "prisoners_dilemma")
HUNT = GOOD.replace("'Betray', 'Silent', 5, 0", "'Betray', 'Silent', 2, 0").replace(
    "'Betray', 0, 5", "'Betray', 0, 2"
)


def fenced(program):
    return f"```prolog\n{program}\n```"


class Script:
    """Answers in order; remembers what was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def __call__(self, body):
        self.asked.append(body["messages"])
        return self.answers.pop(0)


@pytest.fixture
def run(monkeypatch, capsys, serve, tmp_path):
    """Formalize `story` with a served model; exit code, what was printed, and the folder."""
    monkeypatch.chdir(tmp_path)

    def typed(*words, story=STORY, script=None, stdin=""):
        (tmp_path / "story.txt").write_text(story)
        model = serve(script or Script()).model
        line = [
            "bestresponse",
            "formalize",
            *words,
            "--model",
            model,
            "--engine",
            "embedded",
            "--output-dir",
            "runs",
        ]
        monkeypatch.setattr(sys, "argv", line)
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        return end.value.code or 0, shown.out, shown.err

    return typed


def test_a_story_becomes_a_program_a_table_and_equilibria(run, tmp_path):
    code, out, err = run("story.txt", "-o", "game.pl", script=Script(fenced(GOOD)))
    assert code == 0
    written = (tmp_path / "game.pl").read_text()
    assert written.startswith(
        "% There are 2 players: ada and ben.\n% ada chooses Silent or Betray.\n"
    )
    assert written.strip().endswith(GOOD)
    assert "prisoners-dilemma" in out
    assert "- If ada chooses Silent and ben chooses Betray, ada gets 0, ben gets 5." in out
    assert "Equilibria" in out
    assert err.startswith("calls: about 1, at most ")
    assert "attempts: 1; calls: 1, 110 tokens" in err
    assert "wrote game.pl" in err


def test_as_json_it_is_one_object_with_program_table_and_solution(run):
    code, out, _ = run("story.txt", "--json", script=Script(fenced(GOOD)))
    found = json.loads(out)
    assert code == 0
    assert found["ok"]
    assert found["files"] == ["story.pl"]
    assert found["attempts"] == 1
    assert found["tokens"] == {"prompt": 100, "completion": 10}
    assert found["table"]["players"] == ["ada", "ben"]
    assert found["solution"]["equilibria"][0]["kind"] == "pure"


def test_faults_are_repaired_with_feedback(run):
    script = Script(fenced(GOOD.replace("initial(s0).", "initial(s0)", 1)), fenced(GOOD))
    code, _, err = run("story.txt", script=script)
    assert code == 0
    assert "What is wrong:" in script.asked[1][1]["content"]
    assert "attempt 1: line 3" in err


def test_what_was_written_before_a_run_is_stopped_is_kept(run, tmp_path):
    nearly = GOOD.replace("initial(s0).", "initial(s0)", 1)
    code, *_ = run(
        "story.txt",
        "-o",
        "game.pl",
        "--budget",
        "1 call",
        script=Script(fenced(nearly), fenced(GOOD)),
    )
    assert code != 0
    assert (tmp_path / "game.partial.pl").read_text().strip() == nearly.strip()
    assert "line 3, column 1" in (tmp_path / "game.messages.txt").read_text()


def test_what_is_left_of_a_failure_is_a_partial_program_and_its_messages(run, tmp_path):
    nearly = GOOD.replace("payoff('Betray', 'Betray', 1, 1).", "")
    code, _, err = run(
        "story.txt", "-o", "game.pl", "--attempts", "2", script=Script(fenced(nearly), "sorry")
    )
    assert code == 1
    assert not (tmp_path / "game.pl").exists()
    assert (tmp_path / "game.partial.pl").read_text().strip() == nearly.strip()
    assert "has no payoff after ada: Betray" in (tmp_path / "game.messages.txt").read_text()
    assert "is still no game" in err


def test_prose_leaves_the_answer_as_a_comment(run, tmp_path):
    code, _, err = run(
        "story.txt", "-o", "game.pl", "--attempts", "1", script=Script("What a story!\nReally.")
    )
    assert code == 1
    assert (tmp_path / "game.partial.pl").read_text() == "% What a story!\n% Really.\n"
    assert "has written no program: it answered in prose" in err


def test_a_later_success_removes_what_a_failure_left(run, tmp_path):
    run("story.txt", "-o", "game.pl", "--attempts", "1", script=Script("no"))
    run(
        "story.txt",
        "-o",
        "game.pl",
        "--attempts",
        "1",
        "--cache",
        "off",
        script=Script(fenced(GOOD)),
    )
    assert not (tmp_path / "game.partial.pl").exists()
    assert not (tmp_path / "game.messages.txt").exists()


def test_bad_stories_are_refused_before_any_call(run, tmp_path):
    script = Script()
    assert run("story.txt", story=" \n", script=script)[0] == 2
    assert run("nothing.txt", script=script)[0] == 2
    assert run(".", script=script)[0] == 2
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    assert run("bytes.txt", script=script)[0] == 2
    assert run("story.txt", "-o", "game.txt", script=script)[0] == 2
    assert run("story.txt", "--form", "poem", script=script)[0] == 2
    assert script.asked == []


def test_a_story_without_a_game_is_said_plainly_and_leaves_nothing(run, tmp_path):
    code, _, err = run(
        "story.txt", story="Melt the butter.", script=Script("Hm.", "NO GAME: a recipe.")
    )
    assert code == 1
    assert "finds no game in the story: a recipe." in err
    assert sorted(path.name for path in tmp_path.glob("story*")) == ["story.txt"]


ASKING = "% QUESTION: Do they talk before? ASSUMED: no\n" + GOOD


def test_an_open_question_is_reported_with_the_assumption_and_exit_code_1(run, tmp_path):
    code, out, err = run("story.txt", "-o", "game.pl", script=Script(fenced(ASKING)))
    assert code == 1
    assert "the story leaves open: Do they talk before? (assumed: no)" in err
    assert (tmp_path / "game.pl").read_text().strip().endswith(ASKING)
    code, out, _ = run("story.txt", "-o", "game.pl", "--json", script=Script(fenced(ASKING)))
    assert json.loads(out)["questions"] == [{"question": "Do they talk before?", "assumed": "no"}]


def test_interactive_asks_what_is_open_and_the_answer_goes_to_the_model(run):
    script = Script(fenced(ASKING), fenced(HUNT))
    code, out, _ = run(
        "story.txt", "-i", "-o", "game.pl", script=script, stdin="yes, for an hour\n\n"
    )
    assert code == 0
    assert "Do they talk before? (an empty line: no)" in out
    assert "Do they talk before? yes, for an hour" in script.asked[1][1]["content"]
    code, _, _ = run(
        "story.txt",
        "-i",
        "-o",
        "b.pl",
        "--cache",
        "off",
        script=Script(fenced(ASKING)),
        stdin="\n\n",
    )
    assert code == 0


def test_a_story_is_read_from_standard_input(run, tmp_path):
    code, _, _ = run("-", stdin=STORY, script=Script(fenced(GOOD)))
    assert code == 0
    assert (tmp_path / "game.pl").exists()


def test_candidates_vote_and_the_game_told_back_is_compared(run):
    differs = "DIFFERS: Bob is called Ben."
    script = Script(fenced(HUNT), fenced(GOOD), fenced(GOOD), differs, fenced(GOOD), differs)
    code, out, _ = run(
        "story.txt", "--candidates", "3", "--settings", "back_check=true", "--json", script=script
    )
    found = json.loads(out)
    assert code == 1
    assert found["votes"] == [2, 1]
    assert found["names"] == ["prisoners-dilemma"]
    assert found["back_check"] == {"agrees": False, "why": "Bob is called Ben."}


def test_what_a_check_finds_goes_back_to_the_writer_once(run):
    script = Script(fenced(HUNT), "DIFFERS: silence pays 3.", fenced(GOOD), "AGREES")
    code, out, _ = run("story.txt", "--settings", "back_check=true", "--json", script=script)
    found = json.loads(out)
    assert code == 0
    assert found["names"] == ["prisoners-dilemma"]
    assert found["back_check"] == {"agrees": True, "why": ""}
    assert "The game differs from the story: silence pays 3." in script.asked[2][1]["content"]


def test_a_repair_that_cannot_be_paid_leaves_the_game_and_what_was_found(run):
    script = Script(fenced(GOOD), "DIFFERS: a slip.")
    code, out, _ = run(
        "story.txt", "--settings", "back_check=true", "--json", "--budget", "2 calls", script=script
    )
    found = json.loads(out)
    assert code == 1
    assert found["names"] == ["prisoners-dilemma"]
    assert found["back_check"] == {"agrees": False, "why": "a slip."}


def test_a_repair_that_the_check_likes_no_better_is_not_taken(run):
    script = Script(fenced(GOOD), "DIFFERS: a slip.", fenced(HUNT), "DIFFERS: another slip.")
    code, out, _ = run("story.txt", "--settings", "back_check=true", "--json", script=script)
    found = json.loads(out)
    assert code == 1
    assert found["names"] == ["prisoners-dilemma"]
    assert found["back_check"] == {"agrees": False, "why": "a slip."}


def test_what_the_story_says_is_tested_on_the_game(run):
    said = {
        "kind": "payoff",
        "player": "ada",
        "number": "4",
        "moves": [{"player": "ben", "move": "Silent"}],
    }
    right = {"kind": "same time", "player": "ada", "other": "ben", "words": "in separate rooms"}
    claims = json.dumps({"claims": [{**said, "words": "she gets 4"}, right]})
    script = Script(fenced(GOOD), claims, fenced(GOOD), claims)
    code, _, err = run("story.txt", "--claims", script=script)
    assert code == 1
    assert "of 2 statements of the story 1 hold in the game, 0 cannot be tested" in err
    assert "does not hold: 'she gets 4': ada gets 3 or 5" in err


@pytest.mark.parametrize(
    ("option", "answer", "message"),
    [
        (
            "--settings=back_check=true",
            "It looks fine to me.",
            "cannot be judged: the answer is neither AGREES nor DIFFERS",
        ),
        (
            "--claims",
            "There are many.",
            "the claims of the story cannot be read: the answer is not a JSON object",
        ),
        (
            "--claims",
            '{"claims": []}',
            "of 0 statements of the story 0 hold in the game, 0 cannot be tested",
        ),
    ],
)
def test_a_check_that_could_not_be_made_is_not_passed(run, option, answer, message):
    code, _, err = run("story.txt", option, script=Script(fenced(GOOD), answer))
    assert code == 1
    assert message in err


def test_claims_that_cannot_be_read_are_no_empty_list_of_claims(run):
    _, out, _ = run(
        "story.txt", "--claims", "--json", script=Script(fenced(GOOD), "There are many.")
    )
    assert (
        json.loads(out)["claims_problem"]
        == "the answer is not a JSON object, or a key occurs twice in one"
    )


def test_a_person_refines_the_game_by_remarks_and_takes_one_back(run, tmp_path):
    script = Script(fenced(GOOD), fenced(HUNT), "I would rather not.")
    remarks = "program\nGrabbing earns only 2.\nMake it worse.\n\n"
    code, out, _ = run(
        "story.txt", "-i", "-o", "game.pl", "--attempts", "1", script=script, stdin=remarks
    )
    assert code == 0
    assert "payoff('Betray', 'Silent', 5, 0)." in out
    assert (
        "- If ada chooses Betray and ben chooses Silent: ada gets 2 (before: 5), ben gets 0." in out
    )
    assert "That did not become a game (no program: it answered in prose" in out
    assert (tmp_path / "game.pl").read_text().strip().endswith(HUNT)
    code, _, _ = run(
        "story.txt",
        "-i",
        "-o",
        "game.pl",
        "--cache",
        "off",
        script=Script(fenced(GOOD), fenced(HUNT)),
        stdin="Grabbing earns only 2.\nundo\n",
    )
    assert (tmp_path / "game.pl").read_text().strip().endswith(GOOD)


def test_a_page_has_story_words_picture_and_solution(run, tmp_path):
    code, _, err = run("story.txt", "--page", "game.html", script=Script(fenced(GOOD)))
    page = (tmp_path / "game.html").read_text()
    assert code == 0
    assert "wrote game.html" in err
    places = [
        page.index(words)
        for words in (STORY[:40], "ada chooses Silent or Betray.", "Largest regret")
    ]
    assert places == sorted(places)


def test_all_calls_are_counted_and_kept_replies_cost_nothing(run):
    script = Script(fenced(HUNT), fenced(GOOD), fenced(GOOD), "AGREES")
    words = ("story.txt", "--candidates", "3", "--settings", "back_check=true", "--json")
    _, out, err = run(*words, script=script)
    assert (json.loads(out)["calls"], json.loads(out)["tokens_spent"]) == (4, 440)
    # Three candidates of five attempts each, and a check that is asked for again while it is cut
    # off.
    assert "calls: about 4, at most 28; " in err


def test_a_finished_game_becomes_an_example_for_the_next(run, tmp_path):
    code, _, _ = run(
        "story.txt",
        "-o",
        "share.pl",
        "--settings",
        "save_example=mine",
        script=Script(fenced(GOOD)),
    )
    assert code == 0
    assert (tmp_path / "mine" / "share.txt").read_text().strip() == STORY
    script = Script(fenced(GOOD))
    run("story.txt", "--examples", "mine", story=STORY.replace("Ann", "Eve"), script=script)
    assert STORY in script.asked[0][1]["content"]
    assert run("story.txt", "--examples", "nowhere", script=Script())[0] == 2


def test_model_text_on_the_terminal_is_shown_not_obeyed(run):
    nasty = GOOD.replace("ada", "'\\x1b\\[31mada'")
    code, out, err = run("story.txt", "--attempts", "1", script=Script(fenced(nasty)))
    assert "\x1b[31m" not in out + err
    code, out, err = run(
        "story.txt", "--attempts", "1", "--cache", "off", script=Script("\x1b[31m red \u202e")
    )
    assert code == 1
    assert "\x1b" not in out + err
    assert "\u202e" not in out + err


def test_bench_stories_scores_a_model_on_the_stories_and_goes_on_where_it_stopped(
    monkeypatch, capsys, serve, tmp_path
):
    from bestresponse.formal.evaluate.dataset import stories
    from bestresponse.games.logic.tables import write_table_program
    from bestresponse.studies.stories.study import StoriesConfig

    def answer(body):
        asked = body["messages"][1]["content"]
        story = next(s for s in stories() if s.text in asked)
        return fenced(write_table_program(story.table)) if story.game != "traffic" else "I pass."

    server = serve(answer)
    monkeypatch.chdir(tmp_path)

    def typed(*words):
        line = [
            "bestresponse",
            "bench",
            "stories",
            "--model",
            server.model,
            "--attempts",
            "1",
            *words,
        ]
        monkeypatch.setattr(sys, "argv", line)
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code or 0, capsys.readouterr().out

    code, out = typed("--games", "traffic", "--json")
    (found,) = json.loads(out)["metrics"]
    assert code == 0
    assert (found["programs"], found["meaning"]["estimate"], found["syntactic"]["estimate"]) == (
        4,
        0.0,
        0.0,
    )
    code, out = typed("--count", "24", "--json")
    (found,) = json.loads(out)["metrics"]
    assert found["programs"] == 24
    chosen = StoriesConfig("m", count=24).choose_stories()
    assert len({story.game for story in chosen}) == 24
    right = sum(story.game != "traffic" for story in chosen) / 24
    assert found["meaning"]["estimate"] == pytest.approx(right)
    calls = server.calls
    assert typed("--count", "24", "--json")[1] == out
    assert server.calls == calls
    (report,) = [
        p for p in tmp_path.glob("results/stories-*/report.html") if "24 stories" in p.read_text()
    ]
    assert "By kind of story" in report.read_text()
    monkeypatch.setattr(sys, "argv", ["bestresponse", "report", str(report.parent)])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    assert "means what the story says" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["bestresponse", "replay", str(report.parent)])
    with pytest.raises(SystemExit) as end:
        main()
    assert "plays: 24 were the same, 0 were not" in capsys.readouterr().out


TIT_FOR_TAT = """
select(_, O, S, M) :- holds(last_move(O, M), S).
select(P, O, S, M) :- \\+ holds(last_move(O, _), S), holds(default_move(P, M), S).
"""


def test_a_strategy_in_words_becomes_rules_after_a_repair(run, tmp_path):
    (tmp_path / "copy.txt").write_text("Begin with the default move, then copy the other one.\n")
    script = Script(fenced("select(_, O, S, M) :- holds(last_move(O, M), S)."), fenced(TIT_FOR_TAT))
    words = ("--strategy", "copy.txt", "--game", "prisoners-dilemma")
    code, out, err = run(*words, script=script)
    assert code == 0, err
    assert "attempt 1: select/4 gives no move in the initial situation" in err
    assert "attempt 2: the rules give a move in every situation" in err
    assert (
        (tmp_path / "copy.pl")
        .read_text()
        .startswith("% Begin with the default move, then copy the other one.\n")
    )
    assert "holds(last_move(O, M), S)" in out
    code, _, err = run(
        *words, "--attempts", "1", "-o", "agent.json", script=Script(fenced(TIT_FOR_TAT))
    )
    assert (code, json.loads((tmp_path / "agent.json").read_text())["words"]) == (
        0,
        "Begin with the default move, then copy the other one.",
    )


def test_a_strategy_that_stays_wrong_leaves_no_rules(run, tmp_path):
    (tmp_path / "copy.txt").write_text("Copy the other one.\n")
    script = Script(*["I will not."] * 2)
    code, _, err = run(
        "--strategy", "copy.txt", "--game", "stag-hunt", "--attempts", "2", script=script
    )
    assert code == 1
    assert "after 2 attempts the rules of" in err
    assert not (tmp_path / "copy.pl").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--strategy", "copy.txt"), "--strategy needs the game it is for"),
        (("--game", "chicken", "story.txt"), "give --strategy FILE too"),
        ((), "name a text file with the story"),
        (("--strategy", "copy.txt", "--game", "chicken", "--claims"), "--claims: is for stories"),
        (("--strategy", "copy.txt", "--game", "kuhn-poker"), "choose once, at the same time"),
        (
            ("--strategy", "copy.txt", "--game", "chicken", "-o", "rules.txt"),
            "ends in .pl (rules) or .json",
        ),
    ],
)
def test_what_does_not_go_with_a_strategy_is_refused(run, tmp_path, words, told):
    (tmp_path / "copy.txt").write_text("Copy the other one.\n")
    code, _, err = run(*words)
    assert code in (1, 2)
    assert told in err
