"""Claims about games that are played move by move, decided by theory's backward induction.

Where everybody sees everything, a move is certain where every pure subgame perfect equilibrium makes it, impossible
where none does; where some do and others do not, the mover is indifferent somewhere below, and the claim is undecided:
a tie is stated as a tie. Where something is hidden, a move is certain where all others are worse in every case that
the mover thinks possible (`surviving_moves`), and undecided where that depends on what the others do.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from bestresponse.core.errors import TooLarge
from bestresponse.formal.claims.claim import Chain, Move, number_text
from bestresponse.formal.claims.grounding import Grounded
from bestresponse.formal.claims.subject import Subject, exact
from bestresponse.formal.claims.surviving_moves import Surviving, find_surviving_moves
from bestresponse.logic.engine import Proof, Verdict
from bestresponse.theory.trees.perfection.subgame_perfect import SubgamePerfectEquilibrium, subgame_perfect
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["TreePlay"]

MOST_EQUILIBRIA: Final = 2_000
Weighted = tuple[tuple[int, Fraction], ...]
"""Nodes, each with the probability that nature leads there."""


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

    @cached_property
    def surviving(self) -> Surviving:
        """The moves that remain when what is worse in every case is taken away."""
        return find_surviving_moves(self.tree)

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a grounded claim about the tree holds."""
        claim, places = grounded.claim, grounded.places
        match claim.form:
            case "payoff":
                return self._pays(places["outcome"], places["who"], places["value"])
            case "average_payoff":
                return _proof(self.average(places["outcome"], places["who"]) == places["value"])
            case "moves_next":
                return _proof(int(self.tree.owner[places["after"]]) == self.subject.order[places["who"]])
            case "knows":
                return _proof(self._is_known(places["after"], places["known"]))
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
        if not self.subject.tree_is_open:
            kept = self.surviving.moves[int(self.tree.infoset[node])]
            return tuple(infoset.moves[k] for k in sorted(kept))
        owner = self.tree.players[infoset.player]
        made = {equilibrium.moves[owner][infoset.label] for equilibrium in self.equilibria}
        return tuple(move for move in infoset.moves if move in made)

    def worths(self, node: int, who: int) -> tuple[Fraction, ...]:
        """What a player can get by best play from a node on, each value once; the ends of a range if there is one."""
        seat = self.subject.order[who]
        if not self.subject.tree_is_open:
            return tuple(sorted({bound[node][seat] for bound in (self.surviving.least, self.surviving.most)}))
        return tuple(sorted({self._value(node, seat, one) for one in self.equilibria}))

    def average(self, nodes: Weighted, who: int) -> Fraction:
        """What a player gets on average over ends, each with its probability."""
        return sum((weight * self._leaf(node, who) for node, weight in nodes), Fraction(0))

    def _leaf(self, node: int, who: int) -> Fraction:
        return exact(self.tree.payoffs[node][self.subject.order[who]])

    def _pays(self, nodes: Weighted, who: int, value: Fraction) -> Proof:
        """Decide what somebody gets at an end; where that depends on nature it is neither true nor false."""
        values = {self._leaf(node, who) for node, _ in nodes}
        if len(values) > 1 and value in values:
            return Proof(Verdict.UNKNOWN, "it depends on what nature draws, which is not said")
        return _proof(value in values)

    def _is_known(self, node: int, known: Chain) -> bool:
        """Whether all these moves were made wherever the mover thinks that it may be."""
        return all(set(known) <= set(self._history(place)) for place in self._find_set(node))

    def _find_set(self, node: int) -> list[int]:
        return [int(place) for place in np.flatnonzero(self.tree.infoset == self.tree.infoset[node])]

    def _history(self, node: int) -> list[Move]:
        moves = []
        while (parent := int(self.tree.parent[node])) >= 0:
            owner = int(self.tree.owner[parent])
            who = "nature" if owner == CHANCE else self.subject.players[self.subject.order.index(owner)]
            moves.append(Move(who, self.tree.branch_labels[node]))
            node = parent
        return moves

    def _will_play(self, node: int, action: str) -> Proof:
        moves = self.moves(node)
        if action not in moves:
            return Proof(Verdict.REFUTED)
        if len(moves) == 1:
            return Proof(Verdict.PROVED)
        why = "a tie: best play may choose" if self.subject.tree_is_open else "it depends on what the others do:"
        return Proof(Verdict.UNKNOWN, f"{why} {' or '.join(moves)}")

    def _worth(self, node: int, who: int, value: Fraction) -> Proof:
        values = self.worths(node, who)
        if not self.subject.tree_is_open and values[0] <= value <= values[-1] and len(values) > 1:
            low, high = map(number_text, values)
            return Proof(Verdict.UNKNOWN, f"between {low} and {high}, depending on what the players do")
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
