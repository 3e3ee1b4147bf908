"""What the answers at single decisions say: moves and what they lose, and policies in trees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, TypedDict, cast

import numpy as np

from bestresponse.players.llm.verified import make_label
from bestresponse.players.strategies import EQUILIBRIUM
from bestresponse.report.frames import BASELINE, Frame, Heads, Metric, NumberColumn, Value, column
from bestresponse.report.stats.statistics import Interval, as_interval, bound_mean
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.study import GameValue, Judgement, Measured
from bestresponse.studies.bench import metrics, policies as plans
from bestresponse.studies.bench.decisions import (
    RECOGNITION,
    AskedGameRow,
    DecisionPlan,
    DecisionPoint,
    find_hardness,
)
from bestresponse.studies.bench.measure import is_computed
from bestresponse.studies.bench.trees import TreePlan
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.tree import Tree, uniform_policy

_LONGEST_REPLY = 2000
_EXCESS = (
    "exploitability that goes once this set alone is as in the nearest equilibrium; two players,"
    " constant sum"
)


class DecisionRow(TypedDict):
    """One answer at an information set or a position, and what it loses there."""

    spec: str
    model: Annotated[str, column("player")]
    asked_for: str
    policy: int
    sample: int
    decision: Annotated[int, column(help="number of the information set or position")]
    seat: str
    infoset: Annotated[
        str, column("information set", help="its label, or the position as it was told")
    ]
    moves: Annotated[list[str], column(help="in the order of the game")]
    strategy: Annotated[list[float] | None, column(help="probabilities of the moves")]
    answer: str | None
    best: Annotated[str | None, column("best moves")]
    regret: Annotated[
        float | None, column(format=".4f", help="what the answer loses against best play")
    ]
    range: Annotated[float | None, column(format=".4f", help="what the worst move loses")]
    optimal: Annotated[
        float | None, column(format=".2f", help="probability of a best move in the answer")
    ]
    hardness: NumberColumn
    """what uniform play loses there, as a share of what the worst move loses"""
    temperature: float | None
    status: Annotated[str, column("read as")]
    how: Annotated[str, column("what was repaired, or what was wrong")]
    reply: str


class InfosetRow(TypedDict):
    """What a player does at an information set and what that costs, means over its policies."""

    player: str
    seat: str
    infoset: Annotated[str, column("information set")]
    policy: str | None
    mixture: list[float] | None
    """the policy as numbers, in the order of the moves"""
    equilibrium: Annotated[
        str | None,
        column(help="the one nearest to the policy; in a zero-sum game the nearest of all"),
    ]
    excess: Annotated[float | None, column(format=".4f", help=_EXCESS)]
    loss: Annotated[
        float | None,
        column(format=".4f", help="against equilibrium opponents; adds up to the Nash gap"),
    ]
    regret: Annotated[
        float | None, column(format=".4f", help="if all follow the policy; adds up to NashConv")
    ]


class SeatRow(TypedDict):
    """What is earned in a seat against equilibrium opponents, and lost against others.

    Means over policies.
    """

    player: str
    seat: str
    earns: Annotated[float | None, column(format=".4f", help="against equilibrium opponents")]
    value: Annotated[float, column("equilibrium earns", ".4f")]
    gap: Annotated[float | None, column("Nash gap", ".4f")]
    exploitability: Annotated[float | None, column(format=".4f", help="two players, constant sum")]


@dataclass(frozen=True)
class Decided:
    """What a player decided: its answers, and in a tree the policies that they make up."""

    rows: Sequence[DecisionRow]
    policies: Sequence[plans.StatedPolicy] = ()
    precision: Interval | None = None


@dataclass(frozen=True)
class DecisionResults:
    """The answers of a run by player and way of asking."""

    plan: DecisionPlan
    rows: Sequence[DecisionRow]

    @cached_property
    def players(self) -> dict[tuple[str, str], Decided]:
        """The answers and policies of every player in every way of asking."""
        answers: dict[tuple[str, str], list[DecisionRow]] = defaultdict(list)
        for row in self.rows:
            answers[row["model"], row["asked_for"]].append(row)
        found = {}
        for group, rows in answers.items():
            given = tuple((row["decision"], row["answer"]) for row in rows if row["answer"])
            precision = self.plan.measure_skill(given)
            found[group] = Decided(rows, self._join(rows), precision)
        return found

    def _join(self, rows: Sequence[DecisionRow]) -> tuple[plans.StatedPolicy, ...]:
        """Put answers together to policies, in a tree; several at one set are averaged."""
        if not isinstance(self.plan, TreePlan):
            return ()
        by_policy: dict[int, list[DecisionRow]] = defaultdict(list)
        for row in rows:
            by_policy[row["policy"]].append(row)
        tree = self.plan.tree
        joined = []
        for number, answers in by_policy.items():
            chances = uniform_policy(tree).probabilities.copy()
            # Where there is one move, the policy is known without being asked for.
            known = np.array([len(infoset.moves) == 1 for infoset in tree.infosets])
            sums: dict[int, Array] = {}
            for row in answers:
                if row["strategy"] is not None:
                    mix = np.array(row["strategy"])
                    sums[row["decision"]] = sums.get(row["decision"], np.zeros(len(mix))) + mix
            for infoset, total in sums.items():
                plans.cut(tree, chances, infoset)[:] = total / total.sum()
                known[infoset] = True
            asked_for = answers[0]["asked_for"]
            policy = plans.StatedPolicy(
                self.plan.arena,
                self.plan.seats,
                row=chances,
                known=known,
                counts=sums if asked_for.startswith("sampled") else {},
                number=number,
                is_baseline=is_computed(answers[0]["model"], asked_for),
            )
            joined.append(policy)
        return tuple(joined)

    @cached_property
    def baselines(self) -> dict[tuple[str, str], Decided]:
        """What players without a model decide, where anybody has answered."""
        if not self.rows:
            return {}
        asked = self.plan.config.labels  # who was asked is not listed twice
        if isinstance(self.plan, TreePlan):
            found = plans.make_baselines(self.plan.arena, self.plan.seats)
            named = [(name, policy) for name, policy in found.items() if name not in asked]
            return {(name, BASELINE): Decided((), (policy,)) for name, policy in named}
        if "uniform" in asked or self.plan.config.is_adaptive:
            return {}
        rows = []
        for number, decision in self.plan.decisions.items():
            even = [1 / len(decision.moves)] * len(decision.moves)
            rows.append(_measure_answer(self.plan, number, even, model="uniform"))
        return {("uniform", BASELINE): Decided(rows)}

    def list_infosets(self) -> Iterator[InfosetRow]:
        """Yield what players do at every information set, those with largest losses first."""
        if not isinstance(self.plan, TreePlan):
            return
        tree = self.plan.tree
        for group, decided in self.players.items():
            policies = decided.policies
            rows = []
            for k in self.plan.infosets:
                infoset = tree.infosets[k]
                known = [policy for policy in policies if policy.known[k]]
                mix = _average_mixes(tree, [policy.row for policy in known], k)
                near = None
                if self.plan.equilibrium:
                    near = _average_mixes(tree, [policy.nearest for policy in known], k)
                row = InfosetRow(
                    player=" / ".join(group),
                    seat=tree.players[infoset.player],
                    infoset=infoset.label,
                    policy=_write_mix(infoset.moves, mix),
                    mixture=mix,
                    equilibrium=_write_mix(infoset.moves, near),
                    excess=plans.average([policy.excesses.get(k) for policy in policies]),
                    loss=plans.average([policy.losses.get(k) for policy in policies]),
                    regret=plans.average([policy.regrets.get(k) for policy in policies]),
                )
                rows.append(row)
            rows.sort(
                key=lambda row: [-(row["excess"] or 0), -(row["regret"] or 0), -(row["loss"] or 0)]
            )
            yield from rows

    def list_seats(self) -> Iterator[SeatRow]:
        """Yield what every player and baseline earns in every seat beside the value of the game."""
        if not isinstance(self.plan, TreePlan) or self.plan.equilibrium is None:
            return
        arena = self.plan.arena
        for (model, way), decided in (self.players | self.baselines).items():
            for number, seat in enumerate(self.plan.seats):
                figures = [policy.seat_metrics[number] for policy in decided.policies]
                gap = plans.average([figure.settle(figure.gap) for figure in figures])
                taken = [figure.settle(figure.exploitability) for figure in figures]
                yield SeatRow(
                    player=model if way == BASELINE else f"{model} / {way}",
                    seat=self.plan.tree.players[seat],
                    earns=None if gap is None else arena.bests[seat] - gap,
                    value=float(arena.values[seat]),
                    gap=gap,
                    exploitability=plans.average(taken),
                )


def _measure_policies(name: str, title: str, explained: str, format: str = ".4f") -> Metric[object]:
    """Make the metric that averages what complete policies lose.

    A single one has the interval of its samples, if moves were sampled; a baseline is known and has
    none.
    """

    def compute(group: object) -> Value:
        policies = group.policies if isinstance(group, Decided) else ()
        known = [policy for policy in policies if policy.metrics[name] is not None]
        if not known:
            return None
        if known[0].is_baseline:
            return as_interval(known[0].metrics[name] or 0.0)
        if len(known) == 1:
            return known[0].estimate(name)
        most = known[0].arena.bound_figures(known[0].seats)[name]
        figures = [policy.metrics[name] or 0.0 for policy in known]
        return bound_mean(figures, (0.0, most), rng=metrics.RESAMPLING_SEED)

    return Metric(name, title, help=explained, format=format, compute=compute)


def _bound_policies(figure: str, title: str, end: int) -> Metric[object]:
    """Make the metric of the least or the most that incomplete policies can have."""

    def compute(group: object) -> float | None:
        policies = group.policies if isinstance(group, Decided) else ()
        if all(policy.complete for policy in policies):
            return None
        return plans.average([policy.bound(figure, end) for policy in policies])

    side = ("at least", "at most")[end]
    explained = (
        "bound over everything the policy may do where it is not known; the upper bound of"
        " exploitability may be too large"
    )
    name = f"{figure}_{side.replace(' ', '_')}"
    return Metric(
        name,
        f"{title} {side}",
        help=explained,
        format=".3f",
        compute=compute,
    )


def _average_answers(name: str, title: str, explained: str, format: str) -> Metric[object]:
    """Make the metric that averages a column over the answers that were read.

    Decisions are resampled, each with all of its answers.
    """

    def compute(group: object) -> Value:
        values = []
        decisions = []
        players = set()
        most = 0.0 if name == "regret" else 1.0  # as a share of what the worst move loses
        for row in group.rows if isinstance(group, Decided) else ():
            value = find_share(row, name)
            if value is not None:
                values.append(value)
                decisions.append(row["decision"])
                players.add(row["model"])
                if name == "regret":
                    most = max(most, row["range"] or 0.0)
        if not values:
            return None
        if players == {EQUILIBRIUM}:  # moves of which none loses anything
            return as_interval(float(np.mean(values)))
        return bound_mean(values, (0.0, most), decisions, rng=metrics.RESAMPLING_SEED)

    return Metric(name, title, help=explained, format=format, compute=compute)


def find_share(row: DecisionRow, name: str) -> float | None:
    """Return the regret of an answer, its share of what the worst move loses, or `optimal`."""
    if name == "optimal":
        return row["optimal"]
    if row["regret"] is None or name == "regret":
        return row["regret"]
    return row["regret"] / row["range"] if row["range"] else None


def _count(
    name: str,
    title: str,
    explained: str,
    compute: Callable[[Decided], Value],
    *,
    format: str = "",
) -> Metric[object]:
    """Make the metric of a number of answers or policies; none where there are none."""

    def count(group: object) -> Value:
        return compute(group) if isinstance(group, Decided) else None

    return Metric(name, title, help=explained, format=format, compute=count)


def _count_answered(group: Decided) -> int | None:
    answered = [row for row in group.rows if row["strategy"] is not None]
    return len(answered) if group.rows else None


def _count_complete(group: Decided) -> int | None:
    complete = [policy.complete for policy in group.policies]
    return sum(complete) if complete else None


def _share_known(group: Decided) -> float | None:
    shares = [policy.share_known for policy in group.policies]
    return float(np.mean(shares)) if shares else None


def _share_recognised(group: Decided) -> float | None:
    shares = []
    for row in group.rows:
        if row["infoset"] == RECOGNITION and row["strategy"] is not None:
            named = row["moves"].index(row["best"] or "")
            shares.append(row["strategy"][named])
    return float(np.mean(shares)) if shares else None


_OF_DECISIONS: tuple[Metric[object], ...] = (
    _count("asked", "plays", "answers that were asked for", lambda group: len(group.rows) or None),
    _count("answered", "answers", "answers that were read", _count_answered),
    _measure_policies(
        "exploitability",
        "exploitability",
        "what a best-responding opponent gains, mean over seats; constant-sum games in turn",
    ),
    _measure_policies(
        "exploitability_normalised",
        "exploitability / range",
        "as a share of the range of payoffs",
        ".3f",
    ),
    _measure_policies(
        "nash_conv",
        "NashConv",
        "sum over players of the gain from a unilateral deviation; 0 at an equilibrium; games in"
        " turn",
    ),
    _measure_policies(
        "nash_gap", "Nash gap", "loss against equilibrium opponents, mean over seats"
    ),
    _measure_policies(
        "gap_normalised", "gap / range", "the Nash gap as a share of the range of payoffs", ".3f"
    ),
    _average_answers(
        "regret",
        "regret per move",
        "what a move loses against best play, mean over decisions; games in turn",
        ".4f",
    ),
    _average_answers(
        "regret_normalised",
        "regret / range",
        "as a share of what the worst move loses there; games in turn",
        ".3f",
    ),
    _average_answers(
        "optimal", "optimal moves", "share of answers that are a best move; games in turn", ".0%"
    ),
    _count(
        "precision",
        "precision",
        "of logit choice: 0 is uniform play; where questions are chosen by the answers so far",
        lambda group: group.precision,
        format=".1f",
    ),
    _count(
        "recognised",
        "named the game",
        "share of answers that name the known game behind the rules",
        _share_recognised,
        format=".0%",
    ),
    _bound_policies("exploitability", "exploitability / range", 0),
    _bound_policies("exploitability", "exploitability / range", 1),
    _bound_policies("gap", "gap / range", 0),
    _bound_policies("gap", "gap / range", 1),
    _count(
        "policies",
        "policies",
        "policies that were asked for",
        lambda group: len(group.policies) or None,
    ),
    _count("complete", "complete", "policies known at every information set", _count_complete),
    _count(
        "known",
        "sets known",
        "share of the information sets with a readable answer",
        _share_known,
        format=".0%",
    ),
)
_BY_NAME = {metric.name: metric for metric in _OF_DECISIONS}
_OF_TABLES = {metric.name: metric for metric in metrics.METRICS}
_EMPTY = {name: replace(one, compute=lambda group: None) for name, one in _OF_TABLES.items()}
_ADAPTIVE = tuple(_BY_NAME[name] for name in ("precision", "asked", "answered"))
METRICS = (*(_BY_NAME | _EMPTY | _BY_NAME).values(),)
"""Every metric of a game in turn; those that payoff tables alone have are empty."""
ALL_METRICS = (*(_OF_TABLES | _BY_NAME | _OF_TABLES).values(),)
"""Every metric: those of payoff tables, and those that only games in turn have."""


def list_decision_values(plan: DecisionPlan, measured: Measured) -> Iterator[GameValue]:
    """Yield what models lost at every decision; it is known by what was told there.

    Nothing where everybody was asked about other positions, which cannot be compared.
    """
    if plan.config.is_adaptive:
        return
    for row in cast("Sequence[DecisionRow]", measured.rows):
        regret = find_share(row, "regret_normalised")
        if regret is not None:
            yield GameValue(
                player=(row["model"], row["asked_for"]),
                metric="regret_normalised",
                game=f"{plan.game.name}: {row['infoset']}",
                part=row["seat"],
                value=regret,
                most=1.0,
            )


def _average_mixes(tree: Tree, rows: Sequence[Array], infoset: int) -> list[float] | None:
    """Return the mean of what policies do at an information set; None where there are none."""
    if not rows:
        return None
    mixes = [plans.cut(tree, row, infoset) for row in rows]
    mean: list[float] = np.mean(mixes, axis=0).tolist()
    return mean


def _write_mix(moves: Sequence[str], mix: Iterable[float] | None) -> str | None:
    if mix is None:
        return None
    shares = []
    for move, chance in zip(moves, mix, strict=True):
        rounded = round(float(chance), 3)
        shares.append(f"{move} {rounded:g}")
    return ", ".join(shares)


def _write_answer(moves: Sequence[str], mix: Sequence[float] | None) -> str | None:
    """Write a move that is sure by its name alone."""
    if mix is not None and max(mix) == 1.0:
        return moves[mix.index(1.0)]
    return _write_mix(moves, mix)


def _measure_answer(
    plan: DecisionPlan,
    number: int,
    mix: list[float] | None,
    model: str,
) -> DecisionRow:
    """Measure a mixture over the moves of a decision; None is no readable answer."""
    decision = plan.decisions[number]
    values = plan.find_values(number)
    read = None if values is None else mix
    best = plan.list_best(number)
    regret = None
    optimal = None
    if values is not None and read is not None:
        regret = values.lose(read, 0).least
        likely = dict(zip(values.answers, read, strict=True))
        optimal = min(1.0, sum(map(likely.__getitem__, best)))
    return DecisionRow(
        spec="",
        model=model,
        asked_for=BASELINE,
        policy=0,
        sample=0,
        decision=number,
        seat=decision.role,
        infoset=decision.name,
        moves=list(decision.moves),
        strategy=mix,
        answer=_write_answer(decision.moves, mix),
        best=", ".join(best) or None,
        regret=regret,
        range=None if values is None else float(np.ptp(values.worths[0])),
        optimal=optimal,
        hardness=None if values is None else find_hardness(values),
        temperature=None,
        status="",
        how="",
        reply="",
    )


def _make_rows(plan: DecisionPlan, play: StoredPlay) -> Iterator[DecisionRow]:
    """Measure a stored play, its moves put back into the order of the game."""
    data = play.data
    for turn, (number, offered, decided) in enumerate(plan.list_answers(play)):
        mix = read_mix(plan.decisions[number], offered, decided.action)
        row = _measure_answer(plan, number, mix, make_label(data["model"]))
        row["spec"] = play.spec
        row["asked_for"] = data["way"]
        row["policy"] = data["policy"]
        row["sample"] = data["sample"] + turn
        row["temperature"] = data["temperature"]
        row["status"] = decided.reading.status.value
        row["how"] = decided.reading.how
        row["reply"] = decided.reasoning[:_LONGEST_REPLY]
        yield row


def read_mix(decision: DecisionPoint, offered: Sequence[str], action: object) -> list[float] | None:
    """Return an answer as probabilities in the order of the game; None where there is none."""
    if isinstance(action, str):
        return [float(move == action) for move in decision.moves]
    if not isinstance(action, Sequence):
        return None
    by_move = dict(zip(offered, action, strict=True))
    stated = [float(by_move[move]) for move in decision.moves]
    total = sum(stated)
    return [share / total for share in stated]


def measure_decisions(plan: DecisionPlan, folder: RunFolder) -> Measured:
    """Measure all answers in the order of the settings, beside those of baselines."""
    rows = [row for play in folder.sorted_plays() for row in _make_rows(plan, play)]
    order: dict[tuple[str, str], int] = {}
    for data, _ in plan.count_by_first():
        order.setdefault((make_label(data["model"]), data["way"]), len(order))
    rows.sort(
        key=lambda row: (
            order[row["model"], row["asked_for"]],
            row["policy"],
            row["decision"],
            row["sample"],
        )
    )
    results = DecisionResults(plan, rows)
    groups: dict[Heads, Decided] = {}
    for heads, decided in (results.players | results.baselines).items():
        groups[heads] = decided
    readings = Readings()
    for row in rows:
        readings.add(f"{row['model']} / {row['asked_for']}", row["status"], row["how"])
    frames: dict[str, Frame[Any]] = {
        "plays": Frame(DecisionRow, rows),
        "seats": Frame(SeatRow, list(results.list_seats())),
        "infosets": Frame(InfosetRow, list(results.list_infosets())),
        "game": Frame(AskedGameRow, [plan.describe()]),
        "answers": readings.frames["answers"],
    }
    answered = [row for row in rows if row["strategy"] is not None]
    return Measured(
        frames,
        answered=len(answered),
        labels=("player", "asked for"),
        groups=groups,
        metrics=_ADAPTIVE if plan.config.is_adaptive else METRICS,
    )


def judge_decision(plan: DecisionPlan, play: StoredPlay) -> Judgement:
    """Say what an answer lost as a share of what the worst move loses, and what was best."""
    rows = list(_make_rows(plan, play))
    lost = filter(None, [find_share(row, "regret_normalised") for row in rows])
    best = rows[0]["best"] if len(rows) == 1 else None
    known = any(row["regret"] is not None for row in rows)
    return Judgement(
        max(lost, default=0.0) if known else None,
        (("Best moves", best),) if best else (),
    )
