"""The settings of the benchmark, of matrix games and of games played in turn."""

from __future__ import annotations

from functools import cached_property
from math import factorial
from typing import Literal

from bestresponse.core.errors import SettingError
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import split
from bestresponse.games.logic.tables import to_tree
from bestresponse.games.matrix.game import FORMATS, themes
from bestresponse.players.llm.verified import bare_name, is_verified, make_label
from bestresponse.runs.inputs import ModelsSetting, NamedModel, NamesSetting, OptionalGameSetting
from bestresponse.runs.settings import RunSettings, list_settings, setting, settings
from bestresponse.studies.bench.games import OWN, Source
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.generators import families
from bestresponse.theory.trees.tree import Tree

EMBEDDED = "smollm2"
_ELICITATIONS = ("mixed", "pure", "sampled", "logprobs")
_MOST_ACTIONS = 12
_MOST_PAYOFFS = 100_000
"""Of a game of more than two: its equilibrium is found in seconds."""
_USUAL_GAMES = 100
_FIRST_GAMES = 20
"""Of the embedded model alone, which takes some minutes for them: who tries it wants to see that everything works."""
_USUAL_ORDERS = 24
_DRAWING = ("num_rows", "num_cols", "family", "scale", "decimals")
"""The settings that say how games are drawn."""
_SHOWING = ("suite", "format", "theme", "precision")
"""The settings that a game played in turn does not have."""


