"""The settings of a tournament, and what follows from them: the game, the rules, who meets whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np

from bestresponse.core.errors import InvalidGame, SettingError
from bestresponse.core.json import canonical
from bestresponse.core.registry import did_you_mean
from bestresponse.formal.formalize.autoformalizer import Formalizer, check_story
from bestresponse.games.lookup import NamedGame
from bestresponse.games.matrix.game import RepeatedGame
from bestresponse.logic.engine import open_engine
from bestresponse.models.base import Model
from bestresponse.runs import inputs
from bestresponse.runs.models import open_models
from bestresponse.runs.seats import ToolSettings
from bestresponse.runs.settings import setting, settings
from bestresponse.studies.tournament.entries import (
    Contestant,
    EntriesSetting,
    StageGame,
    StageGamesSetting,
    as_automata,
    find_repeated,
    formalize_entries,
    gather_for_all,
    is_in_words,
    make_match,
    make_stage,
)
from bestresponse.theory.repeated.automaton import Automaton
from bestresponse.theory.repeated.repetition import Repetition

_MOST_ENTRIES = 1_000
_MOST_KEPT_ROUNDS = 100_000
"""With more rounds in all, matches between strategies are worked out: a round takes about 115 bytes
of a record."""


@settings
class TournamentConfig(ToolSettings):
    """Run a round robin with every pair in both seats, including self-play, and rank the entries.

    Matches between strategies are computed exactly, or sampled with --repetitions. Models are asked
    round by round.
    """

    games: StageGamesSetting = setting(kw_only=False, argument=True)
    """One game or several of two players with one move each: names from `bestresponse games`, .nfg,
    .json or .pl files, or a .txt file that describes a game, which --model formalizes."""
    entries: EntriesSetting = setting(default=("all",), kw_only=False)
    """Who takes part: all, published, classic, strategies by name, always:MOVE, installed
    players, models, files of rules (.pl), of saved agents (.json) or of words (.txt); those of the
    `axelrod` package by name. NAME:N enters N copies of a strategy."""
    model: inputs.OptionalModelSetting = setting(default=None, short="-m")
    """The model that formalizes games and strategies in words."""
    rounds: int = setting(
        default=10,
        ge=1,
        le=100_000,
        help='Rounds per match; --with "repeated(...)" can set more about them.',
    )
    repetitions: int | None = setting(default=None, ge=1, le=1_000_000)
    """Repetitions per match, with all moves. [default: exact expectation; 1 if a model plays]"""
    against: str | None = setting(
        default=None, help="Score only matches against this entry (clones)."
    )
    seats: Literal["both", "first"] = setting(default="both")
    """Whether matches in both seats count, or only those in the first seat; with --against and
    first, the total is that of one match."""
    default_move: str | None = setting(
        default=None, help="Default move, in place of the game's own."
    )
    target: Mapping[str, float] = setting(default_factory=dict, metavar="NAME=TOTAL")
    """An entry wins if its total is this number. A total is the sum over all matches that count:
    against every opponent and itself, in both seats; with --against NAME and seats=first, one match
    of --rounds rounds."""
    background: float | None = setting(default=None, ge=0, le=1e9)
    """Number added to every payoff per round in the evolutionary dynamics. [default: 0; if a
    payoff is negative, all are shifted so that the lowest is 1]"""
    seed: int = setting(default=0, ge=0, lt=2**63, help="Random seed.")
    temperature: float = setting(
        default=0.0,
        ge=0,
        le=5,
        help="Sampling temperature of models.",
    )
    max_tokens: int = setting(
        default=256,
        ge=1,
        le=100_000,
        help="Maximum tokens per reply.",
    )
    attempts: int = setting(
        default=1,
        ge=1,
        le=20,
        help="Maximum attempts per question if an answer is unreadable.",
    )
    style: Literal["auto", "line", "json", "letter"] = setting(
        default="auto", help="How models answer."
    )
    reasons: bool = setting(
        default=False, help="Let models explain each choice before they answer."
    )
    left_out: tuple[tuple[str, str], ...] = setting(default=(), option=False)

    def __post_init__(self) -> None:
        self._check_games()
        if any(map(is_in_words, self.games)):
            return  # names of strategies are looked up once the game is known

        entries, left_out = gather_for_all(self.entries, self.stages, self.default_move)
        object.__setattr__(self, "entries", entries)
        object.__setattr__(self, "left_out", (*self.left_out, *left_out))
        self._check_entries()
        if not self.models:
            self.refuse_set(["tools", "tool_calls"], "this has no effect where no model takes part")
        self._check_names()

    def _check_games(self) -> None:
        if any(map(find_repeated, self.games)):
            self.refuse_set(["rounds"], "repeated(...) says how many there are; leave it out")
        if len(set(self.games)) < len(self.games):
            raise SettingError("games", "a game is named twice; name each once")
        if len(self.games) > 1:
            self.refuse_set(("target",), "works with one game; name one game")
        in_words = [game.name for game in self.games if is_in_words(game)]
        if in_words and self.model is None:
            raise SettingError(
                "model", f"{in_words[0]} is told in words; name the model that formalizes it"
            )

    def _check_entries(self) -> None:
        names = [entry.name for entry in self.entries]
        if not names:
            why = "".join(f"; {name}: {why}" for name, why in self.left_out[:1])
            raise SettingError("entries", f"nobody takes part; name at least one entry{why}")
        if len(names) > _MOST_ENTRIES:
            raise SettingError("entries", f"{len(names)} take part; at most {_MOST_ENTRIES} can")
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise SettingError("entries", f"two entries are called {min(twice)!r}; leave one out")

    def _check_names(self) -> None:
        """Raise SettingError if somebody is expected to win, or to be played, who is not there."""
        names = [entry.name for entry in self.entries]
        named = [("target", name) for name in self.target]
        if self.against:
            named.append(("against", self.against))
        for where, name in named:
            if name not in names:
                raise SettingError(
                    where, f"nobody called {name!r} takes part.{did_you_mean(name, names)}"
                )

    @property
    def game(self) -> NamedGame:
        """The game, of several the first."""
        return self.games[0]

    @cached_property
    def by_game(self) -> tuple[TournamentConfig, ...]:
        """The same tournament in each of its games."""
        if len(self.games) == 1:
            return (self,)
        return tuple(replace(self, games=(game,), left_out=()) for game in self.games)

    @property
    def stage(self) -> StageGame:
        """The game of one round, of several the first."""
        return make_stage(self.game)

    @property
    def stages(self) -> tuple[StageGame, ...]:
        """The game of one round for every game."""
        return tuple(map(make_stage, self.games))

    @property
    def repetition(self) -> Repetition:
        """How a match is played."""
        return self.repeated.repetition

    @cached_property
    def by_description(self) -> Mapping[str, TournamentConfig]:
        """The tournaments of single games by the description of their game, as plays hold it."""
        return {canonical(one.game.to_json()): one for one in self.by_game}

    @cached_property
    def repeated(self) -> RepeatedGame:
        """The repeated game that is shown to those who are asked."""
        return make_match(self.game, self.rounds)

    @property
    def models(self) -> tuple[inputs.NamedModel, ...]:
        """The models that take part."""
        return tuple(
            inputs.NamedModel(entry.source, entry.thing)
            for entry in self.entries
            if entry.kind == "model"
        )

    def find_automata(self, entry: Contestant) -> tuple[Automaton, Automaton] | None:
        """Return a strategy in the seats that it takes, None for who has to be asked."""
        first_only = self.seats == "first" and self.against not in (None, entry.name)
        return as_automata(entry, self.stage, self.default_move, first_only)

    def counts(self, first: int, second: int) -> bool:
        """Say whether the match of these entries enters the standings."""
        if self.against is None:
            return True
        if self.entries[second].name == self.against:
            return True
        return self.seats == "both" and self.entries[first].name == self.against

    @property
    def keeps_moves(self) -> bool:
        """Whether matches between strategies are drawn and kept, and not worked out."""
        if self.repetitions is None:
            return False
        matches = len(self.entries) ** 2 * self.repetitions
        return matches * self.repetition.rounds <= _MOST_KEPT_ROUNDS

    @cached_property
    def played_pairs(self) -> tuple[tuple[int, int], ...]:
        """The matches that are played one by one, as pairs of entries.

        Only those that count where all play one.

        In them somebody has to be asked, or their moves are kept.
        """
        asked = [self.find_automata(entry) is None for entry in self.entries]
        pairs = []
        for first, second in product(range(len(asked)), repeat=2):
            if not self.counts(first, second):
                continue
            if first > second and self.is_mirrored(first, second):
                continue
            if self.keeps_moves or asked[first] or asked[second]:
                pairs.append((first, second))
        return tuple(pairs)

    def is_mirrored(self, first: int, second: int) -> bool:
        """Return whether a match is played once for both seats.

        It is between players of Axelrod's library in a symmetric game.
        """
        kinds = {self.entries[first].kind, self.entries[second].kind}
        mine, theirs = self.stage.form.payoffs
        return kinds == {"axelrod"} and bool(np.array_equal(mine, theirs.T))


def formalize_words(config: TournamentConfig) -> TournamentConfig:
    """Let the model write games and rules of strategies in words before the run begins."""
    if config.model is not None and any(map(is_in_words, config.games)):
        with open_models((config.model,), Path(config.output_dir), config.limits) as opened:
            model = opened.models[config.model]
            games = [
                formalize_game(game, model) if is_in_words(game) else game for game in config.games
            ]
        config = replace(config, games=tuple(games))
    return replace(
        config,
        entries=formalize_entries(
            config.entries,
            config.model,
            config,
            lambda: config.stage,
        ),
    )


def formalize_game(game: NamedGame, model: Model) -> NamedGame:
    """Let a model write the program of a game in words.

    InvalidGame says what was wrong with the last attempt.
    """
    engine = open_engine()
    try:
        written = Formalizer(model, engine).formalize(check_story(game.text))
    finally:
        engine.close()
    if not written.ok:
        raise InvalidGame(f"{game.name}: {written.trouble}")
    return NamedGame(game.name, ".pl", written.source)
