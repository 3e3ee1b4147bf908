"""Missing layers of the sandbox are told once, or refused; larger limits are one number."""

import warnings

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.logic.settings import Limits, SandboxWarning, Settings
from bestresponse.logic.swi.sandbox import Layer

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


def test_limits_grow_with_the_seconds() -> None:
    assert Limits.within(1.9) == Limits()
    large = Limits.within(19)
    assert (large.steps, large.cells, large.answers) == (20_000_000, 20_000_000, 1_000_000)
    assert (large.output, large.seconds, large.memory) == (40_000_000, 19, 1 << 30)
