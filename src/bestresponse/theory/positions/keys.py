"""Check by plays whether equal keys of positions mean equal futures."""

from __future__ import annotations

from random import Random

from bestresponse.core.capabilities import HasPositions, P, ToMove
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import S


def check_keys(
    game: HasPositions[S, P],
    *,
    seed: int = 0,
    plays: int = 100,
    most_moves: int = 200,
) -> int:
    """Play at random and compare positions with equal keys; return how many were looked at.

    Such positions must have the same player to move, and moves to the same keys. This is a test and
    no proof: a game that forgets something rarely is not found out by a few plays.

    Raises:
        InvalidGame: two positions with one key go on differently, so the key hides something.
    """
    rng = Random(seed)
    futures: dict[object, object] = {}
    looked = 0
    for _ in range(plays):
        position = game.begin()
        for _ in range(most_moves):
            turn = game.find_turn(position)
            key = game.find_key(position)
            future = _find_future(game, position, turn)
            if futures.setdefault(key, future) != future:
                shown = " ".join(str(key).split())
                raise InvalidGame(
                    f"{game.name} cannot be solved by its positions: two plays came to what it"
                    f" calls the same position, {shown:.80}, and went on differently, so it hides"
                    " something that matters"
                )
            looked += 1
            if not turn.role:
                break
            position = game.advance(position, rng.choice(turn.moves))
    return looked


def _find_future(game: HasPositions[S, P], position: P, turn: ToMove) -> object:
    """Return what happens within one move: who moves, where to, with which chances."""
    if not turn.role:
        return game.find_result(position)
    chances = turn.chances or (1.0,) * len(turn.moves)
    keys = [repr(game.find_key(game.advance(position, move))) for move in turn.moves]
    return turn.role, sorted(zip(keys, chances, strict=True))
