"""A user's type checker sees real signatures, and a misspelt name is an error."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import bestresponse
import bestresponse.logic
import bestresponse.models
import bestresponse.runs
import bestresponse.theory

PROGRAM = """
import bestresponse as br
from bestresponse import theory

reveal_type(br.solve("stag-hunt").value)
reveal_type(br.bench("openai/gpt-4o", num_games=3))
reveal_type(br.simulate("chicken", rounds=3).config.rounds)
reveal_type(theory.nash)
br.bench("openai/gpt-4o", num_games="three")
br.slove("stag-hunt")
theory.solve_zero_summ
"""


def check(tmp_path: Path, *words: str) -> str:
    file = tmp_path / "user.py"
    file.write_text(PROGRAM)
    english = {**os.environ, "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "LANGUAGE": "en"}
    command = [sys.executable, "-m", *words, str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, env=english).stdout


def test_mypy_sees_signatures_and_refuses_misspelt_names(tmp_path):
    cache = Path(bestresponse.__file__).parents[2] / ".mypy_cache"
    out = check(tmp_path, "mypy", "--strict", "--no-error-summary", f"--cache-dir={cache}")
    assert 'Revealed type is "float | None"' in out
    assert (
        "Revealed type is"
        ' "bestresponse.runs.run.Run[bestresponse.studies.bench.config.BenchConfig]"' in out
    )
    assert 'Revealed type is "int"' in out
    assert 'Revealed type is "def (' in out
    assert 'incompatible type "str"; expected "int | None"' in out
    assert 'Module has no attribute "slove"' in out
    assert 'Module has no attribute "solve_zero_summ"' in out


@pytest.mark.skipif(
    find_spec("basedpyright") is None,
    reason="basedpyright is not installed: pip install basedpyright",
)
def test_pyright_sees_signatures_and_refuses_misspelt_names(tmp_path):
    out = check(tmp_path, "basedpyright", "--pythonpath", sys.executable)
    assert '.value" is "float | None"' in out
    assert 'num_games=3)" is "Run[BenchConfig]"' in out
    assert '.rounds" is "int"' in out
    assert 'Type of "theory.nash" is "(game: ' in out
    refused = """Argument of type "Literal['three']" cannot be assigned to parameter "num_games" of type"""
    assert f'{refused} "int | None"' in out
    assert '"slove" is not a known attribute of module "bestresponse"' in out
    assert '"solve_zero_summ" is not a known attribute of module "bestresponse.theory"' in out


def test_no_public_name_is_untyped():
    packages = (
        bestresponse,
        bestresponse.theory,
        bestresponse.logic,
        bestresponse.models,
        bestresponse.runs,
    )
    for package in packages:
        source = Path(package.__file__).read_text("utf-8")
        assert "if TYPE_CHECKING:" in source
        assert source.index("if TYPE_CHECKING:") < source.index(" = lazy_exports(__name__")
