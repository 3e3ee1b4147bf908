"""The plays of a simulation: what every seat earned, and every move that it made.

A seat's answer is a move by its label, an amount, or a form of several fields, each of which counts
as an answer of its own; under noise what was meant is next to the move that was made. A void
play enters no metric; it is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.analysis.beliefs import NO_BELIEF, judge_beliefs
from bestresponse.analysis.costs import price_against_strategies
from bestresponse.analysis.decisions import JudgedPlay, judge_play
from bestresponse.analysis.theory import Predicted
from bestresponse.analysis.truth import find_truth, judge_decisions, name_answer
from bestresponse.core.ask import Ask, Choice, Form, Words
from bestresponse.core.episode import Episode, Record
from bestresponse.core.json import canonical
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import HasDeals, HasStage
from bestresponse.players.lookup import find_drawing
from bestresponse.report.frames import column
from bestresponse.report.stats.statistics import Floats, Interval, bound_mean, cluster_bootstrap
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.deals import DealRow, judge_deal
from bestresponse.theory.repeated.best_reply import find_slips


class MoveRow(TypedDict):
    """One answer of a play; a form has a row for each of its fields."""

    repeat: int
    seat: str
    player: str
    turn: Annotated[
        int, column("round", help="number of the answer among those of its kind in the play")
    ]
    place: Annotated[str, column("knowing", help="what the seat knows when it decides")]
    part: Annotated[str, column("for", help="the field of a form")]
    move: Annotated[str | float, column(help="the move that was made")]
    meant: Annotated[str | float, column(help="what the seat answered")]
    cost: float | None
    """what the answer loses if all others play the equilibrium; of one round in a repeated game"""
    reply_cost: Annotated[float | None, column("cost against the other's strategy")]
    """how much more the best reply to the strategy in the other seat earns, including later rounds;
    in a single round also against the answer of a model or a person"""
    belief_score: Annotated[float | None, column("Brier score")]
    """squared distance of the belief to what the other did, from 0 to 2"""
    mispredicted: float | None
    """what a best reply to the belief loses against what the other did in that round"""
    misread: float | None
    """what a best reply by the payoffs that the model read loses beside that"""
    miscalculated: float | None
    """what the answer loses beside both; negative if it did better"""


Place = tuple[str, str, str]
"""Where an answer is given: its seat, what the seat knows there, and the field of a form."""


@dataclass(frozen=True)
class Plays:
    """The plays of a run: `payoffs` has one row for each play that counts, one column per seat.

    Where the game was repeated, payoffs are a round on average, so that they are next to the
    theory of one round; `weights` are the rounds of every play, discounted. `options` are those
    that a seat had, by seat, place and part.
    """

    config: SimulateConfig
    repeats: tuple[int, ...]
    payoffs: Floats
    weights: Floats
    moves: Sequence[MoveRow]
    readings: Readings = field(default_factory=Readings)
    options: Mapping[Place, Sequence[str]] = field(default_factory=dict)
    judged: Sequence[JudgedPlay] = ()
    deals: Sequence[DealRow] = ()

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
        """How often a seat answers in the same way within a play, at most.

        Places of a tree are no rounds.
        """
        if self.config.theory.tree is not None:
            return 1
        return max((row["turn"] for row in self.moves), default=1)

    @cached_property
    def ends(self) -> Floats | None:
        """Every payoff that the game can give, a row for each seat.

        Returns None where theory has neither table nor tree.
        """
        theory = self.config.theory
        if theory.form is not None:
            return theory.form.payoffs.reshape(theory.form.num_players, -1)
        if theory.tree is not None:
            return theory.tree.payoffs[theory.tree.leaves].T
        if theory.positions is not None:
            return np.tile(theory.positions.graph.payoff_bounds, (len(self.seats), 1))
        return None

    def average(
        self,
        values: Floats,
        figure: str,
        repeats: Sequence[int] | None = None,
        ends: Floats | None = None,
    ) -> Interval:
        """Average a metric with an interval from resampling plays.

        `repeats` tells the play of each value.

        Without it every play has one value, the mean of its rounds, and the rounds of all plays
        weigh alike. `ends` are the values that a play could give.
        """
        rng = np.random.default_rng(split(self.config.seed, "playground", figure))
        weights = self.weights if repeats is None else 1.0
        if ends is None:
            return cluster_bootstrap(values, repeats, rng=rng, weights=weights)
        bounds = (float(ends.min()), float(ends.max()))
        return bound_mean(values, bounds, repeats, rng=rng, weights=weights)


def read_plays(config: SimulateConfig, plays: Iterable[StoredPlay]) -> Plays:
    """Read every finished play."""
    game = config.make_game()
    readings = Readings()
    repeats: list[int] = []
    payoffs: list[list[float]] = []
    weights: list[float] = []
    moves: list[MoveRow] = []
    judged: list[JudgedPlay] = []
    deals: list[DealRow] = []
    options: dict[Place, list[str]] = {}
    truth = find_truth(game)
    known = find_drawing(game, config.seats)
    in_order = sorted(plays, key=lambda play: int(play.data["repeat"]))
    for play in readings.list_finished(in_order):
        repeat = play.data["repeat"]
        repeats.append(repeat)
        # Where the game was repeated, the mean a round, weighted as payoffs were.
        weight = 1.0
        if config.course.rounds > 1:
            answered = [turn.role for turn in play.record.submissions]
            rounds = answered.count(game.roles[0])
            weight = sum(map(config.course.weigh, range(rounds)))
        weights.append(weight)
        payoffs.append([play.record.payoffs[role] / weight for role in config.seats])
        one = judge_play(repeat + 1, play.record, game, truth, known)
        judged.append(one.scale(1 / weight))
        moves += _list_moves(config, repeat, play.record, options)
        if isinstance(game, HasDeals):
            state = Episode(game, play.record.submissions).state
            deal = judge_deal(repeat, game, state, payoffs[-1])
            deals += [deal] if deal else []
    return Plays(
        config,
        tuple(repeats),
        payoffs=np.array(payoffs).reshape(-1, len(game.roles)),
        weights=np.array(weights),
        moves=moves,
        readings=readings,
        options=options,
        judged=judged,
        deals=deals,
    )


def _list_moves(
    config: SimulateConfig,
    repeat: int,
    record: Record,
    options: dict[Place, list[str]],
) -> Iterator[MoveRow]:
    """Yield the answers of the seats in one play by playing it again.

    Gathers the options that they had as well.
    """
    game = config.make_game()
    theory = config.theory
    episode = Episode(game)
    turns: Counter[tuple[str, str]] = Counter()
    rows: list[MoveRow] = []
    in_equilibrium = judge_decisions(record, game, find_truth(game))
    replies = price_against_strategies(record, game, config.strategies)
    beliefs = judge_beliefs(record, game)
    for number, submission in enumerate(record.submissions, 1):
        role = submission.role
        ask = episode.pending[role]
        action = submission.decision.action
        if role in game.roles:
            turns[role, type(ask).__name__] += 1
            infoset = theory.name_infoset(episode.view(role)) if theory.tree is not None else ""
            cost = in_equilibrium[number].least if number in in_equilibrium else None
            reply_cost = replies[number].least if number in replies else None
            for part, value in _list_parts(ask, action):
                known = options.setdefault((role, infoset, part), [])
                offered = ask.options if isinstance(ask, Choice) else ()
                known += [name for name in offered if name not in known]
                row = MoveRow(
                    repeat=repeat,
                    seat=role,
                    player=str(config.seats[role]),
                    turn=turns[role, type(ask).__name__],
                    place=infoset,
                    part=part,
                    move=value,
                    meant=value,
                    cost=cost,
                    reply_cost=reply_cost,
                    **beliefs.get(number, NO_BELIEF),
                )
                rows.append(row)
                cost = reply_cost = None  # those of a form are at its first field
        episode.submit(role, submission.decision)
    facts = episode.view(game.roles[0]).facts if isinstance(game, HasStage) else {}
    for row in rows:
        if "meant" in facts:
            made = facts["history"][row["turn"] - 1]
            row["move"] = made[game.roles.index(row["seat"])]
        yield row


def _list_parts(ask: Ask, action: object) -> Iterator[tuple[str, str | float]]:
    """Yield the fields of a form with their values, anything else as one nameless field.

    No free text.
    """
    if isinstance(ask, Form) and isinstance(action, Mapping):
        for name, field_ask in ask.fields:
            if not isinstance(field_ask, Words):
                yield name, _read_value(action[name])
    elif not isinstance(ask, Words):
        yield "", _read_value(action)


def _read_value(action: object) -> str | float:
    if isinstance(action, str):
        return action
    return float(action) if isinstance(action, int | float) else canonical(action)


def find_nearest(plays: Plays) -> Predicted | None:
    """Find the equilibrium nearest to the frequencies of what was meant.

    Its probabilities differ least from the frequencies. Among equals the first is taken.
    """
    times: Counter[tuple[str, str, str]] = Counter()
    visits: Counter[tuple[str, str]] = Counter()
    for row in plays.moves:
        times[row["seat"], row["place"], name_answer(row["meant"])] += 1
        visits[row["seat"], row["place"]] += 1

    def measure_distance(predicted: Predicted) -> float:
        distance = 0.0
        for (seat, infoset), count in visits.items():
            for move, chance in predicted.shares[seat][infoset].items():
                distance += abs(times[seat, infoset, move] / count - chance)
        return round(distance, 9)

    return min(plays.config.theory.predicted, key=measure_distance, default=None)


def find_made_shares(
    predicted: Predicted,
    seat: str,
    place: str,
    noise: float,
) -> dict[str, float]:
    """Return how often each move is made in an equilibrium.

    Under noise another move may be made than is meant.
    """
    meant = predicted.shares[seat][place]
    chances = np.array(list(meant.values()))
    made = chances @ find_slips(noise, len(meant))
    return dict(zip(meant, made.tolist(), strict=True))
