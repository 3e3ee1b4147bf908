"""What a game may tell of itself beyond its rules. Every capability is optional.

Whoever needs one asks for it by `isinstance(game, Capability)`, never for a class of games, so that
a game of a plug-in gets everything that a built-in one gets.

    KnownEquilibrium   an equilibrium known in closed form: in words, and as moves
    CostedDecisions    what an answer loses against the equilibrium, where playing it out does not
                       tell
    NamedStrategies    strategies that belong to this game, by name
    Quiz               questions about the rules, with their answers
    Wording            a title, a unit of payoffs, one question an ask
    PeopleRules        the rules for people, where models are told others
    LimitedTelling     whether the rules are short enough to be told at all
    PrivateInformation what one seat alone knows from the beginning
    NumberedRounds     which round it is
    FinalPayoff        that its payoff is one result at the end, and no sum over its rounds
    RoundHistory       the rounds so far as a table
    AdjustableRounds   the same game with another number of rounds
    NamedParameters    what can be set in its rules, by name
    TheoryRemark       what is known where no equilibrium is
    HasPositions       which plays have come to the same position and go on alike
    EndlessPlays       that a play may be stopped because it would not end
    HasWithin          the game that begins after stages of its own, such as a contract

Those that speak of payoff tables and trees are in `games.capabilities`.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from bestresponse.core.ask import Ask, Mixture
from bestresponse.core.game import NATURE, REFEREE, AnyGame, Game, Role, S, S_contra, View
from bestresponse.core.numbers import list_readings
from bestresponse.core.phrase import Phrase
from bestresponse.core.player import Player
from bestresponse.core.told import Statement, Worded

_EXACT = 1e-9  # rounding of floats: an answer of at most two decimals can be typed in full
_ROUNDING = (
    0.0051  # half a cent, and a little for floats: longer answers are typed with two decimals
)


@dataclass(frozen=True, slots=True)
class EquilibriumSummary:
    """An equilibrium: its concept, in words what everybody does, and what that earns.

    `payoffs` is empty where they depend on what nature draws. `better` says what would earn
    everybody together the most, and `better_payoffs` how much; both are empty where the equilibrium
    does.
    """

    concept: str
    words: str | Phrase
    payoffs: Mapping[Role, float]
    better: str | Phrase = ""
    better_payoffs: Mapping[Role, float] | None = None


@runtime_checkable
class KnownEquilibrium(Protocol):
    """A game whose equilibrium is known in closed form."""

    def describe_equilibrium(self) -> EquilibriumSummary | None:
        """Describe the equilibrium, or return None where none is known for these parameters."""

    def choose_equilibrium(self, view: View, ask: Ask) -> object:
        """Choose what the role of `view` does in the equilibrium."""


@runtime_checkable
class CostedDecisions(Protocol[S_contra]):
    """A game that says itself what leaving its known equilibrium costs.

    The cost may be, for example, an expectation over hidden values.
    """

    def measure_cost(self, state: S_contra, role: Role, action: object) -> float:
        """Return what `role` loses by answering `action` in `state`.

        All others keep to the equilibrium.
        """


@runtime_checkable
class NamedStrategies(Protocol):
    """A game with strategies of its own."""

    @property
    def strategy_names(self) -> tuple[str, ...]:
        """The names of the strategies, the one that fills unnamed seats first."""

    def make_strategy(self, name: str, role: Role, seed: int) -> Player | None:
        """Make the player of that name for that seat; None where the game has no such strategy."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answer is a number; where it has more than two decimals, two are enough."""

    text: str | Phrase
    answer: float

    def accepts(self, typed: str, decimal: str = ".") -> bool:
        """Say whether what was typed is the right answer.

        One of its readings with the given decimal mark has to be right.
        """
        rounded = round(self.answer, 2)
        is_short = abs(rounded - self.answer) < _EXACT
        tolerance = _EXACT if is_short else _ROUNDING
        readings = list_readings(typed, decimal)
        return any(abs(number - self.answer) < tolerance for number in readings)


