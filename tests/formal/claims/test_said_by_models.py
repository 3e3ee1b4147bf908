"""What strong models write about games can be said in a form, is decided by logic and by theory,
and is said back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from deciding import prove

from bestresponse.formal.claims import (
    Checker,
    Claim,
    ModelTranslator,
    Reviewer,
    Subject,
    parse_json,
    say,
)
from bestresponse.formal.claims.form import WrittenNumber
from bestresponse.logic import EmbeddedEngine
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.theory.catalogue import tables
from bestresponse.theory.catalogue.trees import load_tree
from bestresponse.theory.games.normal_form import NormalForm

HUNT = Subject(
    tables.load("stag-hunt")
)  # stag-stag 4, hare 3 always, stag alone 0: stag is best above 3/4
PENNIES = Subject(
    NormalForm.zero_sum([[2, 0], [0, 1]], actions=(("heads", "tails"),) * 2)
)  # value 2/3, mix 1/3 : 2/3
GRID = Subject(  # right is never better than left once bottom is gone
    NormalForm.bimatrix(
        [[4, 1, 2], [3, 2, 0], [1, 0, 1]],
        [[3, 1, 2], [4, 4, 0], [0, 2, 5]],
        actions=(("top", "mid", "bottom"), ("left", "centre", "right")),
    )
)
ROCK = Subject(tables.load("rock-paper-scissors"))
VOLUNTEERS = Subject(tables.load("volunteers-dilemma"))
ENTRY = Subject(load_tree("entry-deterrence"))


def at(*choices: tuple[str, str]) -> list[dict[str, str]]:
    return [{"who": who, "action": action} for who, action in choices]


def mix(who: str, **weights: object) -> dict[str, Any]:
    return {"who": who, "weights": [{"action": a, "probability": p} for a, p in weights.items()]}


STAGS, HARES = at(("you", "stag"), ("them", "stag")), at(("you", "hare"), ("them", "hare"))
STAG = at(("them", "stag"))
IN_SHARE, OUT = at(("you", "in"), ("them", "share")), at(("you", "out"))
THIRDS = {"rock": "1/3", "paper": "1/3", "scissors": "1/3"}
SPOKEN: list[tuple[Subject, dict[str, Any], str, str]] = [
    (
        HUNT,
        {"form": "payoff_difference", "who": "you", "value": 1, "outcome": STAGS, "than": HARES},
        "proved",
        (
            "You get 1 more if you choose stag and the other player chooses stag than if you choose"
            " hare and the other player chooses hare."
        ),
    ),
    (
        HUNT,
        {"form": "payoff_ratio", "who": "you", "value": "4/3", "outcome": STAGS, "than": HARES},
        "proved",
        (
            "You get 4/3 times as much if you choose stag and the other player chooses stag as if"
            " you choose hare and the other player chooses hare."
        ),
    ),
    (
        HUNT,
        {"form": "payoff_ratio", "who": "you", "value": 2, "outcome": STAGS, "than": HARES},
        "refuted",
        "",
    ),
    (
        HUNT,
        {
            "form": "better_response_above",
            "share": "3/4",
            "action": "stag",
            "other": "hare",
            "chosen": STAG,
        },
        "proved",
        (
            "If the probability that the other player chooses stag is above 0.75, stag earns you"
            " more than hare."
        ),
    ),
    (
        HUNT,
        {
            "form": "better_response_above",
            "share": "1/2",
            "action": "stag",
            "other": "hare",
            "chosen": STAG,
        },
        "refuted",
        "",
    ),
    (
        HUNT,
        {"form": "best_response_below", "share": 0.75, "action": "hare", "chosen": STAG},
        "proved",
        (
            "If the probability that the other player chooses stag is below 0.75, no choice earns"
            " you more than hare."
        ),
    ),
    (
        HUNT,
        {"form": "best_response_below", "share": 0.8, "action": "hare", "chosen": STAG},
        "refuted",
        "",
    ),
    (
        HUNT,
        {
            "form": "equal_response_to_mix",
            "action": "stag",
            "other": "hare",
            "mixed": [mix("them", stag="3/4", hare="1/4")],
        },
        "proved",
        (
            "If the other player chooses stag with probability 0.75 and hare with probability 0.25,"
            " stag earns you the same on average as hare."
        ),
    ),
    (
        HUNT,
        {
            "form": "better_response_to_mix",
            "action": "stag",
            "other": "hare",
            "mixed": [mix("them", stag=0.6, hare=0.4)],
        },
        "refuted",
        "",
    ),
    (  # 4 x 0.745 = 2.98, and 2.982 where 0.745 stands for 0.7455: less than 3.
        HUNT,
        {
            "form": "better_response_to_mix",
            "action": "stag",
            "other": "hare",
            "mixed": [mix("them", stag=0.745, hare=0.255)],
        },
        "refuted",
        "",
    ),
    (  # 0.75 may stand for 0.754, against which stag earns 4 x 0.754 = 3.016.
        HUNT,
        {
            "form": "better_response_to_mix",
            "action": "stag",
            "other": "hare",
            "mixed": [mix("them", stag=0.75, hare=0.25)],
        },
        "proved",
        "",
    ),
    (
        HUNT,
        {
            "form": "mixed_payoff",
            "who": "them",
            "value": 3,
            "mixes": [mix("you", stag="3/4", hare="1/4"), mix("them", stag="3/4", hare="1/4")],
        },
        "proved",
        "",
    ),
    (
        PENNIES,
        {"form": "mixed_equilibrium_part", "part": [mix("you", heads="1/3", tails="2/3")]},
        "proved",
        (
            "In some Nash equilibrium you choose heads with probability 1/3 and tails with"
            " probability 2/3."
        ),
    ),
    (
        PENNIES,
        {"form": "mixed_equilibrium_part", "part": [mix("you", heads=0.33, tails=0.67)]},
        "proved",
        "",
    ),
    (
        PENNIES,
        {"form": "mixed_equilibrium_part", "part": [mix("you", heads=0.5, tails=0.5)]},
        "refuted",
        "",
    ),
    (
        PENNIES,
        {
            "form": "mixed_payoff",
            "who": "you",
            "value": 0.67,
            "mixes": [mix("you", heads=0.33, tails=0.67), mix("them", heads=0.33, tails=0.67)],
        },
        "proved",
        "",
    ),
    (
        PENNIES,
        {
            "form": "mixed_equilibrium",
            "mixes": [mix("you", heads=0.33, tails=0.67), mix("them", heads=0.33, tails=0.67)],
        },
        "proved",
        "",
    ),
    (
        PENNIES,
        {
            "form": "mixed_equilibrium",
            "mixes": [mix("you", heads=0.36, tails=0.64), mix("them", heads=0.33, tails=0.67)],
        },
        "refuted",
        "",
    ),
    (
        GRID,
        {
            "form": "strictly_dominates_without",
            "action": "left",
            "other": "right",
            "who": "them",
            "removed": at(("you", "bottom")),
        },
        "proved",
        "Once bottom of yours is gone, left strictly dominates right for the other player.",
    ),
    (
        GRID,
        {"form": "strictly_dominates", "action": "left", "other": "right", "who": "them"},
        "refuted",
        "",
    ),
    (
        GRID,
        {
            "form": "weakly_dominates_without",
            "action": "left",
            "other": "centre",
            "who": "them",
            "removed": at(("you", "bottom")),
        },
        "proved",
        "",
    ),
    (
        GRID,
        {
            "form": "strictly_dominates_without",
            "action": "left",
            "other": "centre",
            "who": "them",
            "removed": at(("you", "bottom")),
        },
        "refuted",
        "",
    ),
    (
        ROCK,
        {"form": "expected_payoff", "value": 0, "action": "rock", "mixed": [mix("them", **THIRDS)]},
        "proved",
        "",
    ),
    (
        ROCK,
        {"form": "mixed_equilibrium", "mixes": [mix("you", **THIRDS), mix("them", **THIRDS)]},
        "proved",
        "",
    ),
    (
        VOLUNTEERS,
        {
            "form": "total_payoff",
            "value": 3,
            "outcome": at(*((who, "volunteer") for who in VOLUNTEERS.players)),
        },
        "proved",
        "",
    ),
    (
        ENTRY,
        {"form": "payoff_difference", "who": "you", "value": 1, "outcome": IN_SHARE, "than": OUT},
        "proved",
        (
            "You get 1 more if you choose in and the other player chooses share than if you choose"
            " out."
        ),
    ),
    (ENTRY, {"form": "total_payoff", "value": 4, "outcome": IN_SHARE}, "proved", ""),
    (ENTRY, {"form": "total_payoff", "value": 6, "outcome": IN_SHARE}, "refuted", ""),
]


@pytest.mark.parametrize(("subject", "row", "verdict", "words"), SPOKEN)
def test_what_models_write_is_decided_twice_and_said_back(
    subject: Subject, row: dict[str, Any], verdict: str, words: str
) -> None:
    (claim,) = parse_json(json.dumps({"claims": [row]}))
    assert isinstance(claim, Claim)
    checker = Checker(subject, EmbeddedEngine())
    assert checker.logic is not None
    assert [prove(check, claim).verdict.value for check in (checker.theory, checker.logic)] == [
        verdict,
        verdict,
    ]
    assert words in ("", say(claim))


def test_a_denial_that_holds_but_for_rounding_is_not_refuted() -> None:
    mixes = [mix("you", heads=0.33, tails=0.67), mix("them", heads=0.33, tails=0.67)]
    row = {"form": "mixed_equilibrium", "mixes": mixes, "negated": True}
    (claim,) = parse_json(json.dumps({"claims": [row]}))
    proof = Checker(PENNIES, EmbeddedEngine()).check(claim).proof
    assert (proof.verdict.value, proof.why) == (
        "unknown",
        "it depends on how its probabilities are rounded",
    )


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (
            {"form": "mixed_equilibrium_part", "part": [mix("them", P=0.27, Q=0.1, R=0.63)]},
            "unknown",
        ),
        (
            {
                "form": "mixed_equilibrium",
                "mixes": [mix("you", A=0.6, B=0.09, C=0.31), mix("them", P=0.27, Q=0.1, R=0.63)],
            },
            "proved",
        ),
        (
            {
                "form": "mixed_equilibrium",
                "mixes": [mix("you", A=0.6, B=0.09, C=0.31), mix("them", P=0.3, Q=0.1, R=0.6)],
            },
            "refuted",
        ),
    ],
)
def test_a_probability_of_a_rounded_mix_is_rounded_even_where_it_ends_in_a_nought(
    row: dict[str, Any], verdict: str
) -> None:
    # Solved by hand: the row player mixes 214, 32, 113 in 359, the column player 97, 37, 225 in
    # 359.
    payoffs = [[-9.0, -4.0, -1.0], [-7.0, 9.0, -4.0], [8.0, -6.0, -8.0]]
    game = NormalForm.zero_sum(payoffs, actions=(("A", "B", "C"), ("P", "Q", "R")))
    (claim,) = parse_json(json.dumps({"claims": [row]}))
    assert Checker(Subject(game), EmbeddedEngine()).check(claim).verdict.value == verdict


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (
            {"form": "best_response_above", "share": 2, "action": "stag", "chosen": STAG},
            "between 0 and 1",
        ),
        (
            {"form": "best_response_above", "share": 1, "action": "stag", "chosen": STAGS},
            "the only other player",
        ),
        (
            {
                "form": "strictly_dominates_without",
                "action": "stag",
                "other": "hare",
                "removed": STAG + HARES[1:],
            },
            "somebody is left without a choice",
        ),
        (
            {
                "form": "strictly_dominates_without",
                "action": "stag",
                "other": "hare",
                "removed": STAGS[:1],
            },
            "nothing is eliminated, or what is compared",
        ),
        ({"form": "mixed_equilibrium_part", "part": []}, "it is not one of two players who mixes"),
        ({"form": "unclear"}, "it is not clear who or what is meant"),
    ],
)
def test_what_cannot_be_put_to_the_game_says_why(row: dict[str, Any], why: str) -> None:
    (claim,) = parse_json(json.dumps({"claims": [row]}))
    proof = Checker(HUNT, EmbeddedEngine()).check(claim).proof
    assert proof.verdict.value == "unknown"
    assert why in proof.why


def reply(*rows: dict[str, Any]) -> str:
    return json.dumps({"claims": list(rows)})


def test_cut_replies_unknown_forms_and_unclear_references_are_counted() -> None:
    text = "It gives 4. If both hunt hare, I get 3."
    rows = ({"form": "unclear", "quote": "It gives 4"}, {"form": "regret", "quote": "It gives 4"})
    cut = reply(*rows)[:-2] + ', {"form": "pay'
    rest = reply(
        {"form": "payoff", "quote": "If both hunt hare, I get 3", "value": 3, "outcome": HARES}
    )
    review = Reviewer(ModelTranslator(ScriptedModel([cut, rest]))).review(text, HUNT)
    assert review.troubles == {"replies cut off": 1, "unclear reference": 1, "unknown form": 1}
    assert [checked.verdict.value for checked in review.checked] == ["unknown", "unknown", "proved"]


@pytest.mark.parametrize(
    ("amount", "verdict"),
    [
        ("0.0", "proved"),
        ("0.04", "proved"),
        ("0", "refuted"),
        ("0.1", "refuted"),
        ("0.00", "refuted"),
    ],
)
def test_an_amount_is_rounded_to_the_decimals_that_were_written_zeros_too(amount, verdict) -> None:
    # The value of [[9, -5], [-7, 4]] is (9 x 4 - 5 x 7) / (9 + 5 + 7 + 4) = 0.04.
    game = NormalForm.zero_sum([[9, -5], [-7, 4]])
    claim = Claim("equilibrium_payoff", ("you", WrittenNumber(amount)))
    assert Checker(Subject(game)).check(claim).verdict.value == verdict
