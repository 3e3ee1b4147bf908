"""Which plays a benchmark run consists of, and how one is made.

A run has one or more conditions (other sizes, scales or temperatures; one in the standard suite).
In each, every game is put to every model in every way of asking, format, theme, seat and variant,
games in the outermost loop: a run that stops early has put the same games to all. The opponent of
the model is fixed to its equilibrium strategy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Player
from bestresponse.core.seeds import split
from bestresponse.games.matrix.game import MatrixGame, Theme, theme
from bestresponse.models.base import Model, ModelsByName
from bestresponse.players.llm.player import (
    FirstToken,
    LlmPlayer,
    Sampled,
    Sampling,
    Style,
    Thinking,
)
from bestresponse.players.llm.texts import TEXTS
from bestresponse.players.llm.verified import with_review
from bestresponse.players.strategies import EQUILIBRIUM, BaselinePlayer, FixedMix
from bestresponse.runs.execution import KeepAnswer, PlayOne
from bestresponse.runs.store.folder import Spec
from bestresponse.studies.bench.config import BenchConfig, choose_temperature, is_player
from bestresponse.studies.bench.games import (
    OWN,
    VARIANTS,
    Drawn,
    Source,
    Variant,
    draw_games,
    tell_variant,
)

BASE = "base"
_SIZES = (2, 3, 4, 6)
_SCALES = (0.01, 100.0)
_TEMPERATURES = (0.0, 0.7, 1.0)
WORDING = "instruction "
_WORDINGS = ("short", "plain")
"""Other wordings of the instruction, each a text `system_NAME`."""
BUCKET = "bucket "
_BUCKET_SIZES = (2, 3, 5)
_BUCKET_RANGES = {"narrow": 10.0, "medium": 50.0, "wide": 100.0}
_BUCKET_KINDS = ("pure", "mixed")
_ASKING = (
    "model",
    "elicit",
    "llm_seed",
    "temperature",
    "max_tokens",
    "style",
    "think",
    "attempts",
    "samples",
    "effort",
    "reasoning_tokens",
    "replicate",
    "wording",
)
"""What a seated model depends on, in the data of a spec."""


@dataclass(frozen=True)
class Condition:
    """A name, where its games come from, and how they are shown and asked."""

    name: str
    source: Source
    themes: tuple[str, ...]
    temperature: float | None
    wording: str = ""

    @cached_property
    def drawn(self) -> Drawn:
        """The games, drawn once."""
        return draw_games(self.source)


@dataclass(frozen=True)
class Plan:
    """All plays of a run, in order."""

    config: BenchConfig

    @cached_property
    def conditions(self) -> Mapping[str, Condition]:
        """The conditions of the suite by their names."""
        base = Condition(
            BASE,
            self.config.source,
            self.config.theme,
            self.config.temperature,
        )
        conditions = [base]
        if self.config.suite == "sensitivity":
            conditions += _vary_settings(base)
        if self.config.suite == "buckets":
            conditions += _vary_buckets(base)
        return {condition.name: condition for condition in conditions}

    @property
    def variants(self) -> tuple[str, ...]:
        """How every game of the base settings is also told."""
        return VARIANTS if self.config.suite == "invariance" else ()

    @property
    def what(self) -> str:
        """What is asked about, in words."""
        games = f"{self.config.games:,} game{'s' if self.config.games > 1 else ''}"
        return f"{games}, seed {self.config.seed}"

    def make_game(self, data: JsonMapping) -> MatrixGame:
        """Make the game of a play, as it is shown."""
        return make_bench_game(data)

    def prepare(self, models: ModelsByName) -> PlayOne:
        """Return the function that plays one spec."""
        return prepare_plays(self, models)

    @cached_property
    def total(self) -> int:
        """How many plays there are: every game has the same."""
        return sum(count for _, count in self.count_by_first())

    def count_by_first(self) -> Iterator[tuple[JsonObject, int]]:
        """Yield the plays of every condition's first game.

        Each comes with the number of games it is made for.
        """
        for condition in self.conditions.values():
            for data in self._list_plays(0, condition):
                yield data, condition.source.num_games

    def list_plays(self) -> Iterator[dict[str, object]]:
        """Yield every play as plain data."""
        for game, condition in product(range(self.config.games), self.conditions.values()):
            if game < condition.source.num_games:
                yield from self._list_plays(game, condition)

    def find_opponent(self, data: JsonMapping) -> tuple[float, ...]:
        """Return the strategy of the opponent in a play.

        This is that of the drawn game, carried over to the game as told.
        """
        _, mix = self._find_parts(data)
        return _carry_over(mix, data.get("opponent_back", range(len(mix))))

    def find_own_part(self, spec: Spec) -> tuple[float, ...]:
        """Return the asked seat's part of the same equilibrium, carried over likewise."""
        mix, _ = self._find_parts(spec.data)
        return _carry_over(mix, spec.data["back"])

    def _find_parts(self, data: JsonMapping) -> tuple[list[float], list[float]]:
        """Return the parts of the asked seat and of the other in the drawn game's equilibrium."""
        mixes = self.conditions[data["condition"]].drawn.get_equilibrium(data["game"])
        seat = 1 - data["seat"] if data["variant"] == "swapped" else data["seat"]
        return mixes[seat].tolist(), mixes[1 - seat].tolist()

    def _list_plays(self, game: int, condition: Condition) -> Iterator[JsonObject]:
        payoffs = condition.drawn.payoffs[game]
        variants = self.variants if condition.name == BASE else ()
        for shown_as, dress, seat in product(
            self.config.format,
            condition.themes,
            self.config.seat,
        ):
            player = 0 if seat == "row" else 1
            original = Variant(
                "original",
                payoffs,
                seat=player,
                back=tuple(range(payoffs.shape[1 + player])),
                shown_as=shown_as,
                theme=dress,
            )
            tellings = [
                original,
                *(tell_variant(name, original, condition.source, game) for name in variants),
            ]
            for telling, model, elicit, effort in product(
                tellings, self.config.model, self.config.elicit, self.config.effort or ("",)
            ):
                if elicit != "logprobs" or _has_letters(telling.theme):
                    data = self._describe(game, condition, telling, str(model), elicit)
                    data |= self.config.describe_asking(str(model), elicit, effort)
                    samples = self.config.samples if elicit == "sampled" else 1
                    yield data  # the first trial is asked as if there were no others
                    for trial in range(1, self.config.trials):
                        yield data | {"trial": trial, "replicate": trial * samples}

    def _describe(
        self,
        game: int,
        condition: Condition,
        telling: Variant,
        model: str,
        elicit: str,
    ) -> dict[str, object]:
        data: JsonObject = {
            "study": "bench",
            "condition": condition.name,
            "game": game,
            "payoffs": telling.payoffs.tolist(),
            "variant": telling.name,
            "seat": telling.seat,
            "back": list(telling.back),
            "format": telling.shown_as,
            "theme": telling.theme,
            "model": model,
            "elicit": elicit,
            "style": self.config.style,
            "temperature": choose_temperature(condition.temperature, elicit),
            "max_tokens": self.config.reply_tokens,
            "attempts": self.config.attempts,
            "samples": self.config.samples if elicit == "sampled" else 1,
            "llm_seed": self.config.sent_seed,
        }
        if condition.wording:
            data["wording"] = condition.wording
        if telling.opponent_back is not None:
            data["opponent_back"] = list(telling.opponent_back)
        if telling.theme == OWN:
            data["names"] = condition.source.name_actions(game, condition.drawn.orders)
        return data