@runtime_checkable
class Quiz(Protocol):
    """A game that brings its own questions about its rules.

    Others get questions made from tables, trees and plays.
    """

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Make a few questions for whoever sits in the seat of `role`."""


@runtime_checkable
class Wording(Protocol):
    """A game with words for people beyond its rules.

    They are shown on the web page of a seat and at the terminal.
    """

    @property
    def title(self) -> str:
        """What the game is called in headings."""

    @property
    def unit(self) -> str:
        """What payoffs are counted in, in the plural: coins, points.

        Empty where they have no unit.
        """

    def word_question(self, ask: Ask) -> str | Phrase:
        """Put the ask as one question."""


def put_question(game: object, ask: Ask) -> str | Phrase:
    """Return the question of an ask: its own, or that of its game; empty where neither has one."""
    if isinstance(ask, Mixture) and ask.question:
        return ask.question
    return game.word_question(ask) if isinstance(game, Wording) else ""


@runtime_checkable
class PeopleRules(Protocol):
    """A game that tells its rules to people otherwise than to models.

    Of any other game people are told the rules without an aim.
    """

    def list_rules(self, role: Role) -> tuple[Statement, ...]:
        """State the rules for the person in the seat of `role`."""


@runtime_checkable
class LimitedTelling(Protocol):
    """A game whose rules may be too long to be told to a model or a person.

    Strategies play it all the same.
    """

    def check_telling(self) -> None:
        """Raise TooLarge, with the size and the limit, where the rules are too long."""


@runtime_checkable
class PrivateInformation(Protocol[S_contra]):
    """A game in which a seat's page must always show something it knows from the start."""

    def list_private(self, state: S_contra, role: Role) -> tuple[Worded, ...]:
        """State what `role` alone knows in `state`, then what it has to mind on its turn."""


RoundCell = int | float | str
"""A cell of a table for people."""


@dataclass(frozen=True, slots=True)
class PlayedRounds:
    """The rounds that one seat has seen: a row for each, the first column the number of the round.

    `now` is the round in which the seat is asked, None once the game is over; `of` how many there
    are, None where nobody knows; `total` what the seat has earned so far, None where that is no sum
    over the rounds. `word` is what a round is called. `facts` are numbers of this round by their
    names, and `status` is how everybody stands now.
    """

    now: int | None
    of: int | None
    total: float | None
    columns: tuple[str, ...]
    rows: tuple[tuple[RoundCell, ...], ...]
    word: Literal["round", "day"] = "round"
    facts: tuple[tuple[str, RoundCell], ...] = ()
    status_columns: tuple[str, ...] = ()
    status: tuple[tuple[RoundCell, ...], ...] = ()


@runtime_checkable
class NumberedRounds(Protocol[S_contra]):
    """A game in rounds (days, in some) that says which one it is.

    Pay and data go by this number. Words are never searched for it: people may write any number
    into them.
    """

    def find_round(self, state: S_contra) -> int:
        """Return the number, from 1, of the round in which somebody is asked in `state`."""


@runtime_checkable
class FinalPayoff(Protocol):
    """A game in rounds whose payoff is one result at the end, such as who has survived.

    No round of it has a payoff of its own, so that none can be drawn or left out when people are
    paid.
    """

    @property
    def has_final_payoff(self) -> bool:
        """Whether that is so."""


@runtime_checkable
class RoundHistory(Protocol[S_contra]):
    """A game in rounds that can show them as a table."""

    def list_rounds(self, state: S_contra, role: Role) -> PlayedRounds:
        """List what `role` may know of the rounds before `state`."""


@runtime_checkable
class AdjustableRounds(Protocol):
    """A game that can be made longer or shorter."""

    @property
    def rounds_word(self) -> str:
        """What a round is called, in the plural: rounds, days."""

    @property
    def most_answers(self) -> int:
        """How often a seat is asked at most."""

    def with_rounds(self, rounds: int) -> AnyGame:
        """Return the same game with that many rounds."""


Parameter = bool | int | float | str | tuple[str, ...]
"""A value in the rules of a game that an experiment can set."""


@runtime_checkable
class NamedParameters(Protocol):
    """A game that names what can be set in its rules.

    Of any other game these are its plain fields.
    """

    def list_parameters(self) -> Mapping[str, Parameter]:
        """Return every parameter with the value that it has."""

    def with_parameters(self, values: Mapping[str, Parameter]) -> AnyGame:
        """Return the same game with these values; UsageError where they do not fit together."""


@runtime_checkable
class TheoryRemark(Protocol):
    """A game of which something is known although no equilibrium is."""

    @property
    def theory_remark(self) -> str:
        """What is known, in a sentence or two."""


class ToMove(NamedTuple):
    """Who moves at a position, and what may be done there.

    `role` is a role of the game, NATURE where chance draws, or empty where the play is over.
    `chances` are those of the moves of NATURE.
    """

    role: Role = ""
    moves: tuple[str, ...] = ()
    chances: tuple[float, ...] = ()


P = TypeVar("P")
"""The positions of a game."""


