"""Moves alone make a deal: what is written beside them agrees on nothing."""

from dataclasses import replace
from random import Random

import pytest
from endings import DEALS, REFUSALS

from bestresponse.core.ask import Choice, Form
from bestresponse.core.conformance import any_legal_action, check_game
from bestresponse.core.episode import Episode
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.games.dialogue.offers import make_dialogue
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.lookup import seat_model
from bestresponse.telling.render import write_history, write_rules

OFFER, ACCEPT, REJECT = "make an offer", "accept", "reject the offer"
TALK, LEAVE = "only talk", "walk away"


def haggle(private=None, **parameters):
    """A dialogue about a price from 0 to 100; the thing is worth 21 to the seller, 61 to the buyer."""
    game = make_dialogue("bargaining", {"replies": 3, **parameters})
    known = private or ({"part": "seller", "worth": 21}, {"part": "buyer", "worth": 61})
    (case,) = game.talk.cases
    return replace(game, talk=replace(game.talk, cases=(replace(case, private=known),)))


def play(game, *turns):
    """Each turn is a message and a move, and the terms where the move is an offer."""
    state = game.start()
    for message, move, *terms in turns:
        for answer in ({"message": message, "move": move}, *terms):
            ((role, ask),) = game.asks(state).items()
            ask.check(answer)
            state = game.apply(state, {role: answer})
    return state


def earned(game, *turns):
    state = play(game, *turns)
    assert game.asks(state) == {}
    return tuple(game.payoffs(state).values())


def options(game, *turns):
    ((_, ask),) = game.asks(play(game, *turns)).items()
    return dict(ask.fields)["move"].options


@pytest.mark.parametrize(("said", "answered"), REFUSALS)
@pytest.mark.parametrize("answer", [REJECT, LEAVE])
def test_a_refused_offer_is_no_deal_whatever_the_words_name(said, answered, answer):
    game = haggle(replies=2)
    offer = (said, OFFER, {"price": 50.0})
    state = play(game, offer, (answered, answer))
    assert set(game.payoffs(state).values()) == {0.0}
    assert bool(game.asks(state)) == (answer == REJECT)  # the talk goes on
    assert answered in write_history(game.view(state, "player 1"))
    if answer == REJECT:
        assert earned(game, offer, (answered, REJECT), ("Then not.", TALK), ("Bye.", LEAVE)) == (
            0.0,
            0.0,
        )


@pytest.mark.parametrize(("said", "answered"), DEALS)
def test_an_accepted_offer_is_a_deal_whatever_the_words_name(said, answered):
    # 50 - 21 and 61 - 50
    game = haggle()
    assert earned(game, (said, OFFER, {"price": 50.0}), (answered, ACCEPT)) == (29.0, 11.0)


def test_a_hundred_endings_were_judged():
    assert len(set(REFUSALS)) == len(set(DEALS)) == 50
    assert not set(REFUSALS) & set(DEALS)


def test_words_alone_agree_on_nothing():
    turns = [("Deal at 50!", TALK)] * 6
    assert earned(haggle(), *turns) == (0.0, 0.0)


def test_a_counter_offer_takes_the_place_of_the_offer_and_only_the_last_can_be_accepted():
    game = haggle()
    offers = [("80", OFFER, {"price": 80.0}), ("30", OFFER, {"price": 30.0})]
    assert options(game) == (OFFER, TALK, LEAVE)
    assert options(game, *offers) == (ACCEPT, OFFER, REJECT, LEAVE)
    assert earned(game, *offers, ("fine", ACCEPT)) == (9.0, 31.0)  # 30 - 21, 61 - 30
    assert options(game, *offers, ("no", REJECT)) == (OFFER, TALK, LEAVE)


def test_the_last_message_answers_and_makes_no_offer():
    talk = [("hm", TALK)] * 4
    game = haggle()
    offered = (*talk, ("45?", OFFER, {"price": 45.0}))
    assert options(game, *offered) == (ACCEPT, REJECT, LEAVE)
    assert earned(game, *offered, ("no", REJECT)) == (0.0, 0.0)


@pytest.mark.parametrize("price", [-1, 100.5, float("nan"), "50"])
def test_an_offer_outside_its_range_is_refused(price):
    with pytest.raises(InvalidMove):
        play(haggle(), ("x", OFFER, {"price": price}))


def test_an_option_is_worth_what_each_says():
    game = make_dialogue("meeting", {})
    (case,) = game.talk.cases
    private = ({"values": {"Monday": 4, "Thursday": 9}}, {"values": {"Thursday": 2}})
    game = replace(game, talk=replace(game.talk, cases=(replace(case, private=private),)))
    offer = ("Thursday?", OFFER, {"item": "Thursday"})
    assert earned(game, offer, ("Not Thursday, I am away.", LEAVE)) == (0.0, 0.0)
    assert earned(game, offer, ("ok", ACCEPT)) == (9.0, 2.0)
    assert earned(game, ("Monday?", OFFER, {"item": "Monday"}), ("ok", ACCEPT)) == (4.0, 0.0)


