"""What a session is made of: a game, who sits where, and the rules of the room.

And the game that a choice means.

Setups are plain values that serialise. The bounds of every value stand here once; the interface for
programs, the form on the page and experiment files read values into these classes. A game is named
from a closed list or given as the text of a logic program; no name ever becomes a path.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, field, replace
from functools import cached_property, lru_cache
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from bestresponse.core.capabilities import (
    AdjustableRounds,
    check_telling,
)
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, REFEREE, AnyGame, Game, Role, S
from bestresponse.core.json import canonical
from bestresponse.core.registry import did_you_mean, games
from bestresponse.games.capabilities import HasDomain, HasSpeakers
from bestresponse.games.dialogue.domain import domain_names, load_domain
from bestresponse.games.dialogue.offers import make_dialogue
from bestresponse.games.logic.game import program_game
from bestresponse.games.lookup import LoadedGame, find_game, game_names
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame, Wanted
from bestresponse.games.mechanisms import split_mechanisms
from bestresponse.games.parameters import list_parameters, set_parameters
from bestresponse.games.strategy_method.rules import StrategyMethod
from bestresponse.logic.engine import open_engine
from bestresponse.logic.programs.validate import Report, validate
from bestresponse.players.lookup import SIMULATED, check_strategy
from bestresponse.telling.language import load_language
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import load_tree, tree_entry, tree_names
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

PERSON = "person"
CLOSED = ConfigDict(extra="forbid", allow_inf_nan=False)
"""Values come with these names and no others."""
T = TypeVar("T")


def _check_seat(seat: str) -> str:
    kind, colon, name = seat.partition(":")
    if seat != PERSON and (kind not in ("strategy", "model") or not colon or not name.strip()):
        raise ValueError(f"{seat!r} fills no seat; expected person, strategy:NAME or model:NAME")
    return seat


def _check_language(language: str) -> str:
    try:
        load_language(language)
    except UsageError as error:
        raise ValueError(str(error)) from None
    return language


Flag = Annotated[bool, Field(strict=True)]
Groups = Annotated[int, Field(strict=True, ge=1, le=500)]
Language = Annotated[str, Field(max_length=20), AfterValidator(_check_language)]
Rounds = Annotated[int, Field(strict=True, ge=1, le=200)]
Seconds = Annotated[int, Field(strict=True, ge=0, le=24 * 3600)]
Seed = Annotated[int, Field(strict=True, ge=0, lt=2**31)]
Seats = Annotated[
    tuple[Annotated[str, Field(max_length=200), AfterValidator(_check_seat)], ...],
    Field(max_length=100),
]
GivenParameter = (
    bool
    | int
    | float
    | Annotated[str, Field(max_length=200)]
    | tuple[Annotated[str, Field(max_length=80)], ...]
)
Parameters = Annotated[dict[str, GivenParameter], Field(max_length=50)]
Answers = Literal["direct", "strategy"]


@dataclass(frozen=True, config=CLOSED)
class GameChoice:
    """A game by name, or by the text of a logic program.

    `rounds` repeats a table or sets the days of a drought; without it a game has its own length, a
    table one round.

    `parameters` are names and values of what can be set in the rules, such as an endowment. With
    the `answers` "strategy", people answer for every case, see `games.strategy_method`.
    """

    name: Annotated[str, Field(max_length=80)]
    program: Annotated[str, Field(max_length=100_000)] = ""
    rounds: Rounds | None = None
    mixed: Flag = False
    parameters: Parameters = field(default_factory=dict)
    answers: Answers = "direct"

    def __hash__(self) -> int:
        return hash(canonical(asdict(self)))


@dataclass(frozen=True, config=CLOSED)
class Setup:
    """One table: `seats` in the order of the game's roles.

    Each is `person`, `strategy:NAME` or `model:NAME`.

    `seconds` is the time for an answer; after it, the strategy `stand_in` answers for a person.
    `waiting` is how many seconds those who are ready wait for the others before the table begins
    without them, `hold` how long a seat that was taken and not confirmed is kept for a person who
    is gone. Each is without limit where it is 0. `referee` rules in a dialogue without offers:
    `model:NAME` or `strategy:simulated`. `language` is that of the texts around the game, `seed`
    that of nature and of the strategies.
    """

    game: GameChoice
    seats: Seats
    seconds: Seconds = 300
    waiting: Seconds = 1800
    hold: Seconds = 900
    stand_in: Annotated[str, Field(max_length=80)] = "random"
    consent: Annotated[str, Field(max_length=50_000)] = ""
    quiz: Flag = True
    referee: Annotated[str, Field(max_length=200)] = ""
    language: Language = "en"
    seed: Seed = 0

    @cached_property
    def persons(self) -> tuple[int, ...]:
        """The numbers of the seats that people take."""
        return tuple(number for number, seat in enumerate(self.seats) if seat == PERSON)


_EXPECTED = {
    "bool_type": "true or false",
    "dataclass_type": "a table",
    "decimal_parsing": "a number",
    "decimal_type": "a number",
    "dict_type": "a table",
    "float_type": "a number",
    "greater_than_equal": "at least {ge}",
    "int_type": "a whole number",
    "less_than_equal": "at most {le}",
    "string_pattern_mismatch": "letters without accents, digits and _ only",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "a text",
    "string_type": "a text",
    "tuple_type": "a list",
}


_PARAMETERS = "parameters"


def read_checked(kind: type[T], values: Mapping[str, object]) -> T:
    """Read an object of that class from plain values.

    UsageError about the first value that does not fit.
    """
    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        raise UsageError(explain_mistake(error)[1]) from None


def explain_mistake(
    error: ValidationError, known: tuple[str, ...] = ()
) -> tuple[tuple[str | int, ...], str]:
    """Return where the first value stands that does not fit, and a sentence about it."""
    first = error.errors(include_url=False)[0]
    where = first["loc"]
    key = next((part for part in reversed(where) if isinstance(part, str)), "")
    if _PARAMETERS in where[:-1]:
        # Behind its name stands which of the kinds of values was tried.
        where = where[: where.index(_PARAMETERS) + 2]
        return where, (
            f"the parameter {where[-1]} is {repr(first['input'])[:60]}; expected a finite number, a"
            " text, true or false, or a list of texts"
        )
    match first["type"]:
        case "missing":
            return where, f"{key} is missing"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return where, f"there is no setting named {key!r} here.{did_you_mean(key, list(known))}"
        case "value_error":
            return where, str(first["ctx"]["error"])
        case _:
            wanted = _EXPECTED.get(first["type"], first["msg"].removeprefix("Input should be "))
            return (
                where,
                (
                    f"{key} is {repr(first['input'])[:60]}; expected"
                    f" {wanted.format(**first.get('ctx', {}))}"
                ),
            )


_DIALOGUE = "dialogue:"
_DIALOGUE_HOME = "bestresponse.games.dialogue"
_CATALOGUE_HOME = "bestresponse.theory.catalogue"
_STRATEGY_HOME = "bestresponse.games.strategy_method"
_MECHANISM_HOME = "bestresponse.games.mechanisms"
_making = tuple(threading.Lock() for _ in range(16))
"""Many who come at once want the same game; one of them makes it, and the others have it then. Few
games share a lock, so that one that is slow to make holds up hardly anybody else."""


Picture = tuple[tuple[float, ...], ...]
"""A small drawing of a game: rows of shades from 0 to 1."""
_MOST_DRAWN = 8
_DEEPEST_DRAWN = 4


@dataclass(frozen=True)
class Offer:
    """A game on the list; `repeats` says whether the number of rounds can be chosen.

    The picture has a shade of each cell of a table, the dots of each level of a tree, or the seats.
    """

    name: str
    kind: str
    description: str = ""
    repeats: bool = False
    picture: Picture = ((1.0, 1.0),)


@lru_cache(maxsize=1)
def list_offers() -> tuple[Offer, ...]:
    """List every game that can be chosen by name."""
    tables = []
    for name in catalogue.names():
        shades = _draw_table(catalogue.load(name))
        tables.append(Offer(name, "table", catalogue.entry(name).description, True, shades))
    trees = []
    for name in tree_names():
        levels = _draw_tree(load_tree(name))
        trees.append(Offer(name, "tree", tree_entry(name).description, picture=levels))
    taken = {offer.name for offer in (*tables, *trees)}
    rules: list[Offer] = []
    for name in games.names():
        with suppress(UsageError):  # a plug-in whose game cannot be made spoils nothing but itself
            if name not in taken:
                loaded = find_game(name)
                repeats = isinstance(loaded.game, AdjustableRounds)
                seats = (1.0,) * min(len(loaded.playable().roles), _MOST_DRAWN)
                rules.append(Offer(name, "rules", loaded.description, repeats, (seats,)))
    talks = [
        Offer(
            f"{_DIALOGUE}{name}", "dialogue", f"A dialogue of the domain {name}, message by message"
        )
        for name in domain_names()
        if load_domain(name).players == 2
    ]
    return (*rules, *tables, *trees, *talks)


def _draw_table(form: NormalForm) -> Picture:
    """Shade cells by what all get together there, or the first if that is the same everywhere."""
    sums = form.payoffs.sum(axis=0)
    shown = sums if sums.max() > sums.min() else form.payoffs[0]
    cells = shown.reshape(form.shape[0], -1)[:_MOST_DRAWN, :_MOST_DRAWN]
    least = cells.min()
    shades = (cells - least) / ((cells.max() - least) or 1.0)
    return tuple(map(tuple, shades.tolist()))


def _draw_tree(tree: Tree) -> Picture:
    """Count the first branches, level by level."""
    paths = [tree.path(leaf).split(" > ") for leaf in tree.leaves.tolist()]
    levels: list[tuple[float, ...]] = [(1.0,)]
    for depth in range(1, min(max(map(len, paths)), _DEEPEST_DRAWN) + 1):
        branches = {tuple(path[:depth]) for path in paths if len(path) >= depth}
        levels.append((1.0,) * min(len(branches), _MOST_DRAWN))
    return tuple(levels)


def make_game(choice: GameChoice) -> AnyGame:
    """Make the game, ready to be played; UsageError or InvalidGame where the choice means none."""
    with _making[hash(choice) % len(_making)]:
        return _build_game(choice)


@lru_cache(maxsize=256)
def _build_game(choice: GameChoice) -> AnyGame:
    if choice.answers == "strategy":
        return StrategyMethod(_build_game(replace(choice, answers="direct")))
    if choice.program:
        name = choice.name or "game"
        game = program_game(validate_program(choice.program), name)
        return _make_playable(LoadedGame(name, "file", game), choice)
    if choice.name.startswith(_DIALOGUE):
        return make_dialogue(choice.name.removeprefix(_DIALOGUE), choice.parameters)
    known = list(game_names())
    plain = _find_plain(choice)
    if plain not in known:
        raise UsageError(f"there is no game named {plain!r}.{did_you_mean(plain, known)}")
    loaded = find_game(choice.name)
    if isinstance(loaded.game, AdjustableRounds) and choice.rounds is not None:
        word = loaded.game.rounds_word
        if word in choice.parameters:
            raise UsageError(
                f"the {word} are given twice: by rounds and by the parameter {word}; leave out one"
            )
    return set_parameters(_make_playable(loaded, choice), choice.parameters)


def list_homes(choice: GameChoice) -> tuple[str, ...]:
    """List the folders that have words for the names of a game; none has those of a program."""
    around = (_STRATEGY_HOME,) if choice.answers == "strategy" else ()
    if choice.program:
        return around
    if choice.name.startswith(_DIALOGUE):
        return (_DIALOGUE_HOME,)
    plain = _find_plain(choice)
    changed = (_MECHANISM_HOME,) if plain != choice.name else ()
    return (games.find_package(plain) or _CATALOGUE_HOME, *changed, *around)


def _find_plain(choice: GameChoice) -> str:
    """Return the name of a game without mechanisms and settings."""
    return split_mechanisms(choice.name)[0].partition("(")[0]


def count_rounds(choice: GameChoice) -> int:
    """Return how many rounds are played: as many as were chosen, or else those of the game."""
    if choice.rounds is not None:
        return choice.rounds
    game = make_game(choice)
    return game.most_answers if isinstance(game, AdjustableRounds) else 1


def list_placeholders(choice: GameChoice) -> dict[str, str]:
    """List what `$name` means in instructions.

    These are the rounds, and the parameters of the game, set or usual.
    """
    settings = {
        "rounds": count_rounds(choice),
        **list_parameters(make_game(choice)),
        **choice.parameters,
    }
    plain = {
        name: ", ".join(value) if isinstance(value, tuple) else value
        for name, value in settings.items()
    }
    return {
        name: f"{value:g}" if type(value) is float else str(value) for name, value in plain.items()
    }


def _make_playable(loaded: LoadedGame, choice: GameChoice) -> AnyGame:
    table = loaded.game if isinstance(loaded.game, NormalForm) else None
    rounds = choice.rounds or 1
    if choice.mixed and (rounds > 1 or table is None):
        raise UsageError(
            "probabilities can be asked for in games with a payoff table and one round only"
        )
    if table is not None and rounds > 1:
        return RepeatedGame(table, rounds)
    if table is not None:
        wanted: Wanted = "mixture" if choice.mixed else "action"
        return MatrixGame(table, (wanted,) * table.num_players)
    game = loaded.playable()
    if isinstance(game, AdjustableRounds):
        return game if choice.rounds is None else game.with_rounds(choice.rounds)
    check_telling(game)
    has_rounds = "rounds" in list_parameters(game)
    if rounds > 1 and not has_rounds:
        raise UsageError(f"{choice.name} has its own rounds; leave the number of rounds at 1")
    if choice.rounds is None or not has_rounds:
        return game
    return set_parameters(game, {"rounds": choice.rounds})


def validate_program(source: str) -> Report:
    """Take the program through all stages of validation."""
    with closing(open_engine("embedded")) as engine:
        return validate(source, engine)


_SIMULATED = f"strategy:{SIMULATED}"


def check_setup(setup: Setup) -> None:
    """Raise a UsageError where the setup does not fit its game."""
    game = make_game(setup.game)
    _check_role_names(game.roles)
    if len(setup.seats) != len(game.roles):
        roles = ", ".join(game.roles)
        raise UsageError(
            f"{game.name} has {len(game.roles)} seats ({roles}), not {len(setup.seats)}"
        )
    for seat in setup.seats:
        if seat.startswith("strategy:"):
            check_strategy(seat.removeprefix("strategy:"), game)
    if not isinstance(game, HasSpeakers):
        if setup.referee:
            instead = ", or set the parameter offers to false" * isinstance(game, HasDomain)
            raise UsageError(f"{game.name} has no referee; leave it out{instead}")
        check_strategy(setup.stand_in, game)
    elif setup.referee != _SIMULATED and not setup.referee.startswith("model:"):
        raise UsageError(
            f"a dialogue without offers needs a referee 'model:NAME', not {setup.referee!r}"
        )


def _check_role_names(roles: Sequence[Role]) -> None:
    """Refuse names by which neither people nor the data can tell who is who."""
    taken: dict[str, Role] = {}
    for role in roles:
        name = role.strip().casefold()
        if not name:
            raise UsageError("a role has an empty name; give each a name of its own")
        if name in (NATURE, REFEREE):
            raise UsageError(
                f"no person can have the role {role!r}: draws and rulings are kept by that name"
            )
        if name in taken:
            raise UsageError(
                f"two roles are named {taken[name]!r} and {role!r}; give each a name of its own"
            )
        taken[name] = role


def list_named_models(setup: Setup) -> list[str]:
    """List the models that the setup names."""
    named: dict[str, None] = {}
    for occupant in (*setup.seats, setup.referee):
        if occupant.startswith("model:"):
            named[occupant.removeprefix("model:")] = None
    return list(named)


def list_referees(game: Game[S], models: Iterable[str]) -> list[str]:
    """List who can rule in the game; nobody where it needs no referee."""
    if not isinstance(game, HasSpeakers):
        return []
    return [*(f"model:{name}" for name in models), _SIMULATED]
