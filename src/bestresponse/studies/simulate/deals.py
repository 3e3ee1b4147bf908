"""How good deals were, beside all that could have been agreed at once in the same play.

The Pareto frontier are the deals, no deal among them, beside which no other pays somebody more and
nobody less. The Nash bargaining point is the one of them with the largest product of gains (J.
Nash, Econometrica 18, 1950). Distances are straight lines between payoffs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import sub
from typing import Annotated, TypedDict

from bestresponse.core.game import Game, S
from bestresponse.games.capabilities import HasDeals
from bestresponse.report.frames import column

Point = tuple[float, ...]
_MOST_COMPARED = 2_000
"""Of more deals with different payoffs the frontier is not worked out."""


class DealRow(TypedDict):
    """What came of one play, and what could have."""

    repeat: int
    surplus: Annotated[float, column(format=".2f", help="the sum of what all earned")]
    possible: Annotated[float, column("largest surplus", ".2f")]
    share: Annotated[
        float | None, column("share of the first", ".2f", help="of the surplus; none without one")
    ]
    to_frontier: Annotated[float, column("distance to the Pareto frontier", ".2f")]
    to_nash: Annotated[float, column("distance to the Nash bargaining point", ".2f")]


def judge_deal(repeat: int, game: Game[S], state: S, earned: Sequence[float]) -> DealRow | None:
    """Compare what was earned with the deals of the play; None where nobody can list them."""
    deals = game.list_deals(state) if isinstance(game, HasDeals) else ()
    frontier = find_frontier(deals)
    if not frontier:
        return None
    nash = max(frontier, key=math.prod)
    surplus = sum(earned)
    nearest = min(frontier, key=lambda point: math.dist(earned, point))
    richest = max(frontier, key=sum)
    return DealRow(
        repeat=repeat,
        surplus=surplus,
        possible=sum(richest),
        share=earned[0] / surplus if surplus > 0 else None,
        to_frontier=math.dist(earned, nearest),
        to_nash=math.dist(earned, nash),
    )


def find_frontier(deals: Sequence[Point]) -> list[Point]:
    """Return the payoffs of deals that nobody loses by and that no other improves on for all.

    >>> find_frontier([(3.0, 1.0), (1.0, 3.0), (2.0, 1.0), (-1.0, 9.0)])
    [(3.0, 1.0), (1.0, 3.0)]
    """
    if not deals:
        return []
    without = (0.0,) * len(deals[0])
    points: dict[Point, None] = {}
    for deal in (*deals, without):
        if min(deal) >= 0:
            points[deal] = None
    if len(points) > _MOST_COMPARED:
        return []
    return [point for point in points if not _is_improved(point, points)]


def _is_improved(point: Point, points: Iterable[Point]) -> bool:
    """Say whether another point pays everybody as much, and somebody more."""
    for other in points:
        gains = list(map(sub, other, point))
        if min(gains) >= 0 and max(gains) > 0:
            return True
    return False
