"""Rules that are an outline are shown as lists inside lists."""

import re

from bestresponse.web.render import _environment


def show(text: str) -> str:
    return re.sub(
        r">\s+", ">", _environment().from_string("{{ text | prose }}").render(text=text)
    ).strip()


def test_indented_items_are_lists_inside_the_list() -> None:
    assert (
        show("Ann chooses:\n- x: Bob chooses:\n  - l: 1\n  - r: 2\n- y: 3\n\nThe end.")
        == "<p>Ann chooses:</p><ul><li>x: Bob chooses:<ul><li>l: 1</li><li>r:"
        " 2</li></ul></li><li>y: 3</li></ul><p>The end.</p>"
    )


def test_a_list_of_any_depth_is_shown() -> None:
    deep = "\n".join(" " * depth + f"- item {depth}" for depth in range(300))
    assert show(deep).count("<li>") == 300
