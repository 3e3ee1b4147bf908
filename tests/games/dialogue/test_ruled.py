"""A referee quotes the sentence on which it rules, and both people can object."""

import json
from dataclasses import replace

import pytest

from bestresponse.games.dialogue.offers import make_dialogue
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.lookup import seat_model
from bestresponse.telling.language import find_home, load_language
from bestresponse.telling.render import write_history

SAID = ("How about 50? I could go lower.", "50 is what I thought of. Deal.")


def haggle(**parameters):
    """A talk about a price from 0 to 100; the thing is worth 21 to the seller, 61 to the buyer."""
    game = make_dialogue("bargaining", {"offers": False, **parameters})
    known = ({"part": "seller", "worth": 21}, {"part": "buyer", "worth": 61})
    (case,) = game.cases
    return replace(game, cases=(replace(case, private=known),))


def _reply(request, ruling):
    assert '"quote": "<text>"' in request.messages[-1].content
    return json.dumps(ruling)


def rule(game, reply, said=SAID):
    """Say these words, and let a model rule on them; return the state."""
    state = game.start()
    for text in said:
        ((role, _),) = game.asks(state).items()
        state = game.apply(state, {role: text})
    model = ScriptedModel(lambda request: _reply(request, reply))
    referee = seat_model("m", model, game, "referee", 0)
    ruled = referee.decide(game.view(state, "referee"), game.asks(state)["referee"])
    return game.apply(state, {"referee": ruled.action})


def agree(quote, price=50):
    return {"agreed": True, "price": price, "quote": quote}


def answer(game, state, first, second):
    for role in game.roles:
        assert game.asks(state)[role].options == ("accept the decision", "object")
    return game.apply(state, {"player 1": first, "player 2": second})


def told(game, state, role="player 2", language="en"):
    spoken = load_language(language).within(find_home(game))
    return write_history(game.view(state, role), spoken)


def test_both_read_the_quote_and_only_what_both_accept_is_paid():
    game = haggle(replies=1)
    state = rule(game, agree("50 is what I  thought of."))
    for role in game.roles:
        assert "Decision: 50. It rests on this sentence: “50 is what I thought of.”" in told(
            game, state, role
        )
    assert "Entscheidung: 50. Sie beruht auf diesem Satz: „50 is" in told(
        game, state, language="de"
    )
    assert set(game.payoffs(state).values()) == {0.0}  # nobody has accepted it yet
    done = answer(game, state, "accept the decision", "accept the decision")
    assert game.asks(done) == {}
    assert list(game.payoffs(done).values()) == [29, 11]


@pytest.mark.parametrize(
    "answers", [("accept the decision", "object"), ("object", "accept the decision")]
)
def test_what_somebody_objects_to_is_not_agreed(answers):
    game = haggle(replies=1)
    done = answer(game, rule(game, agree("Deal.")), *answers)
    assert game.asks(done) == {}
    assert set(game.payoffs(done).values()) == {0.0}
    objector = game.names[answers.index("object")]
    assert f"Objections: {objector}." in told(game, done)


def test_an_objection_before_the_last_message_lets_the_talk_go_on():
    game = haggle(replies=2)
    state = answer(game, rule(game, agree("Deal.")), "accept the decision", "object")
    ((role, ask),) = game.asks(state).items()
    assert role == "player 1"
    ask.check("Then 45?")
    assert "You write message 3 of 4" in told(game, state, "player 1")
    assert "Objections:" in told(game, state, "player 1")
    later = game.apply(state, {role: "Then 45?"})
    assert list(game.asks(later)) == ["referee"]
    assert "Decision" not in told(game, later)


def test_a_sentence_that_nobody_wrote_is_not_shown_as_a_quote():
    game = haggle(replies=1)
    assert "It rests on" not in told(game, rule(game, agree("I agree to 50.")))


def test_a_recorded_ruling_without_a_quote_is_still_read():
    game = haggle(replies=1)
    state = game.start()
    for role, text in zip(game.roles, SAID, strict=True):
        state = game.apply(state, {role: text})
    state = game.apply(state, {"referee": '{"agreed":true,"price":50.0}'})
    assert told(game, state).endswith("Decision: 50.")


@pytest.mark.parametrize(
    ("domain", "reply", "words"),
    [
        ("bargaining", {"agreed": False, "price": None}, "Decision: no deal."),
        ("meeting", {"agreed": True, "choice": "Monday"}, "Decision: Monday."),
        ("debate", {"winner": 1, "reasons": ""}, "Decision: {1}."),
        ("debate", {"winner": None, "reasons": ""}, "Decision: tie."),
        ("rps-talk", {"moves": ["rock", "paper"]}, "Decision: {0}: rock; {1}: paper."),
        (
            "fruit",
            {"agreed": True, "gives": [{"apple": 2}, {"kiwi": 1}]},
            "Decision: {0}: apple: 2; {1}: kiwi: 1.",
        ),
        (
            "job-offer",
            {"agreed": True, "terms": {"salary": "48 thousand", "leave": "25 days"}},
            "Decision: salary: 48 thousand; leave: 25 days.",
        ),
    ],
)
def test_every_kind_of_ruling_is_told(domain, reply, words):
    game = make_dialogue(domain, {"offers": False})
    state = replace(game.start(), manner="", said=(), ruling=json.dumps(reply), over=True)
    assert words.format(*game.names) in told(game, state)


@pytest.mark.parametrize("objection", ["accept the decision", "object"])
def test_a_judge_is_objected_to_on_record_and_decides_all_the_same(objection):
    game = make_dialogue("debate", {"replies": 1})
    names = game.names
    state = rule(game, {"winner": names[1], "reasons": "he is right", "quote": "Deal."})
    asked = game.word_question(game.asks(state)["player 1"])
    assert asked.endswith("Objections are kept in the data, and the decision counts even so.")
    done = answer(game, state, objection, "accept the decision")
    assert list(game.payoffs(done).values()) == [0, 1]


@pytest.mark.parametrize("name", ["model", "simulated"])
def test_who_is_no_person_accepts_every_ruling(name):
    game = haggle(replies=1)
    state = rule(game, agree("Deal."))
    player = seat_model(name, ScriptedModel([]), game, "player 1", 0)
    decision = player.decide(game.view(state, "player 1"), game.asks(state)["player 1"])
    assert decision.action == "accept the decision"
