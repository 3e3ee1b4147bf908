"""What single plays of payoff tables lost, and what would have been right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestresponse.report.numbers import format_number
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.runs.study import Judgement
from bestresponse.studies.bench.games import own_view
from bestresponse.studies.bench.measure import PlayRow, find_decision, measure_plays
from bestresponse.studies.bench.plan import Plan, find_theme
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.zero_sum.solve import solve_zero_sum


def judge_plays(plan: Plan, plays: Sequence[StoredPlay]) -> list[Judgement]:
    """Say what every play lost, as a share of the payoff range, and what would have been right."""
    return [_judge_play(plan, row, play) for row, play in measure_plays(plan, plays)]


def _judge_play(plan: Plan, row: PlayRow, play: StoredPlay) -> Judgement:
    """Judge a play by what a best response takes where that is known, else by its Nash gap.

    A pure answer cannot be a mixture, and is judged by its gap.
    """
    gap = row["gap_normalised"]
    exploitability = row["exploitability_normalised"]
    facts = []
    if gap is not None:
        facts.append(("Gap / range", format_number(gap, ".3f")))
    if exploitability is not None:
        facts.append(("Exploitability / range", format_number(exploitability, ".3f")))
    solution = _write_solution(play)
    if solution is not None:
        facts.append(("Optimal strategy", solution))
    facts.append(("The opponent plays", _write_opponent(plan, play)))
    exploited = exploitability is not None and row["elicit"] != "pure"
    return Judgement(exploitability if exploited else gap, tuple(facts))


def _write_solution(play: StoredPlay) -> str | None:
    """Write an optimal strategy of the player that a play was made for.

    Returns None where the game is not zero-sum.
    """
    payoffs = np.asarray(play.data["payoffs"], dtype=np.float64)
    own, other = own_view(payoffs, play.data["seat"])
    if not np.array_equal(own, -other):
        return None
    names = find_theme(play.data).actions[play.data["seat"]]
    return _write_mix(names, solve_zero_sum(own).row[0])


def _write_opponent(plan: Plan, play: StoredPlay) -> str:
    names = find_theme(play.data).actions[1 - play.data["seat"]]
    played = find_decision(play, opponent=True)
    mix = plan.find_opponent(play.data) if played is None else played.action
    return _write_mix(names, np.asarray(mix))


def _write_mix(names: Sequence[str], mix: Array) -> str:
    """Write the probabilities that are not 0 with the names of their actions."""
    shares = []
    for name, p in zip(names, mix, strict=False):
        if p:
            rounded = round(float(p), 3)
            shares.append(f"{name}\N{NO-BREAK SPACE}{rounded:g}")
    return ", ".join(shares)
