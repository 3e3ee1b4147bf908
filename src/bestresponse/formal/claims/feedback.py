"""What is said about refuted claims: the true values (positive form) or the plain negation (negative form).

No sentence is ever false: a positive one is said only of claims that were proved, a negative one only of claims that
were refuted; a tie is corrected by saying that it is a tie.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Final, Literal

import numpy as np

from bestresponse.formal.claims.by_theory import TheoryCheck
from bestresponse.formal.claims.checker import Checked, Checker
from bestresponse.formal.claims.claim import FORMS, Argument, Chain, Claim, Move
from bestresponse.formal.claims.grounding import Grounded, ground
from bestresponse.formal.claims.subject import exact
from bestresponse.formal.claims.wording import deny, phrase, say
from bestresponse.logic.engine import Verdict

__all__ = ["Correction", "Sentence", "Tone", "correct"]

Tone = Literal["positive", "negative"]
"""Whether feedback states the true values or only that a claim is false."""
_MOST_SAID: Final = 4
_MOST_TRIED: Final = 500
_INSTEAD: Final = {
    "higher": ("lower", "equal"),
    "lower": ("higher", "equal"),
    "equal": ("higher", "lower"),
    "higher_guaranteed_payoff": ("lower_guaranteed_payoff", "equal_guaranteed_payoff"),
    "lower_guaranteed_payoff": ("higher_guaranteed_payoff", "equal_guaranteed_payoff"),
    "equal_guaranteed_payoff": ("higher_guaranteed_payoff", "lower_guaranteed_payoff"),
}
_EXTREMES: Final = {
    "guaranteed_payoff_for_choice": "lowest_individual_payoff_for_choice",
    "limited_payoff_for_choice": "highest_individual_payoff_for_choice",
}
"""What is said instead of a bound that does not hold: the extreme itself."""
_SEARCHED: Final = frozenset(
    {
        "highest_guaranteed_payoff_choice",
        "lowest_guaranteed_payoff_choice",
        "best_response",
        "best_response_to_mix",
        "will_play",
    }
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence for the reasoner: the claim it states, or the one it denies."""

    text: str
    claim: Claim
    denies: bool = False


@dataclass(frozen=True, slots=True)
class Correction:
    """What the reasoner is told about one refuted claim: the claim itself, and what is true instead."""

    claim: Claim
    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        """The correction in one line: what was said, and what is true instead or that it is false."""
        if any(sentence.denies for sentence in self.sentences):
            return " ".join(sentence.text for sentence in self.sentences)
        truths = "; ".join(phrase(sentence.claim) for sentence in self.sentences)
        return f"You say that {phrase(self.claim)}. In fact, {truths}."


def correct(checked: tuple[Checked, ...], checker: Checker, tone: Tone = "positive") -> tuple[Correction, ...]:
    """Correct every refuted claim, in order."""
    found: list[Correction] = []
    for one in checked:
        if one.verdict is not Verdict.REFUTED or not isinstance(one.claim, Claim):
            continue
        truths = tuple(_truths(one.claim, checker)) if tone == "positive" else ()
        found.append(Correction(one.claim, truths or (Sentence(deny(one.claim), one.claim, denies=True),)))
    return tuple(found)


def _truths(claim: Claim, checker: Checker) -> Iterator[Sentence]:
    """What is true instead, proved before it is said."""
    count = 0
    settled: set[tuple[Argument, ...]] = set()
    for candidate in _candidates(ground(claim, checker.subject), checker.theory):
        weaker = candidate.form == "weakly_dominant" and candidate.args in settled
        found = checker.check(candidate)
        if found.verdict is Verdict.PROVED and isinstance(found.claim, Claim) and not weaker:
            settled.add(candidate.args)
            yield Sentence(say(found.claim), found.claim)
            count += 1
        if count == _MOST_SAID:
            return


