"""Questions exactly as the benchmark asks them, as plain data: a task, and its words.

Games are told apart by their class: two games that differ by the order of actions, by who is which
player or by a positive affine change of a player's payoffs have the same key. Keys decide which
games are trained on, so that no game of a test is a relabelled game of the training.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.ask import Mixture
from bestresponse.core.game import View
from bestresponse.formal.formalize.forms import ProgramForm
from bestresponse.formal.formalize.plan import library, nearest
from bestresponse.games.matrix.game import MatrixGame, number as write_number
from bestresponse.players.llm.player import prompt
from bestresponse.players.llm.texts import TEXTS
from bestresponse.studies.bench.games import own_view
from bestresponse.studies.bench.plan import make_bench_game
from bestresponse.studies.improve.claims import write_claims_question
from bestresponse.studies.improve.rows import ChatMessage, ExportSettings, GameTask
from bestresponse.telling.render import write_rules
from bestresponse.theory.games.normal_form import Array

Keys = NDArray[np.uint64]
SPLITS = ("train", "validation", "test")
SHORT = "short"
"""A format beside those of the benchmark: the payoffs alone, so that a training sees four times as
many games."""
NEUTRAL = "neutral"
_HELD_OUT = 50
"""One class in so many is for validation, and as many for tests."""
_MIXING = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
"""Multipliers of splitmix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators",
OOPSLA 2014)."""
_TENTHS = 10
_WIDE = 1 << 20
"""More than any normalised payoff, so that two payoffs of a cell fit in one number."""


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A question, the solver's answer, and what is needed to measure another answer."""

    system: str
    question: str
    answer: str
    task: GameTask

    @property
    def prompt(self) -> list[ChatMessage]:
        """What is asked, as messages."""
        turns = (("system", self.system), ("user", self.question))
        return [{"role": role, "content": text} for role, text in turns if text]

    def to_json(self, purpose: str = "sft") -> dict[str, object]:
        """Return the example as a row for a purpose.

        This is supervised training (`sft`), or reinforcement with a reward (`rl`).

        The task is a text, so that rows of all kinds of games have the same columns.
        """
        shared = {"answer": self.answer, "task": json.dumps(self.task)}
        if purpose == "rl":
            return {"prompt": self.prompt, **shared}
        return {
            "messages": [*self.prompt, {"role": "assistant", "content": self.answer}],
            **shared,
        }


@dataclass(frozen=True, slots=True)
class Telling:
    """How questions are put and answered.

    Formats and themes are those of the benchmark, answers are worked or bare.
    """

    formats: tuple[str, ...] = ("table",)
    themes: tuple[str, ...] = ("neutral",)
    worked: bool = True
    kind: str = "matrix"


def read_telling(made: ExportSettings) -> Telling:
    """Return how the questions of an export are put, in formats without their weights."""
    kinds = {"stories": "story", "claims": "claims", "replies": "reply"}
    return Telling(
        formats=tuple(name.partition(":")[0] for name in made["formats"]),
        themes=tuple(made["themes"]),
        worked=made["answers"] == "worked",
        kind=kinds.get(made["games"], "matrix"),
    )


