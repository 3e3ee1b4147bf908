"""Tables that were created together: who meets whom in which part, which treatment they have, and
the rooms that lead to them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping
from bestresponse.core.seeds import generator
from bestresponse.web.experiments.items import ItemAnswer
from bestresponse.web.experiments.model import Experiment, wrap_setup
from bestresponse.web.experiments.payment import Outcome
from bestresponse.web.experiments.reading import parse_experiment
from bestresponse.web.sessions.session import SessionTable
from bestresponse.web.sessions.setup import Setup
from bestresponse.web.texts import PageTexts

Place = tuple[str, int]
"""A session and a seat."""
_ROOM = re.compile("[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True)
class Lobby:
    """Tables that were created together.

    They come from the text `source` of an experiment file if there is one.

    `chains` are for every seat the seats of its person, part by part.
    """

    id: str
    setup: Setup
    tables: tuple[SessionTable, ...]
    created: str
    experiment: Experiment
    source: str = ""
    chains: Mapping[Place, list[Place]] = field(default_factory=dict)

    @property
    def texts(self) -> PageTexts:
        """The texts around the games."""
        return self.tables[0].texts

    @cached_property
    def first_tables(self) -> tuple[SessionTable, ...]:
        """The table at which each group begins."""
        return tuple(table for table in self.tables if table.number == 1)


@dataclass(frozen=True)
class Departed:
    """A person who takes no part any more, and why.

    `place` is the session, the seat and the number of its holder, None where they never had one.

    `answers` are those on pages before the game, `origin` is the place that the person had first.
    """

    why: Outcome
    at: str
    labels: Mapping[str, str]
    agreed: bool = False
    seated: str | None = None
    quiz_tries: int = 0
    place: tuple[str, int, int] | None = None
    answers: Mapping[str, ItemAnswer] = field(default_factory=dict)
    origin: tuple[str, int, int] | None = None


def _lay_alike(lobby: str, created: str, setup: Setup, sessions: Iterable[str]) -> Lobby:
    """Lay a table with the same setup for each session."""
    experiment, part = wrap_setup(setup)
    tables = []
    for group, session in enumerate(sessions, 1):
        tables.append(SessionTable(session, lobby, group, part, created))
    return Lobby(lobby, part.setup, tuple(tables), created, experiment)


def read_lobby(event: JsonMapping) -> Lobby:
    """Read a lobby from the event that created it.

    The people of a matching group of an experiment are numbered, and meet at its tables of every
    part.
    """
    lobby = event["lobby"]
    created = event["at"]
    if "experiment" not in event:
        return _lay_alike(lobby, created, Setup(**event["setup"]), event["sessions"])
    experiment, treatments = parse_experiment(event["experiment"], event.get("speed", 1))
    size = experiment.assignment.matching_groups
    by_quiz = experiment.assignment.groups == "quiz"
    tables: list[SessionTable] = []
    chains: dict[Place, list[Place]] = {}
    # Treatments can divide their people into different numbers of tables, so the tables of each
    # part are counted.
    counts: Counter[int] = Counter()
    for treatment in event["treatments"][::size]:
        parts = treatments[treatment]
        everybody = size * len(parts[0].setup.persons)
        people: defaultdict[int, list[Place]] = defaultdict(list)
        for number, part in enumerate(parts, 1):
            count = everybody // len(part.setup.persons)
            for index in range(count):
                counts[number] += 1
                group = counts[number]
                name = f"{lobby}-{group}"
                table = SessionTable(
                    id=name if number == 1 else f"{name}p{number}",
                    lobby=lobby,
                    group=group,
                    part=part,
                    created=created,
                    number=number,
                    treatment=treatment,
                    grouped_by_quiz=by_quiz and number == 1,
                )
                tables.append(table)
                for person, seat in _seat_people(experiment, table, index, count):
                    people[person].append((table.id, seat))
                    chains[table.id, seat] = people[person]
    return Lobby(
        lobby,
        tables[0].setup,
        tables=tuple(tables),
        created=created,
        experiment=experiment,
        source=event["experiment"],
        chains=chains,
    )


def _seat_people(
    experiment: Experiment, table: SessionTable, index: int, count: int
) -> list[tuple[int, int]]:
    """Return the person in each seat at the table of that index, of `count` tables of its part.

    Partners are always the same; among strangers, whoever is at position p moves on by p tables
    with every part.
    """
    seats = list(table.setup.persons)
    if table.number > 1 and experiment.assignment.roles == "random":
        generator(experiment.seed, "roles", table.group, table.number).shuffle(seats)
    seated = []
    for position, seat in enumerate(seats):
        if experiment.assignment.matching == "partners":
            person = index * len(seats) + position
        else:
            moved = position * (table.number - 1)
            person = position * count + (index - moved) % count
        seated.append((person, seat))
    return seated


def draw_treatments(experiment: Experiment) -> list[str]:
    """Draw the treatment of every matching group.

    They are drawn in blocks that hold each treatment once, in random order.
    """
    names = [treatment.name for treatment in experiment.treatments] or [""]
    size = experiment.assignment.matching_groups
    drawn = list[str]()
    while len(drawn) < experiment.groups // size:
        block = list(names)
        generator(experiment.seed, "treatments", len(drawn)).shuffle(block)
        drawn += block
    return [treatment for treatment in drawn[: experiment.groups // size] for _ in range(size)]


@dataclass(frozen=True, slots=True)
class Room:
    """The lobby to which a room leads; where the room is closed, the last one that was open."""

    lobby: str
    is_open: bool = True


def check_room(room: str) -> None:
    """Raise a UsageError where a room has a name that cannot be part of a link."""
    if not _ROOM.fullmatch(room):
        raise UsageError(
            f"a room cannot be named {room[:60]!r}; expected at most 40 letters without accents,"
            " digits, - and _"
        )
