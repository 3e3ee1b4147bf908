"""What a run on a game played in turn found, as a document."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bestresponse.report.document import (
    Block,
    Cell,
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
from bestresponse.runs.reporting.costs import costs_section
from bestresponse.runs.reporting.method import method_section
from bestresponse.runs.run import Run
from bestresponse.studies.bench.sequential.findings_answers import answers_section, reading_section
from bestresponse.studies.bench.sequential.policies import BASELINE, StatedPolicy
from bestresponse.studies.bench.sequential.results import SequentialResults, bound_figure
from bestresponse.studies.bench.sequential.tree_figure import choose_nodes, draw_policy

__all__ = ["findings"]

_HEADLINES = {
    "exploitability": "exploitability",
    "nash_conv": "NashConv",
    "nash_gap": "Nash gap",
    "known": "information sets known",
}
_MOST_SETS = 400


def findings(results: SequentialResults, run: Run[Any]) -> Document:
    """Build the report of a run."""
    config, plan = results.plan.config, results.plan
    sections = [
        _headline(results, run),
        _seats(results),
        *_infosets(results),
        answers_section(results),
        reading_section(results),
        costs_section(run.costs),
        _method(results, run),
    ]
    asked = f"{len(plan.infosets)} of {len(plan.candidates)} information sets"
    return Document(
        title="How far from an equilibrium?",
        subtitle=f"{', '.join(config.labels)} in {plan.game.name}, asked at {asked}",
        opening=tuple(_opening(results)),
        sections=tuple(section for section in sections if section is not None),
        footer=run.manifest.footer,
    )


def _opening(results: SequentialResults) -> Iterable[Block]:
    plan = results.plan
    if results.unfinished:
        yield Note(f"{results.unfinished} planned answers are missing; run the same command to get them.", "warning")
    if not plan.complete:
        yield Note(
            f"Only {len(plan.infosets)} of {len(plan.candidates)} information sets were asked about: those that "
            "uniform play reaches most often. What the policy does elsewhere is not known, so that figures of the "
            "whole policy are bounds.",
            "warning",
        )
    if results.arena.equilibrium is None:
        yield Note("No equilibrium of this game was found: only NashConv and regrets are given.", "warning")
    first = next(iter(results.figures.values()), None)
    if first is not None:
        items: list[tuple[str, Cell]] = [(title, first[name]) for name, title in _HEADLINES.items()]
        policies = next(iter(results.groups.values()))
        if first["exploitability"] is None and (ends := bound_figure(policies, "exploitability")) is not None:
            items.insert(0, ("exploitability", f"{ends[0]:.3g} to {ends[1]:.3g}"))
        yield KeyValues(tuple(item for item in items if item[1] is not None), prominent=True, format=".3g")


def _headline(results: SequentialResults, run: Run[Any]) -> Section:
    caption = (
        "Smaller is better; 0 is an equilibrium. Intervals (95 %) are over policies where several were asked for, else "
        "over the sampled moves; a single stated policy is known exactly."
    )
    blocks: list[Block] = [run.figures.to_table(caption)]
    blocks += _bounds(results)
    blocks.append(
        Paragraph(
            "Exploitability is what an opponent who knows the policy takes beyond the value of the game. The Nash gap "
            "is lost against opponents who play an equilibrium, who forgive mixtures that are wrong in themselves. "
            "NashConv adds up what every player could gain by deviating if all of them followed the policy. Policies "
            "made of a few sampled moves look more exploitable than they are, since chance alone leaves them uneven."
        )
    )
    return Section("How far from an equilibrium", tuple(blocks))


def _bounds(results: SequentialResults) -> list[Block]:
    """Say between which ends the figures of policies lie that are not known everywhere."""
    rows: list[tuple[Cell, ...]] = []
    for (player, way), policies in results.groups.items():
        if all(one.complete for one in policies):
            continue
        ends = [bound_figure(policies, name) for name in ("exploitability", "nash_gap")]
        cells = [x for pair in ends for x in (pair or (None, None))]
        rows.append((player, way, *cells))
    if not rows:
        return []
    columns = (
        Column("player"),
        Column("asked for"),
        Column("exploitability at least", "right", format=".4f"),
        Column("at most", "right", "opponents and missing moves know everything: perhaps too large", ".4f"),
        Column("Nash gap at least", "right", format=".4f"),
        Column("at most", "right", format=".4f"),
    )
    return [Table(columns, tuple(rows), "Bounds over everything the policy may do where it is not known.")]


def _seats(results: SequentialResults) -> Section | None:
    """Put what is earned in every seat beside the value of the game."""
    if results.arena.equilibrium is None:
        return None
    rows: list[tuple[Cell, ...]] = []
    named = [(player, way, policies) for (player, way), policies in results.groups.items()]
    named += [(name, BASELINE, [policy]) for name, policy in results.baselines.items()]
    for player, way, policies in named:
        for place, seat in enumerate(results.plan.seats):
            own = [one.seat_figures[place] for one in policies]
            means = [_mean([getattr(one, name) for one in own]) for name in ("value", "gap", "exploitability")]
            value = float(results.arena.values[seat])
            rows.append((player, way, results.plan.tree.players[seat], means[0], value, *means[1:]))
    columns = (
        Column("player"),
        Column("asked for"),
        Column("seat"),
        Column("earns", "right", "against equilibrium opponents", ".4f"),
        Column("equilibrium earns", "right", format=".4f"),
        Column("Nash gap", "right", format=".4f"),
        Column("exploitability", "right", "two players, constant sum", ".4f"),
    )
    return Section("Seat by seat", (Table(columns, tuple(rows), f"Equilibrium by {results.method}."),))


def _mean(figures: list[float | None]) -> float | None:
    known = [one for one in figures if one is not None]
    return float(np.mean(known)) if known and len(known) == len(figures) else None


def _infosets(results: SequentialResults) -> Iterable[Section]:
    """Show where every player loses: the first policy on the tree, and a table of information sets."""
    for (player, way), policies in results.groups.items():
        blocks: list[Block] = [*_picture(results, player, policies[0]), _tabulate_sets(results, policies)]
        yield Section(f"Where {player} ({way}) loses", tuple(blocks))


def _picture(results: SequentialResults, player: str, policy: StatedPolicy) -> list[Block]:
    against_equilibrium, against_itself = results.split(policy)
    split = against_itself or against_equilibrium
    losses = {k: lost for k, lost in split.items() if lost is not None}
    if not losses:
        return []
    tree = results.plan.tree
    whole = len(choose_nodes(tree, losses)) == tree.num_nodes
    part = "" if whole else " Only the ways to the information sets with the largest losses are drawn."
    against = "its own policy in the other seats" if against_itself else "the equilibrium"
    caption = (
        f"Policy of {player}. Branches: the wider, the likelier; discs: the larger, the more is lost at that "
        f"information set against {against}. Numbers at the right are payoffs.{part}"
    )
    return [Figure(draw_policy(tree, policy.policy, losses), caption, f"Tree of the game with the policy of {player}")]


def _tabulate_sets(results: SequentialResults, policies: list[StatedPolicy]) -> Table:
    """List information sets, those with the largest loss first; figures are means over policies."""
    splits = [results.split(policy) for policy in policies]
    rows: list[tuple[Cell, ...]] = []
    for k in results.plan.infosets:
        infoset = results.plan.tree.infosets[k]
        mixes = [results.cut(one.partial.row, k) for one in policies if one.partial.known[k]]
        loss = _mean([losses.get(k) for losses, _ in splits])
        regret = _mean([regrets.get(k) for _, regrets in splits])
        solution = results.arena.equilibrium
        rows.append(
            (
                results.plan.tree.players[infoset.player],
                infoset.label,
                _write_mix(infoset.moves, np.mean(mixes, axis=0)) if mixes else None,
                None if solution is None else _write_mix(infoset.moves, results.cut(solution.probabilities, k)),
                loss,
                regret,
            )
        )
    rows.sort(key=lambda row: (-_number(row[5]), -_number(row[4])))
    columns = (
        Column("seat"),
        Column("information set"),
        Column("policy"),
        Column("equilibrium", help="one of them; there may be others"),
        Column("loss", "right", "lost here against equilibrium opponents; adds up to the Nash gap of the seat", ".4f"),
        Column("regret", "right", "lost here if all follow the policy; adds up to NashConv", ".4f"),
    )
    cut = f" The first {_MOST_SETS} of {len(rows)}; rows.csv has all." if len(rows) > _MOST_SETS else ""
    caption = f"Counterfactual loss weighted by how likely the play comes there.{cut}"
    return Table(columns, tuple(rows[:_MOST_SETS]), caption)


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else -1.0


def _write_mix(moves: tuple[str, ...], mix: Iterable[float]) -> str:
    return ", ".join(f"{move} {round(float(p), 3):g}" for move, p in zip(moves, mix, strict=True))


def _method(results: SequentialResults, run: Run[Any]) -> Section:
    plan = results.plan
    shown = plan.make_first_question(plan.infosets[0]).shown
    return method_section(
        run.manifest,
        Paragraph("The first question as it was shown (the instruction how to answer follows it):"),
        Code(f"{shown.briefing}\n\n{shown.situation}", "text"),
    )
