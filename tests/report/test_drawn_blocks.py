"""What blocks hand to the charts: which rows become a line, a band, a dot or a bar, with values
read off the rows."""

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import numpy as np
import pytest

from bestresponse.report import blocks
from bestresponse.report.document import KeyValues, Note, Paragraph
from bestresponse.report.figures import charts
from bestresponse.report.frames import Frame, Metric, MetricTable, column, compute_metrics
from bestresponse.report.numbers import NOISE
from bestresponse.report.stats.statistics import Interval


class PaidRow(TypedDict):
    player: str
    day: int
    paid: Annotated[float | None, column("amount paid", ".2f")]
    theory: float
    low: float | None
    high: float | None


def paid(player="ann", day=1, amount=2.0, theory=0.0, low=None, high=None):
    return PaidRow(player=player, day=day, paid=amount, theory=theory, low=low, high=high)


@dataclass
class Run:
    """What a report is made from, in a test."""

    rows: list[Any]
    config: Any = None
    metrics: MetricTable = field(default_factory=lambda: MetricTable((), (), ()))

    def frame(self, name):
        return Frame(PaidRow, self.rows)


@pytest.fixture
def drawn(monkeypatch):
    """The arguments of every chart, by its name; arrays as lists."""
    calls = []

    def simplify(value):
        if isinstance(value, np.ndarray):
            return value.tolist()
        if isinstance(value, dict):
            return {key: simplify(inside) for key, inside in value.items()}
        return [simplify(inside) for inside in value] if isinstance(value, list | tuple) else value

    def record(name):
        def draw(*arguments, **options):
            calls.append((name, simplify(arguments), simplify(options)))
            return b"<svg></svg>"

        return draw

    for name in ("lines", "intervals", "distribution", "bars", "scatter", "heatmap", "box_series"):
        monkeypatch.setattr(charts, f"draw_{name}", record(name))
    return calls


def test_a_line_is_drawn_for_each_value_with_what_theory_expects_and_its_band(drawn):
    rows = [
        paid("ann", 1, 2.0, theory=1.5, low=1.0, high=3.0),
        paid("ann", 2, 4.0, theory=2.5, low=None, high=5.0),
        paid("bob", 1, 6.0, theory=3.5),
        paid("bob", 2, None, theory=4.5),
    ]
    block = blocks.lines(
        "f", x="day", y="paid", by="player", band=("low", "high"), expected="theory", caption="c"
    )
    shown = block(Run(rows))
    ((name, (series, bands), options),) = drawn
    assert name == "lines"
    assert series == {"ann": [[1, 2], [2, 4]], "bob": [[1], [6]]}
    # On the second day ann's band has no lower end and shrinks to the line; bob has no band at all.
    assert bands == {"ann": [[1, 4], [3, 4]]}
    assert options == {
        "expected": {"ann": [1.5, 2.5], "bob": [3.5]},
        "x_label": "day",
        "y_label": "amount paid",
    }
    assert (shown.blocks[0].caption, shown.blocks[0].alt) == ("c", "amount paid by day")


def test_without_a_column_to_tell_lines_apart_there_is_one_and_theory_is_left_out_unless_named(
    drawn,
):
    blocks.lines("f", x="day", y="paid")(Run([paid(day=1, amount=2.0), paid("bob", 2, 3.0)]))
    ((_, (series, bands), options),) = drawn
    assert (series, bands, options["expected"]) == ({"": [[1, 2], [2, 3]]}, {}, {})


def test_bands_are_the_ends_of_intervals_except_of_a_single_value(drawn):
    single, double = Interval(2.0, 0.0, 9.0, 0.95, "t", 1), Interval(4.0, 3.0, 5.0, 0.95, "t", 2)
    blocks.lines("f", x="day", y="paid")(
        Run([paid(day=1, amount=single), paid(day=2, amount=double)])
    )
    ((_, (series, bands), _),) = drawn
    assert series == {"": [[1, 2], [2, 4]]}
    assert bands == {"": [[2, 3], [2, 5]]}


def test_of_eleven_lines_the_ten_with_the_largest_values_are_drawn_in_the_order_of_the_rows(drawn):
    rows = [paid(f"player {number}", 1, float(number)) for number in range(11)]
    blocks.lines("f", x="day", y="paid", by="player")(Run(rows))
    ((_, (series, _), _),) = drawn
    assert list(series) == [f"player {number}" for number in range(1, 11)]


def test_no_line_is_drawn_where_no_row_has_a_value(drawn):
    assert blocks.lines("f", x="day", y="paid")(Run([paid(amount=None)])) is None
    assert drawn == []


