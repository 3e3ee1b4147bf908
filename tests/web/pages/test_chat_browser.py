"""In two real browsers: people who came through a room write to each other beside a game."""

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

from browser import ready, shows  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.drawn]
STUDY = """
title = "Talk"
[[games]]
game = "prisoners-dilemma"
rounds = 2
quiz = false
chat = 40
seats = ["person", "person"]
"""


def test_a_message_appears_in_the_other_browser_and_a_draft_stays_when_the_page_goes_on(
    site, people
):
    sessions = site.state.sessions
    lobby = sessions.create_experiment(STUDY)
    sessions.open_room("lab", lobby.id)
    link = site.base + site.state.room_path("lab")
    ann, bob = people(link), people(link)
    for page in (ann, bob):
        page.get_by_role("button", name="Take part").click()
    for page in (ann, bob):
        ready(page)
    shows(ann, "Your turn")
    shows(bob, "Your turn")
    ann.get_by_label("Your message").fill("<i>both</i> cooperate?")
    ann.get_by_label("Your message").press("Enter")
    bob.locator(".bubble", has_text="<i>both</i> cooperate?").wait_for()
    ann.locator(".bubble.own", has_text="row (you)").wait_for()
    # The message is seen as soon as it is stored; the field is emptied when the answer is there.
    sent = ann.get_by_label("Your message")
    playwright.expect(sent).to_have_value("", timeout=120_000)
    ann.get_by_label("cooperate", exact=True).check()
    ann.get_by_role("button", name="Send", exact=True).click()
    shows(ann, "Waiting for the others")
    ann.get_by_label("Your message").fill("half a")
    bob.get_by_label("cooperate", exact=True).check()
    bob.get_by_role("button", name="Send", exact=True).click()
    shows(ann, "Your turn")
    ann.get_by_text("Round 2 of 2").wait_for()
    assert ann.get_by_label("Your message").input_value() == "half a"
