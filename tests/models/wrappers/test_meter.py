"""Counting, pricing, and budgets that parallel calls cannot pass."""

import threading
from dataclasses import replace

import pytest
from waiting import join_threads, run_at_once, start_thread, wait_until

from bestresponse.core.errors import ModelUnavailable, OverBudget, Transient, UsageError
from bestresponse.models import Reply, ScriptedModel, Usage, ask
from bestresponse.models.wrappers import limits as meter_module
from bestresponse.models.wrappers.limits import Budget, Cost, Meter, Metered, largest_usage


def _priced(usage):
    """Two dollars a million prompt tokens, ten a million reply tokens."""
    return (2 * usage.prompt + 10 * usage.completion) / 1e6


COST = Usage(100, 20, 40, 5)


def _model(usage=COST, name="m"):
    return ScriptedModel(lambda request: Reply("A", usage=usage), name=name)


def test_calls_tokens_and_money_are_counted():
    meter = Meter()
    metered = Metered(_model(), meter, _priced)
    metered.complete(ask("x"))
    metered.complete(ask("y"))
    assert meter.spent == Cost(2, 240, pytest.approx(0.0008))


def test_costs_add_up_field_by_field():
    assert Cost(1, 3, 0.5, 7) + Cost(10, 30, 0.25, 70) == Cost(11, 33, 0.75, 77)
    assert Cost(1, 3, 0.5, 7) + -Cost(1, 3, 0.5, 7) == Cost()


def test_an_unknown_price_is_not_nothing():
    meter = Meter()
    Metered(_model(name="dear"), meter, _priced).complete(ask("x"))
    Metered(_model(name="dark"), meter).complete(ask("x"))
    assert meter.spent == Cost(2, 240, pytest.approx(0.0004), unpriced=1)


def test_a_reply_without_counts_is_held_against_the_budget_at_its_largest():
    meter = Meter(Budget(tokens=700))
    metered = Metered(_model(Usage()), meter)
    metered.complete(ask("x"))
    largest = largest_usage(ask("x"))
    assert meter.spent == Cost(1, largest.prompt + largest.completion, unpriced=1)
    with pytest.raises(OverBudget):
        metered.complete(ask("x", max_tokens=300))


@pytest.mark.parametrize("usage", [Usage(5, None), Usage(None, 5)])
def test_a_reply_with_one_of_two_counts_is_held_against_the_budget_at_its_largest(usage):
    meter = Meter()
    Metered(_model(usage), meter).complete(ask("x", max_tokens=50))
    # one byte of prompt, 64 for the frame, 16 for the message, and 50 of reply
    assert meter.spent == Cost(1, 131, unpriced=1)


def test_no_call_is_made_after_a_reply_that_is_longer_than_was_asked_for():
    """The budget has room for many more, but a server that ignores `max_tokens` keeps none."""
    meter = Meter(Budget(tokens=1_000_000))
    metered = Metered(_model(Usage(10, 51)), meter)
    metered.complete(ask("x", max_tokens=51))
    metered.complete(ask("x", max_tokens=50))
    with pytest.raises(OverBudget, match="a reply of 51 tokens came where at most 50"):
        metered.complete(ask("x", max_tokens=50))
    without_budget = Metered(_model(Usage(10, 51)), Meter(Budget(calls=3)))
    for _ in range(3):
        without_budget.complete(ask("x", max_tokens=50))


def test_a_long_reply_is_noticed_although_the_server_counts_no_tokens():
    meter = Meter(Budget(tokens=1_000_000))
    long = ScriptedModel([Reply("x" * 799), Reply("y" * 16 * 51), Reply("")])
    metered = Metered(long, meter)
    for _ in range(2):
        metered.complete(ask("x", max_tokens=50))
    with pytest.raises(OverBudget, match="a reply of 51 tokens came where at most 50"):
        metered.complete(ask("x", max_tokens=50))


def test_failed_attempts_count_as_calls_and_cost_no_tokens():
    def broken(request):
        raise ModelUnavailable("down")

    meter = Meter(Budget(calls=1, tokens=1000))
    metered = Metered(ScriptedModel(broken), meter)
    with pytest.raises(ModelUnavailable):
        metered.complete(ask("x"))
    assert meter.spent == Cost(calls=1)
    with pytest.raises(OverBudget, match="2 calls of 1"):
        metered.complete(ask("x"))


@pytest.mark.parametrize(("billed", "tokens"), [(True, 131), (False, 0)])
def test_an_attempt_that_may_have_been_billed_costs_what_was_reserved(billed, tokens):
    def broken(request):
        raise Transient("it broke off", billed=billed)

    meter = Meter()
    with pytest.raises(Transient):
        Metered(ScriptedModel(broken), meter).complete(ask("x", max_tokens=50))
    assert meter.spent.tokens == tokens


def test_the_call_that_could_pass_the_budget_is_never_sent():
    model = _model(Usage(50, 10))
    meter = Meter(Budget(tokens=500))
    metered = Metered(model, meter)
    request = ask("x" * 100, max_tokens=50)
    assert largest_usage(request) == Usage(180, 50)
    for _ in range(5):
        metered.complete(request)
    with pytest.raises(OverBudget, match="up to 530 tokens of 500"):
        metered.complete(request)
    assert len(model.asked) == 5
    assert meter.spent.tokens == 300


