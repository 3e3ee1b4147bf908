"""What survives elimination, how many equilibria there are, what paths equilibria follow: against
brute force that shares nothing with the product."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.oracles.equilibria_by_supports import find_all

from bestresponse.formal.claims.checker import Checker
from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.form import Mix, Move
from bestresponse.formal.claims.subject import Subject
from bestresponse.logic.engine import Verdict
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Chance, Leaf, Tree, Turn, build_tree


def judge(subject: Subject, form: str, *args: object) -> Verdict:
    return Checker(subject).check(Claim(form, args)).verdict  # type: ignore[arg-type]


def said(*, holds: bool) -> Verdict:
    return Verdict.PROVED if holds else Verdict.REFUTED


def is_dominated(leads: np.ndarray) -> bool:
    """Whether some mix of rows is above 0 in every column: maximise the least of its means."""
    rows, columns = leads.shape
    found = linprog(
        [0] * rows + [-1],
        A_ub=np.hstack([-leads.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=[[1] * rows + [0]],
        b_eq=[1],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    return bool(-found.fun > 1e-9)


def eliminate(tables: list[np.ndarray]) -> list[list[int]]:
    """What is left of the rows and the columns of two players, one dominated choice at a time."""
    own = [tables[0], tables[1].T]
    kept = [list(range(len(table))) for table in own]
    while True:
        for player, action in [(i, a) for i in (0, 1) for a in kept[i]]:
            rest = own[player][np.ix_(kept[player], kept[1 - player])]
            if is_dominated(rest - own[player][action, kept[1 - player]]):
                kept[player].remove(action)
                break
        else:
            return kept


def test_what_survives_and_what_a_mix_dominates_agree_with_linear_programs() -> None:
    rng = np.random.default_rng(5)
    counts: Counter[Verdict] = Counter()
    for _ in range(60):
        tables = list(rng.integers(0, 6, (2, 3, 3)).astype(float))
        subject = Subject(NormalForm(np.array(tables)))
        kept = eliminate(tables)
        for player, who in enumerate(subject.players):
            own = tables[0] if player == 0 else tables[1].T
            for index, action in enumerate(subject.actions[player]):
                survives = judge(subject, "survives_elimination", action, who)
                assert survives is said(holds=index in kept[player])
                dominated = judge(subject, "strictly_dominated_by_some_mix", action, who)
                assert dominated is said(holds=is_dominated(own - own[index]))
                counts[survives] += 1
        outcome = tuple(
            Move(who, subject.actions[player][kept[player][0]])
            for player, who in enumerate(subject.players)
        )
        solved = all(len(left) == 1 for left in kept)
        assert judge(subject, "only_survivor", outcome) is said(holds=solved)
    assert min(counts.values()) > 60


@pytest.mark.parametrize(
    ("share", "expected"),
    # Half on each row pays (3, 3); with 1/4 on the first, 6/4 in the first column is under 2.
    [("1/2", Verdict.PROVED), ("1/4", Verdict.REFUTED), ("1/3", Verdict.REFUTED)],
)
def test_a_mix_dominates_where_it_earns_more_in_every_column(share, expected) -> None:
    game = NormalForm.bimatrix(
        [[6, 0], [0, 6], [2, 2]], np.zeros((3, 2)), actions=(("A", "B", "C"), ("L", "R"))
    )
    first = Fraction(share)
    mix = (Mix("you", (("A", first), ("B", 1 - first))),)
    assert judge(Subject(game), "strictly_dominated_by_mix", "C", mix, "you") is expected
    assert judge(Subject(game, 1), "strictly_dominated_by_mix", "L", mix, "you") is Verdict.UNKNOWN


def test_equilibria_are_counted_as_supports_count_them() -> None:
    rng = np.random.default_rng(6)
    counted: Counter[int] = Counter()
    for _ in range(40):
        rows, columns = rng.integers(-9, 10, (2, 3, 3)).tolist()
        exact = [[[Fraction(u) for u in row] for row in table] for table in (rows, columns)]
        found = find_all(*exact)
        if found is None:
            continue
        subject = Subject(NormalForm.bimatrix(rows, columns))
        for number in (len(found), len(found) + 1):
            expected = said(holds=number == len(found))
            assert judge(subject, "equilibria", Fraction(number)) is expected
        counted[len(found)] += 1
    assert len(counted) > 1
    # Who does not care what the other one does has more equilibria than any number.
    assert judge(Subject(NormalForm(np.zeros((2, 2, 2)))), "equilibria", Fraction(4)) is (
        Verdict.REFUTED
    )


def draw_tree(rng: np.random.Generator) -> Tree:
    def expand(path: str) -> Leaf | Chance | Turn:
        kind = int(rng.integers(6)) if path else 1
        if len(path) == 3 or kind == 0:
            return Leaf([float(u) for u in rng.integers(0, 4, 2)])
        if kind == 5:
            return Chance({"heads": (0.5, path + "h"), "tails": (0.5, path + "t")})
        return Turn(("Ann", "Bob")[kind % 2], path or "start", {"x": path + "x", "y": path + "y"})

    return build_tree(("Ann", "Bob"), "", expand, name="drawn")


def walk(tree: Tree, node: int, plan: dict[int, int]) -> dict[int, float]:
    """The ends that a plan for every decision leads to, with their probabilities."""
    below = tree.children[node]
    if not below:
        return {node: 1.0}
    if node in plan:
        return walk(tree, below[plan[node]], plan)
    ends: dict[int, float] = {}
    for child in below:
        for end, chance in walk(tree, child, plan).items():
            ends[end] = float(tree.probability[child]) * chance
    return ends


def pays(tree: Tree, node: int, seat: int, plan: dict[int, int]) -> float:
    return sum(
        chance * float(tree.payoffs[end][seat]) for end, chance in walk(tree, node, plan).items()
    )


def is_stable(tree: Tree, node: int, plan: dict[int, int], nodes: list[int]) -> bool:
    """Whether nobody gains from a node on by any other plan of their own."""
    for seat in (0, 1):
        own = [place for place in nodes if tree.owner[place] == seat]
        for moves in product((0, 1), repeat=len(own)):
            changed = plan | dict(zip(own, moves, strict=True))
            if pays(tree, node, seat, changed) > pays(tree, node, seat, plan) + 1e-9:
                return False
    return True


def list_ends(tree: Tree) -> tuple[set[frozenset[int]], set[frozenset[int]]]:
    """Where the pure Nash equilibria end, and where the subgame perfect ones do."""
    nodes = [node for node in range(tree.num_nodes) if tree.owner[node] >= 0]
    nash, perfect = set(), set()
    for moves in product((0, 1), repeat=len(nodes)):
        plan = dict(zip(nodes, moves, strict=True))
        if is_stable(tree, 0, plan, nodes):
            nash.add(frozenset(walk(tree, 0, plan)))
            if all(is_stable(tree, node, plan, nodes) for node in nodes):
                perfect.add(frozenset(walk(tree, 0, plan)))
    return nash, perfect


def name_path(subject: Subject, tree: Tree, end: int) -> tuple[Move, ...]:
    moves: list[Move] = []
    while end > 0:
        above = int(tree.parent[end])
        if tree.owner[above] >= 0:
            who = subject.players[subject.order.index(int(tree.owner[above]))]
            moves.insert(0, Move(who, tree.branch_labels[end]))
        end = above
    return tuple(moves)


def test_paths_of_equilibria_agree_with_all_plans() -> None:
    rng = np.random.default_rng(7)
    counts: Counter[tuple[str, Verdict]] = Counter()
    for number in range(60):
        tree = draw_tree(rng)
        if (tree.owner >= 0).sum() > 6:
            continue
        subject = Subject(tree, number % 2)
        nash, perfect = list_ends(tree)
        paths: dict[tuple[Move, ...], set[int]] = {}
        for end in tree.leaves.tolist():
            paths.setdefault(name_path(subject, tree, end), set()).add(end)
        for path, claimed in paths.items():
            for form, found in (
                ("equilibrium_outcome", nash),
                ("subgame_perfect_outcome", perfect),
            ):
                verdict = judge(subject, form, path)
                counts[form, verdict] += 1
                if verdict is Verdict.UNKNOWN:
                    # A draw leads to other decisions, or several paths are perfect.
                    drawn = any(len(ends) > 1 for ends in found)
                    assert drawn or len(found) > 1 or (tree.owner == -1).any()
                    continue
                assert (verdict is Verdict.PROVED) is any(claimed <= ends for ends in found), form
    for form in ("equilibrium_outcome", "subgame_perfect_outcome"):
        assert counts[form, Verdict.PROVED] > 15
        assert counts[form, Verdict.REFUTED] > 30
