"""150 more programs that must not get out, in both engines: each is refused, stopped, or gives the
right table."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from games_for_logic import DILEMMA
from hostile_texts import KINDS, poisoned

from bestresponse.core.errors import LogicError
from bestresponse.logic.engine import Limits, LogicEngine, open_engine
from bestresponse.logic.gate.check import check_source
from bestresponse.logic.programs.table import GameTable, extract

RIGHT = {("D", "D"): (1, 1), ("D", "C"): (5, 0), ("C", "D"): (0, 5), ("C", "C"): (3, 3)}
LIMITS = Limits(steps=60_000, cells=300_000)
ENGINES = ("embedded", "swi") if shutil.which("swipl") else ("embedded",)


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[LogicEngine]:
    engine = open_engine(request.param, LIMITS)
    yield engine
    engine.close()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a folder to break into and a secret to find."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "breach").mkdir()
    (tmp_path / "secret.txt").write_text("the_secret.\n")
    return tmp_path


def outcome(engine: LogicEngine, source: str) -> GameTable | str:
    try:
        found = extract(engine, engine.load(source))
    except LogicError as error:
        return str(error)
    return found.table or str(found.defects[0])


def cells(table: GameTable) -> object:
    return {tuple(dict(row.moves)[p] for p in ("p1", "p2")): row.payoffs for row in table.rows}


@pytest.mark.parametrize("kind", KINDS)
def test_a_poisoned_program_is_refused_stopped_or_right(
    engine: LogicEngine, kind: str, place: Path
) -> None:
    assert len(KINDS[kind]) == 30
    for line in KINDS[kind]:
        source = poisoned(kind, line, DILEMMA)
        assert source != DILEMMA
        result = outcome(engine, source)
        assert result if isinstance(result, str) else cells(result) == RIGHT, line
        assert "the_secret" not in str(result), line
    assert list((place / "breach").iterdir()) == []
    assert (place / "secret.txt").read_text() == "the_secret.\n"
    after = outcome(engine, DILEMMA)
    assert isinstance(after, GameTable)
    assert cells(after) == RIGHT


@pytest.mark.parametrize("kind", ["goals", "text"])
def test_the_gate_alone_refuses_smuggled_goals_and_broken_text(kind: str) -> None:
    for line in KINDS[kind]:
        assert check_source(poisoned(kind, line, DILEMMA)).refusals, line


@pytest.mark.parametrize(
    "line", ["'do all'(_, S, S, _).", "'next step'(_, _, _, _, _, _, _).", "'one of'(X, [X])."]
)
def test_a_game_cannot_define_the_inner_predicates_of_the_solver(line: str) -> None:
    assert "belongs to the solver" in str(check_source(f"{line}\n{DILEMMA}").refusals[0])


def test_declaring_an_inner_predicate_of_the_solver_changes_nothing(engine: LogicEngine) -> None:
    result = outcome(engine, f":- dynamic('play on'/6).\n{DILEMMA}")
    assert isinstance(result, GameTable)
    assert cells(result) == RIGHT
