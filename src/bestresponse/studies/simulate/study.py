"""Any game as a study: played many times by all kinds of players, beside theory.

Models, strategies and solvers may fill the seats.

This module turns the plays into the frames of the report. What is told a round is the mean over the
rounds of all plays: where the end is random, a play weighs as much as it has rounds, so that
payoffs, regrets and what the best reply earns can be subtracted from each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.analysis.costs import value_best_reply
from bestresponse.analysis.decisions import DECISIONS, average_regret, tabulate_decisions
from bestresponse.analysis.people import show_people
from bestresponse.analysis.theory import Predicted
from bestresponse.analysis.truth import name_answer
from bestresponse.core.files import read_prose
from bestresponse.core.json import digest
from bestresponse.report.blocks import (
    Measurement,
    Shown,
    bars,
    boxes,
    lead,
    lines,
    metrics_table,
    table,
    text,
)
from bestresponse.report.document import Code, Column, Paragraph
from bestresponse.report.frames import (
    Frame,
    Heads,
    IntervalColumn,
    NumberColumn,
    Row,
    Value,
    column,
    list_metrics,
)
from bestresponse.report.stats.statistics import Floats, Interval, missing_bounds, wilson
from bestresponse.runs import seats as seating
from bestresponse.runs.reporting.answers import warn_of_gaps
from bestresponse.runs.study import ComparedBy, GameValue, Measured, Study
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.deals import DealRow
from bestresponse.studies.simulate.mechanisms import tabulate_mechanisms
from bestresponse.studies.simulate.plays import (
    MoveRow,
    Plays,
    find_made_shares,
    find_nearest,
    read_plays,
)
from bestresponse.studies.simulate.regrets import (
    JudgedSeats,
    judge_seats,
)
from bestresponse.telling.render import write_rules

_SHARES = np.array([0.0, 1.0])


class PayoffRow(TypedDict):
    """What a seat earned in a play: of a round on average where the game was repeated."""

    repeat: int
    seat: str
    player: str
    payoff: Annotated[float | None, column(format=".3f", help="none if the play is void")]


class ShareRow(TypedDict):
    """How often a seat made a move."""

    seat: str
    place: Annotated[str | None, column("knowing", help="what the seat knows when it decides")]
    part: Annotated[str | None, column("for", help="the field of a form")]
    turn: Annotated[int | None, column("round")]
    move: str
    times: int
    share: Annotated[
        Interval,
        column(
            format=".3f",
            help="share of all its decisions in that situation, 95 % interval over plays",
        ),
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
    places: Annotated[int | None, column(help="situations in which somebody decides")]
    unseen: Annotated[int | None, column(help="situations that no play reached")]
    welfare: Annotated[Value, column("mean sum of all payoffs", ".3f", "95 % interval over plays")]
    equilibrium_welfare: Annotated[
        float | None, column("at the best equilibrium that is listed", ".3f")
    ]
    best_welfare: Annotated[float | None, column("the largest possible sum of payoffs", ".3f")]
    price_of_anarchy: Annotated[float | None, column("price of anarchy observed", ".3f")]


class BargainRow(TypedDict):
    """All deals together."""

    deals: Annotated[int, column(help="plays in which somebody earned something")]
    plays: int
    surplus: Annotated[Interval, column("share of the largest surplus", ".3f")]
    share: Annotated[Interval | None, column("of it the first seat", ".3f")]
    to_frontier: Annotated[Interval, column("distance to the Pareto frontier", ".3f")]
    to_nash: Annotated[Interval, column("distance to the Nash bargaining point", ".3f")]


class PlayedSeatMetrics(TypedDict):
    """The metrics of a seat; None where there is nothing of the kind."""

    payoff: Annotated[Interval, column(format=".3f")]
    """mean over plays; in a repeated game mean over the rounds of all plays (weighted as payoffs
    are), 95 % interval"""
    equilibrium_payoff: Annotated[float | None, column("in equilibrium", ".3f")]
    """the payoff in the equilibrium nearest to the observed play"""
    payoff_least: Annotated[float | None, column("payoff at least", ".3f")]
    """the mean payoff if void plays had ended in the worst way, and were as long as the others"""
    payoff_most: Annotated[float | None, column("payoff at most", ".3f")]
    """the mean payoff if void plays had ended in the best way, and were as long as the others"""
    regret: Annotated[Value, column("external regret", ".3f")]
    """what the best single strategy would have earned against the others' actual moves, minus what
    was earned (per round in a repeated game); negative if varying moves earned more than any single
    one would have"""
    best_reply: NumberColumn
    """the expected payoff per round of the best reply to the strategy in the other seat, including
    that strategy's reactions"""
    best_reply_regret: Annotated[Interval | None, column("lost to the best reply", ".3f")]
    """the expected cost per round of the choices, compared with the best reply to the strategy in
    the other seat; it does not depend on luck"""
    regret_per_move: Annotated[Interval | None, column(format=".4f")]
    """what a decision loses against the equilibrium, where single moves can be judged and matter"""
    belief_score: Annotated[Interval | None, column("Brier score", ".3f")]
    """squared distance of beliefs to what the other did: 0 is sure and right, 2 sure and wrong"""
    mispredicted: IntervalColumn
    """what best replies to the beliefs lose against what the other did in that round"""
    misread: IntervalColumn
    """what best replies by the payoffs that the model read lose beside that"""
    miscalculated: IntervalColumn
    """what the answers lose beside both; negative if they did better"""


