"""The words of a language: messages of a gettext catalogue, with places that are filled.

A catalogue is one file, `catalogues/LANGUAGE.po`. The context of a message (`msgctxt`) is its name
here, its text (`msgid`) the English sentence; another language has its own sentence beside it
(`msgstr`), so that an English sentence that is changed leaves the translation out of date, not
wrong. There are three kinds:

    gets              a sentence of the renderer, by its name
    page.waiting      a text of the pages around the games
    word              a name that games have in English: a role, a move, a unit, a column

A language that lacks a message is refused when it is loaded: half a language is never shown.

What one game alone says is in the folder of the game (`words.LANGUAGE.po`), the English of its
messages in `words.en.po` beside it. Its words need no English file: a translation has the English
of each, and a language that lacks a word which another one has is refused. `Language.within` adds a
folder; its messages have the name of the folder before their own, and its words come before those
that all games share.
"""

from __future__ import annotations

import gettext
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Formatter
from typing import Literal, TypeAlias

from bestresponse.core.errors import UsageError
from bestresponse.core.phrase import Filling, Phrase
from bestresponse.core.told import TextPlace

ENGLISH = "en"
WORD = "word"
"""The context of names that games have in English."""
PAGE = "page."
"""How the names of messages for pages begin."""
_LOCALES = {"en": "en_GB"}
"""Where lists are joined as "a, b or c"; other languages are their own locale."""
_PLAIN = re.compile(r"[+-]?[^\W_][\w+./%-]*(?: [\w+./%-]+)*")
_DECIMAL = re.compile(r"[+-]?[0-9]+\.[0-9]+")
_NAME = re.compile(r"[a-z]{2,3}(_[A-Za-z]+)?")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_PLACES = ("number", "second")
"""For numbers in names that differ by them alone."""
_MOST_PLACES = 10_000
"""Numbers of at most four decimals are written as decimals."""
_LONG_RANGE = 6
"""Whole numbers in a row from which only the first and the last are named."""
_MOST_OPTIONS = 100
"""Of more options only the first and the last are named in a sentence; the list of all ends has
each of them."""
_LONG = 21
"""Digits from which a whole number that ends in zeros is written with an exponent."""

Forms: TypeAlias = tuple[str, ...]
"""The texts of a message: one, or one for each form that the language has for numbers."""


