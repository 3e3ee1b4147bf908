from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from bestresponse.core import Amount, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.ask import PASS
from bestresponse.core.errors import Flaw, InvalidMove


def test_choice_reads_a_label_whatever_its_case():
    assert Choice(("rock", "paper")).read(" ROCK\n") == "rock"


def test_choice_does_not_guess_between_labels_that_differ_only_in_case():
    assert Choice(("a", "A")).read("A") == "A"
    with pytest.raises(InvalidMove, match="not one of"):
        Choice(("ab", "AB")).read("Ab")


def test_an_option_with_spaces_around_it_can_be_named():
    assert [Choice(("go ", " stay")).read(text) for text in ("go ", "go", "STAY\n")] == [
        "go ",
        "go ",
        " stay",
    ]
    # Where the spaces are all that tells two options apart, what is written is taken as it is.
    assert [Choice(("x", "x ")).read(text) for text in ("x", "x ")] == ["x", "x "]


def test_choice_names_what_it_expected():
    with pytest.raises(InvalidMove, match="'stone' is not one of rock, paper"):
        Choice(("rock", "paper")).read("stone")


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "71", "1e999"])
def test_amount_refuses_what_is_not_a_finite_number_in_bounds(text):
    with pytest.raises(InvalidMove):
        Amount(0, 70).read(text)


def test_amount_tells_words_from_illegal_numbers():
    with pytest.raises(InvalidMove) as words:
        Amount(0, 70).read("all of it")
    with pytest.raises(InvalidMove, match="80 is not between 0 and 70") as number:
        Amount(0, 70).read("80")
    assert (words.value.kind, number.value.kind) == (Flaw.UNPARSEABLE, Flaw.ILLEGAL)


def test_amount_whole_refuses_fractions_and_true():
    assert Amount(0, 5, whole=True).read("3") == 3
    with pytest.raises(InvalidMove, match="whole"):
        Amount(0, 5, whole=True).read("2.5")
    with pytest.raises(InvalidMove):
        Amount(0, 5).check(True)


def test_only_an_ask_that_allows_it_takes_a_pass():
    assert Amount(0, 1, may_pass=True).read("pass") == PASS
    with pytest.raises(InvalidMove):
        Amount(0, 1).check(PASS)
    Choice(("rock",), may_pass=True).check(PASS)
    with pytest.raises(InvalidMove, match="not one of rock"):
        Choice(("rock",)).check(PASS)
    with pytest.raises(InvalidMove, match="'stone' is not one of rock"):
        Choice(("rock",), may_pass=True).check("stone")
    assert [Choice(("rock",), may_pass=True).read(text) for text in ("pass", "Rock")] == [
        "pass",
        "rock",
    ]
    with pytest.raises(InvalidMove, match="'stone' is not one of rock"):
        Choice(("rock",), may_pass=True).read("stone")


@pytest.mark.parametrize(
    "text", ["[0.25, 0.75]", '{"A": 0.25, "B": 0.75}', "A: 0.25; B: 0.75", "B: 0.75\nA: 0.25"]
)
def test_mixture_reads_lists_objects_and_pairs(text):
    assert Mixture(("A", "B")).read(text) == (0.25, 0.75)


@pytest.mark.parametrize(
    "text",
    [
        "[0.5, 0.6]",
        "[1.5, -0.5]",
        "[1]",
        "[true, false]",
        "A: x, B: 1",
        "half half",
        "{}",
        "[null, 1]",
        "A: 1, A: 1",
    ],
)
def test_mixture_refuses_what_is_no_distribution(text):
    with pytest.raises(InvalidMove):
        Mixture(("A", "B")).read(text)


@pytest.mark.parametrize(
    ("value", "named"), [((1.5, 0.0), "1.5"), ((1e308, 1e308), r"1e\+308"), ((-0.5, 1.5), "-0.5")]
)
def test_a_probability_beyond_one_or_below_zero_is_named(value, named):
    with pytest.raises(InvalidMove, match=f"^{named} is not between 0 and 1$"):
        Mixture(("A", "B")).check(value)


def test_form_names_the_field_that_is_wrong():
    form = Form((("bid", Amount(0, 10)), ("word", Words(5))))
    assert form.read('{"bid": 3, "word": "hi", "extra": 1}') == {"bid": 3.0, "word": "hi"}
    with pytest.raises(InvalidMove, match="bid: 11 is not between"):
        form.read('{"bid": 11, "word": "hi"}')
    with pytest.raises(InvalidMove, match="'word' is missing"):
        form.read('{"bid": 1}')


def test_lottery_needs_probabilities_that_sum_to_one():
    with pytest.raises(ValueError, match="sum to 1"):
        Lottery((("a", 0.5), ("b", 0.4)))
    assert Lottery.uniform((1, 2, 3)).read("2") == 2


@given(st.text())
def test_reading_any_text_gives_a_value_or_an_invalid_move(text):
    for ask in (
        Choice(("A", "B")),
        Amount(0, 9),
        Words(20),
        Mixture(("A", "B")),
        Form((("x", Amount(0, 1)),)),
    ):
        with suppress(InvalidMove):
            ask.check(ask.read(text))


