"""Missing layers of the sandbox are told once, or refused; larger limits are one number."""

import warnings

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.logic.settings import Layer, Limits, LogicSettings, SandboxWarning

COMPLETE = (Layer("limits", True), Layer("files", True))
PARTLY = (Layer("limits", True), Layer("files", False, "Landlock needs Linux"))


def test_a_complete_sandbox_needs_no_words() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogicSettings(require_sandbox=True).judge("embedded", COMPLETE)


def test_a_missing_layer_is_told_once_for_each_engine() -> None:
    settings = LogicSettings()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for engine in ("embedded", "embedded", "swi"):
            settings.judge(engine, PARTLY)
    expected = (
        "programs are checked with less confinement than there could be: files: missing (Landlock"
        " needs Linux)"
    )
    assert [(one.category, str(one.message)) for one in told] == [(SandboxWarning, expected)] * 2


def test_a_missing_layer_is_refused_where_the_sandbox_is_demanded() -> None:
    settings = LogicSettings(require_sandbox=True)
    for _ in range(2):
        with pytest.raises(UsageError, match="required, but incomplete: files: missing"):
            settings.judge("swi", PARTLY)


def test_a_check_takes_at_most_35_seconds_of_processor_time_and_512_megabytes(
    monkeypatch,
) -> None:
    monkeypatch.setattr("bestresponse.logic.settings.SECONDS", 35.0)
    limits = LogicSettings().limits
    assert (limits.seconds, limits.memory, limits.ends) == (35, 512 << 20, 100_000)
    assert (limits.positions, limits.steps, limits.steps_in_all) == (20_000, 500_000, 7_000_000)
    assert limits.clock == 700


def test_limits_grow_with_the_seconds_and_the_ends(monkeypatch) -> None:
    monkeypatch.setattr("bestresponse.logic.settings.SECONDS", 35.0)
    assert Limits.within(35) == Limits()
    longer = Limits.within(350)
    assert (longer.seconds, longer.positions, longer.steps, longer.ends, longer.memory) == (
        350,
        200_000,
        5_000_000,
        100_000,
        512 << 20,
    )
    more = Limits.within(35, 400_000)
    assert (more.ends, more.cells, more.output, more.memory) == (
        400_000,
        60_000_000,
        160_000_000,
        2 << 30,
    )
    assert Limits.within(0.1).steps == 500_000
