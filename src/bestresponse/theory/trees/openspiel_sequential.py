"""The short way from an OpenSpiel game in which one player moves at a time to a tree.

Nodes go straight into arrays, and what an information set offers is named once, not at each of its nodes; the answer
is the tree that `build_tree` grows, in half of the time.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.files.game_text import number_repeats
from bestresponse.theory.games.rationals import are_meant, read_simplest
from bestresponse.theory.trees.memory import MemoryGuard
from bestresponse.theory.trees.tree import CHANCE, LEAF, Infoset, Tree, TreeRationals

__all__ = ["grow_sequential", "read_chances"]

_SUM_TOLERANCE = 1e-9


@dataclass(slots=True)
class _Arrays:
    """The rows of a tree while it grows, and what is known of its information sets."""

    parent: array[int] = field(default_factory=lambda: array("q"))
    move: array[int] = field(default_factory=lambda: array("q"))
    owner: array[int] = field(default_factory=lambda: array("q"))
    infoset: array[int] = field(default_factory=lambda: array("q"))
    probability: array[float] = field(default_factory=lambda: array("d"))
    payoffs: array[float] = field(default_factory=lambda: array("d"))
    labels: list[str] = field(default_factory=list)
    infosets: list[Infoset] = field(default_factory=list)
    actions: list[list[int]] = field(default_factory=list)
    known: dict[tuple[int, str], int] = field(default_factory=dict)
    chances: dict[int, Fraction] = field(default_factory=dict)
    """The simple fractions that the probabilities of branches stand for."""


def grow_sequential(game: Any, players: tuple[str, ...], limit: int) -> Tree:
    """Grow the tree of a sequential game; TooLarge where it has more than `limit` nodes or takes too much memory."""
    rows, guard = _Arrays(), MemoryGuard(limit)
    nothing = (0.0,) * len(players)
    stack: list[tuple[Any, int, int, float | Fraction, str]] = [(game.new_initial_state(), -1, -1, 1.0, "")]
    while stack:
        state, parent, move, chance, label = stack.pop()
        node = len(rows.labels)
        if node + len(stack) >= limit:
            raise TooLarge(
                f"the tree has more than {limit} nodes: stopped after {node} with {len(stack) + 1} more positions "
                "found; raise the limit or solve a smaller version of the game"
            )
        guard.check(node)
        rows.parent.append(parent)
        rows.move.append(move)
        rows.probability.append(float(chance))
        if isinstance(chance, Fraction):
            rows.chances[node] = chance
        rows.labels.append(label)
        player = state.current_player()
        if player >= 0:
            which = _find_infoset(rows, state, player)
            rows.owner.append(player)
            rows.infoset.append(which)
            rows.payoffs.extend(nothing)
            moves, actions = rows.infosets[which].moves, rows.actions[which]
            for k in range(len(actions) - 1, -1, -1):
                stack.append((state.child(actions[k]), node, k, 1.0, moves[k]))
            continue
        rows.infoset.append(-1)
        if state.is_terminal():
            rows.owner.append(LEAF)
            rows.payoffs.extend(state.returns())
            continue
        rows.owner.append(CHANCE)
        rows.payoffs.extend(nothing)
        stack += [(after, node, k, p, text) for k, (after, p, text) in _draw_branches(state)]
    return _as_tree(rows, players, str(game))


def _find_infoset(rows: _Arrays, state: Any, player: int) -> int:
    key = state.information_state_string(player)
    found = rows.known.get((player, key))
    if found is not None:
        if rows.actions[found] != state.legal_actions():
            raise InvalidGame(f"the information set {key!r} offers different moves at two of its nodes")
        return found
    actions = state.legal_actions()
    moves = tuple(number_repeats(state.action_to_string(player, action) for action in actions))
    found = rows.known[player, key] = len(rows.infosets)
    rows.infosets.append(Infoset(player, key or "start", key or "start", moves))
    rows.actions.append(actions)
    return found


def read_chances(given: Sequence[float]) -> Sequence[float | Fraction]:
    """Return the simplest fractions of floats, where these sum to 1 as probabilities do, else the floats.

    >>> read_chances([1 / 3, 2 / 3])
    [Fraction(1, 3), Fraction(2, 3)]
    """
    near = [read_simplest(p) for p in given]
    return near if sum(near) == 1 else given


def _draw_branches(state: Any) -> list[tuple[int, tuple[Any, float | Fraction, str]]]:
    """The branches of chance, numbered, the last first."""
    outcomes = state.chance_outcomes()
    labels = number_repeats(state.action_to_string(state.current_player(), action) for action, _ in outcomes)
    if abs(sum(p for _, p in outcomes) - 1.0) > _SUM_TOLERANCE:
        raise InvalidGame(f"the probabilities of chance sum to {sum(p for _, p in outcomes):.12g}; expected 1")
    chances = read_chances([p for _, p in outcomes])
    found = zip(outcomes, chances, labels, strict=True)
    branches = [(state.child(action), p, label) for (action, _), p, label in found]
    return list(enumerate(branches))[::-1]


def _as_tree(rows: _Arrays, players: tuple[str, ...], name: str) -> Tree:
    payoffs = np.array(rows.payoffs, dtype=np.float64).reshape(len(rows.labels), len(players))
    drawn = sum(rows.owner[parent] == CHANCE for parent in rows.parent[1:])
    exact = len(rows.chances) == drawn and are_meant(payoffs)
    return Tree(
        players=players,
        parent=np.array(rows.parent, dtype=np.int64),
        move=np.array(rows.move, dtype=np.int64),
        owner=np.array(rows.owner, dtype=np.int64),
        infoset=np.array(rows.infoset, dtype=np.int64),
        probability=np.array(rows.probability, dtype=np.float64),
        payoffs=payoffs,
        infosets=tuple(rows.infosets),
        branch_labels=tuple(rows.labels),
        name=name,
        rationals=TreeRationals({}, rows.chances) if exact and rows.chances else None,
    )
