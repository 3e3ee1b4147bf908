"""The best-response diagram of a 2x2 game, drawn on given axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bestresponse.report.figures.canvas import INK, label, series_colour
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import NormalForm

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curve = tuple[tuple[float, float], ...]
"""Points (probability of own first action, of the other's first action), joined by straight lines."""

_MARGIN = 0.04


def draw_best_responses(axes: Axes, game: NormalForm) -> None:
    """Draw both players' best responses as curves, and the equilibria where they meet."""
    row, col = game.payoffs
    own = compute_response_curve(row[0, 1] - row[1, 1], row[0, 0] - row[1, 0], float(np.ptp(row)))
    other = compute_response_curve(col[1, 0] - col[1, 1], col[0, 0] - col[0, 1], float(np.ptp(col)))
    _curve(axes, own, game.players[0], 0)
    _curve(axes, tuple((p, q) for q, p in other), game.players[1], 1)
    _equilibria(axes, game)
    axes.set_xlim(-_MARGIN, 1 + _MARGIN)
    axes.set_ylim(-_MARGIN, 1 + _MARGIN)
    axes.set_aspect("equal")
    axes.set_xlabel(f"probability that {label(game.players[0], 16)} plays {label(game.actions[0][0], 18)}")
    axes.set_ylabel(f"probability that {label(game.players[1], 16)} plays {label(game.actions[1][0], 18)}")
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1.01), frameon=False, borderaxespad=0, handlelength=1.8, labelcolor=INK,
        fontsize=9.5,
    )  # fmt: skip


def compute_response_curve(at_zero: float, at_one: float, scale: float) -> Curve:
    """Compute the curve of a player's best responses.

    The gains are those of the first action over the second when the other never, or always, takes its first; where both
    are 0 the curve is the whole square.

    >>> compute_response_curve(-1.0, 1.0, 2.0)
    ((0.0, 0.0), (0.0, 0.5), (1.0, 0.5), (1.0, 1.0))
    """
    tie = 1e-12 * scale
    low, high = (0 if abs(gain) <= tie else (1 if gain > 0 else -1) for gain in (at_zero, at_one))
    if low == high == 0:
        return ((0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0))
    first, last = float((low or -high) > 0), float((high or -low) > 0)
    if first == last:
        return ((first, 0.0), (last, 1.0))
    even = at_zero / (at_zero - at_one)
    return ((first, 0.0), (first, even), (last, even), (last, 1.0))


def _curve(axes: Axes, points: Curve, player: str, number: int) -> None:
    name = f"best responses of {label(player, 24)}"
    across, up = zip(*points, strict=True)
    colour, style = series_colour(number), ("-", (0, (4, 1.6)))[number]
    if points[0] == points[-1]:
        axes.fill(across, up, color=colour, alpha=0.14, linewidth=0, label=f"{name}: everything")
    else:
        axes.plot(across, up, color=colour, linestyle=style, linewidth=(5.0, 2.4)[number], alpha=(0.55, 1.0)[number],
                  solid_capstyle="round", label=name, zorder=2 + number)  # fmt: skip


def _equilibria(axes: Axes, game: NormalForm) -> None:
    """A dot for each equilibrium; a line or an area for each set of them."""
    subsets = [subset for component in nash(game).components for subset in component.subsets]
    for number, subset in enumerate(subsets):
        p, q = subset.x[:, 0], subset.y[:, 0]
        corners = ([p.min(), p.max(), p.max(), p.min()], [q.min(), q.min(), q.max(), q.max()])
        if len(p) * len(q) > 1:
            width = 13 if min(len(p), len(q)) == 1 else 0
            axes.fill(*corners, facecolor=INK, edgecolor=INK, alpha=0.28, linewidth=width, joinstyle="round", zorder=1)
        name = "equilibria" if number == 0 else "_nolegend_"
        axes.plot(*corners, linestyle="none", marker="o", markersize=8, color=INK, zorder=5, clip_on=False, label=name)
