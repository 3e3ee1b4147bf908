"""Oracles that look for a better manner of one speaker (Gemp et al. 2024, appendix H):

    shotgun       `candidates` new manners at once, the best is taken
                  (algorithm 1)
    better        one new manner after another until one beats the present value
                  (algorithm 2)
    trajectory    the manners so far are shown ranked by score, new ones asked for in rising order
                  (algorithm 3)
    categorical   new categories of manners, ranked by their mean score; the best one of the best
                  (algorithm 4)

Candidates are played against the others' present mixture on common plays, in rounds: whoever is
surely worse than the leader drops out and costs no further play. Manners that are known already are
rejected before they cost anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from bestresponse.core.player import Reading
from bestresponse.core.seeds import generator
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Message, Model, Request
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.meta_game import MetaSolution, Profile, PromptArena
from bestresponse.theory.games.normal_form import Array

_LONGEST = 40  # characters; what is longer is a sentence and no name of a manner
_FIRST_ROUND = 5  # plays of every candidate before any is dropped; then twice as many each time
CATEGORIES = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A manner with its mean, standard error and plays against the others' mixture."""

    manner: str
    score: float
    error: float
    plays: int
    category: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """What an oracle found for one seat: the best candidate, and all that were tried.

    The best candidate is None if nothing beats the present value.
    """

    seat: int
    best: Candidate | None
    tried: tuple[Candidate, ...]
    rejected: tuple[str, ...]
    value: float


def tidy(manner: str) -> str:
    """Return one spelling of a manner.

    >>> tidy(" 'Very  Calm'. ")
    'very calm'
    """
    stripped = manner.strip(" \t\n'\"`*-.,:")
    return re.sub(r"\s+", " ", stripped).casefold()


@dataclass(frozen=True, slots=True, eq=False)
class Inventor:
    """A model that proposes manners for a task; its proposals are kept like every other answer."""

    model: Model
    task: str
    answers: AnswerStore
    temperature: float

    def propose(
        self,
        most: int,
        known: list[str],
        what: str = "manners",
        ranked: bool = False,
        purpose: str = "",
        draw: int = 0,
    ) -> list[str]:
        """Return up to `most` proposals, as the model wrote them."""
        content = TEXTS.fill(
            "dialogue_invent",
            task=self.task,
            manners="\n".join(f"- {manner}" for manner in known),
            ranked=", from the worst to the best" if ranked else "",
            order=" Order them from the worst to the best." if ranked else "",
            count=most,
            what=what,
            purpose=purpose,
        )
        prompt = (Message("system", TEXTS.text("dialogue_inventor")), Message("user", content))
        request = Request(
            prompt,
            max_tokens=200,
            temperature=self.temperature,
            replicate=draw,
        )
        entry = self.answers.ask_model(
            "invent",
            self.model,
            request,
            lambda reply: (reply.text[:5000], Reading()),
        )
        return _list_names(entry.text or "")[:most]


def _list_names(text: str) -> list[str]:
    """List the names in a JSON list, or one per line where there is no list."""
    listed = re.search(r"\[.*?\]", text, re.S)
    if listed:
        try:
            return [str(name) for name in json.loads(listed[0])]
        except ValueError:
            pass
    lines = [line for line in text.splitlines() if line.strip()]
    return [re.sub(r"^\s*(?:\d+[.)]|[-*])\s*", "", line) for line in lines]


