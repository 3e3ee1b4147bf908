"""Where the reasoner sits: the game it is told, the others at an equilibrium, and what its choices are worth.

table    all choose at once; a choice is worth what it earns on average against one equilibrium of the game
tree     one after the other, nothing hidden; a move of the first decision is worth what it leads to when everybody
         follows one subgame perfect equilibrium from there on. At every decision only the rest of the game is told, so
         that "if I pass" always means now; the claims are checked against the same rest.
hidden   moves or draws are hidden; the whole game is told, and what the reasoner knows where it has to choose. Claims
         are about the whole game. The other player follows one sequential equilibrium; a move is worth what it earns
         on average wherever the reasoner may be, if it plays best from there on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bestresponse.core.ask import Ask
from bestresponse.core.episode import Submission
from bestresponse.core.errors import SettingError
from bestresponse.core.game import NATURE, Action, Role, View
from bestresponse.core.player import Nature, Player
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.trees.game import TreeGame
from bestresponse.players.llm.verified import SubjectOf, moves_of, subject_of, whole_of
from bestresponse.players.strategies.fixed import FixedMix, Following, Mixing
from bestresponse.studies.verify.disguise import disguised, disguised_tree, moves_by_player
from bestresponse.studies.verify.texts import TEXTS
from bestresponse.theory.equilibria.solve import nash_one
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import deviation_payoffs
from bestresponse.theory.trees.perfection.sequential import find_sequential
from bestresponse.theory.trees.perfection.subgame_perfect import subgame_perfect
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.sequence_form import counterfactual_values
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["HiddenScene", "HiddenTurns", "Scene", "TableScene", "Telling", "TreeScene", "Turns", "set_scene"]

_EQUILIBRIUM = "equilibrium"


@dataclass(frozen=True)
class Telling:
    """How a game is told: letters instead of names, in reverse order, from the moves `after` on, to which seat."""

    seat: int = 0
    disguised: bool = True
    inverted: bool = True
    after: tuple[str, ...] = ()


def set_scene(game: NormalForm | Tree, telling: Telling) -> Scene:
    """Set the scene of a run; SettingError where the reasoner would never be asked."""
    if isinstance(game, NormalForm):
        return TableScene(telling, game)
    scene = TreeScene(telling, game) if game.is_perfect_information else HiddenScene(telling, game)
    scene.check()
    return scene


@dataclass(frozen=True)
class Turns:
    """A tree in which nothing is hidden, from the node `first` on, in sentences for whoever is asked."""

    tree: Tree
    first: int = 0

    @cached_property
    def rules(self) -> TreeGame:
        """The game itself."""
        return TreeGame(self.tree)

    @property
    def name(self) -> str:
        """The name of the game."""
        return self.rules.name

    @property
    def version(self) -> int:
        """The version of the rules."""
        return self.rules.version

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return self.rules.roles

    def start(self) -> int:
        """Return the state before anybody has moved."""
        return self.first

    def asks(self, state: int) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        return self.rules.asks(state)

    def view(self, state: int, role: Role) -> View:
        """Return what `role` may know in `state`."""
        plain = self.rules.view(state, role)
        return replace(plain, briefing=self._briefing(state, role), situation="") if role in self.roles else plain

    def apply(self, state: int, moves: Mapping[Role, Action]) -> int:
        """Return the state after these moves."""
        return self.rules.apply(state, moves)

    def payoffs(self, state: int) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        return self.rules.payoffs(state)

    def _briefing(self, state: int, role: Role) -> str:
        made = ", then ".join(self._moves(0, state, role, past=True))
        return TEXTS.fill(
            "turns",
            me=role,
            everybody=" and ".join(self.roles) if len(self.roles) == 2 else ", ".join(self.roles),
            so_far=f"So far {made}." if made else "Nobody has chosen yet.",
            ways="\n".join(
                self._way(state, leaf, role) for leaf in self.tree.leaves.tolist() if self._below(leaf, state)
            ),
        )

    def _way(self, state: int, leaf: int, role: Role) -> str:
        moves = " and then ".join(self._moves(state, leaf, role))
        paid = zip(self.roles, self.tree.payoffs[leaf].tolist(), strict=True)
        gets = ", ".join(f"you get {u:.12g}" if who == role else f"{who} gets {u:.12g}" for who, u in paid)
        return f"- If {moves}, {gets}." if moves else f"- The game is over: {gets}."

    def _moves(self, start: int, end: int, role: Role, *, past: bool = False) -> list[str]:
        """Every move from one node to another in words, in order."""
        told = []
        while end != start:
            parent = int(self.tree.parent[end])
            told.append(self._move(parent, end, role, past))
            end = parent
        return told[::-1]

    def _move(self, parent: int, child: int, role: Role, past: bool) -> str:
        label, owner = self.tree.branch_labels[child], int(self.tree.owner[parent])
        if owner == CHANCE:
            verb = "drew" if past else "draws"
            return f"chance {verb} {label} (probability {float(self.tree.probability[child]):.4g})"
        mine = self.roles[owner] == role
        verb = "chose" if past else "choose" if mine else "chooses"
        return f"{'you' if mine else self.roles[owner]} {verb} {label}"

    def _below(self, node: int, above: int) -> bool:
        while node > above:
            node = int(self.tree.parent[node])
        return node == above


@dataclass(frozen=True)
class HiddenTurns(Turns):
    """A tree that hides something, in sentences: every way it can go, who cannot tell what, what may have happened."""

    def _briefing(self, state: int, role: Role) -> str:
        return TEXTS.fill(
            "turns_hidden",
            me=role,
            everybody=" and ".join(self.roles),
            ways="\n".join(self._way(0, leaf, role) for leaf in self.tree.leaves.tolist()),
            secrets="\n".join(self._secrets(role)),
            so_far=self._tell_so_far(state, role),
        )

    def _secrets(self, role: Role) -> Iterator[str]:
        for number, infoset in enumerate(self.tree.infosets):
            nodes = np.flatnonzero(self.tree.infoset == number).tolist()
            if len(nodes) > 1:
                mine = self.roles[infoset.player] == role
                who = "You choose" if mine else f"{self.roles[infoset.player]} chooses"
                yield f"- {who} without knowing which of these has happened: {self._histories(nodes, role)}."

    def _tell_so_far(self, state: int, role: Role) -> str:
        index = int(self.tree.infoset[state])
        nodes = np.flatnonzero(self.tree.infoset == index).tolist() if index >= 0 else [state]
        if nodes == [0]:
            return "Nothing has happened yet. Now you choose."
        if len(nodes) == 1:
            return f"What has happened, and you know it: {self._histories(nodes, role)}. Now you choose."
        return f"One of these has happened, and you do not know which: {self._histories(nodes, role)}. Now you choose."

    def _move(self, parent: int, child: int, role: Role, past: bool) -> str:
        if past and int(self.tree.owner[parent]) == CHANCE:
            return f"chance drew {self.tree.branch_labels[child]}"
        return super()._move(parent, child, role, past)

    def _histories(self, nodes: list[int], role: Role) -> str:
        return "; or ".join(", then ".join(self._moves(0, node, role, past=True)) for node in nodes)


@dataclass(frozen=True)
class TableScene:
    """All choose at once."""

    telling: Telling
    original: NormalForm
    opening = ()
    decisions = 1
    yardstick = "payoffs against one equilibrium of the game"
    subject: SubjectOf = subject_of

    @property
    def seat(self) -> int:
        """The place of the player who reasons."""
        return self.telling.seat

    @cached_property
    def form(self) -> NormalForm:
        """The game as the reasoner is told it."""
        return disguised(self.original, letters=self.telling.disguised, inverted=self.telling.inverted)

    @cached_property
    def game(self) -> MatrixGame:
        """The game in sentences: an action is asked of the reasoner, the others state a mix."""
        wanted = tuple("action" if i == self.seat else "mixture" for i in range(self.form.num_players))
        return MatrixGame(self.form, wanted, "prose", others="rational")  # type: ignore[arg-type]

    @property
    def choices(self) -> tuple[str, ...]:
        """The actions to choose from."""
        return self.form.actions[self.seat]

    @cached_property
    def equilibrium(self) -> tuple[tuple[float, ...], ...]:
        """One equilibrium of the game, for the others' seats and for the gap."""
        return tuple(tuple(map(float, mix)) for mix in nash_one(self.form).strategies)

    def others(self, repeat: int) -> dict[str, Player]:
        """Seat the others with their equilibrium strategies."""
        mixes = zip(self.game.roles, self.equilibrium, strict=True)
        return {role: FixedMix(mix, _EQUILIBRIUM) for i, (role, mix) in enumerate(mixes) if i != self.seat}

    def worth(self, submissions: Iterable[Submission]) -> Mapping[str, float]:
        """Return what each action is worth."""
        return self._worth

    @cached_property
    def _worth(self) -> Mapping[str, float]:
        values = deviation_payoffs(self.form, self.equilibrium)[self.seat]
        return dict(zip(self.choices, map(float, values), strict=True))


