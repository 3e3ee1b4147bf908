"""One play of a game of the playground; seats that move together are asked at the same time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.game import NATURE
from bestresponse.core.player import Nature, Player
from bestresponse.core.seeds import split
from bestresponse.games.named_game import NamedGame
from bestresponse.models.base import Model
from bestresponse.players.llm.persona import Persona
from bestresponse.players.lookup import find_strategy
from bestresponse.runs.agents import Replies, ask_at_once, settled_agent
from bestresponse.runs.spec import Spec

__all__ = ["make_player"]


def make_player(
    source: NamedGame, models: Mapping[str, Model]
) -> Callable[[Spec, list[Submission], Callable[[Submission], None]], Record]:
    """Return the function that plays one spec of this game, for `execute`."""
    game = source.game()

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        replies = Replies(done)
        seats = {
            role: _player(spec.data, source, role, who, models, replies.get(role)) for role, who in spec.data["seats"]
        }
        seats[NATURE] = Nature(spec.data["seed"])
        return play(game, seats, submissions=done, ask_seats=ask_at_once, on_submission=replies.keep_with(keep))

    return play_one


def _player(
    data: Mapping[str, Any],
    source: NamedGame,
    role: str,
    who: str,
    models: Mapping[str, Model],
    replies: Sequence[str],
) -> Player:
    player = find_strategy(who, source.game(), role, data["seed"])
    if player is not None:
        return player
    persona = Persona(**data["personas"][role]) if role in data["personas"] else None
    return settled_agent(data, who, models[who], persona, split(data["seed"], "seat", role), replies)
