"""How a matrix game is shown: as a table, as sentences or as JSON, under neutral or themed names.

Numbers are shown so that reading them back gives the very payoffs: what is shown is what is solved.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Literal

from bestresponse.core.errors import UsageError
from bestresponse.core.registry import find_by_name
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
