"""Response oracles in prompt space: a model proposes manners, plays decide which is the best response.

    shotgun       `candidates` new manners at once, the best is taken                              (algorithm 1)
    better        one new manner after another until one beats the present value                  (algorithm 2)
    trajectory    the manners so far are shown ranked by score, new ones asked for in rising order (algorithm 3)
    categorical   new categories of manners, ranked by their mean score; the best one of the best  (algorithm 4)

Candidates are played against the others' present mixture on common plays, in rounds: whoever is surely worse than the
leader drops out and costs no further play. Manners that are known already are rejected before they cost anything.

I. Gemp et al., "Steering Language Models with Game-Theoretic Solvers", 2024, appendix H.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import OverBudget, UsageError
from bestresponse.core.json import digest
from bestresponse.core.seeds import generator
from bestresponse.games.dialogue.recorded import Book, Entry
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Message, Model, Request
from bestresponse.studies.steer.psro.meta_game import MetaSolution
from bestresponse.studies.steer.psro.plays import Arena, Profile
from bestresponse.theory.games.normal_form import Array

__all__ = ["Candidate", "Inventor", "Response", "Search", "questions", "respond", "tidy"]

_LONGEST = 40
_FIRST_ROUND = 5
_CATEGORIES = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A manner and what it earned against the others' mixture: mean, standard error, plays it got."""

    manner: str
    score: float
    error: float
    plays: int
    category: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """What an oracle found for one seat: the best candidate (None: nothing beats the present value), and all tried."""

    seat: int
    best: Candidate | None
    tried: tuple[Candidate, ...]
    rejected: tuple[str, ...]
    value: float


def tidy(manner: str) -> str:
    """One spelling of a manner.

    >>> tidy(" 'Very  Calm'. ")
    'very calm'
    """
    return re.sub(r"\s+", " ", manner.strip(" \t\n'\"`*-.,:")).casefold()


class Inventor:
    """A model that proposes manners; its proposals are kept in the book like every other answer."""

    def __init__(self, model: Model, task: str, book: Book, keep: Callable[[Entry], None], temperature: float) -> None:
        self._model, self._task, self._book, self._keep = model, task, book, keep
        self._temperature = temperature
        self._only_record = False
        self.calls = 0
        self.recalled = 0

    def on_record(self) -> Inventor:
        """One that knows the record only, and stops a search that asks for more."""
        quiet = Inventor(self._model, self._task, self._book, self._keep, self._temperature)
        quiet._only_record = True
        return quiet

    def propose(
        self,
        count: int,
        known: list[str],
        *,
        what: str = "manners",
        ranked: bool = False,
        purpose: str = "",
        draw: int = 0,
    ) -> list[str]:
        """Up to `count` proposals, as the model wrote them."""
        content = TEXTS.fill(
            "dialogue_invent",
            task=self._task,
            manners="\n".join(f"- {one}" for one in known),
            ranked=", from the worst to the best" if ranked else "",
            order=" Order them from the worst to the best." if ranked else "",
            count=count,
            what=what,
            purpose=purpose,
        )
        key = f"invent:{self._model.id}:{digest(content, 24)}"
        entry = self._book.get(key, draw)
        if entry is None:
            entry = self._ask(key, content, draw)
        else:
            self.recalled += 1
        return _listed(entry.text or "")[:count]

    def _ask(self, key: str, content: str, draw: int) -> Entry:
        if self._only_record:
            raise OverBudget("this is not on record")
        messages = (Message("system", TEXTS.text("dialogue_inventor")), Message("user", content))
        reply = self._model.complete(Request(messages, max_tokens=200, temperature=self._temperature, replicate=draw))
        self.calls += 1
        entry = Entry(key, draw, reply.text[:5000], self._model.id)
        self._book.add(entry)
        self._keep(entry)
        return entry


def _listed(text: str) -> list[str]:
    """The names in a JSON list, or one per line where there is no list."""
    found = re.search(r"\[.*?\]", text, re.S)
    if found:
        try:
            return [str(one) for one in json.loads(found[0])]
        except ValueError:
            pass
    return [re.sub(r"^\s*(?:\d+[.)]|[-*])\s*", "", line) for line in text.splitlines() if line.strip()]


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """One oracle call: for which seat, against what, and how many plays and candidates it may take."""

    arena: Arena
    inventor: Inventor
    seat: int
    prompts: tuple[tuple[str, ...], ...]
    solution: MetaSolution
    plays: int
    candidates: int
    seed: int
    round: int

    def scores(self, manners: list[str]) -> list[Candidate]:
        """Play the candidates against the others' mixture, dropping those that are surely behind."""
        for manner in manners:
            self.arena.learn(manner)
        rows: dict[str, Array] = {manner: np.zeros(0) for manner in manners}
        alive, done, step = list(manners), 0, min(_FIRST_ROUND, self.plays)
        while alive and done < self.plays:
            numbers = range(done, min(self.plays, done + step))
            for manner in alive:
                wanted = [(self._profile(manner, number), number) for number in numbers]
                earned = self.arena.sample_many(wanted)[:, self.seat]
                rows[manner] = np.concatenate([rows[manner], earned[np.isfinite(earned)]])
            done, step = numbers.stop, 2 * step
            alive = _leaders(rows, alive)
        return [_candidate(manner, values) for manner, values in rows.items() if len(values)]

    def present(self) -> list[Candidate]:
        """The manners this seat has already, scored on the same plays."""
        return self.scores(list(self.prompts[self.seat]))

    def _profile(self, manner: str, number: int) -> Profile:
        """This seat in `manner`, the others drawn from the solution: the same draw for every candidate."""
        others = self.solution.joint.sum(axis=self.seat, keepdims=True)
        flat = others.ravel().clip(0)
        drawn = generator(self.seed, "others", self.round, number).choices(range(flat.size), flat.tolist())[0]
        places = np.unravel_index(drawn, others.shape)
        return tuple(
            manner if seat == self.seat else self.prompts[seat][int(place)] for seat, place in enumerate(places)
        )


