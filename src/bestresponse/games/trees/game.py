"""Any game in extensive form as a game that players can play: Kuhn poker, centipede, a tree from a file.

The state is the node that the play has come to. Chance nodes are moves of nature. A player is told in words what is
known at its information set, and nothing else of where it is. The whole tree is common knowledge: it is told by written
rules or, where there are none, as an outline.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from bestresponse.core import NATURE, REFEREE, Action, Ask, Choice, Lottery, Role, View
from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.games.texts import TEXTS
from bestresponse.games.trees.outline import (
    MOST_CHARACTERS,
    find_letters,
    list_known_steps,
    list_moves_to,
    list_options,
    name_branch,
    write_name,
    write_outline,
)
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

_CARDS = {"J": "jack", "Q": "queen", "K": "king", "A": "ace", "T": "ten"}
_POKER = ("kuhn-poker", "leduc-poker")
_WITH_RULES = ("kuhn-poker", "kuhn-poker-3", "leduc-poker", "trust", "ultimatum")
_HOW_TO_READ = (
    "This is the whole game. Below every choice and every draw stand its options, indented, each with what follows it: "
    "who chooses next, that chance draws next, or what the players get because the game ends."
)


@dataclass(frozen=True)
class TreeGame:
    """A tree to be played; roles are the players of the tree. `rules` tell how it is played where they are known."""

    tree: Tree
    description: str = ""
    rules: str = ""
    version: int = 2
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
            chances = tuple(
                (name_branch(self.tree, node), float(self.tree.probability[node]) / total) for node in below
            )
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
                self._seen[index] = self._describe_turn(index)
            situation = self._seen[index]
        briefing = TEXTS.fill(
            "tree_rules",
            me=write_name(role),
            title=write_name(self.name),
            everybody=self._everybody,
            description=self._description,
        )
        return View(role, briefing, situation, facts)

    def word_rules(self, role: Role) -> str:
        """Word the rules for people: who plays, and how; without the letters that stand for cards and moves."""
        description = self._description
        if self.rules and self.name.startswith(_POKER):
            # The last paragraph explains the labels of information sets.
            description = description.rpartition("\n\n")[0]
        return f"You are {write_name(role)}. The players: {self._everybody}.\n\n{description}"

    def check_telling(self) -> None:
        """Raise TooLarge where the game has no written rules and too large a tree to be told."""
        if not self.rules:
            self._outline  # noqa: B018  told once, and refused here where it is too long

    def apply(self, state: int, moves: Mapping[Role, Action]) -> int:
        """Return the state after these moves."""
        (move,) = moves.values()
        if int(self.tree.owner[state]) == CHANCE:
            return next(node for node in self.tree.children[state] if name_branch(self.tree, node) == move)
        options = self.tree.infosets[int(self.tree.infoset[state])].moves
        return self.tree.children[state][options.index(move)]

    def payoffs(self, state: int) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        return dict(zip(self.roles, map(float, self.tree.payoffs[state]), strict=True))

    @property
    def _everybody(self) -> str:
        return ", ".join(map(write_name, self.roles))

    @cached_property
    def _outline(self) -> str:
        return write_outline(self.tree, most=MOST_CHARACTERS)

    @cached_property
    def _letters(self) -> dict[int, str]:
        return find_letters(self.tree)

    @cached_property
    def _description(self) -> str:
        """The rules, or where there are none a description and the whole tree."""
        if self.rules:
            return self.rules
        description = f"{self.description.rstrip('.') or 'The players move in turn'}."
        try:
            outline = self._outline
        except TooLarge:
            # Strategies need no words; whoever does is refused by `check_telling`.
            return f"{description}\n\nThe game can end in {len(self.tree.leaves):,} ways, too many to be told."
        return f"{description} {_HOW_TO_READ}\n\n{outline}"

    def _describe_turn(self, index: int) -> str:
        """Say to the player of an information set what it knows."""
        parts = ["It is your turn.", describe_infoset(self.tree, index)]
        if self.rules:
            parts.append(f"What you know: {self.tree.infosets[index].label}.")  # the rules explain these labels
        elif index in self._letters:
            parts.append(f"You are at one of the positions marked [{self._letters[index]}].")
        elif self.tree.infoset[0] == index:
            parts.append("Nothing has happened yet.")
        return " ".join(part for part in parts if part)


def read_rules(name: str) -> str:
    """Read the rules of a tree of the catalogue in words; empty where it has none."""
    return TEXTS.text(f"tree_{name.replace('-', '_')}") if name in _WITH_RULES else ""


def describe_infoset(tree: Tree, index: int) -> str:
    """Say what the owner of an information set has seen; empty where that is nothing."""
    steps = list_known_steps(tree, index)
    if steps is None:
        return ""
    player = tree.infosets[index].player
    card = tree.infosets[index].label[:1]  # in poker the first letter is the card that the player holds
    held = f"You hold the {_CARDS[card]}." if tree.name.startswith(_POKER) and card in _CARDS else ""
    told = [_describe_step(tree, player, owner, labels, depth) for depth, (owner, labels) in enumerate(steps)]
    history = ", ".join(step for step in told if step)
    return " ".join(part for part in (held, f"So far: {history}." if history else "") if part)


def describe_path(tree: Tree, node: int) -> str:
    """Say how the play came to a node, everybody's moves and all draws of chance."""
    moves = list_moves_to(tree, node)
    steps = [_describe_step(tree, None, owner, [label], depth) for depth, (owner, label) in enumerate(moves)]
    return ", ".join(step for step in steps if step)


def _describe_step(tree: Tree, viewer: int | None, owner: int, labels: list[str], depth: int) -> str:
    """Say what is known of the move at that depth, given what it may have been; `viewer` is None for who sees all."""
    if owner == CHANCE:
        poker = tree.name.startswith(_POKER)
        if len(labels) == 1 and not (poker and viewer is not None and depth < len(tree.players)):
            return _describe_draw(tree, labels[0], depth)
        return "" if poker else f"chance drew {list_options(labels)}"
    is_own = owner == viewer
    name = "you" if is_own else write_name(tree.players[owner])
    if len(labels) == 1:
        return f"{name} chose {write_name(labels[0])}"
    return f"{name} chose {list_options(labels)}, and you do not {'remember' if is_own else 'know'} which"


def _describe_draw(tree: Tree, label: str, depth: int) -> str:
    """Say what chance drew; in poker, whose card it is: all are dealt at once or one by one, later ones lie open."""
    cards = re.sub(r"^deal ", "", label)
    if not tree.name.startswith(_POKER) or set(cards) - set(_CARDS):
        return f"chance drew {write_name(label)}"
    names = [_CARDS[card] for card in cards]
    if len(names) == 1 and depth >= len(tree.players):
        return f"the {names[0]} was laid open"
    return ", ".join(f"{name} was dealt the {card}" for name, card in zip(tree.players[depth:], names, strict=False))
