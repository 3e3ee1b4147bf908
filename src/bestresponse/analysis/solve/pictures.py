"""Which picture a game has, and the section that shows it: a tree as it is, a small table by its best responses."""

from __future__ import annotations

from typing import Literal

from bestresponse.report.document import Figure, Section
from bestresponse.report.figures.pictures import Picture, draw, pictures, require_picture
from bestresponse.report.figures.tree import draw_tree, require_tree_picture
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

_WORDS: dict[Picture, str] = {
    "best responses": (
        "Best responses: each curve gives a player's best probability of its first action against the other's; the "
        "equilibria, dots and shaded sets, are where the curves meet"
    ),
    "replicator field": (
        "Replicator field: where a population that plays the game against itself moves; filled rest points attract "
        "what is near them, rings do not"
    ),
}
_TREE_WORDS = (
    "The game from left to right: circles bear the number of the player who moves, diamonds are chance; positions on "
    "one dashed line cannot be told apart by their player; payoffs stand at the right."
)


def drawable(game: NormalForm | Tree) -> NormalForm | Tree:
    """Return the game if there is a picture of it; UsageError says why there is none."""
    if isinstance(game, Tree):
        require_tree_picture(game)
    else:
        require_picture(game)
    return game


def draw_game(game: NormalForm | Tree, kind: Literal["svg", "png"] = "svg") -> bytes:
    """Draw the picture of a game as a file."""
    return draw_tree(game, kind) if isinstance(game, Tree) else draw(game, kind)


def picture_figures(game: NormalForm | Tree) -> tuple[Figure, ...]:
    """Return each picture by itself, for narrow places."""
    if isinstance(game, Tree):
        return (Figure(draw_tree(game), _TREE_WORDS, f"{game.name or 'the game'}: the tree"),)
    return tuple(
        Figure(draw(game, only=picture), f"{_WORDS[picture]}.", f"{game.name}: {picture}") for picture in pictures(game)
    )


def picture_section(game: NormalForm | Tree) -> Section:
    """Return the picture, and in words what it shows."""
    if isinstance(game, Tree):
        return Section("Picture", picture_figures(game))
    words = [_WORDS[picture] for picture in pictures(game)]
    caption = f"{'. '.join(words)}."
    return Section("Picture", (Figure(draw(game), caption, f"{game.name}: {', '.join(pictures(game))}"),))
