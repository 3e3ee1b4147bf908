"""A game tree as an AEC environment.

An agent observes its information set, one hot, and an action mask; zeros while it is not asked. The info of the agent
that is asked names the information set and the best move against the equilibria found; after the move `regret` tells
what it lost, the smallest over these equilibria. Neither is there where the tree is not solved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space
from pettingzoo import AECEnv

from bestresponse.analysis.regrets import compute_move_values
from bestresponse.analysis.theory import describe_theory
from bestresponse.core.errors import InvalidMove
from bestresponse.core.json import JsonObject
from bestresponse.games.trees.game import TreeGame
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

_MOST_EQUILIBRIA = 20


class TreeEnvironment(AECEnv):  # type: ignore[misc, unused-ignore]
    """Agents are the players of the tree; an action is the number of a move at the agent's information set."""

    def __init__(self, tree: Tree) -> None:
        super().__init__()
        self.tree = tree
        self.metadata = {"name": tree.name or "tree", "render_modes": [], "is_parallelizable": False}
        self.render_mode = None
        self.possible_agents = list(tree.players)
        self.agents: list[str] = []
        owners = [infoset.player for infoset in tree.infosets]
        self._places = [owners[:k].count(player) for k, player in enumerate(owners)]
        self._sizes = [max(1, owners.count(player)) for player in range(tree.num_players)]
        self._widths = [
            max([len(one.moves) for one in tree.infosets if one.player == player], default=1)
            for player in range(tree.num_players)
        ]
        self._spaces = {who: self._make_space(k) for k, who in enumerate(tree.players)}
        self._actions = {who: Discrete(width) for who, width in zip(tree.players, self._widths, strict=True)}
        policies = describe_theory(TreeGame(tree)).policies[:_MOST_EQUILIBRIA]
        self._values = [compute_move_values(tree, policy) for policy in policies]

    def _make_space(self, player: int) -> Dict:
        known = Box(0, 1, (self._sizes[player],), np.int8)
        return Dict({"observation": known, "action_mask": Box(0, 1, (self._widths[player],), np.int8)})

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the space of information sets and action masks."""
        return self._spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Return the numbers of moves, as many as the agent ever has at once."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: JsonObject | None = None) -> None:
        """Start again at the root; the seed draws the moves of chance."""
        if seed is not None or not hasattr(self, "_rng"):
            self._rng = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, JsonObject] = {who: {} for who in self.agents}
        self.agent_selection = self.agents[0]
        self._node = 0
        self._go_on()

    def observe(self, agent: str) -> dict[str, np.ndarray[Any, np.dtype[np.int8]]]:
        """Return what the agent knows: zeros while it is not asked."""
        player = self.possible_agents.index(agent)
        known, mask = np.zeros(self._sizes[player], np.int8), np.zeros(self._widths[player], np.int8)
        if int(self.tree.owner[self._node]) == player:
            index = int(self.tree.infoset[self._node])
            known[self._places[index]] = 1
            mask[: len(self.tree.infosets[index].moves)] = 1
        return {"observation": known, "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Let the agent that is asked move; InvalidMove where its information set has no such move."""
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        agent = self.agent_selection
        children = self.tree.children[self._node]
        if action is None or not 0 <= int(action) < len(children):
            raise InvalidMove(f"{agent} has {len(children)} moves here, numbered from 0; got {action}")
        self._cumulative_rewards[agent] = 0.0
        index = int(self.tree.infoset[self._node])
        self.infos[agent] = self._judge(index, int(action))
        self._node = children[int(action)]
        self._go_on()
        self._accumulate_rewards()

    def render(self) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Give nothing back: nothing is held."""

    def _go_on(self) -> None:
        """Draw the moves of chance, then ask the next agent or end the game."""
        tree = self.tree
        while int(tree.owner[self._node]) == CHANCE:
            below = tree.children[self._node]
            odds = np.array([tree.probability[child] for child in below], dtype=np.float64)
            self._node = below[int(self._rng.choice(len(below), p=odds / odds.sum()))]
        owner = int(tree.owner[self._node])
        if owner == LEAF:
            earned = map(float, tree.payoffs[self._node])
            self.rewards = dict(zip(self.possible_agents, earned, strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            return
        self._clear_rewards()
        self.agent_selection = self.possible_agents[owner]
        infoset = tree.infosets[int(tree.infoset[self._node])]
        rows = self._find_values(int(tree.infoset[self._node]))
        best = {"best_response": infoset.moves[int(rows[0].argmax())]} if rows else {}
        previous = {key: value for key, value in self.infos[self.agent_selection].items() if key == "regret"}
        self.infos[self.agent_selection] = {**previous, "infoset": infoset.label, **best}

    def _find_values(self, index: int) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
        return [table[index] for table in self._values if index in table]

    def _judge(self, index: int, action: int) -> JsonObject:
        rows = self._find_values(index)
        return {"regret": max(0.0, min(float(row.max() - row[action]) for row in rows))} if rows else {}
