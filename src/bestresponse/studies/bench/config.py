"""What a benchmark run is: every setting that can change a number."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.matrix.presentation import FORMATS, theme
from bestresponse.players.llm.verified import make_label
from bestresponse.runs.checks import check_known, check_sizes, check_temperature
from bestresponse.studies.bench.games.given import MOST_ACTIONS, OWN, UserGame
from bestresponse.theory.generators.draw import families

__all__ = ["ELICITATIONS", "STYLES", "SUITES", "BenchConfig", "choose_temperature"]

ELICITATIONS = ("mixed", "pure", "sampled", "logprobs")
SUITES = ("standard", "invariance", "sensitivity", "generalisation")
STYLES = ("auto", "line", "json", "letter")
SEATS = ("row", "col")
MOST_GAMES = 1_000_000
_TOKENS = 512
_THINKING_TOKENS = 2000


@dataclass(frozen=True, slots=True)
class BenchConfig:
    """The settings of one run. Two runs with equal settings are the same run."""

    models: tuple[str, ...] = ("smollm2",)
    num_games: int = 100
    num_rows: int = 3
    num_cols: int = 3
    seed: int = 0
    llm_seed: int | None = None
    family: str = "zero-sum"
    scale: float = 100.0
    decimals: int = 0
    suite: str = "standard"
    elicit: tuple[str, ...] = ("mixed",)
    formats: tuple[str, ...] = ("table",)
    themes: tuple[str, ...] = ("neutral",)
    seats: tuple[str, ...] = ("row",)
    style: str = "auto"
    temperature: float | None = None
    """As it is sent; None where the ways of asking differ: 1 for sampled and logprobs, else 0."""
    max_tokens: int | None = None
    """Of a reply; None becomes 512, or 2,000 with `think`."""
    samples: int = 10
    attempts: int = 1
    precision: float | None = None
    think: bool = False
    """Whether models are told to write down their reasons first."""
    given: UserGame | None = None
    """A game of the user's; family, shape, scale and decimals then mean nothing."""

    def __post_init__(self) -> None:
        if self.max_tokens is None:
            object.__setattr__(self, "max_tokens", _THINKING_TOKENS if self.think else _TOKENS)
        sent = {choose_temperature(self.temperature, way) for way in self.elicit}
        if self.temperature is None and len(sent) == 1:
            object.__setattr__(self, "temperature", sent.pop())
        self._check_sizes()
        check_known("family", (self.family,), families())
        check_known("suite", (self.suite,), SUITES)
        check_known("way of asking", self.elicit, ELICITATIONS)
        check_known("format", self.formats, FORMATS)
        check_known("style", (self.style,), STYLES)
        check_known("seat", self.seats, SEATS)
        for name in self.themes:
            if name != OWN or self.given is None:
                theme(name)
        self._check_given()
        self._check_thinking()
        if self.suite == "generalisation" and max(self.shape) >= MOST_ACTIONS:
            raise UsageError(f"the generalisation suite adds an action; expected at most {MOST_ACTIONS - 1} actions")
        if self.suite == "invariance" and len(self.formats) * len(self.themes) * len(self.seats) > 1:
            raise UsageError("the invariance suite varies format, theme and seat itself; give one of each")
        if "logprobs" in self.elicit and self.themes != ("neutral",):
            raise UsageError("--elicit logprobs reads one-letter labels; it goes with the theme neutral only")
        if not self.models:
            raise UsageError("no model is named; give at least one --model")
        check_temperature(self.temperature)
        if self.precision is not None and not self.precision > 0:
            raise UsageError(f"--precision {self.precision:g}: expected a number above 0")

    def _check_thinking(self) -> None:
        if self.think and "logprobs" in self.elicit:
            raise UsageError("--elicit logprobs reads the first token; it leaves no room for --think")
        if self.think and self.style not in ("auto", "line"):
            raise UsageError(f"--style {self.style} leaves no room for reasons; with --think choose auto or line")
        if len(set(self.labels)) < len(set(self.models)):
            raise UsageError(f"two models have the same label among {', '.join(self.labels)}")

    def _check_given(self) -> None:
        if self.given is None:
            return
        if self.suite in ("sensitivity", "generalisation"):
            raise UsageError(f"the {self.suite} suite draws games of other sizes and scales; it takes no game of yours")
        if self.suite == "invariance" and OWN in self.themes:
            raise UsageError("the invariance suite gives the actions other names; choose another --theme than own")

    def _check_sizes(self) -> None:
        check_sizes(
            ("--num-games", self.num_games, 1, MOST_GAMES),
            ("--num-rows", self.num_rows, 1, MOST_ACTIONS),
            ("--num-cols", self.num_cols, 1, MOST_ACTIONS),
            ("--samples", self.samples, 1, 1000),
            ("--attempts", self.attempts, 1, 20),
            ("--max-tokens", self.reply_tokens, 1, 100_000),
            ("--decimals", self.decimals, 0, 12),
        )
        if not 0 < self.scale < 1e12:
            raise UsageError(f"--scale {self.scale:g}: expected a positive number below 1e12")
        if self.seed < 0:
            raise UsageError(f"--seed {self.seed}: expected a whole number of 0 or more")

    @property
    def shape(self) -> tuple[int, int]:
        """The actions of the row and of the column player."""
        return self.given.shape if self.given is not None else (self.num_rows, self.num_cols)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names under which the models are reported."""
        return tuple(make_label(model) for model in self.models)

    @property
    def reply_tokens(self) -> int:
        """How many tokens a reply may have."""
        return _TOKENS if self.max_tokens is None else self.max_tokens

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        if self.given is None:
            del plain["given"]
        if not self.think:
            del plain["think"]
        return plain

    @classmethod
    def from_json(cls, data: JsonMapping) -> BenchConfig:
        """Return the value that `to_json` wrote."""
        known = {field.name for field in fields(cls)}
        plain: JsonObject = {name: tuple(v) if isinstance(v, list) else v for name, v in data.items() if name in known}
        if data.get("given"):
            plain["given"] = UserGame.from_json(data["given"])
        return cls(**plain)


def choose_temperature(wanted: float | None, elicit: str) -> float:
    """Return the temperature that is sent: probabilities of tokens are read, and samples drawn, at 1."""
    if elicit == "logprobs":
        return 1.0
    return wanted if wanted is not None else 1.0 if elicit == "sampled" else 0.0
