"""The tests that `make check` selects for a change."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "scripts"))

import changed_tests
from changed_tests import (
    ALWAYS,
    MIRRORED,
    SOURCE,
    TESTS,
    choose_tests,
    find_imports,
    find_tests,
)


def choose(*names, most=1000):
    tests, _ = choose_tests([SOURCE / name for name in names], most)
    return [test.relative_to(TESTS).as_posix() for test in tests]


def test_every_file_of_the_package_has_tests():
    files = [path for path in SOURCE.rglob("*") if path.is_file()]
    files = [path for path in files if "__pycache__" not in path.parts]
    without = [path for path in files if not find_tests(path) and changed_tests._has_code(path)]
    assert without == []


def test_a_module_without_a_test_file_of_its_own_is_tested_by_those_that_import_it():
    # nothing mirrors what people are paid: the module is reached through the pages and services
    assert "web/experiments/test_payments.py" in choose("web/services/export.py")


def test_the_mirrored_file_comes_first_and_what_imports_the_module_from_afar_later():
    chosen = choose("core/episode.py")
    assert chosen[0] == "core/test_episode.py"
    assert chosen[-len(ALWAYS) :] == [test.name for test in ALWAYS]
    assert chosen.index("core/test_episode.py") < chosen.index("studies/simulate/test_simulate.py")


def test_names_that_a_package_exports_are_imports_of_the_modules_behind_them():
    # a hundred test files import from bestresponse.theory, few of them this name
    assert find_imports("from bestresponse.theory import stackelberg") == {
        "bestresponse.theory",
        "bestresponse.theory.equilibria.commitment",
    }
    assert choose("analysis/people.py")[0] == "analysis/test_people.py"


def test_of_equally_near_tests_those_of_the_same_folder_come_first():
    module = SOURCE / "theory/equilibria/solve.py"  # no test file has its name
    tests, _ = choose_tests([module], 1000)
    nearest = [test for test in tests if find_tests(module).get(test) == 0]
    is_beside = [test.parent == TESTS / "theory/equilibria" for test in nearest]
    assert is_beside == sorted(is_beside, reverse=True)
    assert any(is_beside)
    assert not all(is_beside)


def test_a_file_of_data_stands_for_the_modules_beside_it():
    assert "formal/claims/test_english.py" in choose("formal/claims/english/claims.lark")


def test_the_farthest_are_left_out_beyond_the_limit():
    tests, left_out = choose_tests([SOURCE / "core" / "errors.py"], 10)
    assert len([test for test in tests if test not in ALWAYS]) <= 10
    assert left_out > 50


def test_a_changed_test_stands_for_itself():
    test = TESTS / "core" / "test_episode.py"
    assert find_tests(test) == {test: MIRRORED}


def test_a_module_that_no_test_imports_is_refused(tmp_path, monkeypatch):
    lonely = SOURCE / "lonely.py"
    monkeypatch.setattr(changed_tests, "find_tests", lambda path: {})
    monkeypatch.setattr(changed_tests, "_has_code", lambda path: True)
    with pytest.raises(SystemExit, match=r"src/bestresponse/lonely\.py: no test imports it"):
        choose_tests([lonely], 10)


def test_the_package_runs_as_a_module():
    # bestresponse.__main__
    done = subprocess.run(
        [sys.executable, "-m", "bestresponse", "--version"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stdout.startswith("0.1.0")
