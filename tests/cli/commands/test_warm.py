"""`bestresponse warm`: what is compiled is named, and without a compiler there is nothing to do."""

import pytest

from bestresponse.cli.commands import warm
from bestresponse.core.errors import UsageError
from bestresponse.theory import kernels_ahead
from bestresponse.theory.kernels_ahead import KernelStep


def test_every_step_is_named_when_it_is_done(monkeypatch, capsys):
    used = []
    steps = (
        KernelStep("first loops", "one", lambda: used.append("one")),
        KernelStep("second loops", "two", lambda: used.append("two")),
    )
    monkeypatch.setattr(kernels_ahead, "STEPS", steps)
    monkeypatch.setattr(warm, "has_numba", lambda: True)
    warm.warm_command()
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["first loops", "second loops"]
    assert used == ["one", "two"]


def test_without_the_compiler_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(warm, "has_numba", lambda: False)
    with pytest.raises(UsageError, match=r"nothing to compile without numba: .*fast"):
        warm.warm_command()
