"""Make the environment of a game: by name, from a file, or from the game itself.

Importing this module registers the games of the catalogue with PettingZoo, as `bestresponse/NAME-v0`.
"""

from __future__ import annotations

from typing import Any

from pettingzoo import register
from pettingzoo.utils.conversions import parallel_to_aec

from bestresponse.core.errors import UsageError
from bestresponse.games.named_game import GameLike, as_found
from bestresponse.integrations.pettingzoo.matrix import MatrixEnvironment
from bestresponse.integrations.pettingzoo.tree import TreeEnvironment
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_names
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["env", "parallel_env"]


def parallel_env(game: GameLike, rounds: int = 1) -> MatrixEnvironment:
    """Make the parallel environment of a game in which all choose at the same time, played `rounds` times."""
    found = as_found(game)
    form = found.solvable()
    if not isinstance(form, NormalForm):
        raise UsageError(f"{found.name} is played in turn: use env(), which makes its AEC environment")
    return MatrixEnvironment(form, rounds)


def env(game: GameLike, rounds: int = 1) -> Any:
    """Make the AEC environment of any game whose answers can be listed; `rounds` is for simultaneous choices only."""
    found = as_found(game)
    form = found.solvable()
    if isinstance(form, NormalForm):
        return parallel_to_aec(MatrixEnvironment(form, rounds))
    if rounds != 1:
        raise UsageError(f"{found.name} is played in turn and once; rounds={rounds} is for simultaneous choices")
    return TreeEnvironment(form)


def _register_games() -> None:
    for name in (*catalogue.names(), *tree_names()):
        register("aec", f"bestresponse/{name}-v0", f"{__name__}:env", kwargs={"game": name})
    for name in catalogue.names():
        register("parallel", f"bestresponse/{name}-v0", f"{__name__}:parallel_env", kwargs={"game": name})


_register_games()
