"""A game table told in words: who moves when, what they can do, and what everybody earns at every end.

The text is made by rule from the table alone. Players of a formalized game read it as its rules, and a person or a
model can compare it with the story that the game came from.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from bestresponse.logic.programs.table import GameTable, Row
from bestresponse.logic.programs.views import Decision, End, tree

__all__ = ["told", "told_payoffs"]


def told(table: GameTable) -> str:
    """The whole game in plain sentences, one end per line."""
    count = "one player" if len(table.players) == 1 else f"{len(table.players)} players"
    lines = [f"There are {count}: {_listed(table.players)}."]
    lines += _turns(table)
    lines += [f"- {_end(table, row)}" for row in table.rows]
    return "\n".join(lines)


def _turns(table: GameTable) -> list[str]:
    if not table.sequential:
        moves = [f"{who} chooses {_either(options)}." for who, options in zip(table.players, table.moves, strict=True)]
        together = ["Everybody chooses at the same time, without seeing what the others choose."]
        return [*moves, *(together if len(table.players) > 1 else []), "What each of them earns:"]
    return [*_decisions(table), "How it can end, and what each of them earns:"]


def _decisions(table: GameTable) -> list[str]:
    lines: list[str] = []
    seen: set[tuple[str, str]] = set()
    queue: list[Decision | End] = [tree(table)]
    while queue:
        node = queue.pop(0)
        if isinstance(node, End):
            continue
        queue += node.children
        if (node.player, node.information) in seen:
            continue
        seen.add((node.player, node.information))
        when = f"After {_known(node.information)}, " if node.information else "First, "
        lines.append(f"{when}{node.player} chooses {_either(node.moves)}.")
    return lines


def _known(information: str) -> str:
    """What a player has seen, as `views.tree` writes it: `player:move` parted by spaces."""
    return information.replace(":", " has chosen ", 1) if information.count(":") == 1 else information


def _end(table: GameTable, row: Row) -> str:
    made = ", ".join(f"{who} chooses {move}" for who, move in row.moves) or "nobody moves"
    return f"If {made}: {told_payoffs(table.players, row.payoffs)}."


def told_payoffs(players: Iterable[str], payoffs: Iterable[Fraction]) -> str:
    """`Ann gets 3, Bob gets 1/2`."""
    return ", ".join(f"{who} gets {payoff}" for who, payoff in zip(players, payoffs, strict=True))


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _either(options: tuple[str, ...]) -> str:
    if len(options) < 2:
        return options[0] if options else "nothing"
    return f"{', '.join(options[:-1])} or {options[-1]}"
