"""What is said about refuted claims: the true values (positive form) or the plain negation
(negative form).

No sentence is ever false: a positive one is said only of claims that were proved, a negative one
only of claims that were refuted; a tie is corrected by saying that it is a tie.

`say` puts a claim into plain English, a sentence that is true exactly when the claim is, `deny` its
negation.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any, Final, Literal

import numpy as np

from bestresponse.core.game import NATURE
from bestresponse.formal.claims.checker import Checked, Checker, Grounded, TheoryCheck, ground
from bestresponse.formal.claims.claim import FORMS, Argument, Claim
from bestresponse.formal.claims.form import (
    SORTS,
    YOU,
    Belief,
    Chain,
    Form,
    Mix,
    Move,
    Sort,
    number_text,
)
from bestresponse.formal.claims.tables import TableTheory
from bestresponse.formal.claims.trees import TreeTheory
from bestresponse.logic.engine import Verdict

Tone = Literal["positive", "negative"]
"""Whether feedback states the true values or only that a claim is false."""
# A reasoner is told a few truths about a claim; more would bury what is wrong with it.
_MOST_SAID: Final = 4
# Every action that may be right instead is proved before it is named: these are tried, in the order
# of the game.
_MOST_TRIED: Final = 500
_INSTEAD: Final = (
    ("higher", "lower", "equal"),
    ("higher_guaranteed_payoff", "lower_guaranteed_payoff", "equal_guaranteed_payoff"),
)
"""Forms of which exactly one holds of the same arguments."""
_EXTREMES: Final = {
    "guaranteed_payoff_for_choice": "lowest_individual_payoff_for_choice",
    "limited_payoff_for_choice": "highest_individual_payoff_for_choice",
}
"""What is said instead of a bound that does not hold: the extreme itself."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence for the reasoner: the claim it states, or the one it denies."""

    text: str
    claim: Claim
    denies: bool = False


@dataclass(frozen=True, slots=True)
class Correction:
    """What the reasoner is told about one refuted claim: the claim itself, and what is true
    instead."""

    claim: Claim
    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        """The correction in one line: what was said, and what is true instead or that it is
        false."""
        if any(sentence.denies for sentence in self.sentences):
            return " ".join(sentence.text for sentence in self.sentences)
        truths = "; ".join(phrase(sentence.claim) for sentence in self.sentences)
        return f"You say that {phrase(self.claim)}. In fact, {truths}."


def correct(
    checked: tuple[Checked, ...], checker: Checker, tone: Tone = "positive"
) -> tuple[Correction, ...]:
    """Correct every refuted claim, in order."""
    corrections: list[Correction] = []
    for claim in (judged.claim for judged in checked if judged.verdict is Verdict.REFUTED):
        if isinstance(claim, Claim):
            truths = tuple(_truths(claim, checker)) if tone == "positive" else ()
            corrections.append(
                Correction(claim, truths or (Sentence(deny(claim), claim, denies=True),))
            )
    return tuple(corrections)


def _truths(claim: Claim, checker: Checker) -> Iterator[Sentence]:
    """What is true instead, proved before it is said."""
    count = 0
    settled: set[tuple[Argument, ...]] = set()
    for candidate in _candidates(ground(claim, checker.subject), checker.theory):
        weaker = candidate.form == "weakly_dominant" and candidate.args in settled
        checked = checker.check(candidate)
        if checked.verdict is Verdict.PROVED and isinstance(checked.claim, Claim) and not weaker:
            settled.add(candidate.args)
            yield Sentence(say(checked.claim), checked.claim)
            count += 1
        if count == _MOST_SAID:
            return


def _candidates(grounded: Grounded, theory: TheoryCheck) -> Iterator[Claim]:
    """Yield what may be true instead; what is not is left out later."""
    claim = grounded.claim
    game = theory.game
    arguments = grounded.arguments
    if claim.negated:
        yield claim.negate()
    elif family := next((forms for forms in _INSTEAD if claim.form in forms), None):
        yield from (Claim(form, claim.args) for form in family)
    elif "than" in arguments and "who" in arguments:
        for name in ("outcome", "than"):
            value = game.payoff(arguments["who"], Fraction(0), arguments[name])
            if isinstance(value, Fraction):
                yield Claim("payoff", (claim["who"], value, claim[name]))
    elif "value" in arguments and claim.form not in _EXTREMES:
        truth = theory.find_truth(grounded)
        values = [truth] if isinstance(truth, Fraction) else []
        if claim.form == "continuation_payoff" and isinstance(game, TreeTheory):
            values = list(game.list_worths(arguments["after"], arguments["who"]))
        yield from (claim.change(value=value) for value in values)
        if (
            claim.form == "pure_equilibria"
            and isinstance(game, TableTheory)
            and values[0] < _MOST_SAID
        ):
            yield from (
                Claim("equilibrium", (_name_outcome(game, outcome),))
                for outcome in _list_outcomes(game)
            )
    elif claim.form.startswith("best_response") or claim.form in ("will_play", *_GUARANTEED):
        actions = theory.subject.actions[arguments["who"]][:_MOST_TRIED]
        yield from (claim.change(action=action) for action in actions)
    elif isinstance(game, TableTheory):
        yield from _table_candidates(grounded, game)


