"""One game of the water study, seat by seat; the seats of one day are asked at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bestresponse.core.ask import PASS
from bestresponse.core.episode import Record, Submission
from bestresponse.core.game import NATURE
from bestresponse.core.player import Decision, Nature
from bestresponse.games.water.batch import Trace
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import WaterRules
from bestresponse.models.base import Model
from bestresponse.runs import seats
from bestresponse.runs.execution import PlayOne

__all__ = ["make_player", "records_of"]


def make_player(models: Mapping[str, Model]) -> PlayOne:
    """Return the function that plays one game of the study, for `execute`."""
    return seats.make_player(lambda data: Water(WaterRules.from_json(data["rules"])), models)


def records_of(trace: Trace, players: Sequence[str]) -> list[Record]:
    """The records of games that were played many at once: the same as if each had been played on its own."""
    game = Water(trace.rules)
    names = {**dict(zip(game.roles, players, strict=True)), NATURE: Nature(0).name}
    return [_record(game, trace, row, names) for row in range(len(trace.supply))]


def _record(game: Water, trace: Trace, row: int, names: Mapping[str, str]) -> Record:
    submissions = []
    supplies, present = trace.supply[row].astype(int).tolist(), trace.present[row].tolist()
    bids, passed = trace.bids[row].tolist(), np.isnan(trace.bids[row]).tolist()
    for day in range(trace.rules.days):
        if not any(present[day]):
            break
        submissions.append(Submission(NATURE, Decision(supplies[day])))
        for role, here, bid, none in zip(game.roles, present[day], bids[day], passed[day], strict=True):
            if here:
                submissions.append(Submission(role, Decision(PASS if none else bid)))
    payoffs = dict(zip(game.roles, trace.survived[row].astype(float).tolist(), strict=True))
    return Record(game.name, game.version, dict(names), tuple(submissions), payoffs)
