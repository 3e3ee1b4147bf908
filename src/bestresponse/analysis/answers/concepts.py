"""Solution concepts by name, besides the Nash equilibria that `solve` lists: for tables, and for trees."""

from __future__ import annotations

from functools import partial
from typing import cast, get_args

import numpy as np

from bestresponse import theory
from bestresponse.analysis.answers.answer import Answer, Chart, Question, Setting, Values
from bestresponse.analysis.solve.data import describe_correlated, list_cells, name_mix, name_players
from bestresponse.core.json import JsonObject
from bestresponse.theory.correlation.equilibria import Objective
from bestresponse.theory.fitting import Levels, QuantalBranch
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Policy, Tree


def _respond_quantally(game: NormalForm, values: Values) -> Answer:
    branch = theory.quantal_branch(game, float(values["precision"]))
    played = {"strategies": name_mix(game, branch.final.strategies)}
    return _describe_quantal(branch, dict(zip(game.players, game.actions, strict=True)), played)


def _respond_as_agents(tree: Tree, values: Values) -> Answer:
    branch = theory.agent_quantal_branch(tree, float(values["precision"]))
    agents = {f"{tree.players[infoset.player]} at {infoset.label}": infoset.moves for infoset in tree.infosets}
    policy = Policy(tree, np.concatenate(branch.final.strategies))
    return _describe_quantal(branch, agents, {"policy": policy.table()})


def _describe_quantal(branch: QuantalBranch, choosers: dict[str, tuple[str, ...]], played: JsonObject) -> Answer:
    end = branch.final
    series = {
        f"{chooser}: {name}": (branch.precisions, shares[:, a])
        for (chooser, names), shares in zip(choosers.items(), branch.strategies, strict=True)
        for a, name in enumerate(names)
    }
    data = {
        "method": branch.method,
        "precision": end.precision,
        **played,
        "gains": dict(zip(choosers, end.gains.tolist(), strict=True)),
        "gap": end.gap,
        "residual": end.residual,
    }
    caption = "Quantal response equilibria along the branch from uniform play."
    return Answer(data, Chart(series, "precision", "probability", caption))


def _describe_levels(game: NormalForm, found: Levels) -> Answer:
    levels = [
        {"share": share, "strategies": name_mix(game, [path[k] for path in found.strategies])}
        for k, share in enumerate(found.shares.tolist())
    ]
    played = {"predicted": name_mix(game, found.final), "gains": name_players(game, found.gains)}
    return Answer({"method": found.method, **played, "gap": found.gap, "levels": levels})


def _correlate(game: NormalForm, values: Values, *, coarse: bool = False) -> Answer:
    objective = cast(Objective, values["objective"])
    return Answer(describe_correlated(game, theory.correlated(game, objective, coarse=coarse)))


_correlate_coarsely = partial(_correlate, coarse=True)


def _rationalize(game: NormalForm, values: Values) -> Answer:
    left = theory.iterated_elimination(game)
    seats = zip(game.players, game.actions, left.kept, strict=True)
    kept = {who: [names[a] for a in actions] for who, names, actions in seats}
    rounds = max((s.round for s in left.steps), default=0)
    return Answer({"method": "iterated strict dominance", "kept": kept, "rounds": rounds})


def _secure(game: NormalForm, values: Values) -> Answer:
    levels = [theory.maximin(game, player) for player in range(game.num_players)]
    earned = {who: level.value for who, level in zip(game.players, levels, strict=True)}
    strategies = name_mix(game, [level.strategy for level in levels])
    return Answer({"method": "zero-sum game against all others", "values": earned, "strategies": strategies})


def _bargain(game: NormalForm, values: Values) -> Answer:
    found = theory.nash_bargaining(game)
    return Answer(
        {
            "method": "Nash bargaining over mixtures of cells, disagreement at the security levels",
            "payoffs": name_players(game, found.payoffs),
            "disagreement": name_players(game, found.disagreement),
            "gap": found.gap,
            "agreed": list_cells(game, found.weights),
            "weights": found.weights.tolist(),
        }
    )


def _name(game: NormalForm, values: Values) -> Answer:
    found = theory.name_ordinal(game)
    method = "order of each player's payoffs, which tells the 144 strict ordinal 2x2 games apart"
    return Answer({"method": method, "name": found.name, "row": found.row, "col": found.col})


