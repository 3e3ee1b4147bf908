"""Read an experiment from the text of its TOML file; every message names the line and the cause.

`parse_experiment` reads the file alone; `check_experiment` looks up its games and strategies as well.
"""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from bestresponse.core.capabilities import Question
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.files import parse_toml
from bestresponse.web.experiments.lines import find_line
from bestresponse.web.experiments.model import (
    KINDS,
    STAND_INS,
    Assignment,
    Completion,
    Experiment,
    Item,
    Order,
    Part,
    Payment,
    Treatment,
)
from bestresponse.web.experiments.section import Section
from bestresponse.web.sessions.checking import check_setup
from bestresponse.web.sessions.setup import GameChoice, Setup
from bestresponse.web.texts import list_languages

__all__ = ["check_experiment", "parse_experiment"]

_ORDERS: tuple[Order, ...] = ("arrival", "random")
_TOP = ("title", "language", "groups", "seed", "welcome", "consent", "thanks", "debrief", "assignment", "limits",
        "games", "treatments", "questionnaire", "payment", "completion")  # fmt: skip
_GAME = ("name", "game", "title", "seats", "rounds", "mixed", "parameters", "instructions", "quiz", "questions",
         "referee")  # fmt: skip
_DAY = 24 * 3600


def parse_experiment(text: str) -> Experiment:
    """Read the file; UsageError with line and cause where it is no experiment."""
    try:
        values = parse_toml(text)
    except ValueError as error:
        raise UsageError(f"this is not TOML: {error}") from None
    top = Section(text, values)
    top.allow(*_TOP)
    return Experiment(
        title=top.text("title", most=200),
        treatments=_read_treatments(top),
        groups=top.whole("groups", 1, 1, 500),
        seed=top.whole("seed", 0, 0, 2**31 - 1),
        language=top.one("language", list_languages(), "en"),
        welcome=top.text("welcome", ""),
        thanks=top.text("thanks", ""),
        debrief=top.flag("debrief", False),
        assignment=_read_assignment(top.section("assignment")),
        questionnaire=_read_questionnaire(top.sections("questionnaire")),
        payment=_read_payment(top.section("payment")) if top.has("payment") else None,
        completion=_read_completion(top.section("completion")),
    )


def check_experiment(text: str) -> Experiment:
    """Read the file and look up its games, seats and strategies; UsageError with line and cause."""
    experiment = parse_experiment(text)
    for treatment in experiment.treatments:
        for number, part in enumerate(treatment.parts):
            where = f" (treatment {treatment.name})" if treatment.name else ""
            try:
                check_setup(part.setup)
            except BestResponseError as error:
                line = find_line(text, ("games", number))
                raise UsageError(f"line {line}: the game {part.name}{where}: {error}") from None
    return experiment


def _read_treatments(top: Section) -> tuple[Treatment, ...]:
    games = top.sections("games")
    if not games:
        top.refuse("there is no game; expected at least one table [[games]]")
    names = [game.text("name", f"game {number}", 60) for number, game in enumerate(games, 1)]
    for number, name in enumerate(names):
        if name in names[:number]:
            games[number].refuse(f"two games are named {name!r}; give each a name of its own", "name")
    treatments = top.sections("treatments")
    if not treatments:
        return (_read_treatment(top, "", games, names, top),)
    found: dict[str, Treatment] = {}
    for treatment in treatments:
        treatment.allow("name", "games")
        name = treatment.text("name", most=60)
        if name in found:
            treatment.refuse(f"two treatments are named {name!r}", "name")
        changes = treatment.section("games")
        changes.allow(*names)
        changed = [
            game.change(changes.section(own)) if changes.has(own) else game
            for own, game in zip(names, games, strict=True)
        ]
        found[name] = _read_treatment(top, name, changed, names, treatment)
    return tuple(found.values())


