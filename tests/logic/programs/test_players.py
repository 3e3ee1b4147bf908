"""Who plays: those who are declared, or else those who move; whoever else earns something is
told."""

import shutil
from collections.abc import Iterator

import pytest

from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import LogicEngine
from bestresponse.logic.programs.table import extract
from bestresponse.logic.settings import Limits
from bestresponse.logic.swi.engine import SwiEngine

ENGINES = ["embedded", "swi"] if shutil.which("swipl") else ["embedded"]

GIFT = """
initial(s0).
initially(open, s0).
legal(move(ann, M), s0) :- member(M, [give, keep]).
final(do(_, s0)).
finally(goal(ann, 1), _).
"""
"""Nobody is declared, ann moves."""


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[LogicEngine]:
    opened: LogicEngine = EmbeddedEngine() if request.param == "embedded" else SwiEngine(Limits())
    yield opened
    opened.close()


def find_defects(engine: LogicEngine, source: str) -> list[str]:
    return [defect.message for defect in extract(engine, engine.load(source)).defects]


def test_without_declared_players_those_who_move_play(engine: LogicEngine) -> None:
    assert extract(engine, engine.load(GIFT)).require().players == ("ann",)


def test_an_undeclared_player_who_only_earns_is_told(engine: LogicEngine) -> None:
    assert find_defects(engine, GIFT + "finally(goal(bob, 7), _).\n") == [
        "bob has a payoff, but is not a player"
    ]
    declared = (
        "initially(player(ann), s0).\ninitially(player(bob), s0).\nfinally(goal(bob, 7), _).\n"
    )
    table = extract(engine, engine.load(GIFT + declared)).require()
    assert [row.payoffs for row in table.rows] == [(1, 7), (1, 7)]


def test_nature_cannot_choose_where_nobody_is_declared_either(engine: LogicEngine) -> None:
    later = GIFT.replace(
        "final(do(_, s0)).", "final(do(_, do(_, s0))).\nlegal(move(nature, storm), do(_, s0))."
    )
    assert find_defects(engine, later) == ["nature moves, but is not a player"]


def test_a_game_without_players_is_told(engine: LogicEngine) -> None:
    nobody = (
        "initial(s0).\ninitially(open, s0).\nlegal(_, _) :- fail.\nfinal(s0).\nfinally(goal(ann,"
        " 1), s0).\n"
    )
    assert find_defects(engine, nobody) == ["the game has no players"]


def test_a_player_without_a_name_is_told(engine: LogicEngine) -> None:
    """Its moves could not be told from what it sees."""
    assert find_defects(engine, GIFT.replace("ann", "''")) == ["a player has the empty name ''"]
