"""Counterfactual regret minimisation: CFR, CFR+, discounted CFR and predictive CFR+.

Every information set runs regret matching on counterfactual values. All variants here update the players in turn
(each sees the others' newest behaviour) and answer with the average policy; they differ in three things:

| variant | regrets after iteration t                              | weight of iteration t | plays in proportion to |
|---------|--------------------------------------------------------|-----------------------|------------------------|
| cfr     | summed                                                 | 1                     | positive regret        |
| cfr+    | summed, cut off at 0                                   | t                     | positive regret        |
| dcfr    | positive x t^1.5 / (t^1.5 + 1), negative x 1/2         | t^2                   | positive regret        |
| pcfr+   | summed, cut off at 0                                   | t^2                   | regret + last gain     |

`pcfr+` predicts that each information set's last gains come again. In two-player zero-sum games NashConv goes to 0;
with more players nothing is promised, and the NashConv that comes with every answer is its certificate. The tree is
first compiled to sequence form, where an iteration is a sparse product over leaves and two passes over information
sets; the iterates are those of the tree walk.

M. Zinkevich et al., "Regret minimization in games with incomplete information", NeurIPS 2007; O. Tammelin, "Solving
large imperfect information games using CFR+", 2014; N. Brown and T. Sandholm, "Solving imperfect-information games
via discounted regret minimization", AAAI 2019; G. Farina, C. Kroer and T. Sandholm, "Faster game solving via
predictive Blackwell approachability", AAAI 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.game import Game
from bestresponse.theory.engines import ChosenEngine, Engine, choose_engine
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.cfr_numba import NumbaCfr
from bestresponse.theory.trees.cfr_numpy import NumpyCfr
from bestresponse.theory.trees.compile import as_tree
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.response import plan_regrets
from bestresponse.theory.trees.sequence_form import SequenceForm, to_sequence_form
from bestresponse.theory.trees.tree import Tree

__all__ = ["CfrResult", "Checkpoint", "Variant", "cfr", "schedule"]

Variant = Literal["cfr", "cfr+", "dcfr", "pcfr+"]

_WORTH_COMPILING = 20_000_000
"""Leaf visits from which loading the compiled loop pays (it costs about a second)."""

_PART = 20_000
"""Iterations between two chances to be interrupted."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far the average policy was from equilibrium after `iteration`."""

    iteration: int
    nash_conv: float


@dataclass(frozen=True, slots=True, eq=False)
class CfrResult:
    """The average policy, what it earns each player, and its distance from equilibrium on the way and at the end."""

    policy: Policy
    value: dict[str, float]
    nash_conv: float
    checkpoints: tuple[Checkpoint, ...]
    iterations: int
    variant: Variant
    engine: ChosenEngine


def cfr(
    game: Tree | Game[Any],
    iterations: int = 1000,
    variant: Variant = "cfr+",
    *,
    checkpoints: Iterable[int] | None = None,
    engine: Engine = "auto",
    report: Callable[[str], None] | None = None,
) -> CfrResult:
    """Iterate and return the average policy; `checkpoints` are the iterations at which NashConv is taken.

    Checkpoints default to 1, 10, 100, ... and the last iteration, which is always one. `engine` "auto" takes the
    compiled loop where numba is installed and the run is long enough to pay for loading it.

    >>> from bestresponse.theory.catalogue.tree_rules import kuhn_poker
    >>> result = cfr(kuhn_poker(), 1000, engine="numpy")
    >>> print(f"{result.value['player 1']:.3f} {result.nash_conv:.8f}")
    -0.056 0.00017473
    """
    stops = _checked_stops(iterations, checkpoints)
    form = to_sequence_form(as_tree(game))
    chosen = choose_engine(engine, pays=iterations * (form.sequences.size + 1000) >= _WORTH_COMPILING)
    solver = NumbaCfr(form) if chosen == "numba" else NumpyCfr(form)
    done, seen, plans = 0, [], []
    for stop in stops:
        while done < stop:
            part = min(stop, done + _PART)
            solver.run(schedule(variant, done + 1, part), predictive=variant == "pcfr+")
            done = part
            if report is not None:
                reached = float(plan_regrets(form, _average(form, solver.totals)).sum())
                report(f"NashConv {reached:.3g} after {done:,} of {iterations:,} iterations")
        plans = _average(form, solver.totals)
        seen.append(Checkpoint(stop, float(plan_regrets(form, plans).sum())))
    behaviours = [plex.normalise(total) for plex, total in zip(form.plexes, solver.totals, strict=True)]
    value = dict(zip(form.tree.players, form.expected(plans).tolist(), strict=True))
    return CfrResult(form.policy(behaviours), value, seen[-1].nash_conv, tuple(seen), iterations, variant, chosen)


def _average(form: SequenceForm, totals: list[Array]) -> list[Array]:
    return [plex.plan(plex.normalise(total)) for plex, total in zip(form.plexes, totals, strict=True)]


def schedule(variant: Variant, first: int, last: int) -> Array:
    """Per iteration the factors of positive and of negative regrets, and the weight in the average."""
    t = np.arange(first, last + 1, dtype=np.float64)
    one = np.ones_like(t)
    match variant:
        case "cfr":
            return np.stack([one, one, one])
        case "cfr+":
            return np.stack([one, 0 * one, t])
        case "dcfr":
            return np.stack([t**1.5 / (t**1.5 + 1), one / 2, t**2])
        case "pcfr+":
            return np.stack([one, 0 * one, t**2])
        case _:
            raise UsageError(f"{variant!r} is no variant of CFR; expected one of {', '.join(get_args(Variant))}")


def _checked_stops(iterations: int, checkpoints: Iterable[int] | None) -> list[int]:
    if iterations < 1:
        raise UsageError(f"expected at least 1 iteration, got {iterations}")
    if checkpoints is None:
        stops = {10**k for k in range(len(str(iterations)))}
    else:
        stops = set(checkpoints)
        wrong = sorted(stop for stop in stops if not 1 <= stop <= iterations)
        if wrong:
            raise UsageError(f"checkpoint {wrong[0]} is not between 1 and the last iteration, {iterations}")
    return sorted(stops | {iterations})
