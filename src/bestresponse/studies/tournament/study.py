"""Round robins: strategies and models against each other in a repeated game, every pair in both
seats.

Matches between strategies that are automata are worked out exactly or played in bulk; those with
models, functions and other players are played round by round.

The normalised payoff is (total - least) / (most - least), where least and most are the totals that
a player would earn with its lowest or highest payoff in every round (Mensfelt, Stathis and
Trencsenyi 2024, section 4.3), here for each seat by its own payoffs. Totals are over all matches in
both seats, against itself included.

Strategies that multiply by what they earn: shares grow in proportion to what a strategy earns
against all shares (Axelrod, The Evolution of Cooperation, 1984, chapter 2), that is the discrete
replicator; the Moran process is that of a finite population, see `theory.dynamics.moran`. Both use
the mean payoff per round over both seats.

Who takes part in a tournament: groups and names of strategies, files, functions and models.

A strategy is an automaton for each seat of the game where it can be written as one (`as_automata`);
players, functions and models are asked round by round.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import permutations, product
from math import inf, isclose, isnan
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal, TypeAlias, TypedDict

import numpy as np

from bestresponse.analysis.people import show_people
from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import (
    BestResponseError,
    InvalidGame,
    SettingError,
    StoreError,
    UsageError,
)
from bestresponse.core.files import read_text_file, read_toml
from bestresponse.core.game import NATURE, Game, S
from bestresponse.core.json import canonical, digest
from bestresponse.core.player import Decision, Player
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import generator, split
from bestresponse.formal.formalize.autoformalizer import Formalizer, check_story
from bestresponse.formal.strategies.agents import (
    Agent,
    find_default_moves,
    write_match_program,
    write_strategy_rules,
)
from bestresponse.formal.strategies.programs import AS_RUN, PUBLISHED, published_strategy
from bestresponse.games.logic.game import read_program_text
from bestresponse.games.lookup import NamedGame, ProgramGame
from bestresponse.games.matrix.game import GO_ON, STOP, RepeatedGame
from bestresponse.logic.engine import open_engine
from bestresponse.models.base import Model
from bestresponse.models.providers.function import hash_function
from bestresponse.models.providers.weights import WEIGHTS
from bestresponse.players import strategies
from bestresponse.players.lookup import find_strategy, list_strategies
from bestresponse.report.blocks import (
    Measurement,
    Shown,
    bars,
    lines,
    metrics_table,
    pivot,
    table,
    text,
)
from bestresponse.report.document import Code, Paragraph
from bestresponse.report.frames import Frame, Heads, column, list_metrics
from bestresponse.report.stats.statistics import Interval, wilson
from bestresponse.runs import inputs
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.models import open_models
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.seats import ToolSettings, make_player
from bestresponse.runs.settings import RunSettings, setting, settings
from bestresponse.runs.store.folder import RunFolder, Spec, StoredPlay
from bestresponse.runs.study import Estimate, Measured, Study
from bestresponse.telling.render import write_rules
from bestresponse.theory.dynamics.learning import replicator
from bestresponse.theory.dynamics.moran import Fitness, count_takeovers, fixation_probability
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.repeated.automaton import (
    Automaton,
    behave_alike,
    classic_strategies,
    cooperative_actions,
)
from bestresponse.theory.repeated.round_robin import Rules, exact_round_robin, play_round_robin

GROUPS = ("all", "published", "classic")
AXELROD = "axelrod:"
_COPIES = re.compile(r"(.+):(\d+)")
"""An entry with a number of copies, such as `tit-for-tat:3`."""
_MOST_COPIES = 100
PROBES = "probes:"
"""The group of probes that show the fingerprint of the one who is named by `against`."""
_MOST_POINTS = 30  # a side: 900 probes, which leaves room below `_MOST_ENTRIES`
Kind = Literal["rules", "classic", "player", "axelrod", "model", "function", "words"]


@dataclass(frozen=True, slots=True)
class Contestant:
    """One who takes part.

    `rules` is the program of a strategy written as rules, `words` its text where it was told in
    words; `source` says where it came from: a file, `published`, the name of a classic strategy, of
    another player or of Axelrod's library, or a model. `thing` is the model or the function itself
    where one was given; no file keeps it.
    """

    name: str
    kind: Kind
    source: str = ""
    rules: str = ""
    words: str = ""
    thing: Any = field(default=None, compare=False, repr=False)

    def to_json(self) -> dict[str, str]:
        """Return the entry as plain data, without the model or function."""
        return {name: getattr(self, name) for name in ("name", "kind", "source", "rules", "words")}


@dataclass(frozen=True, slots=True)
class StageGame:
    """The game of one round; `program` is the logic program it came from, empty for a table of
    payoffs."""

    name: str
    form: NormalForm
    program: str = ""


Participant: TypeAlias = "str | Path | Model | strategies.HistoryFunction | Contestant"


_WORDS = (".txt", ".md")
_STRATEGY_FILES = (".pl", ".json", *_WORDS)
_GAMES = (str, Path, NamedGame, NormalForm, ProgramGame, Mapping)
"""What a list of several games may hold; any other list is a table of payoffs."""


class StageGamesSetting(
    inputs.Converted["inputs.GameLike | Sequence[inputs.GameLike]", tuple[NamedGame, ...]]
):
    """One game or several; a text file tells a game in words."""

    many = True

    @classmethod
    def convert(
        cls, value: inputs.GameLike | Sequence[inputs.GameLike], stored: bool
    ) -> tuple[NamedGame, ...]:
        """Find every game; a list is one table of payoffs unless everything in it names or is a
        game."""
        several = (
            isinstance(value, list | tuple)
            and value
            and all(isinstance(item, _GAMES) for item in value)
        )
        games = value if several else [value]
        return tuple(_find_game(game, stored) for game in games)  # type: ignore[union-attr]

    @classmethod
    def to_json(cls, value: tuple[NamedGame, ...]) -> list[dict[str, str]]:
        """Return the name of every game, and its text where it came from a file."""
        return [game.to_json() for game in value]


def _find_game(game: inputs.GameLike, stored: bool) -> NamedGame:
    if isinstance(game, str | Path) and not stored and Path(game).suffix.lower() in _WORDS:
        path = Path(game)
        if not path.exists():
            raise SettingError("games", f"{path}: there is no such file")
        return NamedGame(path.stem, _WORDS[0], _read_words(path))
    return inputs.GameSetting.convert(game, stored)


def is_in_words(game: NamedGame) -> bool:
    """Say whether a game is still told in words, so that a model has to formalize it."""
    return game.ending in _WORDS


class EntriesSetting(
    inputs.Converted["Participant | Sequence[Participant]", tuple[Contestant, ...]]
):
    """Who takes part: groups, strategies, models and files by name, models, and functions of both
    histories."""

    many = True

    @classmethod
    def convert(
        cls, value: Participant | Sequence[Participant], stored: bool
    ) -> tuple[Contestant | str, ...]:
        """Read files and describe models and functions; names are looked up once the game is
        known."""
        if isinstance(value, Sequence) and not isinstance(value, str):
            return tuple(_describe_entry(item, stored) for item in value)
        return (_describe_entry(value, stored),)

    @classmethod
    def to_json(cls, value: tuple[Contestant, ...]) -> list[dict[str, str]]:
        """Return every entry as plain data."""
        return [entry.to_json() for entry in value]


def _describe_entry(item: object, stored: bool) -> Contestant | str:
    if isinstance(item, Contestant):
        return item
    if isinstance(item, Mapping):
        return Contestant(**item)
    if stored:
        raise UsageError(f"the stored entry {item!r} is not complete")
    if isinstance(item, Model):
        return Contestant(item.id, "model", item.id, thing=item)
    if isinstance(item, str | Path):
        path = Path(item)
        return read_strategy(path) if path.suffix.lower() in _STRATEGY_FILES else str(item)
    if callable(item) and inputs.count_parameters(item) == 1:
        model = inputs.as_model(item)
        return Contestant(model, "model", model, thing=model.model)
    if callable(item) and inputs.count_parameters(item) == 2:
        name = getattr(item, "__name__", type(item).__name__)
        return Contestant(
            name, "function", hash_function(item) or digest(repr(item), 12), thing=item
        )
    raise UsageError(
        "expected a strategy, a model, a function from a prompt to a text or one of two histories,"
        f" got {type(item).__name__}"
    )


def read_strategy(path: Path) -> Contestant:
    """Read a strategy as rules (`.pl`), that of a saved agent (`.json`), or one in words (`.txt`,
    `.md`)."""
    if not path.exists():
        raise SettingError("entries", f"{path}: there is no such file")
    match path.suffix.lower():
        case ".json":
            agent = Agent.load(path)
            return Contestant(agent.name, "rules", path.name, agent.rules, agent.words)
        case ".pl":
            return Contestant(path.stem, "rules", path.name, read_program_text(path))
        case _:
            return Contestant(path.stem, "words", path.name, words=_read_words(path))


def _read_words(path: Path) -> str:
    try:
        return read_text_file(path)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: expected text in UTF-8; byte {error.start} is none") from None


def formalize_entry(entry: Contestant, stage: StageGame, model: Model) -> Contestant:
    """Let a model write the rules of a strategy in words; InvalidGame says what was wrong with the
    last attempt."""
    engine = open_engine()
    try:
        result = write_strategy_rules(
            entry.words, stage.program or write_match_program(stage.form), model, engine
        )
    finally:
        engine.close()
    if not result.ok:
        raise InvalidGame(f"{entry.source}: {result.trouble}")
    return Contestant(
        entry.name, "rules", f"{entry.source}, formalized by {model.id}", result.rules, result.words
    )


def formalize_entries(
    entries: tuple[Contestant, ...],
    model: inputs.NamedModel | None,
    config: RunSettings,
    find_stage: Callable[[], StageGame],
) -> tuple[Contestant, ...]:
    """Let the model write the rules of those strategies that are in words; without any no model is
    needed."""
    in_words = [entry for entry in entries if entry.kind == "words"]
    if not in_words:
        return entries
    if model is None:
        raise SettingError(
            "model",
            f"{in_words[0].source} is a strategy in words; name the model that formalizes it",
        )
    stage = find_stage()
    with open_models((model,), Path(config.output_dir), config.limits) as opened:
        rules = {entry: formalize_entry(entry, stage, opened.models[model]) for entry in in_words}
    return tuple(rules.get(entry, entry) for entry in entries)


@cache
def make_stage(game: NamedGame) -> StageGame:
    """Make a game the stage of a tournament; InvalidGame unless two players move once, at the same
    time."""
    form = game.loaded.solvable()
    if not isinstance(form, NormalForm) or form.num_players != 2 or form.shape[0] != form.shape[1]:
        raise InvalidGame(
            f"{game.name}: a tournament needs two players who choose at the same time among equally"
            " many moves"
        )
    return StageGame(game.name, form, game.text if game.ending == ".pl" else "")


def gather_entries(
    wanted: Iterable[Contestant | str], stage: StageGame, default_move: str | None = None
) -> tuple[tuple[Contestant, ...], tuple[tuple[str, str], ...]]:
    """Return those who take part, and why others of a group cannot or need not: who is named must
    be able to play."""
    moves = stage.form.actions[0]
    if default_move is not None and default_move not in moves:
        raise SettingError(
            "default_move", f"there is no move {default_move!r}; expected {' or '.join(moves)}"
        )
    entries: list[Contestant] = []
    left_out: dict[str, str] = {}
    for item in wanted:
        if isinstance(item, Contestant):
            entries.append(item)
        elif item.startswith(PROBES):
            entries += _list_probes(item, stage, default_move)
        elif item not in GROUPS:
            entries += _find_entries(item, stage, default_move)
        for name in PUBLISHED if item in ("all", "published") else ():
            entry = _make_entry(name)
            try:
                as_automata(entry, stage, default_move)
                entries += [] if entry in entries else [entry]
            except InvalidGame as error:
                left_out[name] = str(error)
        if item in ("all", "classic"):
            left_out |= _add_classic(entries, stage, default_move)
    return tuple(entries), tuple(left_out.items())


def gather_for_all(
    wanted: Sequence[Contestant | str], stages: Sequence[StageGame], default_move: str | None = None
) -> tuple[tuple[Contestant, ...], tuple[tuple[str, str], ...]]:
    """Return those who take part in every game, and why others of a group do not."""
    gathered = [gather_entries(wanted, stage, default_move) for stage in stages]
    if len(gathered) == 1:
        return gathered[0]
    entries = tuple(
        entry for entry in gathered[0][0] if all(entry in others for others, _ in gathered)
    )
    left_out: dict[str, str] = {}
    for stage, (taking_part, not_taking_part) in zip(stages, gathered, strict=True):
        for name, why in not_taking_part:
            left_out.setdefault(name, f"{stage.name}: {why}")
        for entry in taking_part:
            if entry not in entries:
                left_out.setdefault(entry.name, "it does not take part in every game")
    return entries, tuple(left_out.items())


def _find_entries(item: str, stage: StageGame, default_move: str | None) -> list[Contestant]:
    """Find who is named, as often as NAME:N says; the second copy is called `NAME 2`."""
    counted = _COPIES.fullmatch(item)
    names = (*PUBLISHED, AS_RUN, *(strategy.name for strategy in classic_strategies()))
    is_file = counted is not None and Path(counted[1]).suffix.lower() in _STRATEGY_FILES
    if counted is None or not (counted[1] in names or is_file):
        return [_find_entry(item, stage, default_move)]
    copies = int(counted[2])
    if not 1 <= copies <= _MOST_COPIES:
        raise SettingError("entries", f"{item!r}: expected 1 to {_MOST_COPIES} copies")
    entry = (
        read_strategy(Path(counted[1])) if is_file else _find_entry(counted[1], stage, default_move)
    )
    return [
        entry,
        *(replace(entry, name=f"{entry.name} {number}") for number in range(2, copies + 1)),
    ]


def _make_entry(name: str) -> Contestant:
    if name in (*PUBLISHED, AS_RUN):
        return Contestant(name, "rules", "published", published_strategy(name))
    return Contestant(name, "classic", name)


def _list_probes(item: str, stage: StageGame, default_move: str | None) -> list[Contestant]:
    """List the probes of a fingerprint, a square of so many points per side."""
    side = item.removeprefix(PROBES)
    if not side.isdigit() or not 2 <= int(side) <= _MOST_POINTS:
        raise SettingError(
            "entries", f"{item!r}: expected {PROBES}N with N from 2 to {_MOST_POINTS}"
        )
    points = [f"{k / (int(side) - 1):.3g}" for k in range(int(side))]
    return [
        _find_entry(f"{strategies.PROBE}{x}:{y}", stage, default_move)
        for x, y in product(points, points)
    ]


def _add_classic(
    entries: list[Contestant], stage: StageGame, default_move: str | None
) -> dict[str, str]:
    """Add the classic strategies that are not there already under this or another name; return the
    others."""
    try:
        cooperative_actions(stage.form)
    except InvalidGame as error:
        return {"the classic strategies": str(error)}
    left_out = {}
    for strategy in classic_strategies():
        taken = any(entry.name == strategy.name for entry in entries)
        entry = Contestant(
            f"classic {strategy.name}" if taken else strategy.name, "classic", strategy.name
        )
        seats = as_automata(entry, stage, default_move) or ()
        others = ((other.name, as_automata(other, stage, default_move)) for other in entries)
        alike = (
            name for name, theirs in others if theirs and all(map(behave_alike, seats, theirs))
        )
        same = next(alike, None)
        if same is None:
            entries.append(entry)
        elif same != strategy.name:
            left_out[entry.name] = f"here it does the same as {same}"
    return left_out


def _find_entry(name: str, stage: StageGame, default_move: str | None) -> Contestant:
    """Find who is named: a strategy, any player who needs no model (see `players.lookup`), or a
    model."""
    classic = [strategy.name for strategy in classic_strategies()]
    game = RepeatedGame(stage.form, 2)
    if name in (*PUBLISHED, AS_RUN, *classic) or name.startswith(strategies.PROBE):
        entry = _make_entry(name)
        as_automata(entry, stage, default_move)
        return entry
    if all(find_strategy(name, game, role, 0) is not None for role in game.roles):
        return Contestant(name, "player", name)
    if name in WEIGHTS or "/" in name or name.startswith("verified:") or name.endswith(".gguf"):
        return Contestant(name, "model", name)
    if name.startswith(AXELROD) or strategies.has_axelrod_strategy(name):
        strategies.axelrod_strategy(name.removeprefix(AXELROD))
        cooperative_actions(stage.form)
        return Contestant(name, "axelrod", name.removeprefix(AXELROD))
    known = [*GROUPS, *PUBLISHED, AS_RUN, *classic, *list_strategies(game)]
    raise UsageError(
        f"there is no strategy named {name!r}.{did_you_mean(name, known)} Groups:"
        f" {', '.join(GROUPS)}, {PROBES}N; where Axelrod's library is installed, its strategies by"
        " name; models are PROVIDER/MODEL, files are paths."
    )


@cache
def as_automata(
    entry: Contestant, stage: StageGame, default_move: str | None, first_only: bool = False
) -> tuple[Automaton, Automaton] | None:
    """Return a strategy in both seats of the game, None for who has to be asked; InvalidGame where
    it cannot play.

    With `first_only` it never sits second, so that its rules need no moves there.
    """
    match entry.kind:
        case "classic":
            make_seat = partial(strategies.make_automaton, entry.source, stage.form)
            return make_seat(0), make_seat(1)
        case "rules":
            return _run_rules(entry, stage, default_move, first_only)
        case _:
            return None


def _run_rules(
    entry: Contestant, stage: StageGame, default_move: str | None, first_only: bool
) -> tuple[Automaton, Automaton]:
    """Let rules speak the language of the game's own program; for a table one is written, with the
    first's moves."""
    own_program = stage.program and set(stage.form.actions[0]) == set(stage.form.actions[1])
    program = stage.program if own_program else write_match_program(stage.form)
    actions = stage.form.actions if own_program else (stage.form.actions[0], stage.form.actions[0])
    usual = [
        names[number] for names, number in zip(actions, find_default_moves(stage.form), strict=True)
    ]
    try:
        seats = Agent(entry.name, program, entry.rules, default_move).seats(usual)
        first = seats.automaton(0, actions)
        return first, first if first_only else seats.automaton(1, actions)
    except BestResponseError as error:
        raise InvalidGame(f"{entry.name} cannot play {stage.name}: {error}") from error