def _tremble(game: NormalForm, values: Values) -> Answer:
    found = theory.find_perfect(game)
    equilibria = [
        {"strategies": name_mix(game, e.strategies), "payoffs": name_players(game, e.payoffs), "perfect": perfect}
        for e, perfect in zip(found.equilibria, found.perfect, strict=True)
    ]
    return Answer({"method": found.method, "complete": found.complete, "equilibria": equilibria})


def _order_mistakes(game: NormalForm, values: Values) -> Answer:
    found = theory.find_proper(game)
    e = found.equilibrium
    return Answer(
        {
            "method": "limit of orderly mistakes (Myerson 1978), exact Lemke-Howson over orders of actions; one proper "
            "equilibrium, not necessarily all",
            "strategies": name_mix(game, e.strategies),
            "payoffs": name_players(game, e.payoffs),
            "regret": e.regret,
            "proved": found.proved,
            "mistakes": found.mistakes,
            "distance": found.distance,
            "trembling": name_mix(game, [np.array([float(p) for p in mix]) for mix in found.trembling]),
        }
    )


def _solve_subgames(tree: Tree, values: Values) -> Answer:
    found = theory.solve_subgames(tree, int(values["limit"]))
    equilibria = [
        {"payoffs": name_players(tree, payoffs), "policy": policy.table()}
        for policy, payoffs in zip(found.policies, found.payoffs, strict=True)
    ]
    extent = {"complete": found.complete, "subgames": found.num_subgames}
    return Answer({"method": "subgames from the last to the first", **extent, "equilibria": equilibria})


def _solve_sequentially(tree: Tree, values: Values) -> Answer:
    found = theory.find_sequential(tree)
    beliefs = []
    for k, infoset in enumerate(tree.infosets):
        nodes = {tree.path(node): float(found.beliefs[node]) for node in np.flatnonzero(tree.infoset == k).tolist()}
        beliefs.append({"player": tree.players[infoset.player], "information_set": infoset.label, "nodes": nodes})
    certificate = {"method": found.method, "payoffs": found.payoffs, "gap": found.gap}
    return Answer({**certificate, "policy": found.policy.table(), "beliefs": beliefs})


_PRECISION = (Setting("precision", 5.0, "0 is noise, large is exact best response"),)
_OBJECTIVE = (Setting("objective", "welfare", "welfare, fairness, entropy or any", get_args(Objective)),)
CONCEPTS: tuple[Question[NormalForm], ...] = (
    Question(
        "quantal-response",
        "Better actions are more likely: the logit equilibrium on the branch from uniform play",
        _respond_quantally,
        _PRECISION,
    ),
    Question(
        "level-k",
        "Level k best-responds to level k - 1, level 0 plays uniformly",
        lambda game, values: _describe_levels(game, theory.level_k(game, int(values["level"]))),
        (Setting("level", 2, "how many steps everybody thinks"),),
    ),
    Question(
        "cognitive-hierarchy",
        "Everybody best-responds to a Poisson mixture of lower levels",
        lambda game, values: _describe_levels(game, theory.cognitive_hierarchy(game, float(values["tau"]))),
        (Setting("tau", 1.5, "the mean number of steps"),),
    ),
    Question("correlated", "A mediator's advice that nobody gains by disobeying", _correlate, _OBJECTIVE),
    Question("coarse-correlated", "Advice to which nobody prefers one fixed action", _correlate_coarsely, _OBJECTIVE),
    Question("rationalizable", "What iterated elimination of strictly dominated actions leaves", _rationalize),
    Question("maximin", "What every player can make sure of", _secure),
    Question("bargaining", "The agreement that maximises the product of gains", _bargain),
    Question("ordinal", "The name of a 2x2 game by the order of its payoffs", _name),
    Question("perfect", "Nash equilibria that survive small mistakes, of two players", _tremble),
    Question("proper", "An equilibrium that survives mistakes that are rarer the more they cost", _order_mistakes),
)
"""All concepts that can be asked for by name, of a table or of a tree in reduced normal form."""
TREE_CONCEPTS: tuple[Question[Tree], ...] = (
    Question(
        "subgame-perfect",
        "Equilibria of every subgame, with hidden and simultaneous moves, mixed ones too",
        _solve_subgames,
        (Setting("limit", 200, "how many equilibria are listed at most"),),
    ),
    Question("sequential", "An equilibrium with beliefs that holds at every information set", _solve_sequentially),
    Question(
        "agent-quantal-response",
        "Better moves are more likely at every information set: the agent logit equilibrium on the branch from noise",
        _respond_as_agents,
        _PRECISION,
    ),
)
"""All concepts that can be asked for by name, of a tree only."""
