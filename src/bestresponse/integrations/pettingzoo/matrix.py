"""A payoff table as a parallel environment, played once or several times.

An agent observes what everybody chose in the round before, one hot, all zeros in the first. Infos after a step tell the
regret of the action against what the others chose, and the best response to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from pettingzoo import ParallelEnv

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.theory.games.normal_form import NormalForm

Observation = np.ndarray[Any, np.dtype[np.int8]]


class MatrixEnvironment(ParallelEnv):  # type: ignore[misc, unused-ignore]
    """All agents choose an action at once; agents are the players of the table, actions their numbers."""

    def __init__(self, form: NormalForm, rounds: int = 1) -> None:
        if rounds < 1:
            raise UsageError(f"rounds={rounds}: expected at least 1")
        self.form = form
        self.rounds = rounds
        self.metadata = {"name": form.name or "matrix", "render_modes": [], "is_parallelizable": True}
        self.render_mode = None
        self.possible_agents = list(form.players)
        self.agents: list[str] = []
        self._actions = {who: Discrete(size) for who, size in zip(form.players, form.shape, strict=True)}
        self._observations = {who: Box(0, 1, (sum(form.shape),), np.int8) for who in form.players}
        self._starts = np.concatenate([[0], np.cumsum(form.shape)[:-1]]).tolist()
        self._round = 0
        self._outcomes = [own.tolist() for own in form.payoffs]
        best = [own.max(axis=seat, keepdims=True) for seat, own in enumerate(form.payoffs)]
        self._regrets = [(b - own).tolist() for b, own in zip(best, form.payoffs, strict=True)]
        self._responses = [
            np.broadcast_to(np.expand_dims(own.argmax(axis=seat), seat), form.shape).tolist()
            for seat, own in enumerate(form.payoffs)
        ]

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the space of one hot joint actions."""
        return self._observations[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Return the numbers of the agent's actions."""
        return self._actions[agent]

    def reset(
        self, seed: int | None = None, options: JsonObject | None = None
    ) -> tuple[dict[str, Observation], dict[str, JsonObject]]:
        """Start again; nothing is drawn, so the seed changes nothing."""
        self.agents = list(self.possible_agents)
        self._round = 0
        return {who: self._observe(()) for who in self.agents}, {who: {} for who in self.agents}

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, JsonObject]]:
        """Play one round with everybody's action."""
        agents = self.agents
        chosen = [int(actions[who]) for who in agents]
        self._round += 1
        over = self._round >= self.rounds
        rewards = {who: _look_up(self._outcomes[k], chosen) for k, who in enumerate(agents)}
        infos = {
            who: {
                "regret": _look_up(self._regrets[k], chosen),
                "best_response": self.form.actions[k][_look_up(self._responses[k], chosen)],
            }
            for k, who in enumerate(agents)
        }
        observations = {who: self._observe(chosen) for who in agents}
        if over:
            self.agents = []
        return observations, rewards, dict.fromkeys(agents, over), dict.fromkeys(agents, False), infos

    def render(self) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Give nothing back: nothing is held."""

    def _observe(self, chosen: list[int] | tuple[()]) -> Observation:
        seen: Observation = np.zeros(sum(self.form.shape), dtype=np.int8)
        for start, action in zip(self._starts, chosen, strict=False):
            seen[start + action] = 1
        return seen


def _look_up(table: Any, cell: list[int]) -> Any:
    for action in cell:
        table = table[action]
    return table
