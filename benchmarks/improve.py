"""Train one student on solved games and measure it: the table of docs/measure/improve.md.

    python benchmarks/improve.py export --work build/improve
    python benchmarks/improve.py train --work build/improve --base smollm2 --minutes 16
    python benchmarks/improve.py evaluate --work build/improve --out results

Every part goes on where it was stopped. `evaluate` writes one JSON file per row as soon as it is
measured, several rows at a time; `--small` does everything in miniature on a processor.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bestresponse as br

SEED = 501
LONG = "table:2,prose,json"
SCALE = "9,30,100,100"  # half of the games as `bench` draws them by default
VARIED = 0.4  # shifted, multiplied or in tenths: a shift of two digits into three is hard to learn
EXPORTS = {
    "zs": {
        "count": 1_560_000,
        "sizes": "2-5",
        "rectangular": 0.3,
        "formats": f"short:100,{LONG}".split(","),
        "scale": SCALE,
        "varied": VARIED,
    },
    "gs": {
        "games": "general-sum",
        "count": 170_000,
        "sizes": "2-3",
        "formats": f"short:50,{LONG}".split(","),
        "scale": SCALE,
        "varied": VARIED,
    },
    "re": {
        "games": "replies",
        "count": 20_000,
        "sizes": "2-3",
        "formats": f"short:50,{LONG}".split(","),
        "scale": SCALE,
    },
    "st": {"games": "stories", "count": 12_000, "sizes": "2-3", "rectangular": 0},
}
"""About 300 million tokens; one H200 trains on 266 million in 17 minutes."""
TOLD = 400  # told tables of the test split that are asked for


def rows(small: bool) -> dict[str, dict[str, object]]:
    """Return the settings of `bench` for every row, the most important ones first."""
    games = 4 if small else 500
    few = 2 if small else 250
    table: dict[str, dict[str, object]] = {}
    for side in (2, 3, 4, 5, 6, 7):
        table[f"zero-sum-{side}x{side}"] = {
            "num_rows": side,
            "num_cols": side,
            "num_games": games,
            "max_tokens": 500 if side < 6 else 800,
        }
    for side in (3, 5):
        table[f"invariance-{side}x{side}"] = {
            "num_rows": side,
            "num_cols": side,
            "num_games": few,
            "suite": "invariance",
            "max_tokens": 500,
        }
    table["general-sum-3x3"] = {
        "family": "uniform",
        "num_games": few,
        "suite": "invariance",
        "max_tokens": 400,
    }
    table["told"] = {}
    for side in (2, 4):
        table[f"invariance-{side}x{side}"] = {
            "num_rows": side,
            "num_cols": side,
            "num_games": few,
            "suite": "invariance",
            "max_tokens": 500,
        }
    table["decimals-3x3"] = {"num_games": games, "scale": 10.0, "decimals": 1, "max_tokens": 400}
    table["small-payoffs-3x3"] = {"num_games": games, "scale": 9.0, "max_tokens": 400}
    return table


def export(args: argparse.Namespace) -> None:
    """Export everything that is missing."""
    for name, settings in EXPORTS.items():
        chosen = dict(settings)
        if args.small:
            chosen |= {"count": 40 if name == "st" else 200}
        began = time.monotonic()
        br.export(args.work / name, **chosen)
        print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)


def train(args: argparse.Namespace) -> None:
    """Train on all exports, or go on."""
    data = [part for name in EXPORTS for part in ("--data", str(args.work / name))]
    options = ["--minutes", str(args.minutes), "--settings", "held_out=40", "--settings", "tests=0"]
    if args.small:
        options = [
            "--steps",
            "4",
            "--settings",
            "held_out=5",
            "--settings",
            "tests=0",
            "--settings",
            "batch_tokens=4096",
        ]
        options += ["--device", "cpu"]
    run_command(
        "train",
        args.base,
        *data,
        *options,
        "--seed",
        str(args.seed),
        "-o",
        str(args.work / "student"),
        "--output-dir",
        str(args.work / "runs"),
    )


def run_command(*words: str) -> None:
    """Run a command of the product in a process of its own; stop where it fails."""
    subprocess.run([sys.executable, "-m", "bestresponse", *words], check=True)


def evaluate(args: argparse.Namespace) -> None:
    """Measure every row that is missing, several at a time, until the time is over."""
    args.output.mkdir(parents=True, exist_ok=True)
    ends = time.monotonic() + args.seconds
    kept = args.work / "rows"
    kept.mkdir(parents=True, exist_ok=True)

    def measure(name: str) -> None:
        path = kept / f"{name}.json"
        left = ends - time.monotonic()
        if not path.exists() and left > 0:
            words = [sys.executable, __file__, "row", "--work", str(args.work), "--name", name]
            try:
                subprocess.run([*words, *(["--small"] if args.small else [])], timeout=left)
            except subprocess.TimeoutExpired:
                print(f"{name}: no time left", flush=True)
        found = [json.loads(file.read_text()) for file in sorted(kept.glob("*.json"))]
        (args.output / "rows.json").write_text(json.dumps(found, indent=2) + "\n")

    with ThreadPoolExecutor(args.together) as pool:
        list(pool.map(measure, rows(args.small)))


def row(args: argparse.Namespace) -> None:
    """Measure one row and write it."""
    began = time.monotonic()
    settings = rows(args.small)[args.name]
    measured = measure_told(args) if args.name == "told" else measure_bench(args, settings)
    about = {"row": args.name, "seconds": round(time.monotonic() - began, 1), **measured}
    (args.work / "rows" / f"{args.name}.json").write_text(json.dumps(about) + "\n")
    print(json.dumps(about), flush=True)


def measure_bench(args: argparse.Namespace, settings: dict[str, object]) -> dict[str, object]:
    """Run the benchmark, and count by variant what can be read and what is lost."""
    run = br.bench(str(args.work / "student"), seed=SEED, output_dir=args.work / "runs", **settings)
    variants: dict[str, list[dict[str, object]]] = {}
    for play in run.frame("plays"):
        if play["model"] != "baseline" and play["asked_for"] != "baseline":
            variants.setdefault(play["variant"], []).append(play)
    measured = {name: count(plays) for name, plays in variants.items()}
    if len(variants) > 1:
        measured["best of all"] = count(choose_best(variants))
    return {"settings": settings, "variants": measured}


def choose_best(variants: dict[str, list[dict[str, object]]]) -> list[dict[str, object]]:
    """Return of every game the answer that loses least, whichever way it was told: an upper line
    for somebody who asks several times and knows how to choose."""
    best: dict[object, dict[str, object]] = {}
    for play in (play for plays in variants.values() for play in plays):
        known = best.setdefault(play["game"], play)
        if _find_loss(play) < _find_loss(known):
            best[play["game"]] = play
    return list(best.values())


def _find_loss(play: dict[str, object]) -> float:
    if play["strategy"] is None:
        return float("inf")
    lost = play["exploitability_normalised"]
    return play["gap_normalised"] if lost is None else lost


def count(plays: list[dict[str, object]]) -> dict[str, float]:
    """Count answers of one variant."""
    total = len(plays)
    read = [play for play in plays if play["strategy"] is not None]
    lost = [play["exploitability_normalised"] for play in read]
    gaps = [play["gap_normalised"] for play in read]
    parts = [play["equilibrium_distance"] for play in read]
    shares = {"asked": total, "read": len(read) / total}
    for name, values, limit in (
        ("within 0.01", lost, 0.01),
        ("within 0.05", lost, 0.05),
        ("best replies within 0.01", gaps, 0.01),
        ("part of an equilibrium within 0.01", parts, 0.01),
    ):
        known = [value for value in values if value is not None]
        if known:
            shares[name] = sum(value <= limit for value in known) / total
    return shares


def measure_told(args: argparse.Namespace) -> dict[str, object]:
    """Ask for the programs of told tables of the test split."""
    import torch

    from bestresponse.models.students.causal import open_causal
    from bestresponse.models.students.model import choose_device
    from bestresponse.studies.improve.data import open_export
    from bestresponse.studies.improve.measuring import measure_replies

    folder = open_export(args.work / "st")
    asked = [example for name in folder.list_files("test") for example in folder.read(name)]
    device = choose_device()
    dtype = torch.float32 if device == "cpu" else torch.bfloat16
    student = open_causal(args.work / "student", device, dtype)
    return measure_replies(student, asked[: 2 if args.small else TOLD])


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["export", "train", "evaluate", "row"])
    parser.add_argument("--work", type=Path, default=Path("build/improve"))
    parser.add_argument("--output", type=Path, default=Path("build/improve/results"))
    parser.add_argument("--base", default="smollm2")
    parser.add_argument("--minutes", type=float, default=16.0)
    parser.add_argument("--seconds", type=float, default=540.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--together", type=int, default=4)
    parser.add_argument("--name", default="")
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args()
    {"export": export, "train": train, "evaluate": evaluate, "row": row}[args.part](args)


if __name__ == "__main__":
    main()
