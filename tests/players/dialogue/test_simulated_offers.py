"""The simulated speaker talks, plays and rules in every domain that comes with the package."""

import json

import pytest

from bestresponse.core.episode import play
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE, REFEREE
from bestresponse.core.player import Nature
from bestresponse.games.dialogue.domain import (
    domain_names,
    load_domain,
    parse_domain,
    read_domain_text,
    scenarios,
)
from bestresponse.games.dialogue.game import DialogueGame, draw_plain_dialogue
from bestresponse.players.lookup import find_strategy


def hold(game, seed):
    seats = {role: find_strategy("simulated", game, role, seed) for role in (*game.roles, REFEREE)}
    return play(game, {**seats, NATURE: Nature(seed)})


@pytest.mark.parametrize("name", domain_names())
def test_every_talk_comes_to_an_end_that_the_rules_accept(name):
    domain = load_domain(name)
    game = draw_plain_dialogue(domain, cases=5)
    for seed in range(5):
        record = hold(game, seed)
        assert record.void is None
        assert all(domain.low <= payoff <= domain.high for payoff in record.payoffs.values())


def test_a_thousand_different_games_are_drawn_of_every_domain():
    for name in domain_names():
        assert len({one.id for one in scenarios(load_domain(name), 0, 1000)}) == 1000


def test_nobody_accepts_a_price_at_a_loss():
    game = draw_plain_dialogue(load_domain("bargaining"), cases=30)
    accepted = 0
    for record in (hold(game, seed) for seed in range(30)):
        for spoken in record.submissions:
            if spoken.role != REFEREE and "I accept" in str(spoken.decision.action):
                accepted += 1
                assert record.payoffs[spoken.role] >= 0
    assert accepted > 3


def sealed_game():
    domain = load_domain("rps-talk")
    return DialogueGame(domain, (scenarios(domain, 0, 1)[0],), domain.manners())


def say(game, state, manner, text):
    role = next(iter(game.asks(state)))
    return game.apply(game.apply(state, {role: manner}), {role: text})


def test_a_sealed_note_is_read_by_nobody_before_both_are_handed_in():
    game = sealed_game()
    state = game.start()
    for manner, text in (("rock", "I will play rock."), ("paper", "I will play paper.")):
        state = say(game, state, manner, text)
    state = say(game, state, "scissors", "I play scissors.")
    before = game.view(state, "player 2")
    assert "scissors." not in before.situation.partition("[1]")[2]
    assert [text for _, _, text in before.facts["said"]] == [
        "I will play rock.",
        "I will play paper.",
    ]
    assert "sealed note" in before.situation
    state = say(game, state, "rock", "I play rock.")
    assert list(game.asks(state)) == [REFEREE]
    state = game.apply(state, {REFEREE: json.dumps({"moves": ["scissors", "rock"]})})
    assert game.payoffs(state) == {"player 1": -1.0, "player 2": 1.0}
    assert "I play scissors." in game.view(state, "player 2").situation


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("rps-talk", "[1, 0, -1]", "[1, 0]", "deal.payoffs: expected 3 rows of 3 numbers"),
        ("rps-talk", "high = 1", "high = 0.5", "utilities can be -1 to 1"),
        ("bargaining", "[0, 100]", "[0, 1000]", "utilities can be -990 to 990"),
        ("job-offer", '"25 days"', '"48 thousand"', "two levels have the same name"),
        (
            "job-offer",
            '"candidate", "employer"',
            '"candidate"',
            "generate.parts: expected at least 2",
        ),
        ("rps-talk", "note =", "notes =", "texts.note is missing"),
        (
            "bargaining",
            'kind = "price"',
            'kind = "prize"',
            "deal.kind is 'prize', expected one of option, trade",
        ),
    ],
)
def test_a_domain_that_cannot_be_is_refused(name, old, new, why):
    with pytest.raises(InvalidGame, match=why):
        parse_domain(read_domain_text(name).replace(old, new), name)
