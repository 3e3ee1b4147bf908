"""Things of installed packages are found by name, and a broken package is named and spoils nothing
else."""

import pytest
from plugins import lay_package

from bestresponse.core.errors import UsageError
from bestresponse.core.registry import Registry, check_members, did_you_mean

GROUP = "bestresponse.tests"


def raise_quietly(error=None):
    raise error or RuntimeError


def test_built_in_things_and_those_of_packages_come_through_one_door(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(
        lay_package(tmp_path, "door_one", "value = 7\n", (GROUP, "mine", "value"))
    )
    registry = Registry(GROUP, "thing", {"pi": "math:pi"})
    assert registry.names() == ["mine", "pi"]
    assert (registry.load("mine"), registry.load("pi")) == (7, 3.141592653589793)


def test_a_package_cannot_take_the_name_of_a_built_in_thing(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(
        lay_package(tmp_path, "door_two", "value = 7\n", (GROUP, "pi", "value"))
    )
    assert Registry(GROUP, "thing", {"pi": "math:pi"}).load("pi") == 3.141592653589793


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (
            "import no_such_package_anywhere\n",
            "ModuleNotFoundError: No module named 'no_such_package_anywhere'",
        ),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("def oops(:\n", "SyntaxError"),
        ("other = 1\n", "AttributeError"),
    ],
)
def test_a_package_that_cannot_be_imported_is_named_with_the_reason(
    tmp_path, monkeypatch, source, why
):
    name = f"door_broken_{abs(hash(source)) % 10**8}"
    monkeypatch.syspath_prepend(lay_package(tmp_path, name, source, (GROUP, "mine", "value")))
    registry = Registry(GROUP, "thing", {"pi": "math:pi"})
    with pytest.raises(UsageError) as error:
        registry.load("mine")
    assert str(error.value).startswith(
        f"the thing 'mine' of the package {name.replace('_', '-')} cannot be imported: "
    )
    assert why in str(error.value)
    assert registry.load("pi")


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match=r"there is no thing named 'pie'\. Did you mean pi\?"):
        Registry(GROUP, "thing", {"pi": "math:pi"}).load("pie")


def test_a_name_that_begins_alike_comes_before_one_that_looks_alike_and_far_ones_are_not_named():
    assert (
        did_you_mean("Kuhn", ["kunn", "kuhn-poker-of-three"])
        == " Did you mean kuhn-poker-of-three?"
    )
    assert did_you_mean("chiken", ["chicken", "chickens"]) == " Did you mean chicken?"
    assert did_you_mean("zzz", ["chicken"]) == ""


def test_an_error_without_words_is_named_by_its_kind():
    registry = Registry(GROUP, "thing", {"quiet": f"{__name__}:raise_quietly"})
    with pytest.raises(UsageError, match=r"the thing 'quiet' cannot be made: RuntimeError$"):
        registry.make("quiet")
    with pytest.raises(UsageError, match=r"^our own error$"):
        registry.make("quiet", UsageError("our own error"))


def test_a_thing_without_a_member_is_refused_by_name():
    check_members("text", ("upper",), "the text")
    with pytest.raises(UsageError, match="the text cannot be used: str has no `decide`"):
        check_members("text", ("upper", "decide"), "the text")


def test_what_is_made_is_what_its_factory_returns_and_its_faults_are_named():
    registry = Registry(GROUP, "thing", {"join": "posixpath:join"})
    assert registry.make("join", "a", "b") == "a/b"
    with pytest.raises(UsageError, match="the thing 'join' cannot be made: TypeError"):
        registry.make("join", 1)
