"""Environments of verifiers.

They offer the questions of `bestresponse bench`, the rows of an export, and any game of the
library, turn by turn.

Nash gap: the reward is minus the exploitability of the strategy as a share of the payoff range (0
is optimal), minus its Nash gap as such a share (`reward = "gap"`; 0 for every action of an
equilibrium), or whether the former is at most `tolerance` (`reward = "success"`). An answer that
cannot be read fails the rollout and has the least of these rewards, -1 or 0: verifiers takes a
trace without a reward for one with 0, which would be the best there is.

Solved games: the rows of `bestresponse export sft --purpose rl`, rewarded by
`br.rewards.reward_reply` from 0 to 1; an answer that cannot be read has 0.

Game: every seat that a model takes has a trace of its own, rewarded by the payoff of that seat.
Seats are filled with `player` (the model that is evaluated or trained), `rival` (another model,
`--env.rival.model`), or the name of a strategy or solver. An answer that stays unreadable voids the
play: its traces fail (`has_error`) and have no reward.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import httpx
import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.dialects.chat import message_to_wire

from bestresponse.core.errors import InvalidMove, ModelError
from bestresponse.integrations.bench_questions import (
    choose_questions,
    measure_reply,
    read_questions,
)
from bestresponse.integrations.seats import choose_players, play_seats
from bestresponse.models.base import Reply, Request
from bestresponse.models.providers.function import from_function
from bestresponse.studies.improve.data import open_export
from bestresponse.studies.improve.rewards import reward_reply

_AGENT = vf.AgentConfig(runtime=vf.SubprocessConfig())
"""The default of every seat: nothing is executed, so no container is needed."""
_MODELS = ("player", "rival")


class ChatHarnessConfig(vf.HarnessConfig):  # type: ignore[misc, unused-ignore]
    """The options that every harness has; we add no others."""


class ChatHarness(vf.Harness[ChatHarnessConfig]):  # type: ignore[misc, unused-ignore]
    """Send the conversation to the model and end the turn with its reply.

    This happens in the process of the runner, without tools.
    """

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Ask the model once; verifiers records the call and decides what a refused one means."""
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages.extend(message_to_wire(message) for message in prompt or [])
        async with httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=30), trust_env=False
        ) as client:
            reply = await client.post(
                f"{endpoint}/chat/completions",
                json={"model": ctx.model, "messages": messages},
                headers={"Authorization": f"Bearer {secret}"},
            )
        return vf.ProgramResult(
            exit_code=0 if reply.is_success else 1,
            stdout="",
            stderr=reply.text,
        )


class NashGapTaskConfig(vf.TaskConfig):  # type: ignore[misc, unused-ignore]
    """How an answer is rewarded."""

    reward: Literal["exploitability", "gap", "success"] = "exploitability"
    tolerance: float = 0.02


class NashGapTasksetConfig(vf.TasksetConfig):  # type: ignore[misc, unused-ignore]
    """Which games are drawn."""

    num_games: int = 20
    actions: int = 3
    seed: int = 0
    task: NashGapTaskConfig = NashGapTaskConfig()


class NashGapData(vf.TaskData):  # type: ignore[misc, unused-ignore]
    """One question, and what an answer is measured by."""

    measured_by: str


class NashGapTask(
    vf.Task[NashGapData, vf.State, NashGapTaskConfig]  # type: ignore[misc, unused-ignore]
):
    """One game, measured as the benchmark does."""

    @vf.reward  # type: ignore[untyped-decorator, unused-ignore]
    async def reward_strategy(self, trace: vf.Trace) -> dict[str, float]:
        """Reward the strategy, under the name of the reward."""
        metrics = self._measure(trace)
        if self.config.reward == "success":
            reward = float(metrics["exploitability_normalised"] <= self.config.tolerance)
        else:
            reward = -metrics[f"{self.config.reward}_normalised"]
        return {self._reward_name: reward}

    @vf.metric  # type: ignore[untyped-decorator, unused-ignore]
    async def list_figures(self, trace: vf.Trace) -> dict[str, float]:
        """Give the metrics of the benchmark under its names."""
        return self._measure(trace)

    @property
    def _reward_name(self) -> str:
        return (
            "success"
            if self.config.reward == "success"
            else f"minus_{self.config.reward}_normalised"
        )

    def _measure(self, trace: vf.Trace) -> dict[str, float]:
        """Measure the last reply.

        Where it cannot be read, record the least reward and raise InvalidMove.
        """
        try:
            return measure_reply(self.data.measured_by, Reply(trace.last_reply)).metrics
        except InvalidMove:
            # nobody loses more than the range of the payoffs
            least = 0.0 if self.config.reward == "success" else -1.0
            trace.record_reward(self._reward_name, least)
            raise


