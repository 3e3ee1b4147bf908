"""Improve a model round by round: measure it, train it on what it does worst, measure it again.

A kind of question is a kind of game of one size. A round

1. measures every kind on games of the test split that were never asked before;
2. gives most of its examples to the weakest kinds, and the rest to all others, so that nothing is
   forgotten;
3. trains a student on them;
4. measures student and model on the same fresh games.

A student that gains replaces the model; the first that does not ends the rounds. Every step is kept
in a folder of the run, and a run that was stopped goes on with the step it was at.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product, starmap
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal, TypedDict, cast

from bestresponse.core.errors import SettingError
from bestresponse.core.seeds import split
from bestresponse.models.base import ModelsByName
from bestresponse.report.blocks import lines, table, text
from bestresponse.report.files import write_text
from bestresponse.report.frames import column
from bestresponse.runs.execution import Execution, Outcome, Progress
from bestresponse.runs.inputs import NamesSetting
from bestresponse.runs.settings import setting, settings
from bestresponse.runs.store.folder import RunFolder, read_lines, write_rows
from bestresponse.runs.study import Estimate, Study
from bestresponse.studies.improve.contents import WeightsSetting, hash_file
from bestresponse.studies.improve.examples import SHORT
from bestresponse.studies.improve.export import ExportConfig, draw_test_examples, export
from bestresponse.studies.improve.rows import Conversation
from bestresponse.studies.improve.study import (
    TrainConfig,
    TrainingSettings,
    check_output,
    check_packages,
    read_measured,
)

_GAMES = ("zero-sum", "general-sum", "replies", "stories", "claims")
_KEPT = 0.3
"""Share of the examples of a round that goes to all kinds alike, so that nothing is forgotten."""
_LEAST = 60
"""Examples of a kind at least: fewer leave nothing to measure on the way."""
_WRITTEN = "written.txt"
"""Holds the hash of the student that the run wrote to its output folder."""
_SEEDS = 1 << 31
_WEAKEST = 4  # kinds that get most of the examples
_LEAST_GAIN = 0.005
"""A student that answers fewer more questions right ends the rounds."""
_SUCCESS = 0.01  # what an answer may lose, as a share of the payoff range


@settings
class ImproveConfig(TrainingSettings):
    """Improve a model in rounds: measure it, train it on what it does worst, and measure it again
    on new games, until there is no further gain."""

    model: WeightsSetting = setting(
        kw_only=False,
        argument=True,
        help="Weights, as `train` takes them.",
    )
    rounds: int = setting(default=3, ge=1, le=100, help="Maximum number of rounds.")
    games: NamesSetting = setting(
        default=("zero-sum", "general-sum", "replies"),
        help=f"Kinds of games: {', '.join(_GAMES)}.",
    )
    sizes: str = setting(default="2-4", help="Actions of each player, such as 2-4 or 3.")
    formats: NamesSetting = setting(
        default=(
            "table",
            "prose",
            "json",
            SHORT,
        ),
        help="How games are described, as in `export`.",
    )
    answers: Literal["worked", "direct"] = setting(
        default="worked", help="Answers with steps before the strategy, or the strategy alone."
    )
    questions: int = setting(
        default=50,
        ge=4,
        le=10_000,
        help="Questions per kind in every measurement.",
    )
    examples: int = setting(
        default=50_000,
        ge=100,
        le=10_000_000,
        help="Examples to train on, per round.",
    )
    output: str | Path = setting(
        default="improved",
        how=True,
        short="-o",
        metavar="FOLDER",
        help="Folder for the best student.",
    )
    minutes: float = setting(
        default=10.0,
        gt=0,
        le=100_000,
        help="Maximum training time per round.",
    )

    def __post_init__(self) -> None:
        unknown = [name for name in self.games if name not in _GAMES]
        if unknown or not self.games:
            raise SettingError("games", f"expected some of {', '.join(_GAMES)}")
        for kind in list_kinds(self):
            kind.choose_export(self, Path("unused"), 1)  # refused here, not in a round


@dataclass(frozen=True, slots=True)
class Kind:
    """Questions of one kind: games of one size."""

    games: str
    size: int

    @property
    def name(self) -> str:
        """The kind in words."""
        return f"{self.games} {self.size}x{self.size}"

    def choose_export(self, config: ImproveConfig, folder: Path, count: int) -> ExportConfig:
        """Return the settings of an export of this kind."""
        formats = [name for name in config.formats if self.games != "stories" or name != SHORT]
        options: dict[str, Any] = {} if self.games == "claims" else {"formats": formats}
        return ExportConfig(
            folder / self.name.replace(" ", "-"),
            games=cast(Any, self.games),
            sizes=str(self.size),
            rectangular=0.0,
            answers=config.answers,
            count=count,
            **options,
        )


def list_kinds(config: ImproveConfig) -> list[Kind]:
    """List all kinds that a run is about."""
    first, last = ExportConfig("unused", sizes=config.sizes).range
    return list(starmap(Kind, product(config.games, range(first, last + 1))))


class WeaknessRow(TypedDict):
    """How a kind of questions went in a round."""

    round: int
    kind: str
    asked: int
    before: Annotated[float, column("before", ".1%", "right at the start of the round")]
    examples: Annotated[int, column("examples", ",", "examples made for it in this round")]
    old: Annotated[float | None, column("model", ".1%", "right on fresh games, before training")]
    new: Annotated[float | None, column("student", ".1%", "right on the same, after training")]


class ImproveRow(TypedDict):
    """What a round gained, on games that are new to both."""

    round: int
    asked: int
    old: Annotated[float, column("model", ".1%", "loses at most 0.01 of the payoff range")]
    new: Annotated[float, column("student", ".1%", "loses at most 0.01 of the payoff range")]
    gain: Annotated[float, column("gain", "+.1%")]
    kept: Annotated[bool, column("kept", "", "whether the student replaces the model")]


class AnsweredQuestion(TypedDict):
    """Of what kind a question was, and whether it was answered well."""

    kind: str
    right: bool


def run_rounds(
    config: ImproveConfig,
    folder: RunFolder,
    models: ModelsByName,
    how: Execution,
) -> Outcome:
    """Make all rounds that are missing, and write the best student."""
    check_packages()
    check_free(Path(config.output), folder.path)
    from bestresponse.studies.improve.making import check_device

    check_device(config.device)
    rows: list[ImproveRow] = []
    kinds: list[WeaknessRow] = []
    current = str(config.model)
    for number in range(1, config.rounds + 1):
        made = _Round(
            config=config,
            work=folder.path / f"round-{number}",
            number=number,
            model=current,
        )
        row, of_kinds = made.run()
        rows.append(row)
        kinds += of_kinds
        write_rows(folder.path / "rounds.jsonl", rows)
        write_rows(folder.path / "kinds.jsonl", kinds)
        how.on_progress(Progress(100, 0, round(100 * number / config.rounds), 0))
        if not row["kept"]:
            break
        current = str(made.student)
    if current != str(config.model):
        output = Path(config.output)
        shutil.copytree(Path(current), output, dirs_exist_ok=True)
        write_text(folder.path / _WRITTEN, _hash_student(output))
    return Outcome(played=100)


def check_free(output: Path, run: Path) -> None:
    """Refuse to write over anything but the student that this very run wrote."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    written = run / _WRITTEN
    if written.is_file() and written.read_text("utf-8") == _hash_student(output):
        return
    raise SettingError("output", f"{output} holds something else: choose another folder")


