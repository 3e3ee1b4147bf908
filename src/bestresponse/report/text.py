"""Foreign text made safe to look at.

What is invisible becomes visible, and what is huge is cut where one sees it.

Model text may hold control characters, halves of surrogate pairs, and direction overrides that make
a line read differently from what it says (Boucher & Anderson 2023, "Trojan Source"). `visible`
writes each of them as its code point, such as U+202E in white square brackets. Escaping for HTML is
the page's business, not done here.
"""

import re
from collections.abc import Iterator

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls other than tab and line feed
    # blanks without width, direction marks
    "\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u3164\uffa0"
    "\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # line separators, direction overrides, joiners
    # surrogates, non-characters, tags
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff]"
)


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the text in order as (piece, hidden): runs as they are, and each hidden character by
    its code point.

    >>> list(pieces("a\\u202eb"))
    [('a', False), ('U+202E', True), ('b', False)]
    """
    text = text.replace("\r\n", "\n")
    end = 0
    for match in _HIDDEN.finditer(text):
        if match.start() > end:
            yield text[end : match.start()], False
        yield f"U+{ord(match.group()):04X}", True
        end = match.end()
    if end < len(text):
        yield text[end:], False


def visible(text: str) -> str:
    """Write every hidden character of a text as its code point.

    >>> print(visible("pay\\x00load"))
    pay⟦U+0000⟧load
    """
    if _HIDDEN.search(text) is None:  # as nearly every text, of which pages show thousands
        return text
    return "".join(f"⟦{piece}⟧" if hidden else piece for piece, hidden in pieces(text))


def abridged(text: str, limit: int) -> str:
    """Return the text, or its beginning and how many characters are not shown.

    >>> abridged("abcdef", 4)
    'abcd … [2 more characters not shown]'
    """
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … [{len(text) - limit:,} more characters not shown]"
