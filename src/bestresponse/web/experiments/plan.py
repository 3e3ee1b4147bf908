"""Which group plays which treatment, and the tables that follow from it."""

from __future__ import annotations

from collections.abc import Sequence

from bestresponse.core.seeds import generator
from bestresponse.web.experiments.model import Experiment
from bestresponse.web.sessions.session import Table

__all__ = ["build_tables", "draw_treatments"]


def draw_treatments(experiment: Experiment) -> list[str]:
    """Draw the treatment of every group: in blocks that hold each treatment once, in random order."""
    names = [treatment.name for treatment in experiment.treatments]
    drawn: list[str] = []
    while len(drawn) < experiment.groups:
        block = list(names)
        generator(experiment.seed, "treatments", len(drawn)).shuffle(block)
        drawn += block
    return drawn[: experiment.groups]


def build_tables(lobby: str, created: str, experiment: Experiment, treatments: Sequence[str]) -> list[Table]:
    """Build the tables of every group, one for each part; the group's first table has the number of the group."""
    return [
        table
        for group, treatment in enumerate(treatments, 1)
        for table in _build_group(lobby, created, experiment, group, treatment)
    ]


def _build_group(lobby: str, created: str, experiment: Experiment, group: int, treatment: str) -> list[Table]:
    tables: list[Table] = []
    for number, part in enumerate(experiment.get_treatment(treatment).parts, 1):
        people = list(part.setup.persons)
        if number > 1 and experiment.assignment.roles == "random":
            generator(experiment.seed, "roles", group, number).shuffle(people)
        name = f"{lobby}-{group}" if number == 1 else f"{lobby}-{group}p{number}"
        tables.append(Table(name, lobby, group, part.setup, created, number, treatment, tuple(people), part))
    return tables
