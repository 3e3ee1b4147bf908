"""Mixed strategies of random zero-sum games, one question each: the environment `bestresponse_nash_gap` of verifiers.

The reward is minus the share of the payoff range that the strategy loses at worst (0 is optimal), or with
`reward = "success"` whether that share is at most `tolerance`. An answer that cannot be read fails the rollout: it has
no reward.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import verifiers.v1 as vf

from bestresponse.integrations.mixed_strategies import NashGap, draw_matrices, measure_gap, write_question
from bestresponse.integrations.verifiers.harness import AGENT

__all__ = [
    "NashGapData",
    "NashGapEnv",
    "NashGapEnvConfig",
    "NashGapTask",
    "NashGapTaskConfig",
    "NashGapTaskset",
    "NashGapTasksetConfig",
]


class NashGapTaskConfig(vf.TaskConfig):  # type: ignore[misc, unused-ignore]
    """How an answer is rewarded."""

    reward: Literal["gap", "success"] = "gap"
    tolerance: float = 0.02


class NashGapTasksetConfig(vf.TasksetConfig):  # type: ignore[misc, unused-ignore]
    """Which games are drawn."""

    num_games: int = 20
    actions: int = 3
    seed: int = 0
    task: NashGapTaskConfig = NashGapTaskConfig()


class NashGapData(vf.TaskData):  # type: ignore[misc, unused-ignore]
    """The payoffs of the row player."""

    matrix: list[list[int]]


class NashGapTask(vf.Task[NashGapData, vf.State, NashGapTaskConfig]):  # type: ignore[misc, unused-ignore]
    """One game, measured by what the stated strategy loses at worst."""

    @vf.reward  # type: ignore[untyped-decorator, unused-ignore]
    async def guarantee(self, trace: vf.Trace) -> dict[str, float]:
        """Reward what the strategy guarantees, under the name of the reward."""
        share = self._measure(trace).share
        if self.config.reward == "success":
            return {"success": float(share <= self.config.tolerance)}
        return {"minus_gap": -share}

    @vf.metric  # type: ignore[untyped-decorator, unused-ignore]
    async def measures(self, trace: vf.Trace) -> dict[str, float]:
        """Give the loss in payoffs and the value of the game."""
        measured = self._measure(trace)
        return {"gap": measured.gap, "value": measured.value}

    def _measure(self, trace: vf.Trace) -> NashGap:
        return measure_gap(self.data.matrix, trace.last_reply)


class NashGapTaskset(vf.Taskset[NashGapTask, NashGapTasksetConfig]):  # type: ignore[misc, unused-ignore]
    """Random zero-sum games, the same ones for the same seed."""

    def load(self) -> Iterator[NashGapTask]:
        """Yield one task for each game."""
        config = self.config
        for matrix in draw_matrices(config.num_games, config.actions, config.seed):
            yield NashGapTask(NashGapData(prompt=write_question(matrix), matrix=matrix), config.task)


class NashGapEnvConfig(vf.EnvConfig):  # type: ignore[misc, unused-ignore]
    """The model that is asked."""

    agent: vf.AgentConfig = AGENT


class NashGapEnv(vf.Env[NashGapEnvConfig]):  # type: ignore[misc, unused-ignore]
    """Ask the model once for each game."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Let the model answer one question."""
        await agents.agent.run(task)
