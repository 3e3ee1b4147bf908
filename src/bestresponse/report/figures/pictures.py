"""Two pictures of a small game: its best responses, and where evolution drives a population that plays it.

Best-response diagram (2x2 games): each axis is the probability with which a player takes its first action; each
player's best responses are one curve, and the equilibria are where both curves meet.

Replicator field (symmetric games with 2 or 3 actions): x_a' = x_a (f_a - mean f), Taylor and Jonker, "Evolutionarily
stable strategies and game dynamics", Mathematical Biosciences 40, 1978; on a line for two actions, in a triangle whose
corners are the actions for three. A filled dot is a rest point that attracts its neighbourhood, a ring one that does
not.

`draw` returns an SVG file for light and dark ground, or the same picture in pixels on white.
"""

from __future__ import annotations

from typing import Literal

from bestresponse.core.errors import UsageError
from bestresponse.report.figures.best_response import draw_best_responses
from bestresponse.report.figures.canvas import canvas, to_png, to_svg
from bestresponse.report.figures.replicator import draw_line, draw_triangle
from bestresponse.theory.equilibria.result import is_symmetric_bimatrix
from bestresponse.theory.games.normal_form import NormalForm

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
    found: tuple[Picture, ...] = ("best responses",) if game.shape == (2, 2) else ()
    return (*found, "replicator field") if symmetric else found


def require_picture(game: NormalForm) -> tuple[Picture, ...]:
    """List the pictures that can be drawn, at least one; UsageError where there is none."""
    wanted = pictures(game)
    if not wanted:
        raise UsageError(
            f"{game.name or 'this game'} cannot be drawn: expected a 2x2 game, or a symmetric game of two players with "
            f"2 or 3 actions, got {'x'.join(map(str, game.shape))} actions"
            f"{', not symmetric' if game.shape == (3, 3) else ''}"
        )
    return wanted


def draw(game: NormalForm, kind: Kind = "svg", only: Picture | None = None) -> bytes:
    """Draw all pictures of `game` side by side, or one of them, as a file; UsageError says which games have one."""
    wanted = tuple(picture for picture in require_picture(game) if only in (None, picture))
    with canvas(height=4.4, width=4.9 if len(wanted) == 1 else 9.8, grid="none") as first:
        panels, figure = [first], first.get_figure(root=True)
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
        return to_svg(panels[0]) if kind == "svg" else to_png(panels[0])
