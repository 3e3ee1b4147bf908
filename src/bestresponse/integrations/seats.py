"""Seat players of other tools in a game.

Covers who sits where, one play, and what the decisions of each seat cost.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from bestresponse.analysis.truth import find_truth, judge_decisions
from bestresponse.api.reasoning import play
from bestresponse.core import Record, Role
from bestresponse.core.errors import UsageError
from bestresponse.games.lookup import find_game
from bestresponse.models.providers.function import FunctionModel


def choose_players(
    game: str,
    seats: Sequence[str],
    first: str,
    others: str,
) -> dict[Role, str]:
    """Return who sits in each seat of a game.

    This is `seats` in order, or `first` in the first seat and `others` elsewhere.
    """
    roles = find_game(game).playable().roles
    num_others = len(roles) - 1
    players = list(seats) or [first, *[others] * num_others]
    if len(players) != len(roles):
        raise UsageError(
            f"{game} has the seats {', '.join(roles)}: name a player for each, got {len(players)}"
        )
    return dict(zip(roles, players, strict=True))


def play_seats(
    game: str,
    players: Mapping[Role, str | FunctionModel],
    seed: int,
) -> tuple[Record, dict[Role, float]]:
    """Play a game once.

    Return the record, and the mean regret of each seat against the equilibria that are found.
    """
    rules = find_game(game).playable()
    record = play(rules, players, seed=seed)
    by_role: dict[Role, list[float]] = defaultdict(list)
    for number, lost in judge_decisions(record, rules, find_truth(rules)).items():
        by_role[record.submissions[number - 1].role].append(lost.least)
    return record, {role: fmean(costs) for role, costs in by_role.items()}
