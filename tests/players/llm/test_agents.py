"""Agents made of parts: persona, memory, reasoning, and the policy for a seat without an answer."""

import pytest

from bestresponse.core.ask import PASS, Amount, Choice
from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.core.game import NATURE, View
from bestresponse.core.player import Status
from bestresponse.games.lookup import find_game
from bestresponse.games.water.game import water
from bestresponse.models.base import Finish, Reply
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.agent import (
    Agent,
    WithFailurePolicy,
    memory,
    published_personas,
    read_personas,
    reasoning,
)


def asked(days=1):
    """Alex's view and ask in the morning after `days - 1` days on which everybody bid 10."""
    game = water("low")
    state = game.start()
    for _ in range(days - 1):
        state = game.apply(state, {NATURE: 10})
        state = game.apply(state, dict.fromkeys(game.asks(state), 10.0))
    state = game.apply(state, {NATURE: 10})
    return game.view(state, "Alex"), game.asks(state)["Alex"]


def prompts(model):
    return ["\n".join(message.content for message in request.messages) for request in model.asked]


def test_a_bid_above_the_balance_is_refused_with_a_reason_and_the_model_may_bid_again():
    model = ScriptedModel(["ANSWER: 500", "ANSWER: -3", "I will bid $25 today."])
    decision = Agent(model, attempts=3).decide(*asked())
    assert decision.action == 25.0
    assert decision.reading.status is Status.REPAIRED
    assert "refused: 500 is not between 0 and 70" in decision.reading.how
    assert "500 is not between 0 and 70" in prompts(model)[1]
    assert len(decision.calls) == 3


def test_when_the_attempts_are_used_up_there_is_no_action():
    decision = Agent(ScriptedModel(["hm"] * 2), attempts=2).decide(*asked())
    assert decision.action is None
    assert decision.reading.status is Status.UNPARSEABLE


def test_a_bid_in_free_words_is_read_and_one_that_was_cut_off_is_not():
    said = "My health is fine, so I will bid $12.50 for my water."
    assert Agent(ScriptedModel([said])).decide(*asked()).action == 12.5
    cut = ScriptedModel([Reply(said, Finish.LENGTH)] * 3)
    assert Agent(cut).decide(*asked()).action is None


def test_declining_in_words_is_a_pass():
    assert Agent(ScriptedModel(["I will not bid today."])).decide(*asked()).action == PASS


def test_a_persona_is_told_to_the_model_as_its_own():
    model = ScriptedModel(["ANSWER: 1"])
    Agent(model, published_personas()["David"]).decide(*asked())
    system = model.asked[0].messages[0]
    assert system.role == "system"
    assert "You are David" in system.content
    assert "mathematician" in system.content


def test_memories_show_all_rounds_a_window_or_a_summary():
    view, ask = asked(days=4)

    def shown(name, script):
        model = ScriptedModel(script)
        Agent(model, memory=memory(name)).decide(view, ask)
        return prompts(model)[-1], len(model.asked)

    everything, _ = shown("full", ["ANSWER: 1"])
    assert all(f"Day {day}: 10 units" in everything for day in (1, 2, 3))
    short, _ = shown("window:1", ["ANSWER: 1"])
    assert "Day 2: 10 units" not in short
    assert "Day 3: 10 units" in short
    assert "(The first 2 rounds are not shown.)" in short
    summed, calls = shown("summary:1", ["all bid ten", "ANSWER: 1"])
    assert "in short: all bid ten" in summed
    assert "Day 4 of 20" in summed
    assert calls == 2


@pytest.mark.parametrize(
    ("name", "script", "told"),
    [
        ("direct", [], None),
        ("step-by-step", [], "Think step by step"),
        ("predict", ["Bob bids 30"], "expect this:\nBob bids 30"),
        ("reflect", ["bid less"], "you noted:\nbid less"),
        ("refine", ["draft 9", "too low"], "you find:\ntoo low"),
        ("k-level", ["b", "c", "d", "e"], "Bob: b\nCindy: c\nDavid: d\nEric: e"),
    ],
)
def test_each_way_of_reasoning_adds_its_own_thoughts_before_the_answer(name, script, told):
    model = ScriptedModel([*script, "ANSWER: 3"])
    decision = Agent(model, reasoning=reasoning(name)).decide(*asked(days=2))
    assert decision.action == 3.0
    assert len(decision.calls) == len(script) + 1
    assert told is None or told in prompts(model)[-1]