def test_intervals_are_drawn_from_the_least_estimate_on_against_zero(drawn):
    low, high = Interval(1.0, 0.5, 1.5, 0.95, "t", 4), Interval(2.0, 1.5, 2.5, 0.95, "t", 4)
    run = Run([paid("ann", 1, low), paid("bob", 2, high), paid("cid", 3, 7.0)])
    shown = blocks.intervals("f", ("player", "day"), "paid", least=2.0)(run)
    blocks.intervals("f", ("player",), "paid", reference=None)(run)
    assert drawn == [
        ("intervals", [[["bob, 2", high]]], {"x_label": "amount paid", "reference": 0.0}),
        (
            "intervals",
            [[["ann", low], ["bob", high]]],
            {"x_label": "amount paid", "reference": None},
        ),
    ]
    assert shown.blocks[0].alt == "amount paid with intervals"
    assert blocks.intervals("f", ("player",), "paid", least=3.0)(run) is None


def test_boxes_hold_the_values_of_each_group_and_keep_zero_in_view(drawn):
    interval = Interval(5.0, 4.0, 6.0, 0.95, "t", 4)
    run = Run(
        [paid("ann", 1, 2.0), paid("ann", 2, None), paid("bob", 1, interval), paid("ann", 3, -1.0)]
    )
    shown = blocks.boxes("f", by="player", value="paid")(run)
    blocks.boxes("f", by="player", value="paid", zero=False)(run)
    first, second = drawn
    assert first == (
        "distribution",
        [{"ann": [2.0, -1.0], "bob": [5.0]}],
        {"x_label": "amount paid", "zero": True, "baselines": set()},
    )
    assert second[2]["zero"] is False
    assert shown.blocks[0].caption.startswith(
        "Every value a dot, the box from the first to the third quartile"
    )
    assert shown.blocks[0].alt == "amount paid by player"


def test_what_is_noise_makes_no_boxes_and_no_dots(drawn):
    noise = Run(
        [paid(day=1, amount=NOISE), paid(day=2, amount=0.0), paid(day=3, amount=-NOISE / 2)]
    )
    assert blocks.boxes("f", by="player", value="paid")(noise) is None
    same = Run([paid(day=1, amount=NOISE), paid(day=2, amount=0.0)])
    assert blocks.scatter("f", x="day", y="paid")(same) is None
    assert drawn == []
    assert blocks.boxes("f", by="player", value="paid")(Run([paid(amount=-1.0)])) is not None


def test_bars_hold_a_part_for_each_value_at_most_eight(drawn):
    rows = [paid("ann", day, float(day)) for day in range(1, 9)]
    shown = blocks.bars("f", by="player", value="paid", parts="day")(Run(rows))
    assert drawn == [
        (
            "bars",
            [{"ann": {str(day): float(day) for day in range(1, 9)}}],
            {"x_label": "amount paid", "stacked": True},
        )
    ]
    assert shown.blocks[0].alt == "amount paid by player"
    assert (
        blocks.bars("f", by="player", value="paid", parts="day")(Run([*rows, paid("ann", 9)]))
        is None
    )
    assert (
        blocks.bars("f", by="player", value="paid", parts="day")(Run([paid(amount=None)])) is None
    )


def test_a_column_beside_another_has_bars_of_its_own(drawn):
    run = Run([paid("ann", 1, 2.0, theory=3.0)])
    blocks.bars("f", by="player", value="paid", parts="day", beside="theory")(run)
    assert drawn[0][1] == [{"ann, amount paid": {"1": 2.0}, "ann, theory": {"1": 3.0}}]


def test_dots_need_both_numbers_and_are_told_apart_only_where_a_column_is_named(drawn):
    rows = [
        paid("ann", 1, 2.0),
        paid("bob", 2, 4.0),
        paid("bob", 3, None),
        {**paid("cid", 0, 5.0), "day": None},
    ]
    shown = blocks.scatter("f", x="day", y="paid", by="player")(Run(rows))
    blocks.scatter("f", x="day", y="paid")(Run(rows))
    labels = {"x_label": "day", "y_label": "amount paid"}
    assert drawn == [
        ("scatter", [[1, 2], [2, 4], ["ann", "bob"]], labels),
        ("scatter", [[1, 2], [2, 4], None], labels),
    ]
    assert shown.blocks[0].alt == "amount paid by day"


def test_a_heat_map_has_a_gap_where_there_is_no_number(drawn):
    interval = Interval(5.0, 4.0, 6.0, 0.95, "t", 4)
    run = Run([paid("ann", 1, 2.0), paid("ann", 2, interval), paid("bob", 1, None)])
    shown = blocks.pivot("f", rows="player", columns="day", value="paid", heat=True)(run)
    ((name, (cells, down, across), _),) = drawn
    assert (name, down, across) == ("heatmap", ["ann", "bob"], ["1", "2"])
    assert cells[0] == [2.0, 5.0]
    assert all(math.isnan(cell) for cell in cells[1])
    assert shown.blocks[0].alt == "paid by player and day"


def test_heads_of_the_rows_of_a_pivot_stay_numbers_and_become_text_where_they_are_neither():
    rows = [paid("ann", 1, 2.0), {**paid("ann", 0, 3.0), "day": None}]
    (table,) = blocks.pivot("f", rows="day", columns="player", value="paid")(Run(rows)).blocks
    assert table.rows == ((1, 2.0), ("None", 3.0))
    assert (table.columns[1].align, table.columns[1].format) == ("right", ".2f")