@dataclass(frozen=True, eq=False)
class Language:
    """The messages of one language by their names, and its words for the names that games have.

    `plurals` are messages with several forms, of which `choose_form` returns the one that goes with
    a number. `own` are the names that an experiment gave, which come before those of the language;
    `homes` are the folders of games that it has words of, `sources` all its words in English.
    """

    name: str
    messages: Mapping[str, str]
    plurals: Mapping[str, Forms] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    choose_form: Callable[[int], int] = lambda count: int(count != 1)
    own: Mapping[str, str] = field(default_factory=dict)
    homes: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()

    def within(self, home: str) -> Language:
        """Return this language with what the folder of a game says in it.

        `home` is the package of the folder. One without words of its own changes nothing.

        >>> german = load_language("de")
        >>> water = german.within("bestresponse.games.water")
        >>> german.translate("dry days"), water.translate("dry days")
        ('dry days', 'Tage ohne Wasser')
        """
        if home in self.homes or not list_word_files(home):
            return self
        return _add_folder(self, home)

    def say(self, key: str, **places: object) -> str:
        """Fill the places of a message; `count` chooses between its forms."""
        forms = self.plurals.get(key)
        if forms is None:
            return self.messages[key].format(**places)
        count = places.get("count")
        # A place that a page fills later, such as the seconds that are left, has most forms.
        number = self.choose_form(count if isinstance(count, int) else _MANY)
        return forms[number].format(**places)

    def list_places(self, key: str) -> set[str]:
        """List the places of a message."""
        forms = self.plurals.get(key) or (self.messages[key],)
        return set().union(*map(_list_places, forms))

    def translate(self, name: str) -> str:
        """Return the word for a name of a game; itself where the language has none.

        >>> german = load_language("de")
        >>> german.translate("king"), german.translate("player 3"), german.translate("2.5")
        ('König', 'Teilnehmer 3', '2,5')
        >>> german.translate("quux")
        'quux'
        """
        found = self.find_word(name)
        return name if found is None else found

    def find_word(self, name: str) -> str | None:
        """Return the word for a name of a game, None where the language has none."""
        for words in filter(None, (self.own, self.words)):
            if name in words:
                return words[name]
            pattern = words.get(number_name(name, 2)) or words.get(number_name(name))
            if pattern is not None:
                numbers = [one.replace(".", self.decimal_mark) for one in _NUMBER.findall(name)]
                return pattern.format(**dict(zip(_PLACES, numbers, strict=False)))
        if _DECIMAL.fullmatch(name):
            return name.replace(".", self.decimal_mark)
        return None

    def tell(self, said: str | Phrase) -> str:
        """Put a phrase of a game into words; a text without places is looked up whole.

        >>> from bestresponse.core.phrase import make_phrase
        >>> load_language("de").tell(make_phrase("you choose {move}", move="king"))
        'Sie wählen König'
        """
        if isinstance(said, str):
            return self.translate(said)
        text = self.own.get(said.text) or self.words.get(said.text) or said.text
        written = {place: self._write(value) for place, value in said.places}
        who = dict(said.places).get("who")
        if isinstance(who, str):
            written["who"] = self.write_role(who)
        return text.format(**written)

    def write_text(self, text: str, places: Iterable[TextPlace]) -> str:
        """Put a text into words, in those of the language where it has the text."""
        template = self.translate(text)
        return template.format(**{place.name: self.write_place(place) for place in places})

    def write_place(self, place: TextPlace) -> str:
        """Write what is in a place of a text.

        >>> cards = TextPlace("cards", ("jack", "queen", "king"), "or")
        >>> load_language("en").write_place(cards), load_language("de").write_place(cards)
        ('jack, queen or king', 'Bube, Dame oder König')
        """
        parts = []
        for part in place.parts:
            if isinstance(part, str):
                parts.append(self._write_line(part))
            else:
                parts.append(self.write_text(part.text, part.places))
        match place.joined:
            case "lines":
                return "\n".join(parts)
            case "and" if "," not in "".join(parts):
                return self.join(parts, "standard")
            case "or":
                return self.join(parts, "or")
        # Also where a comma, such as a decimal mark, would be taken for the end of a part.
        return "; ".join(parts)

    def _write_line(self, line: str) -> str:
        """Translate what stands before and after the colon of a line."""
        before, colon, after = line.partition(": ")
        return f"{self.translate(before)}{colon}{self.translate(after)}"

    def _write(self, value: Filling) -> str:
        match value:
            case str():
                return self.write_name(value)
            case tuple():
                return self.join([self.tell(part) for part in value], "standard")
            case float():
                # Written as shortly as it reads back: 0.1 is a tenth.
                return self.write_number(Fraction(repr(value)))
            case _:
                return self.write_number(Fraction(value))

    @property
    def decimal_mark(self) -> str:
        """What is written before the decimals of a number."""
        return self.messages["decimal-mark"]

    def list_numbers(self, numbers: Iterable[Fraction]) -> str:
        """Write numbers one after the other, so that no decimal mark is taken for the end of one.

        >>> load_language("de").list_numbers((Fraction(1, 2), Fraction(3)))
        '0,5; 3'
        """
        return self.messages["list-mark"].join(map(self.write_number, numbers))

    def reword(self, messages: Mapping[str, Forms], words: Mapping[str, str]) -> Language:
        """Return the language with some messages and words replaced, as an experiment asks for."""
        plurals = {key: forms for key, forms in messages.items() if key in self.plurals}
        singular = {key: forms[0] for key, forms in messages.items() if key in self.messages}
        return replace(
            self,
            messages={**self.messages, **singular},
            plurals={**self.plurals, **plurals},
            own={**self.own, **words},
        )

    def write_name(self, name: str) -> str:
        """Write the name of a player or a move, in quotes where it could be misread.

        >>> english = load_language("en")
        >>> english.write_name("offer 7"), english.write_name("show 1, guess 2")
        ('offer 7', '"show 1, guess 2"')
        >>> print(english.write_name('say "yes"'))
        "say \\"yes\\""
        """
        name = self.translate(name)
        if name == "":
            return '""'
        own_words = _find_own_words(self.messages["own-words"])
        if _PLAIN.fullmatch(name) and own_words.isdisjoint(name.casefold().split(" ")):
            return name
        if _DECIMAL.fullmatch(name.replace(self.decimal_mark, ".")):
            return name
        quoted = json.dumps(name, ensure_ascii=False)
        # JSON leaves separators of lines and marks of direction as they are.
        escaped = [sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in quoted]
        return "".join(escaped)

    def write_role(self, name: str) -> str:
        """Write the name of a player who does something, with an article where it needs one.

        >>> ultimatum = load_language("en").within("bestresponse.games.ultimatum")
        >>> ultimatum.write_role("proposer"), ultimatum.write_role("player 1")
        ('the proposer', 'player 1')
        """
        named = f"the {name}"
        is_noun = named in self.sources and name not in self.own
        return self.translate(named) if is_noun else self.write_name(name)

    def write_number(self, number: Fraction) -> str:
        """Write a number exactly: as a decimal where that is short, else as a fraction.

        >>> english = load_language("en")
        >>> numbers = [Fraction(text) for text in ("51/4", "1/3", "-2", "1/1024", "1e30")]
        >>> [english.write_number(number) for number in numbers]
        ['12.75', '1/3', '-2', '1/1024', '1e30']
        """
        if number.denominator == 1:
            return _write_whole(number.numerator)
        fraction = f"{number.numerator}/{number.denominator}"
        places = _count_places(number.denominator)
        if places is None:
            return fraction
        scaled = number.numerator * 10**places // number.denominator
        digits = f"{abs(scaled):0{places + 1}d}"
        sign = "-" if number < 0 else ""
        decimal = f"{sign}{digits[:-places]}{self.decimal_mark}{digits[-places:]}"
        is_short = _MOST_PLACES % number.denominator == 0
        is_shorter = len(decimal) < len(fraction)
        return decimal if is_short or is_shorter else fraction

    def write_count(self, count: int) -> str:
        """Write how many there are, with thousands divided as the language does.

        >>> load_language("en").write_count(2187), load_language("de").write_count(2187)
        ('2,187', '2.187')
        """
        return f"{count:,}".replace(",", "." if self.decimal_mark == "," else ",")

    def join(self, parts: Iterable[str], style: Literal["or", "standard"]) -> str:
        """Join parts of a sentence: `a, b or c` or `a, b and c`."""
        from babel.lists import format_list

        return format_list(list(parts), style=style, locale=_LOCALES.get(self.name, self.name))

    def join_names(self, names: Iterable[str]) -> str:
        """Join names: `a, b and c`."""
        return self.join(map(self.write_name, names), "standard")

    def write_options(self, options: Sequence[str]) -> list[str]:
        """Write the moves of one choice; UsageError where two of them would be told as one."""
        names = list(map(self.write_name, options))
        repeated = self.find_repeated(options) if len(set(names)) < len(names) else None
        if repeated is not None:
            first, second = repeated
            raise UsageError(
                f"the language {self.name!r} cannot be used: the moves {first!r} and {second!r}"
                f" are both called {self.translate(second)!r} in it; give one another name"
            )
        return names

    def find_repeated(self, names: Iterable[str]) -> tuple[str, str] | None:
        """Return two names that would be read as one; None where there are none.

        >>> german = load_language("de").within("bestresponse.theory.catalogue")
        >>> german.find_repeated(("stay", "wegbleiben"))
        ('stay', 'wegbleiben')
        """
        taken: dict[str, str] = {}
        for name in names:
            shown = self.translate(name).strip().casefold()
            if shown in taken:
                return taken[shown], name
            taken[shown] = name
        return None

    def join_options(self, options: Sequence[str]) -> str:
        """Join options: `a, b or c`; many whole numbers in a row by the first and the last.

        >>> load_language("en").join_options("0 1 2 3 4 5 6".split())
        'a whole number from 0 to 6'
        """
        if len(options) >= _LONG_RANGE and _are_in_a_row(options):
            return self.say("options.range", first=options[0], last=options[-1])
        if len(options) > _MOST_OPTIONS:
            first = self.write_name(options[0])
            last = self.write_name(options[-1])
            count = self.write_count(len(options))
            return self.say("options.many", count=count, first=first, last=last)
        return self.join(self.write_options(options), "or")


