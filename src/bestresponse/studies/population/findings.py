"""What a population did, as a document."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bestresponse.analysis.theory import describe_theory
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.report.document import Block, Column, Document, Figure, Note, Paragraph, Section, Table
from bestresponse.report.figures import charts
from bestresponse.runs.reporting.answers import answers_section
from bestresponse.runs.reporting.costs import costs_section
from bestresponse.runs.reporting.method import method_section
from bestresponse.runs.run import Run
from bestresponse.studies.population.measure import PopulationResults

__all__ = ["findings"]

_MOST_LINES = 10
_MOST_EQUILIBRIA = 6
_EXPECTED = {
    "imitation": "replicator dynamics (payoffs divided by their range)",
    "best-reply": "best-reply dynamics",
    "logit": "logit dynamics",
}


def findings(results: PopulationResults, run: Run) -> Document:
    """Build the report of a run."""
    config = results.config
    sections: list[Section | None] = []
    if not results.missing:
        sections += [_shares(results, run), _matches(results), _equilibria(results)]
    sections += [_voids(results), answers_section(results.answers, "How the answers were read")]
    sections += [costs_section(run.costs), method_section(run.manifest)]
    return Document(
        title=f"A population in {config.game.name}",
        subtitle=f"{config.agents} agents, {config.generations} generations, {config.rule}, "
        f"{config.repetitions} repetitions, seed {config.seed}",
        opening=tuple(_opening(results)),
        sections=tuple(section for section in sections if section is not None),
        footer=run.manifest.footer,
    )


def _opening(results: PopulationResults) -> Iterator[Block]:
    if results.missing:
        a, b = results.missing[0]
        yield Note(
            f"{len(results.missing)} pairs of strategies have no match that counts ({a} against {b}), so agents cannot "
            "be matched; the same command plays what is missing.",
            "warning",
        )
        return
    theory = _EXPECTED[results.config.rule]
    for label, far in zip(results.labels, results.distances, strict=True):
        where = "" if label == "all" else f"In the population of {label}: "
        yield Paragraph(f"{where}The mean share of every strategy stayed within {far:.3f} of the {theory}.")


def _shares(results: PopulationResults, run: Run) -> Section:
    pictures = tuple(_draw(results, number) for number in range(len(results.names)))
    return Section("How the shares changed", (run.figures.to_table(), *pictures))


def _draw(results: PopulationResults, number: int) -> Figure:
    mean, low, high = results.bands(number)
    names = results.names[number]
    shown = np.argsort(-mean.max(axis=0), kind="stable")[:_MOST_LINES]
    when, label = np.arange(len(mean)), results.labels[number]
    where = "" if label == "all" else f"{label}: "
    return Figure(
        charts.lines(
            {names[k]: (when, mean[:, k]) for k in shown},
            {names[k]: (low[:, k], high[:, k]) for k in shown},
            expected={names[k]: results.predicted[number][:, k] for k in shown},
            x_label="generation",
            y_label="share of agents",
        ),
        f"{where}mean over {results.config.repetitions} repetitions with its 95 % interval; dotted: what the "
        f"{_EXPECTED[results.config.rule]} expects from the same start.",
        "shares of strategies by generation, observed and expected",
    )


def _matches(results: PopulationResults) -> Section:
    blocks: list[Block] = []
    for number, own in enumerate(results.matches.means):
        others = results.names[-1 - number]
        columns = (Column("own strategy"), *(Column(f"against {name}", "right", "", ".3f") for name in others))
        rows = tuple((name, *own[k]) for k, name in enumerate(results.names[number]))
        who = "" if results.labels[number] == "all" else f"{results.labels[number]}: "
        blocks.append(Table(columns, rows, f"{who}mean payoff of a match, {results.config.repeats} matches a pair"))
    return Section("What strategies earn against each other", tuple(blocks))


def _equilibria(results: PopulationResults) -> Section | None:
    theory = describe_theory(MatrixGame(results.matches.form))
    if not theory.predicted:
        return None
    columns = (Column("role"), Column("strategy"), Column("probability", "right", "", ".3f"))
    both = (results.names * 2)[:2]
    tables = tuple(
        Table(
            columns,
            tuple(
                (role, names[int(move)], chance)
                for role, names in zip(found.shares, both, strict=True)
                for move, chance in _numbered(found.shares[role][""])
                if chance > 1e-9
            ),
            f"equilibrium {number}",
        )
        for number, found in enumerate(theory.predicted[:_MOST_EQUILIBRIA], 1)
    )
    text = Paragraph("The game in which the strategies above are the moves and mean payoffs the payoffs.")
    return Section("Equilibria between the strategies", (text, *tables))


def _numbered(chances: object) -> Iterator[tuple[int, float]]:
    return enumerate(chances.values())  # type: ignore[attr-defined]


def _voids(results: PopulationResults) -> Section | None:
    if not results.voids:
        return None
    text = f"{len(results.voids)} matches are void and enter no figure, for instance {results.voids[0]}."
    return Section("Void matches", (Note(text, "warning"),))
