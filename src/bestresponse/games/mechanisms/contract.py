"""A contract: payments conditional on moves, offered by one player, signed by all others or void.

Definition: the first player offers the contract or not; the others sign or refuse at the same time;
then the game is played. The contract names a course of play. Where it is in force, whoever is the
first to leave that course pays a fixed amount, split equally among the others.

P. J. K. Christoffersen, A. A. Haupt, D. Hadfield-Menell, "Get it in writing: formal contracts
mitigate social dilemmas in multi-agent RL", AAMAS 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from bestresponse.core.ask import Choice
from bestresponse.core.errors import UsageError
from bestresponse.core.game import Game, Role, S
from bestresponse.core.told import GameRule, TextPlace
from bestresponse.games.mechanisms.plays import CompletePlay, choose_play, tell_moves
from bestresponse.games.mechanisms.stages import Staged, StagedGame, Step
from bestresponse.games.statements import read_exactly

OFFER, NOTHING = "offer the contract", "offer nothing"
SIGN, REFUSE = "sign", "refuse"


@dataclass(frozen=True, slots=True)
class ContractRule(GameRule):
    """Who may offer the contract, the course of play that it names, and what leaving it costs."""

    message = "contract"
    offerer: Role
    agreed: TextPlace
    payment: Fraction


@dataclass(frozen=True, eq=False)
class ContractGame(StagedGame):
    """`within` after a contract was offered and signed, or not."""

    agreed: tuple[Step, ...]
    payment: float

    def ask_stage(self, said: tuple[Step, ...]) -> Mapping[Role, Choice]:
        """Ask for the offer, and whoever it is made to for a signature."""
        offerer, *others = self.roles
        if not said:
            return {offerer: Choice((OFFER, NOTHING))}
        is_offered = said == (((offerer, OFFER),),)
        return dict.fromkeys(others, Choice((SIGN, REFUSE))) if is_offered else {}

    def payoffs(self, state: Staged) -> Mapping[Role, float]:
        """Pay what the game pays and, where the contract is in force, what it says."""
        earned = dict(super().payoffs(state))
        in_force = len(state.said) == 2 and all(answer == SIGN for _, answer in state.said[1])
        if in_force:
            for leaver in find_leavers(self.agreed, state.steps):
                for role in earned:
                    earned[role] += self.payment / (len(earned) - 1)
                earned[leaver] -= self.payment + self.payment / (len(earned) - 1)
        return earned


def find_leavers(agreed: Sequence[Step], made: Sequence[Step]) -> list[Role]:
    """List who was the first to leave a course of play, several if it was at the same time."""
    for wanted, step in zip(agreed, made, strict=False):
        moves = dict(wanted)
        leavers = [role for role, move in step if moves[role] != move]
        if leavers:
            return leavers
    return []


def with_contract(game: Game[S], payment: float | None = None, **moves: str) -> ContractGame:
    """Return `game` with a contract that is offered and signed before.

    It names the course of play that pays all together the most, of several the one that pays the
    poorest the most, among those in which each role makes its move in `moves`. The payment is the
    smallest whole amount that nobody gains by leaving alone, whatever comes after.

    >>> from bestresponse.games.lookup import find_game
    >>> game = with_contract(find_game("prisoners-dilemma").playable())
    >>> game.agreed, game.payment
    (((('row', 'cooperate'), ('col', 'cooperate')),), 3.0)
    """
    if len(game.roles) < 2:
        raise UsageError(f"a contract is between two or more; {game.name} has one player")
    if isinstance(game, StagedGame):
        raise UsageError(
            f"a contract names moves, and not what is said before them as in {game.name}; put it"
            " before talk, and write one contract only"
        )
    best, plays = choose_play(game, moves, "a contract")
    if payment is None:
        payment = float(floor(max(_list_gains(game, best, plays), default=0.0)) + 1)
    if payment <= 0:
        raise UsageError(f"the payment of a contract is {payment:g}; expected more than 0")
    rule = ContractRule(game.roles[0], tell_moves("agreed", best.steps), read_exactly(payment))
    return ContractGame(game, f"{game.name} with contract", rule, best.steps, payment)


def _list_gains(game: Game[S], agreed: CompletePlay, plays: Sequence[CompletePlay]) -> list[float]:
    """List what each player gains in every play that this player alone was the first to leave."""
    gains = [0.0]
    for play in plays:
        leavers = find_leavers(agreed.steps, play.steps)
        if len(leavers) == 1:
            seat = game.roles.index(leavers[0])
            gains.append(play.payoffs[seat] - agreed.payoffs[seat])
    return gains
