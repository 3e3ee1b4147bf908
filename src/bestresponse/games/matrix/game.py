"""One simultaneous choice, payoffs from a table.

Each seat is asked for a pure action or for a mixed strategy; payoffs are the expected ones of the product of what was
answered, so no draw comes between a decision and its value. The game is shown as a table, as sentences or as JSON,
under neutral or themed names; numbers are shown so that reading them back gives the very payoffs: what is shown is what
is solved.

A matrix game played many times by the same players, who see everything that happened.

Payoffs are the sums over the rounds. With `continuation` below 1 nature decides after each round whether to go on; with
`discount` below 1 a payoff counts that much less with every round. With `noise` above 0 players say which move they
mean and nature draws, seat by seat, which is made: the one that was meant, or with probability `noise` one of the
others, each as likely as the next (as `theory.repeated.round_robin.Rules.noise` has it for automata). Players are told
so; of their own moves they see what was meant and what was made, of the others' only what was made.
"""

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from itertools import product
from typing import Literal

import numpy as np

from bestresponse.core import NATURE, Action, Ask, Choice, Lottery, Mixture, Role, View
from bestresponse.core.capabilities import PlayedRounds
from bestresponse.core.errors import UsageError
from bestresponse.core.registry import find_by_name
from bestresponse.games.texts import TEXTS
from bestresponse.theory.games.normal_form import Array, NormalForm

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
        """Return the game, or the game with these payoffs (2, rows, columns), under this theme's names."""
        payoffs, title = (game.payoffs, game.name) if isinstance(game, NormalForm) else (game, "")
        shape = payoffs.shape[1:]
        for player, names, count in zip(self.players, self.actions, shape, strict=True):
            if count > len(names):
                raise UsageError(f"the theme {self.name} names {len(names)} actions of {player}; the game has {count}")
        actions = tuple(names[:count] for names, count in zip(self.actions, shape, strict=True))
        return NormalForm(payoffs, self.players, actions, title)


@cache
def themes() -> dict[str, Theme]:
    """The themes that come with the library, by name."""
    data = tomllib.loads(files("bestresponse.games.texts").joinpath("themes.toml").read_text("utf-8"))
    return {
        name: Theme(name, theme["story"], tuple(theme["players"]), (tuple(theme["row"]), tuple(theme["col"])))
        for name, theme in data.items()
    }


@cache
def theme(name: str) -> Theme:
    """The theme of that name; UsageError with the nearest name where there is none."""
    return find_by_name(themes(), name, "theme")


