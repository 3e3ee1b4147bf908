"""What a run on a game played in turn is: every setting that can change a number."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.named_game import NamedGame
from bestresponse.players.llm.verified import is_verified, make_label
from bestresponse.runs.checks import check_known, check_sizes, check_temperature
from bestresponse.studies.bench.config import choose_temperature

__all__ = ["ELICITATIONS", "SequentialConfig"]

ELICITATIONS = ("mixed", "sampled", "pure", "logprobs")
STYLES = ("auto", "line", "json", "letter")
_TOKENS = 512
_THINKING_TOKENS = 2000


@dataclass(frozen=True, slots=True)
class SequentialConfig:
    """The settings of one run. Two runs with equal settings are the same run."""

    models: tuple[str, ...]
    game: NamedGame
    elicit: tuple[str, ...] = ("mixed",)
    policies: int = 1
    """How many complete policies are asked for, each with the moves in another order."""
    samples: int = 10
    """How many moves are asked for at every information set where moves are sampled."""
    max_infosets: int | None = None
    """The most information sets to ask about, those first that uniform play reaches most often; None: all."""
    seats: tuple[str, ...] = ()
    """The players whose information sets are asked about; empty: all."""
    style: str = "auto"
    temperature: float | None = None
    max_tokens: int | None = None
    """Of a reply; None becomes 512, or 2,000 with `think`."""
    attempts: int = 1
    think: bool = False
    llm_seed: int = 0

    def __post_init__(self) -> None:
        if self.max_tokens is None:
            object.__setattr__(self, "max_tokens", _THINKING_TOKENS if self.think else _TOKENS)
        sent = {choose_temperature(self.temperature, way) for way in self.elicit}
        if self.temperature is None and len(sent) == 1:
            object.__setattr__(self, "temperature", sent.pop())
        self._check_sizes()
        self._check_models()
        check_known("way of asking", self.elicit, ELICITATIONS)
        check_known("style", (self.style,), STYLES)
        if self.think and ("logprobs" in self.elicit or self.style not in ("auto", "line")):
            raise UsageError("--think needs room for reasons; choose --style auto or line, and not --elicit logprobs")
        check_temperature(self.temperature)

    def _check_models(self) -> None:
        if not self.models:
            raise UsageError("no model is named; give at least one --model")
        if len(set(self.labels)) < len(set(self.models)):
            raise UsageError(f"two models have the same label among {', '.join(self.labels)}")
        for name in filter(is_verified, self.models):
            raise UsageError(f"{name}: reasoning about a policy is not verified; name the model without `verified:`")

    def _check_sizes(self) -> None:
        check_sizes(
            ("--num-games", self.policies, 1, 10_000),
            ("--samples", self.samples, 1, 10_000),
            ("--max-infosets", 1 if self.max_infosets is None else self.max_infosets, 1, 1_000_000),
            ("--attempts", self.attempts, 1, 20),
            ("--max-tokens", self.reply_tokens, 1, 100_000),
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The names under which the models are reported."""
        return tuple(make_label(model) for model in self.models)

    @property
    def reply_tokens(self) -> int:
        """How many tokens a reply may have."""
        return _TOKENS if self.max_tokens is None else self.max_tokens

    def count_answers(self, way: str) -> int:
        """Count the answers at one information set that make up one policy."""
        return self.samples if way == "sampled" else 1

    def to_json(self) -> JsonObject:
        """Return the settings as plain JSON data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: JsonMapping) -> SequentialConfig:
        """Read the settings back from `to_json`; a game may also stand there by its name."""
        known = {field.name for field in fields(cls)}
        plain: JsonObject = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data.items() if name in known
        }
        game = data["game"]
        plain["game"] = NamedGame.find(game) if isinstance(game, str) else NamedGame.from_json(game)
        return cls(**plain)