_GENERATIONS = 1_000
_MORAN_RUNS = 1_000
_MOST_FIXATIONS = 40
"""With more strategies the table of fixation probabilities is left out."""


class StandingRow(TypedDict):
    """One who took part: figures are over all matches that count, None where nothing was played."""

    game: str
    name: str
    kind: str
    per_round: Annotated[float | None, column("payoff per round", ".3f")]
    """mean over all matches that count: both seats and itself, unless settings say otherwise"""
    first: Annotated[float | None, column("first seat", ".3f")]
    """payoff per round when moving in the first seat"""
    second: Annotated[float | None, column("second seat", ".3f")]
    """payoff per round when moving in the second seat"""
    share: Annotated[float | None, column("normalised", ".2%")]
    """0 %: always the lowest payoff of the seat, 100 %: always the highest"""
    total: Annotated[float | None, column(format=".1f")]
    """sum over all matches that count"""
    missing: Annotated[int | None, column("missing plays")]
    """plays that broke off, where some did"""
    share_low: Annotated[float | None, column("normalised, at least", ".2%")]
    """had missing plays earned the least"""
    share_high: Annotated[float | None, column("normalised, at most", ".2%")]
    """had missing plays earned the most"""
    against_itself: float | None
    plays: int


class MatchRow(TypedDict):
    """What two earned in their match, the first and the second seat; means over plays, None where
    none counts."""

    game: str
    first: str
    second: str
    first_total: Annotated[float | None, column(format=".3f")]
    second_total: Annotated[float | None, column(format=".3f")]
    first_per_round: Annotated[float | None, column(format=".3f")]
    second_per_round: Annotated[float | None, column(format=".3f")]
    first_deviation: Annotated[float | None, column(format=".3f")]
    """standard deviation over plays"""
    second_deviation: Annotated[float | None, column(format=".3f")]
    """standard deviation over plays"""
    plays: int
    missing: int


