"""Players that always play the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bestresponse.core.ask import Ask, Choice, Mixture
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.game import View
from bestresponse.core.player import Decision
from bestresponse.core.seeds import generator

__all__ = ["Always", "FixedMix", "Following"]


@dataclass(frozen=True, slots=True)
class FixedMix:
    """One mixed strategy: stated where a mixture is asked, drawn from where an action is."""

    mix: tuple[float, ...]
    name: str = "fixed"
    seed: int = 0

    def decide(self, view: View, ask: Ask) -> Decision:
        if isinstance(ask, Mixture):
            return Decision(self.mix)
        if isinstance(ask, Choice):
            return Decision(generator(self.seed, view.key).choices(ask.options, self.mix)[0])
        raise UsageError(f"a mixed strategy answers choices and mixtures, not {type(ask).__name__}")


@dataclass(frozen=True, slots=True)
class Following:
    """One pure strategy of a tree: the move at each information set, by its label."""

    moves: Mapping[str, str]
    name: str = "fixed"

    def decide(self, view: View, ask: Ask) -> Decision:
        return Decision(self.moves[view.facts["infoset"]])


@dataclass(frozen=True, slots=True)
class Always:
    """The same answer whenever it is asked.

    >>> Always("2").decide(View("a", ""), Choice(("1", "2"))).action
    '2'
    """

    answer: str

    @property
    def name(self) -> str:
        return f"always:{self.answer}"

    def decide(self, view: View, ask: Ask) -> Decision:
        try:
            return Decision(ask.read(self.answer))
        except InvalidMove as error:
            raise UsageError(f"{self.name} cannot play {view.role}: {error}") from None
