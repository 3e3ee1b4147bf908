"""Round robins: strategies and models against each other in a repeated game, every pair in both seats.

Matches between strategies that are automata are worked out exactly or played in bulk; those with models, functions and
other players are played round by round.

The normalised payoff is (total - least) / (most - least), where least and most are the totals that a player would earn
with its lowest or highest payoff in every round (Mensfelt, Stathis and Trencsenyi 2024, section 4.3), here for each
seat by its own payoffs. Totals are over all matches in both seats, against itself included.

Strategies that multiply by what they earn: shares grow in proportion to what a strategy earns against all shares
(Axelrod, The Evolution of Cooperation, 1984, chapter 2), that is the discrete replicator; the Moran process is that of
a finite population, see `theory.dynamics.moran`. Both use the mean payoff a round over both seats.

Who takes part in a tournament: groups and names of strategies, files, functions and models.

A strategy is an automaton for each seat of the game where it can be written as one (`as_automata`); players, functions
and models are asked round by round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import product
from math import inf, isclose
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypedDict

import numpy as np

from bestresponse.analysis.people import show_people
from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import BestResponseError, InvalidGame, SettingError, StoreError, UsageError
from bestresponse.core.files import read_text_file, read_toml
from bestresponse.core.game import NATURE, Game, S
from bestresponse.core.json import digest
from bestresponse.core.player import Decision, Player
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import split
from bestresponse.formal.strategies.agents import Agent, formalize_strategy, write_match_program
from bestresponse.formal.strategies.programs import PUBLISHED, published_strategy
from bestresponse.games.logic.game import read_program_text
from bestresponse.games.lookup import NamedGame
from bestresponse.games.matrix.game import GO_ON, STOP, RepeatedGame
from bestresponse.logic.engine import open_engine
from bestresponse.models.base import Model
from bestresponse.models.providers.function import hash_function
from bestresponse.models.providers.weights import WEIGHTS
from bestresponse.players import strategies
from bestresponse.players.lookup import find_strategy, list_strategies
from bestresponse.report.blocks import Measurement, Shown, lines, metrics_table, pivot, table, text
from bestresponse.report.document import Code, Paragraph
from bestresponse.report.frames import Frame, column, list_metrics
from bestresponse.runs import inputs
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.models import open_models
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.seats import make_player
from bestresponse.runs.settings import RunSettings, setting, settings
from bestresponse.runs.store.folder import RunFolder, Spec, StoredPlay
from bestresponse.runs.study import Estimate, Measured, Study
from bestresponse.theory.dynamics.learning import replicator
from bestresponse.theory.dynamics.moran import count_takeovers
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.repeated.automaton import Automaton, behave_alike, classic_strategies, cooperative_actions
from bestresponse.theory.repeated.round_robin import Rules, exact_round_robin, play_round_robin

GROUPS = ("all", "published", "classic")
AXELROD = "axelrod:"
PROBES = "probes:"
"""The group of probes that show the fingerprint of the one who is named by `against`."""
_MOST_POINTS = 30  # a side: 900 probes, which leaves room below `_MOST_ENTRIES`
Kind = Literal["rules", "classic", "player", "axelrod", "model", "function", "words"]


@dataclass(frozen=True, slots=True)
class Contestant:
    """One who takes part.

    `rules` is the program of a strategy written as rules, `words` its text where it was told in words; `source` says
    where it came from: a file, `published`, the name of a classic strategy, of another player or of Axelrod's library,
    or a model. `thing` is the model or the function itself where one was given; no file keeps it.
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
    """The game of one round; `program` is the logic program it came from, empty for a table of payoffs."""

    name: str
    form: NormalForm
    program: str = ""


Participant: TypeAlias = "str | Path | Model | strategies.HistoryFunction | Contestant"


class EntriesSetting(inputs.Converted["Participant | Sequence[Participant]", tuple[Contestant, ...]]):
    """Who takes part: groups, strategies, models and files by name, models, and functions of both histories."""

    many = True

    @classmethod
    def convert(cls, value: Participant | Sequence[Participant], stored: bool) -> tuple[Contestant | str, ...]:
        """Read files and describe models and functions; names are looked up once the game is known."""
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
        return read_strategy(path) if path.suffix.lower() in (".pl", ".json", ".txt", ".md") else str(item)
    if callable(item) and inputs.count_parameters(item) == 1:
        model = inputs.as_model(item)
        return Contestant(model, "model", model, thing=model.model)
    if callable(item) and inputs.count_parameters(item) == 2:
        name = getattr(item, "__name__", type(item).__name__)
        return Contestant(name, "function", hash_function(item) or digest(repr(item), 12), thing=item)
    raise UsageError(
        f"expected a strategy, a model, a function from a prompt to a text or one of two histories, got "
        f"{type(item).__name__}"
    )


