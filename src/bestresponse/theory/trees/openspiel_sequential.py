"""The short way from an OpenSpiel game in which one player moves at a time to a tree.

Positions are visited in blocks, of which only owner, information set and payoffs are noted; parents, moves, labels and
probabilities follow from what the information sets and draws offer, for all nodes at once. What remains of the time is
that of OpenSpiel's own functions. The answer is the tree that `build_tree` grows.
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
from bestresponse.theory.trees.tree import CHANCE, LEAF, Infoset, IntArray, Tree, TreeRationals

__all__ = ["grow_sequential", "read_chances"]

_BLOCK = 1024
_SUM_TOLERANCE = 1e-9


@dataclass(slots=True)
class _Visited:
    """The nodes in the order in which they were visited.

    `first` says where a node's branches begin in `labels` and `chances`, in which all branches that information sets
    and draws offer are written down one after another; nodes of an information set share them.
    """

    parent: list[IntArray] = field(default_factory=list)
    move: list[IntArray] = field(default_factory=list)
    depth: list[IntArray] = field(default_factory=list)
    owner: array[int] = field(default_factory=lambda: array("q"))
    infoset: array[int] = field(default_factory=lambda: array("q"))
    first: array[int] = field(default_factory=lambda: array("q"))
    payoffs: array[float] = field(default_factory=lambda: array("d"))
    labels: list[str] = field(default_factory=list)
    chances: list[float | Fraction] = field(default_factory=list)
    infosets: list[Infoset] = field(default_factory=list)
    actions: list[list[int]] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    known: dict[tuple[int, str], int] = field(default_factory=dict)


def grow_sequential(game: Any, players: tuple[str, ...], limit: int) -> Tree:
    """Grow the tree of a sequential game; TooLarge where it has more than `limit` nodes or takes too much memory."""
    seen, guard = _Visited(), MemoryGuard(limit)
    origin = np.full(1, -1, dtype=np.int64)
    waiting: list[tuple[list[Any], IntArray, IntArray, int]] = [([game.new_initial_state()], origin, origin, 0)]
    number = 1
    while waiting:
        states, parent, move, depth = waiting.pop()
        node = len(seen.owner)
        if node + number > limit:
            raise TooLarge(
                f"the tree has more than {limit} nodes: stopped after {node} with {number} more positions "
                "found; raise the limit or solve a smaller version of the game"
            )
        guard.measure(node)
        seen.parent.append(parent)
        seen.move.append(move)
        seen.depth.append(np.full(len(states), depth))
        children, counts = _visit(seen, states)
        number += len(children) - len(states)
        above = np.repeat(np.arange(node, node + len(states)), counts)
        which = np.arange(len(children)) - np.repeat(np.cumsum(counts) - counts, counts)
        for start in range(len(children) - 1 - (len(children) - 1) % _BLOCK, -1, -_BLOCK):
            part = slice(start, start + _BLOCK)
            waiting.append((children[part], above[part], which[part], depth + 1))
    return _as_tree(seen, players, str(game))


def _visit(seen: _Visited, states: list[Any]) -> tuple[list[Any], IntArray]:
    """Note what stands at some positions; return those behind them, and how many are behind each."""
    children: list[Any] = []
    counts: list[int] = []
    for state in states:
        player = state.current_player()
        if player >= 0:
            key = state.information_state_string(player)
            actions = state.legal_actions()
            which = seen.known.get((player, key))
            if which is None:
                which = _add_infoset(seen, state, player, key, actions)
            elif seen.actions[which] != actions:
                raise InvalidGame(f"the information set {key!r} offers different moves at two of its nodes")
            seen.owner.append(player)
            seen.infoset.append(which)
            seen.first.append(seen.begins[which])
        elif state.is_terminal():
            seen.owner.append(LEAF)
            seen.infoset.append(-1)
            seen.first.append(-1)
            seen.payoffs.extend(state.returns())
            counts.append(0)
            continue
        else:
            seen.owner.append(CHANCE)
            seen.infoset.append(-1)
            seen.first.append(len(seen.labels))
            actions = _add_draw(seen, state)
        counts.append(len(actions))
        last = actions[-1]
        for action in actions:
            if action != last:
                children.append(state.child(action))
        state.apply_action(last)
        children.append(state)
    return children, np.array(counts, dtype=np.int64)


def _add_infoset(seen: _Visited, state: Any, player: int, key: str, actions: list[int]) -> int:
    if not actions:
        raise InvalidGame(f"player {player + 1} has no move at the information set {key!r}")
    moves = tuple(number_repeats(state.action_to_string(player, action) for action in actions))
    which = seen.known[player, key] = len(seen.infosets)
    seen.infosets.append(Infoset(player, key or "start", key or "start", moves))
    seen.actions.append(actions)
    seen.begins.append(len(seen.labels))
    seen.labels.extend(moves)
    seen.chances.extend([1.0] * len(moves))
    return which


def _add_draw(seen: _Visited, state: Any) -> list[int]:
    """Note the branches of chance and return its outcomes."""
    outcomes = state.chance_outcomes()
    total = sum(p for _, p in outcomes)
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise InvalidGame(f"the probabilities of chance sum to {total:.12g}; expected 1")
    player = state.current_player()
    seen.labels.extend(number_repeats(state.action_to_string(player, action) for action, _ in outcomes))
    seen.chances.extend(read_chances([p for _, p in outcomes]))
    return [action for action, _ in outcomes]


def read_chances(given: Sequence[float]) -> Sequence[float | Fraction]:
    """Return the simplest fractions of floats, where these sum to 1 as probabilities do, else the floats.

    >>> read_chances([1 / 3, 2 / 3])
    [Fraction(1, 3), Fraction(2, 3)]
    """
    near = [read_simplest(p) for p in given]
    return near if sum(near) == 1 else given


def _find_preorder(parent: IntArray, depth: IntArray) -> IntArray:
    """Find where each node stands in preorder; siblings are next to each other among the nodes of their depth."""
    order = np.argsort(depth, kind="stable")
    levels = np.split(order, np.cumsum(np.bincount(depth))[:-1])
    size = np.ones(len(parent), dtype=np.int64)
    for nodes in levels[:0:-1]:
        np.add.at(size, parent[nodes], size[nodes])
    place = np.zeros(len(parent), dtype=np.int64)
    for nodes in levels[1:]:
        before = np.cumsum(size[nodes]) - size[nodes]
        eldest = np.flatnonzero(np.diff(parent[nodes], prepend=-1))
        families = np.diff(np.append(eldest, len(nodes)))
        place[nodes] = place[parent[nodes]] + 1 + before - np.repeat(before[eldest], families)
    return place


def _as_tree(seen: _Visited, players: tuple[str, ...], name: str) -> Tree:
    parent, move = np.concatenate(seen.parent), np.concatenate(seen.move)
    place = _find_preorder(parent, np.concatenate(seen.depth))
    order = np.argsort(place)
    owner, infoset = np.array(seen.owner)[order], np.array(seen.infoset)[order]
    payoffs = np.zeros((len(order), len(players)))
    payoffs[place[np.array(seen.owner) == LEAF]] = np.array(seen.payoffs).reshape(-1, len(players))
    branch = (np.array(seen.first)[parent] + move)[order]
    parent, move = np.append(place, -1)[parent[order]], move[order]
    drawn = 1 + np.flatnonzero(owner[parent[1:]] == CHANCE)
    chances = [seen.chances[b] for b in branch[drawn].tolist()]
    probability = np.ones(len(order))
    probability[drawn] = chances
    exact = are_meant(payoffs) and all(isinstance(p, Fraction) for p in chances)
    infoset, infosets = _sort_infosets(infoset, seen.infosets)
    return Tree(
        players=players,
        parent=parent,
        move=move,
        owner=owner,
        infoset=infoset,
        probability=probability,
        payoffs=payoffs,
        infosets=infosets,
        branch_labels=("", *[seen.labels[b] for b in branch[1:].tolist()]),
        name=name,
        rationals=TreeRationals({}, dict(zip(drawn.tolist(), chances, strict=True))) if exact and chances else None,
    )


def _sort_infosets(infoset: IntArray, infosets: list[Infoset]) -> tuple[IntArray, tuple[Infoset, ...]]:
    """Number the information sets by their first nodes."""
    turns = infoset[infoset >= 0]
    which, first = np.unique(turns, return_index=True)
    order = which[np.argsort(first)]
    number = np.full(len(infosets) + 1, -1, dtype=np.int64)
    number[order] = np.arange(len(order))
    return number[infoset], tuple(infosets[k] for k in order.tolist())
