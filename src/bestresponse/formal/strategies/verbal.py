"""Strategies in words made into rules: a model writes `select/4`, the rules are checked, and it may repair them.

After Mensfelt, Stathis and Trencsenyi (2024), section 3.3: one example, tit-for-tat, is shown. Rules count only if they
give a legal move in every situation, in both seats (`agents.Seats`); what is wrong is told back in words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.formal.formalize.extract_code import find_code
from bestresponse.formal.formalize.feedback_text import what_is_wrong
from bestresponse.formal.strategies.agents import Agent
from bestresponse.formal.strategies.programs import published_strategy
from bestresponse.formal.strategies.texts import TEXTS
from bestresponse.logic.engine import LogicEngine
from bestresponse.logic.language.diagnostics import numbered
from bestresponse.logic.programs.validate import validate_strategy
from bestresponse.models.base import Message, Model, Reply, Request

MOST_CHARACTERS = 10_000
_HEAT = 0.7
_LONGEST_REASON = 300
_DECLINED = re.compile(r"^[*_#>%\"' ]{0,10}CANNOT\b[ \t:*.-]{0,10}(.*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class WordsSettings:
    """How the model is asked."""

    attempts: int = 5
    max_tokens: int = 800
    temperature: float = 0.0
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class StrategyAttempt:
    """One answer: the request, the reply, the rules found in it, and what is wrong with them (nothing if empty)."""

    request: Request
    reply: Reply
    rules: str
    wrong: str


@dataclass(frozen=True, slots=True)
class StrategyFormalization:
    """Every attempt; the last one is right where `ok`."""

    words: str
    model: str
    attempts: tuple[StrategyAttempt, ...]
    declined: str = ""
    """The reason, where the model says that the strategy cannot be written so."""

    @property
    def ok(self) -> bool:
        """Whether there are rules that can be played."""
        return bool(self.attempts) and not self.attempts[-1].wrong

    @property
    def rules(self) -> str:
        """The rules, empty where there are none."""
        return self.attempts[-1].rules if self.ok else ""

    @property
    def trouble(self) -> str:
        """Why there are no rules, in one sentence."""
        if self.ok:
            return ""
        if self.declined:
            return f"{self.model} says that the strategy cannot be written as rules: {self.declined}"
        tries = "1 attempt" if len(self.attempts) == 1 else f"{len(self.attempts)} attempts"
        return f"after {tries} the rules of {self.model} are still wrong: {self.attempts[-1].wrong}"


def formalize_strategy(
    words: str, game: str, model: Model, engine: LogicEngine, settings: WordsSettings | None = None
) -> StrategyFormalization:
    """Rules for the strategy told in `words`, in the game of the program `game`; or everything that was tried."""
    settings = settings or WordsSettings()
    told = words.strip()
    if not any(c.isalpha() for c in told):
        raise UsageError("the strategy is empty: tell what to do first, and what after each move of the other player")
    if len(told) > MOST_CHARACTERS:
        raise UsageError(f"the strategy has {len(told):,} characters; expected at most {MOST_CHARACTERS:,}")
    task = TEXTS.fill("task", example=published_strategy("tit-for-tat").strip(), game=game.strip(), words=told)
    made: list[StrategyAttempt] = []
    declined = ""
    while len(made) < settings.attempts and not declined and (not made or made[-1].wrong):
        request = _request(task, made, settings)
        reply = model.complete(request)
        code = find_code(reply.text)
        rules = code.text if code else ""
        wrong = _wrong(rules, game, engine) if rules else "the answer holds no rules"
        made.append(StrategyAttempt(request, reply, rules, wrong))
        if not rules and (refusal := _DECLINED.search(reply.text)):
            declined = refusal.group(1).strip()[:_LONGEST_REASON] or "it gave no reason"
    return StrategyFormalization(told, model.id, tuple(made), declined)


def _request(task: str, before: Sequence[StrategyAttempt], settings: WordsSettings) -> Request:
    """Rules given twice would be given again: then the model is asked with more freedom."""
    text = task
    if before and before[-1].rules:
        last = before[-1]
        text = TEXTS.fill("repair", task=task, program=numbered(last.rules), wrong=last.wrong)
    elif before:
        text = TEXTS.fill("no_program", task=task)
    stuck = len(before) > 1 and before[-1].rules == before[-2].rules
    return Request(
        (Message("system", TEXTS.text("system")), Message("user", text)),
        max_tokens=settings.max_tokens,
        temperature=max(settings.temperature, _HEAT) if stuck else settings.temperature,
        seed=settings.seed,
        replicate=len(before),
    )


def _wrong(rules: str, game: str, engine: LogicEngine) -> str:
    """What keeps the rules from being a strategy for both seats; warnings alone do not."""
    report = validate_strategy(rules, game, engine)
    if report.errors:
        return what_is_wrong(report)
    try:
        seats = Agent("the strategy", game, rules).seats()
        for seat in (0, 1):
            seats.automaton(seat)
        several = seats.found.ambiguous
    except BestResponseError as error:
        return f"- {error}"
    return f"- {several}: {TEXTS.text('exclusive')}" if several else ""
