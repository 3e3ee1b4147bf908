"""Games as LaTeX: a tree as a TikZ picture, a table of payoffs as a tabular.

The picture of a tree is that of `figures.tree`: the same places, names and lines, so that a paper
shows what the page shows. What is written goes into a paper with `\\input`; its first line names
the package that it needs.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.report.figures import tree as trees
from bestresponse.report.tables import escape_latex
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

_COLOURS = ("blue!60!black", "orange!80!black", "teal!80!black", "magenta!70!black")


def write_latex(form: NormalForm | Tree) -> str:
    """Write a game as a LaTeX file to be input.

    A tree is a picture, and a table of two players a tabular.
    """
    if isinstance(form, Tree):
        return "% needs \\usepackage{tikz}\n" + write_tree(form)
    return "% needs \\usepackage{booktabs}\n" + write_table(form)


def write_tree(tree: Tree) -> str:
    """Write the picture of a tree; UsageError where it is too large to be drawn."""
    trees.require_tree_picture(tree)
    layout = trees.lay_out(tree)
    lines = [r"\begin{tikzpicture}[x=1in, y=1in, font=\footnotesize]"]
    lines += _write_branches(tree, layout)
    lines += _write_information(tree, layout)
    lines += _write_nodes(tree, layout)
    lines += [_write_legend(tree, max(layout.y.values())), r"\end{tikzpicture}"]
    return "\n".join(lines) + "\n"


def _write_branches(tree: Tree, layout: trees.TreeLayout) -> Iterator[str]:
    for node, y in layout.y.items():
        if node == 0:
            continue
        parent = int(tree.parent[node])
        level = layout.depth[parent]
        bend = layout.bend[level]
        is_leaf = int(tree.owner[node]) == LEAF
        stop = layout.x[-1 if is_leaf else level + 1]
        corners = [
            (layout.x[level], layout.y[parent]),
            (bend, layout.y[parent]),
            (bend, y),
            (stop, y),
        ]
        yield rf"\draw[gray] {_join(corners)};"
        name = escape_latex(trees.tell_branch(tree, node))
        yield rf"\node[anchor=south west, inner sep=1pt] at {_place(bend + 0.03, y)} {{{name}}};"


def _write_information(tree: Tree, layout: trees.TreeLayout) -> Iterator[str]:
    for infoset, nodes in trees.group_positions(tree, layout.y).items():
        colour = _find_colour(tree.infosets[infoset].player)
        lane = layout.lanes[infoset]
        heights = [layout.y[node] for node in nodes]
        ends = [(lane, max(heights)), (lane, min(heights))]
        yield rf"\draw[dashed, {colour}] {_join(ends)};"
        for node in nodes:
            yield rf"\fill[{colour}] {_place(lane, layout.y[node])} circle[radius=1.4pt];"
            if layout.depth[node] < max(layout.depth[other] for other in nodes):
                reach = [(layout.x[layout.depth[node]], layout.y[node]), (lane, layout.y[node])]
                yield rf"\draw[dashed, {colour}] {_join(reach)};"


def _write_nodes(tree: Tree, layout: trees.TreeLayout) -> Iterator[str]:
    for node, y in layout.y.items():
        owner = int(tree.owner[node])
        place = _place(layout.x[layout.depth[node]], y)
        if owner == LEAF:
            payoffs = escape_latex(trees.tell_payoffs(tree, node))
            yield rf"\node[anchor=west] at {_place(layout.x[-1], y)} {{{payoffs}}};"
        elif owner == CHANCE:
            yield rf"\node[fill=gray, rotate=45, minimum size=5pt, inner sep=0pt] at {place} {{}};"
        else:
            style = f"circle, fill={_find_colour(owner)}, text=white, inner sep=1.5pt"
            yield rf"\node[{style}] at {place} {{\scriptsize {owner + 1}}};"


def _write_legend(tree: Tree, top: float) -> str:
    players = [f"{number} {name}" for number, name in enumerate(tree.players, 1)]
    chance = ["diamond: chance"] if (tree.owner == CHANCE).any() else []
    words = escape_latex("; ".join([*players, *chance]))
    return rf"\node[anchor=south west] at {_place(-0.1, top + 0.25)} {{{words}}};"


def _find_colour(player: int) -> str:
    return _COLOURS[player % len(_COLOURS)]


def _place(x: float, y: float) -> str:
    return f"({x:.3f},{y:.3f})"


def _join(places: Sequence[tuple[float, float]]) -> str:
    return " -- ".join(_place(x, y) for x, y in places)


def write_table(form: NormalForm) -> str:
    """Write the payoffs of two players as a tabular, best replies underlined."""
    if form.num_players != 2:
        raise UsageError(
            f"a table as LaTeX needs two players, and this game has {form.num_players}"
        )
    rows, columns = form.actions
    first, second = form.payoffs
    lines = [rf"\begin{{tabular}}{{l{'c' * len(columns)}}}", r"\toprule"]
    heads = ["", *map(escape_latex, columns)]
    lines.append(" & ".join(heads) + r" \\")
    lines.append(r"\midrule")
    for i, action in enumerate(rows):
        cells = [escape_latex(action)]
        for j in range(len(columns)):
            best_row = first[:, j].max()
            best_column = second[i].max()
            own = _write_payoff(first[i, j], best=np.isclose(first[i, j], best_row))
            other = _write_payoff(second[i, j], best=np.isclose(second[i, j], best_column))
            cells.append(f"${own},\\ {other}$")
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _write_payoff(payoff: float, *, best: bool) -> str:
    number = f"{payoff:.4g}"
    return rf"\underline{{{number}}}" if best else number
