"""Claims about games that are played move by move, decided by theory's backward induction.

A move is certain where every pure subgame perfect equilibrium makes it, impossible where none does; where some do and
others do not, the mover is indifferent somewhere below, and the claim is undecided: a tie is stated as a tie.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Final

from bestresponse.core.errors import TooLarge
from bestresponse.formal.claims.grounding import Grounded
from bestresponse.formal.claims.subject import Subject, exact
from bestresponse.logic.engine import Proof, Verdict
from bestresponse.theory.trees.perfection.subgame_perfect import SubgamePerfectEquilibrium, subgame_perfect
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["TreePlay"]

MOST_EQUILIBRIA: Final = 2_000


class TreePlay:
    """What best play means in one tree."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        if subject.tree is None:
            raise TypeError("a table has no moves one after the other")
        self.tree: Tree = subject.tree

    @cached_property
    def equilibria(self) -> tuple[SubgamePerfectEquilibrium, ...]:
        """All pure subgame perfect equilibria."""
        found = subgame_perfect(self.tree, MOST_EQUILIBRIA)
        if not found.complete:
            raise TooLarge(f"the game has {found.count:,} subgame perfect equilibria, more than {MOST_EQUILIBRIA:,}")
        return found.equilibria

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a grounded claim about the tree holds."""
        claim, places = grounded.claim, grounded.places
        match claim.form:
            case "payoff":
                return _proof(self._leaf(places["outcome"], places["who"]) == places["value"])
            case "will_play":
                return self._will_play(places["after"], claim["action"])
            case "continuation_payoff":
                return self._worth(places["after"], places["who"], places["value"])
            case _:
                everybody = range(self.tree.num_players)
                seats = [self.subject.order[places["who"]]] if "who" in places else list(everybody)
                values = self.tree.payoffs[self.tree.leaves][:, seats]
                return _proof(
                    exact(values.max() if claim.form.startswith("highest") else values.min()) == places["value"]
                )

    def moves(self, node: int) -> tuple[str, ...]:
        """The moves that best play can make at a node, in the order of the game."""
        infoset = self.tree.infosets[int(self.tree.infoset[node])]
        owner = self.tree.players[infoset.player]
        made = {equilibrium.moves[owner][infoset.label] for equilibrium in self.equilibria}
        return tuple(move for move in infoset.moves if move in made)

    def worths(self, node: int, who: int) -> tuple[Fraction, ...]:
        """What a player can get by best play from a node on, each value once."""
        seat = self.subject.order[who]
        return tuple(sorted({self._value(node, seat, one) for one in self.equilibria}))

    def _leaf(self, node: int, who: int) -> Fraction:
        return exact(self.tree.payoffs[node][self.subject.order[who]])

    def _will_play(self, node: int, action: str) -> Proof:
        moves = self.moves(node)
        if action not in moves:
            return Proof(Verdict.REFUTED)
        if len(moves) == 1:
            return Proof(Verdict.PROVED)
        return Proof(Verdict.UNKNOWN, f"a tie: best play may choose {' or '.join(moves)}")

    def _worth(self, node: int, who: int, value: Fraction) -> Proof:
        values = self.worths(node, who)
        if value not in values:
            return Proof(Verdict.REFUTED)
        if len(values) == 1:
            return Proof(Verdict.PROVED)
        return Proof(Verdict.UNKNOWN, "a tie: best play can lead to different payoffs")

    def _value(self, node: int, seat: int, play: SubgamePerfectEquilibrium) -> Fraction:
        owner = int(self.tree.owner[node])
        if owner == LEAF:
            return exact(self.tree.payoffs[node][seat])
        children = self.tree.children[node]
        if owner == CHANCE:
            return sum((_share(self.tree, child) * self._value(child, seat, play) for child in children), Fraction(0))
        infoset = self.tree.infosets[int(self.tree.infoset[node])]
        move = play.moves[self.tree.players[owner]][infoset.label]
        return self._value(children[infoset.moves.index(move)], seat, play)


def _share(tree: Tree, node: int) -> Fraction:
    return exact(tree.probability[node])


def _proof(holds: bool) -> Proof:
    return Proof(Verdict.PROVED if holds else Verdict.REFUTED)
