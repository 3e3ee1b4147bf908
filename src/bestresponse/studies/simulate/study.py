"""Any game as a study: seats filled by models, strategies and solvers, played many times, beside
theory.

A seat's answer is a move by its label, an amount, or a form of several fields, each of which counts
as an answer of its own; under noise what was meant is next to the move that was made. A void
play enters no figure; it is counted.

In a table the regret of a seat is, a play on average, what its best single move would have earned
against the others' moves as they were, less what it got; no equilibrium is assumed. It is negative
where varying moves earned more than any single one would have. In a repeated table it is the same a
round, and `list_regrets` tells it for the rounds so far. In a tree it is what the best strategy
would earn against the others' frequencies, less what those of all earn. This is external regret:
what others did is held fixed, although in a repeated game they reply. Where the other follows a
known strategy, `analysis.costs` says what the best reply to it earns, replies included. The Nash
gap is the sum over seats of what each could gain by leaving the profile of frequencies alone
(NashConv): 0 exactly at an equilibrium.

What is told a round is the mean over the rounds of all plays: where the end is random, a play
weighs as much as it has rounds, so that payoffs, regrets and what the best reply earns can be
subtracted from each other.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, TypedDict

import numpy as np
from numpy.typing import NDArray

from bestresponse.analysis.costs import (
    price_against_equilibrium,
    price_against_strategies,
    value_best_reply,
)
from bestresponse.analysis.people import show_people
from bestresponse.analysis.theory import Predicted, Theory, describe_theory
from bestresponse.core.ask import Ask, Choice, Words
from bestresponse.core.capabilities import Wording
from bestresponse.core.episode import Episode, Record
from bestresponse.core.errors import InvalidGame, SettingError
from bestresponse.core.files import read_toml
from bestresponse.core.json import canonical, digest
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import HasSpeakers, HasStage
from bestresponse.players.lookup import SIMULATED, find_known_strategies
from bestresponse.report.blocks import (
    Measurement,
    Shown,
    bars,
    boxes,
    lines,
    metrics_table,
    table,
    text,
)
from bestresponse.report.document import Code, Column, Paragraph
from bestresponse.report.frames import Frame, Heads, Value, column, list_metrics
from bestresponse.report.stats.statistics import (
    Floats,
    Interval,
    bound_mean,
    cluster_bootstrap,
    interval_of_draws,
    missing_bounds,
    wilson,
)
from bestresponse.runs import seats as seating
from bestresponse.runs.inputs import (
    NamedModel,
    OptionalModelSetting,
    PersonasSetting,
    SeatsSetting,
    list_once,
)
from bestresponse.runs.reporting.answers import Readings, warn_of_gaps
from bestresponse.runs.settings import setting, settings
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.runs.study import GameValue, Measured, Study
from bestresponse.telling.render import write_rules
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.games.regrets import regret
from bestresponse.theory.repeated.automaton import Automaton
from bestresponse.theory.repeated.best_reply import find_slips
from bestresponse.theory.trees.sequence_form import bin_sums, plan_regrets, to_sequence_form
from bestresponse.theory.trees.tree import Policy, Tree, policy_from_table, uniform_policy


@settings
class SimulateConfig(seating.MatchSettings, seating.ToolSettings):
    """Play any game many times and report payoffs, moves, regret and welfare beside what theory
    says.

    The word `game` may be left out: `bestresponse simulate stag-hunt --model M`.
    """

    model: OptionalModelSetting = setting(default=None, kw_only=False, short="-m")
    """Player for all other seats; with --others only for the first of them."""
    seat: SeatsSetting = setting(default_factory=dict, metavar="ROLE=PLAYER")
    """Who sits where: a model, verified:MODEL (its reasoning is checked), random, equilibrium,
    always:MOVE, a bidder or baseline."""
    others: OptionalModelSetting = setting(default=None)
    """Player for all other seats. [default: the model, or a player that suits the game]"""
    personas: PersonasSetting = setting(default_factory=dict, metavar="FILE")
    """TOML with a persona for each seat that has one, under the seat's name."""
    referee: OptionalModelSetting = setting(default=None)
    """Who decides what was agreed in a dialogue: a model, or simulated. [default: the first
    speaker]"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.make_game(), HasSpeakers):
            why = "it belongs to games with moves; people in a dialogue have parts"
            self.refuse_set(["personas", "noise", "about_others"], why)
            if self.referee is None:
                speaking = [player for player in self.seats.values() if player != SIMULATED]
                object.__setattr__(
                    self, "referee", speaking[0] if speaking else NamedModel(SIMULATED)
                )
        elif self.referee is not None:
            raise SettingError(
                "referee", f"nobody rules in {self.game.name}; it belongs to dialogues"
            )
        if not self.models:
            unused = [*seating.AGENT_SETTINGS, "about_others", "tools", "tool_calls"]
            self.refuse_set(unused, "this does nothing where no model plays")
        model_seats = seating.find_model_seats(self.make_game(), self.seats)
        for seat in self.personas:
            if seat not in self.seats:
                raise SettingError(
                    "personas", f"{seat!r} is no seat.{did_you_mean(seat, list(self.seats))}"
                )
            if seat not in model_seats:
                raise SettingError(
                    "personas", f"there is one for {seat!r}, but no model sits there"
                )

    @cached_property
    def seats(self) -> Mapping[str, NamedModel]:
        """Who sits where, in the order of the game's roles."""
        return seating.assign_seats(self.make_game(), self.seat, self.model, self.others)

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """The models among the players and the referee, each once."""
        asked = [
            self.seats[role] for role in seating.find_model_seats(self.make_game(), self.seats)
        ]
        return list_once(
            [*asked, *([self.referee] if self.referee and self.referee != SIMULATED else [])]
        )

    @property
    def theory(self) -> Theory:
        """What theory says of the game, of one round where it is repeated; under noise of what is
        meant in it."""
        return describe_theory(self.make_game())

    @cached_property
    def strategies(self) -> Mapping[str, Automaton]:
        """The strategies of the seats that are known."""
        return find_known_strategies(self.make_game(), self.seats)

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
    turn: Annotated[
        int, column("round", help="number of the answer among those of its kind in the play")
    ]
    place: Annotated[str, column("knowing", help="what the seat knows where it decides")]
    part: Annotated[str, column("for", help="the field of a form")]
    move: Annotated[str | float, column(help="the move that was made")]
    meant: Annotated[str | float, column(help="what the seat answered")]
    cost: float | None
    """what the answer loses if all others play the equilibrium; of one round in a repeated game"""
    reply_cost: Annotated[float | None, column("cost against the other's strategy")]
    """what the best reply to the strategy in the other seat earns more, later rounds included; in
    one round also against what somebody else answered"""


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
        """How often a seat answers in the same way within a play, at most; places of a tree are no
        rounds."""
        return (
            1
            if self.config.theory.tree is not None
            else max((row["turn"] for row in self.moves), default=1)
        )

    @cached_property
    def ends(self) -> Floats | None:
        """Every payoff that the game can give, a row for each seat; None where theory has neither
        table nor tree."""
        theory = self.config.theory
        if theory.form is not None:
            return theory.form.payoffs.reshape(theory.form.num_players, -1)
        return None if theory.tree is None else theory.tree.payoffs[theory.tree.leaves].T

    def average(
        self,
        values: Floats,
        figure: str,
        repeats: Sequence[int] | None = None,
        ends: Floats | None = None,
    ) -> Interval:
        """Average a figure with an interval from resampling plays; `repeats` tells the play of each
        value.

        Without it every play has one value, the mean of its rounds, and the rounds of all plays
        weigh alike. `ends` are the values that a play could give.
        """
        rng = np.random.default_rng(split(self.config.seed, "playground", figure))
        weights = self.weights if repeats is None else 1.0
        if ends is None:
            return cluster_bootstrap(values, repeats, rng=rng, weights=weights)
        return bound_mean(
            values, (float(ends.min()), float(ends.max())), repeats, rng=rng, weights=weights
        )


