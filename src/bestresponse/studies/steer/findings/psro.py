"""The report of a search in prompt space: solution, manners over iterations, payoff table, candidates."""

from __future__ import annotations

import numpy as np

from bestresponse.report.document import Block, Column, Figure, KeyValues, Note, Section, Table
from bestresponse.report.figures import charts as figures
from bestresponse.studies.steer.psro.search import PsroResult
from bestresponse.studies.steer.session import SteerResults
from bestresponse.studies.steer.summary import new_prompt_mass

__all__ = ["psro_sections"]


def psro_sections(steered: SteerResults, found: PsroResult) -> list[Section]:
    """Everything after the headline."""
    rows = [
        (f"player {seat + 1}", prompt, mass)
        for seat, (own, masses) in enumerate(zip(found.prompts, found.masses, strict=True))
        for prompt, mass in zip(own, masses, strict=True)
    ]
    why = "no response was new" if found.closed else "the iterations were used up"
    solution = Section(
        "Solution",
        (
            KeyValues((("ended because", why), ("plays", steered.psro_played), ("void plays", steered.psro_voids))),
            Table((Column("speaker"), Column("manner"), Column("probability", "right", format=".3f")), tuple(rows)),
            Note("Intervals hold together with 95 % confidence over the plays that were drawn."),
        ),
    )
    return [
        solution,
        _growth_section(found, steered.domain.manners(steered.config.actions).neutral),
        _table_section(found),
        _tried_section(found),
    ]


def _growth_section(found: PsroResult, neutral: str) -> Section:
    """Probability of the manners that were found, together and one by one, at the solution of each iteration."""
    blocks: list[Block] = [_gain_by_iteration(found, neutral), _mass_of_new(found)]
    for seat, own in enumerate(found.prompts):
        series = {
            prompt: (
                [t for t, step in enumerate(found.history) if prompt in step.prompts[seat]],
                [
                    float(step.solution.marginals[seat][step.prompts[seat].index(prompt)])
                    for step in found.history
                    if prompt in step.prompts[seat]
                ],
            )
            for prompt in own
        }
        picture = figures.lines(series, x_label="iteration", y_label="probability at the solution")
        told = f"How often player {seat + 1} uses each manner at the solution, by iteration"
        blocks.append(Figure(picture, told, told))
    return Section("Manners over iterations", tuple(blocks))


def _gain_by_iteration(found: PsroResult, neutral: str) -> Figure:
    """Draw what each speaker gains by the solution of each iteration while the others stay neutral."""
    alone = [own.index(neutral) for own in found.prompts]
    series = {}
    for seat, own in enumerate(found.prompts):
        place = tuple(slice(None) if s == seat else a for s, a in enumerate(alone))
        payoffs = found.game.means[seat][place]
        gains = [
            float(
                sum(
                    mass * payoffs[own.index(prompt)]
                    for prompt, mass in zip(step.prompts[seat], step.solution.marginals[seat], strict=True)
                )
                - payoffs[alone[seat]]
            )
            for step in found.history
        ]
        series[f"player {seat + 1}"] = (range(len(gains)), gains)
    picture = figures.lines(series, x_label="iteration", y_label="gain over the neutral manner")
    told = "What each speaker gains by the solution of each iteration while the others stay neutral, in the final table"
    return Figure(picture, told, told)


def _mass_of_new(found: PsroResult) -> Block:
    """The equilibrium mass of new prompts, or the remark that there are none."""
    masses = new_prompt_mass(found)
    if found.prompts == found.history[0].prompts:
        return Note("No manner was found that beats those of the domain, so the mass of new ones is 0 throughout.")
    series = {f"player {seat + 1}": (range(len(mass)), mass) for seat, mass in enumerate(masses)}
    picture = figures.lines(series, x_label="iteration", y_label="equilibrium mass of new prompts")
    told = "Probability of all manners together that were not there at the start, at the solution of each iteration"
    values = "; ".join(f"{name} {', '.join(f'{p:.2f}' for p in mass)}" for name, (_, mass) in series.items())
    return Figure(picture, told, f"{told}: {values}")


def _table_section(found: PsroResult) -> Section:
    if len(found.prompts) != 2:
        return Section("Payoffs", (Note("The table of more than two speakers is in the summary file."),))
    blocks: list[Block] = []
    for seat in range(2):
        means, errors = found.game.means[seat], found.game.errors[seat]
        rows = tuple(
            (prompt, *(f"{m:.2f} ± {e:.2f}" if np.isfinite(e) else f"{m:.2f}" for m, e in zip(ms, es, strict=True)))
            for prompt, ms, es in zip(found.prompts[0], means, errors, strict=True)
        )
        columns = (Column("player 1 \\ player 2"), *(Column(prompt, "right") for prompt in found.prompts[1]))
        blocks.append(Table(columns, rows, f"Mean payoff of player {seat + 1} and its standard error"))
    return Section("Payoffs", tuple(blocks))


def _tried_section(found: PsroResult) -> Section:
    rows = [
        (t, f"player {r.seat + 1}", c.manner, c.score, c.plays, r.best is not None and r.best.manner == c.manner)
        for t, step in enumerate(found.history)
        for r in step.responses
        for c in r.tried
    ]
    columns = (
        Column("iteration", "right"),
        Column("speaker"),
        Column("manner"),
        Column("score", "right", format=".3f"),
        Column("plays", "right"),
        Column("added"),
    )
    return Section("Manners that were tried", (Table(columns, tuple(rows)),))
