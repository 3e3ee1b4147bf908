"""The mutation runner: which changes it makes, and that loaded functions get them."""

import gc
import sys
from pathlib import Path

import pytest

pytest.importorskip("coverage")
sys.path.append(str(Path(__file__).parents[1] / "scripts"))

from mutant_server import exchange, find_functions
from mutants import ROOT, SOURCE as PACKAGE, TARGETS, find_mutants

SOURCE = """
def count_larger(numbers: list[int] | None, limit: int = 3) -> int:
    return sum(number > limit for number in numbers)
"""


@pytest.fixture
def file(tmp_path):
    found = tmp_path / "counted.py"
    found.write_text(SOURCE)
    return found


def test_values_and_comparisons_are_changed_and_annotations_are_not(file):
    assert [
        (mutant.before, mutant.text, mutant.start[0]) for mutant in find_mutants("x", file)
    ] == [
        ("3", "4", 2),
        ("sum((number > limit for number in numbers))", "None", 3),
        ("number > limit", "number >= limit", 3),
    ]


def test_a_function_that_was_loaded_and_set_aside_before_gets_the_changed_code(file):
    names = {}
    exec(compile(SOURCE, str(file), "exec"), names)
    gc.freeze()
    *_, mutant = find_mutants("x", file)
    exchange(mutant, find_functions())
    gc.freeze()
    assert names["count_larger"]([2, 3, 4]) == 2


NESTED = """
def limit_to(most):
    def check(number):
        return number <= most

    return check


check = limit_to(3)
"""


def test_a_function_that_another_made_on_import_gets_the_changed_code_too(tmp_path):
    file = tmp_path / "nested.py"
    file.write_text(NESTED)
    names = {}
    exec(compile(NESTED, str(file), "exec"), names)
    (mutant,) = (mutant for mutant in find_mutants("x", file) if mutant.text == "number < most")
    assert names["check"](3)
    exchange(mutant, find_functions())
    assert not names["check"](3)
    assert names["check"](2)


def test_every_target_and_every_test_named_for_it_is_there():
    paths = [PACKAGE / name for name in TARGETS]
    paths += [
        ROOT / "tests" / name.partition("::")[0] for tests in TARGETS.values() for name in tests
    ]
    assert [str(path) for path in paths if not path.exists()] == []
