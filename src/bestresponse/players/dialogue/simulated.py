"""A simulated speaker, referee, inventor and author.

It is a seeded stochastic model of manner -> text -> outcome.

It answers the prompts of dialogues like a language model, in English sentences, so everything from
prompt to payoff is exercised; but what it does is known:

- The first speaker proposes what is best for itself, and insists with probability f, its firmness,
  or else yields.
- Who answers somebody that yields takes its own best instead with probability f, and otherwise
  accepts.
- Who answers somebody that insists refuses with probability f, proposing and insisting on its own
  best, and otherwise accepts. An agreement stands; only a speaker who has not spoken yet may refuse
  it. Nobody accepts a trade of fruit that it does not own, or a price at a loss.
- In a debate a rebuttal succeeds with probability 1/2 plus the edge of its style over the style
  last shown; the last speaker wins exactly if the last rebuttal succeeded.

- A summary says who made the last proposal and whether it insists, or in which style the last point
  of a debate was made; it does not tell tones.

Messages that are not its own, such as a person's, it takes for a proposal of the last item they
name, insisted on where they say "must", "only" or the like, or for an agreement to that item (or to
the last proposal) where they accept.

What it proposes for each kind of deal:

- option: its best item. trade: its least valued fruit for the one it wants most.
- price: the middle between what the thing is worth to it and the end of the range that suits it;
  never a loss.
- issues: its best level of the issue in which most is at stake for it, the middle level of all
  others.
- moves: it announces the move that it was told, or any. On the sealed note it plays what it was
  told; untold, as often as not what it announced, and otherwise the best reply to what the other
  announced.

The first sentence of a message shows its manner; with probability SLIP it is the neutral one
instead. Every draw depends only on the seed, the request's words and its replicate number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from bestresponse.core.errors import UsageError
from bestresponse.core.json import digest
from bestresponse.core.seeds import generator
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Abilities, Json, Reply, Request, Usage

FIRMNESS = {
    "submissive": 0.1,
    "friendly": 0.25,
    "sad": 0.3,
    "calm": 0.4,
    "any": 0.5,
    "happy": 0.5,
    "enthusiastic": 0.6,
    "frank": 0.7,
    "angry": 0.75,
    "assertive": 0.8,
    "stubborn": 1.0,
}
"""How likely a speaker insists instead of yielding, refuses instead of accepting, by manner, from
soft to hard.

