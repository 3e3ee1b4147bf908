"""Play an equilibrium: the first that theory lists, so that all seats of a game play the same one."""

from __future__ import annotations

from dataclasses import dataclass

from bestresponse.analysis.theory import Predicted, Theory, describe_theory, may_have_equilibrium
from bestresponse.core.ask import Ask, Mixture
from bestresponse.core.capabilities import KnownEquilibrium
from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame, Role, View
from bestresponse.core.player import Decision, Player
from bestresponse.core.seeds import generator

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
