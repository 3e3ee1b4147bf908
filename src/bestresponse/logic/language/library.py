"""The list library of the logic language.

It is written in the language itself and loaded by both engines.

The predicates and their answers are those of SWI-Prolog's libraries lists, apply and pairs where
these are defined for the arguments given; ill-typed calls raise an error through `'raise'/2`. What
has a blank in its name belongs to the library alone: the gate writes `length/2`, `sort/2` and the
other predicates of `RENAMED` as calls of these, because no engine lets a program or library define
the originals. Few primitives (`PRIMITIVES`) remain for the engines; the library calls them with
well-typed arguments only.
"""

from pathlib import Path

RENAMED = {
    "length/2": "list length",
    "sort/2": "sorted set",
    "list_to_ord_set/2": "sorted set",
    "msort/2": "sorted list",
    "sort/4": "sorted by",
    "keysort/2": "sorted pairs",
    "compare/3": "ordered as",
    "@</2": "stands before",
    "@>/2": "stands after",
    "@=</2": "stands not after",
    "@>=/2": "stands not before",
}
"""Built-in predicates that the gate writes as calls of the library's own."""

PRIMITIVES = frozenset(
    {
        "raw length/2",
        "raw sort/4",
        "raw compare/3",
        "fresh copy/2",
        "filled copy/3",
        "first argument/2",
        "form of/2",
        "raise/2",
        "undefined predicate/1",
        "has percepts/0",
        "next position/0",
        "count end/0",
    }
)
"""What the engines add to the library."""

LIBRARY_TEXT = Path(__file__).with_name("library.pl").read_text("utf-8")

CLOSURE_TEXT = Path(__file__).with_name("closures.pl").read_text("utf-8")
"""Predicates that call a closure: SWI-Prolog has them in a form that knows about modules."""
