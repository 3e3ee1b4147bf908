"""Two pictures of a small game: its best responses and its evolution.

The second shows where evolution drives a population that plays it.

Best-response diagram (2x2 games): each axis is the probability with which a player takes its first
action; each player's best responses are one curve, and the equilibria are where both curves meet.

Replicator field (symmetric games with 2 or 3 actions): x_a' = x_a (f_a - mean f), Taylor and
Jonker, "Evolutionarily stable strategies and game dynamics", Mathematical Biosciences 40, 1978; on
a line for two actions, in a triangle whose corners are the actions for three. A filled dot is a
rest point that attracts its neighbourhood, a ring one that does not.

`draw` returns an SVG file for light and dark ground, or the same picture in pixels on white.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.report.figures.charts import (
    GRID,
    INK,
    QUIET,
    canvas,
    clip,
    series_colour,
    to_png,
    to_svg,
)
from bestresponse.theory.equilibria.result import is_evolutionarily_stable, is_symmetric_bimatrix
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array, NormalForm

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Picture = Literal["best responses", "replicator field"]
Kind = Literal["svg", "png"]


def pictures(game: NormalForm) -> tuple[Picture, ...]:
    """List the pictures that can be drawn of `game`.

    >>> pictures(NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]]))
    ('best responses',)
    """
    if game.num_players != 2:
        return ()
    symmetric = is_symmetric_bimatrix(game) and game.shape[0] in (2, 3)
    drawable: tuple[Picture, ...] = ("best responses",) if game.shape == (2, 2) else ()
    return (*drawable, "replicator field") if symmetric else drawable


def require_picture(game: NormalForm) -> tuple[Picture, ...]:
    """List the pictures that can be drawn, at least one; UsageError where there is none."""
    wanted = pictures(game)
    if not wanted:
        raise UsageError(
            f"{game.name or 'this game'} cannot be drawn: expected a 2x2 game, or a symmetric game"
            f" of two players with 2 or 3 actions, got {'x'.join(map(str, game.shape))}"
            f" actions{', not symmetric' if game.shape == (3, 3) else ''}"
        )
    return wanted


def draw(game: NormalForm, kind: Kind = "svg", only: Picture | None = None) -> bytes:
    """Draw all pictures of `game` side by side, or one of them, as a file.

    UsageError says which games have one.
    """
    wanted = tuple(picture for picture in require_picture(game) if only in (None, picture))
    with canvas(height=4.4, width=4.9 if len(wanted) == 1 else 9.8, grid="none") as first:
        panels = [first]
        figure = first.get_figure(root=True)
        if len(wanted) > 1 and figure is not None:
            first.remove()
            panels = list(figure.subplots(1, len(wanted)))
        for picture, axes in zip(wanted, panels, strict=True):
            if picture == "best responses":
                draw_best_responses(axes, game)
            elif game.shape == (2, 2):
                draw_line(axes, game)
            else:
                draw_triangle(axes, game)
            axes.legend(
                loc="lower left",
                bbox_to_anchor=(0, 1.01),
                frameon=False,
                borderaxespad=0,
                handlelength=1.8,
                labelcolor=INK,
                fontsize=9.5,
            )
        return to_svg(panels[0]) if kind == "svg" else to_png(panels[0])


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


_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
_TIE = 1e-9
_LATTICE = 13
_LENGTH = 0.052
_STEPS = 8


def velocity(payoff: Array, x: Array) -> Array:
    """Compute x_a (f_a - mean f) for each row of shares x.

    >>> velocity(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.5, 0.5]])).tolist()
    [[0.125, -0.125]]
    """
    earned = x @ payoff.T
    mean = (x * earned).sum(axis=-1, keepdims=True)
    return np.asarray(x * (earned - mean))


def _scale(payoff: Array) -> Array:
    """Divide payoffs by their range."""
    spread = float(np.ptp(payoff))
    return payoff / (spread or 1.0)


def rest_points(payoff: Array) -> tuple[Array, ...]:
    """Find the sets of rest points.

    One row is a point, two are the ends of a line, three the whole triangle.

    On the face of each support all actions used earn the same. Faces lying in larger sets found are
    left out.
    """
    scaled = _scale(payoff)
    rests: list[Array] = []
    for size in range(len(payoff), 0, -1):
        for support in combinations(range(len(payoff)), size):
            points = _at_rest(scaled, support)
            if points is None:
                continue
            if not any(_covers(larger, points) for larger in rests):
                rests.append(points)
    return tuple(rests)


def _at_rest(payoff: Array, support: tuple[int, ...]) -> Array | None:
    """The rest points that use exactly `support`, or None if there are none.

    For a set, these are its extreme points.
    """
    size = len(support)
    face = payoff[np.ix_(support, support)]
    system = np.vstack([face[1:] - face[0], np.ones(size)])
    right = np.append(np.zeros(size - 1), 1.0)
    middle = np.linalg.lstsq(system, right, rcond=_TIE)[0]
    missed = np.abs(system @ middle - right)
    if missed.max() > _TIE:
        return None
    _, singular, directions = np.linalg.svd(system)
    free = directions[np.count_nonzero(singular > _TIE) :]
    if len(free) == 0:
        inside = middle.min() > _TIE
        points = middle[None] if inside else None
    elif len(free) == size - 1:
        points = np.eye(size)
    else:
        points = _clipped(middle, free[0])
    if points is None:
        return None
    shares = np.zeros((len(points), len(payoff)))
    shares[:, support] = points
    return shares


def _clipped(middle: Array, along: Array) -> Array | None:
    """The part of the line through `middle` on which no share is negative, by its ends."""
    low = -np.inf
    high = np.inf
    for share, change in zip(middle, along, strict=True):
        if abs(change) > _TIE:
            bound = -share / change
            if change > 0:
                low = max(low, bound)
            else:
                high = min(high, bound)
        elif share < _TIE:
            return None
    if high - low <= _TIE:
        return None
    ends = np.array([middle + low * along, middle + high * along])
    return ends.clip(0.0)


def _covers(larger: Array, points: Array) -> bool:
    """Whether all of `points` lie in the hull of `larger`.

    The latter has at most three points, affinely independent.
    """
    weights = np.linalg.lstsq(larger.T, points.T, rcond=None)[0]
    missed = np.abs(larger.T @ weights - points.T)
    return bool(missed.max() <= _TIE and weights.min() >= -_TIE)


def attracts(payoff: Array, x: Array) -> bool:
    """Tell whether the rest point x draws in all shares near it.

    It does if it is evolutionarily stable, or all eigenvalues of the field along the simplex have
    negative real parts.
    """
    scaled = _scale(payoff)
    earned = scaled @ x
    mean = float(x @ earned)
    is_best_reply = mean >= earned.max() - _TIE
    if is_best_reply and is_evolutionarily_stable(scaled, x):
        return True

    of_mean = (earned + x @ scaled)[None, :]
    slope = np.diag(earned - mean) + x[:, None] * (scaled - of_mean)
    _, _, directions = np.linalg.svd(np.ones((1, len(x))))
    along = directions[1:]
    eigenvalues = np.linalg.eigvals(along @ slope @ along.T)
    return bool(eigenvalues.real.max() < -_TIE)


def draw_line(axes: Axes, game: NormalForm) -> None:
    """Two actions: how fast the first one's share changes, for each share it may have."""
    payoff = game.payoffs[0]
    share = np.linspace(0, 1, 201)
    speed = _find_growth(payoff, share)
    axes.axhline(0, color=QUIET, linewidth=0.9, zorder=1)
    axes.plot(share, speed, color=series_colour(2), linewidth=2.4, zorder=2)
    top = float(np.abs(speed).max())
    rests = rest_points(payoff)
    _draw_rests(axes, payoff, np.array([[1.0, 0.0], [0.0, 0.0]]))
    resting = np.concatenate([points[:, 0] for points in rests])
    still = _TIE * float(np.ptp(payoff))
    for low, high in pairwise(np.unique(resting).tolist()):
        middle = (low + high) / 2
        (here,) = _find_growth(payoff, np.array([middle]))
        if abs(here) <= still:
            continue
        half = min(0.07, (high - low) / 4)
        if here < 0:
            half = -half
        _arrow(
            axes,
            np.array([middle - half, 0.0]),
            np.array([middle + half, 0.0]),
            INK,
            2.0,
        )
    if top <= still:
        top = 1.0
    axes.set_xlim(-0.04, 1.04)
    axes.set_ylim(-1.15 * top, 1.15 * top)
    axes.set_box_aspect(1)
    first = game.actions[0][0]
    axes.set_xlabel(f"share that plays {clip(first, 24)}")
    axes.set_ylabel("growth of that share (replicator)")