@dataclass(frozen=True, slots=True, eq=False)
class Oracle:
    """One oracle call: its seat, its opponents, and its limits of plays and candidates."""

    arena: PromptArena
    inventor: Inventor
    seat: int
    prompts: tuple[tuple[str, ...], ...]
    solution: MetaSolution
    plays: int
    candidates: int
    seed: int
    round: int

    def score(self, manners: list[str], category: str = "") -> list[Candidate]:
        """Play the candidates against the others' mixture, dropping those surely behind."""
        for manner in manners:
            self.arena.learn(manner)
        rows: dict[str, Array] = {manner: np.zeros(0) for manner in manners}
        alive = list(manners)
        done = 0
        step = min(_FIRST_ROUND, self.plays)
        while alive and done < self.plays:
            numbers = range(done, min(self.plays, done + step))
            for manner in alive:
                wanted = [(self._draw_profile(manner, number), number) for number in numbers]
                earned = self.arena.sample_many(wanted)[:, self.seat]
                rows[manner] = np.concatenate([rows[manner], earned[np.isfinite(earned)]])
            done = numbers.stop
            step = 2 * step
            alive = _drop_losers({manner: rows[manner] for manner in alive})

        scored = []
        for manner, values in rows.items():
            if len(values):
                scored.append(replace(_rate(manner, values), category=category))
        return scored

    def propose_and_score(
        self,
        known: list[str],
        offered: list[str],
        category: str = "",
    ) -> tuple[list[Candidate], list[str]]:
        """Score the offers that are new, in one spelling, and return the others.

        The others are duplicates, empty and overlong ones.
        """
        taken = {tidy(manner) for manner in known}
        fresh = []
        rejected = []
        for offer in offered:
            name = tidy(offer)
            if not name or name in taken or len(name) > _LONGEST:
                rejected.append(offer)
                continue
            taken.add(name)
            fresh.append(name)
        return self.score(fresh, category), rejected

    def _draw_profile(self, manner: str, number: int) -> Profile:
        """Seat `manner` here and draw the others from the solution, alike for all candidates."""
        others = self.solution.joint.sum(axis=self.seat, keepdims=True)
        flat = others.ravel().clip(0)
        random = generator(self.seed, "others", self.round, number)
        (drawn,) = random.choices(range(flat.size), flat.tolist())
        choices = np.unravel_index(drawn, others.shape)
        profile = []
        for seat, choice in enumerate(choices):
            profile.append(manner if seat == self.seat else self.prompts[seat][int(choice)])
        return tuple(profile)


def _drop_losers(rows: dict[str, Array]) -> list[str]:
    """List those whose mean is at most three standard errors behind the best.

    The standard errors are those of the difference.
    """
    scored = {manner: _rate(manner, values) for manner, values in rows.items() if len(values) > 1}
    if len(scored) < 2:
        return list(rows)
    best = max(scored.values(), key=lambda candidate: candidate.score)

    def is_behind(candidate: Candidate) -> bool:
        error = float(np.hypot(best.error, candidate.error))
        return best.score - candidate.score > 3 * error

    return [manner for manner in rows if manner not in scored or not is_behind(scored[manner])]


def _rate(manner: str, values: Array) -> Candidate:
    error = inf
    if len(values) > 1:
        error = float(values.std(ddof=1) / np.sqrt(len(values)))
    return Candidate(manner, float(values.mean()), error, len(values))


def find_response(oracle: Oracle, kind: str) -> Response:
    """Find the best response of one seat; `best` is None where nothing beats the present value."""
    known = list(oracle.prompts[oracle.seat])
    present = oracle.score(known)
    value = max(candidate.score for candidate in present)
    propose = oracle.inventor.propose
    count = oracle.candidates
    draw = oracle.round
    tried: list[Candidate] = []
    rejected: list[str] = []
    match kind:
        case "shotgun":
            tried, rejected = oracle.propose_and_score(known, propose(count, known, draw=draw))
        case "trajectory":
            rising = sorted(present, key=lambda candidate: candidate.score)
            order = [candidate.manner for candidate in rising]
            offered = propose(count, order, ranked=True, draw=draw)
            tried, rejected = oracle.propose_and_score(known, offered)
        case "better":
            for attempt in range(count):
                seen = known + [candidate.manner for candidate in tried]
                offered = propose(1, seen, draw=draw * count + attempt)
                scored, refused = oracle.propose_and_score(seen, offered)
                tried = tried + scored
                rejected = rejected + refused
                if tried and tried[-1].score > value:
                    break
        case "categorical":
            categories = propose(
                CATEGORIES,
                [oracle.arena.manners.name],
                what="categories of manners",
                draw=draw,
            )
            for category in dict.fromkeys(map(tidy, categories)):
                seen = known + [candidate.manner for candidate in tried]
                offered = propose(
                    count,
                    seen,
                    purpose=f" of the category {category}",
                    draw=draw,
                )
                scored, refused = oracle.propose_and_score(seen, offered, category)
                tried = tried + scored
                rejected = rejected + refused
    best = _pick_best(tried)
    if best is not None and best.score <= value:
        best = None
    return Response(oracle.seat, best, tuple(tried), tuple(rejected), value)


def _pick_best(tried: Sequence[Candidate]) -> Candidate | None:
    """Return the best candidate of the category whose mean score is highest.

    All are one category where there are none; None where nothing was tried.
    """
    groups: dict[str, list[Candidate]] = {}
    for candidate in tried:
        groups.setdefault(candidate.category, []).append(candidate)

    def find_mean(group: Sequence[Candidate]) -> float:
        return float(np.mean([member.score for member in group]))

    group = max(groups.values(), key=find_mean, default=[])
    return max(group, key=lambda candidate: candidate.score, default=None)