def _hash_student(folder: Path) -> str:
    path = folder / "model.safetensors"
    return hash_file(path) if path.is_file() else ""


@dataclass(frozen=True, slots=True)
class _Round:
    """One round: the place of its steps, and the model that it begins with."""

    config: ImproveConfig
    work: Path
    number: int
    model: str

    @property
    def student(self) -> Path:
        """The folder of its student."""
        return self.work / "student"

    def run(self) -> tuple[ImproveRow, list[WeaknessRow]]:
        """Make the steps that are missing, and return what came of them."""
        self.work.mkdir(parents=True, exist_ok=True)
        before = self._measure("before", self.model)
        shares = share_examples(self.config, before)
        folders = self._export(shares)
        if not (self.work / "after.jsonl").exists():
            self._train(folders)
        old = self._measure("fresh", self.model)
        new = self._measure("after", str(self.student), asked="fresh")
        row = summarize_round(self.number, old, new)
        return row, list(_list_kind_rows(self, before, shares, old, new))

    def _measure(
        self,
        step: str,
        model: str,
        asked: str = "",
    ) -> list[AnsweredQuestion]:
        """Ask a model about fresh games of every kind, or read how it answered before."""
        path = self.work / f"{step}.jsonl"
        if path.exists():
            return cast(list[AnsweredQuestion], list(read_lines(path)))
        questions = draw_questions(self.config, self.number, asked or step)
        from bestresponse.studies.improve.making import answer_questions

        losses = answer_questions(model, self.config.device, [row for _, row in questions])
        answered = [
            AnsweredQuestion(kind=kind.name, right=lost <= _SUCCESS)
            for (kind, _), lost in zip(questions, losses, strict=True)
        ]
        write_rows(path, answered)
        return answered

    def _export(self, shares: Mapping[Kind, int]) -> list[Path]:
        folders: list[Path] = []
        for kind, count in shares.items():
            config = kind.choose_export(self.config, self.work / "data", count)
            export(replace(config, seed=split(self.config.seed, self.number, kind.name)))
            folders.append(Path(config.output))
        return folders

    def _train(self, folders: Sequence[Path]) -> None:
        from bestresponse.studies.improve.making import train_student

        config = TrainConfig(
            self.model,
            data=tuple(map(str, folders)),
            output=self.student,
            minutes=self.config.minutes,
            steps=self.config.steps,
            lora=self.config.lora,
            learning_rate=self.config.learning_rate,
            batch_tokens=self.config.batch_tokens,
            held_out=2 * len(folders),
            tests=0,
            seed=split(self.config.seed, "train", self.number) % _SEEDS,
            device=self.config.device,
        )
        check_output(config)
        train_student(config, self.work, lambda row: None)


