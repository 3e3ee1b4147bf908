#!/usr/bin/env python3
"""Mutation testing: change one small thing in the source at a time and see whether a test notices.

Each mutant flips a comparison, an arithmetic or boolean operator, a condition, a constant or a
returned value. The tests named for its package in TARGETS are collected once and run once to learn
which of them reach which line; then a mutant gets a fork of that process, in which the code of one
function is exchanged, and only the tests that reach the changed line run there, the quickest first,
until one fails. What runs when a module is imported (constants, defaults, class bodies) is changed
in a copy of the source, which a fresh process imports.

A mutant that no test notices survives: either a test is missing or the change makes no difference.

    scripts/mutants.py                              every mutant of every package
    scripts/mutants.py --package runs/store         every mutant of one package
    scripts/mutants.py --sample 40 --seed 7         40 of each package, drawn at random
    scripts/mutants.py --sample 40 --minutes 5      stop after five minutes and print what was found
                                                    by then
"""

from __future__ import annotations

import argparse
import ast
import copy
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "bestresponse"

LIMITS = "studies/test_limits.py::test_settings_have_their_usual_values_and_both_their_ends"
"""The bounds of the settings of a study, whose name stands behind in brackets."""
# Where a silent mistake costs money or truth, and the quick tests that should notice it.
TARGETS = {
    "analysis/people.py": ["analysis/test_people.py"],
    "core": [
        "core",
        "games/test_known_equilibria.py",
        "games/test_rules.py",
        "games/test_kept.py",
        "players/llm/test_reading.py",
        "runs/store/test_folder.py",
    ],
    "runs/store": [
        "runs/store/test_folder.py",
        "runs/store/test_hostile_folder.py",
        "runs/store/test_lines.py",
        "runs/store/test_merge_parts.py",
        "runs/test_shard.py",
    ],
    "runs/execution.py": ["runs/test_execution.py"],
    "runs/reporting": ["runs/test_reporting.py"],
    "models/wrappers": [
        "models/wrappers",
        "models/providers/test_recorded.py",
        "models/test_prices.py",
        "models/test_tokens.py",
    ],
    "logic/gate": [
        "logic/gate/test_gate.py",
        "logic/gate/test_needs.py",
        "logic/gate/test_other_writers.py",
        "logic/programs/test_slips.py",
    ],
    **{
        f"formal/claims/{name}.py": [
            "formal/claims/test_claim_verdicts.py",
            "formal/claims/test_feedback.py",
        ]
        for name in ("checker", "grounding", "logic_check")
    },
    "report/stats": ["report/stats"],
    "report/blocks.py": [
        "report/test_blocks.py",
        "report/test_drawn_blocks.py",
        "report/test_metrics.py",
    ],
    **{
        f"studies/bench/{name}.py": [
            "studies/bench/test_measure.py",
            "studies/bench/test_frames.py",
        ]
        for name in ("measure", "metrics", "results", "differences", "judging", "frames")
    },
    "studies/bench/study.py": ["studies/bench/test_study.py", "studies/bench/test_suites.py"],
    "studies/bench/decision_frames.py": [
        "studies/bench/test_trees.py",
        "studies/bench/test_tree_figures.py",
        "studies/bench/test_positions.py",
    ],
    "studies/bench/policies.py": [
        "studies/bench/test_trees.py",
        "studies/bench/test_tree_figures.py",
    ],
    "studies/bench/trees.py": ["studies/bench/test_trees.py"],
    "studies/bench/positions.py": ["studies/bench/test_positions.py"],
    **{
        f"studies/behave/{name}.py": [
            f"{LIMITS}[behave]",
            "studies/behave/test_behave.py",
            "studies/behave/test_groups.py",
            "studies/behave/test_behave_figures.py",
            "studies/behave/test_copied_plays.py",
        ]
        for name in ("study", "config", "moves", "estimates")
    },
    **{
        f"studies/behave/{name}.py": [
            "studies/behave/test_import.py",
            "studies/behave/test_import_rows.py",
            "cli/test_behave.py",
        ]
        for name in ("importing", "layouts", "reader")
    },
    "studies/improve/study.py": [
        f"{LIMITS}[train]",
        "studies/improve/test_training.py",
        "studies/improve/test_train_study.py",
    ],
    "studies/improve/examples.py": [
        "studies/improve/test_examples.py",
        "studies/improve/test_answers.py",
    ],
    "studies/reproduce/recorded_play.py": [
        "studies/reproduce/test_recorded_play.py",
        "studies/reproduce/test_published_figures.py",
    ],
    "studies/reproduce/alympics.py": [
        "cli/commands/test_reproduce_command.py",
        "studies/water/test_recorded.py",
        "studies/reproduce/test_replayed_towns.py",
    ],
    **{
        f"studies/reproduce/{name}.py": [
            "studies/reproduce/test_recorded_tournament.py",
            "studies/reproduce/test_recorded_programs.py",
            "formal/evaluate/test_validation.py",
        ]
        for name in (
            "autoformalization",
            "program_levels",
            "recorded_programs",
            "recorded_strategies",
            "recorded_tournament",
        )
    },
    "studies/simulate": [
        f"{LIMITS}[simulate]",
        "studies/simulate/test_simulate.py",
        "studies/simulate/test_simulate_rows.py",
        "studies/simulate/test_simulate_figures.py",
    ],
    **{
        f"studies/steer/{name}.py": [
            f"{LIMITS}[steer]",
            "studies/steer/test_steer_figures.py",
            "studies/steer/test_fresh.py",
            "studies/steer/test_steer_replay.py",
        ]
        for name in ("study", "evaluating", "dialogue_frames", "search_frames")
    },
    "studies/stories/study.py": [f"{LIMITS}[stories]", "studies/stories"],
    "studies/tournament": [f"{LIMITS}[tournament]", "studies/tournament"],
    "studies/verify/measure.py": [
        f"{LIMITS}[verify]",
        "studies/verify/test_evaluation.py",
        "studies/verify/test_verify_figures.py",
        "studies/verify/test_hidden.py",
        "studies/verify/test_turns.py",
        "studies/verify/test_verify_rows.py",
    ],
    "studies/verify/reproduction.py": [
        "studies/verify/test_lelma_tables.py",
        "studies/verify/test_reproduce_lelma.py",
    ],
    **{
        f"studies/water/{name}.py": [
            f"{LIMITS}[water]",
            "studies/water/test_study.py",
            "studies/water/test_water_figures.py",
        ]
        for name in ("study", "config", "frames")
    },
    "studies/water/judging.py": [
        "studies/water/test_judging.py",
        "studies/water/test_judged_words.py",
    ],
    "theory/games/regrets.py": ["theory/games/test_regrets.py"],
    "web/experiments": [
        f"web/experiments/test_{name}.py" for name in ("matching", "reading", "tables")
    ],
    "web/security.py": ["web/security"],
    "web/services/earnings.py": [
        "web/experiments/test_earnings.py",
        "web/experiments/test_payments.py",
        "web/watching/test_rounds.py",
    ],
    "web/services/export.py": [
        "web/experiments/test_earnings.py",
        "web/experiments/test_payments.py",
        "web/watching/test_export.py",
        "web/watching/test_rounds.py",
    ],
    "web/watching/runs.py": ["web/watching/test_rankings.py", "web/watching/test_replay.py"],
    "web/sessions": [
        f"web/sessions/test_{name}.py"
        for name in (
            "broken",
            "ending",
            "new_attempt",
            "play",
            "register",
            "restart",
            "seat_worker",
            "session",
            "setup",
            "stand_ins",
            "store",
        )
    ],
}
SKIPPED = "not slow and not model and not soak"
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutant:
    """One change: the expression at `start` to `end` (lines and columns) of `file` becomes `text`.

    `function` is where it stands, as (qualified name, first line), or None where it runs on import.
    """

    package: str
    file: Path
    start: tuple[int, int]
    end: tuple[int, int]
    before: str
    text: str
    function: tuple[str, int] | None

    def __str__(self) -> str:
        return f"{self.file.relative_to(SOURCE)}:{self.start[0]}: {self.before} -> {self.text}"

    @property
    def lines(self) -> range:
        """The lines of the expression."""
        return range(self.start[0], self.end[0] + 1)

    def parse(self) -> ast.Module:
        """Parse the source with the change in it; all lines keep their numbers."""
        tree = ast.parse(self.file.read_bytes())
        new = ast.parse(self.text, mode="eval").body
        return ast.fix_missing_locations(
            _Exchange(self.start, self.end, self.before, new).visit(tree)
        )


