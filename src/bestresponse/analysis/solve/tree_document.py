"""A solved tree as a document: its size, how it was solved, and the policies found."""

from __future__ import annotations

from bestresponse.analysis.solve.solution import SolvedTree, TreeEquilibrium
from bestresponse.analysis.solve.table_document import equilibrium_blocks, extent_text, method_text
from bestresponse.analysis.solve.words import number_text, regret_text
from bestresponse.report.document import Block, Cell, Column, KeyValues, Note, Section, Table
from bestresponse.theory.trees.tree import CHANCE, Tree

__all__ = ["tree_sections"]

_SETS = 60
_POLICIES = 5
_OUTCOMES = 12


def tree_sections(solved: SolvedTree) -> tuple[Section, ...]:
    """Size first, then the solution, then the policies."""
    return (
        Section("Size", (_size(solved.tree),)),
        Section("Equilibria", _solution(solved)),
        *(
            Section(
                f"Policy{f' {k}' if len(solved.equilibria) > 1 else ''}", _policy(e, approximate=solved.cfr is not None)
            )
            for k, e in enumerate(solved.equilibria[:_POLICIES], start=1)
        ),
    )


def _size(tree: Tree) -> KeyValues:
    owned = [sum(one.player == player for one in tree.infosets) for player in range(tree.num_players)]
    totals = tree.payoffs[tree.leaves].sum(axis=1)
    kind = ("zero" if abs(float(totals[0])) <= 1e-9 else "constant") if tree.is_constant_sum else "general"
    items: tuple[tuple[str, Cell], ...] = (
        ("players", ", ".join(tree.players)),
        ("nodes", f"{tree.num_nodes:,} ({len(tree.leaves):,} leaves, {int((tree.owner == CHANCE).sum()):,} of chance)"),
        ("information sets", ", ".join(f"{count:,} of {who}" for count, who in zip(owned, tree.players, strict=True))),
        ("perfect information", tree.is_perfect_information),
        ("perfect recall", True),
        ("sum of payoffs", kind),
    )
    return KeyValues(items)


def _solution(solved: SolvedTree) -> tuple[Block, ...]:
    if solved.table is not None:
        return (Note("Solved as a table of reduced strategies."), *equilibrium_blocks(solved.table))
    blocks: list[Block] = []
    if solved.value is not None:
        shown = number_text(solved.value.number, solved.value.exact)
        blocks.append(KeyValues(((f"Value to {solved.value.player}", shown),), prominent=True))
    blocks.append(Note(method_text(solved.method, extent_text(solved.complete_for), solved.regret)))
    blocks += [Note(f"{remark[:1].upper()}{remark[1:]}.", "warning") for remark in solved.remarks]
    blocks.append(_summary(solved))
    if solved.subgame_perfect is not None and len(solved.subgame_perfect.outcomes) > 1:
        blocks.append(_outcomes(solved))
    if solved.cfr is not None:
        columns = (Column("iterations", "right"), Column("NashConv", "right", format=".4g"))
        rows = tuple((c.iteration, c.nash_conv) for c in solved.cfr.checkpoints)
        blocks.append(Table(columns, rows, "How the average policy came closer to an equilibrium"))
    if len(solved.equilibria) > _POLICIES:
        blocks.append(Note(f"The first {_POLICIES} policies follow; the JSON form has all {len(solved.equilibria):,}."))
    return tuple(blocks)


def _summary(solved: SolvedTree) -> Table:
    players = solved.tree.players
    columns = (
        Column("#", "right"),
        Column("kind"),
        *(Column(f"payoff of {who}", "right") for who in players),
        Column("NashConv", "right", "The sum of what the players could gain by deviating alone."),
    )
    rows = tuple(
        (
            k,
            e.kind,
            *(number_text(e.payoffs[who], e.exact[who] if e.exact else None) for who in players),
            regret_text(e.nash_conv),
        )
        for k, e in enumerate(solved.equilibria[:_SETS], start=1)
    )
    name = "Subgame perfect equilibria" if solved.subgame_perfect is not None else "Equilibria"
    return Table(columns, rows, name)


def _outcomes(solved: SolvedTree) -> Note:
    outcomes = solved.subgame_perfect.outcomes if solved.subgame_perfect else ()
    shown = ["(" + ", ".join(number_text(u) for u in one.values()) + ")" for one in outcomes[:_OUTCOMES]]
    rest = f" and {len(outcomes) - _OUTCOMES:,} more" if len(outcomes) > _OUTCOMES else ""
    return Note(f"Payoffs that some subgame perfect equilibrium reaches: {', '.join(shown)}{rest}.")


def _policy(equilibrium: TreeEquilibrium, approximate: bool) -> tuple[Block, ...]:
    rows: list[tuple[Cell, ...]] = [
        (who, label, _moves(moves, approximate))
        for who, sets in equilibrium.policy.table().items()
        for label, moves in sets.items()
    ]
    columns = (Column("player"), Column("information set"), Column("plays"))
    more = len(rows) - _SETS
    caption = f"The first {_SETS} of {len(rows):,} information sets; the JSON form has all" if more > 0 else ""
    return (Table(columns, tuple(rows[:_SETS]), caption),) if rows else (Note("Nobody has anything to choose."),)


def _moves(moves: dict[str, float], approximate: bool) -> str:
    """The moves used; three decimals are as many as an approximate policy is good for."""
    used = {move: p for move, p in moves.items() if p > (5e-4 if approximate else 5e-7)}
    if len(used) == 1:
        return next(iter(used))
    return " + ".join(f"{p:.3f} {move}" if approximate else f"{number_text(p)} {move}" for move, p in used.items())