def number_name(name: str, count: int = 1) -> str:
    """Return a name with a place for its first numbers, under which languages look it up.

    >>> number_name("player 3"), number_name("$12.50, served")
    ('player {number}', '${number}, served')
    >>> number_name("take 2 from pile 3", 2)
    'take {number} from pile {second}'
    """
    for place in _PLACES[:count]:
        name = _NUMBER.sub(f"{{{place}}}", name, count=1)
    return name


Spoken: TypeAlias = str | Language
"""A language by its name, or with what an experiment has reworded in it."""


def load_language(language: Spoken, folder: Path | None = None) -> Language:
    """Load a language; UsageError where it lacks a message or a message lacks a place."""
    return _load(language, folder) if isinstance(language, str) else language


@dataclass(frozen=True, slots=True)
class _Entry:
    """A message of a file: the English text in its forms, and those of the language, if any."""

    source: Forms
    texts: Forms


@dataclass(frozen=True, slots=True)
class _Catalogue:
    """The messages of a file by context and English text; words have one context."""

    entries: Mapping[str, _Entry]
    choose_form: Callable[[int], int]


@cache
def _load(name: str, folder: Path | None) -> Language:
    english = _read_catalogue(_find_catalogues() / f"{ENGLISH}.po", ENGLISH)
    own = english
    if name != ENGLISH or folder is not None:
        path = (folder or _find_catalogues()) / f"{name}.po"
        if not _NAME.fullmatch(name) or not path.is_file():
            known = ", ".join(list_catalogues())
            raise UsageError(f"there is no language {name!r}; there are {known}")
        own = _read_catalogue(path, name)
    said = _translate(english.entries, own.entries, name)
    return replace(said, choose_form=own.choose_form)


