"""Put claims to one of the two checkers of a game alone."""

from bestresponse.formal.claims.checker import TheoryCheck
from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.form import Ungrounded
from bestresponse.formal.claims.grounding import ground
from bestresponse.formal.claims.logic_check import LogicCheck
from bestresponse.logic.engine import Proof, Verdict


def prove(check: TheoryCheck | LogicCheck, claim: Claim) -> Proof:
    """Say whether a claim is true; `UNKNOWN` with the reason where it cannot be put to the game."""
    try:
        return check.decide(ground(claim, check.subject))
    except Ungrounded as error:
        return Proof(Verdict.UNKNOWN, str(error))
