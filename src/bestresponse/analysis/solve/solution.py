"""What is asked of a solver, and its result: frozen values for a table and for a tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from bestresponse.core.errors import UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.theory.engines import Engine
from bestresponse.theory.equilibria.many_players.budget import SECONDS

if TYPE_CHECKING:
    from bestresponse.theory.correlation.equilibria import CorrelatedEquilibrium
    from bestresponse.theory.equilibria.result import Concept, Equilibrium, NashResult
    from bestresponse.theory.games.classification import Efficiency, GameKind
    from bestresponse.theory.games.dominance import Domination, Elimination, SecurityLevel
    from bestresponse.theory.games.normal_form import NormalForm
    from bestresponse.theory.trees.cfr import CfrResult
    from bestresponse.theory.trees.perfection.subgame_perfect import SubgamePerfect
    from bestresponse.theory.trees.tree import Policy, Tree

TABLE_METHODS = ("enumeration", "lemke-howson", "zero-sum", "pure")
CFR_VARIANTS = ("cfr", "cfr+", "dcfr", "pcfr+")
SAMPLING = "external-sampling"
TREE_METHODS = (
    "sequence-form",
    "backward-induction",
    "normal-form",
    "interim",
    *CFR_VARIANTS,
    SAMPLING,
)
METHODS = ("auto", *dict.fromkeys((*TABLE_METHODS, *TREE_METHODS)))
OBJECTIVES = ("welfare", "fairness", "any")


@dataclass(frozen=True, slots=True)
class Wish:
    """How to solve: `auto` takes the first method that fits.

    `iterations` are those of CFR; `objective` asks for the correlated equilibrium that is best by
    it; `seconds` bound the search for all equilibria of a table; long solves tell `report` how far
    they are; `engine` says whether the enumeration is compiled.
    """

    method: str = "auto"
    iterations: int | None = None
    objective: str | None = None
    seconds: float = SECONDS
    report: Callable[[str], None] | None = field(default=None, compare=False, repr=False)
    engine: Engine = "auto"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UsageError(
                f"there is no method {self.method!r}; expected one of {', '.join(METHODS)}."
                f"{did_you_mean(self.method, list(METHODS))}"
            )
        if self.objective is not None and self.objective not in OBJECTIVES:
            raise UsageError(
                f"there is no objective {self.objective!r};"
                f" expected one of {', '.join(OBJECTIVES)}."
                f"{did_you_mean(self.objective, list(OBJECTIVES))}"
            )


@dataclass(frozen=True, slots=True)
class Value:
    """What the first of two players gets if both play optimally in a zero-sum game.

    One player's gain is the other's loss.
    """

    number: float
    exact: Fraction | None
    player: str
    gap: float


@dataclass(frozen=True, slots=True, eq=False)
class SolvedTable:
    """A game in normal form and what is known of it.

    None stands where the game is too large, as `remarks` say.
    """

    game: NormalForm
    nash: NashResult
    value: Value | None
    kind: GameKind | None
    security: tuple[SecurityLevel, ...] | None
    dominated: tuple[Domination, ...] | None
    elimination: Elimination | None
    efficiency: Efficiency | None
    pareto: tuple[tuple[int, ...], ...] | None
    payoff_dominant: Equilibrium | None
    risk_dominant: tuple[int, ...] | None
    correlated: CorrelatedEquilibrium | None
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TreeEquilibrium:
    """A policy, what it earns every player, and what each could gain by deviating alone.

    `exact` has the payoffs as fractions, where they are known.
    """

    kind: Literal["pure", "mixed"]
    policy: Policy
    payoffs: dict[str, float]
    regrets: dict[str, float]
    exact: dict[str, Fraction] | None = None

    @property
    def regret(self) -> float:
        """The most that one player could gain."""
        return max(self.regrets.values())

    @property
    def nash_conv(self) -> float:
        """The sum of what all players could gain, each alone."""
        return sum(self.regrets.values())


@dataclass(frozen=True, slots=True, eq=False)
class SolvedTree:
    """A tree and its equilibria.

    At most one of the last three is there: it says how they were found.

    `equilibria` is empty where `table` is there: the equilibria are then those of the reduced
    normal form.
    """

    tree: Tree
    method: str
    equilibria: tuple[TreeEquilibrium, ...]
    value: Value | None
    remarks: tuple[str, ...] = ()
    complete_for: tuple[Concept, ...] = ()
    subgame_perfect: SubgamePerfect | None = None
    table: SolvedTable | None = None
    cfr: CfrResult | None = None

    @property
    def complete(self) -> bool:
        """Whether every Nash equilibrium is listed or in a component with listed extremes."""
        return bool({"Nash", "extreme Nash"} & set(self.complete_for))

    @property
    def regret(self) -> float:
        """The largest regret of any player at any equilibrium listed."""
        if self.table is not None:
            return self.table.nash.regret
        return max((e.regret for e in self.equilibria), default=0.0)