def read_plays(config: SimulateConfig, plays: Iterable[StoredPlay]) -> Plays:
    """Read every finished play."""
    game = config.make_game()
    readings = Readings()
    counted: list[tuple[int, Record]] = []
    payoffs: list[list[float]] = []
    weights: list[float] = []
    for play in readings.list_finished(sorted(plays, key=lambda play: int(play.data["repeat"]))):
        counted.append((play.data["repeat"], play.record))
        # Where the game was repeated, the mean a round, weighted as payoffs were.
        rounds = sum(submission.role == game.roles[0] for submission in play.record.submissions)
        weights.append(
            sum(config.discount**number for number in range(rounds)) if config.rounds > 1 else 1.0
        )
        payoffs.append([play.record.payoffs[role] / weights[-1] for role in config.seats])
    options: dict[tuple[str, str, str], list[str]] = {}
    return Plays(
        config,
        tuple(repeat for repeat, _ in counted),
        payoffs=np.array(payoffs).reshape(-1, len(game.roles)),
        weights=np.array(weights),
        moves=[
            row
            for repeat, record in counted
            for row in _list_moves(config, repeat, record, options)
        ],
        readings=readings,
        options=options,
    )


def _list_moves(
    config: SimulateConfig,
    repeat: int,
    record: Record,
    options: dict[tuple[str, str, str], list[str]],
) -> Iterator[MoveRow]:
    """Yield the answers of the seats in one play, from playing it again, and gather the options
    that they had."""
    game = config.make_game()
    theory = config.theory
    episode = Episode(game)
    turns: Counter[tuple[str, str]] = Counter()
    rows: list[MoveRow] = []
    in_equilibrium = price_against_equilibrium(record, game)
    replies = price_against_strategies(record, game, config.strategies)
    for number, submission in enumerate(record.submissions, 1):
        role = submission.role
        ask = episode.pending[role]
        action = submission.decision.action
        if role in game.roles:
            turns[role, type(ask).__name__] += 1
            infoset = theory.name_infoset(episode.view(role)) if theory.tree is not None else ""
            cost = in_equilibrium[number].cost if number in in_equilibrium else None
            reply_cost = replies[number].cost if number in replies else None
            for part, value in _list_parts(ask, action):
                known = options.setdefault((role, infoset, part), [])
                known += [
                    name
                    for name in (ask.options if isinstance(ask, Choice) else ())
                    if name not in known
                ]
                rows.append(
                    MoveRow(
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
                    )
                )
                cost = reply_cost = None  # those of a form are at its first field
        episode.submit(role, submission.decision)
    facts = episode.view(game.roles[0]).facts if isinstance(game, HasStage) else {}
    for row in rows:
        if "meant" in facts:
            row["move"] = facts["history"][row["turn"] - 1][game.roles.index(row["seat"])]
        yield row


