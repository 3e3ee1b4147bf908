"""Make the environment of a game: by name, from a file, or from the game itself.

Importing this module registers the games of the catalogue with PettingZoo, as
`bestresponse/NAME-v0`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space
from pettingzoo import AECEnv, ParallelEnv, register
from pettingzoo.utils.conversions import parallel_to_aec

from bestresponse.analysis.truth import TreeTruth, Values, find_truth
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.games.lookup import GameLike, as_loaded_game
from bestresponse.games.trees.game import TreeGame
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_names
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["env", "parallel_env"]

Bits = np.ndarray[Any, np.dtype[np.int8]]


def parallel_env(game: GameLike, rounds: int = 1) -> MatrixEnvironment:
    """Make the parallel environment of a simultaneous game, played `rounds` times.

    In such a game, all choose at the same time.
    """
    resolved = as_loaded_game(game)
    form = resolved.solvable()
    if not isinstance(form, NormalForm):
        raise UsageError(
            f"{resolved.name} is played in turn: use env(), which makes its AEC environment"
        )
    return MatrixEnvironment(form, rounds)


def env(game: GameLike, rounds: int = 1) -> AECEnv[str, object, object]:
    """Make the AEC environment of any game whose answers can be listed.

    `rounds` is for simultaneous choices only.
    """
    resolved = as_loaded_game(game)
    form = resolved.solvable()
    if isinstance(form, NormalForm):
        return parallel_to_aec(MatrixEnvironment(form, rounds))
    if rounds != 1:
        raise UsageError(
            f"{resolved.name} is played in turn and once; rounds={rounds} is for simultaneous"
            " choices"
        )
    return TreeEnvironment(form)


class MatrixEnvironment(ParallelEnv):  # type: ignore[misc, unused-ignore]
    """A payoff table, played once or several times.

    Agents are its players, and actions are the numbers of their actions.

    An agent observes what everybody chose in the round before, one hot, all zeros in the first.
    Infos after a step tell the regret of the action against what the others chose, and the best
    response to it.
    """

    def __init__(self, form: NormalForm, rounds: int = 1) -> None:
        if rounds < 1:
            raise UsageError(f"rounds={rounds}: expected at least 1")
        self.form = form
        self.rounds = rounds
        self.metadata = {
            "name": form.name or "matrix",
            "render_modes": [],
            "is_parallelizable": True,
        }
        self.render_mode = None
        self.possible_agents = list(form.players)
        self.agents: list[str] = []
        self._actions = {
            agent: Discrete(size) for agent, size in zip(form.players, form.shape, strict=True)
        }
        self._space = Box(0, 1, (sum(form.shape),), np.int8)
        ends = np.cumsum(form.shape)
        self._starts = [0, *ends[:-1].tolist()]
        self._round = 0
        seats = list(enumerate(form.payoffs))
        self._regrets = [payoffs.max(axis=seat, keepdims=True) - payoffs for seat, payoffs in seats]
        best = [payoffs.argmax(axis=seat, keepdims=True) for seat, payoffs in seats]
        self._responses = [np.broadcast_to(numbers, form.shape) for numbers in best]

    def observation_space(self, agent: str) -> Space[object]:
        """Return the space of one hot joint actions."""
        return self._space

    def action_space(self, agent: str) -> Space[object]:
        """Return the numbers of the agent's actions."""
        return self._actions[agent]

    def reset(
        self,
        seed: int | None = None,
        options: dict[str, object] | None = None,
    ) -> tuple[dict[str, Bits], dict[str, dict[str, object]]]:
        """Start again; nothing is drawn, so the seed changes nothing."""
        self.agents = list(self.possible_agents)
        self._round = 0
        observations = {agent: self._observe(()) for agent in self.agents}
        infos: dict[str, dict[str, object]] = {agent: {} for agent in self.agents}
        return observations, infos

    def step(
        self, actions: dict[str, int]
    ) -> tuple[
        dict[str, Bits],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, object]],
    ]:
        """Play one round with everybody's action."""
        agents = self.agents
        chosen = tuple(int(actions[agent]) for agent in agents)
        self._round += 1
        over = self._round >= self.rounds
        rewards = {agent: self.form.payoffs[seat].item(chosen) for seat, agent in enumerate(agents)}
        infos = {}
        for seat, agent in enumerate(agents):
            best = self._responses[seat].item(chosen)
            infos[agent] = {
                "regret": self._regrets[seat].item(chosen),
                "best_response": self.form.actions[seat][best],
            }
        observations = {agent: self._observe(chosen) for agent in agents}
        if over:
            self.agents = []
        return (
            observations,
            rewards,
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, False),
            infos,
        )

    def _observe(self, chosen: tuple[int, ...]) -> Bits:
        seen: Bits = np.zeros(sum(self.form.shape), dtype=np.int8)
        for start, action in zip(self._starts, chosen, strict=False):
            seen[start + action] = 1
        return seen


