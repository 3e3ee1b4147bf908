"""A simulated speaker, referee, inventor and author: a stochastic model of manner -> text -> outcome, seeded.

It answers the prompts of dialogues like a language model, in English sentences, so everything from prompt to payoff is
exercised; but what it does is known (`simulated_styles` has the numbers, `simulated_offers` what it proposes):

- The first speaker proposes what is best for itself, and insists with probability f, its firmness, or else yields.
- Who answers somebody that yields takes its own best instead with probability f, and otherwise accepts.
- Who answers somebody that insists refuses with probability f, proposing and insisting on its own best, and otherwise
  accepts. An agreement stands; only a speaker who has not spoken yet may refuse it. Nobody accepts a trade of fruit
  that it does not own, or a price at a loss.
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
from bestresponse.players.dialogue.simulated_offers import (
    Offers,
    announce,
    find_moves,
    hand_in,
    list_played,
    read_offers,
)
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
_SETTLED = re.compile(r"(?:Then let us take|I accept|Yes,) (.+?)(?: it is)?\. That is settled\.")
_PROPOSED = re.compile(r"I propose (.+?)\. (It has to be|If it does not suit)")
_ACCEPTS = re.compile(r"\b(?:accept|agreed?|deal|fine|good|okay|ok|settled|suits|works|yes)\b", re.I)
_REFUSES = re.compile(r"\b(?:no|not|never|cannot|can't|don't|won't|but)\b", re.I)
_INSISTS = re.compile(r"\b(?:must|only|has to|have to|insist)\b", re.I)
_ANSWERED = "I have answered every point"
_REPEATED = "I can only say again what I believe."
_YIELDS = "If it does not suit you, choose what you like."
_NAMES = ("Ugo", "Vera", "Wim", "Xenia", "Yara", "Zoltan", "Amaru", "Birgit", "Chen", "Dalia", "Emre", "Fatou")


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
    if table := find_moves(prompt):
        return f"{opener(shown)} {_move(table, prompt, how, rng)}"
    offers = read_offers(prompt)
    mine = offers.wish(me, said[-1][2] if said else "", how)
    return f"{opener(shown)} {offers.introduce()}{_negotiate(me, mine, manner, offers, said, rng)}"


def _negotiate(me: str, mine: str, manner: str, offers: Offers, said: list[tuple[str, str, str]], rng: Random) -> str:
    hard = rng.random() < firmness(manner)
    if not said:
        return _insist(mine) if hard else f"I propose {mine}. {_YIELDS}"
    settled, proposed = _SETTLED.search(said[-1][2]), _PROPOSED.search(said[-1][2])
    offer = settled[1] if settled else (proposed[1] if proposed else mine)
    hard = hard or offers.cannot(me, offer)
    if settled and (not hard or any(sender == me for sender, _, _ in said)):
        return f"Yes, {settled[1]} it is. That is settled."
    yields = bool(proposed) and not settled and "If it does not suit" in said[-1][2]
    if not hard:
        return f"I accept {offer}. That is settled."
    return f"Then let us take {mine}. That is settled." if yields else f"I cannot accept {offer}. {_insist(mine)}"


def _insist(mine: str) -> str:
    return f"I propose {mine}. It has to be {mine}."


def _argue(manner: str, said: list[tuple[str, str, str]], rng: Random) -> str:
    if not said:
        return "That is why I hold my side of the motion."
    success = rng.random() < 0.5 + edge(manner, shown_in(said[-1][2]))
    return f"{_ANSWERED} of the other side." if success else _REPEATED


def _move(table: dict[str, dict[str, int]], prompt: str, how: str, rng: Random) -> str:
    """Announce a move, or name it on the sealed note."""
    if "The talk is over." not in prompt:
        return announce(table, how, rng)
    me = _search(_ME, prompt, "I")
    own, others = ([text for sender, _, text in _messages(prompt) if (sender == me) is mine] for mine in (True, False))
    return hand_in(table, how, " ".join(own), " ".join(others), rng)


def _rule(prompt: str, rng: Random) -> str:
    said = _messages(prompt)
    sender, receiver, text = said[-1]
    if '"winner"' in prompt:
        plain = _ANSWERED in text or _REPEATED in text
        won = _ANSWERED in text if plain else rng.random() < 0.5
        return json.dumps({"reasons": "the last rebuttal decided it", "winner": sender if won else receiver})
    if table := find_moves(prompt):
        return json.dumps({"moves": list_played(table, said)})
    settled = _SETTLED.search(text)
    return json.dumps(read_offers(prompt).rule(settled[1] if settled else "", (sender, receiver)))


def _score(prompt: str, rng: Random) -> str:
    if "What was agreed in the end:" not in prompt:
        sender, receiver, text = _messages(prompt)[-1]
        if "the motion" in prompt:
            winner = sender if _ANSWERED in text else receiver
            return f"{winner} argued better."
        if table := find_moves(prompt):
            return " ".join(f"{name} plays {move}." for name, move in list_played(table, _messages(prompt)).items())
        settled = _SETTLED.search(text)
        return f"They agreed on {settled[1]}." if settled else "They did not agree."
    summary = prompt.partition("What was agreed in the end:")[2].partition("\n")[0]
    me = _search(_ME, prompt, "")
    return f"So that is what it is worth.\nValue: {_value(summary, me, prompt)}"


def _value(summary: str, me: str, prompt: str) -> int:
    if "argued better" in summary:
        return int(f" {me} " in summary)
    if table := find_moves(prompt):
        played = dict(re.findall(r"(\w+) plays ([\w ]+)\.", summary))
        own = played.pop(me, "")
        return table.get(own, {}).get(next(iter(played.values()), ""), 0)
    agreed = re.search(r"They agreed on (.+?)\.", summary)
    return read_offers(prompt.partition("Two examples")[0]).value(agreed[1], me) if agreed else 0


def _classify(prompt: str, rng: Random) -> str:
    text, _, manners = prompt.partition("The message:\n")[2].partition("\n\nThe manners")
    told = [one for one in re.findall(r"^- ([\w ]+):", manners, re.M) if re.search(rf"\b{one}\b", text)]
    return told[-1] if told else shown_in(text)


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
    if "the motion" in prompt or find_moves(prompt):
        return found
    offers, offer, understood = read_offers(prompt), "", []
    for sender, receiver, text in found:
        own = _understood(text, sender, offers, offer)
        told = _SETTLED.search(own) or _PROPOSED.search(own)
        offer = told[1] if told else offer
        understood.append((sender, receiver, own))
    return understood


def _understood(text: str, sender: str, offers: Offers, offer: str) -> str:
    """A message in the simulated speaker's words: itself, or what a person's message comes to."""
    if _SETTLED.search(text) or _PROPOSED.search(text):
        return text
    named = offers.find_named(text, sender, offer)
    about = named or offer
    if about and _ACCEPTS.search(text) and not _REFUSES.search(text):
        return f"I accept {about}. That is settled."
    if not named:
        return text
    return _insist(about) if _INSISTS.search(text) else f"I propose {about}. {_YIELDS}"


def _search(pattern: re.Pattern[str], text: str, otherwise: str) -> str:
    found = pattern.search(text)
    return found[1] if found else otherwise