def _list_parts(ask: Ask, action: object) -> Iterator[tuple[str, str | float]]:
    """Yield the fields of a form with their values, anything else as one nameless field; no free
    text."""
    if isinstance(action, Mapping):
        yield from ((name, _read_value(value)) for name, value in action.items())
    elif not isinstance(ask, Words):
        yield "", _read_value(action)


def _read_value(action: object) -> str | float:
    if isinstance(action, str):
        return action
    return float(action) if isinstance(action, int | float) else canonical(action)


def name_move(move: str | float) -> str:
    """Name a move as trees do: whole amounts without a point."""
    return move if isinstance(move, str) else f"{move:g}"


def find_nearest(plays: Plays) -> Predicted | None:
    """Find the equilibrium whose probabilities differ least from the frequencies of what was meant,
    the first among equals."""
    times = Counter((row["seat"], row["place"], name_move(row["meant"])) for row in plays.moves)
    visits = Counter((row["seat"], row["place"]) for row in plays.moves)

    def measure_distance(predicted: Predicted) -> float:
        distances = (
            abs(times[seat, infoset, move] / count - chance)
            for (seat, infoset), count in visits.items()
            for move, chance in predicted.shares[seat][infoset].items()
        )
        return round(sum(distances), 9)

    return min(plays.config.theory.predicted, key=measure_distance, default=None)


def find_made_shares(predicted: Predicted, seat: str, place: str, noise: float) -> dict[str, float]:
    """Return how often each move is made in an equilibrium: under noise another may be made than is
    meant."""
    meant = predicted.shares[seat][place]
    made = np.array(list(meant.values())) @ find_slips(noise, len(meant))
    return dict(zip(meant, made.tolist(), strict=True))


_SHARES = np.array([0.0, 1.0])
_RESAMPLES = 1000
_RESAMPLES_OF_TREES = 300
_MOST_NODES_RESAMPLED = (
    5000  # each resample values the whole tree: regrets in larger ones have no interval
)
_MOST_SUSTAINED = 12


class RegretRow(TypedDict):
    """The regret of a seat a round for the rounds up to one, mean over the plays that lasted so
    long."""

    seat: str
    turn: Annotated[int, column("round")]
    regret: Annotated[Interval, column("regret per round", ".3f")]


class SustainedRow(TypedDict):
    """Moves that pay everybody more than an equilibrium of one round, and what holds everybody to
    them."""

    profile: Annotated[str, column("moves in every round")]
    welfare: Annotated[float, column(format=".3f", help="the sum of the payoffs of a round")]
    needed: Annotated[float, column("continuation needed", ".3f")]
    """the probability of another round, times the discount, that is enough if there is no last
    round"""
    until: Annotated[int, column("sustained until round")]
    """here, where everybody knows the last round: 0 where the moves are not sustained at all"""
    sustained: Annotated[bool, column("an equilibrium here", help="in every round")]


@dataclass(frozen=True, slots=True)
class JudgedSeats:
    """Regrets by seat and the Nash gap, with intervals but for large trees; `unseen` places were
    never reached."""

    regrets: Mapping[str, Interval | float]
    gap: Interval | float
    places: int = 1
    unseen: int = 0


def judge_seats(plays: Plays, nearest: Predicted | None = None) -> JudgedSeats | None:
    """Say how far the play was from best replies; None where theory has neither a table nor a tree.

    Where a tree has places that no play came to, the seats are taken to decide there as in the
    equilibrium `nearest`.
    """
    theory = plays.config.theory
    if theory.form is not None:
        return _judge_table(plays, theory.form)
    return None if theory.tree is None else _judge_tree(plays, theory.tree, nearest)


def _judge_table(plays: Plays, form: NormalForm) -> JudgedSeats:
    """Judge a table; whole plays are weighted anew, since the rounds of one are not independent.

    Weights and bounds are as in the interval of a payoff (`bound_mean`), so that both can be read
    alike: two plays without a regret are no proof that there is none.
    """
    cells, weights = _list_rounds(plays, form)
    n = len(plays.repeats)
    rng = np.random.default_rng(split(plays.config.seed, "playground regrets"))
    draws = np.vstack([np.ones(n), rng.standard_exponential((_RESAMPLES, n))])
    most_lost = [_find_most_lost(form, seat) for seat in range(form.num_players)]
    regrets = {}
    for seat, role in enumerate(form.players):
        gains = (_find_gains(form, cells, seat) * weights[:, :, None]).sum(axis=1)
        values = (draws @ gains).max(axis=1) / (draws @ weights.sum(axis=1))
        bounds = _bound_regret(plays, most_lost[seat], float(values[0]))
        regrets[role] = interval_of_draws(float(values[0]), values[1:], n, bounds)
    gaps = []
    for draw in draws:
        drawn = (draw[:, None] * weights).ravel()
        sums = [
            bin_sums(cells[:, :, seat].ravel(), drawn, size) for seat, size in enumerate(form.shape)
        ]
        gaps.append(regret(form, [counts / counts.sum() for counts in sums]).sum())
    bounds = (0.0, sum(most_lost))
    return JudgedSeats(regrets, interval_of_draws(float(gaps[0]), np.array(gaps[1:]), n, bounds))


