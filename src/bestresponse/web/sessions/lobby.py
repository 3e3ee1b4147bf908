"""Tables that were created together: groups with the same setup, or the groups of an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bestresponse.core.json import JsonMapping
from bestresponse.web.experiments.model import Experiment
from bestresponse.web.experiments.plan import build_tables
from bestresponse.web.experiments.reading import parse_experiment
from bestresponse.web.sessions.session import Table
from bestresponse.web.sessions.setup import Setup

__all__ = ["Lobby", "read_lobby"]


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
    """Read a lobby from the event that created it."""
    name, created = event["lobby"], event["at"]
    if "experiment" in event:
        experiment = parse_experiment(event["experiment"])
        tables = tuple(build_tables(name, created, experiment, event["treatments"]))
        return Lobby(name, tables[0].setup, tables, created, experiment, event["experiment"])
    setup = Setup.from_json(event["setup"])
    sessions = enumerate(event["sessions"], 1)
    return Lobby(name, setup, tuple(Table(one, name, group, setup, created) for group, one in sessions), created)
