"""In a real browser: people make offers and answer them, talk with the simulated speaker, and read
what was agreed and earned."""

import re

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

from browser import ready, shows  # noqa: E402

from bestresponse.web.sessions.setup import GameChoice, Setup  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.drawn]


def say(page, words, move):
    page.get_by_role("heading", name="Your turn").wait_for()
    page.locator("textarea").fill(words)
    page.get_by_label(move, exact=True).check()
    page.get_by_role("button", name="Send").click()


def test_two_people_agree_by_moves_and_not_by_what_they_write(site, people):
    session, links = site.lay(
        Setup(GameChoice("dialogue:bargaining"), ("person", "person"), quiz=False)
    )
    ann, bob = (people(link) for link in links)
    ready(ann)
    ready(bob)
    say(ann, "I want 80. 50 is too little.", "make an offer")
    ann.get_by_label("price").fill("101")
    ann.get_by_role("button", name="Send").click()
    ann.get_by_text("101 is not between 0 and 100.").wait_for()
    ann.get_by_label("price").fill("80.5")
    ann.get_by_role("button", name="Send").click()
    shows(ann, "Waiting for the others")
    bob.get_by_text("If you accept now, this is agreed: 80.5.").wait_for()
    say(bob, "80 is far too much, never!", "reject the offer")
    shows(ann, "Your turn")
    assert ann.get_by_label("accept", exact=True).count() == 0
    say(ann, "Then this.", "make an offer")
    ann.get_by_label("price").fill("42")
    ann.get_by_role("button", name="Send").click()
    bob.get_by_text("If you accept now, this is agreed: 42.").wait_for()
    # Nothing that ends the talk is stored before it is confirmed, and only that very move is.
    played = site.state.sessions.get_session(session).episode.submissions
    before = len(played)
    say(bob, "No, not 50.", "walk away")
    bob.get_by_text("You are about to walk away.").wait_for()
    bob.get_by_label("accept", exact=True).check()
    bob.get_by_role("button", name="Yes, send this").click()
    bob.get_by_text("You are about to accept: 42.").wait_for()
    assert len(played) == before
    bob.get_by_role("button", name="Yes, send this").click()
    for page in (ann, bob):
        shows(page, "The game is over")
        page.get_by_text("accepts the offer: 42.").first.wait_for()
    game = site.state.sessions.get_session(session).game
    (play,) = site.records()
    (case,) = game.talk.cases
    gains = []
    for known in case.private:
        gains.append(42 - known["worth"] if known["part"] == "seller" else known["worth"] - 42)
    assert list(play.record.payoffs.values()) == gains


def test_a_person_bargains_with_the_simulated_speaker(site, people):
    setup = Setup(
        GameChoice("dialogue:bargaining", parameters={"offers": False}),
        ("person", "strategy:simulated"),
        quiz=False,
        referee="strategy:simulated",
    )
    page = people(site.lay(setup)[1][0])
    ready(page)
    page.get_by_text("Only you know this").first.wait_for()
    page.get_by_text("What it is worth to you").first.wait_for()
    for message in ("How about a price of 50?", "Let us agree on a price of 50."):
        page.locator("textarea[name=answer], input[value=object]").first.wait_for()
        if page.get_by_label("accept the decision", exact=True).count():
            break
        write(page, message)
        page.get_by_text(message).first.wait_for()
    answer(page, "accept the decision")
    shows(page, "The game is over")
    (play,) = site.records()
    assert play.record.void is None
    said = [one.decision.action for one in play.record.submissions if one.role == "player 1"]
    assert said[0] == "How about a price of 50?"


def write(page, words):
    page.locator("textarea[name=answer]").fill(words)
    page.get_by_role("button", name="Send").click()


def answer(page, option):
    page.get_by_label(option, exact=True).check()
    page.get_by_role("button", name=re.compile("Send|Senden")).click()


def test_both_read_the_quote_of_the_referee_and_one_objects(site, people):
    setup = Setup(
        GameChoice("dialogue:bargaining", parameters={"offers": False}),
        ("person", "person"),
        quiz=False,
        referee="strategy:simulated",
    )
    session, links = site.lay(setup)
    ann, bob = (people(link) for link in links)
    ready(ann)
    ready(bob)
    write(ann, "How about a price of 50?")
    write(bob, "Well. Let us agree on a price of 50.")
    for page in (ann, bob):
        page.get_by_text(
            "Decision: 50. It rests on this sentence: “Let us agree on a price of 50.”"
        ).wait_for()
        page.get_by_text("If one of you objects, nothing is agreed by it.").wait_for()
    answer(ann, "accept the decision")
    answer(bob, "object")
    # The talk goes on, and who objected is said.
    shows(ann, "Your turn")
    game = site.state.sessions.get_session(session).game
    ann.get_by_text(f"Objections: {game.names[1]}.").wait_for()
    write(ann, "Why not?")
    shows(bob, "Your turn")
    write(bob, "It is too much.")
    for page in (ann, bob):
        page.get_by_text("Decision: no deal.").wait_for()
        answer(page, "accept the decision")
    for page in (ann, bob):
        shows(page, "The game is over")
    (play,) = site.records()
    assert set(play.record.payoffs.values()) == {0.0}
    answers = [(one.role, one.decision.action) for one in play.record.submissions]
    assert ("player 1", "accept the decision") in answers
    assert ("player 2", "object") in answers


def test_the_ruling_is_told_in_german(site, people):
    setup = Setup(
        GameChoice("dialogue:bargaining", parameters={"offers": False, "replies": 1}),
        ("person", "person"),
        quiz=False,
        referee="strategy:simulated",
        language="de",
    )
    _, links = site.lay(setup)
    ann, bob = (people(link) for link in links)
    for page in (ann, bob):
        page.get_by_role("button", name="bereit").click()
    for page, words in ((ann, "How about a price of 50?"), (bob, "Let us agree on a price of 50.")):
        page.locator("textarea[name=answer]").fill(words)
        page.get_by_role("button", name="Senden").click()
    ann.get_by_text("Entscheidung: 50. Sie beruht auf diesem Satz: „Let us agree on").wait_for()
    ann.get_by_text("Schiedsrichter").wait_for()
    ann.get_by_text("Erhebt jemand von Ihnen Einspruch, ist damit nichts vereinbart.").wait_for()
    answer(ann, "die Entscheidung annehmen")
    answer(bob, "Einspruch erheben")
    ann.get_by_text("Einsprüche:").wait_for()


def test_two_moves_are_chosen_at_once_after_the_talk(site, people):
    setup = Setup(
        GameChoice("dialogue:rps-talk", parameters={"replies": 1}),
        ("person", "strategy:random"),
        quiz=False,
    )
    page = people(site.lay(setup)[1][0])
    ready(page)
    shows(page, "Your turn")
    page.locator("textarea[name=answer]").fill("I will play rock.")
    page.get_by_role("button", name="Send").click()
    page.get_by_label("paper", exact=True).check()
    page.get_by_role("button", name="Send").click()
    shows(page, "The game is over")
    (play,) = site.records()
    assert play.record.void is None
    assert sum(play.record.payoffs.values()) == 0
