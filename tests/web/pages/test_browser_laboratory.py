"""In a real browser: what happens in a laboratory between the invitation and the data."""

import http.server
import threading
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

import sample_runs
from browser import ready, shows

from bestresponse.runs.store.folder import RunFolder
from bestresponse.web.services.export import list_participants
from bestresponse.web.sessions.setup import GameChoice, Setup

pytestmark = [pytest.mark.slow, pytest.mark.drawn]
EXAMPLES = Path(__file__).parents[3] / "examples" / "experiments"
PAIR = Setup(GameChoice("prisoners-dilemma", rounds=2), ("person", "person"), quiz=False)


@pytest.fixture
def other_site(tmp_path):
    """A web site of its own (localhost is another site than 127.0.0.1): a function that puts one
    link on its page."""
    folder = tmp_path / "other"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def show(link):
        (folder / "page.html").write_text(
            f"<title>Mail</title><link rel=icon href=data:,><a href='{link}'>Study</a>"
        )
        return f"http://localhost:{server.server_address[1]}/page.html"

    yield show
    server.shutdown()
    server.server_close()


def enter(site, people):
    return people(f"{site.base}/enter/{site.state.keys.admin}")


def seat(page):
    return page.url.split("/")[4:6]


def test_three_clicks_on_another_site_lead_to_one_seat(site, people, other_site):
    lobby = site.state.sessions.create_sessions(PAIR, 2)
    mail = other_site(site.base + site.state.join_path(lobby.id))
    page = people(mail)
    page.get_by_role("link", name="Study").click()
    page.get_by_role("button", name="Take part").click()
    page.get_by_role("button", name="I am ready").wait_for()
    for _ in range(2):
        page.goto(mail)
        page.get_by_role("link", name="Study").click()
        page.get_by_role("button", name="I am ready").wait_for()
        assert seat(page) == [f"{lobby.id}-1", "0"]
    assert len(site.state.sessions.journal.read_events("seated")) == 1


def test_the_admins_link_on_another_site_opens_the_desk(site, people, other_site):
    page = people(other_site(f"{site.base}/enter/{site.state.keys.admin}"))
    page.get_by_role("link", name="Study").click()
    page.get_by_role("link", name="Export").wait_for()
    page.reload()
    page.get_by_role("link", name="Export").wait_for()


def test_previews_of_the_link_take_no_seat(site, people, chromium):
    lobby = site.state.sessions.create_sessions(PAIR)
    link = site.base + site.state.join_path(lobby.id)
    for _ in range(4):
        preview = chromium.new_context()
        assert "You are invited" in preview.request.get(link).text()
        preview.close()
    page = people(link)
    page.get_by_role("button", name="Take part").click()
    page.get_by_role("button", name="I am ready").wait_for()
    assert seat(page) == [f"{lobby.id}-1", "0"]


def test_whoever_drops_out_comes_back_to_the_own_seat_and_learns_what_happened(
    site, people, chromium
):
    lobby = site.state.sessions.create_sessions(PAIR)
    link = site.base + site.state.join_path(lobby.id)
    ann = people(f"{link}?participant_label=ann")
    bob = people(f"{link}?participant_label=bob")
    for page in (ann, bob):
        page.get_by_role("button", name="Take part").click()
        ready(page)
    shows(bob, "Your turn")
    bob.context.close()
    ann.get_by_label("cooperate").check()
    ann.get_by_role("button", name="Send").click()
    shows(ann, "Waiting for the others")
    session = site.state.sessions.get_session(f"{lobby.id}-1")
    site.state.sessions.advance_person(session, 1)
    ann.get_by_text("A stand-in answered for col: 1 of 1 answers so far.").wait_for()
    again = people(site.base + site.state.personal_path(lobby.id, "bob"))
    shows(again, "Your turn")
    again.get_by_text("a stand-in answered the last question for you").wait_for()
    again.get_by_text("Round 2 of 2").wait_for()
    assert seat(again) == [f"{lobby.id}-1", "1"]


def test_two_treatments_read_different_instructions(site, people):
    lobby = site.state.sessions.create_experiment(
        (EXAMPLES / "public-goods.toml").read_text("utf-8")
    )
    link = site.base + site.state.join_path(lobby.id)
    told = {}
    for number in range(5):
        page = people(f"{link}?participant_label=p{number}")
        page.get_by_role("button", name="Take part").click()
        page.get_by_role("button", name="I am ready").wait_for()
        told[seat(page)[0]] = "may give each of the others up to 5 points" in page.inner_text(
            "main"
        )
    first, second = lobby.first_tables[:2]
    assert told == {table.id: table.treatment == "with punishment" for table in (first, second)}
    assert sorted(told.values()) == [False, True]


