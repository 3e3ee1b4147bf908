"""Which games can be played in the browser, the game that a choice means, and whether a setup fits it.

A game is named from a closed list or given as the text of a logic program; no name ever becomes a path.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache

from bestresponse.core.capabilities import AdjustableRounds
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.registry import did_you_mean, games
from bestresponse.games.capabilities import HasSpeakers
from bestresponse.games.dialogue.deals import Trade, Verdict
from bestresponse.games.dialogue.domain import domain_names, load_domain
from bestresponse.games.dialogue.game import make_plain_dialogue
from bestresponse.games.logic.game import program_game
from bestresponse.games.lookup import Found, find_game, game_names
from bestresponse.games.matrix.game import MatrixGame, Wanted
from bestresponse.games.matrix.repeated import RepeatedGame
from bestresponse.logic.engine import open_engine
from bestresponse.logic.programs.validate import Report, validate
from bestresponse.logic.settings import settings
from bestresponse.players.lookup import SIMULATED, check_strategy
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_entry, tree_names
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.web.sessions.setup import GameChoice, Parameter, Setup

_DIALOGUE = "dialogue:"
_MOST_PARAMETER = 1_000_000
"""More is a typing error, and as a number of rounds it would fill the memory."""
Simple = bool | int | float | str
_FIXED = ("name", "version", "description", "rules", "story", "wanted", "shown_as", "others")
"""What says which game it is and how it is told; a table or a tree has nothing else that is simple."""

_making = tuple(threading.Lock() for _ in range(16))
"""Many who come at once want the same game; one of them makes it, and the others have it then. Few games share a lock,
so that one that is slow to make holds up hardly anybody else."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A game on the list; `repeats` says whether the number of rounds can be chosen."""

    name: str
    kind: str
    description: str = ""
    repeats: bool = False


def list_offers() -> tuple[Offer, ...]:
    """List every game that can be chosen by name."""
    with _making[0]:
        return _list_offers()


@lru_cache(maxsize=1)
def _list_offers() -> tuple[Offer, ...]:
    tables = [Offer(name, "table", catalogue.entry(name).description, True) for name in catalogue.names()]
    trees = [Offer(name, "tree", tree_entry(name).description) for name in tree_names()]
    taken = {offer.name for offer in (*tables, *trees)}
    rules: list[Offer] = []
    for name in games.names():
        with suppress(UsageError):  # a plug-in whose game cannot be made spoils nothing but itself
            if name not in taken:
                found = find_game(name)
                rules.append(Offer(name, "rules", found.description, isinstance(found.game, AdjustableRounds)))
    talks = [
        Offer(f"{_DIALOGUE}{name}", "dialogue", f"A dialogue of the domain {name}, message by message")
        for name in domain_names()
        if load_domain(name).players == 2
    ]
    return (*rules, *tables, *trees, *talks)


def make_game(choice: GameChoice) -> AnyGame:
    """Make the game, ready to be played; UsageError or InvalidGame where the choice means none."""
    with _making[hash(choice) % len(_making)]:
        return _build_game(choice)


@lru_cache(maxsize=256)
def _build_game(choice: GameChoice) -> AnyGame:
    if choice.program:
        name = choice.name or "game"
        return _make_playable(Found(name, "file", program_game(validate_program(choice.program), name)), choice)
    if choice.name.startswith(_DIALOGUE):
        return make_plain_dialogue(choice.name.removeprefix(_DIALOGUE), choice.parameters)
    known = list(game_names())
    if choice.name not in known:
        raise UsageError(f"there is no game named {choice.name!r}.{did_you_mean(choice.name, known)}")
    return set_parameters(_make_playable(find_game(choice.name), choice), choice.parameters)


def list_places(choice: GameChoice) -> dict[str, str]:
    """List what `$name` stands for in instructions: the rounds, and the parameters of the game, set or usual."""
    found = {"rounds": choice.rounds, **list_parameters(make_game(choice)), **choice.parameters}
    plain = {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in found.items()}
    return {name: f"{value:g}" if type(value) is float else str(value) for name, value in plain.items()}


def list_parameters(game: AnyGame) -> dict[str, Parameter]:
    """List what can be set in the rules of a game, with the values that it has."""
    if not dataclasses.is_dataclass(game):
        return {}
    values = {field.name: (field.type, getattr(game, field.name)) for field in dataclasses.fields(game) if field.init}
    return {
        # An amount that need not be whole is a float also where it is whole.
        name: float(value) if kind in (float, "float") and type(value) is int else value
        for name, (kind, value) in values.items()
        if name not in _FIXED and (_is_list(value) if isinstance(value, tuple) else isinstance(value, Simple))
    }


