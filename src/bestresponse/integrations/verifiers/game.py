"""Any game of the library, turn by turn: an environment of verifiers.

Every seat that a model takes has a trace of its own, rewarded by the payoff of that seat. Seats are filled with
`player` (the model that is evaluated or trained), `rival` (another model, `--env.rival.model`), or the name of a
strategy or solver. An answer that stays unreadable voids the play: its traces fail and have no reward.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack

import verifiers.v1 as vf
from pydantic import Field

from bestresponse.core.errors import ModelError
from bestresponse.integrations.seats import Played, name_players, play_seats
from bestresponse.integrations.verifiers.harness import AGENT
from bestresponse.models.base import Request
from bestresponse.models.providers.function import FunctionModel, from_function

_MODELS = ("player", "rival")


class GameTasksetConfig(vf.TasksetConfig):  # type: ignore[misc, unused-ignore]
    """Which game is played, who sits where, and how often."""

    game: str = "stag-hunt"
    seats: list[str] = Field(default_factory=list)
    others: str = "equilibrium"
    repeats: int = 1
    seed: int = 0


class GameData(vf.TaskData):  # type: ignore[misc, unused-ignore]
    """One play of one game."""

    game: str
    players: dict[str, str]
    seed: int


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):  # type: ignore[misc, unused-ignore]
    """One play; its rewards are recorded by the environment, which sees all seats."""


class GameTaskset(vf.Taskset[GameTask, GameTasksetConfig]):  # type: ignore[misc, unused-ignore]
    """The same game several times, each with a seed of its own."""

    def load(self) -> Iterator[GameTask]:
        """Yield one task for each play."""
        config = self.config
        players = name_players(config.game, config.seats, "player", config.others)
        for number in range(config.repeats):
            data = GameData(name=config.game, game=config.game, players=players, seed=config.seed + number)
            yield GameTask(data, config.task)


class GameEnvConfig(vf.EnvConfig):  # type: ignore[misc, unused-ignore]
    """The models that may sit in a seat."""

    player: vf.AgentConfig = AGENT
    rival: vf.AgentConfig = AGENT


class GameEnv(vf.Env[GameEnvConfig]):  # type: ignore[misc, unused-ignore]
    """Play a game with a conversation for each seat that a model takes."""

    async def setup(self, agents: vf.Agents) -> None:
        """Train on the seats of `player` only."""
        agents.rival.trainable = False

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play once, then reward every model by the payoff of its seat."""
        data = task.data
        talks: dict[str, vf.Interaction] = {}
        async with AsyncExitStack() as stack:
            for role, player in data.players.items():
                if player in _MODELS:
                    talks[role] = await stack.enter_async_context(getattr(agents, player).interaction(task))
            played = await self._play(data, talks)
        for role, talk in talks.items():
            talk.trace.info["role"] = role
            talk.trace.record_reward("payoff", played.record.payoffs[role])
            if role in played.regrets:
                talk.trace.record_metric("regret", played.regrets[role])

    async def _play(self, data: GameData, talks: dict[str, vf.Interaction]) -> Played:
        """Play in a thread, in which models are asked by turns of their conversations; raise where it is void."""
        loop = asyncio.get_running_loop()
        seated: dict[str, str | FunctionModel] = {
            role: from_function(player, _Turns(talks[role], loop)) if role in talks else player
            for role, player in data.players.items()
        }
        played = await asyncio.to_thread(play_seats, data.game, seated, data.seed)
        void = played.record.void
        if void is not None:
            raise ModelError(f"the play is void, {void.role} gave no move: {void.why}")
        return played


class _Turns:
    """Answer requests by turns of one conversation, in which nothing is said twice."""

    def __init__(self, talk: vf.Interaction, loop: asyncio.AbstractEventLoop) -> None:
        self._talk = talk
        self._loop = loop
        self._shown: list[str] = []

    def __call__(self, request: Request) -> str:
        turn = self._talk.turn(self._write(request))
        segment = asyncio.run_coroutine_threadsafe(turn, self._loop).result()
        if segment.terminated:
            raise ModelError(f"the conversation ended before the game: {self._talk.trace.stop_condition}")
        return str(segment.last_reply)

    def _write(self, request: Request) -> str:
        """Write the complaint about the last answer, or the part of the view that was not shown before."""
        if any(message.role == "assistant" for message in request.messages):
            return request.messages[-1].content
        lines = "\n\n".join(message.content for message in request.messages).split("\n")
        same = 0
        while same < min(len(lines), len(self._shown)) and lines[same] == self._shown[same]:
            same += 1
        self._shown = lines
        return "\n".join(lines[same:]).strip() or "\n".join(lines)
