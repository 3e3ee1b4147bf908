"""What a player of a tree knows, in words: the moves that all nodes of its information set have in common.

    You hold the queen. So far: you chose pass, player 2 chose bet.

What differs between the nodes is what the player cannot tell; of a draw of chance the possible ones are listed.
"""

from __future__ import annotations

import re

import numpy as np

from bestresponse.theory.trees.tree import CHANCE, Tree

__all__ = ["describe_infoset", "describe_path"]

_MOST_DRAWS = 4
_MOST_NODES = 500
_CARDS = {"J": "jack", "Q": "queen", "K": "king", "A": "ace", "T": "ten"}
_POKER = ("kuhn-poker", "leduc-poker")

Step = tuple[int, str]
"""Who moved (CHANCE or the number of a player), and how."""


def describe_infoset(tree: Tree, index: int) -> str:
    """Say what the owner of an information set has seen; empty where that is nothing."""
    own = tree.infosets[index].player
    nodes = np.flatnonzero(tree.infoset == index)[:_MOST_NODES]
    ways = [_list_steps(tree, int(node)) for node in nodes]
    if len({len(way) for way in ways}) > 1:
        return ""
    held = _describe_card(tree, index)
    steps = [_describe_step(tree, own, set(step), place) for place, step in enumerate(zip(*ways, strict=True))]
    said = ", ".join(step for step in steps if step)
    return " ".join(part for part in (held, f"So far: {said}." if said else "") if part)


def describe_path(tree: Tree, node: int) -> str:
    """Say how the play came to a node, everybody's moves and all draws of chance."""
    steps = [_describe_step(tree, None, {step}, place) for place, step in enumerate(_list_steps(tree, node))]
    return ", ".join(step for step in steps if step)


def _list_steps(tree: Tree, node: int) -> list[Step]:
    steps: list[Step] = []
    while node > 0:
        parent = int(tree.parent[node])
        steps.append((int(tree.owner[parent]), tree.branch_labels[node]))
        node = parent
    return steps[::-1]


def _describe_step(tree: Tree, own: int | None, step: set[Step], place: int) -> str:
    """Say what is known of the move in that place, given what it may have been; `own` is None for who sees all."""
    owner = next(iter(step))[0]
    labels = sorted(label for _, label in step)
    if owner == CHANCE:
        poker = tree.name.startswith(_POKER)
        if len(labels) == 1 and not (poker and own is not None and place < len(tree.players)):
            return _describe_draw(tree, labels[0], place)
        return "" if poker or len(labels) > _MOST_DRAWS else f"chance drew {' or '.join(labels)}"
    who = "you" if owner == own else tree.players[owner]
    return f"{who} chose {labels[0]}" if len(labels) == 1 else f"{who} made a move that you do not see"


def _describe_draw(tree: Tree, label: str, place: int) -> str:
    """Say what chance drew; in poker, whose card it is: all are dealt at once or one by one, later ones lie open."""
    cards = re.sub(r"^deal ", "", label)
    if not tree.name.startswith(_POKER) or set(cards) - set(_CARDS):
        return f"chance drew {label}"
    names = [_CARDS[card] for card in cards]
    if len(names) == 1 and place >= len(tree.players):
        return f"the {names[0]} was laid open"
    return ", ".join(f"{who} was dealt the {card}" for who, card in zip(tree.players[place:], names, strict=False))


def _describe_card(tree: Tree, index: int) -> str:
    """In poker, name the card that a player holds: the first letter of its information set."""
    card = tree.infosets[index].label[:1]
    return f"You hold the {_CARDS[card]}." if tree.name.startswith(_POKER) and card in _CARDS else ""
