"""Trees of games that are written as programs: those of this package and those of OpenSpiel.

Any `core` game whose asks can be enumerated, compiled into a `Tree`.

Choices and whole amounts become moves of their role, lotteries become chance. Roles asked at the
same time move one after another without seeing each other's moves, which is the same game. Two
positions belong to one information set of a role when its views there are equal (`View.key`), so a
policy of the tree is a function of views: what the view does not tell, the role has forgotten.
Solvers need perfect recall; where a game's views leave out a role's own past, `remember=True` adds
its earlier views and moves to the information sets.

Games of OpenSpiel as trees, where `pyspiel` is installed (extra `openspiel`).

Any game, sequential or simultaneous, whose chance can be enumerated: nodes with simultaneous moves
become successive moves without sight of each other. Information sets are OpenSpiel's information
state strings.

M. Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bestresponse.core.ask import PASS, Amount, Ask, Choice, Lottery
from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.game import NATURE, Game, Role, S, View
from bestresponse.core.json import canonical
from bestresponse.core.registry import did_you_mean
from bestresponse.core.told_json import spell_told
from bestresponse.theory.files.game_text import number_repeats
from bestresponse.theory.games.normal_form import read_simplest
from bestresponse.theory.trees.tree import (
    LEAF,
    NODE_LIMIT,
    Chance,
    Grower,
    Leaf,
    Tree,
    Turn,
    build_tree,
)

if TYPE_CHECKING:
    import pyspiel


def _spell_history(view: View) -> str:
    return spell_told(view.history)


def compile_game(
    game: Game[S],
    *,
    limit: int = NODE_LIMIT,
    remember: bool = False,
    label: Callable[[View], str] = _spell_history,
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


# who moves, in OpenSpiel's numbers, where no single player does
_CHANCE = -1
_SIMULTANEOUS = -2
_TERMINAL = -4


def openspiel_is_installed() -> bool:
    """Say whether OpenSpiel can be imported."""
    return find_spec("pyspiel") is not None


def load_openspiel(game: str | pyspiel.Game, *, limit: int = NODE_LIMIT) -> Tree:
    """Build the tree of an OpenSpiel game.

    The game is given by its name with parameters ("kuhn_poker(players=3)") or itself.
    """
    if not openspiel_is_installed():
        raise UsageError(f"OpenSpiel is not installed: {install_hint('openspiel')}")
    import pyspiel

    if isinstance(game, str):
        game = _loaded(game)
    kind = game.get_type()
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise InvalidGame(
            f"{game} samples its chance moves; a tree needs them listed with probabilities"
        )
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise InvalidGame(f"{game} is a mean field game; a tree needs a finite number of players")
    perfect = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    if not perfect and not kind.provides_information_state_string:
        raise InvalidGame(f"{game} gives no information state strings; a tree needs them")
    return _Loader(game).grow(game.new_initial_state(), limit, str(game))


def _loaded(name: str) -> pyspiel.Game:
    import pyspiel

    known = pyspiel.registered_names()
    plain = name.partition("(")[0].strip()
    if plain not in known:
        raise InvalidGame(f"OpenSpiel has no game {plain!r}.{did_you_mean(plain, known)}")
    try:
        return pyspiel.load_game(name)
    except (pyspiel.SpielError, RuntimeError, ValueError) as error:
        raise InvalidGame(f"OpenSpiel cannot load {name!r}: {str(error).splitlines()[0]}") from None


class _Loader(Grower[Any]):
    """Loads games with states as positions.

    If players move at the same time, the moves of those who have chosen already belong to the
    position.
    """

    def __init__(self, game: pyspiel.Game) -> None:
        super().__init__([f"player {i + 1}" for i in range(game.num_players())], self._describe)
        self.tells = game.get_type().provides_information_state_string
        self.offered: dict[tuple[int, str], tuple[int, list[int]]] = {}

    def settle(self, node: int, position: pyspiel.State) -> tuple[int, Sequence[object]]:
        """Do as for any description, but without one if one player moves.

        Large games have millions of nodes.
        """
        player = _SIMULTANEOUS if isinstance(position, tuple) else position.current_player()
        if player == _TERMINAL:
            self.payoffs.extend(position.returns())
            return LEAF, ()
        if player < 0:
            return super().settle(node, position)
        actions = position.legal_actions()
        key = player, position.information_state_string() if self.tells else position.history_str()
        number, known = self.offered.get(key, (-1, None))
        if actions != known:
            number = self.find_infoset(node, self._turn(position, player, actions, actions))
            self.offered[key] = number, actions
        after = [*map(position.child, actions[:-1]), position]
        # Copies take most of the time, and this position is not looked at again.
        position.apply_action(actions[-1])
        return number, after

    def _describe(self, position: pyspiel.State) -> Chance | Turn:
        if isinstance(position, tuple):
            return self._simultaneous(*position)
        if position.is_simultaneous_node():
            return self._simultaneous(position, ())
        outcomes = position.chance_outcomes()
        labels = number_repeats(
            position.action_to_string(_CHANCE, action) for action, _ in outcomes
        )
        chances: list[float | Fraction] = [read_simplest(p) for _, p in outcomes]
        if sum(chances) != 1:
            chances = [p for _, p in outcomes]
        branches = zip(labels, outcomes, chances, strict=True)
        return Chance({label: (p, position.child(action)) for label, (action, _), p in branches})

    def _simultaneous(self, state: pyspiel.State, chosen: tuple[int, ...]) -> Turn:
        player = len(chosen)
        actions = state.legal_actions(player) or [0]
        after: list[object] = []
        for action in actions:
            made = (*chosen, action)
            if len(made) < len(self.players):
                after.append((state, made))
                continue
            child = state.clone()
            child.apply_actions(list(made))
            after.append(child)
        return self._turn(state, player, actions, after)

    def _turn(
        self,
        state: pyspiel.State,
        player: int,
        actions: list[int],
        after: Sequence[object],
    ) -> Turn:
        infoset = state.information_state_string(player) if self.tells else state.history_str()
        labels = number_repeats(state.action_to_string(player, action) for action in actions)
        return Turn(self.players[player], infoset or "start", dict(zip(labels, after, strict=True)))
