"""What a run of the verify study is: every setting that can change a number."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.named_game import NamedGame
from bestresponse.players.llm.verified import is_verified
from bestresponse.runs.checks import check_sizes, check_temperature
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

    Where the game is played move by move, it is told from the place on that the moves `after` lead to.
    """

    game: NamedGame
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
    after: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        form = self.form
        if isinstance(form, Tree):
            _check_tree(self.game.name, form)
        check_sizes(
            ("--repeats", self.repeats, 1, 100_000),
            ("--attempts", self.attempts, 1, 20),
            ("--max-tokens", self.max_tokens, 1, 100_000),
            ("--seat", self.seat + 1, 1, form.num_players),
        )
        for name in self.models:
            if is_verified(name):
                raise UsageError(f"{name}: this study checks the reasoning itself; name the model without `verified:`")
        if self.after and isinstance(form, NormalForm):
            raise UsageError(f"--after: nothing is chosen before in {self.game.name}, where all choose at once")
        if self.after and isinstance(form, Tree) and not form.is_perfect_information:
            raise UsageError(f"--after: {self.game.name} hides some moves; a model is asked from the start only")
        if self.manner not in MANNERS:
            raise UsageError(f"--feedback {self.manner!r}: expected {' or '.join(MANNERS)}")
        if self.unit not in UNITS:
            raise UsageError(f"--unit {self.unit!r}: expected {' or '.join(UNITS)}")
        check_temperature(self.temperature)

    @property
    def form(self) -> NormalForm | Tree:
        """The game as theory takes it."""
        return self.game.found.solvable()

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that is opened, each once."""
        both = (self.model,) if self.translator == RULES else (self.model, self.translator)
        return tuple(dict.fromkeys(both))

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        return asdict(self) | {"after": list(self.after)}

    @classmethod
    def from_json(cls, data: JsonMapping) -> VerifyConfig:
        """Return the value that `to_json` wrote."""
        known = {field.name for field in fields(cls)}
        plain = {name: value for name, value in data.items() if name in known}
        return cls(**(plain | {"game": NamedGame.from_json(data["game"]), "after": tuple(data["after"])}))


def _check_tree(name: str, game: Tree) -> None:
    """Raise a UsageError where the game cannot be told move by move."""
    if not game.is_perfect_information and game.num_players != 2:
        raise UsageError(
            f"{name} hides some moves from some of its {game.num_players} players; a model can reason about such games "
            "of two players. A text about this game is checked by --text"
        )
    moves = sum(depth * int((game.owner[nodes] == LEAF).sum()) for depth, nodes in enumerate(game.levels))
    if len(game.leaves) > MOST_WAYS or moves > MOST_MOVES:
        raise UsageError(
            f"{name} can end in {len(game.leaves):,} ways with {moves:,} moves together; at most {MOST_WAYS} ways "
            f"with {MOST_MOVES:,} moves can be told to a model"
        )
