"""A solved game as plain data for JSON.

Numbers are floats, with fractions as text beside them if they are known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import numpy as np

from bestresponse.analysis.solve.positions import SolvedPositions
from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree, TreeEquilibrium, Value
from bestresponse.core.json import JsonObject
from bestresponse.games.lookup import LoadedGame
from bestresponse.theory.correlation.equilibria import CorrelatedEquilibrium
from bestresponse.theory.equilibria.result import Equilibrium
from bestresponse.theory.games.classification import GameKind
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.normal_form import find_behaviour
from bestresponse.theory.trees.tree import Tree

_SHOWN = 5e-7
"""Cells of a distribution that are less likely are rounding."""


def as_data(game: LoadedGame, solved: SolvedTable | SolvedTree | SolvedPositions) -> JsonObject:
    """Give one object: `game`, `method`, `equilibria`, `regret` and all the rest.

    It has `value` only if there is one.
    """
    head = {
        "game": game.name,
        "origin": game.origin,
        "description": game.description,
        "citation": game.citation,
    }
    if isinstance(solved, SolvedPositions):
        return head | solved.describe()
    if isinstance(solved, SolvedTree):
        return head | _describe_tree(solved)
    return head | _describe_table(solved)


def name_mix(game: NormalForm, profile: Iterable[Array]) -> dict[str, dict[str, float]]:
    """Name players and actions of a profile."""
    named = {}
    for player, names, mix in zip(game.players, game.actions, profile, strict=True):
        shares = np.asarray(mix).tolist()
        named[player] = dict(zip(names, shares, strict=True))
    return named


def name_players(game: NormalForm | Tree, numbers: Array) -> dict[str, float]:
    """Give every player its number."""
    return dict(zip(game.players, numbers.tolist(), strict=True))


def list_cells(game: NormalForm, distribution: Array) -> list[dict[str, object]]:
    """List the cells that a distribution makes likely, likeliest first.

    Each cell comes with the action of every player.
    """
    likely = [cell for cell in np.ndindex(*game.shape) if distribution[cell] > _SHOWN]
    listed = []
    for cell in sorted(likely, key=lambda cell: -distribution[cell]):
        actions = _by_player(game, _list_actions(game, cell))
        listed.append({"probability": float(distribution[cell]), **actions})
    return listed


def describe_correlated(game: NormalForm, correlated: CorrelatedEquilibrium) -> dict[str, object]:
    """Describe what a mediator recommends, what that earns and what anybody gains by disobeying."""
    return {
        "method": correlated.method,
        "objective": correlated.objective,
        "payoffs": name_players(game, correlated.payoffs),
        "welfare": correlated.welfare,
        "violation": correlated.violation,
        "recommended": list_cells(game, correlated.distribution),
        "distribution": correlated.distribution.tolist(),
    }


def _describe_tree(solved: SolvedTree) -> dict[str, object]:
    tree = solved.tree
    data = {
        "form": "tree",
        "players": list(tree.players),
        "nodes": tree.num_nodes,
        "leaves": len(tree.leaves),
        "information_sets": len(tree.infosets),
        "perfect_information": tree.is_perfect_information,
        "perfect_recall": True,
        "constant_sum": tree.is_constant_sum,
        "method": solved.method,
        "complete": solved.complete,
        "complete_for": list(solved.complete_for),
        "regret": solved.regret,
        **_describe_value(solved.value),
        "equilibria": list(map(_describe_tree_equilibrium, solved.equilibria)),
        "remarks": list(solved.remarks),
    }
    if solved.table is not None:
        table = _describe_table(solved.table)
        for shown, e in zip(table["equilibria"], solved.table.nash.equilibria, strict=True):
            shown["policy"] = find_behaviour(solved.tree, e.strategies).table()
        shared = (
            "engine",
            "actions",
            "degenerate",
            "components",
            "continua",
            "equilibria",
        )
        return data | {key: table[key] for key in shared}
    if solved.cfr is not None:
        steps = [
            {"iteration": c.iteration, "nash_conv": c.nash_conv} for c in solved.cfr.checkpoints
        ]
        ran = {"nash_conv": solved.cfr.nash_conv, "iterations": solved.cfr.iterations}
        return data | ran | {"checkpoints": steps, "engine": solved.cfr.engine}
    if solved.subgame_perfect is not None:
        perfect = solved.subgame_perfect
        return data | {"subgame_perfect": perfect.count, "outcomes": list(perfect.outcomes)}
    return data | {"nash_conv": solved.equilibria[0].nash_conv}


def _describe_tree_equilibrium(e: TreeEquilibrium) -> dict[str, object]:
    exact = None
    if e.exact is not None:
        exact = {player: str(payoff) for player, payoff in e.exact.items()}
    return {
        "kind": e.kind,
        "payoffs": e.payoffs,
        "payoffs_exact": exact,
        "regret": e.regret,
        "regrets": e.regrets,
        "nash_conv": e.nash_conv,
        "policy": e.policy.table(),
    }


def _describe_table(solved: SolvedTable) -> JsonObject:
    game = solved.game
    nash = solved.nash
    numbers = {id(e): k for k, e in enumerate(nash.equilibria)}
    kind = solved.kind
    best = solved.payoff_dominant
    risky = solved.risk_dominant
    components = []
    for component in nash.components:
        subsets = []
        for subset in component.subsets:
            seats = [game.players[seat] for seat in subset.players]
            corners = {"x": subset.x.tolist(), "y": subset.y.tolist()}
            subsets.append({"players": seats, **corners})
        components.append(
            {
                "equilibria": [numbers[id(e)] for e in component.equilibria],
                "index": component.index,
                "isolated": component.isolated,
                "subsets": subsets,
            }
        )
    continua = []
    for continuum in nash.continua:
        ends = [name_mix(game, end) for end in continuum.ends]
        inner = name_mix(game, continuum.inner)
        continua.append({"dimension": continuum.dimension, "ends": ends, "inner": inner})
    pareto = None
    if solved.pareto is not None:
        pareto = [_list_actions(game, cell) for cell in solved.pareto]
    correlated: JsonObject = {}
    if solved.correlated is not None:
        correlated = {"correlated": describe_correlated(game, solved.correlated)}
    return {
        "form": "normal form",
        "players": list(game.players),
        "actions": _by_player(game, map(list, game.actions)),
        "payoffs": _by_player(game, game.payoffs.tolist()),
        "method": nash.method,
        "engine": nash.engine,
        "complete": nash.complete,
        "complete_for": list(nash.complete_for),
        "mixed_searched": nash.mixed_searched,
        "regret": nash.regret,
        **_describe_value(solved.value),
        "equilibria": [_describe_equilibrium(game, e) for e in nash.equilibria],
        "degenerate": nash.degenerate,
        "components": components,
        "continua": continua,
        "maximin": _describe_security(solved),
        "dominated": _describe_dominated(solved),
        "elimination": _describe_elimination(solved),
        "efficiency": None if solved.efficiency is None else asdict(solved.efficiency),
        "pareto_optimal": pareto,
        "payoff_dominant": None if best is None else numbers[id(best)],
        "risk_dominant": None if risky is None else _list_actions(game, risky),
        "properties": None if kind is None else _describe_kind(kind),
        **correlated,
        "remarks": list(solved.remarks),
    }


def _describe_kind(kind: GameKind) -> dict[str, object]:
    properties = asdict(kind)
    potential = properties.pop("potential")
    return properties | {"exact_potential": None if potential is None else potential.tolist()}


def _describe_value(value: Value | None) -> dict[str, object]:
    if value is None:
        return {}
    exact = None if value.exact is None else str(value.exact)
    return {
        "value": value.number,
        "value_exact": exact,
        "value_of": value.player,
        "value_gap": value.gap,
    }


def _by_player(game: NormalForm, values: Iterable[object]) -> dict[str, object]:
    return dict(zip(game.players, values, strict=True))


def _list_actions(game: NormalForm, cell: Sequence[int]) -> list[str]:
    """Return the names of the actions that lead to a cell."""
    return [names[action] for names, action in zip(game.actions, cell, strict=True)]


def _describe_equilibrium(game: NormalForm, e: Equilibrium) -> dict[str, object]:
    exact = None
    if e.exact is not None:
        mixes = []
        for names, mix in zip(game.actions, e.exact, strict=True):
            mixes.append(dict(zip(names, map(str, mix), strict=True)))
        exact = _by_player(game, mixes)
    payoffs_exact = None
    if e.exact_payoffs is not None:
        payoffs_exact = _by_player(game, map(str, e.exact_payoffs))
    known = e.strict or e.evolutionarily_stable or e.index is not None or e.in_continuum
    return {
        "kind": e.kind,
        "strategies": name_mix(game, e.strategies),
        "strategies_exact": exact,
        "payoffs": name_players(game, e.payoffs),
        "payoffs_exact": payoffs_exact,
        "welfare": e.welfare,
        "regret": e.regret,
        "strict": e.strict,
        "index": e.index,
        "in_continuum": e.in_continuum,
        "evolutionarily_stable": e.evolutionarily_stable,
        "stability": e.stability if known else "",
    }


def _describe_security(solved: SolvedTable) -> dict[str, object] | None:
    if solved.security is None:
        return None
    levels = []
    for level, names in zip(solved.security, solved.game.actions, strict=True):
        value_exact = None
        strategy_exact = None
        if level.exact is not None:
            value, mix = level.exact
            value_exact = str(value)
            strategy_exact = dict(zip(names, map(str, mix), strict=True))
        levels.append(
            {
                "value": level.value,
                "value_exact": value_exact,
                "strategy": dict(zip(names, level.strategy.tolist(), strict=True)),
                "strategy_exact": strategy_exact,
                "pure_value": level.pure_value,
                "pure_action": names[level.pure_action],
            }
        )
    return _by_player(solved.game, levels)


def _describe_dominated(solved: SolvedTable) -> list[dict[str, object]] | None:
    if solved.dominated is None:
        return None
    described = []
    for dominated in solved.dominated:
        names = solved.game.actions[dominated.player]
        mixed = np.flatnonzero(dominated.dominator)
        described.append(
            {
                "player": solved.game.players[dominated.player],
                "action": names[dominated.action],
                "kind": dominated.kind,
                "by": {names[action]: float(dominated.dominator[action]) for action in mixed},
                "margin": dominated.margin,
            }
        )
    return described


def _describe_elimination(solved: SolvedTable) -> dict[str, object] | None:
    left = solved.elimination
    game = solved.game
    if left is None:
        return None
    kept = []
    for names, actions in zip(game.actions, left.kept, strict=True):
        kept.append([names[action] for action in actions])
    steps = []
    for step in left.steps:
        names = game.actions[step.player]
        steps.append(
            {
                "round": step.round,
                "player": game.players[step.player],
                "action": names[step.action],
                "by": {names[action]: share for action, share in step.dominator},
            }
        )
    return {"kept": _by_player(game, kept), "steps": steps, "solved": left.solved}
