"""What was played, as parameters with intervals: strategies in repeated games, noise and depth in
single choices.

A run of this study keeps the plays of the runs that it describes in one form, a table with moves,
so that it can be measured anew without them. Moves of seats whose player is not known count as what
the others met, not as players.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypedDict

import numpy as np

from bestresponse.analysis.people import find_people
from bestresponse.core.codec import record_to_json
from bestresponse.core.errors import BestResponseError, InvalidGame, SettingError, UsageError
from bestresponse.core.files import read_toml
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonObject, canonical, digest
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import HasSpeakers, find_stage_form
from bestresponse.games.lookup import find_game
from bestresponse.models.base import Model
from bestresponse.report.blocks import intervals, lines, metrics_table, pivot, table
from bestresponse.report.frames import Frame, Heads, Value, column, list_metrics
from bestresponse.report.stats.statistics import (
    Floats,
    Interval,
    bound_mean,
    cluster_codes,
    dyadic_ratio,
    interval_of_draws,
    widen,
)
from bestresponse.runs.execution import Execution, Outcome, Progress
from bestresponse.runs.inputs import OptionalModelSetting
from bestresponse.runs.run import load_run
from bestresponse.runs.settings import OF_PLAYS, RunSettings, setting, settings
from bestresponse.runs.store.folder import RunFolder, encode_rows, read_lines, read_sorted
from bestresponse.runs.study import Measured, Study
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entries import (
    EntriesSetting,
    StageGame,
    as_automata,
    formalize_entries,
    gather_entries,
)
from bestresponse.studies.tournament.matches import draw_rounds, record_rounds
from bestresponse.theory.behaviour.choices import (
    HIGHEST_LEVEL,
    ChoiceFit,
    ChoiceModel,
    Choices,
    fit_choices,
    predict_quantal,
)
from bestresponse.theory.behaviour.mixtures import (
    Histories,
    count_agreement,
    fit_mixture,
    prune_mixture,
    resample,
)
from bestresponse.theory.catalogue.tables import load as load_table
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import cooperative_actions

Fit = Literal["strategies", "qre", "level-k", "cognitive-hierarchy"]
STRATEGIES = (
    "defector",
    "cooperator",
    "grim",
    "tit-for-tat",
    "suspicious-tit-for-tat",
    "tit-for-two-tats",
    "win-stay-lose-shift",
)
"""After Dal Bo & Frechette 2011 (`grim` answers defections of the other alone), and two of later
estimates."""
_LENGTHS = {"rounds", "continuation", "discount"}
"""Parameters of a session that leave the table of a round, and what is meant by a move, as they
are."""
_FEW_GAMES = 8
"""With fewer games their resamples say little, and matches are resampled instead."""


@settings
class BehaveConfig(RunSettings):
    """Say what was played in recorded runs: strategies and errors, precision and depth of
    reasoning, with intervals.

    Takes runs of `import`, `bench`, `simulate`, `tournament` and `serve`: games of two with a
    payoff table.
    """

    runs: tuple[str | Path, ...] = setting(default=(), kw_only=False, argument=True, how=True)
    """Folders of runs, or folders above them: all runs below are read."""
    fit: tuple[Fit, ...] = setting(default=())
    """What is estimated: strategies, qre, level-k, cognitive-hierarchy [default: all; only
    strategies for a group that played a single dilemma, of which the others say nothing]."""
    strategies: EntriesSetting = setting(default=STRATEGIES)
    """The strategies of the mixture: names, all, classic, published, files of rules (.pl), of saved
    agents (.json) or of words (.txt)."""
    model: OptionalModelSetting = setting(default=None, short="-m")
    """The model that formalizes strategies in words."""
    by: tuple[str, ...] = setting(default=("player", "treatment"))
    """Group by: player, opponent, game, seat, run, treatment, or a part of the treatment by
    name."""
    choose: Literal["all", "bic", "icl"] = setting(default="all")
    """Which strategies to keep: all, or as many as BIC or ICL prefers."""
    rounds: Literal["first", "all"] = setting(default="first")
    """Which choices count as single ones for qre, level-k and cognitive-hierarchy."""
    beside: Literal["", "dilemma"] = setting(
        default="", help="Human data to compare with: dilemma."
    )
    bootstraps: int = setting(
        default=200, ge=20, le=100_000, help="Bootstrap resamples for the intervals."
    )
    seed: int = setting(default=0, ge=0, lt=2**63, help="Random seed.")
    sources: tuple[str, ...] = setting(default=(), option=False)
    unused: ClassVar[frozenset[str]] = OF_PLAYS

    def __post_init__(self) -> None:
        stage = StageGame("dilemma", load_table("prisoners-dilemma"))
        entries, _ = gather_entries(self.strategies, stage)
        object.__setattr__(self, "strategies", entries)


class GroupRow(TypedDict, total=False):
    """A group of players and how its strategies were estimated."""

    group: str
    units: Annotated[
        int,
        column(
            help="subjects; where they have no names matches, or seats where both are of a group"
        ),
    ]
    unit: str
    log_likelihood: Annotated[float, column(format=".1f")]
    bic: Annotated[float, column("BIC", ".1f")]
    icl: Annotated[float, column("ICL", ".1f")]
    best_bic: Annotated[
        int, column("strategies by BIC", help="the number of strategies with the lowest BIC")
    ]
    best_icl: Annotated[int, column("by ICL", help="the number with the lowest ICL")]
    remark: str | None


class StrategyRow(TypedDict):
    """The share of a strategy in a group."""

    group: str
    strategy: str
    share: Annotated[Value, column(format=".3f", help="95 % interval from resampling units")]
    classified: Annotated[int, column(help="units to which it is the likeliest strategy")]


class ClassRow(TypedDict):
    """The likeliest strategy of a subject or match."""

    group: str
    unit: str
    strategy: str
    probability: Annotated[float, column(format=".3f")]


class NumberRow(TypedDict):
    """A mixture of fewer strategies."""

    group: str
    strategies: int
    bic: Annotated[float, column("BIC", ".1f")]
    icl: Annotated[float, column("ICL", ".1f")]
    left_out: Annotated[str | None, column("left out next")]


class FittedRow(TypedDict):
    """A model of single choices, fitted to a group."""

    group: str
    model: str
    parameter: str
    estimate: Annotated[
        Value, column(format=".3g", help="95 % interval from resampling games, subjects or matches")
    ]
    score: Annotated[
        float | None,
        column("held-out score", ".4f", "log likelihood of a choice in games left out"),
    ]
    completeness: Annotated[
        Value,
        column(
            format=".3f",
            help="0 is chance, 1 the best attainable; where games and choices are many enough",
        ),
    ]
    remark: str | None


class PathRow(TypedDict):
    """How often a seat makes its first move: along the logit equilibria of the most played game, or
    as a group did."""

    line: str
    precision: Annotated[float, column("lambda", ".3g")]
    share: Annotated[float, column("share of the first move", ".3f")]


class RoundRow(TypedDict):
    """Cooperation in one round."""

    who: str
    round: int
    cooperation: Annotated[
        Value, column(format=".3f", help="95 % interval over subjects, or else matches")
    ]


class BesideRow(TypedDict):
    """A group beside people in the nearest dilemma."""

    group: str
    people: str
    first: Annotated[Value, column("first round", ".3f", "share of cooperation of the group")]
    people_first: Annotated[float, column("of people", ".3f")]
    difference: Annotated[
        float | None, column(format="+.3f", help="group less people, in the first round")
    ]
    distance: Annotated[float | None, column("distance of strategies", ".3f")]
    """half the sum of differences of shares: 0 alike, 1 disjoint"""


class UnusedRow(TypedDict):
    """What was not used, and why."""

    what: str
    why: str
    times: int


@dataclass(frozen=True, eq=False)
class SeatMoves:
    """The moves of one player in one match, numbers or mixtures.

    `subject` and `rival` name the persons in this seat and in the other one, None where they have
    no names.
    """

    labels: Mapping[str, str]
    form: NormalForm
    seat: int
    own: tuple[Any, ...]
    other: tuple[int, ...]
    match: str
    subject: str | None = None
    rival: str | None = None
    imported: bool = False

    @property
    def unit(self) -> str:
        """Name the person, or the seat of the match where the person has no name."""
        return self._name(self.subject) if self.subject else f"{self.match} {self.labels['seat']}"

    @property
    def cluster(self) -> str:
        """Name what is resampled: the person, the other person if only that one has a name, or the
        match."""
        known = self.subject or self.rival
        return self._name(known) if known else self.match

    @property
    def persons(self) -> tuple[str, ...]:
        """Name everybody on whom these moves depend, or the match where nobody has a name."""
        known = [self._name(name) for name in (self.subject, self.rival) if name]
        return tuple(sorted(known)) or (self.match,)

    def _name(self, person: str) -> str:
        return f"{self.labels['run']} {person}"


@dataclass(frozen=True, eq=False)
class PlayerGroup:
    """What one group of players did."""

    sequences: Sequence[SeatMoves]
    seed: int

    @cached_property
    def has_subjects(self) -> bool:
        """Say whether it is known which matches are of one person."""
        return any(seen.subject for seen in self.sequences)

    @property
    def unit(self) -> str:
        """Say what the units of estimation are."""
        nameless = [seen.match for seen in self.sequences if not seen.subject]
        seats = "seat" if len(set(nameless)) < len(nameless) else "match"
        if not self.has_subjects:
            return seats
        return f"subject or {seats}" if nameless else "subject"

    def remark_names(self) -> str | None:
        """Say that names come up again and again while every match counts as another player's, if
        this is so."""
        matches = Counter(
            seen.labels["player"] for seen in self.sequences if seen.imported and not seen.subject
        )
        repeated = sum(times > 1 for times in matches.values())
        if len(matches) < 2 or not repeated:
            return None
        return (
            f"{repeated} of {len(matches)} names appear in several matches, but every match counts"
            " as a new player; if the names are people, list their columns under `subjects` in the"
            " mapping"
        )

    @cached_property
    def cooperation(self) -> Sequence[tuple[SeatMoves, Floats]]:
        """By seat, which of its moves were to cooperate; only games in which one can."""
        rows = []
        for seen in self.sequences:
            kind = _find_cooperation(seen.form)
            if kind is not None and all(isinstance(move, int) for move in seen.own):
                cooperated = np.array(
                    [move == kind[seen.seat] for move in seen.own], dtype=np.float64
                )
                rows.append((seen, cooperated))
        return rows

    def average_cooperation(self, start: int = 0, stop: int | None = None) -> Value:
        """Average cooperation in these rounds, with an interval over persons, or matches of
        nameless players."""
        played = [
            (seen, moves[start:stop]) for seen, moves in self.cooperation if moves[start:stop].size
        ]
        if not played:
            return None
        values = np.concatenate([moves for _, moves in played])
        # Two of the group who met each other are no two matches.
        clusters = [seen.cluster for seen, moves in played for _ in moves]
        if len(set(clusters)) < 2:
            return float(values.mean())
        interval = bound_mean(values, (0.0, 1.0), clusters, rng=np.random.default_rng(self.seed))
        # What a person does depends on whom they met, so that matches with a common person on
        # either side go together.
        persons = [seen.persons for seen, moves in played for _ in moves]
        return widen(interval, (0.0, 1.0), dyadic_ratio(values, clusters, persons))


class BehaviourFigures(TypedDict):
    """The figures of a group, with 95 % intervals over subjects (matches where they have no names)
    or games."""

    matches: Annotated[int, column(format=".0f")]
    """matches of a player of the group"""
    first: Annotated[Value, column("first round", ".3f")]
    """share of cooperation in the first round"""
    cooperation: Annotated[Value, column(format=".3f")]
    """share of cooperation in all rounds"""
    error: Annotated[Value, column(format=".3f")]
    """probability of a move that the strategy does not prescribe"""
    qre: Annotated[Value, column("lambda", ".3g")]
    """precision of the logit equilibrium"""
    hierarchy: Annotated[Value, column("tau", ".3f")]
    """mean steps of reasoning"""
    level: Annotated[Value, column(format=".3f")]
    """mean level of reasoning"""


def prepare_behave(config: BehaveConfig) -> BehaveConfig:
    """Make the plays that are described part of the identity, and let the model write strategies
    that are in words."""
    if not config.runs:
        raise SettingError("runs", "name at least one folder of a run")
    records = [path / "records.jsonl" for path in list_folders(config.runs)]
    sources = tuple(
        f"{path.parent.name} {path.stat().st_size if path.exists() else 0}" for path in records
    )

    def find_stage() -> StageGame:
        plays = (
            play
            for path in list_folders(config.runs)
            for play in list_recorded_plays(path)
            if not isinstance(play, str)
        )
        form = _make_form(canonical(next(plays)["data"]["form"]))
        return StageGame(form.name, form)

    entries = formalize_entries(config.strategies, config.model, config, find_stage)
    return replace(config, sources=sources, strategies=entries)


def list_folders(paths: Sequence[str | Path]) -> list[Path]:
    """List the folders of all runs that are named or below a folder that is, each once; runs of
    this study describe others and are passed over unless they are named.

    Raises: UsageError: a path holds no run.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if (path / "manifest.json").exists():
            found[path] = None
            continue
        below = sorted(manifest.parent for manifest in path.rglob("manifest.json"))
        if not below:
            raise UsageError(
                f"{path} holds no run; a run is a folder with a manifest.json, as `simulate` makes"
                " it"
            )
        for folder in below:
            if RunFolder.read(folder).manifest.study != "behave":
                found[folder] = None
    return list(found)


