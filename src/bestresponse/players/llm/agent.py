"""An agent: a language model with a persona, a memory and a way of reasoning, each of which can be exchanged.

`Agent` is the agent's code; its status is the view it is given; persona, memory and reasoning are parts (see
`players.llm.persona`, `players.llm.memory`, `players.llm.reasoning`). An answer in free words is read by the rules of
`players.llm.reading` first and, where an amount is asked, by those of `players.llm.bid_reading`. A refused or
unreadable answer is explained to the model `attempts - 1` times. `WithFailurePolicy` says what happens to a seat
without an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bestresponse.core.ask import PASS, Amount, Ask, Choice
from bestresponse.core.errors import InvalidMove, ModelUnavailable, UsageError
from bestresponse.core.game import Role, View
from bestresponse.core.player import Decision, Player, Reading, Status
from bestresponse.models.base import Finish, Message, Model, Reply, Request
from bestresponse.players.llm.bid_reading import read_bid
from bestresponse.players.llm.memory import Memory, add_own_words, full
from bestresponse.players.llm.persona import Persona
from bestresponse.players.llm.player import LlmPlayer, Sampling, call_of, read
from bestresponse.players.llm.prompting import Style, prompt
from bestresponse.players.llm.reading import Answer
from bestresponse.players.llm.reasoning import Reasoning, Thinker, direct
from bestresponse.players.llm.texts import TEXTS

__all__ = ["Agent", "Policy", "WithFailurePolicy", "lets_pass"]

Policy = Literal["abstain", "void"]


@dataclass(frozen=True)
class Agent:
    """A model in a seat.

    With `explains` it gives its reasons before its answer; `replies` are its own earlier words in this play, one a
    decision, which it is shown again (a list that grows with the play). `about_others` is what it is told of the other
    players, after the rules.
    """

    model: Model
    persona: Persona | None = None
    memory: Memory = full
    reasoning: Reasoning = direct
    sampling: Sampling = field(default_factory=Sampling)
    style: Style = "line"
    attempts: int = 3
    explains: bool = False
    replies: Sequence[str] = ()
    about_others: str = ""

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return self.model.id

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        system = self.persona.text if self.persona else TEXTS.text("system")
        thinker = Thinker(self.model, self.sampling, system)
        view = replace(view, briefing=f"{view.briefing}\n\n{self.about_others}".strip())
        recalled = self.memory(thinker, add_own_words(view, self.replies))
        notes = self.reasoning(thinker, recalled, ask)
        if self.explains and self.style != "json":
            notes = (*notes, TEXTS.text("agent_explain"))
        shown = replace(recalled, notes=(*recalled.notes, *notes))
        return self._answer(thinker, shown, ask)

    def _answer(self, thinker: Thinker, view: View, ask: Ask) -> Decision:
        style: Style = "reasoned" if self.explains and self.style == "json" else self.style
        player = LlmPlayer(self.model, self.sampling, style, 1, thinker.system)
        opening = prompt(view, ask, style)
        messages: tuple[Message, ...] = (Message("system", thinker.system), Message("user", opening))
        refused: list[str] = []
        while True:
            request: Request = player.request(messages, ask)
            reply = self.model.complete(request)
            thinker.calls.append(call_of(self.model, request, reply))
            answer = read_in_words(ask, reply)
            if answer.readable or len(refused) + 1 >= self.attempts:
                return Decision(answer.value, reply.text, _reading(answer, refused), tuple(thinker.calls))
            refused.append(answer.reading.how)
            complaint = TEXTS.fill("again", why=answer.reading.how)
            messages = (*messages, Message("assistant", reply.text), Message("user", complaint))


def _reading(answer: Answer, refused: list[str]) -> Reading:
    """How the answer was read, with what was refused before it."""
    if not refused or not answer.readable:
        return answer.reading
    before = "; ".join(f"refused: {why}" for why in refused)
    return Reading(Status.REPAIRED, "; ".join(part for part in (before, answer.reading.how) if part))


def read_in_words(ask: Ask, reply: Reply) -> Answer:
    """The reply as an answer; for an amount also one that is named in the middle of a sentence."""
    answer = read(ask, reply)
    in_words = isinstance(ask, Amount) and answer.reading.status in (Status.UNPARSEABLE, Status.REFUSED)
    if answer.readable or not in_words or reply.finish is not Finish.STOP:
        return answer
    named = read_bid(reply.text)
    if named is None:
        return answer
    try:
        ask.check(named.value)
    except InvalidMove as error:
        return Answer(None, Reading(Status(error.kind.value), str(error)))
    return Answer(named.value, Reading(Status.REPAIRED, named.how))


@dataclass(frozen=True, slots=True)
class WithFailurePolicy:
    """Wrap a player with a policy for answers that cannot be used.

    `abstain` passes in its place, and the record says why; `void` leaves the decision without an action, which ends
    the play without a result. A model that cannot be reached counts as no answer under `abstain`.
    """

    player: Player
    policy: Policy

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return self.player.name

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if self.policy == "void":
            return self.player.decide(view, ask)
        if not isinstance(ask, Amount | Choice) or not ask.may_pass:
            raise UsageError("a seat can only abstain where the game lets it pass")
        try:
            decision = self.player.decide(view, ask)
        except ModelUnavailable as error:
            decision = Decision(None, "", Reading(Status.REFUSED, f"the model could not be reached: {error}"))
        return decision if decision.action is not None else replace(decision, action=PASS, stand_in="abstain")


def lets_pass(asks: Mapping[Role, Ask]) -> bool:
    """Say whether everybody who is asked may pass."""
    return bool(asks) and all(isinstance(ask, Amount | Choice) and ask.may_pass for ask in asks.values())
