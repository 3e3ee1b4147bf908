"""Strategies that were found in the data, drawn as automata under their names in the literature.

A circle is a state, with the move that the strategy means to make in it; the arrow from the left
leads to the first one. Arrows are the other's move in the round, C to cooperate and D to defect;
the own move is taken to be the one that was meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.core.files import read_toml
from bestresponse.report.blocks import Measurement, Shown
from bestresponse.report.document import Figure, Paragraph
from bestresponse.report.stats.statistics import Interval
from bestresponse.studies.tournament.entries import StageGame, as_automata
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.repeated.automaton import Automaton, reduced

SHORT_NAMES: dict[str, str] = read_toml(Path(__file__).with_name("literature.toml"))
"""The name of a strategy in the literature, by ours."""
_LEAST_SHARE = 0.01
_MOST_DRAWN = 8
_MOST_STATES = 6
_MOVES = "CD"
_RADIUS = 26
_STEP = 130
_HEIGHT = 190
_MIDDLE = 95


def name_in_literature(name: str) -> str:
    """Return a strategy's name with the short one of the literature.

    >>> name_in_literature("win-stay-lose-shift")
    'win-stay-lose-shift (WSLS)'
    """
    short = SHORT_NAMES.get(name)
    return name if short is None else f"{name} ({short})"


def show_automata(measured: Measurement) -> Shown | None:
    """Draw the strategies whose share is at least 1 % somewhere, the most frequent first."""
    shares: dict[str, float] = {}
    for row in measured.frame("strategies").rows:
        share = row["share"]
        estimate = share.estimate if isinstance(share, Interval) else share
        if estimate is None or estimate < _LEAST_SHARE:
            continue
        # Strategies that cannot be told apart in the data are one row: "grim = tit-for-tat".
        for name in row["strategy"].split(" = "):
            shares[name] = max(estimate, shares.get(name, 0.0))
    entries = {entry.name: entry for entry in measured.config.strategies}
    stage = StageGame("dilemma", load("prisoners-dilemma"))
    figures: list[Figure] = []
    for name in sorted(shares, key=lambda name: -shares[name]):
        try:
            seats = as_automata(entries[name], stage, None) if name in entries else None
        except InvalidGame:
            seats = None
        if seats is None or len(figures) == _MOST_DRAWN:
            continue
        automaton = reduced(replace(seats[0], name=name))
        if automaton.states <= _MOST_STATES:
            drawing = draw_automaton(automaton)
            caption = name_in_literature(name)
            figures.append(Figure(drawing.encode(), caption, f"{caption} as an automaton"))
    if not figures:
        return None
    about = (
        "A circle is a state with the move that is meant in it, C to cooperate and D to defect;"
        " arrows are the other's moves. Short names are those of Fudenberg, Rand and Dreber"
        " (American Economic Review 102, 2012)."
    )
    return Shown("Strategies as automata", (Paragraph(about), *figures))


def list_transitions(automaton: Automaton) -> Iterator[tuple[int, int, str]]:
    """Yield from which state to which the strategy goes, and after which moves of the other.

    >>> from bestresponse.theory.repeated.automaton import classic_strategy
    >>> list(list_transitions(classic_strategy("grim")))
    [(0, 0, 'C'), (0, 1, 'D'), (1, 1, 'C, D')]
    """
    for state in range(automaton.states):
        meant = int(np.argmax(automaton.mix[state]))
        after: dict[int, list[str]] = {}
        for other, move in enumerate(_MOVES):
            after.setdefault(int(automaton.step[state, meant, other]), []).append(move)
        for target, moves in after.items():
            yield state, target, ", ".join(moves)


def draw_automaton(automaton: Automaton) -> str:
    """Draw an automaton of two moves as SVG, its states in a row."""
    width = 90 + _STEP * automaton.states
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_HEIGHT}"'
        f' width="{width}" height="{_HEIGHT}" font-family="sans-serif" font-size="14">',
        f"<title>{escape(automaton.name)}</title>",
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7"',
        'markerHeight="7" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="#444"/></marker></defs>',
        _draw_arrow(f"M 20 {_MIDDLE} L {_place(0) - _RADIUS} {_MIDDLE}"),
    ]
    for state, target, moves in list_transitions(automaton):
        parts += _draw_step(state, target, moves)
    for state in range(automaton.states):
        parts.append(
            f'<circle cx="{_place(state)}" cy="{_MIDDLE}" r="{_RADIUS}" fill="#eef3f8"'
            ' stroke="#444"/>'
        )
        parts.append(_write(_place(state), _MIDDLE + 5, label_state(automaton, state)))
    return "\n".join([*parts, "</svg>"])


def _place(state: int) -> int:
    return 90 + _STEP * state


def label_state(automaton: Automaton, state: int) -> str:
    """Return the move of a state; where it is drawn by lot, how likely it is to cooperate."""
    cooperates = float(automaton.mix[state, 0])
    if cooperates in (0.0, 1.0):
        return "C" if cooperates else "D"
    return f"C {cooperates:.0%}"


def _draw_step(state: int, target: int, moves: str) -> list[str]:
    """Draw an arrow between two states: forward above them, back below, a loop over one."""
    start, end = _place(state), _place(target)
    if state == target:
        top = _MIDDLE - _RADIUS
        path = f"M {start - 12} {top + 3} C {start - 34} {top - 46}, {start + 34} {top - 46},"
        return [_draw_arrow(f"{path} {start + 12} {top + 3}"), _write(start, top - 38, moves)]
    side = -1 if target > state else 1
    bend = side * (20 + 14 * abs(target - state))
    edge = _MIDDLE + side * 18
    inward = 19 if target > state else -19
    path = f"M {start + inward} {edge} Q {(start + end) // 2} {edge + 2 * bend},"
    label = _write((start + end) // 2, edge + bend + (14 if side > 0 else -6), moves)
    return [_draw_arrow(f"{path} {end - inward} {edge}"), label]


def _draw_arrow(path: str) -> str:
    return f'<path d="{path}" fill="none" stroke="#444" marker-end="url(#tip)"/>'


def _write(x: int, y: int, text: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle">{escape(text)}</text>'
