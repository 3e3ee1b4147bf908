"""An experiment as a value: games, treatments, groups and limits.

It has the bounds of every setting.

`reading` makes it from a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass as plain_dataclass, field
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from bestresponse.core.json import JsonObject
from bestresponse.web.experiments.items import (
    TABLE,
    FormPage,
    Item,
    ItemAnswer,
    Name,
    Phrase,
    QuizQuestion,
    Text,
    Title,
)
from bestresponse.web.experiments.payment import Completion, Money, Payment
from bestresponse.web.sessions import setup as bounds
from bestresponse.web.sessions.setup import Setup, list_homes
from bestresponse.web.texts import PageTexts, load_texts

Order = Literal["arrival", "random"]


@dataclass(frozen=True, config=TABLE)
class GameSettings:
    """A game of the file; see `Setup`.

    `text` has the game's English phrases and what people read instead. With the `answers`
    "strategy", people answer for every case.

    It is played `repeat` times, each time by people matched anew. `rate` is money for a point,
    `most` for all of them, `bonus` for taking part. `chat` is how many characters a message may
    have that people write to their group beside the game; 0 is no chat.
    """

    game: Annotated[str, Field(min_length=1, max_length=80)]
    seats: Annotated[bounds.Seats, Field(min_length=1)]
    name: Annotated[str, Field(max_length=60)] = ""
    title: Title = ""
    rounds: bounds.Rounds | None = None
    repeat: bounds.Rounds = 1
    mixed: bounds.Flag = False
    parameters: bounds.Parameters = field(default_factory=dict)
    answers: bounds.Answers = "direct"
    instructions: Text = ""
    quiz: bounds.Flag | None = None
    questions: tuple[QuizQuestion, ...] = ()
    referee: Title = ""
    chat: Annotated[int, Field(strict=True, ge=0, le=2000)] = 0
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
    """One game of the sequence, with what differs in a treatment, and its texts.

    The texts are those around and in it.

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


@dataclass(frozen=True, config=TABLE)
class Assignment:
    """How people are put into groups and roles: in the order they come, or at random.

    Into groups also in the order in which they have passed the quiz of the first game.

    People meet within a matching group of `matching_groups` groups: as partners the same in every
    game, as strangers others, as perfect strangers nobody twice. With `labels` only people with one
    of these take part, each by a link of their own.
    """

    groups: Literal["arrival", "random", "quiz"] = "arrival"
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
    """Seconds for an answer, in the waiting room, and until a seat is free again.

    The latter is about a seat that was not confirmed.

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
        """List the pages with questions before the game of that name, or after the last.

        The questionnaire comes after the last game.
        """
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
    """Return the experiment that tables without a file are.

    It has one game without payment, and theory at the end.
    """
    name = setup.game.name or "game"
    experiment = Experiment(
        title=name,
        consent=setup.consent,
        seed=setup.seed,
        debrief=True,
    )
    texts = load_texts(setup.language).within(list_homes(setup.game))
    return experiment, Part("", setup, GameSettings(name, setup.seats), texts)