def _find_growth(payoff: Array, share: Array) -> Array:
    """Return how fast the share of the first of two actions changes."""
    shares = np.stack([share, 1 - share], axis=1)
    return velocity(payoff, shares)[:, 0]


def draw_triangle(axes: Axes, game: NormalForm) -> None:
    """Three actions: short pieces of the paths that shares take.

    Each has an arrow, stronger where shares move faster.
    """
    payoff = _scale(game.payoffs[0])
    outline = np.vstack([_CORNERS, _CORNERS[:1]])
    axes.fill(*_CORNERS.T, color=GRID, alpha=0.35, linewidth=0, zorder=0)
    axes.plot(*outline.T, color=QUIET, linewidth=1.0, zorder=1)
    single = [points for points in rest_points(payoff) if len(points) == 1]
    starts = _starts(np.vstack([np.empty((0, 3)), *single]))
    speeds = np.linalg.norm(velocity(payoff, starts) @ _CORNERS, axis=1)
    moving = speeds > _TIE
    paths = _paths(payoff, starts[moving])
    top = float(speeds.max()) or 1.0
    for path, speed in zip(np.moveaxis(paths, 1, 0), speeds[moving], strict=True):
        relative = float(speed / top)
        strength = 0.35 + 0.65 * relative**0.5
        axes.plot(
            *path.T,
            color=series_colour(0),
            linewidth=1.3,
            alpha=strength,
            zorder=2,
        )
        _arrow(
            axes,
            path[-2],
            end=path[-1],
            colour=series_colour(0),
            width=1.3,
            alpha=strength,
        )
    _draw_rests(axes, payoff, _CORNERS)
    anchors = (
        (0.0, -0.05, "center", "top"),
        (1.0, -0.05, "center", "top"),
        (0.5, 0.915, "center", "bottom"),
    )
    for action, (x, y, across, up) in zip(game.actions[0], anchors, strict=True):
        axes.text(x, y, clip(action, 22), ha=across, va=up, color=INK, fontsize=10.5)
    axes.set_xlim(-0.16, 1.16)
    axes.set_ylim(-0.12, 1.0)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _starts(rests: Array) -> Array:
    """Evenly spread shares inside the triangle and on its edges.

    Those whose arrow would hide a rest point are left out.
    """
    count = _LATTICE
    inside = [(i, j, count - i - j) for i in range(1, count) for j in range(1, count - i)]
    steps = count - 1
    middles = [(2 * k + 1) / steps for k in range(steps // 2)]
    edges = []
    for i, j in combinations(range(3), 2):
        for share in middles:
            shares = [0.0, 0.0, 0.0]
            shares[i] = share
            shares[j] = 1 - share
            edges.append(shares)
    starts = np.vstack([np.array(inside, dtype=np.float64) / count, np.array(edges)])

    apart = starts[:, None] - rests[None]
    distance = np.linalg.norm(apart @ _CORNERS, axis=2)
    visible = (distance > _LENGTH * 0.7).all(axis=1)
    return np.asarray(starts[visible])


def _paths(payoff: Array, starts: Array) -> Array:
    """Pieces of one length around each start, in the plane; shape (points, starts, 2)."""

    def flow(x: Array) -> Array:
        change = velocity(payoff, x)
        norm = np.linalg.norm(change @ _CORNERS, axis=1, keepdims=True)
        return np.asarray(change / np.maximum(norm, _TIE))

    def walked(x: Array, step: float) -> list[Array]:
        path = []
        for _ in range(_STEPS):
            half = np.clip(x + step / 2 * flow(x), 0.0, 1.0)
            x = np.clip(x + step * flow(half), 0.0, 1.0)
            path.append(x)
        return path

    step = _LENGTH / 2 / _STEPS
    points = [*reversed(walked(starts, -step)), starts, *walked(starts, step)]
    return np.asarray(np.stack(points) @ _CORNERS)


def _draw_rests(axes: Axes, payoff: Array, corners: Array) -> None:
    """Every rest point, a ring where it does not attract.

    Lines and areas of them; and a legend of what is there.
    """
    named: set[str] = set()
    for points in rest_points(payoff):
        at = points @ corners
        attracting = len(points) == 1 and attracts(payoff, points[0])
        name = ("attracts", "does not attract", "rest points", "rest points")[
            0 if attracting else len(points)
        ]
        shown: JsonObject = {"label": "_nolegend_" if name in named else name, "color": INK}
        named.add(name)
        if len(points) == 1:
            axes.plot(
                *at.T,
                linestyle="none",
                marker="o",
                markersize=8,
                markeredgewidth=1.8,
                clip_on=False,
                fillstyle="full" if attracting else "none",
                zorder=6,
                **shown,
            )
        elif len(points) == 2:
            axes.plot(
                *at.T,
                linewidth=4,
                alpha=0.6,
                solid_capstyle="round",
                zorder=5,
                **shown,
            )
        else:
            axes.fill(*at.T, alpha=0.2, linewidth=0, zorder=5, **shown)


def _arrow(
    axes: Axes,
    start: Array,
    end: Array,
    colour: str,
    width: float,
    alpha: float = 1.0,
) -> None:
    ink = {"color": colour, "linewidth": width, "alpha": alpha}
    head = {
        "arrowstyle": "-|>",
        "mutation_scale": 4 + 4 * width,
        "shrinkA": 0,
        "shrinkB": 0,
        **ink,
    }
    axes.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=head, zorder=3)
