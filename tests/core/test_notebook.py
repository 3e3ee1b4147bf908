"""Values as tables in notebooks."""

from bestresponse.core.notebook import format_html


def test_texts_are_escaped_and_numbers_shortened():
    shown = format_html("A & B", ["<move>", "share"], [["hare", 1 / 3], ["stag", 2]])
    assert (
        shown == "<p>A &amp; B</p><table><tr><th>&lt;move&gt;</th><th>share</th></tr>"
        "<tr><td>hare</td><td>0.333333</td></tr><tr><td>stag</td><td>2</td></tr></table>"
    )


def test_fifty_rows_are_shown_and_the_rest_is_counted():
    fifty, more = (format_html("t", ["n"], [[k] for k in range(size)]) for size in (50, 53))
    assert fifty.count("<td>") == more.count("<td>") == 50
    assert fifty.endswith("</table>")
    assert more.endswith("</table><p>and 3 more rows</p>")
