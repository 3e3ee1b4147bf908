"""One play of a game of the playground; seats that move together are asked at the same time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.game import NATURE, REFEREE, AnyGame
from bestresponse.core.json import JsonMapping
from bestresponse.core.player import Nature, Player
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import HasSpeakers
from bestresponse.models.base import Model
from bestresponse.players.llm.persona import Persona
from bestresponse.players.llm.player import Sampling
from bestresponse.players.lookup import find_strategy, seat_speaker
from bestresponse.runs.agents import Replies, ask_at_once, settled_agent
from bestresponse.runs.spec import Spec

__all__ = ["make_player"]


def make_player(
    game: AnyGame, models: Mapping[str, Model]
) -> Callable[[Spec, list[Submission], Callable[[Submission], None]], Record]:
    """Return the function that plays one spec of this game, for `execute`."""

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        replies = Replies(done)
        seats = {
            role: _player(spec.data, game, role, who, models, replies.get(role)) for role, who in spec.data["seats"]
        }
        seats[NATURE] = Nature(spec.data["seed"])
        if isinstance(game, HasSpeakers):
            seats[REFEREE] = _player(spec.data, game, REFEREE, spec.data["referee"], models, ())
        return play(game, seats, submissions=done, ask_seats=ask_at_once, on_submission=replies.keep_with(keep))

    return play_one


def _player(
    data: JsonMapping,
    game: AnyGame,
    role: str,
    who: str,
    models: Mapping[str, Model],
    replies: Sequence[str],
) -> Player:
    player = find_strategy(who, game, role, data["seed"])
    if player is not None:
        return player
    own_seed = split(data["seed"], "seat", role)
    if isinstance(game, HasSpeakers):
        sampling = Sampling(data["temperature"], max_tokens=data["max_tokens"], seed=own_seed % 2**31)
        return seat_speaker(models[who], game, role, own_seed, sampling)
    persona = Persona(**data["personas"][role]) if role in data["personas"] else None
    return settled_agent(data, who, models[who], persona, own_seed, replies)
