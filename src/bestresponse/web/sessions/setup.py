"""What a session is made of: a game, who sits where, and the rules of the room. Plain values that serialise."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.web.texts import list_languages

__all__ = ["PERSON", "GameChoice", "Parameter", "Setup"]

Parameter = int | float | bool | str | tuple[str, ...]
"""The value of a parameter of a game."""

PERSON = "person"
_MOST_SECONDS = 24 * 3600
_MOST_ROUNDS = 200


@dataclass(frozen=True, slots=True)
class GameChoice:
    """A game by name, or by the text of a logic program. `rounds` repeats a table or sets the days of a drought.

    `parameters` are names and values of what can be set in the rules, such as an endowment.
    """

    name: str
    program: str = ""
    rounds: int = 1
    mixed: bool = False
    parameters: tuple[tuple[str, Parameter], ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.rounds <= _MOST_ROUNDS:
            raise UsageError(f"{self.rounds} rounds: expected 1 to {_MOST_ROUNDS}")

    @classmethod
    def from_json(cls, data: JsonMapping) -> GameChoice:
        """Read what `Setup.to_json` has written."""
        given = [(name, tuple(value) if isinstance(value, list) else value) for name, value in data["parameters"]]
        return cls(**{**data, "parameters": tuple(given)})


@dataclass(frozen=True, slots=True)
class Setup:
    """One table: `seats` in the order of the game's roles, each `person`, `strategy:NAME` or `model:NAME`.

    `seconds` is the time for an answer; after it, the strategy `stand_in` answers for a person. `waiting` is how many
    seconds those who are ready wait for the others before the table begins without them, `hold` how long a seat that
    was taken and not confirmed is kept for a person who is gone. Each is without limit where it is 0. `referee` rules
    in a dialogue: `rule`, `model:NAME` or `strategy:simulated`. `language` is that of the texts around the game.
    """

    game: GameChoice
    seats: tuple[str, ...]
    seconds: int = 300
    stand_in: str = "random"
    consent: str = ""
    quiz: bool = True
    seed: int = 0
    waiting: int = 1800
    hold: int = 900
    referee: str = ""
    language: str = "en"

    def __post_init__(self) -> None:
        limits = {"for an answer": self.seconds, "in the waiting room": self.waiting, "to confirm a seat": self.hold}
        for what, seconds in limits.items():
            if not 0 <= seconds <= _MOST_SECONDS:
                raise UsageError(f"{seconds} seconds {what}: expected 0 (no limit) to {_MOST_SECONDS}")
        if self.language not in list_languages():
            raise UsageError(f"there are no texts in {self.language[:20]!r}; known: {', '.join(list_languages())}")
        for seat in self.seats:
            kind, colon, name = seat.partition(":")
            if seat != PERSON and (kind not in ("strategy", "model") or not colon or not name.strip()):
                raise UsageError(f"{seat!r} fills no seat; expected person, strategy:NAME or model:NAME")

    @property
    def persons(self) -> tuple[int, ...]:
        """The numbers of the seats that people take."""
        return tuple(number for number, seat in enumerate(self.seats) if seat == PERSON)

    def to_json(self) -> JsonObject:
        """Return the setup as plain data."""
        return asdict(self) | {"seats": list(self.seats)}

    @classmethod
    def from_json(cls, data: JsonMapping) -> Setup:
        """Read what `to_json` has written."""
        return cls(**{**data, "game": GameChoice.from_json(data["game"]), "seats": tuple(data["seats"])})
