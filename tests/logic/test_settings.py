"""Missing layers of the sandbox are told once, or refused; larger limits are one number."""

import warnings

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.logic.settings import Layer, Limits, SandboxWarning, Settings

COMPLETE = (Layer("limits", True), Layer("files", True))
PARTLY = (Layer("limits", True), Layer("files", False, "Landlock needs Linux"))


def test_a_complete_sandbox_needs_no_words() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Settings(require_sandbox=True).judge("embedded", COMPLETE)


def test_a_missing_layer_is_told_once_for_each_engine() -> None:
    settings = Settings()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for engine in ("embedded", "embedded", "swi"):
            settings.judge(engine, PARTLY)
    expected = "programs are checked with less confinement than there could be: files: missing (Landlock needs Linux)"
    assert [(one.category, str(one.message)) for one in told] == [(SandboxWarning, expected)] * 2


def test_a_missing_layer_is_refused_where_the_sandbox_is_demanded() -> None:
    settings = Settings(require_sandbox=True)
    for _ in range(2):
        with pytest.raises(UsageError, match="demanded, but not complete: files: missing"):
            settings.judge("swi", PARTLY)


def test_a_program_of_a_stranger_has_half_a_second_of_work_and_four_by_the_clock_and_512_megabytes(monkeypatch) -> None:
    monkeypatch.setattr("bestresponse.logic.settings.WALL", 16.0)
    monkeypatch.setattr("bestresponse.logic.settings.SLOWDOWN", 8.0)
    limits = Settings().strangers
    assert (limits.total_steps, limits.wall, limits.clock, limits.memory) == (250_000, 4.0, 4.0, 512 << 20)
    assert limits.ends == 20_000
    assert Settings().limits.clock == 480


def test_limits_grow_with_the_seconds_and_the_ends() -> None:
    assert Limits.within(60) == Limits()
    longer = Limits.within(600)
    assert (longer.steps, longer.total, longer.ends) == (5_000_000, 600, 200_000)
    assert longer.wall == pytest.approx(10 * Limits().wall)
    more = Limits.within(60, 400_000)
    assert (more.ends, more.positions, more.cells, more.memory) == (400_000, 4_000_000, 60_000_000, 2 << 30)
    assert Limits.within(0.1).steps == 50_000
