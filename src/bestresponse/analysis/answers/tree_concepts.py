"""Solution concepts of trees by name: equilibria that hold off the path of play too."""

from __future__ import annotations

from collections.abc import Sequence

from bestresponse.analysis.answers.answer import Answer, Data, Question, Setting, Values
from bestresponse.analysis.solve.words import number_text, regret_text
from bestresponse.report.document import Block, Cell, Column, Note, Table
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.perfection.sequential import find_sequential
from bestresponse.theory.trees.perfection.subgame_perfect import solve_subgames
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.tree import Tree

__all__ = ["TREE_CONCEPTS"]

_POLICIES = 5
_ROWS = 60
_SHOWN = 5e-7


def _list_policy(policy: Policy, caption: str) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (who, label, " + ".join(_write_move(move, p) for move, p in moves.items() if p > _SHOWN))
        for who, sets in policy.table().items()
        for label, moves in sets.items()
    ]
    return Table((Column("player"), Column("information set"), Column("plays")), tuple(rows[:_ROWS]), caption)


def _write_move(move: str, probability: float) -> str:
    return move if probability > 1 - _SHOWN else f"{number_text(probability)} {move}"


def _name_payoffs(tree: Tree, payoffs: Sequence[float]) -> dict[str, float]:
    return dict(zip(tree.players, payoffs, strict=True))


def _solve_subgames(tree: Tree, values: Values) -> Answer:
    found = solve_subgames(tree, int(values["limit"]))
    equilibria = [
        {"payoffs": _name_payoffs(tree, payoffs.tolist()), "policy": policy.table()}
        for policy, payoffs in zip(found.policies, found.payoffs, strict=True)
    ]
    data: Data = {
        "method": "subgames from the last to the first",
        "complete": found.complete,
        "subgames": found.num_subgames,
        "equilibria": equilibria,
    }
    extent = "all of them, up to the sets they span" if found.complete else "not necessarily all of them"
    counts = f"subgames: {found.num_subgames:,}, equilibria: {len(equilibria):,}"
    note = Note(f"Method: {data['method']}; {counts}, {extent}.")
    columns = (Column("#", "right"), *(Column(f"payoff of {who}", "right") for who in tree.players))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (k, *(number_text(u) for u in payoffs.tolist())) for k, payoffs in enumerate(found.payoffs[:_ROWS], start=1)
    )
    tables = (_list_policy(policy, f"Policy {k}") for k, policy in enumerate(found.policies[:_POLICIES], start=1))
    blocks: tuple[Block, ...] = (note, Table(columns, rows, "Subgame perfect equilibria"), *tables)
    return Answer(data, blocks)


def _solve_sequentially(tree: Tree, values: Values) -> Answer:
    found = find_sequential(tree)
    beliefs = {
        (tree.players[one.player], one.label): _name_beliefs(tree, k, found.beliefs)
        for k, one in enumerate(tree.infosets)
    }
    data: Data = {
        "method": "exact limit of small mistakes (quasi-perfect), sequence-form LCP",
        "payoffs": found.payoffs,
        "gap": found.gap,
        "policy": found.policy.table(),
        "beliefs": [{"player": who, "information_set": label, "nodes": at} for (who, label), at in beliefs.items()],
    }
    note = Note(
        f"Method: {data['method']}. In rational numbers nobody could gain more than {regret_text(found.gap)} at any "
        "information set, given the beliefs."
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (who, label, path, belief)
        for (who, label), nodes in beliefs.items()
        if len(nodes) > 1
        for path, belief in nodes.items()
    )
    columns = (Column("player"), Column("information set"), Column("after"), Column("belief", "right", format=".4g"))
    shown: tuple[Block, ...] = (Table(columns, rows[:_ROWS], "Beliefs"),) if rows else ()
    return Answer(data, (note, _list_policy(found.policy, "Policy"), *shown))


def _name_beliefs(tree: Tree, infoset: int, beliefs: Array) -> dict[str, float]:
    nodes = (tree.infoset == infoset).nonzero()[0].tolist()
    return {tree.path(node): float(beliefs[node]) for node in nodes}


TREE_CONCEPTS: tuple[Question[Tree], ...] = (
    Question(
        "subgame-perfect",
        "Equilibria of every subgame, with hidden and simultaneous moves, mixed ones too",
        _solve_subgames,
        (Setting("limit", 200, "how many equilibria are listed at most"),),
    ),
    Question("sequential", "An equilibrium with beliefs that holds at every information set", _solve_sequentially),
)
"""All concepts that can be asked for by name, of a tree only."""