Any other word has a firmness of its own between 0.2 and 0.8."""

CYCLE = ("logos", "pathos", "ethos")
"""Each style beats the next one, the last the first, and every one of them any other manner."""

_EDGE = 0.3
"""How much likelier than even a rebuttal in one style answers a point made in the next one
(debates)."""
SLIP = 0.1
NEUTRAL = "any"
_OPENERS = {
    NEUTRAL: "Hello.",
    "calm": "There is no hurry.",
    "assertive": "Let me be clear.",
    "submissive": "I do not want to be in your way.",
    "logos": "The facts are plain.",
    "ethos": "I have worked on this for years.",
    "pathos": "Think of those it hurts.",
}
_OTHER = re.compile(r"^Let me say it in a way that is ([\w -]+)\.")

_MESSAGE = re.compile(r"^\[\d+\] From (.+?) to (.+?):\n((?:> .*(?:\n|\Z))+)", re.M)
_HOW = re.compile(r"^How to write: (.*)$", re.M)
_ME = re.compile(r"^You are (.+?)\.", re.M)
_SETTLED = re.compile(r"(?:Then let us take|I accept|Yes,) (.+?)(?: it is)?\. That is settled\.")
_PROPOSED = re.compile(r"I propose (.+?)\. (It has to be|If it does not suit)")
_ACCEPTS = re.compile(
    r"\b(?:accept|agreed?|deal|fine|good|okay|ok|settled|suits|works|yes)\b", re.I
)
_REFUSES = re.compile(r"\b(?:no|not|never|cannot|can't|don't|won't|but)\b", re.I)
_INSISTS = re.compile(r"\b(?:must|only|has to|have to|insist)\b", re.I)
_NUMBER = re.compile(r"^([\w ]+): (-?\d+)$", re.M)
_GIVES = re.compile(r"(\w+) gives 1 (\w+)")
_OWNED = re.compile(r"I own (.+?)\.")
_AGAINST = re.compile(r"^([\w ]+) against ([\w ]+): (-?\d+)$", re.M)
_PRICES = re.compile(r"price \(from (\d+) to (\d+)\)")
_PART = re.compile(r"You are the (\w+)\.")
_WORTH = re.compile(r"^What it is worth to you: (\d+)$", re.M)
_ISSUE = re.compile(r"(\w+) \(([\w ]+(?:, [\w ]+)+)\)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_PIECE = "What one piece is worth to you:"
_ANSWERED = "I have answered every point"
_REPEATED = "I can only say again what I believe."
_YIELDS = "If it does not suit you, choose what you like."
_NAMES = (
    "Ugo",
    "Vera",
    "Wim",
    "Xenia",
    "Yara",
    "Zoltan",
    "Amaru",
    "Birgit",
    "Chen",
    "Dalia",
    "Emre",
    "Fatou",
)


class SimulatedSpeaker:
    """A `Model` that answers the prompts of dialogues by the model described above."""

    def __init__(self, seed: int = 0) -> None:
        self.id = "simulated"
        self.identity: Mapping[str, Json] = {
            "provider": "simulated",
            "model": "simulated",
            "version": 2,
            "seed": seed,
        }
        self.abilities = Abilities(schema=True, choices=True, seed=True, concurrency=1)
        self._seed = seed
        self._answers = {
            TEXTS.text("dialogue_speaker"): _speak,
            TEXTS.text("dialogue_referee"): _rule,
            TEXTS.text("dialogue_scorer"): _score,
            TEXTS.text("dialogue_observer"): _sum_up,
            TEXTS.text("dialogue_classifier"): _classify,
            TEXTS.text("dialogue_inventor"): _invent,
            TEXTS.text("dialogue_author"): _write,
        }

    def complete(self, request: Request) -> Reply:
        """Answer by rule, the same to the same request."""
        words = [message.content for message in request.messages]
        rng = generator(self._seed, digest(words), request.replicate)
        answer = self._answers.get(words[0])
        text = "I only know how to talk in dialogues."
        if answer is not None:
            try:
                text = answer(words[-1], rng)
            except (LookupError, ValueError, StopIteration):
                raise UsageError(
                    "`simulated` speaks only in the words of the built-in domains, and this"
                    " dialogue has others; name another model"
                ) from None
        sent = " ".join(words).split()
        usage = Usage(len(sent), len(text.split()))
        return Reply(text, usage=usage)


@dataclass(frozen=True, slots=True)
class _Message:
    """What somebody wrote to somebody in a talk."""

    sender: str
    receiver: str
    text: str


def _speak(prompt: str, rng: Random) -> str:
    me = _search(_ME, prompt, "I")
    how = _search(_HOW, prompt, "")
    manner = manner_in(how)
    shown = NEUTRAL if rng.random() < SLIP else manner
    talk = _read_talk(prompt)
    table = _find_moves(prompt)
    if "the motion" in prompt:
        said = _argue(manner, talk, rng)
    elif table and "The talk is over." in prompt:
        # The sealed note, after what both have announced.
        my_words = " ".join(message.text for message in talk if message.sender == me)
        their_words = " ".join(message.text for message in talk if message.sender != me)
        moves = list(table)
        announced = _find_last(my_words, moves)
        heard = _find_last(their_words, moves)
        honest = rng.random() < 0.5
        if heard:
            earned = {move: table[move][heard] for move in moves}
            reply = max(moves, key=earned.__getitem__)
        else:
            reply = rng.choice(moves)
        if announced and honest:
            reply = announced
        said = f"I play {_find_last(how, moves) or reply}."
    elif table:
        moves = list(table)
        move = _find_last(how, moves) or rng.choice(moves)
        said = f"I will play {move}."
    else:
        offers = _read_offers(prompt)
        mine = offers.wish(me, heard=talk[-1].text if talk else "", how=how)
        answer = _negotiate(me, mine, manner=manner, offers=offers, talk=talk, rng=rng)
        said = f"{offers.introduce()}{answer}"
    return f"{opener(shown)} {said}"


def _argue(manner: str, talk: Sequence[_Message], rng: Random) -> str:
    if not talk:
        return "That is why I hold my side of the motion."
    against = shown_in(talk[-1].text)
    chance = 0.5 + edge(manner, against)
    return f"{_ANSWERED} of the other side." if rng.random() < chance else _REPEATED


def _negotiate(
    me: str,
    mine: str,
    manner: str,
    offers: _Offers,
    talk: Sequence[_Message],
    rng: Random,
) -> str:
    hard = rng.random() < firmness(manner)
    if not talk:
        return _insist(mine) if hard else f"I propose {mine}. {_YIELDS}"
    heard = talk[-1].text
    settled = _SETTLED.search(heard)
    proposed = _PROPOSED.search(heard)
    named = settled or proposed
    offer = named[1] if named else mine
    hard = hard or offers.cannot(me, offer)
    has_spoken = any(message.sender == me for message in talk)
    if settled and (not hard or has_spoken):
        return f"Yes, {settled[1]} it is. That is settled."
    if not hard:
        return f"I accept {offer}. That is settled."
    if proposed and not settled and "If it does not suit" in heard:
        return f"Then let us take {mine}. That is settled."
    return f"I cannot accept {offer}. {_insist(mine)}"


def _insist(mine: str) -> str:
    return f"I propose {mine}. It has to be {mine}."


def _rule(prompt: str, rng: Random) -> str:
    talk = _read_talk(prompt)
    ruling = _find_ruling(prompt, talk, rng)
    if '"quote"' in prompt:
        *_, quoted = _MESSAGE.findall(prompt)[-1]
        last_line = quoted.splitlines()[-1].removeprefix("> ")
        ruling["quote"] = _SENTENCE_END.split(last_line)[-1]
    return json.dumps(ruling)


def _find_ruling(prompt: str, talk: Sequence[_Message], rng: Random) -> dict[str, object]:
    last = talk[-1]
    if '"winner"' in prompt:
        won = _ANSWERED in last.text
        if not won and _REPEATED not in last.text:
            won = rng.random() < 0.5  # of a person's words nobody can say
        winner = last.sender if won else last.receiver
        return {"reasons": "the last rebuttal decided it", "winner": winner}
    if table := _find_moves(prompt):
        return {"moves": _list_played(table, talk)}
    agreed = _search(_SETTLED, last.text, "")
    return _read_offers(prompt).rule(agreed, (last.sender, last.receiver))


def _score(prompt: str, rng: Random) -> str:
    if "What was agreed in the end:" not in prompt:
        return _say_what_came_of(prompt)
    summary = _take_between(prompt, "What was agreed in the end:", "\n")
    me = _search(_ME, prompt, "")
    return f"So that is what it is worth.\nValue: {_value(summary, me, prompt)}"


def _say_what_came_of(prompt: str) -> str:
    talk = _read_talk(prompt)
    last = talk[-1]
    if "the motion" in prompt:
        winner = last.sender if _ANSWERED in last.text else last.receiver
        return f"{winner} argued better."
    if table := _find_moves(prompt):
        played = _list_played(table, talk)
        return " ".join(f"{name} plays {move}." for name, move in played.items())
    settled = _SETTLED.search(last.text)
    return f"They agreed on {settled[1]}." if settled else "They did not agree."


def _value(summary: str, me: str, prompt: str) -> int:
    if "argued better" in summary:
        return int(f" {me} " in summary)
    if table := _find_moves(prompt):
        played = dict(re.findall(r"(\w+) plays ([\w ]+)\.", summary))
        move = played.pop(me, "")
        theirs = next(iter(played.values()), "")
        return table.get(move, {}).get(theirs, 0)
    agreed = re.search(r"They agreed on (.+?)\.", summary)
    if agreed is None:
        return 0
    told = prompt.partition("Examples of such")[0]
    return _read_offers(told).value(agreed[1], me)


def _sum_up(prompt: str, rng: Random) -> str:
    talk = _read_talk(prompt)
    last = talk[-1]
    if "the motion" in prompt:
        return f"{last.sender} spoke last, and the point was made with {shown_in(last.text)}."
    if table := _find_moves(prompt):
        announced = _list_played(table, talk)
        return " ".join(
            f"{name} announced {move or 'nothing'}." for name, move in announced.items()
        )
    settled = _SETTLED.search(last.text)
    proposed = _PROPOSED.search(last.text)
    if settled:
        return f"{last.sender} agreed on {settled[1]}."
    if not proposed:
        return f"{last.sender} spoke last and proposed nothing."
    firmly = "would take something else" if proposed[2].startswith("If") else "insists on it"
    return f"{last.sender} proposed {proposed[1]} and {firmly}."


def _classify(prompt: str, rng: Random) -> str:
    text, _, manners = prompt.partition("The message:\n")[2].partition("\n\nThe manners")
    known = re.findall(r"^- ([\w ]+):", manners, re.M)
    named = [manner for manner in known if re.search(rf"\b{manner}\b", text)]
    return named[-1] if named else shown_in(text)


def _invent(prompt: str, rng: Random) -> str:
    if "new categories" in prompt:
        return json.dumps(rng.sample(["mood", "attitude", "register"], 2))
    known = [*CYCLE, *FIRMNESS] if "logos" in prompt else list(FIRMNESS)
    wanted = int(_search(re.compile(r"(\d+) new"), prompt, "1"))
    fresh = [name for name in known if f"\n- {name}" not in prompt]
    return json.dumps(rng.sample(fresh, min(wanted, len(fresh))))


def _write(prompt: str, rng: Random) -> str:
    """Scenarios made of the examples, with other names and numbers.

    The numbers are in the same place of some example.
    """
    examples = [json.loads(line) for line in prompt.splitlines() if line.startswith('{"names"')]
    wanted = int(_search(re.compile(r"Invent (\d+) new"), prompt, "1"))
    people = [person for example in examples for person in example["private"]]

    def redraw(part: str, was: object) -> object:
        if not isinstance(was, dict):
            return was
        seen: list[int] = []
        for person in people:
            seen += person[part].values()
        seen.sort()
        return {item: rng.choice(seen) for item in was}

    scenarios = []
    for _ in range(wanted):
        model = rng.choice(examples)
        private = []
        for person in rng.sample(model["private"], len(model["private"])):
            private.append({part: redraw(part, was) for part, was in person.items()})
        names = rng.sample(_NAMES, len(model["names"]))
        public = rng.choice(examples)["public"]
        scenarios.append({"names": names, "public": public, "private": private})
    return json.dumps({"scenarios": scenarios})


def _read_talk(prompt: str) -> list[_Message]:
    """Return the messages of a talk.

    They are in the simulated speaker's own words if it is a negotiation.
    """
    messages = []
    for sender, receiver, quoted in _MESSAGE.findall(prompt):
        lines = [line.removeprefix("> ") for line in quoted.splitlines()]
        messages.append(_Message(sender, receiver, "\n".join(lines)))
    if "the motion" in prompt or _find_moves(prompt):
        return messages
    offers = _read_offers(prompt)
    offer = ""
    understood = []
    for message in messages:
        reworded = _understood(message.text, message.sender, offers, offer)
        named = _SETTLED.search(reworded) or _PROPOSED.search(reworded)
        offer = named[1] if named else offer
        understood.append(replace(message, text=reworded))
    return understood


def _understood(text: str, sender: str, offers: _Offers, offer: str) -> str:
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
    match = pattern.search(text)
    return match[1] if match else otherwise


class _Offers:
    """Offers of one of several items; `prompt` is what a speaker or referee is told."""

    def __init__(self, prompt: str) -> None:
        self.prompt = prompt

    def wish(self, me: str, heard: str, how: str) -> str:
        """Return what the speaker proposes: the item that it was told to, or its best one."""
        values = self._values(me)
        for name in values:
            if name in how:
                return name
        return max(values, key=lambda name: values[name])

    def introduce(self) -> str:
        """Return what the speaker tells of itself before any offer."""
        return ""

    def cannot(self, me: str, offer: str) -> bool:
        """Tell whether the speaker never accepts such an offer."""
        return False

    def find_named(self, text: str, sender: str, standing: str) -> str:
        """Return the offer that a person's message names, empty where it names none."""
        items = [name for name, _ in _NUMBER.findall(self.prompt)]
        items += re.findall(r'"([^"]+)" or ', self.prompt)
        return _find_last(text, items)

    def rule(self, offer: str, people: Sequence[str]) -> dict[str, object]:
        """Return the ruling on a talk that ended with this offer accepted.

        It is empty where none was.
        """
        return {"agreed": bool(offer), "choice": offer or None}

    def value(self, offer: str, me: str) -> int:
        """Return what an agreed offer is worth to `me`."""
        return self._values(me).get(offer, 0)

    def _values(self, me: str) -> dict[str, int]:
        return _read_numbers(self.find_private(me))

    def find_private(self, me: str) -> str:
        """Return what only `me` is told."""
        return _take_between(self.prompt, f"You are {me}.", "\n\n")