def _has_letters(name: str) -> bool:
    """Say whether the theme's labels can be told apart by one token."""
    return name != OWN and all(
        len(label) == 1 for labels in theme(name).actions for label in labels
    )


@dataclass(frozen=True, slots=True)
class Bucket:
    """Zero-sum games of one size, one range of payoffs and one kind of equilibrium."""

    size: int
    range: str
    equilibrium: str

    @property
    def name(self) -> str:
        """Its condition, such as `bucket 3x3 wide mixed`."""
        return f"{BUCKET}{self.size}x{self.size} {self.range} {self.equilibrium}"

    @property
    def tier(self) -> str:
        """How much it takes: to find a saddle point, to mix over a few actions, or over many."""
        if self.equilibrium == "pure":
            return "1: saddle point"
        return "2: mix, up to 3 x 3" if self.size <= 3 else "3: mix, larger"


BUCKETS = tuple(
    Bucket(size, width, kind)
    for size, width, kind in product(_BUCKET_SIZES, _BUCKET_RANGES, _BUCKET_KINDS)
)
"""The buckets, in the order in which they are reported."""


def _vary_buckets(base: Condition) -> Iterator[Condition]:
    """Yield a condition for each bucket."""
    for bucket in BUCKETS:
        source = replace(
            base.source,
            shape=(bucket.size, bucket.size),
            scale=_BUCKET_RANGES[bucket.range],
            properties=(("equilibrium", bucket.equilibrium),),
        )
        yield replace(base, name=bucket.name, source=source)


