"""A game may be given in the same ways to every function of theory."""

import inspect
from pathlib import Path

import numpy as np
import pytest

from bestresponse import theory
from bestresponse.core.errors import InvalidGame, UsageError

DILEMMA = ([[3, 0], [5, 1]], [[3, 5], [0, 1]])
NEEDED = {
    "correlated_regret": {"distribution": [[0, 0], [0, 1]]},
    "deviation_payoffs": {"profile": [[1, 0], [1, 0]]},
    "efficiency": {"result": theory.nash(*DILEMMA)},
    "logit_dynamics": {"precision": 1.0, "steps": 3},
    "maximin": {"player": 0},
    "quantal_branch": {"highest": 1.0},
    "quantal_response": {"precision": 1.0},
    "random_isomorph": {"seed": 1},
    "regret": {"profile": [[1, 0], [1, 0]]},
    **{
        name: {"steps": 3}
        for name in ("fictitious_play", "multiplicative_weights", "regret_matching", "replicator")
    },
    "exact_round_robin": {"strategies": [theory.classic_strategy("defector")]},
}
TREES = {
    "agent_quantal_branch": {"highest": 0.5},
    "mccfr_tree": {"iterations": 3},
    "cfr": {"iterations": 3},
}


def list_functions(parameter: str) -> list[str]:
    """List the public functions that take a game or a tree."""
    names = []
    for name in theory.__all__:
        function = getattr(theory, name)
        if inspect.isfunction(function) and parameter in inspect.signature(function).parameters:
            names.append(name)
    return names


OF_TREES = ("cfr", "compile_game", "load_openspiel", "solve_general_tree", "solve_tree")
OF_TABLES = sorted(
    set(list_functions("game"))
    - {*OF_TREES, "subgame_perfect", "to_normal_form", "write_game_file"}
)


@pytest.mark.parametrize("name", OF_TABLES)
def test_a_table_may_be_a_pair_an_array_a_name_a_path_or_a_tree(name: str, tmp_path: Path) -> None:
    function = getattr(theory, name)
    game = theory.NormalForm.bimatrix(*DILEMMA)
    path = tmp_path / "game.nfg"
    theory.write_game_file(game, path)
    needed = NEEDED.get(name, {})
    expected = type(function(game=game, **needed))
    tree = theory.build_tree(*grow_dilemma())
    for given in (DILEMMA, np.array(DILEMMA), "Prisoner's dilemma", path, tree):
        assert type(function(game=given, **needed)) is expected


def grow_dilemma() -> tuple[tuple[str, str], object, object]:
    """Describe the dilemma as a tree in which nobody sees what the other does."""

    def expand(moves: str) -> theory.Leaf | theory.Turn:
        if len(moves) == 2:
            row, col = ("cd".index(move) for move in moves)
            return theory.Leaf([DILEMMA[0][row][col], DILEMMA[1][row][col]])
        player = ("row", "col")[len(moves)]
        return theory.Turn(player, player, {move: moves + move for move in "cd"})

    return ("row", "col"), "", expand


def test_the_answers_are_those_of_the_game() -> None:
    tree = theory.build_tree(*grow_dilemma())
    for given in (DILEMMA, "prisoners dilemma", tree):
        assert theory.exact_potential(given).tolist() == [[0, 2], [2, 3]]
        assert theory.pure_nash(given) == ((1, 1),)
        assert theory.replicator(given, steps=5000).final[0] == pytest.approx([0, 1], abs=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        *("agent_quantal_branch", "cfr", "find_sequential", "mccfr_tree"),
        *("solve_general_tree", "solve_subgames", "solve_tree"),
        "subgame_perfect",
    ],
)
def test_a_tree_may_be_a_name_or_a_path(name: str, tmp_path: Path) -> None:
    function = getattr(theory, name)
    known = "centipede" if "subgame" in name else "kuhn-poker"
    path = tmp_path / "game.efg"
    theory.write_game_file(theory.load_tree(known), path)
    for given in (known, path):
        assert function(given, **TREES.get(name, {})) is not None


def test_a_name_that_is_unknown_is_answered_and_opens_no_file(tmp_path: Path) -> None:
    path = tmp_path / "game.nfg"
    theory.write_game_file(theory.NormalForm.bimatrix(*DILEMMA), path)
    with pytest.raises(UsageError, match="no game is called"):
        theory.nash(str(path))
    with pytest.raises(UsageError, match="did you mean 'stag-hunt'"):
        theory.nash("stag hunts")
    with pytest.raises(UsageError, match="stag-hunt is a table; expected a game in extensive form"):
        theory.cfr("stag-hunt")


def test_a_matrix_alone_is_refused_with_the_way_to_give_a_zero_sum_game() -> None:
    with pytest.raises(InvalidGame, match=r"2 players need 3 axes.*NormalForm.zero_sum\(matrix\)"):
        theory.nash([[1, -1], [-1, 1]])
