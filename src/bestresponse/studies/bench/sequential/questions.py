"""Which questions a run on a game played in turn consists of: what to do at an information set, whatever led there.

Every model is asked at every chosen information set, in every way of asking, once for every policy (a mixture) or
several times (sampled moves). Moves are offered in another order each time, so that a habit of taking the first one
shows as indifference and not as a preference. Policies are the outermost loop: a run that stops early has complete
ones.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product, takewhile

import numpy as np

from bestresponse.analysis.theory import find_infoset
from bestresponse.core.ask import Ask, Choice, Lottery, Mixture
from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.errors import SettingError
from bestresponse.core.game import Action, AnyGame, Role, View
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.capabilities import HasNormalForm
from bestresponse.models.base import Model
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.store.folder import Spec
from bestresponse.studies.bench.config import BenchConfig, choose_temperature
from bestresponse.studies.bench.plays import seat_player
from bestresponse.theory.trees.compile import list_answers
from bestresponse.theory.trees.sequence_form import SequenceForm, bin_sums, to_sequence_form
from bestresponse.theory.trees.tree import CHANCE, Tree

State = tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A game of one answer: the player of an information set sees what it knows there, and says what it would do."""

    name: str
    shown: View
    ask: Choice | Mixture
    version: int = 1

    @property
    def roles(self) -> tuple[Role, ...]:
        """The one seat."""
        return (self.shown.role,)

    def start(self) -> State:
        """Begin before the answer."""
        return ()

    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Ask once."""
        return {} if state else {self.shown.role: self.ask}

    def view(self, state: State, role: Role) -> View:
        """Show what the player knows at the information set."""
        return self.shown

    def apply(self, state: State, moves: Mapping[Role, Action]) -> State:
        """End with the answer."""
        return tuple(moves.values())

    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Pay nothing: what a policy earns is computed from all of its answers."""
        return {}


@dataclass(frozen=True)
class Plan:
    """All questions of a run, in order."""

    config: BenchConfig

    @cached_property
    def game(self) -> AnyGame:
        """The game as it is shown."""
        if self.config.game is None:
            raise SettingError("game", "this setting is missing")
        return self.config.game.game()

    @cached_property
    def tree(self) -> Tree:
        """The game in extensive form."""
        if not isinstance(self.config.form, Tree):
            raise SettingError("game", f"{self.game.name} is a payoff table; expected a game played in turn")
        return self.config.form

    @cached_property
    def form(self) -> SequenceForm:
        """The tree in sequence form; InvalidGame where a player forgets."""
        return to_sequence_form(self.tree)

    @cached_property
    def views(self) -> Mapping[int, View]:
        """What its player is shown at every information set."""
        if isinstance(self.game, HasNormalForm):  # all choose at once, and nobody knows anything
            return {
                self.tree.infoset_index[role, role]: self.game.view(self.game.start(), role) for role in self.game.roles
            }
        views: dict[int, View] = {}
        waiting = [self.game.start()]
        while waiting and len(views) < len(self.tree.infosets):
            state = waiting.pop()
            asks = self.game.asks(state)
            answers: list[list[tuple[Role, Action]]] = []
            for role, ask in asks.items():
                if isinstance(ask, Lottery):
                    answers.append([(role, outcome) for outcome, chance in ask.chances if chance])
                    continue
                view = self.game.view(state, role)
                views.setdefault(find_infoset(self.tree, view), view)
                answers.append([(role, answer) for answer in list_answers(self.game, role, ask).values()])
            waiting += [self.game.apply(state, dict(moves)) for moves in product(*answers) if moves]
        return views

    @cached_property
    def seats(self) -> tuple[int, ...]:
        """The numbers of the players that are asked about."""
        return tuple(k for k, name in enumerate(self.tree.players) if name in self.config.seat)

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """Every information set of the seats, in the order of the tree."""
        return tuple(k for k, infoset in enumerate(self.tree.infosets) if infoset.player in self.seats)

    @cached_property
    def infosets(self) -> tuple[int, ...]:
        """The information sets that are asked about: where there are too many, those that uniform play reaches most."""
        most = self.config.max_infosets
        if most is None or most >= len(self.candidates):
            return self.candidates
        tree, reach = self.tree, np.ones(self.tree.num_nodes)
        for node in range(1, tree.num_nodes):
            parent = int(tree.parent[node])
            moves = 1 if tree.owner[parent] == CHANCE else len(tree.children[parent])
            reach[node] = reach[parent] * tree.probability[node] / moves
        asked = tree.infoset >= 0
        reached = bin_sums(tree.infoset[asked], reach[asked], len(tree.infosets))
        likely = sorted(self.candidates, key=lambda k: (-round(float(reached[k]), 12), k))
        return tuple(sorted(likely[:most]))

    def count_answers(self, way: str) -> int:
        """Count the answers at one information set that make up one policy."""
        return self.config.samples if way == "sampled" else 1

    @cached_property
    def total(self) -> int:
        """How many questions there are."""
        return sum(count for _, count in self.count_by_first())

    def count_by_first(self) -> Iterator[tuple[JsonObject, int]]:
        """Yield the first question of every model in every way at an information set, with the number of its like."""
        for data in takewhile(lambda data: data["policy"] == 0, self.list_plays()):
            if data["sample"] == 0:
                yield data, self.config.games * self.count_answers(data["way"])

    def list_plays(self) -> Iterator[JsonObject]:
        """Yield every question as plain data."""
        c = self.config
        self.form  # noqa: B018  forgetful players are an error before anybody is asked
        for policy, index, model, way in product(range(c.games), self.infosets, c.model, c.elicit):
            for sample in range(self.count_answers(way)):
                replicate = policy * self.count_answers(way) + sample
                infoset = self.tree.infosets[index]
                turn = replicate % len(infoset.moves)
                yield {
                    "study": "sequential",
                    "game": c.game.digest if c.game is not None else "",
                    "policy": policy,
                    "player": self.tree.players[infoset.player],
                    "infoset": infoset.label,
                    "moves": [*infoset.moves[turn:], *infoset.moves[:turn]],
                    "model": str(model),
                    "way": way,
                    "elicit": "pure" if way == "sampled" else way,
                    "sample": sample,
                    "replicate": replicate,
                    "style": c.style,
                    "temperature": choose_temperature(c.temperature, way),
                    "max_tokens": c.reply_tokens,
                    "attempts": c.attempts,
                    "llm_seed": c.sent_seed,
                    **c.describe_asking(str(model), way),
                }

    def make_question(self, data: JsonMapping) -> Question:
        """Return the question of a spec as a game of one answer."""
        moves = tuple(data["moves"])
        index = self.tree.infoset_index[data["player"], data["infoset"]]
        ask = Choice(moves) if data["elicit"] == "pure" else Mixture(moves)
        return Question(self.game.name, self.views[index], ask)


@lru_cache(maxsize=8)
def make_plan(config: BenchConfig) -> Plan:
    """Return the plan of these settings, the same object each time: its tree and views are found once."""
    return Plan(config)


def prepare_questions(config: BenchConfig, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that puts one question."""
    plan = make_plan(config)

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        question = plan.make_question(spec.data)
        seats = {question.shown.role: seat_player(spec.data, models[spec.data["model"]])}
        return play(question, seats, submissions=done, on_submission=keep)

    return play_one
