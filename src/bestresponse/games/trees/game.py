"""Any game in extensive form as a game that players can play: Kuhn poker, centipede, a tree from a file.

The state is the node that the play has come to. Chance nodes are moves of nature. A player sees the label of its
information set, in words what that means, and nothing else of where it is; the whole tree is common knowledge and is
told where it is small.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bestresponse.core import NATURE, REFEREE, Action, Ask, Choice, Lottery, Role, View
from bestresponse.core.errors import InvalidGame
from bestresponse.games.texts import TEXTS
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

_MOST_LEAVES_LISTED = 40
_MOST_DRAWS = 4  # a longer list of what chance may have drawn says no more than that it drew
_CARDS = {"J": "jack", "Q": "queen", "K": "king", "A": "ace", "T": "ten"}
_POKER = ("kuhn-poker", "leduc-poker")
_WITH_RULES = ("kuhn-poker", "kuhn-poker-3", "leduc-poker", "trust", "ultimatum")

Step = tuple[int, str]
"""Who moved (CHANCE or the number of a player), and how."""


@dataclass(frozen=True)
class TreeGame:
    """A tree to be played; roles are the players of the tree. `rules` tell how it is played where they are known."""

    tree: Tree
    description: str = ""
    rules: str = ""
    version: int = 1
    _seen: dict[int, str] = field(init=False, default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        taken = [name for name in self.tree.players if name in (NATURE, REFEREE)]
        if taken:
            raise InvalidGame(f"a player is named {taken[0]!r}; this name belongs to the game itself")

    @property
    def name(self) -> str:
        """The name of the game."""
        return self.tree.name or "tree"

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return self.tree.players

    def start(self) -> int:
        """Return the state before anybody has moved."""
        return 0

    def asks(self, state: int) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        owner = int(self.tree.owner[state])
        if owner == LEAF:
            return {}
        if owner == CHANCE:
            below = self.tree.children[state]
            total = sum(float(self.tree.probability[node]) for node in below)
            chances = tuple((self._label(node), float(self.tree.probability[node]) / total) for node in below)
            return {NATURE: Lottery(chances)}
        return {self.roles[owner]: Choice(self.tree.infosets[int(self.tree.infoset[state])].moves)}

    def view(self, state: int, role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE:
            return View(NATURE, "", facts={"path": self.tree.path(state)})
        rivals = [other for other in self.roles if other != role]
        facts: dict[str, object] = {"rivals": rivals}
        situation = ""
        if int(self.tree.owner[state]) == LEAF:
            situation = f"The game is over: {describe_path(self.tree, state)}."
        elif int(self.tree.owner[state]) >= 0 and self.roles[int(self.tree.owner[state])] == role:
            index = int(self.tree.infoset[state])
            facts["infoset"] = self.tree.infosets[index].label
            if index not in self._seen:
                self._seen[index] = describe_infoset(self.tree, index)
            situation = " ".join(
                part for part in ("It is your turn.", self._seen[index], f"What you know: {facts['infoset']}.") if part
            )
        placeholders = {"me": role, "title": self.name, "everybody": ", ".join(self.roles)}
        return View(role, TEXTS.fill("tree_rules", **placeholders, description=self._description), situation, facts)

    def word_rules(self, role: Role) -> str:
        """Word the rules for people: who plays, and how; without the letters that stand for cards and moves."""
        description = self._description
        if self.rules and self.name.startswith(_POKER):
            # The last paragraph explains the labels of information sets.
            description = description.rpartition("\n\n")[0]
        return f"You are {role}. The players: {', '.join(self.roles)}.\n\n{description}"

    def apply(self, state: int, moves: Mapping[Role, Action]) -> int:
        """Return the state after these moves."""
        (move,) = moves.values()
        if int(self.tree.owner[state]) == CHANCE:
            return next(node for node in self.tree.children[state] if self._label(node) == move)
        options = self.tree.infosets[int(self.tree.infoset[state])].moves
        return self.tree.children[state][options.index(move)]

    def payoffs(self, state: int) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        return dict(zip(self.roles, map(float, self.tree.payoffs[state]), strict=True))

    def _label(self, node: int) -> str:
        """The label of a branch, told apart from its siblings by a number where labels repeat."""
        siblings = self.tree.children[int(self.tree.parent[node])]
        label = self.tree.branch_labels[node]
        same = [other for other in siblings if self.tree.branch_labels[other] == label]
        return label if len(same) == 1 else f"{label} #{same.index(node) + 1}"

    @cached_property
    def _description(self) -> str:
        """The rules, or where there are none a description and every way in which the game can end."""
        if self.rules:
            return self.rules
        description = self.description.rstrip(".") or "The players move in turn"
        if len(self.tree.leaves) > _MOST_LEAVES_LISTED:
            return f"{description}.\n\nThe game can end in {len(self.tree.leaves)} ways."
        lines = [f"| how the game goes | {' | '.join(self.roles)} |"]
        for leaf in self.tree.leaves.tolist():
            lines.append(f"| {self.tree.path(leaf)} | {' | '.join(f'{pay:g}' for pay in self.tree.payoffs[leaf])} |")
        return f"{description}. Every way in which the game can go, and what each player gets:\n\n" + "\n".join(lines)


def read_rules(name: str) -> str:
    """Read the rules of a tree of the catalogue in words; empty where it has none."""
    return TEXTS.text(f"tree_{name.replace('-', '_')}") if name in _WITH_RULES else ""


def describe_infoset(tree: Tree, index: int) -> str:
    """Say what the owner of an information set has seen; empty where that is nothing."""
    player = tree.infosets[index].player
    # All nodes are looked at: a move that only the first of them share is one that the player has not seen.
    ways = [list_moves_to(tree, int(node)) for node in np.flatnonzero(tree.infoset == index)]
    if len({len(way) for way in ways}) > 1:
        return ""
    card = tree.infosets[index].label[:1]  # in poker the first letter is the card that the player holds
    held = f"You hold the {_CARDS[card]}." if tree.name.startswith(_POKER) and card in _CARDS else ""
    steps = [_describe_step(tree, player, set(step), depth) for depth, step in enumerate(zip(*ways, strict=True))]
    history = ", ".join(step for step in steps if step)
    return " ".join(part for part in (held, f"So far: {history}." if history else "") if part)


def describe_path(tree: Tree, node: int) -> str:
    """Say how the play came to a node, everybody's moves and all draws of chance."""
    steps = [_describe_step(tree, None, {step}, depth) for depth, step in enumerate(list_moves_to(tree, node))]
    return ", ".join(step for step in steps if step)


