"""A solved game as plain data, for JSON: floats for numbers, fractions as text beside them where
they are known."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import numpy as np

from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree, Value
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


def as_data(game: LoadedGame, solved: SolvedTable | SolvedTree) -> JsonObject:
    """Give one object: `game`, `method`, `equilibria`, `regret`, `value` where there is one, and
    all the rest."""
    head = {
        "game": game.name,
        "origin": game.origin,
        "description": game.description,
        "citation": game.citation,
    }
    return head | (
        _describe_tree(solved) if isinstance(solved, SolvedTree) else _describe_table(solved)
    )


def name_mix(game: NormalForm, profile: Iterable[Array]) -> dict[str, dict[str, float]]:
    """Name players and actions of a profile."""
    return {
        player: dict(zip(names, np.asarray(mix).tolist(), strict=True))
        for player, names, mix in zip(game.players, game.actions, profile, strict=True)
    }


def name_players(game: NormalForm | Tree, numbers: Array) -> dict[str, float]:
    """Give every player its number."""
    return dict(zip(game.players, numbers.tolist(), strict=True))


def list_cells(game: NormalForm, distribution: Array) -> list[dict[str, object]]:
    """List the cells that a distribution makes likely, likeliest first, with the action of every
    player."""
    likely = [
        (float(distribution[cell]), cell)
        for cell in np.ndindex(*game.shape)
        if distribution[cell] > _SHOWN
    ]
    return [
        {"probability": p, **_name_cell(game, cell)}
        for p, cell in sorted(likely, key=lambda pair: -pair[0])
    ]


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
        "equilibria": [
            {
                "kind": e.kind,
                "payoffs": e.payoffs,
                "payoffs_exact": (
                    None if e.exact is None else {player: str(u) for player, u in e.exact.items()}
                ),
                "regret": e.regret,
                "regrets": e.regrets,
                "nash_conv": e.nash_conv,
                "policy": e.policy.table(),
            }
            for e in solved.equilibria
        ],
        "remarks": list(solved.remarks),
    }
    if solved.table is not None:
        table = _describe_table(solved.table)
        for shown, e in zip(table["equilibria"], solved.table.nash.equilibria, strict=True):
            shown["policy"] = find_behaviour(solved.tree, e.strategies).table()
        shared = ("engine", "actions", "degenerate", "components", "continua", "equilibria")
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


def _describe_table(solved: SolvedTable) -> JsonObject:
    game = solved.game
    nash = solved.nash
    numbers = {id(e): k for k, e in enumerate(nash.equilibria)}
    kind = solved.kind
    best = solved.payoff_dominant
    risky = solved.risk_dominant
    components = [
        {
            "equilibria": [numbers[id(e)] for e in component.equilibria],
            "index": component.index,
            "isolated": component.isolated,
            "subsets": [{"x": s.x.tolist(), "y": s.y.tolist()} for s in component.subsets],
        }
        for component in nash.components
    ]
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
        "continua": [
            {
                "dimension": continuum.dimension,
                "ends": [name_mix(game, end) for end in continuum.ends],
                "inner": name_mix(game, continuum.inner),
            }
            for continuum in nash.continua
        ],
        "maximin": _describe_security(solved),
        "dominated": _describe_dominated(solved),
        "elimination": _describe_elimination(solved),
        "efficiency": None if solved.efficiency is None else asdict(solved.efficiency),
        "pareto_optimal": (
            None
            if solved.pareto is None
            else [[*_name_cell(game, c).values()] for c in solved.pareto]
        ),
        "payoff_dominant": None if best is None else numbers[id(best)],
        "risk_dominant": None if risky is None else [*_name_cell(game, risky).values()],
        "properties": None if kind is None else _describe_kind(kind),
        **(
            {}
            if solved.correlated is None
            else {"correlated": describe_correlated(game, solved.correlated)}
        ),
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


def _name_cell(game: NormalForm, cell: Sequence[int]) -> dict[str, str]:
    return {
        player: names[a] for player, names, a in zip(game.players, game.actions, cell, strict=True)
    }


def _describe_equilibrium(game: NormalForm, e: Equilibrium) -> dict[str, object]:
    exact = None
    if e.exact is not None:
        fractions = zip(game.actions, e.exact, strict=True)
        exact = _by_player(
            game, (dict(zip(names, map(str, mix), strict=True)) for names, mix in fractions)
        )
    known = e.strict or e.evolutionarily_stable or e.index is not None or e.in_continuum
    return {
        "kind": e.kind,
        "strategies": name_mix(game, e.strategies),
        "strategies_exact": exact,
        "payoffs": name_players(game, e.payoffs),
        "payoffs_exact": (
            None if e.exact_payoffs is None else _by_player(game, map(str, e.exact_payoffs))
        ),
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
    levels = [
        {
            "value": level.value,
            "value_exact": None if level.exact is None else str(level.exact[0]),
            "strategy": dict(zip(names, level.strategy.tolist(), strict=True)),
            "strategy_exact": (
                None
                if level.exact is None
                else dict(zip(names, map(str, level.exact[1]), strict=True))
            ),
            "pure_value": level.pure_value,
            "pure_action": names[level.pure_action],
        }
        for level, names in zip(solved.security, solved.game.actions, strict=True)
    ]
    return _by_player(solved.game, levels)


def _describe_dominated(solved: SolvedTable) -> list[dict[str, object]] | None:
    if solved.dominated is None:
        return None
    players = solved.game.players
    actions = solved.game.actions
    return [
        {
            "player": players[d.player],
            "action": actions[d.player][d.action],
            "kind": d.kind,
            "by": {
                actions[d.player][a]: float(d.dominator[a]) for a in np.flatnonzero(d.dominator)
            },
            "margin": d.margin,
        }
        for d in solved.dominated
    ]


def _describe_elimination(solved: SolvedTable) -> dict[str, object] | None:
    left = solved.elimination
    game = solved.game
    if left is None:
        return None
    kept = (
        [names[a] for a in actions] for names, actions in zip(game.actions, left.kept, strict=True)
    )
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