_GUARANTEED: Final = ("highest_guaranteed_payoff_choice", "lowest_guaranteed_payoff_choice")


def _table_candidates(grounded: Grounded, game: TableTheory) -> Iterator[Claim]:
    claim = grounded.claim
    arguments = grounded.arguments
    actions = game.subject.actions[arguments.get("who", 0)]
    match claim.form:
        case (
            "better_response"
            | "equal_response"
            | "better_response_to_mix"
            | "equal_response_to_mix"
        ):
            kind = claim.form.partition("_")[2]
            yield Claim(f"better_{kind}", claim.args)
            yield Claim(
                f"better_{kind}", claim.change(action=claim["other"], other=claim["action"]).args
            )
            yield Claim(f"equal_{kind}", claim.args)
        case "guaranteed_payoff_for_choice" | "limited_payoff_for_choice":
            form = _EXTREMES[claim.form]
            truth = getattr(game, form)(arguments["value"], arguments["action"], arguments["who"])
            yield Claim(form, claim.change(value=truth).args)
        case "highest_mutual_payoff" | "lowest_mutual_payoff":
            wanted = game.total.max() if claim.form.startswith("highest") else game.total.min()
            for outcome in np.argwhere(game.total == wanted)[:_MOST_SAID].tolist():
                yield Claim(
                    claim.form, (tuple(game.subject.actions[i][k] for i, k in enumerate(outcome)),)
                )
        case "no_dominant_choice":
            for action in actions[:_MOST_TRIED]:
                yield from (
                    Claim(f"{how}_dominant", (action, claim["who"]))
                    for how in ("strictly", "weakly")
                )
        case "equilibrium":
            yield from _list_deviations(claim, arguments["outcome"], game)
        case "mixed_equilibrium":
            yield from _show_better_choice(claim, arguments["mixes"], game)
        case "pareto_optimal":
            better = (
                other
                for other in _list_outcomes(game)
                if game.pareto_dominates(other, arguments["outcome"])
            )
            for outcome in islice(better, 1):
                yield Claim("pareto_dominates", (_name_outcome(game, outcome), claim["outcome"]))
        case "pareto_dominates":
            for i, player in enumerate(game.subject.players):
                first, second = (game.pay(i, arguments[name]) for name in ("outcome", "than"))
                if first < second:
                    yield Claim("payoff", (player, first, claim["outcome"]))
                    yield Claim("payoff", (player, second, claim["than"]))
                    return
        case form if "dominant" in form or "dominates" in form:
            yield from _show_counterexample(grounded, game)


def _list_outcomes(game: TableTheory) -> Iterator[tuple[int, ...]]:
    return product(*map(range, game.cells.shape[1:]))


def _name_outcome(game: TableTheory, outcome: tuple[int, ...]) -> Chain:
    subject = game.subject
    return tuple(
        reversed([Move(subject.players[i], subject.actions[i][k]) for i, k in enumerate(outcome)])
    )


def _list_deviations(claim: Claim, outcome: tuple[int, ...], game: TableTheory) -> Iterator[Claim]:
    """Say who gains by choosing what instead: one claim for each player who does."""
    for i, player in enumerate(game.subject.players):
        replies = game.find_replies(i, outcome[:i] + outcome[i + 1 :])
        best = int(replies.argmax())
        if replies[best] > replies[outcome[i]]:
            names = game.subject.actions[i]
            against = tuple(move for move in claim["outcome"] if move.who != player)
            yield Claim("better_response", (names[best], names[outcome[i]], against, player))


def _show_better_choice(claim: Claim, mixes: Belief, game: TableTheory) -> Iterator[Claim]:
    """For the first player who would rather choose otherwise: what a choice in the mix and the best
    one earn."""
    for i, player in enumerate(game.subject.players):
        values = game.expect(i, mixes.leave_out(i))
        worst = min((k for k, weight in enumerate(mixes.rows[i]) if weight), key=values.__getitem__)
        best = max(range(len(values)), key=values.__getitem__)
        if worst not in game.list_best(i, mixes.leave_out(i)):
            others = tuple(mix for mix in claim["mixes"] if mix.who != player)
            for action in (worst, best):
                args = (player, values[action], game.subject.actions[i][action], others)
                yield Claim("expected_payoff", args)
            return


