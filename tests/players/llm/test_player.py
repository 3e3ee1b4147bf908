import math

import pytest

from bestresponse.core import Choice, Form, Mixture, View, Words
from bestresponse.core.ask import Amount
from bestresponse.core.capabilities import put_question
from bestresponse.core.conformance import check_player
from bestresponse.core.player import Reading, Status
from bestresponse.core.told import prose
from bestresponse.games.lookup import find_game
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.models.base import Abilities, Finish, Reply
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.player import (
    FirstToken,
    LlmPlayer,
    Sampled,
    Sampling,
    instruction,
    schema,
    write_schema,
)
from bestresponse.players.llm.reading import find_reasons, read_reply
from bestresponse.players.strategies import BASELINES, BaselinePlayer, FixedMix
from bestresponse.theory import NormalForm

VIEW = View("row", prose("Some game."))
AB = Choice(("A", "B"))


def test_the_player_sends_rules_and_instruction_and_returns_what_was_read():
    model = ScriptedModel(["I think.\nANSWER: B"], abilities=Abilities())
    decision = LlmPlayer(model).decide(VIEW, AB)
    assert (decision.action, decision.reading.status) == ("B", Status.VALID)
    (request,) = model.asked
    assert (
        request.messages[-1].content
        == "Some game.\n\nWhich action do you choose? End your reply with a line of the form\n\n"
        "ANSWER: <action>\n\nwhere <action> is one of A, B."
    )
    assert request.schema is None
    assert decision.calls[0].reply["text"] == "I think.\nANSWER: B"


def test_an_unreadable_answer_is_explained_and_asked_again_as_often_as_allowed():
    model = ScriptedModel(["maybe", "ANSWER: A"])
    decision = LlmPlayer(model, attempts=2).decide(VIEW, AB)
    assert (decision.action, decision.reading.status, decision.reading.how) == (
        "A",
        Status.REPAIRED,
        "refused: the reply holds no answer in the form that was asked for",
    )
    assert [m.role for m in model.asked[1].messages] == ["system", "user", "assistant", "user"]
    assert "could not be used" in model.asked[1].messages[-1].content


def test_without_a_readable_answer_there_is_no_action():
    decision = LlmPlayer(ScriptedModel(["no idea"])).decide(VIEW, AB)
    assert decision.action is None
    assert decision.reading.status is Status.UNPARSEABLE


def test_a_schema_is_sent_only_to_models_that_follow_one():
    can = ScriptedModel(['{"A":1,"B":0}'], abilities=Abilities(schema=True))
    cannot = ScriptedModel(['{"A":1,"B":0}'], abilities=Abilities())
    for model in (can, cannot):
        assert LlmPlayer(model, style="json").decide(VIEW, Mixture(("A", "B"))).action == (1.0, 0.0)
    assert can.asked[0].schema is not None
    assert cannot.asked[0].schema is None


def test_sampled_play_is_the_frequency_of_the_answers_and_tells_the_unreadable_ones():
    model = ScriptedModel(["ANSWER: A", "ANSWER: B", "hm", "ANSWER: B"])
    players = tuple(LlmPlayer(model, Sampling(replicate=k)) for k in range(4))
    decision = Sampled(players).decide(VIEW, Mixture(("A", "B")))
    assert decision.action == pytest.approx((1 / 3, 2 / 3))
    assert decision.reading.how == "of 4 samples: 1 unparseable, 3 valid"
    assert [r.replicate for r in model.asked] == [0, 1, 2, 3]


def test_first_token_probabilities_are_renormalised_over_the_labels():
    import math

    chances = (("A", math.log(0.3)), (" B", math.log(0.1)), ("The", math.log(0.6)))
    reply = Reply("A", Finish.LENGTH, logprobs=(chances,))
    model = ScriptedModel([reply], abilities=Abilities(logprobs=20))
    decision = FirstToken(model).decide(VIEW, Mixture(("A", "B")))
    assert decision.action == pytest.approx((0.75, 0.25))
    assert decision.reasoning == "40.0% of the probability was on the labels"


def test_first_token_probabilities_on_other_words_are_no_answer():
    reply = Reply("The", Finish.LENGTH, logprobs=((("The", -0.0001), ("A", -9.0)),))
    decision = FirstToken(ScriptedModel([reply], abilities=Abilities(logprobs=20))).decide(
        VIEW, Mixture(("A", "B"))
    )
    assert decision.action is None
    assert decision.reading.status is Status.UNPARSEABLE


def test_instructions_show_no_example_answer_to_copy():
    assert "ANSWER: A: <p>, B: <p>" in instruction(Mixture(("A", "B")), "line")
    assert '{"A": <p>, "B": <p>}' in instruction(Mixture(("A", "B")), "json")
    assert instruction(AB, "letter").endswith("Reply with exactly one of A, B and nothing else.")
    assert "at most 30 characters" in instruction(Words(30), "json")
    form = Form((("bid", Amount(0, 9, whole=True)), ("why", Words(5))))
    assert '{"bid": <whole number from 0 to 9>, "why": <text' in instruction(form, "line")


def test_schemas_name_every_field_and_its_bounds():
    assert schema(Mixture(("A", "B"))) == {
        "type": "object",
        "properties": {k: {"type": "number", "minimum": 0, "maximum": 1} for k in "AB"},
        "required": ["A", "B"],
        "additionalProperties": False,
    }
    assert schema(AB)["properties"]["answer"] == {"type": "string", "enum": ["A", "B"]}


