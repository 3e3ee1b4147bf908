"""Games that the user brings along instead of drawn ones.

This is one game, or a list or a batch of payoff tables.

One game stays a `NamedGame` and is put to models in many orders of its actions. Several are payoff
tables of two players, of any sizes; each is put to the models once, in the order of its own
actions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np

from bestresponse.core.errors import InvalidGame, SettingError, UsageError
from bestresponse.core.json import JsonObject, canonical
from bestresponse.games.lookup import NamedGame, as_loaded_game
from bestresponse.runs.inputs import Converted, GameLike, GameSetting
from bestresponse.studies.bench.suites import ORDINAL
from bestresponse.theory.games.isomorphs import ordinal_games
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.generators import Batch

GamesLike: TypeAlias = "GameLike | Batch | Sequence[GameLike]"
"""One game in any form, a batch that `generate` drew, or a list of games."""

MOST_ACTIONS = 12
"""Of each player: the themes have no more names."""
_MOST_NUMBERS = 500_000
"""Payoffs of all games together: a manifest keeps them, and 20 million bytes is the most that one
may have."""
_MANY = "games"


@dataclass(frozen=True)
class GivenGames:
    """Several payoff tables of two players.

    They are kept as the text of a JSON list so that equal ones are the same.
    """

    text: str
    count: int

    @classmethod
    def of(cls, forms: Iterable[NormalForm]) -> GivenGames:
        """Keep these games, their names and those of players and actions."""
        games: list[JsonObject] = []
        numbers = 0
        for number, form in enumerate(forms, 1):
            _refuse(number, form)
            numbers += form.payoffs.size
            games.append(
                {
                    "name": form.name,
                    "players": list(form.players),
                    "actions": [list(names) for names in form.actions],
                    "payoffs": form.payoffs.tolist(),
                }
            )
        if not games:
            raise SettingError("game", "expected at least one game, got an empty list")
        if numbers > _MOST_NUMBERS:
            raise SettingError(
                "game",
                f"expected at most {_MOST_NUMBERS:,} payoffs in all games together, got"
                f" {numbers:,}; split the list into several runs",
            )
        return cls(canonical(games), len(games))

    @property
    def name(self) -> str:
        """What a report calls them."""
        return f"{self.count} given games" if self.count > 1 else "1 given game"

    @cached_property
    def forms(self) -> tuple[NormalForm, ...]:
        """The games."""
        return tuple(_read_form(entry) for entry in json.loads(self.text))

    @property
    def tables(self) -> tuple[Array, ...]:
        """The payoffs (2, rows, columns) of every game."""
        return tuple(form.payoffs for form in self.forms)


def _read_form(entry: Mapping[str, object]) -> NormalForm:
    """Read a game that a run keeps.

    InvalidGame or KeyError where the text is not one that was kept.
    """
    players = entry["players"]
    actions = entry["actions"]
    if not isinstance(players, list) or not isinstance(actions, list):
        raise InvalidGame("expected the names of players and actions as lists")
    names = tuple(tuple(map(str, labels)) for labels in actions)
    payoffs = np.asarray(entry["payoffs"], dtype=np.float64)
    return NormalForm(payoffs, tuple(map(str, players)), names, str(entry["name"]))


def _refuse(number: int, form: object) -> None:
    """Refuse what is no payoff table of two players with few enough actions."""
    expected = "a list of games holds payoff tables of two players"
    if not isinstance(form, NormalForm):
        raise SettingError(
            "game", f"{expected}; game {number} is played in turn: bench it by itself"
        )
    if form.num_players != 2:
        raise SettingError(
            "game", f"{expected}; game {number} has {form.num_players} players: bench it by itself"
        )
    if max(form.shape) > MOST_ACTIONS:
        raise SettingError(
            "game", f"expected at most {MOST_ACTIONS} actions; game {number} has {max(form.shape)}"
        )


def _is_list(value: object) -> bool:
    """Say whether a value is a list of games and not the payoffs of one.

    It is one where a member is no row of numbers. Arrays are refused if they could also be the
    payoffs of one game: as many arrays as players, all of one shape, with an axis for each player.
    """
    if not isinstance(value, list | tuple) or not value:
        return isinstance(value, list | tuple)
    if any(_is_no_row(member) for member in value):
        return True
    shapes = [member.shape for member in value if isinstance(member, np.ndarray)]
    if not any(len(shape) > 1 for shape in shapes):
        return False
    if set(shapes) == {shapes[0]} and len(shapes) == len(value) == len(shapes[0]):
        raise SettingError(
            "game",
            f"{len(value)} arrays of one shape may be one game or {len(value)} games; write"
            ' {"tables": [A, B]} for one, [br.NormalForm.zero_sum(A), ...] for several',
        )
    return True


def _is_no_row(member: object) -> bool:
    """Say whether a member of a list can only be a game: a name, a file or an object."""
    return isinstance(member, str | Path) or not isinstance(
        member, Sequence | np.ndarray | int | float | np.number
    )


def read_games(value: Sequence[GameLike]) -> GivenGames:
    """Turn a list of games into what a run keeps of it.

    SettingError names the first that does not fit.
    """
    forms: list[NormalForm] = []
    for number, game in enumerate(value, 1):
        try:
            form = as_loaded_game(game).solvable()
        except (InvalidGame, UsageError) as error:
            raise SettingError("game", f"game {number} of the list: {error}") from None
        _refuse(number, form)
        assert isinstance(form, NormalForm)
        forms.append(form)
    return GivenGames.of(forms)


class BenchGamesSetting(Converted["GamesLike | None", "NamedGame | GivenGames | None"]):
    """One game, several, or none."""

    optional = True

    @classmethod
    def convert(cls, value: object, stored: bool) -> NamedGame | GivenGames:
        """Find the game, or keep the list."""
        if isinstance(value, GivenGames):
            return value
        if isinstance(value, Batch):
            return GivenGames.of(value)
        if isinstance(value, str) and value == ORDINAL:
            return GivenGames.of(ordinal.game for ordinal in ordinal_games())
        if isinstance(value, dict) and set(value) == {_MANY}:
            return GivenGames.of(_read_form(entry) for entry in value[_MANY])
        if not stored and _is_list(value):
            return read_games(value)  # type: ignore[arg-type]
        return GameSetting.convert(value, stored)  # type: ignore[arg-type]

    @classmethod
    def to_json(cls, value: NamedGame | GivenGames) -> dict[str, object]:
        """Return one game as its name or text, several as a list of tables."""
        if isinstance(value, GivenGames):
            return {_MANY: json.loads(value.text)}
        return dict(GameSetting.to_json(value))