class GenerationRow(TypedDict):
    """The share of a strategy in a generation, where strategies multiply by what they earn."""

    generation: int
    strategy: str
    share: Annotated[float, column(format=".4f")]


class MoranRow(TypedDict):
    """How often a strategy took over a population."""

    strategy: str
    wins: Annotated[int, column("took over")]
    share: Annotated[Interval, column("of all runs", ".2f", "95 % interval over runs (Wilson)")]


class FixationRow(TypedDict):
    """The probability that one individual of a strategy takes over a population of another one,
    worked out exactly (Nowak et al. 2004)."""

    mutant: str
    resident: str
    probability: Annotated[float, column("takes over", ".4f")]
    neutral: Annotated[float, column("by chance", ".4f", "1 / population: no selection")]


def normalise(total: float, least: float, most: float, plays: float) -> float:
    """Return a total as a share of the range it could lie in after `plays` plays with payoffs from
    `least` to `most`.

    >>> normalise(24, least=2, most=8, plays=4)
    0.6666666666666666
    """
    if not most > least:
        raise UsageError(f"normalised payoffs need different payoffs; all are {least:g}")
    return (total - plays * least) / (plays * (most - least))


def find_standings(config: TournamentConfig, plays: Iterable[StoredPlay] = ()) -> Standings:
    """Put together worked-out and played matches; one that broke off is missing."""
    totals, spread, rounds = _work_out(config)
    missing = np.zeros(totals.shape[:2])
    repetitions = float(config.repetitions or 1)
    counts = np.where(np.isnan(totals[:, :, 0]), 0.0, repetitions)
    matches: dict[tuple[int, ...], list[_PlayedMatch]] = {pair: [] for pair in config.played_pairs}
    for play in plays:
        pair = tuple(play.data["places"])
        if pair in matches and play.record.void is None:
            matches[pair].append(_PlayedMatch.read(config, play))

    def enter(pair: tuple[int, ...], played: Sequence[_PlayedMatch]) -> None:
        counts[pair] = repetitions
        missing[pair] = repetitions - len(played)
        payoffs = [match.payoffs for match in played]
        if played:
            totals[pair] = np.mean(payoffs, axis=0)
            rounds[pair] = np.mean([match.rounds for match in played])
        if len(played) > 1:
            spread[pair] = np.std(payoffs, axis=0, ddof=1)

    for (first, second), played in matches.items():
        enter((first, second), played)
        if first != second and config.is_mirrored(first, second):
            enter((second, first), [match.mirrored for match in played])
    return Standings(config, totals, rounds=rounds, spread=spread, missing=missing, plays=counts)


@dataclass(frozen=True, slots=True)
class _PlayedMatch:
    """What both seats earned in one play of a match, and how many rounds it had."""

    payoffs: tuple[float, float]
    rounds: int

    @classmethod
    def read(cls, config: TournamentConfig, play: StoredPlay) -> _PlayedMatch:
        first, second = config.stage.form.players
        payoffs = play.record.payoffs[first], play.record.payoffs[second]
        return cls(payoffs, _count_rounds(config, play))

    @property
    def mirrored(self) -> _PlayedMatch:
        """The same match with the seats exchanged."""
        first, second = self.payoffs
        return _PlayedMatch((second, first), self.rounds)