def number(value: float) -> str:
    """The shortest text that reads back as `value`.

    >>> number(3.0), number(-0.1), number(1e-9)
    ('3', '-0.1', '1e-09')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def show_payoffs(game: NormalForm, seat: int, form: Format, zero_sum: bool) -> str:
    """Return the payoffs of `game` as `seat` is told them; in a zero-sum game only its own."""
    if form == "table" and game.num_players == 2:
        return _write_table(game, seat, zero_sum)
    players = range(seat, seat + 1) if zero_sum else range(game.num_players)
    others = [player for player in range(game.num_players) if player != seat]
    outcomes: list[str] = []
    for cell in product(*map(range, game.shape)):
        moves = [names[k] for names, k in zip(game.actions, cell, strict=True)]
        payoffs = {player: number(game.payoffs[(player, *cell)]) for player in players}
        mine = payoffs.pop(seat)
        if form == "json":
            row: dict[str, object] = {"you": moves[seat], **{game.players[k]: moves[k] for k in others}}
            row |= {"your_payoff": json.loads(mine)}
            row |= {f"payoff of {game.players[k]}": json.loads(paid) for k, paid in payoffs.items()}
            outcomes.append(json.dumps(row, ensure_ascii=False))
        else:
            chosen = " and ".join(f"{game.players[k]} chooses {moves[k]}" for k in others)
            gains = "".join(f", {game.players[k]} gets {paid}" for k, paid in payoffs.items())
            outcomes.append(f"If you choose {moves[seat]} and {chosen}, you get {mine}{gains}.")
    return "The outcomes:\n[" + ",\n ".join(outcomes) + "]" if form == "json" else "\n".join(outcomes)


def _write_table(game: NormalForm, seat: int, zero_sum: bool) -> str:
    cells = [[number(value) for value in row] for row in game.payoffs[seat].tolist()]
    if not zero_sum:
        other_payoffs = game.payoffs[1 - seat].tolist()
        cells = [
            [f"{own}, {number(paid)}" for own, paid in zip(*rows, strict=True)]
            for rows in zip(cells, other_payoffs, strict=True)
        ]
    lines = [["", *game.actions[1]], *([name, *row] for name, row in zip(game.actions[0], cells, strict=True))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = "\n".join(f"| {' | '.join(map(str.rjust, line, widths))} |" for line in lines)
    other = game.players[1 - seat]
    mine, theirs = ("rows", "columns") if seat == 0 else ("columns", "rows")
    what = "your payoff" if zero_sum else f"your payoff, then the payoff of {other}"
    return f"The {mine} are your actions, the {theirs} those of {other}; each cell shows {what}.\n\n{text}"


Wanted = Literal["action", "mixture"]
Others = Literal["unsaid", "rational"]
"""What the rules say of the others: nothing, or that they are perfectly rational, which is true only where equilibrium
strategies sit there. Who really sits where is told to models, in any game, by `runs.seats`."""
State = tuple[Action, ...]
_MOST_READABLE = 150
"""Cells of a payoff table that a person can read."""


def as_strategy(answer: Action, options: tuple[str, ...]) -> Array:
    """Return a label as a unit vector, a mixture as itself (scaled to sum to exactly 1)."""
    if isinstance(answer, str):
        return np.array([float(option == answer) for option in options])
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
    version: int = 1
    others: Others = "unsaid"

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
        return self.form.num_players == 2 and not np.count_nonzero(self.form.payoffs[0] + self.form.payoffs[1])

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
        return {
            role: Choice(actions) if kind == "action" else Mixture(actions)
            for role, actions, kind in zip(self.roles, self.form.actions, wanted, strict=True)
        }

    def view(self, state: State, role: Role) -> View:
        """Return what `role` may know in `state`."""
        seat = self.roles.index(role)
        moves = [a if isinstance(a, str) else f"({', '.join(f'{p:g}' for p in a)})" for a in state]
        chosen = ", ".join(f"{name} {move}" for name, move in zip(self.roles, moves, strict=False))
        facts = {
            "seat": seat,
            "players": list(self.roles),
            "actions": [list(actions) for actions in self.form.actions],
            "payoffs": self.form.payoffs.tolist(),
        }
        return View(role, self._briefing(seat), f"Chosen: {chosen}" if state else "", facts)

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

    def word_rules(self, role: Role) -> str:
        """Word the rules for people: the table where it can be read, and nothing about aims or the others' thoughts."""
        seat = self.roles.index(role)
        if self.form.payoffs[0].size <= _MOST_READABLE:
            return self._word(seat, aim="").strip()
        others = " and ".join(other for other in self.roles if other != role)
        mine = self.form.actions[seat]
        return TEXTS.fill("matrix_people_large", me=role, others=others, count=len(mine), first=mine[0], last=mine[-1])

    def _briefing(self, seat: int) -> str:
        other = self.roles[1 - seat] if self.form.num_players == 2 else ""
        aim = TEXTS.fill("aim_zero_sum" if self.zero_sum else "aim_general", other=other)
        if self.others == "rational":
            text = "others_rational_zero_sum" if self.zero_sum else "others_rational"
            aim = f"{aim} {TEXTS.fill(text, other_capital=other[:1].upper() + other[1:])}"
        return self._word(seat, aim)

    def _word(self, seat: int, aim: str) -> str:
        payoffs = show_payoffs(self.form, seat, self.shown_as, self.zero_sum)
        me, menus = self.roles[seat], [", ".join(names) for names in self.form.actions]
        if self.form.num_players == 2:
            mine, theirs = menus[seat], menus[1 - seat]
            other = self.roles[1 - seat]
            rules = TEXTS.fill(
                "matrix_rules", me=me, other=other, my_actions=mine, other_actions=theirs, payoffs=payoffs, aim=aim
            )
        else:
            lines = (f"The possible actions of {name}: {menu}." for name, menu in zip(self.roles, menus, strict=True))
            everybody, all_actions = ", ".join(self.roles), "\n".join(lines)
            placeholders = {"me": me, "count": len(menus), "everybody": everybody, "all_actions": all_actions}
            rules = TEXTS.fill("matrix_rules_many", **placeholders, payoffs=payoffs, aim=aim)
        return f"{self.story}\n\n{rules}" if self.story else rules