def _find_most_lost(form: NormalForm, seat: int) -> float:
    """Return the most that a move of a seat can lose to another one, whatever the others do."""
    return float(np.ptp(form.payoffs[seat], axis=seat).max())


def _bound_regret(plays: Plays, most_lost: float, estimate: float) -> tuple[float, float]:
    """Return the least and the most that an external regret can be: below 0 it is only where moves
    follow the others' moves, as they may from round to round, or by chance."""
    least = -most_lost if plays.rounds > 1 else min(0.0, estimate)
    return least, max(most_lost, estimate)


def list_regrets(plays: Plays) -> Iterator[RegretRow]:
    """Yield the regrets of every seat; nothing where no table was repeated.

    Here the best single move is that of the play, up to that round.
    """
    form = plays.config.theory.form
    if form is None or plays.rounds == 1:
        return
    cells, weights = _list_rounds(plays, form)
    rng = np.random.default_rng(split(plays.config.seed, "playground regret by round"))
    for seat, role in enumerate(form.players):
        gains = np.cumsum(_find_gains(form, cells, seat) * weights[:, :, None], axis=1)
        regrets = gains.max(axis=2) / np.cumsum(weights, axis=1)
        for number in range(plays.rounds):
            lasted = weights[:, number] > 0
            most = _find_most_lost(form, seat)
            regret_so_far = bound_mean(
                regrets[lasted, number], (-most, most), rng=rng, resamples=_RESAMPLES
            )
            yield RegretRow(seat=role, turn=number + 1, regret=regret_so_far)


def list_sustained(config: SimulateConfig) -> Iterator[SustainedRow]:
    """Yield the moves that pay everybody more than an equilibrium of one round, with how long the
    threat to return to such an equilibrium holds everybody to them.

    Without a last round, whoever leaves the profile gains at once and is paid the equilibrium ever
    after, so that the future has to weigh at least (best - own) / (best - threat) for everybody.
    With a last round that everybody knows, see `count_sustained_rounds`. Under noise the threat
    would be carried out by mistake.
    """
    form = config.theory.form
    if form is None or config.rounds == 1 or config.noise:
        return
    equilibria = np.array(
        [
            [predicted.payoffs[role] for role in form.players]
            for predicted in config.theory.predicted
        ]
    ).reshape(-1, form.num_players)
    weight = config.continuation * config.discount
    rows: list[SustainedRow] = []
    for cell in product(*map(range, form.shape)):
        paid = np.array([payoffs[cell] for payoffs in form.payoffs])
        beaten = [threat for threat in equilibria if (paid > threat + 1e-9).all()]
        if not beaten:
            continue
        best = _find_deviation_payoffs(form, cell)
        needed = min(float(((best - paid) / (best - threat)).max()) for threat in beaten)
        until = count_sustained_rounds(paid, best, equilibria, config.rounds, weight)
        moves = ", ".join(names[k] for names, k in zip(form.actions, cell, strict=True))
        rows.append(
            SustainedRow(
                profile=moves,
                welfare=float(paid.sum()),
                needed=needed,
                until=until,
                sustained=until == config.rounds,
            )
        )
    yield from sorted(rows, key=lambda row: -row["welfare"])[:_MOST_SUSTAINED]


def _find_deviation_payoffs(form: NormalForm, cell: tuple[int, ...]) -> Floats:
    """Return what the best move of each seat earns it against the others' moves of a cell."""
    return np.array(
        [
            form.payoffs[seat][(*cell[:seat], slice(None), *cell[seat + 1 :])].max()
            for seat in range(form.num_players)
        ]
    )


def count_sustained_rounds(
    paid: Floats, best: Floats, equilibria: Floats, rounds: int, weight: float
) -> int:
    """Count the rounds, from the first, in which moves that pay `paid` are held up although all
    know the last round.

    By backward induction the last rounds are an equilibrium of one round each. Where there are
    several, a better one can be played at the end as long as nobody has left the profile, and the
    worst one for whoever has (Benoit & Krishna, Econometrica 53, 1985): the loss of that has to
    outweigh the gain. With one equilibrium only there is nothing to lose in the end, so that
    nothing else is held up in any round.
    """
    gain = best - paid
    if (gain <= 1e-12).all():
        return rounds
    threat = equilibria.min(axis=0)
    for until in range(rounds - 1, 0, -1):
        for reward in equilibria:
            left = rounds - until
            in_the_end = (reward - threat) * _sum_weights(weight, left)
            # What there is to lose moves from here in one direction only, so that the last round of
            # the profile and its first are enough.
            of_profile = (paid - threat) * _sum_weights(weight, until - 1)
            in_the_beginning = of_profile + weight ** (until - 1) * in_the_end
            if (np.minimum(in_the_end, in_the_beginning) >= gain - 1e-12).all():
                return until
    return 0


