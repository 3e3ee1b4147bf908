"""A gate: conditions on the metrics of a run under which a pipeline fails.

    exploitability_normalised > 0.2              by the estimate
    low(exploitability_normalised) > 0.2         by the lower end of its 95 % interval
    nash_gap - baseline > 0.01                   by the difference to another run
    low(nash_gap - baseline) > 0.01              by the lower end of that difference's interval
    p(nash_gap - baseline) < 0.05                by its two-sided sign-flip test

Interval and test of a difference agree, so `low(... - baseline) > 0` is the test for a rise alone.
A condition is checked for every model of the run, never for baselines. A model without the metric,
because no answer could be read, does not pass. Results can be written as JUnit XML, which every CI
service reads (the schema of the Jenkins plug-in, which has become the usual one).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from bestresponse.core.errors import UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.report.frames import MetricTable, Value, is_baseline
from bestresponse.report.numbers import format_number
from bestresponse.report.stats.statistics import Interval
from bestresponse.report.text import visible
from bestresponse.runs.comparison import RunComparison, compare_runs
from bestresponse.runs.run import C, Run

End = Literal["estimate", "low", "high", "p"]
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_FIGURE = r"(?P<metric>\w+)(?P<difference>\s*-\s*baseline)?"
_CONDITION = re.compile(
    rf"\s*(?:(?P<end>low|high|p)\s*\(\s*{_FIGURE}\s*\)|"
    rf"{_FIGURE.replace('<metric>', '<plain>').replace('<difference>', '<less>')})"
    rf"\s*(?P<operator>>=|<=|>|<)\s*(?P<limit>{_NUMBER})\s*"
)
_FORM = (
    "expected METRIC > NUMBER, METRIC - baseline > NUMBER, low(...) or high(...) of either in"
    " place of the estimate, or p(METRIC - baseline) < NUMBER"
)


@dataclass(frozen=True, slots=True)
class GateCondition:
    """A condition under which a run fails."""

    text: str
    metric: str
    end: End
    is_difference: bool
    operator: str
    limit: float

    @classmethod
    def parse(cls, text: str) -> GateCondition:
        """Read a condition as it is typed.

        >>> condition = GateCondition.parse("low(nash_gap - baseline) > 0.01")
        >>> condition.metric, condition.end, condition.is_difference, condition.limit
        ('nash_gap', 'low', True, 0.01)
        """
        match = _CONDITION.fullmatch(text)
        if match is None:
            raise UsageError(f"{text!r} is not a condition: {_FORM}")
        end: End = match["end"] or "estimate"  # type: ignore[assignment]
        is_difference = (match["difference"] or match["less"]) is not None
        if end == "p" and not is_difference:
            metric = match["metric"]
            raise UsageError(f"{text!r}: only a difference is tested: p({metric} - baseline)")
        return cls(
            text=" ".join(text.split()),
            metric=match["metric"] or match["plain"],
            end=end,
            is_difference=is_difference,
            operator=match["operator"],
            limit=float(match["limit"]),
        )

    def holds(self, value: float) -> bool:
        """Tell whether a value is one under which the run fails."""
        return _OPERATORS[self.operator](value, self.limit)

    @property
    def number(self) -> str:
        """What is looked at, in words."""
        difference = f"{self.metric} - baseline" if self.is_difference else self.metric
        ends = {"low": "the lower end of ", "high": "the upper end of ", "p": "the p-value of "}
        return ends.get(self.end, "") + difference


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One condition checked for one model: `value` is None where there is no number to look at."""

    condition: GateCondition
    player: str
    value: float | None
    passed: bool

    def describe(self) -> str:
        """State the result in one line."""
        subject = f"{self.player}: {self.condition.number}"
        if self.value is None:
            return f"{subject} is not known, as no answer of this model gives it"
        found = f"{subject} is {format_number(self.value)}"
        if self.passed:
            return f"{found}, so that {self.condition.text} does not hold"
        limit = f"{self.condition.operator} {self.condition.limit:g}"
        return f"{found}, and the run fails if it is {limit}"