def _count_rounds(config: TournamentConfig, play: StoredPlay) -> int:
    """Count the rounds of a play by the moves of the first seat."""
    rounds = sum(turn.role == config.stage.form.players[0] for turn in play.record.submissions)
    if not rounds:
        pair = " against ".join(config.entries[index].name for index in play.data["places"])
        raise StoreError(
            f"the record of {pair} holds no moves, so its rounds are unknown; run the tournament"
            " anew"
        )
    return rounds


def _work_out(config: TournamentConfig) -> tuple[Array, Array, Array]:
    """Work out or play in bulk every match between automata: totals, their deviation over plays,
    rounds; else NaN.

    Matches whose moves are kept are played one by one instead. Where a strategy differs by seat,
    those of both seats meet, and first against second is kept.
    """
    seats = [config.find_automata(entry) for entry in config.entries]
    indices = [index for index, pair in enumerate(seats) if pair is not None]
    totals, spread = np.full((2, len(seats), len(seats), 2), np.nan)
    rounds = np.full((len(seats), len(seats)), np.nan)
    if indices and not config.keeps_moves:
        pairs = [pair for pair in seats if pair is not None]
        first = [pair[0] for pair in pairs]
        second = [] if all(behave_alike(*pair) for pair in pairs) else [pair[1] for pair in pairs]
        if config.repetitions is None:
            result = exact_round_robin([*first, *second], config.stage.form, config.rules)
        else:
            plays = config.repetitions
            seed = split(config.seed, "matches")
            result = play_round_robin(
                [*first, *second], config.stage.form, config.rules, repetitions=plays, seed=seed
            )
        grid = np.ix_(indices, indices)
        part = (slice(len(first)), slice(-len(first), None))
        totals[grid] = result.totals[part]
        spread[grid] = np.nan if result.spread is None else result.spread[part]
        rounds[grid] = result.rounds[part]
        if config.seats == "first":  # who never sits second has no strategy there
            for pair in product(indices, repeat=2):
                totals[pair] = totals[pair] if config.counts(*pair) else np.nan
    return totals, spread, rounds


