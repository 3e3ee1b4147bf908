"""In a real browser: people, a model, and everything a restless finger can do."""

import re

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

from browser import PATIENCE, ready, shows  # noqa: E402
from waiting import wait_until  # noqa: E402
from web_server import MODEL  # noqa: E402

from bestresponse.formal.formalize.plan import library  # noqa: E402
from bestresponse.web.sessions.setup import GameChoice, Setup  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.drawn]


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
    given = [
        (s.role, s.decision.action) for s in play.record.submissions if s.role in ("Alex", "Bob")
    ]
    assert sorted(given) == [("Alex", 30.0), ("Alex", 30.0), ("Bob", 35.5), ("Bob", 35.5)]
    assert all(not s.decision.stand_in for s in play.record.submissions)
    assert play.record.players["Cindy"] == f"model:{MODEL}"


def test_a_program_in_the_folder_of_games_is_played_by_two_people(site, people):
    admin = people(f"{site.base}/enter/{site.state.keys.admin}")
    program = next(one.program for one in library() if one.name == "prisoners_dilemma")
    (site.folder / "games").mkdir()
    (site.folder / "games" / "the-cell.pl").write_text(
        program.replace("payoff('Silent', 'Silent', 3, 3)", "payoff('Silent', 'Silent', 4, 4)")
    )
    admin.goto(site.base)
    admin.get_by_role("link", name="the-cell").click()
    admin.locator("#seat1").select_option("person")
    admin.locator("input[name=quiz]").uncheck()
    admin.get_by_role("button", name="Lay the table").click()
    seats = admin.get_by_role("link", name="link of the seat")
    seats.nth(1).wait_for()
    ada, ben = (people(link.get_attribute("href")) for link in seats.all())
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


def test_a_game_against_a_strategy_is_two_clicks_away(site, people):
    admin = people(f"{site.base}/enter/{site.state.keys.admin}")
    admin.get_by_role("link", name="ultimatum").click()
    admin.get_by_role("button", name="Play now").click()
    shows(admin, "Ultimatum game")
    admin.get_by_text("You are the proposer. You play with the responder.").wait_for()
    ready(admin)
    admin.locator("input[name=answer]").fill("3")
    admin.get_by_role("button", name="Send").click()
    shows(admin, "The game is over")  # the equilibrium accepts
    admin.get_by_text("7", exact=True).first.wait_for()


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
    store = site.state.sessions.get_session(session)
    assert store.turn("row") == 1
    sent = {
        "csrf": site.state.csrf(site.state.seat_token(session, 0)),
        "turn": "0",
        "answer": "defect",
    }
    answer = first.context.request.post(f"{link}/answer", form=sent)
    assert "the first answer counts" in answer.text()
    assert store.turn("row") == 1
    shows(second, "Waiting for the others")
    col.get_by_label("defect").check()
    col.get_by_role("button", name="Send").click()
    shows(second, "Your turn")
    assert [s.decision.action for s in store.episode.submissions] == ["cooperate", "defect"]


def test_an_illegal_answer_stays_in_its_field_with_a_sentence_beside_it(site, people):
    setup = Setup(
        GameChoice("water", rounds=1),
        ("person", *("strategy:need",) * 4),
        quiz=False,
        stand_in="need",
    )
    _, (link,) = site.lay(setup)
    alex = people(link)
    ready(alex)
    shows(alex, "Your turn")
    alex.locator("input[name=answer]").fill("1000")
    alex.get_by_role("button", name="Send").click()
    alex.get_by_text("1000 is not between 0 and 70.").wait_for()
    assert alex.locator("input[name=answer]").input_value() == "1000"
    beside = people(alex.url)
    shows(beside, "Your turn")
    assert beside.url == link
    alex.get_by_role("button", name="Pass").click()
    shows(alex, "The game is over")
    answers = {s.role: s.decision.action for s in site.records()[0].record.submissions}
    assert answers["Alex"] == "pass"


def test_a_wrong_field_of_several_is_named_and_the_others_keep_what_was_typed(site, people):
    seats = ("person", *("strategy:random",) * 3)
    session, (link,) = site.lay(Setup(GameChoice("public-goods-punishment"), seats, quiz=False))
    player = people(link)
    ready(player)
    player.get_by_label("Your answer").fill("10")
    player.get_by_role("button", name="Send").click()
    player.get_by_label("player 2").fill("1")
    player.get_by_label("player 3").fill("9")
    player.get_by_label("player 4").fill("")
    player.get_by_role("button", name="Send").click()
    player.get_by_text("9 is not between 0 and 5.").wait_for()
    player.get_by_text("Type a number.").wait_for()
    assert player.locator("[aria-invalid=true]").count() == 2
    assert [player.get_by_label(f"player {k}").input_value() for k in (2, 3, 4)] == ["1", "9", ""]
    assert site.state.sessions.get_session(session).turn("player 1") == 1
    player.get_by_label("player 3").fill("0")
    player.get_by_label("player 4").fill("2")
    player.get_by_role("button", name="Send").click()
    player.get_by_text("Round 2 of 10").wait_for()
    (given,) = (
        s.decision.action
        for s in site.state.sessions.get_session(session).episode.submissions[4:]
        if s.role == "player 1"
    )
    assert given == {"player 2": 1.0, "player 3": 0.0, "player 4": 2.0}