def measure_simulation(plays: Plays) -> Measured:
    """Measure what was played.

    Without a play that counts, void plays and answers are all there is.
    """
    nearest = find_nearest(plays)
    judged = judge_seats(plays, nearest) if plays.repeats else None
    shares_by_round: list[ShareRow] = []
    amounts_by_round: list[AmountRow] = []
    if plays.rounds > 1:
        shares_by_round += _list_shares(plays, nearest, by_round=True)
        amounts_by_round += _list_amounts(plays, by_round=True)
    ends = {}
    if plays.ends is not None:
        for seat, paid in zip(plays.seats, plays.ends, strict=True):
            ends[seat] = float(paid.min()), float(paid.max())
    groups = _list_seats(plays, nearest, judged) if plays.repeats else {}
    decisions = tabulate_decisions(plays.judged, ends)
    decisions["skill"] = _share_intervals(decisions["skill"], groups)
    frames = {
        "payoffs": Frame(PayoffRow, list(_list_earned(plays))),
        "moves": Frame(MoveRow, plays.moves),
        "shares": Frame(ShareRow, list(_list_shares(plays, nearest, by_round=False))),
        "shares_by_round": Frame(ShareRow, shares_by_round),
        "amounts": Frame(AmountRow, list(_list_amounts(plays, by_round=False))),
        "amounts_by_round": Frame(AmountRow, amounts_by_round),
        "equilibria": _list_equilibria(plays, nearest),
        "game": Frame(PlayedGameRow, [_describe_game(plays, judged)]),
        "deals": Frame(DealRow, plays.deals),
        "bargaining": Frame(BargainRow, _sum_up_deals(plays)),
        **decisions,
        **plays.readings.frames,
    }
    return Measured(
        frames,
        answered=len(plays.repeats),
        labels=("seat", "player"),
        groups=groups,
    )


def _share_intervals(skill: Frame[Row], groups: dict[Heads, PlayedSeatMetrics]) -> Frame[Row]:
    """Give the payoff of a player in a single seat the interval that it has as a metric."""
    rows = []
    for row in skill.rows:
        own = [figures["payoff"] for heads, figures in groups.items() if heads[1] == row["player"]]
        payoff = row["payoff"]
        is_same = isinstance(payoff, Interval) and [payoff.estimate] == [x.estimate for x in own]
        rows.append({**row, "payoff": own[0]} if is_same else row)
    return replace(skill, rows=rows)


def _list_earned(plays: Plays) -> Iterator[PayoffRow]:
    """Yield what every seat earned in every play, nothing in void ones."""
    payoffs = dict(zip(plays.repeats, plays.payoffs.tolist(), strict=True))
    for void in plays.readings.voids:
        payoffs[void["repeat"]] = [None] * len(plays.seats)
    for repeat, row in sorted(payoffs.items()):
        for seat, payoff in zip(plays.seats, row, strict=True):
            player = str(plays.config.seats[seat])
            yield PayoffRow(repeat=repeat, seat=seat, player=player, payoff=payoff)


