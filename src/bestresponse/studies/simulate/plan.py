"""Which plays a run of the playground consists of, and the most calls that they can take.

Every repeat has a seed of its own, from which chance and every seat draw: runs of one game with other players in the
seats meet the same chances in the same situations, so they can be compared repeat by repeat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from bestresponse.analysis.theory import describe_theory
from bestresponse.core.capabilities import AdjustableRounds
from bestresponse.core.episode import play
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, AnyGame
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Nature, Player
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import HasSpeakers
from bestresponse.players.llm.verified import is_verified
from bestresponse.players.lookup import SIMULATED
from bestresponse.players.strategies.fixed import RandomPlayer
from bestresponse.runs.agents import AGENT_SETTINGS
from bestresponse.runs.spec import Spec
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.theory.trees.tree import Tree

__all__ = ["MostCalls", "count_thoughts", "most_calls", "play_seed", "specs"]

_TRIALS = 5
_REVIEWS = 5
"""How often a model is asked whose reasoning is checked, at most."""


@dataclass(frozen=True, slots=True)
class MostCalls:
    """The most calls of models in a run; where `sure` is not, as counted in plays of random players."""

    calls: int
    sure: bool


def play_seed(config: SimulateConfig, repeat: int) -> int:
    """The seed of a repeat."""
    return split(config.seed, "simulate", repeat)


def specs(config: SimulateConfig) -> Iterator[Spec]:
    """One play a repeat."""
    data: JsonObject = {
        "study": "simulate",
        "game": {"name": config.game.name, "digest": config.game.digest},
        "seats": [list(seat) for seat in config.seats],
    }
    repeated = {name: getattr(config, name) for name in ("rounds", "continuation", "discount", "noise")}
    if config.rounds > 1 or config.noise:
        data |= repeated
    if config.referee:
        data["referee"] = config.referee
    if config.models:
        data |= {name: getattr(config, name) for name in AGENT_SETTINGS}
        data["personas"] = {name: asdict(text) for name, text in config.personas.items()}
    for repeat in range(config.repeats):
        yield Spec.of({**data, "repeat": repeat, "seed": play_seed(config, repeat)})


def most_calls(config: SimulateConfig) -> MostCalls:
    """What has to be paid for at most."""
    seats, game = config.model_seats, config.make_game()
    if isinstance(game, HasSpeakers):
        rulings = sum(game.rules_after(said) for said in range(1, game.messages + 1))
        asked = len(seats) * game.messages // len(game.roles) + rulings * (config.referee != SIMULATED)
        return MostCalls(config.repeats * asked, True)
    if not seats:
        return MostCalls(0, True)
    asked, sure = _asked_at_most(config, seats)
    each = config.attempts + count_thoughts(config.reasoning, len(config.seats) - 1)
    each += config.memory.startswith("summary")
    each *= _REVIEWS if any(map(is_verified, config.models)) else 1
    return MostCalls(config.repeats * asked * each, sure)


def count_thoughts(reasoning: str, rivals: int) -> int:
    """Count the calls that a way of reasoning makes before an answer."""
    name, _, depth = reasoning.partition(":")
    if name == "k-level":
        return sum(rivals**level for level in range(1, int(depth or 1) + 1))
    return {"predict": 1, "reflect": 1, "refine": 2}.get(name, 0)


def _asked_at_most(config: SimulateConfig, seats: tuple[str, ...]) -> tuple[int, bool]:
    """How often these seats are asked in one play."""
    game = config.make_game()
    theory = describe_theory(game)
    if isinstance(game, AdjustableRounds):
        return game.most_answers * len(seats), True
    if theory.form is not None:
        return config.rounds * len(seats), True
    if theory.tree is not None:
        return _longest(theory.tree, [game.roles.index(seat) for seat in seats]), True
    return max(_asked_once(game, seats, trial) for trial in range(_TRIALS)), False


def _longest(tree: Tree, players: list[int]) -> int:
    """The most decisions of these players on any way through the tree."""
    before = np.zeros(tree.num_nodes, dtype=np.int64)
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        before[node] = before[parent] + (int(tree.owner[parent]) in players)
    return int(before.max())


def _asked_once(game: AnyGame, seats: tuple[str, ...], trial: int) -> int:
    players: dict[str, Player] = dict.fromkeys(game.roles, RandomPlayer(trial))
    try:
        record = play(game, {**players, NATURE: Nature(trial)})
    except UsageError as error:
        raise UsageError(f"{game.name} cannot be simulated: {error}") from None
    counts = Counter(submission.role for submission in record.submissions)
    return sum(counts[seat] for seat in seats)
