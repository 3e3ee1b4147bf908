"""All plays of a small game, and the one that its players would agree on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, product

from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.core.game import NATURE, Game, Role, S
from bestresponse.core.told import TextPlace
from bestresponse.games.mechanisms.stages import Step
from bestresponse.theory.trees.compile import list_answers

_MOST_STATES = 100_000
_LONGEST = 200
"""Steps of a play."""


@dataclass(frozen=True, slots=True)
class CompletePlay:
    """A play from the beginning to the end, and what it pays."""

    steps: tuple[Step, ...]
    payoffs: tuple[float, ...]


def walk_plays(game: Game[S]) -> Iterator[CompletePlay]:
    """Yield all plays in the order of the options; UsageError where nature draws.

    TooLarge where there are too many.
    """
    waiting: list[tuple[S, tuple[Step, ...]]] = [(game.start(), ())]
    for number in count():
        if not waiting:
            return
        state, steps = waiting.pop()
        asks = game.asks(state)
        if NATURE in asks:
            raise UsageError(f"nobody can agree on a course of play in {game.name}: nature draws")
        if number + len(waiting) > _MOST_STATES or len(steps) > _LONGEST:
            raise TooLarge(
                f"{game.name} is too large for this mechanism, or never ends; use a smaller game"
            )
        if not asks:
            yield CompletePlay(steps, tuple(game.payoffs(state)[role] for role in game.roles))
            continue
        answers = [list_answers(game, role, ask).values() for role, ask in asks.items()]
        after = []
        for made in product(*answers):
            step = tuple(zip(asks, made, strict=True))
            after.append((game.apply(state, dict(step)), (*steps, step)))
        waiting += reversed(after)


def choose_play(
    game: Game[S], moves: Mapping[Role, str], what: str
) -> tuple[CompletePlay, list[CompletePlay]]:
    """Choose what to agree on: of the plays in which these moves are made, the one that pays most.

    That is most together, and of several the one that pays the poorest most. Return it and all
    plays; UsageError where there is none.
    """
    plays = list(walk_plays(game))
    kept = []
    for play in plays:
        made = {(role, str(move)) for step in play.steps for role, move in step}
        if made.issuperset(moves.items()):
            kept.append(play)
    if not kept:
        told = ", ".join(f"{role}={move}" for role, move in moves.items())
        raise UsageError(f"nobody can fulfil {what} with {told}: no play of {game.name} has that")
    return max(kept, key=lambda one: (round(sum(one.payoffs), 9), min(one.payoffs))), plays


def tell_moves(name: str, steps: Sequence[Step]) -> TextPlace:
    """List who moves how, one after the other: `row: cooperate and col: cooperate`."""
    moves: list[str] = []
    for step in steps:
        moves += (f"{who}: {move}" for who, move in step)
    return TextPlace(name, tuple(moves), "and")
