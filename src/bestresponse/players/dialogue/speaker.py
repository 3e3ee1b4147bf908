"""Who speaks in a dialogue, with or without guidance, and who rules on it.

A ruling says what was agreed or what it was worth.

A `Speaker` lets a model voice a chosen manner. `Guided(player, policy)` decides every choice by the
policy of a game tree (an equilibrium, say), at the information set that its view names; what the
policy does not cover, such as putting a chosen tone into words, the wrapped player does.

`DealReferee` asks a model for the *deal* as data, in one call; utilities follow by arithmetic
(`games.dialogue.deals`). `ScoreReferee` is the published way: a summary, then for each person
private information, worked examples and a number (Kwon et al. 2023; Gemp et al. 2024, section 3.1).
Both give a ruling as JSON text, or a decision without an action that says what was wrong: an
unreadable ruling is void, never 0. An `Observer` sums a dialogue up for whoever chooses by the
summary; `Arbiter` does both.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from string import Template
from typing import Protocol

from bestresponse.core.ask import Ask, Choice, Mixture, Words
from bestresponse.core.errors import Flaw, InvalidGame, InvalidMove, UsageError
from bestresponse.core.game import View
from bestresponse.core.json import canonical
from bestresponse.core.player import Call, Decision, Player, Reading, Status
from bestresponse.games.dialogue.deals import Talk
from bestresponse.games.dialogue.domain import Domain
from bestresponse.games.dialogue.schemas import add_text, describe_form
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Finish, Message, Reply
from bestresponse.models.schema import schema_text
from bestresponse.players.llm.player import ModelPlayer, PlayerWrapper, Sampling
from bestresponse.players.llm.reading import find_json_objects
from bestresponse.telling.render import write_history, write_rules

_GOES_ON = re.compile(
    r"^[> ]*(?:\[\d+\] From .+ to .+:|How to write: |The messages so far\b)", re.M
)
_VALUE = re.compile(r"^\W*value\W*[:=]\s*\**\s*(-?\d+(?:\.\d+)?)\W*$", re.IGNORECASE | re.MULTILINE)
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Speaker(ModelPlayer):
    """Asks the model for the next message; `sampling.replicate` is the number of the draw."""

    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.7, max_tokens=200))

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Words):
            raise UsageError(
                f"a speaker voices messages; somebody else has to decide a {type(ask).__name__}"
            )
        content = "\n\n".join(
            part for part in (write_rules(view), write_history(view), *view.notes) if part
        )
        messages = (Message("system", TEXTS.text("dialogue_speaker")), Message("user", content))
        reply, call = self.sampling.ask(self.model, messages)
        text, reading = read_spoken_words(reply, ask)
        return Decision(text, "", reading, (call,))


@dataclass(frozen=True, slots=True)
class Unguided(PlayerWrapper):
    """`player` speaking in the neutral manner.

    Whom to address it says itself, or the seed draws it.

    A person in a dialogue is such a player (`choosing`): what it writes takes the place of a
    model's message.
    """

    neutral: tuple[str, ...]
    choosing: bool = False
    seed: int = 0

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Choice):
            return self.player.decide(view, ask)
        options = tuple(option for option in ask.options if option in self.neutral)
        if not options:
            return Decision(ask.options[0], "a ruling, which is accepted")
        if self.choosing and len(options) > 1:
            return self.player.decide(view, Choice(options))
        return Decision(view.draw(self.seed, "to whom").choice(options))


@dataclass(frozen=True, slots=True)
class Voices(PlayerWrapper):
    """`player`, or whoever speaks in the manner that was chosen.

    An action may be the choice of a model.
    """

    by_manner: Mapping[str, Player]

    def choose(self, view: View) -> Player:
        """Return who speaks in the manner that `view` tells."""
        return self.by_manner.get(str(view.facts.get("manner", "")), self.player)

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        return self.choose(view).decide(view, ask)


def read_spoken_words(reply: Reply, ask: Words) -> tuple[str | None, Reading]:
    """The words of a reply as a message.

    If cut at the token limit it still counts as said, and this is recorded.

    Small models like to go on with the prompt after their message; what they write in others' names
    is cut off.
    """
    whole = reply.text.strip()
    text = _GOES_ON.split(whole, maxsplit=1)[0].strip()
    if reply.finish is Finish.REFUSAL:
        return None, Reading(Status.REFUSED, "the provider's filter ended the reply")
    if not text and whole:
        return None, Reading(
            Status.UNPARSEABLE, f"there is no message, only more of the prompt: {whole[:60]!r}"
        )
    if not text:
        return None, Reading(Status.UNPARSEABLE, "the model answered nothing")
    if len(text) > ask.limit:
        return None, Reading(
            Status.ILLEGAL, f"the message has {len(text)} characters; the limit is {ask.limit}"
        )
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
class Guided(PlayerWrapper):
    """`player` guided by `policy`; the draw depends only on the seed and on what is seen."""

    policy: Guidance
    seed: int = 0

    @property
    def name(self) -> str:
        """The player's name in records."""
        return f"guided {self.player.name}"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Choice | Mixture):
            return self.player.decide(view, ask)
        try:
            known = self.policy.at(view.role, view.key)
        except InvalidGame:
            decision = self.player.decide(view, ask)
            return replace(
                decision,
                reasoning=f"the policy does not know this situation. {decision.reasoning}".strip(),
            )
        chances = tuple(known.get(option, 0.0) for option in ask.options)
        total = sum(chances)
        if total <= 0:
            return self.player.decide(view, ask)
        shares = tuple(chance / total for chance in chances)
        mixture = ", ".join(
            f"{option} {share:.3f}" for option, share in zip(ask.options, shares, strict=True)
        )
        if isinstance(ask, Mixture):
            return Decision(shares, f"the policy plays {mixture}")
        drawn = view.draw(self.seed, "guided").choices(ask.options, shares)[0]
        return Decision(drawn, f"the policy plays {mixture}")