class _Exchange(ast.NodeTransformer):
    """Puts a new expression in the place of the one that stands at a position and reads like
    `before`."""

    def __init__(
        self, start: tuple[int, int], end: tuple[int, int], before: str, new: ast.expr
    ) -> None:
        self.start, self.end, self.before, self.new = start, end, before, new

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr):
            here = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
            if here == (self.start, self.end) and ast.unparse(node) == self.before:
                return ast.copy_location(self.new, node)
        return super().generic_visit(node)


def find_mutants(package: str, file: Path) -> Iterator[Mutant]:
    """Yield every change to one file."""
    for node, function in _walk(ast.parse(file.read_bytes()), (), None):
        for place, changed in _change(node):
            start, end = (
                (place.lineno, place.col_offset),
                (place.end_lineno or 0, place.end_col_offset or 0),
            )
            yield Mutant(
                package, file, start, end, ast.unparse(place), ast.unparse(changed), function
            )


def _walk(
    node: ast.AST, names: tuple[str, ...], function: tuple[str, int] | None
) -> Iterator[tuple[ast.AST, tuple[str, int] | None]]:
    """Yield what runs, with its outermost function: no annotations, decorators, texts or lists of
    exported names."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            skipped = isinstance(child, ast.JoinedStr) or (
                isinstance(child, ast.keyword) and child.arg == "strict"
            )
            typed = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            if not isinstance(child, ast.AST) or skipped or typed:
                continue
            within, inner = function, names
            if (
                name == "body"
                and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                and function is None
            ):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                within = (".".join(names), first)
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = (*names, child.name)
            yield child, within
            yield from _walk(child, inner, within)


def _change(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the expressions of `node` that can be changed, and what into."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in OPERATORS:
            yield node, _with(node, ops=[OPERATORS[type(op)]()])
        case ast.BoolOp(op=op):
            yield node, _with(node, op=OPERATORS[type(op)]())
        case ast.BinOp(op=op) if (
            type(op) in OPERATORS and not _is_text(node.left) and not _is_text(node.right)
        ):
            yield node, _with(node, op=OPERATORS[type(op)]())
        case ast.UnaryOp(op=ast.Not()):
            yield node, node.operand
        case ast.Constant(value=bool(value)):
            yield node, ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield node, ast.Constant(value + 1)
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if (
            not _is_negated_anyway(test)
        ):
            yield test, ast.UnaryOp(ast.Not(), test)
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield node.value, ast.Constant(None)


def _is_negated_anyway(test: ast.expr) -> bool:
    """Say whether another change turns a condition into its opposite, so that negating it would
    count it twice."""
    match test:
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=[op]):
            return isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn)
    return False


def _with(node: ast.expr, **fields: object) -> ast.expr:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def collect(package: str) -> list[Mutant]:
    """Find every mutant of a package, in the order of the files."""
    place = SOURCE / package
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    return [mutant for file in files for mutant in find_mutants(package, file)]


def draw(package: str, sample: int | None, seed: int) -> list[Mutant]:
    """Draw `sample` mutants of a package; all of them where it is None."""
    found = collect(package)
    return found if sample is None else random.Random(seed).sample(found, min(sample, len(found)))


def try_package(package: str, mutants: list[Mutant], end: float) -> Counter[str]:
    """Count the outcomes of these mutants in a process of their own."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(package, mutants, end, sender), daemon=True)
    process.start()
    sender.close()
    counts: Counter[str] = Counter()
    try:
        while True:
            outcome, what = receiver.recv()
            if outcome == "error":
                sys.exit(f"{package}: its tests do not pass without any change:\n{what}")
            counts[outcome] += 1
            if outcome != "killed":
                print(f"{outcome:9} {what}", flush=True)
    except EOFError:
        process.join()
    return counts


