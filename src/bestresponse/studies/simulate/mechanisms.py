"""What a mechanism did: runs of a game with and without it, beside what theory says is possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, TypedDict

import numpy as np

from bestresponse.analysis.theory import describe_theory
from bestresponse.core.game import Game, S
from bestresponse.games.capabilities import HasCourse, HasNormalForm, HasStage
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.mechanisms import split_mechanisms
from bestresponse.games.mechanisms.mediator import DELEGATE
from bestresponse.games.mechanisms.plays import choose_play
from bestresponse.report.frames import Frame, IntervalColumn, Value, ValueColumn, column
from bestresponse.report.stats.statistics import Interval, bound_mean
from bestresponse.runs.comparison import subtract_intervals
from bestresponse.runs.run import Run
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.theory.repeated.trigger import find_trigger_gain
from bestresponse.theory.trees.sequence_form import plan_regrets, to_sequence_form
from bestresponse.theory.trees.tree import Policy, Tree, policy_from_table


class MechanismRow(TypedDict):
    """A game as it was played with a mechanism, or without one."""

    game: str
    mechanism: Annotated[str, column(help="none is the plain game")]
    plays: int
    welfare: ValueColumn
    """the mean sum of all payoffs, per round where the game is repeated"""
    cooperation: IntervalColumn
    """the share of moves that are those of the outcome with the largest sum; to delegate is one"""
    regret: Annotated[Value, column("gained by deviating", ".3f")]
    """what the seats could gain by leaving the observed frequencies alone, summed"""
    best: Annotated[float | None, column("largest welfare", ".3f")]
    """the largest possible sum of payoffs"""
    equilibrium: Annotated[float | None, column("in equilibrium", ".3f")]
    """welfare in the best equilibrium that is known; of repeated games with trigger strategies"""
    gain: Annotated[float | None, column("gain by leaving it", ".1e")]
    """the most that anybody gains by leaving that equilibrium alone; 0 proves it"""
    reached: Annotated[Interval | None, column("improvement reached", ".2f")]
    """the part of what the plain game leaves to the largest welfare that the mechanism reached"""


def certify_best(game: Game[S]) -> tuple[float, float] | None:
    """Return the welfare of the best equilibrium that is known, and what leaving it gains at most.

    Of a repeated game the agreed moves are tried with trigger strategies, and of a tree the likely
    moves of what was approximated. What counts is left for less than a millionth.

    >>> from bestresponse.games.lookup import find_game
    >>> certify_best(find_game("prisoners-dilemma with mediator").playable())
    (6.0, 0.0)
    """
    theory = describe_theory(game)
    known = []
    for one in theory.predicted:
        known.append((one.welfare, one.regret))
    if theory.tree is not None:
        known += [_purify(theory.tree, policy) for policy in theory.policies]
    if isinstance(game, HasCourse) and theory.form is not None and not game.repetition.noise:
        form = theory.form
        best = _find_agreed(game.stage)
        rows = zip(form.players, form.actions, strict=True)
        agreed = tuple(actions.index(best[role]) for role, actions in rows)
        for one in theory.predicted:
            punished = list(one.payoffs.values())
            gain = find_trigger_gain(form, agreed, punished, game.repetition)
            together = form.payoffs.sum(axis=0)
            known.append((float(together[agreed]), gain))
    known = [(welfare, gain) for welfare, gain in known if gain < _NEARLY]
    return max(known, default=None, key=lambda one: (round(one[0], 9), -one[1]))


def tabulate_mechanisms(
    runs: Sequence[Run[SimulateConfig]],
) -> tuple[str, Frame[MechanismRow]] | None:
    """Tell what mechanisms did; None where no run is of a game with one."""
    rows = []
    before: dict[str, Value] = {}
    named = []
    for run in runs:
        plain, added = split_mechanisms(run.config.game.name)
        named.append((plain, added, run))
    if not any(added for _, added, _ in named):
        return None
    for plain, added, run in sorted(named, key=lambda one: bool(one[1])):
        played = run.results.frames["game"].rows[0]
        welfare, best = played["welfare"], played["best_welfare"]
        if not added:
            before.setdefault(plain, welfare)
        certified = certify_best(run.config.make_game())
        row = MechanismRow(
            game=plain,
            mechanism=" with ".join(added) or "none",
            plays=played["plays"],
            welfare=welfare,
            cooperation=_measure_cooperation(run, plain),
            regret=played["nash_gap"],
            best=best,
            equilibrium=certified[0] if certified else None,
            gain=certified[1] if certified else None,
            reached=_divide(welfare, before.get(plain), best) if added else None,
        )
        rows.append(row)
    order = list(dict.fromkeys(plain for plain, _, _ in named))
    rows.sort(key=lambda row: order.index(row["game"]))
    return "What the mechanism did", Frame(MechanismRow, rows)


_NEARLY = 1e-6


def _purify(tree: Tree, policy: Policy) -> tuple[float, float]:
    """Return the welfare if everybody makes the likeliest moves, and the most gained."""
    likely: dict[str, dict[str, dict[str, float]]] = {}
    for who, sets in policy.table().items():
        likely[who] = {}
        for where, mix in sets.items():
            move = max(mix, key=mix.__getitem__)
            likely[who][where] = {move: 1.0}
    form = to_sequence_form(tree)
    plans = form.plans(policy_from_table(tree, likely))
    earned = form.expected(plans)
    gains = plan_regrets(form, plans)
    return float(earned.sum()), float(gains.max())


def _find_agreed(game: Game[S]) -> Mapping[str, str]:
    """Find the moves whose payoffs have the largest sum."""
    best, _ = choose_play(game, {}, "a mechanism")
    return {role: str(move) for role, move in best.steps[0]}


def _measure_cooperation(run: Run[SimulateConfig], plain: str) -> Interval | None:
    """Measure how many moves are the agreed ones; what is said before a single game is none."""
    source = run.config.game
    game = replace(source, name=plain).game()
    rows: list[Any] = list(run.results.frames["moves"].rows)
    if not isinstance(game, HasNormalForm) or not rows:
        return None
    agreed = _find_agreed(MatrixGame(game.normal_form))
    if not isinstance(run.config.make_game(), HasStage):
        last = {(row["repeat"], row["seat"]): row for row in rows}
        rows = list(last.values())
    hits, repeats = [], []
    for row in rows:
        hits.append(row["meant"] in (agreed[row["seat"]], DELEGATE))
        repeats.append(row["repeat"])
    return bound_mean(np.array(hits, dtype=float), (0.0, 1.0), repeats, rng=run.config.seed)


def _divide(after: Value, before: Value, best: float | None) -> Interval | None:
    """Divide an improvement by the one that is possible."""
    if best is None or not isinstance(after, Interval) or not isinstance(before, Interval):
        return None
    possible = best - before.estimate
    if possible <= _NEARLY:
        return None
    gained = subtract_intervals(after, before)
    return replace(
        gained,
        estimate=gained.estimate / possible,
        low=gained.low / possible,
        high=gained.high / possible,
    )
