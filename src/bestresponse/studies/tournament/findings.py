"""What a tournament found, as a document: standings, who earned what against whom, and what evolution makes of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bestresponse.report.document import (
    Block,
    Code,
    Column,
    Document,
    Figure,
    KeyValues,
    Note,
    Paragraph,
    Section,
    Table,
)
from bestresponse.report.figures import charts as figures
from bestresponse.runs.reporting.costs import costs_section
from bestresponse.runs.reporting.method import method_section
from bestresponse.runs.run import Run
from bestresponse.runs.store.manifest import Manifest
from bestresponse.studies.tournament.evolution import ecology, moran_runs
from bestresponse.studies.tournament.measure import count_readings
from bestresponse.studies.tournament.standings import Standings

__all__ = ["findings"]

_MOST_IN_A_HEATMAP = 16
_MOST_LINES = 8


def findings(standings: Standings, run: Run[Any]) -> Document:
    """Build the report of a tournament."""
    config = standings.config
    sections = [
        _standing_section(standings, run),
        _between_section(standings),
        _evolution_section(standings),
        _answers_section(standings, count_readings(config, run.folder)),
        costs_section(run.costs),
        _method_section(standings, run.manifest),
    ]
    return Document(
        f"Tournament: {config.game.name}",
        f"{len(config.entries)} take part, {_length(standings)}",
        tuple(section for section in sections if section is not None),
        footer=run.manifest.footer,
    )


def _gaps(standings: Standings) -> bool:
    return bool(standings.missing.any())


def _length(standings: Standings) -> str:
    c = standings.config
    parts = [
        f"{c.rounds} rounds" if c.continuation == 1 else f"up to {c.rounds} rounds, going on with {c.continuation:g}"
    ]
    parts += [f"noise {c.noise:g}"] if c.noise else []
    parts += [f"all against {c.against}"] if c.against else []
    parts += ["expected payoffs"] if standings.method == "exact" else []
    asked = any(entry.kind not in ("rules", "classic") for entry in c.entries)
    parts += [f"{c.repetitions or 1} plays of each match that is played"] if asked or c.repetitions else []
    return ", ".join(parts)


def _standing_section(standings: Standings, run: Run[Any]) -> Section:
    config = standings.config
    by = "whose total is the expected one" if config.targets else "with the highest total"
    winners = ", ".join(standings.winners) or "nobody"
    table = run.figures.to_table(f"{config.game.name}: {_length(standings)}")
    blocks: list[Block] = [KeyValues(((f"winners ({by})", winners),)), table]
    if config.targets:
        targets = dict(config.targets)
        rows = tuple((name, targets[name], standings.sums.get(name), name in standings.winners) for name in targets)
        columns = (
            Column("strategy"),
            Column("expected total", "right", format="g"),
            Column("total", "right", format="g"),
            Column("reached"),
        )
        blocks.append(Table(columns, rows, "Totals expected and reached"))
    blocks += [Note(f"{names}: left out. {why[:1].upper()}{why[1:]}") for names, why in _grouped(config.left_out)]
    return Section("Standings", tuple(blocks))


def _grouped(left_out: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    reasons: dict[str, list[str]] = {}
    for name, why in left_out:
        reasons.setdefault(why, []).append(name)
    return [(", ".join(names), why) for why, names in reasons.items()]


def _between_section(standings: Standings) -> Section | None:
    names = [row.name for row in standings.table][:_MOST_IN_A_HEATMAP]
    order = [entry.name for entry in standings.config.entries]
    places = [order.index(name) for name in names]
    cells = standings.between[np.ix_(places, places)]
    if not np.isfinite(cells).any():
        return None
    told = "What the strategy in a row earns a round against the one in a column, the mean of both seats."
    if len(order) > len(names):
        told += f" The best {len(names)} of {len(order)} are shown."
    picture = Figure(figures.heatmap(cells, names, names), told, "payoffs a round between strategies")
    return Section("Who earned what against whom", (picture,))


def _evolution_section(standings: Standings) -> Section | None:
    path = ecology(standings)
    if path is None:
        return None
    final = path.shares[-1]
    order = np.argsort(-final, kind="stable")
    shown = order[:_MOST_LINES]
    series = {path.names[k]: (path.generations, path.shares[:, k]) for k in shown}
    picture = figures.lines(series, x_label="generation", y_label="share")
    rows = tuple((path.names[k], float(final[k])) for k in order if final[k] > 1e-6)
    blocks: list[Block] = [
        Paragraph(
            "All begin with equal shares; a share grows in proportion to what the strategy earns against the present "
            "mix (the discrete replicator, payoffs shifted so that the lowest is 1)."
        ),
        Figure(picture, f"Shares of the {len(shown)} largest at the end", "shares over generations"),
        Table((Column("strategy"), Column("share at the end", "right", format=".4f")), rows),
    ]
    runs = moran_runs(standings)
    if runs is not None:
        won = sorted(zip(runs.names, runs.wins, strict=True), key=lambda pair: -pair[1])
        table = tuple((name, wins, wins / runs.runs) for name, wins in won if wins)
        columns = (Column("strategy"), Column("took over", "right"), Column("of all runs", "right", format=".2f"))
        caption = f"Moran process: {runs.runs} runs, {runs.population} individuals, {runs.undecided} undecided"
        blocks.append(Table(columns, table, caption))
    return Section("If strategies multiply by what they earn", tuple(blocks))


def _answers_section(standings: Standings, answers: tuple[tuple[str, str, int], ...]) -> Section | None:
    if not answers:
        return None
    table = Table((Column("model"), Column("its answers were"), Column("times", "right")), answers)
    note = Note(
        "A match breaks off at the first answer that cannot be read and then counts for nobody; the last columns of "
        "the standings bound what the missing matches could have changed."
    )
    return Section("How the answers were read", (table, note) if _gaps(standings) else (table,))


def _method_section(standings: Standings, manifest: Manifest) -> Section:
    game = standings.config.game
    form = game.form
    cells = [
        (row, *(f"{form.payoffs[0][i, k]:g}, {form.payoffs[1][i, k]:g}" for k in range(form.shape[1])))
        for i, row in enumerate(form.actions[0])
    ]
    payoffs = Table((Column(""), *(Column(name, "right") for name in form.actions[1])), tuple(cells), game.name)
    rules = [
        block
        for entry in standings.config.entries
        if entry.rules
        for block in (Paragraph(f"{entry.name} ({entry.source})"), Code(entry.rules, "prolog"))
    ]
    return method_section(manifest, payoffs, *rules, without=("game", "entries", "left_out"))
