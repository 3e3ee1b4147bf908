"""The short way from an OpenSpiel game in which one player moves at a time to a tree.

Each position is asked as little as possible, because the calls take most of the time: what an information set offers
is named once, the last move is made in the position itself instead of a copy, and whatever follows from the parents
and places of the nodes is computed at the end. The answer is the tree that `build_tree` grows.
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
from bestresponse.theory.trees.memory import CHECK_EVERY, MemoryGuard
from bestresponse.theory.trees.tree import CHANCE, LEAF, Infoset, IntArray, Tree, TreeRationals

__all__ = ["grow_sequential", "read_chances"]

_SUM_TOLERANCE = 1e-9
_OVER = -4
"""What OpenSpiel calls the player to move when a game is over (`pyspiel.PlayerId.TERMINAL`)."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the walk keeps: rows for nodes in preorder, the payoffs of leaves, the draws of chance, information sets."""

    known: tuple[dict[str, int], ...]
    """For each player: the information sets by name."""
    parent: list[int] = field(default_factory=list)
    move: list[int] = field(default_factory=list)
    place: list[int] = field(default_factory=list)
    """The information set of a decision, else CHANCE or LEAF."""
    payoffs: array[float] = field(default_factory=lambda: array("d"))
    draws: list[tuple[str, float | Fraction]] = field(default_factory=list)
    num_draws: list[int] = field(default_factory=list)
    infosets: list[Infoset] = field(default_factory=list)
    actions: list[list[int]] = field(default_factory=list)


def grow_sequential(game: Any, players: tuple[str, ...], limit: int) -> Tree:
    """Grow the tree of a sequential game; TooLarge where it has more than `limit` nodes or takes too much memory."""
    rows, guard = _Rows(tuple({} for _ in players)), MemoryGuard(limit)
    known, offered = rows.known, rows.actions
    add_parent, add_move, add_place = rows.parent.append, rows.move.append, rows.place.append
    add_payoffs = rows.payoffs.extend
    stack = [(game.new_initial_state(), -1, -1)]
    for node in range(limit + 1):
        if not stack:
            return _as_tree(rows, players, str(game))
        if not node % CHECK_EVERY:
            guard.check(node)
        state, parent, move = stack.pop()
        add_parent(parent)
        add_move(move)
        player = state.current_player()
        if player == _OVER:
            add_place(LEAF)
            add_payoffs(state.returns())
            continue
        if player >= 0:
            actions, key = state.legal_actions(), state.information_state_string()
            place = known[player].get(key)
            if place is None:
                place = _add_infoset(rows, state, player, key, actions)
            elif offered[place] != actions:
                raise InvalidGame(f"the information set {key!r} offers different moves at two of its nodes")
        else:
            place, actions = CHANCE, _add_draw(rows, state)
        add_place(place)
        last = len(actions) - 1
        stack.append((state, node, last))
        for k in range(last - 1, -1, -1):
            stack.append((state.child(actions[k]), node, k))
        state.apply_action(actions[last])
        if node + len(stack) >= limit:
            break
    raise TooLarge(
        f"the tree has more than {limit} nodes: stopped after {node + 1} with {len(stack)} more positions "
        "found; raise the limit or solve a smaller version of the game"
    )


def _add_infoset(rows: _Rows, state: Any, player: int, key: str, actions: list[int]) -> int:
    if not actions:
        raise InvalidGame(f"the information set {key!r} offers no move")
    moves = tuple(number_repeats([state.action_to_string(player, action) for action in actions]))
    place = rows.known[player][key] = len(rows.infosets)
    rows.infosets.append(Infoset(player, key or "start", key or "start", moves))
    rows.actions.append(actions)
    return place


def _add_draw(rows: _Rows, state: Any) -> list[int]:
    """Keep what chance draws at a position, and list the actions that stand for it."""
    outcomes = state.chance_outcomes()
    labels = number_repeats(state.action_to_string(state.current_player(), action) for action, _ in outcomes)
    if abs(sum(p for _, p in outcomes) - 1.0) > _SUM_TOLERANCE:
        raise InvalidGame(f"the probabilities of chance sum to {sum(p for _, p in outcomes):.12g}; expected 1")
    rows.draws.extend(zip(labels, read_chances([p for _, p in outcomes]), strict=True))
    rows.num_draws.append(len(outcomes))
    return [action for action, _ in outcomes]


def read_chances(given: Sequence[float]) -> Sequence[float | Fraction]:
    """Return the simplest fractions of floats, where these sum to 1 as probabilities do, else the floats.

    >>> read_chances([1 / 3, 2 / 3])
    [Fraction(1, 3), Fraction(2, 3)]
    """
    near = [read_simplest(p) for p in given]
    return near if sum(near) == 1 else given


def _as_tree(rows: _Rows, players: tuple[str, ...], name: str) -> Tree:
    parent, move, place = (np.array(each, dtype=np.int64) for each in (rows.parent, rows.move, rows.place))
    owner, decides = place.copy(), place >= 0
    owner[decides] = np.array([one.player for one in rows.infosets], dtype=np.int64)[place[decides]]
    payoffs = np.zeros((len(place), len(players)))
    payoffs[place == LEAF] = np.array(rows.payoffs).reshape(-1, len(players))
    branch = _number_branches(rows, place)[parent[1:]] + move[1:]
    labels = [text for text, _ in rows.draws] + [text for one in rows.infosets for text in one.moves]
    drawn = np.flatnonzero(place[parent[1:]] == CHANCE)
    chances = [rows.draws[k][1] for k in branch[drawn].tolist()]
    probability = np.ones(len(place))
    probability[drawn + 1] = [float(p) for p in chances]
    fractions = {node: p for node, p in zip((drawn + 1).tolist(), chances, strict=True) if isinstance(p, Fraction)}
    exact = len(fractions) == len(drawn) and are_meant(payoffs)
    return Tree(
        players=players,
        parent=parent,
        move=move,
        owner=owner,
        infoset=np.maximum(place, -1),
        probability=probability,
        payoffs=payoffs,
        infosets=tuple(rows.infosets),
        branch_labels=("", *np.array(labels, dtype=object)[branch]),
        name=name,
        rationals=TreeRationals({}, fractions) if exact and fractions else None,
    )


def _number_branches(rows: _Rows, place: IntArray) -> IntArray:
    """Say for each node where its branches begin when those of chance are written first and then those of players."""
    sizes = [*rows.num_draws, *(len(one.moves) for one in rows.infosets)]
    first = np.cumsum([0, *sizes], dtype=np.int64)[:-1]
    begin = np.zeros(len(place), dtype=np.int64)
    begin[place >= 0] = first[len(rows.num_draws) + place[place >= 0]]
    begin[place == CHANCE] = first[: len(rows.num_draws)]
    return begin
