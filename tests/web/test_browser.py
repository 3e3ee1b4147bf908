"""In a real browser: people, a model, a judge, and everything a restless finger can do."""

import re
import socket
import threading
import time
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
uvicorn = pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

from conftest_web import MODEL  # noqa: E402

from bestresponse.formal.examples import library  # noqa: E402
from bestresponse.models.scripted import ScriptedModel  # noqa: E402
from bestresponse.store.run_folder import RunFolder  # noqa: E402
from bestresponse.web.serve import Place, opened  # noqa: E402
from bestresponse.web.setup import GameChoice, Setup  # noqa: E402

CHROMIUM = "/usr/bin/chromium"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="Chromium is not installed (apt-get install chromium)"),
]
PATIENCE = 30_000


class Site:
    """A server on a port of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.app, self.desk, self._close = opened(
            Place(folder), lambda name: ScriptedModel(lambda r: '{"answer": 20}'), (MODEL,)
        )
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(self.app, log_level="error", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()
        end = time.monotonic() + 20
        while not self._server.started:
            assert time.monotonic() < end
            time.sleep(0.02)

    def stop(self):
        self._server.should_exit = True
        self._thread.join()
        self._close()

    def lay(self, setup):
        """The links of the people at a new table."""
        (table,) = self.desk.house.set_up(setup).tables
        return table.id, [self.base + self.desk.seat_path(table.id, seat) for seat in setup.persons]

    def records(self):
        return list(RunFolder.read(self.folder / "sessions").plays())


@pytest.fixture
def site(tmp_path):
    found = Site(tmp_path)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def people(chromium):
    """Opens pages, each for a person with a browser of their own; complains about anything in the console."""
    complaints, contexts = [], []

    def person(link):
        contexts.append(chromium.new_context())
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(link)
        return page

    yield person
    for context in contexts:
        context.close()
    assert [text for text in complaints if "422" not in text] == []


def ready(page):
    page.get_by_role("button", name="I am ready").click()


def shows(page, heading):
    page.get_by_role("heading", name=heading).wait_for()


def test_two_people_and_a_model_finish_a_water_game(site, people):
    seats = ("person", "person", f"model:{MODEL}", "strategy:need", "strategy:random")
    setup = Setup(GameChoice("water", rounds=2), seats, quiz=False, stand_in="need", seconds=600)
    _, links = site.lay(setup)
    alex, bob = (people(link) for link in links)
    ready(alex)
    shows(alex, "You are ready")
    ready(bob)
    for _ in range(2):
        for page, bid in ((alex, "30"), (bob, "35.5")):
            shows(page, "Your turn")
            page.locator("input[name=answer]").fill(bid)
            page.locator("input[name=answer]").press("Enter")
    for page in (alex, bob):
        shows(page, "The game is over")
    (play,) = site.records()
    given = [(s.role, s.decision.action) for s in play.record.submissions if s.role in ("Alex", "Bob")]
    assert sorted(given) == [("Alex", 30.0), ("Alex", 30.0), ("Bob", 35.5), ("Bob", 35.5)]
    assert all(not s.decision.stand_in for s in play.record.submissions)
    assert play.record.players["Cindy"] == f"model:{MODEL}"


def test_a_formalized_story_is_saved_and_played_by_two_people(site, people):
    admin = people(f"{site.base}/enter/{site.desk.keys.admin}")
    admin.goto(f"{site.base}/formalize")
    program = next(one.program for one in library() if one.name == "prisoners_dilemma")
    admin.locator("#program").fill(program.replace("initial(s0).", "initial(s0)", 1))
    admin.get_by_role("heading", name="Not a game yet").wait_for()
    assert admin.locator(".diagnostics [data-line]").count() >= 1
    admin.locator("#program").fill(
        program.replace("payoff('Silent', 'Silent', 3, 3)", "payoff('Silent', 'Silent', 4, 4)")
    )
    admin.get_by_role("heading", name="The game", exact=True).wait_for()
    admin.get_by_text("4, 4").first.wait_for()
    admin.locator("input[name=name]").fill("the-cell")
    admin.get_by_role("button", name="Save and play").click()
    admin.locator("#seat1").select_option("person")
    admin.locator("input[name=quiz]").uncheck()
    admin.get_by_role("button", name="Lay the table").click()
    ada, ben = (people(link.get_attribute("href")) for link in admin.get_by_role("link", name="open").all())
    ready(ada)
    ready(ben)
    for page, move in ((ada, "Silent"), (ben, "Silent")):
        shows(page, "Your turn")
        page.get_by_label(move, exact=True).check()
        page.get_by_role("button", name="Send").click()
    for page in (ada, ben):
        shows(page, "The game is over")
    (play,) = site.records()
    assert play.record.payoffs == {"ada": 4.0, "ben": 4.0}


def test_a_judge_scores_five_transcripts_by_keyboard(site, people):
    from bestresponse.web.judging import Item

    task = site.desk.panel.begin("Plays", "play", [Item(f"t{k}", f"transcript {k}") for k in range(5)], ["Ann"])
    judge = people(f"{site.base}/judge/by/{task.id}/0/{site.desk.keys.token('judge', task.id, 0)}")
    for number in range(5):
        judge.get_by_text(f"{number} of 5 judged").wait_for()
        for level in "12345":
            judge.keyboard.press(level)
        judge.keyboard.press("Enter")
    shows(judge, "Done")
    scores = site.desk.panel.scores(task.id)
    assert len(scores) == 5
    assert all(list(score.levels.values()) == [1, 2, 3, 4, 5] for score in scores)


def test_reload_back_double_click_and_two_tabs_change_nothing_twice(site, people):
    session, (link, other) = site.lay(
        Setup(GameChoice("prisoners-dilemma", rounds=2), ("person", "person"), quiz=False)
    )
    first, col = people(link), people(other)
    ready(first)
    ready(col)
    shows(first, "Your turn")
    second = first.context.new_page()
    second.goto(link)
    shows(second, "Your turn")
    first.get_by_label("cooperate").check()
    first.get_by_role("button", name="Send").dblclick()
    shows(first, "Waiting for the others")
    first.reload()
    first.go_back()
    house = site.desk.house.session(session)
    assert house.turn("row") == 1
    csrf, turn = re.search(r'name="csrf" value="([^"]+)"', second.content()), "0"
    sent = {"csrf": csrf[1] if csrf else site.desk.csrf("seat", session, 0), "turn": turn, "answer": "defect"}
    answer = first.context.request.post(f"{link}/answer", form=sent)
    assert "the first answer counts" in answer.text()
    assert house.turn("row") == 1
    shows(second, "Waiting for the others")
    col.get_by_label("defect").check()
    col.get_by_role("button", name="Send").click()
    shows(second, "Your turn")
    assert [s.decision.action for s in house.episode.submissions] == ["cooperate", "defect"]


def test_an_illegal_answer_stays_in_its_field_with_a_sentence_beside_it(site, people):
    setup = Setup(GameChoice("water", rounds=1), ("person", *("strategy:need",) * 4), quiz=False, stand_in="need")
    _, (link,) = site.lay(setup)
    alex = people(link)
    ready(alex)
    shows(alex, "Your turn")
    alex.locator("input[name=answer]").fill("1000")
    alex.get_by_role("button", name="Send").click()
    alex.get_by_text("1000 is not between 0 and 70.").wait_for()
    assert alex.locator("input[name=answer]").input_value() == "1000"
    alex.get_by_role("button", name="Pass").click()
    shows(alex, "The game is over")
    answers = {s.role: s.decision.action for s in site.records()[0].record.submissions}
    assert answers["Alex"] == "pass"


def test_no_page_is_wider_than_a_telephone_and_none_complains(site, chromium):
    context = chromium.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.goto(f"{site.base}/enter/{site.desk.keys.admin}")
    for path in ("/", "/play/new?game=water", "/watch", "/judge", "/formalize", "/export"):
        page.goto(site.base + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
    context.close()
    assert complaints == []