def classify(payoffs: NDArray[Any]) -> Keys:
    """Return the key of the class of every game, payoffs (n, 2, rows, cols).

    Payoffs are in whole numbers or tenths.

    >>> pennies = np.array([[[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]])
    >>> relabelled = 3 * pennies[:, ::-1, ::-1] + 1
    >>> bool(classify(pennies) == classify(relabelled))
    True
    """
    whole = np.round(payoffs * _TENTHS).astype(np.int64)
    whole = whole - whole.min(axis=(2, 3), keepdims=True)
    divisor = np.gcd.reduce(whole, axis=(2, 3), keepdims=True)
    first, second = np.moveaxis(whole // np.maximum(divisor, 1), 1, 0).astype(np.uint64)
    wide = np.uint64(_WIDE)
    # Sums do not see an order, so sums of hashes over actions are the same for every order of them.
    cells = _mix(first * wide + second)
    swapped = _mix(second * wide + first).transpose(0, 2, 1)
    keys: Keys = np.minimum(_hash_table(cells), _hash_table(swapped))
    return keys


def _hash_table(cells: Keys) -> Keys:
    rows, columns = (
        _mix(_mix(cells.sum(axis=axis)) + np.uint64(axis)).sum(axis=1) for axis in (2, 1)
    )
    return _mix(rows + np.uint64(3) * columns)


def _mix(values: Keys) -> Keys:
    for shift, factor in zip((30, 27), _MIXING, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * factor
    return values ^ (values >> np.uint64(31))


def split_classes(keys: Keys) -> NDArray[np.int64]:
    """Return for every key the place of its split in `SPLITS`."""
    rest = keys % np.uint64(_HELD_OUT)
    return np.where(rest == 0, 1, np.where(rest == 1, 2, 0))


def describe_matrix(
    payoffs: Array,
    seat: int,
    shown_as: str,
    theme: str,
    kind: str = "matrix",
) -> GameTask:
    """Return a question about a matrix game as plain data; the benchmark makes the same game of it.

    A task of the kind "reply" says how the other player mixes, and asks for a best reply; one of
    the kind "story" tells the game, and asks for its program.
    """
    return {
        "kind": kind,
        "payoffs": payoffs.tolist(),
        "seat": seat,
        "format": shown_as,
        "theme": theme,
        "elicit": "mixed",
    }


def write_question(task: GameTask, worked: bool) -> tuple[str, str]:
    """Return the system message and the question of a task."""
    if task["kind"] == "story":
        game = make_task_game(task)
        story = write_rules(game.view(game.start(), game.roles[task["seat"]]))
        form = ProgramForm(nearest(story, library(), 1))
        return form.system(), form.task(story)
    if task["kind"] == "claims":
        return write_claims_question(make_task_game(task).form, task)
    if task.get("format") == SHORT:
        return "", write_short(task)
    view, ask = find_ask(task)
    if worked:  # as `players.llm.player.Thinking` asks
        view = replace(view, notes=(*view.notes, TEXTS.text("think")))
    return TEXTS.text("system"), prompt(view, ask, "line")


def find_ask(task: GameTask) -> tuple[View, Mixture]:
    """Return what a player sees, and the ask for a mixed strategy."""
    game = make_task_game(task)
    seat = task["seat"]
    view = game.view(game.start(), game.roles[seat])
    if task["kind"] == "reply":
        view = replace(view, notes=(state_mix(game, task),))
    return view, Mixture(game.form.actions[seat])


def make_task_game(task: GameTask) -> MatrixGame:
    """Make the game of a task.

    Only where an equilibrium is asked for, the other is said to be rational.
    """
    game = make_bench_game({**task, "format": "table"} if task["format"] == SHORT else task)
    return game if task["kind"] == "matrix" else replace(game, others="unsaid")


def state_mix(game: MatrixGame, task: GameTask) -> str:
    """Say how the other player of a task mixes."""
    other = 1 - task["seat"]
    shares = (
        f"{name} {share:g}"
        for name, share in zip(game.form.actions[other], task["opponent"], strict=True)
    )
    name = game.roles[other]
    return f"{name[:1].upper()}{name[1:]} chooses with these probabilities: {', '.join(shares)}."


def write_short(task: GameTask) -> str:
    """Write a question of the payoffs alone.

    Whoever asks always has the rows, so that the seats are one task and not two.
    """
    game = make_task_game(task)
    seat = task["seat"]
    rows, columns = (range(len(game.form.actions[player])) for player in (seat, 1 - seat))
    text = write_cells(game, seat, rows, columns)
    return f"{text}\n{state_mix(game, task)}" if task["kind"] == "reply" else text


def write_cells(
    game: MatrixGame,
    seat: int,
    rows: Sequence[int],
    columns: Sequence[int],
) -> str:
    """Write payoffs of some actions.

    There is a line of the other's actions, and a line for each of one's own.
    """
    mine, theirs = (
        [[write_number(side[row, column]) for column in columns] for row in rows]
        for side in own_view(game.form.payoffs, seat)
    )
    if not game.zero_sum:
        mine = [
            list(map("/".join, zip(*cells, strict=True)))
            for cells in zip(mine, theirs, strict=True)
        ]
    actions = game.form.actions[seat]
    others = game.form.actions[1 - seat]
    lines = [" ".join([actions[row], *cells]) for row, cells in zip(rows, mine, strict=True)]
    return "\n".join([" ".join(others[column] for column in columns), *lines])
