"""The report as data, its JSON form, and rows as CSV, JSON and Parquet."""

import csv
import io
import json
import math
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestresponse.core.errors import UsageError
from bestresponse.report import tables
from bestresponse.report.document import (
    Column,
    Document,
    Figure,
    KeyValues,
    Paragraph,
    Quote,
    Section,
    Table,
)
from bestresponse.report.stats.statistics import Interval

GAP = Interval(0.2, 0.1, 0.3, 0.95, "bca", 40)
OPEN = Interval(0.2, -math.inf, math.inf, 0.95, "none", 1)


def table(*rows):
    return Table((Column("player"), Column("gap", "right", format=".3f")), rows)


def test_a_document_is_written_as_json_with_the_kinds_of_its_blocks(demo):
    data = json.loads(demo.to_json())
    assert (data["format"], data["title"]) == ("bestresponse-report/1", demo.title)
    kinds = [block["block"] for section in data["sections"] for block in section["blocks"]]
    assert kinds == [
        type(block).__name__.lower() for section in demo.sections for block in section.blocks
    ]


@given(
    st.text(),
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
    ),
)
def test_any_text_and_number_is_kept_in_json(text, number):
    document = Document(
        text, sections=(Section(text, (Quote(text, text), KeyValues(((text, number),)))),)
    )
    quote, values = json.loads(document.to_json())["sections"][0]["blocks"]
    assert quote == {"block": "quote", "text": text, "source": text}
    assert values["items"] == [[text, number]]


def test_an_open_interval_has_no_ends_in_json():
    text = Document("t", sections=(Section("s", (table(("a", OPEN)),)),)).to_json()
    cell = {"estimate": 0.2, "low": None, "high": None, "level": 0.95, "n": 1, "method": "none"}
    assert json.loads(text)["sections"][0]["blocks"][0]["rows"] == [["a", cell]]


def test_a_number_that_is_none_is_null_in_json():
    text = Document("t", sections=(Section("s", (table(("a", math.nan)),)),)).to_json()
    assert json.loads(text)["sections"][0]["blocks"][0]["rows"] == [["a", None]]


def test_a_row_of_the_wrong_length_is_refused():
    with pytest.raises(UsageError, match="row 1 has 1 cells, but there are 2 columns"):
        table(("a", 1), ("b",))


def test_numbers_of_numpy_become_numbers_of_python():
    cells = table((np.str_("a"), np.float64(0.5)), ("b", np.int64(3))).rows
    assert [type(cell) for row in cells for cell in row] == [str, float, str, int]


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: Column("gap", format="nonsense"),
        lambda: Figure(b"<html>", "", ""),
        lambda: table(("a", [1])),
    ],
)
def test_impossible_blocks_are_refused(attempt):
    with pytest.raises(UsageError):
        attempt()


def test_the_tables_of_a_document_come_with_their_sections(demo):
    assert [title for title, _ in demo.tables] == ["Results"]


# Rows


def test_csv_spreads_intervals_and_leaves_missing_cells_empty():
    rows = [{"player": "a", "gap": GAP}, {"player": "b, c", "gap": None, "note": 'say "hi"'}]
    assert (
        tables.to_csv(rows)
        == 'player,gap,gap_low,gap_high,note\r\na,0.2,0.1,0.3,\r\n"b, c",,,,"say ""hi"""\r\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\t",
        " =1",
        "\u3000=1",
        "＝1",
        "＋1",
        "－1",
        "＠A1",
    ],
)
def test_text_that_starts_like_a_formula_is_defused_in_cells_and_headers(text):
    lines = list(csv.reader(io.StringIO(tables.to_csv([{text: text}]), newline="")))
    assert lines == [["'" + text], ["'" + text]]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("\r=1", "⟦U+000D⟧=1"),
        ("\u200b=1", "⟦U+200B⟧=1"),
        ("\ufeff=1", "⟦U+FEFF⟧=1"),
        ("a\ud800b", "a⟦U+D800⟧b"),
        ("bell\x07", "bell⟦U+0007⟧"),
        ("\x1b[2J", "⟦U+001B⟧[2J"),
    ],
)
def test_hidden_characters_in_csv_are_written_by_their_code_points(text, written):
    assert tables.to_csv([{"x": text}]) == f"x\r\n{written}\r\n"


@pytest.mark.parametrize("text", ["a;=1+1", "a|=1", "a\t=1", "a\n=1"])
def test_text_that_another_separator_would_split_into_a_formula_is_quoted(text):
    assert tables.to_csv([{"x": text}]) == f'x\r\n"{text}"\r\n'


def test_columns_asked_for_come_first_and_stand_there_without_rows():
    assert tables.to_csv([], ["a", "b"]) == "a,b\r\n"
    assert tables.to_csv([{"c": 1, "b": 2}], ["a", "b"]) == "a,b,c\r\n,2,1\r\n"


@pytest.mark.parametrize("number", [-0.5, "-0.5", "+3", "-1e-3", "-.5"])
def test_negative_numbers_stay_numbers(number):
    assert tables.to_csv([{"x": number}]) == f"x\r\n{number}\r\n"


@given(
    st.lists(
        st.dictionaries(st.text("abc=", min_size=1), st.text() | st.floats() | st.integers()),
        max_size=5,
    )
)
def test_no_csv_cell_ever_starts_a_formula(rows):
    for line in csv.reader(io.StringIO(tables.to_csv(rows), newline="")):
        for cell in line:
            assert cell[:1] not in ("=", "@", "\t", "\r")
            assert cell[:1] not in ("+", "-") or math.isfinite(float(cell))
    tables.to_csv(rows).encode()


def test_json_rows_share_their_columns_and_have_no_nan():
    rows = [{"a": math.nan}, {"b": GAP}]
    assert json.loads(tables.to_json(rows)) == [
        {"a": None, "b": None, "b_low": None, "b_high": None},
        {"a": None, "b": 0.2, "b_low": 0.1, "b_high": 0.3},
    ]
    assert json.loads(tables.to_json([])) == []


def test_parquet_keeps_types_and_makes_mixed_columns_text():
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [
        {"n": 1, "x": 1, "flag": True, "name": "=a", "mix": 1, "gap": GAP, "big": 2**70},
        {"n": None, "x": 0.5, "flag": None, "name": "\ud800", "mix": "b", "gap": OPEN, "big": 1},
    ]
    read = parquet.read_table(io.BytesIO(tables.to_parquet(rows)))
    types = {field.name: str(field.type) for field in read.schema}
    assert types == {
        "n": "int64",
        "x": "double",
        "flag": "bool",
        "name": "string",
        "mix": "string",
        "gap": "double",
        "gap_low": "double",
        "gap_high": "double",
        "big": "double",
    }
    assert read.to_pylist()[1] == {
        "n": None,
        "x": 0.5,
        "flag": None,
        "name": "\ufffd",
        "mix": "b",
        "gap": 0.2,
        "gap_low": None,
        "gap_high": None,
        "big": 1.0,
    }


def test_parquet_without_pyarrow_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install '\.\[parquet\]'"):
        tables.to_parquet([{"a": 1}])


def test_a_cell_that_is_no_cell_names_its_column():
    with pytest.raises(UsageError, match=r"column 'a'.*got list"):
        tables.to_csv([{"a": [1]}])


def test_an_interval_does_not_overwrite_other_columns():
    with pytest.raises(UsageError, match="rename"):
        tables.to_csv([{"gap": GAP, "gap_low": 1}])


def test_documents_are_values():
    assert hash(Document("t", sections=(Section("s", (Paragraph("p"), table(("a", GAP)))),)))
