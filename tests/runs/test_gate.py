"""The gate of a pipeline: conditions on figures and on differences, and what it writes."""

from xml.etree import ElementTree

import pytest

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.runs.gate import GateCondition, check_conditions

# Matching pennies in its own order and three others: (1, 0) loses 2 of a range of 2 to an opponent
# that answers it, less the value 0: 1 of 2, an exploitability of 0.5 of the range; an even mix none.
ALWAYS_HEADS = "ANSWER: heads: 1, tails: 0"
EVEN = "ANSWER: heads: 1/2, tails: 1/2"


@pytest.fixture
def run(tmp_path):
    def make(answer, name="m"):
        model = br.models.from_function(name, lambda prompt: answer)
        return br.bench(model, "matching-pennies", output_dir=tmp_path / name)

    return make


def test_a_run_passes_by_its_estimate(run):
    result = check_conditions(["exploitability_normalised > 0.5"], run(ALWAYS_HEADS))
    (check,) = result.checks
    assert (check.player, check.value, check.passed) == ("m, mixed", 0.5, True)
    assert result.failures == ()


def test_a_run_fails_by_its_estimate_and_says_why(run):
    result = check_conditions(["exploitability_normalised > 0.2"], run(ALWAYS_HEADS))
    (check,) = result.failures
    assert check.describe() == (
        "m, mixed: exploitability_normalised is 0.5, and the run fails if it is > 0.2"
    )


def test_a_run_fails_by_the_end_of_an_interval(run):
    even = run(EVEN)
    # No loss was seen in four games, and yet a loss of 0.1 of the range is not ruled out.
    assert check_conditions(["exploitability_normalised > 0.1"], even).failures == ()
    (check,) = check_conditions(["high(exploitability_normalised) > 0.1"], even).failures
    assert check.value == even.metrics.groups[0][1]["exploitability_normalised"].high
    assert check_conditions(["low(exploitability_normalised) > 0.0"], even).failures == ()


def test_a_run_fails_by_its_difference_to_another_run(run):
    worse, better = run(ALWAYS_HEADS, "heads"), run(EVEN, "even")
    conditions = ["exploitability_normalised - baseline > 0.01"]
    (check,) = check_conditions(conditions, worse, better).failures
    assert (check.player, check.value) == ("heads, mixed against even, mixed", 0.5)
    assert check_conditions(conditions, better, worse).failures == ()
    low = check_conditions(["low(exploitability_normalised - baseline) > 0.01"], worse, better)
    assert low.checks[0].value < 0.5


def test_a_run_fails_by_the_test_of_its_difference(run):
    worse, better = run(ALWAYS_HEADS, "heads"), run(EVEN, "even")
    condition = "p(exploitability_normalised - baseline) < 0.05"
    # The four orders are two games: p = 2 / 2**2, which is no finding.
    (check,) = check_conditions(
        [condition, condition.replace("0.05", "0.6")], worse, better
    ).failures
    assert (check.value, check.condition.limit) == (0.5, 0.6)
    assert check.describe().startswith(
        "heads, mixed against even, mixed: the p-value of exploitability_normalised - baseline is"
    )
    with pytest.raises(UsageError, match=r"only a difference is tested: p\(nash_gap - baseline\)"):
        GateCondition.parse("p(nash_gap) < 0.05")


def test_a_model_without_a_readable_answer_does_not_pass(run):
    (check,) = check_conditions(["exploitability_normalised > 0.2"], run("no idea")).failures
    assert check.value is None
    assert check.describe() == (
        "m, mixed: exploitability_normalised is not known, as no answer of this model gives it"
    )


def test_what_can_never_be_checked_is_refused_with_what_can(run):
    played = run(EVEN)
    with pytest.raises(UsageError, match=r"there is no metric 'nash_gp'\. Did you mean nash_gap\?"):
        check_conditions(["nash_gp > 0.1"], played)
    with pytest.raises(UsageError, match="needs a run to compare with: name one by `against`"):
        check_conditions(["nash_gap - baseline > 0.1"], played)
    with pytest.raises(UsageError, match="asked has no interval; metrics that have one: success_1"):
        check_conditions(["low(asked) > 3"], played)
    for wrong in ("nash_gap", "nash_gap > much", "nash_gap = 1", "low(nash_gap > 1", "a b > 1"):
        with pytest.raises(UsageError, match="is not a condition: expected METRIC > NUMBER"):
            GateCondition.parse(wrong)


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        ("a > 1", 1.0, False),
        ("a >= 1", 1.0, True),
        ("a < -1e-3", -0.002, True),
        ("a<=.5", 0.6, False),
    ],
)
def test_conditions_compare_as_they_are_written(text, value, holds):
    assert GateCondition.parse(text).holds(value) is holds


def test_junit_has_a_case_for_every_condition_and_model(run):
    conditions = ["exploitability_normalised > 0.2", "success_1 < 0"]
    result = check_conditions(conditions, run(ALWAYS_HEADS, 'a "model" <b>'))
    root = ElementTree.fromstring(result.to_junit())
    suite = root.find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    first, second = suite.findall("testcase")
    assert (first.get("classname"), first.get("name")) == (
        'a "model" <b>, mixed',
        "exploitability_normalised > 0.2",
    )
    assert first.find("failure").get("message").endswith("is 0.5, and the run fails if it is > 0.2")
    assert list(second) == []
    unread = check_conditions(conditions[:1], run("no idea", "n"))
    suite = ElementTree.fromstring(unread.to_junit()).find("testsuite")
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    assert suite.find("testcase/error") is not None
