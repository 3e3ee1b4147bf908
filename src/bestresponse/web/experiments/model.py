"""An experiment as a file: its tables with the bounds of every setting, read from TOML.

Every message names the line and the cause. `parse_experiment` reads the file alone;
`check_experiment` looks up its games and strategies as well.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass as plain_dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal, Self, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.dataclasses import dataclass

from bestresponse.core.capabilities import Question
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.files import parse_toml
from bestresponse.core.json import JsonObject
from bestresponse.core.registry import did_you_mean
from bestresponse.games.capabilities import find_stage_form
from bestresponse.telling.language import load_language
from bestresponse.web.experiments.contradictions import find_contradictions, list_oddities
from bestresponse.web.experiments.phrases import find_repeated, list_foreign, list_phrases
from bestresponse.web.sessions import setup as bounds
from bestresponse.web.sessions.setup import (
    GameChoice,
    Setup,
    check_setup,
    explain_mistake,
    list_placeholders,
    make_game,
)
from bestresponse.web.texts import FieldMistake, PageTexts, load_texts, write_phrase

TABLE = ConfigDict(**bounds.CLOSED, str_strip_whitespace=True)
T = TypeVar("T")
Order = Literal["arrival", "random"]
StandIns = Literal["none", "half", "count"]
Outcome = Literal["finished", "unfinished", "no consent", "screened out", "full", "seat lost"]
"""How a person leaves: `full` found every seat taken, `seat lost` was away until somebody else took
the seat."""
STAND_INS: dict[StandIns, float] = {"none": 0.0, "half": 0.5, "count": 1.0}
"""What a round counts in which a stand-in answered."""
_LONGEST = 2000
_SHOWN = 60
"""So many characters of a text of a game are listed."""
Name = Annotated[str, Field(min_length=1, max_length=60)]
Text = Annotated[str, Field(max_length=50_000)]
Title = Annotated[str, Field(max_length=200)]
Sentence = Annotated[str, Field(min_length=1, max_length=_LONGEST)]
Number = Annotated[float, Field(strict=True, ge=-1e12, le=1e12)]
Money = Annotated[Decimal, Field(ge=0, le=10**12)]
Code = Annotated[str, Field(max_length=100)]
Phrase = Annotated[str, Field(max_length=_LONGEST)]


def _refuse_equal(options: Sequence[str]) -> None:
    """Refuse options that nobody can tell apart, on the page or in the data."""
    for number, option in enumerate(options):
        if option in options[:number]:
            raise ValueError(f"the option {option!r} stands twice")


@dataclass(frozen=True, config=TABLE)
class QuizQuestion(Question):
    """A question that everybody has to answer right before the game: by a number, or by one of some
    options."""

    text: Sentence
    answer: Number = math.nan
    options: tuple[Sentence, ...] = ()
    right: Annotated[str, Field(max_length=_LONGEST)] = ""

    @model_validator(mode="after")
    def _check_right(self) -> Self:
        if not self.options and self.right:
            raise ValueError("right is for a question with options; write answer, or add options")
        if not self.options and math.isnan(self.answer):
            raise ValueError("answer is missing")
        if self.options and not math.isnan(self.answer):
            raise ValueError(
                "answer is for a question without options; of options say which one is right"
            )
        if len(self.options) == 1:
            raise ValueError("there is only one option; a question needs two or more")
        _refuse_equal(self.options)
        if self.options and self.right not in self.options:
            raise ValueError(f"right is {self.right!r}; expected one of the options")
        return self

    def accepts(self, typed: str, decimal: str = ".") -> bool:
        """Say whether what was typed or chosen is right."""
        return typed == self.right if self.options else super().accepts(typed, decimal)


@dataclass(frozen=True, config=TABLE)
class GameSettings:
    """A game of the file; see `Setup`. `text` has the game's English phrases and what people read
    instead.

    It is played `repeat` times, each time by people matched anew. `rate` is money for a point,
    `most` for all of them, `bonus` for taking part.
    """

    game: Annotated[str, Field(min_length=1, max_length=80)]
    seats: Annotated[bounds.Seats, Field(min_length=1)]
    name: Annotated[str, Field(max_length=60)] = ""
    title: Title = ""
    rounds: bounds.Rounds | None = None
    repeat: bounds.Rounds = 1
    mixed: bounds.Flag = False
    parameters: bounds.Parameters = field(default_factory=dict)
    instructions: Text = ""
    quiz: bounds.Flag | None = None
    questions: tuple[QuizQuestion, ...] = ()
    referee: Title = ""
    rate: Money | None = None
    bonus: Money = Decimal(0)
    most: Money | None = None
    text: Annotated[dict[Phrase, Phrase], Field(max_length=300)] = field(default_factory=dict)

    def find_rate(self, payment: "Payment") -> Decimal:
        """Return the money for a point: that of the game, or else of the experiment."""
        return payment.rate if self.rate is None else self.rate

    def convert(self, points: float, payment: "Payment") -> Decimal:
        """Return the money for points of this game, not rounded."""
        earned = self.find_rate(payment) * Decimal(repr(round(points, 9)))
        return earned if self.most is None else min(earned, self.most)


@plain_dataclass(frozen=True)
class Part:
    """One game of the sequence, with what is different in a treatment, and the texts around and in
    it.

    `number` is that of the game in the file, from 0; the game is played `again` where a part before
    was the same.
    """

    name: str
    setup: Setup
    game: GameSettings
    texts: PageTexts
    number: int = 0
    again: bool = False


@dataclass(frozen=True, config=TABLE)
class TreatmentTable:
    """What is different in some groups, by the name of the game."""

    name: Name
    games: dict[str, JsonObject] = field(default_factory=dict)


_WIDE = 10
_POSITIONS = 50
_CLOSE = 1e-6
"""Part of a step by which floating-point arithmetic may miss a position."""


def _is_whole(count: float) -> bool:
    return abs(count - round(count)) < _CLOSE


ItemAnswer = str | int | float | None
"""An answer to a question as it is kept."""


@dataclass(frozen=True, config=TABLE)
class Item:
    """One question of the questionnaire; its name is that of a column."""

    name: Annotated[str, Field(max_length=40, pattern="^[A-Za-z0-9_]+$")]
    text: Sentence
    kind: Literal["text", "long text", "number", "choice", "scale", "slider"] = "text"
    options: tuple[Sentence, ...] = ()
    low: Number | None = None
    high: Number | None = None
    required: bounds.Flag = False
    step: Annotated[Number, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        if self.kind == "choice" and len(self.options) < 2:
            raise ValueError("options are missing; a choice needs two or more")
        _refuse_equal(self.options)
        if self.kind != "choice" and self.options:
            raise ValueError(
                f'options are for a choice, and kind is {self.kind!r}; write kind = "choice"'
            )
        low, high = self._range
        if self.kind == "scale" and not (
            0 <= low < high <= low + 20 and low == int(low) and high == int(high)
        ):
            raise ValueError(
                f"a scale from {low:g} to {high:g}; expected whole numbers, at most 21 steps"
            )
        if self.kind == "slider" and (
            self.low is None or self.high is None or self.low >= self.high
        ):
            raise ValueError("a slider needs low and high")
        if self.kind != "slider" and self.step is not None:
            raise ValueError(
                f'step is for a slider, and kind is {self.kind!r}; write kind = "slider"'
            )
        if self.kind == "slider" and not _is_whole((high - low) / self.slider_step):
            raise ValueError(
                f"steps of {self.slider_step:g} do not lead from {low:g} to {high:g}; set another"
                " step"
            )
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"no number lies between low, {self.low:g}, and high, {self.high:g}")
        return self

    @property
    def _range(self) -> tuple[float, float]:
        return 1.0 if self.low is None else float(self.low), (
            7.0 if self.high is None else float(self.high)
        )

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be chosen: the options, or the steps of a scale."""
        low, high = self._range
        return (
            tuple(map(str, range(int(low), int(high) + 1)))
            if self.kind == "scale"
            else self.options
        )

    @property
    def slider_step(self) -> float:
        """How far the positions of a slider are apart: `step`, or else 1 or a power of ten below
        it.

        It is 1 between whole numbers that are 10 or more apart, and otherwise leaves 50 positions
        or more.

        >>> Item("p", "How likely?", "slider", low=0, high=1).slider_step
        0.01
        """
        low, high = self._range
        if self.step is not None:
            return self.step
        if low.is_integer() and high.is_integer() and high - low >= _WIDE:
            return 1.0
        return float(10.0 ** math.floor(math.log10((high - low) / _POSITIONS)))

    def read(self, typed: str, texts: PageTexts) -> ItemAnswer:
        """Read an answer as it is kept; a FieldMistake says what is wrong with it.

        A number that was left out is None, so that a column of numbers has nothing else in it.
        """
        typed = typed.strip()
        is_number = self.kind in ("number", "slider", "scale")
        if not typed:
            if self.required:
                raise FieldMistake(texts("item_required"))
            return None if is_number else ""
        if self.choices and typed not in self.choices:
            raise FieldMistake(texts("item_option"))
        if is_number:
            number = texts.read_number(typed, self.low, self.high)
            if self.kind == "slider":
                number = self._find_position(number, texts)
            return int(number) if number.is_integer() else number
        if len(typed) > _LONGEST:
            raise FieldMistake(texts("item_long"))
        return typed

    def _find_position(self, number: float, texts: PageTexts) -> float:
        """Return the position of the slider that is meant by a number."""
        low, _ = self._range
        steps = (number - low) / self.slider_step
        if not _is_whole(steps):
            apart = {"step": texts.figure(self.slider_step), "low": texts.figure(low)}
            raise FieldMistake(texts("not_step", text=texts.figure(number), **apart))
        # Three steps of 0.1 are 0.30000000000000004 for the computer.
        return float(f"{low + round(steps) * self.slider_step:.12g}")


