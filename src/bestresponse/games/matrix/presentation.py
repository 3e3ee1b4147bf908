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
from bestresponse.core.registry import did_you_mean
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["FORMATS", "Format", "Theme", "number", "show", "theme", "themes"]

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
    if name not in themes():
        raise UsageError(f"there is no theme named {name!r}.{did_you_mean(name, list(themes()))}")
    return themes()[name]


def number(value: float) -> str:
    """The shortest text that reads back as `value`.

    >>> number(3.0), number(-0.1), number(1e-9)
    ('3', '-0.1', '1e-09')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def show(game: NormalForm, seat: int, form: Format, zero_sum: bool) -> str:
    """The payoffs of `game` as `seat` is told them; in a zero-sum game only its own."""
    if game.num_players != 2 and form == "table":
        form = "prose"
    match form:
        case "table":
            return _table(game, seat, zero_sum)
        case "prose":
            return _prose(game, seat, zero_sum)
        case "json":
            return _json(game, seat, zero_sum)


def _write_cells(game: NormalForm, seat: int, zero_sum: bool) -> list[list[str]]:
    """Write the payoffs of every outcome, a list for every row."""
    mine = [[number(value) for value in row] for row in game.payoffs[seat].tolist()]
    if zero_sum:
        return mine
    other = game.payoffs[1 - seat].tolist()
    return [[f"{a}, {number(b)}" for a, b in zip(*rows, strict=True)] for rows in zip(mine, other, strict=True)]


def _table(game: NormalForm, seat: int, zero_sum: bool) -> str:
    rows, cols = game.actions
    lines = [["", *cols]]
    lines += [[name, *cells] for name, cells in zip(rows, _write_cells(game, seat, zero_sum), strict=True)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = "\n".join([f"| {' | '.join(map(str.rjust, line, widths))} |" for line in lines])
    other = game.players[1 - seat]
    mine, theirs = ("rows", "columns") if seat == 0 else ("columns", "rows")
    what = "your payoff" if zero_sum else f"your payoff, then the payoff of {other}"
    return f"The {mine} are your actions, the {theirs} those of {other}; each cell shows {what}.\n\n{text}"


def _prose(game: NormalForm, seat: int, zero_sum: bool) -> str:
    lines = []
    for place in product(*(range(m) for m in game.shape)):
        others = " and ".join(
            f"{game.players[i]} chooses {game.actions[i][k]}" for i, k in enumerate(place) if i != seat
        )
        gains = f"you get {number(game.payoffs[(seat, *place)])}"
        if not zero_sum:
            gains += "".join(
                f", {game.players[i]} gets {number(game.payoffs[(i, *place)])}" for i in range(len(place)) if i != seat
            )
        lines.append(f"If you choose {game.actions[seat][place[seat]]} and {others}, {gains}.")
    return "\n".join(lines)


def _json(game: NormalForm, seat: int, zero_sum: bool) -> str:
    outcomes = []
    for place in product(*(range(m) for m in game.shape)):
        row: dict[str, object] = {"you": game.actions[seat][place[seat]]}
        row |= {game.players[i]: game.actions[i][k] for i, k in enumerate(place) if i != seat}
        row["your_payoff"] = _plain(game.payoffs[(seat, *place)])
        if not zero_sum:
            row |= {
                f"payoff of {game.players[i]}": _plain(game.payoffs[(i, *place)])
                for i in range(len(place))
                if i != seat
            }
        outcomes.append(row)
    return "The outcomes:\n[" + ",\n ".join(json.dumps(row, ensure_ascii=False) for row in outcomes) + "]"


def _plain(value: float) -> int | float:
    return int(value) if value == int(value) and abs(value) < 1e15 else float(value)
