"""Run a command that trains, with a checkpoint at every step, and end it by SIGKILL at one point.

    python killed_training.py POINT train ...

A point is a place and a number: `step-3` before the third step is made, `half-2` when half of the
second checkpoint of this process is written, `unnamed-2` when all of it is written under a name
that nobody reads, `weights-1` when half of the student's weights are written, `described-1` when
the student is written and not in its place, `placed-1` after that. `none-0` kills nothing.
"""

import os
import signal
import subprocess
import sys

PATIENCE = 600.0

POINTS = (
    "step-0",
    "half-1",
    "step-1",
    "unnamed-1",
    "half-3",
    "step-5",
    "unnamed-4",
    "weights-1",
    "described-1",
    "placed-1",
)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def cut_in_half(path):
    """Leave the first half of a file, as a kill in the middle of writing does."""
    os.truncate(path, os.path.getsize(path) // 2)


class Killing:
    """Puts itself in the place of what a training calls, and dies at its point."""

    def __init__(self, point):
        self.place, _, number = point.partition("-")
        self.number = int(number)
        self.calls = dict.fromkeys(("half", "unnamed", "weights", "described", "placed"), 0)

    def is_due(self, place):
        """Count a call, and return whether it is the one to die at."""
        self.calls[place] += 1
        return self.place == place and self.calls[place] == self.number

    def patch(self):
        import torch

        from bestresponse.models.students import network
        from bestresponse.studies.improve import making, training

        torch.set_num_threads(1)
        training.Recipe.saved_every = 0.0
        save, step = torch.save, training.Trainer.step
        save_file, describe = network.save_file, making.describe_student
        group_tests = making.group_tests

        def save_or_die(state, path):
            save(state, path)
            if self.is_due("half"):
                cut_in_half(path)
                die()
            if self.is_due("unnamed"):
                die()

        def step_or_die(trainer, batch, rate):
            if self.place == "step" and trainer.progress.step == self.number:
                die()
            return step(trainer, batch, rate)

        def save_weights_or_die(values, path, **more):
            save_file(values, path, **more)
            if self.is_due("weights"):
                cut_in_half(path)
                die()

        def describe_or_die(folder, config, rows):
            describe(folder, config, rows)
            if self.is_due("described"):
                die()

        def measure_or_die(data, most):
            if self.is_due("placed"):
                die()
            return group_tests(data, most)

        torch.save = save_or_die
        training.Trainer.step = step_or_die
        network.save_file = save_weights_or_die
        making.describe_student = describe_or_die
        making.group_tests = measure_or_die


def run_training(point, *, base, data, folder):
    """Train for nine steps in a process that kills itself at a point, and return its exit code."""
    words = ["train", base, "--data", data, "--steps", "9", "--batch-tokens", "1024"]
    words += ["--held-out", "2", "--tests", "2", "--device", "cpu", "--learning-rate", "0.01"]
    words += ["--output", folder / "student", "--output-dir", folder / "runs"]
    done = subprocess.run(
        [sys.executable, __file__, point, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode


def read_weights(folder):
    """Return the weights of a student, as they are in its file."""
    return (folder / "student" / "model.safetensors").read_bytes()


def list_left_behind(folder):
    """List what is there besides the student and the runs."""
    return sorted({path.name for path in folder.iterdir()} - {"student", "runs"})


if __name__ == "__main__":
    _, point, *words = sys.argv
    Killing(point).patch()
    from bestresponse.cli.app import main

    sys.argv = ["bestresponse", *words]
    main()
