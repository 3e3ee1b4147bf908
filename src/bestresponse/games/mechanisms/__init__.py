"""Mechanisms: functions from games to games, by which institutions are tried out on any game.

    with_contract(game)      payments conditional on moves, signed by all or void
    with_mediator(game)      a mediator moves for whoever delegates
    with_repeated(game)      the same players play round after round
    with_reputation(game)    they do, and see labels that follow from past moves instead of moves
    with_talk(game)          all announce something before, and nothing follows from it

A mechanism is named behind its game: `prisoners-dilemma with contract(payment=3)`. Several apply
from left to right. What they return is told, solved, played and reported like any other game. A
package adds its own by an entry point in `bestresponse.mechanisms`.
"""

import re
from collections.abc import Sequence
from inspect import Parameter, signature

from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame, Game, S
from bestresponse.core.registry import Registry, read_like
from bestresponse.games.mechanisms.contract import with_contract as with_contract
from bestresponse.games.mechanisms.mediator import with_mediator as with_mediator
from bestresponse.games.mechanisms.repeated import with_repeated as with_repeated
from bestresponse.games.mechanisms.reputation import with_reputation as with_reputation
from bestresponse.games.mechanisms.talk import with_talk as with_talk
from bestresponse.games.parameters import split_settings

_HOME = "bestresponse.games.mechanisms"
mechanisms = Registry(
    "bestresponse.mechanisms",
    "mechanism",
    {
        "contract": f"{_HOME}.contract:with_contract",
        "mediator": f"{_HOME}.mediator:with_mediator",
        "repeated": f"{_HOME}.repeated:with_repeated",
        "reputation": f"{_HOME}.reputation:with_reputation",
        "talk": f"{_HOME}.talk:with_talk",
    },
)
_WITH = " with "


def split_mechanisms(text: str) -> tuple[str, tuple[str, ...]]:
    """Split the name of a game or a file from the mechanisms behind it.

    >>> split_mechanisms("chicken with mediator with contract(payment=3)")
    ('chicken', ('mediator', 'contract(payment=3)'))
    >>> split_mechanisms("tea with milk.efg")
    ('tea with milk.efg', ())
    """
    names = "|".join(map(re.escape, mechanisms.names()))
    first = re.search(rf"{_WITH}(?={names})", text)
    if first is None:
        return text, ()
    return text[: first.start()], tuple(text[first.end() :].split(_WITH))


def name_with(game: str, added: str | Sequence[str]) -> str:
    """Name a game with mechanisms; UsageError where one does not exist.

    >>> name_with("chicken", ["mediator", "contract"])
    'chicken with mediator with contract'
    """
    if not game:
        raise UsageError("a mechanism changes a game; name one")
    added = [added] if isinstance(added, str) else added
    for text in added:
        mechanisms.load(split_settings(text)[0])
    return _WITH.join((game, *added))


def apply_mechanism(game: Game[S], text: str) -> AnyGame:
    """Apply a mechanism by its name, with settings in brackets."""
    name, typed = split_settings(text)
    function = mechanisms.load(name)
    parameters = list(signature(function).parameters.values())[1:]
    known = {one.name: one.default for one in parameters if one.kind is not Parameter.VAR_KEYWORD}
    moves = game.roles if len(known) < len(parameters) else ()
    settings: dict[str, object] = {}
    for setting, value in typed.items():
        if setting in known:
            try:
                settings[setting] = read_like(known[setting], value)
            except ValueError as error:
                raise UsageError(f"{text}: {setting}: {error}") from None
        elif setting in moves:
            settings[setting] = value
        else:
            there = ", ".join((*known, *moves)) or "none"
            raise UsageError(f"{name} has no setting {setting!r}; it has {there}")
    changed: AnyGame = function(game, **settings)
    return changed
