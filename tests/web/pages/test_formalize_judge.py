"""Programs are checked as one types, models help, and judges agree or not."""

import csv
import io

import pytest
from web_server import MODEL, hidden, sit_down, take

from bestresponse.core.errors import ModelUnavailable
from bestresponse.formal.formalize.plan import library
from bestresponse.web.services.judging import JudgedItem, JudgingTask, Score, tabulate_agreement
from bestresponse.web.sessions.setup import GameChoice, Setup

PROGRAM = next(one.program for one in library() if one.name == "prisoners_dilemma")
STORY = next(one.story for one in library() if one.name == "prisoners_dilemma")
LEVELS = ("information", "reasoning", "effectiveness", "adaptability", "planning")


def post_form(admin, path, **fields):
    return admin.post(path, data={"csrf": hidden(admin.get("/formalize"), "csrf"), **fields})


def test_the_example_is_shown_with_its_table_equilibrium_and_picture(server):
    page = server.admin.get("/formalize").text
    assert "The game" in page
    assert "Betray" in page
    assert "data:image/svg+xml;base64," in page
    assert "strict" in page


def test_a_program_that_is_no_game_is_told_what_is_wrong_by_line(server):
    broken = PROGRAM.replace("initial(s0).", "initial(s0)", 1)
    answer = post_form(server.admin, "/formalize/check", program=broken)
    assert answer.status_code == 200
    assert "Not a game yet" in answer.text
    assert "data-line=" in answer.text


def test_a_forbidden_goal_is_refused_and_nothing_runs(server):
    answer = post_form(
        server.admin, "/formalize/check", program=PROGRAM + "\n:- shell('touch /tmp/x').\n"
    )
    assert "Not a game yet" in answer.text


def test_a_saved_program_is_played_by_two_people(server):
    admin = server.admin
    answer = post_form(
        admin, "/formalize/save", name="the-cell", story=STORY, program=PROGRAM, do="save"
    )
    assert "the-cell" in str(answer.url)
    assert (
        post_form(admin, "/formalize/save", name="the-cell", story="", program=PROGRAM).status_code
        == 422
    )
    assert (
        post_form(admin, "/formalize/save", name="../x", story="", program=PROGRAM).status_code
        == 422
    )
    assert "game=saved:the-cell" in admin.get("/").text
    setup = Setup(GameChoice("the-cell", PROGRAM), ("person", "person"), quiz=False)
    (ada, ada_link), (ben, ben_link) = sit_down(server, setup)
    take(ada, ada_link, answer="Betray")
    take(ben, ben_link, answer="Silent")
    assert "The game is over" in ada.get(ada_link).text
    assert server.state.sessions.is_finished(ada_link.split("/")[2])
    server.restart()
    assert "The game is over" in server.client().get(ben_link).text


def test_a_model_writes_a_program_and_its_words_are_kept_apart(server):
    server.answer = lambda request: f"```prolog\n{PROGRAM}\n```"
    admin = server.admin
    told = post_form(
        admin, "/formalize/help", model=MODEL, story=STORY, program="", remark=""
    ).json()
    assert told["lines"] == ["This is a game.", "Done."]
    assert told["program"].startswith(PROGRAM[:40])


def test_a_model_repairs_what_is_wrong(server):
    server.answer = lambda request: f"```prolog\n{PROGRAM}\n```"
    broken = PROGRAM.replace("initial(s0).", "initial(s0)", 1)
    written = (
        server.api()
        .post("/api/programs/help", json={"model": MODEL, "story": STORY, "program": broken})
        .json()
    )
    assert written["lines"][-2:] == ["This is a game.", "Done."]
    assert (
        server.api().post("/api/programs/check", json={"program": written["program"]}).json()["ok"]
    )


def test_a_model_that_cannot_be_used_is_said_so(server):
    def fail(request):
        raise ModelUnavailable("the line is dead")

    server.answer = fail
    asked = server.api().post("/api/programs/help", json={"model": MODEL, "story": STORY})
    assert (asked.status_code, asked.json()) == (503, {"error": "the line is dead"})


def test_judges_score_transcripts_and_their_agreement_is_shown(server):
    admin = server.admin
    table = "item,text\n" + "\n".join(f"t{k},transcript {k}" for k in range(5))
    page = admin.get("/judge")
    data = {"csrf": hidden(page, "csrf"), "title": "Plays", "judges": "Ann\nBob", "rubric": "play"}
    task_page = admin.post("/judge", data=data, files={"table": ("items.csv", table, "text/csv")})
    assert "0 of 5" in task_page.text
    task = str(task_page.url).rsplit("/", 1)[1]
    for judge in (0, 1):
        link = f"/judge/by/{task}/{judge}/{server.state.keys.token('judge', task, judge)}"
        client = server.client()
        for _ in range(5):
            sheet = client.get(link)
            item = hidden(sheet, "item")
            levels = dict.fromkeys(LEVELS, str(1 + int(item[1]) % 5))
            client.post(link, data={"csrf": hidden(sheet, "csrf"), "item": item, **levels})
        assert "You have judged every transcript" in client.get(link).text
    assert "1.00" in admin.get(f"/judge/task/{task}").text
    rows = list(csv.DictReader(io.StringIO(admin.get(f"/judge/task/{task}/scores.csv").text)))
    assert len(rows) == 10
    assert {row["item"]: row["planning"] for row in rows if row["judge"] == "Ann"}["t3"] == "4"


