"""When is a game table the game that was told? Exactly, in order of preference, or by the orders a story gives.

Tables are compared as trees by `games.comparison`, the one comparison of this package: reduced forms that agree are not
enough, since they forget who learns what.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bestresponse.core.errors import TooLarge
from bestresponse.games.capabilities import HasTree
from bestresponse.games.comparison import Comparison, Ends, compare_games, list_isomorphisms
from bestresponse.games.logic.game import LogicGame, as_game
from bestresponse.logic.programs.table import GameTable


def compare_tables(first: GameTable, second: GameTable, *, any_names: bool = False) -> Comparison:
    """Compare two tables as trees; names in common mean the same unless `any_names` is set."""
    games = [as_game(table) for table in (first, second)]
    trees = [game.tree if isinstance(game, HasTree) else game for game in games]
    try:
        return compare_games(*trees, any_names=any_names)
    except TooLarge as error:
        return Comparison("different", "trees", {}, {}, (f"the games are too large to compare: {error}",), 1)


def find_broken_order(table: GameTable, true: GameTable, orders: Sequence[str]) -> str:
    """Say which of orders such as `Ann: 2 > 1 = 3`, over the ends of `true`, a table built like it breaks; "" if none.

    The ends are numbered from 1; what the orders do not compare is free.
    """
    first, second = (Ends.of(LogicGame(game).tree) for game in (table, true))
    numbers = {frozenset(end): number for number, end in enumerate(second.ends, 1)}
    broken = ""
    for renaming in list_isomorphisms(first, second, "none"):
        earned = {
            (second.players[seat], numbers[frozenset(renaming.moves[move] for move in end)]): float(payoffs[player])
            for end, payoffs in zip(first.ends, first.payoffs, strict=True)
            for player, seat in enumerate(renaming.players)
        }
        reason = next(_find_broken(earned, orders), "")
        if not reason:
            return ""
        broken = broken or reason
    return broken or "the moves do not lead to the same ends"


def _find_broken(earned: Mapping[tuple[str, int], float], orders: Sequence[str]) -> Iterator[str]:
    for order in orders:
        player, _, chain = order.rpartition(":")
        parts = chain.replace("=", " = ").replace(">", " > ").split()
        for better, sign, worse in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            payoffs = earned[player, int(better)], earned[player, int(worse)]
            if not (payoffs[0] > payoffs[1] if sign == ">" else payoffs[0] == payoffs[1]):
                numbers = f"{payoffs[0]:g} and {payoffs[1]:g}"
                yield f"{player} should have {better} {sign} {worse} (numbers of ends), but it is {numbers}"
