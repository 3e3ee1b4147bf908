"""Run a command that trains, with a checkpoint at every step, and end it by SIGKILL at one point.

    python killed_training.py POINT train ...

A point is a place and a number: `step-3` when this process has made three steps, `half-2` when half
of its second checkpoint is written, `unnamed-2` when all of it is written but for what says that it
is complete, `weights-1` when half of the student's weights are written, `described-1` when the
student is written and not in its place, `placed-1` after that. `none-0` kills nothing.
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
    "half-2",
    "step-2",
    "unnamed-2",
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
        self.made = 0
        self.calls = dict.fromkeys(("half", "unnamed", "weights", "described", "placed"), 0)

    def is_due(self, place):
        """Count a call, and return whether it is the one to die at."""
        self.calls[place] += 1
        return self.place == place and self.calls[place] == self.number

    def patch(self):
        import torch
        from transformers import PreTrainedModel

        from bestresponse.studies.improve import making, training

        torch.set_num_threads(1)
        training.Recipe.saved_every = 0.0
        save, loss = torch.save, training.TrainingSession.find_loss
        save_model, describe = PreTrainedModel.save_pretrained, making.describe_student
        on_save, measure = training._Watch.on_save, making.measure_replies

        def save_or_die(state, path, **more):
            save(state, path, **more)
            if str(path).endswith("optimizer.pt") and self.is_due("half"):
                cut_in_half(path)
                die()

        def on_save_or_die(watch, *arguments, **more):
            if self.is_due("unnamed"):
                die()
            on_save(watch, *arguments, **more)

        def find_loss_or_die(session, batch):
            if self.place == "step" and self.made == self.number:
                die()
            self.made += 1
            return loss(session, batch)

        def save_weights_or_die(model, folder, **more):
            save_model(model, folder, **more)
            if "unfinished" in str(folder) and self.is_due("weights"):
                cut_in_half(f"{folder}/model.safetensors")
                die()

        def describe_or_die(folder, config, rows):
            describe(folder, config, rows)
            if self.is_due("described"):
                die()

        def measure_or_die(student, examples):
            if self.is_due("placed"):
                die()
            return measure(student, examples)

        torch.save = save_or_die
        training._Watch.on_save = on_save_or_die
        training.TrainingSession.find_loss = find_loss_or_die
        PreTrainedModel.save_pretrained = save_weights_or_die
        making.describe_student = describe_or_die
        making.measure_replies = measure_or_die


def run_training(point, *, base, data, folder):
    """Train for nine steps in a process that kills itself at a point, and return its exit code."""
    words = ["train", base, "--data", data, "--steps", "9", "--settings", "batch_tokens=1024"]
    words += [
        "--settings",
        "held_out=2",
        "--settings",
        "tests=2",
        "--device",
        "cpu",
        "--settings",
        "learning_rate=0.01",
    ]
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
