"""Check a game with the words in its folder; whoever writes a game runs this.

    from bestresponse.games.kit import check_game

It raises `Broken` (an AssertionError) that says which promise was broken and where.
"""

from __future__ import annotations

from dataclasses import fields
from random import Random

from bestresponse.core import conformance
from bestresponse.core.capabilities import HasPositions
from bestresponse.core.conformance import Broken, any_legal_action
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.game import NATURE, REFEREE, Game, S
from bestresponse.core.told import GameEvent, GameRule
from bestresponse.telling.course import ToldInOwnWay
from bestresponse.telling.language import (
    ENGLISH,
    Language,
    find_home,
    list_languages,
    list_word_files,
    load_language,
)
from bestresponse.theory.positions.keys import check_keys

_PLAYS = 20
"""In which positions with equal keys are compared."""
Kind = type[GameRule] | type[GameEvent]


def check_game(game: Game[S], seed: int = 0, max_steps: int = 10_000) -> None:
    """Check every promise of `Game`, and that what the game says is told in every language.

    Of a game with positions also whether equal keys go on alike.
    """
    conformance.check_game(game, seed, max_steps)
    if isinstance(game, HasPositions):
        try:
            check_keys(game, seed=seed, plays=_PLAYS)
        except InvalidGame as error:
            raise Broken(str(error)) from None
    for kind in find_kinds(game, seed, max_steps):
        _check_told(kind)


def find_kinds(game: Game[S], seed: int = 0, max_steps: int = 10_000) -> list[Kind]:
    """List the kinds of rules and events of its own that a game tells in one play."""
    rng = Random(seed)
    state = game.start()
    kinds: dict[Kind, None] = {}
    for _ in range(max_steps):
        asks = game.asks(state)
        for role in (*game.roles, *(asked for asked in asks if asked in (NATURE, REFEREE))):
            view = game.view(state, role)
            told = (*view.rules, *view.history)
            kinds |= {type(one): None for one in told if isinstance(one, GameRule | GameEvent)}
        if not asks:
            break
        state = game.apply(state, {role: any_legal_action(ask, rng) for role, ask in asks.items()})
    return list(kinds)


def _check_told(kind: Kind) -> None:
    """Hold a kind to having a message in every offered language, with a place for each field."""
    home = find_home(kind)
    files = list_word_files(home)
    if ENGLISH not in files:
        where = home or "a module without a folder"
        raise Broken(f"{kind.__name__} has no words: there is no words.en.po in {where}")
    for name in list_languages():
        if name in files:
            try:
                language = load_language(name).within(home)
            except UsageError as error:
                raise Broken(str(error)) from None
            _check_places(kind, language, f"{home}:{kind.message}")


def _check_places(kind: Kind, language: Language, key: str) -> None:
    keys = [known for known in language.messages if known == key or known.startswith(f"{key}.")]
    if not keys:
        raise Broken(f"{kind.__name__} has no message {kind.message!r} in {language.name}")
    told: set[str] = set().union(*map(language.list_places, keys))
    own = issubclass(kind, ToldInOwnWay)  # its own way may spell a field out
    silent = [one.name for one in fields(kind) if one.name not in told]  # type: ignore[arg-type]
    if silent and not own:
        raise Broken(
            f"the message {kind.message!r} in {language.name} does not say {silent[0]!r} of"
            f" {kind.__name__}; give it a place {{{silent[0]}}}"
        )