@dataclass(frozen=True)
class Standings:
    """The mean totals of every match and the rounds it lasted; NaN where no play of it counts.

    `missing` and `plays` count plays by pair.
    """

    config: TournamentConfig
    totals: Array
    rounds: Array
    spread: Array
    missing: Array
    plays: Array

    @property
    def names(self) -> list[str]:
        """The names of those who take part, in the order of the settings."""
        return [entry.name for entry in self.config.entries]

    @cached_property
    def opponents(self) -> list[int]:
        """Whose matches count: everybody's, or those against one."""
        return (
            [self.names.index(self.config.against)]
            if self.config.against
            else list(range(len(self.names)))
        )

    @cached_property
    def per_round(self) -> Array:
        """The payoffs of a round on average, of the rounds that were played: longer matches are no
        better ones."""
        return np.asarray(self.totals / self.rounds[:, :, None])

    @cached_property
    def between(self) -> Array:
        """What row earns a round against column, the mean of both seats where both count."""
        if self.config.seats == "first":
            return np.asarray(self.per_round[:, :, 0])
        return np.asarray((self.per_round[:, :, 0] + self.per_round[:, :, 1].T) / 2)

    @cached_property
    def rows(self) -> list[StandingRow]:
        """One row for each participant, best first; those without any play last."""
        rows = [self._make_row(index) for index in range(len(self.names))]
        # By payoffs, as winners are: normalised by seat, another order is possible where seats have
        # other payoffs.
        return sorted(
            rows,
            key=lambda row: (row["per_round"] is None, -(row["per_round"] or 0.0), row["name"]),
        )

    @property
    def places(self) -> list[int]:
        """The place of each row; whoever earned the same shares the best of their places, as in 1,
        1, 3."""
        earned = [-inf if row["per_round"] is None else row["per_round"] for row in self.rows]
        return [
            1 + sum(other > mine and not self._is_level(other, mine) for other in earned)
            for mine in earned
        ]

    @property
    def winners(self) -> tuple[str, ...]:
        """Those who reach their target where targets are given, else those with the highest payoff
        per round.

        Who lacks matches has no total, and cannot win.
        """
        key: Literal["total", "per_round"] = "total" if self.config.target else "per_round"
        earned = {row["name"]: row[key] or 0.0 for row in self.rows if row["total"] is not None}
        goals = self.config.target or dict.fromkeys(earned, max(earned.values(), default=0.0))
        return tuple(
            name
            for name, value in earned.items()
            if name in goals and self._is_level(value, goals[name])
        )

    def _is_level(self, payoff: float, other: float) -> bool:
        """Tell whether two earned the same, but for rounding, which grows with the payoffs of the
        game."""
        return isclose(
            payoff,
            other,
            rel_tol=1e-12,
            abs_tol=1e-9 * float(np.ptp(self.config.stage.form.payoffs)),
        )

    def _make_row(self, index: int) -> StandingRow:
        entry = self.config.entries[index]
        against = self.opponents
        counting = slice(1 if self.config.seats == "first" else 2)  # which seats count
        totals = np.stack([self.totals[index, against, 0], self.totals[against, index, 1]])[
            counting
        ]
        seats = np.stack([self.per_round[index, against, 0], self.per_round[against, index, 1]])[
            counting
        ]
        payoffs = self.config.stage.form.payoffs[counting]
        least = payoffs.min(axis=(1, 2))[:, None]
        width = np.ptp(payoffs, axis=(1, 2))[:, None]
        # Where all payoffs of a seat are the same, everybody earns the highest.
        shares = np.where(
            width > 0, (seats - least) / np.where(width > 0, width, 1.0), 1.0 + 0 * seats
        )
        played = np.stack([self.plays[index, against], self.plays[against, index]])[counting]
        gaps = np.stack([self.missing[index, against], self.missing[against, index]])[counting]
        lost = gaps / np.maximum(played, 1.0)
        missing = int(gaps.sum())
        # Bounds: the mean if every missing play had earned the least, and if it had earned the
        # most.
        kept = np.nan_to_num(shares) * (1 - lost)
        bounded = missing and not np.isnan(shares).all()
        return StandingRow(
            game=self.config.game.name,
            name=entry.name,
            kind=entry.kind,
            per_round=_mean(seats),
            first=_mean(seats[0]),
            second=_mean(seats[1:]),
            share=_mean(shares),
            total=_finite(totals.sum()),
            missing=missing or None,
            share_low=float(kept.mean()) if bounded else None,
            share_high=float((kept + lost).mean()) if bounded else None,
            against_itself=_mean(self.between[index, [index]]) if index in against else None,
            plays=int(played.sum()),
        )

    def list_matches(self) -> Iterator[MatchRow]:
        """Yield every match that counts."""
        for first, second in product(range(len(self.names)), repeat=2):
            if not self.config.counts(first, second):
                continue
            figures = {
                f"{seat}_{name}": _finite(values[first, second, number])
                for name, values in (
                    ("total", self.totals),
                    ("per_round", self.per_round),
                    ("deviation", self.spread),
                )
                for number, seat in enumerate(("first", "second"))
            }
            yield MatchRow(
                game=self.config.game.name,
                first=self.names[first],
                second=self.names[second],
                **figures,  # type: ignore[typeddict-item]
                plays=int(self.plays[first, second]),
                missing=int(self.missing[first, second]),
            )

    @cached_property
    def complete(self) -> tuple[list[str], Array]:
        """The strategies whose matches against each other were all played, and their payoffs."""
        known = ~np.isnan(self.between)
        kept = [index for index in range(len(known)) if known[index, index]]
        while kept:
            gaps = [(~known[np.ix_([index], kept)]).sum() for index in kept]
            if not any(gaps):
                break
            kept.pop(int(np.argmax(gaps)))
        return [self.names[index] for index in kept], self.between[np.ix_(kept, kept)]

    def list_shares(self, generations: int = _GENERATIONS) -> Iterator[GenerationRow]:
        """Yield the shares of strategies that multiply by what they earn, from equal ones; none for
        fewer than two."""
        names, payoffs = self.complete
        if len(names) < 2:
            return
        path = replicator(
            NormalForm.bimatrix(payoffs, payoffs.T),
            steps=generations,
            form="discrete",
            one_population=True,
            stride=max(1, generations // 100),
            background=self.config.background,
        )
        for generation, shares in zip(path.times, path.strategies[0], strict=True):
            for name, share in zip(names, shares, strict=True):
                yield GenerationRow(generation=int(generation), strategy=name, share=float(share))

    def list_takeovers(self) -> list[MoranRow]:
        """List how often each strategy took over a population that began with equal numbers of all,
        best first.

        Raises: UsageError: the population has fewer individuals than there are strategies, so some
        could never win.
        """
        names, payoffs = self.complete
        population = self.config.moran
        if len(names) < 2 or not population:
            return []
        if population < len(names):
            raise UsageError(
                f"moran: a population of {population} has no place for each of {len(names)}"
                f" strategies; expected at least {len(names)}"
            )
        # Equal numbers; where they do not come out even, the first strategies get one more.
        counts = [
            population // len(names) + (k < population % len(names)) for k in range(len(names))
        ]
        result = count_takeovers(
            self._find_moran_payoffs(payoffs),
            counts,
            runs=_MORAN_RUNS,
            seed=split(self.config.seed, "moran"),
            intensity=self.config.moran_intensity,
            fitness=self.config.moran_fitness,
        )
        rows = [
            MoranRow(strategy=name, wins=wins, share=wilson(wins, _MORAN_RUNS))
            for name, wins in [
                *zip(names, result.wins, strict=True),
                ("undecided", result.undecided),
            ]
            if wins
        ]
        return sorted(rows, key=lambda row: (row["strategy"] == "undecided", -row["wins"]))

    def _find_moran_payoffs(self, payoffs: Array) -> Array:
        """Shift payoffs where the settings say so; SettingError where fitness would be negative."""
        shifted = payoffs + (self.config.background or 0.0)
        if self.config.moran_fitness == "linear" and shifted.min() < 0:
            raise SettingError(
                "background",
                f"linear fitness cannot be negative, and the least payoff per round is"
                f" {payoffs.min():g}; set background to {-payoffs.min():g} or more, or"
                " moran_fitness to exponential",
            )
        return shifted

    def list_fixations(self) -> Iterator[FixationRow]:
        """Yield the exact fixation probability of every strategy among every other one, where a
        Moran process is asked for."""
        names, payoffs = self.complete
        population = self.config.moran
        if not population or len(names) > _MOST_FIXATIONS:
            return
        shifted = self._find_moran_payoffs(payoffs)
        for mutant, resident in permutations(range(len(names)), 2):
            pair = [mutant, resident]
            yield FixationRow(
                mutant=names[mutant],
                resident=names[resident],
                probability=fixation_probability(
                    shifted[np.ix_(pair, pair)],
                    population,
                    intensity=self.config.moran_intensity,
                    fitness=self.config.moran_fitness,
                ),
                neutral=1 / population,
            )


def _mean(values: Array) -> float | None:
    seen = values[~np.isnan(values)]
    return float(seen.mean()) if len(seen) else None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


_MOST_ENTRIES = 1_000
_MOST_KEPT_ROUNDS = 100_000
"""With more rounds in all, matches between strategies are drawn in bulk: a round takes about 115
bytes of a record."""
_MOST_LISTED_ROUNDS = 100_000
"""Longer lists of rounds are cut off; the records hold all."""
_MOST_IN_A_HEATMAP = 100
"""The caption in report.toml says it too."""
_CHARACTERS_PER_TOKEN = 4
_TOKENS_A_ROUND = 12
"""About what one round adds to the history that a model is shown."""
_LASTING_SHARE = 1e-6
"""A smaller share at the end is that of a strategy that died out."""


@settings
class TournamentConfig(ToolSettings):
    """Run a round robin, including self-play, with every pair in both seats, and print who earns
    most.

    Matches between strategies are worked out exactly, or drawn with --repetitions. Models are asked
    round by round.
    """

    games: StageGamesSetting = setting(kw_only=False, argument=True)
    """One game or several of two players with one move each: names from `bestresponse games`, .nfg,
    .json or .pl files, or a .txt file that tells a game in words, which --model formalizes."""
    entries: EntriesSetting = setting(default=("all",), kw_only=False)
    """Who takes part: all, published, classic, probes:N, strategies by name, always:MOVE, installed
    players, models, files of rules (.pl), of saved agents (.json) or of words (.txt); those of the
    `axelrod` package by name. NAME:N enters N copies of a strategy."""
    model: inputs.OptionalModelSetting = setting(default=None, short="-m")
    """The model that formalizes games and strategies in words."""
    rounds: int = setting(
        default=10, ge=1, le=100_000, help="Rounds per match; with --continuation the maximum."
    )
    noise: float = setting(
        default=0.0, ge=0, lt=1, help="Probability that a move is replaced by another one."
    )
    continuation: float = setting(
        default=1.0, gt=0, le=1, help="Probability that another round follows."
    )
    repetitions: int | None = setting(default=None, ge=1, le=1_000_000)
    """Repetitions per match, with all moves. [default: exact expectation; 1 if a model plays]"""
    against: str | None = setting(
        default=None, help="Score only matches against this entry (clones)."
    )
    seats: Literal["both", "first"] = setting(default="both")
    """Whether matches in both seats count, or only those in the first; with --against a total is
    then that of one match."""
    default_move: str | None = setting(
        default=None, help="Default move, in place of the game's own."
    )
    target: Mapping[str, float] = setting(default_factory=dict, metavar="NAME=TOTAL")
    """Winners are those whose total is this one. A total is the sum over all matches that count:
    every opponent, itself included, in both seats; with --against NAME --seats first, one match of
    --rounds rounds."""
    moran: int = setting(
        default=0, ge=0, le=100_000, help="Also run the Moran process with this many individuals."
    )
    moran_fitness: Fitness = setting(default="exponential")
    """Fitness in the Moran process: exponential, exp(intensity x payoff per round), or linear,
    1 - intensity + intensity x payoff per round, as in the `axelrod` package."""
    moran_intensity: float = setting(
        default=1.0, ge=0, le=1_000, help="Intensity of selection; at most 1 where linear."
    )
    background: float | None = setting(default=None, ge=0, le=1e9)
    """Added to every payoff per round where strategies multiply [default: 0; where a payoff is
    negative, shares grow as if the least were 1]."""
    seed: int = setting(default=0, ge=0, lt=2**63, help="Random seed.")
    temperature: float = setting(default=0.0, ge=0, le=5, help="Sampling temperature of models.")
    max_tokens: int = setting(default=256, ge=1, le=100_000, help="Maximum tokens per reply.")
    attempts: int = setting(
        default=1, ge=1, le=20, help="Maximum attempts per question if an answer is unreadable."
    )
    style: Literal["auto", "line", "json", "letter"] = setting(
        default="auto", help="How models answer."
    )
    reasons: bool = setting(
        default=False, help="Let models explain each choice before they answer."
    )
    left_out: tuple[tuple[str, str], ...] = setting(default=(), option=False)

    def __post_init__(self) -> None:
        if self.moran == 1:
            raise SettingError("moran", "expected a population of at least 2")
        if not self.moran:
            self.refuse_set(("moran_fitness", "moran_intensity"), "it belongs to the Moran process")
        if self.moran_fitness == "linear" and self.moran_intensity > 1:
            raise SettingError(
                "moran_intensity", f"expected at most 1 where linear, got {self.moran_intensity:g}"
            )
        if len(set(self.games)) < len(self.games):
            raise SettingError("games", "a game is named twice; name each once")
        if len(self.games) > 1:
            self.refuse_set(("target", "moran"), "works with one game; name one game")
        in_words = [game.name for game in self.games if is_in_words(game)]
        if in_words and self.model is None:
            raise SettingError(
                "model", f"{in_words[0]} is told in words; name the model that formalizes it"
            )
        if in_words:
            return  # names of strategies are looked up once the game is known
        entries, left_out = gather_for_all(self.entries, self.stages, self.default_move)
        object.__setattr__(self, "entries", entries)
        object.__setattr__(self, "left_out", (*self.left_out, *left_out))
        names = [entry.name for entry in entries]
        if not names:
            raise SettingError("entries", "nobody takes part")
        if len(names) > _MOST_ENTRIES:
            raise SettingError("entries", f"{len(names)} take part; at most {_MOST_ENTRIES} can")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise SettingError(
                "entries", f"two who take part are both called {twice[0]!r}; leave one out"
            )
        if not self.models:
            self.refuse_set(["tools", "tool_calls"], "this does nothing where no model takes part")
        for where, name in [
            *(("target", name) for name in self.target),
            ("against", self.against or names[0]),
        ]:
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
    def rules(self) -> Rules:
        """How a match is played."""
        return Rules(self.rounds, self.noise, self.continuation)

    @property
    def repeated(self) -> RepeatedGame:
        """The repeated game that is shown to those who are asked."""
        return RepeatedGame(self.stage.form, self.rounds, self.continuation, noise=self.noise)

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
        """Whether matches between strategies are drawn one by one and kept; very many are drawn in
        bulk instead."""
        rounds = len(self.entries) ** 2 * self.rounds * (self.repetitions or 0)
        return 0 < rounds <= _MOST_KEPT_ROUNDS

    @cached_property
    def played_pairs(self) -> tuple[tuple[int, int], ...]:
        """The matches that are played one by one, as pairs of entries; only those that count where
        all play one.

        In them somebody has to be asked, or their moves are kept.
        """
        played = [self.keeps_moves or self.find_automata(entry) is None for entry in self.entries]
        pairs = []
        for first, second in product(range(len(played)), repeat=2):
            mirrored = first > second and self.is_mirrored(first, second)
            if self.counts(first, second) and not mirrored and (played[first] or played[second]):
                pairs.append((first, second))
        return tuple(pairs)

    def is_mirrored(self, first: int, second: int) -> bool:
        """Say whether a match is played once for both seats: in Axelrod's library, in a symmetric
        game."""
        payoffs = self.stage.form.payoffs
        in_library = all(self.entries[index].kind == "axelrod" for index in (first, second))
        return in_library and bool((payoffs[0] == payoffs[1].T).all())


def formalize_words(config: TournamentConfig) -> TournamentConfig:
    """Let the model write the games and the rules of strategies that are in words before the run
    begins."""
    if config.model is not None and any(map(is_in_words, config.games)):
        with open_models((config.model,), Path(config.output_dir), config.limits) as opened:
            model = opened.models[config.model]
            games = [
                formalize_game(game, model) if is_in_words(game) else game for game in config.games
            ]
        config = replace(config, games=tuple(games))
    return replace(
        config,
        entries=formalize_entries(config.entries, config.model, config, lambda: config.stage),
    )


def formalize_game(game: NamedGame, model: Model) -> NamedGame:
    """Let a model write the program of a game in words; InvalidGame says what was wrong with the
    last attempt."""
    engine = open_engine()
    try:
        written = Formalizer(model, engine).formalize(check_story(game.text))
    finally:
        engine.close()
    if not written.ok:
        raise InvalidGame(f"{game.name}: {written.trouble}")
    return NamedGame(game.name, ".pl", written.source)


_ASKING = (
    "rounds",
    "noise",
    "continuation",
    "default_move",
    "temperature",
    "max_tokens",
    "attempts",
    "style",
    "reasons",
)
# A model is shown all rounds and answers at once; a match in which it does not is void.
_AGENTS = {
    "memory": "full",
    "own_words": False,
    "reasoning": "direct",
    "policy": "void",
    "personas": {},
}


def list_matches(config: TournamentConfig) -> Iterator[dict[str, object]]:
    """Yield every match that is played one by one, `repetitions` times, game by game."""
    for one in config.by_game:
        yield from _list_matches(one)


def _list_matches(config: TournamentConfig) -> Iterator[dict[str, object]]:
    shared = {
        "study": "tournament",
        "game": config.game.to_json(),
        **{name: getattr(config, name) for name in _ASKING},
    }
    for repetition, pair in product(range(config.repetitions or 1), config.played_pairs):
        entries = [config.entries[index] for index in pair]
        names = [entry.source if entry.kind == "model" else entry.name for entry in entries]
        yield {
            **shared,
            **_AGENTS,
            "seats": [
                [role, name] for role, name in zip(config.repeated.roles, names, strict=True)
            ],
            "entries": [entry.to_json() for entry in entries],
            "places": list(pair),
            "repetition": repetition,
            "seed": split(config.seed, "match", *pair, repetition),
            **(config.describe_tools() if any(one.kind == "model" for one in entries) else {}),
        }


def _seat_entry(
    config: TournamentConfig, spec: Spec, game: Game[S], role: str, name: str
) -> Player | None:
    """Seat who needs no model."""
    seat = game.roles.index(role)
    entry = config.entries[spec.data["places"][seat]]
    seed = split(spec.data["seed"], seat)
    match entry.kind:
        case "model":
            return None
        case "function" if entry.thing is None:
            raise UsageError(
                f"{entry.name} was a Python function, which a stored run does not hold"
            )
        case "function":
            return strategies.HistoryPlayer(entry.thing, entry.name)
        case "player" if player := find_strategy(entry.source, game, role, seed):
            return player
        case "axelrod":
            return strategies.AxelrodPlayer(
                entry.source,
                cooperative_actions(config.stage.form),
                seed,
                rounds=config.rounds if config.continuation == 1.0 else None,
                noise=config.noise,
            )
    automata = config.find_automata(entry)
    if automata is None:
        raise UsageError(
            f"{entry.name} cannot play here: it is no installed player, or in words and without"
            " rules"
        )
    return strategies.AutomatonPlayer(automata[seat], seed)


def prepare_matches(config: TournamentConfig, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that plays one match of one of the games."""
    tooled = config.offer_tools(models)
    by_game = {canonical(one.game.to_json()): _prepare_game(one, tooled) for one in config.by_game}

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        return by_game[canonical(spec.data["game"])](spec, done, keep)

    return play_one


def _prepare_game(config: TournamentConfig, models: Mapping[str, Model]) -> PlayOne:
    """Two strategies of Axelrod's library meet there, two automata here; others are asked round by
    round."""
    play_seats = make_player(lambda spec: config.repeated, models, partial(_seat_entry, config))
    form = config.stage.form

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        entries = [config.entries[index] for index in spec.data["places"]]
        automata = [config.find_automata(entry) for entry in entries]
        if all(entry.kind == "axelrod" for entry in entries):
            names = entries[0].source, entries[1].source
            rounds = strategies.play_in_library(names, form, config.rules, spec.data["seed"])
        elif automata[0] is not None and automata[1] is not None:
            rounds = draw_rounds((automata[0][0], automata[1][1]), config.rules, spec.data["seed"])
        else:
            return play_seats(spec, done, keep)
        players = {
            role: entry.name for role, entry in zip(config.repeated.roles, entries, strict=True)
        }
        return record_rounds(config.repeated, rounds, players)

    return play_one


def draw_rounds(
    automata: tuple[Automaton, Automaton], rules: Rules, seed: int
) -> tuple[strategies.LibraryRound, ...]:
    """Draw a match of two automata, round by round."""
    random = generator(seed, "rounds")
    actions = [range(automaton.mix.shape[1]) for automaton in automata]
    mixes = [automaton.mix.tolist() for automaton in automata]
    states = [0, 0]
    rounds: list[strategies.LibraryRound] = []
    while len(rounds) < rules.rounds:
        meant = [random.choices(actions[seat], mixes[seat][states[seat]])[0] for seat in (0, 1)]
        made = list(meant)
        for seat in (0, 1):
            others = [action for action in actions[seat] if action != meant[seat]]
            if others and rules.noise and random.random() < rules.noise:
                made[seat] = random.choice(others)
        rounds.append(strategies.LibraryRound(meant=(meant[0], meant[1]), made=(made[0], made[1])))
        if rules.continuation < 1.0 and random.random() >= rules.continuation:
            break
        states = [
            int(automata[seat].step[states[seat], made[seat], made[1 - seat]]) for seat in (0, 1)
        ]
    return tuple(rounds)


def record_rounds(
    game: RepeatedGame, rounds: Sequence[strategies.LibraryRound], players: Mapping[str, str]
) -> Record:
    """Return the record of a match that was played elsewhere, as an `Episode` with the same moves
    would leave it.

    It is put together here because an episode takes as long for 200 rounds as the library does.
    """
    # Submissions are values, so that one object serves for every round in which a seat does the
    # same.
    meant = [
        [Submission(role, Decision(action)) for action in actions]
        for role, actions in zip(game.roles, game.form.actions, strict=True)
    ]
    drawn = [
        [Submission(NATURE, Decision(action)) for action in actions]
        for actions in game.form.actions
    ]
    go_on = Submission(NATURE, Decision(GO_ON))
    stop = Submission(NATURE, Decision(STOP))
    submissions: list[Submission] = []
    for number, moves in enumerate(rounds, 1):
        submissions += [seat[move] for seat, move in zip(meant, moves.meant, strict=True)]
        if game.noise:
            submissions += [seat[move] for seat, move in zip(drawn, moves.made, strict=True)]
        if game.continuation < 1.0 and number < game.rounds:
            submissions.append(go_on if number < len(rounds) else stop)
    totals = np.zeros(2)
    for (first, second), times in Counter(moves.made for moves in rounds).items():
        totals += times * game.form.payoffs[:, first, second]
    payoffs = dict(zip(game.roles, totals.tolist(), strict=True))
    return Record(game.name, game.version, dict(players), tuple(submissions), payoffs)


def estimate_matches(config: TournamentConfig) -> Estimate:
    """Count every round of every match in both seats that hold a model, with every attempt."""
    in_words = [game.name for game in config.games if is_in_words(game)]
    if in_words:
        return Estimate(
            None, f"{', '.join(in_words)} has to be formalized first; the matches are counted then"
        )
    parts = [_estimate_game(one) for one in config.by_game]
    if len(parts) == 1:
        return parts[0]
    return Estimate.add(parts, f"{len(parts)} games")


def _estimate_game(config: TournamentConfig) -> Estimate:
    calls = dict.fromkeys(map(str, config.models), 0)
    for index in (index for pair in config.played_pairs for index in pair):
        if config.entries[index].kind == "model":
            asked = config.rounds * config.attempts * (config.repetitions or 1)
            calls[config.entries[index].source] += config.count_with_tools(asked)
    game = config.repeated
    briefing = len(write_rules(game.view(game.start(), game.roles[0]))) // _CHARACTERS_PER_TOKEN
    tokens = briefing + config.rounds * _TOKENS_A_ROUND // 2
    matches = count_matches(config)
    what = f"{matches:,} matches of {config.rounds} rounds" if calls else ""
    return Estimate.of_calls(matches, what, calls, tokens, config.max_tokens)


def count_matches(config: TournamentConfig) -> int:
    """Count the matches that are played one by one."""
    return sum(len(one.played_pairs) for one in config.by_game) * (config.repetitions or 1)


class BetweenRow(TypedDict):
    """What a strategy earned a round against another, the mean of both seats; best strategies
    first."""

    strategy: str
    against: str
    payoff: Annotated[float | None, column("payoff per round", ".2f")]


class FingerprintRow(TypedDict):
    """What the one whom all play earned a round against a probe: tit-for-tat that errs in two
    ways."""

    cooperates: Annotated[str, column("cooperates anyway")]
    defects: Annotated[str, column("defects anyway")]
    payoff: Annotated[float | None, column("payoff per round", ".2f")]


class WinnerRow(TypedDict):
    """Somebody who won a game: reached the target that was set, or the highest payoff per round."""

    game: str
    name: str


class GameShareRow(TypedDict):
    """The normalised payoff of a strategy in one of several games, or its mean over them."""

    strategy: str
    game: str
    share: Annotated[float | None, column("normalised payoff", ".2%")]


class MatchRoundRow(TypedDict):
    """One round of a match: the moves that were made and what they earned. Plays are counted from
    1."""

    game: str
    first: str
    second: str
    play: int
    round: int
    first_move: str
    second_move: str
    first_payoff: float
    second_payoff: float


class TargetRow(TypedDict):
    """What somebody was expected to earn, and earned."""

    strategy: str
    expected: Annotated[float, column("expected total", "g")]
    total: Annotated[float | None, column(format="g")]
    reached: bool


class LeftOutRow(TypedDict):
    """A strategy of a group that does not take part."""

    name: str
    why: str


METRICS = list_metrics(
    StandingRow,
    "per_round",
    "first",
    "second",
    "share",
    "total",
    "missing",
    "share_low",
    "share_high",
)
"""Every figure of one who took part, in the order of the columns."""


MEAN = "mean over games"
"""The game under which `by_game` holds the means over all games."""


def measure_tournament(config: TournamentConfig, folder: RunFolder) -> Measured:
    """Work out the standings of every game, the means over games, and what becomes of strategies
    that multiply."""
    readings = Readings()
    models = config.models
    played = 0
    rounds: list[MatchRoundRow] = []
    found: list[Standings] = []

    def read_plays(one: TournamentConfig) -> Iterator[StoredPlay]:
        """Yield one play at a time: thousands of matches with all their moves do not fit into
        memory."""
        nonlocal played
        for play in folder.sorted_plays():
            if play.data["game"] != one.game.to_json():
                continue
            readings.count(
                play.record, {role: name for role, name in play.data["seats"] if name in models}
            )
            played += not play.record.void
            if len(rounds) < _MOST_LISTED_ROUNDS:
                rounds.extend(_list_rounds(one, play))
            yield play

    for one in config.by_game:
        found.append(find_standings(one, read_plays(one)))
        rounds.extend(_list_certain_rounds(one, _MOST_LISTED_ROUNDS - len(rounds)))
    first = found[0]
    alone = len(found) == 1
    totals = {row["name"]: row["total"] for row in first.rows}
    targets = [
        TargetRow(strategy=name, expected=total, total=totals[name], reached=name in first.winners)
        for name, total in config.target.items()
    ]
    shares = list(first.list_shares()) if alone else []
    last = max((row["generation"] for row in shares), default=0)
    final = [row for row in shares if row["generation"] == last and row["share"] > _LASTING_SHARE]
    winners = [
        WinnerRow(game=one.config.game.name, name=name) for one in found for name in one.winners
    ]
    heads = ("place", "strategy") if alone else ("game", "place", "strategy")
    groups: dict[Heads, StandingRow] = {}
    for standings in found:
        for place, row in zip(standings.places, standings.rows, strict=True):
            groups[(place, row["name"]) if alone else (row["game"], place, row["name"])] = row
    return Measured(
        {
            "standings": Frame(StandingRow, [row for one in found for row in one.rows]),
            "by_game": Frame(GameShareRow, [] if alone else list(_compare_games(found))),
            "winners": Frame(WinnerRow, winners),
            "matches": Frame(MatchRow, [row for one in found for row in one.list_matches()]),
            "rounds": Frame(MatchRoundRow, rounds),
            "between": Frame(BetweenRow, list(_list_between(first)) if alone else []),
            "fingerprint": Frame(FingerprintRow, list(_list_fingerprint(first)) if alone else []),
            "targets": Frame(TargetRow, targets),
            "left_out": Frame(
                LeftOutRow, [LeftOutRow(name=name, why=why) for name, why in config.left_out]
            ),
            "shares": Frame(GenerationRow, shares),
            "final_shares": Frame(GenerationRow, sorted(final, key=lambda row: -row["share"])),
            "moran": Frame(MoranRow, first.list_takeovers() if alone else []),
            "fixation": Frame(FixationRow, list(first.list_fixations()) if alone else []),
            "answers": readings.frames["answers"],
        },
        played if count_matches(config) else len(first.rows),
        heads,
        groups,
    )


def _list_between(standings: Standings) -> Iterator[BetweenRow]:
    """Yield what each of the best earned against each."""
    ranked = [standings.names.index(row["name"]) for row in standings.rows][:_MOST_IN_A_HEATMAP]
    for i, k in product(ranked, repeat=2):
        payoff = float(standings.between[i, k])
        if not isnan(payoff):
            yield BetweenRow(strategy=standings.names[i], against=standings.names[k], payoff=payoff)


def _list_fingerprint(standings: Standings) -> Iterator[FingerprintRow]:
    """Yield what the one whom all play earned against every probe."""
    for k, name in enumerate(standings.names) if standings.config.against else ():
        if name.startswith(strategies.PROBE):
            _, x, y = name.split(":")
            earned = _finite(standings.between[standings.opponents[0], k])
            yield FingerprintRow(cooperates=x, defects=y, payoff=earned)


def _compare_games(found: Sequence[Standings]) -> Iterator[GameShareRow]:
    """Yield the normalised payoff of everybody in every game and the mean over games, the best mean
    first."""
    shares = {
        one.config.game.name: {row["name"]: row["share"] for row in one.rows} for one in found
    }
    means: dict[str, float | None] = {}
    for name in found[0].names:
        values = [share for by_name in shares.values() if (share := by_name[name]) is not None]
        means[name] = fmean(values) if len(values) == len(shares) else None
    for name in sorted(means, key=lambda name: (means[name] is None, -(means[name] or 0.0))):
        yield GameShareRow(strategy=name, game=MEAN, share=means[name])
        for game, by_name in shares.items():
            yield GameShareRow(strategy=name, game=game, share=by_name[name])


def _list_rounds(config: TournamentConfig, play: StoredPlay) -> Iterator[MatchRoundRow]:
    """Yield the rounds of a recorded play; under noise the moves that were made, not those that
    were meant."""
    if play.record.void is not None:
        return
    # A round is both moves that are meant, under noise both that are made, and whether there is
    # another round.
    size = 4 if config.noise else 2
    step = size if config.continuation == 1.0 else size + 1
    actions = [str(turn.decision.action) for turn in play.record.submissions]
    made = [
        [actions[start + size - 2 + seat] for start in range(0, len(actions), step)]
        for seat in range(2)
    ]
    first, second = (config.entries[index].name for index in play.data["places"])
    yield from _describe_rounds(config, (first, second), play.data["repetition"] + 1, made)


def _list_certain_rounds(config: TournamentConfig, room: int) -> Iterator[MatchRoundRow]:
    """Yield the rounds of matches that were worked out and in which nothing is left to chance, if
    all have room."""
    if config.repetitions is not None or config.noise or config.continuation < 1.0:
        return
    automata = [config.find_automata(entry) for entry in config.entries]
    certain = [pair is not None and pair[0].pure and pair[1].pure for pair in automata]
    if sum(certain) ** 2 * config.rounds > room:
        return
    for i, k in product(range(len(automata)), repeat=2):
        first = automata[i]
        second = automata[k]
        if (
            config.counts(i, k)
            and certain[i]
            and certain[k]
            and first is not None
            and second is not None
        ):
            rounds = draw_rounds((first[0], second[1]), config.rules, seed=0)
            made = [
                [actions[moves.made[seat]] for moves in rounds]
                for seat, actions in enumerate(config.stage.form.actions)
            ]
            yield from _describe_rounds(
                config, (config.entries[i].name, config.entries[k].name), 1, made
            )


def _describe_rounds(
    config: TournamentConfig, names: tuple[str, str], play: int, made: Sequence[Sequence[str]]
) -> Iterator[MatchRoundRow]:
    form = config.stage.form
    for number, moves in enumerate(zip(*made, strict=True), 1):
        cell = tuple(actions.index(move) for actions, move in zip(form.actions, moves, strict=True))
        yield MatchRoundRow(
            game=config.game.name,
            first=names[0],
            second=names[1],
            play=play,
            round=number,
            first_move=moves[0],
            second_move=moves[1],
            first_payoff=float(form.payoffs[(0, *cell)]),
            second_payoff=float(form.payoffs[(1, *cell)]),
        )


def find_repeated_game(config: TournamentConfig, data: Mapping[str, object]) -> RepeatedGame:
    """Return the repeated game of a match."""
    return next(one.repeated for one in config.by_game if one.game.to_json() == data["game"])


def show_strategy_rules(measured: Measurement) -> Shown | None:
    """Show the strategies that are written as rules."""
    config: TournamentConfig = measured.config
    blocks = [
        block
        for entry in config.entries
        if entry.rules
        for block in (Paragraph(f"{entry.name} ({entry.source})"), Code(entry.rules, "prolog"))
    ]
    return Shown("Strategies as rules", tuple(blocks)) if blocks else None


_PROSE = read_toml(Path(__file__).with_name("report.toml"))

tournament = Study(
    "tournament",
    TournamentConfig,
    specs=list_matches,
    play=prepare_matches,
    measure=measure_tournament,
    metrics=METRICS,
    prepare=formalize_words,
    title="Tournament: {{ config.games|map(attribute='name')|join(', ') }}",
    subtitle="{{ config.entries|length }} take part, " + _PROSE["length"],
    command="tournament",
    unit="matches",
    tables=lambda config: 2 if config.target else 1,
    closing=_PROSE["winners"],
    game=find_repeated_game,
    count_plays=count_matches,
    estimate_calls=estimate_matches,
    report=(
        text(_PROSE["winners"], title="Standings"),
        pivot("by_game", "strategy", "game", "share", caption=_PROSE["by_game"]),
        bars("by_game", "game", "share", "strategy", stacked=False, caption=_PROSE["by_game"]),
        metrics_table(
            caption="{{ config.games|map(attribute='name')|join(', ') }}: " + _PROSE["length"]
        ),
        table("targets", caption="Totals expected and reached"),
        show_people,
        table("left_out", caption="Strategies of the groups that do not take part"),
        pivot(
            "between",
            "strategy",
            "against",
            "payoff",
            heat=True,
            title="Who earned what against whom",
            caption=_PROSE["between"],
        ),
        pivot(
            "fingerprint",
            "defects",
            "cooperates",
            "payoff",
            heat=True,
            title="Fingerprint",
            caption=_PROSE["probes"],
        ),
        text(_PROSE["shares"], title="If strategies multiply by what they earn"),
        lines(
            "shares",
            x="generation",
            y="share",
            by="strategy",
            most=8,
            caption="Shares of the largest",
        ),
        table("final_shares", columns=("strategy", "share"), caption="Shares at the end"),
        table("moran", caption=_PROSE["moran"]),
        pivot(
            "fixation",
            "mutant",
            "resident",
            "probability",
            title="Strategies that multiply",
            caption=_PROSE["fixation"],
        ),
        text(_PROSE["missing"], kind="info"),
        show_strategy_rules,
    ),
)
"""Who earns how much against whom in a repeated game."""