def _serve(package: str, mutants: list[Mutant], end: float, sender: object) -> None:
    """Collect the tests of a package, and try the mutants instead of running them."""
    sys.path.insert(0, str(ROOT / "scripts"))
    from mutant_server import serve

    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "source"
        shutil.copytree(
            SOURCE, copied / "bestresponse", ignore=shutil.ignore_patterns("__pycache__")
        )
        log = os.open(Path(folder) / "log", os.O_RDWR | os.O_CREAT)
        for stream in (1, 2):
            os.dup2(log, stream)
        tests = [str(ROOT / "tests" / name) for name in TARGETS[package]]
        code = serve(["-m", SKIPPED, *tests], mutants, SOURCE, copied, Path(folder), end, sender)
        if code:
            sender.send(("error", (Path(folder) / "log").read_text(errors="replace")[-3000:]))
    os._exit(code)


def report(counts: dict[str, Counter[str]]) -> None:
    """Print killed and survived by package; a mutant that never ends counts as killed, an unreached
    one as survived."""
    print(
        f"\n{'package':28}{'killed':>8}{'timeout':>9}{'survived':>10}{'unreached':>11}{'score':>8}"
    )
    for name, found in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        killed, tried = found["killed"] + found["timeout"], max(1, found.total())
        row = (
            f"{found['killed']:8}{found['timeout']:9}{found['survived']:10}{found['unreached']:11}"
        )
        print(f"{name:28}{row}{killed / tried:8.0%}")


def main() -> None:
    """Try the mutants asked for; print a line for each survivor and a table by package."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--package", action="append", choices=list(TARGETS), help="only this one; may be repeated"
    )
    parser.add_argument("--sample", type=int, help="this many of each package, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no mutant after this long"
    )
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    print(f"seed {options.seed}", flush=True)
    counts = {}
    for package in options.package or list(TARGETS):
        counts[package] = try_package(package, draw(package, options.sample, options.seed), end)
    report(counts)


if __name__ == "__main__":
    main()
