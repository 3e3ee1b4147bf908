"""A solved table as a document: payoffs, equilibria, each player's position, and the kind of game."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestresponse.analysis.solve.payoff_tables import payoff_blocks
from bestresponse.analysis.solve.solution import SolvedTable
from bestresponse.analysis.solve.words import cell_text, mix_text, number_text, payoff_unit, regret_text
from bestresponse.report.document import Block, Cell, Column, KeyValues, Note, Section, Table
from bestresponse.theory.equilibria.result import Component, Concept, Equilibrium, NashResult
from bestresponse.theory.games.dominance import Elimination
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["equilibrium_blocks", "extent_text", "method_text", "table_sections"]

_LISTED = 40
_NAMED = 12
_SHOWN = 5e-7


def table_sections(solved: SolvedTable) -> tuple[Section, ...]:
    """The sections, those that the size of the game left empty left out."""
    sections = (
        Section("Payoffs", payoff_blocks(solved.game)),
        Section("Equilibria", equilibrium_blocks(solved)),
        Section("Players", _player_blocks(solved)),
        Section("Efficiency and selection", _efficiency_blocks(solved)),
        Section("Kind of game", _kind_blocks(solved)),
        Section("Correlated equilibrium", _correlated_blocks(solved)),
    )
    return tuple(section for section in sections if section.blocks)


def method_text(method: str, extent: str, regret: float) -> str:
    """Say how the equilibria were found, which are listed and how sure they are."""
    return f"Method: {method}; {extent}. Largest regret: {regret_text(regret)}."


def extent_text(complete_for: Sequence[Concept], mixed_searched: bool = True) -> str:
    """Say of which solution concept all equilibria are listed.

    >>> extent_text(("pure Nash",), mixed_searched=False)
    'all pure Nash equilibria; mixed equilibria were not searched'
    """
    match complete_for:
        case ("Nash", *_):
            return "all Nash equilibria"
        case ("extreme Nash", *_):
            return "all extreme Nash equilibria, with the sets they span"
        case ("isolated Nash", *_):
            return "all isolated Nash equilibria, and points of every continuum"
        case ("pure Nash", *_):
            others = "there may be more mixed ones" if mixed_searched else "mixed equilibria were not searched"
            return f"all pure Nash equilibria; {others}"
        case ("pure subgame perfect", *_):
            return "all pure subgame perfect equilibria; other Nash equilibria were not searched"
        case _:
            return "not necessarily all equilibria"


def equilibrium_blocks(solved: SolvedTable) -> tuple[Block, ...]:
    """The value, the equilibria and the components they form."""
    game, found = solved.game, solved.nash
    blocks: list[Block] = []
    if solved.value is not None:
        shown = number_text(solved.value.number, solved.value.exact, unit=payoff_unit(game))
        blocks.append(KeyValues(((f"Value to {solved.value.player}", shown),), prominent=True))
    blocks.append(Note(method_text(found.method, extent_text(found.complete_for, found.mixed_searched), found.regret)))
    blocks += [Note(_sentence(remark), "warning") for remark in solved.remarks]
    if found.equilibria:
        blocks.append(_equilibrium_table(game, found))
    blocks += _components(game, found)
    return tuple(blocks)


def _sentence(remark: str) -> str:
    return f"{remark[:1].upper()}{remark[1:]}."


def _equilibrium_table(game: NormalForm, found: NashResult) -> Table:
    columns = (Column("#", "right"), Column("kind"), *map(Column, game.players), Column("payoffs"), Column("stability"))
    rows: list[tuple[Cell, ...]] = [
        (k, e.kind, *_strategies(game, e), _payoffs(game, e), e.stability if _indexed(e) else "")
        for k, e in enumerate(found.equilibria[:_LISTED], start=1)
    ]
    more = len(found.equilibria) - len(rows)
    what = "Extreme equilibria" if found.complete and found.degenerate else "Equilibria"
    return Table(
        columns, tuple(rows), f"{what} (the first {_LISTED}; {more:,} more in the JSON form)" if more else what
    )


def _indexed(e: Equilibrium) -> bool:
    """Whether anything is known of its stability."""
    return e.strict or bool(e.evolutionarily_stable) or e.index is not None or e.in_continuum


def _strategies(game: NormalForm, e: Equilibrium) -> list[str]:
    exact = e.exact or (None,) * game.num_players
    return [mix_text(x, names, f) for x, names, f in zip(e.strategies, game.actions, exact, strict=True)]


def _payoffs(game: NormalForm, e: Equilibrium) -> str:
    exact = e.exact_payoffs or (None,) * game.num_players
    unit = payoff_unit(game)
    return ", ".join(number_text(float(u), f, unit=unit) for u, f in zip(e.payoffs, exact, strict=True))


def _components(game: NormalForm, found: NashResult) -> list[Block]:
    numbers = {id(e): k for k, e in enumerate(found.equilibria, start=1)}
    large = [c for c in found.components if not c.isolated]
    if not large:
        return []
    columns = (
        Column("component"),
        Column("index", "right", "A component of index other than 0 survives small changes of the payoffs."),
        Column("extreme equilibria"),
        Column("sets", help="Every mixture of the first list with every mixture of the second is an equilibrium."),
    )
    rows = [(k, c.index, _listed(c, numbers), _sets(game, c)) for k, c in enumerate(large[:_LISTED], start=1)]
    note = Note("The game is degenerate: whole sets of equilibria lie between the extreme ones listed.")
    return [note, Table(columns, tuple(rows), "Components with more than one equilibrium")]


def _listed(component: Component, numbers: dict[int, int]) -> str:
    return ", ".join(f"#{numbers[id(e)]}" for e in component.equilibria)


def _sets(game: NormalForm, component: Component) -> str:
    parts = []
    for subset in component.subsets:
        sides = enumerate((subset.x, subset.y))
        texts = ["; ".join(_corner(game, component, player, row) for row in rows) for player, rows in sides]
        parts.append(" x ".join(f"{{{text}}}" for text in texts))
    return " and ".join(parts)


def _corner(game: NormalForm, component: Component, player: int, mix: Array) -> str:
    """A strategy of the component, exact where its equilibrium is."""
    fits = (e for e in component.equilibria if e.exact and np.array_equal(e.strategies[player], mix))
    same = next(fits, None)
    exact = same.exact[player] if same is not None and same.exact is not None else None
    return mix_text(mix, game.actions[player], exact)


def _player_blocks(solved: SolvedTable) -> tuple[Block, ...]:
    if solved.security is None or solved.dominated is None or solved.elimination is None:
        return ()
    columns = (
        Column("player"),
        Column("maximin", "right", "What the player can make sure of with a mixed strategy."),
        Column("by playing"),
        Column("pure maximin", "right", "What it can make sure of with one action."),
        Column("dominated actions"),
        Column("left after iterated elimination"),
    )
    unit = payoff_unit(solved.game)
    rows: list[tuple[Cell, ...]] = []
    for player, (who, level) in enumerate(zip(solved.game.players, solved.security, strict=True)):
        names = solved.game.actions[player]
        exact = (solved.security_exact or (None,) * solved.game.num_players)[player]
        secure = mix_text(level.strategy, names, exact.strategy if exact else None)
        sure = number_text(level.value, exact.value if exact else None, unit=unit)
        kept = _kept(names, solved.elimination.kept[player])
        pure = f"{number_text(level.pure_value, unit=0.0)} ({names[level.pure_action]})"
        rows.append((who, sure, secure, pure, _dominated(solved, player), kept))
    return (Table(columns, tuple(rows)), *_steps(solved.game, solved.elimination))


def _kept(names: tuple[str, ...], kept: tuple[int, ...]) -> str:
    if len(kept) == len(names):
        return "all"
    shown = ", ".join(names[a] for a in kept[:_NAMED])
    return f"{shown} and {len(kept) - _NAMED:,} more" if len(kept) > _NAMED else shown


def _dominated(solved: SolvedTable, player: int) -> str | None:
    names = solved.game.actions[player]
    own = [d for d in solved.dominated or () if d.player == player]
    texts = [f"{names[d.action]} ({d.kind}ly, by {mix_text(d.dominator, names)})" for d in own]
    more = f" and {len(own) - _NAMED:,} more" if len(own) > _NAMED else ""
    return "; ".join(texts[:_NAMED]) + more if own else None


def _steps(game: NormalForm, left: Elimination) -> tuple[Block, ...]:
    if not left.steps:
        return ()
    columns = (Column("round", "right"), Column("player"), Column("eliminated"), Column("dominated by"))
    rows = []
    for step in left.steps[:_LISTED]:
        names = game.actions[step.player]
        by = np.zeros(len(names))
        for action, share in step.dominator:
            by[action] = share
        rows.append((step.round, game.players[step.player], names[step.action], mix_text(by, names)))
    return (Table(columns, tuple(rows), "Iterated elimination of strictly dominated actions"),)


def _efficiency_blocks(solved: SolvedTable) -> tuple[Block, ...]:
    items: list[tuple[str, Cell]] = []
    if solved.efficiency is not None:
        e = solved.efficiency
        items += [
            ("largest welfare (sum of payoffs)", number_text(e.optimum, unit=0.0)),
            ("welfare at the best equilibrium", number_text(e.best_equilibrium, unit=0.0)),
            ("welfare at the worst equilibrium", number_text(e.worst_equilibrium, unit=0.0)),
            ("price of anarchy" if e.complete else "price of anarchy, at least", _ratio(e.price_of_anarchy)),
            ("price of stability" if e.complete else "price of stability, at most", _ratio(e.price_of_stability)),
        ]
    if solved.pareto is not None:
        items.append(("Pareto-optimal cells", _cells(solved.game, solved.pareto)))
    if len(solved.nash.equilibria) > 1:
        best = solved.payoff_dominant
        items.append(
            ("payoff-dominant equilibrium", None if best is None else ", ".join(_strategies(solved.game, best)))
        )
        if solved.game.num_players == 2:
            risk = solved.risk_dominant
            items.append(("risk-dominant equilibrium", None if risk is None else cell_text(solved.game, risk)))
    return (KeyValues(tuple(items)),) if items else ()


def _ratio(ratio: float | None) -> str:
    return "undefined (welfare is not positive)" if ratio is None else number_text(ratio)


def _cells(game: NormalForm, cells: tuple[tuple[int, ...], ...]) -> str:
    shown = ", ".join(cell_text(game, cell) for cell in cells[:_NAMED])
    return f"{shown} and {len(cells) - _NAMED:,} more" if len(cells) > _NAMED else shown


def _kind_blocks(solved: SolvedTable) -> tuple[Block, ...]:
    kind = solved.kind
    if kind is None:
        return ()
    items: tuple[tuple[str, Cell], ...] = (
        ("zero-sum", kind.zero_sum),
        ("constant-sum", kind.constant_sum),
        ("strategically zero-sum", kind.strategically_zero_sum),
        ("symmetric", kind.symmetric),
        ("common interest", kind.common_interest),
        ("coordination", kind.coordination),
        ("exact potential", kind.potential is not None),
        ("finite improvement (ordinal potential)", kind.finite_improvement),
        ("dominance solvable", kind.dominance_solvable),
    )
    return (KeyValues(items),)


def _correlated_blocks(solved: SolvedTable) -> tuple[Block, ...]:
    if solved.correlated is None:
        return ()
    found, game = solved.correlated, solved.game
    columns = (Column("probability", "right", format=".6g"), *map(Column, game.players))
    likely = sorted(((float(p), cell) for cell, p in _enumerated(found.distribution)), key=lambda one: -one[0])
    rows: list[tuple[Cell, ...]] = [
        (p, *(names[a] for names, a in zip(game.actions, cell, strict=True))) for p, cell in likely[:_LISTED]
    ]
    payoffs = ", ".join(number_text(float(u), unit=payoff_unit(game)) for u in found.payoffs)
    note = (
        f"Best by {found.objective}: payoffs {payoffs}, welfare {number_text(found.welfare)}. Method: {found.method}; "
        f"the most anybody gains by disobeying is {regret_text(found.violation)}."
    )
    return (Note(note), Table(columns, tuple(rows), "What the mediator recommends"))


def _enumerated(distribution: Array) -> list[tuple[tuple[int, ...], float]]:
    return [(cell, float(distribution[cell])) for cell in np.ndindex(distribution.shape) if distribution[cell] > _SHOWN]