def test_a_table_is_restarted_and_the_pages_follow(site, people):
    session, links = site.lay(PAIR)
    ann, bob = (people(link) for link in links)
    for page in (ann, bob):
        ready(page)
    for page in (ann, bob):
        page.get_by_label("defect").check()
        page.get_by_role("button", name="Send").click()
    ann.get_by_text("Round 2 of 2").wait_for()
    admin = enter(site, people)
    admin.goto(f"{site.base}/lobby/{session.rpartition('-')[0]}")
    admin.once("dialog", lambda dialog: dialog.dismiss())
    admin.get_by_role("button", name="Restart", exact=True).click()
    assert site.state.sessions.get_session(session).attempt == 1
    admin.once("dialog", lambda dialog: dialog.accept())
    admin.get_by_role("button", name="Restart", exact=True).click()
    admin.get_by_text("restarted", exact=True).wait_for()
    for page in (ann, bob):
        page.get_by_text("The experimenter has restarted this game.").wait_for()
        page.get_by_text("Round 1 of 2").wait_for()


def test_the_replay_of_a_play_that_goes_on_follows_it(site, people):
    source = RunFolder.read(sample_runs.tournament_run(site.folder).path)
    play = next(one for one in source.plays() if len(one.record.submissions) == 4)
    with RunFolder.open(site.folder / "going-on", source.manifest) as folder:
        for submission in play.record.submissions[:2]:
            folder.submit(play.spec, submission)
        page = enter(site, people)
        page.goto(f"{site.base}/watch/run/going-on")
        page.get_by_role("list", name="In play now").get_by_role("link").click()
        page.locator(".controls output", has_text="1 of 1").wait_for()
        for submission in play.record.submissions[2:]:
            folder.submit(play.spec, submission)
        page.locator(".controls output", has_text="2 of 2").wait_for()
        folder.finish(play.spec, play.data, play.record)
        page.get_by_text("This is still being played").wait_for(state="detached")


SLIDERS = """
title = "Schieberegler"
language = "de"
[[games]]
name = "one"
game = "chicken"
seats = ["person", "strategy:greedy"]
quiz = false
[[pages]]
name = "beliefs"
before = "one"
[[pages.items]]
name = "likely"
text = "Wie wahrscheinlich ist Regen?"
kind = "slider"
low = 0
high = 1
required = true
[[pages.items]]
name = "mood"
text = "Wie geht es Ihnen?"
kind = "slider"
low = 0
high = 100
[[pages.items]]
name = "middle"
text = "Wie gerecht ist das?"
kind = "slider"
low = 0
high = 100
"""


def open_sliders(site):
    lobby = site.state.sessions.create_experiment(SLIDERS)
    return lobby, site.base + site.state.join_path(lobby.id)


def read_sliders(site, lobby):
    (row,) = list_participants(site.state, lobby.id)
    return {name: row[f"q_{name}"] for name in ("likely", "mood", "middle")}


def test_a_slider_is_unanswered_until_it_is_touched_and_is_moved_by_keys(site, people):
    lobby, link = open_sliders(site)
    page = people(link)
    page.get_by_role("button", name="Teilnehmen").click()
    likely = page.get_by_label("Wie wahrscheinlich ist Regen?, Schieberegler")
    number = page.get_by_role("textbox", name="Wie wahrscheinlich ist Regen?")
    assert (number.input_value(), likely.get_attribute("aria-valuetext")) == (
        "",
        "noch nicht beantwortet",
    )
    # The page does not send a required slider that nobody touched.
    page.get_by_role("button", name="Weiter").click()
    assert number.evaluate("field => field.validity.valueMissing")
    assert site.state.sessions.journal.read_events("questionnaire") == []
    likely.focus()
    for _ in range(13):
        page.keyboard.press("ArrowLeft")
    assert number.input_value() == "0,37"
    assert likely.get_attribute("aria-valuetext") is None
    # Whoever clicks on the middle, where the slider stands already, has answered 50.
    page.get_by_label("Wie gerecht ist das?, Schieberegler").click()
    page.get_by_role("button", name="Weiter").click()
    page.get_by_role("button", name="Ich bin bereit").wait_for()
    assert read_sliders(site, lobby) == {"likely": 0.37, "mood": None, "middle": 50}


def test_without_javascript_the_number_of_a_slider_is_typed(site, chromium):
    lobby, link = open_sliders(site)
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Teilnehmen").click()
    assert page.locator("input[type=range]:visible").count() == 0
    assert page.get_by_text("eine Zahl von 0 bis 100").count() == 2
    page.get_by_role("textbox", name="Wie wahrscheinlich ist Regen?").fill("0,375")
    page.get_by_role("button", name="Weiter").click()
    page.get_by_text("0,375 ist hier nicht möglich").wait_for()
    page.get_by_role("textbox", name="Wie wahrscheinlich ist Regen?").fill("0,38")
    page.get_by_role("button", name="Weiter").click()
    page.get_by_role("button", name="Ich bin bereit").wait_for()
    assert read_sliders(site, lobby) == {"likely": 0.38, "mood": None, "middle": None}
    context.close()