@dataclass(frozen=True)
class ToldTree:
    """A tree under the names and signs of a run, and the seat of the player who reasons."""

    telling: Telling
    original: Tree

    @property
    def seat(self) -> int:
        """The place of the player who reasons."""
        return self.telling.seat

    @cached_property
    def tree(self) -> Tree:
        """The game as the reasoner is told it."""
        return disguised_tree(self.original, letters=self.telling.disguised, inverted=self.telling.inverted)

    @property
    def role(self) -> str:
        """The name of the player who reasons."""
        return self.tree.players[self.seat]

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The moves to choose from."""
        return moves_by_player(self.tree)[self.seat]


@dataclass(frozen=True)
class TreeScene(ToldTree):
    """One after the other, with everything in sight."""

    yardstick = "the first decision; everybody follows one subgame perfect equilibrium from there on"

    @cached_property
    def game(self) -> Turns:
        """The game as it is told."""
        return Turns(self.tree, self._start)

    @cached_property
    def _start(self) -> int:
        """Where the moves lead that were made before."""
        source = told = 0
        for label in self.telling.after:
            below = [self.original.branch_labels[child] for child in self.original.children[source]]
            if label not in below:
                possible = f"possible: {', '.join(below)}" if below else "the game is over"
                raise SettingError("after", f"no move {label!r} at {self.original.path(source)}; {possible}")
            place = below.index(label)
            mirrored = self.telling.inverted and self.original.owner[source] != CHANCE
            told = self.tree.children[told][len(below) - 1 - place if mirrored else place]
            source = self.original.children[source][place]
        return told

    @cached_property
    def opening(self) -> int:
        """The node where the player first decides."""
        return next(self._firsts(self.seat))

    @cached_property
    def subject(self) -> SubjectOf:
        """What the claims are about."""
        return moves_of(self.tree)

    @cached_property
    def moves(self) -> dict[str, dict[str, str]]:
        """One subgame perfect equilibrium: the move of each player at each information set."""
        return subgame_perfect(self.tree, limit=1).equilibria[0].moves

    @cached_property
    def decisions(self) -> int:
        """The most decisions of the player in one play."""
        asked: dict[int, int] = {}
        for node in range(self._start, self.tree.num_nodes):
            above = int(self.tree.parent[node])
            if asked and above not in asked:
                break
            asked[node] = asked.get(above, 0) + (int(self.tree.owner[node]) == self.seat)
        return max(asked.values())

    def others(self, repeat: int) -> dict[str, Player]:
        """Seat the others with their equilibrium moves, and nature."""
        found: dict[str, Player] = {
            role: Following(moves, _EQUILIBRIUM) for role, moves in self.moves.items() if role != self.role
        }
        return found | {NATURE: Nature(repeat)} if CHANCE in self.tree.owner else found

    def worth(self, submissions: Iterable[Submission]) -> Mapping[str, float]:
        """Return what each move is worth where the player decides."""
        node = self.game.start()
        for one in submissions:
            if one.role == self.role:
                break
            node = self.game.apply(node, {one.role: one.decision.action})
        below = self.tree.children[node]
        return {self.tree.branch_labels[child]: float(self.values[child, self.seat]) for child in below}

    @cached_property
    def values(self) -> Array:
        """What everybody gets from each node on."""
        values = self.tree.payoffs.copy()
        for node in range(self.tree.num_nodes - 1, -1, -1):
            owner, below = int(self.tree.owner[node]), self.tree.children[node]
            if owner == CHANCE:
                values[node] = sum(self.tree.probability[child] * values[child] for child in below)
            elif owner != LEAF:
                values[node] = values[self._next(node)]
        return values

    def check(self) -> None:
        """Raise SettingError where the equilibrium can end the game before the reasoner moves."""
        sure = [i for i in range(self.tree.num_players) if LEAF not in self.tree.owner[list(self._firsts(i))]]
        if self.seat in sure:
            return
        name = self.original.players[self.seat]
        raise SettingError(
            "seat",
            f"with the others at the equilibrium the game can be over before {name} moves; "
            + (f"ask {' or '.join(self.original.players[i] for i in sure)}, or " if sure else "")
            + "say by `after` which moves were made before",
        )

    def _firsts(self, seat: int) -> Iterator[int]:
        """The nodes where a seat is first asked in equilibrium, or the leaves where the game ends before that."""
        waiting = [self._start]
        while waiting:
            node = waiting.pop()
            owner = int(self.tree.owner[node])
            if owner in (seat, LEAF):
                yield node
            elif owner == CHANCE:
                below = self.tree.children[node]
                waiting += [child for child in reversed(below) if self.tree.probability[child] > 0]
            else:
                waiting.append(self._next(node))

    def _next(self, node: int) -> int:
        """Where the equilibrium goes from a player's node."""
        infoset = self.tree.infosets[int(self.tree.infoset[node])]
        move = self.moves[self.tree.players[infoset.player]][infoset.label]
        return self.tree.children[node][infoset.moves.index(move)]