class TreeEnvironment(AECEnv):  # type: ignore[misc, unused-ignore]
    """A game tree: agents are its players.

    An action is the number of a move at the agent's information set.

    An agent observes its information set, one hot, and an action mask; zeros while it is not asked.
    The info of the agent that is asked names the information set and the best move against the
    equilibria found; after the move `regret` tells what it lost, the smallest over these
    equilibria. Neither is there where the tree is not solved.
    """

    def __init__(self, tree: Tree) -> None:
        super().__init__()
        self.tree = tree
        self.metadata = {
            "name": tree.name or "tree",
            "render_modes": [],
            "is_parallelizable": False,
        }
        self.render_mode = None
        self.possible_agents = list(tree.players)
        self.agents: list[str] = []
        owners = [infoset.player for infoset in tree.infosets]
        self._infoset_numbers = [
            owners[:index].count(player) for index, player in enumerate(owners)
        ]
        self._actions = {}
        self._spaces = {}
        for player, agent in enumerate(tree.players):
            moves = max(
                [len(infoset.moves) for infoset in tree.infosets if infoset.player == player],
                default=1,
            )
            known, mask = (
                Box(
                    0,
                    1,
                    (size,),
                    np.int8,
                )
                for size in (max(1, owners.count(player)), moves)
            )
            self._actions[agent] = Discrete(moves)
            self._spaces[agent] = Dict({"observation": known, "action_mask": mask})
        truth = find_truth(TreeGame(tree))
        self._truth = truth if isinstance(truth, TreeTruth) else None

    def observation_space(self, agent: str) -> Space[object]:
        """Return the space of information sets and action masks."""
        return self._spaces[agent]

    def action_space(self, agent: str) -> Space[object]:
        """Return the numbers of moves, as many as the agent ever has at once."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, object] | None = None) -> None:
        """Start again at the root; the seed draws the moves of chance."""
        if seed is not None or not hasattr(self, "_rng"):
            self._rng = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, JsonObject] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._node = 0
        self._go_on()

    def observe(self, agent: str) -> dict[str, Bits]:
        """Return what the agent knows: zeros while it is not asked."""
        seen = {name: np.zeros(space.shape, np.int8) for name, space in self._spaces[agent].items()}
        if int(self.tree.owner[self._node]) == self.possible_agents.index(agent):
            index = int(self.tree.infoset[self._node])
            seen["observation"][self._infoset_numbers[index]] = 1
            seen["action_mask"][: len(self.tree.infosets[index].moves)] = 1
        return seen

    def step(self, action: int | None) -> None:
        """Let the agent that is asked move.

        Raises InvalidMove where its information set has no such move.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        children = self.tree.children[self._node]
        if action is None or not 0 <= int(action) < len(children):
            raise InvalidMove(
                f"{agent} has {len(children)} moves here, numbered from 0; got {action}"
            )
        self._cumulative_rewards[agent] = 0.0
        values = self._find_values()
        lost = values.lose(values.answers[int(action)]) if values is not None else None
        self.infos[agent] = {} if lost is None else {"regret": lost.least}
        self._node = children[int(action)]
        self._go_on()
        self._accumulate_rewards()

    def _go_on(self) -> None:
        """Draw the moves of chance, then ask the next agent or end the game."""
        tree = self.tree
        while int(tree.owner[self._node]) == CHANCE:
            below = tree.children[self._node]
            odds = np.array([tree.probability[child] for child in below], dtype=np.float64)
            drawn = int(self._rng.choice(len(below), p=odds / odds.sum()))
            self._node = below[drawn]
        owner = int(tree.owner[self._node])
        if owner == LEAF:
            payoffs = map(float, tree.payoffs[self._node])
            self.rewards = dict(zip(self.possible_agents, payoffs, strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            return
        self._clear_rewards()
        self.agent_selection = self.possible_agents[owner]
        infoset = tree.find_infoset(self._node)
        values = self._find_values()
        best = {}
        if values is not None:
            best["best_response"] = infoset.moves[int(values.worths[0].argmax())]
        previous = {
            key: value for key, value in self.infos[self.agent_selection].items() if key == "regret"
        }
        self.infos[self.agent_selection] = {**previous, "infoset": infoset.label, **best}

    def _find_values(self) -> Values | None:
        """Return what each move earns at the current information set."""
        if self._truth is None:
            return None
        return self._truth.values_at(int(self.tree.infoset[self._node]))


for _name in (*catalogue.names(), *tree_names()):
    register(
        "aec",
        f"bestresponse/{_name}-v0",
        f"{__name__}:env",
        kwargs={"game": _name},
    )
for _name in catalogue.names():
    register(
        "parallel",
        f"bestresponse/{_name}-v0",
        f"{__name__}:parallel_env",
        kwargs={"game": _name},
    )
