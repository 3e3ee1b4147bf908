"""Correlated equilibria of trees: a mediator gives advice move by move.

Definition (von Stengel and Forges 2008): a mediator draws a plan for every player and tells a
player the recommended move when the play comes to its information set, as long as it has obeyed.
The distribution of plans is an extensive-form correlated equilibrium (EFCE) when obeying is best:
nobody who hears a move gains by doing something else there and whatever it likes afterwards, when
no advice is given any more. It is a coarse one (EFCCE; Farina, Bianchi and Sandholm 2020) when
nobody gains by leaving at an information set before hearing the move there.

Program: a deviation is best where the values of its information sets are; each value is a variable
that is at least what every move earns there, and obeying must earn at least the first of them
(duality). What a deviation earns depends on masses: the probability that the player is told a
sequence of moves while all others are told theirs. Masses are sums over profiles of plans.

For two players where no triangle of information sets meets (all trees whose chance moves are seen
by both, among others), masses are exactly what fulfils the equations of the sequence form in both
players' sequences (von Stengel and Forges 2008; Farina and Sandholm 2020), so that large trees need
no list of plans.

Certificate: what the best deviation gains, by one pass over each player's information sets.

B. von Stengel and F. Forges, "Extensive-form correlated equilibrium: definition and computational
complexity", Mathematics of Operations Research 33, 2008.
G. Farina and T. Sandholm, "Polynomial-time computation of optimal correlated equilibria in
two-player extensive-form games with public chance moves and beyond", NeurIPS 2020.
G. Farina, T. Bianchi and T. Sandholm, "Coarse correlation in extensive-form games", AAAI 2020.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bestresponse.core.errors import NotCertified, TooLarge, UsageError
from bestresponse.theory.arrays import Bools
from bestresponse.theory.correlation.equilibria import VIOLATION_LIMIT, Objective
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.linear_program import load_sparse, solve_program
from bestresponse.theory.trees.normal_form import count_plans, list_plans
from bestresponse.theory.trees.sequence_form import SequenceForm, Treeplex, to_sequence_form
from bestresponse.theory.trees.tree import (
    IntArray,
    Tree,
    as_tree,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Told = tuple[int, ...]
"""One sequence of moves per player."""

_FEW_PROFILES = 2_000
"""Up to here profiles of plans are listed even where pairs of sequences would do: the mediator's
draw is then part of the answer."""
_MOST_PROFILES = 200_000
_MOST_PAIRS = 200_000
_MOST_NUMBERS = 20_000_000
_FLOOR_SLACK = 1e-9  # how much of the lowest payoff may be given up for the largest sum
_DRAWN = 1e-9  # plans that are drawn less often are rounding


@dataclass(frozen=True, slots=True)
class DrawnPlans:
    """One draw of the mediator: its probability, and the plan of every player."""

    probability: float
    plans: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TreeCorrelation:
    """An extensive-form correlated equilibrium: how likely each leaf is, and what players earn.

    `outcomes` are in the order of `tree.leaves`. `drawn` lists what the mediator draws; it is empty
    for large trees, which are solved without a list of plans. `gain` is the most that anybody
    could gain by leaving the mediator.
    """

    tree: Tree
    outcomes: Array
    payoffs: Array
    objective: Objective
    value: float
    coarse: bool
    gain: float
    drawn: tuple[DrawnPlans, ...]
    method: str

    @property
    def welfare(self) -> float:
        """The sum of the payoffs."""
        return float(self.payoffs.sum())


@dataclass(frozen=True, slots=True, eq=False)
class MediatorWeights:
    """What a program over a mediator varies, and how masses follow from it.

    `equal` and `totals` are the equations that the variables fulfil; `masses` gives the mass of
    every tuple in `MediatorProgram.places`. `names` are the plans of each player where variables
    are profiles of plans.
    """

    masses: csr_array
    equal: csr_array
    totals: Array
    names: tuple[tuple[str, ...], ...]
    method: str


def correlate_tree(
    tree: Tree | str | Path,
    objective: Objective = "welfare",
    *,
    coarse: bool = False,
    seconds: float = 60.0,
) -> TreeCorrelation:
    """Find the extensive-form (coarse) correlated equilibrium that is best by `objective`.

    "welfare": largest sum of payoffs. "fairness": largest lowest payoff, then largest sum. "any":
    some equilibrium. TooLarge where the program would not fit, NotCertified where it takes longer
    than `seconds` or a player would gain by disobeying.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> deterred = correlate_tree(load_tree("entry-deterrence"))
    >>> deterred.payoffs.round(6).tolist(), deterred.gain < 1e-9
    ([1.0, 5.0], True)
    """
    tree = as_tree(tree)
    if objective not in ("welfare", "fairness", "any"):
        raise UsageError(f"objective: expected welfare, fairness or any, got {objective!r}")
    deadline = Deadline.after(seconds)
    form = to_sequence_form(tree)
    program = MediatorProgram(form, coarse)
    weights = choose_weights(program)
    return solve_weights(program, weights, objective, deadline)


@dataclass(frozen=True, slots=True)
class Trigger:
    """Where a player may leave: the information set, and the sequence it has been told by then."""

    player: int
    place: int
    told: int


@dataclass(eq=False)
class MediatorProgram:
    """Incentives and payoffs of a tree as linear functions of masses and of values of deviations.

    `places` numbers the tuples of sequences whose mass is needed.
    """

    form: SequenceForm
    coarse: bool
    places: dict[Told, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.plexes = list(map(_Plex, self.form.plexes))
        leaves = self.form.sequences.T.tolist()
        self.at_leaves = [self._find_place(tuple(told)) for told in leaves]
        ranges = np.ptp(self.form.tree.payoffs[self.form.tree.leaves], axis=0)
        self.units = np.where(ranges > 0, ranges, 1.0)
        self.triggers = list(self._list_triggers())
        self._by_sequence = [
            _group(row, plex.plex.num_sequences)
            for row, plex in zip(self.form.sequences, self.plexes, strict=True)
        ]
        self._write_incentives()

    def _find_place(self, told: Told) -> int:
        return self.places.setdefault(told, len(self.places))

    def _list_triggers(self) -> Iterator[Trigger]:
        for player, plex in enumerate(self.form.plexes):
            for place, first in enumerate(plex.first.tolist()):
                if self.coarse:
                    yield Trigger(player, place, int(plex.parent[place]))
                    continue
                for told in range(first, first + int(plex.size[place])):
                    yield Trigger(player, place, told)

    def find_deviation(self, trigger: Trigger, leaf: int) -> int:
        """Give the place of the mass with which a player that left at a trigger comes to a leaf."""
        told = self.form.sequences[:, leaf].tolist()
        told[trigger.player] = trigger.told
        return self._find_place(tuple(told))

    def list_obeyed(self, trigger: Trigger) -> list[int]:
        """List the leaves that an obedient player comes to after a trigger."""
        plex = self.plexes[trigger.player]
        own = plex.list_sequences(trigger.place) if self.coarse else plex.list_after(trigger.told)
        by_sequence = self._by_sequence[trigger.player]
        return [leaf for sequence in own for leaf in by_sequence[sequence]]

    def _write_incentives(self) -> None:
        """Write every row as entries: (row, place of a mass, factor) and (row, value, factor)."""
        masses = _Entries()
        values = _Entries()
        row = 0
        width = 0
        for trigger in self.triggers:
            player = trigger.player
            plex = self.plexes[player]
            payoffs = self.form.payoffs[player] / self.units[player]
            below = plex.list_places(trigger.place)
            number = {place: width + k for k, place in enumerate(below)}
            width += len(below)
            for place in below:
                for sequence in plex.list_moves(place):
                    for leaf in self._by_sequence[player][sequence]:
                        masses.add(row, self.find_deviation(trigger, leaf), payoffs[leaf])
                    for after in plex.followers[sequence]:
                        values.add(row, number[after], 1.0)
                    values.add(row, number[place], -1.0)
                    row += 1
            values.add(row, number[trigger.place], 1.0)
            for leaf in self.list_obeyed(trigger):
                masses.add(row, self.at_leaves[leaf], -payoffs[leaf])
            row += 1
        self.by_mass = masses.build(row, len(self.places))
        self.by_value = values.build(row, width)

    def weigh_leaves(self) -> csr_array:
        """Write what each player earns as a function of masses."""
        entries = _Entries()
        for player, payoffs in enumerate(self.form.payoffs):
            for leaf, place in enumerate(self.at_leaves):
                entries.add(player, place, payoffs[leaf])
        return entries.build(self.form.num_players, len(self.places))

    def find_gains(self, masses: Array) -> Array:
        """Compute what leaving at each trigger gains at best, from masses."""
        gains = []
        for trigger in self.triggers:
            payoffs = self.form.payoffs[trigger.player]
            obeyed = 0.0
            for leaf in self.list_obeyed(trigger):
                obeyed += payoffs[leaf] * masses[self.at_leaves[leaf]]
            gains.append(self._find_best(trigger, masses) - obeyed)
        return np.array(gains)

    def _find_best(self, trigger: Trigger, masses: Array) -> float:
        """Compute what the best behaviour after a trigger earns, from the last set to the first."""
        plex = self.plexes[trigger.player]
        payoffs = self.form.payoffs[trigger.player]
        best: dict[int, float] = {}
        for place in reversed(plex.list_places(trigger.place)):
            earned = []
            for sequence in plex.list_moves(place):
                total = sum(best[after] for after in plex.followers[sequence])
                for leaf in self._by_sequence[trigger.player][sequence]:
                    total += payoffs[leaf] * masses[self.find_deviation(trigger, leaf)]
                earned.append(total)
            best[place] = max(earned)
        return best[trigger.place]


class _Plex:
    """A player's information sets, by their places, with what comes after what."""

    def __init__(self, plex: Treeplex) -> None:
        self.plex = plex
        self.followers = _group(plex.parent, plex.num_sequences)

    def list_moves(self, place: int) -> range:
        """List the sequences that end with a move of an information set."""
        first = int(self.plex.first[place])
        return range(first, first + int(self.plex.size[place]))

    def list_places(self, place: int) -> list[int]:
        """List an information set and all after it, each before those that follow it."""
        found = [place]
        for here in found:
            for sequence in self.list_moves(here):
                found.extend(self.followers[sequence])
        return found

    def list_after(self, sequence: int) -> list[int]:
        """List a sequence and all that extend it."""
        found = [sequence]
        for here in found:
            for place in self.followers[here]:
                found.extend(self.list_moves(place))
        return found

    def list_sequences(self, place: int) -> list[int]:
        """List all sequences that go through an information set."""
        return [s for move in self.list_moves(place) for s in self.list_after(move)]


