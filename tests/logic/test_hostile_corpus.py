"""Programs written to do harm: each is refused, stopped with a reason, or shows its right table, in
both engines alike.

The first line of a program in `hostile/` says what must become of it. A folder of further programs
beside the recorded data is tried too where there is one: there each must come to a verdict, and to
the same in both engines.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from daily import share_out
from recorded import DATA

from bestresponse.logic.confined.engine import ConfinedEngine
from bestresponse.logic.engine import Limits, LogicEngine
from bestresponse.logic.programs.validate import Report, validate
from bestresponse.logic.swi.engine import SwiEngine

OpenEngine = Callable[[Limits], LogicEngine]
OWN = sorted(Path(__file__).with_name("hostile").glob("*.pl"))
FURTHER = sorted((DATA.parent / "hostile").glob("*.pl"))
RIGHT = [(4, 4), (0, 3), (3, 0), (3, 3)]

needs_swipl = pytest.mark.skipif(
    shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not on PATH"
)


FEW_ENDS = 10_000
"""Every game that is right has fewer; those that are only large are stopped here, not read whole."""
HASTY = Limits(seconds=1.0, memory=256 << 20, ends=FEW_ENDS)
"""What must be stopped is stopped sooner by these, and what is right is given time: so no verdict
depends on load."""
PATIENT = Limits(ends=FEW_ENDS)


@pytest.fixture(scope="module")
def open_swi() -> Iterator[OpenEngine]:
    with closing(SwiEngine(HASTY)) as hasty, closing(SwiEngine(PATIENT)) as patient:
        yield {HASTY: hasty, PATIENT: patient}.__getitem__


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "breach").mkdir()
    (tmp_path / "secret.txt").write_text("the_secret.\n")
    return tmp_path


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def find_limits(source: str) -> Limits:
    return HASTY if source.startswith("% expect: stopped") else PATIENT


def verdict(report: Report) -> str:
    if report.refusals:
        return "refused"
    return (
        "right" if report.ok and _payoffs(report) == RIGHT else "wrong" if report.ok else "stopped"
    )


def _payoffs(report: Report) -> list[tuple[object, ...]]:
    return [row.payoffs for row in report.table.rows] if report.table else []


def is_untouched(place: Path, report: Report) -> bool:
    said = "".join(map(str, report.diagnostics))
    return list((place / "breach").iterdir()) == [] and "the_secret" not in said


def test_the_collection_has_programs_of_every_kind() -> None:
    kinds = {path.stem.split("_")[0] for path in OWN}
    assert kinds == {
        "host",
        "round",
        "solver",
        "time",
        "memory",
        "number",
        "term",
        "text",
        "gate",
        "output",
    }
    assert len(OWN) >= 50


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_a_hostile_program_is_contained_by_the_embedded_engine(path: Path, place: Path) -> None:
    source = read(path)
    report = validate(source, ConfinedEngine(find_limits(source)))
    assert f"% expect: {verdict(report)}" == source.splitlines()[0]
    assert is_untouched(place, report)


@needs_swipl
@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_a_hostile_program_is_contained_by_swi_prolog(
    path: Path, place: Path, open_swi: OpenEngine
) -> None:
    source = read(path)
    report = validate(source, open_swi(find_limits(source)))
    assert f"% expect: {verdict(report)}" == source.splitlines()[0]
    assert is_untouched(place, report)


@needs_swipl
@pytest.mark.parametrize("path", share_out(FURTHER, parts=2), ids=lambda path: path.stem)
def test_both_engines_come_to_the_same_verdict_on_further_programs(
    path: Path, place: Path, open_swi: OpenEngine
) -> None:
    for limits in (
        HASTY,
        PATIENT,
    ):  # only what one engine finished in haste has to be finished by both
        reports = [
            validate(read(path), engine) for engine in (ConfinedEngine(limits), open_swi(limits))
        ]
        if reports[0].ok == reports[1].ok:
            break
    stopped = [any(error.code == "limit" for error in report.errors) for report in reports]
    # engines count other steps: one may name the limit that stopped it where the other has come to
    # the end
    if not any(stopped):
        assert reports[0].table == reports[1].table
        assert reports[0].ok == reports[1].ok
    assert all(report.ok or report.errors for report in reports)
    assert all(is_untouched(place, report) for report in reports)
