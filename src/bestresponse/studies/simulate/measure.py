"""What was played, seat by seat, from the records of a run. A void play enters no figure; it is counted.

A seat's answer is a move by its label, an amount, or a form of several fields, each of which counts as an answer of
its own; under noise what was meant stands beside the move that was made. `turn` numbers the answers of one kind that a
seat gives in a play: the round, in a game of rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from bestresponse.analysis.theory import Theory, describe_theory
from bestresponse.core.ask import Ask, Choice, Words
from bestresponse.core.capabilities import measure_decision_cost
from bestresponse.core.codec import record_from_json
from bestresponse.core.episode import AnyEpisode, Episode, Record
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping, canonical
from bestresponse.games.capabilities import HasStage
from bestresponse.runs.reporting.answers import Answers, count_answers
from bestresponse.studies.simulate.config import SimulateConfig

__all__ = ["Made", "Measured", "VoidPlay", "measure"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Made:
    """One answer: in which play (a row of the payoffs), by whom, where and when; `options` are those of a choice.

    `value` is the move that was made, `meant` what the seat answered, None where the two cannot differ. `cost` is what
    the answer loses against others who play the equilibrium that is known in words, None where there is none; that of a
    form stands at its first field.
    """

    play: int
    seat: str
    turn: int
    place: str
    part: str
    value: str | float
    options: tuple[str, ...] = ()
    cost: float | None = None
    meant: str | float | None = None


class AnswerRow(TypedDict):
    """One answer of a play, or one void play."""

    repeat: int
    seat: str
    player: str
    turn: int | None
    place: str
    part: str
    move: str | float | None
    meant: str | float | None
    cost: float | None
    payoff: float | None
    void: str


@dataclass(frozen=True, slots=True)
class VoidPlay:
    """A play without a result, and why."""

    repeat: int
    seat: str
    why: str


@dataclass(frozen=True)
class Measured:
    """A whole run: `payoffs` has one row a play that counts, of which `repeats` tells the number, one column a seat.

    Where the game was repeated, payoffs are a round on average, so that they stand beside the theory of one round.
    """

    config: SimulateConfig
    theory: Theory
    repeats: tuple[int, ...]
    payoffs: Floats
    made: tuple[Made, ...]
    voids: tuple[VoidPlay, ...]
    answers: Mapping[str, Answers]

    @property
    def plays(self) -> int:
        """The number of plays."""
        return len(self.repeats)

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats, in their order."""
        return tuple(role for role, _ in self.config.seats)

    @cached_property
    def rounds(self) -> int:
        """How often a seat answers in the same way within a play, at most; places of a tree are no rounds."""
        return 1 if self.theory.tree is not None else max((one.turn for one in self.made), default=1)

    @cached_property
    def welfare(self) -> Floats:
        """The sum of all payoffs, play by play."""
        total: Floats = self.payoffs.sum(axis=1)
        return total

    @cached_property
    def rows(self) -> tuple[AnswerRow, ...]:
        """One row for each answer of a play that counts, and one for each void play."""
        who = dict(self.config.seats)
        column = {seat: number for number, seat in enumerate(self.seats)}
        made = (
            AnswerRow(
                repeat=self.repeats[one.play],
                seat=one.seat,
                player=who[one.seat],
                turn=one.turn,
                place=one.place,
                part=one.part,
                move=one.value,
                meant=one.value if one.meant is None else one.meant,
                cost=one.cost,
                payoff=float(self.payoffs[one.play, column[one.seat]]),
                void="",
            )
            for one in self.made
        )
        voids = (
            AnswerRow(
                repeat=void.repeat,
                seat=void.seat,
                player=who.get(void.seat, ""),
                turn=None,
                place="",
                part="",
                move=None,
                meant=None,
                cost=None,
                payoff=None,
                void=void.why,
            )
            for void in self.voids
        )
        return (*made, *voids)


def measure(config: SimulateConfig, plays: Iterable[JsonMapping]) -> Measured:
    """Everything that is counted; `plays` are the lines of a run's records, as plain data."""
    game = config.make_game()
    theory = describe_theory(game)
    answers: dict[str, Answers] = {}
    voids: list[VoidPlay] = []
    counted: list[tuple[int, Record]] = []
    for line in plays:
        count_answers(answers, line["record"]["submissions"], dict(config.seats))
        record = record_from_json(line["record"])
        if record.void is None:
            counted.append((line["data"]["repeat"], record))
        else:
            voids.append(VoidPlay(line["data"]["repeat"], record.void.role, record.void.why))
    counted.sort(key=lambda pair: pair[0])
    return Measured(
        config,
        theory,
        tuple(repeat for repeat, _ in counted),
        np.array([_payoffs_a_round(config, game, record) for _, record in counted]).reshape(-1, len(game.roles)),
        tuple(one for row, (_, record) in enumerate(counted) for one in _moves(game, theory, row, record)),
        tuple(sorted(voids, key=lambda void: void.repeat)),
        answers,
    )


def _payoffs_a_round(config: SimulateConfig, game: AnyGame, record: Record) -> list[float]:
    """Return what everybody earned; where the game was repeated, the mean a round, weighted as payoffs were."""
    asked = Counter(submission.role for submission in record.submissions)[game.roles[0]]
    rounds = sum(config.discount**number for number in range(asked)) if config.rounds > 1 else 1.0
    return [record.payoffs[role] / rounds for role in game.roles]


def _moves(game: AnyGame, theory: Theory, row: int, record: Record) -> list[Made]:
    """The answers of the seats in one play, from playing it again."""
    episode: AnyEpisode = Episode(game)
    turns: Counter[tuple[str, str]] = Counter()
    made: list[Made] = []
    for submission in record.submissions:
        role, ask = submission.role, episode.pending[submission.role]
        if role in game.roles:
            turns[role, type(ask).__name__] += 1
            place = theory.name_infoset(episode.view(role)) if theory.tree is not None else ""
            action = submission.decision.action
            cost = measure_decision_cost(game, episode.state, role, action) if theory.known is not None else None
            for part in _parts(ask, action):
                made.append(Made(row, role, turns[role, type(ask).__name__], place, *part, cost))
                cost = None
        episode.submit(role, submission.decision)
    facts = episode.view(game.roles[0]).facts if isinstance(game, HasStage) else {}
    if "meant" not in facts:
        return made
    history = facts["history"]
    return [replace(one, value=history[one.turn - 1][game.roles.index(one.seat)], meant=one.value) for one in made]


def _parts(ask: Ask, action: object) -> Iterator[tuple[str, str | float, tuple[str, ...]]]:
    """The fields of a form, anything else as one nameless field, each with its value and its options; no free text."""
    if isinstance(action, Mapping):
        for name, value in action.items():
            yield name, _value(value), ()
    elif not isinstance(ask, Words):
        yield "", _value(action), ask.options if isinstance(ask, Choice) else ()


def _value(action: Any) -> str | float:
    if isinstance(action, str):
        return action
    if isinstance(action, int | float):
        return float(action)
    return canonical(list(action))
