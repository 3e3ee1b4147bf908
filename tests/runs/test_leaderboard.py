"""Players of many runs in one order: the same plays for all, and what is missing is said."""

import pytest
from typer.testing import CliRunner

import bestresponse as br
from bestresponse.cli.app import app
from bestresponse.core.errors import UsageError
from bestresponse.runs.leaderboard import write_leaderboard

PENNIES = br.NormalForm.zero_sum([[1, -1], [-1, 1]])
GAMES = [
    PENNIES,
    br.NormalForm.zero_sum([[2, -1], [-1, 1]]),
    br.NormalForm.zero_sum([[3, 0], [0, 1]]),
]


def always(name, answer):
    def reply(prompt):
        return answer

    reply.__name__ = name
    return reply


EVEN = always("even", "ANSWER: A: 0.5, B: 0.5")
FIRST = always("first", "ANSWER: A: 1, B: 0")
SILENT = always("silent", "I would rather not say.")


def bench(model, games, folder):
    return br.bench(model, games, theme="neutral", output_dir=folder)


def read(document, number=0):
    """The rows of a table by the names of its columns."""
    table = document.tables[number][1]
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def test_only_plays_that_all_answered_count(tmp_path):
    """In matching pennies an even mix loses nothing, and always one side 1 of a range of 2."""
    bench(EVEN, GAMES, tmp_path)
    bench(FIRST, GAMES[:1], tmp_path)
    _, document = write_leaderboard([tmp_path], tmp_path)
    rows = read(document)
    assert [(row["player"], row["plays"], row["left out"]) for row in rows] == [
        ("even, mixed", 1, 2),
        ("first, mixed", 1, 0),
    ]
    assert [row["exploitability / range"].estimate for row in rows] == [0.0, 0.5]


def test_places_are_ranges_by_paired_differences(tmp_path):
    """Who loses more in each of eight games is surely worse; two who play alike share places."""
    games = [br.NormalForm.zero_sum([[n, -1], [-1, 1]]) for n in range(1, 9)]
    optimal = br.bench("equilibrium", games, output_dir=tmp_path)
    bench(FIRST, games, tmp_path)
    bench(always("also_first", FIRST("")), games, tmp_path)
    _, document = write_leaderboard([tmp_path], tmp_path)
    found = [
        (row["player"].split(",")[0], row["place at best"], row["at worst"])
        for row in read(document)
    ]
    assert found[0] == ("equilibrium", 1, 1)
    assert sorted(found[1:]) == [("also_first", 2, 3), ("first", 2, 3)]
    own = optimal.metrics.groups[0][1]["exploitability_normalised"]
    assert read(document)[0]["exploitability / range"] == own


def test_runs_over_other_games_have_a_table_of_their_own_and_that_is_said(tmp_path):
    bench(EVEN, GAMES[:1], tmp_path)
    br.bench("random", "tic-tac-toe", num_games=3, output_dir=tmp_path)
    path, document = write_leaderboard([tmp_path], tmp_path)
    assert {title for title, _ in document.tables} == {
        "1 given games, seed 0",
        "tic-tac-toe, asked at 3 of 4520 positions",
    }
    assert "Runs over different games are in tables of their own." in path.read_text()


def test_runs_that_meet_only_through_others_are_refused(tmp_path):
    bench(EVEN, GAMES[:1], tmp_path)
    bench(FIRST, GAMES[:2], tmp_path)
    bench(EVEN, GAMES[1:2], tmp_path)
    with pytest.raises(UsageError, match="no play was answered by all players of bench-"):
        write_leaderboard([tmp_path], tmp_path)


def test_what_is_missing_is_said(tmp_path):
    """Who never answered has no loss, so that the run cannot be ranked; nor can a simulation."""
    silent = bench(SILENT, GAMES, tmp_path)
    br.simulate("stag-hunt", others="random", repeats=2, output_dir=tmp_path)
    half = bench(always("half", "A: 0.5, B: 0.5"), GAMES, tmp_path / "half")
    _, document = write_leaderboard([tmp_path, half.path], tmp_path)
    notes = " ".join(note.text for note in document.opening)
    assert f"{silent.path.name} is left out: it has no losses play by play." in notes
    assert "simulate-" in notes
    assert read(document)[0]["missing"] == 0


def test_the_command_writes_one_page_whose_numbers_lead_to_the_runs(tmp_path):
    run = bench(EVEN, GAMES, tmp_path)
    result = CliRunner().invoke(app, ["leaderboard", str(tmp_path)])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "leaderboard.html").read_text()
    assert f'<a href="{run.path.name}/report.html">' in page
    assert (run.path / "report.html").exists()
    assert '<table class="sortable">' in page
    with pytest.raises(UsageError, match="there is no benchmark run to rank in /"):
        write_leaderboard([tmp_path / "none"], tmp_path)
