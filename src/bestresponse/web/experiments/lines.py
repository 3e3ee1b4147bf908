"""In which line of a TOML file a value stands, so that a message can say where something is wrong."""

from __future__ import annotations

import re

__all__ = ["Path", "find_line"]

Path = tuple[str | int, ...]
"""Keys and, for tables that stand several times, numbers from 0."""

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""\s*([A-Za-z0-9_."' -]+?)\s*=""")


def find_line(text: str, path: Path) -> int:
    """Return the number of the line where `path` stands, or of the nearest table around it.

    >>> find_line("title = 'x'\\n[[games]]\\n[[games]]\\nrounds = 0\\n", ("games", 1, "rounds"))
    4
    """
    found, depth = 1, 0
    counts: dict[tuple[str, ...], int] = {}
    here: Path = ()
    for number, line in _list_outside_strings(text):
        if header := _HEADER.match(line):
            here = _follow_header(_split_key(header[2]), header[1] == "[[", counts)
            reached = here
        elif key := _KEY.match(line):
            reached = (*here, *_split_key(key[1]))
        else:
            continue
        common = _count_common(reached, path)
        if common > depth:
            found, depth = number, common
    return found


def _follow_header(keys: tuple[str, ...], repeated: bool, counts: dict[tuple[str, ...], int]) -> Path:
    if repeated:
        counts[keys] = counts.get(keys, -1) + 1
        for longer in [other for other in counts if other[: len(keys)] == keys and other != keys]:
            del counts[longer]
    path: list[str | int] = []
    for length in range(1, len(keys) + 1):
        path.append(keys[length - 1])
        if keys[:length] in counts:
            path.append(counts[keys[:length]])
    return tuple(path)


def _split_key(key: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in key.split("."))


def _count_common(one: Path, other: Path) -> int:
    """Count the first steps that both paths share; none where `one` leaves `other`."""
    same = sum(1 for _ in _take_equal(one, other))
    return same if same == len(one) or same == len(other) else 0


def _take_equal(one: Path, other: Path) -> list[str | int]:
    shared = []
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared.append(left)
    return shared


def _list_outside_strings(text: str) -> list[tuple[int, str]]:
    """List the lines that do not begin inside a text of several lines."""
    found, open_by = [], ""
    for number, line in enumerate(text.split("\n"), 1):
        if not open_by:
            found.append((number, line))
        for mark in re.findall(r'"""|\'\'\'', line):
            if not open_by:
                open_by = mark
            elif mark == open_by:
                open_by = ""
    return found
