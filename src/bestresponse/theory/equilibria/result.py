"""What `nash` answers with: equilibria, the components they form, how they were found and how good they are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import Profile, best_responses, expected_payoffs, regret

__all__ = ["Component", "Equilibrium", "NashResult", "NashSubset", "describe"]

_IN_SUPPORT = 1e-12


@dataclass(frozen=True, eq=False, slots=True)
class Equilibrium:
    """A Nash equilibrium and what is known of it.

    `regret` is the largest gain any player could make by deviating. `index` is +1 or -1 where the equilibrium is
    isolated and regular (Shapley 1974), the sum over a small perturbation where it is isolated only, None where it
    belongs to a larger component or was not computed. `evolutionarily_stable` is None unless the game and the
    equilibrium are symmetric. `exact` are the strategies as fractions, None where floating point was used.
    """

    strategies: Profile
    payoffs: Array
    regret: float
    strict: bool
    index: int | None = None
    evolutionarily_stable: bool | None = None
    exact: tuple[tuple[Fraction, ...], ...] | None = None

    @property
    def supports(self) -> tuple[tuple[int, ...], ...]:
        """The actions each player uses."""
        return tuple(tuple(a for a, p in enumerate(x.tolist()) if p > _IN_SUPPORT) for x in self.strategies)

    @property
    def kind(self) -> str:
        return "pure" if all(len(support) == 1 for support in self.supports) else "mixed"

    @property
    def welfare(self) -> float:
        """The sum of the payoffs."""
        return float(self.payoffs.sum())

    @property
    def stability(self) -> str:
        """In words, for a table: which of the stability notions hold.

        A negative index is unstable under every dynamics that has the equilibria as its rest points and moves
        continuously with the game (Demichelis and Ritzberger 2003).
        """
        words = ["strict"] if self.strict else []
        if self.evolutionarily_stable:
            words.append("evolutionarily stable")
        if self.index is not None:
            words.append(f"index {self.index:+d}" if self.index else "index 0")
        return ", ".join(words) or "in a component"


@dataclass(frozen=True, eq=False, slots=True)
class NashSubset:
    """A maximal set of interchangeable equilibria: any mixture of the rows of `x` with any of the rows of `y`."""

    x: Array
    y: Array


@dataclass(frozen=True, eq=False, slots=True)
class Component:
    """A connected set of equilibria: its extreme points, and the maximal Nash subsets whose union it is.

    `index` is the sum of the indices of the equilibria that appear near it when the payoffs are perturbed a little; a
    component of index other than 0 does not vanish under any small perturbation.
    """

    equilibria: tuple[Equilibrium, ...]
    subsets: tuple[NashSubset, ...]
    index: int

    @property
    def isolated(self) -> bool:
        return len(self.equilibria) == 1


@dataclass(frozen=True, eq=False)
class NashResult:
    """The equilibria of a game. `complete` says whether there can be no others (outside the listed components).

    In a degenerate game `equilibria` are the extreme ones; `components` tells which sets they span. With more than two
    players neither degeneracy nor components are worked out.
    """

    equilibria: tuple[Equilibrium, ...]
    components: tuple[Component, ...]
    degenerate: bool
    complete: bool
    method: str

    @cached_property
    def regret(self) -> float:
        """The largest regret of any equilibrium listed."""
        return max((e.regret for e in self.equilibria), default=0.0)

    @property
    def pure(self) -> tuple[Equilibrium, ...]:
        return tuple(e for e in self.equilibria if e.kind == "pure")


def describe(
    game: NormalForm,
    strategies: Profile,
    *,
    index: int | None = None,
    evolutionarily_stable: bool | None = None,
    exact: tuple[tuple[Fraction, ...], ...] | None = None,
) -> Equilibrium:
    """The equilibrium at `strategies`, its payoffs, regret and strictness worked out from the game."""
    pure = all(int(np.count_nonzero(x > _IN_SUPPORT)) == 1 for x in strategies)
    strict = pure and all(len(best) == 1 for best in best_responses(game, strategies))
    gain = float(regret(game, strategies).max())
    payoffs = expected_payoffs(game, strategies)
    return Equilibrium(strategies, payoffs, gain, strict, index, evolutionarily_stable, exact)
