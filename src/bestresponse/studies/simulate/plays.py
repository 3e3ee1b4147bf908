"""The settings of the playground, and what was played, seat by seat, as the records of a run tell it.

A seat's answer is a move by its label, an amount, or a form of several fields, each of which counts as an answer of its
own; under noise what was meant stands beside the move that was made. A void play enters no figure; it is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, TypedDict

import numpy as np

from bestresponse.analysis.theory import Predicted, Theory, describe_theory
from bestresponse.core.ask import Ask, Choice, Words
from bestresponse.core.capabilities import Wording, measure_decision_cost
from bestresponse.core.codec import record_from_json
from bestresponse.core.episode import AnyEpisode, Episode, Record
from bestresponse.core.errors import SettingError
from bestresponse.core.json import JsonMapping, canonical
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import HasSpeakers, HasStage
from bestresponse.players.lookup import SIMULATED
from bestresponse.report.frames import column
from bestresponse.report.stats.interval import Floats, Interval
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.runs.inputs import NamedModel, OptionalModelSetting, PersonasSetting, SeatsSetting
from bestresponse.runs.reporting.answers import Answers, VoidRow, count_answers, describe_void
from bestresponse.runs.seats import MatchSettings, assign_seats, find_model_seats
from bestresponse.runs.settings import setting, settings


@settings
class SimulateConfig(MatchSettings):
    """Play any game many times and report payoffs, moves, regret and welfare beside what theory says.

    The word `game` may be left out: `bestresponse simulate stag-hunt --model M`.
    """

    model: OptionalModelSetting = setting(default=None, kw_only=False, short="-m")
    """Takes the seats that are not named; where others are named only the first of them."""
    seat: SeatsSetting = setting(default_factory=dict, metavar="ROLE=PLAYER")
    """Who sits where: a model, verified:MODEL (its reasoning is checked), random, equilibrium, always:MOVE, a bidder
    or baseline."""
    others: OptionalModelSetting = setting(default=None)
    """Who takes the other seats; the model, or what suits the game, if nobody is named."""
    personas: PersonasSetting = setting(default_factory=dict, metavar="FILE")
    """TOML with a persona for each seat that has one, under the seat's name."""
    referee: OptionalModelSetting = setting(default=None)
    """Who says what was agreed in a dialogue: a model, or simulated; the first who speaks if nobody is named."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.make_game(), HasSpeakers):
            for name, usual in (("personas", {}), ("noise", 0.0), ("about_others", "nothing")):
                if getattr(self, name) != usual:
                    raise SettingError(name, "it belongs to games with moves; people in a dialogue have parts")
            if self.referee is None:
                speaking = [player for player in self.seats.values() if player != SIMULATED]
                object.__setattr__(self, "referee", speaking[0] if speaking else NamedModel(SIMULATED))
        elif self.referee is not None:
            raise SettingError("referee", f"nobody rules in {self.game.name}; it belongs to dialogues")
        model_seats = find_model_seats(self.make_game(), self.seats)
        for seat in self.personas:
            if seat not in self.seats:
                raise SettingError("personas", f"{seat!r} is no seat.{did_you_mean(seat, list(self.seats))}")
            if seat not in model_seats:
                raise SettingError("personas", f"there is one for {seat!r}, but no model sits there")

    @cached_property
    def seats(self) -> Mapping[str, NamedModel]:
        """Who sits where, in the order of the game's roles."""
        return assign_seats(self.make_game(), self.seat, self.model, self.others)

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """The models among the players and the referee, each once."""
        asked = [self.seats[role] for role in find_model_seats(self.make_game(), self.seats)]
        return tuple(dict.fromkeys([*asked, *([self.referee] if self.referee not in (None, SIMULATED) else [])]))

    @property
    def theory(self) -> Theory:
        """What theory says of the game, of one round where it is repeated."""
        return describe_theory(self.make_game())

    @property
    def unit(self) -> str:
        """What payoffs are counted in; empty where the game does not say."""
        game = self.make_game()
        return game.unit if isinstance(game, Wording) else ""


class MoveRow(TypedDict):
    """One answer of a play; a form has a row for each of its fields."""

    repeat: int
    seat: str
    player: str
    turn: Annotated[int, column("round", help="number of the answer among those of its kind in the play")]
    place: Annotated[str, column("knowing", help="what the seat knows where it decides")]
    part: Annotated[str, column("for", help="the field of a form")]
    move: Annotated[str | float, column(help="the move that was made")]
    meant: Annotated[str | float, column(help="what the seat answered")]
    cost: Annotated[
        float | None, column(help="what the answer loses if all else is played as in the equilibrium known in words")
    ]


