"""Any game in extensive form as a game that players can play.

Examples are Kuhn poker, centipede and a tree from a file.

The state is the node that the play has come to. Chance nodes are moves of nature. A player is told
what is known at its information set, and nothing else of where it is. The whole tree is common
knowledge: it is told by its rule or, where there is none, as the course of the game.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from bestresponse.core import NATURE, Action, Ask, Choice, Lottery, Role, View
from bestresponse.core.told import (
    Aim,
    Chose,
    Course,
    Dealt,
    Drew,
    Event,
    Holds,
    LaidOpen,
    OneOf,
    Over,
    Prose,
    Reached,
    Statement,
    Title,
    YourTurn,
    prose,
)
from bestresponse.games.statements import (
    check_tree_names,
    fold_draws,
    list_moves_to,
    name_branch,
    tell,
)
from bestresponse.games.trees.rules import PokerRule, find_tree_rule
from bestresponse.telling.knowledge import CHANCE as BY_CHANCE, Map, read_course
from bestresponse.telling.render import check_length
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

_CARDS = frozenset("TJQKA")
_MOST_WAYS = 12
"""Of more ways on which a position may have been reached none is listed."""


@dataclass(frozen=True)
class TreeGame:
    """A tree to be played; roles are the players of the tree.

    It is told by its rule where it follows one. Draws with a single outcome are left out.
    """

    tree: Tree
    description: str = ""
    version: int = 4
    _seen: dict[int, tuple[Event, ...]] = field(
        init=False,
        default_factory=dict,
        repr=False,
        compare=False,
    )

    def __post_init__(self) -> None:
        check_tree_names(self.tree)
        object.__setattr__(self, "tree", fold_draws(self.tree))

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
            weights = [float(self.tree.probability[node]) for node in below]
            total = sum(weights)
            names = [name_branch(self.tree, node) for node in below]
            chances = zip(names, (weight / total for weight in weights), strict=True)
            return {NATURE: Lottery(tuple(chances))}
        return {self.roles[owner]: Choice(self._list_options(state))}

    def view(self, state: int, role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE:
            return View(NATURE, facts={"path": self.tree.path(state)})
        facts: dict[str, object] = {"rivals": [other for other in self.roles if other != role]}
        history: tuple[Event, ...] = ()
        owner = int(self.tree.owner[state])
        if owner == LEAF:
            history = (*self.list_moves(state), Over())
        elif owner >= 0 and self.roles[owner] == role:
            index = int(self.tree.infoset[state])
            facts["infoset"] = self.tree.infosets[index].label
            if index not in self._seen:
                self._seen[index] = tuple(self._list_known(index, state))
            history = self._seen[index]
        return View(role, self._stated, history, facts)

    def check_telling(self) -> None:
        """Raise TooLarge where the game follows no rule and has too large a tree to be told."""
        check_length(self._stated, self.name)

    def apply(self, state: int, moves: Mapping[Role, Action]) -> int:
        """Return the state after these moves."""
        (move,) = moves.values()
        if int(self.tree.owner[state]) == CHANCE:
            below = self.tree.children[state]
            return next(node for node in below if name_branch(self.tree, node) == move)
        options = self._list_options(state)
        return self.tree.children[state][options.index(move)]

    def _list_options(self, state: int) -> tuple[str, ...]:
        infoset = int(self.tree.infoset[state])
        return self.tree.infosets[infoset].moves

    def payoffs(self, state: int) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        earned = map(float, self.tree.payoffs[state])
        return dict(zip(self.roles, earned, strict=True))

    @cached_property
    def rule(self) -> PokerRule | None:
        """The rule that the tree follows, None where there is none."""
        return find_tree_rule(self.tree)

    @property
    def _is_poker(self) -> bool:
        return self.rule is not None

    @cached_property
    def _stated(self) -> tuple[Statement, ...]:
        """The rule, or where there is none a description and the whole tree."""
        players, course = tell(self.tree)
        told = (*self._described, course) if self.rule is None else (self.rule,)
        return (Title(self.name), players, *told, Aim())

    @property
    def _described(self) -> tuple[Prose, ...]:
        return prose(f"{self.description.rstrip('.')}." if self.description else "")

    @cached_property
    def _map(self) -> Map | None:
        """The tree as it is stated; None where it is too large for that."""
        _, course = tell(self.tree)
        return read_course(course) if isinstance(course, Course) else None

    def _list_known(self, index: int, state: int) -> Iterator[Event]:
        """Yield what the player of an information set knows there."""
        label = self.tree.infosets[index].label
        yield YourTurn()
        if self._is_poker:
            yield Holds(label[0])  # the first letter is the card that the player holds
        yield from self._list_steps(state)
        if self.rule is None and self._map is not None:
            letter = self._map.find_letter(state)
            if letter:
                yield Reached(letter)

    def _list_steps(self, state: int) -> Iterator[Event]:
        """Yield what the player at a node knows of the moves before."""
        known = self._map.know(state) if self._map is not None else None
        if self._map is None or known is None:
            return
        if known.steps is None or not known.plain:
            if len(known.places) <= _MOST_WAYS:
                ways = [self._map.ways[place] for place in known.places]
                yield OneOf(tuple(tuple(map(_make_event, way)) for way in ways))
            return
        for number, (who, moves) in enumerate(known.steps):
            if number in known.mates:
                continue  # chosen at the same time
            if who != BY_CHANCE:
                made_at = {self._map.list_ancestors(place)[number] for place in known.places}
                yield Chose(who, moves, secret=not made_at.isdisjoint(self._map.closed))
            elif not self._is_poker:
                yield Drew(moves)
            elif len(moves) == 1 and number >= len(self.roles):
                yield from self._list_draw(moves[0], number)

    def list_moves(self, node: int) -> Iterator[Event]:
        """Yield how the play came to a node: everybody's moves and all draws of chance."""
        for depth, (owner, move) in enumerate(list_moves_to(self.tree, node)):
            if owner == CHANCE:
                yield from self._list_draw(move, depth)
            else:
                yield Chose(self.roles[owner], (move,))

    def _list_draw(self, label: str, depth: int) -> Iterator[Event]:
        """Yield what chance drew.

        In poker, whose card: all are dealt at once or one by one, later ones lie open.
        """
        cards = re.sub(r"^deal ", "", label)
        if not self._is_poker or set(cards) - _CARDS:
            yield Drew((label,))
        elif len(cards) == 1 and depth >= len(self.roles):
            yield LaidOpen(cards)
        else:
            for who, card in zip(self.roles[depth:], cards, strict=False):
                yield Dealt(who, card)


def _make_event(step: tuple[str, str]) -> Chose | Drew:
    who, move = step
    return Drew((move,)) if who == BY_CHANCE else Chose(who, (move,))
