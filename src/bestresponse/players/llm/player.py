"""A language model in a seat.

`LlmPlayer` shows the view and the ask, reads the reply and, where `attempts` allows, tells the
model what was wrong and asks again. `FirstToken` and `Sampled` turn the same model into a mixed
strategy without asking it to state one.

A model is shown the view in words, then the ask as an instruction it can follow. Four styles of
answer: `line` (free text that ends with ANSWER: ...), `json` (one object, by schema where the model
enforces one), `reasoned` (one object with the reasons first, then the answer) and `letter` (the
bare label, for one-token answers).
"""

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import isinf
from typing import Literal

from bestresponse.core.ask import PASS, Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.game import View
from bestresponse.core.json import canonical
from bestresponse.core.player import Call, Decision, Player, Reading, Status
from bestresponse.games.dialogue.schemas import make_object
from bestresponse.models.base import Finish, Message, Model, Reply, Request
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.models.providers.token_probabilities import choice_chances
from bestresponse.models.schema import schema_text
from bestresponse.players.llm.reading import read_reply
from bestresponse.players.llm.texts import TEXTS
from bestresponse.telling.language import ENGLISH, load_language
from bestresponse.telling.render import LARGEST_CHARACTERS, write_history, write_rules

Style = Literal["line", "json", "reasoned", "letter"]


def prompt(view: View, ask: Ask, style: Style) -> str:
    """Everything the user message says."""
    # Whoever seats a model has refused rules that are too long for it.
    rules = write_rules(view, most=LARGEST_CHARACTERS)
    parts = (rules, write_history(view), *view.notes, instruction(ask, style))
    return "\n\n".join(part for part in parts if part)


@lru_cache(256)
def instruction(ask: Ask, style: Style) -> str:
    """Say how to answer `ask`. No example answer is shown: small models would repeat it."""
    if style in ("json", "reasoned") and not isinstance(ask, Words):
        form = _json_form(ask)
        if style == "reasoned":
            answer = _write_placeholder(ask) if isinstance(ask, Choice | Amount) else form
            form = (
                '{"reasons": <why you choose so, in a few sentences, in quotes>, "answer":'
                f" {answer}}}"
            )
        if not isinstance(ask, Mixture):
            return TEXTS.fill("ask_json", form=form, where=TEXTS.text("where_values"))
        if ask.question:
            asked = TEXTS.fill("ask_json", form=form, where=TEXTS.text("where_events"))
            return f"{ask.question} {asked}"
        return TEXTS.fill("ask_json", form=form, where=TEXTS.text("where_mixture"))
    match ask:
        case Choice(options):
            return TEXTS.fill(
                "ask_letter" if style == "letter" else "ask_choice",
                options=", ".join(map(_write_name, options)),
            )
        case Amount(low, high, whole, may_pass):
            kind = "a whole number" if whole else "a number"
            text = "ask_amount_or_pass" if may_pass else "ask_amount"
            return TEXTS.fill(text, kind=kind, low=f"{low:g}", high=f"{high:g}")
        case Words(limit):
            return TEXTS.fill("ask_words", limit=limit)
        case Mixture(options, question):
            form = ", ".join(f"{_write_name(option)}: <p>" for option in options)
            if question:
                return TEXTS.fill("ask_events", question=question, form=form)
            return TEXTS.fill("ask_mixture", form=form)
        case Form():
            return TEXTS.fill("ask_form", form=_json_form(ask))
        case Lottery():
            raise TypeError("a language model does not draw lotteries")


def _write_name(option: str) -> str:
    """Write an option as the rules do.

    It is in quotes if it could be misread, such as one that holds a comma.
    """
    return load_language(ENGLISH).write_name(option)


def _json_form(ask: Ask) -> str:
    """What the JSON object looks like, with a place in angle brackets for every value."""
    match ask:
        case Choice() | Amount():
            return f'{{"answer": {_write_placeholder(ask)}}}'
        case Mixture(options):
            shares = [f"{canonical(option)}: <p>" for option in options]
            return f"{{{', '.join(shares)}}}"
        case Form(fields):
            values = [f"{canonical(name)}: {_write_placeholder(field)}" for name, field in fields]
            return f"{{{', '.join(values)}}}"
        case Words() | Lottery():
            raise TypeError(f"{type(ask).__name__} has no JSON form")