def _candidates(grounded: Grounded, theory: TheoryCheck) -> Iterator[Claim]:
    claim = grounded.claim
    names = FORMS[claim.form].names
    if claim.negated:
        yield claim.negate()
    elif claim.form in _INSTEAD:
        yield from (Claim(form, claim.args) for form in _INSTEAD[claim.form])
    elif claim.form in ("better_response", "equal_response"):
        yield from _replies(claim)
    elif claim.form in ("better_outcome", "payoff_difference"):
        yield from _two_payoffs(grounded, theory)
    elif claim.form == "better_response_to_mix":
        means = theory.expected(grounded.places["who"], grounded.places["mixed"])
        for name in ("action", "other"):
            value = means[grounded.places[name]] / theory.subject.scale
            yield Claim("expected_payoff", (claim["who"], value, claim[name], claim["mixed"]))
    elif claim.form == "pure_equilibria":
        yield _with(claim, value=Fraction(theory.pure_equilibria))
        yield from _stable(theory)
    elif claim.form in _EXTREMES:
        values = _values(grounded, theory)
        yield from (Claim(_EXTREMES[claim.form], _with(claim, value=value).args) for value in values)
    elif claim.form == "mixed_equilibrium":
        yield from _better_than_mix(grounded, theory)
    elif "value" in names:
        yield from (_with(claim, value=value) for value in _values(grounded, theory))
    elif claim.form in _SEARCHED:
        who = grounded.places["who"]
        yield from (_with(claim, action=action) for action in theory.subject.actions[who][:_MOST_TRIED])
    elif claim.form in ("highest_mutual_payoff", "lowest_mutual_payoff"):
        yield from _sums(claim, theory)
    elif claim.form == "no_dominant_choice":
        who = grounded.places["who"]
        names = theory.subject.actions[who][:_MOST_TRIED]
        for name in names:
            yield from (Claim(f"{how}_dominant", (name, claim["who"])) for how in ("strictly", "weakly"))
    elif claim.form == "equilibrium":
        yield from _deviations(grounded, theory)
    elif claim.form in ("strictly_dominates", "weakly_dominates", "strictly_dominant", "weakly_dominant"):
        yield from _counterexample(grounded, theory)
    elif claim.form == "pareto_optimal":
        yield from (Claim("pareto_dominates", (better, claim["outcome"])) for better in _better(grounded, theory))
    elif claim.form == "pareto_dominates":
        yield from _worse_off(grounded, theory)


def _with(claim: Claim, **changed: Any) -> Claim:
    names = FORMS[claim.form].names
    return Claim(claim.form, tuple(changed.get(name, given) for name, given in zip(names, claim.args, strict=True)))


def _replies(claim: Claim) -> Iterator[Claim]:
    action, other, against, who = claim.args
    yield Claim("better_response", (action, other, against, who))
    yield Claim("better_response", (other, action, against, who))
    yield Claim("equal_response", (action, other, against, who))


def _values(grounded: Grounded, theory: TheoryCheck) -> Iterator[Fraction]:
    """The numbers that could be meant, the true one among them."""
    places, form = grounded.places, grounded.claim.form
    if theory.subject.tree is not None:
        yield from _tree_values(grounded, theory)
        return
    cells, scale = theory.subject.cells, theory.subject.scale
    if form == "payoff":
        yield Fraction(int(cells[(places["who"], *places["outcome"])]), scale)
    elif form == "total_payoff":
        yield Fraction(int(theory.total[places["actions"]]), scale)
    elif form == "expected_payoff":
        yield theory.expected(places["who"], places["mixed"])[places["action"]] / scale
    else:
        worst, own = theory.worst, theory.own
        who = places.get("who", 0)
        best = own[who].max(axis=1)
        extremes = [cells.max(), cells.min(), own[who].max(), own[who].min()]
        extremes += [worst[who].max(), own[who].max(axis=0).min()]
        if "action" in places:
            extremes = [best[places["action"]], worst[who][places["action"]]]
        yield from (Fraction(int(value), scale) for value in extremes)


def _tree_values(grounded: Grounded, theory: TheoryCheck) -> Iterator[Fraction]:
    tree = theory.subject.tree
    if tree is None:
        return
    if grounded.claim.form == "continuation_payoff":
        yield from theory.play.worths(grounded.places["after"], grounded.places["who"])
    else:
        leaves = tree.leaves
        if "outcome" in grounded.places:
            leaves = np.array([node for node, _ in grounded.places["outcome"]])
        if grounded.claim.form == "average_payoff":
            yield theory.play.average(grounded.places["outcome"], grounded.places["who"])
            return
        yield from (exact(value) for value in np.unique(tree.payoffs[leaves]).tolist())


def _outcome(theory: TheoryCheck, places: tuple[int, ...]) -> Chain:
    subject = theory.subject
    named = [Move(subject.players[i], subject.actions[i][k]) for i, k in enumerate(places)]
    return tuple(reversed(named))


def _sums(claim: Claim, theory: TheoryCheck) -> Iterator[Claim]:
    wanted = theory.total.max() if claim.form.startswith("highest") else theory.total.min()
    for places in np.argwhere(theory.total == wanted)[:_MOST_SAID].tolist():
        yield Claim(claim.form, (tuple(theory.subject.actions[i][k] for i, k in enumerate(places)),))