class _Entries:
    """Entries of a sparse matrix while they are gathered; those of one place are added up."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.numbers: list[float] = []

    def add(self, row: int, column: int, number: float) -> None:
        self.rows.append(row)
        self.columns.append(column)
        self.numbers.append(number)

    def build(self, height: int, width: int) -> csr_array:
        sparse = load_sparse()
        entries = (self.numbers, (self.rows, self.columns))
        matrix: csr_array = sparse.csr_array(entries, shape=(height, width), dtype=np.float64)
        return matrix


def _group(numbers: IntArray, count: int) -> list[list[int]]:
    """List for every number up to `count` where it is found."""
    groups: list[list[int]] = [[] for _ in range(count)]
    for k, number in enumerate(numbers.tolist()):
        groups[number].append(k)
    return groups


def choose_weights(program: MediatorProgram) -> MediatorWeights:
    """Vary profiles of plans where they are few, else pairs of sequences where these suffice."""
    form = program.form
    counts = list(map(count_plans, form.plexes))
    profiles = math.prod(counts)
    if profiles > _FEW_PROFILES and form.num_players == 2 and is_triangle_free(form):
        return weigh_pairs(program)
    if profiles <= _MOST_PROFILES:
        return weigh_plans(program)
    sizes = " x ".join(f"{count:,}" for count in counts)
    raise TooLarge(
        f"the players have {sizes} plans, more than the {_MOST_PROFILES:,} profiles that a program"
        " over them can hold; larger trees are solved for two players who both see all draws of"
        " chance"
    )


def weigh_plans(program: MediatorProgram) -> MediatorWeights:
    """Let the mediator draw any profile of plans."""
    sparse = load_sparse()
    form = program.form
    plans = [list_plans(form.tree, player) for player in range(form.num_players)]
    tells = []
    for plex, listed in zip(form.plexes, plans, strict=True):
        tell = np.ones((plex.num_sequences, len(listed)))
        for place, infoset in enumerate(plex.infosets.tolist()):
            for move in range(int(plex.size[place])):
                tell[plex.first[place] + move] = listed.moves[:, infoset] == move
        tells.append(tell)
    lengths = [told.sum(axis=1).astype(np.int64).tolist() for told in tells]
    numbers = 0
    for key in program.places:
        told = [counts[sequence] for counts, sequence in zip(lengths, key, strict=True)]
        numbers += math.prod(told)
    if numbers > _MOST_NUMBERS:
        raise TooLarge(
            f"the program of the mediator has {numbers:,} numbers, more than {_MOST_NUMBERS:,};"
            " solve a smaller version of the game"
        )
    rows = []
    for key in program.places:
        chosen = [tell[sequence] for tell, sequence in zip(tells, key, strict=True)]
        row = reduce(np.multiply.outer, chosen)
        rows.append(sparse.csr_array(row.reshape(1, -1)))
    profiles = math.prod(map(len, plans))
    return MediatorWeights(
        masses=sparse.vstack(rows, format="csr"),
        equal=sparse.csr_array(np.ones((1, profiles))),
        totals=np.ones(1),
        names=tuple(listed.names for listed in plans),
        method="linear program over profiles of plans",
    )


def weigh_pairs(program: MediatorProgram) -> MediatorWeights:
    """Vary the masses of pairs of sequences themselves; exact for trees without triangles."""
    form = program.form
    met = find_meetings(form)
    pairs = {(0, 0): 0}
    owners = []
    for plex in form.plexes:
        places = np.arange(len(plex.infosets))
        owners.append(np.repeat(places, plex.size).tolist())
    for first in range(1, form.plexes[0].num_sequences):
        pairs[first, 0] = len(pairs)
    for second in range(1, form.plexes[1].num_sequences):
        pairs[0, second] = len(pairs)
    for first, place in enumerate(owners[0], start=1):
        for second, other in enumerate(owners[1], start=1):
            if met[place, other]:
                pairs[first, second] = len(pairs)
    if len(pairs) > _MOST_PAIRS:
        raise TooLarge(
            f"the players have {len(pairs):,} pairs of sequences, more than {_MOST_PAIRS:,}; solve"
            " a smaller version of the game"
        )
    equal = _Entries()
    equal.add(0, 0, 1.0)
    row = 1
    for player, own_sets in enumerate(program.plexes):
        meets = met if player == 0 else met.T
        others = owners[1 - player]
        for place, before in enumerate(own_sets.plex.parent.tolist()):
            against = [0, *(s for s, set_ in enumerate(others, start=1) if meets[place, set_])]
            for other in against:
                for own in own_sets.list_moves(place):
                    equal.add(row, pairs[_order(player, own, other)], 1.0)
                equal.add(row, pairs[_order(player, before, other)], -1.0)
                row += 1
    totals = np.zeros(row)
    totals[0] = 1.0
    masses = _Entries()
    for (first, second), place in program.places.items():
        masses.add(place, pairs[first, second], 1.0)
    return MediatorWeights(
        masses=masses.build(len(program.places), len(pairs)),
        equal=equal.build(row, len(pairs)),
        totals=totals,
        names=(),
        method="linear program over pairs of sequences",
    )


def _order(player: int, own: int, other: int) -> tuple[int, int]:
    return (own, other) if player == 0 else (other, own)


def find_meetings(form: SequenceForm) -> Bools:
    """Say which information sets of two players lie on one path from the root."""
    places = []
    for plex in form.plexes:
        places.append({infoset: place for place, infoset in enumerate(plex.infosets.tolist())})
    met = np.zeros(tuple(map(len, places)), dtype=np.bool_)
    tree = form.tree
    for leaf in tree.leaves.tolist():
        own: tuple[list[int], list[int]] = ([], [])
        node = leaf
        while node > 0:
            node = int(tree.parent[node])
            if tree.owner[node] >= 0:
                owner = int(tree.owner[node])
                infoset = int(tree.infoset[node])
                own[owner].append(places[owner][infoset])
        met[np.ix_(*own)] = True
    return met


def is_triangle_free(form: SequenceForm) -> bool:
    """Return whether no two information sets of each player meet in a triangle.

    Each pair comes after the same own sequence. In a triangle the first meets both of the other's,
    the second one of them.
    """
    met = find_meetings(form)
    groups = []
    for plex in form.plexes:
        together = _group(plex.parent, plex.num_sequences)
        groups.append([places for places in together if len(places) > 1])
    for rows in groups[0]:
        for columns in groups[1]:
            block = met[np.ix_(rows, columns)]
            several = (block.sum(axis=1, keepdims=True) > 1) & (block.sum(axis=0) > 1)
            if (block & several).any():
                return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class _Constraints:
    """What advice must fulfil, over the variables of the mediator and the values of deviations."""

    above: csr_array
    limits: Array
    equal: csr_array
    totals: Array
    bounds: Array

    def minimise(self, cost: Array, deadline: Deadline) -> Array:
        """Find the point of least cost."""
        answer = solve_program(
            cost=cost,
            above=self.above,
            limits=self.limits,
            equal=self.equal,
            totals=self.totals,
            bounds=self.bounds,
            deadline=deadline,
        )
        if answer is None:
            raise NotCertified("the program of the mediator was found to have no solution")
        return answer[0]

    def add_rows(self, rows: csr_array, limits: Array) -> _Constraints:
        """Add further rows that may not exceed their limits."""
        sparse = load_sparse()
        above = sparse.vstack([self.above, rows], format="csr")
        return replace(self, above=above, limits=np.concatenate([self.limits, limits]))

    def add_column(self) -> _Constraints:
        """Add a free variable that is in no row yet."""
        above, equal = (_widen(matrix, 1) for matrix in (self.above, self.equal))
        bounds = np.vstack([self.bounds, [(-np.inf, np.inf)]])
        return replace(self, above=above, equal=equal, bounds=bounds)


def _widen(matrix: csr_array, columns: int) -> csr_array:
    """Put empty columns behind a matrix."""
    sparse = load_sparse()
    empty = sparse.csr_array((matrix.shape[0], columns))
    wider: csr_array = sparse.hstack([matrix, empty], format="csr")
    return wider


def solve_weights(
    program: MediatorProgram,
    weights: MediatorWeights,
    objective: Objective,
    deadline: Deadline,
) -> TreeCorrelation:
    """Solve the program for given variables, and certify the answer from its masses."""
    sparse = load_sparse()
    size = weights.masses.shape[1]
    deviations = program.by_value.shape[1]
    above = sparse.hstack([program.by_mass @ weights.masses, program.by_value], format="csr")
    lower = np.concatenate([np.zeros(size), np.full(deviations, -np.inf)])
    upper = np.full(size + deviations, np.inf)
    constraints = _Constraints(
        above=above,
        limits=np.zeros(above.shape[0]),
        equal=_widen(weights.equal, deviations),
        totals=weights.totals,
        bounds=np.stack([lower, upper], axis=1),
    )
    scale = float(program.units.max())
    by_weight = program.weigh_leaves() @ weights.masses
    earned = _widen(by_weight / scale, deviations)
    cost = np.zeros(size + deviations)
    if objective != "any":
        cost = -np.asarray(earned.sum(axis=0), dtype=np.float64).ravel()
    if objective == "fairness":
        lowest = _find_lowest(constraints, earned, deadline)
        floors = np.full(program.form.num_players, _FLOOR_SLACK - lowest)
        constraints = constraints.add_rows(-earned, floors)
    point = constraints.minimise(cost, deadline)[:size]
    return _certify(program, weights, np.clip(point, 0.0, None), objective)


def _find_lowest(constraints: _Constraints, earned: csr_array, deadline: Deadline) -> float:
    """Find the largest payoff that everybody can be given.

    It is a variable that nobody earns less than.
    """
    sparse = load_sparse()
    players = earned.shape[0]
    shared = sparse.csr_array(np.ones((players, 1)))
    floors = sparse.hstack([-earned, shared], format="csr")
    wider = constraints.add_column().add_rows(floors, np.zeros(players))
    cost = np.zeros(floors.shape[1])
    cost[-1] = -1.0
    return float(wider.minimise(cost, deadline)[-1])


def _certify(
    program: MediatorProgram,
    weights: MediatorWeights,
    point: Array,
    objective: Objective,
) -> TreeCorrelation:
    form = program.form
    if weights.names:
        point = point / point.sum()
    masses = weights.masses @ point
    gains = program.find_gains(masses)
    units = [program.units[trigger.player] for trigger in program.triggers]
    relative = gains / np.array(units)
    worst = float(relative.max(initial=0.0))
    if worst > VIOLATION_LIMIT:
        raise NotCertified(
            f"the mediator's advice that was found leaves somebody {worst:.1e} of its payoff range"
            f" to gain by disobeying, more than {VIOLATION_LIMIT:g}; try another objective"
        )
    payoffs = program.weigh_leaves() @ masses
    value = payoffs.min() if objective == "fairness" else payoffs.sum()
    tree = form.tree
    at_leaves = masses[program.at_leaves][form.merged_leaves]
    return TreeCorrelation(
        tree=tree,
        outcomes=at_leaves * tree.reach[tree.leaves],
        payoffs=payoffs,
        objective=objective,
        value=float(value),
        coarse=program.coarse,
        gain=float(gains.max(initial=0.0)),
        drawn=_list_drawn(weights, point),
        method=weights.method,
    )


def _list_drawn(weights: MediatorWeights, point: Array) -> tuple[DrawnPlans, ...]:
    """List the profiles of plans that are drawn, the likeliest first."""
    if not weights.names:
        return ()
    shape = tuple(map(len, weights.names))
    drawn = []
    for cell in np.flatnonzero(point > _DRAWN):
        plans = np.unravel_index(cell, shape)
        names = tuple(listed[k] for listed, k in zip(weights.names, plans, strict=True))
        drawn.append(DrawnPlans(float(point[cell]), names))
    return tuple(sorted(drawn, key=lambda one: -one.probability))
