"""Pictures of small games: best responses meet at the equilibria."""

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.report.document import Figure
from bestresponse.report.figures.pictures import (
    compute_response_curve,
    draw,
)
from bestresponse.theory import NormalForm, catalogue


def symmetric(rows) -> NormalForm:
    return NormalForm.bimatrix(rows, np.transpose(rows))


def test_a_game_without_a_picture_is_refused_in_words():
    for name, shape in (("oneill", "4x4"), ("jordan-matching-pennies", "2x2x2")):
        with pytest.raises(
            UsageError, match=f"{name} cannot be drawn: expected a 2x2 game, got {shape} actions"
        ):
            draw(catalogue.load(name))


@pytest.mark.parametrize("name", ["hawk-dove", "battle-of-the-sexes"])
def test_pictures_are_files_of_the_kind_asked_for_and_always_the_same(name):
    game = catalogue.load(name)
    assert Figure(draw(game), "", "").media_type == "image/svg+xml"
    assert Figure(draw(game, "png"), "", "").media_type == "image/png"
    assert draw(game) == draw(game)
    assert draw(game, "png") == draw(game, "png")


def test_an_svg_has_colours_that_suit_dark_ground():
    text = draw(catalogue.load("hawk-dove")).decode()
    assert "fill: #" not in text.replace("fill: #ffffff", "")
    assert "stroke: var(--s0)" in text
    assert "prefers-color-scheme:dark" in text


def test_a_png_has_real_colours():
    import io

    from matplotlib.image import imread

    pixels = imread(io.BytesIO(draw(catalogue.load("hawk-dove"), "png")))
    colours = {
        tuple(c) for c in (pixels[..., :3].reshape(-1, 3) * 255).round().astype(int).tolist()
    }
    assert (0xC2, 0x57, 0x1A) in colours
    assert (255, 255, 255) in colours


def test_names_are_text_not_mathematics_or_markup():
    names = ("$x^2$", "<b>&")
    game = NormalForm.bimatrix(
        [[1, 0], [0, 1]], [[1, 0], [0, 1]], players=("<i>", "$"), actions=(names, names)
    )
    assert b"<b>" not in draw(game)


@pytest.mark.parametrize(
    ("at_zero", "at_one", "expected"),
    [
        (1, 2, ((1, 0), (1, 1))),
        (-1, -2, ((0, 0), (0, 1))),
        (1, -3, ((1, 0), (1, 0.25), (0, 0.25), (0, 1))),
        (0, 2, ((0, 0), (0, 0), (1, 0), (1, 1))),
        (-2, 0, ((0, 0), (0, 1), (1, 1), (1, 1))),
    ],
)
def test_best_responses_step_where_the_player_is_indifferent(at_zero, at_one, expected):
    assert compute_response_curve(at_zero, at_one, 4.0) == expected


def test_a_player_who_never_cares_responds_with_everything():
    points = compute_response_curve(0.0, 0.0, 1.0)
    assert points[0] == points[-1]
    assert len(points) == 5


@pytest.mark.parametrize(
    "rows",
    [np.zeros((2, 2)), [[1, 0], [1, 0]], [[1, 1], [1, 0]]],
)
def test_degenerate_games_are_drawn_too(rows):
    assert Figure(draw(symmetric(rows)), "", "").media_type == "image/svg+xml"


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_scale_of_payoffs_does_not_matter(scale):
    assert compute_response_curve(-scale, scale, 2 * scale)[1] == (0.0, 0.5)
