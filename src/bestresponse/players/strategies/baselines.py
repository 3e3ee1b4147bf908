"""Simple ways to play a two-player matrix game, to stand beside every model in every table.

Each is a function of the player's own payoffs and the opponent's, both with the player's own actions as rows, for a
whole batch of games at once: (n, own, other) -> strategies (n, own). Ties go to the action listed first.

    uniform   every action equally often
    random    one action, drawn once per game
    greedy    the action with the largest payoff anywhere in its row
    maximin   the action whose worst payoff is best
    level-1   best response to an opponent who plays uniformly (Stahl & Wilson 1995; Nagel 1995)
    level-2   best response to an opponent who plays level-1
    equilibrium  an equilibrium strategy; in a zero-sum game the one that guarantees the value
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bestresponse.analysis.theory import Predicted, Theory, describe_theory, may_have_equilibrium
from bestresponse.core.ask import Ask, Choice, Mixture
from bestresponse.core.capabilities import KnownEquilibrium
from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame, Role, View
from bestresponse.core.player import Decision, Player
from bestresponse.core.registry import find_by_name
from bestresponse.core.seeds import generator, split
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.zero_sum.solve import solve_zero_sum

Baseline = Callable[[Array, Array, int], Array]


def _pure(choices: np.ndarray[tuple[int], np.dtype[np.intp]], actions: int) -> Array:
    return np.eye(actions)[choices]


def uniform(own: Array, other: Array, seed: int) -> Array:
    """Play every action with equal probability."""
    return np.full(own.shape[:2], 1.0 / own.shape[1])


def random(own: Array, other: Array, seed: int) -> Array:
    """Play one action, drawn by the seed."""
    drawn = np.random.default_rng(split(seed, "random baseline")).integers(own.shape[1], size=len(own))
    return _pure(drawn, own.shape[1])


def greedy(own: Array, other: Array, seed: int) -> Array:
    """Play the row with the largest payoff in it."""
    return _pure(own.max(axis=2).argmax(axis=1), own.shape[1])


def maximin(own: Array, other: Array, seed: int) -> Array:
    """Play the row whose smallest payoff is largest."""
    return _pure(own.min(axis=2).argmax(axis=1), own.shape[1])


def level_1(own: Array, other: Array, seed: int) -> Array:
    """Play the best response to uniform play."""
    return _pure(own.mean(axis=2).argmax(axis=1), own.shape[1])


def level_2(own: Array, other: Array, seed: int) -> Array:
    """Play the best response to an opponent of level 1."""
    opponent = other.mean(axis=1).argmax(axis=1)
    faced = np.take_along_axis(own, opponent[:, None, None], axis=2)[:, :, 0]
    return _pure(faced.argmax(axis=1), own.shape[1])


def equilibrium(own: Array, other: Array, seed: int) -> Array:
    """Play the first equilibrium that is found."""
    if np.array_equal(own, -other):
        return solve_zero_sum(own).row
    games = zip(own, other, strict=True)
    return np.stack([nash(NormalForm.bimatrix(a, b)).equilibria[0].strategies[0] for a, b in games])


BASELINES: dict[str, Baseline] = {
    "uniform": uniform,
    "random": random,
    "greedy": greedy,
    "maximin": maximin,
    "level-1": level_1,
    "level-2": level_2,
    "equilibrium": equilibrium,
}


def baseline(name: str) -> Baseline:
    """The baseline of that name; UsageError with the nearest name where there is none."""
    return find_by_name(BASELINES, name, "baseline")


@dataclass(frozen=True, slots=True)
class BaselinePlayer:
    """A baseline in a seat of a two-player matrix game; a mixed strategy is drawn from where an action is asked."""

    name: str
    seed: int = 0

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        payoffs = np.asarray(view.facts.get("payoffs", ()), dtype=np.float64)
        if payoffs.ndim != 3:
            raise UsageError(f"the baseline {self.name} plays two-player matrix games only")
        if view.facts["seat"] == 1:
            payoffs = payoffs[::-1].transpose(0, 2, 1)
        own_seed = split(self.seed, view.key)
        mix = baseline(self.name)(payoffs[0][None], payoffs[1][None], own_seed)[0]
        if isinstance(ask, Mixture):
            return Decision(tuple(map(float, mix)))
        if isinstance(ask, Choice):
            return Decision(generator(own_seed, "draw").choices(ask.options, mix)[0])
        raise UsageError(f"the baseline {self.name} answers choices and mixtures, not {type(ask).__name__}")


EQUILIBRIUM = "equilibrium"


@dataclass(frozen=True, slots=True)
class EquilibriumPlayer:
    """Plays by the probabilities of one of the equilibria that theory predicts."""

    theory: Theory
    predicted: Predicted
    seed: int
    name: str = EQUILIBRIUM

    def decide(self, view: View, ask: Ask) -> Decision:
        """State the mixture where one is asked for, else draw a move from it."""
        moves = self.predicted.shares[view.role][self.theory.name_infoset(view)]
        if isinstance(ask, Mixture):
            return Decision(tuple(moves[option] for option in ask.options))
        rng = generator(self.seed, view.key)
        return Decision(ask.read(rng.choices(list(moves), [max(p, 0.0) for p in moves.values()])[0]))


@dataclass(frozen=True, slots=True)
class ClosedFormPlayer:
    """Plays the equilibrium that its game knows in closed form."""

    game: KnownEquilibrium
    name: str = EQUILIBRIUM

    def decide(self, view: View, ask: Ask) -> Decision:
        """Ask the game what its equilibrium says."""
        return Decision(self.game.choose_equilibrium(view, ask))


def make_equilibrium(game: AnyGame, role: Role, seed: int) -> Player:
    """Seat the game's first equilibrium; UsageError where none is known."""
    theory = describe_theory(game)
    if theory.predicted:
        return EquilibriumPlayer(theory, theory.predicted[0], seed)
    if theory.known is not None and isinstance(game, KnownEquilibrium):
        return ClosedFormPlayer(game)
    raise UsageError(
        f"{role}={EQUILIBRIUM}: no equilibrium of {game.name} is known here; seat another strategy or a model"
    )


make_equilibrium.plays = may_have_equilibrium  # type: ignore[attr-defined]
