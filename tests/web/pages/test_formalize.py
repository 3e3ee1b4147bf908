"""Programs are checked as one types, and models help."""

from web_server import MODEL, hidden, sit_down, take

from bestresponse.core.errors import ModelUnavailable
from bestresponse.formal.formalize.plan import library
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
