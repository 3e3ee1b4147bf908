"""Claims decided twice: by arithmetic and by a logic engine.

The arithmetic is on the game's payoffs, the engine works on the game's program.

The two must agree. Where one of them cannot tell (the game is too large for it), the other's
verdict counts; where they contradict each other, which no game is known to bring about, the verdict
is UNKNOWN and says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from bestresponse.core.errors import BestResponseError
from bestresponse.core.registry import Registry, check_members
from bestresponse.formal.claims.claim import (
    NO_CLAIM,
    Claim,
    Malformed,
    added_forms,
    list_added,
)
from bestresponse.formal.claims.form import Ungrounded
from bestresponse.formal.claims.grounding import Grounded, ground
from bestresponse.formal.claims.logic_check import LogicCheck
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.tables import TableTheory
from bestresponse.formal.claims.trees import TreeTheory
from bestresponse.logic.engine import LogicEngine, Proof, Verdict


class TheoryCheck:
    """Decides claims about one game by arithmetic."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        tree = subject.tree
        self.game = TableTheory(subject) if tree is None else TreeTheory(subject, tree)

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a grounded claim is true."""
        try:
            answer = self.find_truth(grounded)
        except BestResponseError as error:
            return Proof(Verdict.UNKNOWN, str(error))
        if isinstance(answer, Proof):
            return grounded.settle(answer)
        holds = answer == grounded.arguments["value"] if isinstance(answer, Fraction) else answer
        return grounded.settle(Proof(Verdict.PROVED if holds else Verdict.REFUTED))

    def find_truth(self, grounded: Grounded) -> bool | Fraction | Proof:
        """Return whether a claim's form holds of its arguments, or the right `value`.

        The latter is the number that its `value` has to be.
        """
        form = grounded.claim.form
        answer: bool | Fraction | Proof
        if form not in list_added():
            answer = getattr(self.game, form)(**grounded.arguments)
            return answer
        try:
            answer = list_added()[form].decide(self.game, **grounded.arguments)
        except Exception as error:  # noqa: BLE001 - a package may raise anything
            why = f"{added_forms.describe(form)} fails: {type(error).__name__}: {error}"
            return Proof(Verdict.UNKNOWN, why)
        if isinstance(answer, bool | Fraction | Proof):
            return answer
        why = f"{added_forms.describe(form)} returns {answer!r:.60}, which is not a verdict"
        return Proof(Verdict.UNKNOWN, why)


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


class ClaimSolver(Protocol):
    """Decides claims about one game."""

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a claim, in the game's own names and numbers, is true."""


claim_solvers = Registry(
    "bestresponse.solvers",
    "solver",
    {"theory": "bestresponse.formal.claims.checker:TheoryCheck"},
)
"""Functions or classes that return a `ClaimSolver` when called with a `Subject`."""
BOTH_SOLVERS = "both"
"""Logic and theory, which have to agree."""


def list_solvers() -> tuple[str, ...]:
    """Return the names of all solvers."""
    return (BOTH_SOLVERS, *claim_solvers.names())


class Checker:
    """Decides claims about one game.

    Without an engine, theory decides alone; a named solver replaces both.
    """

    def __init__(
        self,
        subject: Subject,
        engine: LogicEngine | None = None,
        solver: str = BOTH_SOLVERS,
    ) -> None:
        self.subject = subject
        self.theory = TheoryCheck(subject)
        self.solver: ClaimSolver | None = None
        if solver != BOTH_SOLVERS:
            self.solver = claim_solvers.make(solver, subject)
            check_members(self.solver, ("decide",), claim_solvers.describe(solver))
        self.logic = LogicCheck(subject, engine) if engine is not None else None

    def check(self, claim: Claim | Malformed) -> Checked:
        """The verdict on one claim; never raises because of the claim."""
        if isinstance(claim, Malformed):
            return Checked(claim, Proof(Verdict.UNKNOWN, claim.why))
        try:
            grounded = ground(claim, self.subject)
            if self.solver is not None:
                return Checked(grounded.claim, _ask(self.solver, grounded))
            by_theory = self.theory.decide(grounded)
        except Ungrounded as error:
            return Checked(claim, Proof(Verdict.UNKNOWN, str(error)))
        by_logic = Proof(Verdict.UNKNOWN) if self.logic is None else self.logic.decide(grounded)
        if by_theory.verdict is by_logic.verdict or by_logic.verdict is Verdict.UNKNOWN:
            return Checked(grounded.claim, by_theory)
        if by_theory.verdict is Verdict.UNKNOWN:
            return Checked(grounded.claim, by_logic)
        why = (
            f"theory says {by_theory.verdict} and logic says {by_logic.verdict}; please report this"
            " game"
        )
        return Checked(grounded.claim, Proof(Verdict.UNKNOWN, why))

    def check_all(self, claims: Iterable[Claim | Malformed]) -> tuple[Checked, ...]:
        """Every claim once, in order, without those that say there is none."""
        checked = []
        for claim in claims:
            if isinstance(claim, Malformed) or claim.form != NO_CLAIM:
                checked.append(self.check(claim))
        return tuple(dict.fromkeys(checked))


def _ask(solver: ClaimSolver, grounded: Grounded) -> Proof:
    """Return what a solver says; a package that fails decides nothing."""
    try:
        proof = solver.decide(grounded)
    except Exception as error:  # noqa: BLE001 - a package may raise anything
        return Proof(Verdict.UNKNOWN, f"the solver fails: {type(error).__name__}: {error}")
    if isinstance(proof, Proof):
        return proof
    return Proof(Verdict.UNKNOWN, f"the solver returns {proof!r:.60}, which is not a verdict")