GAME = NormalForm.zero_sum([[0, 5], [4, 1], [2, 2]])


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("greedy", [1, 0, 0]),
        ("maximin", [0, 0, 1]),
        ("level-1", [1, 0, 0]),
        ("level-2", [0, 1, 0]),
        ("uniform", [1 / 3] * 3),
    ],
)
def test_baselines_play_as_defined(name, row):
    """Level-1 of the column player is the column with the smaller mean: 2 against 8/3, the first
    one."""
    own, other = GAME.payoffs[0][None], GAME.payoffs[1][None]
    assert BASELINES[name](own, other, 0)[0].tolist() == pytest.approx(row)


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_keeps_the_promises_of_a_player(name):
    for wanted in (("action", "action"), ("mixture", "mixture")):
        check_player(BaselinePlayer(name, seed=3), MatrixGame(GAME, wanted))


def test_a_fixed_mix_draws_where_an_action_is_asked():
    game = MatrixGame(GAME, ("action", "mixture"))
    check_player(FixedMix((0.0, 1.0), "fixed"), MatrixGame(NormalForm.zero_sum([[1, 2], [3, 4]])))
    assert (
        FixedMix((0.0, 0.0, 1.0)).decide(game.view((), "row"), game.asks(())["row"]).action == "a2"
    )


@pytest.mark.parametrize(("first", "second"), [(280, 280.0), (280.0, 280)])
def test_equal_bounds_are_told_alike_whichever_came_first(first, second):
    write_schema.cache_clear()
    expected = '"minimum":0,"maximum":280}'
    assert expected in write_schema(Amount(0, first))
    assert expected in write_schema(Amount(0.0, second))
    assert '"maximum":280.5}' in write_schema(Amount(0, 280.5))


def test_a_number_without_ends_is_asked_for_without_them():
    assert schema(Amount(-math.inf, math.inf))["properties"]["answer"] == {"type": "number"}


def test_reasons_come_before_the_answer_in_form_and_schema_and_are_read_apart():
    bid = Amount(0, 9, whole=True)
    assert instruction(bid, "reasoned").endswith(
        '{"reasons": <why you choose so, in a few sentences, in quotes>, "answer": <whole number'
        " from 0 to 9>}"
    )
    assert list(schema(bid, "reasoned")["properties"]) == ["reasons", "answer"]
    assert schema(Mixture(("A", "B")), "reasoned")["properties"]["answer"]["required"] == ["A", "B"]
    form = Form((("a", bid), ("b", bid)))
    assert schema(form, "reasoned")["properties"]["answer"]["required"] == ["a", "b"]
    assert read_reply(form, '{"reasons": "so", "answer": {"a": 1, "b": 2}}').action == {
        "a": 1,
        "b": 2,
    }
    assert read_reply(
        Mixture(("A", "B")), '{"reasons": "so", "answer": {"A": 0.25, "B": 0.75}}'
    ).action == (0.25, 0.75)


@pytest.mark.parametrize(
    ("reply", "reasons"),
    [
        ('{"reasons": "Water is scarce.", "answer": 40}', "Water is scarce."),
        ("Water is scarce.\nANSWER: 40", "Water is scarce."),
        ('{"answer": 40}', ""),
        ("ANSWER: 40", ""),
        ("I bid 40, because water is scarce.", "I bid 40, because water is scarce."),
    ],
)
def test_reasons_are_what_a_reply_says_besides_its_answer(reply, reasons):
    assert find_reasons(reply) == reasons


MORRA = ("show 1, guess 1", "show 1, guess 2", 'say "2"')


def test_options_with_commas_are_asked_for_in_quotes():
    asked = 'one of "show 1, guess 1", "show 1, guess 2", "say \\"2\\""'
    assert asked in instruction(Choice(MORRA), "line")


@pytest.mark.parametrize("reply", ['"show 1, guess 2"', "show 1, guess 2"])
def test_an_answer_in_quotes_or_without_is_no_repair(reply):
    decision = LlmPlayer(ScriptedModel([f"ANSWER: {reply}"])).decide(VIEW, Choice(MORRA))
    assert decision.action == "show 1, guess 2"
    assert decision.reading == Reading(Status.VALID)


def test_a_mixture_over_names_with_commas_in_the_asked_form_is_no_repair():
    reply = 'ANSWER: "show 1, guess 1": 0.25, "show 1, guess 2": 0.5, "say \\"2\\"": 0.25'
    decision = LlmPlayer(ScriptedModel([reply])).decide(VIEW, Mixture(MORRA))
    assert decision.action == (0.25, 0.5, 0.25)
    assert decision.reading == Reading(Status.VALID)


@pytest.mark.parametrize("style", ["line", "json", "reasoned"])
def test_a_mixture_with_a_question_asks_that_and_not_for_the_models_own_strategy(style):
    asked = instruction(Mixture(("rain", "sun"), "How likely is each weather?"), style)
    assert asked.startswith("How likely is each weather? ")
    assert "<p>" in asked
    assert "must sum to 1" in asked or "they sum to 1" in asked
    assert "you choose" not in asked.replace("why you choose so", "")
    assert "action" not in asked


def test_people_are_asked_the_question_of_the_ask_before_that_of_the_game():
    game = find_game("ultimatum").playable()
    forecast = Mixture(("accept", "reject"), "How likely is each answer?")
    assert put_question(game, forecast) == "How likely is each answer?"
    assert put_question(game, Mixture(("accept", "reject"))) == "How much do you offer?"
    assert put_question(None, forecast) == "How likely is each answer?"
