"""Print the folder of the task, for the option `--include_path` of lm-evaluation-harness."""

from pathlib import Path

if __name__ == "__main__":
    print(Path(__file__).parent)  # noqa: T201 - that is what it is for