def _list_seats(
    plays: Plays,
    nearest: Predicted | None,
    judged: JudgedSeats | None,
) -> dict[Heads, PlayedSeatMetrics]:
    theory = plays.config.theory
    predicted = None
    if nearest:
        predicted = nearest.payoffs
    elif theory.known:
        predicted = theory.known.payoffs

    reply_costs = np.zeros_like(plays.payoffs)
    for row in plays.moves:
        place = (plays.numbers[row["repeat"]], plays.seats.index(row["seat"]))
        discounted = plays.config.course.weigh(row["turn"] - 1)
        reply_costs[place] += (row["reply_cost"] or 0.0) * discounted

    sizes = plays.weights / plays.weights.mean()
    groups: dict[Heads, PlayedSeatMetrics] = {}
    for number, (seat, player) in enumerate(plays.config.seats.items()):
        payoffs = plays.payoffs[:, number]
        bounds = None
        ends = None if plays.ends is None else plays.ends[number]
        if plays.readings.voids and ends is not None:
            bounds = missing_bounds(
                payoffs * sizes,
                len(plays.readings.voids),
                ends.min(),
                ends.max(),
            )
        most = math.inf if ends is None else float(np.ptp(ends))
        reply = value_best_reply(plays.config.make_game(), seat, plays.config.strategies)
        lost_to_reply = None
        if reply is not None and ends is not None:
            lost_to_reply = _average_cost(
                plays,
                seat,
                costs=reply_costs[:, number] / plays.weights,
                most=reply - float(ends.min()),
            )
        groups[seat, str(player)] = PlayedSeatMetrics(
            payoff=plays.average(payoffs, seat, ends=ends),
            equilibrium_payoff=predicted[seat] if predicted else None,
            payoff_least=bounds[0] if bounds else None,
            payoff_most=bounds[1] if bounds else None,
            regret=judged.regrets[seat] if judged else None,
            best_reply=reply,
            best_reply_regret=lost_to_reply,
            regret_per_move=average_regret(plays.judged, str(player), seat),
            belief_score=_average_belief(plays, seat, "belief_score", (0.0, 2.0)),
            mispredicted=_average_belief(plays, seat, "mispredicted", (0.0, most)),
            misread=_average_belief(plays, seat, "misread", (-most, most)),
            miscalculated=_average_belief(plays, seat, "miscalculated", (-most, most)),
        )
    return groups


def _average_belief(
    plays: Plays, seat: str, name: str, ends: tuple[float, float]
) -> Interval | None:
    """Average a metric of the beliefs of a seat; None where nobody was asked."""
    find = itemgetter(name)
    rows = [row for row in plays.moves if row["seat"] == seat and find(row) is not None]
    if not rows:
        return None
    repeats = list(map(itemgetter("repeat"), rows))
    return plays.average(np.array(list(map(find, rows))), name, repeats, np.array(ends))


def _average_cost(plays: Plays, seat: str, costs: Floats, most: float) -> Interval:
    """Average what the choices of plays cost per round.

    The choices of a play cost what the best reply earns less what was earned, `most` where that is
    the least payoff: exactly so without luck, and on average with it. With luck one play may cost
    more.
    """
    ends = np.array([0.0, max(most, float(costs.max()))])
    mean = plays.average(costs, f"reply {seat}", ends=ends)
    if mean.n == 1:
        return mean
    return replace(mean, high=min(mean.high, max(most, mean.estimate)))


def _group_moves(
    plays: Plays,
    kind: type,
    by_round: bool,
) -> Iterator[tuple[tuple[str, str, str, int], Sequence[MoveRow]]]:
    """Yield the moves of a kind (labels or amounts) in groups.

    They are grouped by seat, place, part and round, in the order of the game.

    In a tree amounts are moves like any other.
    """
    tree = plays.config.theory.tree
    groups: dict[tuple[str, str, str, int], list[MoveRow]] = {}
    for row in plays.moves:
        move = row["move"] if tree is None else name_answer(row["move"])
        if isinstance(move, kind):
            turn = row["turn"] if by_round else 0
            key = (row["seat"], row["place"], row["part"], turn)
            groups.setdefault(key, []).append(row)

    def place_in_order(key: tuple[str, str, str, int]) -> tuple[int, int, int]:
        seat, infoset, _, turn = key
        place = 0 if tree is None else tree.infoset_index[seat, infoset]
        return plays.seats.index(seat), place, turn

    for key in sorted(groups, key=place_in_order):
        yield key, groups[key]


