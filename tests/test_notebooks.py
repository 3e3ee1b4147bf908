"""The notebook of examples runs from top to bottom, and every result shows its answer first."""

from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def read_html(output):
    return output.get("data", {}).get("text/html", "")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs_and_each_result_shows_its_answer_before_what_is_folded(path):
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [
        output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
    ]
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
