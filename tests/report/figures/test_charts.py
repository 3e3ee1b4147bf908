"""Figures are well-formed SVG, the same every time, in colours that suit light and dark ground."""

import re
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.report.figures import charts as figures
from bestresponse.report.stats.statistics import Interval

NAME = "a$b$ <&> \x00 _x"
ROW = Interval(0.5, 0.4, 0.6, 0.95, "bca", 9)
OPEN = Interval(0.5, -np.inf, np.inf, 0.95, "none", 1)

FIGURES = {
    "distribution": lambda name: figures.draw_distribution(
        {name: [0.1, 0.2, 0.4], "b": np.linspace(0, 1, 900)}, x_label=name
    ),
    "intervals": lambda name: figures.draw_intervals([(name, ROW), ("open", OPEN)], x_label=name),
    "scatter": lambda name: figures.draw_scatter(
        range(20), range(20), [name] * 10 + ["b"] * 10, x_label=name
    ),
    "lines": lambda name: figures.draw_lines(
        {name: ([1, 2], [3, 4])}, {name: ([2, 3], [4, 5])}, x_label=name
    ),
    "stacked": lambda name: figures.draw_bars(
        {name: {"valid": 0.5, name: 0.5}, "b": {"valid": 1.0}}, x_label=name
    ),
    "box series": lambda name: figures.draw_box_series(
        [1, 2], [[0, 1], [1, 2], [2, 3], [3, 4], [4, 9]], level=2.5, x_label=name
    ),
    "heatmap": lambda name: figures.draw_heatmap(
        [[0.1, np.nan], [0.3, 0.4]], [name, "b"], ["c", "d"]
    ),
}


def texts(svg):
    return [
        "".join(element.itertext())
        for element in ElementTree.fromstring(svg).iter()
        if element.tag.endswith("text")
    ]


@pytest.mark.parametrize("kind", FIGURES)
def test_names_are_shown_as_they_are_written(kind):
    assert "a$b$ <&> ⟦U+0000⟧ _x" in texts(FIGURES[kind](NAME))


@pytest.mark.parametrize("kind", FIGURES)
def test_the_same_numbers_give_the_same_bytes(kind):
    assert FIGURES[kind]("a") == FIGURES[kind]("a")


@pytest.mark.parametrize("kind", FIGURES)
def test_every_colour_is_one_that_changes_with_the_ground(kind):
    body = FIGURES[kind]("a").split(b"</style>", 1)[1]
    assert re.findall(rb"(?:fill|stroke): #\w+", body) == []
    assert b"var(--quiet)" in body
    assert b"prefers-color-scheme:dark" in FIGURES[kind]("a")


def test_long_names_are_cut():
    [name] = [text for text in texts(figures.draw_bars({"n" * 200: {"a": 1.0}})) if "n" in text]
    assert name == "n" * 59 + "…"


