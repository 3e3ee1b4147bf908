"""Write examples to files: many games, each class once, in shards that trainers read.

    train-00000.jsonl ... validation-... test-...   one row per line: messages, answer, task
    manifest.json    settings, counts, a hash of the prompts, and one of every file
    README.md        the dataset card

Equal settings write equal files. A shard appears complete or not at all, and those that are there
are not made again. The manifest names files only once all of them are there.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import InvalidMove, SettingError, StoreError
from bestresponse.core.files import parse_json, read_text_file
from bestresponse.core.seeds import split
from bestresponse.games.matrix.game import FORMATS, theme, themes
from bestresponse.report.files import write_text
from bestresponse.runs.executors.processes import Processes
from bestresponse.runs.inputs import NamesSetting, take_settings
from bestresponse.runs.settings import setting, settings
from bestresponse.studies.improve.answers import (
    hash_prompts,
    make_matrix_examples,
    make_told_examples,
)
from bestresponse.studies.improve.card import write_card
from bestresponse.studies.improve.contents import hash_file
from bestresponse.studies.improve.examples import (
    SHORT,
    SPLITS,
    Keys,
    Telling,
    TrainingExample,
    classify,
    read_telling,
    split_classes,
)
from bestresponse.studies.improve.rewards import score_reply
from bestresponse.studies.improve.rows import ExportCounts, ExportManifest, ExportSettings
from bestresponse.theory.games.normal_form import Array

FORMAT = 5
SHARD = 4096
"""Examples of a file; training mixes files, so small ones mix kinds of games well."""
_FEW = 6
_DRAW = 50_000  # games at a time, which bounds what their classes take in memory
_LARGEST_MANIFEST = 1_000_000
_EXHAUSTED = 0.02
"""A draw with a smaller share of new classes ends the drawing: nearly all classes of that size are
there."""
_CHECKED = 50
"""Examples of each shard whose answers are measured again, as replies are."""
_LEAST = 0.998
"""A mix in whole thousandths scores at least this much, whatever its rounding costs."""
_LARGEST_SIDE = 12
_LARGEST_SCALE = 10_000
_MOST_WEIGHT = 1000
_FACTORS = (2, 3, 4, 5)
"""What payoffs are multiplied by where games are varied."""
_TENTHS = 10.0
_TEST = SPLITS.index("test")
_TRIES = 40
"""Draws until there are enough games of the test split, of which there is one in fifty."""
_VARIED = ("zero-sum", "general-sum", "replies", "stories")


@settings
class ExportConfig:
    """Write questions as the benchmark asks them, with the solver's answers, for training a model
    on them."""

    output: str | Path = setting(
        kw_only=False,
        short="-o",
        metavar="FOLDER",
        help="Folder for the files.",
    )
    games: Literal["zero-sum", "general-sum", "replies", "stories", "claims"] = setting(
        default="zero-sum"
    )
    """Kind of examples. replies: best replies to a stated mix; stories: game programs; claims: the
    claims of a text."""
    sizes: str = setting(default="2-4", help="Actions of each player, such as 2-4 or 3.")
    rectangular: float = setting(
        default=0.2,
        ge=0,
        lt=1,
        help="Share of games that are not square; the longer side has up to 2 more actions.",
    )
    count: int = setting(
        default=10_000,
        ge=1,
        le=50_000_000,
        help="Examples in all splits together.",
    )
    scale: int | str = setting(
        default="9,30,100",
        help="Payoffs are whole numbers from -scale to scale; of several, one is drawn per game.",
    )
    varied: float = setting(
        default=0.25,
        ge=0,
        le=1,
        help=(
            "Share of games whose payoffs are shifted by a constant, multiplied or written in"
            " tenths."
        ),
    )
    formats: NamesSetting = setting(
        default=FORMATS,
        help=(
            "How games are described: table, prose or json, as in `bench`, or short (only payoffs)."
            " One is drawn per game; short:80 makes short 80 times as likely."
        ),
    )
    themes: NamesSetting = setting(
        default=(), help="Themes of the benchmark, drawn per game. [default: all that fit]"
    )
    answers: Literal["worked", "direct"] = setting(
        default="worked", help="worked: with steps before the strategy; direct: the strategy alone."
    )
    purpose: Literal["sft", "rl"] = setting(
        default="sft",
        help=(
            "Columns: messages for supervised training, or prompt for reinforcement with the"
            " reward of `br.rewards.reward_replies`."
        ),
    )
    seed: int = setting(default=0, ge=0, help="Seed of the games.")
    workers: int | None = setting(
        default=None,
        how=True,
        ge=1,
        le=256,
        help="Processes. [default: one per core]",
    )

    def __post_init__(self) -> None:
        first, last = self.range
        if not 1 < first <= last <= _LARGEST_SIDE - 2:
            raise SettingError(
                "sizes",
                f"expected sizes from 2 to {_LARGEST_SIDE - 2}, such as 2-4, got {self.sizes!r}",
            )
        self.scales  # noqa: B018 - refused here where it cannot be read
        formats = self.weighted_formats
        if self.games == "stories" and SHORT in formats:
            raise SettingError(
                "formats", f"expected {', '.join(FORMATS)}: a story is told in words, not {SHORT}"
            )
        if self.games == "claims" and tuple(self.formats) != FORMATS:
            raise SettingError(
                "formats", "has no effect on claims: the text is about the game, which is not shown"
            )
        longest = last + (2 if self.rectangular else 0)
        for name in self.themes:
            if min(map(len, theme(name).actions)) < longest:
                raise SettingError("themes", f"{name} has no names for {longest} actions")

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest square."""
        first, _, last = self.sizes.partition("-")
        try:
            return int(first), int(last or first)
        except ValueError:
            raise SettingError(
                "sizes", f"expected a number or two, such as 2-4, got {self.sizes!r}"
            ) from None

    @property
    def scales(self) -> tuple[int, ...]:
        """The largest payoffs, of which one is drawn per game."""
        parts = str(self.scale).split(",")
        if not all(part.strip().isdecimal() and part.isascii() for part in parts):
            raise SettingError(
                "scale", f"expected whole numbers such as 9 or 9,30,100, got {self.scale!r}"
            )
        scales = tuple(int(part) for part in parts)
        if not all(1 <= scale <= _LARGEST_SCALE for scale in scales):
            raise SettingError(
                "scale", f"expected numbers from 1 to {_LARGEST_SCALE:,}, got {self.scale!r}"
            )
        return scales

    @property
    def weighted_formats(self) -> tuple[str, ...]:
        """The formats, each as often as its weight says."""
        weighted: list[str] = []
        for entry in self.formats or [""]:
            name, _, weight = entry.partition(":")
            if name not in (*FORMATS, SHORT):
                raise SettingError(
                    "formats", f"expected {', '.join(FORMATS)} or {SHORT}, got {entry!r}"
                )
            fits = weight.isdecimal() and weight.isascii() and 1 <= int(weight) <= _MOST_WEIGHT
            if weight and not fits:
                raise SettingError(
                    "formats",
                    f"expected a weight from 1 to {_MOST_WEIGHT}, such as {name}:8, got {entry!r}",
                )
            weighted += [name] * int(weight or 1)
        return tuple(weighted)

    @property
    def telling(self) -> Telling:
        """How questions are put."""
        return replace(read_telling(self.to_json()), formats=self.weighted_formats)

    def _list_fitting_themes(self) -> list[str]:
        longest = self.range[1] + (2 if self.rectangular else 0)
        return [name for name in themes() if min(map(len, theme(name).actions)) >= longest]

    def to_json(self) -> ExportSettings:
        """Return what the files depend on."""
        return {
            "games": self.games,
            "sizes": self.sizes,
            "rectangular": self.rectangular,
            "count": self.count,
            "varied": self.varied,
            "answers": self.answers,
            "purpose": self.purpose,
            "scale": list(self.scales),
            "formats": list(self.formats),
            "themes": list(self.themes) or self._list_fitting_themes(),
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: where, how many examples in each split, and a hash of the prompts."""

    folder: Path
    counts: dict[str, int]
    prompts: str
    notes: tuple[str, ...] = ()

    def to_json(self) -> ExportCounts:
        """Return it as plain data."""
        return {"counts": self.counts, "prompts": self.prompts, "notes": list(self.notes)}


@dataclass(frozen=True, slots=True)
class _Shard:
    """A file to be written, with its games by shape."""

    path: Path
    config: ExportConfig
    games: tuple[Array, ...]
    seed: int


def export(
    config: ExportConfig, on_progress: Callable[[int, int], None] = lambda done, total: None
) -> Exported:
    """Write all files that are missing.

    `on_progress` is told how many shards are there, and how many there will be.
    """
    folder = Path(config.output)
    shards, notes = _share_games(config, folder)
    counts = dict.fromkeys(SPLITS, 0)
    for shard in shards:
        counts[shard.path.name.partition("-")[0]] += sum(map(len, shard.games))
    exported = Exported(folder, counts, hash_prompts(config.telling), notes)
    _write_manifest(config, exported, {})
    missing = [shard for shard in shards if not shard.path.exists()]
    on_progress(len(shards) - len(missing), len(shards))
    processes = min(config.workers or os.cpu_count() or 1, len(missing))
    # Starting processes takes longer than writing a few files.
    few = processes < 2 or len(missing) <= _FEW
    done: Iterator[Path]
    if few:
        done = map(_write_shard, missing)
    else:
        done = Processes(processes).map(_write_shard, missing, None)
    for number, _ in enumerate(done, len(shards) - len(missing) + 1):
        on_progress(number, len(shards))
    # What the files hold: a game without one answer has no row.
    counts = dict.fromkeys(SPLITS, 0)
    for shard in shards:
        with shard.path.open("rb") as lines:
            counts[shard.path.name.partition("-")[0]] += sum(1 for _ in lines)
    written = replace(exported, counts=counts)
    _write_manifest(config, written, {shard.path.name: hash_file(shard.path) for shard in shards})
    write_text(folder / "README.md", write_card(config.to_json(), written.to_json()))
    return written


export_examples = take_settings(ExportConfig, export)
"""Write examples to files and return what was written; the arguments are the fields of
`ExportConfig`."""


def _write_manifest(config: ExportConfig, exported: Exported, files: dict[str, str]) -> None:
    """Write what the folder holds; StoreError where it holds something else already."""
    path = exported.folder / "manifest.json"
    settings = json.loads(json.dumps(config.to_json()))
    if path.exists():
        known = read_manifest(exported.folder)
        if known["settings"] != settings:
            raise StoreError(
                f"{exported.folder} holds examples of other settings; choose another folder"
            )
        if known["prompts"] != exported.prompts:
            raise StoreError(
                f"{exported.folder} holds examples of other prompts ({known['prompts']}) than are"
                f" written now ({exported.prompts}); choose another folder, or remove this one"
            )
    manifest = {
        "format": FORMAT,
        "settings": settings,
        **exported.to_json(),
        "python": sys.version.split()[0],
        "files": files,
    }
    exported.folder.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(manifest, indent=2) + "\n")


def read_manifest(folder: Path) -> ExportManifest:
    """Return what a folder of examples says of itself.

    Raises StoreError where it says nothing that can be read.
    """
    try:
        manifest: ExportManifest = parse_json(
            read_text_file(folder / "manifest.json", _LARGEST_MANIFEST)
        )
        if manifest["format"] != FORMAT:
            raise StoreError(
                f"{folder} was written in format {manifest['format']}; this version reads {FORMAT}"
            )
        _check_manifest(manifest)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{folder} holds no examples: its manifest.json cannot be read ({error})"
        ) from None
    return manifest


def _check_manifest(manifest: ExportManifest) -> None:
    """Raise TypeError or KeyError if something used is not in the form it is written in."""
    made = manifest["settings"]
    texts = [manifest["prompts"], made["purpose"], made["answers"], made["games"]]
    for listed in (made["formats"], made["themes"]):
        texts += listed
    for name, known in manifest["files"].items():
        texts += [name, known]
    for text in texts:
        if not isinstance(text, str):
            raise TypeError("expected texts in its settings and files")
    if type(manifest["counts"]["train"]) is not int:
        raise TypeError("expected a whole number of examples")


def _share_games(config: ExportConfig, folder: Path) -> tuple[list[_Shard], tuple[str, ...]]:
    """Draw games of all shapes, each class once, and share them out by split.

    Each goes to the files of its split.
    """
    shapes = _choose_shapes(config)
    notes: list[str] = []
    groups: dict[str, list[Array]] = {name: [] for name in SPLITS}
    # Rounded sums of shares, so that all shapes together are as many as were asked for.
    ends = np.round(config.count * np.cumsum([0.0, *shapes.values()])).astype(int)
    for number, (shape, wanted) in enumerate(zip(shapes, np.diff(ends).tolist(), strict=True)):
        games, keys = _draw_classes(
            config,
            shape,
            wanted,
            np.random.default_rng([config.seed, number]),
        )
        if len(games) < wanted:
            notes.append(
                f"{shape[0]}x{shape[1]}: {len(games):,} classes; the rest are relabelled games of"
                " the training"
            )
            # Other games of the classes that are trained on: few classes would hardly be seen
            # otherwise.
            again = _draw_games(
                config,
                games.shape[2:],
                wanted - len(games),
                np.random.default_rng([config.seed, number, 1]),
            )
            again_keys = classify(again)
            trained = split_classes(again_keys) == 0
            games = np.concatenate([games, again[trained]])
            keys = np.concatenate([keys, again_keys[trained]])
        splits = split_classes(keys)
        if config.games in _VARIED:
            vary_rng = np.random.default_rng([config.seed, number, 2])
            games = vary_payoffs(games, config, vary_rng)
        for index, name in enumerate(SPLITS):
            groups[name].append(games[splits == index])
    shards = []
    for name, of_shapes in reversed(
        groups.items()
    ):  # what a training is measured on is there when it begins
        count = -(
            -sum(map(len, of_shapes)) // SHARD
        )  # a split of nothing has no file, which nobody could read
        for number in range(count):
            path = folder / f"{name}-{number:05d}.jsonl"
            part = tuple(games[number::count] for games in of_shapes if len(games) > number)
            shards.append(_Shard(path, config, part, split(config.seed, name, number)))
    return shards, tuple(notes)


def _choose_shapes(config: ExportConfig) -> dict[tuple[int, int], float]:
    """Return every shape with its share: larger games are harder, so there are more of them."""
    first, last = config.range
    squares = [(side, side) for side in range(first, last + 1)]
    sides = range(2, last + 3)
    # Of two sides one is no longer than the largest square, so that larger squares stay unseen.
    oblongs = [(a, b) for a in sides for b in sides if a != b and min(a, b) <= last]
    shares: dict[tuple[int, int], float] = {}
    for shapes, share in ((squares, 1 - config.rectangular), (oblongs, config.rectangular)):
        weights = {(a, b): (a * b) ** 1.5 for a, b in shapes}
        shares |= {
            shape: share * weight / sum(weights.values()) for shape, weight in weights.items()
        }
    return {shape: share for shape, share in shares.items() if share}


def _draw_games(
    config: ExportConfig,
    shape: tuple[int, ...],
    count: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    scales = rng.choice(config.scales, (count, *[1] * (1 + len(shape))))
    drawn: NDArray[np.int64] = (
        np.floor(rng.random((count, 2, *shape)) * (2 * scales + 1)).astype(np.int64) - scales
    )
    if config.games == "zero-sum":
        drawn[:, 1] = -drawn[:, 0]
    return drawn


def draw_test_examples(config: ExportConfig) -> list[TrainingExample]:
    """Draw examples of one square size from games whose classes are in the test split.

    Draws as many as `config.count` says, or fewer if there are hardly any.
    """
    rng = np.random.default_rng(config.seed)
    side = config.range[1]
    found: list[Array] = []
    missing = config.count
    for _ in range(_TRIES):
        drawn = _draw_games(config, (side, side), _DRAW, rng)
        kept = drawn[split_classes(classify(drawn)) == _TEST][:missing]
        found.append(kept.astype(np.float64))
        missing -= len(kept)
        if not missing:
            break
    games = np.concatenate(found)
    if config.games in _VARIED:
        games = vary_payoffs(games, config, rng)
    return make_examples(config, [games], rng)


def vary_payoffs(games: Array, config: ExportConfig, rng: np.random.Generator) -> Array:
    """Shift, multiply or divide by ten the payoffs of a share of the games (n, 2, rows, cols).

    None of it changes the class of a game. Constants are as large as the payoffs; in zero-sum games
    they have opposite signs, so that the games stay zero-sum.
    """
    count = len(games)
    ways = rng.integers(3, size=count)
    varied = rng.random(count) < config.varied
    largest = np.maximum(np.abs(games).max(axis=(1, 2, 3)), 1.0)
    shifts = np.round(rng.uniform(-1.0, 1.0, (count, 2)) * largest[:, None])
    if config.games == "zero-sum":
        shifts[:, 1] = -shifts[:, 0]
    factors = rng.choice(_FACTORS, count)
    shifted, multiplied, divided = (varied & (ways == way) for way in range(3))
    changed = games.astype(np.float64)
    changed[shifted] += shifts[shifted][:, :, None, None]
    changed[multiplied] *= factors[multiplied][:, None, None, None]
    changed[divided] /= _TENTHS
    return changed + 0.0  # no payoff is -0


def _draw_classes(
    config: ExportConfig,
    shape: tuple[int, int],
    count: int,
    rng: np.random.Generator,
) -> tuple[Array, Keys]:
    """Draw games of different classes, fewer where there are hardly more."""
    games: NDArray[np.int64] = np.empty((0, 2, *shape), np.int64)
    keys: Keys = np.empty(0, np.uint64)
    while len(games) < count:
        drawn = _draw_games(config, shape, min(_DRAW, 2 * count + 100), rng)
        known = len(keys)
        games = np.concatenate([games, drawn])
        keys, firsts = np.unique(np.concatenate([keys, classify(drawn)]), return_index=True)
        order = np.argsort(firsts)
        games = games[firsts[order]]
        keys = keys[order]
        if len(keys) - known <= _EXHAUSTED * len(drawn):
            break
    return games[:count].astype(np.float64), keys[:count]


def _write_shard(shard: _Shard) -> Path:
    """Make the examples of a file and write it."""
    rng = np.random.default_rng(shard.seed)
    examples = make_examples(shard.config, shard.games, rng)
    rng.shuffle(examples)
    _check_answers(examples[:_CHECKED])
    rows = (example.to_json(shard.config.purpose) for example in examples)
    waiting = shard.path.with_name(f".{shard.path.name}.{os.getpid()}")
    with waiting.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    os.replace(waiting, shard.path)
    return shard.path


def make_examples(
    config: ExportConfig,
    groups: Sequence[Array],
    rng: np.random.Generator,
) -> list[TrainingExample]:
    """Make the examples of games about payoff tables, grouped by shape."""
    telling = config.telling
    is_told = telling.kind in ("story", "claims")
    make = make_told_examples if is_told else make_matrix_examples
    made: list[TrainingExample] = []
    for games in groups:
        made += make(games, telling, rng)
    return made


def _check_answers(examples: list[TrainingExample]) -> None:
    """Measure answers as the replies of a model are measured, so that no wrong answer is taught."""
    for example in examples:
        try:
            score = score_reply(example.task, example.answer)
        except InvalidMove as error:
            raise StoreError(f"the answer {example.answer!r} cannot be read: {error}") from None
        if score < _LEAST:
            raise StoreError(f"the answer {example.answer!r} scores {score:.3f} in {example.task}")