class _Trades(_Offers):
    """One piece of a fruit for one of another."""

    def wish(self, me: str, heard: str, how: str) -> str:
        basket, pieces = self.find_private(me).split(_PIECE)
        owned = [item for item, number in _NUMBER.findall(basket) if int(number) > 0]
        worth = _read_numbers(pieces)
        theirs = _OWNED.search(heard)
        wanted = theirs[1].split(", ") if theirs else list(worth)
        give = min(owned, key=lambda item: worth[item])
        others = [item for item in wanted if item != give] or wanted
        get = max(others, key=lambda item: worth[item])
        return f"that {me} gives 1 {give} and {self._find_other(me)} gives 1 {get}"

    def _find_other(self, name: str) -> str:
        """Return whom somebody trades with."""
        traders = self.prompt.partition(" may trade")[0]
        names = re.split(r", | and ", traders)
        return next(other for other in names if other != name)

    def introduce(self) -> str:
        return f"I own {', '.join(self._owned())}. "

    def _owned(self) -> list[str]:
        basket = _take_between(self.prompt, "The fruit in your basket:", "What one piece")
        return [item for item, number in _NUMBER.findall(basket) if int(number) > 0]

    def cannot(self, me: str, offer: str) -> bool:
        owned = self._owned()
        return any(name == me and item not in owned for name, item in _GIVES.findall(offer))

    def find_named(self, text: str, sender: str, standing: str) -> str:
        items = "|".join(_read_numbers(self.prompt))
        named = re.findall(rf"(your )?(?:\w+ )?\b({items or '$^'})", text, re.IGNORECASE)
        wanted = [item.casefold() for your, item in named if your]
        offered = [item.casefold() for your, item in named if not your]
        if not offered or len(named) < 2:
            return ""
        get = (wanted or offered)[-1]
        return f"that {sender} gives 1 {offered[0]} and {self._find_other(sender)} gives 1 {get}"

    def rule(self, offer: str, people: Sequence[str]) -> dict[str, object]:
        gives = {name: {item: 1} for name, item in _GIVES.findall(offer)}
        return {"agreed": bool(offer), "gives": {name: gives.get(name, {}) for name in people}}

    def value(self, offer: str, me: str) -> int:
        _, _, pieces = self.prompt.rpartition("worth to you")
        worth = _read_numbers(pieces)
        total = 0
        for name, item in _GIVES.findall(offer):
            total += -worth[item] if name == me else worth[item]
        return total