def test_a_mixture_may_miss_one_by_a_millionth_and_no_more():
    mixture = Mixture(("A", "B"))
    mixture.check((0.5, 0.5 + 9e-7))
    mixture.check((0.0, 1 + 9e-7))
    for wrong in ((0.5, 0.5 + 2e-6), (0.5, 0.5 - 2e-6), (0.0, 1 + 2e-6), (0.5, 0.5005)):
        with pytest.raises(InvalidMove):
            mixture.check(wrong)


def test_whoever_may_pass_may_also_state_an_amount_and_nobody_else_passes():
    assert Amount(0, 70, may_pass=True).read("7") == 7
    assert Amount(0, 70, may_pass=True).read(" pass ") == PASS
    with pytest.raises(InvalidMove, match="'pass' is not a number"):
        Amount(0, 70).read("pass")
    with pytest.raises(InvalidMove, match="is not a finite number"):
        Amount(0, 70).check(PASS)


def test_a_message_may_be_as_long_as_the_limit():
    assert len(Words().read("x" * 2000)) == 2000
    with pytest.raises(InvalidMove):
        Words().read("x" * 2001)


def test_what_is_impossible_may_stand_in_a_lottery_and_what_is_less_may_not():
    assert Lottery((("heads", 1.0), ("tails", 0.0))).chances[1] == ("tails", 0.0)
    with pytest.raises(ValueError, match="probabilities that sum to 1"):
        Lottery((("heads", 1.5), ("tails", -0.5)))


@pytest.mark.parametrize("nothing", ["", "  \n", 3, None])
def test_a_message_is_a_text_with_something_in_it(nothing):
    with pytest.raises(InvalidMove, match="the message is empty") as refused:
        Words().check(nothing)
    assert refused.value.kind is Flaw.UNPARSEABLE


@pytest.mark.parametrize("ask", [Choice, Mixture])
@pytest.mark.parametrize("options", [(), ("A", "A")])
def test_options_are_different_and_at_least_one(ask, options):
    with pytest.raises(ValueError, match="option"):
        ask(options)


def test_the_bounds_of_an_amount_may_be_equal_and_not_crossed():
    assert Amount(3, 3).read("3") == 3
    with pytest.raises(ValueError, match="an amount needs low <= high, got 4 and 3"):
        Amount(4, 3)


def test_an_amount_takes_a_dollar_sign_and_both_bounds():
    assert [Amount(0, 70).read(text) for text in ("$12.5", " 0 ", "70")] == [12.5, 0, 70]


def test_a_mixture_that_leaves_options_out_gives_them_nothing():
    assert Mixture(("A", "B", "C")).read('{"B": 1}') == (0, 1, 0)
    assert Mixture(("A", "B", "C")).read("B: 1") == (0, 1, 0)
    for text in ("A: 0.5, A: 0.5", "D: 1", '{"D": 1}', "A 1", "[1, 0]"):
        with pytest.raises(InvalidMove):
            Mixture(("A", "B", "C")).read(text)


@pytest.mark.parametrize(
    "value", [(True, 0.0), ("1", 0), (float("nan"), 1.0), [1.0], "ab", (-0.5, 1.5)]
)
def test_what_is_no_list_of_probabilities_is_no_mixture(value):
    with pytest.raises(InvalidMove):
        Mixture(("A", "B")).check(value)


def test_a_form_holds_exactly_its_fields():
    form = Form((("bid", Amount(0, 10)),))
    form.check({"bid": 3})
    for wrong in ({}, {"bid": 3, "word": 1}, [3], {"bid": 11}):
        with pytest.raises(InvalidMove):
            form.check(wrong)
    for text in ("[1]", "3", "bid: 3"):
        with pytest.raises(InvalidMove):
            form.read(text)


def test_an_outcome_of_a_lottery_is_one_of_its_own_and_of_the_same_kind():
    lottery = Lottery(((1, 0.5), ("x", 0.5)))
    lottery.check(1)
    for wrong in (2, 1.0, True, "1", "y"):
        with pytest.raises(InvalidMove):
            lottery.check(wrong)
    with pytest.raises(InvalidMove):
        lottery.read("y")
    with pytest.raises(ValueError, match="different"):
        Lottery(((1, 0.5), (1, 0.5)))
    assert Lottery.uniform(("a", "b")).chances == (("a", 0.5), ("b", 0.5))


@pytest.mark.parametrize(("length", "shown"), [(78, True), (79, False)])
def test_a_long_answer_is_quoted_in_part(length, shown):
    with pytest.raises(InvalidMove) as refused:
        Choice(("A", "B")).read("x" * length)
    assert ("x" * length in str(refused.value)) is shown
    assert (f"... ({length + 2} characters)" in str(refused.value)) is not shown


def test_a_key_that_stands_twice_is_no_answer_because_either_value_may_be_meant():
    with pytest.raises(InvalidMove, match="expected a probability for each of A, B") as error:
        Mixture(("A", "B")).read('{"A": 0, "A": 1}')
    assert error.value.kind is Flaw.UNPARSEABLE
    with pytest.raises(InvalidMove, match="is not a JSON object"):
        Form((("bid", Amount(0, 9)),)).read('{"bid": 3, "bid": 4}')
