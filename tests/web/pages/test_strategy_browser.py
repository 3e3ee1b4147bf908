"""In a real browser: an ultimatum by the strategy method, from the invitation to the payments."""

import csv
import io
import json
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

from browser import ready, shows

from bestresponse.web.services.export import export_table

pytestmark = [pytest.mark.slow, pytest.mark.drawn]
EXPERIMENT = Path(__file__).parents[3] / "examples" / "experiments" / "ultimatum.toml"


def send(page):
    page.get_by_role("button", name="Send").click()


def test_eight_people_offer_and_say_which_offers_they_accept(site, people):
    lobby = site.state.sessions.create_experiment(EXPERIMENT.read_text("utf-8"))
    link = site.base + site.state.join_path(lobby.id)
    pages = [people(f"{link}?participant_label=p{number}") for number in range(8)]
    for page in pages:
        page.get_by_role("button", name="I have read this and agree to take part").click()
        ready(page)
    offers = (2, 3, 5, 0)
    least = (2, 4, 0, 1)
    for group, (proposer, responder) in enumerate(zip(pages[::2], pages[1::2], strict=True)):
        shows(responder, "Your turn")
        for offer in range(11):
            row = responder.get_by_role("radiogroup", name=f"if {offer}", exact=True)
            wanted = "accept" if offer >= least[group] else "reject"
            if not (group == 3 and offer == 10):  # one answer is forgotten, and asked for
                row.get_by_label(wanted, exact=True).check()
        send(responder)
        if group == 3:
            responder.get_by_text("Choose one of the options.").wait_for()
            responder.get_by_role("radiogroup", name="if 10").get_by_label("accept").check()
            send(responder)
        proposer.locator("input[name=answer]").fill(str(offers[group]))
        send(proposer)
    paid = {0: ("6.00", "3.00"), 1: ("2.00", "2.00"), 2: ("4.50", "4.50"), 3: ("2.00", "2.00")}
    for number, page in enumerate(pages):
        shows(page, "The game is over")
        page.get_by_text(f"EUR {paid[number // 2][number % 2]}").last.wait_for()
        page.get_by_text("OFFER-7").wait_for()
    table = export_table(site.state, "decisions", "csv", lobby.id).decode()
    rows = {row["participant_label"]: row for row in csv.DictReader(io.StringIO(table))}
    for group in range(4):
        accepted = [
            case
            for case, answer in json.loads(rows[f"p{2 * group + 1}"]["action"]).items()
            if answer == "accept"
        ]
        assert accepted[0] == f"if {least[group]}"
        assert float(rows[f"p{2 * group}"]["counted"]) == offers[group]
    counted = [rows[f"p{number}"]["counted"] for number in (1, 3, 5, 7)]
    assert counted == ["accept", "reject", "accept", "reject"]
    assert {row["situation"] for row in rows.values() if row["role"] == "responder"} != {""}