def list_recorded_plays(path: Path) -> Iterator[JsonObject | str]:
    """Yield the plays of a run in the form of imported ones; a text says why a play is of no
    use."""
    folder = RunFolder.read(path)
    if folder.manifest.study == "behave":
        yield "a run of `behave` itself; name the runs that it describes"
        return
    if folder.manifest.study == "import":
        yield from read_lines(folder.path / "records.jsonl")
        return
    try:
        run = None if folder.manifest.study == "sessions" else load_run(folder.path)
        drawn = draw_tournament(run.config) if run and folder.manifest.study == "tournament" else ()
        yield from drawn
    except BestResponseError as error:
        yield str(error)
        return
    for play in folder.plays():
        try:
            game: AnyGame | None
            if (
                run is None
            ):  # a session of people, whose game has a name and is never opened as a file
                choice = play.data["setup"]["game"]
                # A formalized game may have the name of another one, and parameters may set its
                # table or noise.
                changed = choice.get("program") or set(choice.get("parameters", ())) - _LENGTHS
                game = None if changed else find_game(choice["name"], allow_files=False).playable()
            else:
                game = run.game(play.data)
            form = None if game is None else find_stage_form(game)
        except BestResponseError as error:
            yield str(error)
            continue
        if play.record.void:
            yield "a void play"
            continue
        if form is None or form.num_players != 2 or getattr(game, "noise", None):
            yield explain_unusable(game, form)
            continue
        treatment = play.data.get("treatment")
        persons = play.data.get("subjects", {})
        data = {
            "form": _keep_form(form),
            "treatment": {"treatment": treatment} if treatment else {},
            "subjects": [persons.get(role, "") for role in form.players],
        }
        record = record_to_json(play.record)
        # What a stand-in did is no behaviour of the player, whose later moves follow from it; the
        # other seat is kept.
        for role in {
            submission.role
            for submission in play.record.submissions
            if submission.decision.stand_in
        }:
            record["players"][role] = ""
            yield "a seat for which a stand-in answered"
        yield {"spec": play.spec, "data": data, "record": record}