def _sum_weights(weight: float, rounds: int) -> float:
    """Return what so many rounds weigh that follow this one."""
    if weight == 1.0:
        return float(rounds)
    return weight * (1 - weight**rounds) / (1 - weight)


def _list_rounds(plays: Plays, form: NormalForm) -> tuple[NDArray[np.int64], Floats]:
    """Return the moves by number (plays x rounds x seats), and the weight of every round, 0 where
    it was not played."""
    cells = np.zeros((len(plays.repeats), plays.rounds, form.num_players), dtype=np.int64)
    weights = np.zeros(cells.shape[:2])
    for row in plays.moves:
        played = (plays.numbers[row["repeat"]], row["turn"] - 1)
        seat = form.players.index(row["seat"])
        cells[*played, seat] = form.actions[seat].index(str(row["move"]))
        weights[played] = plays.config.discount ** played[1]
    return cells, weights


def _find_gains(form: NormalForm, cells: NDArray[np.int64], seat: int) -> Floats:
    """For every round, what each move of the seat would have earned there in place of its own, less
    what it got."""
    earned = np.moveaxis(form.payoffs[seat], seat, -1)
    would: Floats = earned[tuple(np.moveaxis(np.delete(cells, seat, axis=2), 2, 0))]
    return would - np.take_along_axis(would, cells[:, :, [seat]], axis=2)


def _judge_tree(plays: Plays, tree: Tree, nearest: Predicted | None) -> JudgedSeats | None:
    try:
        form = to_sequence_form(tree)
    except InvalidGame:
        return None
    n = len(plays.repeats)
    numbers = np.array([plays.numbers[row["repeat"]] for row in plays.moves], dtype=np.int64)
    sets = [tree.infoset_index[row["seat"], row["place"]] for row in plays.moves]
    moves = [
        tree.infosets[k].moves.index(name_move(row["move"]))
        for k, row in zip(sets, plays.moves, strict=True)
    ]
    entries = np.array(
        [int(tree.first_move[k]) + move for k, move in zip(sets, moves, strict=True)]
    )
    assumed = uniform_policy(tree) if nearest is None else policy_from_table(tree, nearest.shares)
    size = len(assumed.probabilities)
    rng = np.random.default_rng(split(plays.config.seed, "playground regrets"))
    resamples = _RESAMPLES_OF_TREES if tree.num_nodes <= _MOST_NODES_RESAMPLED else 0
    draws = [np.ones(n), *rng.standard_exponential((resamples, n))]
    rows = [
        _find_frequencies(tree, bin_sums(entries, draw[numbers], size), assumed.probabilities)
        for draw in draws
    ]
    regrets = np.array([plan_regrets(form, form.plans(Policy(tree, row))) for row in rows])
    values = [*regrets.T, regrets.sum(axis=1)]
    ranges = np.ptp(tree.payoffs[tree.leaves], axis=0).tolist()
    *by_seat, gap = [
        (
            interval_of_draws(float(column[0]), column[1:], n, (0.0, most))
            if resamples
            else float(column[0])
        )
        for column, most in zip(values, [*ranges, sum(ranges)], strict=True)
    ]
    seen = np.add.reduceat(bin_sums(entries, np.ones(len(entries)), size), tree.first_move[:-1])
    return JudgedSeats(
        dict(zip(tree.players, by_seat, strict=True)),
        gap,
        len(tree.infosets),
        int((seen == 0).sum()),
    )


def _find_frequencies(tree: Tree, counts: Floats, elsewhere: Floats) -> Floats:
    """Return the share of every move at its place, what is assumed `elsewhere` where nobody has
    decided yet."""
    totals = np.repeat(np.add.reduceat(counts, tree.first_move[:-1]), np.diff(tree.first_move))
    return np.asarray(np.divide(counts, totals, out=elsewhere.copy(), where=totals > 0))


class PayoffRow(TypedDict):
    """What a seat earned in a play: of a round on average where the game was repeated."""

    repeat: int
    seat: str
    player: str
    payoff: Annotated[float | None, column(format=".3f", help="none where the play is void")]


class ShareRow(TypedDict):
    """How often a seat made a move."""

    seat: str
    place: Annotated[str | None, column("knowing", help="what the seat knows where it decides")]
    part: Annotated[str | None, column("for", help="the field of a form")]
    turn: Annotated[int | None, column("round")]
    move: str
    times: int
    share: Annotated[
        Interval, column(format=".3f", help="of all its decisions there, 95 % interval over plays")
    ]
    in_equilibrium: Annotated[
        float | None, column(format=".3f", help="in the equilibrium nearest to the play")
    ]


class AmountRow(TypedDict):
    """The amounts that a seat named."""

    seat: str
    part: Annotated[str | None, column("for", help="the field of a form")]
    turn: Annotated[int | None, column("round")]
    answers: int
    mean: Annotated[Interval, column("mean amount", ".3f", "95 % interval over plays")]
    least: Annotated[float, column(format="g")]
    median: Annotated[float, column(format="g")]
    most: Annotated[float, column(format="g")]


