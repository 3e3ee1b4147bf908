"""The settings of the benchmark, of matrix games and of games played in turn."""

from __future__ import annotations

from functools import cached_property
from math import factorial
from typing import Literal

from bestresponse.analysis.solve.positions import solve_by_positions
from bestresponse.analysis.solve.solution import Wish
from bestresponse.core.capabilities import AnyPositions, HasPositions
from bestresponse.core.errors import SettingError
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import split
from bestresponse.games.lookup import NamedGame
from bestresponse.games.matrix.game import FORMATS, themes
from bestresponse.games.mechanisms import split_mechanisms
from bestresponse.games.twins.twin import TWINS, find_base
from bestresponse.models.base import REASONING_TOKENS
from bestresponse.players.llm.beliefs import BELIEFS
from bestresponse.players.llm.verified import bare_name, find_spelling, is_verified, make_label
from bestresponse.players.strategies import EQUILIBRIUM
from bestresponse.runs.inputs import DefaultModel, ModelsSetting, NamedModel, NamesSetting
from bestresponse.runs.settings import RunSettings, setting, settings
from bestresponse.studies.bench.families import (
    PropertiesSetting,
    read_properties,
)
from bestresponse.studies.bench.games import OWN, Source
from bestresponse.studies.bench.given import MOST_ACTIONS, BenchGamesSetting, GivenGames
from bestresponse.telling.render import MOST_TOKENS
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.generators import families
from bestresponse.theory.positions.solve import PositionSolution
from bestresponse.theory.trees.normal_form import to_tree
from bestresponse.theory.trees.tree import Tree

EMBEDDED = "smollm2"
ELICITATIONS = ("mixed", "pure", "sampled", "logprobs")
_MOST_PAYOFFS = 100_000
"""Of a game of more than two: its equilibrium is found in seconds."""
_USUAL_GAMES = 100
_FIRST_GAMES = 20
"""Of the embedded model alone, which takes some minutes for them: who tries it wants to see that
everything works."""
_USUAL_ORDERS = 24
_SECONDS = 300.0
"""In which the positions of a game have to be found."""
_DRAWING = ("num_rows", "num_cols", "family", "set", "scale", "decimals")
"""The settings that say how games are drawn."""
_SHOWING = ("suite", "format", "theme", "trials")
"""The settings that a game played in turn does not have."""
PLAYERS = ("random", "uniform", "maximin", EQUILIBRIUM)
"""Players that need no model."""
TREE_PLAYERS = ("random", "uniform", EQUILIBRIUM)
"""Those of them that a game played in turn has."""
_OF_MODELS = (
    "style",
    "temperature",
    "plain",
    "effort",
    "reasoning_tokens",
    "max_tokens",
    "max_prompt_tokens",
    "attempts",
)
"""The settings that say how a model is asked."""