def _show_counterexample(grounded: Grounded, game: TableTheory) -> Iterator[Claim]:
    """Yield the payoffs of both choices in a case, not eliminated, where the first does not earn
    more."""
    arguments = grounded.arguments
    strict = grounded.claim.form.startswith("strict")
    player = arguments["who"]
    first = arguments["action"]
    gone = {(i, k) for i, k in arguments.get("removed", ()) if i != player}
    others = (
        [arguments["other"]]
        if "other" in arguments
        else [k for k in range(len(game.own[player])) if k != first]
    )
    for second in others:
        cases = (outcome for outcome in _list_outcomes(game) if not gone & set(enumerate(outcome)))
        pairs = [
            (case, (*case[:player], second, *case[player + 1 :]))
            for case in cases
            if case[player] == first
        ]
        leads = [int(game.cells[(player, *a)] - game.cells[(player, *b)]) for a, b in pairs]
        worst = min(range(len(leads)), key=lambda k: (leads[k] > 0, leads[k] == 0))
        if first != second and (leads[worst] < 0 or (strict and leads[worst] == 0)):
            for outcome in pairs[worst]:
                value = game.pay(player, outcome)
                yield Claim(
                    "payoff", (game.subject.players[player], value, _name_outcome(game, outcome))
                )
            return


_PLACEHOLDER: Final = re.compile(r"\{(?:(if|after) )?(\w+)\}")
_VERB: Final = re.compile(r"<([^<>]*)>")


def say(claim: Claim) -> str:
    """The claim as a sentence.

    >>> from bestresponse.formal.claims.claim import parse
    >>> say(parse("finally(goal(them, 5), do(choice(you, 'B'), do(choice(them, 'R'), s0)))")[0])
    'If you choose B and the other player chooses R, the other player gets 5.'
    """
    text = phrase(claim)
    return text[:1].upper() + text[1:] + "."


def deny(claim: Claim) -> str:
    """The negation of the claim as a sentence.

    >>> from bestresponse.formal.claims.claim import parse
    >>> deny(parse("higher(3, 5)")[0])
    '3 is not more than 5.'
    """
    return say(claim.negate())


def phrase(claim: Claim) -> str:
    """Return the claim as a clause, to stand inside a sentence.

    >>> from bestresponse.formal.claims.claim import parse
    >>> phrase(parse("not(strictly_dominant('R'))")[0])
    'R is not strictly dominant for you'
    """
    form = FORMS[claim.form]
    arguments: dict[str, Any] = dict(zip(form.names, claim.args, strict=True))
    player = arguments.get("who", "")

    def fill(placeholder: re.Match[str]) -> str:
        way, name = placeholder.groups()
        if name == "whose":
            return "yours" if player == YOU else _name(str(player))
        text = _tell(name, arguments[name])
        if way == "after":
            return (
                f"after {', then '.join(map(_tell_move, arguments[name]))}"
                if text
                else "at the start"
            )
        return text if way is None else f"if {text}, " if text else ""

    return _PLACEHOLDER.sub(
        fill, _VERB.sub(lambda verb: _choose_verb(verb[1], str(player), claim.negated), form.words)
    )


def describe(form: Form) -> str:
    """Return what a form of claim says, with its arguments in braces.

    >>> describe(FORMS["payoff"])
    'if {outcome}, {who} gets {value}'
    """
    words = _VERB.sub(lambda verb: _choose_verb(verb[1], "", denied=False), form.words)
    words = re.sub(r"\{if (\w+)\}", r"if {\1}, ", words.replace("{after after}", "after {after}"))
    return words.replace("{whose}", "{who}")


def _choose_verb(verb: str, person: str, denied: bool) -> str:
    """Return the first or second of two ways to say something, or a verb as it goes with a
    person."""
    made, bar, opposite = verb.partition("|")
    if bar:
        return opposite if denied else made
    if denied:
        return f"{'do' if person == YOU else 'does'} not {verb}"
    return verb if person == YOU else f"{verb}s"


def _name(player: str) -> str:
    return {YOU: YOU, "them": "the other player", NATURE: "chance"}.get(player, player)


def _tell(name: str, argument: Any) -> str:
    match SORTS[name]:
        case Sort.WHO:
            return _name(argument)
        case Sort.ACTION:
            return str(argument)
        case Sort.NUMBER:
            return number_text(argument)
        case Sort.JOINT:
            return f"({', '.join(argument)})"
        case Sort.MIXES:
            return " and ".join(map(_tell_mix, argument))
        case Sort.CHAIN:
            if name == "removed":
                whose = ("yours" if move.who == YOU else _name(move.who) for move in argument)
                return " and ".join(
                    f"{move.action} of {owner}" for move, owner in zip(argument, whose, strict=True)
                )
            movers = {move.who for move in argument}
            if (
                len(movers) == len(argument) and NATURE not in movers
            ):  # order does not matter: the reasoner first
                argument = sorted(argument, key=lambda move: move.who != YOU)
            return " and ".join(map(_tell_move, argument))


def _tell_move(move: Move) -> str:
    verb = "draw" if move.who == NATURE else "choose"
    return f"{_name(move.who)} {_choose_verb(verb, move.who, denied=False)} {move.action}"


def _tell_mix(mix: Mix) -> str:
    shares = " and ".join(
        f"{action} with probability {number_text(weight)}" for action, weight in mix.weights
    )
    return f"{_name(mix.who)} {_choose_verb('choose', mix.who, denied=False)} {shares}"
