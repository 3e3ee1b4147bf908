"""Games as LaTeX: what is written, and that it compiles where there is a TeX."""

import shutil
import subprocess
from random import Random

import numpy as np
import pytest
from random_trees import random_tree

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.report.document import Column, Table
from bestresponse.report.figures.tikz import write_latex, write_table, write_tree
from bestresponse.report.stats.statistics import Interval
from bestresponse.report.tables import to_latex
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Chance, Leaf, Turn, build_tree

HOSTILE = r"\input{/etc/passwd} $x_1$ & 50 % #1 ~^ {} 🎲"
GAMES = ("centipede", "entry-deterrence", "kuhn-poker", "stag-hunt", "ultimatum")


def test_a_table_underlines_best_replies():
    # In the prisoner's dilemma defecting is best against both, so that 5, 1 and 1, 5 have a line.
    form = br.find_game("prisoners-dilemma").solvable()
    lines = write_table(form).splitlines()
    assert lines[4:6] == [
        r"cooperate & $3,\ 3$ & $0,\ \underline{5}$ \\",
        r"defect & $\underline{5},\ 0$ & $\underline{1},\ \underline{1}$ \\",
    ]


def test_a_tree_has_every_move_chance_and_payoff():
    tree = build_tree(
        ["ann", "bob"],
        Chance(
            {
                "heads": (0.25, Turn("ann", "h", {"up_1": Leaf([1, -2]), "down": Leaf([0, 0])})),
                "tails": (0.75, Leaf([3, 4])),
            }
        ),
    )
    text = write_tree(tree)
    assert text.count(r"\draw[gray]") == 4
    for words in (r"up\_1", "heads (0.25)", "tails (0.75)", "1, $-$2", "3, 4", "1 ann; 2 bob"):
        assert f"{{{words}" in text, words


def test_three_players_have_no_table():
    with pytest.raises(UsageError, match="needs two players, and this game has 3"):
        write_latex(NormalForm(np.zeros((3, 2, 2, 2))))


PREAMBLE = r"""\documentclass{article}
\usepackage[paperwidth=60in, paperheight=60in, margin=1in]{geometry}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{tikz}
\usepackage{booktabs}
\begin{document}
"""


def compile_latex(text, folder):
    source = f"{PREAMBLE}{text}\n\\end{{document}}\n"
    (folder / "game.tex").write_text(source, encoding="utf-8")
    command = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error"]
    done = subprocess.run(
        [*command, "game.tex"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout[-800:]
    assert (folder / "game.pdf").stat().st_size > 1000


needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")


@needs_tex
@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_games_of_the_catalogue_compile(name, tmp_path):
    compile_latex(write_latex(br.find_game(name).solvable()), tmp_path)


@needs_tex
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_drawn_trees_compile(seed, tmp_path):
    compile_latex(write_latex(random_tree(Random(seed), depth=3)), tmp_path)


@needs_tex
@pytest.mark.slow
def test_hostile_names_compile_and_run_nothing(tmp_path):
    tree = build_tree([HOSTILE], Turn(HOSTILE, HOSTILE, {HOSTILE: Leaf([1]), "b": Leaf([0])}))
    compile_latex(write_latex(tree), tmp_path)
    interval = Interval(0.5, 0.25, 0.75, 0.95, "bca", 9)
    table = Table((Column(HOSTILE), Column("± …", "right")), ((HOSTILE, interval), (None, 1.0)))
    compile_latex(to_latex(table), tmp_path)
