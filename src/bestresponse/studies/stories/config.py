"""What an autoformalization run is: every setting that can change a number."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, fields
from typing import Final, get_args

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject, digest
from bestresponse.formal.evaluate.dataset import Story, choose, stories
from bestresponse.formal.formalize.autoformalizer import Settings
from bestresponse.formal.formalize.plan import Wish
from bestresponse.players.llm.verified import is_verified
from bestresponse.runs.checks import check_sizes

__all__ = ["FORMS", "StoriesConfig"]

FORMS: Final = get_args(Wish)


@dataclass(frozen=True, slots=True)
class StoriesConfig:
    """The settings of one run. `count` stories are taken, spread over games and kinds; None takes all."""

    models: tuple[str, ...]
    games: tuple[str, ...] = ()
    count: int | None = None
    attempts: int = 5
    shots: int = 1
    form: Wish = "auto"
    max_tokens: int = 1500
    temperature: float = 0.0
    samples: int = 1
    llm_seed: int | None = None

    def __post_init__(self) -> None:
        if not self.models:
            raise UsageError("no model is named; give at least one --model")
        for name in self.models:
            if is_verified(name):
                raise UsageError(f"{name}: programs are checked anyway; name the model without `verified:`")
        if self.form not in FORMS:
            raise UsageError(f"--style {self.form}: expected {', '.join(FORMS)}")
        if self.count is not None and self.count < 1:
            raise UsageError(f"{self.count} stories are none; expected at least 1")
        check_sizes(("--samples", self.samples, 1, 1000))
        self.settings(0)
        choose(stories(), self.games)

    def settings(self, sample: int) -> Settings:
        """How the model is asked for one sample."""
        return Settings(
            attempts=self.attempts,
            shots=self.shots,
            form=self.form,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            seed=self.llm_seed,
            replicate=sample,
        )

    def chosen(self) -> tuple[Story, ...]:
        """Return the stories of the run: one of every game before the second of any, and of its kinds by turns.

        The games come in an order that mixes the files: a few stories already show chance, turns and tables.
        """
        kinds: Counter[tuple[str, bool, bool]] = Counter()
        by_game: dict[str, list[tuple[int, int, Story]]] = {}
        for place, story in enumerate(choose(stories(), self.games)):
            kind = (story.game, story.numeric, story.canonical)
            by_game.setdefault(story.game, []).append((kinds[kind], place, story))
            kinds[kind] += 1
        ranked = [
            (rank, digest(game), story)
            for game, told in by_game.items()
            for rank, (_, _, story) in enumerate(sorted(told, key=lambda one: one[:2]))
        ]
        return tuple(story for _, _, story in sorted(ranked, key=lambda one: one[:2]))[: self.count]

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: JsonMapping) -> StoriesConfig:
        """Return the value that `to_json` wrote."""
        known = {field.name for field in fields(cls)}
        plain: JsonObject = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data.items() if name in known
        }
        return cls(**plain)
