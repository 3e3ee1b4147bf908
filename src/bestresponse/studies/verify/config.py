"""What a run of the loop is told: models, games and how they are told, who checks the reasoning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

from bestresponse.core.errors import SettingError
from bestresponse.formal.claims.checker import BOTH_SOLVERS, list_solvers
from bestresponse.formal.claims.claim import FormSet
from bestresponse.formal.claims.translation import translators
from bestresponse.games.lookup import NamedGame
from bestresponse.players.llm.verified import find_spelling
from bestresponse.runs.inputs import (
    FileTextSetting,
    ModelSetting,
    ModelsSetting,
    NamedGamesSetting,
    NamedModel,
    NamesSetting,
    list_once,
)
from bestresponse.runs.settings import RunSettings, setting, settings
from bestresponse.studies.verify.scenes import (
    Scene,
    TableScene,
    TreeScene,
    disguised,
    disguised_tree,
    name_moves,
)
from bestresponse.studies.verify.texts import TEXTS
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import LEAF, Tree

AUTO = "auto"
"""The translator that is the model which reasons."""
_MOST_WAYS = 200
"""In how many ways a game played move by move may end: all of them are told."""
_MOST_MOVES = 2_000
"""How many moves these ways may have together."""


@settings
class VerifyConfig(RunSettings):
    """Let a model reason about a game, refute its errors, and measure the change from the first to
    the last attempt."""

    model: ModelsSetting = setting(kw_only=False, short="-m", help="A model that reasons.")
    game: NamedGamesSetting = setting(kw_only=False, argument=True)
    """Games: names of the catalogue, or files (.nfg .efg .json .pl)."""
    translator: ModelSetting = setting(default=AUTO)
    """Who finds the claims: auto (the model that reasons), a model, rules (no model), or an
    installed translator."""
    forms: FormSet = setting(default="all")
    """Which claims count: all, those about payoffs, or those of LELMA's thirteen queries."""
    solver: str = setting(default=BOTH_SOLVERS)
    """What decides claims: both (logic and theory), theory alone, or an installed solver."""
    repeats: int = setting(default=30, ge=1, le=100_000)
    """Runs per model and game."""
    attempts: int = setting(default=5, ge=1, le=20, help="Maximum attempts per problem.")
    feedback: Literal["positive", "negative"] = setting(default="positive")
    """What the model is told about a refuted claim: the true values, or its negation."""
    framing: Literal["human", "rational"] = setting(default="human")
    """human says nothing about goals; rational says that everybody is rational and maximises their
    own payoff."""
    instruction: FileTextSetting = setting(default=None, metavar="FILE")
    """A text file with the instruction to the reasoner, in place of ours. With the place $game it
    is the whole prompt, and nothing is added to it."""
    disguised: bool = setting(
        default=True, help="Use letters instead of the game's own names of moves."
    )
    inverted: bool = setting(default=True, help="Reverse the order of actions.")
    seat: str | None = setting(default=None, help="Player who reasons. [default: the first]")
    after: NamesSetting = setting(default=())
    """In a game played move by move: the moves made before, in order."""
    think: bool = setting(default=True)
    """Ask the model to write down its reasons before it answers."""
    temperature: float = setting(
        default=1.0, ge=0, le=5, help="Sampling temperature of the reasoner."
    )
    max_tokens: int = setting(default=1024, ge=1, le=100_000, help="Maximum tokens per reply.")
    llm_seed: int | None = setting(default=None, help="Seed sent to the models.")
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "paper": {
            "forms": "paper",
            "think": False,
            "temperature": 1.0,
            "max_tokens": 1024,
            "attempts": 5,
            "llm_seed": 0,
            "repeats": 30,
        }
    }

    def __post_init__(self) -> None:
        if not isinstance(self.translator, NamedModel):
            object.__setattr__(self, "translator", NamedModel(self.translator))
        if self.solver not in list_solvers():
            raise SettingError(
                "solver",
                f"there is no solver {self.solver!r}; expected one of {', '.join(list_solvers())}",
            )
        for field, given in (("model", self.model), ("game", self.game)):
            if not given:
                raise SettingError(field, "expected at least one")
        names = [game.name for game in self.game]
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise SettingError("game", f"{twice[0]!r} is named twice; name each game once")
        for model in self.models:
            if spelling := find_spelling(model):
                raise SettingError(
                    "model",
                    f"{model}: the reasoning is checked anyway; name it without `{spelling}`",
                )
        for game in self.game:
            self._check_game(game)

    def _check_game(self, game: NamedGame) -> None:
        """Refuse a game that has no such seat, or that cannot be told."""
        form = game.loaded.solvable()
        if self.seat is not None and self.seat not in form.players:
            raise SettingError(
                "seat", f"there is no player {self.seat!r}; expected {' or '.join(form.players)}"
            )
        if isinstance(form, Tree):
            self._check_tree(game.name, form)
        elif self.after:
            raise SettingError(
                "after", f"nothing is chosen before in {game.name}, where all choose at once"
            )

    def _check_tree(self, name: str, form: Tree) -> None:
        """Refuse a game that cannot be told move by move."""
        hides = not form.is_perfect_information
        if self.after and hides:
            raise SettingError(
                "after", f"{name} hides some moves; a model is asked from the start only"
            )
        if hides and form.num_players != 2:
            raise SettingError(
                "game",
                f"{name} hides some moves from some of its {form.num_players} players; a model can"
                " reason about such games of two players. A text about this game can be checked",
            )
        moves = 0
        for depth, nodes in enumerate(form.levels):
            moves += depth * int((form.owner[nodes] == LEAF).sum())
        if len(form.leaves) > _MOST_WAYS or moves > _MOST_MOVES:
            raise SettingError(
                "game",
                f"{name} can end in {len(form.leaves):,} ways with {moves:,} moves together; at"
                f" most {_MOST_WAYS} ways with {_MOST_MOVES:,} moves can be told to a model",
            )

    @cached_property
    def scenes(self) -> Mapping[str, Scene]:
        """Every game as it is told, by its name, and what choices are worth in it."""
        return {game.name: self._set_scene(game.loaded.solvable()) for game in self.game}

    def _set_scene(self, form: NormalForm | Tree) -> Scene:
        seat = 0 if self.seat is None else form.players.index(self.seat)
        aim = TEXTS.text("aim_rational") if self.framing == "rational" else ""
        if isinstance(form, NormalForm):
            told = disguised(form, letters=self.disguised, inverted=self.inverted)
            return TableScene(seat, original=form, form=told, inverted=self.inverted, aim=aim)
        tree = disguised_tree(form, letters=self.disguised, inverted=self.inverted)
        scene = TreeScene(
            seat, original=form, tree=tree, inverted=self.inverted, after=self.after, aim=aim
        )
        scene.check()
        return scene

    @property
    def scene(self) -> Scene:
        """The scene of the first game."""
        return self.scenes[self.game[0].name]

    @property
    def moves(self) -> Mapping[str, tuple[dict[str, str], ...]]:
        """By game, for each player its moves as they are told, each with its name in the game."""
        return {
            game.name: name_moves(game.loaded.solvable(), letters=self.disguised)
            for game in self.game
        }

    @property
    def system(self) -> str:
        """The instruction to the reasoner."""
        return self.instruction or TEXTS.text("reasoner")

    @property
    def is_template(self) -> bool:
        """Whether the instruction is the whole prompt, with a place for the game."""
        return "$game" in (self.instruction or "")

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """Every model that is opened, each once."""
        offline = (AUTO, *translators.names())
        translating = () if self.translator in offline else (self.translator,)
        return list_once((*self.model, *translating))

    def name_translator(self, reasoner: str) -> str:
        """Name who translates what `reasoner` wrote: a model, or an installed translator."""
        return reasoner if self.translator == AUTO else str(self.translator)

    @property
    def translated_by(self) -> str:
        """Who translates, in words."""
        if self.translator != AUTO:
            return str(self.translator)
        return "itself" if len(self.model) == 1 else "each model itself"