class EquilibriumRow(TypedDict):
    """An equilibrium; what it pays is in a column for each seat."""

    equilibrium: str
    nearest: Annotated[bool, column("nearest to the play")]
    welfare: Annotated[float, column(format=".3f", help="the sum of the payoffs")]
    regret: Annotated[float, column("largest regret", ".1e", "0 at an exact equilibrium")]


class PlayedGameRow(TypedDict):
    """The run as a whole."""

    plays: Annotated[int, column(help="plays that count")]
    void: int
    nash_gap: Annotated[Value, column("Nash gap of the frequencies", ".3f")]
    places: Annotated[int | None, column(help="places where somebody can decide")]
    unseen: Annotated[int | None, column(help="places to which no play came")]
    welfare: Annotated[Value, column("mean sum of all payoffs", ".3f", "95 % interval over plays")]
    equilibrium_welfare: Annotated[
        float | None, column("at the best equilibrium that is listed", ".3f")
    ]
    best_welfare: Annotated[float | None, column("the most that all could have", ".3f")]
    price_of_anarchy: Annotated[float | None, column("price of anarchy observed", ".3f")]


class PlayedSeatFigures(TypedDict):
    """The figures of a seat; None where there is nothing of the kind."""

    payoff: Annotated[Interval, column(format=".3f")]
    """mean over plays; in a repeated game mean over the rounds of all plays (weighted as payoffs
    are), 95 % interval"""
    equilibrium_payoff: Annotated[float | None, column("in equilibrium", ".3f")]
    """the payoff in the equilibrium nearest to what was played"""
    payoff_least: Annotated[float | None, column("had all counted, at least", ".3f")]
    """the mean payoff if void plays had ended in the worst way, and were as long as the others"""
    payoff_most: Annotated[float | None, column("had all counted, at most", ".3f")]
    """the mean payoff if void plays had ended in the best way, and were as long as the others"""
    regret: Annotated[Value, column("external regret", ".3f")]
    """the best single strategy against what the others did, held fixed, less what was earned (of a
    round in a repeated game); negative where varying moves earned more than any single one would
    have"""
    best_reply: Annotated[float | None, column(format=".3f")]
    """what the best reply to the strategy in the other seat earns per round, as expected, its
    replies included"""
    best_reply_regret: Annotated[Interval | None, column("lost to the best reply", ".3f")]
    """what the choices cost per round beside the best reply to the strategy in the other seat, as
    expected when they were made: no luck of draws is in it"""
    lost: Annotated[Interval | None, column(format=".3f")]
    """what the answers of a play lose if all others play the equilibrium"""


def measure_simulation(plays: Plays) -> Measured:
    """Measure what was played; without a play that counts, void plays and answers are all there
    is."""
    config = plays.config
    payoffs = dict(zip(plays.repeats, plays.payoffs.tolist(), strict=True))
    payoffs |= {row["repeat"]: [None] * len(plays.seats) for row in plays.readings.voids}
    earned = [
        PayoffRow(repeat=repeat, seat=seat, player=str(config.seats[seat]), payoff=payoff)
        for repeat, row in sorted(payoffs.items())
        for seat, payoff in zip(plays.seats, row, strict=True)
    ]
    nearest = find_nearest(plays)
    judged = judge_seats(plays, nearest) if plays.repeats else None
    several = plays.rounds > 1
    return Measured(
        {
            "payoffs": Frame(PayoffRow, earned),
            "moves": Frame(MoveRow, plays.moves),
            "shares": Frame(ShareRow, list(_list_shares(plays, nearest, by_round=False))),
            "shares_by_round": Frame(
                ShareRow, list(_list_shares(plays, nearest, by_round=True)) if several else []
            ),
            "amounts": Frame(AmountRow, list(_list_amounts(plays, by_round=False))),
            "amounts_by_round": Frame(
                AmountRow, list(_list_amounts(plays, by_round=True)) if several else []
            ),
            "regrets": Frame(RegretRow, list(list_regrets(plays))),
            "equilibria": _list_equilibria(plays, nearest),
            "sustained": Frame(SustainedRow, list(list_sustained(config)) if plays.repeats else []),
            "game": Frame(PlayedGameRow, [_describe_game(plays, judged)]),
            **plays.readings.frames,
        },
        len(plays.repeats),
        ("seat", "player"),
        _list_seats(plays, nearest, judged) if plays.repeats else {},
    )


