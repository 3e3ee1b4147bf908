"""Every promise has a break that its own row notices: a sample is tried here, all of them by
`make mutants`."""

import subprocess
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
sys.path.append(str(SCRIPTS))

from break_promises import (  # noqa: E402 - from the folder of the scripts
    PAPERS,
    Break,
    exchange,
    find_functions,
    read_breaks,
)

BREAKS = read_breaks()
NAMES = sorted({one.paper for one in BREAKS})


@cache
def list_rows(paper):
    spec = spec_from_file_location(paper, PAPERS / f"{paper}.py")
    module = module_from_spec(spec)
    sys.modules[paper] = module  # dataclasses look for the module that they are defined in
    spec.loader.exec_module(module)
    return {row.id for row in module.PROMISES}


@pytest.mark.parametrize("paper", NAMES)
def test_every_row_has_a_break_and_every_line_is_in_its_file_once(paper):
    own = [one for one in BREAKS if one.paper == paper]
    assert {one.row for one in own} == list_rows(paper)
    assert [one.line for one in own if one.text == one.path.read_text("utf-8")] == []


def test_five_papers_promise_195_things():
    assert sum(len(list_rows(paper)) for paper in NAMES) == 195


@pytest.mark.slow
def test_rows_turn_red_when_what_they_promise_is_broken():
    words = [sys.executable, str(SCRIPTS / "break_promises.py"), "--sample", "5"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "5 of 5 breaks were noticed, of 5 rows" in done.stdout, done.stdout + done.stderr


def test_a_line_that_is_not_there_or_is_there_twice_is_no_break():
    broken = Break("x.py", line="a = 1", becomes="a = 2", paper="", row="")
    assert broken.apply("if b:\n    a = 1\n") == "if b:\n    a = 2\n"
    for text in ("", "a = 1\na = 1\n"):
        with pytest.raises(ValueError, match="expected one"):
            broken.apply(text)


def test_loaded_functions_and_those_within_them_get_the_broken_code(tmp_path):
    file = tmp_path / "halved.py"
    file.write_text("def halve(numbers):\n    return [n / 2 for n in numbers]\n")
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    exchange(file, file.read_text().replace("n / 2", "n * 2"), find_functions())
    assert names["halve"]([3]) == [6]
