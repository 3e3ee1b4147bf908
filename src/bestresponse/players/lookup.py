"""Who can sit across a person: by name, in any game.

random       some legal move
simulated    in a dialogue, the simulated speaker or referee
equilibrium  an equilibrium strategy of a matrix game or a tree (for trees beyond two-player zero-sum: CFR's average)
a bidder of the water game, a baseline of matrix games, or else a language model
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Any

from bestresponse.core.ask import Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.errors import UsageError
from bestresponse.core.game import REFEREE, Game, View
from bestresponse.core.player import Decision, Player
from bestresponse.core.seeds import generator, split
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.trees.game import TreeGame
from bestresponse.games.water.game import Water
from bestresponse.models.base import Model
from bestresponse.players.dialogue.referee import DealReferee
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.players.dialogue.speaker import Speaker, Unguided
from bestresponse.players.strategies.baselines import BASELINES, BaselinePlayer
from bestresponse.players.water.bidders import BidderPlayer, bidder
from bestresponse.theory.trees.policy import Policy

__all__ = ["PolicyPlayer", "RandomPlayer", "default_rival", "rival", "talker"]

_ITERATIONS = 2000
_SIMULATED = "simulated"


@dataclass(frozen=True, slots=True)
class RandomPlayer:
    """Some legal move, each as likely as any other."""

    seed: int = 0
    name: str = "random"

    def decide(self, view: View, ask: Ask) -> Decision:
        return Decision(_any_move(ask, generator(self.seed, view.key)))


def _any_move(ask: Ask, rng: Random) -> Any:
    match ask:
        case Choice(options):
            return rng.choice(options)
        case Amount(low, high, whole):
            if whole:
                return float(rng.randint(math.ceil(low), math.floor(high)))
            return min(max(round(rng.uniform(low, high), 2), low), high)
        case Mixture(options):
            weights = [rng.expovariate(1.0) for _ in options]
            return tuple(weight / math.fsum(weights) for weight in weights)
        case Form(fields):
            return {name: _any_move(field, rng) for name, field in fields}
        case Words() | Lottery():
            raise UsageError(f"a random player cannot answer {type(ask).__name__}; seat a model or a person")


@dataclass(frozen=True, slots=True)
class PolicyPlayer:
    """A behaviour policy in a seat of a tree."""

    policy: Policy
    seed: int = 0
    name: str = "equilibrium"

    def decide(self, view: View, ask: Ask) -> Decision:
        chances = self.policy.at(view.role, view.facts["infoset"])
        rng = generator(self.seed, view.key)
        return Decision(rng.choices(list(chances), [max(p, 0.0) for p in chances.values()])[0])


def default_rival(game: Game[Any]) -> str:
    """Who takes the seats that nobody was named for."""
    match game:
        case Water():
            return "need"
        case MatrixGame() | TreeGame():
            return "equilibrium"
        case DialogueGame():
            return _SIMULATED
        case _:
            return "random"


def rival(name: str, game: Game[Any], role: str, seed: int) -> Player | None:
    """The player of that name; None where no such player is known: then it may be the name of a model."""
    own_seed = split(seed, "seat", role)
    if isinstance(game, Water) and name.partition(":")[0] not in ("equilibrium",):
        try:
            bidder(name)
        except UsageError:
            return None
        return BidderPlayer(name, own_seed)
    if isinstance(game, DialogueGame):
        return talker(SimulatedSpeaker(seed), game, role, own_seed) if name == _SIMULATED else None
    if name == "random":
        return RandomPlayer(own_seed)
    if isinstance(game, MatrixGame) and (name in BASELINES or name == "equilibrium"):
        return BaselinePlayer("optimal" if name == "equilibrium" else name, own_seed)
    if isinstance(game, TreeGame) and name == "equilibrium":
        return PolicyPlayer(_equilibrium(game), own_seed)
    return None


def talker(model: Model, game: DialogueGame, role: str, seed: int) -> Player:
    """A model in a dialogue: it rules, or speaks as it likes."""
    if role == REFEREE:
        return DealReferee(model, game.domain)
    return Unguided(Speaker(model), game.neutral(game.roles.index(role)), seed=seed)


def _equilibrium(game: TreeGame) -> Policy:
    from bestresponse.theory.trees.cfr import cfr
    from bestresponse.theory.trees.sequence_form_lp import solve_tree

    if game.tree.num_players == 2 and game.tree.is_constant_sum:
        return solve_tree(game.tree).policy
    return cfr(game.tree, _ITERATIONS).policy
