"""A solved game as plain data, for JSON: floats for numbers, fractions as text beside them where they are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree, TreeEquilibrium, Value
from bestresponse.core.json import JsonObject
from bestresponse.games.lookup import Found
from bestresponse.theory.equilibria.result import Component, Equilibrium
from bestresponse.theory.games.dominance import Domination
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.normal_form import find_behaviour

__all__ = ["as_data"]

Data = JsonObject


def as_data(found: Found, solved: SolvedTable | SolvedTree) -> Data:
    """One object: `game`, `method`, `equilibria`, `regret`, `value` where there is one, and all the rest."""
    head = {"game": found.name, "origin": found.origin, "description": found.description, "citation": found.citation}
    return head | (_tree(solved) if isinstance(solved, SolvedTree) else _table(solved))


def _tree(solved: SolvedTree) -> Data:
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
        **_value(solved.value),
        "equilibria": [_tree_equilibrium(e) for e in solved.equilibria],
        "remarks": list(solved.remarks),
    }
    return data | _found_by(solved)


def _found_by(solved: SolvedTree) -> Data:
    if solved.table is not None:
        keys = ("actions", "degenerate", "components", "equilibria")
        table = _table(solved.table)
        for shown, e in zip(table["equilibria"], solved.table.nash.equilibria, strict=True):
            shown["policy"] = find_behaviour(solved.tree, e.strategies).table()
        return {key: table[key] for key in keys}
    if solved.cfr is not None:
        steps = [{"iteration": c.iteration, "nash_conv": c.nash_conv} for c in solved.cfr.checkpoints]
        return {"nash_conv": solved.cfr.nash_conv, "iterations": solved.cfr.iterations, "checkpoints": steps}
    if solved.subgame_perfect is not None:
        return {"subgame_perfect": solved.subgame_perfect.count, "outcomes": list(solved.subgame_perfect.outcomes)}
    return {"nash_conv": solved.equilibria[0].nash_conv}


def _tree_equilibrium(e: TreeEquilibrium) -> Data:
    return {
        "kind": e.kind,
        "payoffs": e.payoffs,
        "payoffs_exact": None if e.exact is None else {who: str(u) for who, u in e.exact.items()},
        "regret": e.regret,
        "regrets": e.regrets,
        "nash_conv": e.nash_conv,
        "policy": e.policy.table(),
    }


def _table(solved: SolvedTable) -> Data:
    game, found = solved.game, solved.nash
    numbers = {id(e): k for k, e in enumerate(found.equilibria)}
    return {
        "form": "normal form",
        "players": list(game.players),
        "actions": _by_player(game, [list(names) for names in game.actions]),
        "payoffs": _by_player(game, game.payoffs.tolist()),
        "method": found.method,
        "complete": found.complete,
        "complete_for": list(found.complete_for),
        "mixed_searched": found.mixed_searched,
        "regret": found.regret,
        **_value(solved.value),
        "equilibria": [_equilibrium(game, e) for e in found.equilibria],
        "degenerate": found.degenerate,
        "components": [_component(c, numbers) for c in found.components],
        **_standing(solved),
        "remarks": list(solved.remarks),
    }


def _value(value: Value | None) -> Data:
    if value is None:
        return {}
    exact = None if value.exact is None else str(value.exact)
    return {"value": value.number, "value_exact": exact, "value_of": value.player, "value_gap": value.gap}


def _by_player(game: NormalForm, values: Sequence[Any]) -> Data:
    return dict(zip(game.players, values, strict=True))


def _equilibrium(game: NormalForm, e: Equilibrium) -> Data:
    exact = e.exact_payoffs
    fractions = None if e.exact is None else [[str(p) for p in mix] for mix in e.exact]
    return {
        "kind": e.kind,
        "strategies": _by_player(game, [_mix(mix, n) for mix, n in zip(e.strategies, game.actions, strict=True)]),
        "strategies_exact": None
        if fractions is None
        else _by_player(game, [dict(zip(n, mix, strict=True)) for n, mix in zip(game.actions, fractions, strict=True)]),
        "payoffs": _by_player(game, e.payoffs.tolist()),
        "payoffs_exact": None if exact is None else _by_player(game, [str(u) for u in exact]),
        "welfare": e.welfare,
        "regret": e.regret,
        "strict": e.strict,
        "index": e.index,
        "in_continuum": e.in_continuum,
        "evolutionarily_stable": e.evolutionarily_stable,
    }


def _mix(mix: Array, names: Sequence[str]) -> dict[str, float]:
    return dict(zip(names, mix.tolist(), strict=True))


def _component(component: Component, numbers: dict[int, int]) -> Data:
    return {
        "equilibria": [numbers[id(e)] for e in component.equilibria],
        "index": component.index,
        "isolated": component.isolated,
        "subsets": [{"x": s.x.tolist(), "y": s.y.tolist()} for s in component.subsets],
    }


def _standing(solved: SolvedTable) -> Data:
    """What is known besides equilibria."""
    game = solved.game
    best = solved.payoff_dominant
    return {
        "maximin": _maximin(solved),
        "dominated": None if solved.dominated is None else [_domination(game, d) for d in solved.dominated],
        "elimination": _elimination(solved),
        "efficiency": _efficiency(solved),
        "pareto_optimal": None if solved.pareto is None else [_cell(game, cell) for cell in solved.pareto],
        "payoff_dominant": None if best is None else next(k for k, e in enumerate(solved.nash.equilibria) if e is best),
        "risk_dominant": None if solved.risk_dominant is None else _cell(game, solved.risk_dominant),
        "properties": _properties(solved),
        **_correlated(solved),
    }


def _cell(game: NormalForm, cell: Sequence[int]) -> list[str]:
    return [names[a] for names, a in zip(game.actions, cell, strict=True)]


def _maximin(solved: SolvedTable) -> Data | None:
    if solved.security is None or solved.security_exact is None:
        return None
    levels = [
        {
            "value": level.value,
            "value_exact": None if exact is None else str(exact.value),
            "strategy": _mix(level.strategy, names),
            "strategy_exact": None if exact is None else dict(zip(names, map(str, exact.strategy), strict=True)),
            "pure_value": level.pure_value,
            "pure_action": names[level.pure_action],
        }
        for level, exact, names in zip(solved.security, solved.security_exact, solved.game.actions, strict=True)
    ]
    return _by_player(solved.game, levels)


def _domination(game: NormalForm, d: Domination) -> Data:
    names = game.actions[d.player]
    by = {names[a]: float(d.dominator[a]) for a in np.flatnonzero(d.dominator)}
    return {"player": game.players[d.player], "action": names[d.action], "kind": d.kind, "by": by, "margin": d.margin}


def _elimination(solved: SolvedTable) -> Data | None:
    left, game = solved.elimination, solved.game
    if left is None:
        return None
    kept = [[names[a] for a in actions] for names, actions in zip(game.actions, left.kept, strict=True)]
    steps = [
        {
            "round": step.round,
            "player": game.players[step.player],
            "action": game.actions[step.player][step.action],
            "by": {game.actions[step.player][a]: p for a, p in step.dominator},
        }
        for step in left.steps
    ]
    return {"kept": _by_player(game, kept), "steps": steps, "solved": left.solved}


def _efficiency(solved: SolvedTable) -> Data | None:
    e = solved.efficiency
    if e is None:
        return None
    return {
        "optimum": e.optimum,
        "best_equilibrium": e.best_equilibrium,
        "worst_equilibrium": e.worst_equilibrium,
        "price_of_anarchy": e.price_of_anarchy,
        "price_of_stability": e.price_of_stability,
        "complete": e.complete,
    }


def _properties(solved: SolvedTable) -> Data | None:
    kind = solved.kind
    if kind is None:
        return None
    return {
        "zero_sum": kind.zero_sum,
        "constant_sum": kind.constant_sum,
        "strategically_zero_sum": kind.strategically_zero_sum,
        "symmetric": kind.symmetric,
        "common_interest": kind.common_interest,
        "coordination": kind.coordination,
        "exact_potential": None if kind.potential is None else kind.potential.tolist(),
        "finite_improvement": kind.finite_improvement,
        "dominance_solvable": kind.dominance_solvable,
    }


def _correlated(solved: SolvedTable) -> Data:
    found = solved.correlated
    if found is None:
        return {}
    return {
        "correlated": {
            "objective": found.objective,
            "distribution": found.distribution.tolist(),
            "payoffs": _by_player(solved.game, found.payoffs.tolist()),
            "welfare": found.welfare,
            "violation": found.violation,
            "method": found.method,
        }
    }