@dataclass(frozen=True, config=TABLE)
class FormPage:
    """A page with Markdown and questions: before the game of that name, or after the last game.

    With `only_if` it is for people who gave these answers, by the names of the questions, on
    earlier pages.
    """

    name: Name
    title: Title = ""
    text: Text = ""
    before: Annotated[str, Field(max_length=60)] = ""
    only_if: dict[str, Sentence] = field(default_factory=dict)
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, config=TABLE)
class Payment:
    """What participants are paid: `show_up`, and `rate` for every point; at least `least`, at most
    `most`.

    `stand_ins` says what a round counts in which a stand-in or bot answered. `paid` are all games
    and rounds, one game drawn for each person, or one round of each game; `unfinished`
    says what a game counts that was closed.
    """

    currency: Annotated[str, Field(min_length=1, max_length=12)]
    show_up: Money = Decimal(0)
    rate: Money = Decimal(0)
    least: Money = Decimal(0)
    most: Money | None = None
    stand_ins: StandIns = "none"
    paid: Literal["all", "random game", "random round"] = "all"
    unfinished: Literal["none", "so far"] = "none"

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if self.most is not None and self.most < max(self.least, self.show_up):
            raise ValueError(
                f"most is {self.most}; expected at least what everybody gets (show_up, least)"
            )
        return self

    def settle(self, earned: Decimal) -> Decimal:
        """Return what is paid in all where the games bring `earned`, rounded to a hundredth.

        >>> Payment("EUR", Decimal("2.50")).settle(Decimal("1.995"))
        Decimal('4.50')
        """
        total = max(self.show_up + earned, self.least)
        return (total if self.most is None else min(total, self.most)).quantize(
            Decimal("0.01"), ROUND_HALF_UP
        )

    def weigh_stand_ins(self) -> float:
        """Return what of a round counts for a person for whom a stand-in answered in it.

        >>> Payment("EUR").weigh_stand_ins(), Payment("EUR", stand_ins="half").weigh_stand_ins()
        (0.0, 0.5)
        """
        return STAND_INS[self.stand_ins]


