"""Games taken out of drawn programs have the payoffs, probabilities and information sets that stock
SWI-Prolog gives them."""

import shutil
from collections import defaultdict
from contextlib import closing
from fractions import Fraction
from math import factorial
from pathlib import Path

import pytest
from stock_prolog import Play, draw_large_program, draw_program, list_information_sets, list_plays

from bestresponse.core.game import NATURE
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import EngineKind, open_engine
from bestresponse.logic.programs.game_table import DecisionNode, End, GameTable, Node, tree
from bestresponse.logic.programs.validate import validate

pytestmark = pytest.mark.skipif(
    shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not on PATH"
)
Moves = tuple[tuple[str, str], ...]


def sort_by_player(moves: Moves) -> Moves:
    """Who made which moves, whatever the order of different players."""
    return tuple(sorted(moves, key=lambda made: made[0]))


def list_sets(table: GameTable) -> set[frozenset[object]]:
    """List the information sets of a table as the positions in them."""
    sets: dict[object, set[object]] = defaultdict(set)

    def visit(node: Node, made: Moves) -> None:
        if isinstance(node, End):
            return
        player = node.player if isinstance(node, DecisionNode) else NATURE
        if isinstance(node, DecisionNode):
            sets[player, node.knowledge].add(made)
        for move, child in zip(node.moves, node.children, strict=True):
            visit(child, (*made, (player, move)))

    visit(tree(table), ())
    return {frozenset(positions) for positions in sets.values()}


def find_chance(play: Play) -> Fraction:
    product = Fraction(1)
    for step in play.steps:
        product *= step.chance
    return product


def compare(table: GameTable, plays: list[Play]) -> str:
    """Say what differs between a table and the plays in every order; nothing where they agree."""
    expected = {
        sort_by_player(row.moves): (
            dict(zip(table.players, row.payoffs, strict=True)),
            [chance for chance in row.chances if chance is not None],
        )
        for row in table.rows
    }
    found = {sort_by_player(play.moves) for play in plays}
    if found != expected.keys():
        return "other plays"
    for play in plays:
        payoffs, chances = expected[sort_by_player(play.moves)]
        product = Fraction(1)
        for chance in chances:
            product *= chance
        if payoffs != dict(play.payoffs) or product != find_chance(play):
            return f"other payoffs or probabilities after {play.moves}"
    in_order = {row.moves for row in table.rows}
    same_order = [play for play in plays if play.moves in in_order]
    if list_information_sets(same_order, table.private) != list_sets(table):
        return "other information sets"
    return ""


@pytest.mark.parametrize(
    ("count", "least"), [(40, 20), pytest.param(5_000, 2_500, marks=pytest.mark.soak)]
)
def test_drawn_games_are_those_of_stock_prolog(count: int, least: int, tmp_path: Path) -> None:
    programs = [draw_program(number) for number in range(count)]
    engine = EmbeddedEngine()
    accepted = 0
    differences = {}
    for number, plays in enumerate(list_plays(programs, tmp_path)):
        report = validate(programs[number], engine)
        if report.table is None or not report.ok:
            continue
        accepted += 1
        if difference := compare(report.table, plays):
            differences[number] = difference
    assert differences == {}
    assert accepted >= least


def test_other_information_sets_and_payoffs_are_noticed(tmp_path: Path) -> None:
    hidden = draw_program(3)  # bob does not see what ann does at the same time as he, nor later
    shown = hidden.replace(
        "sees(P, nothing, never)",
        "sees(bob, M, do(move(ann, M), _)) :- atom(M).\nsees(P, nothing, never)",
    )
    richer = hidden.replace("T * T - 3", "T * T - 2")
    plays = list_plays([hidden, shown, richer], tmp_path)
    table = validate(hidden, EmbeddedEngine()).table
    assert table is not None
    assert [compare(table, one).partition(" after")[0] for one in plays] == [
        "",
        "other information sets",
        "other payoffs or probabilities",
    ]


@pytest.mark.parametrize(
    ("count", "engines"),
    [(6, ("swi",)), pytest.param(250, ("swi", "embedded"), marks=pytest.mark.soak)],
)
@pytest.mark.parametrize("planted", [False, True])
def test_no_play_that_stock_prolog_finds_is_missing_in_silence(
    count: int, engines: tuple[EngineKind, ...], planted: bool, tmp_path: Path
) -> None:
    """A play in some order of simultaneous moves is in the table, or something is said."""
    programs = [draw_large_program(number, planted) for number in range(count)]
    silent = {}
    for name in engines:
        with closing(open_engine(name)) as engine:
            for number, plays in enumerate(list_plays(programs, tmp_path)):
                report = validate(programs[number], engine)
                if not planted:
                    assert report.table is not None, report.errors
                    assert compare(report.table, plays) == ""
                    # Up to five thousand plays, in all orders of the moves made at once.
                    if factorial(len(report.table.players)) * len(plays) <= 5_000:
                        assert report.not_compared == ()
                elif report.ok and not report.warnings:
                    assert report.table is not None
                    listed = {sort_by_player(row.moves) for row in report.table.rows}
                    missing = [p for p in plays if sort_by_player(p.moves) not in listed]
                    silent[name, number] = len(missing)
    assert silent == {}
