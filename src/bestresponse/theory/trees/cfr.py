"""Counterfactual regret minimisation: CFR, CFR+, discounted CFR and predictive CFR+.

Every information set runs regret matching on counterfactual values. All variants here update the
players in turn (each sees the others' newest behaviour) and answer with the average policy; they
differ in three things:

| variant | regrets after iteration t                      | weight of t | plays in proportion to |
|---------|------------------------------------------------|-------------|------------------------|
| cfr     | summed                                         | 1           | positive regret        |
| cfr+    | summed, cut off at 0                           | t           | positive regret        |
| dcfr    | positive x t^1.5 / (t^1.5 + 1), negative x 1/2 | t^2         | positive regret        |
| pcfr+   | summed, cut off at 0                           | t^2         | regret + last gain     |

`pcfr+` predicts that each information set's last gains come again. In two-player zero-sum games
NashConv goes to 0; with more players nothing is promised, and the NashConv that comes with every
answer is its certificate. The tree is first compiled to sequence form, where an iteration is a
sparse product over leaves and two passes over information sets; the iterates are those of the tree
walk.

M. Zinkevich et al., "Regret minimization in games with incomplete information", NeurIPS 2007; O.
Tammelin, "Solving large imperfect information games using CFR+", 2014; N. Brown and T. Sandholm,
"Solving imperfect-information games via discounted regret minimization", AAAI 2019; G. Farina, C.
Kroer and T. Sandholm, "Faster game solving via predictive Blackwell approachability", AAAI 2021.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.arrays import Floats, Ints
from bestresponse.theory.engines import ChosenEngine, Engine, choose_engine, count_loads
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import SequenceForm, plan_regrets, to_sequence_form
from bestresponse.theory.trees.tree import IntArray, Policy, TreeLike, as_tree


class CfrState:
    """The running state of CFR: all players' sequences and leaves in one row.

    The leaves are sorted by own sequence.

    The leaves of sequence s are those from `ends[s]` to `ends[s + 1]`; `others` are the sequences
    of all other players there and `payoffs` the own payoff. `total` is the weighted sum of the
    plans so far, and `run` continues it.
    """

    def __init__(self, form: SequenceForm, engine: ChosenEngine) -> None:
        self.form = form
        plexes = form.plexes
        self.starts = np.cumsum([0, *(plex.num_sequences for plex in plexes)])
        behaviours = [plex.normalise(np.zeros(plex.num_sequences)) for plex in plexes]
        self.behaviour = np.concatenate(behaviours)
        self.plan = np.concatenate(
            [plex.plan(behaviour) for plex, behaviour in zip(plexes, behaviours, strict=True)]
        )
        size = int(self.starts[-1])
        self.regret = np.zeros(size)
        self.total = np.zeros(size)
        self.value = np.zeros(size)
        counts = [np.zeros(1, dtype=np.int64)]
        others = []
        payoffs = []
        for player, plex in enumerate(plexes):
            sequences = form.sequences[player]
            rest = [q for q in range(form.num_players) if q != player]
            order = np.argsort(sequences, kind="stable")
            counts.append(np.bincount(sequences, minlength=plex.num_sequences))
            facing = form.sequences[rest][:, order]
            others.append(facing + self.starts[rest][:, None])
            payoffs.append(form.payoffs[player][order])
        self.ends = np.cumsum(np.concatenate(counts))
        self.others = np.concatenate(others, axis=1)
        self.payoffs = np.concatenate(payoffs)
        self.run = _prepare_compiled(self) if engine == "numba" else _prepare_numpy(self)

    @property
    def totals(self) -> list[Array]:
        """The weighted sum of every player's plans so far."""
        return np.split(self.total, self.starts[1:-1])


Iterate = Callable[[Array, bool], None]
"""Take one step per column of a schedule (rows: factors of positive and negative regrets,
weights)."""


def _prepare_numpy(state: CfrState) -> Iterate:
    """Iterate with whole levels of information sets at a time.

    The same as the compiled loop up to rounding.
    """
    sides = [_Side(state, player) for player in range(state.form.num_players)]

    def run(schedule: Array, predictive: bool) -> None:
        for keep_positive, keep_negative, weight in schedule.T.tolist():
            for side in sides:
                side.total += side.plan if weight == 1.0 else weight * side.plan
                side.learn(
                    side.find_gains(state.plan),
                    keep_positive,
                    keep_negative,
                    predictive,
                )

    return run


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """Information sets `sets` with sequences `span`.

    Where each begins in the span; their parents, one per sequence.
    """

    sets: slice
    span: slice
    begins: IntArray
    parent: IntArray
    parents: IntArray


