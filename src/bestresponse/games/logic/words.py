"""A game table told in words: who moves when, what they can do, and what everybody earns at every end.

The text is made by rule from the table alone. Players of a formalized game read it as its rules, and a person or a
model can compare it with the story that the game came from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from fractions import Fraction

from bestresponse.core.game import NATURE
from bestresponse.logic.programs.game_table import SEES, Chance, End, GameTable, Knowledge, Row, tree

__all__ = ["describe_end", "describe_table", "describe_turns", "format_payoffs"]


def describe_table(table: GameTable) -> str:
    """The whole game in plain sentences, one end per line."""
    count = "one player" if len(table.players) == 1 else f"{len(table.players)} players"
    lines = [f"There are {count}: {_listed(table.players)}."]
    lines += describe_turns(table)
    lines.append("How it can end, and what each of them earns:" if _has_turns(table) else "What each of them earns:")
    lines += [f"- {describe_end(row)}: {format_payoffs(table.players, row.payoffs)}." for row in table.rows]
    return "\n".join(lines)


def _has_turns(table: GameTable) -> bool:
    return table.sequential or table.chancy


def describe_turns(table: GameTable) -> list[str]:
    """Return a sentence for each choice and each lottery, with what its player knows."""
    if not _has_turns(table):
        moves = [f"{who} chooses {_either(options)}." for who, options in zip(table.players, table.moves, strict=True)]
        together = ["Everybody chooses at the same time, without seeing what the others choose."]
        return [*moves, *(together if len(table.players) > 1 else [])]
    secrets = ["Players know only their own moves and what they are shown."] if table.private else []
    return [*secrets, *_decisions(table)]


def _decisions(table: GameTable) -> list[str]:
    """Who chooses, or what is drawn by lot, in every situation that its player can tell apart from others."""
    lines: dict[str, None] = {}
    queue = deque([tree(table)])
    while queue:
        node = queue.popleft()
        if isinstance(node, End):
            continue
        queue += node.children
        if isinstance(node, Chance):
            odds = zip(node.moves, node.probabilities, strict=True)
            drawn = ", ".join(f"{move} with probability {chance}" for move, chance in odds)
            made = node.row.moves[: sum(node.row.blocks[: node.block])]
            lines[f"{_when(made)}it is drawn by lot: {drawn}."] = None
        else:
            lines[f"{_when(node.knowledge)}{node.player} chooses {_either(node.moves)}."] = None
    return list(lines)


def _when(known: Knowledge) -> str:
    told = ", ".join(_tell_known(who, what) for who, what in known)
    return f"After {told}, " if told else "First, "


def _tell_known(who: str, what: str) -> str:
    if who == SEES:
        return f"seeing {what}"
    return f"{what} was drawn" if who == NATURE else f"{who} has chosen {what}"


def describe_end(row: Row) -> str:
    """Return what happens in one play: `If Ann chooses bet, Bob chooses fold`."""
    steps = (f"{move} is drawn" if who == NATURE else f"{who} chooses {move}" for who, move in row.moves)
    return f"If {', '.join(steps) or 'nobody moves'}"


def format_payoffs(players: Iterable[str], payoffs: Iterable[Fraction]) -> str:
    """`Ann gets 3, Bob gets 1/2`."""
    return ", ".join(f"{who} gets {payoff}" for who, payoff in zip(players, payoffs, strict=True))


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _either(options: tuple[str, ...]) -> str:
    if len(options) < 2:
        return options[0] if options else "nothing"
    return f"{', '.join(options[:-1])} or {options[-1]}"
