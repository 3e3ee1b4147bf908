"""Trees of games that are written as programs.

Any `core` game whose asks can be enumerated, compiled into a `Tree`.

Choices and whole amounts become moves of their role, lotteries become chance. Roles asked at the
same time move one after another without seeing each other's moves, which is the same game. Two
positions belong to one information set of a role when its views there are equal (`View.key`), so a
policy of the tree is a function of views: what the view does not tell, the role has forgotten.
Solvers need perfect recall; where a game's views leave out a role's own past, `remember=True` adds
its earlier views and moves to the information sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from bestresponse.core.ask import PASS, Amount, Ask, Choice, Lottery
from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.core.game import NATURE, Game, Role, S, View
from bestresponse.core.json import canonical
from bestresponse.core.told_json import spell_told
from bestresponse.theory.trees.tree import (
    NODE_LIMIT,
    Chance,
    Leaf,
    Tree,
    Turn,
    build_tree,
)


def compile_game(
    game: Game[S],
    *,
    limit: int = NODE_LIMIT,
    remember: bool = False,
    label: Callable[[View], str] = lambda view: spell_told(view.history),
) -> Tree:
    """Build the tree of `game`.

    Raises InvalidGame where an ask cannot be enumerated, TooLarge past `limit` nodes.

    `label` names an information set by its view, for people.
    """
    compiler = _Compiler(game, limit, remember, label)
    return build_tree(
        game.roles,
        _Position(game.start()),
        compiler.expand,
        limit=limit,
        name=game.name,
    )


@dataclass(frozen=True, slots=True)
class _Position:
    """A state, the moves already made in it, and what each role did before.

    The moves are those of roles asked at the same time.
    """

    state: Any
    made: Mapping[Role, Any] = field(default_factory=dict)
    past: Mapping[Role, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Compiler:
    game: Game[Any]
    limit: int
    remember: bool
    label: Callable[[View], str]

    def expand(self, position: _Position) -> Leaf | Chance | Turn:
        asks = self.game.asks(position.state)
        if asks and len(position.made) == len(asks):
            state = self.game.apply(position.state, position.made)
            position = _Position(state, {}, position.past)
            asks = self.game.asks(state)
        if not asks:
            return self._leaf(position.state)
        order = [*self.game.roles, *asks]  # of those still to move, the game's roles first
        role = next(role for role in order if role in asks and role not in position.made)
        ask = asks[role]
        if isinstance(ask, Lottery):
            chances = ask.chances
            even = Fraction(1, len(chances)) if len({p for _, p in chances}) == 1 else None
            return Chance({str(o): (even or p, self._after(position, role, o)) for o, p in chances})
        return self._turn(position, role, ask)

    def _leaf(self, state: object) -> Leaf:
        payoffs = self.game.payoffs(state)
        missing = [role for role in self.game.roles if role not in payoffs]
        if missing:
            raise InvalidGame(f"{self.game.name} is over, but its payoffs leave out {missing[0]!r}")
        return Leaf([payoffs[role] for role in self.game.roles])

    def _turn(self, position: _Position, role: Role, ask: Ask) -> Turn:
        if role not in self.game.roles:
            raise InvalidGame(
                f"{self.game.name} asks {role!r} for {_kind(ask)}; only the game's roles choose,"
                f" and chance is a Lottery asked of {NATURE!r}"
            )
        view = self.game.view(position.state, role)
        key = view.key
        label = self.label(view) or canonical(dict(view.facts))
        if self.remember:
            past = position.past.get(role, ())
            key = canonical([*past, key])
            label = " | ".join([*past[1::2], label])
        answers = list_answers(self.game, role, ask, self.limit)
        moves = {text: self._after(position, role, value, key) for text, value in answers.items()}
        return Turn(role, key, moves, label)

    def _after(
        self,
        position: _Position,
        role: Role,
        value: object,
        key: str = "",
    ) -> _Position:
        made = {**position.made, role: value}
        if not (self.remember and key):
            return replace(position, made=made)
        past = {**position.past, role: (*position.past.get(role, ()), key, str(value))}
        return replace(position, made=made, past=past)


def list_answers(
    game: Game[S],
    role: Role,
    ask: Ask,
    limit: int = NODE_LIMIT,
) -> dict[str, str | int]:
    """List the legal answers by label.

    Raises InvalidGame where they cannot be listed, TooLarge where there are too many.
    """
    match ask:
        case Choice(options):
            answers: dict[str, str | int] = {option: option for option in options}
        case Amount(low, high, whole=True):
            if high - low >= limit:
                raise TooLarge(
                    f"{role} chooses among {high - low + 1:g} amounts; the limit is {limit} nodes"
                )
            answers = {str(k): k for k in range(int(-(-low // 1)), int(high // 1) + 1)}
        case _:
            raise InvalidGame(
                f"{game.name} asks {role} for {_kind(ask)}, whose answers cannot be listed; a tree"
                " needs Choice, Lottery or whole Amount asks"
            )
    return {**answers, PASS: PASS} if ask.may_pass else answers


def _kind(ask: Ask) -> str:
    return (
        f"an Amount between {ask.low:g} and {ask.high:g}"
        if isinstance(ask, Amount)
        else type(ask).__name__
    )
