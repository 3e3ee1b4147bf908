"""Which questions a run on a game played in turn consists of: what to do at an information
set, whatever led there.

Every model is asked at every chosen information set, in every way of asking, once for every policy
(a mixture) or several times (sampled moves). Moves are offered in another order each time, so that
a habit of taking the first one shows as indifference and not as a preference. Policies are the
outermost loop: a run that stops early has complete ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product, takewhile

import numpy as np

from bestresponse.analysis.theory import Theory, describe_theory, find_infoset
from bestresponse.core.ask import Ask, Choice, Lottery, Mixture
from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.errors import SettingError
from bestresponse.core.game import Action, AnyGame, Role, View
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Player
from bestresponse.core.seeds import generator, split
from bestresponse.games.capabilities import HasNormalForm
from bestresponse.games.lookup import NamedGame
from bestresponse.models.base import Model
from bestresponse.players.strategies import FixedMix
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.store.folder import Spec
from bestresponse.studies.bench.config import BenchConfig, choose_temperature, is_player
from bestresponse.studies.bench.plan import seat_player
from bestresponse.studies.bench.sequential.policies import cut
from bestresponse.telling.render import check_length
from bestresponse.theory.trees import sequence_form
from bestresponse.theory.trees.compile import list_answers
from bestresponse.theory.trees.tree import (
    CHANCE,
    Policy,
    Tree,
)

State = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class PolicyQuestion:
    """A game of one answer.

    The player of an information set sees what it knows there, and says what it would do.
    """

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

    def apply(self, state: State, moves: Mapping[Role, object]) -> State:
        """End with the answer."""
        return tuple(moves.values())

    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Pay nothing: what a policy earns is computed from all of its answers."""
        return {}


@dataclass(frozen=True)
class QuestionPlan:
    """All questions of a run, in order."""

    config: BenchConfig

    @cached_property
    def game(self) -> AnyGame:
        """The game as it is shown."""
        if not isinstance(self.config.game, NamedGame):
            raise SettingError("game", "this setting is missing")
        game = self.config.game.game()
        rules = game.view(game.start(), game.roles[0]).rules
        check_length(rules, game.name, self.config.max_prompt_tokens)
        return game

    @cached_property
    def tree(self) -> Tree:
        """The game in extensive form."""
        if not isinstance(self.config.form, Tree):
            raise SettingError(
                "game", f"{self.game.name} is a payoff table; expected a game played in turn"
            )
        return self.config.form

    @cached_property
    def form(self) -> sequence_form.SequenceForm:
        """The tree in sequence form; InvalidGame where a player forgets."""
        return sequence_form.to_sequence_form(self.tree)

    @cached_property
    def views(self) -> Mapping[int, View]:
        """What its player is shown at every information set."""
        if isinstance(self.game, HasNormalForm):  # all choose at once, and nobody knows anything
            return {
                self.tree.infoset_index[role, role]: self.game.view(self.game.start(), role)
                for role in self.game.roles
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
        most = self.config.max_infosets
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

    def count_answers(self, way: str) -> int:
        """Count the answers at one information set that make up one policy."""
        return self.config.samples if way == "sampled" else 1

    @cached_property
    def total(self) -> int:
        """How many questions there are."""
        return sum(count for _, count in self.count_by_first())

    def count_by_first(self) -> Iterator[tuple[JsonObject, int]]:
        """Yield the first question of every model in every way at an information set.

        Each comes with the number of questions like it.
        """
        for data in takewhile(lambda data: data["policy"] == 0, self.list_plays()):
            if data["sample"] == 0:
                yield data, self.config.games * self.count_answers(data["way"])

    def list_plays(self) -> Iterator[JsonObject]:
        """Yield every question as plain data."""
        c = self.config
        # Forgetful players and a game that is too large to be told are errors before anybody is
        # asked.
        self.form  # noqa: B018
        self.game  # noqa: B018
        for policy, index, model, way in product(
            range(c.games),
            self.infosets,
            c.model,
            c.elicit,
        ):
            for sample in range(self.count_answers(way)):
                replicate = policy * self.count_answers(way) + sample
                infoset = self.tree.infosets[index]
                turn = replicate % len(infoset.moves)
                yield {
                    "study": "sequential",
                    "game": c.game.digest if isinstance(c.game, NamedGame) else "",
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

    def find_equilibrium_mix(self, player: str, infoset: str) -> dict[str, float]:
        """Return what the equilibrium does at an information set.

        Raises SettingError where none was found.
        """
        if self.equilibrium is None:
            raise SettingError(
                "model", f"no equilibrium of {self.game.name} was found; leave out `equilibrium`"
            )
        index = self.tree.infoset_index[player, infoset]
        shares = cut(self.tree, self.equilibrium.probabilities, index)
        chances = [max(float(share), 0.0) for share in shares]
        return dict(zip(self.tree.infosets[index].moves, chances, strict=True))

    def make_question(self, data: JsonMapping) -> PolicyQuestion:
        """Return the question of a spec as a game of one answer."""
        moves = tuple(data["moves"])
        index = self.tree.infoset_index[data["player"], data["infoset"]]
        ask = Choice(moves) if data["elicit"] == "pure" else Mixture(moves)
        return PolicyQuestion(self.game.name, self.views[index], ask)


@lru_cache(maxsize=8)
def plan_questions(config: BenchConfig) -> QuestionPlan:
    """Return the plan of these settings, the same object each time.

    Its tree and views are found once.
    """
    return QuestionPlan(config)


def prepare_questions(config: BenchConfig, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that puts one question."""
    plan = plan_questions(config)

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        question = plan.make_question(spec.data)
        if is_player(spec.data["model"]):
            player: Player = seat_tree_player(plan, spec)
        else:
            player = seat_player(spec.data, models[spec.data["model"]])
        return play(
            question,
            {question.shown.role: player},
            submissions=done,
            on_submission=keep,
        )

    return play_one


def seat_tree_player(plan: QuestionPlan, spec: Spec) -> FixedMix:
    """Seat a player without a model at an information set."""
    data = spec.data
    moves = list(data["moves"])
    seed = split(
        data["llm_seed"],
        "player",
        data["player"],
        data["infoset"],
        data["replicate"],
    )
    match data["model"]:
        case "uniform":
            mix = dict.fromkeys(moves, 1 / len(moves))
        case "random":
            drawn = generator(seed, "move").choice(sorted(moves))
            mix = {move: float(move == drawn) for move in moves}
        case _:
            mix = plan.find_equilibrium_mix(data["player"], data["infoset"])
    return FixedMix(tuple(mix[move] for move in moves), data["model"], seed)