def _write_placeholder(ask: Choice | Amount | Words | Mixture) -> str:
    match ask:
        case Choice(options):
            return f"<one of {', '.join(map(canonical, options))}>"
        case Amount(low, high, whole, may_pass):
            kind = "whole number" if whole else "number"
            or_pass = f', or "{PASS}"' if may_pass else ""
            ends = "" if isinf(high) else f" from {low:g} to {high:g}"
            return f"<{kind}{ends}{or_pass}>"
        case Words(limit):
            return f"<text of at most {limit} characters, in quotes>"
        case Mixture():
            return _json_form(ask)


@lru_cache(256)
def write_schema(ask: Ask, style: Style = "json") -> str:
    """Write the JSON schema of the answer as text for a request."""
    return schema_text(schema(ask, style))


def schema(ask: Ask, style: Style = "json") -> dict[str, object]:
    """Build the JSON schema of the answer in `json` or `reasoned` style.

    Reasons come first, so they are made first.
    """
    if style == "reasoned":
        answer = schema(ask)
        if isinstance(ask, Choice | Amount | Mixture):
            answer = _value_schema(ask)
        return make_object({"reasons": {"type": "string"}, "answer": answer})
    match ask:
        case Choice() | Amount():
            return make_object({"answer": _value_schema(ask)})
        case Mixture():
            return _value_schema(ask)
        case Form(fields):
            return make_object({name: _value_schema(field) for name, field in fields})
        case Words() | Lottery():
            raise TypeError(f"{type(ask).__name__} has no JSON form")


def _value_schema(ask: Choice | Amount | Words | Mixture) -> dict[str, object]:
    match ask:
        case Choice(options):
            return {"type": "string", "enum": list(options)}
        case Amount(low, high, whole, may_pass):
            number: dict[str, object] = {"type": "integer" if whole else "number"}
            if not isinf(high):
                number |= {"minimum": write_bound(low), "maximum": write_bound(high)}
            return {"anyOf": [number, {"type": "string", "enum": [PASS]}]} if may_pass else number
        case Words(limit):
            return {"type": "string", "maxLength": limit}
        case Mixture(options):
            return make_object(
                {option: {"type": "number", "minimum": 0, "maximum": 1} for option in options}
            )


def write_bound(bound: float) -> float:
    """Write 280.0 as 280: asks that are equal must be told alike, or what a request says would
    depend on which play was first."""
    return int(bound) if float(bound).is_integer() else bound


def describe_call(model: Model, request: Request, reply: Reply) -> Call:
    """Return one call as plain data for the record."""
    return Call(model.id, request_to_json(request), reply_to_json(reply))


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is to answer: the knobs of a request that do not depend on the game."""

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int = 512
    seed: int | None = None
    replicate: int = 0
    effort: str | None = None
    reasoning_tokens: int | None = None

    def ask(
        self,
        model: Model,
        messages: tuple[Message, ...],
        schema: str | None = None,
        choices: tuple[str, ...] = (),
        facts: Mapping[str, object] | None = None,
    ) -> tuple[Reply, Call]:
        """Make one call of a model; return its reply, and the call as plain data for the record."""
        request = Request(
            messages,
            self.max_tokens,
            self.temperature,
            self.top_p,
            self.seed,
            schema=schema,
            choices=choices,
            replicate=self.replicate,
            effort=self.effort,
            reasoning_tokens=self.reasoning_tokens,
            facts=facts,
        )
        reply = model.complete(request)
        return reply, describe_call(model, request, reply)


@dataclass(frozen=True, slots=True)
class ModelPlayer:
    """A player whose answers come from a model."""

    model: Model

    @property
    def name(self) -> str:
        """The player's name in records."""
        return self.model.id


@dataclass(frozen=True, slots=True)
class PlayerWrapper:
    """A player who does something besides what another player does, under the name of that one."""

    player: Player

    @property
    def name(self) -> str:
        """The player's name in records."""
        return self.player.name


