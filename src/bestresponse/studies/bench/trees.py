"""Which information sets of a game tree a run asks about, and what theory says of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from bestresponse.analysis.theory import MOST_NODES, Theory, describe_theory, find_infoset
from bestresponse.analysis.truth import TreeTruth, Values, find_truth
from bestresponse.core.ask import Lottery
from bestresponse.core.errors import SettingError
from bestresponse.core.game import Action, Role, View
from bestresponse.games.capabilities import HasNormalForm
from bestresponse.studies.bench.decisions import AskedGameRow, DecisionPlan, DecisionPoint
from bestresponse.studies.bench.policies import Arena, cut
from bestresponse.theory.trees import sequence_form
from bestresponse.theory.trees.compile import list_answers
from bestresponse.theory.trees.tree import CHANCE, Policy, Tree

_USUAL_INFOSETS = 100
"""Of a large tree: nobody wants to ask or answer thousands of questions."""


@dataclass(frozen=True)
class TreePlan(DecisionPlan):
    """The information sets of a game played in turn, or in which more than two choose at once."""

    @cached_property
    def tree(self) -> Tree:
        """The game in extensive form."""
        assert isinstance(self.config.form, Tree), "the game is played in turn"
        return self.config.form

    @cached_property
    def form(self) -> sequence_form.SequenceForm:
        """The tree in sequence form; InvalidGame where a player forgets."""
        return sequence_form.to_sequence_form(self.tree)

    @cached_property
    def arena(self) -> Arena:
        """The tree with the equilibrium that was found."""
        return Arena(self.form, self.equilibrium)

    @cached_property
    def views(self) -> Mapping[int, View]:
        """What its player is shown at the information sets that are asked about, and others."""
        if isinstance(self.game, HasNormalForm):  # all choose at once, and nobody knows anything
            return {
                self.tree.infoset_index[role, role]: self.game.view(self.game.start(), role)
                for role in self.game.roles
            }
        views: dict[int, View] = {}
        waiting = deque([self.game.start()])
        while waiting and not views.keys() >= set(self.infosets):
            state = waiting.popleft()
            asks = self.game.asks(state)
            answers: list[list[tuple[Role, Action]]] = []
            for role, ask in asks.items():
                if isinstance(ask, Lottery):
                    answers.append([(role, outcome) for outcome, chance in ask.chances if chance])
                    continue
                view = self.game.view(state, role)
                views.setdefault(find_infoset(self.tree, view), view)
                possible = list_answers(self.game, role, ask).values()
                answers.append([(role, answer) for answer in possible])
            waiting += [self.game.apply(state, dict(moves)) for moves in product(*answers) if moves]
        return views

    @cached_property
    def seats(self) -> tuple[int, ...]:
        """The numbers of the players that are asked about."""
        return tuple(k for k, name in enumerate(self.tree.players) if name in self.config.seat)

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """Every information set of the seats with a choice, in the order of the tree."""
        found = tuple(
            k
            for k, infoset in enumerate(self.tree.infosets)
            if infoset.player in self.seats and len(infoset.moves) > 1
        )
        if not found:
            raise SettingError("seat", f"nobody asked has a choice in {self.game.name}")
        return found

    @cached_property
    def infosets(self) -> tuple[int, ...]:
        """The information sets that are asked about.

        If there are too many, these are those that uniform play reaches most.
        """
        usual = _USUAL_INFOSETS if self.tree.num_nodes > MOST_NODES else None
        most = self.config.max_infosets or usual
        if most is None or most >= len(self.candidates):
            return self.candidates
        tree = self.tree
        reach = np.ones(self.tree.num_nodes)
        for node in range(1, tree.num_nodes):
            parent = int(tree.parent[node])
            moves = 1 if tree.owner[parent] == CHANCE else len(tree.children[parent])
            reach[node] = reach[parent] * tree.probability[node] / moves
        asked = tree.infoset >= 0
        reached = sequence_form.bin_sums(tree.infoset[asked], reach[asked], len(tree.infosets))
        likely = sorted(self.candidates, key=lambda k: (-round(float(reached[k]), 12), k))
        return tuple(sorted(likely[:most]))

    @cached_property
    def decisions(self) -> Mapping[int, DecisionPoint]:
        """The information sets that are asked about."""
        self.form  # noqa: B018  a forgetful player is an error before anybody is asked
        decisions = {}
        for k in self.infosets:
            infoset = self.tree.infosets[k]
            decisions[k] = DecisionPoint(
                role=self.tree.players[infoset.player],
                name=infoset.label,
                view=self.views[k],
                moves=infoset.moves,
                place={"infoset": infoset.label},
            )
        return decisions

    def describe(self) -> AskedGameRow:
        """Say how many information sets have a choice, and how the tree was solved."""
        return AskedGameRow(
            decisions=len(self.candidates),
            asked=len(self.infosets),
            method=self.theory.method,
            positions=None,
            bound=None,
            value=None,
        )

    @property
    def what(self) -> str:
        """How many information sets are asked about."""
        asked = f"{len(self.infosets):,} of {len(self.candidates):,}"
        return f"{asked} information sets of {self.game.name}"

    @cached_property
    def theory(self) -> Theory:
        """What theory says of the game."""
        return describe_theory(self.game)

    @cached_property
    def equilibrium(self) -> Policy | None:
        """The first equilibrium that was found, of a payoff table as a policy in its tree.

        Returns None where there is none.
        """
        if self.theory.policies:
            return self.theory.policies[0]
        if not self.theory.predicted:
            return None
        shares = self.theory.predicted[0].shares
        row: list[float] = []
        for infoset in self.tree.infosets:
            player = self.tree.players[infoset.player]
            mix = shares[player][""]
            row += [mix[move] for move in infoset.moves]
        return Policy(self.tree, np.array(row))

    def find_values(self, number: int) -> Values | None:
        """Return what the moves are worth at an information set against the equilibrium.

        Returns None where single moves say nothing, since somebody mixes.
        """
        truth = find_truth(self.game)
        if not isinstance(truth, TreeTruth) or not truth.judges_moves:
            return None
        return truth.values_at(number)

    def find_solution(self, number: int) -> Mapping[str, float]:
        """Return what the equilibrium does at an information set.

        Raises SettingError where none was found.
        """
        if self.equilibrium is None:
            raise SettingError(
                "model", f"no equilibrium of {self.game.name} was found; leave out `equilibrium`"
            )
        shares = cut(self.tree, self.equilibrium.probabilities, number)
        chances = [max(float(share), 0.0) for share in shares]
        return dict(zip(self.tree.infosets[number].moves, chances, strict=True))