GO_ON = "go on"
STOP = "stop"
"""What nature answers when it is asked whether there is another round."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """The joint moves so far, as they were made and as they were meant.

    While nature draws the moves of a round, `meant` has an entry more than `played`, and `drawn` holds the moves of the
    seats that it has come to. `decided` says whether nature has allowed the next round.
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
    version: int = 2
    discount: float = 1.0
    noise: float = 0.0
    others: Others = "unsaid"

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise UsageError(f"a repeated game needs at least 1 round, got {self.rounds}")
        for what, factor in (("continuation", self.continuation), ("discount", self.discount)):
            if not 0 < factor <= 1:
                raise UsageError(f"{what} is {factor:g}; expected a number above 0, at most 1")
        if not 0 <= self.noise <= 1:
            raise UsageError(f"noise is {self.noise:g}; expected a probability")

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
        return MatrixGame(self.form, shown_as=self.shown_as, story=self.story, others=self.others)

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
        return {role: Choice(actions) for role, actions in zip(self.roles, self.form.actions, strict=True)}

    def view(self, state: Rounds, role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE and state.drawing:
            mover = self.roles[len(state.drawn)]
            return View(role, f"Is the move made that {mover} means?", f"round {len(state.meant)}")
        if role == NATURE:
            return View(role, "Is there another round?", f"after round {len(state.played)}")
        seat = self.roles.index(role)
        briefing = f"{self.stage.view((), role).briefing}\n\n{self._length()}".strip()
        now, past = self._describe_rounds(state, role)
        facts = {
            **self.stage.view((), role).facts,
            "history": [list(moves) for moves in state.played],
            "past": past,
            "now": now,
            "rivals": [other for other in self.roles if other != role],
        }
        if self.noise:
            facts["meant"] = [moves[seat] for moves in state.meant]
        return View(role, briefing, "\n".join((now, *past)), facts)

    def word_rules(self, role: Role) -> str:
        """Word the rules for people: those of one round, how many there are, and what can go wrong."""
        return f"{self.stage.word_rules(role)}\n\n{self._length()}".strip()

    def find_round(self, state: Rounds) -> int:
        """Return the number of the round; whether another follows is drawn in the round before."""
        return len(state.played) + state.decided

    def list_rounds(self, state: Rounds, role: Role) -> PlayedRounds:
        """List which moves were made and what the seat got, round by round; under noise also what the seat meant."""
        seat = self.roles.index(role)
        others = [other for other in self.roles if other != role]
        rows: list[tuple[int | float | str, ...]] = []
        for number, moves in enumerate(state.played, 1):
            theirs = [moves[self.roles.index(other)] for other in others]
            meant = (state.meant[number - 1][seat],) if self.noise else ()
            rows.append((number, *meant, moves[seat], *theirs, self.stage.payoffs(moves)[role]))
        now = len(state.played) + 1 if self.asks(state) else None
        of = self.rounds if self.continuation == 1.0 else None
        columns = ("round", *(("you meant",) if self.noise else ()), "you", *others, "your payoff")
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
        for number, moves in enumerate(state.played):
            for role, payoff in self.stage.payoffs(moves).items():
                totals[role] += payoff * self.discount**number
        return totals

    def _draw_move(self, state: Rounds) -> Lottery:
        """Return the draw of the next seat's move; what was meant comes first, so that a slip is the same draw."""
        seat = len(state.drawn)
        meant = state.meant[-1][seat]
        others = [move for move in self.form.actions[seat] if move != meant]
        slip = self.noise if others else 0.0
        return Lottery(((meant, 1 - slip), *((move, slip / len(others)) for move in others)))

    def _length(self) -> str:
        if self.rounds == 1:
            length = ""
        elif self.continuation == 1.0:
            length = TEXTS.fill("repeated_fixed", rounds=self.rounds)
        else:
            length = TEXTS.fill("repeated_random", percent=f"{100 * self.continuation:g}", rounds=self.rounds)
        parts = [length]
        if self.discount != 1.0:
            parts.append(TEXTS.fill("repeated_discount", percent=f"{100 * self.discount:g}"))
        if self.noise:
            parts.append(TEXTS.fill("repeated_noise", percent=f"{100 * self.noise:g}"))
        return " ".join(part for part in parts if part)

    def _describe_rounds(self, state: Rounds, role: Role) -> tuple[str, list[str]]:
        """Say which round it is, and what happened in each before."""
        seat, lines = self.roles.index(role), []
        for number, moves in enumerate(state.played, 1):
            if self.noise:
                mine = f"you meant {state.meant[number - 1][seat]}, {moves[seat]} was made"
            else:
                mine = f"you chose {moves[seat]}"
            did = "made the move" if self.noise else "chose"
            others = ", ".join(
                f"{other} {did} {moves[self.roles.index(other)]}" for other in self.roles if other != role
            )
            lines.append(f"Round {number}: {mine}, {others}; you got {self.stage.payoffs(moves)[role]:g}.")
        return f"Round {len(state.played) + 1}." if self.asks(state) else "The game is over.", lines
