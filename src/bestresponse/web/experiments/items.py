"""What people are asked in an experiment file.

These are questions of the quiz, items of pages, and the pages that hold them.
"""

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

from bestresponse.core.capabilities import Question
from bestresponse.web.sessions import setup as bounds
from bestresponse.web.texts import FieldMistake, PageTexts

TABLE = ConfigDict(**bounds.CLOSED, str_strip_whitespace=True)
_LONGEST = 2000
Name = Annotated[str, Field(min_length=1, max_length=60)]
Text = Annotated[str, Field(max_length=50_000)]
Title = Annotated[str, Field(max_length=200)]
Sentence = Annotated[str, Field(min_length=1, max_length=_LONGEST)]
Number = Annotated[float, Field(strict=True, ge=-1e12, le=1e12)]
Phrase = Annotated[str, Field(max_length=_LONGEST)]


def _refuse_equal(options: Sequence[str]) -> None:
    """Refuse options that nobody can tell apart, on the page or in the data."""
    for number, option in enumerate(options):
        if option in options[:number]:
            raise ValueError(f"the option {option!r} stands twice")


@dataclass(frozen=True, config=TABLE)
class QuizQuestion(Question):
    """A question that everybody has to answer right before the game.

    The answer is a number, or one of some options.
    """

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
    def _check(self) -> Self:
        self._check_options()
        if self.kind == "slider":
            self._check_slider()
        elif self.step is not None:
            raise ValueError(
                f'step is for a slider, and kind is {self.kind!r}; write kind = "slider"'
            )
        self._check_range()
        return self

    def _check_options(self) -> None:
        if self.kind == "choice" and len(self.options) < 2:
            raise ValueError("options are missing; a choice needs two or more")
        _refuse_equal(self.options)
        if self.kind != "choice" and self.options:
            raise ValueError(
                f'options are for a choice, and kind is {self.kind!r}; write kind = "choice"'
            )

    def _check_range(self) -> None:
        low, high = self._range
        if self.kind == "scale":
            whole = low.is_integer() and high.is_integer()
            if not whole or not 0 <= low < high <= low + 20:
                raise ValueError(
                    f"a scale from {low:g} to {high:g}; expected whole numbers, at most 21 steps"
                )
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"no number lies between low, {self.low:g}, and high, {self.high:g}")

    def _check_slider(self) -> None:
        if self.low is None or self.high is None or self.low >= self.high:
            raise ValueError("a slider needs low and high")
        if not _is_whole((self.high - self.low) / self.slider_step):
            raise ValueError(
                f"steps of {self.slider_step:g} do not lead from {self.low:g} to {self.high:g};"
                " set another step"
            )

    @property
    def _range(self) -> tuple[float, float]:
        low = 1.0 if self.low is None else float(self.low)
        high = 7.0 if self.high is None else float(self.high)
        return low, high

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
        """How far slider positions are apart: `step`, or else 1 or a power of ten below it.

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
