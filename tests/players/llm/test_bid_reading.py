"""Bids in free words."""

import pytest
from cpu_limit import cpu_limit

from bestresponse.core.ask import PASS
from bestresponse.players.llm.bids import read_bid
from bestresponse.studies.reproduce.reproduction import read_records


def bid_in(text):
    named = read_bid(text)
    return None if named is None else named.value


@pytest.mark.parametrize(
    ("reply", "bid"),
    [
        ("I'll bid 85 dollars today.", 85),
        ("**My bid: $120**", 120),
        ("Bid: 95", 95),
        ("BID = $95.50", 95.5),
        ("I'd like to offer $1,250 for my 12 units.", 1250),
        ("After thinking, I have decided to go with a bid of $88.", 88),
        ("I would never bid $500. I will bid $90.", 90),
        ("Yesterday I bid $60 and lost. Today I am bidding $75.", 75),
        ("I don't want to bid too much, so I will bid $45 today.", 45),
        ("I will bid my entire balance of $140.", 140),
        ("David will probably bid $100. I think I should bid $101 to beat him.", 101),
        ("My bid for today is $100. If I lose I will bid $150 tomorrow.", 100),
        (
            (
                "My bid is 11 * $10 = $110. However, my bid must fit my balance of $90. My adjusted"
                " bid is $90."
            ),
            90,
        ),
        ("I will bid $10 per unit of my 12 units, so my bid is 12 * $10 = $120.", 120),
    ],
)
def test_the_bid_is_found_among_other_sums(reply, bid):
    assert bid_in(reply) == bid


@pytest.mark.parametrize(
    "reply",
    [
        "I choose to abstain today and save money.",
        "I won't bid today.",
        "There is no need to bid: I am alone.",
    ],
)
def test_declining_to_bid_is_a_pass(reply):
    assert bid_in(reply) == PASS


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "My balance is $200.",
        "Bob bid $80 and Alex bid $70 yesterday.",
        "I might bid between $80 and $100.",
        "I will bid $80 or $90.",
        "I will bid 50% of my balance.",
        "I will bid $80. I will bid $95.",
        "My bid is higher than $100.",
        "My maximum bid is $120.",
        "My bid is not $100.",
        "I am willing to bid up to $120.",
    ],
)
def test_what_names_no_bid_or_several_is_not_read(reply):
    assert bid_in(reply) is None


@pytest.mark.parametrize(
    ("piece", "bid"),
    [
        ("I will ", None),
        ("my bid ", None),
        ("$5 ", None),
        ("I bid of 5 ", 5),
        ("I will not ", None),
        ("aaaa", None),
    ],
)
def test_endless_replies_are_read_like_short_ones(piece, bid):
    with cpu_limit(60):
        assert bid_in(piece * 5000) == bid_in(piece * 2) == bid


def test_at_least_98_percent_of_the_recorded_replies_are_read_right_and_fewer_than_half_a_percent_wrong(
    recorded_water,
):
    right = wrong = count = 0
    for row in read_records(recorded_water / "replies.jsonl"):
        named = bid_in(row["reply"])
        count += 1
        right += named is not None and (0 if named == PASS else named) == row["bid"]
        wrong += named is not None and (0 if named == PASS else named) != row["bid"]
    assert right / count >= 0.98
    assert wrong / count < 0.005
