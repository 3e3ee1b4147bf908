"""Recorded play of others becomes a run: read by a mapping, checked row by row, nothing repaired.

A mapping is a TOML file that says which columns hold what (docs/measure/behave.md). Moves are what
counts: payoffs are worked out from them by the table of the game and compared with the recorded
ones. A row that cannot be right is named with its line; a match with a move that is missing or
unknown, or with a round that is missing or there twice, is left out as a whole. Rounds may be in
any order."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import ClassVar, TypedDict, cast

import numpy as np

from bestresponse.analysis.decisions import DECISIONS, judge_play, tabulate_decisions
from bestresponse.analysis.truth import find_truth
from bestresponse.core.errors import UsageError
from bestresponse.core.files import open_plain, read_prose, read_text_file
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping, canonical, digest
from bestresponse.games.matrix.game import RepeatedGame
from bestresponse.models.base import ModelsByName
from bestresponse.report.blocks import table, text
from bestresponse.report.frames import Frame
from bestresponse.runs.execution import Execution, Outcome, Progress
from bestresponse.runs.settings import OF_CALLS, OF_PLAYS, RunSettings, setting, settings
from bestresponse.runs.store.folder import RunFolder, encode_rows, read_lines
from bestresponse.runs.study import Measured, Study
from bestresponse.studies.behave.layouts import (
    EXPECTED_KIND,
    KINDS,
    ROLES,
    find_file_kind,
    find_layout,
    find_mapping,
    find_replays,
)
from bestresponse.studies.behave.moves import make_form
from bestresponse.studies.behave.reader import BLOCK, ProblemRow, Reader, format_payoffs
from bestresponse.studies.behave.replays import ReplayReader, find_recorded_game
from bestresponse.theory.games.normal_form import NormalForm


@settings
class ImportConfig(RunSettings):
    """Turn recorded play from a file into a run, check every row, and judge every move.

    Payoffs are computed from the moves. What does not fit is listed with its line.
    """

    file: str | Path = setting(default="", kw_only=False, argument=True, how=True)
    """A .csv, .jsonl, .json or .parquet file, also gzipped, or a folder of such files."""
    mapping: str = setting(
        default="",
        help="akata, fairgame, dilemma, friend-or-foe, kaggle, openspiel, textarena, plybench,"
        " moves, or a TOML file that names the columns.",
    )
    output_dir: str | Path = setting(
        default="results",
        how=True,
        metavar="FOLDER",
        help="Folder for the run.",
    )
    source: str = setting(default="", option=False)
    digest: str = setting(default="", option=False)
    unused: ClassVar[frozenset[str]] = (
        OF_PLAYS | OF_CALLS | {"dry_run", "against", "fail_if", "junit"}
    )


class PlayedRow(TypedDict):
    """What was played by whom."""

    game: str
    players: str
    matches: int
    moves: int


class FaultRow(TypedDict):
    """A kind of problem."""

    problem: str
    effect: str
    times: int


class UnsolvedRow(TypedDict):
    """A game in which no single move is judged."""

    game: str


class FileRow(TypedDict):
    """The file as a whole."""

    rows: int
    matches: int
    left_out: int


def prepare_import(config: ImportConfig) -> ImportConfig:
    """Make the content of all files part of the run's identity.

    This way another file makes another run.
    """
    path = Path(config.file)
    if not str(config.file):
        raise UsageError(
            "name the file to import and a mapping of its columns, such as rounds.csv --mapping"
            " akata"
        )
    if find_file_kind(path) not in KINDS and not path.is_dir():
        raise UsageError(f"{path}: {EXPECTED_KIND}, or a folder of such files")
    if not path.exists():
        raise UsageError(f"{path}: there is no such file")
    files = [*list_files(path), find_mapping(config.mapping)]
    if find_replays(config.mapping, files[0]) is None:
        join = find_layout(config.mapping, path).join
        files += [path.parent / join["file"]] if join else []
    parts = []
    for part in files:
        try:
            with open_plain(part) as file:
                parts.append(hashlib.file_digest(file, "sha256").hexdigest())
        except OSError as error:
            raise UsageError(f"{part} cannot be read: {error.strerror}") from None
    return replace(config, source=path.name, digest=digest(parts))


def list_files(path: Path) -> list[Path]:
    """List the file, or those of a folder that can be read, by name."""
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if find_file_kind(file) in KINDS)
    if not found:
        raise UsageError(f"{path}: the folder holds no file to import; {EXPECTED_KIND}")
    return found


def read_into_run(
    config: ImportConfig,
    folder: RunFolder,
    models: ModelsByName,
    how: Execution,
) -> Outcome:
    """Write every match of the file as a play, and beside them what did not fit."""
    finished = folder.finished()
    outcome = Outcome()
    if folder.finished_whole:
        return Outcome(found=len(finished))
    path = Path(config.file)
    problems = list[ProblemRow]()
    readers: list[Reader | ReplayReader] = []
    for file in list_files(path):
        replays = find_replays(config.mapping, file)
        if replays is None:
            readers.append(Reader(file, find_layout(config.mapping, file), problems.append))
        else:
            readers.append(ReplayReader(file, replays, problems.append))
    for reader in readers:
        matches = (play for play in reader.list_matches() if play["spec"] not in finished)
        while block := list(islice(matches, BLOCK)):
            folder.finish_encoded(encode_rows(block))
            outcome.played += len(block)
            how.on_progress(Progress(None, len(finished), outcome.played, 0))
        for form in reader.tables.values():
            problems += _list_ties(form)
    folder.write_text("problems.jsonl", encode_rows(problems).decode())
    counts = {"rows": 0, "left_out": 0}
    for reader in readers:
        counts["rows"] += reader.rows
        counts["left_out"] += reader.left_out
    folder.write_text("rows.json", json.dumps(counts) + "\n")
    return outcome


def _list_ties(form: NormalForm) -> Iterator[ProblemRow]:
    """Tell of seats whose payoffs are not all different."""
    for role, payoffs in zip(ROLES, form.payoffs, strict=True):
        if len(np.unique(payoffs)) < payoffs.size:
            detail = f"{form.name}: {role} gets {format_payoffs(payoffs.ravel().tolist())}"
            yield ProblemRow(
                line=0,
                match="",
                problem="tied payoffs",
                detail=detail,
                effect="kept",
            )


def measure_import(config: ImportConfig, folder: RunFolder) -> Measured:
    """Count matches and rounds by game and player, and list what did not fit."""
    games: dict[tuple[str, str], PlayedRow] = {}
    judged = []
    unsolved: dict[str, None] = {}
    for number, play in enumerate(folder.plays(), 1):
        record = play.record
        players = " - ".join(filter(None, record.players.values()))
        new = PlayedRow(game=record.game, players=players, matches=0, moves=0)
        row = games.setdefault((record.game, players), new)
        row["matches"] += 1
        row["moves"] += len(record.submissions)
        game = make_recorded_game(config, play.data)
        truth = find_truth(game)
        if truth is None or not truth.judges_moves:
            unsolved[record.game] = None
        persons = dict(zip(game.roles, play.data["subjects"], strict=False))
        one = judge_play(number, record, game, truth, {})
        judged.append(replace(one, persons=persons))
    problems = [cast(ProblemRow, row) for row in read_lines(folder.path / "problems.jsonl")]
    kinds = Counter((row["problem"], row["effect"]) for row in problems)
    counts = json.loads(read_text_file(folder.path / "rows.json"))
    matches = sum(row["matches"] for row in games.values())
    file = FileRow(rows=counts["rows"], matches=matches, left_out=counts["left_out"])
    faults = []
    for (kind, effect), times in kinds.items():
        faults.append(FaultRow(problem=kind, effect=effect, times=times))
    frames = {
        "file": Frame(FileRow, [file]),
        "games": Frame(PlayedRow, list(games.values())),
        "found": Frame(FaultRow, faults),
        "problems": Frame(ProblemRow, problems),
        "unsolved": Frame(UnsolvedRow, [UnsolvedRow(game=name) for name in unsolved]),
        **tabulate_decisions(judged, always=True),
    }
    return Measured(frames, answered=matches)


def make_recorded_game(config: ImportConfig, data: JsonMapping) -> AnyGame:
    """Return the game of an imported match, of so many rounds as were played."""
    if "form" not in data:
        return find_recorded_game(data["game"])
    return _make_rounds(canonical(data["form"]), data["rounds"])


@lru_cache(maxsize=4096)
def _make_rounds(kept: str, rounds: int) -> RepeatedGame:
    return RepeatedGame(make_form(kept), rounds)


_PROSE = read_prose(__file__)
import_plays = Study(
    "import",
    ImportConfig,
    measure=measure_import,
    title="Recorded play: {{ config.source }}",
    subtitle="read by the mapping {{ config.mapping }}",
    command="import",
    unit="matches",
    texts=(),
    game=make_recorded_game,
    prepare=prepare_import,
    count_plays=lambda config: None,
    make_run=read_into_run,
    report=(
        text(_PROSE["file"]),
        table("found", title="What does not fit"),
        table("games", title="What was played", most=60),
        text(_PROSE["unsolved"], title="Decisions"),
        *DECISIONS,
        table("problems", title="Row by row", caption="The first 100.", most=100),
    ),
)
"""Read recorded play of others into a run, checked row by row."""
