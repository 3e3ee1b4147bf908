"""Write examples to files: many games, each class once, in shards that trainers read.

    train-00000.jsonl ... validation-00000.jsonl ... test-00000.jsonl      one conversation a line, and its task
    manifest.json                                                          settings, counts, and a hash of the prompts

Equal settings write equal files. A shard appears complete or not at all, and those that are there are not made again.
"""  # noqa: E501

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import InvalidMove, SettingError, StoreError
from bestresponse.core.files import read_text_file
from bestresponse.core.json import JsonObject
from bestresponse.core.seeds import split
from bestresponse.games.matrix.game import FORMATS, theme, themes
from bestresponse.report.files import write_text
from bestresponse.runs.executors.processes import Processes
from bestresponse.runs.inputs import NamesSetting, take_settings
from bestresponse.runs.settings import setting, settings
from bestresponse.studies.improve.examples import (
    SHORT,
    SPLITS,
    Example,
    Keys,
    Telling,
    classify,
    make_claim_examples,
    make_matrix_examples,
    make_story_examples,
    make_tree_examples,
    review_reasons,
    score_reply,
    split_classes,
)
from bestresponse.theory.games.normal_form import Array

FORMAT = 2
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
_REVIEWED = 2
"""Examples of each shard whose reasons are decided by `verify`, which takes a tenth of a second
each."""
_LEAST = 0.998
"""A mix in whole thousandths scores at least this much, whatever its rounding costs."""
_LARGEST_SIDE = 12