def _translate(english: Mapping[str, _Entry], own: Mapping[str, _Entry], name: str) -> Language:
    """Put every English message into the language of another catalogue.

    UsageError where one is missing, or lacks a place.
    """
    messages: dict[str, str] = {}
    plurals: dict[str, Forms] = {}
    words: dict[str, str] = {}
    for key, entry in english.items():
        is_english = own is english
        forms = entry.source if is_english else _find_translation(own, key, entry, name)
        for form in forms:
            _check_places(form, entry.source, key, name)
        if len(forms) > 1:
            plurals[key] = forms
        elif key.startswith(_WORD_KEY):
            words[entry.source[0]] = forms[0]
        else:
            messages[key] = forms[0]
    unknown = [key for key in own if key not in english]
    if unknown:
        raise _refuse(name, f"there is no {_show(unknown[0])}")
    # Nothing is looked up where every word would be found to mean itself.
    own_words = {} if own is english else words
    return Language(name, messages, plurals, own_words, sources=frozenset(words))


def find_home(thing: object) -> str:
    """Return the package that defines a game, a rule or an event: the folder of its words."""
    kind = thing if isinstance(thing, type) else type(thing)
    return kind.__module__.rpartition(".")[0]


@cache
def list_word_files(home: str) -> dict[str, Traversable]:
    """List the files of words in the folder of a game by their languages, English first."""
    files = {}
    for name in list_catalogues() if home else ():
        path = _find_words(home, name)
        if path.is_file():
            files[name] = path
    return files


def _find_words(home: str, name: str) -> Traversable:
    return files(home) / f"words.{name}.po"


@cache
def _load_folder(name: str, home: str) -> Language:
    """Load what the folder of a game says in a language, its messages under the folder's name."""
    files = list_word_files(home)
    if name not in files and name != ENGLISH:
        raise UsageError(f"{home} is not told in {name!r}: it has no words.{name}.po")
    wanted: dict[str, _Entry] = {}
    own: Mapping[str, _Entry] = wanted
    for known, path in files.items():
        entries = _read_catalogue(path, known).entries
        for key, entry in entries.items():
            if known == ENGLISH or key.startswith(_WORD_KEY):
                wanted.setdefault(key, entry)
        if known == name != ENGLISH:
            own = entries
    said = _translate(wanted, own, name)
    messages = {f"{home}:{key}": text for key, text in said.messages.items()}
    plurals = {f"{home}:{key}": forms for key, forms in said.plurals.items()}
    return replace(said, messages=messages, plurals=plurals)


@lru_cache(maxsize=256)
def _add_folder(language: Language, home: str) -> Language:
    said = _load_folder(language.name, home)
    return replace(
        language,
        messages={**language.messages, **said.messages},
        plurals={**language.plurals, **said.plurals},
        words={**language.words, **said.words},
        homes=language.homes | {home},
        sources=language.sources | said.sources,
    )


