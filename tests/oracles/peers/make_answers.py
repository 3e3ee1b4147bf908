"""Ask other libraries for the solutions of drawn games, and write what they say beside this file.

Run in an environment with `nashpy quantecon open_spiel cvxpy pygambit` (pygambit has no wheel for
64-bit ARM; 16.7.0 was compiled there):

    PYTHONPATH=src python tests/oracles/peers/make_answers.py [FILE ...]

- `tables.jsonl`: 320 two-player games with all equilibria by Nashpy (support
  enumeration; null where it warns) and by QuantEcon.py (vertex enumeration; null where it fails).
- `zero_sum.jsonl`: 60 matrices with the value by OpenSpiel's linear program.
- `trees.jsonl`: 62 trees as `.efg` text. Sixty were drawn and written here, and read by OpenSpiel,
  whose linear program over sequences gives the value; two are OpenSpiel's own games as it
  writes them.
- `nfg.jsonl`: tables as `.nfg` text, half written here and read by OpenSpiel (its payoffs are
  kept), half written by OpenSpiel from payoffs that are kept.
- `gambit_tables.jsonl`: 305 two-player games, ties and fractions among them, with all extreme
  equilibria by `pygambit.nash.enummixed_solve(game, rational=True)`.
- `gambit_many_players.jsonl`: 148 games of three and four players with the pure equilibria
  (`enumpure_solve`), the quantal response of one precision (`qre.logit_solve_lambda`) and the end
  of the logit branch (`logit_solve`, which stops at a regret of 1e-8 of the range).
- `gambit_trees.jsonl`: 94 trees as `.efg` text, 91 drawn here and three of the catalogue: nodes,
  strategies of the reduced form, number of pure equilibria (`enumpure_solve`); of two players with
  few strategies what all extreme equilibria pay (`enummixed_solve(game, rational=True)`); of
  constant-sum games of two players what the first earns (`lp_solve`).
- `versions.json`: who answered; `gambit_trees.jsonl` names its versions in its first line.
"""

from __future__ import annotations

import json
import platform
import sys
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from random import Random

import nashpy
import numpy as np
import pygambit
import pyspiel
import quantecon
from open_spiel.python.algorithms import gambit, lp_solver, sequence_form_lp

from bestresponse.theory import NormalForm, load_tree
from bestresponse.theory.files.efg import format_efg
from bestresponse.theory.files.nfg import format_nfg
from bestresponse.theory.trees.tree import Tree

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "support"))
from random_trees import random_tree  # noqa: E402

# OpenSpiel's programs ask for ECOS, which has no wheel for ARM; cvxpy's own solver does as well.
SOLVER = "CLARABEL"
lp_solver.LinearProgram.solve.__defaults__ = (SOLVER, {})

SHAPES = [(2, 2), (2, 3), (3, 3), (3, 4), (4, 4)]
OWN_GAMES = ("kuhn_poker", "kuhn_poker(players=3)")