def test_level_two_asks_every_rival_what_it_expects_of_the_others():
    model = ScriptedModel(lambda request: "ANSWER: 3")
    Agent(model, reasoning=reasoning("k-level:2")).decide(*asked())
    assert len(model.asked) == 4 * 5 + 1
    assert "Bob in turn expects the others to act as follows: Alex:" in prompts(model)[4]


@pytest.mark.parametrize(
    ("name", "moves", "role", "secret", "public"),
    [
        (
            "kuhn-poker",
            [{NATURE: "QJ"}, {"player 1": "pass"}],
            "player 2",
            "You hold the jack.",
            "player 1 chose pass",
        ),
        ("kuhn-poker", [{NATURE: "QJ"}], "player 1", "You hold the queen.", ""),
        (
            "first-price-auction",
            [{NATURE: 92}, {NATURE: 3}, {NATURE: 5}],
            "bidder 1",
            "Your value is 92.",
            "",
        ),
    ],
)
def test_a_rival_is_thought_of_without_what_the_player_alone_knows(
    name, moves, role, secret, public
):
    game = find_game(name).playable()
    state = game.start()
    for move in moves:
        state = game.apply(state, move)
    model = ScriptedModel(
        lambda request: "ANSWER: 1" if name == "first-price-auction" else "ANSWER: bet"
    )
    Agent(model, reasoning=reasoning("k-level:2")).decide(
        game.view(state, role), game.asks(state)[role]
    )
    *thoughts, answer = prompts(model)
    assert thoughts
    assert [thought for thought in thoughts if secret in thought or public not in thought] == []
    assert secret in answer


def test_a_seat_without_an_answer_abstains_or_voids_as_the_policy_says():
    view, ask = asked()
    silent = Agent(ScriptedModel(["no idea"] * 2), attempts=1)
    stood_in = WithFailurePolicy(silent, "abstain").decide(view, ask)
    assert (stood_in.action, stood_in.stand_in) == (PASS, "abstain")
    assert stood_in.reading.status is Status.UNPARSEABLE
    assert WithFailurePolicy(silent, "void").decide(view, ask).action is None


def test_a_model_that_cannot_be_reached_abstains_or_fails_as_the_policy_says():
    view, ask = asked()
    nobody = ScriptedModel([])
    assert (
        "could not be reached"
        in WithFailurePolicy(Agent(nobody), "abstain").decide(view, ask).reading.how
    )
    with pytest.raises(ModelUnavailable):
        WithFailurePolicy(Agent(nobody), "void").decide(view, ask)


def test_nobody_abstains_where_the_game_does_not_let_them():
    with pytest.raises(UsageError, match="only abstain where the game lets it pass"):
        WithFailurePolicy(Agent(ScriptedModel(["x"])), "abstain").decide(
            View("a"), Choice(("x", "y"))
        )
    assert Agent(ScriptedModel(["x"])).decide(View("a"), Choice(("x", "y"))).action == "x"


def test_the_five_published_residents_have_personas():
    assert list(published_personas()) == ["Alex", "Bob", "Cindy", "David", "Eric"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "[Ann]\nprofession='p'\npersonalty='q'\nbackground='r'",
            r"\[Ann\] has no key 'personalty'.*Did you mean personality",
        ),
        (
            "[Ann]\nprofession='p'\npersonality='q'",
            r"\[Ann\] needs a text of at most 5000 characters for 'background'",
        ),
        (
            "[Ann]\nprofession=3\npersonality='q'\nbackground='r'",
            "needs a text .* for 'profession'",
        ),
        ("", "holds no persona"),
        ("name = 'Ann'", "'name' is outside of a table"),
        ("[Ann", "is not TOML"),
    ],
)
def test_a_persona_file_that_is_wrong_is_explained(text, why, tmp_path):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(UsageError, match=why):
        read_personas(tmp_path / "mine.toml")
    (tmp_path / "p.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be read"):
        read_personas(tmp_path / "p.toml")
    with pytest.raises(UsageError, match="there is no such file"):
        read_personas(tmp_path / "none.toml")


@pytest.mark.parametrize("name", ["window:0", "window:x", "full:3", "windw", "k"])
def test_unknown_memories_are_explained(name):
    with pytest.raises(UsageError):
        memory(name)


@pytest.mark.parametrize("name", ["k-level:9", "k-level:x", "direct:1", "refin"])
def test_unknown_ways_of_reasoning_are_explained(name):
    with pytest.raises(UsageError):
        reasoning(name)


def test_an_amount_that_may_not_be_passed_is_not():
    assert (
        Agent(ScriptedModel(["I will not bid."] * 3)).decide(View("a"), Amount(0, 5)).action is None
    )