def _check_places(form: str, source: Forms, key: str, name: str) -> None:
    try:
        places = _list_places(form)
    except ValueError as error:
        raise _refuse(name, f"its {_show(key)} cannot be filled: {error}") from None
    wanted = _list_places(source[-1])
    # "Noch eine Person" needs no number; every other place has to be there.
    free = {"count"} if len(source) > 1 else set()
    if places - wanted or wanted - places - free:
        listed = ", ".join(sorted(wanted)) or "no places"
        raise _refuse(name, f"its {_show(key)} must have {listed}")


def _refuse(name: str, why: str) -> UsageError:
    return UsageError(f"the language {name!r} cannot be used: {why}")


def _show(key: str) -> str:
    if key.startswith(_WORD_KEY):
        return f"word for {key.removeprefix(_WORD_KEY)!r}"
    return f"message {key!r}"


def list_catalogues() -> list[str]:
    """List the languages that have a catalogue, English first."""
    files = [entry.name for entry in _find_catalogues().iterdir()]
    names = [file.removesuffix(".po") for file in files if file.endswith(".po")]
    return sorted(names, key=lambda name: (name != ENGLISH, name))


def list_languages() -> tuple[str, ...]:
    """List the languages that are complete, English first; the others are not offered."""
    complete = []
    for name in list_catalogues():
        try:
            load_language(name)
        except UsageError:
            continue
        complete.append(name)
    return tuple(complete)


def _find_catalogues() -> Traversable:
    return files("bestresponse.telling.catalogues")


_WORD_KEY = f"{WORD}\x04"
"""Words share one context; gettext itself divides a context from a text so."""
_MANY = 1000


def _read_catalogue(path: Path | Traversable, name: str) -> _Catalogue:
    """Read the English and the translated text of every message, by its name."""
    from babel.messages.pofile import PoFileError, read_po

    try:
        with path.open("rb") as file:
            catalogue = read_po(file, abort_invalid=True)
        choose_form = gettext.c2py(catalogue.plural_expr)
    except (PoFileError, OSError, UnicodeError, ValueError) as error:
        raise _refuse(name, f"{path.name} is not a gettext catalogue: {error}") from None
    entries: dict[str, _Entry] = {}
    for message in catalogue:
        if message.id and message.context:
            source = _list_forms(message.id)
            texts = () if message.fuzzy else _list_forms(message.string or "")
            is_word = message.context == WORD
            key = f"{_WORD_KEY}{source[0]}" if is_word else message.context
            entries[key] = _Entry(source, texts)
    return _Catalogue(entries, choose_form)


def _list_forms(text: str | Sequence[str]) -> Forms:
    return (text,) if isinstance(text, str) else tuple(text)


def _find_translation(own: Mapping[str, _Entry], key: str, english: _Entry, name: str) -> Forms:
    if key not in own:
        raise _refuse(name, f"it lacks the {_show(key)}")
    entry = own[key]
    if entry.source != english.source:
        raise _refuse(name, f"{key!r} translates {entry.source[0]!r}, not {english.source[0]!r}")
    if not entry.texts or not all(entry.texts):
        raise _refuse(name, f"its {_show(key)} is empty")
    return entry.texts


def _list_places(text: str) -> set[str]:
    """List the places of a text; ValueError where braces do not match or ask for a layout."""
    places = set()
    for _, place, layout, conversion in Formatter().parse(text):
        if layout or conversion:
            raise ValueError(f"{{{place}}} has a layout; write the name of the place alone")
        if place is not None:
            places.add(place)
    return places


@cache
def _find_own_words(listed: str) -> frozenset[str]:
    return frozenset(listed.casefold().split())


def _count_places(denominator: int) -> int | None:
    """Return how many decimals a fraction has, None where they never end."""
    places = 0
    for prime in (2, 5):
        count = 0
        while denominator % prime == 0:
            denominator //= prime
            count += 1
        places = max(places, count)
    return places if denominator == 1 else None


def _are_in_a_row(options: Sequence[str]) -> bool:
    """Say whether names are whole numbers, each one more than the number before."""
    first = options[0]
    if not re.fullmatch(r"-?[0-9]{1,15}", first):
        return False
    start = int(first)
    numbers = range(start, start + len(options))
    return list(options) == list(map(str, numbers))


def _write_whole(number: int) -> str:
    text = str(Decimal(number))
    if len(text) < _LONG or not text.endswith("0"):
        return text
    digits = text.rstrip("0")
    return f"{digits}e{len(text) - len(digits)}"
