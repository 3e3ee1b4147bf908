"""What a run of the water study found, as a document."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from bestresponse.core.seeds import split
from bestresponse.games.water.bidders import BIDDERS, kept_for, play_many
from bestresponse.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Figure,
    KeyValues,
    Note,
    Paragraph,
    Quote,
    Section,
    Table,
)
from bestresponse.report.stats.statistics import holm, paired_difference
from bestresponse.runs.reporting.answers import answers_section
from bestresponse.runs.reporting.costs import costs_section
from bestresponse.runs.reporting.method import method_section
from bestresponse.runs.run import Run
from bestresponse.studies.water.config import Setting, WaterConfig
from bestresponse.studies.water.figures import by_day, price_boxes, satisfaction
from bestresponse.studies.water.measure import Measured, MeasuredSetting, rsr
from bestresponse.studies.water.plan import game_seed
from bestresponse.studies.water.results import WaterResults

__all__ = ["findings"]

_MOST_BASELINE_GAMES = 200


def findings(results: WaterResults, run: Run[Any]) -> Document:
    """Build the report of a run."""
    measured = results.measured
    players = ", ".join(dict.fromkeys(measured.config.players))
    sections = [
        Section("Who survived", (run.figures.to_table(),)),
        _comparisons(measured),
        *(_setting_section(one) for one in measured.settings if one.repeats),
        _baselines(measured),
        answers_section(measured.answers, "How the bids were read"),
        costs_section(run.costs),
        _rules_section(measured.config),
        method_section(run.manifest, without=("rules", "persona_texts")),
    ]
    return Document(
        title="Who survives the drought?",
        subtitle=f"{players}: {measured.games} games of {measured.config.games}, seed {measured.config.seed}",
        opening=tuple(_opening(measured)),
        sections=tuple(section for section in sections if section is not None),
        footer=run.manifest.footer,
    )


def _opening(measured: Measured) -> Iterable[Block]:
    void = sum(one.void for one in measured.settings)
    missing = measured.config.games - measured.games - void
    if missing:
        yield Note(f"{missing} planned games are not finished; run the same command to play them.", "warning")
    if void:
        yield Note(f"{void} games are void: a seat gave no answer that could be used. They enter no figure.", "warning")
    abstained = sum(answers.abstained for answers in measured.answers.values())
    if abstained:
        yield Note(f"{abstained} times a seat without a usable answer abstained, as the settings say.", "warning")


def _comparisons(measured: Measured) -> Section | None:
    """Settings that differ in one thing, paired by repeat."""
    rng = np.random.default_rng(split(measured.config.seed, "water comparison"))
    rows = []
    for first, second in combinations(measured.settings, 2):
        a, b = first.setting, second.setting
        common = sorted(set(first.repeats) & set(second.repeats))
        idle = a.persona != b.persona and not measured.config.models
        if (a.persona == b.persona) == (a.abundance == b.abundance) or idle or len(common) < 2:
            continue
        pair = [one.survivors[[one.repeats.index(repeat) for repeat in common]] for one in (second, first)]
        rows.append((f"{b.name} - {a.name}", paired_difference(*pair, rng=rng)))
    if not rows:
        return None
    adjusted = holm([comparison.p_value for _, comparison in rows])
    columns = (
        Column("comparison"),
        Column("games", "right"),
        Column("difference in survivors", "right", "paired by repeat: the same seed draws the supplies", ".2f"),
        Column("effect", "right", "Cohen's d for paired data", ".2f"),
        Column("p", "right", "sign flips", ".3f"),
        Column("p, adjusted", "right", "Holm's correction for all comparisons of this table", ".3f"),
    )
    cells = tuple(
        (name, c.n, c.difference, c.effect, c.p_value, float(p)) for (name, c), p in zip(rows, adjusted, strict=True)
    )
    return Section("What made the difference", (Table(columns, cells),))


def _setting_section(one: MeasuredSetting) -> Section:
    trace = one.trace
    figures = (
        (price_boxes(trace), "The smallest bid served, day by day: quartiles, extremes, medians (line), their mean."),
        (by_day(trace, trace.bids, "bid, $"), "Mean bids of the living, with two standard errors."),
        (
            satisfaction(trace),
            "Resource satisfaction rate: expected supply / needs of the living, mean with two standard errors; "
            "the last point is after the last day. Games in which nobody lives any more are left out.",
        ),
        (by_day(trace, trace.health, "health, points"), "Mean health in the evening, with two standard errors."),
        (by_day(trace, trace.balance, "balance, $"), "Mean balance in the evening, with two standard errors."),
    )
    blocks = tuple(Figure(image, text, f"{text} {one.setting.name}") for image, text in figures if image)
    return Section(one.setting.name, (*blocks, *_example_round(one)))


def _example_round(one: MeasuredSetting) -> Iterable[Block]:
    """Show one day of one game with what every resident said about its bid."""
    shown, trace = one.example, one.trace
    if shown is None:
        return
    place = shown.row, shown.day
    yield Paragraph(
        f"An example: day {shown.day + 1} of {trace.rules.days} in game {one.repeats[shown.row] + 1}, "
        f"with {trace.supply[place]:.0f} units of water."
    )
    columns = (
        Column("resident"),
        Column("need, units", "right"),
        Column("bid, $", "right", format=".2f"),
        Column("got water"),
        Column("health, points", "right", "in the evening", ".0f"),
        Column("balance, $", "right", "in the evening", ".2f"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            resident.name,
            resident.need,
            None if np.isnan(bid := float(trace.bids[*place, seat])) else bid,
            "yes" if trace.served[*place, seat] else "no",
            float(trace.health[*place, seat]),
            float(trace.balance[*place, seat]),
        )
        for seat, resident in enumerate(trace.rules.residents)
        if trace.present[*place, seat]
    ]
    yield Table(columns, tuple(rows))
    for name, said in shown.reasons.items():
        yield Quote(said, name)


def _rules_section(config: WaterConfig) -> Section:
    """Show the rules that the games were really played by, setting by setting."""
    rules = config.rules
    residents = (
        Column("resident"),
        Column("need, units a day", "right"),
        Column("salary, $ a day", "right", format="g"),
    )
    supplies = (Column("setting"), Column("supply, units a day"), Column("expected supply / needs of all", "right"))
    about = (
        ("length", f"{rules.days} days"),
        ("health at the start", f"{rules.health:g} points, at most {rules.most_health:g}"),
        ("a day with water", f"+{rules.gain:g} points"),
        ("the n-th dry day in a row", f"-{rules.thirst:g} x n points"),
    )
    return Section(
        "The rules of these games",
        (
            KeyValues(about),
            Table(residents, tuple((who.name, who.need, who.salary) for who in rules.residents)),
            Table(
                supplies,
                tuple((s.name, f"{s.rules.low} to {s.rules.high}", rsr(s.rules)) for s in config.settings),
            ),
        ),
    )


def _baselines(measured: Measured) -> Section | None:
    """The same supplies with one bidder in all seats."""
    games = min(measured.config.repeats, _MOST_BASELINE_GAMES)
    seeds = [game_seed(measured.config, repeat) for repeat in range(games)]
    columns = (Column("bidder in all seats"), *(Column(s.name, "right", format=".2f") for s in _supplies(measured)))
    rows: list[tuple[Cell, ...]] = []
    for name in _at_hand(measured):
        means = [
            float(play_many(s.rules, [name] * len(s.rules.residents), seeds).survived.sum(axis=1).mean())
            for s in _supplies(measured)
        ]
        rows.append((name, *means))
    text = (
        f"Mean survivors when every seat is played by a bidder without a model, on the supplies of the first {games} "
        "repeats. A town that does not waste its money on outbidding itself keeps more of its residents."
    )
    return Section("Beside bidders without a model", (Paragraph(text), Table(columns, tuple(rows))))


def _at_hand(measured: Measured) -> list[str]:
    """The bidders that cost nothing to add: the solver only where it is solved already, or plays itself."""
    solved = "solver" in measured.config.players or all(kept_for(s.rules) for s in measured.config.settings)
    return [name for name in BIDDERS if name != "solver" or solved]


def _supplies(measured: Measured) -> list[Setting]:
    """One setting for each abundance."""
    return list({one.setting.abundance: one.setting for one in reversed(measured.settings)}.values())[::-1]