def test_sliders_and_numbers_of_a_mixture_move_together(site, people):
    seats = ("person", "strategy:uniform")
    _, (link,) = site.lay(Setup(GameChoice("matching-pennies", mixed=True), seats, quiz=False))
    player = people(link)
    ready(player)
    player.get_by_label("heads in percent, slider").fill("40")
    assert player.get_by_label("heads", exact=True).input_value() == "40"
    player.get_by_label("tails", exact=True).fill("50")
    player.get_by_text("90 % of 100 %").wait_for()
    player.get_by_role("button", name="Send").click()
    player.get_by_text("The shares add up to 90 percent, not to 100.").wait_for()
    assert player.get_by_label("heads", exact=True).input_value() == "40"
    player.get_by_label("tails in percent, slider").fill("60")
    player.get_by_text("100 % – good").wait_for()
    player.get_by_role("button", name="Send").click()
    shows(player, "The game is over")
    (play,) = site.records()
    assert {s.role: s.decision.action for s in play.record.submissions}["row"] == (0.4, 0.6)


def time_is_up(site, session, role):
    """As if that question had been put long ago."""
    table = site.state.sessions.get_session(session)
    with table.lock:
        turn, since = table.asked[role]
        table.asked[role] = (turn, since - 1000)


def test_whoever_is_gone_sees_the_clock_run_out_and_the_record_names_the_stand_in(site, people):
    setup = Setup(
        GameChoice("prisoners-dilemma"),
        ("person", "person"),
        quiz=False,
        seconds=600,
        stand_in="level-1",
    )
    session, links = site.lay(setup)
    here, gone = (people(link) for link in links)
    ready(here)
    ready(gone)
    gone.get_by_role("timer").wait_for()
    assert (
        0
        < int(re.fullmatch(r"(\d+) seconds left", gone.get_by_role("timer").inner_text())[1])
        <= 600
    )
    here.get_by_label("cooperate").check()
    here.get_by_role("button", name="Send").click()
    shows(here, "Waiting for the others")
    time_is_up(site, session, "col")
    gone.get_by_text("A stand-in answered for you 1 time.").wait_for()
    shows(here, "The game is over")
    (play,) = site.records()
    decisions = {s.role: s.decision for s in play.record.submissions}
    assert decisions["row"].stand_in == ""
    assert (decisions["col"].action, decisions["col"].stand_in) == ("defect", "level-1")
    assert decisions["col"].reading.how == "no answer within 600 seconds"


def still(chromium, link):
    """A page that nothing moves on: without scripts it stays as it was loaded."""
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(link)
    return page


def test_an_answer_from_a_stale_tab_is_refused_with_the_reason(site, people, chromium):
    game = GameChoice("prisoners-dilemma", rounds=2)
    setup = Setup(game, ("person", "person"), quiz=False, seconds=600, stand_in="level-1")
    session, (link, other) = site.lay(setup)
    first, second = people(link), people(other)
    ready(first)
    ready(second)
    shows(first, "Your turn")
    shows(second, "Your turn")
    doubled, late = still(chromium, link), still(chromium, other)
    first.get_by_label("cooperate").check()
    first.get_by_role("button", name="Send").click()
    shows(first, "Waiting for the others")
    doubled.get_by_label("defect").check()
    doubled.get_by_role("button", name="Send").click()
    doubled.get_by_text("the first answer counts, and nothing was counted twice").wait_for()
    time_is_up(site, session, "col")
    first.get_by_role("row", name="1 cooperate defect 0").wait_for()
    late.get_by_label("cooperate").check()
    late.get_by_role("button", name="Send").click()
    late.get_by_text("a stand-in had answered for you, and your answer does not count").wait_for()
    given = [
        (s.role, s.decision.action)
        for s in site.state.sessions.get_session(session).episode.submissions[:2]
    ]
    assert given == [("row", "cooperate"), ("col", "defect")]
    for page in (doubled, late):
        page.context.close()


def test_a_link_with_the_key_of_another_seat_opens_nothing(site, chromium):
    _, (link, other) = site.lay(
        Setup(GameChoice("prisoners-dilemma"), ("person", "person"), quiz=False)
    )
    foreign = still(chromium, other.rsplit("/", 1)[0] + "/" + link.rsplit("/", 1)[1])
    foreign.get_by_text("This link leads to no seat").wait_for()
    assert foreign.get_by_role("button").count() == 0
    foreign.context.close()


