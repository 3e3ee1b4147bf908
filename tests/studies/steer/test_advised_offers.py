"""Advice on offers: what to ask for, and how much more than accepting that earns."""

import math

import pytest

import bestresponse as br
from bestresponse.core.errors import InvalidMove, UsageError


def test_an_offer_is_advised_with_its_gain_over_accepting():
    # 88 - 60 at once, or 0.7 * (88 - 30): the seller accepts 30, as 0.7 * 18 > 0.49 * 23.
    advice = br.advise("haggling", ["60"])
    assert advice.instruction == "offer 30: worth 12.6 more than accepting"
    assert (advice.speaker, advice.manner, advice.unguided) == (1, "30", 28.0)
    assert advice.earns == pytest.approx(0.7 * 58)
    assert advice.source == "solved positions"


def test_the_first_offer_is_advised_and_a_good_one_is_accepted():
    opening = br.advise("haggling(cost=12, value=88)", [])
    assert opening.instruction == "offer 45"
    assert math.isnan(opening.unguided)
    # 88 - 45 >= 0.7 * (88 - 30)
    assert br.advise("haggling", [("seller", "45")]).instruction == "accept"


@pytest.mark.parametrize(
    ("game", "offers", "why"),
    [
        ("haggling", ["60", "accept"], "the talk is over"),
        ("haggling", ["60", "accept", "5"], "message 3 is '5', but the talk is over"),
        ("hidden-haggling", [], "no game of offers without secrets"),
        ("meeting", [], "`private` is missing"),
    ],
)
def test_what_cannot_be_advised_is_refused(game, offers, why):
    with pytest.raises(UsageError, match=why):
        br.advise(game, offers)


def test_an_offer_off_the_list_of_prices_is_refused():
    with pytest.raises(InvalidMove, match="'61' is not one of"):
        br.advise("haggling", ["61"])


def test_the_tool_for_clients_advises_offers():
    tools = pytest.importorskip("bestresponse.integrations.mcp.tools")
    told = tools.advise_speaker("haggling", [tools.SpokenLine(text="60")])
    assert told.instruction == "offer 30: worth 12.6 more than accepting"
    assert tools.advise_speaker("haggling", []).unguided is None
