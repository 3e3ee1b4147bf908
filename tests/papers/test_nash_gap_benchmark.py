"""Every promise of the document "LLM Game Theory Benchmark", each with a call and a check of what
comes out.

The ids are the promises with the section of the document they stand in.
docs/papers/nash-gap-benchmark.md tells the same in words.
"""

import csv
import io
import json
import re
from collections import Counter
from contextlib import closing, redirect_stdout
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from model_server import ModelServer
from scipy.optimize import linprog
from typer.testing import CliRunner

import bestresponse as br
from bestresponse.cli.app import app
from bestresponse.core.ask import Mixture
from bestresponse.models.base import Request
from bestresponse.players.llm.reading import read_reply
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.games import draw_games
from bestresponse.studies.bench.plan import BUCKETS
from bestresponse.theory import generate
from bestresponse.theory.generators import has_saddle_point

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "papers" / "nash-gap-benchmark.md"
PROMISES = []
EIGHT = (
    "num_games",
    "mean_nash_gap",
    "median_nash_gap",
    "std_nash_gap",
    "min_nash_gap",
    "max_nash_gap",
    "mean_llm_value",
    "mean_br_value",
)


def promise(sentence):
    """Put a check under the sentence that it holds the program to."""

    def add(check):
        PROMISES.append(pytest.param(check, id=sentence))
        return check

    return add


