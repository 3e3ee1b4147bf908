"""What a game says to people: the words and sentences that an experiment may give in its own way.

They are found by playing the game at random and telling every seat what it would read, in a
language that notes what it is asked for. So the list cannot differ from the pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from bestresponse.core.ask import Ask, Choice, Form, Mixture
from bestresponse.core.capabilities import (
    PlayedRounds,
    PrivateInformation,
    RoundHistory,
    Wording,
    put_question,
)
from bestresponse.core.conformance import any_legal_action
from bestresponse.core.game import NATURE, REFEREE, Game, Role, S
from bestresponse.core.phrase import Phrase
from bestresponse.games.capabilities import HasDomain, HasOffers, HasTree, find_stage_form
from bestresponse.games.quiz import make_quiz
from bestresponse.telling.course import Narrator
from bestresponse.telling.language import Language, number_name
from bestresponse.telling.render import list_rounds, word_rules, write_history, write_private
from bestresponse.web.texts import find_messages, load_like, write_phrase

_PLAYS = 4
_MOST_STEPS = 40
"""So long a play is followed; later rounds say what earlier ones said."""
_LETTERS = re.compile(r"(?<!\d)[^\W\d_]{2}|[^\W\d_]{2}(?!\d)")
"""What has two letters in a row is a word, which a language may have its own for; a3xb4 is not."""


@dataclass(frozen=True, eq=False)
class ListeningLanguage(Language):
    """A language that notes which messages, names and phrases were asked for."""

    said: dict[str, None] = field(default_factory=dict)
    named: dict[str, None] = field(default_factory=dict)

    def say(self, key: str, **places: object) -> str:
        """Fill the places of a message, and note it."""
        self.said[key] = None
        return super().say(key, **places)

    def find_word(self, name: str) -> str | None:
        """Return the word for a name, and note the name."""
        self.named[name] = None
        return super().find_word(name)

    def tell(self, said: str | Phrase) -> str:
        """Put a phrase into words, and note it."""
        if isinstance(said, Phrase):
            self.named[said.text] = None
        return super().tell(said)


@dataclass(frozen=True, slots=True)
class GamePhrases:
    """The names of messages that a game uses, and its own words in English."""

    messages: tuple[str, ...]
    words: tuple[str, ...]
    language: Language

    def has(self, phrase: str) -> bool:
        """Tell whether the game, or any sentence, says this; $name stands for a number or a place.

        >>> from bestresponse.telling.language import load_language
        >>> english = load_language("en")
        >>> GamePhrases((), ("player 1",), english).has("player $n")
        True
        """
        if phrase in self.words or find_messages(phrase, self.language):
            return True
        if "$" not in phrase:
            return False
        pattern = re.sub(r"\\\$\w+", "[0-9]+", re.escape(phrase))
        shown = [write_phrase(word) for word in self.words]
        return phrase in shown or any(re.fullmatch(pattern, word) for word in self.words)


def list_phrases(game: Game[S], language: Language, *, with_rules: bool = True) -> GamePhrases:
    """List what the game says in all seats, in that language.

    Without its rules where an experiment tells these itself.
    """
    listening = ListeningLanguage(**vars(language))
    for name in (*game.roles, *_list_moves(game)):
        listening.translate(name)
    for number in range(_PLAYS):
        _play(game, listening, Random(number), with_rules=with_rules)
    # Speakers have names of people, which are the same in every language.
    people = getattr(game, "names", ())
    words = [name for name in listening.named if _LETTERS.search(name) and name not in people]
    return GamePhrases(tuple(listening.said), tuple(words), language)


def _list_moves(game: Game[S]) -> Iterator[str]:
    """Yield the names of all moves and draws that are known beforehand."""
    form = find_stage_form(game)
    if form is not None:
        for actions in form.actions:
            yield from actions
    if isinstance(game, HasTree):
        for infoset in game.tree.infosets:
            yield from infoset.moves
    if isinstance(game, HasDomain):
        # What can be agreed on is drawn anew in every play.
        yield from game.domain.deal.names


def _play(game: Game[S], language: ListeningLanguage, rng: Random, *, with_rules: bool) -> None:
    state = game.start()
    for role in game.roles:
        for question in make_quiz(game, role, rng) if with_rules else ():
            language.tell(question.text)
    for _ in range(_MOST_STEPS):
        asks = game.asks(state)
        for role in game.roles:
            _tell_seat(game, state, role, language, with_rules=with_rules)
        for role, ask in asks.items():
            if role not in (NATURE, REFEREE):
                _name_parts(game, ask, language)
        if not asks or REFEREE in asks:
            return
        state = game.apply(state, {role: any_legal_action(ask, rng) for role, ask in asks.items()})


def _tell_seat(
    game: Game[S], state: S, role: Role, language: ListeningLanguage, *, with_rules: bool
) -> None:
    view = game.view(state, role)
    if with_rules:
        word_rules(game, view, language)
    if isinstance(game, RoundHistory):
        _name_columns(game.list_rounds(state, role), language)
    elif isinstance(game, HasOffers):
        for moved in game.list_turn_moves(state):
            Narrator(language).tell(moved)
    elif not isinstance(game, HasDomain) and list_rounds(view, language) is None:
        write_history(view, language)
    if isinstance(game, PrivateInformation):
        write_private(view, game.list_private(state, role), language)
    if isinstance(game, Wording):
        language.translate(game.title)
        language.translate(game.unit)


def _name_columns(rounds: PlayedRounds, language: ListeningLanguage) -> None:
    facts = [name for name, _ in rounds.facts]
    cells = [cell for row in (*rounds.rows, *rounds.status) for cell in row]
    for name in (*rounds.columns, *rounds.status_columns, *facts, *cells):
        if isinstance(name, str):
            language.translate(name)


def _name_parts(game: Game[S], ask: Ask, language: ListeningLanguage) -> None:
    if question := put_question(game, ask):
        language.tell(question)
    for label, part in ask.fields if isinstance(ask, Form) else (("", ask),):
        language.translate(label)
        for option in part.options if isinstance(part, Choice | Mixture) else ():
            language.translate(option)


def list_foreign(phrases: GamePhrases, language: Language) -> list[str]:
    """List the words of a game that the language has no word for.

    People would read them in English.
    """
    if language.name == "en":
        return []
    return [word for word in phrases.words if language.find_word(word) is None]


def write_text_table(game: Game[S], name: str, spoken: Language) -> str:
    """Write the table [games.text] of an experiment file with all that a game says.

    It is in English and in that language.
    """
    phrases = list_phrases(game, spoken)
    english = load_like(spoken).messages
    lines = [f"# What {name} says; keep the lines that you change."]
    lines.append("[games.text]")
    entries: dict[str, str] = {}
    for word in phrases.words:
        entries |= _write_word(word, spoken)
    for key in phrases.messages:
        if key in english:
            entries[write_phrase(english[key])] = write_phrase(spoken.messages[key])
    lines += [f"{_quote(phrase)} = {_quote(wording)}" for phrase, wording in entries.items()]
    return "\n".join(lines)


def _write_word(word: str, language: Language) -> dict[str, str]:
    """Return a word beside its English; numbered ones are one line: "player $n"."""
    pattern = number_name(word)
    if pattern != word and (pattern in language.words or language.name == "en"):
        return {write_phrase(pattern): write_phrase(language.words.get(pattern, pattern))}
    wording = language.words.get(word, word)
    return {write_phrase(word): write_phrase(wording)}


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