class _Prices(_Offers):
    """A price between a seller and a buyer."""

    def wish(self, me: str, heard: str, how: str) -> str:
        low, high = map(int, _PRICES.findall(self.prompt)[0])
        worth, sells = self._read_private()
        end = high if sells else low
        return f"a price of {(worth + end) // 2}"

    def cannot(self, me: str, offer: str) -> bool:
        return bool(re.search(r"\d", offer)) and self.value(offer, me) < 0

    def find_named(self, text: str, sender: str, standing: str) -> str:
        numbers = re.findall(r"\d+", text)
        return f"a price of {numbers[-1]}" if numbers else ""

    def rule(self, offer: str, people: Sequence[str]) -> dict[str, object]:
        numbers = re.findall(r"\d+", offer)
        return {"agreed": bool(numbers), "price": int(numbers[-1]) if numbers else None}

    def value(self, offer: str, me: str) -> int:
        worth, sells = self._read_private()
        price = int(re.findall(r"\d+", offer)[-1])
        return price - worth if sells else worth - price

    def _read_private(self) -> tuple[int, bool]:
        return int(_WORTH.findall(self.prompt)[0]), _PART.findall(self.prompt)[0] == "seller"


class _Packages(_Offers):
    """A level of each of several issues."""

    def wish(self, me: str, heard: str, how: str) -> str:
        values = self._values(me)
        groups = self._groups()
        at_stake = {}
        for name, group in groups.items():
            worth = [values[level] for level in group]
            at_stake[name] = max(worth) - min(worth)
        dearest = max(at_stake, key=lambda name: at_stake[name])
        levels = {}
        for name, group in groups.items():
            middle = len(group) // 2
            levels[name] = group[middle]
        levels[dearest] = max(groups[dearest], key=lambda level: values[level])
        return ", ".join(levels.values())

    def find_named(self, text: str, sender: str, standing: str) -> str:
        named = [_find_last(text, levels) for levels in self._groups().values()]
        if not any(named):
            return ""
        before = standing.split(", ") if standing else [""] * len(named)
        whole = [new or before[k] for k, new in enumerate(named)]
        return ", ".join(whole) if all(whole) else ""

    def rule(self, offer: str, people: Sequence[str]) -> dict[str, object]:
        issues = self._groups()
        terms: dict[str, str | None] = dict.fromkeys(issues)
        if offer:
            terms = dict(zip(issues, offer.split(", "), strict=True))
        return {"agreed": bool(offer), "terms": terms}

    def value(self, offer: str, me: str) -> int:
        values = self._values(me)
        return sum(values[level] for level in offer.split(", "))

    def _groups(self) -> dict[str, list[str]]:
        issues = _ISSUE.findall(self.prompt.partition("\n")[0])
        return {name: levels.split(", ") for name, levels in issues}


