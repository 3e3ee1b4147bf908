"""Players that need no model and no theory: fixed strategies, Python functions, and chance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bestresponse.core.ask import Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.conformance import any_legal_action
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.game import AnyGame, Role, View, find_first_asks
from bestresponse.core.player import Decision
from bestresponse.core.seeds import generator
from bestresponse.games.capabilities import HasTree

ALWAYS = "always:"


@dataclass(frozen=True, slots=True)
class FixedMix:
    """One mixed strategy: stated where a mixture is asked, drawn from where an action is.

    With `blind` it asks for no view; where every ask is for a mixture, it needs none.

    >>> FixedMix((0.5, 0.5)).decide(View("a", ""), Mixture(("1", "2"))).action
    (0.5, 0.5)
    """

    mix: tuple[float, ...]
    name: str = "fixed"
    seed: int = 0
    blind: bool = False

    def decide(self, view: View, ask: Ask) -> Decision:
        """State the strategy, or draw from it."""
        if isinstance(ask, Mixture):
            return Decision(self.mix)
        if isinstance(ask, Choice):
            return Decision(generator(self.seed, view.key).choices(ask.options, self.mix)[0])
        raise UsageError(f"a mixed strategy answers choices and mixtures, not {type(ask).__name__}")


@dataclass(frozen=True, slots=True)
class Mixing:
    """One behaviour strategy of a tree: the probabilities of the moves at each information set, by its label."""

    mixes: Mapping[str, Mapping[str, float]]
    name: str = "fixed"
    seed: int = 0

    def decide(self, view: View, ask: Ask) -> Decision:
        """Draw a move of the information set."""
        mix = self.mixes[view.facts["infoset"]]
        return Decision(generator(self.seed, view.key).choices(list(mix), list(mix.values()))[0])


@dataclass(frozen=True, slots=True)
class Always:
    """The same answer whenever it is asked.

    >>> Always("2").decide(View("a", ""), Choice(("1", "2"))).action
    '2'
    """

    answer: str

    @property
    def name(self) -> str:
        """The answer, with `always:` before it."""
        return f"{ALWAYS}{self.answer}"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Give the one answer."""
        try:
            return Decision(ask.read(self.answer))
        except InvalidMove as error:
            raise UsageError(f"{self.name} cannot play {view.role}: {error}") from None


def make_always(answer: str, game: AnyGame, role: Role) -> Always:
    """Seat a player with one answer; UsageError where its first ask refuses it."""
    ask = find_first_asks(game).get(role)
    if ask is not None and not isinstance(game, HasTree):
        try:
            ask.read(answer)
        except InvalidMove as error:
            raise UsageError(f"{role}={ALWAYS}{answer}: {error}") from None
    return Always(answer)


ViewFunction = Callable[[View, Ask], Any]
"""A strategy for any game: from what it sees and what it is asked to its answer."""
HistoryFunction = Callable[[Sequence[str], Sequence[str]], str]
"""A strategy for repeated games of two: from its own moves and the other's moves so far to its next move."""


@dataclass(frozen=True, slots=True)
class FunctionPlayer:
    """Ask a function of the view; what it returns must be a legal answer."""

    function: ViewFunction
    name: str = "function"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Call the function and read its answer as the ask reads any answer."""
        return Decision(ask.read(self.function(view, ask)))


@dataclass(frozen=True, slots=True)
class HistoryPlayer:
    """Ask a function of the history in a seat of a repeated two-player game."""

    function: HistoryFunction
    name: str = "function"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Call the function with its own and the other's moves so far."""
        if not isinstance(ask, Choice) or "history" not in view.facts or "seat" not in view.facts:
            raise UsageError(f"the strategy {self.name} plays repeated games of two players only")
        seat: int = view.facts["seat"]
        history = view.facts["history"]
        move = self.function([moves[seat] for moves in history], [moves[1 - seat] for moves in history])
        if move not in ask.options:
            raise InvalidMove(f"the strategy {self.name} returned {move!r}; expected one of {', '.join(ask.options)}")
        return Decision(move)


@dataclass(frozen=True, slots=True)
class RandomPlayer:
    """Some legal move, each as likely as any other."""

    seed: int = 0
    name: str = "random"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Draw an answer that depends on the seed and the view only."""
        for field in (field for _, field in ask.fields) if isinstance(ask, Form) else (ask,):
            if isinstance(field, Words | Lottery):
                raise UsageError(f"a random player cannot answer {type(field).__name__}; seat a model or a person")
        return Decision(any_legal_action(ask, generator(self.seed, view.key)))


def make_random(game: AnyGame, role: Role, seed: int) -> RandomPlayer:
    """Seat a random player."""
    return RandomPlayer(seed)
