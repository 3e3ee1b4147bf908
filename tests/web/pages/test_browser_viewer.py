"""In a real browser: a replay by keyboard, a whole experiment, a lost connection, and accessibility
of every page."""

import os
import re
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

import sample_runs
from browser import ready, shows

from bestresponse.web.sessions.setup import GameChoice, Setup

pytestmark = [pytest.mark.slow, pytest.mark.drawn]
ROOT = Path(__file__).parents[3]
AXE = Path(os.environ.get("AXE_CORE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))


def test_a_play_is_replayed_by_keyboard(site, people):
    run = sample_runs.tournament_run(site.folder).path.name
    page = people(f"{site.base}/enter/{site.state.keys.admin}")
    page.goto(f"{site.base}/watch/run/{run}")
    page.locator("#plays a").first.click()
    page.locator(".controls output", has_text="2 of 2").wait_for()
    page.keyboard.press("ArrowLeft")
    page.locator(".controls output", has_text="1 of 2").wait_for()
    assert page.locator("td.chosen").inner_text() == "3, 3"
    assert page.locator("[data-frame]:visible").count() == 1
    page.keyboard.press("End")
    page.locator(".controls output", has_text="2 of 2").wait_for()
    page.get_by_role("button", name="All steps").click()
    assert page.locator("[data-frame]:visible").count() == 2


def test_columns_of_the_plays_are_chosen_and_kept_in_the_browser(site, people):
    run = sample_runs.tournament_run(site.folder).path.name
    page = people(f"{site.base}/enter/{site.state.keys.admin}")
    page.goto(f"{site.base}/watch/run/{run}")

    def list_columns():
        heads = page.locator("#plays thead th")
        return [head.inner_text() for head in heads.all() if head.is_visible()]

    assert list_columns() == ["Play", "Players", "Answers", "Payoffs"]
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("checkbox", name="Answers").uncheck()
    assert list_columns() == ["Play", "Players", "Payoffs"]
    assert page.locator("#plays tbody tr").first.locator("td:visible").count() == 3
    page.reload()
    assert list_columns() == ["Play", "Players", "Payoffs"]
    # The table is read again while the run goes on; the choice stays.
    page.evaluate("document.querySelector('#plays table').dataset.before = 'yes'")
    page.locator("#plays table:not([data-before])").wait_for()
    assert list_columns() == ["Play", "Players", "Payoffs"]
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("checkbox", name="Answers").check()
    assert list_columns() == ["Play", "Players", "Answers", "Payoffs"]


def test_an_experiment_from_the_invitation_to_the_completion_link(site, people):
    text = (ROOT / "examples" / "experiments" / "dilemma-de.toml").read_text("utf-8")
    text += 'link = "https://example.org/done?cc={code}&who={label}"\n'
    lobby = site.state.sessions.create_experiment(text)
    page = people(f"{site.base}{site.state.join_path(lobby.id)}?PROLIFIC_PID=p%201")
    page.get_by_role("button", name="stimme zu und nehme teil").click()
    page.get_by_label("Sie wählen B").fill("5")
    page.get_by_role("button", name="Ich bin bereit").click()
    for rounds in (5, 3):
        for number in range(1, rounds + 1):
            page.get_by_text(f"Runde {number} von {rounds}").wait_for()
            shows(page, "Sie sind am Zug")
            assert page.title().startswith("Sie sind am Zug")
            page.get_by_role("radio", name="A", exact=True).check()
            page.get_by_role("button", name="Senden").click()
        if rounds == 5:
            page.get_by_role("link", name="Weiter zu Teil 2 von 2").click()
            page.get_by_role("button", name="Ich bin bereit").click()
    page.get_by_role("button", name="Abschließen").click()
    page.get_by_text("Bitte beantworten Sie diese Frage").wait_for()
    page.get_by_text("nach nichts").click()
    page.get_by_role("button", name="Abschließen").click()
    link = page.get_by_role("link", name="Studie abschließen")
    assert link.get_attribute("href") == "https://example.org/done?cc=DUO-31&who=p%201"
    assert "4,00 EUR" in page.inner_text("main")


def test_an_answer_that_is_sent_offline_is_kept_and_sent_when_the_line_is_back(site, people):
    _, links = site.lay(Setup(GameChoice("chicken"), ("person", "person"), quiz=False))
    ann, bob = (people(link) for link in links)
    for page in (ann, bob):
        page.get_by_role("button", name="I am ready").click()
    shows(ann, "Your turn")
    ann.context.set_offline(True)
    ann.get_by_label("swerve").check()
    ann.get_by_role("button", name="Send").click()
    ann.get_by_text("The connection is lost.").wait_for()
    ann.context.set_offline(False)
    shows(ann, "Waiting for the others")


def test_what_is_stored_is_what_was_sent_and_not_what_the_field_says_later(site, people):
    session, (link,) = site.lay(
        Setup(
            GameChoice("first-price-auction"),
            ("person", "strategy:random", "strategy:random"),
            quiz=False,
        )
    )
    ann = people(link)
    ready(ann)
    shows(ann, "Your turn")
    bid = ann.locator("input[name=answer]")
    bid.fill("5")
    ann.context.set_offline(True)
    ann.get_by_role("button", name="Send").click()
    ann.get_by_text("The connection is lost.").wait_for()
    assert bid.is_disabled()
    assert ann.get_by_role("button", name="Send").is_disabled()
    bid.evaluate("field => { field.value = '9'; }")
    ann.evaluate("document.querySelector('form[data-answer]').requestSubmit()")
    ann.context.set_offline(False)
    shows(ann, "The game is over")
    given = site.state.sessions.get_session(session).answer("bidder 1", 0).decision
    assert (given.action, given.stand_in) == (5.0, "")


def test_an_answer_whose_confirmation_is_lost_is_stored_once_and_nobody_is_told_off(site, people):
    session, links = site.lay(Setup(GameChoice("chicken"), ("person", "person"), quiz=False))
    ann, bob = (people(link) for link in links)
    ready(ann)
    ready(bob)
    shows(ann, "Your turn")
    table = site.state.sessions.get_session(session)
    lost = []

    def lose_first(route):
        if lost:
            route.continue_()
            return
        lost.append(route.request.post_data)
        route.fetch(max_redirects=0)
        route.abort()

    ann.route("**/answer", lose_first)
    ann.get_by_label("swerve").check()
    ann.get_by_role("button", name="Send").click()
    shows(ann, "Waiting for the others")
    assert len(lost) == 1
    assert table.turn("row") == 1
    assert ann.locator(".note:visible").all_inner_texts() == []


def test_a_telephone_shows_the_money_of_every_game(site, chromium):
    study = """
title = "Money"
[[games]]
name = "pd"
title = "A rather long name of a game"
game = "prisoners-dilemma"
rounds = 1
quiz = false
bonus = 1.25
rate = 0.125
seats = ["person", "strategy:random"]
[payment]
currency = "EUR"
show_up = 2
"""
    lobby = site.state.sessions.create_experiment(study)
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(site.base + site.state.join_path(lobby.id))
    page.get_by_role("button", name="Take part").click()
    ready(page)
    page.get_by_label("cooperate").check()
    page.get_by_role("button", name="Send").click()
    shows(page, "The game is over")
    boxes = [cell.bounding_box() for cell in page.locator("table.money td").all()]
    assert len(boxes) == 4
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    scrolled = page.locator(".scroll:has(table.money)")
    assert scrolled.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    context.close()


def test_whoever_looks_at_a_seat_takes_nothing_and_can_send_nothing(site, people):
    session, links = site.lay(Setup(GameChoice("chicken"), ("person", "person"), quiz=False))
    admin = people(f"{site.base}/enter/{site.state.keys.admin}")
    admin.goto(f"{site.base}/look/{session}/0")
    admin.get_by_text("You see what this person sees.").wait_for()
    assert admin.locator("#live[inert]").count() == 1
    assert site.state.sessions.get_session(session).seen == {}
    ann = people(links[0])
    ann.get_by_role("button", name="I am ready").click()
    admin.get_by_role("heading", name="You are ready").wait_for()


def test_a_lost_connection_is_shown(site, chromium):
    _, (link, _) = site.lay(Setup(GameChoice("chicken"), ("person", "person"), quiz=False))
    page = chromium.new_context().new_page()
    page.set_default_timeout(60_000)
    page.route("**/changes*", lambda route: route.abort())
    page.goto(link)
    page.get_by_text("The connection is lost.").wait_for()
    page.context.close()


def test_a_wrong_answer_takes_the_focus_and_large_tables_have_a_calculator(site, people):
    setup = Setup(GameChoice("travelers-dilemma"), ("person", "person"), quiz=False)
    _, links = site.lay(setup)
    one, other = (people(link) for link in links)
    ready(one)
    ready(other)
    shows(one, "Your turn")
    one.locator("input[name=answer]").fill("1000")
    one.get_by_role("button", name="Send").click()
    one.get_by_text("1000 is not one of the options").wait_for()
    one.wait_for_function("document.activeElement.name === 'answer'")
    assert one.title().startswith("! ")
    assert one.locator(".offline").is_hidden()
    one.get_by_label("you", exact=True).fill("77")
    one.get_by_label("col", exact=True).fill("50")
    one.get_by_role("button", name="Work it out").click()
    one.get_by_text("You would get 48; col: 52.").wait_for()
    assert one.locator("input[name=answer]").input_value() == "1000"


@pytest.mark.skipif(
    not AXE.exists(), reason="axe-core is not installed (npm install axe-core, or set AXE_CORE)"
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_axe_finds_nothing(site, chromium, scheme, width):
    run = sample_runs.tournament_run(site.folder).path.name
    setup = Setup(
        GameChoice("public-goods-punishment"), ("person", *("strategy:random",) * 3), quiz=False
    )
    session, (link,) = site.lay(setup)
    size = {"width": width, "height": 900}
    context = chromium.new_context(bypass_csp=True, color_scheme=scheme, viewport=size)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{site.base}/enter/{site.state.keys.admin}")
    lobby = site.state.sessions.get_session(session).table.lobby
    seats = [link, site.base + site.state.join_path(lobby)]
    admin = [
        "/",
        "/watch",
        f"/watch/run/{run}",
        "/export",
        f"/lobby/{lobby}",
        "/play/new?game=chicken",
    ]
    found = []
    for address in (*seats, *(site.base + path for path in admin)):
        page.goto(address)
        if menu := page.locator("details.columns > summary").all():
            menu[0].click()
        page.evaluate(AXE.read_text("utf-8"))
        wrong = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        found += [(re.sub(r"^.*?//[^/]+", "", address)[:40], one["id"]) for one in wrong]
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        found += [(address, "overflows")] if wide > 0 else []
    context.close()
    assert found == []
