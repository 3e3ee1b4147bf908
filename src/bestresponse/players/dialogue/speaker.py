"""Who speaks in a dialogue: a model that voices a chosen manner, and speakers with or without guidance.

`Guided(player, policy)` decides every choice by the policy of a game tree (an equilibrium, say), at the information set
that its view names; what the policy does not cover, such as putting a chosen tone into words, the wrapped player does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Protocol

from bestresponse.core.ask import Ask, Choice, Mixture, Words
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.game import View
from bestresponse.core.player import Decision, Player, Reading, Status
from bestresponse.core.seeds import generator
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Finish, Message, Model, Reply
from bestresponse.players.llm.player import Sampling

_GOES_ON = re.compile(r"^[> ]*(?:\[\d+\] From .+ to .+:|How to write: |The messages so far\b)", re.M)


@dataclass(frozen=True, slots=True)
class Speaker:
    """Asks the model for the next message; `sampling.replicate` is the number of the draw."""

    model: Model
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.7, max_tokens=200))

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return self.model.id

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Words):
            raise UsageError(f"a speaker voices messages; somebody else has to decide a {type(ask).__name__}")
        content = "\n\n".join(part for part in (view.briefing, view.situation, *view.notes) if part)
        messages = (Message("system", TEXTS.text("dialogue_speaker")), Message("user", content))
        reply, call = self.sampling.ask(self.model, messages)
        text, reading = read_message(reply, ask)
        return Decision(text, "", reading, (call,))


@dataclass(frozen=True, slots=True)
class Unguided:
    """`player` speaking in the neutral manner; whom to address it says itself, or the seed draws it.

    A person in a dialogue is such a player (`choosing`): what it writes takes the place of a model's message.
    """

    player: Player
    neutral: tuple[str, ...]
    choosing: bool = False
    seed: int = 0

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return self.player.name

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Choice):
            return self.player.decide(view, ask)
        options = tuple(option for option in ask.options if option in self.neutral)
        if self.choosing and len(options) > 1:
            return self.player.decide(view, Choice(options))
        return Decision(generator(self.seed, "to whom", view.key).choice(options))


def read_message(reply: Reply, ask: Words) -> tuple[str | None, Reading]:
    """The words of a reply as a message: cut at the token limit it still counts as said, and this is recorded.

    Small models like to go on with the prompt after their message; what they write in others' names is cut off.
    """
    whole = reply.text.strip()
    text = _GOES_ON.split(whole, maxsplit=1)[0].strip()
    if reply.finish is Finish.REFUSAL:
        return None, Reading(Status.REFUSED, "the provider's filter ended the reply")
    if not text and whole:
        return None, Reading(Status.UNPARSEABLE, f"there is no message, only more of the prompt: {whole[:60]!r}")
    if not text:
        return None, Reading(Status.UNPARSEABLE, "the model answered nothing")
    if len(text) > ask.limit:
        return None, Reading(Status.ILLEGAL, f"the message has {len(text)} characters; the limit is {ask.limit}")
    if text != whole:
        return text, Reading(Status.REPAIRED, "it went on with the prompt, which was cut off")
    if reply.finish is Finish.LENGTH:
        return text, Reading(Status.REPAIRED, "cut off at the token limit and taken as it is")
    return text, Reading()


class Guidance(Protocol):
    """Probabilities of moves at an information set, as `theory.Policy` gives them."""

    def at(self, player: str, label: str) -> dict[str, float]:
        """InvalidGame where the policy knows no such information set."""


@dataclass(frozen=True, slots=True)
class Guided:
    """`player` guided by `policy`; the draw depends only on the seed and on what is seen."""

    player: Player
    policy: Guidance
    seed: int = 0

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return f"guided {self.player.name}"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Choice | Mixture):
            return self.player.decide(view, ask)
        try:
            known = self.policy.at(view.role, view.key)
        except InvalidGame:
            decision = self.player.decide(view, ask)
            return replace(decision, reasoning=f"the policy does not know this situation. {decision.reasoning}".strip())
        chances = tuple(known.get(option, 0.0) for option in ask.options)
        total = sum(chances)
        if total <= 0:
            return self.player.decide(view, ask)
        shares = tuple(chance / total for chance in chances)
        told = ", ".join(f"{option} {share:.3f}" for option, share in zip(ask.options, shares, strict=True))
        if isinstance(ask, Mixture):
            return Decision(shares, f"the policy plays {told}")
        drawn = generator(self.seed, "guided", view.key).choices(ask.options, shares)[0]
        return Decision(drawn, f"the policy plays {told}")