def _take_between(text: str, start: str, end: str) -> str:
    """Return the text between two marks, or all the rest if the second is missing."""
    _, _, behind = text.partition(start)
    return behind.partition(end)[0]


def _read_numbers(text: str) -> dict[str, int]:
    """Return the items that a text gives numbers to."""
    return {name: int(number) for name, number in _NUMBER.findall(text)}


def _read_offers(prompt: str) -> _Offers:
    """Return how offers are made and read in the talk that a prompt is about."""
    if "fruit they receive" in prompt:
        return _Trades(prompt)
    if _PRICES.search(prompt):
        return _Prices(prompt)
    return _Packages(prompt) if "settle these issues: " in prompt else _Offers(prompt)


def _find_moves(prompt: str) -> dict[str, dict[str, int]]:
    """Return what each move earns against each, empty where the talk is not about moves."""
    table: dict[str, dict[str, int]] = {}
    for own, other, payoff in _AGAINST.findall(prompt):
        table.setdefault(own, {})[other] = int(payoff)
    return table


def _list_played(
    table: dict[str, dict[str, int]], talk: Sequence[_Message]
) -> dict[str, str | None]:
    """Return the move that the last message of each person names, None where it names none."""
    last = {message.sender: message.text for message in talk}
    moves = list(table)
    return {name: _find_last(text, moves) or None for name, text in last.items()}


