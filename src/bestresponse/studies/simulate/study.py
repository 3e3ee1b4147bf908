"""Any game as a study: seats filled by models, strategies and solvers, played many times, beside theory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.analysis.people import show_people
from bestresponse.analysis.theory import Predicted
from bestresponse.report.blocks import Measurement, Shown, bars, boxes, lines, metrics_table, table, text
from bestresponse.report.document import Code, Column, Paragraph
from bestresponse.report.frames import Frame, Heads, Value, column, list_metrics
from bestresponse.report.stats.statistics import Interval, missing_bounds, wilson
from bestresponse.runs.reporting.answers import VoidRow, make_answers_frame, warn_of_gaps
from bestresponse.runs.seats import check_players, estimate_plays, list_plays, make_player
from bestresponse.runs.study import Measured, Study
from bestresponse.studies.simulate.plays import (
    JudgedSeats,
    MoveRow,
    Plays,
    RegretRow,
    SimulateConfig,
    SustainedRow,
    find_best_reply,
    find_nearest,
    judge_seats,
    list_regrets,
    list_sustained,
    name_move,
    read_plays,
)


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
    share: Annotated[Interval, column(format=".3f", help="of all its decisions there, 95 % interval over plays")]
    in_equilibrium: Annotated[float | None, column(format=".3f", help="in the equilibrium nearest to the play")]


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
    """An equilibrium; what it pays stands in a column for each seat."""

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
    equilibrium_welfare: Annotated[float | None, column("at the best equilibrium that is listed", ".3f")]
    best_welfare: Annotated[float | None, column("the most that all could have", ".3f")]
    price_of_anarchy: Annotated[float | None, column("price of anarchy observed", ".3f")]


class PlayedSeatFigures(TypedDict):
    """The figures of a seat; None where there is nothing of the kind."""

    payoff: Annotated[Interval, column(format=".3f")]
    """mean over plays, of a round in a repeated game (weighted as payoffs are), 95 % interval"""
    equilibrium_payoff: Annotated[float | None, column("in equilibrium", ".3f")]
    """the payoff in the equilibrium nearest to what was played"""
    payoff_least: Annotated[float | None, column("had all counted, at least", ".3f")]
    """the mean payoff if void plays had ended in the worst way"""
    payoff_most: Annotated[float | None, column("had all counted, at most", ".3f")]
    """the mean payoff if void plays had ended in the best way"""
    regret: Annotated[Value, column("external regret", ".3f")]
    """the best single strategy against what the others did, held fixed, less what was earned (of a round in a repeated
    game); negative where varying moves earned more than any single one would have"""
    best_reply: Annotated[float | None, column(format=".3f")]
    """what the best reply to the strategy in the other seat earns a round, exactly, its replies included"""
    best_reply_regret: Annotated[Interval | None, column("lost to the best reply", ".3f")]
    """what the best reply to the strategy in the other seat earns a round, less what was earned"""
    lost: Annotated[Interval | None, column(format=".3f")]
    """what the answers of a play lose if all others play the equilibrium"""


def measure_simulation(plays: Plays) -> Measured:
    """Measure what was played; without a play that counts, void plays and answers are all there is."""
    config = plays.config
    payoffs = dict(zip(plays.repeats, plays.payoffs.tolist(), strict=True))
    payoffs |= {row["repeat"]: [None] * len(plays.seats) for row in plays.voids}
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
            "shares_by_round": Frame(ShareRow, list(_list_shares(plays, nearest, by_round=True)) if several else []),
            "amounts": Frame(AmountRow, list(_list_amounts(plays, by_round=False))),
            "amounts_by_round": Frame(AmountRow, list(_list_amounts(plays, by_round=True)) if several else []),
            "regrets": Frame(RegretRow, list(list_regrets(plays))),
            "equilibria": _list_equilibria(plays, nearest),
            "sustained": Frame(SustainedRow, list(list_sustained(config)) if plays.repeats else []),
            "game": Frame(PlayedGameRow, [_describe_game(plays, judged)]),
            "voids": Frame(VoidRow, plays.voids),
            "answers": make_answers_frame(plays.answers),
        },
        len(plays.repeats),
        ("seat", "player"),
        _list_seats(plays, nearest, judged) if plays.repeats else {},
    )


def _list_seats(plays: Plays, nearest: Predicted | None, judged: JudgedSeats | None) -> dict[Heads, PlayedSeatFigures]:
    theory = plays.config.theory
    predicted = nearest.payoffs if nearest else theory.known.payoffs if theory.known else None
    ends = None  # every payoff that the game can give, one row a seat
    if theory.form is not None:
        ends = theory.form.payoffs.reshape(theory.form.num_players, -1)
    elif theory.tree is not None:
        ends = theory.tree.payoffs[theory.tree.leaves].T
    losses = np.zeros_like(plays.payoffs)
    for row in plays.moves:
        losses[plays.numbers[row["repeat"]], plays.seats.index(row["seat"])] += row["cost"] or 0.0
    groups: dict[Heads, PlayedSeatFigures] = {}
    for number, (seat, player) in enumerate(plays.config.seats.items()):
        payoffs, bounds = plays.payoffs[:, number], None
        if plays.voids and ends is not None:
            bounds = missing_bounds(payoffs, len(plays.voids), ends[number].min(), ends[number].max())
        reply = find_best_reply(plays.config, number)
        groups[seat, str(player)] = PlayedSeatFigures(
            payoff=plays.average(payoffs, seat),
            equilibrium_payoff=predicted[seat] if predicted else None,
            payoff_least=bounds[0] if bounds else None,
            payoff_most=bounds[1] if bounds else None,
            regret=judged.regrets[seat] if judged else None,
            best_reply=reply,
            best_reply_regret=None if reply is None else plays.average(reply - payoffs, f"reply {seat}"),
            lost=plays.average(losses[:, number], f"lost {seat}") if theory.known else None,
        )
    return groups


def _group_moves(
    plays: Plays, kind: type, by_round: bool
) -> Iterator[tuple[tuple[str, str, str, int], Sequence[MoveRow]]]:
    """Yield the moves of a kind (labels or amounts) by seat, place, part and round, in the order of the game.

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
    for (seat, place, part, turn), rows in _group_moves(plays, str, by_round):
        options = plays.options[seat, place, part]
        if tree is not None:
            options = tree.infosets[tree.infoset_index[seat, place]].moves
        made, repeats = [name_move(row["move"]) for row in rows], [row["repeat"] for row in rows]
        for move in dict.fromkeys([*options, *made]):
            hits = np.array([other == move for other in made], dtype=np.float64)
            # Answers of one play are not independent: where there are several, plays are drawn and not answers.
            alone = len(set(repeats)) == len(repeats)
            yield ShareRow(
                seat=seat,
                place=place or None,
                part=part or None,
                turn=turn or None,
                move=move,
                times=int(hits.sum()),
                share=wilson(int(hits.sum()), len(hits)) if alone else plays.average(hits, "share", repeats),
                in_equilibrium=nearest.shares[seat][place].get(move, 0.0) if nearest else None,
            )


