"""What a run of the verify study is: every setting that can change a number."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.players.llm.verified import is_verified
from bestresponse.studies.verify.disguise import moves_by_player
from bestresponse.theory.files.efg import format_efg
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import LEAF, Tree

__all__ = ["RULES", "VerifyConfig"]

RULES = "rules"
MANNERS = ("positive", "negative")
UNITS = ("text", "paragraph")
MOST_WAYS = 200
"""In how many ways a game played move by move may end: all of them are told."""
MOST_MOVES = 2_000
"""How many moves these ways may have together."""


@dataclass(frozen=True, slots=True)
class VerifyConfig:
    """One run: a game told without its name, a reasoner, a translator, and the loop between them.

    The game is a table (`payoffs`) or, where it is played move by move, the text of an .efg file (`tree`), from the
    place on that the moves `after` lead to.
    """

    game: str
    players: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    payoffs: Any
    model: str
    translator: str = RULES
    repeats: int = 30
    attempts: int = 5
    manner: str = "positive"
    unit: str = "text"
    disguised: bool = True
    inverted: bool = True
    seat: int = 0
    temperature: float | None = 1.0
    max_tokens: int = 1024
    seed: int | None = None
    tree: str | None = None
    after: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, game: NormalForm | Tree, **settings: Any) -> VerifyConfig:
        """A run about `game`; UsageError where it cannot be told move by move."""
        if isinstance(game, NormalForm):
            return cls(name, game.players, game.actions, game.payoffs.tolist(), **settings)
        if not game.is_perfect_information:
            raise UsageError(
                f"{name} hides some moves from some players; a model can reason about games in which all choose at "
                "once, or one after the other with everything in sight. A text about this game is checked by --text"
            )
        moves = sum(depth * int((game.owner[nodes] == LEAF).sum()) for depth, nodes in enumerate(game.levels))
        if len(game.leaves) > MOST_WAYS or moves > MOST_MOVES:
            raise UsageError(
                f"{name} can end in {len(game.leaves):,} ways with {moves:,} moves together; at most {MOST_WAYS} ways "
                f"with {MOST_MOVES:,} moves can be told to a model"
            )
        return cls(name, game.players, moves_by_player(game), None, tree=format_efg(game), **settings)

    def __post_init__(self) -> None:
        limits = (
            ("--repeats", self.repeats, 1, 100_000),
            ("--attempts", self.attempts, 1, 20),
            ("--max-tokens", self.max_tokens, 1, 100_000),
            ("--seat", self.seat + 1, 1, len(self.players)),
        )
        for option, given, least, most in limits:
            if not least <= given <= most:
                raise UsageError(f"{option} {given}: expected a whole number from {least} to {most}")
        for name in self.models:
            if is_verified(name):
                raise UsageError(f"{name}: this study checks the reasoning itself; name the model without `verified:`")
        if self.after and self.tree is None:
            raise UsageError(f"--after: nothing is chosen before in {self.game}, where all choose at once")
        if self.manner not in MANNERS:
            raise UsageError(f"--feedback {self.manner!r}: expected {' or '.join(MANNERS)}")
        if self.unit not in UNITS:
            raise UsageError(f"--unit {self.unit!r}: expected {' or '.join(UNITS)}")
        if self.temperature is not None and not 0 <= self.temperature <= 5:
            raise UsageError(f"--temperature {self.temperature:g}: expected a number from 0 to 5")

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that is opened, each once."""
        both = (self.model,) if self.translator == RULES else (self.model, self.translator)
        return tuple(dict.fromkeys(both))

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        data = asdict(self)
        if self.tree is None:
            del data["tree"]
        lists = {"players": list(self.players), "actions": [list(own) for own in self.actions]}
        if self.after:
            return data | lists | {"after": list(self.after)}
        del data["after"]
        return data | lists

    @classmethod
    def from_json(cls, data: JsonMapping) -> VerifyConfig:
        """Return the value that `to_json` wrote."""
        known = {field.name for field in fields(cls)}
        plain = {name: value for name, value in data.items() if name in known}
        names = {"players": tuple(plain["players"]), "actions": tuple(tuple(own) for own in plain["actions"])}
        return cls(**(plain | names | {"after": tuple(plain.get("after", ()))}))