def _is_list(value: tuple[object, ...]) -> bool:
    return bool(value) and all(isinstance(part, str) for part in value)


def set_parameters(game: AnyGame, values: Mapping[str, Parameter]) -> AnyGame:
    """Return the game with these parameters; UsageError where it has none of that name or of another kind."""
    known = list_parameters(game)
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{game.name} has no parameter {name!r}; it has {', '.join(known) or 'none'}")
        wanted = type(known[name])
        if isinstance(value, int | float) and abs(value) > _MOST_PARAMETER:
            raise UsageError(f"the parameter {name} is {value:g}; expected at most {_MOST_PARAMETER:,}")
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise UsageError(f"the parameter {name} is {value!r}; expected something like {known[name]!r}")
    if not known:
        return game
    try:
        return dataclasses.replace(game, **values)  # type: ignore[type-var]
    except (TypeError, ValueError, ArithmeticError) as error:
        raise UsageError(f"{game.name} cannot be made with these parameters: {error}") from None


def _make_playable(found: Found, choice: GameChoice) -> AnyGame:
    table = found.game if isinstance(found.game, NormalForm) else None
    if choice.mixed and (choice.rounds > 1 or table is None):
        raise UsageError("probabilities can be asked for in games with a payoff table and one round only")
    if table is not None and choice.rounds > 1:
        return RepeatedGame(table, choice.rounds)
    if table is not None:
        wanted: Wanted = "mixture" if choice.mixed else "action"
        return MatrixGame(table, (wanted,) * table.num_players)
    if isinstance(found.game, AdjustableRounds):
        return found.game.with_rounds(choice.rounds)
    game = found.playable()
    if choice.rounds > 1 and "rounds" not in list_parameters(game):
        raise UsageError(f"{choice.name} has its own rounds; leave the number of rounds at 1")
    return set_parameters(game, {"rounds": choice.rounds}) if choice.rounds > 1 else game


class Busy(BestResponseError):
    """As many programs are being checked as may be at once."""


_MOST_CHECKS = 8
_checks = threading.BoundedSemaphore(_MOST_CHECKS)


@contextmanager
def take_turn() -> Iterator[None]:
    """Be one of the few who have a program checked or wait for that; `Busy` keeps the threads of the server free."""
    if not _checks.acquire(blocking=False):
        raise Busy(f"{_MOST_CHECKS} programs are being checked already; try again in a few seconds")
    try:
        yield
    finally:
        _checks.release()


def validate_program(source: str) -> Report:
    """Take the program through all stages of validation."""
    with closing(open_engine("embedded", settings.strangers)) as engine:
        return validate(source, engine)


RULE = "rule"
"""The referee that reads the agreement from the last messages by a rule."""
_SIMULATED = f"strategy:{SIMULATED}"


def check_setup(setup: Setup) -> None:
    """Raise a UsageError where the setup does not fit its game."""
    game = make_game(setup.game)
    if repeated := [role for number, role in enumerate(game.roles) if role in game.roles[:number]]:
        raise UsageError(f"two roles are named {repeated[0]!r}; give each a name of its own")
    if len(setup.seats) != len(game.roles):
        who = ", ".join(game.roles)
        raise UsageError(f"{game.name} has {len(game.roles)} seats ({who}), not {len(setup.seats)}")
    for seat in setup.seats:
        if seat.startswith("strategy:"):
            check_strategy(seat.removeprefix("strategy:"), game)
    if not isinstance(game, HasSpeakers):
        if setup.referee:
            raise UsageError(f"{game.name} has no referee; leave it out")
        check_strategy(setup.stand_in, game)
    elif setup.referee not in (RULE, _SIMULATED) and not setup.referee.startswith("model:"):
        raise UsageError(f"a dialogue needs a referee: {RULE!r} or 'model:NAME', not {setup.referee!r}")
    elif setup.referee == RULE and not _has_rule(game):
        domain = game.domain.name
        raise UsageError(f"no rule reads what was agreed in the domain {domain}; expected a referee 'model:NAME'")


def _has_rule(game: HasSpeakers) -> bool:
    """Tell whether the last messages can say by themselves what was agreed."""
    return not isinstance(game.domain.deal, Trade | Verdict)


def list_models(setup: Setup) -> list[str]:
    """List the models that the setup names."""
    named = (*setup.seats, setup.referee)
    return list(dict.fromkeys(one.removeprefix("model:") for one in named if one.startswith("model:")))


def list_referees(game: AnyGame, models: Iterable[str]) -> list[str]:
    """List who can rule in the game; nobody where it needs no referee."""
    if not isinstance(game, HasSpeakers):
        return []
    ruled = [RULE] if _has_rule(game) else []
    return [*ruled, *(f"model:{name}" for name in models), _SIMULATED]