def read_strategy(path: Path) -> Contestant:
    """Read a strategy as rules (`.pl`), that of a saved agent (`.json`), or one in words (`.txt`, `.md`)."""
    if not path.exists():
        raise SettingError("entries", f"{path}: there is no such file")
    match path.suffix.lower():
        case ".json":
            agent = Agent.load(path)
            return Contestant(agent.name, "rules", path.name, agent.rules, agent.words)
        case ".pl":
            return Contestant(path.stem, "rules", path.name, read_program_text(path))
        case _:
            try:
                return Contestant(path.stem, "words", path.name, words=read_text_file(path))
            except UnicodeDecodeError as error:
                raise UsageError(f"{path}: expected text in UTF-8; byte {error.start} is none") from None


def formalize_entry(entry: Contestant, stage: StageGame, model: Model) -> Contestant:
    """Let a model write the rules of a strategy in words; InvalidGame says what was wrong with the last attempt."""
    engine = open_engine()
    try:
        result = formalize_strategy(entry.words, stage.program or write_match_program(stage.form), model, engine)
    finally:
        engine.close()
    if not result.ok:
        raise InvalidGame(f"{entry.source}: {result.trouble}")
    return Contestant(entry.name, "rules", f"{entry.source}, formalized by {model.id}", result.rules, result.words)


def formalize_entries(
    entries: tuple[Contestant, ...],
    model: inputs.NamedModel | None,
    config: RunSettings,
    find_stage: Callable[[], StageGame],
) -> tuple[Contestant, ...]:
    """Let the model write the rules of those strategies that are in words; without any no model is needed."""
    in_words = [entry for entry in entries if entry.kind == "words"]
    if not in_words:
        return entries
    if model is None:
        raise SettingError("model", f"{in_words[0].source} is a strategy in words; name the model that formalizes it")
    stage = find_stage()
    with open_models((model,), Path(config.output_dir), config.limits) as opened:
        rules = {entry: formalize_entry(entry, stage, opened.models[model]) for entry in in_words}
    return tuple(rules.get(entry, entry) for entry in entries)


@cache
def make_stage(game: NamedGame) -> StageGame:
    """Make a game the stage of a tournament; InvalidGame unless two players move once, at the same time."""
    form = game.loaded.solvable()
    if not isinstance(form, NormalForm) or form.num_players != 2 or form.shape[0] != form.shape[1]:
        raise InvalidGame(
            f"{game.name}: a tournament needs two players who choose at the same time among equally many moves"
        )
    return StageGame(game.name, form, game.text if game.ending == ".pl" else "")


def gather_entries(
    wanted: Iterable[Contestant | str], stage: StageGame, default_move: str | None = None
) -> tuple[tuple[Contestant, ...], tuple[tuple[str, str], ...]]:
    """Return those who take part, and why others of a group cannot or need not: who is named must be able to play."""
    moves = stage.form.actions[0]
    if default_move is not None and default_move not in moves:
        raise SettingError("default_move", f"{default_move!r} is none of {', '.join(moves)}")
    entries: list[Contestant] = []
    left_out: dict[str, str] = {}
    for item in wanted:
        if isinstance(item, Contestant):
            entries.append(item)
        elif item.startswith(PROBES):
            entries += _list_probes(item, stage, default_move)
        elif item not in GROUPS:
            entries.append(_find_entry(item, stage, default_move))
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


def _make_entry(name: str) -> Contestant:
    if name in PUBLISHED:
        return Contestant(name, "rules", "published", published_strategy(name))
    return Contestant(name, "classic", name)


def _list_probes(item: str, stage: StageGame, default_move: str | None) -> list[Contestant]:
    """List the probes of a fingerprint, a square of so many points a side."""
    side = item.removeprefix(PROBES)
    if not side.isdigit() or not 2 <= int(side) <= _MOST_POINTS:
        raise SettingError("entries", f"{item!r}: expected {PROBES}N with N from 2 to {_MOST_POINTS}")
    points = [f"{k / (int(side) - 1):.3g}" for k in range(int(side))]
    return [_find_entry(f"{strategies.PROBE}{x}:{y}", stage, default_move) for x, y in product(points, points)]


