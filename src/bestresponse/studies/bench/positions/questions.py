"""Which positions of a game a run asks about, and how a question is put.

Positions are met by random, by partly random and by best play. Where there is one legal move, or
all moves are worth the same, there is nothing to decide, and nothing is asked. All players are
asked the same questions. Moves are offered in another order each time, so that a habit of taking
the first one shows as indifference and not as a preference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product, takewhile
from random import Random
from typing import Any

from bestresponse.core.ask import Choice, Mixture
from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.errors import SettingError
from bestresponse.core.game import NATURE, Role, View
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Player
from bestresponse.core.seeds import generator, split
from bestresponse.games.lookup import NamedGame
from bestresponse.games.positions import Moves
from bestresponse.models.base import Model
from bestresponse.players.strategies import EQUILIBRIUM, FixedMix
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.store.folder import Spec
from bestresponse.studies.bench.config import BenchConfig, choose_temperature, is_player
from bestresponse.studies.bench.plan import seat_player
from bestresponse.studies.bench.sequential.questions import PolicyQuestion
from bestresponse.telling.render import write_history
from bestresponse.theory.positions.solve import TIE, list_best

_ERRORS = (1.0, 0.5, 0.0)
"""How often those who meet the positions move at random: players of every strength are asked about
positions that they may come to."""
_MOST_PLAYS = 40
"""For each position that is wanted; a small game has no more."""
_MOST_MOVES = 1_000


@dataclass(frozen=True)
class PositionQuestion:
    """A position by the moves that led there, and what every legal move is worth."""

    path: Moves
    role: Role
    view: View
    worths: Mapping[str, float]

    @property
    def range(self) -> float:
        """What the worst move loses."""
        return max(self.worths.values()) - min(self.worths.values())

    def measure_loss(self, mix: Mapping[str, float]) -> float:
        """Return what these probabilities lose."""
        worth = sum(share * self.worths[move] for move, share in mix.items())
        return max(0.0, max(self.worths.values()) - worth)

    def measure_best(self, mix: Mapping[str, float]) -> float:
        """Return how likely these probabilities choose a best move."""
        return min(1.0, sum(mix[move] for move in list_best(self.worths)))


@dataclass(frozen=True)
class PositionPlan:
    """All questions of a run, in order."""

    config: BenchConfig

    @cached_property
    def game(self) -> Any:
        """The game that is asked about."""
        assert isinstance(self.config.game, NamedGame)
        return self.config.game.game()

    @cached_property
    def questions(self) -> tuple[PositionQuestion, ...]:
        """The positions that are asked about, in the order in which they were met."""
        rng = generator(self.config.seed, "positions")
        found: dict[str, PositionQuestion] = {}
        for number in range(_MOST_PLAYS * self.config.games):
            for question in self._play(_ERRORS[number % len(_ERRORS)], rng):
                found.setdefault(question.view.question, question)
                if len(found) == self.config.games:
                    return tuple(found.values())
        if not found:
            raise SettingError("game", f"{self.game.name} has no position at which a move matters")
        return tuple(found.values())

    def _play(self, error: float, rng: Random) -> Iterator[PositionQuestion]:
        """Play once, with that share of random moves; yield the positions at which moves matter."""
        state = self.game.start()
        path: Moves = ()
        while len(path) < _MOST_MOVES and (asks := self.game.asks(state)):
            position = self.game.find_position(state)
            turn = self.game.find_turn(position)
            if turn.role == NATURE:
                move = rng.choices(turn.moves, turn.chances)[0]
            else:
                worths = self.config.solved.list_worths(self.game, position)
                if turn.role in self.config.seat and _matters(worths):
                    view = self.game.view(state, turn.role)
                    yield PositionQuestion(path, turn.role, view, worths)
                is_random = rng.random() < error
                move = rng.choice(list(worths) if is_random else list_best(worths))
            state = self.game.apply(state, dict.fromkeys(asks, move))
            path = (*path, (turn.role, move))

    def tell(self, question: PositionQuestion) -> str:
        """Tell the position of a question in one line."""
        return " ".join(write_history(question.view).split())

    def count_answers(self, way: str) -> int:
        """Count the answers to one question."""
        return self.config.samples if way == "sampled" else 1

    @cached_property
    def total(self) -> int:
        """How many answers there are."""
        return sum(count for _, count in self.count_by_first())

    def count_by_first(self) -> Iterator[tuple[JsonObject, int]]:
        """Yield every model's first question in every way, with the number of those like it."""
        for data in takewhile(lambda data: data["question"] == 0, self.list_plays()):
            if data["sample"] == 0:
                yield data, len(self.questions) * self.count_answers(data["way"])

    def list_plays(self) -> Iterator[JsonObject]:
        """Yield every question as plain data."""
        c = self.config
        numbered = enumerate(self.questions)
        for (number, question), model, way in product(numbered, c.model, c.elicit):
            moves = list(question.worths)
            for sample in range(self.count_answers(way)):
                turn = (number + sample) % len(moves)
                yield {
                    "study": "positions",
                    "game": c.game.digest if isinstance(c.game, NamedGame) else "",
                    "question": number,
                    "player": question.role,
                    "path": [list(step) for step in question.path],
                    "moves": [*moves[turn:], *moves[:turn]],
                    "model": str(model),
                    "way": way,
                    "elicit": "pure" if way == "sampled" else way,
                    "sample": sample,
                    "replicate": sample,
                    "style": c.style,
                    "temperature": choose_temperature(c.temperature, way),
                    "max_tokens": c.reply_tokens,
                    "attempts": c.attempts,
                    "llm_seed": c.sent_seed,
                    **c.describe_asking(str(model), way),
                }

    def make_question(self, data: JsonMapping) -> PolicyQuestion:
        """Return the question of a spec as a game of one answer."""
        moves = tuple(data["moves"])
        ask = Choice(moves) if data["elicit"] == "pure" else Mixture(moves)
        return PolicyQuestion(self.game.name, self.questions[data["question"]].view, ask)

    def find_mix(self, data: JsonMapping, rng: Random) -> dict[str, float]:
        """Return how a player without a model answers a question."""
        question = self.questions[data["question"]]
        chosen = list(question.worths)
        if data["model"] == EQUILIBRIUM:
            chosen = list_best(question.worths)
        elif data["model"] == "random":
            chosen = [rng.choice(chosen)]
        return {move: (move in chosen) / len(chosen) for move in data["moves"]}


def _matters(worths: Mapping[str, float]) -> bool:
    return max(worths.values()) - min(worths.values()) > TIE


@lru_cache(maxsize=8)
def plan_positions(config: BenchConfig) -> PositionPlan:
    """Return the plan of these settings, the same object each time."""
    return PositionPlan(config)


def prepare_positions(config: BenchConfig, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that puts one question."""
    plan = plan_positions(config)

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        data = spec.data
        question = plan.make_question(data)
        if is_player(data["model"]):
            path = ("player", data["question"], data["replicate"])
            mix = plan.find_mix(data, generator(data["llm_seed"], *path))
            seed = split(data["llm_seed"], *path)
            player: Player = FixedMix(tuple(mix.values()), data["model"], seed)
        else:
            player = seat_player(data, models[data["model"]])
        seats = {question.shown.role: player}
        return play(question, seats, submissions=done, on_submission=keep)

    return play_one
