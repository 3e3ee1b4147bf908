"""What is said about refuted claims.

This is the true values (positive form) or the plain negation (negative form).

No sentence is ever false: a positive one is said only of claims that were proved, a negative one
only of claims that were refuted; a tie is corrected by saying that it is a tie.

`say` puts a claim into plain English, a sentence that is true exactly when the claim is, `deny` its
negation.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product, starmap
from typing import Any, Literal

import numpy as np

from bestresponse.core.game import NATURE
from bestresponse.formal.claims.checker import Checked, Checker, TheoryCheck
from bestresponse.formal.claims.claim import FORMS, Argument, Claim, Malformed
from bestresponse.formal.claims.form import (
    SORTS,
    YOU,
    Chain,
    Form,
    Mix,
    Move,
    Sort,
    number_text,
)
from bestresponse.formal.claims.grounding import Grounded, ground
from bestresponse.formal.claims.tables import TableTheory
from bestresponse.formal.claims.trees import TreeTheory
from bestresponse.logic.engine import Verdict

Tone = Literal["positive", "negative"]
"""Whether feedback states the true values or only that a claim is false."""
# A reasoner is told a few truths about a claim; more would bury what is wrong with it.
_MOST_SAID = 4
# Every action that may be right instead is proved before it is named: these are tried, in the order
# of the game.
_MOST_TRIED = 500
_NUMBERS = ("higher", "lower", "equal")
_WORST_CASES = (
    "higher_guaranteed_payoff",
    "lower_guaranteed_payoff",
    "equal_guaranteed_payoff",
)
_INSTEAD = dict.fromkeys(_NUMBERS, _NUMBERS) | dict.fromkeys(_WORST_CASES, _WORST_CASES)
"""The forms, by each of them, of which exactly one holds of the same arguments."""
_EXTREMES = {
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
    """What the reasoner is told about a refuted claim: the claim and what is true instead."""

    claim: Claim
    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        """The correction in one line.

        It gives what was said, and what is true instead or that it is false.
        """
        if any(sentence.denies for sentence in self.sentences):
            return " ".join(sentence.text for sentence in self.sentences)
        truths = "; ".join(phrase(sentence.claim) for sentence in self.sentences)
        return f"You say that {phrase(self.claim)}. In fact, {truths}."


def correct(
    checked: tuple[Checked, ...],
    checker: Checker,
    tone: Tone = "positive",
) -> tuple[Correction, ...]:
    """Correct every refuted claim, in order."""
    corrections: list[Correction] = []
    for judged in checked:
        claim = judged.claim
        if judged.verdict is not Verdict.REFUTED or isinstance(claim, Malformed):
            continue
        sentences = tuple(_truths(claim, checker)) if tone == "positive" else ()
        if not sentences:
            sentences = (Sentence(deny(claim), claim, denies=True),)
        corrections.append(Correction(claim, sentences))
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
    arguments = grounded.arguments
    if claim.negated:
        yield claim.negate()
    elif claim.form in _INSTEAD:
        for form in _INSTEAD[claim.form]:
            yield Claim(form, claim.args)
    elif "than" in arguments and "who" in arguments:
        for name in ("outcome", "than"):
            value = theory.game.payoff(arguments["who"], Fraction(0), arguments[name])
            if isinstance(value, Fraction):
                yield Claim("payoff", (claim["who"], value, claim[name]))
    elif "value" in arguments and claim.form not in _EXTREMES:
        yield from _change_value(grounded, theory)
    elif claim.form.startswith("best_response") or claim.form in ("will_play", *_GUARANTEED):
        actions = theory.subject.actions[arguments["who"]]
        for action in actions[:_MOST_TRIED]:
            yield claim.change(action=action)
    elif isinstance(theory.game, TableTheory):
        yield from _table_candidates(grounded, theory.game)


_GUARANTEED = ("highest_guaranteed_payoff_choice", "lowest_guaranteed_payoff_choice")


def _change_value(grounded: Grounded, theory: TheoryCheck) -> Iterator[Claim]:
    """Yield a claim with the right number, and the equilibria that a number of them counts."""
    claim = grounded.claim
    game = theory.game
    truth = theory.find_truth(grounded)
    values = [truth] if isinstance(truth, Fraction) else []
    if claim.form == "continuation_payoff" and isinstance(game, TreeTheory):
        after = grounded.arguments["after"]
        values = list(game.list_worths(after, grounded.arguments["who"]))
    for value in values:
        yield claim.change(value=value)
    if claim.form == "pure_equilibria" and isinstance(game, TableTheory):
        outcomes = _list_outcomes(game) if values[0] < _MOST_SAID else ()
        for outcome in outcomes:
            yield Claim("equilibrium", (_name_outcome(game, outcome),))


def _table_candidates(grounded: Grounded, game: TableTheory) -> Iterator[Claim]:
    claim = grounded.claim
    arguments = grounded.arguments
    match claim.form:
        case (
            "better_response"
            | "equal_response"
            | "better_response_to_mix"
            | "equal_response_to_mix"
        ):
            _, _, kind = claim.form.partition("_")
            swapped = claim.change(action=claim["other"], other=claim["action"])
            yield Claim(f"better_{kind}", claim.args)
            yield Claim(f"better_{kind}", swapped.args)
            yield Claim(f"equal_{kind}", claim.args)
        case "guaranteed_payoff_for_choice" | "limited_payoff_for_choice":
            form = _EXTREMES[claim.form]
            truth = getattr(game, form)(arguments["value"], arguments["action"], arguments["who"])
            yield Claim(form, claim.change(value=truth).args)
        case "highest_mutual_payoff" | "lowest_mutual_payoff":
            yield from _list_with_total(claim.form, game)
        case "no_dominant_choice":
            actions = game.subject.actions[arguments["who"]]
            for action in actions[:_MOST_TRIED]:
                yield Claim("strictly_dominant", (action, claim["who"]))
                yield Claim("weakly_dominant", (action, claim["who"]))
        case "equilibrium":
            yield from _list_deviations(claim, arguments["outcome"], game)
        case "pareto_optimal":
            yield from _show_better_outcome(grounded, game)
        case "pareto_dominates":
            yield from _show_who_loses(grounded, game)
        case form if "dominant" in form or "dominates" in form:
            yield from _show_counterexample(grounded, game)


def _list_outcomes(game: TableTheory) -> Iterator[tuple[int, ...]]:
    return product(*map(range, game.cells.shape[1:]))


def _name_outcome(game: TableTheory, outcome: tuple[int, ...]) -> Chain:
    moves = tuple(starmap(game.subject.name_move, enumerate(outcome)))
    return moves[::-1]


def _list_with_total(form: str, game: TableTheory) -> Iterator[Claim]:
    """Say of the first few outcomes with the highest or lowest sum of payoffs that it is so."""
    sums = game.total
    outcomes = np.argwhere(sums == (sums.max() if form.startswith("highest") else sums.min()))
    for outcome in outcomes[:_MOST_SAID].tolist():
        moves = _name_outcome(game, outcome)
        actions = tuple(move.action for move in reversed(moves))
        yield Claim(form, (actions,))


def _show_better_outcome(grounded: Grounded, game: TableTheory) -> Iterator[Claim]:
    """Say which outcome Pareto-dominates one that is said to be optimal."""
    for other in _list_outcomes(game):
        if game.pareto_dominates(other, grounded.arguments["outcome"]):
            better = _name_outcome(game, other)
            yield Claim("pareto_dominates", (better, grounded.claim["outcome"]))
            return


def _show_who_loses(grounded: Grounded, game: TableTheory) -> Iterator[Claim]:
    """Say what the first player gets in two outcomes who loses by the one said to be better."""
    claim = grounded.claim
    for number, player in enumerate(game.subject.players):
        here = game.pay(number, grounded.arguments["outcome"])
        there = game.pay(number, grounded.arguments["than"])
        if here < there:
            yield Claim("payoff", (player, here, claim["outcome"]))
            yield Claim("payoff", (player, there, claim["than"]))
            return


def _list_deviations(claim: Claim, outcome: tuple[int, ...], game: TableTheory) -> Iterator[Claim]:
    """Say who gains by choosing what instead: one claim for each player who does."""
    for number, player in enumerate(game.subject.players):
        made = outcome[number]
        replies = game.find_replies(number, outcome[:number] + outcome[number + 1 :])
        best = int(replies.argmax())
        if replies[best] > replies[made]:
            names = game.subject.actions[number]
            against = tuple(move for move in claim["outcome"] if move.who != player)
            yield Claim("better_response", (names[best], names[made], against, player))


def _show_counterexample(grounded: Grounded, game: TableTheory) -> Iterator[Claim]:
    """Yield the payoffs of both choices in a case where the first does not earn more.

    The case is one that is not eliminated.
    """
    arguments = grounded.arguments
    strict = grounded.claim.form.startswith("strict")
    player = arguments["who"]
    first = arguments["action"]
    others = [arguments["other"]] if "other" in arguments else range(len(game.own[player]))
    cases = _list_cases(grounded, game)
    for second in others:
        if second == first:
            continue
        pairs = [(case, (*case[:player], second, *case[player + 1 :])) for case in cases]
        leads = [game.pay(player, one) - game.pay(player, other) for one, other in pairs]
        # The first case in which the choice earns less, else the first in which it earns as much.
        worst = min(range(len(leads)), key=lambda k: (leads[k] > 0, leads[k] == 0))
        if leads[worst] < 0 or (strict and leads[worst] == 0):
            for outcome in pairs[worst]:
                value = game.pay(player, outcome)
                place = _name_outcome(game, outcome)
                yield Claim("payoff", (game.subject.players[player], value, place))
            return


def _list_cases(grounded: Grounded, game: TableTheory) -> list[tuple[int, ...]]:
    """List the outcomes in which a player chooses an action and nobody else what is eliminated."""
    player = grounded.arguments["who"]
    action = grounded.arguments["action"]
    removed = grounded.arguments.get("removed", ())
    gone = {(seat, index) for seat, index in removed if seat != player}
    cases = []
    for outcome in _list_outcomes(game):
        if outcome[player] == action and gone.isdisjoint(enumerate(outcome)):
            cases.append(outcome)
    return cases


_PLACEHOLDER = re.compile(r"\{(?:(if|after) )?(\w+)\}")
_VERB = re.compile(r"<([^<>]*)>")


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
        match way:
            case "after":
                moves = ", then ".join(map(_tell_move, arguments[name]))
                return f"after {moves}" if text else "at the start"
            case "if":
                return f"if {text}, " if text else ""
            case _:
                return text

    def conjugate(verb: re.Match[str]) -> str:
        return _choose_verb(verb[1], str(player), claim.negated)

    return _PLACEHOLDER.sub(fill, _VERB.sub(conjugate, form.words))


def describe(form: Form) -> str:
    """Return what a form of claim says, with its arguments in braces.

    >>> describe(FORMS["payoff"])
    'if {outcome}, {who} gets {value}'
    """
    words = _VERB.sub(lambda verb: _choose_verb(verb[1], "", denied=False), form.words)
    words = re.sub(r"\{if (\w+)\}", r"if {\1}, ", words.replace("{after after}", "after {after}"))
    return words.replace("{whose}", "{who}")


def _choose_verb(verb: str, person: str, denied: bool) -> str:
    """Return the first or second of two wordings, or a verb as it goes with a person."""
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
                removed = []
                for move in argument:
                    owner = "yours" if move.who == YOU else _name(move.who)
                    removed.append(f"{move.action} of {owner}")
                return " and ".join(removed)
            movers = {move.who for move in argument}
            if len(movers) == len(argument) and NATURE not in movers:
                # The order does not matter: the reasoner comes first.
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