class _Side:
    """One player's part of the arrays, updated in place.

    What can be done for all information sets at once (regrets, next behaviour) is one array
    operation; only values (last level first) and plans (first level first) go level by level.
    """

    def __init__(self, state: CfrState, player: int) -> None:
        plex = state.form.plexes[player]
        low = state.starts[player]
        high = state.starts[player + 1]
        rows = (state.behaviour, state.plan, state.total, state.value, state.regret)
        self.behaviour, self.plan, self.total, self.values, regret = (row[low:high] for row in rows)
        self.regret = regret[1:]
        self.levels = []
        for sets in (slice(*ends) for ends in pairwise(plex.levels.tolist())):
            start, stop = plex.span(sets.start, sets.stop)
            parents = np.repeat(plex.parent[sets], plex.size[sets])
            level = _Level(
                sets=sets,
                span=slice(start, stop),
                begins=plex.first[sets] - start,
                parent=plex.parent[sets],
                parents=parents,
            )
            self.levels.append(level)
        self.set_of = np.repeat(np.arange(len(plex.infosets)), plex.size)
        self.begins = plex.first - 1
        self.uniform = np.repeat(1.0 / plex.size, plex.size)
        self.means = np.zeros(len(plex.infosets))
        ends = state.ends[low : high + 1]
        self.others = [*state.others[:, ends[0] : ends[-1]]]
        self.payoffs = state.payoffs[ends[0] : ends[-1]]
        self.final = np.flatnonzero(np.diff(ends))  # the sequences that end at leaves
        self.first_leaf = ends[self.final] - ends[0]

    def find_gains(self, plan: Array) -> Array:
        """Say what each move would have gained over current behaviour at its information set."""
        weights = self.payoffs
        values = self.values
        for sequences in self.others:
            weights = weights * plan.take(sequences)
        values[:] = 0.0
        values[self.final] = np.add.reduceat(weights, self.first_leaf)
        for level in reversed(self.levels):
            earned = self.behaviour[level.span] * values[level.span]
            means = np.add.reduceat(earned, level.begins, out=self.means[level.sets])
            values[: level.span.start] += np.bincount(level.parent, means, level.span.start)
        gains: Array = values[1:] - self.means.take(self.set_of)
        return gains

    def learn(
        self,
        gains: Array,
        keep_positive: float,
        keep_negative: float,
        predictive: bool,
    ) -> None:
        """Add the gains to the regrets, and set the behaviour and plan of the next iteration."""
        if not len(gains):
            return
        regret = self.regret
        regret += gains
        if keep_negative == 0.0 and keep_positive == 1.0:
            np.maximum(regret, 0.0, out=regret)
        elif keep_negative != 1.0 or keep_positive != 1.0:
            regret *= np.where(regret > 0.0, keep_positive, keep_negative)
        # Regret matching: play in proportion to positive regret, uniformly where there is none.
        positive = np.maximum(regret + gains if predictive else regret, 0.0)
        sums = np.add.reduceat(positive, self.begins)
        idle = sums == 0.0
        if idle.any():
            sums[idle] = 1.0
            positive += np.where(idle.take(self.set_of), self.uniform, 0.0)
        np.divide(positive, sums.take(self.set_of), out=self.behaviour[1:])
        for level in self.levels:
            np.multiply(
                self.plan.take(level.parents),
                self.behaviour[level.span],
                out=self.plan[level.span],
            )


def _prepare_compiled(state: CfrState) -> Iterate:
    plexes = list(zip(state.form.plexes, state.starts[:-1], strict=True))
    begins = np.cumsum([0, *(len(plex.infosets) for plex, _ in plexes)])
    parent = np.concatenate([plex.parent + start for plex, start in plexes])
    first = np.concatenate([plex.first + start for plex, start in plexes])
    size = np.concatenate([plex.size for plex, _ in plexes])
    arrays = (state.starts, begins, parent, first, size, state.ends, state.others)
    whole = tuple(array.astype(np.uint32) for array in arrays)
    rows = (state.behaviour, state.plan, state.regret, state.total, state.value)
    return lambda schedule, predictive: _compile()(
        whole,
        state.payoffs,
        rows,
        schedule,
        predictive,
    )


@cache
def _compile() -> Callable[..., None]:
    from numba import njit

    return njit(
        cache=True,
        error_model="numpy",
        nogil=True,
        fastmath={"contract", "nsz", "reassoc"},
    )(_iterate)