def command(*words, folder=None):
    """Run a command in this process; return what it prints as data."""
    where = [] if folder is None else ["--output-dir", str(folder)]
    done = CliRunner().invoke(app, [*words, *where, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


class OpenAILLM:
    """The document's example of a model of one's own, with a rule in place of the call."""

    def __init__(self):
        self.games = []

    def query(self, game):
        self.games.append(game)
        return int(game.payoffs.mean(axis=1).argmax())


class Finished:
    """Runs that several checks look at, made once."""

    def __init__(self, folder):
        self.folder = folder
        self.run = br.bench("random", num_games=30, seed=42, output_dir=folder / "random")
        self.rows = sorted(self.run.rows(), key=lambda row: row["game"])
        self.games = self.run.frame("games").select(player="random / mixed")

    def read_file(self, what):
        (path,) = self.run.path.glob(f"benchmark_{what}_*.json")
        return path, json.loads(path.read_text())

    @property
    def metrics(self):
        return self.run.summary()["metrics"][0]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Finished(tmp_path_factory.mktemp("promises"))


def solve_lp(matrix):
    """Solve a zero-sum game by scipy's linear programs: the value to the row player."""
    rows, cols = matrix.shape
    found = linprog(
        [0.0] * rows + [-1.0],
        A_ub=np.hstack([-matrix.T, np.ones((cols, 1))]),
        b_ub=np.zeros(cols),
        A_eq=[[1.0] * rows + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    return -found.fun


@promise("Overview: games are random zero-sum matrix games")
def draws_zero_sum_games(made):
    tables = [np.array(game["row_payoffs"]) for game in made.games]
    assert all(
        (table == -np.array(game["col_payoffs"])).all()
        for table, game in zip(tables, made.games, strict=True)
    )
    assert {table.shape for table in tables} == {(3, 3)}
    assert len({table.tobytes() for table in tables}) == 30


@promise("Key concepts: the Nash equilibrium is that of a linear program")
def solves_games(made):
    for game in made.games:
        assert game["value"] == pytest.approx(solve_lp(np.array(game["row_payoffs"])), abs=1e-6)


@promise("Protocol 4: the opponent plays its equilibrium strategy")
def fixes_the_opponent(made):
    for play in made.run.folder.plays():
        opponent = next(
            s.decision for s in play.record.submissions if s.role == "the column player"
        )
        matrix = np.array(play.data["payoffs"][0])
        # an optimal column strategy gives the row player no more than the value, whatever it does
        assert (matrix @ opponent.action).max() == pytest.approx(solve_lp(matrix), abs=1e-6)


@promise("Metrics: the gap is the best response value less the model's value, and never negative")
def measures_the_gap(made):
    for row in made.rows:
        assert row["nash_gap"] >= 0
        assert row["nash_gap"] == pytest.approx(row["br_value"] - row["llm_value"], abs=1e-9)


@promise("Metrics: the model's value and the best response value of each game")
def measures_values(made):
    for row, game in zip(made.rows, made.games, strict=True):
        against = np.array(game["row_payoffs"]) @ game["col_equilibrium"]
        assert row["llm_value"] == pytest.approx(np.array(row["strategy"]) @ against)
        assert row["br_value"] == pytest.approx(against.max())


@promise("Protocol 2, Notes: answers are pure actions or mixed strategies")
def takes_pure_and_mixed_answers(made):
    run = br.bench(
        "uniform", elicit=["mixed", "pure"], num_games=3, output_dir=made.folder / "both"
    )
    mixes = {
        way: [row["strategy"] for row in run.frame("plays").select(elicit=way)]
        for way in ("mixed", "pure")
    }
    assert all(mix == pytest.approx([1 / 3] * 3) for mix in mixes["mixed"])
    assert all(sorted(mix) == [0, 0, 1] for mix in mixes["pure"])


@promise("Options: --num-games is the number of games, 100 by default")
def counts_games(made):
    assert command("bench", "--model", "random", "--dry-run")["plays"] == 100
    assert command("bench", "--model", "random", "--num-games", "7", "--dry-run")["plays"] == 7


@promise("Options: --num-rows and --num-cols are the actions of the players, 3 by default")
def counts_actions(made):
    words = ("bench", "--model", "random", "--num-games", "2", "--num-rows", "4", "--num-cols", "5")
    assert {
        (game["rows"], game["cols"])
        for game in command(*words, folder=made.folder / "sizes")["games"]
    } == {(4, 5)}
    assert {(game["rows"], game["cols"]) for game in made.games} == {(3, 3)}


@promise("Options: --seed makes games repeatable")
def seeds_games(made):
    first, again, other = (
        draw_games(BenchConfig("m", num_games=5, seed=seed).source).payoffs for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()


@promise("Options: --output-dir is where results go, results by default")
def chooses_the_folder(made):
    assert BenchConfig("random").output_dir == "results"
    where = made.folder / "exp1"
    command("bench", "--model", "random", "--num-games", "1", folder=where)
    assert len(list(where.glob("bench-*/summary.json"))) == 1


@promise("Options: --llm-seed seeds the model, not the games")
def seeds_the_model(made):
    sent = []

    def recording(request: Request) -> str:
        sent.append((request.seed, request.messages))
        return "ANSWER: A"

    for seed in (7, 8):
        br.bench(
            recording, num_games=2, llm_seed=seed, workers=1, output_dir=made.folder / f"seed{seed}"
        )
    assert [seed for seed, _ in sent] == [7, 7, 8, 8]
    assert {messages for _, messages in sent[:2]} == {messages for _, messages in sent[2:]}


@promise("Quick start, Example: the commands of the document run with their options as they stand")
def takes_the_documents_commands(made):
    start = ["bench", "--num-games", "100", "--seed", "42"]
    words = "bench --num-games 500 --num-rows 4 --num-cols 4 --seed 123 --output-dir results/exp1"
    example = words.split()
    assert command(*start, "--model", "random", "--dry-run")["plays"] == 100
    assert command(*example, "--model", "random", "--dry-run")["plays"] == 500


@promise("Metrics: the mean Nash gap")
def averages_the_gap(made):
    gaps = [row["nash_gap"] for row in made.rows]
    assert made.metrics["nash_gap"]["estimate"] == pytest.approx(np.mean(gaps))


@promise("Metrics: the mean values of the model and of the best response")
def averages_values(made):
    for name in ("llm_value", "br_value"):
        assert made.metrics[name] == pytest.approx(np.mean([row[name] for row in made.rows]))


@promise("Metrics: median, standard deviation, least and largest Nash gap")
def describes_the_gap(made):
    gaps = [row["nash_gap"] for row in made.rows]
    for name, compute in (("median", np.median), ("std", np.std), ("min", np.min), ("max", np.max)):
        assert made.metrics[f"nash_gap_{name}"] == pytest.approx(compute(gaps))
    with (made.run.path / "metrics.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert float(first["nash_gap_median"]) == pytest.approx(np.median(gaps))


@promise("Metrics: the gap ratio, normalised by the best response value")
def normalises_the_gap(made):
    ratio = sum(row["nash_gap"] for row in made.rows) / sum(
        abs(row["br_value"]) for row in made.rows
    )
    assert made.metrics["gap_ratio"] == pytest.approx(ratio)
    fair = br.bench(
        "uniform", [br.NormalForm.zero_sum([[1, -1], [-1, 1]])], output_dir=made.folder / "fair"
    )
    assert (
        fair.summary()["metrics"][0]["gap_ratio"] is None
    )  # the best response to an equilibrium earns 0


@promise("Output: benchmark_results_{timestamp}.json")
def writes_results(made):
    path, results = made.read_file("results")
    assert re.fullmatch(r"benchmark_results_\d{8}_\d{6}\.json", path.name)
    assert len(results) == 30
    # What the model earns against the opponent's equilibrium, and the most that it could.
    for result in results:
        worths = np.array(result["payoff_matrix"]) @ result["nash_col"]
        assert result["llm_value"] == pytest.approx(np.dot(result["llm_strategy"], worths))
        assert result["br_value"] == pytest.approx(worths.max())
        assert (
            np.array(result["column_payoff_matrix"]).tolist()
            == (-np.array(result["payoff_matrix"])).tolist()
        )
    assert any(result["llm_value"] < result["br_value"] - 1e-6 for result in results)


@promise(
    "Output, Example output format: benchmark_summary_{timestamp}.json is one flat object with"
    " eight keys"
)
def writes_the_summary(made):
    path, summary = made.read_file("summary")
    assert re.fullmatch(r"benchmark_summary_\d{8}_\d{6}\.json", path.name)
    assert tuple(summary)[:8] == EIGHT
    gaps = [row["nash_gap"] for row in made.rows]
    assert [summary[key] for key in EIGHT] == pytest.approx(
        [
            30,
            np.mean(gaps),
            np.median(gaps),
            np.std(gaps),
            min(gaps),
            max(gaps),
            np.mean([row["llm_value"] for row in made.rows]),
            np.mean([row["br_value"] for row in made.rows]),
        ]
    )
    assert summary["num_unread"] == 0
    replies = iter(["ANSWER: A", "I cannot tell.", "ANSWER: B", "Well."])
    run = br.bench(
        br.models.from_function("now-and-then", lambda prompt: next(replies)),
        num_games=4,
        attempts=1,
        plain=True,
        workers=1,
        output_dir=made.folder / "unread",
    )
    (path,) = run.path.glob("benchmark_summary_*.json")
    half = json.loads(path.read_text())
    assert (half["num_games"], half["num_unread"]) == (2, 2)


@promise("Output: detailed results for each game")
def details_every_game(made):
    _, results = made.read_file("results")
    for result, row in zip(results, made.rows, strict=True):
        assert (result["game_id"], result["nash_gap"], result["llm_strategy"]) == (
            row["game"],
            row["nash_gap"],
            row["strategy"],
        )
        matrix = np.array(result["payoff_matrix"])
        assert np.array(result["nash_row"]) @ matrix @ result["nash_col"] == pytest.approx(
            solve_lp(matrix), abs=1e-6
        )
        assert result["nash_value"] == pytest.approx(solve_lp(matrix), abs=1e-6)
    with (made.run.path / "games.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert json.loads(first["row_payoffs"]) == results[0]["payoff_matrix"]
    assert json.loads(first["row_equilibrium"]) == results[0]["nash_row"]
    assert json.loads(first["col_equilibrium"]) == results[0]["nash_col"]


@promise("Using with real LLMs, Future work: models behind an API")
def asks_models_by_api(made):
    with closing(ModelServer()) as server:
        words = ("bench", "--model", server.model, "--num-games", "3", "--plain")
        summary = command(*words, folder=made.folder / "api")
    assert (summary["answered"], server.calls) == (3, 3)


@promise(
    "Using with real LLMs: a class of one's own with query(game) that returns an index or a vector"
)
def asks_objects(made):
    llm = OpenAILLM()
    run = br.bench(llm, num_games=4, seed=9, output_dir=made.folder / "object")
    by_level_one = br.bench("random", num_games=4, seed=9, output_dir=made.folder / "beside")
    baseline = {
        r["game"]: r["nash_gap"] for r in by_level_one.frame("games").select(player="level-1")
    }
    assert {row["game"]: row["nash_gap"] for row in run.rows()} == pytest.approx(baseline)
    assert all(game.payoffs.shape == (3, 3) and "payoff" in game.prompt for game in llm.games)

    class Even:
        def query(self, game):
            return np.full(len(game.actions), 1 / len(game.actions))

    even = br.bench(Even(), num_games=2, output_dir=made.folder / "even")
    assert [row["strategy"] for row in even.rows()] == [pytest.approx([1 / 3] * 3)] * 2


@promise(
    "Using with real LLMs: evaluate_games(games) returns results and a summary of a list of games"
)
def evaluates_lists(made):
    games = [
        br.NormalForm.zero_sum([[4, 1], [2, 0]]),
        br.NormalForm.zero_sum([[0, 2, -1], [1, 5, 3]]),
    ]
    run = br.bench(OpenAILLM(), games, output_dir=made.folder / "list")
    # The saddle points are 1, in the first row, and 1, in the second: both rows have the larger
    # mean.
    assert [(row["strategy"], row["nash_gap"], row["br_value"]) for row in run.rows()] == [
        ([1, 0], 0, 1),
        ([0, 1], 0, 1),
    ]
    assert run.summary()["metrics"][0]["nash_gap_max"] == 0
    batch = generate("zero-sum", 3, (2, 2), seed=5)
    drawn = (
        br.bench("random", batch, output_dir=made.folder / "batch")
        .frame("games")
        .select(player="random / mixed")
    )
    assert [game["row_payoffs"] for game in drawn] == batch.row.tolist()


@promise("Notes: a dummy model for testing")
def plays_without_a_model(made):
    assert made.run.manifest.models == {}
    for name in ("uniform", "maximin", "equilibrium"):
        figures = command(
            "bench", "--model", name, "--num-games", "2", folder=made.folder / "dummies"
        )["metrics"][0]
        assert (figures["player"], figures["answered"]) == (name, 2)


@promise("Notes: results are deterministic when seeds are fixed")
def repeats_itself(made):
    again = br.bench("random", num_games=30, seed=42, output_dir=made.folder / "again")
    for name in ("plays.csv", "games.csv", "metrics.csv"):
        assert (again.path / name).read_bytes() == (made.run.path / name).read_bytes()
    ours, theirs = (
        next(run.path.glob("benchmark_summary_*")).read_text() for run in (again, made.run)
    )
    assert ours == theirs


@promise("Project structure, Testing: results below results/, and tests that `pytest tests/` runs")
def has_tests(made):
    tests = list((ROOT / "tests").glob("**/test_*.py"))
    assert len(tests) > 100
    assert "tests" in (ROOT / "pyproject.toml").read_text().split("testpaths =")[1].splitlines()[0]
    assert BenchConfig("random").output_dir == "results"


@promise("Project structure, Future work: notebooks for analysis")
def has_notebooks(made):
    cells = json.loads((ROOT / "notebooks" / "analyse_run.ipynb").read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names = {}
    with redirect_stdout(io.StringIO()) as printed:
        for cell in code:
            exec(compile(cell, "analyse_run", "exec"), names)
    pure = [
        game
        for game in names["games"]
        if np.min(game["row_payoffs"], axis=1).max() == np.max(game["row_payoffs"], axis=0).min()
    ]
    lost = np.mean([game["gap_normalised"] for game in pure])
    assert 0 < len(pure) < 60
    assert f"pure: {len(pure)} games, gap / range {lost:.3f}" in printed.getvalue()


@promise("Future work: more sophisticated parsing of replies")
def reads_replies(made):
    ask = Mixture(("A", "B", "C"))
    read = {
        "I'd go with A 50%, B 50%.": (0.5, 0.5, 0),
        "Long thoughts.\nANSWER: A: 1/2, B: 1/4, C: 1/4": (0.5, 0.25, 0.25),
        r"\boxed{A: \frac{1}{2}, C: \frac{1}{2}}": (0.5, 0, 0.5),
        '```json\n{"A": 20, "B": 30, "C": 50}\n```': (0.2, 0.3, 0.5),
        "A with probability 1/4 and B with probability 3/4": (0.25, 0.75, 0),
        "ANSWER: B": (0, 1, 0),
    }
    for text, mix in read.items():
        assert read_reply(ask, text).action == pytest.approx(mix), text
    for text in (
        "Row 2",
        "I'd rather not go with A 50%, B 50%.",
        "ANSWER: A: 0.9, B: 0.9",
        "A or maybe B",
    ):
        assert read_reply(ask, text).action is None, text


@promise("Future work: visualisation")
def draws_pictures(made):
    page = (made.run.path / "report.html").read_text("utf-8")
    assert page.count("<figure") >= 3
    for title in ("Game by game", "Which games are hard", "The Nash gap in numbers"):
        assert title in page
    shown = page[page.index("The Nash gap in numbers") :]
    assert f"{np.median([row['nash_gap'] for row in made.rows]):.2f}" in shown


@promise("Future work: games that are not zero-sum")
def plays_other_games(made):
    run = br.bench(
        "equilibrium",
        family="covariant",
        num_games=3,
        set={"rho": 0.5},
        output_dir=made.folder / "general",
    )
    assert [row["exploitability"] for row in run.rows()] == [None] * 3
    assert [row["nash_gap"] for row in run.rows()] == [0] * 3


@promise("Future work: batches of games with given properties")
def draws_games_with_properties(made):
    words = (
        "bench",
        "--model",
        "random",
        "--num-games",
        "3",
        "--decimals",
        "4",
        "--family",
        "given-support",
    )
    supports = command(*words, "--set", "support=2", folder=made.folder / "support")["games"]
    assert {sum(p > 1e-6 for p in game["row_equilibrium"]) for game in supports} == {2}
    for kind in ("pure", "mixed"):
        config = BenchConfig("m", num_games=20, set={"equilibrium": kind, "low": -9, "high": 9})
        drawn = draw_games(config.source).payoffs
        assert {has_saddle_point(table[0]) for table in drawn} == {kind == "pure"}
        assert np.abs(drawn).max() <= 9
    sizes = Counter((bucket.size, bucket.equilibrium) for bucket in BUCKETS)
    assert sizes == {(size, kind): 3 for size in (2, 3, 5) for kind in ("pure", "mixed")}
    run = br.bench("uniform", suite="buckets", num_games=2, output_dir=made.folder / "buckets")
    for game in run.frame("games").select(player="uniform / mixed"):
        table = np.array(game["row_payoffs"])
        if game["condition"] != "base":
            kind = game["condition"].rpartition(" ")[2]
            assert has_saddle_point(table) == (kind == "pure")


@promise("Future work: sensitivity analysis")
def varies_settings(made):
    run = br.bench(
        "random", suite="sensitivity", num_games=2, output_dir=made.folder / "sensitivity"
    )
    versions = [row["version"] for row in run.frame("settings")]
    assert versions[:6] == [
        "base",
        "size 2x2",
        "size 4x4",
        "size 6x6",
        "payoffs x0.01",
        "payoffs x100",
    ]
    games = run.frame("games").select(player="random / mixed")
    largest = {game["condition"]: np.abs(game["row_payoffs"]).max() for game in games}
    assert largest["payoffs x0.01"] <= 1 < 10 < largest["base"] <= 100 < largest["payoffs x100"]
    sizes = {game["condition"]: (game["rows"], game["cols"]) for game in games}
    assert [sizes[f"size {n}x{n}"] for n in (2, 4, 6)] == [(2, 2), (4, 4), (6, 6)]
    trials = br.bench("random", trials=4, num_games=8, seed=1, output_dir=made.folder / "trials")
    again = trials.summary()["metrics"][0]
    answers = [trials.frame("plays").select(game=number).rows for number in range(8)]
    squares = [np.var([row["nash_gap"] for row in one]) * 4 for one in answers]
    assert again["gap_spread_within"] == pytest.approx(np.sqrt(sum(squares) / (8 * 3)))
    distances = [
        np.abs(np.subtract(first["strategy"], second["strategy"])).sum() / 2
        for one in answers
        for first, second in combinations(one, 2)
    ]
    assert again["consistency"]["estimate"] == pytest.approx(1 - np.mean(distances))


@promise("Key concepts: a gap of 0 means optimal play against this opponent")
def explains_zero(made):
    run = br.bench(["equilibrium", "uniform"], num_games=5, output_dir=made.folder / "optimal")
    rows = run.frame("plays").select(model="equilibrium")
    assert [(row["nash_gap"], row["exploitability"]) for row in rows] == [(0, 0)] * 5
    # In matching pennies every action earns the same against the mix, and only exploitability sees
    # the difference.
    pennies = br.bench(
        "maximin", [br.NormalForm.zero_sum([[1, -1], [-1, 1]])], output_dir=made.folder / "pennies"
    )
    assert [(row["nash_gap"], row["exploitability"]) for row in pennies.rows()] == [(0, 1)]


@promise("License: there is one")
def has_a_license(made):
    assert (ROOT / "LICENSE").read_text("utf-8").startswith("MIT License")


@promise("Metrics: the best response value is the largest over actions, the value of the game")
def best_response_is_the_value(made):
    for row, game in zip(made.rows, made.games, strict=True):
        assert row["br_value"] == pytest.approx(game["value"])


@pytest.mark.parametrize("check", PROMISES)
def test_the_promise_is_kept(check, made):
    check(made)


def test_there_is_a_check_for_each_of_the_34_promises():
    assert len(PROMISES) == 34
    assert len({param.id for param in PROMISES}) == 34


def read_commands():
    """The commands of the page, as the shell would run them."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("bestresponse bench")]


@pytest.mark.parametrize("line", read_commands())
def test_every_command_of_the_page_is_one(line):
    done = CliRunner().invoke(app, [*line.split()[1:], "--dry-run"])
    assert done.exit_code == 0, done.output


def test_the_page_has_a_command_for_every_experiment():
    assert len(read_commands()) >= 8
