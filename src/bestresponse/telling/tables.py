"""A payoff table as a table, as sentences or as JSON, as one seat's player reads it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction

from bestresponse.core.game import Layout
from bestresponse.core.told import Cell, Options
from bestresponse.telling.course import Narrator


def write_payoffs(
    choices: Sequence[Options],
    cells: Sequence[Cell],
    words: Narrator,
    layout: Layout,
) -> str:
    """Write the payoffs as the reader is told them.

    Of two players who share a sum of 0 only the own.
    """
    own_only = is_zero_sum(cells)
    if layout == "json":
        return _write_json(choices, cells, words, own_only)
    if layout == "usual" and len(choices) == 2:
        return _write_table(choices, cells, words, own_only)
    return "\n".join(_list_sentences(choices, cells, words, own_only))


def is_zero_sum(cells: Sequence[Cell]) -> bool:
    """Say whether what one of two players gains the other loses, to the last digit."""
    for cell in cells:
        if len(cell.payoffs) != 2:
            return False
        first, second = cell.payoffs
        if first != -second:
            return False
    return True


def _write_table(
    choices: Sequence[Options],
    cells: Sequence[Cell],
    words: Narrator,
    own_only: bool,
) -> str:
    language = words.language
    seat = _find_seat(choices, words)
    first, second = choices
    other = choices[1 - seat].who
    width = len(second.options)
    shown = []
    for cell in cells:
        amounts = [cell.payoffs[seat]]
        if not own_only:
            amounts.append(cell.payoffs[1 - seat])
        shown.append(language.list_numbers(amounts))
    lines = [["", *(_write_cell(name, words) for name in second.options)]]
    for number, name in enumerate(first.options):
        start = number * width
        lines.append([_write_cell(name, words), *shown[start : start + width]])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = [f"| {' | '.join(map(str.rjust, line, widths))} |" for line in lines]
    key = f"table.{'columns' if seat else 'rows'}{'.own' if own_only else ''}"
    head = language.say(key, other=language.write_name(other))
    return f"{head}\n\n" + "\n".join(rows)


def _write_cell(name: str, words: Narrator) -> str:
    """Write a name so that no bar in it is taken for the border of a cell."""
    written = words.language.write_name(name)
    return written.replace("|", "\\u007c")


def _list_sentences(
    choices: Sequence[Options],
    cells: Sequence[Cell],
    words: Narrator,
    own_only: bool,
) -> list[str]:
    """List what the reader gets first, then what the others get."""
    language = words.language
    seat = _find_seat(choices, words)
    order = [seat, *(number for number in range(len(choices)) if number != seat)]
    players = [choices[number].who for number in order]
    lines = []
    for cell in cells:
        steps = ""
        for number in order:
            option = language.write_name(cell.moves[number])
            step = words.say("step", choices[number].who, option=option)
            steps = language.say("step.and", before=steps, after=step) if steps else step
        paid = [cell.payoffs[number] for number in order]
        shown = 1 if own_only else len(order)
        payoffs = words.list_payoffs(players[:shown], paid[:shown])
        lines.append(language.say("cell", steps=steps, payoffs=payoffs))
    return lines


def _write_json(
    choices: Sequence[Options],
    cells: Sequence[Cell],
    words: Narrator,
    own_only: bool,
) -> str:
    language = words.language
    seat = _find_seat(choices, words)
    others = [number for number in range(len(choices)) if number != seat]
    rows = []
    for cell in cells:
        row: dict[str, object] = {language.say("json.you"): language.translate(cell.moves[seat])}
        for number in others:
            row[language.translate(choices[number].who)] = language.translate(cell.moves[number])
        row[language.say("json.your-payoff")] = _as_number(cell.payoffs[seat])
        for number in () if own_only else others:
            who = language.translate(choices[number].who)
            row[language.say("json.payoff", who=who)] = _as_number(cell.payoffs[number])
        rows.append(json.dumps(row, ensure_ascii=False))
    listed = ",\n ".join(rows)
    return f"{language.say('json.outcomes')}\n[{listed}]"


def _as_number(amount: Fraction) -> int | float | str:
    """Return a number that JSON writes exactly, or a text such as 1/3."""
    if amount.denominator == 1:
        return amount.numerator
    near = float(amount)
    is_exact = Fraction(repr(near)) == amount
    return near if is_exact else str(amount)


def _find_seat(choices: Sequence[Options], words: Narrator) -> int:
    names = [choice.who for choice in choices]
    return names.index(words.reader) if words.reader in names else 0