def _add_classic(entries: list[Contestant], stage: StageGame, default_move: str | None) -> dict[str, str]:
    """Add the classic strategies that are not there already under this or another name; return the others."""
    try:
        cooperative_actions(stage.form)
    except InvalidGame as error:
        return {"the classic strategies": str(error)}
    left_out = {}
    for strategy in classic_strategies():
        taken = any(entry.name == strategy.name for entry in entries)
        entry = Contestant(f"classic {strategy.name}" if taken else strategy.name, "classic", strategy.name)
        seats = as_automata(entry, stage, default_move) or ()
        others = ((other.name, as_automata(other, stage, default_move)) for other in entries)
        alike = (name for name, theirs in others if theirs and all(map(behave_alike, seats, theirs)))
        same = next(alike, None)
        if same is None:
            entries.append(entry)
        elif same != strategy.name:
            left_out[entry.name] = f"here it does the same as {same}"
    return left_out


def _find_entry(name: str, stage: StageGame, default_move: str | None) -> Contestant:
    """Find who is named: a strategy, any player who needs no model (see `players.lookup`), or a model."""
    classic = [strategy.name for strategy in classic_strategies()]
    game = RepeatedGame(stage.form, 2)
    if name in PUBLISHED or name in classic or name.startswith(strategies.PROBE):
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
    known = [*GROUPS, *PUBLISHED, *classic, *list_strategies(game)]
    raise UsageError(
        f"there is no strategy named {name!r}.{did_you_mean(name, known)} Groups: {', '.join(GROUPS)}, {PROBES}N; "
        "where Axelrod's library is installed, its strategies by name; models are PROVIDER/MODEL, files are paths."
    )


@cache
def as_automata(entry: Contestant, stage: StageGame, default_move: str | None) -> tuple[Automaton, Automaton] | None:
    """Return a strategy in both seats of the game, None for who has to be asked; InvalidGame where it cannot play."""
    match entry.kind:
        case "classic":
            make_seat = partial(strategies.make_automaton, entry.source, stage.form)
            return make_seat(0), make_seat(1)
        case "rules":
            return _run_rules(entry, stage, default_move)
        case _:
            return None


def _run_rules(entry: Contestant, stage: StageGame, default_move: str | None) -> tuple[Automaton, Automaton]:
    """Let rules speak the language of the game's own program; for a table one is written, with the first's moves."""
    own_program = stage.program and set(stage.form.actions[0]) == set(stage.form.actions[1])
    program = stage.program if own_program else write_match_program(stage.form)
    actions = stage.form.actions if own_program else (stage.form.actions[0], stage.form.actions[0])
    try:
        seats = Agent(entry.name, program, entry.rules, default_move).seats()
        return seats.automaton(0, actions), seats.automaton(1, actions)
    except BestResponseError as error:
        raise InvalidGame(f"{entry.name} cannot play {stage.name}: {error}") from error


_GENERATIONS = 1_000
_MORAN_RUNS = 100


class StandingRow(TypedDict):
    """One who took part: figures are over all matches in both seats that count, None where nothing was played."""

    name: str
    kind: str
    per_round: Annotated[float | None, column("payoff a round", ".3f")]
    """mean over all matches, both seats, itself included"""
    first: Annotated[float | None, column("first seat", ".3f")]
    """payoff a round when moving in the first seat"""
    second: Annotated[float | None, column("second seat", ".3f")]
    """payoff a round when moving in the second seat"""
    share: Annotated[float | None, column("normalised", ".2%")]
    """0 %: always the lowest payoff of the seat, 100 %: always the highest"""
    total: Annotated[float | None, column(format=".1f")]
    """sum over all matches"""
    missing: Annotated[int | None, column("missing plays")]
    """plays that broke off, where some did"""
    share_low: Annotated[float | None, column("normalised, at least", ".2%")]
    """had missing plays earned the least"""
    share_high: Annotated[float | None, column("normalised, at most", ".2%")]
    """had missing plays earned the most"""
    against_itself: float | None
    plays: int


class MatchRow(TypedDict):
    """What two earned in their match, the first and the second seat; means over plays, None where none counts."""

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
    share: Annotated[float, column("of all runs", ".2f")]


def normalise(total: float, least: float, most: float, plays: float) -> float:
    """Return a total as a share of the range it could lie in after `plays` plays with payoffs from `least` to `most`.

    >>> normalise(24, least=2, most=8, plays=4)
    0.6666666666666666
    """
    if not most > least:
        raise UsageError(f"normalised payoffs need different payoffs; all are {least:g}")
    return (total - plays * least) / (plays * (most - least))


