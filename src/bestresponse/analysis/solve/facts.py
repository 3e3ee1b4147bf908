"""Show facts about a game, as they are in its JSON form, to people.

What a fact is can be told from its shape: a number; a strategy, which gives an action its
probability; a policy, which gives an information set a strategy; any of these for each player;
records, which are a table. A key that ends in `_exact` gives as fractions what the key without it
gives as floats.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeGuard

from bestresponse.core.json import JsonObject
from bestresponse.report.document import Block, Cell, Column, KeyValues, Note, Table

_LARGEST_DENOMINATOR = 9999
_SHOWN = 5e-7
_NAMED = 12
_ROWS = 40
_SETS = 60
_POLICIES = 5
_NUMERIC = frozenset("0123456789.+-")
_HELP = {
    "gains": "What the player could gain by deviating alone.",
    "index": "A component of index other than 0 survives small changes of the payoffs.",
    "maximin": "What the player can make sure of with a mixed strategy.",
    "pure maximin": "What it can make sure of with one action.",
    "nash conv": "The sum of what the players could gain by deviating alone.",
    "sets": "Every mixture of the first list with every mixture of the second is an equilibrium.",
}


def write_amount(number: float, exact: str | None = None, *, unit: float = 1.0) -> str:
    """Write a number: as a fraction where it is known and short, else with up to six digits.

    What is below 1e-12 of `unit`, such as the range of the payoffs it is made of, is the rounding
    of 0.

    >>> write_amount(0.5), write_amount(1 / 3, "1/3")
    ('0.5', '1/3')
    >>> write_amount(-1e-17), write_amount(2e-9, unit=1e-9)
    ('0', '2e-09')
    """
    if exact is not None:
        fraction = Fraction(exact)
        is_short = fraction.denominator <= _LARGEST_DENOMINATOR
        return exact if is_short else f"{float(fraction):.6g}"
    return "0" if abs(number) <= 1e-12 * unit else f"{number:.6g}"


def mix_text(
    mix: Mapping[str, float],
    exact: Mapping[str, str] | None = None,
    decimals: int | None = None,
) -> str:
    """Write a strategy as its pure action or the probability of each action used.

    Of a strategy that is known to some decimals only, what they do not show is left out.

    >>> mix_text({"up": 0.0, "down": 1.0}), mix_text({"up": 0.25, "down": 0.75})
    ('down', '0.25 up + 0.75 down')
    >>> mix_text({"10": 0.25, "20": 0.75}), mix_text({"up": 0.24999, "down": 0.75001}, decimals=3)
    ('0.25 × 10 + 0.75 × 20', '0.250 up + 0.750 down')
    """
    if exact:
        used = [name for name in mix if exact[name] != "0"]
    else:
        least = _SHOWN if decimals is None else 10.0**-decimals / 2
        used = [name for name, p in mix.items() if p > least]
    if len(used) == 1:
        return used[0]

    is_numeric = any(name[:1] in _NUMERIC for name in used)
    times = " × " if is_numeric else " "
    texts = []
    for name in used[:_NAMED]:
        if decimals is None:
            share = write_amount(mix[name], exact[name] if exact else None)
        else:
            share = f"{mix[name]:.{decimals}f}"
        texts.append(f"{share}{times}{name}")
    if len(used) > _NAMED:
        texts.append(f"{len(used) - _NAMED} more actions")
    return " + ".join(texts)


def regret_text(regret: float) -> str:
    """Write a certificate in few digits.

    >>> regret_text(0.0), regret_text(1.23e-15)
    ('0', '1.2e-15')
    """
    return f"{regret:.1e}" if regret > 0 else "0"


def show_facts(facts: Mapping[str, object], players: Sequence[str]) -> tuple[Block, ...]:
    """Show an answer: its method, numbers, statements on players, records and policies."""
    by_player: dict[str, Mapping[str, object]] = {}
    policies: list[JsonObject] = []
    for key, fact in facts.items():
        if _is_by_player(fact, players):
            if _is_policy(fact):
                policies.append(dict(fact))
            else:
                by_player[key] = fact
    blocks: list[Block] = [Note(f"Method: {facts['method']}.")]
    if single := _find_single_facts(facts, players):
        blocks.append(show_values(single))
    if by_player:
        blocks.append(show_by_player(players, by_player))
    for key, fact in facts.items():
        if isinstance(fact, list) and fact and isinstance(fact[0], Mapping):
            caption = _name(key).capitalize()
            blocks.append(show_records(fact, players, caption))
            blocks += show_policies([record["policy"] for record in fact if "policy" in record])
    blocks += show_policies(policies)
    return tuple(blocks)


def _find_single_facts(facts: Mapping[str, object], players: Sequence[str]) -> dict[str, object]:
    """Find the single numbers and words, also those one level down that are not by player."""
    single = {key: fact for key, fact in facts.items() if _is_single(fact) and key != "method"}
    for fact in facts.values():
        if not isinstance(fact, Mapping) or set(fact) == set(players):
            continue
        if all(map(_is_single, fact.values())):
            single |= fact
    return single


def show_values(facts: Mapping[str, object]) -> KeyValues:
    """Show named numbers, words and lists of words."""
    named = [(_name(key), _write(fact)) for key, fact in facts.items()]
    return KeyValues(tuple(named))


def show_by_player(
    players: Sequence[str],
    columns: Mapping[str, Mapping[str, object]],
    unit: float = 1.0,
) -> Table:
    """Show facts that are there for every player, a row each."""
    records = []
    for player in players:
        facts = {key: fact[player] for key, fact in columns.items()}
        records.append({"player": player} | facts)
    return show_records(records, players, numbered=False, unit=unit)


def show_records(
    records: Sequence[JsonObject],
    players: Sequence[str],
    caption: str = "",
    *,
    numbered: bool = True,
    unit: float = 1.0,
) -> Table:
    """Show records as rows, alike ones as one; strategies have a column for each player."""
    alike: dict[tuple[tuple[str, Cell], ...], list[int]] = {}
    for number, record in enumerate(records, start=1):
        row = tuple(_write_record(record, players, unit).items())
        alike.setdefault(row, []).append(number)
    rows: list[dict[str, Cell]] = []
    for cells, numbers in list(alike.items())[:_ROWS]:
        count: dict[str, Cell] = {}
        if numbered and len(records) > 1:
            count = {"#": numbers[0] if len(numbers) == 1 else _join_numbers(numbers)}
        rows.append(count | dict(cells))
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = tuple(_make_column(name, rows) for name in names)
    if len(alike) > _ROWS:
        caption += f" (the first {_ROWS}; {len(alike) - _ROWS:,} more in the JSON form)"
    shown = [tuple(map(row.get, names)) for row in rows]
    return Table(columns, tuple(shown), caption)


def _write_record(record: JsonObject, players: Sequence[str], unit: float) -> dict[str, Cell]:
    """Write the cells of one record; policies and long lists are shown elsewhere or left out."""
    row: dict[str, Cell] = {}
    for key, fact in record.items():
        if key.endswith("_exact"):
            continue
        exact = record.get(f"{key}_exact")
        if not _is_by_player(fact, players):
            if not _is_nested_list(fact):
                row[_name(key)] = _write(fact, exact, unit)
            continue
        exact_by_seat = exact or dict.fromkeys(players)
        if not any(isinstance(part, Mapping) for part in fact.values()):
            amounts = [_write(fact[seat], exact_by_seat[seat], unit) for seat in players]
            row[_name(key)] = ", ".join(map(str, amounts))
        elif not _is_policy(fact):
            for seat in players:
                row[seat] = mix_text(fact[seat], exact_by_seat[seat])
    return row


def _make_column(name: str, rows: Sequence[Mapping[str, Cell]]) -> Column:
    """Align a column that holds numbers alone to the right, with six digits."""
    cells = [row.get(name) for row in rows]
    is_numeric = all(isinstance(cell, int | float) for cell in cells)
    return Column(
        name,
        align="right" if is_numeric else "left",
        help=_HELP.get(name, ""),
        format=".6g" if is_numeric else "",
    )


def _join_numbers(numbers: Sequence[int]) -> str:
    """Return `1-3, 5` for 1, 2, 3, 5."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        first, last = runs[-1] if runs else (number, number)
        if last == number - 1:
            runs[-1] = (first, number)
        else:
            runs.append((number, number))
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    return ", ".join(texts)


