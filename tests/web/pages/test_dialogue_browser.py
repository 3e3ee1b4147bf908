"""In a real browser: a person talks with the simulated speaker, and reads what was agreed and
earned."""

import re

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

from browser import ready, shows  # noqa: E402

from bestresponse.web.sessions.setup import GameChoice, Setup  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.drawn]


def lay(site, domain, referee):
    setup = Setup(
        GameChoice(f"dialogue:{domain}"),
        ("person", "strategy:simulated"),
        quiz=False,
        referee=referee,
    )
    (link,) = site.lay(setup)[1]
    return link


def talk(page, *words):
    """Write one message after the other until the talk is over, and read how it ended."""
    for message in words:
        page.get_by_role("heading", name=re.compile("Your turn|The game is over")).first.wait_for()
        if page.get_by_role("heading", name="The game is over").count():
            break
        page.locator("textarea[name=answer]").fill(message)
        page.get_by_role("button", name="Send").click()
        page.get_by_text(message).first.wait_for()
    shows(page, "The game is over")


@pytest.mark.parametrize("referee", ["rule", "strategy:simulated"])
def test_a_person_bargains_with_the_simulated_speaker(site, people, referee):
    page = people(lay(site, "bargaining", referee))
    ready(page)
    shows(page, "Your turn")
    page.get_by_text("Only you know this").first.wait_for()
    page.get_by_text("What it is worth to you").first.wait_for()
    talk(page, "How about a price of 50?", "Let us agree on a price of 50.")
    (play,) = site.records()
    assert play.record.void is None
    said = [one.decision.action for one in play.record.submissions if one.role == "player 1"]
    assert said[0] == "How about a price of 50?"


def test_a_person_announces_a_move_and_hands_in_a_sealed_note(site, people):
    page = people(lay(site, "rps-talk", "rule"))
    ready(page)
    shows(page, "Your turn")
    page.get_by_text("You write message 1 of 4.").first.wait_for()
    talk(page, "I will play rock.", "I really will play rock.", "I play paper.")
    (play,) = site.records()
    assert play.record.void is None
    assert sum(play.record.payoffs.values()) == 0
    assert [one.decision.action for one in play.record.submissions if one.role == "player 1"][
        -1
    ] == "I play paper."
