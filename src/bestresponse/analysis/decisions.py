"""What single decisions lost and what luck paid, in every study that plays games.

Payoffs of a play in which everybody but chance is judged add up: what the game is worth, and luck,
less the own regrets, and what the others lost to one. So a ranking by decisions is one by payoffs
without luck, and can be told from fewer plays.

Forced answers and those at which all are worth the same say nothing about anybody, and are left
out. Where somebody has to mix, no single answer is judged (`analysis.truth`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Any, TypedDict

import numpy as np

from bestresponse.analysis.truth import Truth, judge_moves, name_answer, trace_stages
from bestresponse.core.ask import Lottery
from bestresponse.core.episode import Record
from bestresponse.core.game import NATURE, Game, Role, S
from bestresponse.core.player import Chances
from bestresponse.report.blocks import table
from bestresponse.report.frames import Frame, Row, column
from bestresponse.report.stats.luck import LEAST_PLAYS, take_out_luck
from bestresponse.report.stats.statistics import (
    Floats,
    Interval,
    bound_mean,
    cluster_bootstrap,
    interval_of_draws,
)

_MOST_OUTCOMES = 200
"""Of a stage with more outcomes, what could have been is not worked out."""
_SEED = 23
"""Of the resampling: the same for all players, so that they are resampled alike."""
_RESAMPLES = 1_000
_LEAST_RANKED = 3
_DIGITS = 12
"""Means that agree to so many digits are tied: the rest is rounding."""
_MOST_WORST = 200


class SkillRow(TypedDict):
    """A player: its decisions beside what it earned."""

    player: str
    decisions: Annotated[int, column(help="where not all answers are worth the same")]
    regret: Annotated[
        Interval | None, column("regret per move", ".4f", "what a decision loses, mean")
    ]
    best: Annotated[float | None, column("best moves", ".0%", "share of decisions that lose 0")]
    plays: int
    payoff: Annotated[Interval | None, column(format=".3f", help="mean over plays")]
    wins: Annotated[
        float | None, column(format=".0%", help="highest payoff of a play; ties are shared")
    ]


class WorstRow(TypedDict):
    """Decisions of a player that lost the same at the same place."""

    player: str
    seat: str
    place: Annotated[str, column("knowing", help="what the player knew")]
    answer: str
    best: Annotated[str, column("better")]
    lost: Annotated[float, column(format=".4g")]
    stake: Annotated[float | None, column("at most", ".4g", "what the worst answer loses")]
    times: int
    play: Annotated[str, column("first in play")]


class LuckRow(TypedDict):
    """Payoffs with and without luck."""

    seat: str
    player: str
    payoff: Annotated[Interval, column(format=".3f")]
    without_luck: Annotated[Interval, column(format=".3f", help="luck is taken out")]
    plays: int
    needed: Annotated[
        int | None,
        column("plays needed", help="for the same certainty with luck; none if no doubt is left"),
    ]


class RankRow(TypedDict):
    """Whether those who earn more decide better."""

    players: int
    correlation: Annotated[Interval, column("rank correlation", ".2f", "payoff against decisions")]


@dataclass(frozen=True, slots=True)
class Judged:
    """A decision: what it lost beside the most that could be lost there."""

    seat: Role
    place: str
    answer: str
    best: str
    lost: float
    stake: float


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPlay:
    """A play with its decisions; `luck` has a row for chance, and one for known strategies.

    `persons` name who is resampled where the same person played several times.
    """

    name: str
    players: Mapping[Role, str]
    payoffs: Mapping[Role, float]
    decisions: Sequence[Judged] = ()
    luck: Floats | None = None
    persons: Mapping[Role, str] | None = None

    def find_unit(self, seat: Role) -> str:
        """Name the person in a seat, or the play where nobody has a name."""
        return (self.persons or {}).get(seat) or self.name

    def scale(self, factor: float) -> JudgedPlay:
        """Return the play with payoffs and luck that are multiplied, as if told per round."""
        payoffs = {seat: factor * paid for seat, paid in self.payoffs.items()}
        luck = None if self.luck is None else factor * self.luck
        return replace(self, payoffs=payoffs, luck=luck)


def judge_play(
    name: object,
    record: Record,
    game: Game[S],
    truth: Truth | None,
    known: Mapping[Role, Chances],
) -> JudgedPlay:
    """Judge the decisions of a play and its luck, as far as a truth knows them."""
    judged = []
    if truth is not None and truth.judges_moves:
        for _, state, role, action, lost in judge_moves(record, game, truth):
            if lost.stake:
                place = truth.name_place(state, role) if lost.least else ""
                answer = name_answer(action)
                one = Judged(
                    seat=role,
                    place=place,
                    answer=answer,
                    best=lost.best,
                    lost=lost.least,
                    stake=lost.stake,
                )
                judged.append(one)
    luck = None if truth is None or record.void else measure_luck(record, game, truth, known)
    players = {}
    for role in game.roles:
        if record.players.get(role):
            players[role] = record.players[role]
    return JudgedPlay(str(name), players, record.payoffs, judged, luck)


def measure_luck(
    record: Record,
    game: Game[S],
    truth: Truth,
    known: Mapping[Role, Chances],
) -> Floats | None:
    """Add up what draws of chance and of known strategies paid each role beside what they expected.

    Whoever answers at the same time and is not known is taken to have answered first.
    """
    place = truth.begin()
    if truth.expect(place) is None:
        return None
    luck = np.zeros((2, len(game.roles)))
    for stage in trace_stages(record, game):
        moves = stage.moves
        if moves is None:
            break
        after = truth.advance(place, moves)
        mixes: dict[Role, Mapping[Any, float]] = {}
        for role, ask in stage.asks.items():
            mix: Mapping[Any, float] | None = None
            if isinstance(ask, Lottery):
                mix = dict(ask.chances)
            elif role in known:
                mix = known[role](game.view(stage.state, role), ask)
            if mix is not None:
                mixes[role] = mix
        if mixes and math.prod(map(len, mixes.values())) <= _MOST_OUTCOMES:
            paid = np.asarray(truth.expect(after))
            luck[int(NATURE not in mixes)] += paid - _expect_draw(truth, place, moves, mixes)
        place = after
    return luck


def _expect_draw(
    truth: Truth,
    place: object,
    moves: Mapping[Role, object],
    mixes: Mapping[Role, Mapping[Hashable, float]],
) -> Floats:
    expected = np.zeros(len(truth.game.roles))
    for answers in product(*mixes.values()):
        drawn = dict(zip(mixes, answers, strict=True))
        chance = 1.0
        for role, answer in drawn.items():
            chance *= mixes[role][answer]
        if chance > 0:
            after = truth.advance(place, {**moves, **drawn})
            expected += chance * np.asarray(truth.expect(after))
    return expected


def average_regret(plays: Iterable[JudgedPlay], player: str, seat: Role = "") -> Interval | None:
    """Average what the decisions of a player lost, in all seats if none is named."""
    lost, units, most = [], [], 0.0
    for play in plays:
        for one in play.decisions:
            if play.players.get(one.seat) == player and seat in ("", one.seat):
                lost.append(one.lost)
                units.append(play.find_unit(one.seat))
                most = max(most, one.stake)
    if not lost:
        return None
    if math.isinf(most):
        return cluster_bootstrap(lost, units, rng=np.random.default_rng(_SEED))
    return bound_mean(lost, (0.0, most), units, rng=_SEED)


def tabulate_decisions(
    plays: Sequence[JudgedPlay],
    ends: Mapping[Role, tuple[float, float]] | None = None,
    always: bool = False,
) -> dict[str, Frame[Row]]:
    """Return players by their regret, their worst decisions, and payoffs without luck.

    `ends` are the least and the most that a play can pay a role, where that is known. Players whose
    decisions cannot be judged are listed if `always`.
    """
    names: dict[str, None] = {}
    for play in plays:
        names |= dict.fromkeys(play.players.values())
    skill = []
    for name in names:
        row = _describe_skill(plays, name)
        if row["regret"] is not None or always:
            skill.append(row)
    skill.sort(key=lambda row: math.inf if row["regret"] is None else row["regret"].estimate)
    finished = [play for play in plays if play.payoffs]
    ranks = _correlate(finished, [row["player"] for row in skill if row["regret"] is not None])
    return {
        "skill": Frame(SkillRow, skill),
        "ranks": Frame(RankRow, ranks),
        "worst": Frame(WorstRow, _list_worst(plays)),
        "luck": Frame(LuckRow, _list_lucky(finished, ends or {})),
    }


def _describe_skill(plays: Sequence[JudgedPlay], player: str) -> SkillRow:
    earned: list[float] = []
    units: list[str] = []
    best: list[bool] = []
    wins = 0.0
    for play in plays:
        paid = list(play.payoffs.values())
        for seat, name in play.players.items():
            if name == player and paid:
                earned.append(play.payoffs[seat])
                units.append(play.find_unit(seat))
                most = max(paid)
                wins += (earned[-1] == most) / paid.count(most)
        for one in play.decisions:
            if play.players.get(one.seat) == player:
                best.append(one.lost == 0)
    payoff = None
    if earned:
        payoff = cluster_bootstrap(earned, units, rng=np.random.default_rng(_SEED))
    return SkillRow(
        player=player,
        decisions=len(best),
        regret=average_regret(plays, player),
        best=sum(best) / len(best) if best else None,
        plays=len(earned),
        payoff=payoff,
        wins=wins / len(earned) if earned else None,
    )


def _correlate(plays: Sequence[JudgedPlay], players: Sequence[str]) -> list[RankRow]:
    """Correlate the ranks by payoff and by regret, with an interval from resampling plays."""
    if len(players) < _LEAST_RANKED:
        return []
    sums = np.zeros((4, len(plays), len(players)))
    for number, play in enumerate(plays):
        for seat, player in play.players.items():
            if player in players:
                sums[:2, number, players.index(player)] += play.payoffs[seat], 1
        for one in play.decisions:
            player = play.players.get(one.seat, "")
            if player in players:
                sums[2:, number, players.index(player)] += one.lost, 1
    rng = np.random.default_rng(_SEED)
    drawn = rng.standard_exponential((_RESAMPLES, len(plays)))
    weights = np.vstack([np.ones(len(plays)), drawn])
    paid, seated, lost, decided = (weights @ part for part in sums)
    with np.errstate(invalid="ignore"):
        means = np.array([paid / seated, -lost / decided])
        means /= np.abs(means).max(axis=2, keepdims=True)
        rounded = np.round(means, _DIGITS)
        above = np.sign(rounded[..., :, None] - rounded[..., None, :])
        apart = above.sum(axis=3) / 2  # a rank less the mean of all ranks; ties share theirs
        squares = (apart**2).sum(axis=2)
        together = apart.prod(axis=0).sum(axis=1)
        found = together / np.sqrt(squares.prod(axis=0))
    if not np.isfinite(found).all():
        return []
    correlation = interval_of_draws(float(found[0]), found[1:], len(plays), (-1.0, 1.0))
    return [RankRow(players=len(players), correlation=correlation)]


def _list_worst(plays: Iterable[JudgedPlay]) -> list[WorstRow]:
    """List the worst decisions first, the same one of a player once."""
    rows: dict[tuple[str, Judged], WorstRow] = {}
    for play in plays:
        for one in play.decisions:
            if not one.lost:
                continue
            player = play.players.get(one.seat, "")
            new = WorstRow(
                player=player,
                seat=one.seat,
                place=one.place,
                answer=one.answer,
                best=one.best,
                lost=one.lost,
                stake=None if math.isinf(one.stake) else one.stake,
                times=0,
                play=play.name,
            )
            rows.setdefault((player, one), new)["times"] += 1
    worst = sorted(rows.values(), key=lambda row: (-row["lost"], -row["times"]))
    return worst[:_MOST_WORST]


def _list_lucky(
    plays: Sequence[JudgedPlay],
    ends: Mapping[Role, tuple[float, float]],
) -> list[LuckRow]:
    """List what was earned in each seat with and without luck, where there was any."""
    groups: dict[tuple[Role, str], list[JudgedPlay]] = {}
    for play in plays:
        for seat, player in play.players.items():
            if play.luck is not None:
                groups.setdefault((seat, player), []).append(play)
    rows = []
    for (seat, player), own in groups.items():
        number = list(own[0].payoffs).index(seat)
        luck = np.array([play.luck for play in own])[:, :, number].T
        if len(own) < LEAST_PLAYS or not luck.any():
            continue
        paid = np.array([play.payoffs[seat] for play in own])
        without = take_out_luck(paid, luck)
        units = [play.find_unit(seat) for play in own]
        spread, left = float(paid.var()), float(without.var())
        needed = round(len(own) * spread / left) if left > 1e-12 * spread else None
        row = LuckRow(
            seat=seat,
            player=player,
            payoff=_average_payoff(paid, units, ends.get(seat)),
            without_luck=_average_payoff(without, units, ends.get(seat)),
            plays=len(own),
            needed=needed,
        )
        rows.append(row)
    return rows


def _average_payoff(
    paid: Floats,
    units: Sequence[str],
    ends: tuple[float, float] | None,
) -> Interval:
    """Average payoffs; those without luck may lie outside of what a play can pay."""
    if ends is None:
        return cluster_bootstrap(paid, units, rng=np.random.default_rng(_SEED))
    least, most = ends
    widest = min(least, float(paid.min())), max(most, float(paid.max()))
    return bound_mean(paid, widest, units, rng=_SEED)


DECISIONS = (
    table(
        "skill",
        title="Decisions",
        caption="What decisions lost beside what was earned, with 95 % intervals."
        "{% for row in frame('ranks') %} Rank correlation of payoff and decisions over {{"
        " row.players }} players: {{ '{:.2f}'.format(row.correlation) }}.{% endfor %}",
    ),
    table("worst", title="Decisions", caption="Worst decisions first", most=20),
    table(
        "luck",
        title="Payoffs without luck",
        caption="What chance and known strategies drew beside what could be expected is taken out,"
        " by weights that are fitted on the other half of the plays.",
    ),
)
"""What a report shows of `tabulate_decisions`."""
