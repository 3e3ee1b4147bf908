"""Sentences with the claims they make, as data: a file of games and sentences, and how a translator
does on them.

A claim is written as a list: its form, then its arguments in order, an outcome as one action per
player; `["not", claim]` denies it. Where a sentence has "quotes", they are the words of each claim.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bestresponse.formal.claims.claim import FORMS, Claim
from bestresponse.formal.claims.form import Mix, Move, Sort
from bestresponse.formal.claims.grounding import ground
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translation import Translator
from bestresponse.games.lookup import find_game
from bestresponse.theory.games.normal_form import NormalForm


@dataclass(frozen=True)
class Example:
    """A sentence about a game: the claims it makes, those that may be read into it as well, which
    of its words make a claim where not all do, and whether it is true where that is known."""

    text: str
    subject: Subject
    claims: frozenset[Claim]
    also: frozenset[Claim]
    quotes: dict[Claim, str] = field(default_factory=dict)
    true: bool | None = None


@dataclass(frozen=True)
class Score:
    """How many claims were made, how many of them are right, and how many of those wanted were
    found."""

    made: int
    right: int
    wanted: int
    found: int

    @property
    def precision(self) -> float:
        return self.right / self.made

    @property
    def recall(self) -> float:
        return self.found / self.wanted


def read_examples(path: Path) -> Iterator[Example]:
    data = json.loads(path.read_text("utf-8"))
    subjects = {name: _subject(game, path.parent) for name, game in data["games"].items()}
    for row in data["sentences"]:
        subject = subjects[row["game"]]
        sets = [
            frozenset(read_claim(one, subject) for one in row.get(name, ()))
            for name in ("claims", "also")
        ]
        said = zip(row.get("claims", ()), row.get("quotes", ()), strict=False)
        quotes = {read_claim(one, subject): quote for one, quote in said}
        yield Example(row["text"], subject, *sets, quotes, row.get("true"))


def _subject(game: dict[str, Any], folder: Path) -> Subject:
    if "file" in game:
        return Subject(find_game(str(folder / game["file"])).solvable())
    if "tree" in game:
        return Subject(find_game(game["tree"]).solvable())
    actions = tuple(tuple(own) for own in game["actions"])
    return Subject(
        NormalForm(np.array(game["payoffs"], dtype=float), tuple(game.get("players", ())), actions)
    )


def read_claim(row: list[Any], subject: Subject) -> Claim:
    form, *given = row
    if form == "not":
        return read_claim(given[0], subject).negate()
    parameters = FORMS[form].parameters
    who = next(
        (
            subject.player(one)
            for (_, sort), one in zip(parameters, given, strict=True)
            if sort is Sort.WHO
        ),
        0,
    )
    args = [
        _argument(name, sort, one, subject, who)
        for (name, sort), one in zip(parameters, given, strict=True)
    ]
    return ground(Claim(form, tuple(args)), subject).claim


def _argument(name: str, sort: Sort, given: Any, subject: Subject, who: int | None) -> Any:
    if sort is Sort.NUMBER:
        return Fraction(str(given))
    if sort is Sort.JOINT:
        return tuple(given)
    if sort is Sort.CHAIN:
        if all(isinstance(one, list) for one in given):
            return tuple(Move(*one) for one in given)
        seats = [
            player
            for i, player in enumerate(subject.players)
            if not (name == "against" and i == who)
        ]
        return tuple(Move(seat, action) for seat, action in zip(seats, given, strict=True))
    if sort is Sort.MIXES:
        return tuple(
            Mix(one[0], tuple((action, Fraction(str(p))) for action, p in one[1:])) for one in given
        )
    return given


def read_by(translator: Translator, example: Example) -> frozenset[Claim]:
    found = translator.translate(example.text, example.subject).claims
    return frozenset(
        ground(claim, example.subject).claim for claim in found if isinstance(claim, Claim)
    )


def score(translator: Translator, examples: list[Example]) -> Score:
    made = [(read_by(translator, one), one) for one in examples]
    return Score(
        sum(len(claims) for claims, _ in made),
        sum(len(claims & (one.claims | one.also)) for claims, one in made),
        sum(len(one.claims) for one in examples),
        sum(len(claims & one.claims) for claims, one in made),
    )
