"""Mixed strategies from the first token."""

import math

import pytest

from bestresponse.core.errors import BadReply, Flaw, InvalidMove, UsageError
from bestresponse.models import Abilities, Reply, ScriptedModel, ask, choice_chances

OFFERS = Abilities(choices=True, logprobs=5)


def _model(*pairs, abilities=OFFERS):
    first = tuple((token, math.log(chance)) for token, chance in pairs)
    return ScriptedModel(lambda request: Reply("A", logprobs=(first,)), abilities=abilities)


def test_letters_are_renormalised_and_white_space_does_not_matter():
    model = _model(("A", 0.3), (" A", 0.1), ("The", 0.2), ("B", 0.08), ("a", 0.05))
    chances = choice_chances(model, ask("A or B?"), ("A", "B"))
    assert chances.probabilities == pytest.approx((0.4 / 0.48, 0.08 / 0.48))
    assert chances.mass == pytest.approx(0.48)
    assert (chances.unseen, chances.bound) == ((), 0.0)


def test_it_asks_for_one_token_held_to_the_letters():
    model = _model(("A", 0.5), ("B", 0.5))
    chances = choice_chances(model, ask("A or B?"), ("A", "B"))
    (asked,) = model.asked
    assert (asked.max_tokens, asked.choices, asked.logprobs) == (1, ("A", "B"), 5)
    assert chances.request == asked
    unheld = _model(("A", 1.0), abilities=Abilities(logprobs=20))
    choice_chances(unheld, ask("A or B?"), ("A", "B"))
    assert unheld.asked[0].choices == ()


def test_a_letter_that_was_not_reported_is_bounded_by_the_last_one_that_was():
    chances = choice_chances(_model(("A", 0.5), ("x", 0.3), ("y", 0.05)), ask("?"), ("A", "B"))
    assert chances.probabilities == (1.0, 0.0)
    assert chances.unseen == ("B",)
    assert chances.bound == pytest.approx(0.1)


def test_no_letter_at_all_is_an_unreadable_answer():
    with pytest.raises(InvalidMove, match="none of A, B is among the 1 likeliest") as caught:
        choice_chances(_model(("x", 0.9)), ask("?"), ("A", "B"))
    assert caught.value.kind is Flaw.UNPARSEABLE


def test_a_model_without_log_probabilities_is_told_apart_from_one_that_withholds_them():
    with pytest.raises(UsageError, match="offers no log-probabilities"):
        choice_chances(ScriptedModel(["A"], abilities=Abilities()), ask("?"), ("A", "B"))
    with pytest.raises(BadReply, match="gave none"):
        choice_chances(ScriptedModel(["A"], abilities=OFFERS), ask("?"), ("A", "B"))


@pytest.mark.parametrize("letters", [(), ("A", "A"), ("A", " ")])
def test_letters_must_be_different_and_not_empty(letters):
    with pytest.raises(UsageError, match="must be different"):
        choice_chances(_model(("A", 1.0)), ask("?"), letters)
