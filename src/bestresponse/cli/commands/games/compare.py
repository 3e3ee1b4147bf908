"""`bestresponse compare`: are two games the same, and if not, where do they differ."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

import bestresponse as br
from bestresponse.cli.options import AsJson
from bestresponse.formal.evaluate.named_games import describe_classes, find_names
from bestresponse.games.comparison import Comparison
from bestresponse.games.logic.tables import as_game_table
from bestresponse.report.text import visible
from bestresponse.theory.games.normal_form import NormalForm

_MOST_NAMES = 6
_MOST_LETTERS = 40
_EXIT_CODES = {"same tree": 0, "different": 1, "same reduced form, other tree": 3, "same order of payoffs": 4}
"""2 is left to requests that cannot be carried out, as everywhere."""
_SCALES = {
    "equal": ", under the same names",
    "renamed": ", under other names",
    "equivalent": ", up to names and positive affine payoffs",
}


def compare(
    first: Annotated[str, typer.Argument(help="A name or a file, as for `solve`.")],
    second: Annotated[str, typer.Argument(help="A name or a file, as for `solve`.")],
    any_names: Annotated[
        bool, typer.Option("--any-names", help="Names that occur in both games need not mean the same.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say whether two games are the same up to names, order and positive affine payoffs, and where they differ.

    Names that occur in both games mean the same. Trees are compared as trees, up to the order of simultaneous moves; a
    table is the tree in which nobody sees the others' choices. Where they differ, a shortest play on which they part is
    told first. The exit code is 0 for the same tree, 3 for the same reduced form of another tree, 4 where only the
    order of everybody's payoffs is the same, and 1 for different games.
    """
    games = [br.find_game(name) for name in (first, second)]
    found = br.compare(*games, any_names=any_names)
    forms = [game.solvable() for game in games]
    named = [find_names(as_game_table(form)) if isinstance(form, NormalForm) else () for form in forms]
    classes = [name for name in named[0] if name in named[1]]
    if as_json:
        data = {"verdict": found.verdict, "same": found.same, "classes": classes, **asdict(found)}
        print(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        print(_tell(found))
        if classes:
            print(f"  both are {describe_classes(classes)}")
    if code := _EXIT_CODES[found.verdict]:
        raise typer.Exit(code)


def _tell(found: Comparison) -> str:
    lines = [found.verdict + _SCALES.get(found.relation, "")]
    if found.relation in ("renamed", "equivalent"):
        lines += _tell_names(found)
    lines += [f"  {sentence}" for sentence in (*found.differences, *found.remarks)]
    if found.num_differences > len(found.differences):
        lines.append(f"  and {found.num_differences - len(found.differences):,} more differences")
    return "\n".join(visible(line) for line in lines)


def _tell_names(found: Comparison) -> list[str]:
    """Say how many names differ, and the first few of them."""
    kind = {"payoff tables": "actions", "trees": "moves", "reduced normal forms": "plans"}[found.basis]
    moves = dict.fromkeys(pair for names in found.actions.values() for pair in names.items())
    kinds = [("players", [*found.players.items()]), (kind, [*moves])]
    other = [(kind, [(old, new) for old, new in pairs if old != new], len(pairs)) for kind, pairs in kinds]
    counts = [f"{len(renamed):,} of {total:,} {kind}" for kind, renamed, total in other]
    renamed = [pair for _, pairs, _ in other for pair in pairs]
    lines = [f"  other names: {', '.join(counts)}"]
    lines += [f"    {_shorten(old)} = {_shorten(new)}" for old, new in renamed[:_MOST_NAMES]]
    more = len(renamed) - _MOST_NAMES
    return [*lines, f"    and {more:,} more (--json has all)"] if more > 0 else lines


def _shorten(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 3]}..."