def _check_link(link: str) -> str:
    if link and (urlsplit(link).scheme not in ("https", "http") or not urlsplit(link).netloc):
        raise ValueError(f"link is {link[:60]!r}; expected an address that begins with https://")
    for place in _PLACE.findall(link):
        if place not in _LINK_PLACES:
            raise ValueError(
                f"{{{place}}} in the link stands for nothing; expected {{code}}, {{participant}} or"
                " {label}"
            )
    return link


_PLACE = re.compile(r"{([^{}]*)}")
_LINK_PLACES = ("code", "participant", "label")


@dataclass(frozen=True, config=TABLE)
class Completion:
    """What participants take away: a code, and a link back to where they came from.

    Whoever did not finish, did not agree, was screened out or found every seat taken gets another
    code, where there is one.

    `{code}`, `{participant}` and `{label}` in the link stand for the code, for the participant's
    own code and for the label of the participant's link.
    """

    code: Code = ""
    unfinished: Code = ""
    no_consent: Code = ""
    screened_out: Code = ""
    full: Code = ""
    link: Annotated[str, Field(max_length=2000), AfterValidator(_check_link)] = ""

    @model_validator(mode="after")
    def _check_code(self) -> Self:
        if "{code}" in self.link and not self.code:
            raise ValueError("the link has the place {code}, and there is no code; set code")
        return self

    def find_code(self, outcome: Outcome) -> str:
        """Return the code for whoever leaves in that way, empty where there is none."""
        codes: dict[Outcome, str] = {
            "finished": self.code,
            "unfinished": self.unfinished or self.code,
            "no consent": self.no_consent,
            "screened out": self.screened_out,
            "full": self.full,
        }
        return codes.get(outcome, "")


