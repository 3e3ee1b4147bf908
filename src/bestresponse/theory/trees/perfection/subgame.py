"""The subgame that begins at a node of a tree, as a tree of its own.

Definition (Selten 1965): a node and all that comes after it, where no information set has nodes both inside and
outside. With perfect information every inner node begins one.
"""

from __future__ import annotations

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.trees.build import Chance, Leaf, Turn, build_tree
from bestresponse.theory.trees.perfection.subgames import find_subgames
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["cut_subgame"]


def cut_subgame(tree: Tree, node: int) -> Tree:
    """Return the tree below `node`, with the players, moves and labels of the whole.

    >>> from bestresponse.theory.catalogue.tree_rules import centipede
    >>> cut_subgame(centipede(), 2)
    Tree('centipede', players=['player 1', 'player 2'], 7 nodes, 4 leaves, 3 information sets)
    """
    if node not in find_subgames(tree):
        raise InvalidGame(f"{tree.name or 'the tree'} hides moves: no subgame begins at {tree.path(node)}")

    def expand(place: int) -> Leaf | Chance | Turn:
        owner, below = int(tree.owner[place]), tree.children[place]
        if owner == LEAF:
            return Leaf(tree.list_payoffs(place))
        if owner == CHANCE:
            return Chance({tree.branch_labels[child]: (tree.find_probability(child), child) for child in below})
        infoset = tree.infosets[int(tree.infoset[place])]
        return Turn(tree.players[owner], infoset.key, dict(zip(infoset.moves, below, strict=True)), infoset.label)

    return build_tree(tree.players, node, expand, name=tree.name)
