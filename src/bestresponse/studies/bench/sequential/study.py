"""The benchmark on a game played in turn: a model's policy, and how far it is from an equilibrium.

The answers at all information sets make up a policy. Where some are missing, its figures are
bounds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np

from bestresponse.core.files import read_toml
from bestresponse.models.base import Model
from bestresponse.players.llm.verified import make_label
from bestresponse.report.blocks import Measurement, Shown, headline, metrics_table, table, text
from bestresponse.report.document import Figure
from bestresponse.report.figures.tree import MOST_ENDS, Overlay, draw_tree
from bestresponse.report.frames import BASELINE, Frame, Heads, Metric, Value, column
from bestresponse.report.stats.statistics import bound_mean
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.study import ComparedBy, Estimate, Measured, Study
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.sequential import policies as plans
from bestresponse.studies.bench.sequential.questions import (
    QuestionPlan,
    plan_questions,
    prepare_questions,
)
from bestresponse.studies.bench.study import (
    check_prompts,
    estimate_prompts,
    show_first_play,
    warn_unfinished,
)
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.tree import Tree, uniform_policy

_SEED = 20
"""Of the resampling: the same for all players, so that they are resampled alike."""
_LONGEST_REPLY = 2000
_MOST_DRAWN = 8
_LOSSES = {
    "excess": (
        "exploitability goes once that information set alone is as in the nearest equilibrium"
    ),
    "regret": "is lost at that information set against its own policy in the other seats",
    "loss": "is lost at that information set against the equilibrium",
}
"""What the circles of the tree show: the first of these that is known."""
_COMPLETE = "policies known at every information set"
_EXCESS = (
    "exploitability that goes once this set alone is as in the nearest equilibrium; two players,"
    " constant sum"
)
Policies = Sequence[plans.StatedPolicy]


def _average(name: str, title: str, explained: str, format: str) -> Metric[Policies]:
    """Make the metric that averages a figure over complete policies.

    A single one has the interval of its samples, if moves were sampled; a baseline is known and has
    none.
    """

    def compute(policies: Policies) -> Value:
        known = [policy for policy in policies if policy.figures[name] is not None]
        if not known:
            return None
        first = known[0]
        if first.is_baseline:
            return first.figures[name]
        if len(known) == 1:
            return first.estimate(name)
        most = first.arena.bound_figures(first.seats)[name]
        figures = [policy.figures[name] or 0.0 for policy in known]
        return bound_mean(figures, (0.0, most), rng=_SEED)

    return Metric(name, title, help=explained, unit="", format=format, compute=compute)


def _bound(figure: str, title: str, end: int) -> Metric[Policies]:
    """Make the metric of the least or the most that a figure can be.

    This holds whatever policies do where they are not known.
    """

    def compute(policies: Policies) -> float | None:
        if all(policy.complete for policy in policies):
            return None
        ends = [getattr(seat, figure) for policy in policies for seat in policy.seat_figures]
        return plans.average([None if pair is None else pair[end] for pair in ends])

    side = ("at least", "at most")[end]
    explained = (
        "bound over everything the policy may do where it is not known; the upper bound of"
        " exploitability may be too large"
    )
    return Metric(
        f"{figure}_{side.replace(' ', '_')}",
        f"{title} {side}",
        help=explained,
        unit="",
        format=".4f",
        compute=compute,
    )


def _share_known(policies: Policies) -> float:
    tree = policies[0].arena.tree
    seats = policies[0].seats
    asked = [
        k
        for k, infoset in enumerate(tree.infosets)
        if infoset.player in seats and len(infoset.moves) > 1
    ]
    shares = [policy.known[asked].mean() for policy in policies]
    return float(np.mean(shares))


METRICS: tuple[Metric[Policies], ...] = (
    Metric(
        "policies",
        "policies",
        help="policies that were asked for",
        unit="",
        format="",
        compute=len,
    ),
    Metric(
        "complete",
        "complete",
        help=_COMPLETE,
        unit="",
        format="",
        compute=lambda policies: sum(p.complete for p in policies),
    ),
    Metric(
        "known",
        "sets known",
        help="share of the information sets with a readable answer",
        unit="",
        format=".0%",
        compute=_share_known,
    ),
    _average(
        "exploitability",
        "exploitability",
        "what a best-responding opponent gains, mean over seats; constant-sum games",
        ".4f",
    ),
    _average(
        "exploitability_normalised",
        "exploitability / range",
        "as a share of the range of payoffs",
        ".3f",
    ),
    _average(
        "nash_conv",
        "NashConv",
        "sum over players of the gain from a unilateral deviation; 0 at an equilibrium",
        ".4f",
    ),
    _average(
        "nash_gap",
        "Nash gap",
        "loss against equilibrium opponents, mean over seats",
        ".4f",
    ),
    _average(
        "gap_normalised",
        "gap / range",
        "the Nash gap as a share of the range of payoffs",
        ".3f",
    ),
    *(_bound("exploitability", "exploitability", end) for end in (0, 1)),
    *(_bound("gap", "Nash gap", end) for end in (0, 1)),
)
"""Every figure of a policy, in the order of the columns."""


class QuestionRow(TypedDict):
    """One answer; `strategy` gives the probabilities of `moves`, both in the order of the game."""

    spec: str
    model: Annotated[str, column("player")]
    way: Annotated[str, column("asked for")]
    policy: int
    sample: int
    player: Annotated[str, column("seat")]
    infoset: Annotated[str, column("information set")]
    moves: list[str]
    temperature: float
    status: Annotated[str, column("read as")]
    how: Annotated[str, column("what was repaired, or what was wrong")]
    strategy: Annotated[list[float] | None, column("answer")]
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


class TreeRow(TypedDict):
    """The game: how many information sets it has and how it was solved.

    Also says at how many of them models are asked.
    """

    infosets: int
    asked: int
    method: str


Answer = tuple[int, Array | None, StoredPlay]
"""The information set, the mixture over its moves in the game's order, and the stored play."""