@dataclass(frozen=True, config=TABLE)
class Assignment:
    """How people are put into groups and roles: in the order they come, or at random.

    People meet within a matching group of `matching_groups` groups: as partners the same in every
    game, as strangers others, as perfect strangers nobody twice. With `labels` only people with one
    of these take part, each by a link of their own.
    """

    groups: Order = "arrival"
    roles: Order = "arrival"
    matching: Literal["partners", "strangers", "perfect strangers"] = "partners"
    matching_groups: bounds.Groups = 1
    labels: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=5000)
    ] = ()

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        if repeated := [
            label for number, label in enumerate(self.labels) if label in self.labels[:number]
        ]:
            raise ValueError(f"the label {repeated[0]!r} stands twice")
        return self


@dataclass(frozen=True, config=TABLE)
class TimeLimits:
    """Seconds for an answer, in the waiting room, and until a seat that was not confirmed is free
    again.

    Whoever has sent a wrong quiz `tries` times is screened out; 0 is no limit.
    """

    answer: bounds.Seconds = 300
    waiting: bounds.Seconds = 1800
    hold: bounds.Seconds = 900
    stand_in: Annotated[str, Field(max_length=80)] = "random"
    tries: Annotated[int, Field(strict=True, ge=0, le=100)] = 0


@dataclass(frozen=True, config=TABLE, kw_only=True)
class Experiment:
    """What an experiment file says; with `debrief` the last page can show the equilibrium.

    `brand` is at the top of every page, beside the picture `logo`; `show_others` and
    `show_history` show what the others got and what happened when a game is over. `text` replaces
    texts of the pages by their names.

    `games` are read once for each treatment, see `GameSettings`.
    """

    title: Annotated[str, Field(min_length=1, max_length=200)]
    language: Annotated[str, Field(pattern="^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$")] = "en"
    groups: bounds.Groups = 1
    seed: bounds.Seed = 0
    welcome: Text = ""
    consent: Text = ""
    thanks: Text = ""
    debrief: bounds.Flag = False
    brand: Annotated[str, Field(max_length=60)] = "bestresponse"
    logo: Annotated[str, Field(max_length=100)] = ""
    show_others: bounds.Flag = True
    show_history: bounds.Flag = True
    text: dict[str, Phrase | dict[str, Phrase]] = field(default_factory=dict)
    assignment: Assignment = Assignment()
    limits: TimeLimits = TimeLimits()
    pages: tuple[FormPage, ...] = ()
    questionnaire: tuple[Item, ...] = ()
    payment: Payment | None = None
    completion: Completion = Completion()
    games: tuple[JsonObject, ...] = ()
    treatments: tuple[TreatmentTable, ...] = ()

    def list_pages(self, before: str = "") -> list[FormPage]:
        """List the pages with questions before the game of that name, or after the last, where the
        questionnaire is."""
        asked = (
            [FormPage("questionnaire", items=self.questionnaire)]
            if self.questionnaire and not before
            else []
        )
        return [page for page in self.pages if page.before == before] + asked

    def list_items(self) -> list[Item]:
        """List all questions of pages and of the questionnaire."""
        return [item for page in self.pages for item in page.items] + list(self.questionnaire)

    def is_asked(self, page: FormPage, answers: Mapping[str, ItemAnswer]) -> bool:
        """Tell whether a person who gave these answers comes to the page."""
        items = {item.name: item for item in self.list_items()}
        # Numbers in the file have a point before their decimals, in every language.
        english = load_texts("en")
        return all(
            items[name].read(wanted, english) == answers.get(name)
            for name, wanted in page.only_if.items()
        )


