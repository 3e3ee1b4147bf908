"""A game is made again from what is told of it, and a change of the game changes what is told."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from example_programs import SMALLER, list_full_programs, shrink
from random_games import change_table, change_tree, describe_structure, draw_game_tree, draw_table
from rebuilt_games import rebuild

from bestresponse.core.errors import InvalidGame
from bestresponse.core.told import (
    AtOnce,
    Cell,
    Cells,
    Course,
    Decides,
    Draw,
    LowerClaim,
    NearestWins,
    Odds,
    Options,
    PlayEnd,
    Players,
    Prose,
    Summary,
    TurnCount,
)
from bestresponse.games.comparison import compare_games
from bestresponse.games.logic.game import LogicGame
from bestresponse.games.logic.positions import ProgramPositions
from bestresponse.games.lookup import find_game, game_names
from bestresponse.games.statements import read_exactly, tell
from bestresponse.telling.render import list_sentences
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Chance, Leaf, Tree, Turn, build_tree

DAILY = [range(start, start + 20) for start in range(0, 200, 20)]
LONG = range(200, 2_200)


def check_tables(seeds: range) -> None:
    for seed in seeds:
        rng = Random(seed)
        form = draw_table(rng, num_players=2 + seed % 3)
        told = tell(form)
        rebuilt = rebuild(told)
        assert (rebuilt.players, rebuilt.actions) == (form.players, form.actions)
        assert [Fraction(u) for u in rebuilt.given.flat] == [Fraction(u) for u in form.given.flat]
        assert compare_games(form, rebuilt).relation == "equal"
        same = [what for what, other in change_table(rng, form) if tell(other) == told]
        assert same == []


def check_trees(seeds: range) -> None:
    for seed in seeds:
        rng = Random(seed)
        tree = draw_game_tree(rng, num_players=2 + seed % 3)
        told = tell(tree)
        rebuilt = rebuild(told)
        assert describe_structure(rebuilt) == describe_structure(tree)
        same = [what for what, other in change_tree(rng, tree) if tell(other) == told]
        assert same == []


def count_told_changes(seeds: range) -> tuple[int, int]:
    """Count the single changes of random tables and trees, and those that change what is told."""
    made = told = 0
    for seed in seeds:
        rng = Random(seed)
        form = draw_table(rng, num_players=2 + seed % 3)
        tree = draw_game_tree(rng, num_players=2 + seed % 3)
        stated = tell(form), tell(tree)
        changed = [tell(other) != stated[0] for _, other in change_table(rng, form)]
        changed += [tell(other) != stated[1] for _, other in change_tree(rng, tree)]
        made += len(changed)
        told += sum(changed)
    return made, told


@pytest.mark.parametrize("seeds", DAILY, ids=str)
def test_random_tables_are_rebuilt_and_a_change_is_told(seeds: range) -> None:
    check_tables(seeds)


@pytest.mark.parametrize("seeds", DAILY, ids=str)
def test_random_trees_are_rebuilt_and_a_change_is_told(seeds: range) -> None:
    check_trees(seeds)


@pytest.mark.soak
def test_two_thousand_random_tables_are_rebuilt() -> None:
    check_tables(LONG)


@pytest.mark.soak
def test_two_thousand_random_trees_are_rebuilt_and_found_the_same_by_compare() -> None:
    check_trees(LONG)
    for seed in LONG:
        tree = draw_game_tree(Random(seed), num_players=2 + seed % 3)
        assert compare_games(tree, rebuild(tell(tree))).relation == "equal", seed


@pytest.mark.soak
def test_each_of_two_thousand_single_changes_changes_the_statements() -> None:
    made, told = count_told_changes(range(200, 700))
    assert made >= 2_000
    assert told == made


@pytest.mark.parametrize("seed", range(40))
def test_compare_finds_a_rebuilt_tree_to_be_the_same(seed: int) -> None:
    tree = draw_game_tree(Random(seed), num_players=2 + seed % 3)
    assert compare_games(tree, rebuild(tell(tree))).relation == "equal"


def finite_games() -> list[str]:
    return [name for name in game_names() if isinstance(find_game(name).game, NormalForm | Tree)]


@pytest.mark.parametrize("name", finite_games())
def test_every_finite_game_that_comes_along_is_rebuilt(name: str) -> None:
    game = find_game(name).game
    told = tell(game)
    rebuilt = rebuild(told)
    if isinstance(game, Tree):
        assert describe_structure(rebuilt) == describe_structure(game)
    else:
        assert rebuilt.payoffs.tolist() == game.payoffs.tolist()
    assert tell(rebuilt) == told


def check_program(path: Path, tmp_path: Path) -> None:
    """The statements of the program's game tell all of it: the game is rebuilt from them."""
    game = find_game(str(path)).game
    if isinstance(game, ProgramPositions):
        (rules,) = game.state_rules()
        assert isinstance(rules, Prose)
        told = tmp_path / path.name
        told.write_text(rules.text.partition("\n")[2], "utf-8")
        again = find_game(str(told)).game
        assert isinstance(again, ProgramPositions)
        assert again.table == game.table
        return
    solved = game.tree if isinstance(game, LogicGame) else game
    if not isinstance(solved, NormalForm | Tree):
        solved = solved.form
    assert compare_games(solved, rebuild(tell(solved))).relation == "equal"


