"""A training that is killed (SIGKILL) at ten points, one after the other, against an unbroken one.

    python scripts/killed_training.py

Needs the extra `train`. A tiny random network is trained for nine steps on a processor by
`bestresponse train`, with a checkpoint at every step. The same command resumes after each kill: in
a step, in the middle of writing a checkpoint, before it has its name, in the middle of writing the
student, before it is in its place, and while it is tested. Exit code 1 if the weights differ from
those of the unbroken training in one bit.
"""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from killed_training import POINTS, list_left_behind, read_weights, run_training
from tiny_networks import list_texts, make_tokenizer, write_model

import bestresponse as br


def main() -> None:
    """Train once unbroken and once with kills, and compare the weights."""
    with tempfile.TemporaryDirectory() as top:
        data, base = Path(top) / "data", Path(top) / "base"
        br.export(data, count=1000, sizes="2", rectangular=0, formats="table", themes="neutral")
        write_model(base, make_tokenizer(list_texts(data)))
        whole, killed = Path(top) / "whole", Path(top) / "killed"
        whole.mkdir()
        killed.mkdir()
        ended = run_training("none-0", base=base, data=data, folder=whole)
        kills = 0
        for point in POINTS:
            code = run_training(point, base=base, data=data, folder=killed)
            kills += code == -signal.SIGKILL
            print(f"{point}: exit code {code}", flush=True)
        resumed = run_training("none-0", base=base, data=data, folder=killed)
        done = ended == resumed == 0
        same = done and read_weights(whole) == read_weights(killed)
        left = list_left_behind(killed)
    print(f"{kills} kills; weights equal to the unbroken training's: {same}; left behind: {left}")
    if not (same and kills == len(POINTS) and not left):
        sys.exit(1)


if __name__ == "__main__":
    main()