def wrap_setup(setup: Setup) -> tuple[Experiment, Part]:
    """Return the experiment that tables without a file are: one game without payment, and theory at
    the end."""
    name = setup.game.name or "game"
    experiment = Experiment(
        title=name,
        consent=setup.consent,
        seed=setup.seed,
        debrief=True,
    )
    return experiment, Part("", setup, GameSettings(name, setup.seats), load_texts(setup.language))


KeyPath = tuple[str | int, ...]
"""Keys and, for tables that stand several times, numbers from 0."""
_PICTURE = re.compile(r"!\[[^\]]*\]\(\s*(?!pictures/[^/\s]+\))([^)]*)")
"""A picture in Markdown that is not in the folder of pictures, so that no browser would show it."""


_OWN_PICTURE = re.compile(r"!\[[^\]]*\]\(\s*pictures/([^/\s)]+)\)")


class _Mistake(Exception):
    """What is wrong, and the path of where it is in the file."""


@contextmanager
def _name_lines(text: str) -> Iterator[None]:
    """Raise a UsageError with the line for a mistake in the file of that text."""
    try:
        yield
    except _Mistake as mistake:
        why, *path = mistake.args
        raise UsageError(f"line {find_line(text, tuple(path))}: {why}") from None


def _validate(kind: type[T], values: Mapping[str, object]) -> T:
    """Read a table of the file; a mistake names where in the table it stands."""
    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        schemas = [TypeAdapter(table).json_schema() for table in (Experiment, GameSettings)]
        tables = [table for schema in schemas for table in (schema, *schema["$defs"].values())]
        path, why = explain_mistake(
            error, tuple(name for table in tables for name in table["properties"])
        )
        raise _Mistake(why, *path) from None


