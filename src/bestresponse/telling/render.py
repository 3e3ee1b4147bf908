"""Statements in words, for a player in the second person or for anybody in the third."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice

from bestresponse.core.told import AtOnce, Cell, Cells, Course, End, Options, Players, Prose, Statement, Summary
from bestresponse.telling.course import Words, list_ends, list_turns
from bestresponse.telling.knowledge import Map
from bestresponse.telling.language import ENGLISH, load_language

_MOST_POSITIONS = 6_000
"""Of a larger course only the size is told in sentences: nobody reads so many, and they take long to be found."""


def list_sentences(
    statements: Iterable[Statement], reader: str | None = None, *, language: str = ENGLISH, most: int | None = None
) -> tuple[str, ...]:
    """Tell a game in sentences; at most `most` on choices and draws, and as many ends.

    >>> table = Cells((Cell(("go",), (3,)), Cell(("stay",), (1,))))
    >>> for line in list_sentences((Players(("Ann",)), AtOnce((Options("Ann", ("go", "stay")),)), table), "Ann"):
    ...     print(line)
    You are Ann.
    There is one player: Ann.
    You choose go or stay.
    What each of them earns:
    - If you choose go: you get 3.
    - If you choose stay: you get 1.
    """
    words = Words(load_language(language), reader)
    lines: list[str] = []
    if reader is not None:
        lines.append(words.language.say("role", who=words.language.write_name(reader)))
    players: tuple[str, ...] = ()
    for statement in statements:
        match statement:
            case Players(players):
                lines.append(_introduce(players, words))
            case AtOnce(choices):
                lines += _list_choices(choices, words)
            case Cells(cells):
                lines += _list_cells(players, cells, words, most)
            case Course() as course:
                lines += _list_course(players, course, words, most)
            case Summary():
                lines += _list_summary(statement, words)
            case Prose(text):
                lines.append(text)
    return tuple(lines)


def list_choices(statements: Iterable[Statement], language: str = ENGLISH) -> tuple[str, ...]:
    """Tell only who chooses what when and what is drawn."""
    words = Words(load_language(language))
    lines: list[str] = []
    for statement in statements:
        if isinstance(statement, AtOnce):
            lines += _list_choices(statement.choices, words)
        elif isinstance(statement, Course):
            lines += list_turns(Map(statement), words)
    return tuple(lines)


def list_earned(statements: Iterable[Statement], language: str = ENGLISH) -> dict[str, tuple[Fraction, ...]]:
    """Return the payoffs of every end by how the play comes to it, in words: `If Ann chooses x, Bob chooses l`."""
    words = Words(load_language(language))
    players: tuple[str, ...] = ()
    earned: dict[str, tuple[Fraction, ...]] = {}
    for statement in statements:
        match statement:
            case Players(players):
                pass
            case Cells(cells):
                for cell in cells:
                    earned[words.say_when(list(zip(players, cell.moves, strict=True)))] = cell.payoffs
            case Course():
                chart = Map(statement)
                for place, position in enumerate(statement.positions):
                    if isinstance(position, End):
                        earned[words.say_when(chart.list_way(place))] = position.payoffs
    return earned


def _introduce(players: Sequence[str], words: Words) -> str:
    names = words.language.join_names(players)
    if len(players) == 1:
        return words.language.say("players.one", names=names)
    return words.language.say("players.many", count=len(players), names=names)


def _list_choices(choices: Sequence[Options], words: Words) -> list[str]:
    lines = []
    for choice in choices:
        lines.append(words.say("at-once", choice.who, options=words.language.join_options(choice.options)))
    if len(choices) > 1:
        lines.append(words.language.say("at-once.together"))
    return lines


def _list_cells(players: Sequence[str], cells: Sequence[Cell], words: Words, most: int | None) -> list[str]:
    lines = [_head("cells", len(cells), words, most)]
    for cell in cells[:most]:
        when = words.say_when(list(zip(players, cell.moves, strict=True)))
        lines.append(words.language.say("end", when=when, payoffs=words.list_payoffs(players, cell.payoffs)))
    return lines


def _list_course(players: Sequence[str], course: Course, words: Words, most: int | None) -> list[str]:
    chart = Map(course)
    if len(course.positions) > _MOST_POSITIONS:
        return [words.language.say("summary", ends=f"{chart.num_ends:,}"), *_list_ends(chart, players, words, most or 20)]
    turns = list(list_turns(chart, words))
    if most is not None and len(turns) > most:
        turns = [*turns[:most], words.language.say("more", count=f"{len(turns) - most:,}")]
    return [*turns, *_list_ends(chart, players, words, most)]


def _list_ends(chart: Map, players: Sequence[str], words: Words, most: int | None) -> list[str]:
    key = "ends" if any(len(chart.children[child]) for child in chart.children[0]) else "cells"
    return [_head(key, chart.num_ends, words, most), *islice(list_ends(chart, players, words), most)]


def _list_summary(summary: Summary, words: Words) -> list[str]:
    turns = [words.say("turns", turn.who, count=f"{turn.count:,}") for turn in summary.turns]
    return [words.language.say("summary", ends=f"{summary.ends:,}"), *turns]


def _head(key: str, total: int, words: Words, most: int | None) -> str:
    if most is None or total <= most:
        return words.language.say(key)
    return words.language.say(f"{key}.first", shown=f"{most:,}", total=f"{total:,}")
