"""One game of the water study, seat by seat; the seats of one day are asked at the same time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bestresponse.core.ask import PASS
from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonMapping
from bestresponse.core.player import Decision, Nature, Player
from bestresponse.games.water.batch import Trace
from bestresponse.games.water.bidders import BidderPlayer, seat_seed
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import WaterRules
from bestresponse.models.base import Model
from bestresponse.players.llm.persona import Persona
from bestresponse.runs.agents import Replies, ask_at_once, settled_agent
from bestresponse.runs.spec import Spec
from bestresponse.studies.water.config import is_bidder

__all__ = ["make_player", "records_of"]


def make_player(
    models: Mapping[str, Model],
) -> Callable[[Spec, list[Submission], Callable[[Submission], None]], Record]:
    """Return the function that plays one game of the study, for `execute`."""

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        game = Water(WaterRules.from_json(spec.data["rules"]))
        replies = Replies(done)
        seats: dict[str, Player] = {
            role: _player(spec.data, role, name, models, replies.get(role))
            for role, name in zip(game.roles, spec.data["players"], strict=True)
        }
        seats[NATURE] = Nature(spec.data["seed"])
        return play(game, seats, submissions=done, ask_seats=ask_at_once, on_submission=replies.keep_with(keep))

    return play_one


def _player(data: JsonMapping, role: str, name: str, models: Mapping[str, Model], replies: Sequence[str]) -> Player:
    own_seed = seat_seed(data["seed"], role)
    if is_bidder(name):
        return BidderPlayer(name, own_seed)
    persona = Persona(**data["personas"][role]) if data["persona"] else None
    return settled_agent(data, name, models[name], persona, own_seed, replies)


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