def test_agreement_has_an_interval_from_resampled_transcripts():
    items = tuple(JudgedItem(f"t{number}", "...") for number in range(4))
    task = JudgingTask("0", "x", "verdicts", items, ("Ann", "Bob"))
    given = {"Ann": (1, 1, 2, 2), "Bob": (1, 1, 2, 1)}
    scores = [
        Score(judge, item.id, {"reading": level, "verdict": 1})
        for judge, levels in given.items()
        for item, level in zip(items, levels, strict=True)
    ]
    reading, verdict = tabulate_agreement(task, scores).rows
    # One of 4 pairs differs, and of 8 scores 5 are 1: alpha = 1 - (2 / 8) / (2 * 5 * 3 / (8 * 7)).
    assert reading[3].estimate == pytest.approx(1 - 0.25 / (30 / 56))
    assert (reading[3].n, reading[3].high) == (4, 1.0)
    assert reading[3].low < 0.5333
    assert verdict[3] is None  # nobody ever said anything else


def test_a_judge_sees_their_own_sheet_only_and_incomplete_scores_are_sent_back(server):
    wanted = {
        "title": "x",
        "rubric": "reasoning",
        "items": [{"id": "a", "text": "<script>x</script>"}],
        "judges": ["Ann", "Bob"],
    }
    laid = server.api().post("/api/judging", json=wanted).json()
    link = f"/judge/by/{laid['task']}/0/{laid['tokens']['Ann']}"
    client = server.client()
    page = client.get(link)
    assert "<script>x" not in page.text
    assert client.get(f"/judge/by/{laid['task']}/1/{laid['tokens']['Ann']}").status_code == 404
    refused = client.post(
        link, data={"csrf": hidden(page, "csrf"), "item": "a", "correct": "2", "remark": "hm"}
    )
    assert refused.status_code == 422
    assert "Choose a level from 1 to 2." in refused.text
    assert ">hm</textarea>" in refused.text
    given = {"item": "a", "levels": {"correct": 2, "pa": 1, "rga": 1, "pc": 1, "u": 1}}
    place = f"/api/judging/{laid['task']}/0"
    assert server.api(laid["tokens"]["Ann"]).post(place, json=given).json()["done"] == ["a"]
    assert server.api(laid["tokens"]["Bob"]).post(place, json=given).status_code == 404
    server.restart()
    assert (
        server.api().get(f"/api/judging/{laid['task']}").json()["scores"][0]["levels"]["correct"]
        == 2
    )


def test_a_filled_sheet_is_handed_in_and_a_wrong_one_is_refused_with_its_place(server):
    wanted = {
        "title": "x",
        "rubric": "play",
        "items": [{"id": "a", "text": "..."}],
        "judges": ["Ann"],
    }
    task = server.api().post("/api/judging", json=wanted).json()["task"]
    admin = server.admin
    csrf = hidden(admin.get(f"/judge/task/{task}"), "csrf")
    head = "judge,item," + ",".join(LEVELS) + ",remark\n"
    good, bad = head + "Ann,a,1,2,3,4,5,fine\n", head + "Ann,a,1,2,3,4,9,\n"
    refused = admin.post(
        f"/judge/task/{task}/scores",
        data={"csrf": csrf},
        files={"sheet": ("s.csv", bad, "text/csv")},
    )
    assert "line 2, planning: Choose a level from 1 to 5." in refused.text
    admin.post(
        f"/judge/task/{task}/scores",
        data={"csrf": csrf},
        files={"sheet": ("s.csv", good, "text/csv")},
    )
    (score,) = server.api().get(f"/api/judging/{task}").json()["scores"]
    assert score["levels"] == dict(zip(LEVELS, (1, 2, 3, 4, 5), strict=True))


def test_transcripts_of_a_run_name_no_model(server):
    ((ann, link),) = sit_down(
        server, Setup(GameChoice("prisoners-dilemma"), ("person", f"model:{MODEL}"), quiz=False)
    )
    take(ann, link, answer="defect")
    server.wait_for(lambda: server.state.sessions.is_finished(link.split("/")[2]))
    page = server.admin.get("/judge")
    data = {
        "csrf": hidden(page, "csrf"),
        "judges": "Ann",
        "rubric": "play",
        "run": "sessions",
        "count": "5",
        "silent": "yes",
    }
    server.admin.post("/judge", data=data)
    (task,) = server.state.judging.tasks()
    assert len(task.items) == 2
    assert all(MODEL not in item.text for item in task.items)
    assert any("Answered: defect" in item.text for item in task.items)
