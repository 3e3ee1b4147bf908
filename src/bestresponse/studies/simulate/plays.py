"""The settings of the playground, and what was played, seat by seat, as the records of a run tell it.

A seat's answer is a move by its label, an amount, or a form of several fields, each of which counts as an answer of its
own; under noise what was meant stands beside the move that was made. A void play enters no figure; it is counted.

In a table the regret of a seat is, a play on average, what its best single move would have earned against the others'
moves as they were, less what it got; no equilibrium is assumed. It is negative where varying moves earned more than any
single one would have. In a repeated table it is the same a round, and `list_regrets` tells it for the rounds so far. In
a tree it is what the best strategy would earn against the others' frequencies, less what those of all earn. This is
external regret: what others did is held fixed, although in a repeated game they reply. Where the other player of two is
an automaton, `find_best_reply` says what the best reply to it earns, replies included. The Nash gap is the sum over
seats of what each could gain by leaving the profile of frequencies alone (NashConv): 0 exactly at an equilibrium.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Annotated, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from bestresponse.analysis.theory import Predicted, Theory, describe_theory
from bestresponse.core.ask import Ask, Choice, Words
from bestresponse.core.capabilities import Wording, measure_decision_cost
from bestresponse.core.codec import record_from_json
from bestresponse.core.episode import AnyEpisode, Episode, Record
from bestresponse.core.errors import InvalidGame, SettingError
from bestresponse.core.json import JsonMapping, canonical
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import HasSpeakers, HasStage
from bestresponse.players.lookup import SIMULATED, find_strategy
from bestresponse.players.strategies.automaton import AutomatonPlayer
from bestresponse.report.frames import column
from bestresponse.report.stats.statistics import Floats, Interval, cluster_bootstrap, interval_of_draws
from bestresponse.runs.inputs import NamedModel, OptionalModelSetting, PersonasSetting, SeatsSetting
from bestresponse.runs.reporting.answers import Answers, VoidRow, count_answers, describe_void
from bestresponse.runs.seats import MatchSettings, assign_seats, find_model_seats
from bestresponse.runs.settings import setting, settings
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.games.regrets import regret
from bestresponse.theory.trees.sequence_form import bin_sums, plan_regrets, to_sequence_form
from bestresponse.theory.trees.tree import Policy, Tree, policy_from_table, uniform_policy


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


_RESAMPLES = 300
_MOST_NODES_RESAMPLED = 5000
_MOST_SUSTAINED = 12


class RegretRow(TypedDict):
    """The regret of a seat a round for the rounds up to one, mean over the plays that lasted so long."""

    seat: str
    turn: Annotated[int, column("round")]
    regret: Annotated[Interval, column("regret a round", ".3f")]


class SustainedRow(TypedDict):
    """Moves that pay everybody more than an equilibrium of one round, and what holds everybody to them."""

    profile: Annotated[str, column("moves in every round")]
    welfare: Annotated[float, column(format=".3f", help="the sum of the payoffs of a round")]
    needed: Annotated[float, column("continuation needed", ".3f", "times the discount, at least")]
    sustained: Annotated[bool, column("an equilibrium here")]


@dataclass(frozen=True, slots=True)
class JudgedSeats:
    """Regrets by seat and the Nash gap, with intervals but for large trees; `unseen` places were never reached."""

    regrets: Mapping[str, Interval | float]
    gap: Interval | float
    places: int = 1
    unseen: int = 0


def judge_seats(plays: Plays, nearest: Predicted | None = None) -> JudgedSeats | None:
    """Say how far the play was from best replies; None where theory has neither a table nor a tree.

    Where a tree has places that no play came to, the seats are taken to decide there as in the equilibrium `nearest`.
    """
    theory = plays.config.theory
    if theory.form is not None:
        return _judge_table(plays, theory.form)
    return None if theory.tree is None else _judge_tree(plays, theory.tree, nearest)


def _judge_table(plays: Plays, form: NormalForm) -> JudgedSeats:
    """Judge a table; whole plays are resampled, since the rounds of one are not independent."""
    cells, weights = _list_rounds(plays, form)
    n, shares = len(plays.repeats), weights / weights.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(split(plays.config.seed, "playground regrets"))
    draws = np.vstack([np.ones(n), rng.multinomial(n, np.full(n, 1 / n), _RESAMPLES)])
    regrets = {}
    for seat, role in enumerate(form.players):
        gains = (_find_gains(form, cells, seat) * shares[:, :, None]).sum(axis=1)
        values = (draws @ gains).max(axis=1) / n
        regrets[role] = interval_of_draws(float(values[0]), values[1:], n)
    gaps = []
    for draw in draws:
        drawn = (draw[:, None] * shares).ravel()
        sums = [bin_sums(cells[:, :, seat].ravel(), drawn, size) for seat, size in enumerate(form.shape)]
        gaps.append(regret(form, [counts / counts.sum() for counts in sums]).sum())
    return JudgedSeats(regrets, interval_of_draws(float(gaps[0]), np.array(gaps[1:]), n))


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
            regret_so_far = cluster_bootstrap(regrets[lasted, number], rng=rng, resamples=_RESAMPLES)
            yield RegretRow(seat=role, turn=number + 1, regret=regret_so_far)


def find_best_reply(config: SimulateConfig, seat: int) -> float | None:
    """Compute what the best reply to the automaton in the other seat earns a round; None where there is no automaton.

    Going back from the last round, exactly: what each move earns now, and then from the state that it leads to.
    """
    game, form = config.make_game(), config.theory.form
    if form is None or form.num_players != 2 or config.rounds == 1:
        return None
    other = game.roles[1 - seat]
    player = find_strategy(config.seats[other], game, other, 0)
    if not isinstance(player, AutomatonPlayer):
        return None
    automaton, payoffs = player.automaton, form.payoffs[seat] if seat == 0 else form.payoffs[seat].T
    count, others = payoffs.shape
    slip = np.array([[1.0 - config.noise if a == b else config.noise / max(count - 1, 1) for b in range(count)]
                     for a in range(count)])  # fmt: skip
    theirs = automaton.mix * (1 - config.noise) + (1 - automaton.mix) * config.noise / max(others - 1, 1)
    weight = config.continuation * config.discount
    values = np.zeros(automaton.states)
    for _ in range(config.rounds):
        # By state, the other's move and the own move that are made.
        later = payoffs.T[None] + weight * values[automaton.step]
        values = ((theirs[:, :, None] * later).sum(axis=1) @ slip.T).max(axis=1)
    return float(values[0] / sum(weight**number for number in range(config.rounds)))


def list_sustained(config: SimulateConfig) -> Iterator[SustainedRow]:
    """Yield what the threat to return to an equilibrium of one round sustains; nothing where no round may be the last.

    Whoever leaves the profile gains at once and is paid the equilibrium ever after, so that the future has to weigh at
    least (best - own) / (best - threat) for everybody. Under noise the threat would be carried out by mistake.
    """
    form, weight = config.theory.form, config.continuation * config.discount
    if form is None or config.continuation == 1 or config.noise:
        return
    rows: list[SustainedRow] = []
    for cell in product(*map(range, form.shape)):
        paid = np.array([payoffs[cell] for payoffs in form.payoffs])
        best = np.array([form.payoffs[seat][(*cell[:seat], slice(None), *cell[seat + 1 :])].max()
                         for seat in range(form.num_players)])  # fmt: skip
        threats = [np.array([equilibrium.payoffs[role] for role in form.players])
                   for equilibrium in config.theory.predicted]  # fmt: skip
        needed = [float(((best - paid) / (best - threat)).max()) for threat in threats if (paid > threat + 1e-9).all()]
        if needed:
            moves = ", ".join(names[k] for names, k in zip(form.actions, cell, strict=True))
            welfare, least = float(paid.sum()), min(needed)
            rows.append(SustainedRow(profile=moves, welfare=welfare, needed=least, sustained=least <= weight + 1e-12))
    yield from sorted(rows, key=lambda row: -row["welfare"])[:_MOST_SUSTAINED]


def _list_rounds(plays: Plays, form: NormalForm) -> tuple[NDArray[np.int64], Floats]:
    """Return the moves by number (plays x rounds x seats), and the weight of every round, 0 where it was not played."""
    cells = np.zeros((len(plays.repeats), plays.rounds, form.num_players), dtype=np.int64)
    weights = np.zeros(cells.shape[:2])
    for row in plays.moves:
        played, seat = (plays.numbers[row["repeat"]], row["turn"] - 1), form.players.index(row["seat"])
        cells[*played, seat] = form.actions[seat].index(str(row["move"]))
        weights[played] = plays.config.discount ** played[1]
    return cells, weights


def _find_gains(form: NormalForm, cells: NDArray[np.int64], seat: int) -> Floats:
    """For every round, what each move of the seat would have earned there in place of its own, less what it got."""
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
    moves = [tree.infosets[k].moves.index(name_move(row["move"])) for k, row in zip(sets, plays.moves, strict=True)]
    entries = np.array([int(tree.first_move[k]) + move for k, move in zip(sets, moves, strict=True)])
    assumed = uniform_policy(tree) if nearest is None else policy_from_table(tree, nearest.shares)
    size = len(assumed.probabilities)
    rng = np.random.default_rng(split(plays.config.seed, "playground regrets"))
    resamples = _RESAMPLES if tree.num_nodes <= _MOST_NODES_RESAMPLED else 0
    draws = [np.ones(n), *(bin_sums(rng.integers(n, size=n), np.ones(n), n) for _ in range(resamples))]
    rows = [_find_frequencies(tree, bin_sums(entries, draw[numbers], size), assumed.probabilities) for draw in draws]
    regrets = np.array([plan_regrets(form, form.plans(Policy(tree, row))) for row in rows])
    values = [*regrets.T, regrets.sum(axis=1)]
    *by_seat, gap = [
        interval_of_draws(float(column[0]), column[1:], n) if resamples else float(column[0]) for column in values
    ]
    seen = np.add.reduceat(bin_sums(entries, np.ones(len(entries)), size), tree.first_move[:-1])
    return JudgedSeats(dict(zip(tree.players, by_seat, strict=True)), gap, len(tree.infosets), int((seen == 0).sum()))


def _find_frequencies(tree: Tree, counts: Floats, elsewhere: Floats) -> Floats:
    """Return the share of every move at its place, what is assumed `elsewhere` where nobody has decided yet."""
    totals = np.repeat(np.add.reduceat(counts, tree.first_move[:-1]), np.diff(tree.first_move))
    row: Floats = np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), elsewhere)
    return row
