"""Read an experiment from the text of its TOML file; every message names the line and the cause.

`parse_experiment` reads the file alone; `check_experiment` looks up its games and strategies as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from string import Template
from typing import NoReturn

from pydantic import TypeAdapter, ValidationError

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.files import parse_toml
from bestresponse.core.registry import did_you_mean
from bestresponse.web.experiments.model import TABLES, Experiment, GameTable, Part
from bestresponse.web.sessions.games import check_setup, list_places
from bestresponse.web.sessions.setup import GameChoice, Setup, explain_mistake

__all__ = ["check_experiment", "find_line", "parse_experiment"]

Path = tuple[str | int, ...]
"""Keys and, for tables that stand several times, numbers from 0."""
_SETTINGS = tuple(field.name for table in TABLES for field in fields(table))


def parse_experiment(text: str) -> tuple[Experiment, dict[str, tuple[Part, ...]]]:
    """Return what the file says, and the games of each treatment; UsageError with line and cause."""
    try:
        # A file that was saved by Notepad begins with a mark that is no TOML.
        values = parse_toml(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise UsageError(f"this is not TOML: {error}") from None
    try:
        experiment = TypeAdapter(Experiment).validate_python(values)
    except ValidationError as error:
        _refuse(text, *explain_mistake(error, _SETTINGS))
    if not experiment.games:
        _refuse(text, (), "there is no game; expected at least one table [[games]]")
    names = [str(game.get("name", f"game {number}")) for number, game in enumerate(experiment.games, 1)]
    _refuse_repeated(text, "games", names)
    _refuse_repeated(text, "treatments", [treatment.name for treatment in experiment.treatments])
    _refuse_repeated(text, "questionnaire", [item.name for item in experiment.questionnaire])
    plain = {"": tuple(_read_part(text, experiment, number, name) for number, name in enumerate(names))}
    changed: dict[str, tuple[Part, ...]] = {}
    for index, treatment in enumerate(experiment.treatments):
        for name in treatment.games:
            if name not in names:
                path = ("treatments", index, "games", name)
                _refuse(text, path, f"there is no game named {name!r} here.{did_you_mean(name, names)}")
        changed[treatment.name] = tuple(
            _read_part(text, experiment, number, name, index) for number, name in enumerate(names)
        )
    for parts in (changed or plain).values():
        _check_people(text, parts)
    return experiment, changed or plain


def check_experiment(text: str) -> Experiment:
    """Read the file and look up its games, seats and strategies; UsageError with line and cause."""
    experiment, treatments = parse_experiment(text)
    for treatment, parts in treatments.items():
        for number, part in enumerate(parts):
            where = f"the game {part.name}{f' (treatment {treatment})' if treatment else ''}"
            try:
                check_setup(part.setup)
            except BestResponseError as error:
                _refuse(text, ("games", number), f"{where}: {error}")
            known = ("role", *list_places(part.setup.game))
            for name in Template(part.instructions).get_identifiers():
                if name not in known:
                    why = f"${name} in the instructions stands for nothing; expected one of {', '.join(known)}"
                    _refuse(text, ("games", number, "instructions"), f"{where}: {why}")
    return experiment


def _refuse(text: str, path: Path, why: str) -> NoReturn:
    raise UsageError(f"line {find_line(text, path)}: {why}")


def _refuse_repeated(text: str, table: str, names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            _refuse(
                text, (table, number, "name"), f"{name!r} stands twice among the {table}; give each a name of its own"
            )


def _read_part(text: str, experiment: Experiment, number: int, name: str, treatment: int | None = None) -> Part:
    """Read a game of the file, with what a treatment changes in it; parameters are merged name by name."""
    values = experiment.games[number]
    changes = {} if treatment is None else experiment.treatments[treatment].games.get(name, {})
    merged = {**values, **changes}
    if isinstance(values.get("parameters"), dict) and isinstance(changes.get("parameters"), dict):
        merged["parameters"] = {**values["parameters"], **changes["parameters"]}
    try:
        game = TypeAdapter(GameTable).validate_python(merged)
    except ValidationError as error:
        path, why = explain_mistake(error, _SETTINGS)
        changed = treatment is not None and path[0] in changes
        table: Path = ("treatments", treatment or 0, "games", name) if changed else ("games", number)
        _refuse(text, (*table, *path), why)
    limits = experiment.limits
    setup = Setup(
        GameChoice(game.game, rounds=game.rounds, mixed=game.mixed, parameters=game.parameters),
        game.seats,
        limits.answer,
        limits.waiting,
        limits.hold,
        limits.stand_in,
        experiment.consent,
        not game.questions if game.quiz is None else game.quiz,
        game.referee,
        experiment.language,
        experiment.seed,
    )
    return Part(name, game.title, setup, game.instructions, game.questions)


def _check_people(text: str, parts: Sequence[Part]) -> None:
    """Refuse games for different numbers of people: a group stays together over all of them."""
    people = [len(part.setup.persons) for part in parts]
    for number, count in enumerate(people):
        if count != people[0]:
            counts = ", ".join(f"{part.name} {seated}" for part, seated in zip(parts, people, strict=True))
            why = f"the games seat different numbers of people ({counts}); a group stays together"
            _refuse(text, ("games", number, "seats"), why)
    if not people[0]:
        _refuse(text, ("games", 0, "seats"), "no seat is for a person; put 'person' into seats")


_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""\s*([A-Za-z0-9_."' -]+?)\s*=""")


def find_line(text: str, path: Path) -> int:
    """Return the number of the line where `path` stands, or of the nearest table around it.

    >>> find_line("title = 'x'\\n[[games]]\\n[[games]]\\nrounds = 0\\n", ("games", 1, "rounds"))
    4
    """
    line_found, depth = 1, 0
    counts: dict[tuple[str, ...], int] = {}
    here: Path = ()
    for number, line in _list_outside_strings(text):
        if header := _HEADER.match(line):
            here = _follow_header(_split_key(header[2]), header[1] == "[[", counts)
            reached = here
        elif key := _KEY.match(line):
            reached = (*here, *_split_key(key[1]))
        else:
            continue
        shorter = min(len(reached), len(path))
        if shorter > depth and reached[:shorter] == path[:shorter]:
            line_found, depth = number, shorter
    return line_found


def _follow_header(keys: tuple[str, ...], repeated: bool, counts: dict[tuple[str, ...], int]) -> Path:
    if repeated:
        counts[keys] = counts.get(keys, -1) + 1
        for longer in [other for other in counts if other[: len(keys)] == keys and other != keys]:
            del counts[longer]
    path: list[str | int] = []
    for length in range(1, len(keys) + 1):
        path.append(keys[length - 1])
        if keys[:length] in counts:
            path.append(counts[keys[:length]])
    return tuple(path)


def _split_key(key: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in key.split("."))


def _list_outside_strings(text: str) -> list[tuple[int, str]]:
    """List the lines that do not begin inside a text of several lines."""
    found, open_by = [], ""
    for number, line in enumerate(text.split("\n"), 1):
        if not open_by:
            found.append((number, line))
        for mark in re.findall(r'"""|\'\'\'', line):
            if not open_by:
                open_by = mark
            elif mark == open_by:
                open_by = ""
    return found
