"""One simultaneous choice, payoffs from a table.

Each seat is asked for a pure action or for a mixed strategy; payoffs are the expected ones of the product of what was
answered, so no draw comes between a decision and its value. The game is shown as a table, as sentences or as JSON,
under neutral or themed names; numbers are shown so that reading them back gives the very payoffs: what is shown is what
is solved.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import product
from typing import Literal

import numpy as np

from bestresponse.core import Action, Ask, Choice, Mixture, Role, View
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
        for who, names, count in zip(self.players, self.actions, shape, strict=True):
            if count > len(names):
                raise UsageError(f"the theme {self.name} names {len(names)} actions of {who}; the game has {count}")
        actions = tuple(names[:count] for names, count in zip(self.actions, shape, strict=True))
        return NormalForm(payoffs, self.players, actions, title)


@cache
def themes() -> dict[str, Theme]:
    """The themes that come with the library, by name."""
    data = tomllib.loads(files("bestresponse.games.texts").joinpath("themes.toml").read_text("utf-8"))
    return {
        name: Theme(name, given["story"], tuple(given["players"]), (tuple(given["row"]), tuple(given["col"])))
        for name, given in data.items()
    }


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
    told = range(seat, seat + 1) if zero_sum else range(game.num_players)
    others = [player for player in range(game.num_players) if player != seat]
    outcomes: list[str] = []
    for cell in product(*map(range, game.shape)):
        moves = [names[k] for names, k in zip(game.actions, cell, strict=True)]
        payoffs = {player: number(game.payoffs[(player, *cell)]) for player in told}
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
        return self.form.num_players == 2 and bool((self.form.payoffs[0] == -self.form.payoffs[1]).all())

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
        told = [a if isinstance(a, str) else f"({', '.join(f'{p:g}' for p in a)})" for a in state]
        chosen = ", ".join(f"{name} {move}" for name, move in zip(self.roles, told, strict=False))
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
        me, actions = self.roles[seat], [", ".join(own) for own in self.form.actions]
        if self.form.num_players == 2:
            mine, theirs = actions[seat], actions[1 - seat]
            other = self.roles[1 - seat]
            rules = TEXTS.fill(
                "matrix_rules", me=me, other=other, my_actions=mine, other_actions=theirs, payoffs=payoffs, aim=aim
            )
        else:
            lines = (f"The possible actions of {name}: {own}." for name, own in zip(self.roles, actions, strict=True))
            everybody, all_actions = ", ".join(self.roles), "\n".join(lines)
            places = {"me": me, "count": len(actions), "everybody": everybody, "all_actions": all_actions}
            rules = TEXTS.fill("matrix_rules_many", **places, payoffs=payoffs, aim=aim)
        return f"{self.story}\n\n{rules}" if self.story else rules
