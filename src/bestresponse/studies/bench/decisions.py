"""Questions about the single decisions of one game: what to do at an information set or a position.

Every model is asked at every chosen decision, in every way of asking, once for every policy (a
mixture) or several times (sampled moves). Moves are offered in another order each time, so that a
habit of taking the first one shows as indifference and not as a preference. Policies are the
outermost loop: a run that stops early has complete ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product, takewhile
from typing import TypedDict

import numpy as np

from bestresponse.analysis.truth import Values
from bestresponse.core.ask import Ask, Choice, Mixture
from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.game import AnyGame, Role, View
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Decision, Player
from bestresponse.core.seeds import generator, split
from bestresponse.games.lookup import NamedGame
from bestresponse.models.base import ModelsByName
from bestresponse.players.strategies import FixedMix
from bestresponse.report.stats.statistics import Interval
from bestresponse.runs.execution import KeepAnswer, PlayOne
from bestresponse.runs.store.folder import Spec, StoredPlay
from bestresponse.studies.bench.config import BenchConfig, choose_temperature, is_player
from bestresponse.studies.bench.plan import seat_player
from bestresponse.telling.render import check_length
from bestresponse.theory.positions.solve import list_best

State = tuple[object, ...]
RECOGNITION = "Which known game is this?"
"""How the question which game the rules tell is called among the positions."""


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
class DecisionPoint:
    """Somebody is to move: what it is told there, and what it can do.

    `name` tells the decision from the others of its game, `place` is what a spec says of it, and
    `turn` the move that is offered first at first.
    """

    role: Role
    name: str
    view: View
    moves: tuple[str, ...]
    place: JsonMapping
    turn: int = 0


class AskedGameRow(TypedDict):
    """The game: how many decisions it has, how it was solved, how many are asked about."""

    decisions: int
    asked: int
    method: str
    positions: int | None
    bound: float | None
    value: float | None


def find_hardness(values: Values) -> float:
    """Return what uniform play loses at a decision, as a share of what the worst move loses."""
    worths = values.worths[0]
    spread = float(np.ptp(worths))
    return float(worths.max() - worths.mean()) / spread if spread else 0.0


@dataclass(frozen=True)
class DecisionPlan(ABC):
    """All questions of a run about one game, in order."""

    config: BenchConfig

    @cached_property
    def game(self) -> AnyGame:
        """The game as it is shown."""
        assert isinstance(self.config.game, NamedGame), "decisions are those of one game"
        game = self.config.game.game()
        rules = game.view(game.start(), game.roles[0]).rules
        check_length(rules, game.name, self.config.max_prompt_tokens)
        return game

    @cached_property
    @abstractmethod
    def decisions(self) -> Mapping[int, DecisionPoint]:
        """The decisions that are asked about, by their numbers in the game."""

    @abstractmethod
    def describe(self) -> AskedGameRow:
        """Say how many decisions the game has, and how it was solved."""

    @property
    @abstractmethod
    def what(self) -> str:
        """What is asked about, in words."""

    @abstractmethod
    def find_values(self, number: int) -> Values | None:
        """Return what the moves of a decision are worth there if all play on as theory says.

        Returns None where theory does not say.
        """

    def list_best(self, number: int) -> list[str]:
        """List the best answers; none where theory does not say."""
        values = self.find_values(number)
        return [] if values is None else list_best(values.by_answer)

    @abstractmethod
    def find_solution(self, number: int) -> Mapping[str, float]:
        """Return how often an equilibrium makes each move."""

    @property
    def num_policies(self) -> int:
        """How often every decision is asked about."""
        return self.config.games

    def count_answers(self, way: str) -> int:
        """Count the answers at one decision that make up one policy."""
        return self.config.samples if way.startswith("sampled") else 1

    @cached_property
    def total(self) -> int:
        """How many questions there are."""
        return sum(count for _, count in self.count_by_first())

    def count_by_first(self) -> Iterator[tuple[JsonObject, int]]:
        """Yield the first question of every model in every way at a decision.

        Each comes with the number of questions like it.
        """
        for data in takewhile(lambda data: data["policy"] == 0, self.list_plays()):
            if data["sample"] == 0:
                yield data, self.num_policies * self.count_answers(data["way"])

    def list_plays(self) -> Iterator[JsonObject]:
        """Yield every question as plain data."""
        c = self.config
        for policy, (number, decision), model, way, effort in product(
            range(self.num_policies),
            self.decisions.items(),
            c.model,
            c.elicit,
            c.effort or ("",),
        ):
            for sample in range(self.count_answers(way)):
                replicate = policy * self.count_answers(way) + sample
                turn = (decision.turn + replicate) % len(decision.moves)
                yield {
                    "study": "bench",
                    "game": c.game.digest if isinstance(c.game, NamedGame) else "",
                    "policy": policy,
                    "decision": number,
                    "player": decision.role,
                    **decision.place,
                    "moves": [*decision.moves[turn:], *decision.moves[:turn]],
                    "model": str(model),
                    "way": f"{way}, {effort}" if len(c.effort) > 1 else way,
                    "elicit": "pure" if way == "sampled" else way,
                    "sample": sample,
                    "replicate": replicate,
                    "style": c.style,
                    "temperature": choose_temperature(c.temperature, way),
                    "max_tokens": c.reply_tokens,
                    "attempts": c.attempts,
                    "llm_seed": c.sent_seed,
                    **c.describe_asking(str(model), way, effort),
                }

    def make_game(self, data: JsonMapping) -> AnyGame:
        """Return the question of a spec as a game of one answer."""
        moves = tuple(data["moves"])
        ask = Choice(moves) if data["elicit"] == "pure" else Mixture(moves)
        return PolicyQuestion(self.game.name, self.decisions[data["decision"]].view, ask)

    def seat_without_model(self, data: JsonMapping) -> FixedMix:
        """Seat a player that needs no model."""
        moves: list[str] = data["moves"]
        place = (data["player"], data["infoset"]) if "infoset" in data else (data["decision"],)
        seed = split(data["llm_seed"], "player", *place, data["replicate"])
        match data["model"]:
            case "uniform":
                mix: Mapping[str, float] = dict.fromkeys(moves, 1 / len(moves))
            case "random":
                drawn = generator(seed, "move").choice(sorted(moves))
                mix = {move: float(move == drawn) for move in moves}
            case _:
                mix = self.find_solution(data["decision"])
        return FixedMix(tuple(mix[move] for move in moves), data["model"], seed)

    def seat(self, data: JsonMapping, models: ModelsByName) -> Player:
        """Seat who is asked."""
        if is_player(data["model"]):
            return self.seat_without_model(data)
        return seat_player(data, models[data["model"]])

    def list_answers(self, play: StoredPlay) -> Iterator[tuple[int, Sequence[str], Decision]]:
        """Yield what was answered at which decision, and how its moves were offered."""
        data = play.data
        yield data["decision"], data["moves"], play.record.submissions[-1].decision

    def measure_skill(self, answers: tuple[tuple[int, str], ...]) -> Interval | None:
        """Return the precision of a player, where questions were chosen to measure it."""
        return None

    def prepare(self, models: ModelsByName) -> PlayOne:
        """Return the function that puts one question."""

        def play_one(
            spec: Spec,
            done: list[Submission],
            keep: KeepAnswer,
        ) -> Record:
            data = spec.data
            question = self.make_game(data)
            seats = dict.fromkeys(question.roles, self.seat(data, models))
            return play(question, seats, submissions=done, on_submission=keep)

        return play_one
