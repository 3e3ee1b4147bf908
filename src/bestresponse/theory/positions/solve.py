"""Solve a graph of positions by one pass from the ends, and say how sure the values are.

Positions from which no play returns are settled by backward induction, level by level, and their
values are exact. Positions of a cycle (a strongly connected component) are settled together, in
games of two with a constant sum:

- in a cycle without chance, values start at what endless play pays and move until nothing changes.
  Whoever can force more than that can force it in finitely many moves, so the values are exact;
- in a cycle with chance, values are improved from the least and from the greatest payoff, which
  bounds the value from both sides whatever endless play pays, until the bounds meet
  (T. Neller, C. Presser, "Optimal play of the dice game Pig", The UMAP Journal 25, 2004).

Where a graph is not complete, what was not looked into is worth anything between these payoffs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from bestresponse.core.capabilities import HasPositions, P
from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.core.game import S
from bestresponse.theory.arrays import Floats, Ints, Shorts
from bestresponse.theory.deadline import NEVER, Deadline
from bestresponse.theory.engines import Engine, load_kernels
from bestresponse.theory.linear_program import load_sparse
from bestresponse.theory.positions.graph import UNSEEN, PositionGraph
from bestresponse.theory.trees.tree import CHANCE, LEAF

TIE = 1e-8
"""Moves whose values differ by no more are equally good: it is ten times what values of cycles are
known to."""
_MOST_SWEEPS = 100_000
_TOLERANCE = 1e-9
_STILL = 1e-3
"""Of the tolerance: values that move by less do not bring their bounds together in time."""
_KERNELS = "bestresponse.theory.positions.kernels"
_WORTH = 10_000  # positions of cycles that numpy improves while the compiled loop is loaded

Cycle = Literal["none", "without chance", "with chance"]
_CYCLES: tuple[Cycle, ...] = ("none", "without chance", "with chance")


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """Positions that are settled together, and whether they are in cycles."""

    nodes: Ints
    cycle: Cycle


@dataclass(frozen=True, eq=False)
class PositionSolution:
    """What every position is worth to every seat, between `low` and `high`.

    Both are the same array where values are exact. `sweeps` counts how often values of cycles were
    improved.
    """

    graph: PositionGraph
    low: Floats
    high: Floats
    sweeps: int

    @cached_property
    def values(self) -> Floats:
        """The middle of the bounds."""
        return self.low if self.low is self.high else (self.low + self.high) / 2

    @cached_property
    def bound(self) -> float:
        """By how much a value can be wrong at most, at any position and for any seat."""
        return 0.0 if self.low is self.high else float((self.high - self.low).max()) / 2

    @cached_property
    def regrets(self) -> Floats:
        """What the mover loses by the move of each edge; 0 for draws of chance."""
        graph = self.graph
        owner = graph.owner[graph.tail]
        seat = np.maximum(owner, 0)
        lost = self.values[graph.tail, seat] - self.values[graph.child, seat]
        return np.where(owner >= 0, lost, 0.0)

    @cached_property
    def forks(self) -> Shorts:
        """The positions at which the mover's ties are no ties for somebody else.

        Only there, and before, more than one value is subgame perfect. A game of two with a
        constant sum has none.
        """
        graph = self.graph
        apart = np.abs(self.values[graph.tail] - self.values[graph.child]).max(axis=1)
        tied = (graph.owner[graph.tail] >= 0) & (self.regrets <= self._slack)
        return np.unique(graph.tail[tied & (apart > self._slack)])

    @property
    def _slack(self) -> float:
        return max(TIE, 2 * self.bound)

    def certify(self) -> float:
        """Return how far a value is at most from what one step of perfect play makes of it.

        0 says that no single deviation pays anywhere.
        """
        graph = self.graph
        again = self.values.copy()
        _Step(graph, np.flatnonzero(graph.owner >= CHANCE)).settle(self.values, again)
        off = np.abs(again - self.values)
        seats = np.maximum(graph.owner, 0).astype(np.intp)
        own = off[np.arange(len(off)), seats]
        # Where the mover is indifferent, the others may be promised either of two values.
        return float(np.where(graph.owner >= 0, own, off.max(axis=1)).max())

    def list_worths(self, game: HasPositions[S, P], position: P) -> dict[str, float]:
        """Return what each legal move is worth to whoever chooses at a position.

        The moves are named as in this very position, also where its key stands for several.

        Raises:
            TooLarge: the position or what follows it was not looked into.
        """
        turn = game.find_turn(position)
        seat = self.graph.roles.index(turn.role)
        worths = {}
        for move in turn.moves:
            key = game.find_key(game.advance(position, move))
            number = self.graph.known.get(key)
            if number is None or self.high[number, seat] - self.low[number, seat] > self._most_off:
                raise TooLarge(
                    f"{self.graph.name}: nobody knows what {move} is worth here, as only"
                    f" {len(self.graph.owner):,} positions were looked into"
                )
            worths[move] = float(self.values[number, seat])
        return worths

    @property
    def _most_off(self) -> float:
        return np.inf if self.graph.is_complete else TIE


def list_best(worths: Mapping[str, float]) -> list[str]:
    """List the moves that are worth the most."""
    most = max(worths.values())
    return [move for move, worth in worths.items() if worth >= most - TIE]


class _Step:
    """One step of backward induction at some positions, from the values of all."""

    def __init__(self, graph: PositionGraph, nodes: Ints) -> None:
        seats = graph.payoffs.shape[1]
        draws = graph.owner[nodes] == CHANCE
        self.drawn = nodes[draws]
        edges, self.draw_starts = _list_edges(graph.first, self.drawn)
        self.draw_child = graph.child[edges]
        self.weight = graph.chance[edges, None]
        self.chosen = nodes[~draws]
        edges, self.starts = _list_edges(graph.first, self.chosen)
        self.child = graph.child[edges]
        self.sizes = np.diff(np.append(self.starts, len(edges)))
        owner = np.repeat(graph.owner[self.chosen], self.sizes)
        self.own = self.child.astype(np.int64) * seats + owner

    def settle(self, values: Floats, into: Floats) -> None:
        """Write what the positions are worth, by the first of the best moves where one chooses."""
        if len(self.drawn):
            worth = values[self.draw_child] * self.weight
            into[self.drawn] = np.add.reduceat(worth, self.draw_starts, axis=0)
        if len(self.chosen):
            own = values.ravel()[self.own]
            best = np.maximum.reduceat(own, self.starts)
            at_best = np.flatnonzero(own >= np.repeat(best, self.sizes))
            first_best = at_best[np.searchsorted(at_best, self.starts)]
            into[self.chosen] = values[self.child[first_best]]


def count_nodes(graph: PositionGraph) -> float:
    """Count the nodes of the tree that has each position once for every play that leads there.

    There is no end to it where a play can return to a position.
    """
    count = np.ones(len(graph.owner))
    for level in _list_levels(graph):
        if level.cycle != "none":
            return np.inf
        edges, starts = _list_edges(graph.first, level.nodes)
        count[level.nodes] += np.add.reduceat(count[graph.child[edges]], starts)
    return float(count[0])


def _list_edges(first: Ints, nodes: Ints) -> tuple[Ints, Ints]:
    """List the edges of these nodes, one node after the other, and where those of each begin."""
    sizes = first[nodes + 1] - first[nodes]
    starts = np.cumsum(sizes) - sizes
    edges = np.repeat(first[nodes] - starts, sizes) + np.arange(int(sizes.sum()))
    return edges, starts


def _list_levels(graph: PositionGraph) -> Iterator[_Level]:
    """Yield the positions from the ends of the play back; those of a cycle come together."""
    number = len(graph.owner)
    ones = np.ones(len(graph.child), dtype=np.int8)
    from scipy.sparse.csgraph import connected_components

    matrix = load_sparse().csr_array((ones, graph.child, graph.first), shape=(number, number))
    count, component = connected_components(matrix, connection="strong")
    tail = component[graph.tail]
    head = component[graph.child]
    is_inside = tail == head
    cyclic = np.zeros(count, dtype=bool)
    cyclic[tail[is_inside]] = True
    draws = np.zeros(count, dtype=bool)
    draws[component[graph.owner == CHANCE]] = True
    kind = np.where(cyclic, 1 + draws, 0)
    depth = _measure_depths(tail[~is_inside], head[~is_inside], count)
    rank = (depth * len(_CYCLES) + kind)[component]
    settled = (graph.owner == LEAF) | (graph.owner == UNSEEN)
    rank[settled] = -1
    nodes = np.argsort(rank, kind="stable")
    nodes = nodes[int(settled.sum()) :]
    for part in np.split(nodes, np.flatnonzero(np.diff(rank[nodes])) + 1):
        if len(part):
            yield _Level(part, _CYCLES[int(rank[part[0]]) % len(_CYCLES)])


def _measure_depths(tail: Shorts, head: Shorts, count: int) -> Ints:
    """Return the most steps from each component to an end."""
    left = np.bincount(tail, minlength=count)
    before = tail[np.argsort(head, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(head, minlength=count))])
    depth = np.zeros(count, dtype=np.int64)
    ready = np.flatnonzero(left == 0)
    steps = 0
    while len(ready):
        depth[ready] = steps
        edges, _ = _list_edges(starts, ready)
        reached, times = np.unique(before[edges], return_counts=True)
        left[reached] -= times
        ready = reached[left[reached] == 0]
        steps += 1
    return depth


@dataclass(frozen=True, eq=False)
class _Cycles:
    """Improves the values of cycles in a game of two with a constant sum."""

    graph: PositionGraph
    total: float
    engine: Engine
    deadline: Deadline

    def settle(self, level: _Level, runs: list[Floats], range_: tuple[float, float]) -> int:
        """Improve these positions in both runs; return how often."""
        endless = self.graph.endless_result[0]
        starts = (endless, endless) if level.cycle == "without chance" else range_
        improve = self._prepare(level.nodes)
        for values, start in zip(runs, starts, strict=True):
            values[level.nodes] = start, self.total - start
        enough = _TOLERANCE * _STILL if level.cycle == "with chance" else 0.0
        sweep = 0
        while sweep < _MOST_SWEEPS:
            sweep += 1
            moved = max(map(improve, runs))
            apart = float((runs[1][level.nodes, 0] - runs[0][level.nodes, 0]).max())
            may_stop = apart <= _TOLERANCE or self.deadline.is_over
            is_met = level.cycle == "with chance" and may_stop
            if is_met or moved <= enough:
                break
        return sweep

    def _prepare(self, nodes: Ints) -> Callable[[Floats], float]:
        """Return the function that improves values once at these nodes, and says by how much."""
        graph = self.graph
        kernels = load_kernels(_KERNELS, self.engine, len(nodes), _WORTH)
        if kernels is not None:
            backwards = np.sort(nodes)[::-1].copy()
            arrays = graph.owner, graph.first, graph.child, graph.chance
            return lambda values: kernels.improve_in_place(backwards, *arrays, self.total, values)
        step = _Step(graph, nodes)

        def improve(values: Floats) -> float:
            before = values[nodes, 0]
            step.settle(values, values)
            values[nodes, 1] = self.total - values[nodes, 0]
            return float(np.abs(values[nodes, 0] - before).max())

        return improve


def solve_positions(
    graph: PositionGraph,
    *,
    engine: Engine = "auto",
    deadline: Deadline = NEVER,
) -> PositionSolution:
    """Return what every position is worth.

    Where values are only bounded, two games are solved: in one all that is open turns out as badly
    as can be for the first seat, in the other as well as can be. Once the time is over, cycles with
    chance are not improved any more, and what is known of them is their bounds.

    Raises:
        InvalidGame: there are cycles, and the game is not one of two with a constant sum.
        TooLarge: the graph is not complete, and the game is no such game, so nothing is bounded.
    """
    runs = [graph.payoffs.copy()]
    range_ = _find_range(graph)
    if not graph.is_complete:
        if range_ is None or graph.total is None:
            raise TooLarge(
                f"{graph.name} has more than {len(graph.owner):,} positions; allow more, or more"
                " seconds, or use a smaller version of the game"
            )
        runs.append(graph.payoffs.copy())
        for values, worth in zip(runs, range_, strict=True):
            values[graph.owner == UNSEEN] = worth, graph.total - worth
    sweeps = 0
    for level in _list_levels(graph):
        if level.cycle == "none":
            step = _Step(graph, level.nodes)
            for values in runs:
                step.settle(values, values)
            continue
        if range_ is None or graph.total is None:
            raise InvalidGame(
                f"{graph.name} may return to a position, and is not a game of two players whose"
                " payoffs have a constant sum: such positions have no single value"
            )
        if len(runs) == 1:
            runs.append(runs[0].copy())
        cycles = _Cycles(graph, graph.total, engine=engine, deadline=deadline)
        sweeps += cycles.settle(level, runs, range_)
    if len(runs) == 1:
        return PositionSolution(graph, runs[0], runs[0], sweeps)
    worst, best = runs
    low = np.column_stack([worst[:, 0], best[:, 1]])
    high = np.column_stack([best[:, 0], worst[:, 1]])
    return PositionSolution(graph, low, high, sweeps)


def _find_range(graph: PositionGraph) -> tuple[float, float] | None:
    """Return the least and the most that the first of two seats can get; None without a total."""
    if graph.total is None or len(graph.roles) != 2:
        return None
    least, most = graph.payoff_bounds
    return max(least, graph.total - most), min(most, graph.total - least)
