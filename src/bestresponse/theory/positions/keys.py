"""Check by plays whether equal keys of positions mean equal futures."""

from __future__ import annotations

from random import Random
from typing import Generic

from bestresponse.core.capabilities import HasPositions, P, ToMove
from bestresponse.core.errors import InvalidGame, TooLarge
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
                raise _refuse(game.name, key)
            looked += 1
            if not turn.role:
                break
            position = game.advance(position, rng.choice(turn.moves))
    return looked


def prove_keys(game: HasPositions[S, P], *, most: int = 200_000, depth: int | None = None) -> int:
    """Unfold all plays and hold those that come to equal keys to equal futures.

    Return how many there were, each beginning of a play counted. This is a proof; with `depth` it
    is one for the next so many moves and draws, which games with cycles need.

    Raises:
        InvalidGame: two positions with one key go on differently, so the key hides something.
        TooLarge: there are more beginnings of plays than `most`.
    """
    unfolding = _Unfolding(game, most)
    unfolding.number_future(game.begin(), depth)
    return unfolding.count


class _Unfolding(Generic[S, P]):
    """All plays of a game; equal futures have one number."""

    def __init__(self, game: HasPositions[S, P], most: int) -> None:
        self.game = game
        self.most = most
        self.count = 0
        self.numbers: dict[object, int] = {}
        self.known: dict[object, int] = {}

    def number_future(self, position: P, depth: int | None) -> int:
        """Return the number of what follows a position within so many moves."""
        self.count += 1
        if self.count > self.most:
            raise TooLarge(f"{self.game.name} has more than {self.most:,} histories")
        turn = self.game.find_turn(position)
        future: object = "open"
        if not turn.role:
            future = self.game.find_result(position)
        elif depth != 0:
            left = None if depth is None else depth - 1
            after = [self.game.advance(position, move) for move in turn.moves]
            numbers = [self.number_future(reached, left) for reached in after]
            chances = turn.chances or (1.0,) * len(numbers)
            future = turn.role, tuple(sorted(zip(numbers, chances, strict=True)))
        number = self.numbers.setdefault(future, len(self.numbers))
        key = self.game.find_key(position)
        if self.known.setdefault((key, depth), number) != number:
            raise _refuse(self.game.name, key)
        return number


def _refuse(name: str, key: object) -> InvalidGame:
    shown = " ".join(str(key).split())
    return InvalidGame(
        f"{name} cannot be solved by its positions: two plays came to what it calls the same"
        f" position, {shown:.80}, and went on differently, so it hides something that matters"
    )


def _find_future(game: HasPositions[S, P], position: P, turn: ToMove) -> object:
    """Return what happens within one move: who moves, where to, with which chances."""
    if not turn.role:
        return game.find_result(position)
    chances = turn.chances or (1.0,) * len(turn.moves)
    keys = [repr(game.find_key(game.advance(position, move))) for move in turn.moves]
    return turn.role, sorted(zip(keys, chances, strict=True))