def _list_seats(
    plays: Plays, nearest: Predicted | None, judged: JudgedSeats | None
) -> dict[Heads, PlayedSeatFigures]:
    theory = plays.config.theory
    predicted = nearest.payoffs if nearest else theory.known.payoffs if theory.known else None
    losses = np.zeros_like(plays.payoffs)
    reply_costs = np.zeros_like(plays.payoffs)
    for row in plays.moves:
        place = plays.numbers[row["repeat"]], plays.seats.index(row["seat"])
        losses[place] += row["cost"] or 0.0
        reply_costs[place] += (row["reply_cost"] or 0.0) * plays.config.discount ** (
            row["turn"] - 1
        )
    sizes = plays.weights / plays.weights.mean()
    weight = plays.config.continuation * plays.config.discount
    groups: dict[Heads, PlayedSeatFigures] = {}
    for number, (seat, player) in enumerate(plays.config.seats.items()):
        payoffs = plays.payoffs[:, number]
        bounds = None
        ends = None if plays.ends is None else plays.ends[number]
        if plays.readings.voids and ends is not None:
            bounds = missing_bounds(
                payoffs * sizes, len(plays.readings.voids), ends.min(), ends.max()
            )
        reply = value_best_reply(plays.config.make_game(), seat, plays.config.strategies)
        lost_to_reply = None
        if reply is not None and ends is not None:
            # A choice costs at most the range of payoffs in this round and all that may follow.
            most = float(np.ptp(ends)) * (1 + _sum_weights(weight, plays.config.rounds - 1))
            lost_to_reply = plays.average(
                reply_costs[:, number] / plays.weights,
                f"reply {seat}",
                ends=np.array([0.0, most]),
            )
        groups[seat, str(player)] = PlayedSeatFigures(
            payoff=plays.average(payoffs, seat, ends=ends),
            equilibrium_payoff=predicted[seat] if predicted else None,
            payoff_least=bounds[0] if bounds else None,
            payoff_most=bounds[1] if bounds else None,
            regret=judged.regrets[seat] if judged else None,
            best_reply=reply,
            best_reply_regret=lost_to_reply,
            lost=(
                plays.average(losses[:, number], f"lost {seat}", plays.repeats)
                if theory.known
                else None
            ),
        )
    return groups


def _group_moves(
    plays: Plays, kind: type, by_round: bool
) -> Iterator[tuple[tuple[str, str, str, int], Sequence[MoveRow]]]:
    """Yield the moves of a kind (labels or amounts) by seat, place, part and round, in the order of
    the game.

    In a tree amounts are moves like any other.
    """
    tree = plays.config.theory.tree
    groups: dict[tuple[str, str, str, int], list[MoveRow]] = {}
    for row in plays.moves:
        if isinstance(row["move"] if tree is None else name_move(row["move"]), kind):
            turn = row["turn"] if by_round else 0
            groups.setdefault((row["seat"], row["place"], row["part"], turn), []).append(row)

    def place_in_order(key: tuple[str, str, str, int]) -> tuple[int, int, int]:
        return plays.seats.index(key[0]), 0 if tree is None else tree.infoset_index[key[:2]], key[3]

    for key in sorted(groups, key=place_in_order):
        yield key, groups[key]


def _list_shares(plays: Plays, nearest: Predicted | None, *, by_round: bool) -> Iterator[ShareRow]:
    """Yield every move at every place, all rounds together or round by round."""
    tree = plays.config.theory.tree
    for (seat, infoset, part, turn), rows in _group_moves(plays, str, by_round):
        options = plays.options[seat, infoset, part]
        if tree is not None:
            options = tree.infosets[tree.infoset_index[seat, infoset]].moves
        made = [name_move(row["move"]) for row in rows]
        repeats = [row["repeat"] for row in rows]
        predicted = (
            None
            if nearest is None
            else find_made_shares(nearest, seat, infoset, plays.config.noise)
        )
        for move in dict.fromkeys([*options, *made]):
            hits = np.array([other == move for other in made], dtype=np.float64)
            # Answers of one play are not independent: where there are several, plays are drawn and
            # not answers.
            alone = len(set(repeats)) == len(repeats)
            yield ShareRow(
                seat=seat,
                place=infoset or None,
                part=part or None,
                turn=turn or None,
                move=move,
                times=int(hits.sum()),
                share=(
                    wilson(int(hits.sum()), len(hits))
                    if alone
                    else plays.average(hits, "share", repeats, _SHARES)
                ),
                in_equilibrium=None if predicted is None else predicted.get(move, 0.0),
            )


def _list_amounts(plays: Plays, *, by_round: bool) -> Iterator[AmountRow]:
    """Yield every kind of amount, all rounds together or round by round."""
    nameless = "own choice" if any(row["part"] for row in plays.moves) else None
    for (seat, _, part, turn), rows in _group_moves(plays, float, by_round):
        values = np.array([row["move"] for row in rows], dtype=np.float64)
        least, median, most = map(float, np.quantile(values, [0, 0.5, 1]))
        mean = plays.average(values, "amount", [row["repeat"] for row in rows])
        named = part or nameless
        number = turn or None
        yield AmountRow(
            seat=seat,
            part=named,
            turn=number,
            answers=len(rows),
            mean=mean,
            least=least,
            median=median,
            most=most,
        )


def _list_equilibria(plays: Plays, nearest: Predicted | None) -> Frame[EquilibriumRow]:
    rows = [
        EquilibriumRow(
            equilibrium=f"{number}, {predicted.kind}",
            nearest=predicted is nearest,
            welfare=predicted.welfare,
            regret=predicted.regret,
            **{f"payoff_{seat}": predicted.payoffs[seat] for seat in plays.seats},  # type: ignore[typeddict-item]
        )
        for number, predicted in enumerate(
            plays.config.theory.predicted if plays.repeats else (), 1
        )
    ]
    payoffs = {f"payoff_{seat}": Column(seat, "right", "payoff", ".3f") for seat in plays.seats}
    return Frame(EquilibriumRow, rows, payoffs)