@pytest.mark.parametrize(
    ("settings", "reasoning"),
    [
        ({}, 0),
        ({"effort": "minimal"}, 0),
        ({"effort": "low"}, 2048),
        ({"effort": "high"}, 24576),
        ({"effort": "high", "reasoning_tokens": 3000}, 3000),
        # Anthropic takes no fewer than 1024.
        ({"reasoning_tokens": 5}, 1024),
    ],
)
def test_the_largest_reply_holds_the_reasoning_that_is_paid_beside_it(settings, reasoning):
    request = replace(ask("x", max_tokens=50), **settings)
    # one byte of prompt, 64 for the frame and 16 for the message
    assert largest_usage(request) == Usage(81, 50 + reasoning)


def test_reasoning_cannot_pass_the_budget_either():
    model = _model(Usage(50, 2098))
    metered = Metered(model, Meter(Budget(tokens=4000)))
    request = replace(ask("x", max_tokens=50), effort="low")
    metered.complete(request)
    # 2148 are spent, and the next reply may take 81 + 50 + 2048 more.
    with pytest.raises(OverBudget, match="up to 4327 tokens of 4000"):
        metered.complete(request)
    assert len(model.asked) == 1


def test_a_budget_in_money_needs_a_price_and_is_kept():
    meter = Meter(Budget(money=0.001))
    with pytest.raises(UsageError, match="the price of m is not known"):
        Metered(_model(), meter)
    metered = Metered(_model(), meter, _priced)
    metered.complete(ask("x", max_tokens=20))
    metered.complete(ask("x", max_tokens=20))
    with pytest.raises(OverBudget, match=r"up to \$0\.0012 of \$0\.0010"):
        metered.complete(ask("x", max_tokens=20))
    assert meter.spent.money == pytest.approx(0.0008)


def test_without_a_list_of_prices_a_budget_in_money_names_the_extra(monkeypatch):
    monkeypatch.setattr(meter_module, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"for a list of prices, pip install '\.\[cost\]'"):
        Metered(_model(), Meter(Budget(money=0.001)))


@pytest.mark.parametrize("budget", [Budget(calls=2), Budget(tokens=280), Budget(money=0.0009)])
def test_calls_in_flight_count_against_the_budget(budget, monkeypatch):
    """No call is answered before each of the eight was sent, refused or made to wait: were all
    sent, all would come."""
    waiting = []

    class Watched(threading.Condition):
        def wait(self, timeout=None):
            waiting.append(True)
            return super().wait(timeout)

    def script(request):
        wait_until(lambda: len(model.asked) + len(waiting) + len(refused) >= 8)
        return Reply("A", usage=COST)

    with monkeypatch.context() as patch:
        patch.setattr(threading, "Condition", Watched)
        meter = Meter(budget)
    model = ScriptedModel(script)
    metered = Metered(model, meter, _priced)
    refused = []

    def work():
        try:
            metered.complete(ask("x" * 40, max_tokens=20))
        except OverBudget as error:
            refused.append(str(error))

    run_at_once(*[work] * 8)
    assert (len(model.asked), len(refused)) == (2, 6)
    assert (meter.spent.calls, meter.spent.tokens) == (2, 240)


@pytest.mark.parametrize("budget", [Budget(calls=10), Budget(tokens=1220), Budget(money=0.0041)])
def test_parallel_calls_use_the_budget_up(budget):
    meter = Meter(budget)
    metered = Metered(_model(), meter, _priced)
    refused = []

    def work():
        for _ in range(10):
            try:
                metered.complete(ask("x" * 40, max_tokens=20))
            except OverBudget as error:
                refused.append(str(error))

    run_at_once(*[work] * 8)
    spent = meter.spent
    assert spent.calls == 10
    assert len(refused) == 70
    assert spent.tokens == 1200
    assert spent.money == pytest.approx(0.004)


def test_a_call_waits_for_others_whose_reservation_is_larger_than_their_cost():
    release, second_asked = threading.Event(), threading.Event()

    def script(request):
        if request.messages[0].content == "first":
            release.wait(120)
        return Reply("A", usage=Usage(1, 1))

    meter = Meter(Budget(tokens=300))
    metered = Metered(ScriptedModel(script), meter)
    texts = []

    def later():
        second_asked.set()
        texts.append(metered.complete(ask("second", max_tokens=100)).text)

    first = start_thread(lambda: texts.append(metered.complete(ask("first", max_tokens=100)).text))
    second = start_thread(later)
    assert second_asked.wait(120)
    release.set()
    join_threads(first, second)
    assert texts == ["A", "A"]


def test_a_reply_of_no_tokens_leaves_the_budget_as_it_was():
    request = ask("x", max_tokens=20)
    largest = largest_usage(request)
    meter = Meter(Budget(tokens=largest.prompt + largest.completion))
    metered = Metered(ScriptedModel(lambda request: Reply("", usage=Usage(0, 0))), meter)
    assert [metered.complete(request).text for _ in range(2)] == ["", ""]
