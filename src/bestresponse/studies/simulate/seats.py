"""Who can sit in a seat of the playground, by name.

    always:MOVE   the same answer whenever it is asked
    equilibrium   the game's first equilibrium, the same one for all seats
    random, a bidder of the water game, a baseline of two-player tables: as in `players.console_rivals`

Any other name is that of a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bestresponse.core.ask import Ask, Choice
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.game import NATURE, Game, View
from bestresponse.core.player import Decision, Player
from bestresponse.core.seeds import generator, split
from bestresponse.games.economic.known_equilibria import equilibrium_moves
from bestresponse.games.economic.sealed_bid import SealedBid
from bestresponse.games.source import Source
from bestresponse.players.lookup import rival
from bestresponse.players.strategies.baselines import BASELINES
from bestresponse.players.strategies.fixed import Always
from bestresponse.studies.simulate.theory import Theory, theory_of

__all__ = ["EQUILIBRIUM", "first_asks", "strategy"]

ALWAYS = "always:"
EQUILIBRIUM = "equilibrium"
_PEOPLE = ("me", "human", "person")


@dataclass(frozen=True, slots=True)
class _Prescribed:
    """Plays by the probabilities of an equilibrium."""

    theory: Theory
    chances: Mapping[str, Mapping[str, float]]
    seed: int
    name: str = EQUILIBRIUM

    def decide(self, view: View, ask: Ask) -> Decision:
        moves = self.chances[self.theory.place(view)]
        rng = generator(self.seed, view.key)
        return Decision(ask.read(rng.choices(list(moves), [max(p, 0.0) for p in moves.values()])[0]))


@dataclass(frozen=True, slots=True)
class _Known:
    """Plays an equilibrium that is known in words: the same amount everywhere, or what the own value says."""

    game: Game[Any]
    name: str = EQUILIBRIUM

    def decide(self, view: View, ask: Ask) -> Decision:
        if isinstance(self.game, SealedBid):
            return Decision(float(self.game.equilibrium(view.facts["value"])))
        if isinstance(ask, Choice):
            return Decision("accept")
        amount = next(iter((equilibrium_moves(self.game, self.game.start()) or {}).values()))
        fields = getattr(ask, "fields", None)
        return Decision(float(amount) if fields is None else {name: float(amount) for name, _ in fields})


def strategy(name: str, source: Source, role: str, seed: int) -> Player | None:
    """The player of that name who needs no model; None where the name is taken for that of a model."""
    game = source.game()
    if name in _PEOPLE:
        raise UsageError(f"{role}={name}: people play with `bestresponse play`; seat a model or a strategy here")
    if name.startswith(ALWAYS):
        return _always(name.removeprefix(ALWAYS), game, role)
    if name == EQUILIBRIUM:
        return _equilibrium(source, role, split(seed, "seat", role))
    if name in BASELINES and name != "random" and len(game.roles) != 2:
        raise UsageError(f"{role}={name}: baselines play tables of two players, and {game.name} has {len(game.roles)}")
    return rival(name, game, role, seed)


def _always(answer: str, game: Game[Any], role: str) -> Player:
    ask = first_asks(game).get(role)
    if ask is not None and not getattr(game, "tree", None):
        try:
            ask.read(answer)
        except InvalidMove as error:
            raise UsageError(f"{role}={ALWAYS}{answer}: {error}") from None
    return Always(answer)


def _equilibrium(source: Source, role: str, seed: int) -> Player:
    theory = theory_of(source)
    if theory.predicted:
        return _Prescribed(theory, theory.predicted[0].shares[role], seed)
    if theory.known is not None:
        return _Known(source.game())
    raise UsageError(f"{role}={EQUILIBRIUM}: no equilibrium of {source.name} is known here; seat `random` or a model")


def first_asks(game: Game[Any]) -> Mapping[str, Ask]:
    """What the seats that move first are asked, whatever chance draws before."""
    state = game.start()
    asks = game.asks(state)
    while NATURE in asks:
        drawn = next(outcome for outcome, chance in asks[NATURE].chances if chance)  # type: ignore[union-attr]
        state = game.apply(state, {NATURE: drawn})
        asks = game.asks(state)
    return asks