@settings
class BenchConfig(RunSettings):
    """Measure the Nash gap and the exploitability of models on matrix games, or the policies of models in a tree.

    Games are drawn, or one is named: it is put to the models with its actions in many orders or, if it is played in
    turn, at every information set.
    """

    model: ModelsSetting = setting(default=(NamedModel(EMBEDDED),), kw_only=False, short="-m")
    """A model; verified:MODEL has its reasoning checked, again:MODEL is asked again as often and not told what was
    wrong, NAME=URL reports a server under that name."""
    game: OptionalGameSetting = setting(default=None, kw_only=False, argument=True)
    """A game or a file instead of drawn games; or `stories`."""
    num_games: int | None = setting(default=None, ge=1, le=1000000)
    """Games, orders of one game, or policies in a tree. [default: 100 or for smollm2 20, 24, 1]"""
    num_rows: int = setting(default=3, ge=1, le=_MOST_ACTIONS, help="Actions of the row player.")
    num_cols: int = setting(default=3, ge=1, le=_MOST_ACTIONS, help="Actions of the column player.")
    seed: int = setting(default=0, ge=0, help="Seed of games and orders, and of the seed that models are sent.")
    llm_seed: int | None = setting(default=None, help="Seed sent to the models that take one.")
    suite: Literal["standard", "invariance", "sensitivity", "generalisation"] = setting(default="standard")
    """What is varied besides the game."""
    family: str = setting(default="zero-sum")
    """Kind of games, such as zero-sum, uniform or covariant; see `bestresponse games`."""
    scale: float = setting(default=100.0, gt=0, lt=1e12, help="Payoffs are drawn from -scale to scale.")
    decimals: int = setting(default=0, ge=0, le=12, help="Decimals that payoffs are rounded to before all else.")
    elicit: NamesSetting = setting(default=())
    """mixed, pure, sampled or logprobs. [default: mixed; logprobs for the embedded model]"""
    format: NamesSetting = setting(default=("table",), help="table, prose or json.")
    theme: NamesSetting = setting(default=())
    """neutral, numbers, market, patrol, football; own, the default for a named game, keeps its names."""
    seat: NamesSetting = setting(default=())
    """row or col; in a game played in turn the name of a player. [default: row, or all]"""
    style: Literal["auto", "line", "json", "letter"] = setting(default="auto")
    """How to answer; auto is JSON where the model can be held to it."""
    temperature: float | None = setting(default=None, ge=0, le=5)
    """Sampling temperature. [default: 0, or 1 for sampled]"""
    plain: bool = setting(default=False, help="Have models answer at once instead of writing down their reasons first.")
    effort: Literal["minimal", "low", "medium", "high"] | None = setting(default=None)
    """How hard models that reason by themselves do so. [default: the provider's own]"""
    reasoning_tokens: int | None = setting(default=None, ge=1, le=1000000)
    """The most tokens for such reasoning, beside those of the reply."""
    max_tokens: int | None = setting(default=None, ge=1, le=100000)
    """Longest reply, in tokens. [default: 4000, or 512 without reasons]"""
    samples: int = setting(default=10, ge=1, le=10_000, help="Moves that are asked for where they are sampled.")
    max_infosets: int | None = setting(default=None, ge=1, le=1000000)
    """In a game played in turn: the most information sets, likeliest first."""
    attempts: int = setting(default=1, ge=1, le=20, help="How often a model may answer when an answer cannot be read.")
    precision: float | None = setting(default=None, gt=0)
    """Stop when the mean gap / payoff range is known to within this."""

    def __post_init__(self) -> None:
        self._refuse_useless()
        self._resolve()
        self._check_names()
        self._check_together()

    def _refuse_useless(self) -> None:
        useless, what = ["max_infosets"], "games that are drawn"
        if isinstance(self.form, Tree):
            useless, what = [*_DRAWING, *_SHOWING], "a game played in turn"
        elif self.form is not None:
            useless, what = [*_DRAWING, "max_infosets"], "one payoff table"
        for name in useless:
            if getattr(self, name) != list_settings(type(self))[name].default:
                raise SettingError(name, f"this does nothing for {what}")

    def _resolve(self) -> None:
        """Fill in the settings whose default depends on others."""
        small = set(self.model) == {EMBEDDED}  # it is too small to state a mixed strategy
        self._default("elicit", ("logprobs",) if small else ("mixed",))
        thinks = any(self.reasons(name, elicit) for name in self.model for elicit in self.elicit)
        self._default("max_tokens", 4000 if thinks else 512)
        sent = {choose_temperature(self.temperature, elicit) for elicit in self.elicit}
        self._default("temperature", sent.pop() if len(sent) == 1 else None)
        if isinstance(self.form, Tree):
            self._default("num_games", 1)
            self._default("seat", self.form.players)
            return
        keeps_names = self.form is not None and self.suite == "standard" and "logprobs" not in self.elicit
        orders = factorial(self.shape[0]) * factorial(self.shape[1])
        games = _FIRST_GAMES if small else _USUAL_GAMES
        self._default("num_games", games if self.form is None else min(_USUAL_ORDERS, orders))
        self._default("seat", ("row",))
        self._default("theme", (OWN,) if keeps_names else ("neutral",))

    def _default(self, name: str, value: object) -> None:
        if getattr(self, name) in (None, ()):
            object.__setattr__(self, name, value)

    def _check_names(self) -> None:
        known = {"elicit": _ELICITATIONS, "seat": self.form.players if isinstance(self.form, Tree) else ("row", "col")}
        if not isinstance(self.form, Tree):
            known |= {"family": families(), "format": FORMATS, "theme": (*themes(), *([OWN] if self.game else []))}
        for name, names in known.items():
            value = getattr(self, name)
            for chosen in (value,) if isinstance(value, str) else value:
                if chosen not in names:
                    hint = did_you_mean(chosen, list(names))
                    raise SettingError(name, f"expected one of {', '.join(names)}, got {chosen!r}.{hint}")
        if not self.model:
            raise SettingError("model", "expected at least one model")
        if len(set(self.labels)) < len(set(self.model)):
            raise SettingError("model", f"two have the same label among {', '.join(self.labels)}")

    def _check_together(self) -> None:
        """Refuse settings that exclude each other."""
        several = [name for name in ("format", "theme", "seat") if len(getattr(self, name)) > 1]
        verified = [name for name in self.model if is_verified(name)]
        tree = isinstance(self.form, Tree)
        one_letter = tree or set(self.theme) == {"neutral"}
        for wrong, name, problem in (
            (verified and tree, "model", "reasoning about a policy is not verified; leave out `verified:`"),
            (verified and "logprobs" in self.elicit, "elicit", "logprobs asks for no reasons that could be verified"),
            (not one_letter and "logprobs" in self.elicit, "elicit", "logprobs goes with the theme neutral only"),
            (verified and self.plain, "plain", "without reasons there is nothing to verify"),
            (verified and self.style in ("json", "letter"), "style", f"{self.style} leaves no room for reasons"),
            (self.style == "letter" and "mixed" in self.elicit, "style", "a letter cannot state a mixed strategy"),
            (self.precision and self.shard, "precision", "a part of a run cannot tell how precise the whole is"),
            (self.suite == "invariance" and several, (*several, "")[0], "this suite varies it itself; give one"),
            (self.suite == "invariance" and OWN in self.theme, "theme", "this suite gives other names; not own"),
            (
                self.suite in ("sensitivity", "generalisation") and self.game,
                "suite",
                f"{self.suite} draws games of other sizes; it takes no game of yours",
            ),
        ):
            if wrong:
                raise SettingError(name, problem)

    @cached_property
    def form(self) -> NormalForm | Tree | None:
        """The game that is named, as theory takes it; None where games are drawn."""
        if self.game is None:
            return None
        form = self.game.found.solvable()
        if isinstance(form, NormalForm):
            if max(form.shape) > _MOST_ACTIONS or form.payoffs.size > _MOST_PAYOFFS:
                size = f"{form.num_players} players with {max(form.shape)} actions at most"
                limits = f"{_MOST_ACTIONS} actions each and {_MOST_PAYOFFS:,} payoffs"
                raise SettingError("game", f"expected at most {limits}, got {size}")
            # more than two are asked as in a tree in which nobody sees what the others choose
            return form if form.num_players == 2 else to_tree(form)
        return form

    @property
    def shape(self) -> tuple[int, int]:
        """The actions of the row and of the column player."""
        if isinstance(self.form, NormalForm):
            return self.form.shape[0], self.form.shape[1]
        return self.num_rows, self.num_cols

    @property
    def source(self) -> Source:
        """Where the games of the run come from."""
        return Source(self.games, self.seed, self.shape, self.family, self.scale, self.decimals, self.game)

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """The models that are asked."""
        return self.model

    @property
    def labels(self) -> tuple[str, ...]:
        """The names under which the models are reported."""
        return tuple(make_label(name) for name in self.model)

    @property
    def games(self) -> int:
        """How many games, orders or policies there are."""
        return self.num_games or 1

    @property
    def reply_tokens(self) -> int:
        """How many tokens a reply may have."""
        return self.max_tokens or 1

    @property
    def paid_tokens(self) -> int:
        """How many tokens a reply may cost, those of the model's own reasoning among them."""
        return self.reply_tokens + (self.reasoning_tokens or 0)

    def reasons(self, model: str, elicit: str) -> bool:
        """Say whether a model writes down its reasons before it answers; the embedded one is too small for that."""
        roomy = elicit != "logprobs" and self.style not in ("json", "letter")
        return roomy and not self.plain and bare_name(model) != EMBEDDED

    def describe_asking(self, model: str, elicit: str) -> dict[str, bool | str | int]:
        """Return what a spec says of reasoning; nothing where a model answers at once."""
        asked = {"think": self.reasons(model, elicit), "effort": self.effort, "reasoning_tokens": self.reasoning_tokens}
        return {name: value for name, value in asked.items() if value}

    @property
    def sent_seed(self) -> int:
        """The seed that models are sent."""
        return self.llm_seed if self.llm_seed is not None else split(self.seed, "llm") % 2**31


def choose_temperature(wanted: float | None, elicit: str) -> float:
    """Return the temperature that is sent: probabilities of tokens are read, and samples drawn, at 1."""
    if elicit == "logprobs":
        return 1.0
    return wanted if wanted is not None else 1.0 if elicit == "sampled" else 0.0