@settings
class BenchConfig(RunSettings):
    """Measure how far from optimal models play: in payoff tables, in game trees, or at positions.

    Payoff tables are drawn at random unless you name a game. A named table is shown with its
    actions in many orders; in a sequential game, models are asked at every information set.
    """

    model: ModelsSetting = setting(default=(DefaultModel(EMBEDDED),), kw_only=False, short="-m")
    """A model; verified:MODEL has its reasoning checked, again:MODEL is asked again as often and
    not told what was wrong, NAME=URL reports a server under that name; random, uniform, maximin and
    equilibrium play without a model."""
    game: BenchGamesSetting = setting(default=None, kw_only=False, argument=True)
    """A game by name or file, instead of random games; or `stories`."""
    num_games: int | None = setting(default=None, ge=1, le=1000000)
    """Number of games; of a named game the orders of its actions, of a tree the policies, of a
    game solved by its positions the positions asked about. [default: 100, or 20 for smollm2; 24
    orders; 1 policy]"""
    num_rows: int = setting(
        default=3,
        ge=1,
        le=MOST_ACTIONS,
        help="Actions of the row player.",
    )
    num_cols: int = setting(
        default=3,
        ge=1,
        le=MOST_ACTIONS,
        help="Actions of the column player.",
    )
    seed: int = setting(
        default=0,
        ge=0,
        help="Seed for games and orders, and for the seed sent to models.",
    )
    llm_seed: int | None = setting(default=None, help="Seed sent to models that accept one.")
    trials: int = setting(default=1, ge=1, le=10_000)
    """Times each question is asked; every answer is measured."""
    suite: Literal[
        "standard",
        "invariance",
        "sensitivity",
        "buckets",
        "hard",
    ] = setting(default="standard")
    """What else is varied, or `hard`: large games whose equilibria mix many actions. On the command
    line also gtbench, plybench, ordinal144 or cards: the games of a benchmark, each in a run of its
    own."""
    family: str = setting(default="zero-sum")
    """Family of random games, such as zero-sum, uniform or covariant; see `bestresponse games`."""
    set: PropertiesSetting = setting(default=(), metavar="NAME=VALUE")
    """A parameter of the family, such as support=2 or equilibrium=mixed; an unknown name lists
    all."""
    scale: float = setting(
        default=100.0,
        gt=0,
        lt=1e12,
        help="Payoffs are drawn between -SCALE and SCALE.",
    )
    decimals: int = setting(
        default=0,
        ge=0,
        le=12,
        help="Decimals to which payoffs are rounded before the game is solved.",
    )
    elicit: NamesSetting = setting(default=())
    """How a strategy is asked for: mixed, pure, sampled or logprobs. [default: mixed; logprobs for
    the embedded model]"""
    format: NamesSetting = setting(
        default=("table",), help="How a game is written: table, prose or json."
    )
    theme: NamesSetting = setting(default=())
    """Names and story around a game: neutral, numbers, market, patrol or football; own keeps the
    names of a named game. [default: neutral; own for a named game]"""
    seat: NamesSetting = setting(default=())
    """Player that the model takes: row or col; in a tree the name of a player. [default: row; in a
    tree all]"""
    style: Literal["auto", "line", "json", "letter"] = setting(default="auto")
    """How models answer; auto uses JSON if the model follows a schema."""
    temperature: float | None = setting(default=None, ge=0, le=5)
    """Sampling temperature. [default: 0, or 1 for sampled and with trials]"""
    beliefs: bool = setting(default=False)
    """Also ask every model, as a player of its own (beliefs:MODEL), what the rules pay it and what
    the other player will do."""
    recognise: bool = setting(default=False)
    """Also ask every player which known game the rules tell, in a board game or one of its
    twins."""
    difficulty: Literal["any", "hard", "adaptive"] = setting(default="any")
    """Which positions of a game to ask about: hard ones are those where uniform play loses at least
    half of what the worst move loses; adaptive ones are where the next answer tells most after the
    ones before."""
    plain: bool = setting(
        default=False,
        help="Let models answer immediately, without writing down reasons first.",
    )
    effort: NamesSetting = setting(default=())
    """Reasoning effort, for models that have one: minimal, low, medium, high, or a number of
    tokens. [default: the provider's own]"""
    reasoning_tokens: int | None = setting(default=None, ge=1, le=1000000)
    """Maximum reasoning tokens, in addition to those of the reply."""
    max_tokens: int | None = setting(default=None, ge=1, le=100000)
    """Maximum tokens per reply. [default: 4000, or 512 without reasons]"""
    max_prompt_tokens: int = setting(default=MOST_TOKENS, ge=1, le=1_000_000)
    """Maximum tokens per prompt, of about 3 characters; longer ones are refused before any call."""
    samples: int = setting(
        default=10,
        ge=1,
        le=10_000,
        help="Moves to sample per question, with --elicit sampled.",
    )
    max_infosets: int | None = setting(default=None, ge=1, le=1000000)
    """Maximum information sets of a tree, the most likely first.

    [default: all, or 100 of a tree of more than 20,000 nodes]"""
    attempts: int = setting(
        default=1,
        ge=1,
        le=20,
        help="Maximum attempts per question if an answer is unreadable.",
    )

    def __post_init__(self) -> None:
        self._refuse_useless()
        self._resolve()
        self._check_names()
        self._check_together()

    def _refuse_useless(self) -> None:
        useless = ["max_infosets"]
        what = "games that are drawn"
        if self.is_in_turn:
            useless = [*_DRAWING, *_SHOWING]
            what = "a game played in turn"
            if self.positions is not None:
                useless.append("max_infosets")
                what = "a game solved by its positions"
        elif self.game is not None:
            useless = [*_DRAWING, "max_infosets"]
            what = "a list of games" if isinstance(self.game, GivenGames) else "one payoff table"
        if self.positions is None:
            useless.append("difficulty")
        self.refuse_set(useless, f"this has no effect on {what}")
        if all(is_player(name) for name in self.model):
            self.refuse_set(_OF_MODELS, "this has no effect on players without a model")

    def _resolve(self) -> None:
        """Fill in the settings whose default depends on others."""
        if self.beliefs:
            arms = dict.fromkeys(self.model)
            for name in filter(lambda name: not name.startswith(BELIEFS), self.models):
                arms[NamedModel(BELIEFS + name, name.model)] = None
            object.__setattr__(self, "model", tuple(arms))
        small = {*self.model} == {EMBEDDED}  # it is too small to state a mixed strategy
        object.__setattr__(self, "set", read_properties(self.family, self.set) if self.set else ())
        usual = "mixed" if self.positions is None else "pure"
        self._default("elicit", ("logprobs",) if small else (usual,))
        if self.models:
            thinks = any(
                self.reasons(name, elicit) for name in self.models for elicit in self.elicit
            )
            self._default("max_tokens", 4000 if thinks else 512)
            if self.trials > 1:  # at 0 the answers to one question would hardly differ
                self._default("temperature", 1.0)
            sent = {choose_temperature(self.temperature, elicit) for elicit in self.elicit}
            self._default("temperature", sent.pop() if len(sent) == 1 else None)
        if self.is_in_turn:
            policies = _USUAL_GAMES if self.positions is not None else 1
            self._default("num_games", _FIRST_GAMES if small and policies > 1 else policies)
            self._default("seat", self.players)
            return
        keeps_names = (
            self.game is not None and self.suite == "standard" and "logprobs" not in self.elicit
        )
        games = _FIRST_GAMES if small else _USUAL_GAMES
        if isinstance(self.game, GivenGames):
            games = self.game.count
        elif self.game is not None:
            games = min(_USUAL_ORDERS, factorial(self.shape[0]) * factorial(self.shape[1]))
        self._default("num_games", games)
        self._default("seat", ("row",))
        self._default("theme", (OWN,) if keeps_names else ("neutral",))

    def _default(self, name: str, value: object) -> None:
        if getattr(self, name) in (None, ()):
            object.__setattr__(self, name, value)

    def _check_names(self) -> None:
        known = {
            "elicit": ELICITATIONS,
            "effort": (*REASONING_TOKENS, *filter(str.isdecimal, self.effort)),
            "seat": self.players if self.is_in_turn else ("row", "col"),
        }
        if not self.is_in_turn:
            known |= {
                "family": families(),
                "format": FORMATS,
                "theme": (*themes(), *([OWN] if self.game else [])),
            }
        for name, names in known.items():
            value = getattr(self, name)
            if not isinstance(value, str) and len(set(value)) < len(value):
                raise SettingError(name, "a name occurs twice; give each once")
            for chosen in (value,) if isinstance(value, str) else value:
                if chosen not in names:
                    hint = did_you_mean(chosen, list(names))
                    raise SettingError(
                        name, f"expected one of {', '.join(names)}, got {chosen!r}.{hint}"
                    )
        if not self.model:
            raise SettingError("model", "expected at least one model")
        self._check_players()
        if len(set(self.labels)) < len(self.model):
            raise SettingError("model", f"two have the same label among {', '.join(self.labels)}")

    def _check_players(self) -> None:
        """Refuse players without a model if they cannot play.

        Also refuses models that have the name of such a player.
        """
        for name in self.model:
            if bare_name(name) in PLAYERS and name.model is not None:
                problem = "is the name of a player without a model; give yours another name"
                raise SettingError("model", f"{name} {problem}")
            if bare_name(name) in PLAYERS and (spelling := find_spelling(name)):
                why = "gives no reasons that could be verified, and no beliefs; leave out"
                raise SettingError("model", f"{bare_name(name)} {why} `{spelling}`")
            if is_player(name) and self.is_in_turn and name not in TREE_PLAYERS:
                known = ", ".join(TREE_PLAYERS)
                raise SettingError(
                    "model", f"{name} plays payoff tables; a game played in turn has {known}"
                )
            if is_player(name) and "logprobs" in self.elicit:
                raise SettingError(
                    "elicit", f"logprobs reads the tokens of a model, and {name} is none"
                )

    def _check_together(self) -> None:
        """Refuse settings that exclude each other."""
        if any(name == "low" for name, _ in self.set):
            self.refuse_set(
                ["scale"],
                "low and high say between which numbers payoffs are drawn; give these alone",
            )
        if isinstance(self.game, GivenGames) and self.games > self.game.count:
            raise SettingError(
                "num_games", f"there are {self.game.count} games in the list, not {self.games}"
            )
        if not isinstance(self.game, NamedGame) or not find_base(self.game.name):
            told = f"this asks about {', '.join(TWINS)} and their twins"
            self.refuse_set(["recognise"], told)
        if self.is_adaptive:
            self.refuse_set(["recognise"], "an adaptive run asks for moves alone")
            if {*self.elicit} != {"pure"}:
                raise SettingError("elicit", "an adaptive run asks for moves; leave it at pure")
        if "sampled" not in self.elicit:
            self.refuse_set(["samples"], "this has no effect unless elicit has `sampled`")
        if self.style == "letter" and "mixed" in self.elicit:
            raise SettingError("style", "a letter cannot state a mixed strategy")
        if "logprobs" in self.elicit:
            self._check_logprobs()
        if any(is_verified(name) for name in self.model):
            self._check_verified()
        if any(name.startswith(BELIEFS) for name in self.model):
            if self.is_in_turn:
                raise SettingError("model", "beliefs are asked for in payoff tables of two players")
            for way in ("logprobs", "sampled"):
                if way in self.elicit:
                    raise SettingError("elicit", f"{way} leaves no room to say what is expected")
        self._check_suite()

    def _check_logprobs(self) -> None:
        """Refuse what makes no sense where the odds of the next token are read."""
        one_letter = self.is_in_turn or {*self.theme} == {"neutral"}
        if not one_letter:
            raise SettingError("elicit", "logprobs works only with the theme neutral")
        if self.trials > 1:
            raise SettingError("trials", "logprobs are the same each time")

    def _check_verified(self) -> None:
        """Refuse what leaves a verified model no reasons that could be checked."""
        if self.is_in_turn:
            problem = "reasoning about a policy is not verified; leave out `verified:`"
            raise SettingError("model", problem)
        if "logprobs" in self.elicit:
            raise SettingError("elicit", "logprobs asks for no reasons that could be verified")
        if self.plain:
            raise SettingError("plain", "without reasons there is nothing to verify")
        if self.style in ("json", "letter"):
            raise SettingError("style", f"{self.style} leaves no room for reasons")

    def _check_suite(self) -> None:
        """Refuse what the suite sets itself."""
        several = [name for name in ("format", "theme", "seat") if len(getattr(self, name)) > 1]
        match self.suite:
            case "invariance":
                if several:
                    raise SettingError(several[0], "this suite varies it; give a single value")
                if OWN in self.theme:
                    raise SettingError("theme", "this suite gives other names; not own")
            case "buckets":
                if self.family != "zero-sum":
                    problem = "the suite buckets draws zero-sum games; leave it out"
                    raise SettingError("family", problem)
                if self.set:
                    problem = "the suite buckets sets the parameters itself; leave them out"
                    raise SettingError("set", problem)
            case "hard":
                drawn = ["num_rows", "num_cols", "family", "set"]
                self.refuse_set(drawn, "the suite hard draws its own games; leave it out")
        if self.game and self.suite in ("buckets", "sensitivity", "hard"):
            problem = f"{self.suite} draws games of other sizes; it takes no game of yours"
            raise SettingError("suite", problem)

    @cached_property
    def form(self) -> NormalForm | Tree | None:
        """The one game that is named, as theory takes it.

        Returns None where games are drawn or several are given.
        """
        if not isinstance(self.game, NamedGame) or self.positions is not None:
            return None
        form = self.game.loaded.solvable()
        if isinstance(form, NormalForm):
            if max(form.shape) > MOST_ACTIONS or form.payoffs.size > _MOST_PAYOFFS:
                size = f"{form.num_players} players with {max(form.shape)} actions at most"
                limits = f"{MOST_ACTIONS} actions each and {_MOST_PAYOFFS:,} payoffs"
                raise SettingError("game", f"expected at most {limits}, got {size}")
            # more than two are asked as in a tree in which nobody sees what the others choose,
            # and so is whoever has to be told of a mechanism
            told = form.num_players > 2 or bool(split_mechanisms(self.game.name)[1])
            return to_tree(form) if told else form
        return form

    @cached_property
    def positions(self) -> AnyPositions | None:
        """The one game that is named, where it is solved by its positions."""
        if not isinstance(self.game, NamedGame):
            return None
        game = self.game.game()
        return game if isinstance(game, HasPositions) else None

    @cached_property
    def solved(self) -> PositionSolution:
        """The values of all positions of that game; SettingError where it has too many."""
        assert self.positions is not None
        found = solve_by_positions(self.positions, Wish(seconds=_SECONDS)).solution
        if not found.graph.is_complete:
            raise SettingError(
                "game",
                f"more than {len(found.graph.owner):,} positions were found in {_SECONDS:g} s, so"
                " nobody knows what a move is worth; use a smaller version of the game",
            )
        return found

    @property
    def is_adaptive(self) -> bool:
        """Whether everybody is asked what tells most after the answers before."""
        return self.difficulty == "adaptive"

    @property
    def is_in_turn(self) -> bool:
        """Whether the one game that is named is played in turn."""
        return self.positions is not None or isinstance(self.form, Tree)

    @property
    def players(self) -> tuple[str, ...]:
        """Who plays the one game that is named, where it is played in turn."""
        if self.positions is not None:
            return self.positions.roles
        return self.form.players if isinstance(self.form, Tree) else ()

    @property
    def shape(self) -> tuple[int, int]:
        """The actions of the row and of the column player.

        In a list of games those of the first.
        """
        if isinstance(self.game, GivenGames):
            first = self.game.forms[0]
            return first.shape[0], first.shape[1]
        if isinstance(self.form, NormalForm):
            return self.form.shape[0], self.form.shape[1]
        return self.num_rows, self.num_cols

    @property
    def source(self) -> Source:
        """Where the games of the run come from."""
        sets_range = any(name == "low" for name, _ in self.set)
        return Source(
            num_games=self.games,
            seed=self.seed,
            shape=self.shape,
            family=self.family,
            scale=1.0 if sets_range else self.scale,
            decimals=self.decimals,
            game=self.game,
            properties=self.set,
            hard=self.suite == "hard",
        )

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """The models that are asked: not the players without one."""
        return tuple(name for name in self.model if not is_player(name))

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

        def count_thought(effort: str) -> int:
            if effort.isdecimal():
                return int(effort)
            return self.reasoning_tokens or REASONING_TOKENS.get(effort, 0)

        return self.reply_tokens + max(map(count_thought, self.effort or ("",)))

    def reasons(self, model: str, elicit: str) -> bool:
        """Say whether a model writes down its reasons before it answers.

        The embedded one is too small for that.
        """
        roomy = elicit != "logprobs" and self.style not in ("json", "letter")
        return roomy and not self.plain and bare_name(model) not in (EMBEDDED, *PLAYERS)

    def describe_asking(self, model: str, elicit: str, effort: str) -> dict[str, bool | str | int]:
        """Return what a spec says of reasoning; nothing where a model answers at once."""
        tokens = int(effort) if effort.isdecimal() else self.reasoning_tokens
        asked: dict[str, bool | str | int | None] = {
            "think": self.reasons(model, elicit),
            "effort": "" if effort.isdecimal() else effort,
            "reasoning_tokens": tokens,
        }
        return {name: value for name, value in asked.items() if value}

    @cached_property
    def sent_seed(self) -> int:
        """The seed that models are sent."""
        return self.llm_seed if self.llm_seed is not None else split(self.seed, "llm") % 2**31


def is_player(name: str) -> bool:
    """Say whether a name is that of a player without a model."""
    return name in PLAYERS


def choose_temperature(wanted: float | None, elicit: str) -> float:
    """Return the temperature that is sent.

    Probabilities of tokens are read, and samples drawn, at 1.
    """
    if elicit == "logprobs":
        return 1.0
    if wanted is not None:
        return wanted
    return 1.0 if elicit == "sampled" else 0.0