def _list_shares(plays: Plays, nearest: Predicted | None, *, by_round: bool) -> Iterator[ShareRow]:
    """Yield every move at every place, all rounds together or round by round."""
    tree = plays.config.theory.tree
    for (seat, infoset, part, turn), rows in _group_moves(plays, str, by_round):
        options = plays.options[seat, infoset, part]
        if tree is not None:
            options = tree.infosets[tree.infoset_index[seat, infoset]].moves
        made = [name_answer(row["move"]) for row in rows]
        repeats = [row["repeat"] for row in rows]
        predicted = None
        if nearest is not None:
            predicted = find_made_shares(nearest, seat, infoset, plays.config.course.noise)
        for move in dict.fromkeys([*options, *made]):
            times = made.count(move)
            # Answers of one play are not independent: where there are several, plays are drawn and
            # not answers.
            if len(set(repeats)) == len(repeats):
                share = wilson(times, len(made))
            else:
                hits = np.array([other == move for other in made], dtype=np.float64)
                share = plays.average(hits, "share", repeats, _SHARES)
            yield ShareRow(
                seat=seat,
                place=infoset or None,
                part=part or None,
                turn=turn or None,
                move=move,
                times=times,
                share=share,
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


def _sum_up_deals(plays: Plays) -> list[BargainRow]:
    """Average over plays in which there was something to gain, and shares where it was gained."""
    repeats: list[int] = []
    figures: list[tuple[float, float, float]] = []
    shares: list[float] = []
    for row in plays.deals:
        if row["possible"] > 0:
            repeats.append(row["repeat"])
            gained = row["surplus"] / row["possible"]
            figures.append((gained, row["to_frontier"], row["to_nash"]))
            shares += [] if row["share"] is None else [row["share"]]
    if not figures:
        return []
    gains, to_frontier, to_nash = np.array(figures).T
    share = None
    if shares:
        share = plays.average(np.array(shares), "share of surplus", range(len(shares)))
    summed = BargainRow(
        deals=len(shares),
        plays=len(figures),
        surplus=plays.average(gains, "surplus", repeats),
        share=share,
        to_frontier=plays.average(to_frontier, "frontier", repeats),
        to_nash=plays.average(to_nash, "nash", repeats),
    )
    return [summed]


def _list_equilibria(plays: Plays, nearest: Predicted | None) -> Frame[EquilibriumRow]:
    columns = {f"payoff_{seat}": Column(seat, "right", "payoff", ".3f") for seat in plays.seats}
    if not plays.repeats:
        return Frame(EquilibriumRow, [], columns)

    rows = []
    for number, predicted in enumerate(plays.config.theory.predicted, 1):
        payoffs = {f"payoff_{seat}": predicted.payoffs[seat] for seat in plays.seats}
        row = EquilibriumRow(
            equilibrium=f"{number}, {predicted.kind}",
            nearest=predicted is nearest,
            welfare=predicted.welfare,
            regret=predicted.regret,
            **payoffs,  # type: ignore[typeddict-item]
        )
        rows.append(row)
    return Frame(EquilibriumRow, rows, columns)


def _describe_game(plays: Plays, judged: JudgedSeats | None) -> PlayedGameRow:
    theory = plays.config.theory
    best = max((predicted.welfare for predicted in theory.predicted), default=None)
    if best is None and theory.known is not None and theory.known.payoffs:
        best = sum(theory.known.payoffs.values())
    welfare = None
    if plays.repeats:
        totals = None if plays.ends is None else plays.ends.sum(axis=0)
        welfare = plays.average(plays.payoffs.sum(axis=1), "welfare", ends=totals)
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
    same = digest([config.game.to_json(), config.rounds, config.seed])
    ends = Plays(config, (), np.empty(0), np.empty(0), []).ends
    span = None
    if ends is not None:
        ranges = np.ptp(ends, axis=1)
        span = float(ranges.max())
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


_PROSE = read_prose(__file__)
simulate = Study(
    "simulate",
    SimulateConfig,
    specs=lambda config: seating.list_plays(
        config,
        "simulate",
        config.seats,
        config.personas,
        config.referee,
    ),
    play=lambda config, models: seating.make_player(
        lambda spec: config.make_game(), config.offer_tools(models)
    ),
    measure=lambda config, folder: measure_simulation(read_plays(config, folder.sorted_plays())),
    metrics=list_metrics(PlayedSeatMetrics),
    compared=ComparedBy(list_payoffs, tested=("payoff",), together=tabulate_mechanisms),
    title="Playing {{ config.game.name }}",
    subtitle=_PROSE["subtitle"],
    command="simulate",
    tables=2,
    game=lambda config, data: config.make_game(),
    count_plays=lambda config: config.repeats,
    prepare=seating.check_players,
    estimate_calls=lambda config: seating.estimate_plays(
        config,
        config.make_game(),
        config.seats,
        config.course.rounds,
        config.referee,
    ),
    report=(
        warn_of_gaps,
        lead(("payoff",), "earns"),
        show_people,
        metrics_table("What they earned"),
        boxes("payoffs", by="seat", value="payoff"),
        table("shares", title="Choices", caption="Moves"),
        bars(
            "shares",
            "seat",
            "share",
            "move",
            beside="in_equilibrium",
            where={"place": None, "part": None},
            caption=_PROSE["moves"],
        ),
        table("amounts", title="Choices", caption="Amounts"),
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
        *DECISIONS,
        text(_PROSE["noise"], title="Compared with theory"),
        text(_PROSE["known"], title="Compared with theory"),
        table(
            "game",
            ("nash_gap",),
            title="Compared with theory",
            caption=_PROSE["gap"],
        ),
        table(
            "equilibria",
            title="Compared with theory",
            caption=_PROSE["equilibria"],
            most=12,
        ),
        table(
            "game",
            ("welfare", "equilibrium_welfare", "best_welfare", "price_of_anarchy"),
            title="Totals",
            caption=_PROSE["together"],
        ),
        table("bargaining", title="Deals", caption=_PROSE["deals"]),
        table("voids", title="Plays without a result"),
        show_rules,
    ),
)
"""Payoffs, moves, regret and welfare of any game played many times."""