def explain_unusable(game: AnyGame | None, form: NormalForm | None) -> str:
    """Say why nothing is estimated from the plays of a game."""
    if game is None:
        return "its game is not known by name, so that its payoff table is not known either"
    if isinstance(game, HasSpeakers):
        return "a dialogue: what people say is text, and the estimates need moves in a payoff table"
    if form is None:
        return f"{game.name} has no payoff table, which every estimate needs"
    if form.num_players != 2:
        return f"{game.name} has {form.num_players} players; the estimates are for two"
    return (
        "moves go wrong there: the estimates need plays in which moves are made as they are meant"
    )


def draw_tournament(config: object) -> Iterator[JsonObject | str]:
    """Yield a play of every match that a tournament worked out without playing it.

    It is the match itself where neither strategy leaves anything to chance, else one that is drawn.
    """
    if not isinstance(config, TournamentConfig):
        return
    for one in config.by_game:
        played = set(one.played_pairs)
        automata = [one.find_automata(entry) for entry in one.entries]
        for first, second in product(range(len(automata)), repeat=2):
            row = automata[first]
            col = automata[second]
            if row is None or col is None or (first, second) in played:
                continue
            if not one.counts(first, second):
                continue
            if one.noise:
                yield explain_unusable(one.repeated, one.stage.form)
                continue
            seed = split(one.seed, "behave", first, second)
            rounds = draw_rounds((row[0], col[1]), one.rules, seed)
            names = one.entries[first].name, one.entries[second].name
            players = dict(zip(one.repeated.roles, names, strict=True))
            record = record_rounds(one.repeated, rounds, players)
            form = one.stage.form
            yield {
                "spec": digest([one.game.name, first, second]),
                "data": {"form": _keep_form(form), "treatment": {}, "subjects": ["", ""]},
                "record": record_to_json(record),
            }