def _list_amounts(plays: Plays, *, by_round: bool) -> Iterator[AmountRow]:
    """Yield every kind of amount, all rounds together or round by round."""
    nameless = "own choice" if any(row["part"] for row in plays.moves) else None
    for (seat, _, part, turn), rows in _group_moves(plays, float, by_round):
        values = np.array([row["move"] for row in rows], dtype=np.float64)
        least, median, most = map(float, np.quantile(values, [0, 0.5, 1]))
        mean = plays.average(values, "amount", [row["repeat"] for row in rows])
        yield AmountRow(
            seat=seat,
            part=part or nameless,
            turn=turn or None,
            answers=values.size,
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
        for number, predicted in enumerate(plays.config.theory.predicted if plays.repeats else (), 1)
    ]
    payoffs = {f"payoff_{seat}": Column(seat, "right", "payoff", ".3f") for seat in plays.seats}
    return Frame(EquilibriumRow, rows, payoffs)


def _describe_game(plays: Plays, judged: JudgedSeats | None) -> PlayedGameRow:
    theory = plays.config.theory
    best = max((predicted.welfare for predicted in theory.predicted), default=None)
    if best is None and theory.known is not None and theory.known.payoffs:
        best = sum(theory.known.payoffs.values())
    welfare = plays.average(plays.payoffs.sum(axis=1), "welfare") if plays.repeats else None
    optimum, price = theory.optimum, None
    if welfare is not None and optimum is not None and optimum > 0 and welfare.estimate > 0:
        price = optimum / welfare.estimate
    return PlayedGameRow(
        plays=len(plays.repeats),
        void=len(plays.voids),
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
    game, source = measured.config.make_game(), measured.config.game.text
    briefing = game.view(game.start(), game.roles[0]).briefing
    blocks = (Paragraph(f"As {game.roles[0]} is told them:"), Code(briefing, "text"))
    return Shown("The rules", (*blocks, Code(source, "text")) if source else blocks)


simulate = Study(
    "simulate",
    SimulateConfig,
    specs=lambda config: list_plays(config, "simulate", config.seats, config.personas, config.referee),
    play=lambda config, models: make_player(lambda data: config.make_game(), models),
    measure=lambda config, folder: measure_simulation(read_plays(config, folder.sorted_records())),
    metrics=list_metrics(PlayedSeatFigures),
    title="Playing {{ config.game.name }}",
    subtitle="{% set players = config.seats.values()|unique|list %}{% if players|length == 1 %}{{ players[0] }} in all "
    "seats{% else %}{% for seat, player in config.seats.items() %}{{ seat }} = {{ player }}"
    "{{ '' if loop.last else ', ' }}{% endfor %}{% endif %}: {{ frame('game')[0].plays }} plays of "
    "{{ config.repeats }}, seed {{ config.seed }}{{ ', payoffs in ' ~ config.unit if config.unit }}",
    command="simulate",
    tables=2,
    game=lambda config, data: config.make_game(),
    count_plays=lambda config: config.repeats,
    prepare=check_players,
    estimate_calls=lambda config: estimate_plays(
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
            by="seat",
            value="share",
            parts="move",
            beside="in_equilibrium",
            where={"place": None, "part": None},
            caption="How often every seat made each move.",
        ),
        table("amounts", title="What they chose", caption="Amounts"),
        lines(
            "shares_by_round",
            x="turn",
            y="share",
            by="move",
            split="seat",
            title="Round by round",
            caption="How often each move was made, with 95 % intervals",
        ),
        lines(
            "amounts_by_round",
            x="turn",
            y="mean",
            by="seat",
            split="part",
            title="Round by round",
            caption="Mean amounts by round, with 95 % intervals",
        ),
        lines(
            "regrets",
            x="turn",
            y="regret",
            by="seat",
            title="Round by round",
            caption="Regret a round of the rounds so far: the best single move of the play up to then, less what was "
            "earned, mean over plays with 95 % intervals",
        ),
        text(
            "{% set known = config.theory.known %}{% if known and frame('game')[0].plays %}"
            "{{ known.concept|capitalize }}: {{ known.words }} {{ known.better }}{% endif %}",
            title="Beside theory",
        ),
        table(
            "game",
            ("nash_gap",),
            title="Beside theory",
            caption="{% set game = frame('game')[0] %}What every seat could gain by leaving the frequencies alone, "
            "added up: 0 exactly where they are an equilibrium.{% if game.unseen %} No play came to {{ game.unseen }} "
            "of the {{ game.places }} places where somebody could decide; there seats are taken to decide {{ 'as in "
            "the nearest equilibrium' if config.theory.predicted else 'with all moves equally likely' }}.{% endif %}",
        ),
        table(
            "equilibria",
            title="Beside theory",
            caption="Equilibria ({{ config.theory.method }}{{ ', maybe not all' if not config.theory.complete }})",
            most=12,
        ),
        table(
            "sustained",
            title="Beside theory",
            caption="Equilibria of the repeated game: all make these moves until somebody does not, and then play an "
            "equilibrium of one round for ever (Friedman 1971). This holds as if there was no last round; here at most "
            "{{ config.rounds }} are played.",
        ),
        table(
            "game",
            ("welfare", "equilibrium_welfare", "best_welfare", "price_of_anarchy"),
            title="All together",
            caption="The price of anarchy observed is the most that all could have together, everybody knowing "
            "everything, divided by what they had; there is none where either is not positive.",
        ),
        table("voids", title="Plays without a result"),
        show_rules,
    ),
)
"""Payoffs, moves, regret and welfare of any game played many times."""
