"""Which games can be played in the browser, and the game that a choice means.

A game is named from a closed list or given as the text of a logic program; no name ever becomes a path.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from bestresponse.core.errors import UsageError
from bestresponse.core.game import Game
from bestresponse.core.registry import did_you_mean, games
from bestresponse.games.economic.blotto import Blotto
from bestresponse.games.logic.game import LogicGame, program_game
from bestresponse.games.lookup import Found, find_game, game_names
from bestresponse.games.matrix.game import MatrixGame, Wanted
from bestresponse.games.matrix.repeated import RepeatedGame
from bestresponse.games.trees.game import TreeGame, catalogued
from bestresponse.games.water.game import Water
from bestresponse.logic.engine import open_engine
from bestresponse.logic.programs.validate import Report, validate
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_entry, tree_names
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree
from bestresponse.web.sessions.setup import GameChoice

__all__ = ["Offer", "checked_program", "found_of", "game_of", "offers", "stage_form"]

_making = tuple(threading.Lock() for _ in range(16))
"""Many who come at once want the same game; one of them makes it, and the others have it then. Few games share a lock,
so that one that is slow to make holds up hardly anybody else."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A game on the list."""

    name: str
    kind: str
    description: str = ""
    repeats: bool = False


def offers() -> tuple[Offer, ...]:
    """Every game that can be chosen by name."""
    with _making[0]:
        return _offers()


@lru_cache(maxsize=1)
def _offers() -> tuple[Offer, ...]:
    tables = [Offer(name, "table", catalogue.entry(name).description, True) for name in catalogue.names()]
    trees = [Offer(name, "tree", tree_entry(name).description) for name in tree_names()]
    taken = {offer.name for offer in (*tables, *trees)}
    rules = [rule for name in games.names() if name not in taken for rule in _rule(name)]
    return (*rules, *tables, *trees)


def _rule(name: str) -> list[Offer]:
    """A registered game; none where it cannot be made, so that a broken plugin spoils nothing but itself."""
    try:
        found = find_game(name)
    except UsageError:
        return []
    return [Offer(name, "rules", found.description, isinstance(found.game, Water))]


def game_of(choice: GameChoice) -> Game[Any]:
    """The game, ready to be played; UsageError or InvalidGame where the choice means none."""
    with _making[hash(choice) % len(_making)]:
        return _game_of(choice)


@lru_cache(maxsize=256)
def _game_of(choice: GameChoice) -> Game[Any]:
    if choice.program:
        return _playable(program_game(checked_program(choice.program), choice.name or "game"), choice)
    known = list(game_names())
    if choice.name not in known:
        raise UsageError(f"there is no game named {choice.name!r}.{did_you_mean(choice.name, known)}")
    found = find_game(choice.name)
    return _playable(catalogued(found) if isinstance(found.game, Tree) else found.game, choice)


def _playable(game: Any, choice: GameChoice) -> Game[Any]:
    if choice.mixed and (choice.rounds > 1 or not isinstance(game, NormalForm)):
        raise UsageError("probabilities can be asked for in games with a payoff table and one round only")
    if isinstance(game, NormalForm):
        if choice.rounds > 1:
            return RepeatedGame(game, choice.rounds)
        wanted: Wanted = "mixture" if choice.mixed else "action"
        return MatrixGame(game, (wanted,) * game.num_players)
    if isinstance(game, Water):
        return replace(game, rules=replace(game.rules, days=choice.rounds))
    if choice.rounds > 1:
        raise UsageError(f"{choice.name} has its own rounds; leave the number of rounds at 1")
    played: Game[Any] = TreeGame(game) if isinstance(game, Tree) else game
    return played


def checked_program(source: str) -> Report:
    """The program through all stages of validation, in an engine of its own."""
    engine = open_engine("embedded")
    try:
        return validate(source, engine)
    finally:
        engine.close()


def stage_form(game: Game[Any]) -> NormalForm | None:
    """The payoff table behind a game, of one round where it is repeated; None where there is none."""
    return game.form if isinstance(game, MatrixGame | RepeatedGame) else None


def found_of(game: Game[Any]) -> Found | None:
    """The game as the solver takes it; None where it is no table and no tree."""
    form = game.form if isinstance(game, Blotto) else stage_form(game)
    if form is not None:
        return Found(form.name or game.name, "catalogue", form)
    if isinstance(game, TreeGame):
        return Found(game.name, "catalogue", game.tree)
    return Found(game.name, "file", game) if isinstance(game, LogicGame) else None