def draw_questions(
    config: ImproveConfig,
    number: int,
    step: str,
) -> list[tuple[Kind, Conversation]]:
    """Draw questions of every kind about games of the test split.

    Every step of a round has others.
    """
    drawn: list[tuple[Kind, Conversation]] = []
    for kind in list_kinds(config):
        chosen = kind.choose_export(config, Path("unused"), config.questions)
        seeded = replace(chosen, seed=split(config.seed, number, step, kind.name))
        for example in draw_test_examples(seeded):
            drawn.append((kind, cast(Conversation, example.to_json())))
    return drawn


def find_failures(answered: Sequence[AnsweredQuestion]) -> dict[str, float]:
    """Return the share of wrong answers by kind."""
    asked = Counter[str]()
    wrong = Counter[str]()
    for row in answered:
        asked[row["kind"]] += 1
        wrong[row["kind"]] += not row["right"]
    return {name: wrong[name] / count for name, count in asked.items()}


def share_examples(config: ImproveConfig, answered: Sequence[AnsweredQuestion]) -> dict[Kind, int]:
    """Return how many examples of every kind a round makes.

    The weakest kinds get most, in proportion to their failures, and all get some.
    """
    kinds = list_kinds(config)
    failures = find_failures(answered)
    weakest = sorted(kinds, key=lambda kind: -failures.get(kind.name, 0.0))[:_WEAKEST]
    total = 0.0
    for kind in weakest:
        total += failures.get(kind.name, 0.0)
    each = config.examples * _KEPT / len(kinds)
    counts: dict[Kind, int] = {}
    for kind in kinds:
        more = 0.0
        if kind in weakest and total:
            share = failures.get(kind.name, 0.0) / total
            more = config.examples * (1 - _KEPT) * share
        counts[kind] = max(_LEAST, round(each + more))
    return counts


def summarize_round(
    number: int,
    old: Sequence[AnsweredQuestion],
    new: Sequence[AnsweredQuestion],
) -> ImproveRow:
    """Compare student and model on the same questions."""
    before, after = (fmean(row["right"] for row in rows) for rows in (old, new))
    gain = after - before
    return {
        "round": number,
        "asked": len(new),
        "old": before,
        "new": after,
        "gain": gain,
        "kept": gain >= _LEAST_GAIN,
    }


def _list_kind_rows(
    made: _Round,
    before: Sequence[AnsweredQuestion],
    shares: Mapping[Kind, int],
    old: Sequence[AnsweredQuestion],
    new: Sequence[AnsweredQuestion],
) -> Iterator[WeaknessRow]:
    """Yield how every kind went."""
    examples = {kind.name: count for kind, count in shares.items()}
    first, model, student = map(find_failures, (before, old, new))
    asked = Counter(map(itemgetter("kind"), before))
    for name, failed in first.items():
        yield {
            "round": made.number,
            "kind": name,
            "asked": asked[name],
            "before": 1 - failed,
            "examples": examples[name],
            "old": 1 - model[name] if name in model else None,
            "new": 1 - student[name] if name in student else None,
        }


improve = Study(
    "improve",
    ImproveConfig,
    measure=read_measured(rounds=ImproveRow, kinds=WeaknessRow),
    title="Improving {{ config.model }}",
    subtitle="at most {{ config.rounds }} rounds of {{ config.minutes }} minutes, seed"
    " {{ config.seed }}",
    command="improve",
    unit="percent",
    tables=2,
    count_plays=lambda config: 100,
    estimate_calls=lambda config: Estimate(
        None, f"at most {config.rounds * config.minutes:g} minutes of training"
    ),
    make_run=run_rounds,
    report=(
        text(
            "{% set rows = frame('rounds') %}{% if rows|length %}{% set last = rows[-1] %}"
            "{{ rows|selectattr('kept')|list|length }} of {{ rows|length }} rounds gained. On fresh"
            " games of the last round {{ '%.1f'|format(100 * last.old) }} % of the model's answers"
            " and {{ '%.1f'|format(100 * last.new) }} % of the student's lose at most 0.01 of the"
            " payoff range. Questions are of the test split, whose classes of games are never"
            " trained on, and every measurement draws others.{% endif %}"
        ),
        table("rounds", title="The rounds"),
        table("kinds", title="What was weak, and what became of it"),
        lines("rounds", x="round", y="new", caption="Right answers after every round."),
    ),
)
"""Improve a model round by round."""
