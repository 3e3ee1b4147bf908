"""Blocks of a report show the rows of a frame, each value where a reader looks for it."""

from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.report import blocks
from bestresponse.report.document import Figure, Note, Paragraph, Table
from bestresponse.report.frames import Frame, Metric, MetricTable, column, compute_metrics
from bestresponse.report.stats.statistics import Interval


class ShareRow(TypedDict):
    town: str
    day: int
    player: str
    share: Annotated[float | None, column("share of all", ".2f", "of what was there")]


ROWS = [
    ShareRow(town="north", day=1, player="ann", share=0.25),
    ShareRow(town="north", day=2, player="ann", share=0.5),
    ShareRow(town="north", day=1, player="bob", share=0.75),
    ShareRow(town="north", day=2, player="bob", share=None),
]


@dataclass
class Run:
    """What a report is made from, in a test."""

    rows: list[Any] = field(default_factory=lambda: list(ROWS))
    config: Any = None
    metrics: MetricTable = field(default_factory=lambda: MetricTable((), (), ()))

    def frame(self, name):
        return Frame(ShareRow, self.rows) if name == "shares" else Frame(dict, [])


def show(block, run=None):
    shown = block(run or Run())
    return None if shown is None else list(shown.blocks)


def test_a_table_shows_columns_by_their_titles_and_leaves_out_empty_ones():
    (table,) = show(blocks.table("shares", ("player", "share"), where={"day": 1}))
    assert [(c.name, c.align, c.format) for c in table.columns] == [
        ("player", "left", ""),
        ("share of all", "right", ".2f"),
    ]
    assert table.rows == (("ann", 0.25), ("bob", 0.75))
    assert show(blocks.table("nothing")) is None


def test_a_table_of_which_only_the_names_of_rows_are_known_is_not_shown():
    # Bob's share of the second day is not known.
    second = {"day": 2, "player": "bob"}
    assert show(blocks.table("shares", ("player", "share"), where=second)) is None
    (alone,) = show(blocks.table("shares", ("player",), where=second))
    assert alone.rows == (("bob",),)


def test_a_long_table_says_how_many_rows_are_in_the_file():
    table, note = show(blocks.table("shares", most=3))
    assert len(table.rows) == 3
    assert note == Note("1 more rows are in shares.csv.")


def test_a_table_is_split_by_the_values_of_a_column():
    ann, bob = show(blocks.table("shares", ("day", "share"), split="player", caption="by day"))
    assert (ann.caption, ann.rows) == ("ann: by day", ((1, 0.25), (2, 0.5)))
    assert (bob.caption, bob.rows) == ("bob: by day", ((1, 0.75), (2, None)))


def test_a_pivot_spreads_a_column_over_the_values_of_another():
    (table,) = show(blocks.pivot("shares", rows="player", columns="day", value="share"))
    assert [column.name for column in table.columns] == ["player", "1", "2"]
    assert table.rows == (("ann", 0.25, 0.5), ("bob", 0.75, None))


def test_a_missing_column_is_named():
    with pytest.raises(
        UsageError, match="ShareRow has no column 'sahre'; it has town, day, player, share"
    ):
        Frame(ShareRow, ROWS).to_table(["sahre"])


def test_text_is_filled_in_from_settings_and_frames_and_left_out_where_it_is_empty():
    block = blocks.text(
        "{% for row in frame('shares').select(day=2) %}{{ row.player }} {% endfor %}of {{"
        " config }}."
    )
    assert show(block, Run(config="town")) == [Paragraph("ann bob of town.")]
    assert (
        show(blocks.text("{% if frame('nothing')|length %}no{% endif %}", kind="warning")) is None
    )


def test_pictures_say_what_they_show_and_are_left_out_where_there_is_nothing():
    run = Run([row for row in ROWS if row["share"] is not None])
    pictures = [
        blocks.lines("shares", x="day", y="share", by="player", caption="c"),
        blocks.boxes("shares", by="player", value="share"),
        blocks.scatter("shares", x="day", y="share", by="player"),
        blocks.bars("shares", by="player", value="share", parts="day"),
        blocks.pivot("shares", rows="player", columns="day", value="share", heat=True),
    ]
    for block in pictures:
        (figure,) = show(block, run)
        assert isinstance(figure, Figure)
        assert "share" in figure.alt
        assert show(block, Run([])) is None


def test_a_player_that_never_loses_has_no_empty_axes():
    run = Run([row | {"share": 0.0} for row in ROWS])
    assert show(blocks.boxes("shares", by="player", value="share"), run) is None
    assert show(blocks.scatter("shares", x="day", y="share", by="player"), run) is None


def test_bars_of_two_columns_stand_below_each_other_unless_their_parts_are_too_many():
    block = blocks.bars(
        "shares", by="player", value="share", parts="town", beside="day", where={"day": 1}
    )
    (figure,) = show(block)
    assert [
        name in figure.image.decode() for name in ("ann, share of all", "ann, day", "bob, day")
    ] == [True] * 3
    assert show(blocks.bars("shares", by="player", value="share", parts="town", most=0)) is None


def test_intervals_are_drawn_for_rows_that_have_them():
    sure = Interval(0.5, 0.25, 0.75, 0.95, "wilson", 8)
    run = Run([{"town": "north", "day": 1, "player": "ann", "share": sure}, ROWS[0]])
    (figure,) = show(blocks.intervals("shares", ("player", "day"), "share"), run)
    assert figure.alt == "share of all with intervals"
    assert show(blocks.intervals("shares", ("player",), "share")) is None


def test_metrics_are_shown_one_row_a_group():
    mean = Metric("mean", "mean", "the mean", ".2f", lambda values: sum(values) / len(values))
    table = compute_metrics((mean,), ("player",), {("ann",): [1, 3], ("bob",): [4]})
    (table,) = show(blocks.metrics_table("Means"), Run(metrics=table))
    assert isinstance(table, Table)
    assert table.rows == (("ann", 2.0), ("bob", 4.0))
    assert show(blocks.metrics_table("Means")) is None


def test_blocks_without_a_title_go_on_with_the_section_before_them():
    report = (
        blocks.text("opening"),
        blocks.text("first", title="One"),
        blocks.text("second"),
        blocks.text("third", title="Two"),
    )
    opening, sections = blocks.build_sections(report, Run())
    assert opening == (Paragraph("opening"),)
    assert [(s.title, s.blocks) for s in sections] == [
        ("One", (Paragraph("first"), Paragraph("second"))),
        ("Two", (Paragraph("third"),)),
    ]


def test_a_frame_becomes_a_file_with_the_ends_of_intervals():
    frame = Frame(ShareRow, [{**ROWS[0], "share": Interval(0.5, 0.25, 0.75, 0.95, "wilson", 8)}])
    assert (
        frame.to_csv()
        == "town,day,player,share,share_low,share_high\r\nnorth,1,ann,0.5,0.25,0.75\r\n"
    )
    assert frame.to_json()[0]["share"]["low"] == 0.25
