"""The words of sentences about one game.

English comes from `words.toml`, moves and players from the game.

A sentence becomes terminals of `claims.lark`. Words that belong to the same lists become the same
terminal, so that the parser tells apart no more words than the grammar does. A word that nobody
knows, or that could be a move as well as an English word of the grammar, leaves the sentence
unread.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple

from lark import Token

from bestresponse.formal.claims.subject import Subject

_PIECES = re.compile(
    r"(?<![\w)])-?(?:(?<!\()\d{1,3}(?:,\d{3})+|\d{1,12})"
    r"(?:\.\d{1,12}|/[1-9]\d{0,5})?(?![\w/]|[.,]\d)%?"
    r"|[^\W\d_]+|'s?|->|=>|[^\w\s]|\w+"
)
_SHORT_FORMS = {
    "'d": " would",
    "'ll": " will",
    "'m": " am",
    "'re": " are",
    "'ve": " have",
    "it's": "it is",
    "that's": "that is",
    "there's": "there is",
    "n't": " not",
    "can't": "can not",
    "won't": "will not",
}
_CONTRACTED = re.compile(
    r"\b(?:it's|that's|there's|can't|won't)|(?<=\w)(?:n't|'(?:d|ll|m|re|ve))\b", re.I
)
_PARTICLES = ("out", "off", "all", "now", "not", "down", "away", "back", "over", "with", "here")
"""Words that end a move and mean something else too."""
_TERMINALS = "MOVE NUMBER SHARE PLAYER POSSESSIVE THEY WE EVERYBODY OTHERS"

Phrase = tuple[str, ...]


class UnknownWord(Exception):
    """A word that the vocabulary does not have."""


def split_words(sentence: str) -> list[str]:
    """Return the words, numbers and signs of a sentence, short forms written out.

    >>> split_words("I'd get -1.5, they don't (R, B)")
    ['I', 'would', 'get', '-1.5', ',', 'they', 'do', 'not', '(', 'R', ',', 'B', ')']
    """
    full = _CONTRACTED.sub(lambda match: _SHORT_FORMS[match.group().lower()], sentence)
    return _PIECES.findall(re.sub(r"(?<=[^\W\d_])-(?=[^\W\d_])|_", " ", full))


@dataclass(frozen=True)
class English:
    """The grammar with its word lists filled in and the terminals of its words.

    Every word and phrase in it has a terminal.
    """

    grammar: str
    terminals: dict[Phrase, str]
    numbers: dict[Phrase, tuple[str, str]]
    verbs: frozenset[Phrase]
    lists: dict[str, Any]


@cache
def load_english() -> English:
    """Read the grammar and the words, and join them.

    A phrase may be in several word lists. The lexer gives it one terminal, _T0, _T1 and so on,
    for the set of lists it is in, and each list becomes a rule: the terminals of its phrases.
    """
    folder = files(__package__)
    grammar = folder.joinpath("claims.lark").read_text("utf-8")
    words = tomllib.loads(folder.joinpath("words.toml").read_text("utf-8"))
    lists = _list_phrases(words)
    rules = _name_quoted_words(re.sub(r"//.*", "", grammar), lists)
    rules = _name_optional_parts(rules)

    memberships = {phrase: tuple(sorted(names)) for phrase, names in lists.items()}
    terminals: dict[tuple[str, ...], str] = {}
    alternatives: dict[str, list[str]] = {}
    for names in sorted(set(memberships.values())):
        terminal = f"_T{len(terminals)}"
        terminals[names] = terminal
        for name in names:
            alternatives.setdefault(name, []).append(terminal)
    for name in sorted(alternatives):
        rules += f"\n{name}: {' | '.join(alternatives[name])}"

    numbers: dict[Phrase, tuple[str, str]] = {}
    for kind in ("NUMBER", "SHARE"):
        for word, value in words[kind].items():
            numbers[tuple(word.split())] = (kind, value)
    verbs = set(words["verbs"])
    return English(
        grammar=f"{rules}\n%declare {_TERMINALS} {' '.join(terminals.values())}\n",
        terminals={phrase: terminals[names] for phrase, names in memberships.items()},
        numbers=numbers,
        verbs=frozenset(phrase for phrase, names in lists.items() if names <= verbs),
        lists=words,
    )


def _list_phrases(words: dict[str, dict[str, list[str]]]) -> dict[Phrase, set[str]]:
    """Return the names of the word lists that each phrase is in.

    Verbs are in theirs in three forms.
    """
    lists: dict[Phrase, set[str]] = {}
    for name, phrases in words["phrases"].items():
        for phrase in phrases:
            lists.setdefault(tuple(split_words(phrase)), set()).add(name)
    for name, phrases in words["verbs"].items():
        for head, *tail in map(split_words, phrases):
            third_person = f"{head}es" if head.endswith(("x", "o")) else f"{head}s"
            for form in (head, third_person, *_add_ending(head, "ing")):
                lists.setdefault((form, *tail), set()).add(name)
    return lists


def _name_quoted_words(rules: str, lists: dict[Phrase, set[str]]) -> str:
    """Put each quoted word of a grammar into a separate list.

    Returns the rules with the names of these lists.
    """
    quoted = set(re.findall(r'"([^"]+)"', rules))
    for number, word in enumerate(sorted(quoted)):
        name = f"_word_{number}"
        rules = rules.replace(f'"{word}"', name)
        lists.setdefault((word,), set()).add(name)
    return rules


def _name_optional_parts(rules: str) -> str:
    """Make every optional part a separate rule.

    Written out, the alternatives would double with every optional part.
    """
    optional = set(re.findall(r"\b(\w+)\?", rules))
    for name in sorted(optional):
        rules = re.sub(rf"\b{name}\?", f"_maybe_{name}", rules)
        rules += f"\n_maybe_{name}: | {name}"
    return rules


def _add_ending(word: str, ending: str) -> Iterator[str]:
    """Yield a verb with an ending that begins with a vowel: choosing, setting, going."""
    yield (word[:-1] if word.endswith("e") else word) + ending
    if re.search(r"[^aeiou][aeiou][bdgmnprt]$", word):
        yield word + word[-1] + ending


def _inflect(word: str) -> Iterator[str]:
    """Yield forms of a move's first word: swerves, swerving, cooperation, defectors; of "closed"
    closes and closing."""
    yield f"{word}s"
    yield f"{word}ment"
    for ending in ("ed", "ing", "ion", "ance", "or", "er", "ors", "ers"):
        yield from _add_ending(word, ending)
    if word.endswith("ed"):
        for verb in (word[:-1], word[:-2]):
            yield f"{verb}s"
            yield from _add_ending(verb, "ing")
    if word.endswith(("s", "x", "ch", "sh", "o")):
        yield f"{word}es"
    if re.search(r"[^aeiou]y$", word):
        yield f"{word[:-1]}ies"
        yield f"{word[:-1]}ied"


def _expand(pattern: str) -> Iterator[str]:
    """Yield the phrases that a pattern such as "the (other|second) (|player)" stands for."""
    parts = re.split(r"[()]", pattern)
    for choice in product(*(part.split("|") for part in parts)):
        words = " ".join(choice).split()
        yield " ".join(words)


def _name_phrases(phrases: Iterable[tuple[str, str]]) -> dict[Phrase, tuple[str, str]]:
    """Return phrases as words, each with the terminal and the player it names."""
    people: dict[Phrase, tuple[str, str]] = {}
    for named, phrase in phrases:
        kind, _, player = named.partition(" ")
        words = tuple(split_words(phrase))
        people[words] = (kind, player)
        if kind == "PLAYER":
            people[*words, "'s"] = ("POSSESSIVE", player)
            people[*words, "'"] = ("POSSESSIVE", player)
    return people


@cache
def _list_people(two: bool) -> dict[Phrase, tuple[str, str]]:
    lists = load_english().lists
    phrases = []
    for table in (lists["people"], lists["people_of_two" if two else "people_of_many"]):
        for kind, patterns in table.items():
            for pattern in patterns:
                phrases += [(kind, phrase) for phrase in _expand(pattern)]
    return _name_phrases(phrases)


class _Profile(NamedTuple):
    """The terminals of an outcome in brackets, and the position after it."""

    tokens: list[Token]
    end: int


class Vocabulary:
    """The words of sentences about one game. `you` is the player whom the text calls so."""

    def __init__(self, subject: Subject, you: int) -> None:
        self.subject = subject
        self.english = load_english()
        self.moves = self._name_moves()
        self.people = self._name_people(you)
        known = (*self.english.terminals, *self.moves, *self.people)
        self.longest = max(map(len, known))

    def _name_moves(self) -> dict[Phrase, set[tuple[int, int]]]:
        """Return the moves by their names, and by other forms of these that mean nothing else."""
        named: dict[Phrase, set[tuple[int, int]]] = {}
        formed: dict[Phrase, set[tuple[int, int]]] = {}
        self.forms: dict[Phrase, set[tuple[int, int]]] = {}
        for player, actions in enumerate(self.subject.actions):
            for index, action in enumerate(actions):
                name = action if len(action) == 1 else action.lower()
                head, *tail = split_words(name) or [""]
                named.setdefault((head, *tail), set()).add((player, index))
                is_word = head.isalpha() and len(head) > 1
                for form in _inflect(head) if is_word else ():
                    phrase = (form, *tail)
                    self.forms.setdefault(phrase, set()).add((player, index))
                    known = phrase in self.english.terminals
                    if not known or phrase in self.english.verbs:
                        formed.setdefault(phrase, set()).add((player, index))
        self.forms |= named | self._name_halves()
        return formed | named

    def _name_halves(self) -> dict[Phrase, set[tuple[int, int]]]:
        """Return moves by their first or last word, where it means nothing else.

        "Late" is "leave late", and reading is "read book".
        """
        owners: dict[str, set[tuple[int, int]]] = {}
        ends: set[str] = set()
        for player, actions in enumerate(self.subject.actions):
            for index, action in enumerate(actions):
                words = split_words(action.lower())
                ends |= {*words[:1], *words[-1:]}
                for word in words:
                    owners.setdefault(word, set()).add((player, index))
        halves: dict[Phrase, set[tuple[int, int]]] = {}
        for word in ends - {*_PARTICLES}:
            is_known = (word,) in self.english.terminals or (word,) in self.forms
            if len(owners[word]) == 1 and len(word) > 2 and not is_known:
                halves |= dict.fromkeys(zip((word, *_inflect(word))), owners[word])
        return halves

    def _name_people(self, you: int) -> dict[Phrase, tuple[str, str]]:
        """Return who is meant by names and pronouns, as terminals with their values."""
        two = len(self.subject.order) == 2
        phrases = [(f"PLAYER {you}", "you"), (f"POSSESSIVE {you}", "your")]
        for player, seat in enumerate(self.subject.order):
            names = [self.subject.game.players[seat].lower(), f"player {seat + 1}"]
            if two:
                side = ("row", "column")[seat]
                names += [side, f"{side} player"]
            for name in names:
                phrases.append((f"PLAYER {player}", name))
                phrases.append((f"PLAYER {player}", f"the {name}"))
        return _list_people(two) | _name_phrases(phrases)

    def read(self, sentence: str) -> list[Token]:
        """Return the terminals of a sentence.

        `UnknownWord` where a word is not known or not clear.
        """
        return list(self._find_all(split_words(sentence), strict=True))

    def _find_profile(self, words: list[str], position: int) -> _Profile | None:
        """Return the moves in brackets at a position, which need no other sign that they are some.

        In "(yes, yes, no)" every word is a move, also one that means something else in a sentence.
        Numbers may be payoffs.
        """
        if words[position] != "(" or ")" not in words[position:]:
            return None
        end = words.index(")", position)
        inner = " ".join(words[position + 1 : end])
        labels = [tuple(label.split()) for label in inner.split(" , ")]
        phrases = []
        for label in labels:
            lower = tuple(word.lower() for word in label)
            phrase = label if label in self.moves else lower
            if phrase not in self.moves or self._read_number(lower) is not None:
                return None
            phrases.append(phrase)
        if len(phrases) < 2:
            return None
        comma = Token(self.english.terminals[",",], ",")
        tokens = [Token(self.english.terminals["(",], "(")]
        for phrase in phrases:
            tokens += [Token("MOVE", " ".join(phrase)), comma]
        tokens[-1] = Token(self.english.terminals[")",], ")")
        return _Profile(tokens, end + 1)

    def find_known(self, clause: str) -> Iterator[Token]:
        """Yield the terminals of the words that are known and clear, with their places."""
        yield from self._find_all(split_words(clause), strict=False)

    def _find_all(self, words: list[str], *, strict: bool) -> Iterator[Token]:
        """Yield terminals with their places; what is not known is an error or left out."""
        tokens: list[Token] = []
        position = 0
        while position < len(words):
            found = self._find_profile(words, position)
            try:
                token, length = self._find_longest(words, position, tokens)
                found = found or _Profile([token], position + length)
            except UnknownWord:
                if strict and not found:
                    raise
                found = found or _Profile([], position + 1)
            for number, token in enumerate(found.tokens):
                token.start_pos = position + number
            tokens += found.tokens
            yield from found.tokens
            position = found.end

    def _find_longest(
        self,
        words: list[str],
        position: int,
        before: list[Token],
    ) -> tuple[Token, int]:
        """Return the terminal of the longest phrase at a position, and how many words it has."""
        most = min(self.longest, len(words) - position)
        for length in range(most, 0, -1):
            phrase = tuple(words[position : position + length])
            token = self._find(phrase, before)
            if token is not None:
                return token, length
        raise UnknownWord(words[position])

    def _find(self, words: Phrase, before: list[Token]) -> Token | None:
        """Return the terminal of a word or phrase, None where it is none."""
        lower = tuple(word.lower() for word in words)
        # A move of one letter is that letter as it is written; "a" is no move A.
        move = words if len("".join(words)) == 1 else lower
        english = self.english.terminals.get(lower)
        number = self._read_number(lower) if english is None else None
        person = self.people.get(lower)
        if lower == ("again",) and self.subject.tree is not None:
            # Where moves come in turn "pass again" is another move than "pass".
            raise UnknownWord("again")
        if move in self.moves:
            choosing = self.english.lists["moves"]["choosing"]
            is_chosen = bool(before) and before[-1] in choosing
            means_nothing_else = english is None or move != lower
            may_be_move = is_chosen or lower in self.english.verbs or means_nothing_else
            if person is not None or not may_be_move:
                raise UnknownWord(" ".join(words))
            if is_chosen or number is None:
                return Token("MOVE", " ".join(move))
        if person is not None:
            return Token(*person)
        return number if english is None else Token(english, " ".join(lower))

    def _read_number(self, words: Phrase) -> Token | None:
        if words in self.english.numbers:
            return Token(*self.english.numbers[words])
        if len(words) > 1 or not re.fullmatch(r"-?\d.*", words[0]):
            return None
        text = words[0].replace(",", "")
        if text.endswith("%"):
            share = Fraction(text[:-1]) / 100
            return Token("SHARE", str(share))
        return Token("NUMBER", text)

    def find_indices(self, token: Token) -> tuple[tuple[int, int], ...]:
        """Return the players who have a MOVE, each with its index among the player's actions."""
        phrase = tuple(token.split(" "))
        return tuple(sorted(self.moves[phrase]))
