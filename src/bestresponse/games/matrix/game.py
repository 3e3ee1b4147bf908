"""One simultaneous choice, payoffs from a table.

Each seat is asked for a pure action or for a mixed strategy; payoffs are the expected ones of the
product of what was answered, so no draw comes between a decision and its value. The game is shown
as a table, as sentences or as JSON, under neutral or themed names; numbers are shown so that
reading them back gives the very payoffs: what is shown is what is solved.

A matrix game played many times by the same players, who see everything that happened.

Payoffs are the sums over the rounds. With `continuation` below 1 nature decides after each round
whether to go on; with `discount` below 1 a payoff counts that much less with every round. With
`noise` above 0 players say which move they mean and nature draws, seat by seat, which is made: the
one that was meant, or with probability `noise` one of the others, each as likely as the next (as
`theory.repeated.round_robin.Rules.noise` has it for automata). Players are told so; of their own
moves they see what was meant and what was made, of the others' only what was made.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from importlib.resources import files
from typing import Literal

import numpy as np

from bestresponse.core import NATURE, Action, Ask, Choice, Lottery, Mixture, Role, View, told
from bestresponse.core.capabilities import PlayedRounds, RoundCell
from bestresponse.core.errors import UsageError
from bestresponse.core.game import Layout
from bestresponse.core.names import check_distinct, check_roles
from bestresponse.core.registry import find_by_name
from bestresponse.core.told import (
    Aim,
    Cells,
    Chose,
    Event,
    GameRule,
    Made,
    Meant,
    Mixed,
    Over,
    Paid,
    Round,
    Statement,
    UntoldPayoffs,
    prose,
)
from bestresponse.games.statements import MOST_CELLS, read_exactly, tell
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.repeated.repetition import Repetition

Format = Literal["table", "prose", "json"]
FORMATS: tuple[Format, ...] = ("table", "prose", "json")


@dataclass(frozen=True, slots=True)
class Theme:
    """Names for the two players of a matrix game and their actions, and a story around them."""

    name: str
    story: str
    players: tuple[str, str]
    actions: tuple[tuple[str, ...], tuple[str, ...]]

    def dress(self, game: NormalForm | Array) -> NormalForm:
        """Return the game under this theme's names.

        If payoffs (2, rows, columns) are given, the game has these.
        """
        payoffs, title = (game.payoffs, game.name) if isinstance(game, NormalForm) else (game, "")
        shape = payoffs.shape[1:]
        for player, names, count in zip(self.players, self.actions, shape, strict=True):
            if count > len(names):
                raise UsageError(
                    f"the theme {self.name} has names for {len(names)} actions of {player}; the"
                    f" game has {count}"
                )
        actions = tuple(names[:count] for names, count in zip(self.actions, shape, strict=True))
        return NormalForm(payoffs, self.players, actions, title)


@cache
def themes() -> dict[str, Theme]:
    """The themes that come with the library, by name."""
    file = files("bestresponse.games.texts") / "themes.toml"
    found = {}
    for name, theme in tomllib.loads(file.read_text("utf-8")).items():
        actions = tuple(theme["row"]), tuple(theme["col"])
        found[name] = Theme(name, theme["story"], tuple(theme["players"]), actions)
    return found


@cache
def theme(name: str) -> Theme:
    """The theme of that name; UsageError with the nearest name where there is none."""
    return find_by_name(themes(), name, "theme")


def number(value: float) -> str:
    """The shortest text that reads back as `value`.

    >>> number(3.0), number(-0.1), number(1e-9)
    ('3', '-0.1', '1e-09')
    """
    is_whole = value == int(value)
    if is_whole and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value))


Wanted = Literal["action", "mixture"]
Others = Literal["unsaid", "rational"]
"""What the rules say of the others: nothing, or that they are perfectly rational, which is true
only where equilibrium strategies sit there. Who really sits where is told to models, in any game,
by `runs.seats`."""
State = tuple[Action, ...]


def as_strategy(answer: Action, options: tuple[str, ...]) -> Array:
    """Return a label as a unit vector, a mixture as itself (scaled to sum to exactly 1)."""
    if isinstance(answer, str):
        chosen = [option == answer for option in options]
        return np.array(chosen, dtype=np.float64)
    weights = [max(p, 0.0) for p in answer]
    total = math.fsum(weights)
    return np.array([p / total for p in weights])


@dataclass(frozen=True)
class MatrixGame:
    """A normal-form game that players can play; roles are the players of `form`."""

    form: NormalForm
    wanted: tuple[Wanted, ...] = ()
    shown_as: Format = "table"
    story: str = ""
    version: int = 2
    others: Others = "unsaid"
    rule: GameRule | None = None
    """What a mechanism adds to what is told."""

    def __post_init__(self) -> None:
        check_roles(self.form.players)
        for who, actions in zip(self.form.players, self.form.actions, strict=True):
            check_distinct(tuple(actions), f"an action of {who}")

    @property
    def name(self) -> str:
        """The name of the game."""
        return self.form.name or "matrix"

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return self.form.players

    @cached_property
    def zero_sum(self) -> bool:
        """Whether what one gains the other loses, to the last digit."""
        if self.form.num_players != 2:
            return False
        sums = self.form.payoffs[0] + self.form.payoffs[1]
        return not np.count_nonzero(sums)

    @property
    def normal_form(self) -> NormalForm:
        """The payoff table."""
        return self.form

    def start(self) -> State:
        """Return the state before anybody has moved."""
        return ()

    def asks(self, state: State) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if state:
            return {}
        wanted = self.wanted or ("action",) * self.form.num_players
        asked: dict[Role, Ask] = {}
        for role, actions, kind in zip(self.roles, self.form.actions, wanted, strict=True):
            asked[role] = Choice(actions) if kind == "action" else Mixture(actions)
        return asked

    def view(self, state: State, role: Role) -> View:
        """Return what `role` may know in `state`."""
        events: tuple[Event, ...] = tuple(map(_make_event, self.roles, state)) if state else ()
        facts = {
            "seat": self.roles.index(role),
            "players": list(self.roles),
            "actions": [list(actions) for actions in self.form.actions],
            "payoffs": self.form.payoffs.tolist(),
            "rivals": [other for other in self.roles if other != role],
        }
        history = (*events, Over()) if events else ()
        return View(role, self.stated, history, facts, layout=_LAYOUTS[self.shown_as])

    def apply(self, state: State, moves: Mapping[Role, Action]) -> State:
        """Return the state after these moves."""
        return tuple(moves[role] for role in self.roles)

    def payoffs(self, state: State) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        if not state:
            return dict.fromkeys(self.roles, 0.0)
        values = self.form.payoffs
        for answer, options in zip(reversed(state), reversed(self.form.actions), strict=True):
            values = values.dot(as_strategy(answer, options))
        return dict(zip(self.roles, values.tolist(), strict=True))

    def list_rules(self, role: Role) -> tuple[Statement, ...]:
        """State the rules for people, with the table if it can be read.

        Nothing is said about aims or the others' thoughts.
        """
        stated = tuple(statement for statement in self.stated if not isinstance(statement, Aim))
        if self.form.payoffs[0].size <= MOST_CELLS:
            return stated
        shortened = [UntoldPayoffs() if isinstance(s, Cells) else s for s in stated]
        return tuple(shortened)

    @cached_property
    def stated(self) -> tuple[Statement, ...]:
        """The rules, as they are told to everybody."""
        added = () if self.rule is None else (self.rule,)
        return (*prose(self.story), *tell(self.form), *added, Aim(self.others == "rational"))


_LAYOUTS: dict[Format, Layout] = {"table": "usual", "prose": "lines", "json": "json"}


def _make_event(who: Role, answer: Action) -> Chose | Mixed:
    if isinstance(answer, str):
        return Chose(who, (answer,))
    weights = [read_exactly(float(weight)) for weight in answer]
    return Mixed(who, tuple(weights))


_MOST_EXACT = 2_000
"""Payoffs in a table that noise is averaged over in fractions."""


def expect_noise(form: NormalForm, noise: float) -> NormalForm:
    """Return the table of what everybody means if moves can go wrong.

    Another move is made with probability `noise`.

    Fractions keep ties that floats would break, so that equilibria of the table are found exactly.

    >>> pennies = NormalForm.zero_sum([[1, -1], [-1, 1]])
    >>> expect_noise(pennies, 0.25).payoffs[0].tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    """
    exact = form.payoffs.size <= _MOST_EXACT
    if exact:
        payoffs = np.array([Fraction(number) for number in form.given.ravel()], dtype=object)
        payoffs = payoffs.reshape(form.payoffs.shape)
    else:
        payoffs = form.payoffs
    probability = read_exactly(noise) if exact else noise
    for axis, actions in enumerate(form.shape, start=1):
        if actions == 1:
            continue
        slip = probability / (actions - 1)
        stay = 1 - probability
        total = payoffs.sum(axis=axis, keepdims=True)
        payoffs = stay * payoffs + slip * (total - payoffs)
    return NormalForm(payoffs, form.players, form.actions, form.name)


GO_ON = "go on"
STOP = "stop"
"""What nature answers when it is asked whether there is another round."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """The joint moves so far, as they were made and as they were meant.

    While nature draws the moves of a round, `meant` has an entry more than `played`, and `drawn`
    holds the moves of the seats that it has come to. `decided` says whether nature has allowed the
    next round.
    """

    played: tuple[tuple[str, ...], ...] = ()
    decided: bool = True
    over: bool = False
    meant: tuple[tuple[str, ...], ...] = ()
    drawn: tuple[str, ...] = ()

    @property
    def drawing(self) -> bool:
        """Tell whether nature is asked which moves are made."""
        return len(self.meant) > len(self.played)


@dataclass(frozen=True)
class RepeatedGame:
    """`form` played for `rounds` rounds, or until nature stops it."""

    form: NormalForm
    rounds: int = 10
    continuation: float = 1.0
    shown_as: Format = "table"
    story: str = ""
    version: int = 3
    discount: float = 1.0
    noise: float = 0.0
    others: Others = "unsaid"
    rule: GameRule | None = None

    def __post_init__(self) -> None:
        check_roles(self.form.players)
        _ = self.repetition  # which refuses numbers that make no match

    @cached_property
    def repetition(self) -> Repetition:
        """How often the game is played, what later rounds weigh, and noise."""
        return Repetition(self.rounds, self.noise, self.continuation, self.discount)

    @property
    def name(self) -> str:
        """The name of the game."""
        return f"repeated {self.form.name or 'matrix'}"

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return self.form.players

    @cached_property
    def stage(self) -> MatrixGame:
        """The game of one round."""
        return MatrixGame(
            self.form,
            shown_as=self.shown_as,
            story=self.story,
            others=self.others,
            rule=self.rule,
        )

    @cached_property
    def intended_form(self) -> NormalForm:
        """The table of what is meant in one round.

        Payoffs are those expected once noise has made the moves.
        """
        return expect_noise(self.form, self.noise) if self.noise else self.form

    def start(self) -> Rounds:
        """Return the state before anybody has moved."""
        return Rounds()

    def asks(self, state: Rounds) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if state.over or len(state.played) >= self.rounds:
            return {}
        if state.drawing:
            return {NATURE: self._draw_move(state)}
        if not state.decided:
            return {NATURE: Lottery(((GO_ON, self.continuation), (STOP, 1 - self.continuation)))}
        return {
            role: Choice(actions)
            for role, actions in zip(self.roles, self.form.actions, strict=True)
        }

    def view(self, state: Rounds, role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE and state.drawing:
            mover = self.roles[len(state.drawn)]
            return View(
                role,
                prose(f"Is the move made that {mover} means?"),
                prose(f"round {len(state.meant)}"),
            )
        if role == NATURE:
            return View(
                role,
                prose("Is there another round?"),
                prose(f"after round {len(state.played)}"),
            )
        stage = self.stage.view((), role)
        facts = {
            **stage.facts,
            "history": [list(moves) for moves in state.played],
        }
        if self.noise:
            seat = self.roles.index(role)
            facts["meant"] = [moves[seat] for moves in state.meant]
        rules = (*stage.rules, self._told_repetition)
        return View(
            role,
            rules,
            tuple(self._list_events(state, role)),
            facts,
            layout=stage.layout,
        )

    def list_rules(self, role: Role) -> tuple[Statement, ...]:
        """State the rules for people: one round, the number of rounds, what can go wrong."""
        return (*self.stage.list_rules(role), self._told_repetition)

    def find_round(self, state: Rounds) -> int:
        """Return the number of the round; whether another follows is drawn in the round before."""
        return len(state.played) + state.decided

    def list_rounds(self, state: Rounds, role: Role) -> PlayedRounds:
        """List which moves were made and what the seat got, round by round.

        Under noise also what the seat meant.
        """
        seat = self.roles.index(role)
        others = [other for other in self.roles if other != role]
        rows: list[tuple[RoundCell, ...]] = []
        for number, moves in enumerate(state.played):
            theirs = [moves[self.roles.index(other)] for other in others]
            meant = [state.meant[number][seat]] if self.noise else []
            payoff = self.stage.payoffs(moves)[role]
            rows.append((number + 1, *meant, moves[seat], *theirs, payoff))
        now = len(state.played) + 1 if self.asks(state) else None
        of = self.rounds if self.continuation == 1.0 else None
        own = ("you meant", "you") if self.noise else ("you",)
        columns = ("round", *own, *others, "your payoff")
        return PlayedRounds(now, of, self.payoffs(state)[role], columns, tuple(rows))

    def apply(self, state: Rounds, moves: Mapping[Role, Action]) -> Rounds:
        """Return the state after these moves."""
        if state.drawing:
            drawn = (*state.drawn, moves[NATURE])
            if len(drawn) < len(self.roles):
                return replace(state, drawn=drawn)
            return Rounds((*state.played, drawn), self.continuation == 1.0, meant=state.meant)
        if NATURE in moves:
            return replace(state, decided=True, over=moves[NATURE] == STOP)
        meant = tuple(moves[role] for role in self.roles)
        if self.noise:
            return replace(state, meant=(*state.meant, meant))
        return Rounds((*state.played, meant), self.continuation == 1.0)

    def payoffs(self, state: Rounds) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        totals = dict.fromkeys(self.roles, 0.0)
        paid: dict[State, Mapping[Role, float]] = {}  # of many rounds with the same moves
        for number, moves in enumerate(state.played):
            if moves not in paid:
                paid[moves] = self.stage.payoffs(moves)
            for role, payoff in paid[moves].items():
                totals[role] += payoff * self.repetition.weigh(number)
        return totals

    def _draw_move(self, state: Rounds) -> Lottery:
        """Return the draw of the next seat's move.

        What was meant comes first, so that a slip is the same draw.
        """
        seat = len(state.drawn)
        meant = state.meant[-1][seat]
        others = [move for move in self.form.actions[seat] if move != meant]
        slip = self.noise if others else 0.0
        slips = [(move, slip / len(others)) for move in others]
        return Lottery(((meant, 1 - slip), *slips))

    @cached_property
    def _told_repetition(self) -> told.Repetition:
        return told.Repetition(
            rounds=self.rounds,
            continuation=read_exactly(float(self.continuation)),
            discount=read_exactly(float(self.discount)),
            noise=read_exactly(float(self.noise)),
        )

    def _list_events(self, state: Rounds, role: Role) -> Iterator[Event]:
        """Yield what happened in each round, as far as a role knows it, and which round it is."""
        for number, moves in enumerate(state.played, 1):
            yield Round(number)
            yield from self._list_moves(state, number, role)
            payoff = self.stage.payoffs(moves)[role]
            yield Paid(role, read_exactly(payoff))
        if self.asks(state):
            yield Round(len(state.played) + 1)
        else:
            yield Over()

    def _list_moves(self, state: Rounds, number: int, role: Role) -> Iterator[Event]:
        """Yield the moves of a round.

        For the own move, what was meant and what was made; for the others', what was made.
        """
        made = state.played[number - 1]
        moves = dict(zip(self.roles, made, strict=True))
        if not self.noise:
            yield Chose(role, (moves.pop(role),))
            yield from (Chose(other, (move,)) for other, move in moves.items())
            return
        meant = state.meant[number - 1][self.roles.index(role)]
        yield Meant(role, meant, moves.pop(role))
        yield from (Made(other, move) for other, move in moves.items())


def as_repeated(game: object) -> RepeatedGame | None:
    """Return a game that is repeated already, None where it is not."""
    return game if isinstance(game, RepeatedGame) else None


def find_table_rule(game: object) -> GameRule | None:
    """Return what a mechanism adds to what is told of a table."""
    return game.rule if isinstance(game, MatrixGame) else None
