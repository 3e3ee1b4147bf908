"""A form of claim about fairness, and a solver that takes what cannot be proved for false."""

from bestresponse.formal.claims import (
    Grounded,
    PureProfile,
    Subject,
    TableTheory,
    TheoryCheck,
    add_form,
)
from bestresponse.logic import Proof, Verdict

RULE = """
claim(fair_outcome(Outcome)) :- \\+ ( pays(_, Outcome, U), pays(_, Outcome, V), U =\\= V ).
"""


@add_form("<everybody gets|not everybody gets> the same if {outcome}", rule=RULE)
def fair_outcome(game: TableTheory, outcome: PureProfile) -> bool:
    """Say whether all players get the same in an outcome."""
    payoffs = {game.pay(player, outcome) for player in range(game.num_players)}
    return len(payoffs) == 1


class ClosedWorld:
    """Decide by arithmetic; what it cannot tell is false, as in a normal logic program."""

    def __init__(self, subject: Subject) -> None:
        self.theory = TheoryCheck(subject)

    def decide(self, grounded: Grounded) -> Proof:
        proof = self.theory.decide(grounded)
        if proof.verdict is Verdict.UNKNOWN:
            return Proof(Verdict.REFUTED, f"it cannot be proved: {proof.why}")
        return proof
