"""Read an experiment file: every message names the line and the cause.

`parse_experiment` reads the file alone; `check_experiment` looks up its games and strategies as
well.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from string import Template
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.files import parse_toml
from bestresponse.core.json import JsonObject
from bestresponse.core.registry import did_you_mean
from bestresponse.games.capabilities import find_stage_form
from bestresponse.telling.language import load_language
from bestresponse.web.experiments.contradictions import (
    KeyPath,
    Mistake,
    refuse_contradictions,
)
from bestresponse.web.experiments.items import Item
from bestresponse.web.experiments.model import Experiment, GameSettings, Part
from bestresponse.web.experiments.phrases import list_foreign, list_phrases
from bestresponse.web.sessions.setup import (
    GameChoice,
    Setup,
    check_setup,
    explain_mistake,
    list_homes,
    list_placeholders,
    make_game,
)
from bestresponse.web.texts import FieldMistake, load_texts, write_phrase

T = TypeVar("T")
_SHOWN = 60
"""So many characters of a text of a game are listed."""
_PICTURE = re.compile(r"!\[[^\]]*\]\(\s*(?!pictures/[^/\s]+\))([^)]*)")
"""A picture in Markdown that is not in the folder of pictures, so that no browser would show it."""


_OWN_PICTURE = re.compile(r"!\[[^\]]*\]\(\s*pictures/([^/\s)]+)\)")


@contextmanager
def _name_lines(text: str) -> Iterator[None]:
    """Raise a UsageError with the line for a mistake in the file of that text."""
    try:
        yield
    except Mistake as mistake:
        why, *path = mistake.args
        raise UsageError(f"line {find_line(text, tuple(path))}: {why}") from None


def _validate(kind: type[T], values: Mapping[str, object]) -> T:
    """Read a table of the file; a mistake names where in the table it stands."""
    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        schemas = [TypeAdapter(table).json_schema() for table in (Experiment, GameSettings)]
        tables = [table for schema in schemas for table in (schema, *schema["$defs"].values())]
        path, why = explain_mistake(
            error, tuple(name for table in tables for name in table["properties"])
        )
        raise Mistake(why, *path) from None


def parse_experiment(text: str, speed: int = 1) -> tuple[Experiment, dict[str, tuple[Part, ...]]]:
    """Return what the file says, and the games of each treatment; UsageError with line and cause.

    Time limits are divided by `speed`, for a trial.
    """
    try:
        # A file that was saved by Notepad begins with a mark that is no TOML.
        values = parse_toml(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise UsageError(f"this is not TOML: {error}") from None
    if foreign := _PICTURE.search(text):
        why = (
            f"the picture {foreign[1][:60]!r} is not shown; put it into the folder `pictures` and"
            " write pictures/NAME"
        )
        raise UsageError(f"line {text.count(chr(10), 0, foreign.start()) + 1}: {why}")
    with _name_lines(text):
        experiment = _validate(Experiment, values)
        limits = {
            name: -(-getattr(experiment.limits, name) // speed)
            for name in ("answer", "waiting", "hold")
        }
        experiment = replace(experiment, limits=replace(experiment.limits, **limits))
        if not experiment.games:
            raise Mistake("there is no game; expected at least one table [[games]]")
        names = []
        for number, game in enumerate(experiment.games, 1):
            names.append(str(game.get("name") or f"game {number}"))
        _refuse_repeated("games", names)
        _refuse_repeated("treatments", [treatment.name for treatment in experiment.treatments])
        _refuse_repeated("questionnaire", [item.name for item in experiment.list_items()])
        _refuse_repeated("pages", [*(page.name for page in experiment.pages), "questionnaire"])
        _check_pages(experiment, names)
        _check_texts(experiment)
        parts: dict[str, tuple[Part, ...]] = {}
        treatments = {treatment.name: treatment.games for treatment in experiment.treatments} or {
            "": {}
        }
        for index, (treatment, changes) in enumerate(treatments.items()):
            for name in changes:
                if name not in names:
                    why = f"there is no game named {name!r} here.{did_you_mean(name, names)}"
                    raise Mistake(why, "treatments", index, "games", name)
            parts[treatment] = _read_parts(experiment, names, index, changes)
            _check_people(experiment, parts[treatment])
        return experiment, parts


def check_experiment(text: str, pictures: Path | None = None) -> Experiment:
    """Read the file and look up its games, seats and strategies.

    Looks up its pictures too if their folder is known. Raises UsageError with line and cause.
    """
    experiment, treatments = parse_experiment(text)
    if pictures is not None:
        _check_pictures(text, experiment, pictures)
    with _name_lines(text):
        for treatment, part in (
            (treatment, part) for treatment, parts in treatments.items() for part in parts
        ):
            where = f"the game {part.name}{f' (treatment {treatment})' if treatment else ''}"
            try:
                check_setup(part.setup)
            except BestResponseError as error:
                raise Mistake(f"{where}: {error}", "games", part.number) from None
            _check_phrases(part, where)
            known = ("role", *list_placeholders(part.setup.game))
            for name in Template(part.game.instructions).get_identifiers():
                if name not in known:
                    why = (
                        f"${name} in the instructions stands for nothing; expected one of"
                        f" {', '.join(known)}"
                    )
                    raise Mistake(f"{where}: {why}", "games", part.number, "instructions")
        values = parse_toml(text.removeprefix("\ufeff"))
        refuse_contradictions(values, experiment, treatments)
    return experiment


def _check_phrases(part: Part, where: str) -> None:
    """Refuse words for what the game does not say, and one word for two roles or two moves."""
    game = make_game(part.setup.game)
    language = part.texts.language
    table = ("games", part.number, "text")
    form = find_stage_form(game)
    for what, names in (
        ("roles", game.roles),
        *(("moves", actions) for actions in (form.actions if form is not None else ())),
    ):
        repeated = language.find_repeated(names)
        if repeated is not None:
            first, second = repeated
            why = (
                f"two {what}, {first!r} and {second!r}, are both called"
                f" {language.translate(second)!r}; give each a name of its own"
            )
            named = [name for name in (second, first) if name in part.game.text]
            raise Mistake(f"{where}: {why}", *table, *named[:1])
    phrases = list_phrases(game, language) if part.game.text else None
    for phrase in part.game.text:
        if phrases is not None and not phrases.has(phrase):
            known = [write_phrase(word) for word in phrases.words]
            why = f"it says nothing like {phrase!r}.{did_you_mean(phrase, known)}"
            listed = f"`bestresponse experiment game {part.setup.game.name} --text {language.name}`"
            raise Mistake(f"{where}: {why} {listed} lists what it says", *table, phrase)


def list_remarks(text: str) -> list[str]:
    """Say which words people would read in another language than that of the experiment."""
    _, treatments = parse_experiment(text)
    remarks: list[str] = []
    for parts in treatments.values():
        for part in parts:
            game = make_game(part.setup.game)
            told = not part.game.instructions
            phrases = list_phrases(game, part.texts.language, with_rules=told)
            foreign = list_foreign(phrases, part.texts.language)
            if foreign:
                shown = ", ".join(
                    repr(word if len(word) <= _SHOWN else f"{word[:_SHOWN]}...") for word in foreign
                )
                remarks.append(
                    f"In the game {part.name} people read these as the game has them: {shown}."
                    " Give your own words in [games.text], or the rules as instructions."
                )
    return list(dict.fromkeys(remarks))


def _check_pictures(text: str, experiment: Experiment, folder: Path) -> None:
    """Refuse pictures that are not in their folder, and a logo that is no name of a file there."""
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    with _name_lines(text):
        if experiment.logo and experiment.logo not in there:
            raise Mistake(f"the logo {experiment.logo!r} is not in the folder {folder}", "logo")
    for shown in _OWN_PICTURE.finditer(text):
        if shown[1] not in there:
            line = text.count("\n", 0, shown.start()) + 1
            raise UsageError(f"line {line}: the picture {shown[1]!r} is not in the folder {folder}")


def _refuse_repeated(table: str, names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            why = f"{name!r} stands twice among the {table}; give each a name of its own"
            raise Mistake(why, table, number, "name")


def _check_pages(experiment: Experiment, names: list[str]) -> None:
    """Refuse a page before a game that there is not, or on a condition that can never be met."""
    for number, page in enumerate(experiment.pages):
        if page.before and page.before not in names:
            why = f"there is no game named {page.before!r} here.{did_you_mean(page.before, names)}"
            raise Mistake(why, "pages", number, "before")
    asked: dict[str, Item] = {}
    for page in sorted(experiment.pages, key=lambda page: [*names, ""].index(page.before)):
        for name, answer in page.only_if.items():
            if name not in asked or not _can_be_answered(asked[name], answer):
                why = (
                    f"only_if: no page before this one asks {name!r}, or it cannot be answered by"
                    f" {answer!r}"
                )
                raise Mistake(why, "pages", experiment.pages.index(page), "only_if")
        asked |= {item.name: item for item in page.items}


def _can_be_answered(item: Item, answer: str) -> bool:
    try:
        item.read(answer, load_texts("en"))
    except FieldMistake:
        return False
    return True


def _read_parts(
    experiment: Experiment, names: Sequence[str], treatment: int, changes: Mapping[str, JsonObject]
) -> tuple[Part, ...]:
    """Read all games of a treatment.

    One that is repeated is asked about, and brings its bonus, once.
    """
    parts: list[Part] = []
    for number, name in enumerate(names):
        part = _read_part(experiment, number, name, treatment, changes.get(name, {}))
        game = replace(part.game, questions=(), bonus=Decimal(0))
        setup = replace(part.setup, quiz=False)
        later = [f"{name} {again}" for again in range(2, part.game.repeat + 1)]
        if taken := set(later).intersection(names):
            why = (
                f"{min(taken)!r} is what a repetition of {name!r} is called; give the game another"
                " name"
            )
            raise Mistake(why, "games", names.index(min(taken)), "name")
        parts += [
            part,
            *(
                Part(again, setup, game=game, texts=part.texts, number=number, again=True)
                for again in later
            ),
        ]
    return tuple(parts)


def _read_part(
    experiment: Experiment, number: int, name: str, treatment: int, changes: JsonObject
) -> Part:
    """Read a game of the file, with what a treatment changes in it.

    Parameters are merged name by name.
    """
    values = experiment.games[number]
    merged = {**values, **changes}
    if isinstance(values.get("parameters"), dict) and isinstance(changes.get("parameters"), dict):
        merged["parameters"] = {**values["parameters"], **changes["parameters"]}
    try:
        game = _validate(GameSettings, merged)
    except Mistake as mistake:
        why, *path = mistake.args
        table = (
            ("treatments", treatment, "games", name) if path[0] in changes else ("games", number)
        )
        raise Mistake(why, *table, *path) from None
    for phrase, wording in game.text.items():
        if unknown := set(Template(wording).get_identifiers()) - set(
            Template(phrase).get_identifiers()
        ):
            why = (
                f"${min(unknown)} does not occur in the phrase {phrase!r} that it is to be taken"
                " from"
            )
            raise Mistake(why, "games", number, "text", phrase)
    limits = experiment.limits
    quiz = not game.questions if game.quiz is None else game.quiz
    setup = Setup(
        GameChoice(
            game.game,
            rounds=game.rounds,
            mixed=game.mixed,
            parameters=game.parameters,
            answers=game.answers,
        ),
        game.seats,
        *(limits.answer, limits.waiting, limits.hold, limits.stand_in),
        *(experiment.consent, quiz, game.referee),
        experiment.language,
        experiment.seed,
    )
    texts = load_texts(setup.language).within(list_homes(setup.game))
    texts = texts.reword(cast("dict[str, str]", experiment.text), game.text)
    return Part(name, setup, game, texts, number)


def _check_texts(experiment: Experiment) -> None:
    """Refuse a language that is missing or incomplete, and texts that do not fit.

    Texts do not fit if their pages do not exist or have other places.
    """
    try:
        load_language(experiment.language)
    except UsageError as error:
        why = f"{error}. Choose another language, or add it: see docs/people/translate.md"
        raise Mistake(why, "language") from None
    base = load_texts("en")
    for name, wording in experiment.text.items():
        if name not in base.names:
            raise Mistake(
                f"there is no text named {name!r}.{did_you_mean(name, list(base.names))}",
                "text",
                name,
            )
        if not isinstance(wording, str) and set(wording) != {"one", "many"}:
            why = f"the text {name} has the forms {', '.join(wording)}; expected one and many"
            raise Mistake(why, "text", name)
        forms = wording if isinstance(wording, str) else " ".join(wording.values())
        if unknown := set(Template(forms).get_identifiers()) - base.list_placeholders(name):
            known = (
                ", ".join(sorted(f"${placeholder}" for placeholder in base.list_placeholders(name)))
                or "no place"
            )
            raise Mistake(
                f"${min(unknown)} stands for nothing in the text {name}; it has {known}",
                "text",
                name,
            )


def _check_people(experiment: Experiment, parts: Sequence[Part]) -> None:
    """Refuse games into whose groups the people of a matching group cannot be put."""
    matching = experiment.assignment.matching
    size = experiment.assignment.matching_groups
    people = [len(part.setup.persons) for part in parts]
    if not all(people):
        why = "no seat is for a person; put 'person' into seats"
        raise Mistake(why, "games", parts[people.index(0)].number, "seats")
    if experiment.groups % size:
        raise Mistake(
            f"groups is {experiment.groups}; expected a multiple of matching_groups, {size}",
            "groups",
        )
    for part, count in zip(parts, people, strict=True):
        if size * people[0] % count:
            counts = ", ".join(
                f"{other.name} {seated}" for other, seated in zip(parts, people, strict=True)
            )
            why = (
                f"the games seat different numbers of people ({counts}); a matching group of"
                f" {size * people[0]}"
            )
            why += " people cannot be divided so: set matching_groups in [assignment]"
            raise Mistake(why, "games", part.number, "seats")
    where = ("assignment", "matching")
    if matching != "partners" and size < 2:
        raise Mistake(
            "strangers need several groups to be mixed; set matching_groups to 2 or more", *where
        )
    moved = [apart * games for apart in range(1, people[0]) for games in range(1, len(parts))]
    if matching == "perfect strangers" and (
        len(set(people)) > 1 or any(steps % size == 0 for steps in moved)
    ):
        why = f"in {len(parts)} games people of {size} groups of {people[0]} would meet twice"
        raise Mistake(
            f"{why}; a prime number of matching_groups above both numbers does it", *where
        )


def find_line(text: str, path: KeyPath) -> int:
    """Return the number of the line where `path` stands, or of the nearest table around it.

    >>> find_line("title = 'x'\\n[[games]]\\n[[games]]\\nrounds = 0\\n", ("games", 1, "rounds"))
    4
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    # The more lines are read, the more of the path is there; it is in the first line that
    # brings all there ever is.
    depth = _measure_depth(lines, path)
    return (
        bisect_left(range(len(lines)), depth, key=lambda count: _measure_depth(lines[:count], path))
        or 1
    )


def _measure_depth(lines: Sequence[str], path: KeyPath) -> int:
    """Return how much of the path the lines hold.

    Lines at their end that begin something unfinished are left out.
    """
    for count in range(len(lines), 0, -1):
        with suppress(ValueError):
            here: Any = parse_toml("\n".join(lines[:count]))
            for depth, key in enumerate(path):
                try:
                    here = here[key]
                except (LookupError, TypeError):
                    return depth
            return len(path)
    return 0
