"""All wrappers together, and the names the package offers."""

import importlib
import pkgutil
from types import ModuleType

import pytest

import bestresponse.models
from bestresponse.core.errors import ModelUnavailable, OverBudget, Transient
from bestresponse.models import Budget, Cache, CacheMode, Meter, ScriptedModel, ask
from bestresponse.models.wrappers.cached import assemble
from bestresponse.models.wrappers.limits import Gate, RetryPolicy


def test_a_hit_passes_no_meter_and_every_attempt_does(tmp_path):
    pending = [Transient("busy"), Transient("busy")]

    def script(request):
        if pending:
            raise pending.pop()
        return "A"

    meter = Meter(Budget(calls=3))
    policy = RetryPolicy(first=0.0)
    model = assemble(
        ScriptedModel(script),
        cache=Cache(tmp_path / "replies.sqlite"),
        meter=meter,
        gate=Gate(1),
        policy=policy,
    )
    assert [model.complete(ask("x")).cached for _ in range(3)] == [False, True, True]
    assert meter.spent.calls == 3
    with pytest.raises(OverBudget):
        model.complete(ask("y"))


def test_only_what_is_given_is_wrapped(tmp_path):
    def down(request):
        raise Transient("down")

    with pytest.raises(ModelUnavailable, match="gave up after 2 tries"):
        assemble(ScriptedModel(down), policy=RetryPolicy(tries=2, first=0.0)).complete(ask("x"))
    cache = Cache(tmp_path / "replies.sqlite")
    assert (
        assemble(ScriptedModel(["A"]), cache=cache, mode=CacheMode.OFF).complete(ask("x")).text
        == "A"
    )
    assert len(cache) == 0


def test_every_name_of_the_package_is_there_and_no_module_hides_one():
    for module in pkgutil.iter_modules(bestresponse.models.__path__):
        importlib.import_module(f"bestresponse.models.{module.name}")
    public = {name: getattr(bestresponse.models, name) for name in bestresponse.models.__all__}
    assert [name for name, value in public.items() if isinstance(value, ModuleType)] == []