def _leaders(rows: dict[str, Array], alive: list[str]) -> list[str]:
    """Those whose mean is not more than three standard errors (of the difference) behind the best."""
    scored = {manner: _candidate(manner, rows[manner]) for manner in alive if len(rows[manner]) > 1}
    if len(scored) < 2:
        return alive
    best = max(scored.values(), key=lambda one: one.score)
    return [
        manner
        for manner in alive
        if manner not in scored
        or best.score - scored[manner].score <= 3 * float(np.hypot(best.error, scored[manner].error))
    ]


def _candidate(manner: str, values: Array) -> Candidate:
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")
    return Candidate(manner, float(values.mean()), error, len(values))


def questions(oracle: str, candidates: int) -> tuple[int, int]:
    """How many calls an oracle makes for one seat at most, and how many candidates it plays."""
    match oracle:
        case "better":
            return candidates, candidates
        case "categorical":
            return 1 + _CATEGORIES, _CATEGORIES * candidates
        case _:
            return 1, candidates


def respond(search: Search, oracle: str) -> Response:
    """The best response that `oracle` finds for one seat; `best` is None where nothing beats the present value."""
    present = search.present()
    value = max(one.score for one in present)
    known = [*search.prompts[search.seat]]
    match oracle:
        case "shotgun":
            fresh, rejected = _fresh(search.inventor.propose(search.candidates, known, draw=search.round), known)
            tried = search.scores(fresh)
        case "better":
            tried, rejected = _until_better(search, known, value)
        case "trajectory":
            order = [one.manner for one in sorted(present, key=lambda one: one.score)]
            offered = search.inventor.propose(search.candidates, order, ranked=True, draw=search.round)
            fresh, rejected = _fresh(offered, known)
            tried = search.scores(fresh)
        case "categorical":
            tried, rejected = _by_category(search, known)
        case _:
            raise UsageError(f"there is no oracle named {oracle!r}")
    best = max(tried, key=lambda one: one.score, default=None)
    if oracle == "categorical" and tried:
        best = _best_of_best_category(tried)
    better = best is not None and best.score > value
    return Response(search.seat, best if better else None, tuple(tried), tuple(rejected), value)


def _fresh(offered: list[str], known: list[str]) -> tuple[list[str], list[str]]:
    """The offers that are new, in one spelling, and the rejected ones: duplicates, empty and overlong ones."""
    taken = {tidy(one) for one in known}
    fresh, rejected = [], []
    for offer in offered:
        name = tidy(offer)
        if not name or name in taken or len(name) > _LONGEST:
            rejected.append(offer)
            continue
        taken.add(name)
        fresh.append(name)
    return fresh, rejected


def _until_better(search: Search, known: list[str], value: float) -> tuple[list[Candidate], list[str]]:
    tried: list[Candidate] = []
    rejected: list[str] = []
    for attempt in range(search.candidates):
        seen = known + [one.manner for one in tried]
        offered = search.inventor.propose(1, seen, draw=search.round * search.candidates + attempt)
        fresh, refused = _fresh(offered, seen)
        rejected += refused
        tried += search.scores(fresh)
        if tried and tried[-1].score > value:
            break
    return tried, rejected


def _by_category(search: Search, known: list[str]) -> tuple[list[Candidate], list[str]]:
    kind = search.arena.manners.name
    categories = search.inventor.propose(_CATEGORIES, [kind], what="categories of manners", draw=search.round)
    tried: list[Candidate] = []
    rejected: list[str] = []
    for category in dict.fromkeys(tidy(one) for one in categories):
        seen = known + [one.manner for one in tried]
        purpose = f" of the category {category}"
        offered = search.inventor.propose(search.candidates, seen, purpose=purpose, draw=search.round)
        fresh, refused = _fresh(offered, seen)
        rejected += refused
        scored = search.scores(fresh)
        tried += [Candidate(one.manner, one.score, one.error, one.plays, category) for one in scored]
    return tried, rejected


def _best_of_best_category(tried: list[Candidate]) -> Candidate:
    by_category: dict[str, list[Candidate]] = {}
    for one in tried:
        by_category.setdefault(one.category, []).append(one)
    best = max(by_category.values(), key=lambda group: float(np.mean([one.score for one in group])))
    return max(best, key=lambda one: one.score)
