"""Models in the seats of a study: made from a spec's settings, and asked at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from bestresponse.core.episode import Question
from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.core.player import Decision, Status
from bestresponse.models.base import Model
from bestresponse.players.llm.agent import POLICIES, Agent, WithFailurePolicy
from bestresponse.players.llm.memory import memory
from bestresponse.players.llm.persona import Persona
from bestresponse.players.llm.player import Sampling
from bestresponse.players.llm.prompting import Style
from bestresponse.players.llm.reasoning import reasoning
from bestresponse.players.llm.verified import is_verified, with_review

__all__ = ["AGENT_SETTINGS", "STYLES", "AgentSettings", "ask_at_once", "check_agents", "settled_agent"]

STYLES = ("auto", "line", "json")
AGENT_SETTINGS = ("memory", "reasoning", "attempts", "policy", "style", "temperature", "max_tokens")
"""What a spec says about its agents, besides their personas."""


class AgentSettings(Protocol):
    """The settings of a study that are about its agents and its plays."""

    @property
    def repeats(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def memory(self) -> str: ...
    @property
    def reasoning(self) -> str: ...
    @property
    def attempts(self) -> int: ...
    @property
    def policy(self) -> str: ...
    @property
    def style(self) -> str: ...
    @property
    def temperature(self) -> float: ...
    @property
    def max_tokens(self) -> int: ...


def check_agents(settings: AgentSettings, most_repeats: int) -> None:
    """UsageError where a setting is not one that agents can have."""
    memory(settings.memory)
    reasoning(settings.reasoning)
    for option, given, least, most in (
        ("--repeats", settings.repeats, 1, most_repeats),
        ("--attempts", settings.attempts, 1, 20),
        ("--max-tokens", settings.max_tokens, 1, 100_000),
        ("--seed", settings.seed, 0, 2**63 - 1),
    ):
        if not least <= given <= most:
            raise UsageError(f"{option} {given}: expected a whole number from {least} to {most}")
    if not 0 <= settings.temperature <= 5:
        raise UsageError(f"--temperature {settings.temperature:g}: expected a number from 0 to 5")
    if settings.policy not in POLICIES:
        raise UsageError(f"--on-failure {settings.policy!r}: expected one of {', '.join(POLICIES)}")
    if settings.style not in STYLES:
        raise UsageError(f"--style {settings.style!r}: expected one of {', '.join(STYLES)}")


def settled_agent(
    data: Mapping[str, Any], name: str, model: Model, persona: Persona | None, seed: int
) -> WithFailurePolicy:
    """The model of that name in a seat by the settings of a spec's data (`AGENT_SETTINGS`)."""
    agent = Agent(
        model,
        persona,
        memory(data["memory"]),
        reasoning(data["reasoning"]),
        Sampling(data["temperature"], max_tokens=data["max_tokens"], seed=seed % 2**31),
        _style(data, model, reasons=is_verified(name)),
        data["attempts"],
    )
    return WithFailurePolicy(with_review(name, agent), data["policy"])


def _style(data: Mapping[str, Any], model: Model, *, reasons: bool) -> Style:
    """The style asked for; where none is, JSON if the model can and no reasons are wanted."""
    match data["style"]:
        case "line" | "json" as wanted:
            return wanted  # type: ignore[no-any-return]
        case _:
            return "json" if model.abilities.schema and data["reasoning"] == "direct" and not reasons else "line"


def ask_at_once(questions: list[Question]) -> list[Decision]:
    """Ask every seat at the same time. When no model seat can be reached, that is an outage and not a game."""
    if len(questions) == 1 or not any(isinstance(player, WithFailurePolicy) for _, player, _, _ in questions):
        decisions = [player.decide(view, ask) for _, player, view, ask in questions]
    else:
        with ThreadPoolExecutor(len(questions), thread_name_prefix="seat") as pool:
            decisions = list(pool.map(lambda question: question[1].decide(question[2], question[3]), questions))
    reached = [
        d for (_, player, _, _), d in zip(questions, decisions, strict=True) if isinstance(player, WithFailurePolicy)
    ]
    if reached and all(_unreachable(decision) for decision in reached):
        raise ModelUnavailable(reached[0].reading.how)
    return decisions


def _unreachable(decision: Decision) -> bool:
    return bool(decision.stand_in) and not decision.calls and decision.reading.status is Status.REFUSED