@dataclass(frozen=True, slots=True)
class _Referee(ModelPlayer):
    domain: Domain
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=200))


class DealReferee(_Referee):
    """Reads the deal out of a dialogue; one call a ruling."""

    @property
    def name(self) -> str:
        """The player's name in records."""
        return f"deal by {self.model.id}"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        names = tuple(view.facts["names"])
        private = tuple(view.facts["private"])
        schema = self.domain.deal.schema(names)
        question = self.domain.fill("referee", _fill_places(self.domain, view))
        is_quoting = "quotes" in view.facts
        if is_quoting:
            schema = add_text(schema, "quote")
            question = f"{question} {TEXTS.text('dialogue_quote')}"
        content = TEXTS.fill(
            "dialogue_rule",
            task=write_rules(view),
            transcript=write_history(view),
            question=question,
            form=describe_form(schema),
        )
        messages = (Message("system", TEXTS.text("dialogue_referee")), Message("user", content))
        held_to = schema_text(schema) if self.model.abilities.schema else None
        reply, call = self.sampling.ask(self.model, messages, held_to)
        try:
            data, how = read_ruling(reply)
            deal = self.domain.deal.read(data, names, private, view.facts["said"])
        except InvalidMove as error:
            return Decision(
                None,
                reply.text[:_LONGEST],
                Reading(Status(error.kind.value), str(error)),
                (call,),
            )
        if is_quoting:
            deal = {**deal, "quote": find_quote(data.get("quote", ""), view.facts["said"])}
        reading = Reading(Status.REPAIRED, how) if how else Reading()
        return Decision(canonical(deal), str(deal.get("reasons", "")), reading, (call,))


