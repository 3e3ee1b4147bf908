"""The payoffs of a game as tables for people."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from bestresponse.analysis.solve.words import number_text
from bestresponse.report.document import Block, Column, Note, Table
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["payoff_blocks"]

_ROWS = 16
_COLUMNS = 10
_TABLES = 16


def payoff_blocks(game: NormalForm) -> tuple[Block, ...]:
    """Rows are the first player's actions, columns the second's; one table for each profile of the others."""
    rows, columns = (*game.shape, 1)[:2]
    others = game.shape[2:]
    if rows > _ROWS or columns > _COLUMNS or int(np.prod(others)) > _TABLES:
        return (
            Note(
                f"The payoffs of {'x'.join(map(str, game.shape))} cells are too many to show; the JSON form has them."
            ),
        )
    best = [_best(game, player) for player in range(game.num_players)]
    return tuple(_table(game, rest, best) for rest in product(*map(range, others)))


def _best(game: NormalForm, player: int) -> NDArray[np.bool_]:
    """Where the player's action is a best response to the others'."""
    own = game.payoffs[player] if game.units is None else game.units[player]
    slack = 0 if game.is_exact else 1e-12 * float(np.ptp(own))
    return np.asarray(own >= own.max(axis=player, keepdims=True) - slack, dtype=np.bool_)


def _table(game: NormalForm, rest: tuple[int, ...], best: list[NDArray[np.bool_]]) -> Table:
    across = game.actions[1] if game.num_players > 1 else ("payoff",)
    columns = (Column(" \\ ".join(game.players[:2])), *(Column(name, "right") for name in across))
    rows = []
    for i, action in enumerate(game.actions[0]):
        cells = [(i, j, *rest)[: game.num_players] for j in range(len(across))]
        rows.append((action, *(_cell(game, cell, best) for cell in cells)))
    chosen = zip(game.players[2:], (names[a] for names, a in zip(game.actions[2:], rest, strict=True)), strict=True)
    where = "".join(f"; {who} plays {action}" for who, action in chosen)
    return Table(columns, tuple(rows), f"Payoffs of {', '.join(game.players)}{where}; * marks best responses")


def _cell(game: NormalForm, cell: tuple[int, ...], best: list[NDArray[np.bool_]]) -> str:
    return ", ".join(
        f"{number_text(float(game.payoffs[(player, *cell)]), unit=0.0)}{'*' if best[player][cell] else ''}"
        for player in range(game.num_players)
    )