def _keep_form(form: NormalForm) -> JsonObject:
    return {
        "name": form.name,
        "actions": form.actions,
        "payoffs": form.payoffs.tolist(),
        "players": form.players,
    }


def copy_plays(
    config: BehaveConfig, folder: RunFolder, models: Mapping[str, Model], how: Execution
) -> Outcome:
    """Keep the plays of all runs, each under the name of its run, and count what is of no use."""
    outcome = Outcome()
    done = folder.finished()
    unused = Counter[tuple[str, str]]()
    kept: dict[str, str] = {}
    if (folder.path / "finished").exists():
        return Outcome(found=len(done))
    for path in list_folders(config.runs):
        name = path.name
        for play in list_recorded_plays(path):
            if isinstance(play, str):
                unused[name, play] += 1
                continue
            spec = digest([name, play["spec"]])
            record = digest(play["record"])
            if kept.get(spec, record) != record:
                raise SettingError(
                    "runs", f"two folders called {name} hold different plays; rename one of them"
                )
            if spec not in done and spec not in kept:
                folder.finish_encoded(
                    encode_rows([{**play, "spec": spec, "data": {**play["data"], "run": name}}])
                )
                outcome.played += 1
            kept[spec] = record
        how.on_progress(Progress(None, len(done), outcome.played, 0))
    if not kept and not done:
        reasons = "; ".join(f"{name}: {why}" for name, why in unused) or "no play is finished"
        raise UsageError(f"there are no moves to describe: {reasons}")
    rows = [UnusedRow(what=name, why=why, times=times) for (name, why), times in unused.items()]
    folder.write_text("unused.jsonl", encode_rows(rows).decode())
    return outcome


