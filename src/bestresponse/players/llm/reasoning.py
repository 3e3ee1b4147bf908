"""Ways to think before answering, each as a plug-in: texts that are added to what a model is shown for its answer.

    direct         nothing is added
    step-by-step   an instruction to think first (Wei et al. 2022)
    predict        the model predicts the others, then answers
    reflect        the model looks back at the rounds so far, then answers (Shinn et al. 2023)
    refine         a first answer, its criticism, then the answer (Madaan et al. 2023)
    k-level:K      the model takes the seat of every rival, who in turn reasons at level K - 1, then answers
                   (Stahl & Wilson 1995; Zhang et al. 2024)

A plug-in is a function of (thinker, view, ask) that returns notes; `Thinker.think` makes one call of the model and
keeps it for the record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from bestresponse.core.ask import Ask
from bestresponse.core.errors import UsageError
from bestresponse.core.game import View
from bestresponse.core.player import Call
from bestresponse.core.registry import did_you_mean
from bestresponse.models.base import Message, Model, Request
from bestresponse.players.llm.player import Sampling, call_of
from bestresponse.players.llm.prompting import instruction
from bestresponse.players.llm.texts import TEXTS

__all__ = ["REASONINGS", "Reasoning", "Thinker", "reasoning"]

DEEPEST = 3


@dataclass
class Thinker:
    """A model in one seat while it makes up its mind; `calls` are all it has made so far."""

    model: Model
    sampling: Sampling
    system: str
    calls: list[Call] = field(default_factory=list)

    def think(self, view: View, question: str) -> str:
        """What the model says to a question about its view."""
        told = "\n\n".join(part for part in (view.briefing, view.situation, *view.notes, question) if part)
        return self.say(told)

    def say(self, text: str) -> str:
        """Ask the model, keep the call, and return its answer."""
        request = Request(
            (Message("system", self.system), Message("user", text)),
            max_tokens=self.sampling.max_tokens,
            temperature=self.sampling.temperature,
            top_p=self.sampling.top_p,
            seed=self.sampling.seed,
            replicate=self.sampling.replicate,
        )
        reply = self.model.complete(request)
        self.calls.append(call_of(self.model, request, reply))
        return reply.text.strip()


Reasoning = Callable[[Thinker, View, Ask], tuple[str, ...]]


def _rivals(view: View) -> tuple[str, ...]:
    return tuple(view.facts.get("rivals", ()))


def direct(thinker: Thinker, view: View, ask: Ask) -> tuple[str, ...]:
    """Answer at once."""
    return ()


def step_by_step(thinker: Thinker, view: View, ask: Ask) -> tuple[str, ...]:
    """Ask for reasoning step by step."""
    return (TEXTS.text("agent_step_by_step"),)


def predict(thinker: Thinker, view: View, ask: Ask) -> tuple[str, ...]:
    """Predict the others' moves first."""
    rivals = ", ".join(_rivals(view)) or "the others"
    return (TEXTS.fill("agent_predicted", thought=thinker.think(view, TEXTS.fill("agent_predict", rivals=rivals))),)


def reflect(thinker: Thinker, view: View, ask: Ask) -> tuple[str, ...]:
    """Reflect on the past first."""
    if not view.facts.get("past"):
        return ()
    return (TEXTS.fill("agent_reflected", thought=thinker.think(view, TEXTS.text("agent_reflect"))),)


def refine(thinker: Thinker, view: View, ask: Ask) -> tuple[str, ...]:
    """Draft an answer and criticise it first."""
    draft = thinker.think(view, instruction(ask, "line"))
    critique = thinker.think(view, TEXTS.fill("agent_criticise", draft=draft))
    return (TEXTS.fill("agent_refined", draft=draft, critique=critique),)


def k_level(level: int, thinker: Thinker, view: View, ask: Ask) -> tuple[str, ...]:
    """Think through what the others expect, `level` steps deep."""
    rivals = _rivals(view)
    if not rivals:
        return ()
    return (TEXTS.fill("agent_k_level", expected=_expected(level, thinker, view, rivals)),)


def _expected(level: int, thinker: Thinker, view: View, rivals: tuple[str, ...]) -> str:
    """One line a rival; at levels above 1 every rival first forms its own expectation of the others."""
    lines = []
    for rival in rivals:
        deeper = ""
        if level > 1:
            others = (view.role, *(other for other in rivals if other != rival))
            expected = _expected(level - 1, thinker, view, others).replace("\n", "; ")
            deeper = TEXTS.fill("agent_rival_deeper", rival=rival, expected=expected)
        lines.append(f"{rival}: {thinker.think(view, TEXTS.fill('agent_rival', rival=rival, deeper=deeper))}")
    return "\n".join(lines)


REASONINGS: dict[str, Reasoning] = {
    "direct": direct,
    "step-by-step": step_by_step,
    "predict": predict,
    "reflect": reflect,
    "refine": refine,
    "k-level": partial(k_level, 1),
}


def reasoning(name: str) -> Reasoning:
    """The plug-in of that name; `k-level:2` simulates rivals who simulate theirs."""
    plain, colon, depth = name.partition(":")
    if plain not in REASONINGS or (colon and plain != "k-level"):
        known = ", ".join(REASONINGS)
        raise UsageError(f"there is no reasoning {name!r}; known: {known}.{did_you_mean(plain, list(REASONINGS))}")
    if not colon:
        return REASONINGS[plain]
    if not depth.isdecimal() or not 1 <= int(depth) <= DEEPEST:
        raise UsageError(f"{name!r}: expected a level from 1 to {DEEPEST} after the colon")
    return partial(k_level, int(depth))
