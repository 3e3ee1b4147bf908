"""The picture of a 2x2 game: both players' best responses.

Each axis is the probability with which a player takes its first action; each player's best
responses are one curve, and the equilibria are where both curves meet.

`draw` returns an SVG file for light and dark ground, or the same picture in pixels on white.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.report.figures.charts import (
    INK,
    canvas,
    clip,
    series_colour,
    to_png,
    to_svg,
)
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import NormalForm

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["svg", "png"]


def require_picture(game: NormalForm) -> None:
    """Refuse a game that cannot be drawn."""
    if game.shape != (2, 2):
        raise UsageError(
            f"{game.name or 'this game'} cannot be drawn: expected a 2x2 game, got"
            f" {'x'.join(map(str, game.shape))} actions"
        )


def draw(game: NormalForm, kind: Kind = "svg") -> bytes:
    """Draw the best responses of `game` as a file; UsageError where it is not 2x2."""
    require_picture(game)
    with canvas(height=4.4, width=4.9, grid="none") as axes:
        draw_best_responses(axes, game)
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1.01),
            frameon=False,
            borderaxespad=0,
            handlelength=1.8,
            labelcolor=INK,
            fontsize=9.5,
        )
        return to_svg(axes) if kind == "svg" else to_png(axes)


Curve = tuple[tuple[float, float], ...]
"""Points (probability of own first action, of the other's first action), joined by straight
lines."""

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
    axes.set_xlabel(_label_axis(game, 0))
    axes.set_ylabel(_label_axis(game, 1))


def _label_axis(game: NormalForm, seat: int) -> str:
    player = clip(game.players[seat], 16)
    action = clip(game.actions[seat][0], 18)
    return f"probability that {player} plays {action}"


def compute_response_curve(at_zero: float, at_one: float, scale: float) -> Curve:
    """Compute the curve of a player's best responses.

    The gains are those of the first action over the second when the other never, or always, takes
    its first; where both are 0 the curve is the whole square.

    >>> compute_response_curve(-1.0, 1.0, 2.0)
    ((0.0, 0.0), (0.0, 0.5), (1.0, 0.5), (1.0, 1.0))
    """
    tie = 1e-12 * scale
    low = 0.0 if abs(at_zero) <= tie else at_zero
    high = 0.0 if abs(at_one) <= tie else at_one
    if low == high == 0:
        return ((0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0))
    first = float((low or -high) > 0)
    last = float((high or -low) > 0)
    if first == last:
        return ((first, 0.0), (last, 1.0))
    even = at_zero / (at_zero - at_one)
    return ((first, 0.0), (first, even), (last, even), (last, 1.0))


def _curve(axes: Axes, points: Curve, player: str, number: int) -> None:
    name = f"best responses of {clip(player, 24)}"
    across, up = zip(*points, strict=True)
    colour = series_colour(number)
    style = ("-", (0, (4, 1.6)))[number]
    if points[0] == points[-1]:
        axes.fill(
            across,
            up,
            color=colour,
            alpha=0.14,
            linewidth=0,
            label=f"{name}: everything",
        )
    else:
        axes.plot(
            across,
            up,
            color=colour,
            linestyle=style,
            linewidth=(5.0, 2.4)[number],
            alpha=(0.55, 1.0)[number],
            solid_capstyle="round",
            label=name,
            zorder=2 + number,
        )


def _equilibria(axes: Axes, game: NormalForm) -> None:
    """A dot for each equilibrium; a line or an area for each set of them."""
    subsets = [subset for component in nash(game).components for subset in component.subsets]
    for number, subset in enumerate(subsets):
        p = subset.x[:, 0]
        q = subset.y[:, 0]
        corners = ([p.min(), p.max(), p.max(), p.min()], [q.min(), q.min(), q.max(), q.max()])
        if len(p) * len(q) > 1:
            is_line = len(p) == 1 or len(q) == 1
            axes.fill(
                *corners,
                facecolor=INK,
                edgecolor=INK,
                alpha=0.28,
                linewidth=13 if is_line else 0,
                joinstyle="round",
                zorder=1,
            )
        name = "equilibria" if number == 0 else "_nolegend_"
        axes.plot(
            *corners,
            linestyle="none",
            marker="o",
            markersize=8,
            color=INK,
            zorder=5,
            clip_on=False,
            label=name,
        )