@lru_cache(maxsize=4096)
def _make_form(kept: str) -> NormalForm:
    """Return the table that a play keeps as JSON; equal ones are one object."""
    data = json.loads(kept)
    players = tuple(data.get("players") or ("row", "column"))
    return NormalForm(data["payoffs"], players, tuple(map(tuple, data["actions"])), data["name"])


@lru_cache(maxsize=4096)
def _find_cooperation(form: NormalForm) -> tuple[int, int] | None:
    try:
        return cooperative_actions(form)
    except InvalidGame:
        return None


def list_sequences(folder: RunFolder) -> Iterator[SeatMoves]:
    """Yield what every known player did in every match."""
    for line in read_sorted(folder.path / "records.jsonl"):
        data = line["data"]
        record = line["record"]
        form = _make_form(canonical(data["form"]))
        numbers = [{action: k for k, action in enumerate(actions)} for actions in form.actions]
        moves: tuple[list[Any], list[Any]] = ([], [])
        for submission in record["submissions"]:
            if submission["role"] in form.players:
                seat = form.players.index(submission["role"])
                action = submission["action"]
                moves[seat].append(
                    numbers[seat][action] if isinstance(action, str) else tuple(action)
                )
        treatment = {
            name: str(value)
            for name, value in data["treatment"].items()
            if not isinstance(value, list)
        }
        subjects = [*data.get("subjects", ()), "", ""]
        for seat, role in enumerate(form.players):
            player = record["players"].get(role)
            if not player:
                continue
            by_seat = {
                name: str(value[seat])
                for name, value in data["treatment"].items()
                if isinstance(value, list)
            }
            labels = {
                "player": player,
                "opponent": record["players"].get(form.players[1 - seat]) or "",
                "game": form.name,
                "seat": role,
                "run": data["run"],
                **treatment,
                **by_seat,
            }
            labels["treatment"] = ", ".join([*treatment.values(), *by_seat.values()])
            other = tuple(move if isinstance(move, int) else -1 for move in moves[1 - seat])
            yield SeatMoves(
                labels,
                form,
                seat,
                tuple(moves[seat]),
                other,
                match=line["spec"],
                subject=subjects[seat] or None,
                rival=subjects[1 - seat] or None,
                imported=data.get("study") == "import",
            )


_FITS: tuple[Fit, ...] = ("strategies", "qre", "level-k", "cognitive-hierarchy")


def choose_fits(group: PlayerGroup) -> tuple[Fit, ...]:
    """Choose what is estimated where the settings do not say it.

    In one game in which both players have a dominant move, every level above 0 does the same, and
    one share of one move tells nothing about precision or depth that could be compared.
    """
    forms = {seen.form for seen in group.sequences}
    single = len(forms) == 1 and has_dominant_moves(next(iter(forms)))
    return ("strategies",) if single else _FITS


@lru_cache(maxsize=4096)
def has_dominant_moves(form: NormalForm) -> bool:
    """Say whether each player has a move that is better than all others whatever the other does."""
    for seat in range(2):
        own = form.payoffs[seat] if seat == 0 else form.payoffs[seat].T
        best = own.argmax(axis=0)
        is_unique = ((own == own.max(axis=0)).sum(axis=0) == 1).all()
        if not is_unique or len(set(best.tolist())) > 1:
            return False
    return True


def measure_behaviour(config: BehaveConfig, folder: RunFolder) -> Measured:
    """Put players into groups and estimate everything that was asked for."""
    groups: dict[tuple[str, ...], list[SeatMoves]] = defaultdict(list)
    for seen in list_sequences(folder):
        unknown = [name for name in config.by if name not in seen.labels]
        if unknown:
            raise SettingError(
                "by", f"there is no group {unknown[0]!r}; expected one of {', '.join(seen.labels)}"
            )
        groups[tuple(seen.labels[name] for name in config.by)].append(seen)
    frames: dict[str, list[Any]] = {name: [] for name in _ROWS}
    frames["left_out"] = list(read_lines(folder.path / "unused.jsonl"))
    figures: dict[Heads, BehaviourFigures] = {}
    precisions: list[tuple[str, PlayerGroup, float]] = []
    for heads in sorted(groups):
        name = ", ".join(filter(None, heads))
        seed = split(config.seed, "behave", *heads)
        group = PlayerGroup(groups[heads], seed)
        frames["groups"].append({"group": name})
        wanted = config.fit or choose_fits(group)
        models = [model for model in wanted if model != "strategies"]
        error = (
            _estimate_strategies(config, name, group, frames) if "strategies" in wanted else None
        )
        parameters = _estimate_choices(config, name, group, models, frames) if models else {}
        figures[heads] = BehaviourFigures(
            matches=len(group.sequences),
            first=group.average_cooperation(0, 1),
            cooperation=group.average_cooperation(),
            error=error,
            qre=parameters.get("lambda"),
            hierarchy=parameters.get("tau"),
            level=parameters.get("mean level"),
        )
        if "lambda" in parameters:
            precisions.append((name, group, _as_float(parameters["lambda"])))
        for number in range(max((len(moves) for _, moves in group.cooperation), default=0)):
            share = group.average_cooperation(number, number + 1)
            frames["rounds"].append(RoundRow(who=name, round=number + 1, cooperation=share))
        if config.beside:
            _stand_beside(name, group, frames)
    frames["path"] = list(_list_path(config, precisions))
    played = sum(map(len, groups.values()))
    return Measured(
        {name: Frame(kind, frames[name]) for name, kind in _ROWS.items()},
        played,
        config.by,
        figures,
    )