def show_policies(policies: Sequence[JsonObject], decimals: int | None = None) -> list[Block]:
    """Show what every player does at every information set, for the first policies."""
    blocks: list[Block] = []
    columns = (Column("player"), Column("information set"), Column("plays"))
    for number, policy in enumerate(policies[:_POLICIES], start=1):
        rows = []
        for player, sets in policy.items():
            for label, moves in sets.items():
                rows.append((player, label, mix_text(moves, decimals=decimals)))
        if not rows:
            blocks.append(Note("Nobody has anything to choose."))
            continue
        caption = f"Policy {number}" if len(policies) > 1 else "Policy"
        if len(rows) > _SETS:
            caption += (
                f": the first {_SETS} of {len(rows):,} information sets; the JSON form has all"
            )
        shown = tuple(rows[:_SETS])
        blocks.append(Table(columns, shown, caption))
    if len(policies) > _POLICIES:
        blocks.append(
            Note(
                f"These are the first {_POLICIES} policies; the JSON form has all"
                f" {len(policies):,}."
            )
        )
    return blocks


def _name(key: str) -> str:
    return key.replace("_", " ")


def _is_single(fact: object) -> bool:
    return isinstance(fact, (str, int, float, type(None)))


def _is_by_player(fact: object, players: Sequence[str]) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(fact, Mapping) and set(fact) == set(players)


def _is_nested_list(fact: object) -> bool:
    """Say whether it is a list of lists, records or floats, which no cell can show."""
    if not isinstance(fact, list) or not fact:
        return False
    return isinstance(fact[0], list | Mapping | float)


def _is_policy(fact: Mapping[str, object]) -> bool:
    """Say whether every player has strategies at information sets, or has nothing to decide."""
    for sets in fact.values():
        if not isinstance(sets, Mapping):
            return False
        if not all(isinstance(moves, Mapping) for moves in sets.values()):
            return False
    return True


def _write(fact: object, exact: object = None, unit: float = 1.0) -> Cell:
    if isinstance(fact, Mapping):
        return mix_text(fact, exact if isinstance(exact, Mapping) else None)
    if isinstance(fact, list):
        words = [str(_write(part)) for part in fact]
        shown = ", ".join(words[:_NAMED])
        return f"{shown} and {len(words) - _NAMED:,} more" if len(words) > _NAMED else shown
    if isinstance(fact, float) or exact is not None:
        return write_amount(float(str(fact)), str(exact) if exact is not None else None, unit=unit)
    return fact if isinstance(fact, str | int) else None
