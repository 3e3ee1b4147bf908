"""Claims decided twice: by the logic engine on the game's program and by theory on its matrix.

The two must agree. Where one of them cannot tell (the game is too large for it), the other's verdict stands; where they
contradict each other, which no game is known to bring about, the verdict is UNKNOWN and says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bestresponse.formal.claims.by_logic import LogicCheck
from bestresponse.formal.claims.by_theory import TheoryCheck
from bestresponse.formal.claims.claim import Claim, Malformed
from bestresponse.formal.claims.grounding import Ungrounded, ground
from bestresponse.formal.claims.subject import Subject
from bestresponse.logic.engine import LogicEngine, Proof, Verdict

__all__ = ["Checked", "Checker"]


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim (in the game's own names), or what was offered as one, and the verdict on it."""

    claim: Claim | Malformed
    proof: Proof

    @property
    def verdict(self) -> Verdict:
        """Whether the claim is proved, refuted or open."""
        return self.proof.verdict

    @property
    def text(self) -> str:
        """The printed form of a claim, or the text that is none."""
        return self.claim.text if isinstance(self.claim, Malformed) else str(self.claim)

    @property
    def form(self) -> str:
        """The name of the claim's form."""
        return "malformed" if isinstance(self.claim, Malformed) else self.claim.form


class Checker:
    """Decides claims about one game. Without an engine, theory decides alone."""

    def __init__(self, subject: Subject, engine: LogicEngine | None = None) -> None:
        self.subject = subject
        self.theory = TheoryCheck(subject)
        self.logic = LogicCheck(subject, engine) if engine is not None else None

    def check(self, claim: Claim | Malformed) -> Checked:
        """The verdict on one claim; never raises because of the claim."""
        if isinstance(claim, Malformed):
            return Checked(claim, Proof(Verdict.UNKNOWN, claim.why))
        try:
            grounded = ground(claim, self.subject)
        except Ungrounded as error:
            return Checked(claim, Proof(Verdict.UNKNOWN, str(error)))
        by_theory = self.theory.decide(grounded)
        if self.logic is None:
            return Checked(grounded.claim, by_theory)
        return Checked(grounded.claim, _both(by_theory, self.logic.decide(grounded)))

    def check_all(self, claims: Iterable[Claim | Malformed]) -> tuple[Checked, ...]:
        """Every claim once, in order, without those that say there is none."""
        found = [self.check(claim) for claim in claims if isinstance(claim, Malformed) or claim.form != "no_claim"]
        return tuple(dict.fromkeys(found))


def _both(by_theory: Proof, by_logic: Proof) -> Proof:
    if by_theory.verdict is by_logic.verdict or by_logic.verdict is Verdict.UNKNOWN:
        return by_theory
    if by_theory.verdict is Verdict.UNKNOWN:
        return by_logic
    why = f"theory says {by_theory.verdict} and logic says {by_logic.verdict}; please report this game"
    return Proof(Verdict.UNKNOWN, why)
