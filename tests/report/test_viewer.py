"""The page of single plays: whatever a model wrote stays text, in the files and in the page."""

import json
import re

from bestresponse.report.viewer import (
    name_part,
    render_viewer,
    write_index,
    write_part,
)

HOSTILE = "</script><script>alert(1)</script><!-- \u2028\u2029\u202e\x00\ud800 é"


def read_call(text):
    """The name of the function that a file calls, and its arguments."""
    name, arguments = re.fullmatch(r"(\w+)\((.*)\);\n", text, re.DOTALL).groups()
    return name, json.loads(f"[{arguments}]")


def test_a_file_of_plays_holds_no_tag_no_line_separator_and_only_ascii():
    text = write_part(3, [{"words": HOSTILE, "calls": [{"reply": HOSTILE}]}])
    assert text.isascii()
    assert "<" not in text
    assert text.count("\n") == 1
    name, (number, plays) = read_call(text)
    shown = "</script><script>alert(1)</script><!-- ⟦U+2028⟧⟦U+2029⟧⟦U+202E⟧⟦U+0000⟧⟦U+D800⟧ é"
    assert (name, number) == ("receivePlays", 3)
    assert plays == [{"words": shown, "calls": [{"reply": shown}]}]


def test_the_index_holds_rows_the_first_play_of_every_file_and_the_number_of_all_plays():
    text = write_index([["</b>", 1, None]], [0], 7)
    assert read_call(text) == (
        "receiveIndex",
        [{"rows": [["</b>", 1, None]], "starts": [0], "total": 7}],
    )
    assert "<" not in text


def test_a_long_text_is_cut_and_says_by_how_much():
    _, (_, plays) = read_call(write_part(0, ["x" * 20_010]))
    assert plays == ["x" * 20_000 + " … [10 more characters not shown]"]


def test_files_are_numbered_from_one():
    assert [name_part(number) for number in (0, 9_999)] == ["0001.js", "10000.js"]


def test_titles_are_escaped_and_only_the_own_script_and_what_it_loads_may_run():
    page = render_viewer("<i>x</i>", "<b>y</b>")
    assert "<i>" not in page
    assert "<b>" not in page
    assert "&lt;i&gt;x&lt;/i&gt;" in page
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[^']+' 'strict-dynamic'$", policy)
    assert page.count("<script") == 1