def test_a_trade_that_somebody_cannot_carry_out_cannot_be_accepted():
    game = make_dialogue("fruit", {})
    (case,) = game.talk.cases
    items = game.domain.deal.items
    none = dict.fromkeys(items, 0)
    private = (
        {"endowment": {**none, items[0]: 2}, "values": {**none, items[0]: 1, items[1]: 5}},
        {"endowment": {**none, items[1]: 1}, "values": {**none, items[0]: 3, items[1]: 4}},
    )
    game = replace(game, talk=replace(game.talk, cases=(replace(case, private=private),)))
    first, second = game.names
    nothing = {f"{name}: {item}": 0.0 for name in game.names for item in items}
    asked = nothing | {f"{first}: {items[0]}": 2.0, f"{second}: {items[1]}": 1.0}
    # the first gives 2 of worth 1 for one of worth 5; the other one of worth 4 for 2 of worth 3
    assert earned(game, ("swap?", OFFER, asked), ("yes", ACCEPT)) == (3.0, 2.0)
    too_much = asked | {f"{second}: {items[1]}": 2.0}
    assert ACCEPT not in options(game, ("swap?", OFFER, too_much))
    assert ACCEPT not in options(game, ("nothing?", OFFER, nothing))


def test_issues_are_settled_together():
    game = make_dialogue("job-offer", {})
    (case,) = game.talk.cases
    deal = game.domain.deal
    values = {level: number for number, level in enumerate(deal.names)}
    private = tuple({"part": part, "values": values} for part in ("candidate", "employer"))
    game = replace(game, talk=replace(game.talk, cases=(replace(case, private=private),)))
    terms = {name: levels[0] for name, levels in deal.issues.items()}
    # the first levels of three issues of three levels: 0 + 3 + 6
    assert earned(game, ("these?", OFFER, terms), ("yes", ACCEPT)) == (9.0, 9.0)


def test_moves_are_chosen_at_once_after_the_talk():
    game = make_dialogue("rps-talk", {"replies": 1})
    state = game.start()
    for words in ("I play rock.", "Me too."):
        ((role, _),) = game.asks(state).items()
        state = game.apply(state, {role: words})
    asked = game.asks(state)
    assert set(asked) == set(game.roles)
    assert all(ask == Choice(("rock", "paper", "scissors")) for ask in asked.values())
    state = game.apply(state, dict(zip(game.roles, ("paper", "rock"), strict=True)))
    assert tuple(game.payoffs(state).values()) == (1.0, -1.0)


@pytest.mark.parametrize(
    "domain", ["meeting", "fruit", "bargaining", "job-offer", "rps-talk", "price-talk"]
)
def test_random_play_keeps_the_promises_of_a_game(domain):
    game = make_dialogue(domain, {"cases": 3})
    for seed in range(20):
        check_game(game, seed)


def test_nobody_reads_what_only_the_other_knows():
    game = haggle()
    state = play(game, ("80", OFFER, {"price": 80.0}))
    told = [game.view(state, role) for role in game.roles]
    assert [view.facts["private"]["worth"] for view in told] == [21, 61]
    assert "21" not in write_rules(told[1]) + write_history(told[1])


def test_what_an_offer_says_is_told_in_both_languages():
    game = haggle()
    state = play(game, ("80", OFFER, {"price": 80.0}))
    reader = game.view(state, "player 2")
    first = game.names[0]
    assert f"{first} offers: 80." in write_history(reader)
    assert "If you accept now, this is agreed: 80." in write_history(reader)
    german = write_history(reader, "de")
    assert f"{first} bietet an: 80." in german
    assert "Wenn Sie jetzt annehmen, ist vereinbart: 80." in german


def test_a_form_of_terms_is_asked_for_after_the_move():
    game = haggle()
    ((role, _),) = game.asks(game.start()).items()
    state = game.apply(game.start(), {role: {"message": "80", "move": OFFER}})
    ((again, terms),) = game.asks(state).items()
    assert again == role
    assert isinstance(terms, Form)
    assert set(any_legal_action(terms, Random(1))) == {"price"}


@pytest.mark.parametrize(("domain", "offers"), [("debate", True), ("meeting", "yes")])
def test_offers_are_refused_where_they_mean_nothing(domain, offers):
    with pytest.raises(UsageError, match=r"offers"):
        make_dialogue(domain, {"offers": offers})


def test_a_model_offers_and_accepts_in_two_forms():
    game = haggle()
    replies = iter(
        [
            '{"message": "How about 40?", "move": "make an offer"}',
            '{"price": 40}',
            '{"message": "Fine.", "move": "accept"}',
        ]
    )
    model = ScriptedModel(lambda request: next(replies), name="scripted")
    episode = Episode(game)
    while not episode.over:
        ((role, ask),) = episode.pending.items()
        player = seat_model("scripted", model, game, role, 0)
        episode.submit(role, player.decide(episode.view(role), ask))
    # 40 - 21 and 61 - 40
    assert tuple(game.payoffs(episode.state).values()) == (19.0, 21.0)