@settings
class ExportConfig:
    """Write questions as the benchmark asks them, with the solver's answers, for training a model
    on them."""

    output: str | Path = setting(kw_only=False, short="-o", help="Folder for the files.")
    games: Literal["zero-sum", "general-sum", "replies", "trees", "stories", "claims"] = setting(
        default="zero-sum"
    )
    """What kind; in replies the other's mix is stated, of stories the program is wanted, of claims
    what a text says."""
    sizes: str = setting(default="2-4", help="Actions of each player, such as 2-4 or 3.")
    rectangular: float = setting(
        default=0.2,
        ge=0,
        lt=1,
        help="Share of games in which one player has up to two actions more than any square.",
    )
    trees: NamesSetting = setting(
        default=("kuhn-poker",), help="With trees: games that are played in turn."
    )
    count: int = setting(
        default=10_000, ge=1, le=50_000_000, help="Examples in all splits together."
    )
    scale: int = setting(
        default=9, ge=1, le=10_000, help="Payoffs are whole numbers from -scale to scale."
    )
    formats: NamesSetting = setting(
        default=FORMATS,
        help=(
            "table, prose or json, as the benchmark asks, or short, the payoffs alone; drawn for"
            " each game."
        ),
    )
    themes: NamesSetting = setting(
        default=(), help="Names and stories of the benchmark; drawn. [default: all that fit]"
    )
    answers: Literal["worked", "direct"] = setting(
        default="worked", help="worked: with steps before the strategy; direct: the strategy alone."
    )
    files: Literal["jsonl", "parquet"] = setting(default="jsonl", help="File format.")
    seed: int = setting(default=0, ge=0, help="Seed of the games.")
    workers: int | None = setting(
        default=None, how=True, ge=1, le=256, help="Processes. [default: one a core]"
    )

    def __post_init__(self) -> None:
        first, last = self.range
        if not 1 < first <= last <= _LARGEST_SIDE - 2:
            raise SettingError(
                "sizes",
                f"expected sizes from 2 to {_LARGEST_SIDE - 2}, such as 2-4, got {self.sizes!r}",
            )
        for name in self.formats or [""]:
            if name not in (*FORMATS, SHORT):
                raise SettingError(
                    "formats", f"expected {', '.join(FORMATS)} or {SHORT}, got {name!r}"
                )
        if self.games == "stories" and SHORT in self.formats:
            raise SettingError(
                "formats", f"expected {', '.join(FORMATS)}: a story is told in words, not {SHORT}"
            )
        if self.games == "claims" and tuple(self.formats) != FORMATS:
            raise SettingError(
                "formats", "does nothing for claims: the text is about the game, which is not shown"
            )
        if self.games == "trees" and not self.trees:
            raise SettingError("trees", "expected at least one game that is played in turn")
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
    def telling(self) -> Telling:
        """How questions are put."""
        longest = self.range[1] + (2 if self.rectangular else 0)
        fitting = tuple(name for name in themes() if min(map(len, theme(name).actions)) >= longest)
        kind = {"stories": "story", "claims": "claims"}.get(self.games, "matrix")
        return Telling(
            tuple(self.formats), tuple(self.themes) or fitting, self.answers == "worked", kind
        )

    def to_json(self) -> JsonObject:
        """Return what the files depend on."""
        plain = {
            name: getattr(self, name)
            for name in ("games", "sizes", "rectangular", "count", "scale", "answers")
        }
        return plain | {
            "formats": list(self.formats),
            "themes": list(self.telling.themes),
            "trees": list(self.trees) if self.games == "trees" else [],
            "files": self.files,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: where, how many examples in each split, and a hash of the prompts."""

    folder: Path
    counts: dict[str, int]
    prompts: str
    notes: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        """Return it as plain data."""
        return {"counts": self.counts, "prompts": self.prompts, "notes": list(self.notes)}


@dataclass(frozen=True, slots=True)
class _Shard:
    """A file to be written: its games by shape, or its share of the questions of trees."""

    path: Path
    config: ExportConfig
    games: tuple[Array, ...]
    seed: int
    numbers: range = range(0)


def export(
    config: ExportConfig, on_progress: Callable[[int, int], None] = lambda done, total: None
) -> Exported:
    """Write all files that are missing; `on_progress` is told how many shards are there, and how
    many there will be."""
    folder = Path(config.output)
    shards, notes = (_share_trees if config.games == "trees" else _share_games)(config, folder)
    counts = dict.fromkeys(SPLITS, 0)
    for shard in shards:
        counts[shard.path.name.partition("-")[0]] += sum(map(len, shard.games)) + len(shard.numbers)
    exported = Exported(folder, counts, config.telling.hash_questions(), notes)
    _write_manifest(config, exported)
    missing = [shard for shard in shards if not shard.path.exists()]
    on_progress(len(shards) - len(missing), len(shards))
    processes = min(config.workers or os.cpu_count() or 1, len(missing))
    # Starting processes takes longer than writing a few files.
    few = processes < 2 or len(missing) <= _FEW
    done = (
        map(_write_shard, missing) if few else Processes(processes).map(_write_shard, missing, None)
    )
    for number, _ in enumerate(done, len(shards) - len(missing) + 1):
        on_progress(number, len(shards))
    return exported


export_examples = take_settings(ExportConfig, export)
"""Write examples to files and return what was written; the arguments are the fields of
`ExportConfig`."""


def _write_manifest(config: ExportConfig, exported: Exported) -> None:
    """Write what the folder holds; StoreError where it holds something else already."""
    path = exported.folder / "manifest.json"
    manifest = {
        "format": FORMAT,
        "settings": config.to_json(),
        **exported.to_json(),
        "python": sys.version.split()[0],
    }
    if path.exists() and read_manifest(exported.folder)["settings"] != json.loads(
        json.dumps(config.to_json())
    ):
        raise StoreError(
            f"{exported.folder} holds examples of other settings; choose another folder"
        )
    exported.folder.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(manifest, indent=2) + "\n")


def read_manifest(folder: Path) -> JsonObject:
    """Return what a folder of examples says of itself; StoreError where it says nothing that can be
    read."""
    try:
        manifest: JsonObject = json.loads(
            read_text_file(folder / "manifest.json", _LARGEST_MANIFEST)
        )
        if manifest["format"] != FORMAT:
            raise StoreError(
                f"{folder} was written in format {manifest['format']}; this version reads {FORMAT}"
            )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{folder} holds no examples: its manifest.json cannot be read ({error})"
        ) from None
    return manifest


def _share_games(config: ExportConfig, folder: Path) -> tuple[list[_Shard], tuple[str, ...]]:
    """Draw games of all shapes, each class once, and share them out to the files of their
    splits."""
    shapes = _choose_shapes(config)
    notes: list[str] = []
    groups: dict[str, list[Array]] = {name: [] for name in SPLITS}
    # Rounded sums of shares, so that all shapes together are as many as were asked for.
    ends = np.round(config.count * np.cumsum([0.0, *shapes.values()])).astype(int)
    for number, (shape, wanted) in enumerate(zip(shapes, np.diff(ends).tolist(), strict=True)):
        games, keys = _draw_classes(
            config, shape, wanted, np.random.default_rng([config.seed, number])
        )
        if len(games) < wanted:
            notes.append(
                f"{shape[0]}x{shape[1]}: {len(games):,} classes; the rest are relabelled games of"
                " the training"
            )
            games, keys = _repeat_classes(
                config, games, keys, wanted, np.random.default_rng([config.seed, number, 1])
            )
        splits = split_classes(keys)
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
            path = folder / f"{name}-{number:05d}.{config.files}"
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
    config: ExportConfig, shape: tuple[int, ...], count: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    drawn = rng.integers(-config.scale, config.scale + 1, (count, 2, *shape))
    if config.games == "zero-sum":
        drawn[:, 1] = -drawn[:, 0]
    return drawn


def _draw_classes(
    config: ExportConfig, shape: tuple[int, int], count: int, rng: np.random.Generator
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
        games, keys = games[firsts[order]], keys[order]
        if len(keys) - known < _EXHAUSTED * len(drawn):
            break
    return games[:count].astype(np.float64), keys[:count]


def _repeat_classes(
    config: ExportConfig, games: Array, keys: Keys, count: int, rng: np.random.Generator
) -> tuple[Array, Keys]:
    """Fill up with other games of the classes that are trained on; few classes would hardly be seen
    otherwise."""
    again = _draw_games(config, games.shape[2:], count - len(games), rng)
    again_keys = classify(again)
    trained = split_classes(again_keys) == 0
    return np.concatenate([games, again[trained]]), np.concatenate([keys, again_keys[trained]])


def _share_trees(config: ExportConfig, folder: Path) -> tuple[list[_Shard], tuple[str, ...]]:
    """Share out the questions of trees, which are few and repeat; a part is for validation too, and
    none for tests."""
    for game in config.trees:
        next(
            make_tree_examples(game, config.telling)
        )  # a game that cannot be asked about is refused before all
    held = max(1, config.count // 50)
    parts = {"train": range(config.count - held), "validation": range(held)}
    shards = [
        _Shard(
            folder / f"{name}-{number:05d}.{config.files}",
            config,
            (),
            split(config.seed, name, number),
            numbers,
        )
        for name, every in parts.items()
        for number, numbers in enumerate(every[k : k + SHARD] for k in range(0, len(every), SHARD))
    ]
    return shards, (
        "the policies of trees are learnt by heart: validation repeats questions of the training",
    )


def _write_shard(shard: _Shard) -> Path:
    """Make the examples of a file and write it."""
    rng = np.random.default_rng(shard.seed)
    telling = shard.config.telling
    if shard.config.games == "trees":
        every = [
            example for game in shard.config.trees for example in make_tree_examples(game, telling)
        ]
        examples = list(islice(cycle(every), shard.numbers.start, shard.numbers.stop))
    elif shard.config.games == "stories":
        examples = [
            example for games in shard.games for example in make_story_examples(games, telling, rng)
        ]
    elif shard.config.games == "claims":
        examples = [
            example for games in shard.games for example in make_claim_examples(games, telling, rng)
        ]
    else:
        kind = "reply" if shard.config.games == "replies" else "matrix"
        examples = [
            example
            for games in shard.games
            for example in make_matrix_examples(games, telling, rng, kind)
        ]
    rng.shuffle(examples)
    _check_answers(examples[:_CHECKED])
    if telling.worked and shard.config.games not in ("trees", "stories", "claims"):
        _check_reasons(examples[:_REVIEWED])
    rows = (example.to_json() for example in examples)
    waiting = shard.path.with_name(f".{shard.path.name}.{os.getpid()}")
    if shard.config.files == "parquet":
        _write_parquet(waiting, rows)
    else:
        with waiting.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    os.replace(waiting, shard.path)
    return shard.path


def _check_answers(examples: list[Example]) -> None:
    """Measure answers as the replies of a model are measured, so that no wrong answer is taught."""
    for example in examples:
        try:
            score = score_reply(example.task, example.answer)
        except InvalidMove as error:
            raise StoreError(f"the answer {example.answer!r} cannot be read: {error}") from None
        if score < _LEAST:
            raise StoreError(f"the answer {example.answer!r} scores {score:.3f} in {example.task}")


def _check_reasons(examples: list[Example]) -> None:
    """Have reasons decided by `verify`, so that no wrong figure is taught."""
    for example in examples:
        if review_reasons(example.task, example.answer).refuted:
            raise StoreError(f"verify refutes the reasons {example.answer!r} in {example.task}")


def _write_parquet(path: Path, rows: Iterator[JsonObject]) -> None:
    import pyarrow
    from pyarrow import parquet

    columns = [{"messages": row["messages"], "task": json.dumps(row["task"])} for row in rows]
    parquet.write_table(pyarrow.Table.from_pylist(columns), path)