def _iterate(
    whole: tuple[Ints, ...],
    payoffs: Floats,
    rows: tuple[Floats, ...],
    schedule: Floats,
    predictive: bool,
) -> None:
    """Iterate for any number of players, whose sequences are in one row; compiled (extra `fast`).

    Per player and iteration: one sparse product over the leaves gives what each own sequence earns,
    one pass over the own information sets (last first) gives values, regrets and the next
    behaviour, one pass (first first) the next realization plan.
    """
    starts, begins, parent, first, size, ends, others = whole
    behaviour, plan, regret, total, value = rows
    num_players = starts.shape[0] - 1
    two = others.shape[0] == 1
    facing = others[0] if two else others[:0].ravel()
    for t in range(schedule.shape[1]):
        keep_positive = schedule[0, t]
        keep_negative = schedule[1, t]
        weight = schedule[2, t]
        for player in range(num_players):
            for s in range(starts[player], starts[player + 1]):
                earned = 0.0
                if two:
                    for leaf in range(ends[s], ends[s + 1]):
                        earned += payoffs[leaf] * plan[facing[leaf]]
                else:
                    for leaf in range(ends[s], ends[s + 1]):
                        share = payoffs[leaf]
                        for other in range(others.shape[0]):
                            share *= plan[others[other, leaf]]
                        earned += share
                value[s] = earned
            for i in range(begins[player + 1] - 1, begins[player] - 1, -1):
                low = first[i]
                high = first[i] + size[i]
                mean = 0.0
                for s in range(low, high):
                    mean += behaviour[s] * value[s]
                value[parent[i]] += mean
                positive = 0.0
                for s in range(low, high):
                    total[s] += weight * plan[s]
                    gain = value[s] - mean
                    summed = regret[s] + gain
                    summed *= keep_positive if summed > 0.0 else keep_negative
                    regret[s] = summed
                    if predictive:
                        summed += gain
                    summed = max(summed, 0.0)
                    behaviour[s] = summed
                    positive += summed
                if positive > 0.0:
                    scale = 1.0 / positive
                    for s in range(low, high):
                        behaviour[s] *= scale
                else:
                    for s in range(low, high):
                        behaviour[s] = 1.0 / size[i]
            for i in range(begins[player], begins[player + 1]):
                reach = plan[parent[i]]
                for s in range(first[i], first[i] + size[i]):
                    plan[s] = reach * behaviour[s]


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
    """The average policy, what it earns each player, and its distance from equilibrium.

    The distance is given on the way and at the end.
    """

    policy: Policy
    value: dict[str, float]
    nash_conv: float
    checkpoints: tuple[Checkpoint, ...]
    iterations: int
    variant: Variant
    engine: ChosenEngine


def cfr(
    game: TreeLike,
    iterations: int = 1000,
    variant: Variant = "cfr+",
    *,
    engine: Engine = "auto",
    report: Callable[[str], None] | None = None,
) -> CfrResult:
    """Iterate and return the average policy.

    NashConv is taken after 1, 10, 100, ... iterations and after the last. `engine` "auto" takes the
    compiled loop where numba is installed and the run is long enough to pay for loading it.

    >>> from bestresponse.theory.catalogue.trees import kuhn_poker
    >>> result = cfr(kuhn_poker(), 1000, engine="numpy")
    >>> print(f"{result.value['player 1']:.3f} {result.nash_conv:.8f}")
    -0.056 0.00017473
    """
    if iterations < 1:
        raise UsageError(f"expected at least 1 iteration, got {iterations}")
    stops = sorted({iterations, *(10**k for k in range(len(str(iterations))))})
    form = to_sequence_form(as_tree(game))
    work = iterations * (form.sequences.size + 1000)
    repaying = _WORTH_COMPILING * count_loads(__name__)
    chosen = choose_engine(engine, pays=work >= repaying)
    state = CfrState(form, chosen)
    done = 0
    seen = []
    plans = []
    for stop in stops:
        while done < stop:
            part = min(stop, done + _PART)
            state.run(schedule(variant, done + 1, part), variant == "pcfr+")
            done = part
            if report is not None:
                regrets = plan_regrets(form, _average(form, state.totals))
                reached = f"NashConv {regrets.sum():.3g}"
                report(f"{reached} after {done:,} of {iterations:,} iterations")
        plans = _average(form, state.totals)
        regrets = plan_regrets(form, plans)
        seen.append(Checkpoint(stop, float(regrets.sum())))
    behaviours = [
        plex.normalise(total) for plex, total in zip(form.plexes, state.totals, strict=True)
    ]
    earned = form.expected(plans).tolist()
    return CfrResult(
        policy=form.policy(behaviours),
        value=dict(zip(form.tree.players, earned, strict=True)),
        nash_conv=seen[-1].nash_conv,
        checkpoints=tuple(seen),
        iterations=iterations,
        variant=variant,
        engine=chosen,
    )


def _average(form: SequenceForm, totals: list[Array]) -> list[Array]:
    return [
        plex.plan(plex.normalise(total)) for plex, total in zip(form.plexes, totals, strict=True)
    ]


def schedule(variant: Variant, first: int, last: int) -> Array:
    """Per iteration, factors of positive and negative regrets, and the average's weight."""
    t = np.arange(first, last + 1, dtype=np.float64)
    ones = np.ones_like(t)
    match variant:
        case "cfr":
            return np.stack([ones, ones, ones])
        case "cfr+":
            return np.stack([ones, 0 * ones, t])
        case "dcfr":
            grown = t**1.5
            return np.stack([grown / (grown + 1), ones / 2, t**2])
        case "pcfr+":
            return np.stack([ones, 0 * ones, t**2])
        case _:
            raise UsageError(
                f"there is no variant {variant!r} of CFR; expected one of"
                f" {', '.join(get_args(Variant))}"
            )