def _deviations(grounded: Grounded, theory: TheoryCheck) -> Iterator[Claim]:
    """Who gains by choosing what instead: one sentence for each player who does."""
    outcome, subject = grounded.places["outcome"], theory.subject
    for who, own in enumerate(theory.own):
        rest = tuple(k for i, k in enumerate(outcome) if i != who)
        replies = own[:, theory.column(who, rest)]
        best = int(replies.argmax())
        if replies[best] > replies[outcome[who]]:
            names = subject.actions[who]
            against = tuple(move for move in grounded.claim["outcome"] if move.who != subject.players[who])
            yield Claim("better_response", (names[best], names[outcome[who]], against, subject.players[who]))


def _stable(theory: TheoryCheck) -> Iterator[Claim]:
    """The pure equilibria themselves, unless there are many."""
    if theory.pure_equilibria < _MOST_SAID:
        for places in product(*map(range, theory.subject.cells.shape[1:])):
            yield Claim("equilibrium", (_outcome(theory, places),))


def _better_than_mix(grounded: Grounded, theory: TheoryCheck) -> Iterator[Claim]:
    """For the first player who would rather choose otherwise: what a choice in the mix and the best one earn."""
    mixes, subject = grounded.places["mixes"], theory.subject
    for who, own in enumerate(mixes):
        rest = tuple(row for i, row in enumerate(mixes) if i != who)
        values = theory.expected(who, rest)
        worst = min((k for k, weight in enumerate(own) if weight), key=lambda k: values[k])
        best = max(range(len(values)), key=lambda k: values[k])
        if values[worst] < values[best]:
            others = tuple(mix for mix in grounded.claim["mixes"] if mix.who != subject.players[who])
            for action in (worst, best):
                args = (subject.players[who], values[action] / subject.scale, subject.actions[who][action], others)
                yield Claim("expected_payoff", args)
            return


def _counterexample(grounded: Grounded, theory: TheoryCheck) -> Iterator[Claim]:
    """The payoffs of both choices in a case where the first does not earn more than the second."""
    places = grounded.places
    who, first = places["who"], places["action"]
    others = [places["other"]] if "other" in places else [k for k in range(len(theory.own[who])) if k != first]
    for second in others:
        first_row, second_row = theory.own[who][first], theory.own[who][second]
        less = np.flatnonzero(first_row < second_row)
        place = less if len(less) else np.flatnonzero(first_row == second_row)
        strict = grounded.claim.form.startswith("strict")
        if first == second or not len(place) or not (strict or len(less)):
            continue
        rest = [n for i, n in enumerate(theory.subject.cells.shape[1:]) if i != who]
        column = list(np.unravel_index(int(place[0]), rest)) if rest else []
        for own in (first, second):
            outcome = tuple(int(k) for k in (*column[:who], own, *column[who:]))
            value = Fraction(int(theory.subject.cells[(who, *outcome)]), theory.subject.scale)
            yield Claim("payoff", (theory.subject.players[who], value, _outcome(theory, outcome)))
        return


def _better(grounded: Grounded, theory: TheoryCheck) -> Iterator[Chain]:
    cells = theory.subject.cells
    here = cells[(slice(None), *grounded.places["outcome"])]
    for places in product(*map(range, cells.shape[1:])):
        there = np.array([cells[(who, *places)] for who in range(len(cells))])
        if (there >= here).all() and (there > here).any():
            yield _outcome(theory, places)
            return


def _two_payoffs(grounded: Grounded, theory: TheoryCheck) -> Iterator[Claim]:
    """Yield what the player gets in the two outcomes that were compared."""
    for name in ("outcome", "than"):
        cell = theory.subject.cells[(grounded.places["who"], *grounded.places[name])]
        value = Fraction(int(cell), theory.subject.scale)
        yield Claim("payoff", (grounded.claim["who"], value, grounded.claim[name]))


def _worse_off(grounded: Grounded, theory: TheoryCheck) -> Iterator[Claim]:
    """The payoffs of somebody who gets less in the outcome that was called better."""
    cells, places = theory.subject.cells, grounded.places
    for who, name in enumerate(theory.subject.players):
        first, second = (cells[(who, *places[which])] for which in ("outcome", "than"))
        if first < second:
            for value, which in ((first, "outcome"), (second, "than")):
                yield Claim("payoff", (name, Fraction(int(value), theory.subject.scale), grounded.claim[which]))
            return
