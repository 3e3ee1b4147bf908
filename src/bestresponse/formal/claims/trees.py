"""What can be claimed of a game played move by move.

Claims are decided by backward induction and by looking at the ends of the game.

Where everybody sees everything, a move is certain where every pure subgame perfect equilibrium
makes it, impossible where none does; where some do and others do not, the mover is indifferent
somewhere below, and the claim is undecided: a tie is stated as a tie. Where something is hidden,
nothing is said of what players who look ahead choose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np

from bestresponse.core.errors import TooLarge
from bestresponse.formal.claims.form import Chain, Move, SharedForms, Ungrounded, form
from bestresponse.formal.claims.subject import Subject, exact
from bestresponse.logic.engine import Proof, Verdict
from bestresponse.theory.trees.perfection.subgame_perfect import (
    SubgamePerfectEquilibrium,
    subgame_perfect,
)
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

MOST_EQUILIBRIA = 2_000

Weighted = tuple[tuple[int, Fraction], ...]
"""Nodes, each with the probability that nature leads there."""

TREE_RULES = Path(__file__).with_name("trees.pl").read_text("utf-8")
"""What the rules of the forms are made of: looking ahead is backward induction, every tie
followed."""


class TreeTheory(SharedForms[Weighted]):
    """Decides claims about one tree."""

    def __init__(self, subject: Subject, tree: Tree) -> None:
        self.subject = subject
        self.tree = tree
        self.num_players = tree.num_players

    @cached_property
    def equilibria(self) -> tuple[SubgamePerfectEquilibrium, ...]:
        """All pure subgame perfect equilibria."""
        solution = subgame_perfect(self.tree, MOST_EQUILIBRIA)
        if not solution.complete:
            raise TooLarge(
                f"the game has {solution.count:,} subgame perfect equilibria, more than"
                f" {MOST_EQUILIBRIA:,}"
            )
        return solution.equilibria

    def list_moves(self, node: int) -> tuple[str, ...]:
        """List the moves that best play can make at a node, in the order of the game."""
        infoset = self.tree.find_infoset(node)
        owner = self.tree.players[infoset.player]
        made = {equilibrium.moves[owner][infoset.label] for equilibrium in self.equilibria}
        return tuple(move for move in infoset.moves if move in made)

    def list_worths(self, node: int, player: int) -> tuple[Fraction, ...]:
        """List what a player can get by best play from a node on, each value once."""
        seat = self.subject.order[player]
        worths = {self._average(seat, self._follow(node, play)) for play in self.equilibria}
        return tuple(sorted(worths))

    def _follow(self, node: int, play: SubgamePerfectEquilibrium) -> Iterator[tuple[int, Fraction]]:
        """Yield the ends that an equilibrium leads to from a node on, with their probabilities."""
        owner = int(self.tree.owner[node])
        children = self.tree.children[node]
        if owner == LEAF:
            yield node, Fraction(1)
        elif owner == CHANCE:
            for child in children:
                probability = exact(self.tree.probability[child])
                for end, weight in self._follow(child, play):
                    yield end, probability * weight
        else:
            infoset = self.tree.find_infoset(node)
            move = play.moves[self.tree.players[owner]][infoset.label]
            yield from self._follow(children[infoset.moves.index(move)], play)

    def _average(self, seat: int, ends: Iterable[tuple[int, Fraction]]) -> Fraction:
        """Return what a player gets on average at some ends."""
        mean = Fraction(0)
        for end, weight in ends:
            mean += weight * exact(self.tree.payoffs[end][seat])
        return mean

    def pay(self, player: int, outcome: Weighted) -> Fraction:
        """Return what a player gets at an end.

        Where that depends on nature, a claim about it cannot be decided.
        """
        values = self._list_payoffs(player, outcome)
        if len(values) > 1:
            raise Ungrounded("it depends on what nature draws, which is not said")
        return values.pop()

    def _list_payoffs(self, player: int, outcome: Weighted) -> set[Fraction]:
        """Return what a player can get, depending on what nature draws."""
        seat = self.subject.order[player]
        payoffs = self.tree.payoffs
        return {exact(payoffs[node][seat]) for node, _ in outcome}

    def bound_payoffs(self, *players: int) -> tuple[Fraction, Fraction]:
        """Return the least and the most that any of these players, all by default, can get."""
        seats = [self.subject.order[player] for player in players or range(self.num_players)]
        paid = self.tree.payoffs[self.tree.leaves][:, seats]
        return exact(paid.min()), exact(paid.max())

    def payoff(self, who: int, value: Fraction, outcome: Weighted) -> Fraction | Proof:
        """Say what a player gets at an end; what no draw of nature leads to is false."""
        values = self._list_payoffs(who, outcome)
        impossible = len(values) > 1 and value not in values
        return Proof(Verdict.REFUTED) if impossible else self.pay(who, outcome)

    @form("{after after}, {who} looking ahead <choose> {action}")
    def will_play(self, who: int, action: str, after: int) -> Proof:
        """Say what a player who looks ahead chooses."""
        moves = self.list_moves(after)
        if action not in moves:
            return Proof(Verdict.REFUTED)
        if len(moves) == 1:
            return Proof(Verdict.PROVED)
        return Proof(Verdict.UNKNOWN, f"a tie: best play may choose {' or '.join(moves)}")

    @form("{after after}, with everybody looking ahead {who} <get> {value}")
    def continuation_payoff(
        self,
        who: int,
        value: Fraction,
        after: int,
    ) -> Fraction | Proof:
        """Say what a player gets if everybody looks ahead."""
        values = self.list_worths(after, who)
        if len(values) == 1:
            return values[0]
        tie = Proof(Verdict.UNKNOWN, "a tie: best play can lead to different payoffs")
        return tie if value in values else Proof(Verdict.REFUTED)

    @form("over what chance draws, {who} <get> {value} on average if {outcome}")
    def average_payoff(self, who: int, value: Fraction, outcome: Weighted) -> Fraction:
        """Say what a player gets on average over what nature draws."""
        return self._average(self.subject.order[who], outcome)

    @form("{after after}, a threat of {who} to choose {action} <is|is not> credible")
    def credible_threat(self, who: int, action: str, after: int) -> Proof:
        """Say whether a player would do as announced, looking ahead."""
        return self.will_play(who, action, after)

    @form("the outcome in which {outcome} <is|is not> that of a subgame perfect equilibrium")
    def subgame_perfect_outcome(self, outcome: Weighted) -> Proof:
        """Say whether players who look ahead end there."""
        ends = {node for node, _ in outcome}
        found = {ends <= dict(self._follow(0, play)).keys() for play in self.equilibria}
        if len(found) > 1:
            return Proof(Verdict.UNKNOWN, "a tie: best play may end there or elsewhere")
        return Proof(Verdict.PROVED if found.pop() else Verdict.REFUTED)

    @form("the outcome in which {outcome} <is|is not> that of a Nash equilibrium")
    def equilibrium_outcome(self, outcome: Weighted) -> bool:
        """Say whether nobody gains by leaving a path if all others then do their worst to them."""
        if not self.subject.tree_is_open:
            raise Ungrounded("equilibria are looked for where nobody's moves are hidden")
        path = {node for node, _ in outcome}
        for node in reversed(range(self.tree.num_nodes)):
            missing = set(self.tree.children[node]) - path
            if len(missing) == len(self.tree.children[node]):
                continue
            if missing and int(self.tree.owner[node]) == CHANCE:
                raise Ungrounded("it does not say what follows every draw")
            path.add(node)
        for seat in range(self.num_players):
            if self._find_most(seat, path) > self._average(seat, outcome):
                return False
        return True

    def _find_most(self, seat: int, path: set[int]) -> Fraction:
        """Return the most that a player can get if the others keep to a path, and punish off it."""
        tree = self.tree
        values = [Fraction(0)] * tree.num_nodes
        for node in reversed(range(tree.num_nodes)):
            owner = int(tree.owner[node])
            below = tree.children[node]
            if owner == LEAF:
                values[node] = exact(tree.payoffs[node][seat])
            elif owner == CHANCE:
                for child in below:
                    values[node] += exact(tree.probability[child]) * values[child]
            elif owner == seat:
                values[node] = max(map(values.__getitem__, below))
            else:
                kept = path.intersection(below) or below
                values[node] = min(map(values.__getitem__, kept))
        return values[0]

    @form("{after after}, the next to choose <is|is not> {who}")
    def moves_next(self, who: int, after: int) -> bool:
        """Say who chooses next."""
        return int(self.tree.owner[after]) == self.subject.order[who]

    @form("{after after}, {who} <know> that {known}")
    def knows(self, who: int, known: Chain, after: int) -> bool:
        """Say whether some moves were made wherever the mover thinks that it may be."""
        is_possible = self.tree.infoset == self.tree.infoset[after]
        for node in np.flatnonzero(is_possible).tolist():
            history = self._list_history(node)
            if not set(known) <= set(history):
                return False
        return True

    def _list_history(self, node: int) -> list[Move]:
        moves = []
        while (parent := int(self.tree.parent[node])) >= 0:
            owner = int(self.tree.owner[parent])
            mover = "nature"
            if owner != CHANCE:
                mover = self.subject.players[self.subject.order.index(owner)]
            moves.append(Move(mover, self.tree.branch_labels[node]))
            node = parent
        return moves