@dataclass(frozen=True)
class HiddenScene(ToldTree):
    """One after the other, with something hidden."""

    yardstick = "the first decision; the other player follows one sequential equilibrium"

    @cached_property
    def game(self) -> HiddenTurns:
        """The game as it is told."""
        return HiddenTurns(self.tree)

    @cached_property
    def opening(self) -> int:
        """A node where the player first decides."""
        return next(node for node in self._find_firsts() if self.tree.owner[node] == self.seat)

    @cached_property
    def subject(self) -> SubjectOf:
        """What the claims are about."""
        return whole_of(self.tree)

    @cached_property
    def policy(self) -> Policy:
        """One sequential equilibrium."""
        return find_sequential(self.tree).policy

    @cached_property
    def decisions(self) -> int:
        """The most decisions of the player in one play."""
        asked = [0] * self.tree.num_nodes
        for node in range(self.tree.num_nodes):
            above = int(self.tree.parent[node])
            asked[node] = (asked[above] if above >= 0 else 0) + (int(self.tree.owner[node]) == self.seat)
        return max(asked)

    def others(self, repeat: int) -> dict[str, Player]:
        """Seat the other player with its equilibrium strategy, and nature."""
        mixes: dict[str, dict[str, Mapping[str, float]]] = {}
        for infoset in self.tree.infosets:
            player = self.tree.players[infoset.player]
            mixes.setdefault(player, {})[infoset.label] = self.policy.at(player, infoset.label)
        found: dict[str, Player] = {
            player: Mixing(own, "equilibrium", repeat) for player, own in mixes.items() if player != self.role
        }
        return found | {NATURE: Nature(repeat)} if CHANCE in self.tree.owner else found

    def worth(self, submissions: Iterable[Submission]) -> Mapping[str, float]:
        """Return what each move is worth where the player first decides."""
        node = self.game.start()
        for one in submissions:
            if one.role == self.role:
                break
            node = self.game.apply(node, {one.role: one.decision.action})
        index = int(self.tree.infoset[node])
        reach = sum(self._find_reach(place) for place in np.flatnonzero(self.tree.infoset == index).tolist())
        values = self._values[index] / reach
        return dict(zip(self.tree.infosets[index].moves, map(float, values), strict=True))

    def check(self) -> None:
        """Raise SettingError where the game can be over before the reasoner moves."""
        if any(self.tree.owner[node] == LEAF for node in self._find_firsts()):
            name = self.original.players[self.seat]
            raise SettingError(
                "seat",
                f"with the other player at the equilibrium the game can be over before {name} moves; ask the other",
            )

    @cached_property
    def _values(self) -> dict[int, Array]:
        return counterfactual_values(self.tree, self.policy)

    def _find_firsts(self) -> Iterator[int]:
        """Find the nodes where the seat is first asked in equilibrium, or leaves where the game ends before that."""
        waiting = [0]
        while waiting:
            node = waiting.pop()
            if int(self.tree.owner[node]) in (self.seat, LEAF):
                yield node
            else:
                waiting += [child for child in reversed(self.tree.children[node]) if self._chance(child) > 0]

    def _find_reach(self, node: int) -> float:
        """Find how likely chance and the other player let the play come to a node."""
        reach = 1.0
        while node:
            parent = int(self.tree.parent[node])
            if int(self.tree.owner[parent]) != self.seat:
                reach *= self._chance(node)
            node = parent
        return reach

    def _chance(self, node: int) -> float:
        """Return the probability of the move that leads to a node, by nature or in equilibrium."""
        parent = int(self.tree.parent[node])
        if int(self.tree.owner[parent]) == CHANCE:
            return float(self.tree.probability[node])
        infoset = self.tree.infosets[int(self.tree.infoset[parent])]
        return float(self.policy.at(self.tree.players[infoset.player], infoset.label)[self.tree.branch_labels[node]])


Scene = TableScene | TreeScene | HiddenScene
"""A game with the reasoner in one seat."""