def _describe_game(plays: Plays, judged: JudgedSeats | None) -> PlayedGameRow:
    theory = plays.config.theory
    best = max((predicted.welfare for predicted in theory.predicted), default=None)
    if best is None and theory.known is not None and theory.known.payoffs:
        best = sum(theory.known.payoffs.values())
    totals = None if plays.ends is None else plays.ends.sum(axis=0)
    welfare = (
        plays.average(plays.payoffs.sum(axis=1), "welfare", ends=totals) if plays.repeats else None
    )
    optimum = theory.optimum
    price = None
    if welfare is not None and optimum is not None and optimum > 0 and welfare.estimate > 0:
        price = optimum / welfare.estimate
    return PlayedGameRow(
        plays=len(plays.repeats),
        void=len(plays.readings.voids),
        nash_gap=judged.gap if judged else None,
        places=judged.places if judged else None,
        unseen=judged.unseen if judged else None,
        welfare=welfare,
        equilibrium_welfare=best if plays.repeats else None,
        best_welfare=optimum if plays.repeats else None,
        price_of_anarchy=price,
    )


def show_rules(measured: Measurement) -> Shown:
    """Show the rules as the first seat is told them, and the file that the game came from."""
    game = measured.config.make_game()
    source = measured.config.game.text
    briefing = write_rules(game.view(game.start(), game.roles[0]))
    blocks = (Paragraph(f"As {game.roles[0]} is told them:"), Code(briefing, "text"))
    return Shown("The rules", (*blocks, Code(source, "text")) if source else blocks)


def list_payoffs(config: SimulateConfig, measured: Measured) -> Iterator[GameValue]:
    """Yield what every seat earned in every play; plays of the same number and seed are pairs."""
    same = digest([config.game.to_json(), config.rounds, config.noise, config.seed])
    ends = Plays(config, (), np.empty(0), np.empty(0), []).ends
    span = None if ends is None else float(np.ptp(ends, axis=1).max())
    for row in measured.frames["payoffs"].rows:
        if row["payoff"] is not None:
            yield GameValue(
                player=(row["seat"], row["player"]),
                metric="payoff",
                game=f"{same} {row['repeat']}",
                part=row["seat"],
                value=row["payoff"],
                most=span,
            )


_PROSE = read_toml(Path(__file__).with_name("report.toml"))

simulate = Study(
    "simulate",
    SimulateConfig,
    specs=lambda config: seating.list_plays(
        config, "simulate", config.seats, config.personas, config.referee
    ),
    play=lambda config, models: seating.make_player(
        lambda spec: config.make_game(), config.offer_tools(models)
    ),
    measure=lambda config, folder: measure_simulation(read_plays(config, folder.sorted_plays())),
    metrics=list_metrics(PlayedSeatFigures),
    tested=("payoff",),
    compared=list_payoffs,
    title="Playing {{ config.game.name }}",
    subtitle=_PROSE["subtitle"],
    command="simulate",
    tables=2,
    game=lambda config, data: config.make_game(),
    count_plays=lambda config: config.repeats,
    prepare=seating.check_players,
    estimate_calls=lambda config: seating.estimate_plays(
        config, config.make_game(), config.seats, config.rounds, config.referee
    ),
    report=(
        warn_of_gaps,
        show_people,
        metrics_table("What they earned"),
        boxes("payoffs", by="seat", value="payoff"),
        table("shares", title="What they chose", caption="Moves"),
        bars(
            "shares",
            "seat",
            "share",
            "move",
            beside="in_equilibrium",
            where={"place": None, "part": None},
            caption=_PROSE["moves"],
        ),
        table("amounts", title="What they chose", caption="Amounts"),
        lines(
            "shares_by_round",
            "turn",
            "share",
            "move",
            split="seat",
            title="Round by round",
            caption=_PROSE["rounds"],
        ),
        lines(
            "amounts_by_round",
            "turn",
            "mean",
            "seat",
            split="part",
            title="Round by round",
            caption=_PROSE["amounts"],
        ),
        lines(
            "regrets",
            x="turn",
            y="regret",
            by="seat",
            title="Round by round",
            caption=_PROSE["regret"],
        ),
        text(_PROSE["noise"], title="Beside theory"),
        text(_PROSE["known"], title="Beside theory"),
        table("game", ("nash_gap",), title="Beside theory", caption=_PROSE["gap"]),
        table("equilibria", title="Beside theory", caption=_PROSE["equilibria"], most=12),
        table("sustained", title="Beside theory", caption=_PROSE["sustained"]),
        table(
            "game",
            ("welfare", "equilibrium_welfare", "best_welfare", "price_of_anarchy"),
            title="All together",
            caption=_PROSE["together"],
        ),
        table("voids", title="Plays without a result"),
        show_rules,
    ),
)
"""Payoffs, moves, regret and welfare of any game played many times."""