def test_two_hundred_rows_of_a_table_are_shown_and_the_others_counted():
    (table,) = blocks.table("f")(Run([paid(day=day) for day in range(200)])).blocks
    assert len(table.rows) == 200
    table, note = blocks.table("f")(Run([paid(day=day) for day in range(1201)])).blocks
    assert (len(table.rows), note) == (200, Note("1,001 more rows are in f.csv."))


def test_a_table_split_by_a_column_of_one_value_does_not_name_it():
    (table,) = blocks.table(
        "f", ("day", "paid"), split="player", caption="by {{ label or 'day' }}"
    )(Run([paid()])).blocks
    assert (table.caption, table.rows) == ("by day", ((1, 2.0),))
    first, second = blocks.table("f", split="day")(Run([paid(day=1), paid(day=2)])).blocks
    assert (first.caption, second.caption) == ("1", "2")
    assert [head.name for head in first.columns] == ["player", "amount paid", "theory"]
    assert blocks.table("f", ("low",))(Run([paid()])) is None


def test_the_headline_shows_the_metrics_that_the_first_group_with_any_has():
    def metric(name, values):
        return Metric(name, f"the {name}", "", "", lambda group: values[group])

    metrics = (metric("mean", [None, None, 3.0]), metric("least", [None, 0.0, 1.0]))
    table = compute_metrics(metrics, ("player",), {("ann",): 0, ("bob",): 1, ("cid",): 2})
    shown = blocks.headline(("mean", "least"))(Run([], metrics=table))
    assert (shown.title, shown.blocks) == (
        "",
        (KeyValues((("player", "bob"), ("the least", 0.0)), prominent=True, formats=("", "")),),
    )
    # A single model needs no name, and a number is printed as in its table.
    exact = Metric("mean", "the mean", "", ".2f", lambda group: 0.5)
    alone = compute_metrics((exact,), ("player",), {("ann",): 0, ("even", "baseline"): 1})
    shown = blocks.headline(("mean",))(Run([], metrics=alone))
    assert shown.blocks == (KeyValues((("the mean", 0.5),), prominent=True, formats=(".2f",)),)


def test_counts_can_stand_behind_what_matters():
    metrics = [
        Metric(name, name, "", "", lambda group: 1.0) for name in ("plays", "gap", "answers")
    ]
    table = compute_metrics(tuple(metrics), ("player",), {("ann",): 0})
    shown = blocks.metrics_table(last=("answers", "plays"))(Run([], metrics=table))
    assert [column.name for column in shown.blocks[0].columns] == [
        "player",
        "gap",
        "answers",
        "plays",
    ]
    assert (
        blocks.headline(("mean",))(
            Run([], metrics=compute_metrics(metrics, ("player",), {("ann",): 0}))
        )
        is None
    )


def test_a_block_may_show_several_things_or_nothing_and_a_title_said_again_goes_on():
    def show_two(measured):
        return [blocks.Shown("One", (Paragraph("a"),)), blocks.Shown("Two", (Paragraph("b"),))]

    opening, sections = blocks.build_sections(
        (
            show_two,
            lambda measured: None,
            blocks.text("c", title="Two"),
            blocks.text("d", title="One"),
        ),
        Run([]),
    )
    assert opening == ()
    assert [(section.title, section.blocks) for section in sections] == [
        ("One", (Paragraph("a"),)),
        ("Two", (Paragraph("b"), Paragraph("c"))),
        ("One", (Paragraph("d"),)),
    ]


def test_prose_is_a_paragraph_or_a_note_and_nothing_in_it_is_escaped_twice():
    assert blocks.text("{{ config }}")(Run([], "a < b")).blocks == (Paragraph("a < b"),)
    assert blocks.text("beware", kind="warning")(Run([])).blocks == (Note("beware", "warning"),)
    with pytest.raises(Exception, match="'unknown' is undefined"):
        blocks.text("{{ unknown }}")(Run([]))


def test_boxes_along_an_axis_have_five_columns_each_and_one_level(drawn):
    rows = [
        paid("ann", 1, 2.0, theory=3.0, low=0.0, high=5.0),
        paid("ann", 2, 4.0, theory=3.0, low=1.0, high=9.0),
    ]
    block = blocks.box_series(
        "rows", "day", ("low", "paid", "paid", "paid", "high"), "theory", caption="prices"
    )
    (figure,) = block(Run(rows)).blocks
    assert (figure.caption, figure.alt) == ("prices", "amount paid by day")
    ((name, (across, boxes), options),) = drawn
    assert (name, across) == ("box_series", [1.0, 2.0])
    assert boxes == [[0.0, 1.0], [2.0, 4.0], [2.0, 4.0], [2.0, 4.0], [5.0, 9.0]]
    assert options == {"level": 3.0, "x_label": "day", "y_label": "amount paid"}