class NashGapTaskset(
    vf.Taskset[NashGapTask, NashGapTasksetConfig]  # type: ignore[misc, unused-ignore]
):
    """Random zero-sum games, those of `bestresponse bench` with the same seed.

    A taskset with a `file` has the questions that `publish` wrote to it.
    """

    file: ClassVar[Path | None] = None

    def load(self) -> Iterator[NashGapTask]:
        """Yield one task for each game."""
        config = self.config
        if self.file is None:
            questions = choose_questions(config.num_games, config.actions, config.seed)
        else:
            questions = read_questions(self.file)
        for question in questions:
            data = NashGapData(
                system_prompt=question["system"],
                prompt=question["prompt"],
                measured_by=question["measured_by"],
            )
            yield NashGapTask(data, config.task)


class NashGapEnvConfig(vf.EnvConfig):  # type: ignore[misc, unused-ignore]
    """The model that is asked."""

    agent: vf.AgentConfig = _AGENT


class NashGapEnv(vf.Env[NashGapEnvConfig]):  # type: ignore[misc, unused-ignore]
    """Ask the model once for each game."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Let the model answer one question."""
        await agents.agent.run(task)


class SolvedTasksetConfig(vf.TasksetConfig):  # type: ignore[misc, unused-ignore]
    """Which rows are asked: of a folder that `bestresponse export sft --purpose rl` wrote."""

    folder: str = "data"
    split: Literal["train", "validation", "test"] = "train"


class SolvedData(vf.TaskData):  # type: ignore[misc, unused-ignore]
    """One row: what is asked, and what an answer is measured by."""

    measured_by: str


class SolvedTask(vf.Task[SolvedData, vf.State, vf.TaskConfig]):  # type: ignore[misc, unused-ignore]
    """One question about a solved game."""

    @vf.reward  # type: ignore[untyped-decorator, unused-ignore]
    async def reward_answer(self, trace: vf.Trace) -> float:
        """Reward the answer from 0 to 1."""
        return reward_reply(trace.last_reply, self.data.measured_by)


class SolvedTaskset(
    vf.Taskset[SolvedTask, SolvedTasksetConfig]  # type: ignore[misc, unused-ignore]
):
    """The rows of a split of an export."""

    def load(self) -> Iterator[SolvedTask]:
        """Yield one task for each row."""
        config = self.config
        folder = open_export(Path(config.folder), "rl")
        rows = chain.from_iterable(map(folder.read, folder.list_files(config.split)))
        for row in cast("Iterator[dict[str, Any]]", rows):
            said = {turn["role"]: turn["content"] for turn in row["prompt"]}
            data = SolvedData(
                system_prompt=said.get("system"),
                prompt=said["user"],
                measured_by=row["task"],
            )
            yield SolvedTask(data, config.task)


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
        players = choose_players(config.game, config.seats, "player", config.others)
        for number in range(config.repeats):
            data = GameData(
                name=config.game,
                game=config.game,
                players=players,
                seed=config.seed + number,
            )
            yield GameTask(data, config.task)


class GameEnvConfig(vf.EnvConfig):  # type: ignore[misc, unused-ignore]
    """The models that may sit in a seat."""

    player: vf.AgentConfig = _AGENT
    rival: vf.AgentConfig = _AGENT


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
                    talks[role] = await stack.enter_async_context(
                        getattr(agents, player).interaction(task)
                    )
            # In a thread, in which models are asked by turns of their conversations.
            loop = asyncio.get_running_loop()
            models = {
                role: from_function(data.players[role], _Turns(talk, loop))
                for role, talk in talks.items()
            }
            record, regrets = await asyncio.to_thread(
                play_seats,
                data.game,
                data.players | models,
                data.seed,
            )
            if record.void is not None:
                raise ModelError(
                    f"the play is void, {record.void.role} gave no move: {record.void.why}"
                )
        for role, talk in talks.items():
            talk.trace.info["role"] = role
            talk.trace.record_reward("payoff", record.payoffs[role])
            if role in regrets:
                talk.trace.record_metric("regret", regrets[role])


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
            raise ModelError(
                f"the conversation ended before the game: {self._talk.trace.stop_condition}"
            )
        return str(segment.last_reply)

    def _write(self, request: Request) -> str:
        """Write the complaint about the last answer, or the part of the view not yet shown."""
        if any(message.role == "assistant" for message in request.messages):
            return request.messages[-1].content
        lines = "\n\n".join(message.content for message in request.messages).split("\n")
        same = 0
        while same < min(len(lines), len(self._shown)) and lines[same] == self._shown[same]:
            same += 1
        self._shown = lines
        return "\n".join(lines[same:]).strip() or "\n".join(lines)
