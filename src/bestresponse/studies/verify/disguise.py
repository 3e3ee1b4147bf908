"""A game told so that its name cannot be recognised: neutral letters, plain player names, perhaps in reverse order."""

from __future__ import annotations

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import CHANCE, LEAF, Chance, Leaf, Tree, Turn, build_tree

__all__ = ["disguised", "disguised_tree", "moves_by_player"]

_LETTERS = tuple("BRGWKPYNVTMCDFHJLQSXZ")
_Place = tuple[int, tuple[str, ...]]


def disguised(game: NormalForm, *, letters: bool = True, inverted: bool = True) -> NormalForm:
    """`game` without its name; actions become letters (the same where all players' actions have the same names), and
    their order is reversed if `inverted`.

    >>> pd = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=(("C", "D"), ("C", "D")))
    >>> told = disguised(pd)
    >>> told.actions[0], told.payoffs[0].tolist()
    (('R', 'B'), [[1.0, 5.0], [0.0, 3.0]])
    """
    payoffs, actions = game.payoffs, game.actions
    players = tuple(f"Player {i + 1}" for i in range(game.num_players))
    if letters:
        actions = _lettered(actions)
    if inverted:
        payoffs = np.flip(payoffs, axis=tuple(range(1, payoffs.ndim)))
        actions = tuple(tuple(reversed(own)) for own in actions)
    return NormalForm(payoffs, players, actions)


def disguised_tree(tree: Tree, *, letters: bool = True, inverted: bool = True) -> Tree:
    """The same of a tree: a move has one letter wherever a player makes it, an information set is named by its path,
    or by a number where it has several.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> told = disguised_tree(load_tree("entry-deterrence"))
    >>> [(told.path(leaf), told.payoffs[leaf].tolist()) for leaf in told.leaves]
    [('R > W', [0.0, 0.0]), ('R > G', [2.0, 2.0]), ('B', [1.0, 5.0])]
    """
    players = tuple(f"Player {i + 1}" for i in range(tree.num_players))
    own = moves_by_player(tree)
    names = [dict(zip(*both, strict=True)) for both in zip(own, _lettered(own) if letters else own, strict=True)]

    def expand(position: _Place) -> Leaf | Chance | Turn:
        node, path = position
        owner, below = int(tree.owner[node]), tree.children[node]
        if owner == LEAF:
            return Leaf(tree.payoffs[node].tolist())
        if owner == CHANCE:
            drawn = [f"case {k + 1}" if letters else tree.branch_labels[child] for k, child in enumerate(below)]
            return Chance({
                label: (float(tree.probability[child]), (child, (*path, label)))
                for label, child in zip(drawn, below, strict=True)
            })  # fmt: skip
        moves = [(names[owner][tree.branch_labels[child]], child) for child in below]
        shown = reversed(moves) if inverted else moves
        alone = tree.is_perfect_information
        label = (" > ".join(path) or "start") if alone else f"set {int(tree.infoset[node]) + 1}"
        return Turn(players[owner], label, {m: (child, (*path, m)) for m, child in shown})

    return build_tree(players, (0, ()), expand)


def moves_by_player(tree: Tree) -> tuple[tuple[str, ...], ...]:
    """Everybody's moves, each name once, in the order of the game."""
    found = [[move for one in tree.infosets if one.player == i for move in one.moves] for i in range(tree.num_players)]
    return tuple(tuple(dict.fromkeys(moves)) for moves in found)


def _lettered(actions: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    if all(own == actions[0] for own in actions):
        return tuple(_some(0, len(own)) for own in actions)
    start, found = 0, []
    for own in actions:
        found.append(_some(start, len(own)))
        start += len(own)
    return tuple(found)


def _some(start: int, count: int) -> tuple[str, ...]:
    if start + count > len(_LETTERS):
        raise UsageError(f"there are letters for {len(_LETTERS)} actions; tell this game under its own names (--plain)")
    return _LETTERS[start : start + count]
