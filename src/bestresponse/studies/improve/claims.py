"""Examples for translators: a text about a drawn game and the claims it makes.

The claims are as `verify` asks for them.

Half of the amounts in a text are true and half are not: a translator writes down what a text says,
mistakes included.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bestresponse.core.errors import InvalidMove
from bestresponse.core.files import read_toml
from bestresponse.formal.claims.claim import FORMS, Argument, Claim, read_answer
from bestresponse.formal.claims.form import Mix, Move, Sort, number_text
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.texts import TEXTS
from bestresponse.formal.claims.translation import write_translation_prompt
from bestresponse.studies.improve.rows import GameTask
from bestresponse.theory.games.normal_form import NormalForm

_LEAST = 2
_MOST = 6
"""Claims of a text."""
_DENIED = 0.15
_SILENT = 0.4
"""How likely a sentence without a claim comes before one with a claim."""
_OF_THEM = "payoff_of_them"


@cache
def _wordings() -> Mapping[str, Any]:
    return read_toml(Path(__file__).with_name("claims.toml"))


@dataclass(frozen=True, slots=True)
class WordedClaim:
    """A claim and the sentence that makes it."""

    claim: Claim
    sentence: str

    def to_json(self) -> dict[str, object]:
        """Return the claim as a translator writes it."""
        row: dict[str, object] = {
            "form": self.claim.form,
            "negated": self.claim.negated,
            "quote": self.sentence,
        }
        for (name, sort), argument in zip(
            FORMS[self.claim.form].parameters, self.claim.args, strict=True
        ):
            row[name] = _write_argument(sort, argument)
        return row


def _write_argument(sort: Sort, argument: Argument) -> object:
    """Return an argument of a claim as a translator writes it."""
    if isinstance(argument, Fraction):
        return int(argument) if argument.denominator == 1 else number_text(argument)
    if isinstance(argument, str):
        return argument
    if sort is Sort.JOINT:
        return list(argument)
    parts: list[object] = []
    for part in argument:
        if isinstance(part, Move):
            parts.append({"who": part.who, "action": part.action})
        elif isinstance(part, Mix):
            weights = [
                {"action": action, "probability": number_text(p)} for action, p in part.weights
            ]
            parts.append({"who": part.who, "weights": weights})
    return parts


def draw_text(
    form: NormalForm,
    seat: int,
    rng: np.random.Generator,
) -> tuple[str, list[WordedClaim]]:
    """Draw a text about a game of two, and the claims in it, each once.

    It is written as the player of a seat writes it.
    """
    made: dict[Claim, WordedClaim] = {}
    sentences: list[str] = []
    for _ in range(int(rng.integers(_LEAST, _MOST + 1))):
        drawn = _draw_claim(form, seat, rng)
        if rng.random() < _SILENT:
            sentence = str(rng.choice(_wordings()["silent"]["sentences"]))
            question = sentence.startswith("Is ")
            told = sentence.format(mine=rng.choice(form.actions[seat]))
            sentences.append(f"{told}{'?' if question else '.'}")
        if drawn.claim not in made:
            made[drawn.claim] = drawn
            sentences.append(f"{drawn.sentence}.")
    return " ".join(sentences), list(made.values())


def _draw_claim(form: NormalForm, seat: int, rng: np.random.Generator) -> WordedClaim:
    denied = rng.random() < _DENIED
    wordings = _wordings()["denials" if denied else "claims"]
    name = str(rng.choice(list(wordings)))
    mine, theirs = (str(rng.choice(form.actions[player])) for player in (seat, 1 - seat))
    others = [action for action in form.actions[seat] if action != mine]
    other = str(rng.choice(others))
    first, second = (Fraction(int(value)) for value in rng.choice(form.payoffs.ravel(), 2))
    # What a player gets if both choose so, or half of the time another amount of the game.
    cell = [0, 0]
    for player, action in zip((seat, 1 - seat), (mine, theirs), strict=True):
        cell[player] = form.actions[player].index(action)
    paid = form.payoffs[(1 - seat if name == _OF_THEM else seat, *cell)]
    value = Fraction(int(paid if rng.random() < 0.5 else rng.choice(form.payoffs.ravel())))
    outcome = (Move("them", theirs), Move("you", mine))
    given: dict[str, Argument] = {
        "who": "them" if name == _OF_THEM else "you",
        "value": value,
        "first": first,
        "second": second,
        "action": mine,
        "other": other,
        "outcome": outcome,
        "against": outcome[:1],
        "actions": (mine, theirs),
    }
    kind = "payoff" if name == _OF_THEM else name
    claim = Claim(kind, tuple(given[argument] for argument in FORMS[kind].names), denied)
    words = {"mine": mine, "theirs": theirs, "other": other}
    amounts = {"value": value, "first": first, "second": second}
    numbers = {amount: number_text(number) for amount, number in amounts.items()}
    sentence = str(rng.choice(wordings[name])).format(**words, **numbers)
    return WordedClaim(claim, sentence[:1].upper() + sentence[1:])


def write_claims_question(form: NormalForm, task: GameTask) -> tuple[str, str]:
    """Return what a model is asked as a translator of the text of a task."""
    prompt = write_translation_prompt(str(task.get("text", "")), Subject(form, task["seat"]))
    return TEXTS.text("system"), prompt


def write_claims_answer(claims: Sequence[WordedClaim]) -> str:
    """Return the answer of a translator who finds these claims."""
    return json.dumps({"claims": [claim.to_json() for claim in claims]}, ensure_ascii=False)


def score_claims(task: GameTask, reply: str) -> float:
    """Return how far the claims of a reply are those of the text.

    This is the harmonic mean of precision and recall.
    """
    if "claims" not in reply:
        raise InvalidMove("there is no list of claims in the reply")
    found = set(_list_printed(reply))
    wanted = set(task["claims"])
    return 2 * len(found & wanted) / (len(found) + len(wanted)) if found or wanted else 1.0


def _list_printed(reply: str) -> Iterator[str]:
    for row in read_answer(reply).rows:
        yield str(row.claim) if isinstance(row.claim, Claim) else f"malformed: {row.claim.text}"
