"""The notebooks run from top to bottom, and every result shows its answer first."""

import re
from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
CHECKED = ["analyse_run", "five_things"]


def read_html(output):
    return output.get("data", {}).get("text/html", "")


def run_cells(name):
    """Run a notebook; return its outputs in their order."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return [
        output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
    ]


def test_every_notebook_has_a_test():
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == CHECKED


@pytest.mark.soak
def test_a_finished_run_is_loaded_and_asked_which_games_are_hard():
    outputs = run_cells("analyse_run")
    said = "".join(output.get("text", "") for output in outputs)
    pages = [page for page in map(read_html, outputs) if page]
    assert "<td>maximin</td>" in pages[0]
    assert "random / mixed" in pages[1]
    numbers = {
        word: re.findall(rf"{word}.*?(-?[0-9.]+)", said)
        for word in ("with hardness:", "optimal:", "within games")
    }
    assert (
        float(numbers["with hardness:"][0]) > 0
    )  # where uniform play loses more, random play does too
    assert len(numbers["optimal:"]) == 3
    assert float(numbers["within games"][0]) > 0
    assert said.index("pure") < said.index("mixed")


def test_the_notebook_runs_and_each_result_shows_its_answer_before_what_is_folded():
    outputs = run_cells("five_things")
    answers = [page.partition("<details>")[0] for page in map(read_html, outputs) if page]
    assert len(answers) == 8
    assert all("<td>" in answer for answer in answers)
    solved, dilemma, story, reasoning, record, standings, measured, compared = answers
    assert "<td>pure</td><td>stag</td><td>stag</td><td>4, 4</td>" in solved
    assert "<td>a1</td><td>a1</td><td>1, 1</td>" in dilemma
    assert "<td>pure</td>" in story
    assert (
        "<td>refuted</td><td>If you choose defect and the other player chooses cooperate, you get"
        " 4.</td>" in reasoning
    )
    assert "defect" in record
    assert "<td>tit-for-tat</td>" in standings
    assert "<td>greedy</td>" in measured
    assert "cautious" in compared
