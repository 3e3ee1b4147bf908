"""Models in the seats of a study: made from a spec's settings, and asked at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from bestresponse.core.episode import SeatAsk
from bestresponse.core.errors import ModelUnavailable
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping
from bestresponse.core.player import Decision, Status
from bestresponse.models.base import Model
from bestresponse.players.llm.agent import Agent, WithFailurePolicy, memory, reasoning
from bestresponse.players.llm.persona import Persona
from bestresponse.players.llm.player import Sampling
from bestresponse.players.llm.prompting import Style
from bestresponse.players.llm.verified import is_verified, with_review
from bestresponse.runs.settings import RunSettings, setting, settings

AGENT_SETTINGS = (
    "memory", "own_words", "reasoning", "reasons", "attempts", "style", "temperature", "max_tokens",
)  # fmt: skip
"""What a spec says about its agents, besides their personas and what becomes of them without an answer (`policy`)."""


@settings
class AgentSettings(RunSettings):
    """How often a game is played and how models are asked in it."""

    repeats: int = setting(default=10, ge=1, le=1_000_000, help="How often each game is played.")
    seed: int = setting(default=0, ge=0, lt=2**63, help="Seed of chance and of players who draw.")
    memory: str = setting(default="full", help="What agents remember in games of rounds: full, window:N or summary:N.")
    reasoning: str = setting(
        default="direct", help="How agents think: direct, step-by-step, predict, reflect, refine or k-level:K."
    )
    reasons: bool = setting(default=True, help="Let models explain each choice before they answer.")
    own_words: bool = setting(default=True, help="Show models their own earlier reasons again.")
    attempts: int = setting(default=3, ge=1, le=20, help="How often a model may answer when an answer cannot be used.")
    on_failure: Literal["abstain", "void"] | None = setting(
        default=None, help="A seat without a usable answer: abstain, where the game lets it, or void the play."
    )
    style: Literal["auto", "line", "json"] = setting(default="auto", help="How to answer.")
    temperature: float = setting(default=0.7, ge=0, le=5, help="Sampling temperature.")
    max_tokens: int = setting(default=512, ge=1, le=100_000, help="Longest reply, in tokens.")

    def __post_init__(self) -> None:
        memory(self.memory)
        reasoning(self.reasoning)

    def make_game(self) -> AnyGame:
        """Return the game whose seats are filled; each study says which."""
        raise NotImplementedError


def make_agent(
    data: JsonMapping,
    name: str,
    model: Model,
    seed: int,
    *,
    persona: Persona | None = None,
    replies: Sequence[str] = (),
    about_others: str = "",
) -> WithFailurePolicy:
    """Seat the model of that name by the settings of a spec's data (`AGENT_SETTINGS`); `replies` are its own so far."""
    verified = is_verified(name)
    style: Style = data["style"]
    if data["style"] == "auto":
        # JSON where the model keeps to schemas and the object has room for its thoughts; what is checked is free text
        has_room = data["reasons"] or data["reasoning"] == "direct"
        style = "json" if model.abilities.schema and has_room and not verified else "line"
    agent = Agent(
        model,
        persona,
        memory(data["memory"]),
        reasoning(data["reasoning"]),
        Sampling(data["temperature"], max_tokens=data["max_tokens"], seed=seed % 2**31),
        style,
        data["attempts"],
        data["reasons"],
        replies if data["own_words"] else (),
        about_others,
    )
    return WithFailurePolicy(with_review(name, agent), data["policy"])


def ask_at_once(questions: list[SeatAsk]) -> list[Decision]:
    """Ask every seat at the same time. When no model seat can be reached, that is an outage and not a game."""
    if len(questions) == 1 or not any(isinstance(player, WithFailurePolicy) for _, player, _, _ in questions):
        decisions = [player.decide(view, ask) for _, player, view, ask in questions]
    else:
        with ThreadPoolExecutor(len(questions), thread_name_prefix="seat") as pool:
            decisions = list(pool.map(lambda question: question[1].decide(question[2], question[3]), questions))
    of_models = [
        decision
        for (_, player, _, _), decision in zip(questions, decisions, strict=True)
        if isinstance(player, WithFailurePolicy)
    ]
    if of_models and all(d.stand_in and not d.calls and d.reading.status is Status.REFUSED for d in of_models):
        raise ModelUnavailable(of_models[0].reading.how)
    return decisions
