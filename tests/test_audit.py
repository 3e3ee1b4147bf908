"""`make audit` says what was looked up, and fails only where a weakness is known or the look-up
itself is broken."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "audit_packages.py"


@pytest.fixture(scope="module")
def judge():
    spec = spec_from_file_location("audit_packages", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.judge


def report(*packages):
    return json.dumps({"dependencies": packages, "fixes": []})


FINE = {"name": "numpy", "version": "2.0", "vulns": []}
WEAK = {"name": "old", "version": "0.1", "vulns": [{"id": "PYSEC-1", "fix_versions": []}]}
UNKNOWN = {
    "name": "other",
    "skip_reason": "Dependency not found on PyPI and could not be audited: other (1.0)",
}


@pytest.mark.parametrize(
    ("returncode", "output", "errors", "code", "said"),
    [
        (0, report(FINE), "", 0, "1 packages audited, 0 weaknesses"),
        (
            0,
            report(FINE, UNKNOWN),
            "",
            0,
            "1 packages audited, 0 weaknesses; 1 are not in the database and were not audited",
        ),
        (1, report(FINE, WEAK), "", 1, "old 0.1: PYSEC-1\n2 packages audited, 1 weaknesses"),
        (
            0,
            report(UNKNOWN, UNKNOWN),
            "",
            0,
            "the database of known weaknesses cannot be reached: none of 2 packages was audited",
        ),
        (
            1,
            "",
            "requests.exceptions.ConnectionError: no route",
            0,
            "the database of known weaknesses cannot be reached: no package was audited",
        ),
        (2, "", "No module named pip_audit", 2, "pip-audit failed: No module named pip_audit"),
        (0, "", "", 1, "pip-audit failed: it said nothing"),
    ],
)
def test_an_audit_is_told_in_a_sentence_with_the_right_exit_code(
    judge, returncode, output, errors, code, said
):
    assert judge(returncode, output, errors) == (code, said)
