"""What a game may tell of itself in the terms of theory and of dialogues.

See also `core.capabilities`.

HasNormalForm   everybody moves once and at the same time: the payoff table
HasTree         the game in extensive form
Unfolds         a tree that is made only to solve the game
ToldPaths       what happens on the way to a node of its tree
HasStage        one game played round after round
HasCourse       the same with a known course: how many rounds, what later ones weigh, noise
HidesRounds     the same, but nobody sees what the others did in earlier rounds
HasDeals        what all deals would pay that a play begins with
HasSpeakers     a dialogue: what it is about, and how a seat speaks whom nobody tells how to
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from bestresponse.core.game import Action, AnyGame, Game, Role, S, S_contra, View
from bestresponse.core.told import Event, GameEvent
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.trees.tree import Tree

if TYPE_CHECKING:
    from bestresponse.games.dialogue.domain import Domain


@runtime_checkable
class HasNormalForm(Protocol):
    """A game of one simultaneous choice.

    Roles are the players of the table, and answers its actions or mixtures.
    """

    @property
    def normal_form(self) -> NormalForm:
        """The payoff table."""


@runtime_checkable
class HasTree(Protocol):
    """A game in extensive form.

    The facts of a view name the information set (`infoset`) by its label.
    """

    @property
    def tree(self) -> Tree:
        """The game tree."""


@runtime_checkable
class Unfolds(Protocol):
    """A game that unfolds its tree itself, faster than by what its players are shown.

    An information set is named by the keys of its views, or by their fact `infoset`.
    """

    def unfold(self, limit: int) -> Tree:
        """Return the tree; TooLarge where it has more than `limit` nodes."""


@runtime_checkable
class ToldPaths(Protocol):
    """A game in extensive form that says what happens on the way to a node.

    For example, it says whose card is dealt.
    """

    def list_moves(self, node: int) -> Iterator[Event]:
        """Yield all moves and draws on the way to a node of the tree."""


@runtime_checkable
class HasStage(Protocol):
    """A game that plays the same game in every round; payoffs are sums over the rounds."""

    @property
    def stage(self) -> AnyGame:
        """The game of one round."""

    @property
    def continuation(self) -> float:
        """The probability that another round follows; 1 where the number of rounds is fixed."""


@runtime_checkable
class HasCourse(HasStage, Protocol):
    """A payoff table that is played round after round in a known way.

    The facts of a view list the moves that were made (`history`), one list per round.
    """

    @property
    def repetition(self) -> Repetition:
        """How many rounds there are, what later ones weigh, and noise."""

    @property
    def intended_form(self) -> NormalForm:
        """The table of what is meant in one round, its payoffs expected over noise."""


@runtime_checkable
class HidesRounds(HasCourse, Protocol):
    """A repeated game that shows labels in place of moves, so that strategies cannot reply."""

    @property
    def agreed(self) -> tuple[str, ...]:
        """The moves by which labels are given, one for each role."""


@runtime_checkable
class HasDomain(Protocol):
    """A dialogue: people write to each other about what they can agree on."""

    @property
    def domain(self) -> Domain:
        """What the dialogue is about."""


@runtime_checkable
class HasOffers(HasDomain, Protocol):
    """A dialogue in which moves beside the messages make the deal."""

    def list_turn_moves(self, state: object) -> Sequence[GameEvent]:
        """List what each message came with."""

    def find_settled(self, view: View, action: Action) -> GameEvent | None:
        """Return what an answer settles for good, to be confirmed; None where the talk goes on."""


@runtime_checkable
class HasDeals(Protocol[S_contra]):
    """A game about a deal: it says what everything that could be agreed at once would pay."""

    def list_deals(self, state: S_contra) -> Sequence[tuple[float, ...]]:
        """List the payoffs of all deals that the play of `state` began with; none if too many."""


@runtime_checkable
class HasSpeakers(HasDomain, Protocol):
    """A dialogue in which seats choose styles and write, and a referee rules.

    The referee says what was agreed.
    """

    @property
    def roles(self) -> tuple[Role, ...]:
        """The speakers."""

    @property
    def messages(self) -> int:
        """How many messages a talk has at most."""

    def rules_after(self, num_messages: int) -> bool:
        """Tell whether the referee rules once so many messages were said."""

    def neutral(self, seat: int) -> tuple[str, ...]:
        """The choices of a seat that nobody tells how to speak."""

    def with_seed(self, seed: int) -> AnyGame:
        """Return the dialogue with the people and the private information that the seed draws."""


def find_stage(game: Game[S]) -> AnyGame:
    """Return the game of one round, or `game` itself where it is not repeated."""
    return game.stage if isinstance(game, HasStage) else game


def find_stage_form(game: AnyGame) -> NormalForm | None:
    """Return the payoff table of one round; None where there is none."""
    stage = find_stage(game)
    return stage.normal_form if isinstance(stage, HasNormalForm) else None
