"""The plays themselves in the report: game, solution, answer, figures and the words of the reply, the worst first."""

from __future__ import annotations

import numpy as np

from bestresponse.core.player import Decision
from bestresponse.report.document import Block, Cell, Column, Note, Section, Table
from bestresponse.report.figures.charts import compute_fences
from bestresponse.report.numbers import format_number
from bestresponse.runs.run import Run
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.bench.games.drawn import own_view
from bestresponse.studies.bench.games.given import theme_of
from bestresponse.studies.bench.plan import BASE
from bestresponse.studies.bench.results import Results
from bestresponse.studies.bench.rows import BenchRow, get_number
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.zero_sum.solve import solve_zero_sum

__all__ = ["MOST_PLAYS", "build_plays_section", "find_decision", "list_outliers", "rank_plays"]

MOST_PLAYS = 500
_MOST_OUTLIERS = 20
_LONGEST_REPLY = 3500

_COLUMNS = (
    Column("play", "right", "its number in this table, by which the outliers of figures are named", anchor="play"),
    Column("game", "right", "number of the game in the run"),
    Column("player"),
    Column("asked for", help="way of asking, and how the game was told where it was not told as drawn"),
    Column("payoffs", help="own payoffs, a line for each own action; the other player's behind a bar if not zero-sum"),
    Column("solution", help="an optimal strategy in a zero-sum game"),
    Column("opponent", help="the equilibrium strategy that the opponent plays"),
    Column("answer", help="probabilities of the own actions, in the order of the lines"),
    Column("gap / range", "right", "Nash gap as a share of the payoff range", ".3f"),
    Column("exploitability / range", "right", "what a best-responding opponent takes, as a share of the range", ".3f"),
    Column("reading", help="how the answer was read"),
    Column("reply", help="what the model wrote; click to unfold"),
)


def build_plays_section(results: Results, run: Run[Any]) -> Section:
    """List the plays, unreadable answers and large losses first, at most `MOST_PLAYS` of them."""
    chosen = {row["spec"]: row for row in rank_plays(results)[:MOST_PLAYS]}
    plays = {play.spec: play for play in run.folder.plays() if play.spec in chosen}
    rows = tuple(
        (number, *_describe(results, row, plays[spec])) for number, (spec, row) in enumerate(chosen.items(), 1)
    )
    blocks: list[Block] = [Table(_COLUMNS, rows, "Every play, unread answers and large losses first.")]
    if len(results.rows) > MOST_PLAYS:
        remark = f"These are the {MOST_PLAYS:,} plays of {len(results.rows):,} that lost most; rows.csv holds them all."
        blocks.insert(0, Note(remark))
    return Section("The plays", tuple(blocks), "plays")


def rank_plays(results: Results) -> list[BenchRow]:
    """Return the rows in the order of the table of plays, in which they are numbered from 1."""
    return sorted(results.rows, key=_rank)


def list_outliers(results: Results, figure: str, title: str) -> list[Block]:
    """List the plays that a figure shows far above the rest of their player's, by their numbers among the plays shown.

    Far above is beyond the whisker of the figure (`figures.compute_fences`).
    """
    numbers = {row["spec"]: number for number, row in enumerate(rank_plays(results)[:MOST_PLAYS], 1)}
    found: list[tuple[Cell, ...]] = []
    for (player, way), rows in results.groups.items():
        known = [(value, row) for row in rows if (value := get_number(row, figure)) is not None]
        fence = compute_fences([value for value, _ in known])[1] if known else 0.0
        found += [(numbers.get(row["spec"]), row["game"], player, way, v) for v, row in known if v > fence + 1e-9]
    if not found:
        return []
    found.sort(key=lambda cells: -float(str(cells[4])))
    columns = (
        Column("play", "right", "its number in the table of plays, to which it links", link="play"),
        Column("game", "right"),
        Column("player"),
        Column("asked for"),
        Column(title, "right", format=".3f"),
    )
    return [Table(columns, tuple(found[:_MOST_OUTLIERS]), "Outliers of the figure, with links to their plays.")]


def _rank(row: BenchRow) -> tuple[bool, float, float, int]:
    loss = get_number(row, "exploitability_normalised") or 0.0
    return row["nash_gap"] is not None, -loss, -(row["gap_normalised"] or 0.0), row["game"]


def _describe(results: Results, row: BenchRow, play: StoredPlay) -> tuple[Cell, ...]:
    data = play.data
    own, other = own_view(np.asarray(data["payoffs"], dtype=np.float64), data["seat"])
    zero_sum = bool((own == -other).all())
    mine = find_decision(play)
    told = [row["condition"]] if row["condition"] != BASE else []
    told += [row["variant"]] if row["variant"] != "original" else []
    answer = np.asarray(row["strategy"])[list(data["back"])] if row["strategy"] is not None else None
    return (
        row["game"],
        row["model"],
        ", ".join([results.describe_way(row), *told]),
        _write_matrix(own, None if zero_sum else other),
        _write_mix(solve_zero_sum(own).row[0]) if zero_sum else None,
        _write_mix(np.asarray(results.plan.find_opponent(data))),
        None if answer is None else _write_mix(answer),
        row["gap_normalised"],
        row["exploitability_normalised"],
        f"{row['status']}: {row['how']}" if row["how"] else row["status"],
        mine.reasoning[:_LONGEST_REPLY],
    )


def find_decision(play: StoredPlay) -> Decision:
    """Return the answer of the player that the play was made for."""
    role = theme_of(play.data).players[play.data["seat"]]
    return next(s.decision for s in play.record.submissions if s.role == role)


def _write_mix(mix: Array) -> str:
    return " ".join(format_number(round(float(p), 3)) for p in mix)


def _write_matrix(own: Array, other: Array | None) -> str:
    lines = [" ".join(format_number(float(v)) for v in row) for row in own]
    if other is not None:
        lines = [
            f"{line} | {' '.join(format_number(float(v)) for v in row)}" for line, row in zip(lines, other, strict=True)
        ]
    return "\n".join(lines)