def find_standings(config: TournamentConfig, plays: Iterable[StoredPlay] = ()) -> Standings:
    """Put together worked-out and played matches; one that broke off is missing."""
    totals, spread, rounds = _work_out(config)
    missing, repetitions = np.zeros(totals.shape[:2]), float(config.repetitions or 1)
    counts = np.where(np.isnan(totals[:, :, 0]), 0.0, repetitions)
    earned: dict[tuple[int, int], list[list[float]]] = {pair: [] for pair in config.asked_pairs}
    lasted: dict[tuple[int, int], list[int]] = {pair: [] for pair in config.asked_pairs}
    for play in plays:
        pair = tuple(play.data["places"])
        if pair in earned and play.record.void is None:
            earned[pair].append([play.record.payoffs[role] for role in config.stage.form.players])
            lasted[pair].append(_count_rounds(config, play))
    for (first, second), payoffs in earned.items():
        mirrored = first != second and config.is_mirrored(first, second)
        for pair, step in (((first, second), 1), ((second, first), -1))[: 2 if mirrored else 1]:
            counts[pair], missing[pair] = repetitions, repetitions - len(payoffs)
            if payoffs:
                totals[pair] = np.mean(payoffs, axis=0)[::step]
                rounds[pair] = np.mean(lasted[first, second])
            if len(payoffs) > 1:
                spread[pair] = np.std(payoffs, axis=0, ddof=1)[::step]
    return Standings(config, totals, rounds, spread, missing, counts)


def _count_rounds(config: TournamentConfig, play: StoredPlay) -> int:
    """Count the rounds of a play by the moves of the first seat."""
    rounds = sum(turn.role == config.stage.form.players[0] for turn in play.record.submissions)
    if not rounds:
        pair = " against ".join(config.entries[index].name for index in play.data["places"])
        raise StoreError(f"the record of {pair} holds no moves, so its rounds are unknown; run the tournament anew")
    return rounds


