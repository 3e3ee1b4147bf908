"""The mutation runner: which changes it makes, and that loaded functions get them."""

import gc
import sys
from pathlib import Path

import pytest

pytest.importorskip("coverage")
sys.path.append(str(Path(__file__).parents[1] / "scripts"))

from mutant_server import exchange, find_functions
from mutants import find_mutants

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
    assert [(mutant.before, mutant.text, mutant.start[0]) for mutant in find_mutants("x", file)] == [
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