def _list_path(
    config: BehaveConfig, groups: Sequence[tuple[str, PlayerGroup, float]]
) -> Iterator[PathRow]:
    """Yield the logit equilibria of the most played game along lambda, and what the groups did at
    their own lambda."""
    if not groups:
        return
    form = Counter(seen.form for _, group, _ in groups for seen in group.sequences).most_common(1)[
        0
    ][0]
    largest = max(precision for _, _, precision in groups)
    grid = np.linspace(0.0, 2 * largest or 1.0, 60)
    for role, actions, side in zip(
        form.players, form.actions, predict_quantal([form], grid)[0], strict=True
    ):
        for precision, share in zip(grid, side[:, 0], strict=True):
            line = f"{form.name}: {role} plays {actions[0]}"
            yield PathRow(line=line, precision=float(precision), share=float(share))
    for (name, group, precision), seat in product(groups, range(2)):
        histories = [
            seen.own for seen in group.sequences if seen.form is form and seen.seat == seat
        ]
        moves = [
            move for moves in histories for move in moves[: 1 if config.rounds == "first" else None]
        ]
        if moves:
            share = float(
                np.mean([move == 0 if isinstance(move, int) else move[0] for move in moves])
            )
            yield PathRow(line=f"{name} as {form.players[seat]}", precision=precision, share=share)


def _as_float(value: Value) -> float:
    return value.estimate if isinstance(value, Interval) else float(value or 0.0)


def _stand_beside(name: str, group: PlayerGroup, frames: dict[str, list[Any]]) -> None:
    """List the people whose dilemma is nearest to the group's, and how far the group is from
    them."""
    played = Counter(seen.form for seen in group.sequences)
    nearest = find_people(played.most_common(1)[0][0])
    if not nearest:
        why = "the game is no symmetric dilemma"
        frames["left_out"].append(
            UnusedRow(what=f"{name}: people beside", why=why, times=len(group.sequences))
        )
    first = group.average_cooperation(0, 1)
    shares = {
        row["strategy"]: _as_float(row["share"])
        for row in frames["strategies"]
        if row["group"] == name
    }
    for people in nearest:
        distance = None
        if set(shares) == set(people.strategies):
            distance = (
                sum(abs(share - people.strategies[kind]) for kind, share in shares.items()) / 2
            )
        frames["beside"].append(
            BesideRow(
                group=name,
                people=people.label,
                first=first,
                people_first=people.first,
                # Of mixtures nobody knows whether the first move was to cooperate.
                difference=None if first is None else _as_float(first) - people.first,
                distance=distance,
            )
        )
        if not any(row["who"] == people.label for row in frames["rounds"]):
            frames["rounds"] += [
                RoundRow(who=people.label, round=number, cooperation=share)
                for number, share in enumerate(people.rounds, 1)
            ]


