"""A simulated speaker, referee, inventor and author: a stochastic model of manner -> text -> outcome, seeded.

It answers the prompts of dialogues like a language model, in English sentences, so everything from prompt to payoff is
exercised; but what it does is known (`speaker_manners` has the numbers, `speaker_truth` the game that follows):

- The first speaker proposes what is best for itself, and insists with probability f, its firmness, or else yields.
- Who answers somebody that yields takes its own best instead with probability f, and otherwise accepts.
- Who answers somebody that insists refuses with probability f, proposing and insisting on its own best, and otherwise
  accepts. An agreement stands; only a speaker who has not spoken yet may refuse it. Nobody accepts a trade of fruit
  that it does not own.
- In a debate a rebuttal succeeds with probability 1/2 plus the edge of its style over the style last shown; the last
  speaker wins exactly if the last rebuttal succeeded.

Messages that are not its own, such as a person's, it takes for a proposal of the last item they name, insisted on where
they say "must", "only" or the like, or for an agreement to that item (or to the last proposal) where they accept.

Every draw depends only on the seed, the request's words and its replicate number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from random import Random
from typing import Any

from bestresponse.core.json import JsonObject, digest
from bestresponse.core.seeds import generator
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Abilities, Json, Reply, Request, Usage
from bestresponse.players.dialogue.simulated_styles import (
    CYCLE,
    FIRMNESS,
    NEUTRAL,
    SLIP,
    edge,
    firmness,
    manner_in,
    opener,
    shown_in,
)

__all__ = ["SimulatedSpeaker"]

_MESSAGE = re.compile(r"^\[\d+\] From (.+?) to (.+?):\n((?:> .*(?:\n|\Z))+)", re.M)
_HOW = re.compile(r"^How to write: (.*)$", re.M)
_ME = re.compile(r"^You are (.+?)\.", re.M)
_NUMBER = re.compile(r"^([\w ]+): (-?\d+)$", re.M)
_SETTLED = re.compile(r"(?:Then let us take|I accept|Yes,) (.+?)(?: it is)?\. That is settled\.")
_PROPOSED = re.compile(r"I propose (.+?)\. (It has to be|If it does not suit)")
_OWNED = re.compile(r"I own (.+?)\.")
_ACCEPTS = re.compile(r"\b(?:accept|agreed?|deal|fine|good|okay|ok|settled|suits|works|yes)\b", re.I)
_REFUSES = re.compile(r"\b(?:no|not|never|cannot|can't|don't|won't|but)\b", re.I)
_INSISTS = re.compile(r"\b(?:must|only|has to|have to|insist)\b", re.I)
_ANSWERED = "I have answered every point"
_REPEATED = "I can only say again what I believe."
_YIELDS = "If it does not suit you, choose what you like."
_NAMES = ("Ugo", "Vera", "Wim", "Xenia", "Yara", "Zoltan", "Amaru", "Birgit", "Chen", "Dalia", "Emre", "Fatou")
_GIVES = re.compile(r"(\w+) gives 1 (\w+)")


class SimulatedSpeaker:
    """A `Model` that answers the prompts of dialogues by the model described above."""

    def __init__(self, seed: int = 0) -> None:
        self.id = "simulated"
        self.identity: Mapping[str, Json] = {"provider": "simulated", "model": "simulated", "version": 2, "seed": seed}
        self.abilities = Abilities(schema=True, choices=True, seed=True, concurrency=1)
        self._seed = seed
        self._answers = {
            TEXTS.text("dialogue_speaker"): _speak,
            TEXTS.text("dialogue_referee"): _rule,
            TEXTS.text("dialogue_scorer"): _score,
            TEXTS.text("dialogue_classifier"): _classify,
            TEXTS.text("dialogue_inventor"): _invent,
            TEXTS.text("dialogue_author"): _write,
        }

    def complete(self, request: Request) -> Reply:
        """Answer by rule, the same to the same request."""
        words = [message.content for message in request.messages]
        rng = generator(self._seed, digest(words), request.replicate)
        answer = self._answers.get(words[0])
        text = "I only know how to talk in dialogues." if answer is None else answer(words[-1], rng)
        counted = Usage(sum(len(word.split()) for word in words), len(text.split()))
        return Reply(text, usage=counted)


def _speak(prompt: str, rng: Random) -> str:
    me = _search(_ME, prompt, "I")
    how = _search(_HOW, prompt, "")
    manner = manner_in(how)
    shown = NEUTRAL if rng.random() < SLIP else manner
    said = _messages(prompt)
    if "the motion" in prompt:
        return f"{opener(shown)} {_argue(manner, said, rng)}"
    mine = _wish(prompt, me, said, how)
    owned = _own(prompt)
    return f"{opener(shown)} {owned}{_negotiate(me, mine, manner, owned, said, rng)}"


def _negotiate(me: str, mine: str, manner: str, owned: str, said: list[tuple[str, str, str]], rng: Random) -> str:
    hard = rng.random() < firmness(manner) or _cannot(me, said, owned)
    if not said:
        return _insist(mine) if hard else f"I propose {mine}. {_YIELDS}"
    settled = _SETTLED.search(said[-1][2])
    if settled and (not hard or any(sender == me for sender, _, _ in said)):
        return f"Yes, {settled[1]} it is. That is settled."
    proposed = _PROPOSED.search(said[-1][2])
    offer = settled[1] if settled else (proposed[1] if proposed else mine)
    yields = bool(proposed) and not settled and "If it does not suit" in said[-1][2]
    if not hard:
        return f"I accept {offer}. That is settled."
    return f"Then let us take {mine}. That is settled." if yields else f"I cannot accept {offer}. {_insist(mine)}"


def _cannot(me: str, said: list[tuple[str, str, str]], owned: str) -> bool:
    """Whether the last message asks for a fruit that the speaker does not own."""
    asked = [item for name, item in _GIVES.findall(said[-1][2]) if name == me] if said and owned else []
    return any(item not in owned for item in asked)


def _insist(mine: str) -> str:
    return f"I propose {mine}. It has to be {mine}."


def _argue(manner: str, said: list[tuple[str, str, str]], rng: Random) -> str:
    if not said:
        return "That is why I hold my side of the motion."
    success = rng.random() < 0.5 + edge(manner, shown_in(said[-1][2]))
    return f"{_ANSWERED} of the other side." if success else _REPEATED


def _wish(prompt: str, me: str, said: list[tuple[str, str, str]], how: str) -> str:
    """What the speaker proposes: the item it was told to, its best one, or a trade that helps it."""
    private = prompt.partition(f"You are {me}.")[2].partition("\n\n")[0]
    if "What one piece is worth to you:" not in private:
        values = {name: int(number) for name, number in _NUMBER.findall(private)}
        told = [name for name in values if name in how]
        return str(told[0] if told else max(values, key=lambda name: values[name]))
    owned, worth = (dict(_NUMBER.findall(part)) for part in private.split("What one piece is worth to you:"))
    names = re.split(r", | and ", prompt.partition(" may trade")[0])
    other = next(name for name in names if name != me)
    theirs = _OWNED.search(said[-1][2]) if said else None
    wanted = theirs[1].split(", ") if theirs else list(worth)
    give = min((item for item in owned if int(owned[item]) > 0), key=lambda item: int(worth[item]))
    get = max([item for item in wanted if item != give] or wanted, key=lambda item: int(worth[item]))
    return f"that {me} gives 1 {give} and {other} gives 1 {get}"


def _own(prompt: str) -> str:
    """In a trade, what the speaker tells of its basket."""
    if "What one piece is worth to you:" not in prompt:
        return ""
    basket = prompt.partition("The fruit in your basket:")[2].partition("What one piece")[0]
    return f"I own {', '.join(item for item, number in _NUMBER.findall(basket) if int(number) > 0)}. "


def _rule(prompt: str, rng: Random) -> str:
    said = _messages(prompt)
    sender, receiver, text = said[-1]
    if '"winner"' in prompt:
        plain = _ANSWERED in text or _REPEATED in text
        won = _ANSWERED in text if plain else rng.random() < 0.5
        return json.dumps({"reasons": "the last rebuttal decided it", "winner": sender if won else receiver})
    settled = _SETTLED.search(text)
    if '"gives"' not in prompt:
        return json.dumps({"agreed": bool(settled), "choice": settled[1] if settled else None})
    gives = {name: {item: 1} for name, item in _GIVES.findall(settled[1])} if settled else {}
    people = {name: gives.get(name, {}) for name in (sender, receiver)}
    return json.dumps({"agreed": bool(settled), "gives": people})


def _score(prompt: str, rng: Random) -> str:
    if "What was agreed in the end:" not in prompt:
        sender, receiver, text = _messages(prompt)[-1]
        if "the motion" in prompt:
            winner = sender if _ANSWERED in text else receiver
            return f"{winner} argued better."
        settled = _SETTLED.search(text)
        return f"They agreed on {settled[1]}." if settled else "They did not agree."
    summary = prompt.partition("What was agreed in the end:")[2].partition("\n")[0]
    me = _search(_ME, prompt, "")
    return f"So that is what it is worth.\nValue: {_value(summary, me, prompt)}"


def _value(summary: str, me: str, prompt: str) -> int:
    if "argued better" in summary:
        return int(f" {me} " in summary)
    agreed = re.search(r"They agreed on (.+?)\.", summary)
    if agreed is None:
        return 0
    private = prompt.partition(f"You are {me}.")[2].partition("Two examples")[0]
    values = {name: int(number) for name, number in _NUMBER.findall(private.rpartition("worth to you")[2])}
    gives = _GIVES.findall(agreed[1])
    if not gives:
        return values.get(agreed[1], 0)
    return sum(-values[item] if name == me else values[item] for name, item in gives)


def _classify(prompt: str, rng: Random) -> str:
    return shown_in(prompt.partition("The message:\n")[2])


def _invent(prompt: str, rng: Random) -> str:
    if "new categories" in prompt:
        return json.dumps(rng.sample(["mood", "attitude", "register"], 2))
    known = [*CYCLE, *FIRMNESS] if "logos" in prompt else list(FIRMNESS)
    wanted = int(_search(re.compile(r"(\d+) new"), prompt, "1"))
    fresh = [name for name in known if f"\n- {name}" not in prompt]
    return json.dumps(rng.sample(fresh, min(wanted, len(fresh))))


def _write(prompt: str, rng: Random) -> str:
    """Scenarios made of the examples: other names, numbers that stand in the same place of some example."""
    examples = [json.loads(line) for line in prompt.splitlines() if line.startswith('{"names"')]
    wanted = int(_search(re.compile(r"Invent (\d+) new"), prompt, "1"))
    return json.dumps({"scenarios": [_written(examples, rng) for _ in range(wanted)]})


def _written(examples: list[JsonObject], rng: Random) -> JsonObject:
    model = rng.choice(examples)
    people = [own for example in examples for own in example["private"]]
    private = [
        {part: _redrawn(part, was, people, rng) for part, was in own.items()}
        for own in rng.sample(model["private"], len(model["private"]))
    ]
    names = rng.sample(_NAMES, len(model["names"]))
    return {"names": names, "public": rng.choice(examples)["public"], "private": private}


def _redrawn(part: str, was: object, people: list[JsonObject], rng: Random) -> Any:
    if not isinstance(was, dict):
        return was
    seen = sorted(number for own in people for number in own[part].values())
    return {item: rng.choice(seen) for item in was}


def _messages(prompt: str) -> list[tuple[str, str, str]]:
    """Who wrote to whom, and what, in the simulated speaker's own words where it is a negotiation."""
    found = [(a, b, "\n".join(line[2:] for line in text.splitlines())) for a, b, text in _MESSAGE.findall(prompt)]
    if "the motion" in prompt:
        return found
    items = [name for name, _ in _NUMBER.findall(prompt)] + re.findall(r'"([^"]+)" or ', prompt)
    offer, understood = "", []
    for sender, receiver, text in found:
        own = _understood(text, items, offer)
        told = _SETTLED.search(own) or _PROPOSED.search(own)
        offer = told[1] if told else offer
        understood.append((sender, receiver, own))
    return understood


def _understood(text: str, items: list[str], offer: str) -> str:
    """A message in the simulated speaker's words: itself, or what a person's message comes to."""
    if _SETTLED.search(text) or _PROPOSED.search(text):
        return text
    named = [(text.casefold().rfind(item.casefold()), item) for item in items if item.casefold() in text.casefold()]
    about = max(named)[1] if named else offer
    if about and _ACCEPTS.search(text) and not _REFUSES.search(text):
        return f"I accept {about}. That is settled."
    if not named:
        return text
    return _insist(about) if _INSISTS.search(text) else f"I propose {about}. {_YIELDS}"


def _search(pattern: re.Pattern[str], text: str, otherwise: str) -> str:
    found = pattern.search(text)
    return found[1] if found else otherwise