def _read_treatment(top: Section, name: str, games: list[Section], names: list[str], where: Section) -> Treatment:
    parts = tuple(_read_part(top, game, own) for game, own in zip(games, names, strict=True))
    people = {len(part.setup.persons) for part in parts}
    if len(people) > 1:
        counts = ", ".join(f"{part.name} {len(part.setup.persons)}" for part in parts)
        where.refuse(f"the games seat different numbers of people ({counts}); a group stays together")
    if people == {0}:
        where.refuse("no seat is for a person; put 'person' into seats")
    return Treatment(name, parts)


def _read_part(top: Section, game: Section, name: str) -> Part:
    game.allow(*_GAME)
    questions = tuple(_read_question(one) for one in game.sections("questions"))
    limits = top.section("limits")
    limits.allow("answer", "waiting", "hold", "stand_in")
    choice = GameChoice(
        game.text("game", most=80),
        "",
        game.whole("rounds", 1, 1, 200),
        game.flag("mixed", False),
        game.parameters("parameters"),
    )
    seats = game.texts("seats")
    if not seats:
        game.refuse("seats are missing; expected a list of person, strategy:NAME and model:NAME", "seats")
    setup = partial(
        Setup,
        choice,
        seats,
        seconds=limits.whole("answer", 300, 0, _DAY),
        stand_in=limits.text("stand_in", "random", 80),
        consent=top.text("consent", ""),
        quiz=game.flag("quiz", not questions),
        seed=top.whole("seed", 0, 0, 2**31 - 1),
        waiting=limits.whole("waiting", 1800, 0, _DAY),
        hold=limits.whole("hold", 900, 0, _DAY),
        referee=game.text("referee", "", 200),
        language=top.one("language", list_languages(), "en"),
    )
    try:
        made = setup()
    except UsageError as error:
        game.refuse(str(error), "seats")
    return Part(name, game.text("title", "", 200), made, game.text("instructions", ""), questions)


def _read_question(given: Section) -> Question:
    given.allow("text", "answer")
    answer = given.number("answer")
    if answer is None:
        given.refuse("answer is missing; expected a number", "answer")
    return Question(given.text("text", most=2000), answer)


def _read_assignment(given: Section) -> Assignment:
    given.allow("groups", "roles")
    return Assignment(given.one("groups", _ORDERS, "arrival"), given.one("roles", _ORDERS, "arrival"))


def _read_questionnaire(given: list[Section]) -> tuple[Item, ...]:
    found: dict[str, Item] = {}
    for one in given:
        item = _read_item(one)
        if item.name in found:
            one.refuse(f"two questions of the questionnaire are named {item.name!r}", "name")
        found[item.name] = item
    return tuple(found.values())


def _read_item(given: Section) -> Item:
    given.allow("name", "text", "kind", "options", "low", "high", "required")
    name = given.text("name", most=40)
    if not name.replace("_", "a").isalnum() or not name.isascii():
        given.refuse(f"name is {name!r}; expected letters, digits and _, since it names a column", "name")
    kind = given.one("kind", KINDS, "text")
    options = given.texts("options")
    low, high = given.number("low"), given.number("high")
    if kind == "scale":
        first, last = int(low or 1), int(high or 7)
        if not 0 <= first < last <= first + 20:
            given.refuse(f"a scale from {first} to {last}; expected at most 21 steps", "low")
        options = tuple(str(step) for step in range(first, last + 1))
    if kind == "choice" and len(options) < 2:
        given.refuse("options are missing; a choice needs two or more", "options")
    return Item(name, given.text("text", most=2000), kind, options, low, high, given.flag("required", False))


def _read_payment(given: Section) -> Payment:
    given.allow("currency", "show_up", "rate", "least", "stand_ins")
    currency = given.text("currency", most=12)
    stand_ins = given.one("stand_ins", tuple(STAND_INS), "none")
    return Payment(currency, given.money("show_up"), given.money("rate"), given.money("least"), stand_ins)


def _read_completion(given: Section) -> Completion:
    given.allow("code", "link")
    link = given.text("link", "", 2000)
    if link and (urlsplit(link).scheme not in ("https", "http") or not urlsplit(link).netloc):
        given.refuse(f"link is {link[:60]!r}; expected an address that begins with https://", "link")
    return Completion(given.text("code", "", 100), link)