@dataclass(frozen=True)
class Plays:
    """The plays of a run: `payoffs` has one row for each play that counts, one column a seat.

    Where the game was repeated, payoffs are a round on average, so that they stand beside the theory of one round.
    `options` are those that a seat had, by seat, place and part.
    """

    config: SimulateConfig
    repeats: tuple[int, ...]
    payoffs: Floats
    moves: Sequence[MoveRow]
    voids: Sequence[VoidRow] = ()
    answers: Mapping[str, Answers] = field(default_factory=dict)
    options: Mapping[tuple[str, str, str], Sequence[str]] = field(default_factory=dict)

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats, in their order."""
        return tuple(self.config.seats)

    @cached_property
    def numbers(self) -> Mapping[int, int]:
        """By repeat, the row of its payoffs."""
        return {repeat: row for row, repeat in enumerate(self.repeats)}

    @cached_property
    def rounds(self) -> int:
        """How often a seat answers in the same way within a play, at most; places of a tree are no rounds."""
        return 1 if self.config.theory.tree is not None else max((row["turn"] for row in self.moves), default=1)

    def average(self, values: Floats, figure: str, repeats: Sequence[int] | None = None) -> Interval:
        """Average a figure with an interval from resampling plays; `repeats` tells the play of each value."""
        rng = np.random.default_rng(split(self.config.seed, "playground", figure))
        return cluster_bootstrap(values, repeats, rng=rng)


def read_plays(config: SimulateConfig, lines: Iterable[JsonMapping]) -> Plays:
    """Read every finished play; `lines` are those of a run's records, as plain data."""
    game, names = config.make_game(), {role: str(player) for role, player in config.seats.items()}
    counted: list[tuple[int, Record]] = []
    voids: list[VoidRow] = []
    answers: dict[str, Answers] = {}
    for line in sorted(lines, key=lambda line: int(line["data"]["repeat"])):
        count_answers(answers, line["record"]["submissions"], names)
        if line["record"]["void"]:
            voids.append(describe_void(line))
        else:
            counted.append((line["data"]["repeat"], record_from_json(line["record"])))
    options: dict[tuple[str, str, str], list[str]] = {}
    return Plays(
        config,
        tuple(repeat for repeat, _ in counted),
        np.array([_find_payoffs(config, record) for _, record in counted]).reshape(-1, len(game.roles)),
        [row for repeat, record in counted for row in _list_moves(config, repeat, record, options)],
        voids,
        answers,
        options,
    )


def _find_payoffs(config: SimulateConfig, record: Record) -> list[float]:
    """Return what everybody earned; where the game was repeated, the mean a round, weighted as payoffs were."""
    first = next(iter(config.seats))
    rounds = sum(submission.role == first for submission in record.submissions)
    weight = sum(config.discount**number for number in range(rounds)) if config.rounds > 1 else 1.0
    return [record.payoffs[role] / weight for role in config.seats]


def _list_moves(
    config: SimulateConfig, repeat: int, record: Record, options: dict[tuple[str, str, str], list[str]]
) -> Iterator[MoveRow]:
    """Yield the answers of the seats in one play, from playing it again, and gather the options that they had."""
    game, theory = config.make_game(), config.theory
    episode: AnyEpisode = Episode(game)
    turns: Counter[tuple[str, str]] = Counter()
    rows: list[MoveRow] = []
    for submission in record.submissions:
        role, ask, action = submission.role, episode.pending[submission.role], submission.decision.action
        if role in game.roles:
            turns[role, type(ask).__name__] += 1
            place = theory.name_infoset(episode.view(role)) if theory.tree is not None else ""
            cost = measure_decision_cost(game, episode.state, role, action) if theory.known is not None else None
            for part, value in _list_parts(ask, action):
                known = options.setdefault((role, place, part), [])
                known += [name for name in (ask.options if isinstance(ask, Choice) else ()) if name not in known]
                rows.append(
                    MoveRow(
                        repeat=repeat,
                        seat=role,
                        player=str(config.seats[role]),
                        turn=turns[role, type(ask).__name__],
                        place=place,
                        part=part,
                        move=value,
                        meant=value,
                        cost=cost,
                    )
                )
                cost = None  # that of a form stands at its first field
        episode.submit(role, submission.decision)
    facts = episode.view(game.roles[0]).facts if isinstance(game, HasStage) else {}
    for row in rows:
        if "meant" in facts:
            row["move"] = facts["history"][row["turn"] - 1][game.roles.index(row["seat"])]
        yield row


def _list_parts(ask: Ask, action: Any) -> Iterator[tuple[str, str | float]]:
    """Yield the fields of a form with their values, anything else as one nameless field; no free text."""
    if isinstance(action, Mapping):
        yield from ((name, _read_value(value)) for name, value in action.items())
    elif not isinstance(ask, Words):
        yield "", _read_value(action)


def _read_value(action: Any) -> str | float:
    if isinstance(action, str):
        return action
    return float(action) if isinstance(action, int | float) else canonical(list(action))


def name_move(move: str | float) -> str:
    """Name a move as trees do: whole amounts without a point."""
    return move if isinstance(move, str) else f"{move:g}"


def find_nearest(plays: Plays) -> Predicted | None:
    """Find the equilibrium whose probabilities differ least from the frequencies, the first among equals."""
    times = Counter((row["seat"], row["place"], name_move(row["move"])) for row in plays.moves)
    visits = Counter((row["seat"], row["place"]) for row in plays.moves)

    def measure_distance(predicted: Predicted) -> float:
        distances = (
            abs(times[seat, place, move] / count - chance)
            for (seat, place), count in visits.items()
            for move, chance in predicted.shares[seat][place].items()
        )
        return round(sum(distances), 9)

    return min(plays.config.theory.predicted, key=measure_distance, default=None)