@pytest.mark.parametrize("name", SMALLER)
def test_every_example_program_with_fewer_moves_is_rebuilt(name: str, tmp_path: Path) -> None:
    check_program(shrink(name, tmp_path), tmp_path)


@pytest.mark.parametrize("path", list_full_programs())
def test_every_example_program_is_rebuilt(path: Path, tmp_path: Path) -> None:
    check_program(path, tmp_path)


def test_a_table_is_stated_cell_by_cell() -> None:
    form = NormalForm.bimatrix(
        [[1 / 3, 0.1]], [[2, -1]], players=("Ann", "Bob"), actions=(("go",), ("l", "r"))
    )
    assert tell(form) == (
        Players(("Ann", "Bob")),
        AtOnce((Options("Ann", ("go",)), Options("Bob", ("l", "r")))),
        Cells(
            (
                Cell(("go", "l"), (Fraction(1, 3), Fraction(2))),
                Cell(("go", "r"), (Fraction(1, 10), Fraction(-1))),
            )
        ),
    )


def test_a_tree_is_stated_in_preorder_and_shared_sets_bear_a_letter() -> None:
    bob = Turn("Bob", "b", {"l": Leaf([1, 2]), "r": Leaf([0, Fraction(1, 3)])})
    draw = Chance({"h": (Fraction(1, 4), bob), "t": (Fraction(3, 4), bob)})
    ends = PlayEnd((Fraction(1), Fraction(2))), PlayEnd((Fraction(0), Fraction(1, 3)))
    bobs = Decides("Bob", ("l", "r"), "a")
    assert tell(build_tree(["Ann", "Bob"], draw)) == (
        Players(("Ann", "Bob")),
        Course(
            (Draw((Odds("h", Fraction(1, 4)), Odds("t", Fraction(3, 4)))), bobs, *ends, bobs, *ends)
        ),
    )


def test_of_a_tree_with_more_nodes_than_anybody_reads_the_size_is_stated() -> None:
    wide = build_tree(["Ann"], Turn("Ann", "start", {f"m{k}": Leaf([k]) for k in range(50_000)}))
    assert tell(wide) == (Players(("Ann",)), Summary(50_000, (TurnCount("Ann", 1),)))
    with pytest.raises(InvalidGame, match="got Players, Summary"):
        rebuild(tell(wide))


def test_a_long_tree_is_stated_without_nesting() -> None:
    after = Leaf([0])
    for number in range(3_000):
        after = Turn("Ann", str(number), {"stop": Leaf([number]), "on": after})
    told = tell(build_tree(["Ann"], after))
    assert tell(rebuild(told)) == told


@pytest.mark.parametrize(
    ("positions", "why"),
    [
        ((), "stops before its last end"),
        ((Decides("Ann", ("l", "r")), PlayEnd((Fraction(1),))), "stops before its last end"),
        ((PlayEnd((Fraction(1),)), PlayEnd((Fraction(1),))), "position 2 follows no option"),
        ((Decides("Ann", ()),), "position 1 of a course has no options"),
    ],
)
def test_a_course_that_is_no_tree_is_refused(positions: tuple[object, ...], why: str) -> None:
    with pytest.raises(InvalidGame, match=why):
        rebuild((Players(("Ann",)), Course(positions)))


@pytest.mark.parametrize("number", [0.1, 1 / 3, 0.1 + 0.2, 2.0**60, -1e-9, 1e300])
def test_a_float_is_stated_as_a_number_that_reads_back_as_this_float(number: float) -> None:
    assert float(read_exactly(number)) == number


def test_the_beauty_contest_is_stated_by_its_rule() -> None:
    form = find_game("beauty-contest").game
    told = tell(form)
    assert told[2] == NearestWins(Fraction(2, 3), Fraction(1))
    assert rebuild(told).payoffs.tolist() == form.payoffs.tolist()
    assert (
        list_sentences(told)[-1]
        == "The payoffs: whoever chooses the number that is nearest to 2/3 times the average of all"
        " chosen numbers gets 1; if several are equally near, they share it. All others get 0."
    )


def test_the_travelers_dilemma_is_stated_by_its_rule() -> None:
    form = find_game("travelers-dilemma").game
    told = tell(form)
    assert told[2] == LowerClaim(Fraction(2))
    assert rebuild(told).payoffs.tolist() == form.payoffs.tolist()
    changed = np.array(form.payoffs)
    changed[0, 3, 5] += 1
    assert isinstance(tell(NormalForm(changed, form.players, form.actions))[2], Cells)
