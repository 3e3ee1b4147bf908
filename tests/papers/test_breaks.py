"""Every promise that has a break notices it: a sample is tried here, all of them by `make mutants`."""

import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from break_promises import PAPERS, SOURCE, Break, read_breaks, sample, try_breaks

BREAKS = read_breaks()


@cache
def list_rows(paper):
    spec = spec_from_file_location(paper, PAPERS / f"{paper}.py")
    module = module_from_spec(spec)
    sys.modules[paper] = module  # dataclasses look for the module that they are defined in
    spec.loader.exec_module(module)
    return {row.id for row in module.PROMISES}


@pytest.mark.parametrize("broken", BREAKS, ids=lambda one: f"{one.paper}: {one.row}: {one.line}")
def test_the_line_is_in_the_source_once_and_the_row_is_there(broken):
    text = (SOURCE / broken.file).read_text("utf-8")
    assert broken.apply(text) != text
    assert broken.row in list_rows(broken.paper)


@pytest.mark.slow
def test_rows_turn_red_when_what_they_promise_is_broken():
    (outcome,) = {outcome for _, outcome in try_breaks(sample(BREAKS, 3))}
    assert outcome == "noticed"


def test_a_line_that_is_not_there_or_is_there_twice_is_no_break():
    broken = Break("x.py", line="a = 1", becomes="a = 2", paper="", row="")
    assert broken.apply("if b:\n    a = 1\n") == "if b:\n    a = 2\n"
    for text in ("", "a = 1\na = 1\n"):
        with pytest.raises(ValueError, match="expected one"):
            broken.apply(text)
