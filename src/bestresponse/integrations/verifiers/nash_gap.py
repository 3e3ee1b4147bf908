"""The questions of `bestresponse bench`, one each: an environment of verifiers.

The reward is minus the exploitability of the strategy as a share of the payoff range (0 is optimal), minus its Nash gap
as such a share (`reward = "gap"`; 0 for every action of an equilibrium), or whether the former is at most `tolerance`
(`reward = "success"`). An answer that cannot be read fails the rollout: it has no reward.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Literal

import verifiers.v1 as vf

from bestresponse.integrations.bench_questions import BenchQuestions
from bestresponse.integrations.verifiers.harness import AGENT
from bestresponse.models.base import Reply


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
    """The games, and which of them is asked for."""

    num_games: int
    actions: int
    seed: int
    number: int


class NashGapTask(vf.Task[NashGapData, vf.State, NashGapTaskConfig]):  # type: ignore[misc, unused-ignore]
    """One game, measured as the benchmark does."""

    @vf.reward  # type: ignore[untyped-decorator, unused-ignore]
    async def reward_strategy(self, trace: vf.Trace) -> dict[str, float]:
        """Reward the strategy, under the name of the reward."""
        figures = self._measure(trace)
        if self.config.reward == "success":
            return {"success": float(figures["exploitability_normalised"] <= self.config.tolerance)}
        name = f"{self.config.reward}_normalised"
        return {f"minus_{name}": -figures[name]}

    @vf.metric  # type: ignore[untyped-decorator, unused-ignore]
    async def list_figures(self, trace: vf.Trace) -> dict[str, float]:
        """Give the figures of the benchmark under its names."""
        return self._measure(trace)

    def _measure(self, trace: vf.Trace) -> dict[str, float]:
        data = self.data
        questions = BenchQuestions(data.num_games, data.actions, data.seed)
        return questions.measure_reply(data.number, Reply(trace.last_reply)).figures


class NashGapTaskset(vf.Taskset[NashGapTask, NashGapTasksetConfig]):  # type: ignore[misc, unused-ignore]
    """Random zero-sum games, those of `bestresponse bench` with the same seed."""

    def load(self) -> Iterator[NashGapTask]:
        """Yield one task for each game."""
        config = self.config
        questions = BenchQuestions(config.num_games, config.actions, config.seed)
        for number in range(config.num_games):
            system, prompt = (message.content for message in questions.write_request(number).messages)
            data = NashGapData(system_prompt=system, prompt=prompt, number=number, **asdict(questions))
            yield NashGapTask(data, config.task)


class NashGapEnvConfig(vf.EnvConfig):  # type: ignore[misc, unused-ignore]
    """The model that is asked."""

    agent: vf.AgentConfig = AGENT


class NashGapEnv(vf.Env[NashGapEnvConfig]):  # type: ignore[misc, unused-ignore]
    """Ask the model once for each game."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Let the model answer one question."""
        await agents.agent.run(task)
