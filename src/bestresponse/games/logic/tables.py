"""Turn payoff tables and trees into exact game tables, and any game into a file.

The tables and trees are those of the theory.

`format_game` writes `.nfg`, `.efg`, `.json` and `.pl`. A tree becomes a table by its reduced normal
form; a table becomes a tree in which nobody sees what the others choose. A program is written from
the tree, or for a table with one fact for each combination of moves.

Floats are read as the simple fractions they stand for (0.1 is 1/10, the float next to a third is
1/3). Where an information set holds several positions, its player perceives the set's label when
the play comes there, and nothing else but its own moves: under perfect recall this is the same
knowledge. In a tree without it, everybody forgets all else whenever it perceives a label.

`write_table_program` is the way back from `logic.programs.table`: the program's table is the table
it was written from, with what each player knows. A game in which all move at once becomes one fact
for each combination of moves; every other game becomes its tree, with a fact for each branch, each
lottery, each percept and each end.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonObject
from bestresponse.logic.language.terms import Atom, write
from bestresponse.logic.programs.game_table import FORGETS, GameTable, Row, spell_knowledge
from bestresponse.theory.files.efg import format_efg
from bestresponse.theory.files.nfg import format_nfg
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form, to_tree
from bestresponse.theory.trees.sequence_form import has_perfect_recall
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

MOST_ENDS = 20_000
# A float this near to such a fraction was one, as 0.333... is 1/3; any other is the decimal that it
# is written as.
_DENOMINATOR = 1_000_000
_ROUNDING = 1e-12
_TREE_RULES = (
    "effect(at(Next), move(P, M), S) :- holds(at(Node), S), branch(Node, P, M, Next).",
    "abnormal(at(_Node), move(_P, _M), _S).",
    "legal(move(P, M), S) :- holds(at(Node), S), branch(Node, P, M, _Next), holds(player(P), S).",
)
_CHANCE_RULE = "chance(move(nature, X), Chance, S) :- holds(at(Node), S), lottery(Node, X, Chance)."
_PERCEPT_RULE = (
    "sees(P, What, do(move(Q, M), S)) :- holds(at(Node), S), branch(Node, Q, M, Next), shown(Next,"
    " P, What)."
)
_BLIND_RULE = "sees(_P, nothing, s0)."
"""No move leads to s0, so that nobody ever sees anything but the own moves."""
_END_RULES = (
    "final(S) :- holds(at(Node), S), end(Node, _Payoffs).",
    "finally(goal(P, U), S) :- holds(at(Node), S), end(Node, Payoffs), member(P-U, Payoffs).",
)


def table_from_cells(
    players: tuple[str, ...],
    moves: tuple[tuple[str, ...], ...],
    payoffs: tuple[tuple[Fraction, ...], ...],
) -> GameTable:
    """Return the table of a game where all move once, at the same time.

    The last player's move changes fastest.
    """
    profiles = list(product(*moves))
    if len(profiles) != len(payoffs):
        raise InvalidGame(
            f"{len(profiles)} combinations of moves need as many payoffs, got {len(payoffs)}"
        )
    rows = []
    for profile, earned in zip(profiles, payoffs, strict=True):
        made = tuple(zip(players, profile, strict=True))
        rows.append(Row(made, earned, (len(players),)))
    return GameTable(players, moves, tuple(rows))


def table_from_tree(tree: Tree) -> GameTable:
    """Return the table of a tree; TooLarge past 20,000 ends.

    >>> from bestresponse.theory import load_tree
    >>> table_from_tree(load_tree("kuhn-poker")).rows[0].chances[0]
    Fraction(1, 6)
    """
    if len(tree.leaves) > MOST_ENDS:
        raise TooLarge(
            f"the tree has {len(tree.leaves):,} ends; at most {MOST_ENDS:,} are written as a"
            " program"
        )
    if NATURE in tree.players:
        raise InvalidGame(f"a player is named {NATURE!r}, which in programs is the name of chance")
    (draws,) = (tree.owner == CHANCE).nonzero()
    for node in draws.tolist():
        chances = [tree.find_probability(child) for child in tree.children[node]]
        total = sum(map(read_fraction, chances))
        if total != 1:
            raise InvalidGame(
                f"after {tree.path(node)} the probabilities sum to {total}; a program needs"
                " exactly 1"
            )
    rows = list_rows(tree, tree.leaves.tolist())
    different: list[dict[str, None]] = [{} for _ in tree.players]
    for infoset in tree.infosets:
        different[infoset.player] |= dict.fromkeys(infoset.moves)
    moves = tuple(map(tuple, different))
    return GameTable(tree.players, moves, rows, private=not tree.is_perfect_information)


def list_rows(tree: Tree, leaves: Sequence[int]) -> tuple[Row, ...]:
    """Return the rows of some ends of a tree."""
    recall = has_perfect_recall(tree)
    rows = tuple(_build_row(tree, leaf, recall) for leaf in leaves)
    if not any((tree.owner == CHANCE).tolist()):
        rows = tuple(Row(row.moves, row.payoffs, row.blocks, (), row.percepts) for row in rows)
    return rows


def table_to_data(table: GameTable) -> dict[str, object]:
    """Return players, moves and ends as plain data.

    `blocks` tells how many moves of an end were made at the same time. In games with chance,
    `chances` has the probability of each move of nature (None for others); in games with hidden
    moves, `percepts` has what was seen of each move, as (player, percept).
    """
    return {
        "players": list(table.players),
        "moves": [list(moves) for moves in table.moves],
        "ends": [_row_to_data(row) for row in table.rows],
    }


def _row_to_data(row: Row) -> dict[str, object]:
    data: dict[str, object] = {
        "moves": [list(made) for made in row.moves],
        "payoffs": [_write_exactly(payoff) for payoff in row.payoffs],
        "blocks": list(row.blocks),
    }
    if row.chances:
        data["chances"] = [None if p is None else _write_exactly(p) for p in row.chances]
    if row.percepts:
        data["percepts"] = [list(map(list, seen)) for seen in row.percepts]
    return data


def _write_exactly(payoff: Fraction) -> int | str:
    return payoff.numerator if payoff.denominator == 1 else str(payoff)


def read_fraction(number: float | Fraction) -> Fraction:
    """Return the simple fraction that a float stands for, or its shortest decimal.

    Other numbers are what they are.
    """
    if not isinstance(number, float):
        return Fraction(number)
    simple = Fraction(number).limit_denominator(_DENOMINATOR)
    error = abs(float(simple) - number)
    if error <= _ROUNDING * abs(number):
        return simple
    return Fraction(repr(float(number)))


def _build_row(tree: Tree, leaf: int, recall: bool) -> Row:
    path: list[int] = []
    node = leaf
    while node > 0:
        path.insert(0, node)
        node = int(tree.parent[node])
    infosets: set[int] = set()
    moves: list[tuple[str, str]] = []
    chances: list[Fraction | None] = []
    for node in path:
        parent = int(tree.parent[node])
        owner = int(tree.owner[parent])
        if owner == CHANCE:
            moves.append((NATURE, tree.branch_labels[node]))
            chances.append(read_fraction(tree.find_probability(node)))
            continue
        infoset = int(tree.infoset[parent])
        if infoset in infosets:
            raise InvalidGame(
                f"on the way to {tree.path(leaf)} a player comes twice to what it cannot tell apart"
            )
        infosets.add(infoset)
        moves.append((tree.players[owner], tree.branch_labels[node]))
        chances.append(None)
    percepts = []
    if not tree.is_perfect_information:
        percepts = [_list_percepts(tree, node, recall) for node in path]
    payoffs = map(read_fraction, tree.list_payoffs(leaf))
    return Row(
        moves=tuple(moves),
        payoffs=tuple(payoffs),
        blocks=(1,) * len(path),
        chances=tuple(chances),
        percepts=tuple(percepts),
    )


def _list_percepts(tree: Tree, node: int, recall: bool) -> tuple[tuple[str, str], ...]:
    """List what whoever moves at a node perceives there.

    Without recall everything else is forgotten.
    """
    owner = int(tree.owner[node])
    if owner in (CHANCE, LEAF):
        return ()
    player = tree.players[owner]
    infoset = tree.find_infoset(node)
    if recall:
        return ((player, infoset.label),)
    return (player, FORGETS), (player, infoset.label)


def write_table_program(table: GameTable) -> str:
    """Write the program of a game."""
    one_block = (len(table.players),)
    together = all(row.blocks == one_block and not row.chances for row in table.rows)
    lines = ["initial(s0)."]
    lines += [f"initially(player({_atom(player)}), s0)." for player in table.players]
    lines += _write_at_once(table) if together and not table.private else _write_tree(table)
    return "\n".join(lines) + "\n"


def _write_at_once(table: GameTable) -> list[str]:
    lines = [f"initially(control({_atom(player)}), s0)." for player in table.players]
    for player, moves in zip(table.players, table.moves, strict=True):
        lines += [f"possible(move({_atom(player)}, {_atom(move)}), _S)." for move in moves]
    variables = [f"M{k}" for k in range(len(table.players))]
    names = ", ".join(variables)
    pairs = zip(table.players, variables, strict=True)
    did = ", ".join(f"holds(did({_atom(player)}, {variable}), S)" for player, variable in pairs)
    lines += [
        "legal(move(P, M), S) :- holds(control(P), S), possible(move(P, M), S).",
        "effect(did(P, M), move(P, M), _S).",
        "abnormal(control(P), move(P, _M), _S).",
        "final(S) :- \\+ holds(control(_), S).",
    ]
    for row in table.rows:
        made = dict(row.moves)
        in_order = [made[player] for player in table.players]
        profile = ", ".join(map(_atom, in_order))
        lines.append(f"payoffs([{profile}], [{_earned(table, row)}]).")
    return [
        *lines,
        f"finally(goal(P, U), S) :- final(S), {did}, payoffs([{names}], Us), member(P-U, Us).",
    ]


def _write_tree(table: GameTable) -> list[str]:
    """Number the positions of the game and write what leads from one to the next."""
    nodes: dict[tuple[tuple[str, str], ...], str] = {(): "n0"}
    branches: dict[str, None] = {}
    lotteries: dict[str, None] = {}
    percepts: dict[str, None] = {}
    ends: list[str] = []
    hidden = table.private or _moves_together(table)
    for row in table.rows:
        for depth, (mover, move) in enumerate(row.moves):
            here = nodes[row.moves[:depth]]
            after = nodes.setdefault(row.moves[: depth + 1], f"n{len(nodes)}")
            branches[f"branch({here}, {_atom(mover)}, {_atom(move)}, {after})."] = None
            chance = row.chances[depth] if row.chances else None
            if chance is not None:
                lotteries[f"lottery({here}, {_atom(move)}, {chance})."] = None
            for seer, what in _find_percepts(table, row, depth):
                percepts[f"shown({after}, {_atom(seer)}, {_atom(what)})."] = None
        ends.append(f"end({nodes[row.moves]}, [{_earned(table, row)}]).")
    lines = ["initially(at(n0), s0).", *_TREE_RULES]
    if lotteries:
        lines.append(_CHANCE_RULE)
    if percepts:
        lines.append(_PERCEPT_RULE)
    elif hidden:
        lines.append(_BLIND_RULE)
    return [*lines, *_END_RULES, *branches, *lotteries, *percepts, *ends]


def _moves_together(table: GameTable) -> bool:
    return any(size > 1 for row in table.rows for size in row.blocks)


def _find_percepts(table: GameTable, row: Row, depth: int) -> Iterator[tuple[str, str]]:
    """Find what is perceived of the move at `depth`.

    Where moves are made together, by whoever moves next.
    """
    if not _moves_together(table):
        yield from row.percepts[depth] if table.private else ()
    elif depth + 1 < len(row.moves):
        follower = row.moves[depth + 1][0]
        known = spell_knowledge(table.knowledge(row, depth + 1, follower))
        if follower in table.forgetful:
            yield follower, FORGETS
        if follower in table.players and known:
            yield follower, known


def _earned(table: GameTable, row: Row) -> str:
    earned = zip(map(_atom, table.players), row.payoffs, strict=True)
    pairs = [f"{player}-({u})" if u < 0 else f"{player}-{u}" for player, u in earned]
    return ", ".join(pairs)


def _atom(name: str) -> str:
    return write(Atom(name))


def format_game(game: NormalForm | Tree, ending: str, *, openspiel: bool = False) -> str:
    """Return the text of a game file with this ending.

    Raises UsageError where no such file can be written.
    """
    if ending not in WRITERS:
        raise UsageError(
            f"games are written as {', '.join(WRITERS)}; got a file ending in {ending or 'nothing'}"
        )
    if openspiel and ending != ".nfg":
        raise UsageError(
            f"only .nfg files have a form of their own for OpenSpiel; got one ending in {ending}"
        )
    return format_nfg(_as_table(game), openspiel=True) if openspiel else WRITERS[ending](game)


def format_matrix_json(form: NormalForm) -> str:
    """Return the JSON object of a table, which `parse_matrix_json` reads back.

    A third becomes the text "1/3".
    """
    data: JsonObject = {"name": form.name} if form.name else {}
    data["players"] = list(form.players)
    data["actions"] = [list(names) for names in form.actions]
    data["tables"] = _as_numbers(form.given.tolist())
    return json.dumps(data, ensure_ascii=False) + "\n"


def _as_numbers(value: Any) -> object:
    if isinstance(value, list):
        return [_as_numbers(entry) for entry in value]
    exact = read_fraction(value)
    nearest = float(exact)
    is_decimal = Fraction(repr(nearest)) == exact
    return nearest if is_decimal and exact.denominator > 1 else _write_exactly(exact)


def _as_table(game: NormalForm | Tree) -> NormalForm:
    return to_normal_form(game) if isinstance(game, Tree) else game


def as_game_table(game: NormalForm | Tree) -> GameTable:
    """Return the table that a program of the game would be written from."""
    if isinstance(game, Tree):
        return table_from_tree(game)
    payoffs = (map(read_fraction, table.flat) for table in game.given)
    return table_from_cells(game.players, game.actions, tuple(zip(*payoffs, strict=True)))


WRITERS: dict[str, Callable[[NormalForm | Tree], str]] = {
    ".nfg": lambda game: format_nfg(_as_table(game)),
    ".efg": lambda game: format_efg(game if isinstance(game, Tree) else to_tree(game)),
    ".json": lambda game: format_matrix_json(_as_table(game)),
    ".pl": lambda game: write_table_program(as_game_table(game)),
}
"""By the ending of the file's name."""