@dataclass(frozen=True, slots=True)
class LlmPlayer(ModelPlayer):
    """Asks the model; an answer that cannot be used is explained to it `attempts - 1` times."""

    sampling: Sampling = field(default_factory=Sampling)
    style: Style = "line"
    attempts: int = 1
    system: str = ""

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        system = self.system or TEXTS.text("system")
        question = prompt(view, ask, self.style)
        messages: tuple[Message, ...] = (Message("system", system), Message("user", question))
        abilities = self.model.abilities
        schema = None
        if self.style in ("json", "reasoned") and abilities.schema and not isinstance(ask, Words):
            schema = write_schema(ask, self.style)
        choices: tuple[str, ...] = ()
        if self.style == "letter" and abilities.choices and isinstance(ask, Choice):
            choices = ask.options
        facts = {**view.facts, "mixture": isinstance(ask, Mixture)}
        calls: list[Call] = []
        refused: list[str] = []
        while True:
            reply, call = self.sampling.ask(
                self.model,
                messages,
                schema,
                choices,
                facts,
            )
            calls.append(call)
            cut_off = reply.finish is Finish.LENGTH
            declined = reply.finish is Finish.REFUSAL
            decision = read_reply(ask, reply.text, cut_off=cut_off, declined=declined)
            if decision.action is not None or len(calls) >= self.attempts:
                break
            refused.append(decision.reading.how)
            complaint = TEXTS.fill("again", why=decision.reading.how)
            messages = (*messages, Message("assistant", reply.text), Message("user", complaint))
        if refused and decision.action is not None:
            how = [f"refused: {why}" for why in refused]
            if decision.reading.how:
                how.append(decision.reading.how)
            decision = replace(decision, reading=Reading(Status.REPAIRED, "; ".join(how)))
        return Decision(
            decision.action,
            decision.reasoning,
            decision.reading,
            tuple(calls),
        )


@dataclass(frozen=True, slots=True)
class Sampled:
    """A mixed strategy by repetition.

    Asks a player for a pure action `samples` times and reports the frequencies.

    `players` holds one player per sample (the same model with another replicate index). Unreadable
    samples are left out and said; when all are unreadable there is no answer. Up to `workers`
    samples are asked for at the same time.
    """

    players: tuple[Player, ...]
    workers: int = 1

    @property
    def name(self) -> str:
        """The player's name in records."""
        return self.players[0].name

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Mixture):
            raise UsageError(f"a sampled strategy answers mixtures, not {type(ask).__name__}")
        decisions = self._sample(view, Choice(ask.options))
        counts = Counter(d.action for d in decisions if d.action is not None)
        calls = tuple(call for d in decisions for call in d.calls)
        reasoning = "\n---\n".join(d.reasoning for d in decisions)
        if not counts:
            return replace(decisions[0], reasoning=reasoning, calls=calls)
        mix = tuple(counts[option] / counts.total() for option in ask.options)
        remarks = tuple(remark for d in decisions for remark in d.remarks)
        statuses = Counter(d.reading.status for d in decisions)
        reading = Reading()
        if set(statuses) != {Status.VALID}:
            kinds = [f"{count} {status}" for status, count in sorted(statuses.items())]
            how = f"of {len(decisions)} samples: {', '.join(kinds)}"
            reading = Reading(Status.REPAIRED, how)
        return Decision(mix, reasoning, reading, calls, remarks=remarks)

    def _sample(self, view: View, choice: Choice) -> list[Decision]:
        """Ask every player once, in their order."""

        def decide(player: Player) -> Decision:
            return player.decide(view, choice)

        at_once = min(self.workers, len(self.players))
        if at_once <= 1:
            return list(map(decide, self.players))
        with ThreadPoolExecutor(at_once, thread_name_prefix="sample") as pool:
            return list(pool.map(decide, self.players))


@dataclass(frozen=True, slots=True)
class Thinking(PlayerWrapper):
    """A player that is told to write down its reasons before it answers."""

    def decide(self, view: View, ask: Ask) -> Decision:
        """Ask the player with the instruction to think first as the last note of its view."""
        notes = (*view.notes, TEXTS.text("think"))
        return self.player.decide(replace(view, notes=notes), ask)


@dataclass(frozen=True, slots=True)
class FirstToken(ModelPlayer):
    """A mixed strategy in one token.

    It is the model's probabilities for the action labels, renormalised.
    """

    sampling: Sampling = field(default_factory=Sampling)
    least_mass: float = 0.01

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Mixture):
            raise UsageError(f"first-token probabilities answer mixtures, not {type(ask).__name__}")
        question = prompt(view, Choice(ask.options), "letter")
        request = Request(
            (Message("system", TEXTS.text("system")), Message("user", question)),
            temperature=1.0,
            seed=self.sampling.seed,
            replicate=self.sampling.replicate,
        )
        try:
            chances = choice_chances(self.model, request, ask.options)
        except InvalidMove as error:
            return Decision(None, "", Reading(Status(error.kind.value), str(error)))
        call = describe_call(self.model, chances.request, chances.reply)
        note = f"{chances.mass:.1%} of the probability was on the labels"
        if chances.mass < self.least_mass:
            return Decision(None, note, Reading(Status.UNPARSEABLE, note), (call,))
        return Decision(chances.probabilities, note, Reading(), (call,))