def _vary_settings(base: Condition) -> Iterator[Condition]:
    """Yield the base settings with one of them changed at a time."""
    for size in _SIZES:
        if (size, size) != base.source.shape:
            source = replace(base.source, shape=(size, size))
            yield replace(base, name=f"size {size}x{size}", source=source)
    for factor in _SCALES:
        decimals = base.source.decimals + (2 if factor < 1 else 0)
        scaled = replace(base.source, scale=base.source.scale * factor, decimals=decimals)
        yield replace(base, name=f"payoffs x{factor:g}", source=scaled)
    for temperature in _TEMPERATURES:
        if temperature != (base.temperature or 0.0):
            yield replace(base, name=f"temperature {temperature:g}", temperature=temperature)
    for wording in _WORDINGS:
        yield replace(base, name=f"{WORDING}{wording}", wording=wording)


def _carry_over(mix: Sequence[float], places: Iterable[int]) -> tuple[float, ...]:
    """Put the probabilities of a drawn game in the order of the game as told."""
    return tuple(mix[place] for place in places)


def find_theme(data: JsonMapping) -> Theme:
    """Return the names under which the game of a spec is shown."""
    if data["theme"] != OWN:
        return theme(data["theme"])
    (row, col), (rows, cols) = data["names"]["players"], data["names"]["actions"]
    return Theme(OWN, "", (row, col), (tuple(rows), tuple(cols)))


def make_bench_game(data: JsonMapping) -> MatrixGame:
    """Make the game of a spec, as it is shown."""
    dress = find_theme(data)
    answer = "action" if data["elicit"] == "pure" else "mixture"
    form = dress.dress(np.asarray(data["payoffs"], dtype=np.float64))
    wanted = (answer, "mixture") if data["seat"] == 0 else ("mixture", answer)
    return MatrixGame(
        form,
        wanted,  # type: ignore[arg-type]
        data["format"],
        dress.story,
        others="rational",
    )


def seat_player(data: JsonMapping, model: Model) -> Player:
    """Seat the model in the way of asking that a spec names."""
    first = data.get("replicate", 0)
    sampling = Sampling(
        data["temperature"],
        max_tokens=data["max_tokens"],
        seed=data["llm_seed"],
        replicate=first,
        effort=data.get("effort"),
        reasoning_tokens=data.get("reasoning_tokens"),
    )
    if data["elicit"] == "logprobs":
        if not model.abilities.logprobs:
            raise UsageError(
                f"{model.id} reports no log-probabilities, which elicit = logprobs reads"
            )
        return FirstToken(model, sampling)
    think = bool(data.get("think"))
    wording = data.get("wording")
    style: Style = data["style"]
    if data["style"] == "auto":  # JSON leaves no room for reasons
        style = "json" if model.abilities.schema and not think else "line"

    def seat_replicate(replicate: int) -> Player:
        player: Player = LlmPlayer(
            model,
            replace(sampling, replicate=replicate),
            style,
            data["attempts"],
            TEXTS.text(f"system_{wording}") if wording else "",
        )
        return with_review(data["model"], Thinking(player) if think else player)

    if data["elicit"] != "sampled":
        return seat_replicate(first)
    replicates = range(first, first + data["samples"])
    return Sampled(tuple(map(seat_replicate, replicates)), model.abilities.concurrency)


def seat_without_model(plan: Plan, spec: Spec) -> Player:
    """Seat a player that needs no model.

    What it draws depends on the seed for models, the game and the trial.
    """
    data = spec.data

    def seat_replicate(replicate: int) -> Player:
        seed = split(data["llm_seed"], "player", replicate)
        if data["model"] == EQUILIBRIUM:
            return FixedMix(plan.find_own_part(spec), EQUILIBRIUM, seed)
        return BaselinePlayer(data["model"], seed)

    first = data.get("replicate", 0)
    if data["elicit"] != "sampled":
        return seat_replicate(first)
    return Sampled(tuple(map(seat_replicate, range(first, first + data["samples"]))))


def prepare_plays(plan: Plan, models: ModelsByName) -> PlayOne:
    """Return the function that plays one spec.

    A model is seated once for all plays that ask it in the same way.
    """
    seated: dict[tuple[object, ...], Player] = {}

    def play_one(spec: Spec, done: list[Submission], keep: KeepAnswer) -> Record:
        data = spec.data
        game = make_bench_game(spec.data)
        key = tuple(map(data.get, _ASKING))
        if is_player(data["model"]):
            player = seat_without_model(plan, spec)
        else:
            if key not in seated:
                seated[key] = seat_player(data, models[data["model"]])
            player = seated[key]
        opponent = FixedMix(plan.find_opponent(data), "equilibrium", blind=True)
        seats = {game.roles[data["seat"]]: player, game.roles[1 - data["seat"]]: opponent}
        return play(game, seats, submissions=done, on_submission=keep)

    return play_one