def _work_out(config: TournamentConfig) -> tuple[Array, Array, Array]:
    """Work out or play in bulk every match between automata: totals, their deviation over plays, rounds; else NaN.

    Where a strategy differs by seat, those of both seats meet, and first against second is kept.
    """
    seats = [as_automata(entry, config.stage, config.default_move) for entry in config.entries]
    indices = [index for index, pair in enumerate(seats) if pair is not None]
    totals, spread = np.full((2, len(seats), len(seats), 2), np.nan)
    rounds = np.full((len(seats), len(seats)), np.nan)
    if indices:
        pairs = [pair for pair in seats if pair is not None]
        first = [pair[0] for pair in pairs]
        second = [] if all(behave_alike(*pair) for pair in pairs) else [pair[1] for pair in pairs]
        if config.repetitions is None:
            result = exact_round_robin([*first, *second], config.stage.form, config.rules)
        else:
            plays, seed = config.repetitions, split(config.seed, "matches")
            result = play_round_robin([*first, *second], config.stage.form, config.rules, repetitions=plays, seed=seed)
        grid, part = np.ix_(indices, indices), (slice(len(first)), slice(-len(first), None))
        totals[grid] = result.totals[part]
        spread[grid] = np.nan if result.spread is None else result.spread[part]
        rounds[grid] = result.rounds[part]
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
        return [self.names.index(self.config.against)] if self.config.against else list(range(len(self.names)))

    @cached_property
    def per_round(self) -> Array:
        """The payoffs of a round on average, of the rounds that were played: longer matches are no better ones."""
        return np.asarray(self.totals / self.rounds[:, :, None])

    @cached_property
    def between(self) -> Array:
        """What row earns a round against column, the mean of both seats."""
        return np.asarray((self.per_round[:, :, 0] + self.per_round[:, :, 1].T) / 2)

    @cached_property
    def rows(self) -> list[StandingRow]:
        """One row for each participant, best first; those without any play last."""
        rows = [self._make_row(index) for index in range(len(self.names))]
        # By payoffs, as winners are: normalised by seat, another order is possible where seats have other payoffs.
        return sorted(rows, key=lambda row: (row["per_round"] is None, -(row["per_round"] or 0.0), row["name"]))

    @property
    def places(self) -> list[int]:
        """The place of each row; whoever earned the same shares the best of their places, as in 1, 1, 3."""
        earned = [-inf if row["per_round"] is None else row["per_round"] for row in self.rows]
        return [1 + sum(other > mine and not self._is_level(other, mine) for other in earned) for mine in earned]

    @property
    def winners(self) -> tuple[str, ...]:
        """Those who reach their target where targets are given, else those with the highest payoff a round.

        Who lacks matches has no total, and cannot win.
        """
        key: Literal["total", "per_round"] = "total" if self.config.target else "per_round"
        earned = {row["name"]: row[key] or 0.0 for row in self.rows if row["total"] is not None}
        goals = self.config.target or dict.fromkeys(earned, max(earned.values(), default=0.0))
        return tuple(name for name, value in earned.items() if name in goals and self._is_level(value, goals[name]))

    def _is_level(self, payoff: float, other: float) -> bool:
        """Tell whether two earned the same, but for rounding, which grows with the payoffs of the game."""
        return isclose(payoff, other, rel_tol=1e-12, abs_tol=1e-9 * float(np.ptp(self.config.stage.form.payoffs)))

    def _make_row(self, index: int) -> StandingRow:
        entry, against = self.config.entries[index], self.opponents
        totals = np.stack([self.totals[index, against, 0], self.totals[against, index, 1]])
        seats = np.stack([self.per_round[index, against, 0], self.per_round[against, index, 1]])
        payoffs = self.config.stage.form.payoffs
        least, width = payoffs.min(axis=(1, 2))[:, None], np.ptp(payoffs, axis=(1, 2))[:, None]
        # Where all payoffs of a seat are the same, everybody earns the highest.
        shares = np.where(width > 0, (seats - least) / np.where(width > 0, width, 1.0), 1.0 + 0 * seats)
        played = np.stack([self.plays[index, against], self.plays[against, index]])
        gaps = np.stack([self.missing[index, against], self.missing[against, index]])
        lost = gaps / np.maximum(played, 1.0)
        missing = int(gaps.sum())
        # Bounds: the mean if every missing play had earned the least, and if it had earned the most.
        kept = np.nan_to_num(shares) * (1 - lost)
        bounded = missing and not np.isnan(shares).all()
        return StandingRow(
            name=entry.name,
            kind=entry.kind,
            per_round=_mean(seats),
            first=_mean(seats[0]),
            second=_mean(seats[1]),
            share=_mean(shares),
            total=_finite(totals.sum()),
            missing=missing or None,
            share_low=float(kept.mean()) if bounded else None,
            share_high=float((kept + lost).mean()) if bounded else None,
            against_itself=_mean(self.between[index, [index]]) if index in against else None,
            plays=int(played.sum()),
        )

    def list_matches(self) -> Iterator[MatchRow]:
        """Yield every match that counts, in both seats."""
        for first, second in product(range(len(self.names)), repeat=2):
            if first not in self.opponents and second not in self.opponents:
                continue
            figures = {
                f"{seat}_{name}": _finite(values[first, second, number])
                for name, values in (("total", self.totals), ("per_round", self.per_round), ("deviation", self.spread))
                for number, seat in enumerate(("first", "second"))
            }
            yield MatchRow(
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
        """Yield the shares of strategies that multiply by what they earn, from equal ones; none for fewer than two."""
        names, payoffs = self.complete
        if len(names) < 2:
            return
        path = replicator(
            NormalForm.bimatrix(payoffs, payoffs.T),
            steps=generations,
            form="discrete",
            one_population=True,
            stride=max(1, generations // 100),
        )
        for generation, shares in zip(path.times, path.strategies[0], strict=True):
            for name, share in zip(names, shares, strict=True):
                yield GenerationRow(generation=int(generation), strategy=name, share=float(share))

    def list_takeovers(self) -> list[MoranRow]:
        """List how often each strategy took over a population that began with equal numbers of all, best first.

        Raises:
            UsageError: the population has fewer individuals than there are strategies, so some could never win.
        """
        names, payoffs = self.complete
        population = self.config.moran
        if len(names) < 2 or not population:
            return []
        if population < len(names):
            raise UsageError(
                f"moran: a population of {population} has no place for each of {len(names)} strategies; "
                f"expected at least {len(names)}"
            )
        # Equal numbers; where they do not come out even, the first strategies get one more.
        counts = [population // len(names) + (k < population % len(names)) for k in range(len(names))]
        result = count_takeovers(payoffs, counts, runs=_MORAN_RUNS, seed=split(self.config.seed, "moran"))
        rows = [
            MoranRow(strategy=name, wins=wins, share=wins / _MORAN_RUNS)
            for name, wins in [*zip(names, result.wins, strict=True), ("undecided", result.undecided)]
            if wins
        ]
        return sorted(rows, key=lambda row: (row["strategy"] == "undecided", -row["wins"]))


def _mean(values: Array) -> float | None:
    seen = values[~np.isnan(values)]
    return float(seen.mean()) if len(seen) else None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


_MOST_ENTRIES = 1_000
_MOST_IN_A_HEATMAP = 100
"""The caption in report.toml says it too."""
_CHARACTERS_PER_TOKEN = 4
_TOKENS_A_ROUND = 12
"""About what one round adds to the history that a model is shown."""
_LASTING_SHARE = 1e-6
"""A smaller share at the end is that of a strategy that died out."""


@settings
class TournamentConfig(RunSettings):
    """Run a round robin, including self-play, with every pair in both seats, and print who earns most.

    Matches between strategies are worked out exactly. Models are asked round by round.
    """

    game: inputs.GameSetting = setting(kw_only=False, argument=True)
    """A name from `bestresponse games`, or a .nfg, .json or .pl file: two players, one move each."""
    entries: EntriesSetting = setting(default=("all",), kw_only=False)
    """Who takes part: all, published, classic, probes:N, strategies by name, always:MOVE, installed players, models,
    files of rules (.pl), of saved agents (.json) or of words (.txt); those of the `axelrod` package by name."""
    model: inputs.OptionalModelSetting = setting(default=None, short="-m")
    """The model that formalizes strategies in words."""
    rounds: int = setting(default=10, ge=1, le=100_000, help="Rounds of a match; with continuation the most.")
    noise: float = setting(default=0.0, ge=0, lt=1, help="Probability that another move is made than the one chosen.")
    continuation: float = setting(default=1.0, gt=0, le=1, help="Probability of another round after each.")
    repetitions: int | None = setting(default=None, ge=1, le=1_000_000)
    """Plays of each match; expected payoffs, and 1 for those who must be asked, if not said."""
    against: str | None = setting(default=None, help="Only matches against this one count (clones).")
    default_move: str | None = setting(default=None, help="The default move, in place of the game's own.")
    target: Mapping[str, float] = setting(default_factory=dict, metavar="NAME=TOTAL")
    """Winners are those who reach their total."""
    moran: int = setting(default=0, ge=0, le=100_000, help="Also the Moran process with this many individuals.")
    seed: int = setting(default=0, ge=0, lt=2**63, help="Seed of everything that is drawn.")
    temperature: float = setting(default=0.0, ge=0, le=5, help="Sampling temperature of models.")
    max_tokens: int = setting(default=256, ge=1, le=100_000, help="Longest reply, in tokens.")
    attempts: int = setting(default=1, ge=1, le=20, help="How often a model may answer when an answer cannot be read.")
    style: Literal["auto", "line", "json", "letter"] = setting(default="auto", help="How models answer.")
    reasons: bool = setting(default=False, help="Let models explain each choice before they answer.")
    left_out: tuple[tuple[str, str], ...] = setting(default=(), option=False)

    def __post_init__(self) -> None:
        if self.moran == 1:
            raise SettingError("moran", "expected a population of at least 2")
        entries, left_out = gather_entries(self.entries, self.stage, self.default_move)
        object.__setattr__(self, "entries", entries)
        object.__setattr__(self, "left_out", (*self.left_out, *left_out))
        names = [entry.name for entry in entries]
        if not names:
            raise SettingError("entries", "nobody takes part")
        if len(names) > _MOST_ENTRIES:
            raise SettingError("entries", f"{len(names)} take part; at most {_MOST_ENTRIES} can")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise SettingError("entries", f"two who take part are both called {twice[0]!r}; leave one out")
        for where, name in [*(("target", name) for name in self.target), ("against", self.against or names[0])]:
            if name not in names:
                raise SettingError(where, f"nobody called {name!r} takes part.{did_you_mean(name, names)}")

    @property
    def stage(self) -> StageGame:
        """The game of one round."""
        return make_stage(self.game)

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
        return tuple(inputs.NamedModel(entry.source, entry.thing) for entry in self.entries if entry.kind == "model")

    @cached_property
    def asked_pairs(self) -> tuple[tuple[int, int], ...]:
        """The seats of the matches in which somebody has to be asked; only those that count where all play one."""
        asked = [as_automata(entry, self.stage, self.default_move) is None for entry in self.entries]
        names = [entry.name for entry in self.entries]
        rival = names.index(self.against) if self.against else None
        return tuple(
            (first, second)
            for first, second in product(range(len(names)), repeat=2)
            if (asked[first] or asked[second]) and (rival is None or rival in (first, second))
            if first <= second or not self.is_mirrored(first, second)
        )

    def is_mirrored(self, first: int, second: int) -> bool:
        """Say whether a match is played once for both seats: in Axelrod's library, in a symmetric game."""
        payoffs = self.stage.form.payoffs
        in_library = all(self.entries[index].kind == "axelrod" for index in (first, second))
        return in_library and bool((payoffs[0] == payoffs[1].T).all())


def formalize_words(config: TournamentConfig) -> TournamentConfig:
    """Let the model write the rules of strategies in words before the run begins."""
    return replace(config, entries=formalize_entries(config.entries, config.model, config, lambda: config.stage))


_ASKING = (
    "rounds", "noise", "continuation", "default_move", "temperature", "max_tokens", "attempts", "style", "reasons",
)  # fmt: skip
# A model is shown all rounds and answers at once; a match in which it does not is void.
_AGENTS = {
    "memory": "full", "own_words": False, "reasoning": "direct", "policy": "void", "personas": {},
}  # fmt: skip


def list_matches(config: TournamentConfig) -> Iterator[dict[str, object]]:
    """Yield every match in which somebody has to be asked, `repetitions` times."""
    shared = {"study": "tournament", "game": config.game.to_json(), **{name: getattr(config, name) for name in _ASKING}}
    for repetition, pair in product(range(config.repetitions or 1), config.asked_pairs):
        entries = [config.entries[index] for index in pair]
        names = [entry.source if entry.kind == "model" else entry.name for entry in entries]
        yield {
            **shared,
            **_AGENTS,
            "seats": [[role, name] for role, name in zip(config.repeated.roles, names, strict=True)],
            "entries": [entry.to_json() for entry in entries],
            "places": list(pair),
            "repetition": repetition,
            "seed": split(config.seed, "match", *pair, repetition),
        }


def _seat_entry(config: TournamentConfig, spec: Spec, game: Game[S], role: str, name: str) -> Player | None:
    """Seat who needs no model."""
    seat = game.roles.index(role)
    entry, seed = config.entries[spec.data["places"][seat]], split(spec.data["seed"], seat)
    match entry.kind:
        case "model":
            return None
        case "function" if entry.thing is None:
            raise UsageError(f"{entry.name} was a Python function, which a stored run does not hold")
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
    automata = as_automata(entry, config.stage, config.default_move)
    if automata is None:
        raise UsageError(f"{entry.name} cannot play here: it is no installed player, or in words and without rules")
    return strategies.AutomatonPlayer(automata[seat], seed)


def prepare_matches(config: TournamentConfig, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that plays one match; two strategies of Axelrod's library play it there."""
    play_seats = make_player(lambda spec: config.repeated, models, partial(_seat_entry, config))

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        entries = [config.entries[index] for index in spec.data["places"]]
        if any(entry.kind != "axelrod" for entry in entries):
            return play_seats(spec, done, keep)
        names = entries[0].source, entries[1].source
        rounds = strategies.play_in_library(names, config.stage.form, config.rules, spec.data["seed"])
        players = {role: entry.name for role, entry in zip(config.repeated.roles, entries, strict=True)}
        return record_rounds(config.repeated, rounds, players)

    return play_one


def record_rounds(game: RepeatedGame, rounds: Sequence[strategies.LibraryRound], players: Mapping[str, str]) -> Record:
    """Return the record of a match that was played elsewhere, as an `Episode` with the same moves would leave it.

    It is put together here because an episode takes as long for 200 rounds as the library does.
    """
    # Submissions are values, so that one object serves for every round in which a seat does the same.
    meant = [
        [Submission(role, Decision(action)) for action in actions]
        for role, actions in zip(game.roles, game.form.actions, strict=True)
    ]
    drawn = [[Submission(NATURE, Decision(action)) for action in actions] for actions in game.form.actions]
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
    calls = dict.fromkeys(map(str, config.models), 0)
    for index in (index for pair in config.asked_pairs for index in pair):
        if config.entries[index].kind == "model":
            calls[config.entries[index].source] += config.rounds * config.attempts * (config.repetitions or 1)
    game = config.repeated
    briefing = len(game.view(game.start(), game.roles[0]).briefing) // _CHARACTERS_PER_TOKEN
    tokens = briefing + config.rounds * _TOKENS_A_ROUND // 2
    matches = len(config.asked_pairs) * (config.repetitions or 1)
    what = f"{matches:,} matches of {config.rounds} rounds" if calls else ""
    return Estimate.of_calls(matches, what, calls, tokens, config.max_tokens)


class BetweenRow(TypedDict):
    """What a strategy earned a round against another, the mean of both seats; best strategies first."""

    strategy: str
    against: str
    payoff: Annotated[float | None, column("payoff a round", ".2f")]


class FingerprintRow(TypedDict):
    """What the one whom all play earned a round against a probe: tit-for-tat that errs in two ways."""

    cooperates: Annotated[str, column("cooperates anyway")]
    defects: Annotated[str, column("defects anyway")]
    payoff: Annotated[float | None, column("payoff a round", ".2f")]


class WinnerRow(TypedDict):
    """Somebody who won: reached the target that was set, or the highest payoff a round."""

    name: str


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
    StandingRow, "per_round", "first", "second", "share", "total", "missing", "share_low", "share_high"
)
"""Every figure of one who took part, in the order of the columns."""


def measure_tournament(config: TournamentConfig, folder: RunFolder) -> Measured:
    """Work out the standings, and what becomes of strategies that multiply by what they earn."""
    readings = Readings()
    models = config.models
    played = 0

    def read_plays() -> Iterator[StoredPlay]:
        """Yield one play at a time: thousands of matches with all their moves do not fit into memory."""
        nonlocal played
        for play in folder.sorted_plays():
            readings.count(play.record, {role: name for role, name in play.data["seats"] if name in models})
            played += not play.record.void
            yield play

    standings = find_standings(config, read_plays())
    shares = list(standings.list_shares())
    last = max((row["generation"] for row in shares), default=0)
    totals = {row["name"]: row["total"] for row in standings.rows}
    ranked = [standings.names.index(row["name"]) for row in standings.rows]
    targets = [
        TargetRow(strategy=name, expected=total, total=totals[name], reached=name in standings.winners)
        for name, total in config.target.items()
    ]
    between = [
        BetweenRow(strategy=standings.names[i], against=standings.names[k], payoff=float(standings.between[i, k]))
        for i, k in product(ranked[:_MOST_IN_A_HEATMAP], repeat=2)
        if standings.between[i, k] == standings.between[i, k]
    ]
    fingerprint = []
    for k, name in enumerate(standings.names) if config.against else ():
        if name.startswith(strategies.PROBE):
            _, x, y = name.split(":")
            earned = float(standings.between[standings.opponents[0], k])
            fingerprint.append(FingerprintRow(cooperates=x, defects=y, payoff=earned if earned == earned else None))
    final = [row for row in shares if row["generation"] == last and row["share"] > _LASTING_SHARE]
    return Measured(
        {
            "standings": Frame(StandingRow, standings.rows),
            "winners": Frame(WinnerRow, [WinnerRow(name=name) for name in standings.winners]),
            "matches": Frame(MatchRow, list(standings.list_matches())),
            "between": Frame(BetweenRow, between),
            "fingerprint": Frame(FingerprintRow, fingerprint),
            "targets": Frame(TargetRow, targets),
            "left_out": Frame(LeftOutRow, [LeftOutRow(name=name, why=why) for name, why in config.left_out]),
            "shares": Frame(GenerationRow, shares),
            "final_shares": Frame(GenerationRow, sorted(final, key=lambda row: -row["share"])),
            "moran": Frame(MoranRow, standings.list_takeovers()),
            "answers": readings.frames["answers"],
        },
        played if config.asked_pairs else len(standings.rows),
        ("place", "strategy"),
        {(place, row["name"]): row for place, row in zip(standings.places, standings.rows, strict=True)},
    )


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
    title="Tournament: {{ config.game.name }}",
    subtitle="{{ config.entries|length }} take part, " + _PROSE["length"],
    command="tournament",
    unit="matches",
    game=lambda config, data: config.repeated,
    count_plays=lambda config: len(config.asked_pairs) * (config.repetitions or 1),
    estimate_calls=estimate_matches,
    report=(
        text(_PROSE["winners"], title="Standings"),
        metrics_table(caption="{{ config.game.name }}: " + _PROSE["length"]),
        show_people,
        table("targets", caption="Totals expected and reached"),
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
            "fingerprint", "defects", "cooperates", "payoff", heat=True, title="Fingerprint", caption=_PROSE["probes"]
        ),
        text(_PROSE["shares"], title="If strategies multiply by what they earn"),
        lines("shares", x="generation", y="share", by="strategy", most=8, caption="Shares of the largest"),
        table("final_shares", columns=("strategy", "share"), caption="Shares at the end"),
        table("moran", caption=_PROSE["moran"]),
        text(_PROSE["missing"], kind="info"),
        show_strategy_rules,
    ),
)
"""Who earns how much against whom in a repeated game."""
