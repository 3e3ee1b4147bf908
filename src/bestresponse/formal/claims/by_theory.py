"""Claims decided on the matrix of payoffs (or, for games played move by move, by backward induction).

Everything is exact: payoffs are whole numbers over a common denominator, so no tolerance decides a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np

from bestresponse.core.errors import BestResponseError
from bestresponse.core.json import JsonMapping
from bestresponse.formal.claims.claim import Claim, find_rounding
from bestresponse.formal.claims.grounding import Grounded, Ungrounded, ground
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.tree_play import TreePlay
from bestresponse.logic.engine import Proof, Verdict

__all__ = ["TheoryCheck"]

Places = JsonMapping
_UNKNOWN = Verdict.UNKNOWN


class TheoryCheck:
    """Decides claims about one game by arithmetic on its payoffs."""

    name = "theory"

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.tables = subject.table is not None

    @cached_property
    def own(self) -> tuple[Any, ...]:
        """For each player its payoffs with its own action as the first axis and the others' flattened in order."""
        cells = self.subject.cells
        return tuple(np.moveaxis(cells[p], p, 0).reshape(cells.shape[1 + p], -1) for p in range(len(cells)))

    @cached_property
    def worst(self) -> tuple[Any, ...]:
        """For each player the least that each action can earn."""
        return tuple(own.min(axis=1) for own in self.own)

    @cached_property
    def total(self) -> Any:
        """The sum of the players' payoffs in every outcome."""
        return self.subject.cells.sum(axis=0)

    @cached_property
    def pure_equilibria(self) -> int:
        """How many outcomes are a best reply of everybody at once."""
        stable = np.ones(self.subject.cells.shape[1:], dtype=bool)
        for who, cells in enumerate(self.subject.cells):
            stable &= np.asarray(cells == cells.max(axis=who, keepdims=True), dtype=bool)
        return int(stable.sum())

    @cached_property
    def play(self) -> TreePlay:
        """The backward induction of the tree."""
        return TreePlay(self.subject)

    def prove(self, claim: Claim) -> Proof:
        """Whether the claim is true; `UNKNOWN` with the reason where it cannot be put to the game."""
        try:
            return self.decide(ground(claim, self.subject))
        except Ungrounded as error:
            return Proof(_UNKNOWN, str(error))

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a grounded claim is true."""
        form = grounded.claim.form
        if not self.tables and form not in ("higher", "lower", "equal"):
            try:
                return grounded.settle(self.play.decide(grounded))
            except BestResponseError as error:
                return Proof(_UNKNOWN, str(error))
        holds = _FORMS[form](self, grounded.places)
        return grounded.settle(_PROVED if holds else _REFUTED)

    def column(self, who: int, rest: tuple[int, ...]) -> int:
        """Where the others' joint choice stands in `own[who]`."""
        shape = [n for i, n in enumerate(self.subject.cells.shape[1:]) if i != who]
        place = 0
        for k, n in zip(rest, shape, strict=True):
            place = place * n + k
        return place

    def expected(self, who: int, mixes: tuple[tuple[Fraction, ...], ...]) -> list[Fraction]:
        """What each action earns on average, times `scale`."""
        weights = [Fraction(1)]
        for row in mixes:
            weights = [w * p for w in weights for p in row]
        rows = self.own[who].tolist()
        return [sum((w * u for w, u in zip(weights, row, strict=True) if w), Fraction(0)) for row in rows]


_PROVED: Final = Proof(Verdict.PROVED)
_REFUTED: Final = Proof(Verdict.REFUTED)


def _is(check: TheoryCheck, scaled: Any, value: Fraction) -> bool:
    return int(scaled) * value.denominator == value.numerator * check.subject.scale


def _payoff(c: TheoryCheck, p: Places) -> bool:
    return _is(c, c.subject.cells[(p["who"], *p["outcome"])], p["value"])


def _expected(c: TheoryCheck, p: Places) -> bool:
    mean = c.expected(p["who"], p["mixed"])[p["action"]] / c.subject.scale
    return bool(abs(mean - p["value"]) <= find_rounding(p["value"]))


def _better_to_mix(c: TheoryCheck, p: Places) -> bool:
    values = c.expected(p["who"], p["mixed"])
    return values[p["action"]] > values[p["other"]]


def _gain(c: TheoryCheck, p: Places) -> int:
    """Say how much more a player gets in one outcome than in another, times `scale`."""
    first, second = (c.subject.cells[(p["who"], *p[name])] for name in ("outcome", "than"))
    return int(first - second)


def _best_to_mix(c: TheoryCheck, p: Places) -> bool:
    values = c.expected(p["who"], p["mixed"])
    return values[p["action"]] == max(values)


def _replies(c: TheoryCheck, p: Places) -> Any:
    return c.own[p["who"]][:, c.column(p["who"], p["against"])]


def _best(c: TheoryCheck, p: Places) -> bool:
    replies = _replies(c, p)
    return bool(replies[p["action"]] == replies.max())


def _strict(c: TheoryCheck, who: int, a: int, b: int) -> bool:
    return bool((c.own[who][a] > c.own[who][b]).all())


def _weak(c: TheoryCheck, who: int, a: int, b: int) -> bool:
    first, second = c.own[who][a], c.own[who][b]
    return bool((first >= second).all() and (first > second).any())


def _over_all(rule: Callable[[TheoryCheck, int, int, int], bool], c: TheoryCheck, p: Places) -> bool:
    who, a = p["who"], p["action"]
    return all(rule(c, who, a, b) for b in range(len(c.own[who])) if b != a)


