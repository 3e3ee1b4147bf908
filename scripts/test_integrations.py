#!/usr/bin/env python3
"""Test every integration in an environment of its own, made as its page of the documentation says.

`scripts/test_integrations.py [NAME ...]` makes or renews `build/integrations/NAME` with pip and
runs the tests that need that package, through the other tool's own command where it has one. A test
that is skipped there has failed. What has no wheel for this platform is reported as such;
everything else that cannot be installed is a failure.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "integrations"
PAGE = "tests/integrations/test_page.py"
RUNNERS = ("pytest", "hypothesis")
"""What runs the tests, in the versions of the group `dev`."""


@dataclass(frozen=True)
class Integration:
    """A tool, what to install for it in this order, and the tests that need it.

    `wheel` names a package that nobody is expected to build: where there is no wheel, the tool is
    not available.
    """

    name: str
    installs: tuple[str, ...]
    tests: tuple[str, ...]
    wheel: str = ""


INTEGRATIONS = (
    Integration(
        name="axelrod",
        installs=(".", "axelrod"),
        tests=("tests/studies/tournament/test_axelrod.py",),
    ),
    Integration(
        name="inspect",
        installs=(".[inspect]", "openai"),
        tests=(
            "tests/integrations/test_inspect.py",
            "tests/models/providers/test_inspect.py",
            f"{PAGE}::test_the_example_of_each_integration_runs_and_prints_what_it_says[Inspect]",
        ),
    ),
    Integration(
        name="scout",
        installs=(".[scout]",),
        tests=("tests/integrations/test_scout.py",),
    ),
    Integration(
        name="lm-eval",
        installs=(".[lm-eval]",),
        tests=("tests/integrations/test_lm_eval.py",),
    ),
    Integration(
        name="verifiers",
        installs=(".[verifiers]", "./examples/verifiers"),
        tests=(
            "tests/integrations/test_verifiers.py",
            f"{PAGE}::test_the_example_of_each_integration_runs_and_prints_what_it_says[verifiers]",
        ),
    ),
    Integration(
        name="pettingzoo",
        installs=(".[pettingzoo]",),
        tests=(
            "tests/integrations/test_pettingzoo.py",
            f"{PAGE}::test_the_example_of_each_integration_runs_and_prints_what_it_says[PettingZoo]",
            (
                "tests/test_examples.py::"
                "test_the_cells_of_each_tutorial_run_in_order_with_what_it_says_to_install[learning.md]"
            ),
        ),
    ),
    Integration(
        name="mcp",
        installs=(".[mcp]",),
        tests=(
            "tests/integrations/test_mcp.py",
            "tests/integrations/test_mcp_pool.py",
            f"{PAGE}::test_the_example_of_each_integration_runs_and_prints_what_it_says[MCP]",
        ),
    ),
    Integration(
        name="openspiel",
        installs=(".[openspiel]",),
        tests=(
            "tests/theory/trees/test_openspiel.py",
            "tests/cli/commands/test_bench_command.py::test_a_tree_of_openspiel_is_asked_at_every_information_set",
            "tests/cli/commands/test_convert_compare.py::test_a_game_of_openspiel_is_named_solved_and_converted",
        ),
        wheel="open_spiel>=1.5",
    ),
)


def main() -> int:
    """Test those that were named, or all; print a line for each at the end and return 1 where one
    failed."""
    known = {integration.name: integration for integration in INTEGRATIONS}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="*", help=f"one or more of {', '.join(known)} [default: all]")
    names: list[str] = parser.parse_args().name
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"there is no integration named {unknown[0]}; expected {', '.join(known)}")
    chosen = [known[name] for name in names] or list(INTEGRATIONS)
    verdicts = {integration.name: test(integration) for integration in chosen}
    print()
    for name, verdict in verdicts.items():
        print(f"{name:12}{verdict}")
    return int(any(verdict.startswith("failed") for verdict in verdicts.values()))


def test(integration: Integration) -> str:
    """Make the environment, run the tests, and say how it went in a few words."""
    print(f"\n{integration.name}: {' '.join(integration.installs)}", flush=True)
    folder = FOLDER / integration.name
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    if integration.wheel and lacks_wheel(python, integration.wheel):
        return "not available on this platform: no wheel"
    # As a page says, one line after the other: a later line must not be needed by an earlier one.
    for packages in (list_runners(), *([package] for package in integration.installs)):
        if run([str(python), "-m", "pip", "install", "--quiet", *packages]):
            return f"failed: pip install {' '.join(packages)}"
    # The installed package is tested, not the one in `src`.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PATH"] = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    environment["PYTHONPATH"] = str(ROOT / "tests" / "support")
    words = [
        str(python),
        "-m",
        "pytest",
        "-p",
        "no_skips",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
    ]
    code = run([*words, *integration.tests], environment)
    return "passed" if code == 0 else f"failed: pytest ended with {code}"


def lacks_wheel(python: Path, requirement: str) -> bool:
    """Say whether the index has this package, but no wheel of it that fits this platform."""
    pip = [str(python), "-m", "pip"]
    name = requirement.partition(">=")[0]
    there = run([*pip, "index", "versions", name], quiet=True) == 0
    look = [
        "install",
        "--dry-run",
        "--ignore-installed",
        "--no-deps",
        "--only-binary",
        ":all:",
        requirement,
    ]
    return there and run([*pip, *look], quiet=True) != 0


def list_runners() -> list[str]:
    """List what runs the tests, as the group `dev` pins it."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    return [pinned for pinned in groups["dev"] if pinned.partition("==")[0] in RUNNERS]


def run(
    words: Sequence[str], environment: dict[str, str] | None = None, quiet: bool = False
) -> int:
    """Run a command in the root of the repository and return how it ended."""
    output = subprocess.DEVNULL if quiet else None
    return subprocess.run(
        words, cwd=ROOT, env=environment, stdout=output, stderr=output, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
