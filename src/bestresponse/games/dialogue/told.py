"""What is told of a talk: its rule, its messages, and what the reader is to write now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bestresponse.core.texts import quote_lines
from bestresponse.core.told import Event, GameEvent, GameRule
from bestresponse.telling.course import Narrator


@dataclass(frozen=True, slots=True)
class TakesPart(GameRule):
    """By which name the reader takes part, where that is not the name of the seat."""

    message = "takes-part"
    name: str

    def tell(self, words: Narrator) -> str:
        """Tell it as the role in any other game."""
        return words.language.say("role", who=self.name)


@dataclass(frozen=True, slots=True)
class TalkRule(GameRule):
    """Everybody writes so many messages in turn.

    An agreement may end the talk, or sealed notes follow.
    """

    message = "talk"
    replies: int
    early_end: bool
    sealed: bool

    def tell(self, words: Narrator) -> str:
        """Tell also what ends the talk."""
        return _tell_end(self, words, [words.fill(self)])


class TalkEvent(GameEvent):
    """Something in a talk, which is told as a transcript and what follows it."""

    __slots__ = ()
    is_step = False

    @classmethod
    def tell_past(cls, number: int, events: Sequence[Event], words: Narrator) -> str:
        """Tell a talk that was a round."""
        return cls.tell_now(events, words)

    @classmethod
    def tell_now(cls, events: Sequence[Event], words: Narrator) -> str:
        """Tell the messages of a talk, and what the reader is to write now."""
        messages = [
            event for event in events if isinstance(event, Wrote | NobodyWrote | Moved | Ruled)
        ]
        summaries = [event for event in events if isinstance(event, TalkSummed)]
        paragraphs = []
        if summaries:
            paragraphs.append(words.fill(summaries[0]))
            paragraphs += [quote_lines(event.summary) for event in summaries]
        elif isinstance(messages[0], Wrote):
            paragraphs.append(words.fill(messages[0], ".first"))
        paragraphs += [words.tell(message) for message in messages if not summaries]
        turn = [event for event in events if isinstance(event, GameEvent) and event.is_turn]
        paragraphs.append(" ".join(map(words.tell, turn)))
        paragraphs += [words.tell(event) for event in events if isinstance(event, WriteSo)]
        return "\n\n".join(filter(None, paragraphs))


@dataclass(frozen=True, slots=True)
class NobodyWrote(TalkEvent):
    """Nobody has written yet."""

    message = "nobody"


@dataclass(frozen=True, slots=True)
class Wrote(TalkEvent):
    """A message of a talk."""

    message = "message"
    number: int
    sender: str
    receiver: str
    text: str

    def tell(self, words: Narrator) -> str:
        """Tell who wrote it to whom, and quote it."""
        head = words.fill(self, sender=self.sender, receiver=self.receiver)
        return f"{head}\n{quote_lines(self.text)}"


Terms = tuple[tuple[str, str | float], ...]
"""The terms of an offer: what is settled, and how."""


@dataclass(frozen=True, slots=True)
class OfferRule(GameRule):
    """Moves beside the messages make the deal, and nothing that is written does."""

    message = "offers"


@dataclass(frozen=True, slots=True)
class Moved(TalkEvent):
    """What somebody did with a message: an offer, an answer to one, or the end of the talk."""

    message = "move"
    who: str
    move: str
    terms: Terms = ()

    def tell(self, words: Narrator) -> str:
        """Tell the move with the terms of the offer that it is about."""
        return words.fill(self, f".{self.move}", terms=write_terms(self.terms, words))


@dataclass(frozen=True, slots=True)
class Ruled(TalkEvent):
    """What the referee takes as agreed, the sentence on which that rests, and who objects."""

    message = "ruling"
    terms: Terms
    quote: str
    objectors: tuple[str, ...]

    def tell(self, words: Narrator) -> str:
        """Tell the ruling with its quote, and the objections."""
        terms = write_terms(self.terms, words)
        variant = ".quoted" if self.quote else ""
        sentences = [words.fill(self, variant, terms=terms, quote=self.quote)]
        if self.objectors:
            sentences.append(words.fill(self, ".disputed"))
        return " ".join(sentences)


@dataclass(frozen=True, slots=True)
class OfferOpen(TalkEvent):
    """Which offer the reader can accept."""

    message = "open"
    is_public = False
    is_turn = True
    terms: Terms

    def tell(self, words: Narrator) -> str:
        """Tell what exactly would be agreed on."""
        return words.fill(self, terms=write_terms(self.terms, words))


@dataclass(frozen=True, slots=True)
class Settles(GameEvent):
    """What a move is about to settle for good."""

    message = "settles"
    move: str
    terms: Terms = ()

    def tell(self, words: Narrator) -> str:
        """Tell what cannot be taken back."""
        return words.fill(self, f".{self.move}", terms=write_terms(self.terms, words))


def write_terms(terms: Terms, words: Narrator) -> str:
    """Write the terms of an offer; a single one needs no name."""
    written = []
    for name, value in terms:
        figure = words.language.translate(value if isinstance(value, str) else f"{value:g}")
        named = f"{words.language.translate(name)}: {figure}"
        written.append(named if len(terms) > 1 else figure)
    return "; ".join(written)


@dataclass(frozen=True, slots=True)
class TalkSummed(TalkEvent):
    """What an observer wrote of a talk that the reader does not see itself."""

    message = "summed"
    is_public = False
    summary: str


@dataclass(frozen=True, slots=True)
class MessageTurn(TalkEvent):
    """The reader writes the next message of a talk.

    `left` messages come after it, `own_left` of them by the reader. `early_end` says that an
    agreement ends the talk at once, `sealed` that sealed notes follow.
    """

    message = "turn"
    is_public = False
    is_turn = True
    number: int
    messages: int
    left: int
    own_left: int
    early_end: bool
    sealed: bool

    def tell(self, words: Narrator) -> str:
        """Say which message it is, how many come after it, and what may end the talk."""
        if self.own_left:
            sentences = [words.fill(self), words.fill(self, ".left.own")]
        elif self.left > 1:
            sentences = [words.fill(self, ".own-last"), words.fill(self, ".left")]
        elif self.left:
            sentences = [words.fill(self, ".own-last"), words.fill(self, ".left.one")]
        else:
            sentences = [words.fill(self, ".last"), words.fill(self, ".left.none")]
        return _tell_end(self, words, sentences)


def _tell_end(told: TalkRule | MessageTurn, words: Narrator, sentences: list[str]) -> str:
    """Join sentences about a talk, and one about the notes or the agreement that end it."""
    if told.sealed:
        sentences.append(words.fill(told, ".notes"))
    elif told.early_end:
        sentences.append(words.fill(told, ".agreed"))
    return " ".join(sentences)


@dataclass(frozen=True, slots=True)
class NoteTurn(TalkEvent):
    """The talk is over, and the reader writes a sealed note."""

    message = "note"
    is_public = False
    is_turn = True


@dataclass(frozen=True, slots=True)
class TalkEnds(TalkEvent):
    """What happens at the end of a talk.

    One of `agreement` (without one nobody earns anything), `issues` (it must cover all issues),
    `notes` (only the sealed notes count) or `judge` (who decides).
    """

    message = "ends"
    is_public = False
    is_turn = True
    kind: str

    def tell(self, words: Narrator) -> str:
        """Tell what this kind of talk comes to."""
        return words.fill(self, f".{self.kind}")


@dataclass(frozen=True, slots=True)
class WriteSo(TalkEvent):
    """How the reader is to write the next message, and what about, in the words of the domain."""

    message = "how"
    is_public = False
    manner: str
    task: str

    def tell(self, words: Narrator) -> str:
        """Tell both as they are written."""
        return words.fill(self, manner=self.manner, task=self.task)