@dataclass(frozen=True)
class TreeResults:
    """The answers of a run by player, way of asking and number of the policy.

    Also holds the game that they are about.
    """

    plan: QuestionPlan
    arena: plans.Arena
    answers: Mapping[tuple[str, str, int], list[Answer]]

    @cached_property
    def players(self) -> dict[tuple[str, str], dict[int, plans.StatedPolicy]]:
        """The policies of every player in every way of asking, by number.

        Readable answers are averaged.
        """
        tree = self.plan.tree
        players: dict[tuple[str, str], dict[int, plans.StatedPolicy]] = {}
        for (player, way, number), answers in self.answers.items():
            row = uniform_policy(tree).probabilities.copy()
            # Where there is one move, the policy is known without being asked for.
            known = np.array([len(infoset.moves) == 1 for infoset in tree.infosets])
            sums: dict[int, Array] = {}
            for infoset, mix, _ in answers:
                if mix is not None:
                    sums[infoset] = sums.get(infoset, np.zeros(len(mix))) + mix
            for infoset, total in sums.items():
                plans.cut(tree, row, infoset)[:] = total / total.sum()
                known[infoset] = True
            counts = sums if way == "sampled" else {}
            policy = plans.StatedPolicy(
                self.arena,
                self.plan.seats,
                row=row,
                known=known,
                counts=counts,
                number=number,
            )
            players.setdefault((player, way), {})[number] = policy
        return players

    def list_questions(self) -> Iterator[QuestionRow]:
        """Yield a row for each answer, by policy and information set."""
        for (player, way, number), answers in self.answers.items():
            in_order = sorted(answers, key=lambda answer: (answer[0], answer[2].data["sample"]))
            for k, mix, play in in_order:
                infoset = self.plan.tree.infosets[k]
                decision = play.record.submissions[-1].decision
                yield QuestionRow(
                    spec=play.spec,
                    model=player,
                    way=way,
                    policy=number,
                    sample=play.data["sample"],
                    player=self.plan.tree.players[infoset.player],
                    infoset=infoset.label,
                    moves=list(infoset.moves),
                    temperature=play.data["temperature"],
                    status=decision.reading.status.value,
                    how=decision.reading.how,
                    strategy=None if mix is None else mix.tolist(),
                    reply=decision.reasoning[:_LONGEST_REPLY],
                )

    def list_infosets(self) -> Iterator[InfosetRow]:
        """Yield what players do at every information set, those with largest losses first."""
        tree = self.plan.tree
        solution = self.arena.equilibrium
        for group, numbered in self.players.items():
            policies = list(numbered.values())
            rows = []
            for k in self.plan.infosets:
                infoset = tree.infosets[k]
                known = [policy for policy in policies if policy.known[k]]
                mix = _average_mixes(tree, [policy.row for policy in known], k)
                near = None
                if solution:
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

    def list_seats(self, baselines: Mapping[str, plans.StatedPolicy]) -> Iterator[SeatRow]:
        """Yield what every player and baseline earns in every seat beside the value of the game."""
        if self.arena.equilibrium is None:
            return
        named = {}
        for group, numbered in self.players.items():
            named[" / ".join(group)] = list(numbered.values())
        named |= {name: [policy] for name, policy in baselines.items()}
        for player, policies in named.items():
            for number, seat in enumerate(self.plan.seats):
                figures = [policy.seat_figures[number] for policy in policies]
                gap = plans.average([figure.settle(figure.gap) for figure in figures])
                taken = [figure.settle(figure.exploitability) for figure in figures]
                yield SeatRow(
                    player=player,
                    seat=self.plan.tree.players[seat],
                    earns=None if gap is None else self.arena.bests[seat] - gap,
                    value=float(self.arena.values[seat]),
                    gap=gap,
                    exploitability=plans.average(taken),
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


def _read_answer(tree: Tree, play: StoredPlay) -> Answer:
    """Read a stored play, its moves put back into the order of the game."""
    index = tree.infoset_index[play.data["player"], play.data["infoset"]]
    action = play.record.submissions[-1].decision.action
    if action is None:
        return index, None, play
    offered = list(play.data["moves"])
    if isinstance(action, str):
        stated = [float(move == action) for move in offered]
    else:
        stated = list(action)
    by_move = dict(zip(offered, stated, strict=True))
    mix = np.array([by_move[move] for move in tree.infosets[index].moves], dtype=np.float64)
    return index, mix / mix.sum(), play


def measure_policies(config: BenchConfig, folder: RunFolder) -> Measured:
    """Put the answers together to policies, in the order of the settings, and measure these."""
    plan = plan_questions(config)
    arena = plans.Arena(plan.form, plan.equilibrium)
    answers: dict[tuple[str, str, int], list[Answer]] = {}
    for key in product(config.labels, config.elicit, range(config.games)):
        answers[key] = []
    for play in folder.sorted_plays():
        key = make_label(play.data["model"]), play.data["way"], int(play.data["policy"])
        answers[key].append(_read_answer(plan.tree, play))
    results = TreeResults(plan, arena, {key: plays for key, plays in answers.items() if plays})
    baselines = plans.make_baselines(arena, plan.seats) if results.answers else {}
    groups: dict[Heads, Any] = {}
    for group, policies in results.players.items():
        groups[group] = list(policies.values())
    for name, policy in baselines.items():
        groups[name, BASELINE] = [policy]
    asked = TreeRow(
        infosets=len(plan.candidates),
        asked=len(plan.infosets),
        method=plan.theory.method,
    )
    rows = list(results.list_questions())
    readings = Readings()
    for row in rows:
        readings.add(f"{row['model']} / {row['way']}", row["status"], row["how"])
    frames: dict[str, Frame[Any]] = {
        "plays": Frame(QuestionRow, rows),
        "seats": Frame(SeatRow, list(results.list_seats(baselines))),
        "infosets": Frame(InfosetRow, list(results.list_infosets())),
        "game": Frame(TreeRow, [asked]),
        "answers": readings.frames["answers"],
    }
    answered = [row for row in rows if row["strategy"] is not None]
    return Measured(
        frames,
        answered=len(answered),
        labels=("player", "asked for"),
        groups=groups,
    )


def estimate_questions(config: BenchConfig) -> Estimate:
    """Count calls and tokens from the question at every information set."""
    plan = plan_questions(config)
    asked = (
        f"{len(plan.infosets):,} of {len(plan.candidates):,} information sets of {plan.game.name}"
    )
    return estimate_prompts(config, asked, plan.count_by_first())


def prepare_checked_questions(config: BenchConfig, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that puts one question, once it is known that no prompt is too long."""
    check_prompts(config, plan_questions(config).count_by_first())
    return prepare_questions(config, models)


def draw_policies(measured: Measurement) -> Shown | None:
    """Draw the policy of every player on the tree, with what is lost at every information set."""
    tree = plan_questions(measured.config).tree
    rows = measured.frame("infosets")
    figures = []
    for player in rows.list_values("player"):
        known: dict[str, dict[int, Any]] = {name: {} for name in ("mixture", *_LOSSES)}
        for row, name in product(rows.select(player=player), known):
            if row[name] is not None:
                known[name][tree.infoset_index[row["seat"], row["infoset"]]] = row[name]
        losses = next((known[name] for name in _LOSSES if known[name]), None)
        if losses is None:
            continue
        chances = {}
        for node in range(1, tree.num_nodes):
            infoset = int(tree.infoset[tree.parent[node]])
            if infoset in known["mixture"]:
                chances[node] = known["mixture"][infoset][tree.move[node]]
        most = max(losses.values()) or 1.0
        nodes = _choose_nodes(tree, losses)
        weights = {k: loss / most for k, loss in losses.items()}
        picture = draw_tree(tree, overlay=Overlay(chances, weights, nodes))
        lost = next(words for name, words in _LOSSES.items() if known[name])
        caption = (
            f"Policy of {player}. Branches: the wider, the likelier; circles: the larger, the more "
            f"{lost}.{' Only the ways to the largest are drawn.' if nodes else ''}"
        )
        figures.append(Figure(picture, caption, f"Tree of the game with the policy of {player}"))
    return Shown("Where policies lose", tuple(figures)) if figures else None


def _choose_nodes(tree: Tree, losses: Mapping[int, float]) -> set[int]:
    """Choose the ways to the information sets with the largest losses.

    This is done if a tree is large; otherwise none are chosen, which means all.
    """
    chosen: set[int] = set()
    if len(tree.leaves) <= MOST_ENDS:
        return chosen
    largest = sorted(losses, key=lambda k: (-losses[k], k))
    for infoset in largest[:_MOST_DRAWN]:
        positions = np.flatnonzero(tree.infoset == infoset)
        node = int(positions[0])
        chosen.update(tree.children[node])
        while node >= 0:
            chosen.add(node)
            node = int(tree.parent[node])
    return chosen


_SHOWN = (
    "model",
    "way",
    "policy",
    "sample",
    "player",
    "infoset",
    "moves",
    "strategy",
    "status",
    "how",
    "reply",
)

_PROSE = read_toml(Path(__file__).with_name("report.toml"))

sequential = Study(
    "sequential",
    BenchConfig,
    specs=lambda config: plan_questions(config).list_plays(),
    play=prepare_checked_questions,
    measure=measure_policies,
    metrics=METRICS,
    compared=ComparedBy(tested=("exploitability_normalised", "gap_normalised")),
    title="How far from an equilibrium?",
    subtitle=_PROSE["subtitle"],
    unit="answers",
    tables=2,
    game=lambda config, data: plan_questions(config).make_question(data),
    count_plays=lambda config: plan_questions(config).total,
    estimate_calls=estimate_questions,
    report=(
        warn_unfinished,
        text(_PROSE["asked"], kind="warning"),
        text(_PROSE["no_equilibrium"], kind="warning"),
        headline(("exploitability", "nash_conv", "nash_gap", "known")),
        metrics_table(
            "How far from an equilibrium",
            _PROSE["metrics"],
            last=("policies", "complete", "known"),
        ),
        text(_PROSE["exploitability"]),
        table(
            "seats",
            title="Seat by seat",
            caption="Equilibrium by {{ frame('game')[0].method }}.",
        ),
        draw_policies,
        table(
            "infosets",
            ("seat", "infoset", "policy", "equilibrium", "excess", "loss", "regret"),
            title="Where policies lose",
            caption="Weighted by how likely play comes there.",
            split="player",
            most=400,
        ),
        table("plays", _SHOWN, title="Every answer", most=1000),
        show_first_play,
        text(_PROSE["readings"], title="How the answers were read"),
    ),
)
"""Exploitability, NashConv and regret by information set of the policies of models in a game played
in turn."""