class ScoreReferee(_Referee):
    """Lets the model say what the outcome is worth to each person.

    This takes one call for a summary and one for each payoff.
    """

    @property
    def name(self) -> str:
        """The player's name in records."""
        return f"score by {self.model.id}"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        calls: list[Call] = []
        thoughts: list[str] = []

        def say(content: str) -> str:
            messages = (Message("system", TEXTS.text("dialogue_scorer")), Message("user", content))
            reply, call = self.sampling.ask(self.model, messages)
            calls.append(call)
            thoughts.append(reply.text)
            return reply.text

        payoffs: list[float] = []
        reading = Reading()
        summary = say(
            TEXTS.fill("dialogue_summary", task=write_rules(view), transcript=write_history(view))
        )
        for name, private in zip(view.facts["names"], view.facts["told"], strict=True):
            places = {**_fill_places(self.domain, view), "me": name}
            values: list[float] = []
            for part in self.domain.payoffs.parts:
                slots = {
                    "task": write_rules(view),
                    "summary": summary,
                    "me": name,
                    "told": private,
                    "question": Template(part.question).substitute(places).strip(),
                    "examples": self.domain.texts["examples"],
                }
                reply = say(TEXTS.fill("dialogue_score", **slots))
                try:
                    values.append(read_value(reply, part.low, part.high))
                except InvalidMove as error:
                    reading = Reading(Status(error.kind.value), f"{name}: {error}")
                    break
            if not reading.status.readable:
                break
            payoffs.append(self.domain.payoffs.combine(values))
        ruling = canonical({"payoffs": payoffs}) if reading.status.readable else None
        return Decision(ruling, "\n".join(thoughts)[:_LONGEST], reading, tuple(calls))


@dataclass(frozen=True, slots=True)
class Observer(ModelPlayer):
    """Asks the model for a summary of the talk so far; one call a summary."""

    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=200))

    @property
    def name(self) -> str:
        """The name under which the player is in records."""
        return f"summary by {self.model.id}"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        messages = (
            Message("system", TEXTS.text("dialogue_observer")),
            Message("user", write_rules(view)),
        )
        reply, call = self.sampling.ask(self.model, messages)
        limit = ask.limit if isinstance(ask, Words) else _LONGEST
        text, reading = read_spoken_words(reply, Words(limit))
        return Decision(text, "", reading, (call,))


@dataclass(frozen=True, slots=True)
class Arbiter(PlayerWrapper):
    """`player` rules on a talk, `observer` sums it up."""

    observer: Player

    def choose(self, view: View) -> Player:
        """Return who answers what `view` asks."""
        return self.observer if is_summary(view) else self.player

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        return self.choose(view).decide(view, ask)


def is_summary(view: View) -> bool:
    """Tell whether a referee is asked for a summary instead of a ruling."""
    return "summary_for" in view.facts


def _fill_places(domain: Domain, view: View) -> dict[str, object]:
    return {
        "names": " and ".join(view.facts["names"]),
        **domain.deal.fill_public(),
        **view.facts["public"],
    }


def read_ruling(reply: Reply) -> tuple[dict[str, object], str]:
    """The JSON object of a reply and how it was found.

    Raises InvalidMove where there is none or more than one differ.
    """
    if reply.finish is Finish.REFUSAL:
        raise InvalidMove("the provider's filter ended the reply", Flaw.REFUSED)
    if len(reply.text) > _LONGEST:
        raise InvalidMove(f"the ruling has {len(reply.text)} characters; the limit is {_LONGEST}")
    text = reply.text.strip()
    rulings = [data for _, data in find_json_objects(text)]
    if not rulings:
        kind = Flaw.TRUNCATED if reply.finish is Finish.LENGTH else Flaw.UNPARSEABLE
        raise InvalidMove(f"there is no JSON object in {text[:80]!r}", kind)
    if any(other != rulings[0] for other in rulings):
        raise InvalidMove("the referee contradicts itself: it gives two different rulings")
    return rulings[0], (
        "" if text.startswith("{") and text.endswith("}") else "text around the JSON object"
    )


def find_quote(quote: object, talk: Talk) -> str:
    """Return what a referee quotes; empty where nobody wrote that.

    >>> find_quote("agreed,  50", [(0, "How about 50?"), (1, "Agreed, 50.")])
    'agreed, 50'
    """
    quoted = " ".join(quote.split()) if isinstance(quote, str) else ""
    is_said = any(quoted.casefold() in " ".join(text.split()).casefold() for _, text in talk)
    return quoted if is_said else ""


def read_value(text: str, low: float, high: float) -> float:
    """The number on the last `Value:` line.

    >>> read_value("Monday is worth 7 to Ada.\\nValue: 7", 0, 20)
    7.0
    """
    numbers = _VALUE.findall(text[:_LONGEST])
    if not numbers:
        raise InvalidMove("there is no line 'Value: <number>'", Flaw.UNPARSEABLE)
    value = float(numbers[-1])
    if not low <= value <= high:
        raise InvalidMove(f"the value {value:g} is not between {low:g} and {high:g}")
    return value
