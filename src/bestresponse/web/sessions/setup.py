"""What a session is made of: a game, who sits where, and the rules of the room. Plain values that serialise.

The bounds of every value stand here once; the interface for programs, the form on the page and experiment files read
values into these classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Annotated, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from bestresponse.core.errors import UsageError
from bestresponse.core.json import canonical
from bestresponse.core.registry import did_you_mean
from bestresponse.web.texts import list_languages

PERSON = "person"
CLOSED = ConfigDict(extra="forbid", allow_inf_nan=False)
"""Values come with these names and no others."""
T = TypeVar("T")


def _check_seat(seat: str) -> str:
    kind, colon, name = seat.partition(":")
    if seat != PERSON and (kind not in ("strategy", "model") or not colon or not name.strip()):
        raise ValueError(f"{seat!r} fills no seat; expected person, strategy:NAME or model:NAME")
    return seat


def _check_language(language: str) -> str:
    if language not in list_languages():
        raise ValueError(f"there are no texts in {language[:20]!r}; known: {', '.join(list_languages())}")
    return language


Flag = Annotated[bool, Field(strict=True)]
Groups = Annotated[int, Field(strict=True, ge=1, le=500)]
Language = Annotated[str, Field(max_length=20), AfterValidator(_check_language)]
Rounds = Annotated[int, Field(strict=True, ge=1, le=200)]
Seconds = Annotated[int, Field(strict=True, ge=0, le=24 * 3600)]
Seed = Annotated[int, Field(strict=True, ge=0, lt=2**31)]
Seats = Annotated[tuple[Annotated[str, Field(max_length=200), AfterValidator(_check_seat)], ...], Field(max_length=100)]
Parameter = (
    bool | int | float | Annotated[str, Field(max_length=200)] | tuple[Annotated[str, Field(max_length=80)], ...]
)
Parameters = Annotated[dict[str, Parameter], Field(max_length=50)]


@dataclass(frozen=True, config=CLOSED)
class GameChoice:
    """A game by name, or by the text of a logic program. `rounds` repeats a table or sets the days of a drought.

    `parameters` are names and values of what can be set in the rules, such as an endowment.
    """

    name: Annotated[str, Field(max_length=80)]
    program: Annotated[str, Field(max_length=100_000)] = ""
    rounds: Rounds = 1
    mixed: Flag = False
    parameters: Parameters = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(canonical(asdict(self)))


@dataclass(frozen=True, config=CLOSED)
class Setup:
    """One table: `seats` in the order of the game's roles, each `person`, `strategy:NAME` or `model:NAME`.

    `seconds` is the time for an answer; after it, the strategy `stand_in` answers for a person. `waiting` is how many
    seconds those who are ready wait for the others before the table begins without them, `hold` how long a seat that
    was taken and not confirmed is kept for a person who is gone. Each is without limit where it is 0. `referee` rules
    in a dialogue: `rule`, `model:NAME` or `strategy:simulated`. `language` is that of the texts around the game, `seed`
    that of nature and of the strategies.
    """

    game: GameChoice
    seats: Seats
    seconds: Seconds = 300
    waiting: Seconds = 1800
    hold: Seconds = 900
    stand_in: Annotated[str, Field(max_length=80)] = "random"
    consent: Annotated[str, Field(max_length=50_000)] = ""
    quiz: Flag = True
    referee: Annotated[str, Field(max_length=200)] = ""
    language: Language = "en"
    seed: Seed = 0

    @property
    def persons(self) -> tuple[int, ...]:
        """The numbers of the seats that people take."""
        return tuple(number for number, seat in enumerate(self.seats) if seat == PERSON)


_EXPECTED = {
    "bool_type": "true or false",
    "float_type": "a number",
    "greater_than_equal": "at least {ge}",
    "int_type": "a whole number",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "a text",
    "string_type": "a text",
    "tuple_type": "a list",
}


def read_checked(kind: type[T], values: Mapping[str, object]) -> T:
    """Read an object of that class from plain values; UsageError about the first value that does not fit."""
    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        raise UsageError(explain_mistake(error)[1]) from None


def explain_mistake(error: ValidationError, known: tuple[str, ...] = ()) -> tuple[tuple[str | int, ...], str]:
    """Return where the first value stands that does not fit, and a sentence about it."""
    first = error.errors(include_url=False)[0]
    key = next((part for part in reversed(first["loc"]) if isinstance(part, str)), "")
    match first["type"]:
        case "missing":
            return first["loc"], f"{key} is missing"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return first["loc"], f"there is no setting named {key!r} here.{did_you_mean(key, list(known))}"
        case "value_error":
            return first["loc"], str(first["ctx"]["error"])
        case _:
            wanted = _EXPECTED.get(first["type"], first["msg"].removeprefix("Input should be "))
            return first[
                "loc"
            ], f"{key} is {repr(first['input'])[:60]}; expected {wanted.format(**first.get('ctx', {}))}"
