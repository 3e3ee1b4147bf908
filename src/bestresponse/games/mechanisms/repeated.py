"""Repetition: the same players play a payoff table round after round and see what was played.

Definition: payoffs are the sums over the rounds, each counting `discount` times as much as in the
round before. There are at most `rounds`, and another follows with probability `continuation`. With
probability `noise` another move is made than was meant.

G. J. Mailath, L. Samuelson, "Repeated Games and Reputations", Oxford University Press, 2006.
"""

from bestresponse.core.errors import UsageError
from bestresponse.core.game import Game, S
from bestresponse.games.capabilities import HasNormalForm
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame


def with_repeated(
    game: Game[S],
    rounds: int = 10,
    continuation: float = 1.0,
    discount: float = 1.0,
    noise: float = 0.0,
) -> RepeatedGame:
    """Return `game` played round after round.

    >>> from bestresponse.games.lookup import find_game
    >>> with_repeated(find_game("chicken").playable(), 5, discount=0.9).repetition.weigh(1)
    0.9
    """
    if not isinstance(game, HasNormalForm):
        raise UsageError(
            f"{game.name} cannot be repeated, because not all choose once and at the same time in"
            " it; mechanisms that only change its payoff table, such as a mediator, come before"
        )
    rule = game.rule if isinstance(game, MatrixGame) else None
    return RepeatedGame(
        game.normal_form,
        rounds,
        continuation,
        discount=discount,
        noise=noise,
        rule=rule,
    )