def parse_experiment(text: str, speed: int = 1) -> tuple[Experiment, dict[str, tuple[Part, ...]]]:
    """Return what the file says, and the games of each treatment; UsageError with line and cause.

    Time limits are divided by `speed`, for a trial.
    """
    try:
        # A file that was saved by Notepad begins with a mark that is no TOML.
        values = parse_toml(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise UsageError(f"this is not TOML: {error}") from None
    if foreign := _PICTURE.search(text):
        why = (
            f"the picture {foreign[1][:60]!r} is not shown; put it into the folder `pictures` and"
            " write pictures/NAME"
        )
        raise UsageError(f"line {text.count(chr(10), 0, foreign.start()) + 1}: {why}")
    with _name_lines(text):
        experiment = _validate(Experiment, values)
        limits = {
            name: -(-getattr(experiment.limits, name) // speed)
            for name in ("answer", "waiting", "hold")
        }
        experiment = replace(experiment, limits=replace(experiment.limits, **limits))
        if not experiment.games:
            raise _Mistake("there is no game; expected at least one table [[games]]")
        names = [
            str(game.get("name") or f"game {number}")
            for number, game in enumerate(experiment.games, 1)
        ]
        _refuse_repeated("games", names)
        _refuse_repeated("treatments", [treatment.name for treatment in experiment.treatments])
        _refuse_repeated("questionnaire", [item.name for item in experiment.list_items()])
        _refuse_repeated("pages", [*(page.name for page in experiment.pages), "questionnaire"])
        _check_pages(experiment, names)
        _check_texts(experiment)
        parts: dict[str, tuple[Part, ...]] = {}
        treatments = {treatment.name: treatment.games for treatment in experiment.treatments} or {
            "": {}
        }
        for index, (treatment, changes) in enumerate(treatments.items()):
            for name in changes:
                if name not in names:
                    why = f"there is no game named {name!r} here.{did_you_mean(name, names)}"
                    raise _Mistake(why, "treatments", index, "games", name)
            parts[treatment] = _read_parts(experiment, names, index, changes)
            _check_people(experiment, parts[treatment])
        return experiment, parts


def check_experiment(text: str, pictures: Path | None = None) -> Experiment:
    """Read the file and look up its games, seats and strategies, and its pictures where their
    folder is known; UsageError with line and cause."""
    experiment, treatments = parse_experiment(text)
    if pictures is not None:
        _check_pictures(text, experiment, pictures)
    with _name_lines(text):
        for treatment, part in (
            (treatment, part) for treatment, parts in treatments.items() for part in parts
        ):
            where = f"the game {part.name}{f' (treatment {treatment})' if treatment else ''}"
            try:
                check_setup(part.setup)
            except BestResponseError as error:
                raise _Mistake(f"{where}: {error}", "games", part.number) from None
            _check_phrases(part, where)
            known = ("role", *list_placeholders(part.setup.game))
            for name in Template(part.game.instructions).get_identifiers():
                if name not in known:
                    why = (
                        f"${name} in the instructions stands for nothing; expected one of"
                        f" {', '.join(known)}"
                    )
                    raise _Mistake(f"{where}: {why}", "games", part.number, "instructions")
        values = parse_toml(text.removeprefix("\ufeff"))
        for found in find_contradictions(values, experiment, treatments):
            raise _Mistake(found.why, *found.path)
    return experiment


def _check_phrases(part: Part, where: str) -> None:
    """Refuse words for what the game does not say, and one word for two roles or two moves."""
    game = make_game(part.setup.game)
    language = part.texts.language
    table = ("games", part.number, "text")
    phrases = list_phrases(game, language) if part.game.text else None
    for phrase in part.game.text:
        if phrases is not None and not phrases.has(phrase):
            known = [write_phrase(word) for word in phrases.words]
            why = f"it says nothing like {phrase!r}.{did_you_mean(phrase, known)}"
            listed = f"`bestresponse experiment game {part.setup.game.name} --text {language.name}`"
            raise _Mistake(f"{where}: {why} {listed} lists what it says", *table, phrase)
    form = find_stage_form(game)
    for what, names in (
        ("roles", game.roles),
        *(("moves", actions) for actions in (form.actions if form is not None else ())),
    ):
        repeated = find_repeated(names, language)
        if repeated is not None:
            first, second = repeated
            why = (
                f"two {what}, {first!r} and {second!r}, are both called"
                f" {language.translate(second)!r}; give each a name of its own"
            )
            named = [name for name in (second, first) if name in part.game.text]
            raise _Mistake(f"{where}: {why}", *table, *named[:1])


def list_remarks(text: str) -> list[str]:
    """Say what is seldom meant, and which words people would read in another language than that of
    the experiment."""
    experiment, treatments = parse_experiment(text)
    remarks = list_oddities(experiment, treatments)
    for parts in treatments.values():
        for part in parts:
            game = make_game(part.setup.game)
            told = not part.game.instructions
            phrases = list_phrases(game, part.texts.language, with_rules=told)
            foreign = list_foreign(phrases, part.texts.language)
            if foreign:
                shown = ", ".join(
                    repr(word if len(word) <= _SHOWN else f"{word[:_SHOWN]}...") for word in foreign
                )
                remarks.append(
                    f"In the game {part.name} people read these as the game has them: {shown}."
                    " Give your own words in [games.text], or the rules as instructions."
                )
    return list(dict.fromkeys(remarks))


def _check_pictures(text: str, experiment: Experiment, folder: Path) -> None:
    """Refuse pictures that are not in their folder, and a logo that is no name of a file there."""
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    with _name_lines(text):
        if experiment.logo and experiment.logo not in there:
            raise _Mistake(f"the logo {experiment.logo!r} is not in the folder {folder}", "logo")
    for shown in _OWN_PICTURE.finditer(text):
        if shown[1] not in there:
            line = text.count("\n", 0, shown.start()) + 1
            raise UsageError(f"line {line}: the picture {shown[1]!r} is not in the folder {folder}")


def list_pictures(text: str, experiment: Experiment) -> list[str]:
    """List the names of the pictures that an experiment file shows, each once."""
    shown = [experiment.logo] if experiment.logo else []
    return list(dict.fromkeys([*shown, *_OWN_PICTURE.findall(text)]))


def _refuse_repeated(table: str, names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            why = f"{name!r} stands twice among the {table}; give each a name of its own"
            raise _Mistake(why, table, number, "name")


def _check_pages(experiment: Experiment, names: list[str]) -> None:
    """Refuse a page before a game that there is not, or on a condition that can never be met."""
    for number, page in enumerate(experiment.pages):
        if page.before and page.before not in names:
            why = f"there is no game named {page.before!r} here.{did_you_mean(page.before, names)}"
            raise _Mistake(why, "pages", number, "before")
    asked: dict[str, Item] = {}
    for page in sorted(experiment.pages, key=lambda page: [*names, ""].index(page.before)):
        for name, answer in page.only_if.items():
            if name not in asked or not _can_be_answered(asked[name], answer):
                why = (
                    f"only_if: no page before this one asks {name!r}, or it cannot be answered by"
                    f" {answer!r}"
                )
                raise _Mistake(why, "pages", experiment.pages.index(page), "only_if")
        asked |= {item.name: item for item in page.items}


def _can_be_answered(item: Item, answer: str) -> bool:
    try:
        item.read(answer, load_texts("en"))
    except FieldMistake:
        return False
    return True


def _read_parts(
    experiment: Experiment, names: Sequence[str], treatment: int, changes: Mapping[str, JsonObject]
) -> tuple[Part, ...]:
    """Read all games of a treatment; one that is repeated is asked about, and brings its bonus,
    once."""
    parts: list[Part] = []
    for number, name in enumerate(names):
        part = _read_part(experiment, number, name, treatment, changes.get(name, {}))
        game = replace(part.game, questions=(), bonus=Decimal(0))
        setup = replace(part.setup, quiz=False)
        later = [f"{name} {again}" for again in range(2, part.game.repeat + 1)]
        if taken := set(later).intersection(names):
            why = (
                f"{min(taken)!r} is what a repetition of {name!r} is called; give the game another"
                " name"
            )
            raise _Mistake(why, "games", names.index(min(taken)), "name")
        parts += [
            part,
            *(
                Part(again, setup, game=game, texts=part.texts, number=number, again=True)
                for again in later
            ),
        ]
    return tuple(parts)


def _read_part(
    experiment: Experiment, number: int, name: str, treatment: int, changes: JsonObject
) -> Part:
    """Read a game of the file, with what a treatment changes in it; parameters are merged name by
    name."""
    values = experiment.games[number]
    merged = {**values, **changes}
    if isinstance(values.get("parameters"), dict) and isinstance(changes.get("parameters"), dict):
        merged["parameters"] = {**values["parameters"], **changes["parameters"]}
    try:
        game = _validate(GameSettings, merged)
    except _Mistake as mistake:
        why, *path = mistake.args
        table = (
            ("treatments", treatment, "games", name) if path[0] in changes else ("games", number)
        )
        raise _Mistake(why, *table, *path) from None
    for phrase, wording in game.text.items():
        if unknown := set(Template(wording).get_identifiers()) - set(
            Template(phrase).get_identifiers()
        ):
            why = (
                f"${min(unknown)} does not occur in the phrase {phrase!r} that it is to be taken"
                " from"
            )
            raise _Mistake(why, "games", number, "text", phrase)
    limits = experiment.limits
    quiz = not game.questions if game.quiz is None else game.quiz
    setup = Setup(
        GameChoice(game.game, rounds=game.rounds, mixed=game.mixed, parameters=game.parameters),
        game.seats,
        *(limits.answer, limits.waiting, limits.hold, limits.stand_in),
        *(experiment.consent, quiz, game.referee),
        experiment.language,
        experiment.seed,
    )
    texts = load_texts(setup.language).reword(cast("dict[str, str]", experiment.text), game.text)
    return Part(name, setup, game, texts, number)


def _check_texts(experiment: Experiment) -> None:
    """Refuse a language that is not there or not complete, and texts of pages that do not exist
    or that have other places."""
    try:
        load_language(experiment.language)
    except UsageError as error:
        why = f"{error}. Choose another language, or add it: see docs/translate.md"
        raise _Mistake(why, "language") from None
    base = load_texts("en")
    for name, wording in experiment.text.items():
        if name not in base.names:
            raise _Mistake(
                f"there is no text named {name!r}.{did_you_mean(name, list(base.names))}",
                "text",
                name,
            )
        if not isinstance(wording, str) and set(wording) != {"one", "many"}:
            why = f"the text {name} has the forms {', '.join(wording)}; expected one and many"
            raise _Mistake(why, "text", name)
        forms = wording if isinstance(wording, str) else " ".join(wording.values())
        if unknown := set(Template(forms).get_identifiers()) - base.list_placeholders(name):
            known = (
                ", ".join(sorted(f"${placeholder}" for placeholder in base.list_placeholders(name)))
                or "no place"
            )
            raise _Mistake(
                f"${min(unknown)} stands for nothing in the text {name}; it has {known}",
                "text",
                name,
            )


def _check_people(experiment: Experiment, parts: Sequence[Part]) -> None:
    """Refuse games into whose groups the people of a matching group cannot be put."""
    matching = experiment.assignment.matching
    size = experiment.assignment.matching_groups
    people = [len(part.setup.persons) for part in parts]
    if not all(people):
        why = "no seat is for a person; put 'person' into seats"
        raise _Mistake(why, "games", parts[people.index(0)].number, "seats")
    if experiment.groups % size:
        raise _Mistake(
            f"groups is {experiment.groups}; expected a multiple of matching_groups, {size}",
            "groups",
        )
    for part, count in zip(parts, people, strict=True):
        if size * people[0] % count:
            counts = ", ".join(
                f"{other.name} {seated}" for other, seated in zip(parts, people, strict=True)
            )
            why = (
                f"the games seat different numbers of people ({counts}); a matching group of"
                f" {size * people[0]}"
            )
            why += " people cannot be divided so: set matching_groups in [assignment]"
            raise _Mistake(why, "games", part.number, "seats")
    where = ("assignment", "matching")
    if matching != "partners" and size < 2:
        raise _Mistake(
            "strangers need several groups to be mixed; set matching_groups to 2 or more", *where
        )
    moved = [apart * games for apart in range(1, people[0]) for games in range(1, len(parts))]
    if matching == "perfect strangers" and (
        len(set(people)) > 1 or any(steps % size == 0 for steps in moved)
    ):
        why = f"in {len(parts)} games people of {size} groups of {people[0]} would meet twice"
        raise _Mistake(
            f"{why}; a prime number of matching_groups above both numbers does it", *where
        )


def find_line(text: str, path: KeyPath) -> int:
    """Return the number of the line where `path` stands, or of the nearest table around it.

    >>> find_line("title = 'x'\\n[[games]]\\n[[games]]\\nrounds = 0\\n", ("games", 1, "rounds"))
    4
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    # The more lines are read, the more of the path is there; it is in the first line that
    # brings all there ever is.
    depth = _measure_depth(lines, path)
    return (
        bisect_left(range(len(lines)), depth, key=lambda count: _measure_depth(lines[:count], path))
        or 1
    )


def _measure_depth(lines: Sequence[str], path: KeyPath) -> int:
    """Return how much of the path the lines hold; lines at their end that begin something
    unfinished are left out."""
    for count in range(len(lines), 0, -1):
        with suppress(ValueError):
            here: Any = parse_toml("\n".join(lines[:count]))
            for depth, key in enumerate(path):
                try:
                    here = here[key]
                except (LookupError, TypeError):
                    return depth
            return len(path)
    return 0