def draw_table(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a game; every fourth has few different payoffs, so that ties are frequent."""
    shape = SHAPES[number % len(SHAPES)]
    generator = np.random.default_rng([400, number])
    high = 3 if number % 4 == 3 else 100
    row, col = generator.integers(0, high, (2, *shape))
    return row, col


def round_mixes(pairs: object) -> list[list[list[float]]]:
    """Give strategies as lists, to 12 digits."""
    return [[[round(float(p), 12) for p in mix] for mix in pair] for pair in pairs]


def ask_nashpy(row: np.ndarray, col: np.ndarray) -> list[list[list[float]]] | None:
    """Enumerate supports; None where Nashpy warns that the game is degenerate, or fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return round_mixes(nashpy.Game(row, col).support_enumeration())
        except Exception:  # noqa: BLE001  (whatever another library raises)
            return None


def ask_quantecon(row: np.ndarray, col: np.ndarray) -> list[list[list[float]]] | None:
    """Enumerate vertices; None where that fails."""
    players = [quantecon.game_theory.Player(table.astype(float)) for table in (row, col.T)]
    game = quantecon.game_theory.NormalFormGame(players)
    try:
        return round_mixes(quantecon.game_theory.vertex_enumeration(game))
    except Exception:  # noqa: BLE001  (whatever another library raises)
        return None


def answer_tables() -> list[dict[str, object]]:
    rows = []
    for number in range(320):
        row, col = draw_table(number)
        rows.append(
            {
                "row": row.tolist(),
                "col": col.tolist(),
                "nashpy": ask_nashpy(row, col),
                "quantecon": ask_quantecon(row, col),
            }
        )
    return rows


def answer_zero_sum() -> list[dict[str, object]]:
    rows = []
    for number in range(60):
        generator = np.random.default_rng([401, number])
        shape = generator.integers(2, 8, 2)
        matrix = generator.integers(-20, 21, shape).astype(float)
        game = pyspiel.create_matrix_game(matrix.tolist(), (-matrix).tolist())
        _, _, value, _ = lp_solver.solve_zero_sum_matrix_game(game)
        rows.append({"matrix": matrix.tolist(), "open_spiel": round(float(value), 9)})
    return rows


def answer_trees() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    seed = 0
    while len(rows) < 60:
        seed += 1
        tree = random_tree(Random(seed), depth=4)
        movers = {infoset.player for infoset in tree.infosets}
        if movers != {0, 1} or tree.num_nodes > 60:
            continue
        text = format_efg(tree)
        game = pyspiel.load_efg_game(text)
        value = sequence_form_lp.solve_zero_sum_game(game, solver=SOLVER)[0]
        rows.append({"written_by": "bestresponse", "efg": text, "open_spiel": round(value, 7)})
    for name in OWN_GAMES:
        game = pyspiel.load_game(name)
        kind = game.get_type().utility
        value = None
        if kind == pyspiel.GameType.Utility.ZERO_SUM and game.num_players() == 2:
            value = round(sequence_form_lp.solve_zero_sum_game(game, solver=SOLVER)[0], 7)
        text = gambit.export_gambit(game)
        rows.append({"written_by": "open_spiel", "name": name, "efg": text, "open_spiel": value})
    return rows


def answer_nfg() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for number in range(40):
        row, col = draw_table(number)
        if number % 2:
            text = format_nfg(NormalForm.bimatrix(row, col), openspiel=True)
            game = pyspiel.load_nfg_game(text)
            writer = "bestresponse"
        else:
            game = pyspiel.create_matrix_game(row.tolist(), col.tolist())
            text = pyspiel.game_to_nfg_string(game)
            writer = "open_spiel"
        matrix = pyspiel.extensive_to_matrix_game(game)
        rows.append(
            {
                "written_by": writer,
                "nfg": text,
                "row": np.array(matrix.row_utilities()).tolist(),
                "col": np.array(matrix.col_utilities()).tolist(),
            }
        )
    return rows


def ask_gambit(name: str) -> list[dict[str, object]]:
    """Ask Gambit again for the answers of a file; its games are kept, not drawn."""
    rows = [json.loads(line) for line in (HERE / name).read_text().splitlines()]
    for row in rows:
        if name == "gambit_tables.jsonl":
            tables = [[[Fraction(u) for u in line] for line in row[who]] for who in ("row", "col")]
            game = pygambit.Game.from_arrays(*map(np.array, tables))
            found = pygambit.nash.enummixed_solve(game, rational=True).equilibria
            row["extreme"] = [list_gambit(game, e, str) for e in found]
            continue
        game = pygambit.Game.from_arrays(*np.array(row["payoffs"]))
        pure = pygambit.nash.enumpure_solve(game).equilibria
        mixes = [list_gambit(game, e, float) for e in pure]
        row["pure"] = sorted([[mix.index(1.0) for mix in profile] for profile in mixes])
        (reply,) = pygambit.qre.logit_solve_lambda(game, lam=[row["precision"]])
        row["quantal_response"] = list_gambit(game, reply.profile, float)
        (end,) = pygambit.nash.logit_solve(game).equilibria
        row["logit"] = list_gambit(game, end, float)
    return rows


def list_trees() -> Iterator[Tree]:
    """List trees of two and three players, some of perfect information, some zero-sum."""
    for name in ("centipede", "entry-deterrence", "kuhn-poker"):
        yield load_tree(name)
    seed = count = 0
    while count < 91:
        seed += 1
        kind = {"players": 2 + (seed % 4 == 1), "perfect_information": seed % 5 == 2}
        tree = random_tree(Random(seed), depth=4, zero_sum=seed % 6 == 0, **kind)
        movers = {infoset.player for infoset in tree.infosets}
        if len(movers) == tree.num_players and tree.num_nodes <= 60:
            count += 1
            yield tree


def ask_gambit_trees() -> list[dict[str, object]]:
    names = ("pygambit", "numpy", "scipy")
    versions = {name: version(name) for name in names}
    rows: list[dict[str, object]] = [{**versions, "machine": platform.machine()}]
    for tree in list_trees():
        text = format_efg(tree)
        game = pygambit.read_efg(StringIO(text))
        players = list(game.players)
        shape = [len(list(player.strategies)) for player in players]
        row: dict[str, object] = {"efg": text, "nodes": len(list(game.nodes)), "shape": shape}
        row["pure"] = len(pygambit.nash.enumpure_solve(game).equilibria)
        if len(players) == 2 and np.prod(shape) <= 60:
            found = pygambit.nash.enummixed_solve(game, rational=True).equilibria
            paid = {tuple(str(profile.payoff(player)) for player in players) for profile in found}
            row["extreme_payoffs"] = sorted(paid)
        if len(players) == 2 and game.is_const_sum:
            (end,) = pygambit.nash.lp_solve(game, rational=True, use_strategic=False).equilibria
            row["value"] = str(end.payoff(players[0]))
        rows.append(row)
    return rows


def list_gambit(game: object, profile: object, read: Callable[[object], object]) -> list[list]:
    return [[read(profile[s]) for s in player.strategies] for player in game.players]


def write(name: str, rows: list[dict[str, object]]) -> None:
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    (HERE / name).write_text(text)


ANSWERS: dict[str, Callable[[], list[dict[str, object]]]] = {
    "tables.jsonl": answer_tables,
    "zero_sum.jsonl": answer_zero_sum,
    "trees.jsonl": answer_trees,
    "nfg.jsonl": answer_nfg,
    "gambit_tables.jsonl": partial(ask_gambit, "gambit_tables.jsonl"),
    "gambit_many_players.jsonl": partial(ask_gambit, "gambit_many_players.jsonl"),
    "gambit_trees.jsonl": ask_gambit_trees,
}


def main() -> None:
    for name in sys.argv[1:] or ANSWERS:
        write(name, ANSWERS[name]())
    if sys.argv[1:]:
        return
    names = ("nashpy", "quantecon", "open_spiel", "cvxpy", "clarabel", "numpy", "pygambit")
    versions = {name: version(name) for name in names}
    versions["python"] = platform.python_version()
    versions["machine"] = platform.machine()
    (HERE / "versions.json").write_text(json.dumps(versions, indent=2) + "\n")


if __name__ == "__main__":
    main()
