"""Which questions a run on a game played in turn consists of.

Every model is asked at every chosen information set, in every way of asking, once for every policy (a mixture) or
several times (sampled moves). Moves are offered in another order each time, so that a habit of taking the first one
shows as indifference and not as a preference. Policies are the outermost loop: a run that stops early has complete
ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np

from bestresponse.core.ask import Choice, Mixture
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.game import AnyGame, View
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.registry import did_you_mean
from bestresponse.runs.spec import Spec
from bestresponse.studies.bench.config import choose_temperature
from bestresponse.studies.bench.sequential.config import SequentialConfig
from bestresponse.studies.bench.sequential.questions import Question, find_views
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.policy import uniform_policy
from bestresponse.theory.trees.sequence_form import SequenceForm, bin_sums, to_sequence_form
from bestresponse.theory.trees.tree import CHANCE, Tree

__all__ = ["STUDY", "Plan", "make_plan"]

STUDY = "sequential"


@dataclass(frozen=True)
class Plan:
    """All questions of a run, in order."""

    config: SequentialConfig

    @cached_property
    def game(self) -> AnyGame:
        """The game as it is shown."""
        return self.config.game.game()

    @cached_property
    def tree(self) -> Tree:
        """The game in extensive form."""
        found = self.config.game.found.solvable()
        if not isinstance(found, Tree):
            raise InvalidGame(f"{self.config.game.name} is a payoff table; expected a game played in turn")
        return found

    @cached_property
    def form(self) -> SequenceForm:
        """The tree in sequence form; InvalidGame where a player forgets."""
        return to_sequence_form(self.tree)

    @cached_property
    def views(self) -> Mapping[int, View]:
        """What is shown at every information set."""
        return find_views(self.game, self.tree)

    @cached_property
    def seats(self) -> tuple[int, ...]:
        """The numbers of the players that are asked about."""
        players = self.tree.players
        for name in self.config.seats:
            if name not in players:
                hint = did_you_mean(name, list(players))
                raise UsageError(f"--seat {name}: expected one of {', '.join(players)}.{hint}")
        return tuple(k for k, name in enumerate(players) if name in (self.config.seats or players))

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """Every information set of the seats, in the order of the tree."""
        return tuple(k for k, one in enumerate(self.tree.infosets) if one.player in self.seats)

    @cached_property
    def infosets(self) -> tuple[int, ...]:
        """The information sets that are asked about: where there are too many, those that uniform play reaches most."""
        most = self.config.max_infosets
        if most is None or most >= len(self.candidates):
            return self.candidates
        reach = _measure_reach(self.tree)
        likely = sorted(self.candidates, key=lambda k: (-round(float(reach[k]), 12), k))
        return tuple(sorted(likely[:most]))

    @property
    def complete(self) -> bool:
        """Whether every information set of the seats is asked about."""
        return len(self.infosets) == len(self.candidates)

    @cached_property
    def total(self) -> int:
        """How many questions there are."""
        each = sum(self.config.count_answers(way) for way in self.config.elicit)
        return len(self.infosets) * len(self.config.models) * self.config.policies * each

    def specs(self) -> Iterator[Spec]:
        """Yield every question as plain data."""
        c = self.config
        self.form  # noqa: B018  forgetful players are an error before anybody is asked
        for policy, index, model, way in product(range(c.policies), self.infosets, c.models, c.elicit):
            answers = c.count_answers(way)
            for sample in range(answers):
                yield Spec.of(self._describe(policy, index, model, way, sample, policy * answers + sample))

    def _describe(self, policy: int, index: int, model: str, way: str, sample: int, replicate: int) -> JsonObject:
        c, infoset = self.config, self.tree.infosets[index]
        turn = replicate % len(infoset.moves)
        return {
            "study": STUDY,
            "game": c.game.digest,
            "policy": policy,
            "player": self.tree.players[infoset.player],
            "infoset": infoset.label,
            "moves": [*infoset.moves[turn:], *infoset.moves[:turn]],
            "model": model,
            "way": way,
            "elicit": "pure" if way == "sampled" else way,
            "sample": sample,
            "replicate": replicate,
            "style": c.style,
            "temperature": choose_temperature(c.temperature, way),
            "max_tokens": c.reply_tokens,
            "attempts": c.attempts,
            "think": c.think,
            "llm_seed": c.llm_seed,
        }

    def make_question(self, data: JsonMapping) -> Question:
        """Return the question of a spec as a game of one answer."""
        moves = tuple(data["moves"])
        ask = Choice(moves) if data["elicit"] == "pure" else Mixture(moves)
        index = self.tree.infoset_index[data["player"], data["infoset"]]
        return Question(self.game.name, self.views[index], ask)

    def make_first_question(self, infoset: int) -> Question:
        """Return the question at an information set with which every run begins."""
        return self.make_question(self._describe(0, infoset, self.config.models[0], self.config.elicit[0], 0, 0))


@lru_cache(maxsize=8)
def make_plan(config: SequentialConfig) -> Plan:
    """Return the plan of these settings, the same object each time: its tree and views are found once."""
    return Plan(config)


def _measure_reach(tree: Tree) -> Array:
    """Return how likely uniform play comes to each information set."""
    row, reach = uniform_policy(tree).probabilities, np.ones(tree.num_nodes)
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        chance = tree.owner[parent] == CHANCE
        place = tree.first_move[tree.infoset[parent]] + tree.move[node]
        reach[node] = reach[parent] * (tree.probability[node] if chance else row[place])
    asked = tree.infoset >= 0
    return bin_sums(tree.infoset[asked], reach[asked], len(tree.infosets))