def _find_last(text: str, items: Sequence[str]) -> str:
    """Return the item that a text names last, empty where it names none."""
    low = text.casefold()
    named = []
    for item in items:
        at = low.rfind(item.casefold())
        if at >= 0:
            named.append((at, item))
    return max(named)[1] if named else ""


def firmness(manner: str) -> float:
    """How hard a speaker of that manner is, between 0 and 1."""
    if manner in FIRMNESS:
        return FIRMNESS[manner]
    return round(generator(0, "firmness", manner).uniform(0.2, 0.8), 2)


def edge(manner: str, against: str) -> float:
    """By how much a rebuttal in `manner` beats even chances against a point made in `against`."""
    if manner in CYCLE and against in CYCLE:
        step = (CYCLE.index(against) - CYCLE.index(manner)) % 3
        return _EDGE * (0, 1, -1)[step]
    return _EDGE * ((manner in CYCLE) - (against in CYCLE))


def opener(manner: str) -> str:
    """The sentence that shows a manner."""
    return _OPENERS.get(manner, f"Let me say it in a way that is {manner}.")


def shown_in(text: str) -> str:
    """The manner that a message shows; the neutral one where it shows none."""
    for manner, sentence in _OPENERS.items():
        if text.startswith(sentence):
            return manner
    other = _OTHER.match(text)
    return str(other[1]) if other else NEUTRAL


def manner_in(instruction: str) -> str:
    """The manner that an instruction such as 'Write in a calm tone.' names."""
    words = re.findall(r"[\w-]+", instruction.casefold())
    known = [str(word) for word in words if word in FIRMNESS or word in CYCLE]
    if known:
        return known[0]
    named = re.search(r"in an? ([\w -]+?) (?:tone|manner|style)", instruction.casefold())
    return str(named[1]) if named else NEUTRAL