def _dominated(c: TheoryCheck, p: Places) -> bool:
    who, a = p["who"], p["action"]
    return any(_strict(c, who, b, a) for b in range(len(c.own[who])) if b != a)


def _equilibrium(c: TheoryCheck, p: Places) -> bool:
    outcome = p["outcome"]
    for who, own in enumerate(c.own):
        rest = tuple(k for i, k in enumerate(outcome) if i != who)
        replies = own[:, c.column(who, rest)]
        if replies[outcome[who]] < replies.max():
            return False
    return True


def _mixed_equilibrium(c: TheoryCheck, p: Places) -> bool:
    mixes = p["mixes"]
    for who, mix in enumerate(mixes):
        values = c.expected(who, tuple(row for i, row in enumerate(mixes) if i != who))
        best = max(values)
        if any(weight and value != best for weight, value in zip(mix, values, strict=True)):
            return False
    return True


def _pareto(c: TheoryCheck, p: Places) -> bool:
    first, second = (c.subject.cells[(slice(None), *p[name])] for name in ("outcome", "than"))
    return bool((first >= second).all() and (first > second).any())


def _optimal(c: TheoryCheck, p: Places) -> bool:
    cells = c.subject.cells.reshape(len(c.subject.cells), -1)
    here = c.subject.cells[(slice(None), *p["outcome"])][:, None]
    return not bool(((cells >= here).all(axis=0) & (cells > here).any(axis=0)).any())


_FORMS: Final[Mapping[str, Callable[[TheoryCheck, Places], bool]]] = {
    "payoff": _payoff,
    "higher": lambda c, p: p["first"] > p["second"],
    "lower": lambda c, p: p["first"] < p["second"],
    "equal": lambda c, p: p["first"] == p["second"],
    "highest_possible_individual_payoff": lambda c, p: _is(c, c.own[p["who"]].max(), p["value"]),
    "lowest_possible_individual_payoff": lambda c, p: _is(c, c.own[p["who"]].min(), p["value"]),
    "highest_individual_payoff_for_choice": lambda c, p: _is(c, c.own[p["who"]][p["action"]].max(), p["value"]),
    "lowest_individual_payoff_for_choice": lambda c, p: _is(c, c.worst[p["who"]][p["action"]], p["value"]),
    "guaranteed_payoff_for_choice": lambda c, p: bool(
        Fraction(int(c.worst[p["who"]][p["action"]]), c.subject.scale) >= p["value"]
    ),
    "limited_payoff_for_choice": lambda c, p: bool(
        Fraction(int(c.own[p["who"]][p["action"]].max()), c.subject.scale) <= p["value"]
    ),
    "highest_guaranteed_payoff_choice": lambda c, p: bool(c.worst[p["who"]][p["action"]] == c.worst[p["who"]].max()),
    "lowest_guaranteed_payoff_choice": lambda c, p: bool(c.worst[p["who"]][p["action"]] == c.worst[p["who"]].min()),
    "higher_guaranteed_payoff": lambda c, p: bool(c.worst[p["who"]][p["action"]] > c.worst[p["who"]][p["other"]]),
    "lower_guaranteed_payoff": lambda c, p: bool(c.worst[p["who"]][p["action"]] < c.worst[p["who"]][p["other"]]),
    "equal_guaranteed_payoff": lambda c, p: bool(c.worst[p["who"]][p["action"]] == c.worst[p["who"]][p["other"]]),
    "highest_mutual_payoff": lambda c, p: bool(c.total[p["actions"]] == c.total.max()),
    "lowest_mutual_payoff": lambda c, p: bool(c.total[p["actions"]] == c.total.min()),
    "total_payoff": lambda c, p: _is(c, c.total[p["actions"]], p["value"]),
    "highest_payoff": lambda c, p: _is(c, c.subject.cells.max(), p["value"]),
    "lowest_payoff": lambda c, p: _is(c, c.subject.cells.min(), p["value"]),
    "expected_payoff": _expected,
    "best_response": _best,
    "better_response": lambda c, p: bool(_replies(c, p)[p["action"]] > _replies(c, p)[p["other"]]),
    "equal_response": lambda c, p: bool(_replies(c, p)[p["action"]] == _replies(c, p)[p["other"]]),
    "best_response_to_mix": _best_to_mix,
    "better_response_to_mix": _better_to_mix,
    "better_outcome": lambda c, p: _gain(c, p) > 0,
    "payoff_difference": lambda c, p: _is(c, _gain(c, p), p["value"]),
    "strictly_dominates": lambda c, p: p["action"] != p["other"] and _strict(c, p["who"], p["action"], p["other"]),
    "weakly_dominates": lambda c, p: p["action"] != p["other"] and _weak(c, p["who"], p["action"], p["other"]),
    "strictly_dominant": lambda c, p: _over_all(_strict, c, p),
    "weakly_dominant": lambda c, p: _over_all(_weak, c, p),
    "strictly_dominated": _dominated,
    "equilibrium": _equilibrium,
    "no_dominant_choice": lambda c, p: (
        not any(_over_all(_weak, c, {"who": p["who"], "action": a}) for a in range(len(c.own[p["who"]])))
    ),
    "pure_equilibria": lambda c, p: p["value"] == c.pure_equilibria,
    "mixed_equilibrium": _mixed_equilibrium,
    "pareto_dominates": _pareto,
    "pareto_optimal": _optimal,
    "maximin_payoff": lambda c, p: _is(c, c.worst[p["who"]].max(), p["value"]),
    "minimax_payoff": lambda c, p: _is(c, c.own[p["who"]].max(axis=0).min(), p["value"]),
}
