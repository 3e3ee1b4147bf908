"""Where the reasoner sits: the game it is told, the others at an equilibrium, and what its choices are worth.

table   all choose at once; a choice is worth what it earns on average against one equilibrium of the game
tree    one after the other, nothing hidden; a move of the first decision is worth what it leads to when everybody
        follows one subgame perfect equilibrium from there on; `hidden` has trees that hide something
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from bestresponse.core.episode import Submission
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, AnyGame
from bestresponse.core.player import Nature, Player
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.players.llm.verified import SubjectOf, moves_of, subject_of
from bestresponse.players.strategies.fixed import FixedMix, Following
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.disguise import disguised
from bestresponse.studies.verify.hidden import HiddenScene
from bestresponse.studies.verify.told_tree import ToldTree
from bestresponse.studies.verify.turns import Turns
from bestresponse.theory.equilibria.solve import nash_one
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import deviation_payoffs
from bestresponse.theory.trees.perfection.subgame_perfect import subgame_perfect
from bestresponse.theory.trees.tree import CHANCE, LEAF

__all__ = ["Scene", "TableScene", "TreeScene", "scene_of"]

_EQUILIBRIUM = "equilibrium"


class Scene(Protocol):
    """A game with the reasoner in one seat."""

    @property
    def game(self) -> AnyGame:
        """The game as it is told."""
        ...

    @property
    def seat(self) -> int:
        """The place of the player who reasons."""
        ...

    @property
    def opening(self) -> Any:
        """A state of the game in which the reasoner is first asked."""
        ...

    @property
    def choices(self) -> tuple[str, ...]:
        """The reasoner's actions as it is told them."""
        ...

    @property
    def decisions(self) -> int:
        """How often the reasoner is asked at most."""
        ...

    @property
    def yardstick(self) -> str:
        """What payoffs are measured against, in words."""
        ...

    @property
    def subject(self) -> SubjectOf:
        """What the reasoner's claims are about."""
        ...

    def others(self, repeat: int) -> dict[str, Player]:
        """Everybody else, nature included where it draws."""
        ...

    def worth(self, submissions: Iterable[Submission]) -> Mapping[str, float]:
        """What every choice was worth where the reasoner first had to choose."""
        ...


def scene_of(config: VerifyConfig) -> Scene:
    """The scene of a run; UsageError where the reasoner would never be asked."""
    form = config.form
    if isinstance(form, NormalForm):
        return TableScene(config, form)
    scene = TreeScene(config, form) if form.is_perfect_information else HiddenScene(config, form)
    scene.check()
    return scene


@dataclass(frozen=True)
class TableScene:
    """All choose at once."""

    config: VerifyConfig
    original: NormalForm
    opening = ()
    decisions = 1
    yardstick = "payoffs against one equilibrium of the game"
    subject: SubjectOf = subject_of

    @property
    def seat(self) -> int:
        """The place of the player who reasons."""
        return self.config.seat

    @cached_property
    def form(self) -> NormalForm:
        """The game as the reasoner is told it."""
        return disguised(self.original, letters=self.config.disguised, inverted=self.config.inverted)

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
        for label in self.config.after:
            below = [self.original.branch_labels[child] for child in self.original.children[source]]
            if label not in below:
                possible = f"possible: {', '.join(below)}" if below else "the game is over"
                raise UsageError(f"--after {label!r}: no such move at {self.original.path(source)}; {possible}")
            place = below.index(label)
            mirrored = self.config.inverted and self.original.owner[source] != CHANCE
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
        """UsageError where the equilibrium can end the game before the reasoner moves."""
        sure = [i for i in range(self.tree.num_players) if LEAF not in self.tree.owner[list(self._firsts(i))]]
        if self.seat in sure:
            return
        name = self.original.players[self.seat]
        raise UsageError(
            f"--seat {self.seat + 1}: with the others at the equilibrium the game can be over before {name} moves; "
            + (f"ask --seat {' or '.join(str(i + 1) for i in sure)}, or " if sure else "")
            + "say with --after which moves were made before"
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
