"""How many calls a search in prompt space takes at most, known before the first one.

The largest table, every candidate played to the end, and the oracle's own questions; plays are doubled at the first
iteration, as if no response had been new, and then every iteration responds to other solutions too; or they are never
doubled, whichever costs more. What is on record is not asked again, so the
search is rehearsed with the record alone, and the answers it finds there come off.
"""

from __future__ import annotations

from math import comb

from bestresponse.core.errors import ModelError
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.studies.steer.psro.oracles import Inventor, questions
from bestresponse.studies.steer.psro.plays import Arena
from bestresponse.studies.steer.psro.search import OTHERS, PsroSettings, search

__all__ = ["missing_psro_calls", "most_psro_calls"]


def missing_psro_calls(arena: Arena, inventor: Inventor, settings: PsroSettings, per_ruling: int) -> int:
    """The most calls that a search still takes: 0 where everything is on record."""
    most = most_psro_calls(arena.game, settings, per_ruling, arena.swap)
    arena, inventor = arena.on_record(), inventor.on_record()
    try:
        finished = not search(arena, inventor, settings).stopped
    except ModelError:
        finished = False
    known = inventor.recalled + arena.messages_recalled + per_ruling * arena.rulings_recalled
    return 0 if finished else most - known


def most_psro_calls(game: DialogueGame, settings: PsroSettings, per_ruling: int, swap: bool = False) -> int:
    """The most calls that a search from nothing takes."""
    rounds, plays = settings.iterations, settings.plays
    asked, tried = questions(settings.oracle, settings.candidates)
    once = _calls(game, per_ruling, swap, rounds, plays, rounds * tried * plays)
    searches = 1 + (rounds - 1) * (1 + OTHERS)
    later = (1 + OTHERS) * (rounds - 1) * tried * 2 * plays
    doubled = _calls(game, per_ruling, swap, rounds - 1, 2 * plays, tried * plays + later)
    return max(once, doubled) + searches * asked * game.domain.players


def _calls(game: DialogueGame, per_ruling: int, swap: bool, rounds: int, plays: int, tried: int) -> int:
    """The calls of a table to which `rounds` rounds have added, and of `tried` plays of candidates for every seat."""
    seats = game.domain.players
    size = len(game.manners.options) + rounds * (seats if swap else 1)
    talks = sum(_talk(game, per_ruling, 0 if swap else seat) for seat in range(seats))
    return plays * _table(game, size, per_ruling, swap) + tried * talks


def _table(game: DialogueGame, size: int, per_ruling: int, swap: bool) -> int:
    """The calls for one play of every profile: a message depends on the manners of those who have spoken."""
    seats = game.domain.players
    profiles = comb(size + seats - 1, seats) if swap else size**seats
    total = 0
    for said in range(1, game.messages + 1):
        texts = min(size ** min(said, seats), profiles)
        total += texts * (1 + per_ruling * game.rules_after(said))
    return total


def _talk(game: DialogueGame, per_ruling: int, first: int) -> int:
    """The calls of one play from message `first` on."""
    return sum(1 + per_ruling * game.rules_after(said) for said in range(first + 1, game.messages + 1))
