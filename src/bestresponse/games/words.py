"""A game in words, so that whoever told it can check it: who moves when and knows what, draws, and
the first ends."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice, product

from bestresponse.core.errors import InvalidGame
from bestresponse.games.logic.game import (
    LogicGame,
    describe_turns,
    introduce_players,
    join_options,
    say_when,
    word_game,
)
from bestresponse.games.logic.tables import list_rows, read_fraction, table_from_tree
from bestresponse.games.lookup import LoadedGame
from bestresponse.logic.programs.game_table import (
    DecisionNode,
    End,
    GameTable,
    Knowledge,
    Node,
    Row,
    tree,
)
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

MOST_TOLD = 20
_MOST_ENDS = 2_000
"""Of a tree with more ends it is only said how often each player chooses."""


def describe_loaded_game(loaded: LoadedGame) -> tuple[str, ...]:
    """Tell a game that was looked up; a program by its own table, which keeps moves that nobody
    learns of."""
    game = loaded.game
    return describe_game(
        game if isinstance(game, NormalForm | Tree | LogicGame) else loaded.solvable()
    )


def describe_game(
    game: NormalForm | Tree | LogicGame | GameTable, most: int = MOST_TOLD
) -> tuple[str, ...]:
    """Tell a game in sentences, at most `most` choices and draws and as many ends.

    >>> print(*describe_game(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]]))[4:6], sep="\\n")
    What each of them earns:
    - If row chooses a0, col chooses a0: row gets 3, col gets 3.
    """
    table = game.table if isinstance(game, LogicGame) else game
    try:
        turns, rows, total = _list_parts(table, most)
    except InvalidGame as error:
        return introduce_players(table.players), f"It cannot be told how it is played: {error}."
    if len(turns) > most:
        turns = [*turns[:most], f"And so on: {len(turns) - most:,} more such sentences."]
    return word_game(table.players, turns, rows, total, most)


def _list_parts(
    game: NormalForm | Tree | GameTable, most: int
) -> tuple[list[str], tuple[Row, ...], int]:
    """Return the sentences on choices and draws, the first ends, and how many ends there are."""
    if isinstance(game, NormalForm):
        rows = []
        for cell in islice(product(*map(range, game.shape)), most):
            made = tuple(
                (player, moves[k])
                for player, moves, k in zip(game.players, game.actions, cell, strict=True)
            )
            rows.append(
                Row(made, tuple(read_fraction(u[cell]) for u in game.given), (game.num_players,))
            )
        table = GameTable(game.players, game.actions, tuple(rows))
        return describe_turns(table), table.rows, game.payoffs[0].size
    if isinstance(game, Tree) and len(game.leaves) > _MOST_ENDS:
        choices = Counter(game.players[infoset.player] for infoset in game.infosets)
        turns = [
            f"{player} chooses at {choices[player]:,} information sets." for player in game.players
        ]
        return turns, list_rows(game, game.leaves.tolist()[:most]), len(game.leaves)
    table = table_from_tree(game) if isinstance(game, Tree) else game
    unlearned = dict.fromkeys(_find_unlearned(tree(table), {}) if table.private else ())
    return [*describe_turns(table), *unlearned], table.rows, len(table.rows)


def _find_unlearned(node: Node, later: dict[tuple[str, Knowledge], int]) -> Iterator[str]:
    """Say which choices and draws nobody learns of who chooses later; `later` gets who knows what
    in which block."""
    if isinstance(node, End):
        return
    mover = node.player if isinstance(node, DecisionNode) else ""
    known = []
    for child in node.children:
        below: dict[tuple[str, Knowledge], int] = {}
        yield from _find_unlearned(child, below)
        known.append(
            {key for key, block in below.items() if block > node.block and key[0] != mover}
        )
        later |= below
    if len(known) > 1 and known[0] and all(other == known[0] for other in known):
        what = (
            f"{say_when(node.knowledge)}what {mover} chooses"
            if isinstance(node, DecisionNode)
            else "What is drawn"
        )
        yield f"{what} ({join_options(node.moves)}) is learned by nobody who chooses later."
    if isinstance(node, DecisionNode):
        later[mover, node.knowledge] = node.block
