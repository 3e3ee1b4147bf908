"""Referees of dialogues: what was agreed, or what it was worth.

`DealReferee` asks a model for the *deal* as data, in one call; utilities follow by arithmetic (`games.dialogue.deals`).
`ScoreReferee` is the published way: a summary, then for each person private information, worked examples and a number
(Kwon et al. 2023; Gemp et al. 2024, section 3.1). Both give a ruling as JSON text, or a decision without an action
that says what was wrong: an unreadable ruling is void, never 0.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from bestresponse.core.ask import Ask
from bestresponse.core.errors import Flaw, InvalidMove
from bestresponse.core.game import View
from bestresponse.core.json import JsonObject, canonical
from bestresponse.core.player import Call, Decision, Reading, Status
from bestresponse.games.dialogue.domain import Domain
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Finish, Message, Model, Reply, Request
from bestresponse.models.schema import schema_text
from bestresponse.players.llm.player import Sampling, call_of

__all__ = ["DealReferee", "ScoreReferee", "json_objects", "read_object", "read_value"]

_VALUE = re.compile(r"^\W*value\W*[:=]\s*\**\s*(-?\d+(?:\.\d+)?)\W*$", re.IGNORECASE | re.MULTILINE)
_LONGEST = 20_000
_PLACES = {
    "boolean": "true or false",
    "integer": "<whole number>",
    "number": "<number>",
    "string": '"<text>"',
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class DealReferee:
    """Reads the deal out of a dialogue; one call a ruling."""

    model: Model
    domain: Domain
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=200))

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return f"deal by {self.model.id}"

    def request(self, view: View) -> Request:
        """Return the question that is put to the referee's model."""
        schema = self.domain.deal.schema(tuple(view.facts["names"]))
        content = TEXTS.fill(
            "dialogue_rule",
            task=view.briefing,
            transcript=view.situation,
            question=self.domain.fill("referee", _places(self.domain, view)),
            form=_form(schema),
        )
        messages = (Message("system", TEXTS.text("dialogue_referee")), Message("user", content))
        return _request(messages, self.sampling, schema_text(schema) if self.model.abilities.schema else None)

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        request = self.request(view)
        reply = self.model.complete(request)
        calls = (call_of(self.model, request, reply),)
        try:
            data, how = read_object(reply)
            names, private = tuple(view.facts["names"]), tuple(view.facts["private"])
            deal = self.domain.deal.read(data, names, private, view.facts["said"])
        except InvalidMove as error:
            return Decision(None, reply.text[:_LONGEST], Reading(Status(error.kind.value), str(error)), calls)
        reading = Reading(Status.REPAIRED, how) if how else Reading()
        return Decision(canonical(deal), str(deal.get("reasons", "")), reading, calls)


@dataclass(frozen=True, slots=True)
class ScoreReferee:
    """Lets the model say what the outcome is worth to each person: one call for a summary and one for each."""

    model: Model
    domain: Domain
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=200))

    @property
    def name(self) -> str:
        """The name under which the player stands in records."""
        return f"score by {self.model.id}"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        summary, calls = self._ask(TEXTS.fill("dialogue_summary", task=view.briefing, transcript=view.situation))
        payoffs: list[float] = []
        thoughts = [summary.text]
        for name, told in zip(view.facts["names"], view.facts["told"], strict=True):
            question = self.domain.fill("score", {**_places(self.domain, view), "me": name})
            content = TEXTS.fill(
                "dialogue_score", task=view.briefing, summary=summary.text, me=name, told=told, question=question
            )
            reply, more = self._ask(content)
            calls += more
            thoughts.append(reply.text)
            try:
                payoffs.append(read_value(reply.text, self.domain.low, self.domain.high))
            except InvalidMove as error:
                why = Reading(Status(error.kind.value), f"{name}: {error}")
                return Decision(None, "\n".join(thoughts)[:_LONGEST], why, calls)
        return Decision(canonical({"payoffs": payoffs}), "\n".join(thoughts)[:_LONGEST], Reading(), calls)

    def _ask(self, content: str) -> tuple[Reply, tuple[Call, ...]]:
        messages = (Message("system", TEXTS.text("dialogue_scorer")), Message("user", content))
        request = _request(messages, self.sampling, None)
        reply = self.model.complete(request)
        return reply, (call_of(self.model, request, reply),)


def _places(domain: Domain, view: View) -> dict[str, object]:
    return {"names": " and ".join(view.facts["names"]), **domain.deal.fill_public(), **view.facts["public"]}


def _request(messages: tuple[Message, ...], sampling: Sampling, schema: str | None) -> Request:
    return Request(
        messages,
        max_tokens=sampling.max_tokens,
        temperature=sampling.temperature,
        seed=sampling.seed,
        schema=schema,
        replicate=sampling.replicate,
    )


def read_object(reply: Reply) -> tuple[JsonObject, str]:
    """The JSON object of a reply and how it was found; InvalidMove where there is none or more than one differ."""
    if reply.finish is Finish.REFUSAL:
        raise InvalidMove("the provider's filter ended the reply", Flaw.REFUSED)
    if len(reply.text) > _LONGEST:
        raise InvalidMove(f"the ruling has {len(reply.text)} characters; the limit is {_LONGEST}")
    text = reply.text.strip()
    found = json_objects(text)
    if not found:
        kind = Flaw.TRUNCATED if reply.finish is Finish.LENGTH else Flaw.UNPARSEABLE
        raise InvalidMove(f"there is no JSON object in {text[:80]!r}", kind)
    if any(other != found[0] for other in found):
        raise InvalidMove("the referee contradicts itself: it gives two different rulings")
    return found[0], "" if text.startswith("{") and text.endswith("}") else "text around the JSON object"


def json_objects(text: str) -> list[JsonObject]:
    """Every JSON object that stands in the text, not inside another."""
    decoder = json.JSONDecoder()
    found, start = [], text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            found.append(value)
        start = text.find("{", end)
    return [value for value in found if isinstance(value, dict)]


def read_value(text: str, low: float, high: float) -> float:
    """The number on the last `Value:` line.

    >>> read_value("Monday is worth 7 to Ada.\\nValue: 7", 0, 20)
    7.0
    """
    found = _VALUE.findall(text[:_LONGEST])
    if not found:
        raise InvalidMove("there is no line 'Value: <number>'", Flaw.UNPARSEABLE)
    value = float(found[-1])
    if not low <= value <= high:
        raise InvalidMove(f"the value {value:g} is not between {low:g} and {high:g}")
    return value


def _form(schema: JsonObject) -> str:
    """What the object looks like, with a place in angle brackets for every value."""
    if "enum" in schema:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if schema["type"] != "object":
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return " or ".join(_PLACES[kind] for kind in kinds)
    return "{" + ", ".join(f'"{name}": {_form(inner)}' for name, inner in schema["properties"].items()) + "}"
