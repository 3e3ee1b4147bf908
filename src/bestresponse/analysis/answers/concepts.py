"""Solution concepts by name, besides the Nash equilibria that `solve` lists: for tables, and trees in normal form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

import numpy as np

from bestresponse.analysis.answers.answer import Answer, Chart, Data, Question, Setting, Values, name_mix
from bestresponse.analysis.solve.words import cell_text, mix_text, number_text, payoff_unit, regret_text
from bestresponse.core.errors import SettingError
from bestresponse.report.document import Block, Cell, Column, KeyValues, Note, Table
from bestresponse.theory.correlation.equilibria import Objective, correlated
from bestresponse.theory.equilibria.refinements import find_perfect, find_proper
from bestresponse.theory.fitting import Levels, cognitive_hierarchy, level_k, quantal_branch
from bestresponse.theory.games.bargaining import nash_bargaining
from bestresponse.theory.games.dominance import iterated_elimination, maximin
from bestresponse.theory.games.isomorphs import name_ordinal
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["CONCEPTS"]

_LISTED = 40
_SHOWN = 5e-7


def _list_strategies(game: NormalForm, profile: Sequence[Array], gains: Sequence[float]) -> Table:
    columns = (Column("player"), Column("strategy"), Column("could gain", "right", "By deviating alone."))
    rows = tuple(
        (who, mix_text(mix, names), number_text(float(gain), unit=payoff_unit(game)))
        for who, names, mix, gain in zip(game.players, game.actions, profile, gains, strict=True)
    )
    return Table(columns, rows)


def _respond_quantally(game: NormalForm, values: Values) -> Answer:
    branch = quantal_branch(game, float(values["precision"]))
    end = branch.final
    data: Data = {
        "method": branch.method,
        "precision": end.precision,
        "strategies": name_mix(game, end.strategies),
        "gains": dict(zip(game.players, end.gains.tolist(), strict=True)),
        "gap": end.gap,
        "residual": end.residual,
    }
    note = Note(f"Method: {branch.method}, {len(branch):,} points; off the logit reply by {regret_text(end.residual)}.")
    series = {
        f"{who}: {name}": (branch.precisions, shares[:, a])
        for who, names, shares in zip(game.players, game.actions, branch.strategies, strict=True)
        for a, name in enumerate(names)
    }
    caption = "Quantal response equilibria along the branch from uniform play."
    chart = Chart(series, "precision", "probability", caption)
    return Answer(data, (note, _list_strategies(game, end.strategies, end.gains.tolist())), chart)


def _describe_levels(game: NormalForm, found: Levels) -> Answer:
    data: Data = {
        "method": found.method,
        "shares": found.shares.tolist(),
        "levels": [name_mix(game, [path[k] for path in found.strategies]) for k in range(len(found.shares))],
        "predicted": name_mix(game, found.final),
        "gains": dict(zip(game.players, found.gains.tolist(), strict=True)),
        "gap": found.gap,
    }
    columns = (Column("level", "right"), Column("share", "right", format=".4g"), *map(Column, game.players))
    rows: list[tuple[Cell, ...]] = [
        (
            k,
            float(share),
            *(mix_text(path[k], names) for path, names in zip(found.strategies, game.actions, strict=True)),
        )
        for k, share in enumerate(found.shares[:_LISTED])
    ]
    note = Note(
        f"Method: {found.method}. Largest gain from deviating from what is predicted: {regret_text(found.gap)}."
    )
    return Answer(data, (note, Table(columns, tuple(rows)), _list_strategies(game, found.final, found.gains.tolist())))


def _think_steps(game: NormalForm, values: Values) -> Answer:
    return _describe_levels(game, level_k(game, int(values["level"])))


def _think_hierarchy(game: NormalForm, values: Values) -> Answer:
    return _describe_levels(game, cognitive_hierarchy(game, float(values["tau"])))


def _correlate(game: NormalForm, values: Values, coarse: bool) -> Answer:
    objective = str(values["objective"])
    if objective not in get_args(Objective):
        raise SettingError("objective", f"expected one of {', '.join(get_args(Objective))}, got {objective!r}")
    found = correlated(game, cast(Objective, objective), coarse=coarse)
    likely = [(float(found.distribution[cell]), cell) for cell in np.ndindex(*game.shape)]
    likely = sorted((one for one in likely if one[0] > _SHOWN), key=lambda one: -one[0])
    data: Data = {
        "method": found.method,
        "objective": found.objective,
        "distribution": found.distribution.tolist(),
        "payoffs": dict(zip(game.players, found.payoffs.tolist(), strict=True)),
        "welfare": found.welfare,
        "violation": found.violation,
    }
    columns = (Column("probability", "right", format=".6g"), *map(Column, game.players))
    rows = tuple((p, *(names[a] for names, a in zip(game.actions, cell, strict=True))) for p, cell in likely[:_LISTED])
    payoffs = ", ".join(number_text(float(u), unit=payoff_unit(game)) for u in found.payoffs)
    note = Note(
        f"Best by {found.objective}: payoffs {payoffs}. Method: {found.method}; the most anybody gains by disobeying "
        f"is {regret_text(found.violation)}."
    )
    return Answer(data, (note, Table(columns, rows, "What the mediator recommends")))


def _advise(game: NormalForm, values: Values) -> Answer:
    return _correlate(game, values, coarse=False)


def _advise_coarsely(game: NormalForm, values: Values) -> Answer:
    return _correlate(game, values, coarse=True)


def _rationalize(game: NormalForm, values: Values) -> Answer:
    left = iterated_elimination(game)
    kept = {
        who: [names[a] for a in actions]
        for who, names, actions in zip(game.players, game.actions, left.kept, strict=True)
    }
    data: Data = {
        "method": "iterated strict dominance",
        "kept": kept,
        "rounds": max((s.round for s in left.steps), default=0),
    }
    items = tuple((who, ", ".join(names)) for who, names in kept.items())
    return Answer(
        data, (Note("What common knowledge of rationality leaves, beliefs being correlated."), KeyValues(items))
    )


def _secure(game: NormalForm, values: Values) -> Answer:
    levels = [maximin(game, player) for player in range(game.num_players)]
    data: Data = {
        "method": "zero-sum game against all others",
        "values": {who: level.value for who, level in zip(game.players, levels, strict=True)},
        "strategies": name_mix(game, [level.strategy for level in levels]),
    }
    columns = (Column("player"), Column("maximin", "right"), Column("by playing"))
    rows = tuple(
        (who, number_text(level.value, unit=payoff_unit(game)), mix_text(level.strategy, names))
        for who, names, level in zip(game.players, game.actions, levels, strict=True)
    )
    return Answer(data, (Table(columns, rows),))


def _bargain(game: NormalForm, values: Values) -> Answer:
    found = nash_bargaining(game)
    data: Data = {
        "method": "Nash bargaining over mixtures of cells, disagreement at the security levels",
        "payoffs": dict(zip(game.players, found.payoffs.tolist(), strict=True)),
        "disagreement": dict(zip(game.players, found.disagreement.tolist(), strict=True)),
        "weights": found.weights.tolist(),
        "gap": found.gap,
    }
    columns = (
        Column("player"),
        Column("agreement", "right", format=".6g"),
        Column("disagreement", "right", format=".6g"),
    )
    rows = tuple(
        (who, float(u), float(d)) for who, u, d in zip(game.players, found.payoffs, found.disagreement, strict=True)
    )
    cells = [(float(found.weights[cell]), cell) for cell in np.ndindex(*game.shape) if found.weights[cell] > _SHOWN]
    agreed = ", ".join(f"{p:.6g} {cell_text(game, cell)}" for p, cell in sorted(cells, reverse=True)[:_LISTED])
    return Answer(data, (Table(columns, rows), Note(f"Agreed on: {agreed}.")))


def _name(game: NormalForm, values: Values) -> Answer:
    found = name_ordinal(game)
    data: Data = {"method": "order of payoffs", "name": found.name, "row": found.row, "col": found.col}
    words = "Which of the 144 strict ordinal 2x2 games it is; only the order of each player's payoffs counts."
    return Answer(data, (Note(words), KeyValues((("name", found.name),), prominent=True)))


def _tremble(game: NormalForm, values: Values) -> Answer:
    found = find_perfect(game)
    data: Data = {
        "method": found.method,
        "complete": found.complete,
        "equilibria": [
            {"strategies": name_mix(game, e.strategies), "payoffs": e.payoffs.tolist(), "perfect": perfect}
            for e, perfect in zip(found.equilibria, found.perfect, strict=True)
        ],
    }
    columns = (Column("#", "right"), *map(Column, game.players), Column("perfect"))
    rows: list[tuple[Cell, ...]] = [
        (k, *(mix_text(mix, names) for mix, names in zip(e.strategies, game.actions, strict=True)), perfect)
        for k, (e, perfect) in enumerate(zip(found.equilibria, found.perfect, strict=True), start=1)
    ]
    note: Block = Note(f"Method: {found.method}.")
    return Answer(data, (note, Table(columns, tuple(rows[:_LISTED]), "Extreme Nash equilibria")))


def _order_mistakes(game: NormalForm, values: Values) -> Answer:
    found = find_proper(game)
    e = found.equilibrium
    exact = e.exact or (None,) * game.num_players
    data: Data = {
        "method": "limit of orderly mistakes (Myerson 1978), exact Lemke-Howson over orders of actions",
        "strategies": name_mix(game, e.strategies),
        "payoffs": dict(zip(game.players, e.payoffs.tolist(), strict=True)),
        "regret": e.regret,
        "proved": found.proved,
        "mistakes": found.mistakes,
        "trembling": name_mix(game, [np.array([float(p) for p in mix]) for mix in found.trembling]),
    }
    columns = (Column("player"), Column("plays"), Column("payoff", "right"))
    rows: list[tuple[Cell, ...]] = [
        (who, mix_text(mix, names, own), number_text(float(u), unit=payoff_unit(game)))
        for who, mix, names, own, u in zip(game.players, e.strategies, game.actions, exact, e.payoffs, strict=True)
    ]
    known = (
        "proved for all smaller mistakes" if found.proved else f"proper to mistakes of {found.mistakes:g}, not proved"
    )
    note = Note(
        f"Method: {data['method']}. One proper equilibrium, not necessarily all: mistakes of {found.mistakes:.1e} lead "
        f"to within {found.distance:.1e} of it, {known}. Regret: {regret_text(e.regret)}."
    )
    return Answer(data, (note, Table(columns, tuple(rows), "Proper equilibrium")))


_OBJECTIVE = (Setting("objective", "welfare", "welfare, fairness, entropy or any"),)
CONCEPTS: tuple[Question[NormalForm], ...] = (
    Question(
        "quantal-response",
        "Better actions are more likely: the logit equilibrium on the branch from uniform play",
        _respond_quantally,
        (Setting("precision", 5.0, "0 is noise, large is exact best response"),),
    ),
    Question(
        "level-k",
        "Level k best-responds to level k - 1, level 0 plays uniformly",
        _think_steps,
        (Setting("level", 2, "how many steps everybody thinks"),),
    ),
    Question(
        "cognitive-hierarchy",
        "Everybody best-responds to a Poisson mixture of lower levels",
        _think_hierarchy,
        (Setting("tau", 1.5, "the mean number of steps"),),
    ),
    Question("correlated", "A mediator's advice that nobody gains by disobeying", _advise, _OBJECTIVE),
    Question("coarse-correlated", "Advice to which nobody prefers one fixed action", _advise_coarsely, _OBJECTIVE),
    Question("rationalizable", "What iterated elimination of strictly dominated actions leaves", _rationalize),
    Question("maximin", "What every player can make sure of", _secure),
    Question("bargaining", "The agreement that maximises the product of gains", _bargain),
    Question("ordinal", "The name of a 2x2 game by the order of its payoffs", _name),
    Question("perfect", "Nash equilibria that survive small mistakes, of two players", _tremble),
    Question("proper", "An equilibrium that survives mistakes that are rarer the more they cost", _order_mistakes),
)  # fmt: skip
"""All concepts that can be asked for by name, of a table or of a tree in reduced normal form."""
