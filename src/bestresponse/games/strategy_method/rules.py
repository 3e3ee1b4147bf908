"""A game in which answers are given for every case, before anybody knows which one comes.

In a game of two moves in turn, the second mover answers every move of the first; the answer to the
move that was made counts. The smallest offer that is accepted is a minimum acceptable offer (R.
Selten, "Die Strategiemethode zur Erforschung des eingeschränkt rationalen Verhaltens im Rahmen
eines Oligopolexperimentes", 1967).

In a game in which all give an amount at once, everybody gives one outright and one for every
average of the others, rounded halves up. Then one player is drawn for whom the second answer
counts, at the average that the others gave outright (U. Fischbacher, S. Gächter, E. Fehr, Economics
Letters 71, 2001).

All amounts are whole units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, floor
from random import Random
from typing import Any

from bestresponse.core.ask import Amount, Ask, Choice, Form, Lottery
from bestresponse.core.capabilities import (
    EquilibriumSummary,
    KnownEquilibrium,
    Parameter,
    Question,
    Wording,
    find_known_equilibrium,
    put_question,
)
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, Action, AnyGame, Role, View
from bestresponse.core.phrase import Phrase, make_phrase
from bestresponse.core.told import GameEvent, GameRule, Round
from bestresponse.games.parameters import list_parameters, set_parameters
from bestresponse.games.quiz import make_quiz
from bestresponse.telling.course import Narrator

OUTRIGHT = "whatever the others give"
_MOST_CASES = 101
Case = Choice | Amount
"""A question whose answers can be listed."""


@dataclass(frozen=True, slots=True)
class EveryMoveRule(GameRule):
    """The second mover answers every move that the first can make."""

    message = "every-move"
    first: str
    second: str

    def tell(self, words: Narrator) -> str:
        """Tell it of both by their roles."""
        write = words.language.write_role
        return words.fill(self, first=write(self.first), second=write(self.second))


@dataclass(frozen=True, slots=True)
class EveryAverageRule(GameRule):
    """All answer outright and for every average; one is drawn whose second answer counts."""

    message = "every-average"


@dataclass(frozen=True, slots=True)
class Counted(GameEvent):
    """For whom the answers to averages count."""

    message = "counted"
    who: str


@dataclass(frozen=True, slots=True)
class Collected:
    """What everybody answered, whose answers to averages count, and where the game is then."""

    given: tuple[tuple[Role, Action], ...] = ()
    drawn: Role = ""
    played: Any = None


@dataclass(frozen=True, eq=False)
class StrategyMethod:
    """The game `direct`, with answers for every case."""

    direct: AnyGame

    def __post_init__(self) -> None:
        if not self._is_at_once and not self._follower:
            raise UsageError(
                f"{self.direct.name} cannot be played by the strategy method; expected two moves"
                " in turn, or amounts that all give once and at the same time"
            )

    @property
    def name(self) -> str:
        """The name of the game."""
        return f"{self.direct.name} by the strategy method"

    @property
    def version(self) -> int:
        """The version of the rules."""
        return self.direct.version

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return self.direct.roles

    @property
    def title(self) -> str:
        """What the game is called."""
        return self.direct.title if isinstance(self.direct, Wording) else self.direct.name

    @property
    def unit(self) -> str:
        """What payoffs are counted in."""
        return self.direct.unit if isinstance(self.direct, Wording) else ""

    @cached_property
    def _first_asks(self) -> Mapping[Role, Case]:
        """What is asked at the beginning, in whole units; empty if that cannot be listed."""
        return _make_whole(self.direct.asks(self.direct.start()))

    @property
    def _is_at_once(self) -> bool:
        """Whether all give the same kind of amount at the same time, and that is all."""
        asks = list(self._first_asks.values())
        if set(self._first_asks) != set(self.roles) or len(asks) < 2:
            return False
        if not isinstance(asks[0], Amount) or asks.count(asks[0]) < len(asks):
            return False
        least = dict.fromkeys(self.roles, _list_moves(asks[0])[0])
        return not self.direct.asks(self.direct.apply(self.direct.start(), least))

    @property
    def _leader(self) -> Role:
        return next(iter(self._first_asks), NATURE)

    @cached_property
    def _cases(self) -> Mapping[Action, Case]:
        """What the second mover is asked after each move of the first, if there is a choice."""
        if len(self._first_asks) != 1 or self._leader == NATURE:
            return {}
        cases: dict[Action, Case] = {}
        for move in _list_moves(self._first_asks[self._leader]):
            for ask in _make_whole(self.direct.asks(self._lead(move))).values():
                if len(_list_moves(ask)) != 1:
                    cases[move] = ask
        return cases

    def _lead(self, move: Action) -> Any:
        """Return the state after a move of the first mover."""
        return self.direct.apply(self.direct.start(), {self._leader: move})

    @cached_property
    def _follower(self) -> Role:
        """Who moves second, and last; empty where that is nobody, or not always the same."""
        found: set[Role] = set()
        for move, ask in self._cases.items():
            state = self._lead(move)
            asked = list(self.direct.asks(state))
            answers = _list_moves(ask)
            if len(asked) != 1 or not answers:
                return ""
            found.update(asked)
            for answer in answers:
                if self.direct.asks(self.direct.apply(state, {asked[0]: answer})):
                    return ""
        if len(found) != 1 or self._leader in found or NATURE in found:
            return ""
        return found.pop()

    def start(self) -> Collected:
        """Return the state before anybody has answered."""
        return Collected()

    def asks(self, state: Collected) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if state.played is not None:
            return {}
        if self._follower:
            forms = tuple((write_case(move), ask) for move, ask in self._cases.items())
            return {**self._first_asks, self._follower: Form(forms)}
        if state.given:
            return {NATURE: Lottery.uniform(self.roles)}
        amount = self._first_asks[self.roles[0]]
        averages = [(write_case(average), amount) for average in _list_moves(amount)]
        return dict.fromkeys(self.roles, Form(((OUTRIGHT, amount), *averages)))

    def apply(self, state: Collected, moves: Mapping[Role, Action]) -> Collected:
        """Return the state after these moves."""
        if NATURE in moves:
            drawn = replace(state, drawn=moves[NATURE])
            counted = {role: self.find_counted(drawn, role) for role in self.roles}
            return replace(drawn, played=self.direct.apply(self.direct.start(), counted))
        given = replace(state, given=tuple((role, moves[role]) for role in self.asks(state)))
        if not self._follower:
            return given
        played = self._lead(moves[self._leader])
        for role, ask in _make_whole(self.direct.asks(played)).items():
            answer = self.find_counted(given, role)
            if answer is None:
                (answer,) = _list_moves(ask)
            played = self.direct.apply(played, {role: answer})
        return replace(given, played=played)

    def find_counted(self, state: Collected, role: Role) -> Action | None:
        """Return the answer of a role that counts; None where none does, or not yet."""
        given = dict(state.given)
        if role not in given:
            return None
        if self._follower:
            leads = role == self._leader
            return given[role] if leads else given[role].get(write_case(given[self._leader]))
        if not state.drawn:
            return None
        if role != state.drawn:
            return given[role][OUTRIGHT]
        others = [given[other][OUTRIGHT] for other in self.roles if other != role]
        return given[role][write_case(floor(sum(others) / len(others) + 0.5))]

    def payoffs(self, state: Collected) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        if state.played is None:
            return dict.fromkeys(self.roles, 0.0)
        return self.direct.payoffs(state.played)

    def view(self, state: Collected, role: Role) -> View:
        """Return what `role` may know in `state`."""
        here = self.direct.start() if state.played is None else state.played
        shown = self.direct.view(here, role)
        rule: GameRule = EveryAverageRule()
        if self._follower:
            rule = EveryMoveRule(self._leader, self._follower)
        history = list(shown.history)
        if state.drawn:
            history.insert(isinstance(history[0], Round), Counted(state.drawn))
        own = [list(pair) for pair in state.given if pair[0] == role]
        return replace(
            shown,
            rules=(*shown.rules, rule),
            history=tuple(history),
            facts={**shown.facts, "answered": own},
        )

    def word_question(self, ask: object) -> str | Phrase:
        """Ask for the answer in every case, or as the game does."""
        match ask:
            case Form(((name, _), *_)) if name == OUTRIGHT:
                return "How much do you give, and how much if the others give so much on average?"
            case Form():
                return make_phrase(
                    "What do you do at each choice that {who} can make?", who=self._leader
                )
            case Choice() | Amount():
                return put_question(self.direct, ask)
        return ""

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask what plays earn, as in the game itself."""
        return make_quiz(self.direct, role, rng)

    def list_parameters(self) -> Mapping[str, Parameter]:
        """Return every parameter of the game with the value that it has."""
        return list_parameters(self.direct)

    def with_parameters(self, values: Mapping[str, Parameter]) -> StrategyMethod:
        """Return the game with these values."""
        return StrategyMethod(set_parameters(self.direct, values))

    def describe_equilibrium(self) -> EquilibriumSummary | None:
        """Describe the equilibrium that is known of the game itself."""
        return find_known_equilibrium(self.direct)

    def choose_equilibrium(self, view: View, ask: Ask) -> object:
        """Answer every case as in the equilibrium of the game."""
        assert isinstance(self.direct, KnownEquilibrium)
        if not isinstance(ask, Form):
            return self.direct.choose_equilibrium(view, ask)
        answers = {}
        cases = {write_case(move): move for move in self._cases}
        for name, part in ask.fields:
            seen = view
            if name in cases:
                seen = self.direct.view(self._lead(cases[name]), view.role)
            answers[name] = self.direct.choose_equilibrium(seen, part)
        return answers


def write_case(move: Action) -> str:
    """Name the answer to a move, as a field of a form.

    >>> write_case(3), write_case("left")
    ('if 3', 'if left')
    """
    return f"if {move:g}" if isinstance(move, int | float) else f"if {move}"


def _make_whole(asks: Mapping[Role, Ask]) -> dict[Role, Case]:
    """Return the questions in whole units; nothing where one is no choice and no amount."""
    whole: dict[Role, Case] = {}
    for role, ask in asks.items():
        match ask:
            case Amount():
                whole[role] = replace(ask, whole=True)
            case Choice():
                whole[role] = ask
            case _:
                return {}
    return whole


def _list_moves(ask: Case) -> tuple[Action, ...]:
    """List all answers to a question; nothing where they are too many."""
    match ask:
        case Choice(options) if len(options) <= _MOST_CASES:
            return options
        case Amount(low, high) if high - low < _MOST_CASES:
            return tuple(range(ceil(low), floor(high) + 1))
    return ()
