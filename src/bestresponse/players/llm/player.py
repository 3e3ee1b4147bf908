"""A language model in a seat.

`LlmPlayer` shows the view and the ask, reads the reply and, where `attempts` allows, tells the model what was wrong
and asks again. `FirstToken` and `Sampled` turn the same model into a mixed strategy without asking it to state one.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from bestresponse.core.ask import Ask, Choice, Mixture, Words
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.game import View
from bestresponse.core.player import Call, Decision, Player, Reading, Status
from bestresponse.models.base import Finish, Message, Model, Reply, Request
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.models.providers.token_probabilities import choice_chances
from bestresponse.players.llm.prompting import Style, prompt, write_schema
from bestresponse.players.llm.reading import Answer, read_reply
from bestresponse.players.llm.texts import TEXTS

__all__ = ["FirstToken", "LlmPlayer", "Sampled", "Sampling", "Thinking"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is to answer: the knobs of a request that do not depend on the game."""

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int = 512
    seed: int | None = None
    replicate: int = 0


@dataclass(frozen=True, slots=True)
class LlmPlayer:
    """Asks the model; an answer that cannot be used is explained to it `attempts - 1` times."""

    model: Model
    sampling: Sampling = field(default_factory=Sampling)
    style: Style = "line"
    attempts: int = 1
    system: str = ""

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return self.model.id

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        messages = self._opening(view, ask)
        calls: tuple[Call, ...] = ()
        for _ in range(self.attempts):
            request = self.request(messages, ask)
            reply = self.model.complete(request)
            calls = (*calls, call_of(self.model, request, reply))
            answer = read(ask, reply)
            if answer.readable:
                break
            complaint = TEXTS.fill("again", why=answer.reading.how)
            messages = (*messages, Message("assistant", reply.text), Message("user", complaint))
        reading = answer.reading
        if len(calls) > 1 and answer.readable:
            reading = Reading(Status.REPAIRED, "; ".join(p for p in (f"attempt {len(calls)}", reading.how) if p))
        return Decision(answer.value, reply.text, reading, calls)

    def _opening(self, view: View, ask: Ask) -> tuple[Message, ...]:
        system = self.system or TEXTS.text("system")
        return (Message("system", system), Message("user", prompt(view, ask, self.style)))

    def request(self, messages: tuple[Message, ...], ask: Ask) -> Request:
        """One call with these messages, in the form that `ask` and the style want."""
        structured = self.style in ("json", "reasoned") and self.model.abilities.schema and not isinstance(ask, Words)
        letters = self.style == "letter" and self.model.abilities.choices and isinstance(ask, Choice)
        return Request(
            messages,
            max_tokens=self.sampling.max_tokens,
            temperature=self.sampling.temperature,
            top_p=self.sampling.top_p,
            seed=self.sampling.seed,
            schema=write_schema(ask, self.style) if structured else None,
            choices=ask.options if letters and isinstance(ask, Choice) else (),
            replicate=self.sampling.replicate,
        )


def read(ask: Ask, reply: Reply) -> Answer:
    """The reply as an answer to `ask`."""
    return read_reply(ask, reply.text, cut_off=reply.finish is Finish.LENGTH, declined=reply.finish is Finish.REFUSAL)


def call_of(model: Model, request: Request, reply: Reply) -> Call:
    """One call as plain data for the record."""
    return Call(model.id, request_to_json(request), reply_to_json(reply))


@dataclass(frozen=True, slots=True)
class Sampled:
    """A mixed strategy by repetition: asks a player for a pure action `samples` times and reports the frequencies.

    `players` holds one player per sample (the same model with another replicate index). Unreadable samples are left
    out and said; when all are unreadable there is no answer. Up to `workers` samples are asked for at the same time.
    """

    players: tuple[Player, ...]
    workers: int = 1

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return self.players[0].name

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Mixture):
            raise UsageError(f"a sampled strategy answers mixtures, not {type(ask).__name__}")
        choice = Choice(ask.options)
        at_once = min(self.workers, len(self.players))
        decisions: list[Decision]
        if at_once > 1:
            with ThreadPoolExecutor(at_once, thread_name_prefix="sample") as pool:
                decisions = list(pool.map(lambda player: player.decide(view, choice), self.players))
        else:
            decisions = [player.decide(view, choice) for player in self.players]
        counts = Counter(d.action for d in decisions if d.action is not None)
        calls = tuple(call for d in decisions for call in d.calls)
        reasoning = "\n---\n".join(d.reasoning for d in decisions)
        if not counts:
            return replace(decisions[0], reasoning=reasoning, calls=calls)
        mix = tuple(counts[option] / counts.total() for option in ask.options)
        remarks = tuple(remark for d in decisions for remark in d.remarks)
        return Decision(mix, reasoning, _combined(decisions), calls, remarks=remarks)


@dataclass(frozen=True, slots=True)
class Thinking:
    """A player that is told to write down its reasons before it answers."""

    player: Player

    @property
    def name(self) -> str:
        """The name of the player itself."""
        return self.player.name

    def decide(self, view: View, ask: Ask) -> Decision:
        """Ask the player with the instruction to think first as the last note of its view."""
        return self.player.decide(replace(view, notes=(*view.notes, TEXTS.text("think"))), ask)


def _combined(decisions: list[Decision]) -> Reading:
    statuses = Counter(d.reading.status for d in decisions)
    if set(statuses) == {Status.VALID}:
        return Reading()
    kinds = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    return Reading(Status.REPAIRED, f"of {len(decisions)} samples: {kinds}")


@dataclass(frozen=True, slots=True)
class FirstToken:
    """A mixed strategy in one token: the model's probabilities for the action labels, renormalised."""

    model: Model
    sampling: Sampling = field(default_factory=Sampling)
    least_mass: float = 0.01

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return self.model.id

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Mixture):
            raise UsageError(f"first-token probabilities answer mixtures, not {type(ask).__name__}")
        request = Request(
            (Message("system", TEXTS.text("system")), Message("user", prompt(view, Choice(ask.options), "letter"))),
            temperature=1.0,
            seed=self.sampling.seed,
            replicate=self.sampling.replicate,
        )
        try:
            chances = choice_chances(self.model, request, ask.options)
        except InvalidMove as error:
            return Decision(None, "", Reading(Status(error.kind.value), str(error)))
        call = call_of(self.model, chances.request, chances.reply)
        note = f"{chances.mass:.1%} of the probability was on the labels"
        if chances.mass < self.least_mass:
            return Decision(None, note, Reading(Status.UNPARSEABLE, note), (call,))
        return Decision(chances.probabilities, note, Reading(), (call,))
