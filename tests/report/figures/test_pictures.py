"""Pictures of small games: best responses meet at the equilibria, arrows follow the replicator
equation."""

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.report.document import Figure
from bestresponse.report.figures.pictures import (
    attracts,
    compute_response_curve,
    draw,
    pictures,
    rest_points,
    velocity,
)
from bestresponse.theory import NormalForm, catalogue

ROCK_PAPER_SCISSORS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
HAWK_DOVE = np.array([[-1.0, 4.0], [0.0, 2.0]])


def symmetric(rows) -> NormalForm:
    return NormalForm.bimatrix(rows, np.transpose(rows))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("battle-of-the-sexes", ("best responses",)),
        ("matching-pennies", ("best responses",)),
        ("hawk-dove", ("best responses", "replicator field")),
        ("rock-paper-scissors", ("replicator field",)),
        ("oneill", ()),
        ("jordan-matching-pennies", ()),
    ],
)
def test_what_can_be_drawn_depends_on_size_and_symmetry(name, expected):
    assert pictures(catalogue.load(name)) == expected


def test_a_game_without_a_picture_is_refused_in_words():
    with pytest.raises(
        UsageError, match=r"oneill cannot be drawn: expected a 2x2 game.*got 4x4 actions"
    ):
        draw(catalogue.load("oneill"))
    with pytest.raises(UsageError, match="got 3x3 actions, not symmetric"):
        draw(NormalForm.bimatrix(np.eye(3), np.arange(9).reshape(3, 3)))


@pytest.mark.parametrize("name", ["hawk-dove", "battle-of-the-sexes", "rock-paper-scissors"])
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


def test_shares_grow_in_proportion_to_what_they_earn_above_average():
    # Two thirds hawks, one third doves: both earn 2/3, nothing moves; at one half hawks earn 1.5,
    # doves 1.
    assert velocity(HAWK_DOVE, np.array([[2 / 3, 1 / 3]])) == pytest.approx(
        np.zeros((1, 2)), abs=1e-15
    )
    assert velocity(HAWK_DOVE, np.array([[0.5, 0.5]])).tolist() == [[0.125, -0.125]]


def test_rest_points_are_corners_edges_and_the_interior():
    points = [p.round(6).tolist() for p in rest_points(ROCK_PAPER_SCISSORS)]
    assert points == [[[0.333333] * 3], [[1, 0, 0]], [[0, 1, 0]], [[0, 0, 1]]]
    assert next(p.tolist() for p in rest_points(np.diag([1.0, 1.0, 2.0]))) == [
        pytest.approx([0.4, 0.4, 0.2])
    ]
    assert len(rest_points(np.diag([1.0, 1.0, 2.0]))) == 7


def test_lines_and_areas_of_rest_points_are_found():
    assert [len(p) for p in rest_points(np.zeros((3, 3)))] == [3]
    assert [len(p) for p in rest_points(np.zeros((2, 2)))] == [2]
    twins = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    line, edge, corner = rest_points(twins)
    assert sorted(line.round(9).tolist()) == [[0.5, 0, 0.5], [0.5, 0.5, 0]]
    assert sorted(edge.tolist()) == [[0, 0, 1], [0, 1, 0]]
    assert corner.tolist() == [[1, 0, 0]]


def test_attraction_follows_evolutionary_stability():
    assert attracts(HAWK_DOVE, np.array([2 / 3, 1 / 3]))
    assert not attracts(HAWK_DOVE, np.array([1.0, 0.0]))
    assert not attracts(ROCK_PAPER_SCISSORS, np.full(3, 1 / 3))
    assert attracts(ROCK_PAPER_SCISSORS + np.diag([-0.5] * 3), np.full(3, 1 / 3))


def test_a_rest_point_may_attract_without_being_evolutionarily_stable():
    # Zeeman 1980: the interior equilibrium has eigenvalues (-1 ± i sqrt 2)/3, yet (1, 0, 0) is
    # stable as well.
    zeeman = np.array([[0.0, 6.0, -4.0], [-3.0, 0.0, 5.0], [-1.0, 3.0, 0.0]])
    assert attracts(zeeman, np.full(3, 1 / 3))
    assert attracts(zeeman, np.array([1.0, 0.0, 0.0]))
    from bestresponse.theory.equilibria.result import is_evolutionarily_stable

    assert not is_evolutionarily_stable(zeeman, np.full(3, 1 / 3))


@pytest.mark.parametrize(
    "rows",
    [np.zeros((3, 3)), np.zeros((2, 2)), [[1, 0], [1, 0]], [[1, 1, 0], [1, 1, 0], [0, 0, 2]]],
)
def test_degenerate_games_are_drawn_too(rows):
    assert Figure(draw(symmetric(rows)), "", "").media_type == "image/svg+xml"


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_scale_of_payoffs_does_not_matter(scale):
    assert [len(p) for p in rest_points(ROCK_PAPER_SCISSORS * scale)] == [1, 1, 1, 1]
    assert compute_response_curve(-scale, scale, 2 * scale)[1] == (0.0, 0.5)