def test_people_who_follow_the_shared_link_are_matched_into_groups(site, people):
    setup = Setup(GameChoice("battle-of-the-sexes"), ("person", "person"), quiz=False)
    lobby = site.state.sessions.create_sessions(setup, 2)
    join = site.base + site.state.join_path(lobby.id)
    four = [people(join) for _ in range(4)]
    for page in four:
        page.get_by_role("button", name="Take part").click()
        page.get_by_role("button", name="I am ready").wait_for()
    seats = [page.url.split("/")[4:6] for page in four]
    assert seats == [[f"{lobby.id}-{group}", seat] for group in (1, 2) for seat in ("0", "1")]
    four[0].goto(join)
    assert four[0].url.split("/")[4:6] == seats[0]
    for page in four:
        ready(page)
    for page, move in zip(four, ("opera", "opera", "opera", "football"), strict=True):
        shows(page, "Your turn")
        page.get_by_label(move).check()
        page.get_by_role("button", name="Send").click()
    for page in four:
        shows(page, "The game is over")
    payoffs = {play.spec: play.record.payoffs for play in site.records()}
    assert payoffs == {
        f"{lobby.id}-1": {"row": 2.0, "col": 1.0},
        f"{lobby.id}-2": {"row": 0.0, "col": 0.0},
    }


def test_after_the_payoffs_the_equilibrium_is_shown(site, people):
    _, (link,) = site.lay(Setup(GameChoice("trust"), ("person", "strategy:random"), quiz=True))
    sender = people(link)
    for question in sender.locator("label[for^=quiz]").all():
        sent, back = re.findall(r"\d+", question.inner_text())
        sender.locator(f"#{question.get_attribute('for')}").fill(str(10 - int(sent) + int(back)))
    ready(sender)
    sender.get_by_label("Your answer").fill("4")
    sender.get_by_role("button", name="Send").click()
    shows(sender, "The game is over")
    assert sender.get_by_text("The receiver returns nothing").count() == 0
    sender.get_by_role("link", name="Show it").click()
    sender.get_by_text(
        "The receiver returns nothing, and therefore the sender sends nothing."
    ).wait_for()
    sender.get_by_role("cell", name="in equilibrium").wait_for()


WIDE_LETTERS = (
    "* { font-family: 'DejaVu Sans', Verdana, sans-serif !important; letter-spacing: .06em"
    " !important; }"
)
"""As wide as the widest common font, whatever fonts the machine has."""
LARGE_TEXT = "html { font-size: 125% !important; }"


def test_no_page_is_wider_than_a_telephone_and_none_complains(site, chromium):
    context = chromium.new_context(
        viewport={"width": 390, "height": 800}, color_scheme="dark", bypass_csp=True
    )
    page = context.new_page()
    complaints = []
    page.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    page.goto(f"{site.base}/enter/{site.state.keys.admin}")
    lobby = site.state.sessions.create_sessions(Setup(GameChoice("water"), ("person",) * 5), 2)
    seat = site.state.seat_path(lobby.tables[0].id, 0)
    site.state.sessions.create_sessions(
        Setup(GameChoice("chicken", rounds=3), ("strategy:greedy", "strategy:uniform"))
    )
    wait_until(site.records)
    play = f"/watch/run/sessions/play/{site.records()[0].spec}"
    fixed = (
        "/",
        "/play/new?game=water",
        "/watch",
        "/export",
        "/watch/run/sessions",
    )
    too_wide = []
    for path in (*fixed, f"/lobby/{lobby.id}", seat, play):
        page.set_viewport_size({"width": 390, "height": 800})
        page.goto(site.base + path)
        for style in ("", WIDE_LETTERS, LARGE_TEXT):
            if style:
                page.add_style_tag(content=style)
            for width in (390, 320):
                page.set_viewport_size({"width": width, "height": 800})
                found = page.evaluate("document.documentElement.scrollWidth")
                too_wide += [(path, style[:12], width, found)] if found > width else []
    context.close()
    assert too_wide == []
    assert complaints == []


def test_a_consent_tick_stays_when_somebody_else_becomes_ready(site, people):
    setup = Setup(
        GameChoice("battle-of-the-sexes"), ("person", "person"), quiz=False, consent="Do you agree?"
    )
    session, links = site.lay(setup)
    ann, bob = (people(link) for link in links)
    ann.get_by_role("checkbox").check()
    bob.get_by_role("checkbox").check()
    ready(bob)
    shows(bob, "You are ready")
    store = site.state.sessions
    for text in (
        "One moment.",
        "Thank you.",
    ):  # the second comes after all that Bob's readiness makes the server say
        store.send_message(store.get_session(session), text)
        ann.get_by_text(text).wait_for()
    assert ann.get_by_role("checkbox").is_checked()


def test_what_was_typed_is_sent_when_the_time_is_up(site, people):
    setup = Setup(
        GameChoice("public-goods-punishment"),
        ("person", *("strategy:random",) * 3),
        seconds=600,
        quiz=False,
    )
    session, (link,) = site.lay(setup)
    ann = people(link)
    ready(ann)
    shows(ann, "Your turn")
    ann.locator("input[name=answer]").fill("15")
    ann.evaluate(
        "{ const now = performance.now.bind(performance); performance.now = () => now() +"
        " 600_000; }"
    )
    table = site.state.sessions.get_session(session)
    wait_until(lambda: ann.wait_for_timeout(50) or table.turn("player 1") > 0)
    given = table.answer("player 1", 0).decision
    assert (given.action, given.stand_in) == (15.0, "")