def _estimate_strategies(
    config: BehaveConfig, name: str, group: PlayerGroup, frames: dict[str, list[Any]]
) -> Value:
    """Estimate shares and error of a group, list them, and return the error."""
    blocks, units, reasons = _list_histories(config, group.sequences)
    for why, times in reasons.items():
        frames["left_out"].append(UnusedRow(what=f"{name}: strategies", why=why, times=times))
    if not blocks:
        return None
    agreement = count_agreement(blocks)
    everything = fit_mixture(agreement, seed=group.seed)
    path = prune_mixture(agreement, everything, seed=group.seed)
    best = {rule: min(path, key=lambda fit: getattr(fit, rule)) for rule in ("bic", "icl")}
    fitted = everything if config.choose == "all" else best[config.choose]
    kept = [agreement.names.index(name) for name in fitted.names]
    reduced = replace(
        agreement, names=fitted.names, counts=np.ascontiguousarray(agreement.counts[:, kept])
    )
    # People are drawn with all their matches, each alone: given what was played before, the
    # likelihood of a match is the product of those of its seats, so that scores of people who met
    # are uncorrelated. Nameless seats of a match are drawn together all the same, since one model
    # may sit in both.
    drawn_with = {seen.unit: seen.cluster for seen in group.sequences}
    clusters = cluster_codes([drawn_with[unit] for unit in units], len(units))
    drawn = int(clusters.max()) + 1
    remarks = ["other shares fit as well"] if fitted.flat else []
    remarks += ["every move is prescribed, so the error is 0"] if fitted.error < 1e-6 else []
    if drawn == 1:
        remarks.append(f"all moves are of one {group.unit}, so that there is no interval")
    if names := group.remark_names():
        remarks.append(names)
    shares, errors = resample(reduced, fitted, config.bootstraps, clusters, seed=group.seed)
    classes = fitted.posterior.argmax(axis=1)
    for k, strategy in enumerate(fitted.names):
        share = interval_of_draws(float(fitted.shares[k]), shares[:, k], drawn, (0.0, 1.0))
        frames["strategies"].append(
            StrategyRow(
                group=name, strategy=strategy, share=share, classified=int((classes == k).sum())
            )
        )
    for unit, k, row in zip(units, classes, fitted.posterior, strict=True):
        frames["classes"].append(
            ClassRow(group=name, unit=unit, strategy=fitted.names[k], probability=float(row[k]))
        )
    for fit, following in zip(path, (*path[1:], None), strict=True):
        gone = next(iter(set(fit.names) - set(following.names))) if following else None
        frames["numbers"] += [
            NumberRow(
                group=name, strategies=len(fit.names), bic=fit.bic, icl=fit.icl, left_out=gone
            )
        ]
    frames["groups"][-1] |= GroupRow(
        group=name,
        units=len(units),
        unit=group.unit,
        log_likelihood=fitted.log_likelihood,
        bic=fitted.bic,
        icl=fitted.icl,
        best_bic=len(best["bic"].names),
        best_icl=len(best["icl"].names),
        remark="; ".join(remarks) or None,
    )
    # Every move can be an error, so what is known of it grows with moves and not with units.
    moves = int(agreement.weights @ agreement.counts[:, 0].sum(axis=1)) if drawn > 1 else 1
    return interval_of_draws(fitted.error, errors, moves, (0.0, 1 - 1 / agreement.actions))


def _list_histories(
    config: BehaveConfig, sequences: Sequence[SeatMoves]
) -> tuple[list[Histories], list[str], Counter[str]]:
    """Return the matches by game and seat with the strategies for that seat, the units, and why
    others are left out."""
    parts: dict[tuple[NormalForm, int], list[SeatMoves]] = defaultdict(list)
    reasons: Counter[str] = Counter()
    for seen in sequences:
        if any(not isinstance(move, int) for move in seen.own):
            reasons["the answers are mixtures and no moves"] += 1
        elif not seen.own:
            reasons["no move was made"] += 1
        else:
            parts[seen.form, seen.seat].append(seen)
    blocks = []
    units = dict[str, int]()
    for (form, seat), members in parts.items():
        stage = StageGame(form.name, form)
        try:
            pairs = [as_automata(entry, stage, None) for entry in config.strategies]
        except InvalidGame as error:
            reasons[str(error)] += len(members)
            continue
        automata = [
            replace(pair[seat], name=entry.name)
            for pair, entry in zip(pairs, config.strategies, strict=True)
            if pair
        ]
        if not automata:
            raise SettingError("strategies", "none of them is an automaton")
        longest = max(len(seen.own) for seen in members)
        own, other = np.full((2, len(members), longest), -1, dtype=np.int32)
        for i, seen in enumerate(members):
            own[i, : len(seen.own)] = seen.own
            other[i, : len(seen.other[:longest])] = seen.other[:longest]
        numbers = [units.setdefault(seen.unit, len(units)) for seen in members]
        blocks.append(Histories(own, other, automata, np.array(numbers)))
    return blocks, list(units), reasons


