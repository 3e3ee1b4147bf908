"""Recorded programs of games, judged as the study did and as it should have (section 5.1).

*As published*: any message of the loader is a failure, the initial situation must be called s0, and
an agent plays four rounds against a clone. *Corrected*: warnings are no failures, the initial
situation is whatever the program says, and the game is taken out as a table and compared up to
names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from statistics import fmean

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping
from bestresponse.formal.evaluate.validation import compare_tables, named_game
from bestresponse.games.logic.tables import table_from_cells
from bestresponse.logic.engine import LogicEngine, open_engine
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.settings import settings
from bestresponse.report.document import Cell, Column, Table
from bestresponse.studies.reproduce.program_levels import (
    PublishedLevels,
    TrueMatrix,
    published_levels,
)
from bestresponse.studies.reproduce.reproduction import (
    Check,
    check_equal,
    read_records,
)

CODES = {
    "bs": "battle-of-the-sexes",
    "hd": "hawk-dove",
    "mp": "matching-pennies",
    "pd": "prisoners-dilemma",
    "sh": "stag-hunt",
}
_PUBLISHED_PROGRAMS = 275
_LEVELS = ("syntactic", "approximate", "exact", "constraints")
_RATES = {"syntactic": 96, "approximate": 88, "exact": 87}
"""How many programs of a hundred pass each level."""
_WHOLE = "equal in whole per cent"
Part = tuple[list[Check], Table]


@dataclass(frozen=True, slots=True)
class JudgedProgram:
    """One recorded program and what we find.

    `is_game`: a table can be taken out of it, and it `is_true_game`.

    What cannot be decided, because the record does not tell the truth, is None.
    """

    row: JsonMapping
    published: PublishedLevels
    is_game: bool
    is_true_game: bool | None

    @property
    def game(self) -> str:
        """The name of the game, as far as the record has it."""
        code: str = self.row.get("game", "unnamed")
        return CODES.get(code, code)


def judge_programs(folder: Path, name: str = "exp1_agents.jsonl") -> list[JudgedProgram]:
    """Judge every recorded program as published, and by its table."""
    matrices = {}
    games = folder / "games.jsonl"
    if games.exists():
        matrices = {row["id"]: row.get("matrix") for row in read_records(games, "id")}

    judged = []
    engine = open_engine("auto", replace(settings.limits, steps=200_000))
    try:
        for row in read_records(folder / name, "program"):
            matrix = row.get("matrix") or matrices.get(row.get("game_id"))
            judged.append(_judge_program(engine, row, matrix))
    finally:
        engine.close()
    return judged


def _judge_program(
    engine: LogicEngine,
    row: JsonMapping,
    matrix: Sequence[JsonMapping] | None,
) -> JudgedProgram:
    """A story without numbers has neither a true matrix nor a target.

    Its program is judged by constraints alone.
    """
    true = _read_matrix(matrix) if matrix else None
    named = None
    if "game" in row:
        code = str(row["game"])
        named = named_game(CODES.get(code, code))
    target = row.get("target_total")
    levels = published_levels(
        engine,
        row["program"],
        true=true,
        target=None if target is None else Fraction(target),
        named=named,
    )

    table = validate(row["program"], engine).table
    same = None if true is None else False
    if table is not None and true is not None:
        moves = tuple(dict.fromkeys(chain.from_iterable(true)))
        cells = tuple(true[a, b] for a in moves for b in moves)
        wanted = table_from_cells(("row", "col"), (moves, moves), cells)
        same = compare_tables(table, wanted, any_names=True).exact
    return JudgedProgram(row, levels, table is not None, same)


def _read_matrix(matrix: Sequence[Mapping[str, str]]) -> TrueMatrix:
    """Read the payoffs of both players for each pair of moves."""
    true = {}
    try:
        for cell in matrix:
            payoffs = (Fraction(cell["u_row"]), Fraction(cell["u_col"]))
            true[cell["row"], cell["col"]] = payoffs
    except (KeyError, TypeError, ValueError):
        shape = '{"row": "C", "col": "D", "u_row": 0, "u_col": 5}'
        raise UsageError(
            f"a matrix is not a list of cells; expected one object for each, such as {shape}"
        ) from None
    return true


def check_programs(folder: Path, name: str = "exp1_agents.jsonl") -> Part:
    """Count the programs that pass each level, game by game.

    The counts appear beside what was published and recorded.
    """
    judged = judge_programs(folder, name)
    checks = list(_compare_published(judged)) if len(judged) == _PUBLISHED_PROGRAMS else []
    rescued = sum(program.is_game and not program.published.syntactic for program in judged)
    checks.append(check_equal("corrected: rejected programs that are games", None, rescued))
    for level in _LEVELS:
        recorded = [program for program in judged if level in program.row.get("verdict", ())]
        if recorded:
            checks.append(_compare_verdicts(level, recorded))
    return checks, _tabulate_programs(judged)


def _compare_verdicts(level: str, recorded: Sequence[JudgedProgram]) -> Check:
    """Compare the recorded verdicts of one level with ours."""
    same = 0
    for program in recorded:
        passed = bool(getattr(program.published, level))
        same += passed == program.row["verdict"][level]
    remark = ""
    if level == "constraints" and same == _PUBLISHED_PROGRAMS - 1:
        remark = (
            "one program writes years in prison as gains; with its moves renamed it is a"
            " dilemma all the same"
        )
    return check_equal(f"recorded {level} verdicts found again", len(recorded), same, remark)


def _tabulate_programs(judged: Sequence[JudgedProgram]) -> Table:
    """Count the programs that pass each level, game by game and in all."""
    columns = (
        Column("game"),
        *(Column(name, "right") for name in ("programs", *_LEVELS)),
        Column("corrected: a game", "right", "a table can be taken out of the program"),
        Column(
            "corrected: exact",
            "right",
            "and it is the true one up to the names of players and moves",
        ),
    )
    games: dict[str, Sequence[JudgedProgram]] = {}
    for name in sorted({program.game for program in judged}):
        games[name] = [program for program in judged if program.game == name]
    games["all"] = judged

    rows: list[tuple[Cell, ...]] = []
    for name, programs in games.items():
        row: list[Cell] = [name, len(programs)]
        for level in _LEVELS:
            row.append(_count([getattr(program.published, level) for program in programs]))
        row.append(_count([program.is_game for program in programs]))
        row.append(_count([program.is_true_game for program in programs]))
        rows.append(tuple(row))
    title = "Experiment 1: programs that pass each level of validation, as published"
    return Table(columns, tuple(rows), title)


def _count(verdicts: Sequence[bool | None]) -> int | None:
    return None if set(verdicts) <= {None} else sum(map(bool, verdicts))


def _compare_published(judged: Sequence[JudgedProgram]) -> Iterator[Check]:
    """Compare the published figures of the 275 programs."""
    total = len(judged)
    levels = [program.published for program in judged]
    logged = [program.row["logged"] for program in judged]
    attempts = [0 if log["status"] == "syntactic_error" else log["attempts"] for log in logged]
    once = attempts.count(1) / total
    first = round(100 * once) == 93
    yield Check(
        "programs right at the first attempt",
        "93 %",
        f"{once:.0%}",
        first,
        tolerance=_WHOLE,
    )
    for what, number, published in (("right at the second attempt", 2, 7), ("never right", 0, 12)):
        count = attempts.count(number)
        remark = (
            f"{count} programs; the paper prints the count as a percentage (it would be"
            f" {count / total:.1%})"
        )
        yield Check(
            f"programs {what}",
            f"{published} %",
            count,
            count == published,
            remark,
        )
    for name, published in _RATES.items():
        count = sum(bool(getattr(level, name)) for level in levels)
        agrees = round(100 * count / total) == published
        share = f"{100 * count / total:.1f} %"
        yield Check(
            f"{name} correctness",
            f"{published} %",
            found=share,
            agrees=agrees,
            remark=f"{count} of {total}",
            tolerance=_WHOLE,
        )
    if all("game_id" in program.row for program in judged):
        yield _check_scenarios(judged)
    misplaced = sum(bool(level.constraints) and level.exact is False for level in levels)
    yield Check(
        "programs that satisfy the constraints and are not exact",
        "a few",
        misplaced,
        misplaced > 0,
        remark="their inequalities hold, but the payoffs that are played are not the true ones",
        tolerance="at least 1",
    )
    only = sum(bool(level.approximate) and not level.exact for level in levels)
    yield check_equal(
        "right only by the approximate check", 5, only, "their off-diagonal cells are swapped"
    )
    shares = {}
    for code, name in CODES.items():
        verdicts = [program.published.exact for program in judged if program.game == name]
        shares[code] = fmean(map(bool, verdicts))
    worst = sorted(shares, key=lambda code: shares[code])[:2]
    lowest = ", ".join(sorted(worst))
    each = ", ".join(f"{code} {share:.0%}" for code, share in shares.items())
    yield check_equal("games with the lowest exact correctness", "bs, sh", lowest, each)
    least = min(shares.values())
    limit = "above 80 %"
    yield Check(
        "exact correctness of every game",
        limit,
        f"{least:.0%} or more",
        least > 0.8,
        tolerance=limit,
    )


def _check_scenarios(judged: Sequence[JudgedProgram]) -> Check:
    """Count the scenarios with more than one program that cannot be loaded."""
    invalid = Counter(
        program.row["game_id"] for program in judged if not program.published.syntactic
    )
    several = sum(count > 1 for count in invalid.values())
    once = sum(count == 1 for count in invalid.values())
    what = "scenarios with more than one invalid program of five"
    return check_equal(what, 0, several, f"{once} scenarios with one")
