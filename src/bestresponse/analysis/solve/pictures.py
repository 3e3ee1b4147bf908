"""Which picture a game has, and the section that shows it."""

from __future__ import annotations

from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.report.document import Figure, Section
from bestresponse.report.figures.pictures import Picture, draw, pictures, require_picture
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.tree import Tree

__all__ = ["drawable", "picture_figures", "picture_section"]

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
_LARGEST = 2 * 3 * 3


def drawable(game: NormalForm | Tree) -> NormalForm:
    """The table that can be drawn, for a tree its reduced normal form; UsageError says why there is none."""
    if isinstance(game, Tree):
        try:
            form = to_normal_form(game, limit=_LARGEST)
        except TooLarge:
            name = game.name or "this tree"
            raise UsageError(
                f"{name} cannot be drawn: expected a tree whose reduced normal form is 2x2, or symmetric with 2 or 3 "
                "strategies; this one is larger"
            ) from None
    else:
        form = game
    require_picture(form)
    return form


def picture_figures(form: NormalForm) -> tuple[Figure, ...]:
    """Each picture by itself, for narrow places."""
    return tuple(
        Figure(draw(form, only=picture), f"{_WORDS[picture]}.", f"{form.name}: {picture}") for picture in pictures(form)
    )


def picture_section(form: NormalForm) -> Section:
    """The picture, and in words what it shows."""
    words = [_WORDS[picture] for picture in pictures(form)]
    caption = f"{'. '.join(words)}."
    return Section("Picture", (Figure(draw(form), caption, f"{form.name}: {', '.join(pictures(form))}"),))