def _estimate_choices(
    config: BehaveConfig,
    name: str,
    group: PlayerGroup,
    models: Sequence[ChoiceModel],
    frames: dict[str, list[Any]],
) -> Mapping[str, Value]:
    """Estimate the models of single choices for a group, list them, and return their parameters."""
    few = len({seen.form for seen in group.sequences}) < _FEW_GAMES
    counts: dict[tuple[NormalForm, str], tuple[Floats, Floats]] = {}
    for seen in group.sequences:
        key = seen.form, seen.cluster if few else ""
        count = counts.setdefault(key, tuple(np.zeros(size) for size in seen.form.shape))[seen.seat]  # type: ignore[arg-type]
        for move in seen.own[: 1 if config.rounds == "first" else None]:
            count += np.eye(len(count))[move] if isinstance(move, int) else np.array(move)
    data = [Choices(form, pair) for (form, _), pair in counts.items()]
    clusters = cluster_codes([cluster if few else form for form, cluster in counts], len(data))
    drawn = int(clusters.max()) + 1
    parameters: dict[str, Value] = {}
    for fit in fit_choices(
        data, models, clusters=clusters, draws=config.bootstraps, seed=group.seed
    ):
        # Where nearly all resamples say 0, as after moves that no precision explains, an interval
        # would be a point.
        fixed = fit.model != "level-k" and not np.ptp(np.quantile(fit.resampled, (0.025, 0.975)))
        remarks = ["the same in 95 % of all resamples or more, so no interval"] if fixed else []
        remarks = ["the likelihood grows with it without end"] if fit.edge else remarks
        remarks += ["other shares fit as well"] if fit.flat else []
        remarks += (
            [f"intervals resample {'subjects' if group.has_subjects else 'matches'}: few games"]
            if few
            else []
        )
        remarks += ["one game, nothing to hold out"] if fit.score is None else []
        about = {
            "score": fit.score,
            "completeness": _describe_completeness(fit),
            "remark": "; ".join(remarks) or None,
        }
        for parameter, estimate, draws, bounds in _list_parameters(fit):
            value = (
                estimate if fit.edge or fixed else interval_of_draws(estimate, draws, drawn, bounds)
            )
            frames["models"].append(
                {
                    "group": name,
                    "model": fit.model,
                    "parameter": parameter,
                    "estimate": value,
                    **about,
                }
            )
            # Where other shares fit as well, so does another mean level: it is no figure to compare
            # groups by.
            parameters[parameter] = None if fit.flat else value
    return parameters


def _describe_completeness(fit: ChoiceFit) -> Value:
    """Return the completeness with an interval over games; None where it cannot be estimated."""
    if fit.completeness is None:
        return None
    found = fit.completeness
    return interval_of_draws(found.estimate, found.resampled, found.games)


def _list_parameters(fit: ChoiceFit) -> Iterator[tuple[str, float, Floats, tuple[float, float]]]:
    """Yield each parameter with its estimate, the estimates of the resamples, and the bounds that
    it has."""
    if fit.model != "level-k":
        name = "lambda" if fit.model == "qre" else "tau"
        yield name, float(fit.estimate[0]), fit.resampled[:, 0], (-np.inf, np.inf)
        return
    levels = np.arange(HIGHEST_LEVEL + 1)
    yield (
        "mean level",
        float(fit.estimate @ levels),
        fit.resampled @ levels,
        (0.0, float(HIGHEST_LEVEL)),
    )
    for level in levels:
        yield (
            f"share of level {level}",
            float(fit.estimate[level]),
            fit.resampled[:, level],
            (0.0, 1.0),
        )


_ROWS: dict[str, type] = {
    "groups": GroupRow,
    "strategies": StrategyRow,
    "models": FittedRow,
    "rounds": RoundRow,
    "beside": BesideRow,
    "numbers": NumberRow,
    "classes": ClassRow,
    "path": PathRow,
    "left_out": UnusedRow,
}
"""The frames of a run."""


_PROSE = read_toml(Path(__file__).with_name("report.toml"))

behave = Study(
    "behave",
    BehaveConfig,
    measure=measure_behaviour,
    metrics=list_metrics(BehaviourFigures),
    title="What was played",
    subtitle=_PROSE["subtitle"],
    command="behave",
    unit="matches",
    tables=4,
    texts=(),
    prepare=prepare_behave,
    count_plays=lambda config: None,
    make_run=copy_plays,
    report=(
        metrics_table("What was played"),
        table("left_out", title="What was played", caption="Left out: these entered no estimate."),
        table("beside", title="Beside people"),
        pivot(
            "strategies",
            "group",
            "strategy",
            "share",
            title="Strategies",
            caption=_PROSE["strategies"],
        ),
        intervals(
            "strategies",
            label=("group", "strategy"),
            value="share",
            least=0.001,
            caption=_PROSE["intervals"],
        ),
        table("groups", caption="How the strategies were estimated."),
        lines(
            "rounds",
            x="round",
            y="cooperation",
            by="who",
            title="Cooperation by round",
            caption=_PROSE["rounds"],
        ),
        table(
            "models",
            title="Single choices",
            caption="Scores are those of games that were left out, in ten parts.",
        ),
        lines(
            "path",
            "precision",
            "share",
            "line",
            title="How noisy: quantal response",
            caption=_PROSE["path"],
            most=24,
        ),
        table(
            "numbers",
            title="How many strategies",
            caption="The rarest strategy is left out, again and again.",
        ),
    ),
)
"""What was played in recorded runs, as parameters with intervals."""
