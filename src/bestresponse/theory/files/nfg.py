"""Games in normal form in Gambit's `.nfg` format, read and written.

Two versions exist: the payoffs of every contingency in a list, or a list of outcomes (payoffs with a name) and the
outcome of every contingency, 0 for none. In both the first player's action changes fastest.

R. D. McKelvey, A. M. McLennan and T. L. Turocy, "Gambit: software tools for game theory", the .nfg file format.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.theory.files.game_text import GameText, number_repeats, quote_text, write_number
from bestresponse.theory.games.normal_form import NormalForm, as_payoffs
from bestresponse.theory.games.rationals import Rationals

__all__ = ["NfgStyle", "format_nfg", "parse_nfg"]

NfgStyle = Literal["payoffs", "outcomes"]

_CELLS = 20_000_000
_MAX_PLAYERS = 60


def parse_nfg(text: str, source: str = ".nfg text") -> NormalForm:
    """Read the game that `text` describes; InvalidGame names line, column and what was expected there.

    >>> parse_nfg('NFG 1 R "" { "a" "b" } { 2 1 } 1 2 3 4').payoffs[:, :, 0].tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    words = GameText(text, source)
    words.word("'NFG' at the start", "NFG")
    words.whole("the format's version", 1, 1)
    words.word("'R' or 'D' after the version", "R", "D")
    title = words.quote("the title")
    start = words.start
    players = number_repeats(words.quotes("player's name"), "player ")
    if not players:
        raise words.wrong("at least one player", start)
    actions = _actions(words, len(players))
    if words.kind == "text":
        words.quote("the comment")
    shape = tuple(map(len, actions))
    table = _by_outcome(words, len(players), math.prod(shape)) if words.at("{") else None
    if table is None:
        table = _by_contingency(words, len(players), math.prod(shape))
    words.end("the end of the file, because every contingency has its payoffs")
    payoffs = table.reshape(*reversed(shape), len(players)).T
    floats = as_payoffs(payoffs, source)
    return NormalForm(floats, tuple(players), tuple(map(tuple, actions)), title, payoffs)


def _actions(words: GameText, players: int) -> list[list[str]]:
    """The names of each player's actions; numbers where the file only says how many there are."""
    start = words.start
    words.brace("{", "before the actions")
    actions: list[list[str]] = []
    cells = players
    while not words.at("}"):
        if words.at("{"):
            actions.append(number_repeats(words.quotes("action's name")))
            count = len(actions[-1])
        else:
            count = words.whole("a number of actions, '{' or '}'", 1)
            actions.append([])
        cells *= count
        if cells == 0:
            raise words.error(f"expected at least one action for player {len(actions)}", start)
        if cells > _CELLS or players > _MAX_PLAYERS:
            raise TooLarge(f"{words.source}: {players} players with {cells} or more payoffs; the limit is {_CELLS}")
        actions[-1] = actions[-1] or [str(k + 1) for k in range(count)]
    words.brace("}", "after the actions")
    if len(actions) != players:
        raise words.error(f"expected the actions of {players} players, got those of {len(actions)}", start)
    return actions


def _by_contingency(words: GameText, players: int, contingencies: int) -> Rationals:
    wanted = contingencies * players
    numbers: list[Fraction] = []
    while len(numbers) < wanted:
        numbers.append(words.rational(f"payoff {len(numbers) + 1} of {wanted}"))
    return np.array(numbers, dtype=object).reshape(contingencies, players)


def _by_outcome(words: GameText, players: int, contingencies: int) -> Rationals:
    words.brace("{", "before the outcomes")
    outcomes = [[Fraction(0)] * players]
    while not words.at("}"):
        outcomes.append(_outcome(words, players))
    words.brace("}", "after the outcomes")
    chosen: list[int] = []
    while len(chosen) < contingencies:
        what = f"the outcome of contingency {len(chosen) + 1} of {contingencies}"
        chosen.append(words.whole(what, 0, len(outcomes) - 1))
    return np.array(outcomes, dtype=object)[chosen]


def _outcome(words: GameText, players: int) -> list[Fraction]:
    start = words.start
    words.brace("{", "before an outcome, or '}' after the last")
    if words.kind == "text":
        words.quote("the outcome's name")
    payoffs = []
    while not words.at("}"):
        payoffs.append(words.rational("a payoff or '}'"))
    if len(payoffs) != players:
        raise words.error(f"expected {players} payoffs, got {len(payoffs)}", start)
    words.brace("}", "after the payoffs")
    return payoffs


def format_nfg(game: NormalForm, style: NfgStyle = "payoffs") -> str:
    """`game` as the text of an `.nfg` file; reading it gives the same game."""
    players = " ".join(map(quote_text, game.players))
    actions = " ".join("{ " + " ".join(map(quote_text, names)) + " }" for names in game.actions)
    rows = [tuple(row) for row in game.given.T.reshape(-1, game.num_players).tolist()]
    match style:
        case "payoffs":
            body = [" ".join(map(write_number, row)) for row in rows]
        case "outcomes":
            body = _outcome_lines(rows)
        case _:
            raise UsageError(f"{style!r} is no style of .nfg; expected one of {', '.join(get_args(NfgStyle))}")
    return "\n".join([f"NFG 1 R {quote_text(game.name)} {{ {players} }}", f"{{ {actions} }}", '""', "", *body, ""])


def _outcome_lines(rows: list[tuple[float | Fraction, ...]]) -> list[str]:
    numbers = {row: number for number, row in enumerate(dict.fromkeys(rows), start=1)}
    outcomes = [f'{{ "" {", ".join(map(write_number, row))} }}' for row in numbers]
    return ["{", *outcomes, "}", " ".join(str(numbers[row]) for row in rows)]
