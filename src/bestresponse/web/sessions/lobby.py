"""Tables that were created together: groups with the same setup, or the groups of an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bestresponse.core.json import JsonMapping
from bestresponse.core.seeds import generator
from bestresponse.web.experiments.model import Experiment
from bestresponse.web.experiments.reading import parse_experiment
from bestresponse.web.sessions.session import Table
from bestresponse.web.sessions.setup import Setup

__all__ = ["Lobby", "draw_treatments", "read_lobby"]


@dataclass(frozen=True)
class Lobby:
    """Tables that were created together. In an experiment each group has one for each part."""

    id: str
    setup: Setup
    tables: tuple[Table, ...]
    created: str
    experiment: Experiment | None = None
    source: str = ""

    @property
    def title(self) -> str:
        """What the lobby is called."""
        return self.experiment.title if self.experiment else self.setup.game.name

    @cached_property
    def first_tables(self) -> tuple[Table, ...]:
        """The table at which each group begins."""
        return tuple(table for table in self.tables if table.number == 1)

    @cached_property
    def last_tables(self) -> tuple[Table, ...]:
        """The table at which each group ends."""
        return tuple({table.group: table for table in self.tables}.values())

    def list_chain(self, group: int) -> list[Table]:
        """List the tables of a group in the order of the parts."""
        return [table for table in self.tables if table.group == group]


def read_lobby(event: JsonMapping) -> Lobby:
    """Read a lobby from the event that created it; a group has a table for each part, the first named by its number."""
    name, created, tables = event["lobby"], event["at"], []
    if "experiment" not in event:
        setup = Setup(**event["setup"])
        tables = [Table(session, name, group, setup, created) for group, session in enumerate(event["sessions"], 1)]
        return Lobby(name, setup, tuple(tables), created)
    experiment, treatments = parse_experiment(event["experiment"])
    for group, treatment in enumerate(event["treatments"], 1):
        for number, part in enumerate(treatments[treatment], 1):
            people = list(part.setup.persons)
            if number > 1 and experiment.assignment.roles == "random":
                generator(experiment.seed, "roles", group, number).shuffle(people)
            session = f"{name}-{group}" if number == 1 else f"{name}-{group}p{number}"
            tables.append(Table(session, name, group, part.setup, created, number, treatment, tuple(people), part))
    return Lobby(name, tables[0].setup, tuple(tables), created, experiment, event["experiment"])


def draw_treatments(experiment: Experiment) -> list[str]:
    """Draw the treatment of every group: in blocks that hold each treatment once, in random order."""
    names = [treatment.name for treatment in experiment.treatments] or [""]
    drawn: list[str] = []
    while len(drawn) < experiment.groups:
        block = list(names)
        generator(experiment.seed, "treatments", len(drawn)).shuffle(block)
        drawn += block
    return drawn[: experiment.groups]