@pytest.mark.parametrize("kind", ["scatter", "lines", "stacked"])
def test_a_legend_of_long_names_leaves_room_for_the_figure(kind):
    """matplotlib gives up the layout, with a warning, where a legend is wider than the figure."""
    names = [f"a model with a name of forty letters, no {number}" for number in range(6)]
    draw = {
        "scatter": lambda: figures.draw_scatter(range(12), range(12), names * 2),
        "lines": lambda: figures.draw_lines({name: ([1, 2], [3, 4]) for name in names}),
        "stacked": lambda: figures.draw_bars({"a": dict.fromkeys(names, 0.1)}),
    }[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = texts(draw())
    assert [text for text in shown if text.startswith("a model")] == names


@pytest.mark.parametrize("count", [30, 100])
def test_the_names_of_many_columns_and_rows_do_not_cover_each_other(count):
    names = [f"strategy {number}" for number in range(count)]
    drawn = figures.draw_heatmap(np.ones((count, count)), names, names).decode()
    across = re.findall(
        r'font-size: ([\d.]+)px[^>]*translate\(([\d.]+) [\d.]+\) rotate\(-90\)">strategy', drawn
    )
    down = re.findall(r'font-size: ([\d.]+)px[^>]* y="([\d.]+)"[^>]*>strategy', drawn)
    assert len(across) == len(down) == count
    for labels in (across, down):
        size, places = float(labels[0][0]), sorted(float(place) for _, place in labels)
        assert min(np.diff(places)) >= size
    assert "1.00" not in texts(drawn.encode())


def test_a_cell_that_is_not_a_number_stays_empty():
    # The last one is the middle of the scale, from 0.1 to 0.4.
    assert [text for text in texts(FIGURES["heatmap"]("a")) if re.fullmatch(r"\d\.\d\d", text)] == [
        "0.10",
        "0.30",
        "0.40",
        "0.25",
    ]


def test_a_heat_map_has_whole_names_and_a_scale_with_numbers():
    names = ["hard-tit-for-tat", "hard-tit-for-two-tats", "soft-majority-3", "soft-majority-4"]
    shown = texts(figures.draw_heatmap(np.arange(16).reshape(4, 4), names, names, label="payoff"))
    assert [shown.count(name) for name in names] == [2] * 4
    assert [text for text in shown if text in ("0", "7.5", "15", "payoff")] == [
        "0",
        "7.5",
        "15",
        "payoff",
    ]
    # Where all numbers are the same there is nothing to scale.
    assert "payoff" not in texts(figures.draw_heatmap(np.ones((2, 2)), "ab", "cd", label="payoff"))


def test_models_share_one_colour_and_baselines_are_grey():
    groups = {"m": [0.1, 0.2], "n": [0.3, 0.4], "uniform": [0.5, 0.6]}
    body = figures.draw_distribution(groups, baselines=("uniform",)).split(b"</style>", 1)[1]
    colours = set(re.findall(rb"var\(--(s\d)\)", body))
    assert colours == {b"s0", b"s7"}


def test_the_trend_joins_bin_means():
    """Twenty points make four bins of five: means 2, 7, 12, 17 of the numbers 0 to 19, the last bin
    closed."""
    middles, means = figures.compute_bin_means(np.arange(20.0), np.arange(20.0) * 2)
    assert middles.tolist() == [2.0, 7.0, 12.0, 17.0]
    assert means.tolist() == [4.0, 14.0, 24.0, 34.0]


def test_a_feature_that_never_varies_makes_one_bin():
    middles, means = figures.compute_bin_means(np.full(30, 3.0), np.arange(30.0))
    assert (middles.tolist(), means.tolist()) == ([3.0], [14.5])


def test_a_group_without_a_number_is_refused():
    with pytest.raises(UsageError):
        figures.draw_distribution({"a": []})


@pytest.mark.parametrize("values", [[0.0], [0.0] * 50, [5.0, 5.0]])
def test_values_that_do_not_vary_still_make_a_figure(values):
    for drawn in (figures.draw_distribution({"a": values}), figures.draw_scatter(values, values)):
        assert ElementTree.fromstring(drawn).tag.endswith("}svg")
        assert b"nan" not in drawn.lower()


def test_days_are_not_counted_in_halves():
    drawn = figures.draw_lines({"a": (range(1, 8), range(7))}, x_label="day").decode()
    halves = figures.draw_lines({"a": ([0.5, 1.5, 2.5], [1, 2, 3])}).decode()
    assert ">2.5<" not in drawn
    assert ">3<" in drawn
    assert ">0.50<" in halves


def test_every_box_has_its_whisker_and_the_level_is_dashed():
    svg = figures.draw_box_series(
        [1, 2, 3], [[0] * 3, [1] * 3, [2] * 3, [3] * 3, [4] * 3], level=2.0
    )
    drawn = {
        element.get("id"): element
        for element in ElementTree.fromstring(svg).iter()
        if element.get("id")
    }
    expected = [f"{part}-{day}" for part in ("box", "whisker") for day in (1, 2, 3)]
    assert [name for name in sorted(drawn) if name.startswith(("box", "whisker"))] == expected
    assert "stroke-dasharray" in ElementTree.tostring(drawn["level"], "unicode")
    assert "var(--level)" in ElementTree.tostring(drawn["level"], "unicode")
    without = figures.draw_box_series([1], [[0], [1], [2], [3], [4]])
    assert b'id="level"' not in without


def test_more_than_six_lines_get_a_panel_each_and_keep_their_names():
    names = [f"model {letter}" for letter in "abcdefg"]
    crowded = {name: ([1, 2, 3], [number, 1, 2]) for number, name in enumerate(names)}
    few = dict(list(crowded.items())[:6])
    assert count_panels(figures.draw_lines(few)) == 1
    drawn = figures.draw_lines(crowded)
    assert count_panels(drawn) == 7
    assert all(f">{name}<" in drawn.decode() for name in names)


def count_panels(drawn):
    return len(re.findall(r'id="axes_\d+"', drawn.decode()))