@runtime_checkable
class HasPositions(Game[S], Protocol[S, P]):
    """A game of perfect information in which plays that come to the same position go on alike.

    A position is all that matters for the rest of the play; its key is the same for positions that
    are worth the same to every seat. Nothing is hidden: a game with secrets does not have this
    capability, for what a player knows there is no position.
    """

    @property
    def payoff_bounds(self) -> tuple[float, float]:
        """The least and the most that a play can pay to a seat."""

    @property
    def total(self) -> float | None:
        """What all seats get together in every play; None where that differs."""

    @property
    def endless_result(self) -> tuple[float, ...]:
        """What a play that goes on for ever pays to every seat."""

    def find_position(self, state: S) -> P:
        """Return the position that a play has come to."""

    def read_position(self, view: View) -> P:
        """Return the position that the owner of a view is at."""

    def begin(self) -> P:
        """Return the position before anybody has moved."""

    def find_turn(self, position: P) -> ToMove:
        """Say who moves at a position and how."""

    def advance(self, position: P, move: str) -> P:
        """Return the position after a move."""

    def find_key(self, position: P) -> Hashable:
        """Return what is equal for positions that go on alike."""

    def find_result(self, position: P) -> tuple[float, ...]:
        """Return what a play that is over at this position pays to every seat."""


AnyPositions: TypeAlias = HasPositions[Any, Any]
"""A game with positions, of which nobody can say what they are."""


@runtime_checkable
class EndlessPlays(Protocol[S_contra]):
    """A game whose plays are stopped after many moves, since they need not end."""

    def is_endless(self, state: S_contra) -> bool:
        """Say whether the play was stopped, and so pays what its rules say of such plays."""


@runtime_checkable
class HasWithin(Protocol[S_contra]):
    """A game that begins with stages and goes on as another game, whose rules it tells too."""

    @property
    def within(self) -> AnyGame:
        """The game that comes after the stages."""

    def find_within(self, state: S_contra) -> object:
        """Return the state of the game within, its start where it has not begun."""


def check_telling(game: Game[S]) -> None:
    """Raise TooLarge where a game cannot be told to whoever would have to read its rules."""
    if isinstance(game, LimitedTelling):
        game.check_telling()


def find_round(game: Game[S], state: S) -> int:
    """Return the number of the round in `state`; a game without rounds has one."""
    return game.find_round(state) if isinstance(game, NumberedRounds) else 1


def pays_by_round(game: Game[S]) -> bool:
    """Tell whether the payoff of a game is the sum of what its rounds bring."""
    final = isinstance(game, FinalPayoff) and game.has_final_payoff
    return isinstance(game, NumberedRounds) and not final


def find_known_equilibrium(game: Game[S]) -> EquilibriumSummary | None:
    """Return the equilibrium that `game` knows in closed form, None where it knows none."""
    return game.describe_equilibrium() if isinstance(game, KnownEquilibrium) else None


def find_equilibrium_moves(game: Game[S], state: S) -> dict[Role, object]:
    """Return what everybody who is asked in `state` does in the known equilibrium.

    Returns an empty result where there is none.
    """
    asks = game.asks(state)
    if (
        not isinstance(game, KnownEquilibrium)
        or game.describe_equilibrium() is None
        or {NATURE, REFEREE} & set(asks)
    ):
        return {}
    return {
        role: game.choose_equilibrium(game.view(state, role), ask) for role, ask in asks.items()
    }


def measure_decision_cost(
    game: Game[S],
    state: S,
    role: Role,
    action: object,
) -> float | None:
    """Return what `role` loses by answering `action` in `state`.

    All else is played as in the known equilibrium.

    None where no equilibrium is known, or where chance decides what follows and the game does not
    say what it costs.
    """
    if role not in game.asks(state) or find_known_equilibrium(game) is None:
        return None
    if isinstance(game, CostedDecisions):
        return max(0.0, float(game.measure_cost(state, role, action)))
    kept = find_equilibrium_moves(game, state)
    usual = play_out_equilibrium(game, game.apply(state, kept))
    other = play_out_equilibrium(game, game.apply(state, {**kept, role: action}))
    if usual is None or other is None:
        return None
    return max(0.0, float(usual[role] - other[role]))


def play_out_equilibrium(game: Game[S], state: S) -> Mapping[Role, float] | None:
    """Return the payoffs when everybody keeps to the known equilibrium from `state` on.

    Returns None where chance draws.
    """
    while game.asks(state):
        moves = find_equilibrium_moves(game, state)
        if not moves:
            return None
        state = game.apply(state, moves)
    return game.payoffs(state)
