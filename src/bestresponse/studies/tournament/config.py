"""What a tournament is: the game, who takes part, and how long the matches are, complete in itself.

Files are read before a configuration is made (`gathering`), so a stored run needs none of them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Literal, get_args

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.registry import did_you_mean
from bestresponse.games.named_game import KeptTable, freeze
from bestresponse.runs.checks import check_sizes
from bestresponse.theory.repeated.round_robin import Rules

__all__ = ["Entry", "Kind", "Stage", "TournamentConfig"]

Kind = Literal["rules", "classic", "player", "axelrod", "model", "function"]
MOST_ROUNDS = 100_000
MOST_ENTRIES = 1_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One who takes part. `rules` is the program of a strategy written as rules, `source` where it came from: a file,
    `published`, the name of a classic strategy, of another player or of Axelrod's library, or a model."""

    name: str
    kind: Kind
    source: str = ""
    rules: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Stage(KeptTable):
    """The game of one round; `program` is the logic program it came from, empty for a table of payoffs."""

    program: str = ""


@dataclass(frozen=True, slots=True)
class TournamentConfig:
    """The settings of one tournament. `repetitions` of None: expected payoffs are worked out where no one has to be
    asked, and others play once."""

    game: Stage
    entries: tuple[Entry, ...]
    rounds: int = 10
    noise: float = 0.0
    continuation: float = 1.0
    repetitions: int | None = None
    against: str | None = None
    default_move: str | None = None
    targets: tuple[tuple[str, float], ...] = ()
    moran: int = 0
    seed: int = 0
    temperature: float | None = None
    max_tokens: int = 256
    attempts: int = 1
    style: str = "auto"
    left_out: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        self._check_numbers()
        names = [entry.name for entry in self.entries]
        if not names:
            raise UsageError("nobody takes part; give --strategies, --strategy or --player")
        if len(names) > MOST_ENTRIES:
            raise UsageError(f"{len(names)} take part; at most {MOST_ENTRIES} can")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UsageError(f"two who take part are both called {twice[0]!r}; rename the file or leave one out")
        for name in [*(name for name, _ in self.targets), *([self.against] if self.against else [])]:
            if name not in names:
                raise UsageError(f"nobody called {name!r} takes part.{did_you_mean(name, names)}")
        for entry in self.entries:
            if entry.kind not in get_args(Kind):
                raise UsageError(f"{entry.name}: there is no kind {entry.kind!r} of those who take part")

    def _check_numbers(self) -> None:
        check_sizes(
            ("--rounds", self.rounds, 1, MOST_ROUNDS),
            ("--repetitions", 1 if self.repetitions is None else self.repetitions, 1, 1_000_000),
            ("--attempts", self.attempts, 1, 20),
            ("--max-tokens", self.max_tokens, 1, 100_000),
        )
        if self.moran and not 2 <= self.moran <= 100_000:
            raise UsageError(f"--moran {self.moran}: expected a population of 2 to 100,000")
        if not 0 <= self.seed < 2**63:
            raise UsageError(f"--seed {self.seed}: expected a whole number of 0 or more")
        _ = self.rules

    @property
    def rules(self) -> Rules:
        """How a match is played."""
        return Rules(self.rounds, self.noise, self.continuation)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that take part."""
        return tuple(entry.source for entry in self.entries if entry.kind == "model")

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: JsonMapping) -> TournamentConfig:
        """Return the value that `to_json` wrote."""
        known = {field.name for field in fields(cls)}
        plain: JsonObject = {name: freeze(value) for name, value in data.items() if name in known}
        plain["game"] = Stage.from_json(data["game"])
        plain["entries"] = tuple(Entry(**entry) for entry in data["entries"])
        return cls(**plain)
