"""The settings of the benchmark, of matrix games and of games played in turn, and the games of a
run.

Game k depends only on the seed and k. Payoffs are multiplied by `scale` and rounded to `decimals`,
then solved as rounded: what a model is shown is what it is measured against. One game that the user
names is put in as many orders of its rows and columns as there are games, the first being its own:
a single answer says little about a player.

What should not change a rational player's answer:

    permuted     rows and columns in another order          swapped     the players change seats
    shifted      a constant added to all payoffs            scaled      all payoffs times three
    relabelled   other names for the actions                disguised   a story around it
    format       another way to write it down               padded      one dominated action more
                 for each player

Which plays a benchmark run consists of, and how one is made.

A run has one or more conditions (other sizes, scales or temperatures; one in the standard suite).
In each, every game is put to every model in every way of asking, format, theme, seat and variant,
games in the outermost loop: a run that stops early has put the same games to all. The opponent of
the model is fixed to its equilibrium strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import permutations, product
from math import factorial
from random import Random
from typing import Literal

import numpy as np

from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Player
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import generator, split
from bestresponse.games.lookup import NamedGame
from bestresponse.games.matrix.game import FORMATS, MatrixGame, Theme, theme, themes
from bestresponse.models.base import REASONING_TOKENS, Model
from bestresponse.players.llm.player import (
    FirstToken,
    LlmPlayer,
    Sampled,
    Sampling,
    Style,
    Thinking,
)
from bestresponse.players.llm.verified import bare_name, is_verified, make_label, with_review
from bestresponse.players.strategies import EQUILIBRIUM, BaselinePlayer, FixedMix
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.inputs import ModelsSetting, NamedModel, NamesSetting
from bestresponse.runs.settings import RunSettings, setting, settings
from bestresponse.runs.store.folder import Spec
from bestresponse.studies.bench.families import (
    Properties,
    PropertiesSetting,
    draw_family,
    read_properties,
)
from bestresponse.studies.bench.given import MOST_ACTIONS, BenchGamesSetting, GivenGames
from bestresponse.telling.render import MOST_TOKENS
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.equilibria.selection import select_equilibria
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.generators import families
from bestresponse.theory.trees.normal_form import to_tree
from bestresponse.theory.trees.tree import Tree
from bestresponse.theory.zero_sum.solve import ZeroSumSolutions, solve_zero_sum

EMBEDDED = "smollm2"
ELICITATIONS = ("mixed", "pure", "sampled", "logprobs")
_MOST_PAYOFFS = 100_000
"""Of a game of more than two: its equilibrium is found in seconds."""
_USUAL_GAMES = 100
_FIRST_GAMES = 20
"""Of the embedded model alone, which takes some minutes for them: who tries it wants to see that
everything works."""
_USUAL_ORDERS = 24
_DRAWING = ("num_rows", "num_cols", "family", "set", "scale", "decimals")
"""The settings that say how games are drawn."""
_SHOWING = ("suite", "format", "theme", "precision", "trials")
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
    """Measure the Nash gap and the exploitability of models in matrix games, or of their policies
    in a tree.

    Games are drawn at random unless you name one. A named game is shown with its actions in many
    orders; in a sequential game, models are asked at every information set.
    """

    model: ModelsSetting = setting(default=(NamedModel(EMBEDDED),), kw_only=False, short="-m")
    """A model; verified:MODEL has its reasoning checked, again:MODEL is asked again as often and
    not told what was wrong, NAME=URL reports a server under that name; random, uniform, maximin and
    equilibrium play without a model."""
    game: BenchGamesSetting = setting(default=None, kw_only=False, argument=True)
    """A game by name or file, instead of random games; or `stories`."""
    num_games: int | None = setting(default=None, ge=1, le=1000000)
    """Number of games; of a named game the orders of its actions, of a tree the policies. [default:
    100, or 20 for smollm2; 24 orders; 1 policy]"""
    num_rows: int = setting(default=3, ge=1, le=MOST_ACTIONS, help="Actions of the row player.")
    num_cols: int = setting(default=3, ge=1, le=MOST_ACTIONS, help="Actions of the column player.")
    seed: int = setting(
        default=0, ge=0, help="Seed for games and orders, and for the seed sent to models."
    )
    llm_seed: int | None = setting(default=None, help="Seed sent to models that accept one.")
    trials: int = setting(default=1, ge=1, le=10_000)
    """Times each question is asked; every answer is measured."""
    suite: Literal["standard", "invariance", "sensitivity", "generalisation", "buckets"] = setting(
        default="standard"
    )
    """What else is varied: a suite of conditions."""
    family: str = setting(default="zero-sum")
    """Family of random games, such as zero-sum, uniform or covariant; see `bestresponse games`."""
    set: PropertiesSetting = setting(default=(), metavar="NAME=VALUE")
    """A parameter of the family, such as support=2 or equilibrium=mixed; an unknown name lists
    all."""
    scale: float = setting(
        default=100.0, gt=0, lt=1e12, help="Payoffs are drawn between -SCALE and SCALE."
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
    plain: bool = setting(
        default=False,
        help="Let models answer immediately, without writing down reasons first.",
    )
    effort: Literal["minimal", "low", "medium", "high"] | None = setting(default=None)
    """Reasoning effort, for models that have one. [default: the provider's own]"""
    reasoning_tokens: int | None = setting(default=None, ge=1, le=1000000)
    """Maximum reasoning tokens, in addition to those of the reply."""
    max_tokens: int | None = setting(default=None, ge=1, le=100000)
    """Maximum tokens per reply. [default: 4000, or 512 without reasons]"""
    max_prompt_tokens: int = setting(default=MOST_TOKENS, ge=1, le=1_000_000)
    """Maximum tokens per prompt, of about 3 characters; longer ones are refused before any call."""
    samples: int = setting(
        default=10, ge=1, le=10_000, help="Moves to sample per question, with --elicit sampled."
    )
    max_infosets: int | None = setting(default=None, ge=1, le=1000000)
    """Maximum information sets of a tree, the most likely first."""
    attempts: int = setting(
        default=1, ge=1, le=20, help="Maximum attempts per question if an answer is unreadable."
    )
    precision: float | None = setting(default=None, gt=0)
    """Stop when the mean gap / payoff range is known to within this margin."""

    def __post_init__(self) -> None:
        self._refuse_useless()
        self._resolve()
        self._check_names()
        self._check_together()

    def _refuse_useless(self) -> None:
        useless = ["max_infosets"]
        what = "games that are drawn"
        if isinstance(self.form, Tree):
            useless = [*_DRAWING, *_SHOWING]
            what = "a game played in turn"
        elif self.game is not None:
            useless = [*_DRAWING, "max_infosets"]
            what = "a list of games" if isinstance(self.game, GivenGames) else "one payoff table"
        self.refuse_set(useless, f"this has no effect on {what}")
        if all(is_player(name) for name in self.model):
            self.refuse_set(_OF_MODELS, "this has no effect on players without a model")

    def _resolve(self) -> None:
        """Fill in the settings whose default depends on others."""
        small = {*self.model} == {EMBEDDED}  # it is too small to state a mixed strategy
        object.__setattr__(self, "set", read_properties(self.family, self.set) if self.set else ())
        self._default("elicit", ("logprobs",) if small else ("mixed",))
        if self.models:
            thinks = any(
                self.reasons(name, elicit) for name in self.models for elicit in self.elicit
            )
            self._default("max_tokens", 4000 if thinks else 512)
            if self.trials > 1:  # at 0 the answers to one question would hardly differ
                self._default("temperature", 1.0)
            sent = {choose_temperature(self.temperature, elicit) for elicit in self.elicit}
            self._default("temperature", sent.pop() if len(sent) == 1 else None)
        if isinstance(self.form, Tree):
            self._default("num_games", 1)
            self._default("seat", self.form.players)
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
            "seat": self.form.players if isinstance(self.form, Tree) else ("row", "col"),
        }
        if not isinstance(self.form, Tree):
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
        """Refuse players without a model where they cannot play, and models that are called as they
        are."""
        for name in self.model:
            if bare_name(name) in PLAYERS and name.model is not None:
                problem = "is the name of a player without a model; give yours another name"
                raise SettingError("model", f"{name} {problem}")
            if bare_name(name) in PLAYERS and is_verified(name):
                raise SettingError(
                    "model", f"{bare_name(name)} gives no reasons that could be verified"
                )
            if is_player(name) and isinstance(self.form, Tree) and name not in TREE_PLAYERS:
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
        if "sampled" not in self.elicit:
            self.refuse_set(["samples"], "this has no effect unless elicit has `sampled`")
        if self.precision and self.shard:
            raise SettingError("precision", "a part of a run cannot tell how precise the whole is")
        if self.style == "letter" and "mixed" in self.elicit:
            raise SettingError("style", "a letter cannot state a mixed strategy")
        if "logprobs" in self.elicit:
            self._check_logprobs()
        if any(is_verified(name) for name in self.model):
            self._check_verified()
        self._check_suite()

    def _check_logprobs(self) -> None:
        """Refuse what makes no sense where the odds of the next token are read."""
        one_letter = isinstance(self.form, Tree) or {*self.theme} == {"neutral"}
        if not one_letter:
            raise SettingError("elicit", "logprobs works only with the theme neutral")
        if self.trials > 1:
            raise SettingError("trials", "logprobs are the same each time")

    def _check_verified(self) -> None:
        """Refuse what leaves a verified model no reasons that could be checked."""
        if isinstance(self.form, Tree):
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
            case "generalisation":
                if "theme" in several:
                    raise SettingError("theme", "names are compared with one; give one")
            case "buckets":
                if self.family != "zero-sum":
                    problem = "the suite buckets draws zero-sum games; leave it out"
                    raise SettingError("family", problem)
                if self.set:
                    problem = "the suite buckets sets the parameters itself; leave them out"
                    raise SettingError("set", problem)
        if self.game and self.suite in ("buckets", "sensitivity", "generalisation"):
            problem = f"{self.suite} draws games of other sizes; it takes no game of yours"
            raise SettingError("suite", problem)

    @cached_property
    def form(self) -> NormalForm | Tree | None:
        """The one game that is named, as theory takes it; None where games are drawn or several are
        given."""
        if not isinstance(self.game, NamedGame):
            return None
        form = self.game.loaded.solvable()
        if isinstance(form, NormalForm):
            if max(form.shape) > MOST_ACTIONS or form.payoffs.size > _MOST_PAYOFFS:
                size = f"{form.num_players} players with {max(form.shape)} actions at most"
                limits = f"{MOST_ACTIONS} actions each and {_MOST_PAYOFFS:,} payoffs"
                raise SettingError("game", f"expected at most {limits}, got {size}")
            # more than two are asked as in a tree in which nobody sees what the others choose
            return form if form.num_players == 2 else to_tree(form)
        return form

    @property
    def shape(self) -> tuple[int, int]:
        """The actions of the row and of the column player; in a list of games those of the
        first."""
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
        return self.reply_tokens + (
            self.reasoning_tokens or REASONING_TOKENS.get(self.effort or "", 0)
        )

    def reasons(self, model: str, elicit: str) -> bool:
        """Say whether a model writes down its reasons before it answers; the embedded one is too
        small for that."""
        roomy = elicit != "logprobs" and self.style not in ("json", "letter")
        return roomy and not self.plain and bare_name(model) not in (EMBEDDED, *PLAYERS)

    def describe_asking(self, model: str, elicit: str) -> dict[str, bool | str | int]:
        """Return what a spec says of reasoning; nothing where a model answers at once."""
        asked = {
            "think": self.reasons(model, elicit),
            "effort": self.effort,
            "reasoning_tokens": self.reasoning_tokens,
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
    """Return the temperature that is sent: probabilities of tokens are read, and samples drawn, at
    1."""
    if elicit == "logprobs":
        return 1.0
    return wanted if wanted is not None else 1.0 if elicit == "sampled" else 0.0


OWN = "own"
"""The theme that shows a game of the user's under its own names."""
VARIANTS = ("permuted", "swapped", "shifted", "scaled", "relabelled", "disguised", "format")
PADDED = "padded"
"""The variant of the generalisation suite."""
_SCALED_BY = 3.0
_PADDED_BY = 0.1

Order = tuple[tuple[int, ...], tuple[int, ...]]
"""The original index of every row, and of every column."""


@dataclass(frozen=True)
class Source:
    """Where games come from: a family of games, one game whose actions are put in many orders, or a
    list of games."""

    num_games: int
    seed: int
    shape: tuple[int, int]
    family: str = "zero-sum"
    scale: float = 100.0
    decimals: int = 0
    game: NamedGame | GivenGames | None = None
    properties: Properties = ()

    @property
    def form(self) -> NormalForm | None:
        """The one game; None where games are drawn or several are given."""
        form = self.game.loaded.solvable() if isinstance(self.game, NamedGame) else None
        return form if isinstance(form, NormalForm) else None

    def name_actions(
        self, game: int, orders: Sequence[Order]
    ) -> dict[str, list[str] | list[list[str]]]:
        """Return the own names of a game's players, and those of its actions in the order in which
        they are put."""
        if isinstance(self.game, GivenGames):
            form = self.game.forms[game]
            return {
                "players": list(form.players),
                "actions": [list(names) for names in form.actions],
            }
        one = self.form
        assert one is not None, "only games of the user's have names of their own"
        put = zip(one.actions, orders[game], strict=True)
        return {
            "players": list(one.players),
            "actions": [[names[k] for k in order] for names, order in put],
        }


@dataclass(frozen=True)
class Drawn:
    """All games of a source, payoffs (2, rows, cols) of each; `orders` where they are one game in
    several orders.

    Games of one shape are an array (n, 2, rows, cols); those of a list may have different shapes.
    """

    payoffs: Array | tuple[Array, ...]
    orders: tuple[Order, ...] = ()

    @cached_property
    def zero_sum(self) -> bool:
        """Whether all games are zero-sum."""
        if isinstance(self.payoffs, tuple):
            return all((table[0] == -table[1]).all() for table in self.payoffs)
        return bool((self.payoffs[:, 0] == -self.payoffs[:, 1]).all())

    @cached_property
    def solved(self) -> ZeroSumSolutions:
        """The zero-sum solutions of games of one shape, from the row player's side."""
        return solve_zero_sum(np.asarray(self.payoffs)[:, 0])

    @cached_property
    def _equilibria(self) -> dict[int, tuple[Array, ...]]:
        return {}

    def _solve(self, game: int) -> tuple[Array, ...]:
        if game not in self._equilibria:
            table = self.payoffs[game]
            if (table[0] == -table[1]).all():
                solved = solve_zero_sum(table[0])
                self._equilibria[game] = solved.row[0], solved.col[0]
            else:
                found = nash(NormalForm(table)).equilibria
                self._equilibria[game] = select_equilibria(found)[0].strategies
        return self._equilibria[game]

    def get_equilibrium(self, game: int) -> tuple[Array, Array]:
        """Return the equilibrium (row, column strategy) that opponents and the baseline
        `equilibrium` play: of several the one with the highest joint payoff, then the
        risk-dominant one.

        One game in many orders is solved in its own order, so that the equilibrium is the same in
        every order.
        """
        if self.zero_sum and not isinstance(self.payoffs, tuple):
            return self.solved.row[game], self.solved.col[game]
        if self.orders:
            (row, col), (rows, cols) = self._solve(0), self.orders[game]
            return row[list(rows)], col[list(cols)]
        row, col = self._solve(game)
        return row, col


@lru_cache(maxsize=2)
def draw_games(source: Source) -> Drawn:
    """Draw the games of a source; playing and measuring a run share them."""
    if isinstance(source.game, GivenGames):
        return Drawn(source.game.tables[: source.num_games])
    if source.form is not None:
        table = source.form.payoffs
        orders = list_orders(source.shape, source.num_games, source.seed)
        payoffs = np.stack([table[:, list(rows)][:, :, list(cols)] for rows, cols in orders])
        payoffs.setflags(write=False)
        return Drawn(payoffs, orders)
    payoffs = draw_family(
        source.family,
        source.num_games,
        source.seed,
        shape=source.shape,
        scale=source.scale,
        decimals=source.decimals,
        properties=source.properties,
    )
    payoffs.setflags(write=False)
    return Drawn(payoffs)


def list_orders(shape: tuple[int, int], count: int, seed: int) -> tuple[Order, ...]:
    """List `count` different orders of rows and columns, the usual one first, the others drawn by
    `seed`."""
    most = factorial(shape[0]) * factorial(shape[1])
    if count > most:
        raise SettingError("num_games", f"the actions can be put in {most} orders, not in {count}")
    usual: Order = (tuple(range(shape[0])), tuple(range(shape[1])))
    rng = generator(seed, "orders")
    if 2 * count > most:
        every = [(rows, cols) for rows in permutations(usual[0]) for cols in permutations(usual[1])]
        rest = [order for order in every if order != usual]
        rng.shuffle(rest)
        return (usual, *rest[: count - 1])
    orders = {usual: None}
    while len(orders) < count:
        rows = list(usual[0])
        cols = list(usual[1])
        rng.shuffle(rows)
        rng.shuffle(cols)
        orders[tuple(rows), tuple(cols)] = None
    return tuple(orders)


def own_view(payoffs: Array, seat: int) -> tuple[Array, Array]:
    """Return games (..., 2, rows, cols) as a seat sees them: its own payoffs, the other's, its own
    actions as rows."""
    sides = payoffs if seat == 0 else payoffs[..., ::-1, :, :].swapaxes(-1, -2)
    return sides[..., 0, :, :], sides[..., 1, :, :]


@dataclass(frozen=True, slots=True)
class Variant:
    """A game as it is told: `back[i]` is the original index of the seat's own action i.

    `opponent_back` is the same for the opponent's actions; None where they are as drawn.
    """

    name: str
    payoffs: Array
    seat: int
    back: tuple[int, ...]
    shown_as: str
    theme: str
    opponent_back: tuple[int, ...] | None = None


def tell_variant(name: str, original: Variant, source: Source, game: int) -> Variant:
    """Tell `original` in the way that `name` says; game number and seed fix every draw."""
    rng = generator(source.seed, "variant", name, game)
    payoffs = original.payoffs
    seat = original.seat
    back = original.back
    shown_as = original.shown_as
    theme = original.theme
    zero_sum = bool((payoffs[0] == -payoffs[1]).all())
    orders: Order | None = None
    match name:
        case "permuted":
            orders = _shuffle(payoffs.shape[1], rng), _shuffle(payoffs.shape[2], rng)
            payoffs = payoffs[:, list(orders[0])][:, :, list(orders[1])]
        case "swapped":
            payoffs = payoffs[::-1].transpose(0, 2, 1)
            seat = 1 - seat
        case "shifted":  # with opposite signs where the game is zero-sum and has to stay so
            shift = [source.scale, -source.scale if zero_sum else source.scale]
            payoffs = payoffs + np.array(shift).reshape(2, 1, 1)
        case "scaled":
            payoffs = payoffs * _SCALED_BY
        case "relabelled":
            theme = "numbers" if theme != "numbers" else "neutral"
        case "disguised":
            theme = rng.choice(_list_stories(payoffs.shape[1:], theme))
        case "format":
            shown_as = rng.choice([other for other in FORMATS if other != shown_as])
        case "padded":
            payoffs, orders = _pad(payoffs, zero_sum, source, rng)
    opponent_back = None
    if orders is not None:
        back = orders[seat]
        opponent_back = orders[1 - seat]
    return Variant(
        name,
        payoffs,
        seat=seat,
        back=back,
        shown_as=shown_as,
        theme=theme,
        opponent_back=opponent_back,
    )


def _pad(payoffs: Array, zero_sum: bool, source: Source, rng: Random) -> tuple[Array, Order]:
    """Add, at a random place, one action for each player that is strictly dominated by one of its
    own.

    Returns the payoffs and, for rows and columns, their original indices; those of the new ones
    come after the last.
    """
    step = max(round(_PADDED_BY * source.scale, source.decimals), 10.0**-source.decimals)
    orders: list[tuple[int, ...]] = []
    for player, axis in ((0, 1), (1, 2)):
        count = payoffs.shape[axis]
        copied = np.take(payoffs, rng.randrange(count), axis=axis).copy()
        copied[player] -= step
        if zero_sum:
            copied[1 - player] += step
        index = rng.randrange(count + 1)
        payoffs = np.insert(payoffs, index, copied, axis=axis)
        orders.append((*range(index), count, *range(index, count)))
    return payoffs, (orders[0], orders[1])


def _shuffle(count: int, rng: Random) -> tuple[int, ...]:
    """Return another order than the usual one, where there is one."""
    order = list(range(count))
    while count > 1 and order == sorted(order):
        rng.shuffle(order)
    return tuple(order)


def _list_stories(shape: tuple[int, ...], current: str) -> list[str]:
    """List the other themes with a story that have names enough; the current one where there is
    none."""
    fitting = [
        name
        for name, theme in themes().items()
        if theme.story
        and name != current
        and all(m <= len(a) for m, a in zip(shape, theme.actions, strict=True))
    ]
    return fitting or [current]


BASE = "base"
SIZE = "size "
NAMED = "named "
ANONYMOUS = "anonymous "
"""What the names of conditions begin with."""
_GENERAL_SIZES = (2, 3, 4, 5, 6, 8, 10)
_CLASSICS = (
    "matching-pennies",
    "bismarck-sea",
    "two-finger-morra",
    "rock-paper-scissors",
    "rock-paper-scissors-lizard-spock",
    "oneill",
)
"""Zero-sum games that models have read about."""
_MOST_ORDERS = 8
_SIZES = (2, 3, 4, 6)
_SCALES = (0.01, 100.0)
_TEMPERATURES = (0.0, 0.7, 1.0)
BUCKET = "bucket "
_BUCKET_SIZES = (2, 3, 5)
_BUCKET_RANGES = {"narrow": 10.0, "medium": 50.0, "wide": 100.0}
_BUCKET_KINDS = ("pure", "mixed")
_ASKING = (
    "model",
    "elicit",
    "llm_seed",
    "temperature",
    "max_tokens",
    "style",
    "think",
    "attempts",
    "samples",
    "effort",
    "reasoning_tokens",
    "replicate",
)
"""What a seated model depends on, in the data of a spec."""


@dataclass(frozen=True)
class Condition:
    """A name, where its games come from, and how they are shown and asked."""

    name: str
    source: Source
    themes: tuple[str, ...]
    temperature: float | None

    @cached_property
    def drawn(self) -> Drawn:
        """The games, drawn once."""
        return draw_games(self.source)


@dataclass(frozen=True)
class Plan:
    """All plays of a run, in order."""

    config: BenchConfig

    @cached_property
    def conditions(self) -> Mapping[str, Condition]:
        """The conditions of the suite by their names."""
        base = Condition(BASE, self.config.source, self.config.theme, self.config.temperature)
        suites = {
            "sensitivity": _vary_settings,
            "generalisation": _vary_games,
            "buckets": _vary_buckets,
        }
        vary = suites.get(self.config.suite)
        return {
            condition.name: condition
            for condition in (base, *(vary(base) if vary is not None else ()))
        }

    @property
    def variants(self) -> tuple[str, ...]:
        """How every game of the base settings is also told."""
        return {"invariance": VARIANTS, "generalisation": (PADDED,)}.get(self.config.suite, ())

    @cached_property
    def total(self) -> int:
        """How many plays there are: every game has the same."""
        return sum(count for _, count in self.count_by_first())

    def count_by_first(self) -> Iterator[tuple[JsonObject, int]]:
        """Yield the plays of every condition's first game, each with the number of games it is made
        for."""
        for condition in self.conditions.values():
            for data in self._list_plays(0, condition):
                yield data, condition.source.num_games

    def list_plays(self) -> Iterator[dict[str, object]]:
        """Yield every play as plain data."""
        for game, condition in product(range(self.config.games), self.conditions.values()):
            if game < condition.source.num_games:
                yield from self._list_plays(game, condition)

    def find_opponent(self, data: JsonMapping) -> tuple[float, ...]:
        """Return the strategy of the opponent in a play: that of the drawn game, carried over to
        the game as told."""
        drawn = self.conditions[data["condition"]].drawn
        seat = 1 - data["seat"] if data["variant"] == "swapped" else data["seat"]
        mix = drawn.get_equilibrium(data["game"])[1 - seat].tolist()
        return tuple(
            mix[k] if k < len(mix) else 0.0 for k in data.get("opponent_back", range(len(mix)))
        )

    def find_own_part(self, spec: Spec) -> tuple[float, ...]:
        """Return the part of the same equilibrium that belongs to the seat which is asked, carried
        over likewise."""
        data = spec.data
        drawn = self.conditions[data["condition"]].drawn
        seat = 1 - data["seat"] if data["variant"] == "swapped" else data["seat"]
        mix = drawn.get_equilibrium(data["game"])[seat].tolist()
        return tuple(mix[k] if k < len(mix) else 0.0 for k in data["back"])

    def _list_plays(self, game: int, condition: Condition) -> Iterator[JsonObject]:
        payoffs = condition.drawn.payoffs[game]
        variants = self.variants if condition.name == BASE else ()
        for shown_as, dress, seat in product(
            self.config.format, condition.themes, self.config.seat
        ):
            player = 0 if seat == "row" else 1
            original = Variant(
                "original",
                payoffs,
                seat=player,
                back=tuple(range(payoffs.shape[1 + player])),
                shown_as=shown_as,
                theme=dress,
            )
            tellings = [
                original,
                *(tell_variant(name, original, condition.source, game) for name in variants),
            ]
            for telling, model, elicit in product(tellings, self.config.model, self.config.elicit):
                if elicit != "logprobs" or _has_letters(telling.theme):
                    data = self._describe(game, condition, telling, str(model), elicit)
                    samples = self.config.samples if elicit == "sampled" else 1
                    yield data  # the first trial is asked as if there were no others
                    for trial in range(1, self.config.trials):
                        yield data | {"trial": trial, "replicate": trial * samples}

    def _describe(
        self, game: int, condition: Condition, telling: Variant, model: str, elicit: str
    ) -> dict[str, object]:
        data: JsonObject = {
            "study": "bench",
            "condition": condition.name,
            "game": game,
            "payoffs": telling.payoffs.tolist(),
            "variant": telling.name,
            "seat": telling.seat,
            "back": list(telling.back),
            "format": telling.shown_as,
            "theme": telling.theme,
            "model": model,
            "elicit": elicit,
            "style": self.config.style,
            "temperature": choose_temperature(condition.temperature, elicit),
            "max_tokens": self.config.reply_tokens,
            "attempts": self.config.attempts,
            "samples": self.config.samples if elicit == "sampled" else 1,
            "llm_seed": self.config.sent_seed,
        }
        if telling.opponent_back is not None:
            data["opponent_back"] = list(telling.opponent_back)
        data |= self.config.describe_asking(model, elicit)
        if telling.theme == OWN:
            data["names"] = condition.source.name_actions(game, condition.drawn.orders)
        return data


def _has_letters(name: str) -> bool:
    """Say whether the theme's labels can be told apart by one token."""
    return name != OWN and all(
        len(label) == 1 for labels in theme(name).actions for label in labels
    )


def _vary_sizes(base: Condition, sizes: tuple[int, ...]) -> Iterator[Condition]:
    for size in sizes:
        if (size, size) != base.source.shape:
            yield replace(
                base, name=f"{SIZE}{size}x{size}", source=replace(base.source, shape=(size, size))
            )


def _vary_games(base: Condition) -> Iterator[Condition]:
    """Yield other sizes, and well-known games under their own names and without names."""
    yield from _vary_sizes(base, _GENERAL_SIZES)
    for name in _CLASSICS:
        rows, cols = load(name).shape
        count = min(base.source.num_games, factorial(rows) * factorial(cols), _MOST_ORDERS)
        source = Source(count, base.source.seed, (rows, cols), game=NamedGame(name))
        yield replace(base, name=NAMED + name, source=source, themes=(OWN,))
        yield replace(base, name=ANONYMOUS + name, source=source)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Zero-sum games of one size, one range of payoffs and one kind of equilibrium."""

    size: int
    range: str
    equilibrium: str

    @property
    def name(self) -> str:
        """Its condition, such as `bucket 3x3 wide mixed`."""
        return f"{BUCKET}{self.size}x{self.size} {self.range} {self.equilibrium}"

    @property
    def tier(self) -> str:
        """How much it takes: to find a saddle point, to mix over a few actions, or over many."""
        if self.equilibrium == "pure":
            return "1: saddle point"
        return "2: mix, up to 3 x 3" if self.size <= 3 else "3: mix, larger"


BUCKETS = tuple(
    Bucket(size, width, kind)
    for size, width, kind in product(_BUCKET_SIZES, _BUCKET_RANGES, _BUCKET_KINDS)
)
"""The buckets, in the order in which they are reported."""


def _vary_buckets(base: Condition) -> Iterator[Condition]:
    """Yield a condition for each bucket."""
    for bucket in BUCKETS:
        source = replace(
            base.source,
            shape=(bucket.size, bucket.size),
            scale=_BUCKET_RANGES[bucket.range],
            properties=(("equilibrium", bucket.equilibrium),),
        )
        yield replace(base, name=bucket.name, source=source)


def _vary_settings(base: Condition) -> Iterator[Condition]:
    """Yield the base settings with one of them changed at a time."""
    yield from _vary_sizes(base, _SIZES)
    for factor in _SCALES:
        decimals = base.source.decimals + (2 if factor < 1 else 0)
        scaled = replace(base.source, scale=base.source.scale * factor, decimals=decimals)
        yield replace(base, name=f"payoffs x{factor:g}", source=scaled)
    for temperature in _TEMPERATURES:
        if temperature != (base.temperature or 0.0):
            yield replace(base, name=f"temperature {temperature:g}", temperature=temperature)


def find_theme(data: JsonMapping) -> Theme:
    """Return the names under which the game of a spec is shown."""
    if data["theme"] != OWN:
        return theme(data["theme"])
    (row, col), (rows, cols) = data["names"]["players"], data["names"]["actions"]
    return Theme(OWN, "", (row, col), (tuple(rows), tuple(cols)))


def make_bench_game(data: JsonMapping) -> MatrixGame:
    """Make the game of a spec, as it is shown."""
    dress = find_theme(data)
    answer = "action" if data["elicit"] == "pure" else "mixture"
    form = dress.dress(np.asarray(data["payoffs"], dtype=np.float64))
    wanted = (answer, "mixture") if data["seat"] == 0 else ("mixture", answer)
    return MatrixGame(form, wanted, data["format"], dress.story, others="rational")  # type: ignore[arg-type]


def seat_player(data: JsonMapping, model: Model) -> Player:
    """Seat the model in the way of asking that a spec names."""
    first = data.get("replicate", 0)
    sampling = Sampling(
        data["temperature"],
        max_tokens=data["max_tokens"],
        seed=data["llm_seed"],
        replicate=first,
        effort=data.get("effort"),
        reasoning_tokens=data.get("reasoning_tokens"),
    )
    if data["elicit"] == "logprobs":
        if not model.abilities.logprobs:
            raise UsageError(
                f"{model.id} reports no log-probabilities, which elicit = logprobs reads"
            )
        return FirstToken(model, sampling)
    think = bool(data.get("think"))
    style: Style = data["style"]
    if data["style"] == "auto":  # JSON leaves no room for reasons
        style = "json" if model.abilities.schema and not think else "line"

    def seat_replicate(replicate: int) -> Player:
        player: Player = LlmPlayer(
            model, replace(sampling, replicate=replicate), style, data["attempts"]
        )
        return with_review(data["model"], Thinking(player) if think else player)

    if data["elicit"] != "sampled":
        return seat_replicate(first)
    replicates = range(first, first + data["samples"])
    return Sampled(tuple(map(seat_replicate, replicates)), model.abilities.concurrency)


def seat_without_model(plan: Plan, spec: Spec) -> Player:
    """Seat a player that needs no model; what it draws depends on the seed for models, the game and
    the trial."""
    data = spec.data

    def seat_replicate(replicate: int) -> Player:
        seed = split(data["llm_seed"], "player", replicate)
        if data["model"] == EQUILIBRIUM:
            return FixedMix(plan.find_own_part(spec), EQUILIBRIUM, seed)
        return BaselinePlayer(data["model"], seed)

    first = data.get("replicate", 0)
    if data["elicit"] != "sampled":
        return seat_replicate(first)
    return Sampled(tuple(map(seat_replicate, range(first, first + data["samples"]))))


def prepare_plays(plan: Plan, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that plays one spec; a model is seated once for all plays that ask it in
    the same way."""
    seated: dict[tuple[object, ...], Player] = {}

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        data = spec.data
        game = make_bench_game(spec.data)
        key = tuple(map(data.get, _ASKING))
        if is_player(data["model"]):
            player = seat_without_model(plan, spec)
        else:
            if key not in seated:
                seated[key] = seat_player(data, models[data["model"]])
            player = seated[key]
        opponent = FixedMix(plan.find_opponent(data), "equilibrium", blind=True)
        seats = {game.roles[data["seat"]]: player, game.roles[1 - data["seat"]]: opponent}
        return play(game, seats, submissions=done, on_submission=keep)

    return play_one
