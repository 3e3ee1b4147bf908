"""Programs by other writers: whoever writes a game that plays has it played, with the same table in
both engines."""

import shutil
from collections.abc import Iterator

import pytest
from other_writers import FRAME, PLAIN, REFUSED, RIGHT, SAME, SHAPES, WHOLE

from bestresponse.logic.engine import Limits, LogicEngine, open_engine
from bestresponse.logic.gate.check import check_source
from bestresponse.logic.language.diagnostics import Severity
from bestresponse.logic.programs.table import GameTable
from bestresponse.logic.programs.validate import validate

ENGINES = ("embedded", "swi") if shutil.which("swipl") else ("embedded",)


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[LogicEngine]:
    engine = open_engine(request.param, Limits())
    yield engine
    engine.close()


def table(engine: LogicEngine, source: str) -> GameTable:
    report = validate(source, engine)
    assert report.errors == ()
    assert report.table is not None
    return report.table


@pytest.mark.parametrize("name", SAME)
def test_the_same_game_in_other_words_has_the_same_table(engine: LogicEngine, name: str) -> None:
    assert [row.payoffs for row in table(engine, FRAME + SAME[name]).rows] == RIGHT


@pytest.mark.parametrize("name", WHOLE)
def test_the_same_game_in_another_layout_has_the_same_table(engine: LogicEngine, name: str) -> None:
    assert [row.payoffs for row in table(engine, WHOLE[name]).rows] == RIGHT


@pytest.mark.parametrize("name", SHAPES)
def test_games_of_other_shapes_are_played_to_all_their_ends(engine: LogicEngine, name: str) -> None:
    source, payoffs = SHAPES[name]
    assert [row.payoffs for row in table(engine, source).rows] == payoffs


@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_played_safely_is_refused_with_the_reason(line: str) -> None:
    assert REFUSED[line] in [d.message for d in check_source(FRAME + PLAIN + line + "\n").refusals]


def test_what_is_left_out_is_said() -> None:
    program = check_source(FRAME + PLAIN + "main :- go, halt.\nstart :- main.\ngo.\n")
    assert [(d.severity, d.message) for d in program.diagnostics] == [
        (Severity.WARNING, "main/0 is left out: halt/0 is not allowed in game programs"),
        (Severity.WARNING, "start/0 is left out: it calls what is left out"),
    ]
    assert "go/0" in program.defined
    assert "main/0" not in program.defined
    assert "halt" not in program.canonical
    assert "start" not in program.canonical
    assert "\ngo.\n" in program.canonical


def test_what_the_game_leads_to_is_never_left_out() -> None:
    program = check_source(
        FRAME + PLAIN + "opposite_move(A, B) :- helper(A, B).\nhelper(_, _) :- halt.\n"
    )
    assert [d.message for d in program.refusals] == ["halt/0 is not allowed in game programs"]
    assert program.clauses == ()


def test_a_lambda_expression_becomes_a_clause() -> None:
    program = check_source("double(L, M) :- maplist([X, Y]>>(Y is 2 * X), L, M).")
    assert program.canonical.startswith(
        "':-'(double(_1,_2),maplist('lambda 0'(of(_3,_4)),_1,_2)).\n"
        "':-'('lambda 0'(_1,_2,_3),','('fresh copy'(_1,of(_4,_5)),"
        "','('='(_4,_2),','('='(_5,_3),is(_5,'*'(2,_4)))))).\n"
    )