@dataclass(frozen=True, slots=True)
class GateResult:
    """The outcome of all conditions."""

    suite: str
    checks: tuple[GateCheck, ...]

    @property
    def failures(self) -> tuple[GateCheck, ...]:
        """The checks that did not pass."""
        return tuple(check for check in self.checks if not check.passed)

    def to_junit(self) -> str:
        """Write the result as JUnit XML: one test case for every condition and model."""
        unknown = sum(check.value is None for check in self.checks)
        suite = ElementTree.Element(
            "testsuite",
            name=visible(self.suite),
            tests=str(len(self.checks)),
            failures=str(len(self.failures) - unknown),
            errors=str(unknown),
            skipped="0",
        )
        for check in self.checks:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=visible(check.player),
                name=check.condition.text,
            )
            if not check.passed:
                kind = "error" if check.value is None else "failure"
                outcome = ElementTree.SubElement(case, kind, message=visible(check.describe()))
                outcome.text = visible(check.describe())
        suites = ElementTree.Element("testsuites")
        suites.append(suite)
        ElementTree.indent(suites)
        written = ElementTree.tostring(suites, encoding="unicode", xml_declaration=False)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{written}\n'


def check_conditions(
    conditions: Iterable[str | GateCondition],
    run: Run[C],
    baseline: Run[C] | None = None,
) -> GateResult:
    """GateCheck conditions on a run; `baseline` is the run that differences are to.

    UsageError names what is wrong with a condition: a metric that the study does not have, an
    interval that the metric does not have, or a difference without a baseline.
    """
    read = [
        condition if isinstance(condition, GateCondition) else GateCondition.parse(condition)
        for condition in conditions
    ]
    for condition in read:
        _refuse(condition, run, baseline)
    needs_comparison = any(condition.is_difference for condition in read)
    comparison = compare_runs(baseline, run) if baseline and needs_comparison else None
    checks: list[GateCheck] = []
    for condition in read:
        if condition.is_difference and comparison is not None:
            checks += _check_difference(condition, comparison)
            continue
        for player, row in _list_models(run.metrics):
            checks.append(_check(condition, player, row.get(condition.metric)))
    return GateResult(f"bestresponse {run.study.name} {run.path.name}", tuple(checks))


def refuse_conditions(conditions: Sequence[str], metrics: Sequence[str], *, baseline: bool) -> None:
    """Refuse what is wrong with conditions before anything is played."""
    for text in conditions:
        condition = GateCondition.parse(text)
        if condition.metric not in metrics:
            hint = did_you_mean(condition.metric, list(metrics))
            known = ", ".join(metrics)
            raise UsageError(
                f"there is no metric {condition.metric!r}.{hint} Metrics: {known}.",
            )
        if condition.is_difference and not baseline:
            raise UsageError(
                f"{condition.text!r} needs a run to compare with: name one by `against`",
            )


def _refuse(condition: GateCondition, run: Run[C], baseline: Run[C] | None) -> None:
    table = run.metrics
    names = [metric.name for metric in table.columns]
    refuse_conditions([condition.text], names, baseline=baseline is not None)
    if condition.end == "estimate" or condition.is_difference:
        return
    values = [row.get(condition.metric) for _, row in _list_models(table)]
    known = [value for value in values if value is not None]
    if known and not any(isinstance(value, Interval) for value in known):
        with_interval = [
            metric.name
            for metric in table.columns
            if any(isinstance(row.get(metric.name), Interval) for _, row in table.groups)
        ]
        raise UsageError(
            f"{condition.text!r}: {condition.metric} has no interval; metrics that have one:"
            f" {', '.join(with_interval)}",
        )


def _list_models(table: MetricTable) -> list[tuple[str, Mapping[str, Value]]]:
    """Return the metrics of every model by its name."""
    return [
        (", ".join(map(str, heads)), row) for heads, row in table.groups if not is_baseline(heads)
    ]


def _check_difference(condition: GateCondition, comparison: RunComparison) -> Iterator[GateCheck]:
    rows = comparison.find_differences(condition.metric)
    if not rows:
        raise UsageError(
            f"{condition.text!r}: {condition.metric} cannot be compared between these runs, as no"
            " model has it with an interval in both",
        )
    for row in rows:
        against = row["against"].partition(": ")[2]
        player = row["player"].partition(": ")[2]
        name = player if against == player else f"{player} against {against}"
        value = row["p"] if condition.end == "p" else row["difference"]
        yield _check(condition, name, value)


def _check(condition: GateCondition, player: str, value: Value) -> GateCheck:
    number = _find_end(value, condition.end)
    passed = number is not None and not condition.holds(number)
    return GateCheck(condition, player, number, passed)


def _find_end(value: Value, end: End) -> float | None:
    """Return the estimate or an end of a metric; None where it is not known.

    A single answer has no interval: its ends are not known either, and it does not pass.
    """
    if not isinstance(value, Interval):
        return None if value is None or end in ("low", "high") else float(value)
    ends = {"estimate": value.estimate, "low": value.low, "high": value.high}
    return ends[end] if math.isfinite(ends[end]) else None
