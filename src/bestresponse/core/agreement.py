"""Whether what a game states is what it executes: players, options, odds, knowledge and payoffs.

`check_game` calls this. A game that gives texts (`Prose`) states nothing that could be checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import TypeVar, get_args

from bestresponse.core.ask import Ask, Choice, Lottery, Mixture
from bestresponse.core.capabilities import HasWithin
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE, Action, Game, Role, S
from bestresponse.core.paying import pay
from bestresponse.core.told import (
    AtOnce,
    Cells,
    Course,
    Decides,
    Draw,
    Event,
    GameRule,
    PayoffRule,
    PlayEnd,
    Players,
    Repetition,
    Statement,
    list_children,
)

_MOST_CELLS = 2_000
_MOST_POSITIONS = 5_000
"""Of larger tables and trees only the first cells and positions are compared."""
_CLOSE = 1e-9

_Kind = TypeVar("_Kind")
"""A kind of statement."""


class Disagreement(AssertionError):
    """A game states something else than it executes."""


@dataclass(frozen=True, slots=True)
class ToldPlay:
    """A finished play as one role is told it, and the histories that all roles are told."""

    roles: tuple[Role, ...]
    rules: tuple[Statement, ...]
    history: tuple[Event, ...]
    histories: Mapping[Role, tuple[Event, ...]]


def check_statements(game: Game[S]) -> None:
    """Compare the rules that every role is told with what the game asks, draws and pays.

    Of a game that begins with stages, the game within.
    """
    if isinstance(game, HasWithin):
        check_statements(game.within)
        return
    for role in game.roles:
        rules = game.view(game.start(), role).rules
        _check_players(game, rules)
        at_once = find_rule(rules, AtOnce)
        if at_once is not None:
            _check_options(game, at_once)
            _check_cells(game, at_once, rules)
        course = find_rule(rules, Course)
        if course is not None:
            _check_course(game, course)
        for rule in rules:
            if isinstance(rule, GameRule):
                rule.check_asks(game.asks(game.start()))


def check_end(game: Game[S], state: S) -> None:
    """Compare the payoffs of a finished play with those of the stated rule.

    The rule is applied to what the histories say.
    """
    if isinstance(game, HasWithin):
        check_end(game.within, game.find_within(state))
        return
    payoffs = game.payoffs(state)
    histories = {role: game.view(state, role).history for role in game.roles}
    for role in game.roles:
        view = game.view(state, role)
        play = ToldPlay(tuple(game.roles), view.rules, view.history, histories)
        for rule in play.rules:
            owed = rule.find_owed(play) if isinstance(rule, GameRule) else None
            if owed is not None:
                hold_equal(owed[role], payoffs[role], f"the payoff of {role} after this play")


def find_rule(rules: Iterable[Statement], kind: type[_Kind]) -> _Kind | None:
    """Return the first rule of that kind, None where none is stated."""
    return next((rule for rule in rules if isinstance(rule, kind)), None)


def _check_players(game: Game[S], rules: Iterable[Statement]) -> None:
    players = find_rule(rules, Players)
    if players is not None and players.names != tuple(game.roles):
        raise Disagreement(
            f"the rules name the players {', '.join(players.names)};"
            f" the roles are {', '.join(game.roles)}"
        )


def _check_options(game: Game[S], at_once: AtOnce) -> None:
    asks = game.asks(game.start())
    for choice in at_once.choices:
        ask = asks.get(choice.who)
        if isinstance(ask, Choice | Mixture) and ask.options != choice.options:
            raise Disagreement(
                f"the rules say that {choice.who} chooses {' or '.join(choice.options)};"
                f" the game asks for {' or '.join(ask.options)}"
            )


def _check_cells(game: Game[S], at_once: AtOnce, rules: Sequence[Statement]) -> None:
    """Play the combinations of moves that the rules list, and compare what they pay."""
    cells = find_rule(rules, Cells)
    rule = next((one for one in rules if isinstance(one, get_args(PayoffRule))), None)
    repetition = find_rule(rules, Repetition)
    start = game.start()
    asks = game.asks(start)
    if set(asks) != set(game.roles):
        return
    combinations = product(*(choice.options for choice in at_once.choices))
    stated = {cell.moves: cell.payoffs for cell in cells.cells} if cells is not None else {}
    for moves in islice(combinations, _MOST_CELLS):
        if rule is not None:
            paid = pay(rule, [Fraction(move) for move in moves])
        elif moves in stated:
            paid = stated[moves]
        else:
            return
        named = dict(zip((choice.who for choice in at_once.choices), moves, strict=True))
        answers = {role: _answer(asks[role], move) for role, move in named.items()}
        after = game.apply(start, answers)
        if repetition is not None:
            after = _settle(game, after, named, repetition)
        payoffs = game.payoffs(after)
        for role, amount in zip(named, paid, strict=True):
            hold_equal(amount, payoffs[role], f"the payoff of {role} for {', '.join(moves)}")


def _settle(
    game: Game[S],
    state: S,
    meant: Mapping[Role, str],
    stated: Repetition,
) -> S:
    """Let the moves be made that were meant, and compare the odds of errors and of the end."""
    for move in meant.values() if stated.noise else ():
        ask = game.asks(state).get(NATURE)
        if not isinstance(ask, Lottery):
            raise Disagreement("the rules say that moves can go wrong; the game draws no errors")
        chance = dict(ask.chances).get(move, 0.0)
        if len(ask.chances) > 1:
            hold_equal(1 - stated.noise, chance, f"the probability that {move} is made as meant")
        state = game.apply(state, {NATURE: move})
    ask = game.asks(state).get(NATURE)
    if isinstance(ask, Lottery):
        chances = [chance for _, chance in ask.chances]
        misses = [abs(chance - stated.continuation) for chance in chances]
        if min(misses) > _CLOSE:
            raise Disagreement(
                f"the rules say that there is another round with probability"
                f" {stated.continuation}; the game draws with {chances}"
            )
    elif stated.continuation != 1 and stated.rounds > 1:
        raise Disagreement("the rules say that the end is drawn; the game draws no end")
    return state


def _answer(ask: Ask, move: str) -> object:
    """Answer a move for certain."""
    if isinstance(ask, Mixture):
        return tuple(float(option == move) for option in ask.options)
    return move


def _check_course(game: Game[S], course: Course) -> None:
    """Walk through the tree that is stated and the game side by side."""
    try:
        children = list_children(course)
    except InvalidGame as error:
        raise Disagreement(f"the rules state no tree: {error}") from None
    seen: dict[tuple[Role, str], str] = {}
    waiting: list[tuple[int, S, dict[Role, Action]]] = [(0, game.start(), {})]
    for _ in range(_MOST_POSITIONS):
        if not waiting:
            return
        place, state, chosen = waiting.pop()
        where = f"position {place + 1} of the course"
        asks = game.asks(state)
        position = course.positions[place]
        match position:
            case PlayEnd(payoffs):
                if asks:
                    raise Disagreement(f"{where} is an end; the game asks {', '.join(asks)}")
                earned = game.payoffs(state)
                for role, amount in zip(game.roles, payoffs, strict=True):
                    hold_equal(amount, earned[role], f"the payoff of {role} at {where}")
            case Draw():
                _check_draw(position, asks.get(NATURE), where)
                for outcome, child in zip(position.outcomes, children[place], strict=True):
                    waiting.append((child, game.apply(state, {NATURE: outcome.name}), {}))
            case Decides(who, options, mark):
                ask = asks.get(who)
                if not isinstance(ask, Choice) or ask.options != options:
                    asked = " or ".join(ask.options) if isinstance(ask, Choice) else "nothing"
                    raise Disagreement(
                        f"at {where} the rules say that {who} chooses {' or '.join(options)};"
                        f" the game asks for {asked}"
                    )
                _check_knowledge(game.view(state, who).key, seen, (who, mark or f"#{place}"), where)
                for option, child in zip(options, children[place], strict=True):
                    moves = {**chosen, who: option}
                    is_complete = set(moves) == set(asks)
                    after = game.apply(state, moves) if is_complete else state
                    waiting.append((child, after, {} if is_complete else moves))


def _check_draw(stated: Draw, ask: Ask | None, where: str) -> None:
    if not isinstance(ask, Lottery):
        raise Disagreement(f"at {where} the rules say that chance draws; the game draws nothing")
    drawn = {str(outcome): chance for outcome, chance in ask.chances}
    for outcome in stated.outcomes:
        hold_equal(
            outcome.chance,
            drawn.get(outcome.name, 0.0),
            f"the probability of {outcome.name} at {where}",
        )


def _check_knowledge(
    key: str,
    seen: dict[tuple[Role, str], str],
    known_as: tuple[Role, str],
    where: str,
) -> None:
    """Compare what a player sees with what positions are stated to look alike."""
    who, _ = known_as
    if seen.setdefault(known_as, key) != key:
        raise Disagreement(
            f"{where} looks to {who} like another one by the rules; the game shows something else"
        )
    own = [position for position in seen if position[0] == who and position != known_as]
    if any(seen[position] == key for position in own):
        raise Disagreement(
            f"{who} can tell {where} from all others by the rules; the game shows the same twice"
        )


def hold_equal(stated: Fraction, executed: float, what: str) -> None:
    """Raise Disagreement where a number that is told is not the number that is played."""
    if not math.isclose(stated, executed, rel_tol=_CLOSE, abs_tol=_CLOSE):
        raise Disagreement(f"{what} is {stated} by the rules that are told; it is {executed:g}")
