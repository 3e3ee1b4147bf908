"""Ask one question of a game, compare, convert and list games."""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypedDict

from bestresponse.analysis.answers import Answered, ask_game
from bestresponse.core import registry
from bestresponse.core.errors import UsageError
from bestresponse.games.comparison import Comparison, compare_games
from bestresponse.games.logic.tables import WRITERS, format_game
from bestresponse.games.lookup import GameLike, Matrix, as_loaded_game
from bestresponse.report.frames import Frame, column
from bestresponse.theory import catalogue
from bestresponse.theory.generators import FAMILIES, families


def ask(
    game: GameLike,
    other: Matrix | None = None,
    *,
    concept: str | None = None,
    dynamics: str | None = None,
    settings: Mapping[str, object] | None = None,
) -> Answered:
    """Ask one solution concept of a game by name, or where play leads by one of the dynamics.

    >>> ask("prisoners-dilemma", concept="rationalizable").answer.data["kept"]
    {'row': ['defect'], 'col': ['defect']}
    """
    return ask_game(
        as_loaded_game(game, other),
        concept=concept,
        dynamics=dynamics,
        settings=settings,
    )


def compare(first: GameLike, second: GameLike, *, any_names: bool = False) -> Comparison:
    """Say whether two games are the same, and where they differ.

    Names, order and positive affine changes of the payoffs do not count as differences.

    Names of players, and of moves of the same player, that occur in both games mean the same unless
    `any_names` is set.

    >>> compare("prisoners-dilemma", "prisoners-dilemma").same
    True
    """
    return compare_games(
        as_loaded_game(first).solvable(),
        as_loaded_game(second).solvable(),
        any_names=any_names,
    )


def convert(
    game: GameLike,
    path: str | Path,
    *,
    force: bool = False,
    openspiel: bool = False,
) -> Path:
    """Write a game into a file that ends in .efg, .nfg, .json or .pl.

    `force` overwrites one that is there.

    With `openspiel` an .nfg file has the form that OpenSpiel reads: numbers of actions instead of
    their names.
    """
    out = Path(path)
    if out.suffix.lower() not in WRITERS:
        raise UsageError(f"{out}: expected a file ending in {', '.join(WRITERS)}")
    if out.exists() and not force:
        raise UsageError(
            f"{out} already exists; choose another name, or set `force` to overwrite it"
        )
    out.write_text(
        format_game(as_loaded_game(game).solvable(), out.suffix.lower(), openspiel=openspiel),
        "utf-8",
    )
    return out


class GameRow(TypedDict):
    """A game that can be named, or a family of games that `bench` draws from."""

    name: str
    kind: str
    what: Annotated[str, column("what it is")]


def list_games() -> Frame[GameRow]:
    """List the games of the catalogue, registered games and families `bench` draws from."""
    rows = []
    for entry in catalogue.entries():
        rows.append(GameRow(name=entry.name, kind="matrix", what=entry.description))
    rows += [
        GameRow(name=name, kind="tree", what=catalogue.tree_entry(name).description)
        for name in catalogue.tree_names()
    ]
    for name in registry.games.names():
        try:
            what = inspect.getdoc(registry.games.load(name)) or ""
        except UsageError as error:
            what = str(error)
        rows.append(GameRow(name=name, kind="registered", what=what.partition("\n")[0]))
    rows += [
        GameRow(
            name=name,
            kind="family",
            what=(inspect.getdoc(FAMILIES[name]) or "").partition("\n")[0],
        )
        for name in families()
    ]
    return Frame(GameRow, rows)