def list_moves_to(tree: Tree, node: int) -> list[Step]:
    """List who moved how on the way to a node."""
    steps: list[Step] = []
    while node > 0:
        parent = int(tree.parent[node])
        steps.append((int(tree.owner[parent]), tree.branch_labels[node]))
        node = parent
    return steps[::-1]


def _describe_step(tree: Tree, viewer: int | None, step: set[Step], depth: int) -> str:
    """Say what is known of the move at that depth, given what it may have been; `viewer` is None for who sees all."""
    owner = next(iter(step))[0]
    labels = sorted(label for _, label in step)
    if owner == CHANCE:
        poker = tree.name.startswith(_POKER)
        if len(labels) == 1 and not (poker and viewer is not None and depth < len(tree.players)):
            return _describe_draw(tree, labels[0], depth)
        return "" if poker or len(labels) > _MOST_DRAWS else f"chance drew {' or '.join(labels)}"
    name = "you" if owner == viewer else tree.players[owner]
    return f"{name} chose {labels[0]}" if len(labels) == 1 else f"{name} made a move that you do not see"


def _describe_draw(tree: Tree, label: str, depth: int) -> str:
    """Say what chance drew; in poker, whose card it is: all are dealt at once or one by one, later ones lie open."""
    cards = re.sub(r"^deal ", "", label)
    if not tree.name.startswith(_POKER) or set(cards) - set(_CARDS):
        return f"chance drew {label}"
    names = [_CARDS[card] for card in cards]
    if len(names) == 1 and depth >= len(tree.players):
        return f"the {names[0]} was laid open"
    return ", ".join(f"{name} was dealt the {card}" for name, card in zip(tree.players[depth:], names, strict=False))
