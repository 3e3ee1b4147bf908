"""Everything the command line does, from Python, in three lines or fewer."""

import csv
import inspect
import io
import json
import pydoc
from dataclasses import replace
from fractions import Fraction
from operator import attrgetter

import numpy as np
import pyarrow
import pytest

import bestresponse as br
from bestresponse.core.errors import InvalidGame, InvalidMove, UsageError
from bestresponse.formal.formalize.plan import library
from bestresponse.games.lookup import find_game
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.theory.engines import has_numba


def always_first(prompt):
    return '{"A": 1.0, "B": 0.0, "C": 0.0}'


def grim(own, other):
    return "defect" if "defect" in other else "cooperate"


def test_games_are_solved_by_name_by_matrix_and_by_two_matrices():
    assert [one.kind for one in br.solve("stag-hunt").equilibria] == ["pure", "pure", "mixed"]
    assert br.solve([[0, 5], [4, 1]]).value == 2.5
    assert br.solve(np.eye(2), np.eye(2)).equilibria[0].payoffs.tolist() == [1.0, 1.0]
    assert [one.kind for one in br.nash([[3, 0], [5, 1]], [[3, 5], [0, 1]]).equilibria] == ["pure"]
    assert br.solve("kuhn-poker").value == pytest.approx(-1 / 18)


def test_whole_numbers_and_fractions_stay_exact():
    large = 2**53  # the next whole number is no float
    pennies = br.solve(
        [[large, large + 1], [large + 1, large]], [[large + 1, large], [large, large + 1]]
    )
    assert [one.kind for one in pennies.equilibria] == ["mixed"]
    thirds = br.nash(
        [[Fraction(1, 3), 0], [0, Fraction(2, 3)]], [[Fraction(1, 3), 0], [0, Fraction(2, 3)]]
    )
    assert len(thirds.equilibria) == 3


DILEMMA = [[3, 0], [5, 1]], [[3, 5], [0, 1]]


@pytest.mark.parametrize(
    "payoffs",
    [
        {"cells": [[[3, 3], [0, 5]], [[5, 0], [1, 1]]]},
        [[(3, 3), (0, 5)], [(5, 0), (1, 1)]],
        {"row": DILEMMA[0], "col": DILEMMA[1]},
        {"tables": np.array(DILEMMA), "players": ["Ann", "Bob"]},
        br.NormalForm(DILEMMA),
        br.NormalForm.bimatrix([["3", "0/7"], ["5.0", 1]], DILEMMA[1]),
    ],
)
def test_payoffs_come_as_arrays_cells_dictionaries_and_tables(payoffs):
    result = br.nash(payoffs)
    assert [e.payoffs.tolist() for e in result] == [[1, 1]]
    assert len(result) == 1
    assert result[0].kind == "pure"
    assert br.solve(payoffs).equilibria[0].supports == ((1,), (1,))


LISTS = [
    [[[1, 1], [0, 2]], [[2, 0], [-1, -1]]],
    [[[1, 1], [0, 2]], [[2, 0], [-1, -1]], [[4, 4], [3, 3]]],
    [[[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]]],
    [[[[0, 0, 0], [1, 1, 1]]]],
]


@pytest.mark.parametrize("lists", LISTS)
def test_payoffs_that_may_be_read_in_two_ways_are_refused_at_every_door(lists, tmp_path):
    from bestresponse.integrations.mcp.tools import solve_game

    path = tmp_path / "game.json"
    sizes = " x ".join(map(str, np.shape(lists)))
    refusal = f"numbers of sizes {sizes} may be cells or a table for every player"

    def solve_file():
        path.write_text(json.dumps(lists))
        return br.solve(path)

    doors = [
        lambda: br.solve(lists),
        lambda: br.nash(np.array(lists)),
        lambda: br.solve([np.array(table) for table in lists]),
        lambda: find_game("-", read_input=lambda: json.dumps(lists)),
        lambda: solve_game(json.dumps(lists)),
        solve_file,
    ]
    for door in doors:
        with pytest.raises(InvalidGame, match=refusal):
            door()
    with pytest.raises(InvalidGame, match="payoffs may be cells or a table"):
        br.solve({"payoffs": lists})


def test_a_key_says_whether_lists_are_cells_or_tables():
    # In cells (row 0, col 1) pays 0 and 2; in tables the row player gets 1 there, the other 0.
    cells = br.solve({"cells": LISTS[0]}).game.solvable()
    tables = br.solve({"tables": LISTS[0]}).game.solvable()
    assert cells.payoffs[:, 0, 1].tolist() == [0, 2]
    assert tables.payoffs[:, 0, 1].tolist() == [1, 0]


def test_three_players_are_given_by_a_tensor():
    tensor = np.zeros((3, 2, 2, 2))
    tensor[:, 1, 1, 1] = 1
    tables = {"tables": tensor}
    assert (1, 1, 1) in [tuple(s[0] for s in e.supports) for e in br.nash(tables).pure]


def test_results_print_what_is_played():
    text = str(br.nash([[1, "-1"], [-1, "1"]]))
    assert text.splitlines()[1] == "row: a0 1/2, a1 1/2; col: a0 1/2, a1 1/2 (payoffs 0, 0)"
    assert str(br.solve("stag-hunt")).splitlines()[1] == "row: stag; col: stag (payoffs 4, 4)"
    assert str(br.solve("entry-deterrence")).splitlines()[1:] == [
        "entrant at market: in",
        "incumbent at entry: share",
        "(payoffs: entrant 2, incumbent 2)",
    ]


@pytest.mark.skipif(not has_numba(), reason="the extra `fast` is not installed")
@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_a_solution_says_which_engine_was_used(engine):
    rows, columns = [[1.3, 0.0], [0.0, 1.7]], [[0.3, 0.1], [0.0, 2.1]]
    assert br.nash(rows, columns, engine=engine).engine == engine
    assert br.solve(rows, columns, engine=engine).to_json()["engine"] == engine
    assert (
        br.solve("kuhn-poker", method="cfr+", iterations=10, engine=engine).to_json()["engine"]
        == engine
    )
    with pytest.raises(UsageError, match="only one"):
        br.solve("entry-deterrence", engine=engine)


def test_nash_takes_a_method_an_engine_and_a_time():
    assert br.nash("stag-hunt", method="pure").method == "pure strategies only"
    assert len(br.nash("stag-hunt", engine="numpy", seconds=1.0)) == 3
    with pytest.raises(UsageError, match="there is no method 'magic'"):
        br.nash("stag-hunt", method="magic")


@pytest.mark.parametrize(
    ("payoffs", "sentence"),
    [
        ([[1, "x"], [0, 1]], "expected a number such as 3, -2.5 or 1/3, got 'x'"),
        ([[1, 2], [3]], "rows of different lengths"),
        ([[float("nan"), 1], [1, 2]], "expected finite numbers"),
        ([[10**400, 1], [1, 2]], "beyond 1.8e308"),
        (np.array([[1j, 2], [3, 4]]), "got complex ones"),
        ({"row": [[1]]}, "expected 'zero_sum', 'row' and 'col', 'tables' or 'cells'"),
        (np.zeros((20_000, 1)), "vertices"),
    ],
)
def test_payoffs_that_make_no_game_are_refused_in_a_sentence(payoffs, sentence):
    with pytest.raises(br.BestResponseError, match=sentence):
        br.nash(payoffs)


def test_a_solution_shows_itself_and_is_plain_data():
    found = br.solve("stag-hunt")
    assert repr(found) == "Solution('stag-hunt', 3 equilibria: pure, pure, mixed)"
    answer, _, folded = found._repr_html_().partition("<details>")
    assert "<td>pure</td><td>stag</td><td>stag</td><td>4, 4</td>" in answer
    assert folded.startswith("<summary>The whole report</summary><iframe")
    assert json.loads(json.dumps(found.to_json()))["game"] == "stag-hunt"


def test_any_function_is_benched_with_a_report_and_rows(tmp_path):
    run = br.bench(always_first, num_games=4, seed=1, output_dir=tmp_path)
    assert run.complete
    assert run.to_pandas()["nash_gap"].mean() == pytest.approx(
        run.summary()["metrics"][0]["nash_gap"]["estimate"]
    )
    left = {path.name for path in run.path.iterdir()}
    assert left >= {"manifest.json", "plays.csv", "summary.json", "report.html", "report.json"}
    again = br.load_run(tmp_path)
    assert (again.path, len(again.rows())) == (run.path, 4)
    assert again.replay().same == 4
    assert repr(again) == f"Run('bench', {str(run.path)!r})"
    assert "<th>player</th><th>asked for</th>" in again._repr_html_().partition("<details>")[0]


def test_one_game_of_the_users_is_benched(tmp_path):
    run = br.bench(
        ScriptedModel(lambda request: '{"x": 1, "y": 0}', name="x"),
        [[1, 2], [3, 4]],
        output_dir=tmp_path,
    )
    assert len(run.rows()) == 4


def test_functions_models_and_strategies_meet_in_a_tournament(tmp_path):
    model = ScriptedModel(lambda request: '{"answer": "defect"}', name="m")
    run = br.tournament(
        "prisoners-dilemma", ["tit-for-tat", grim, model], rounds=3, output_dir=tmp_path
    )
    totals = {row["name"]: row["against_itself"] for row in run.rows()}
    assert totals == {"tit-for-tat": 3.0, "grim": 3.0, "m": 1.0}


def test_a_function_that_makes_no_move_of_the_game_is_named(tmp_path):
    with pytest.raises(
        InvalidMove, match="the strategy shrug returned None; expected one of cooperate, defect"
    ):
        br.tournament("prisoners-dilemma", [shrug], rounds=1, output_dir=tmp_path)


def shrug(own, other):
    return None


def test_a_formalized_story_goes_straight_into_solve_tournament_and_simulate(tmp_path):
    example = next(one for one in library() if one.name == "prisoners_dilemma")
    model = ScriptedModel(lambda request: f"```prolog\n{example.program}\n```", name="m")
    found = br.formalize("Two prisoners ...", model, form="program", output_dir=tmp_path)
    assert found.ok
    assert [one.kind for one in found.solve().equilibria] == ["pure"]
    assert br.solve(found).equilibria[0].kind == br.nash(found).equilibria[0].kind == "pure"
    assert (
        len(br.tournament(found, ["best-response", "random"], rounds=2, output_dir=tmp_path).rows())
        == 2
    )
    assert br.simulate(found, repeats=2, output_dir=tmp_path).summary()["answered"] == 2


def test_a_story_without_a_game_says_why(tmp_path):
    found = br.formalize(
        "Nothing happens.",
        ScriptedModel(lambda request: "I cannot.", name="m"),
        output_dir=tmp_path,
    )
    assert not found.ok
    with pytest.raises(InvalidGame, match="has written no program"):
        found.solve()


def test_text_is_verified_and_programs_are_checked():
    assert (
        br.verify("prisoners-dilemma", "If I defect and you cooperate, I get 1.").state.value
        == "refuted"
    )
    assert not br.check("this is no program").ok
    assert br.check(next(one for one in library() if one.name == "trust").program).ok


@pytest.mark.parametrize("nothing", ["", " \n\t"])
def test_an_empty_story_or_reasoning_is_refused_in_one_sentence(nothing, tmp_path):
    with pytest.raises(UsageError, match="the story is empty: tell who chooses what"):
        br.formalize(nothing, ScriptedModel([]), output_dir=tmp_path)
    with pytest.raises(UsageError, match="the reasoning is empty: give the text"):
        br.verify("prisoners-dilemma", nothing)


def test_single_games_are_played_by_names_functions_and_players():
    record = br.play("prisoners-dilemma", ["always:defect", lambda view, ask: "cooperate"])
    assert record.payoffs == {"row": 5.0, "col": 0.0}
    with pytest.raises(UsageError, match="has the seats row, col"):
        br.play("stag-hunt", ["random"])


def test_seats_that_nobody_was_named_for_are_taken_by_the_usual_player():
    assert br.play("prisoners-dilemma").payoffs == {"row": 1.0, "col": 1.0}
    assert br.play("prisoners-dilemma", {"row": "always:cooperate"}).payoffs == {
        "row": 0.0,
        "col": 5.0,
    }
    assert set(br.play("fruit").players) == {"nature", "player 1", "player 2"}


@pytest.mark.parametrize(
    ("players", "sentence"),
    [
        ({"rwo": "random"}, "prisoners-dilemma has no seat 'rwo'. Did you mean row?"),
        (
            {"row": "randon"},
            "there is no strategy named 'randon' for prisoners-dilemma. Did you mean random?",
        ),
        ({"row": "gpt-9"}, "Models are named PROVIDER/MODEL"),
        (["random"], "prisoners-dilemma has the seats row, col; name a player for each"),
    ],
)
def test_a_seat_or_player_that_there_is_not_is_named(players, sentence):
    with pytest.raises(br.BestResponseError) as refused:
        br.play("prisoners-dilemma", players)
    assert sentence in str(refused.value)


def test_a_model_is_verified_and_a_dialogue_is_steered(tmp_path):
    model = ScriptedModel(lambda request: "ANSWER: B", name="m")
    assert (
        len(br.verify_model(model, "prisoners-dilemma", repeats=2, output_dir=tmp_path).rows()) == 2
    )
    assert (
        br.steer("meeting", iterations=20, output_dir=tmp_path).summary()["overview"][0][
            "solved_games"
        ]
        == 1
    )
    assert (
        br.water.simulate("need", repeats=2, output_dir=tmp_path).summary()["metrics"][0]["games"]
        == 2
    )


def test_a_setting_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(UsageError, match="bench has no setting 'num_game'"):
        br.bench(always_first, num_game=3, output_dir=tmp_path)
    with pytest.raises(UsageError, match="expected a game"):
        br.solve(3)


def test_every_public_name_is_there_and_a_misspelt_one_is_not():
    assert {
        "solve",
        "nash",
        "find_game",
        "play",
        "bench",
        "formalize",
        "verify",
        "tournament",
    } <= set(dir(br))
    assert all(getattr(br, name) is not None for name in dir(br))
    with pytest.raises(AttributeError, match="no attribute 'slove'"):
        br.slove  # noqa: B018


def test_a_function_from_a_prompt_to_a_text_is_a_model_in_every_call(tmp_path):
    def cooperates(prompt):
        return '{"answer": "cooperate"}'

    record = br.play("prisoners-dilemma", {"row": cooperates, "col": "always:defect"})
    assert record.payoffs == {"row": 0.0, "col": 5.0}
    table = br.tournament(
        "prisoners-dilemma", ["defector", cooperates], rounds=2, output_dir=tmp_path
    )
    assert {row["name"]: row["kind"] for row in table.rows()} == {
        "defector": "classic",
        "cooperates": "model",
    }


def test_a_function_that_fits_nowhere_is_refused_in_a_sentence():
    with pytest.raises(
        UsageError,
        match="expected a strategy, a model, a player, a function from a prompt to a text",
    ):
        br.play("prisoners-dilemma", {"row": lambda a, b, c: "defect"})
    with pytest.raises(UsageError, match="a model is a function of one thing, the prompt"):
        br.bench(lambda a, b: "A")


def test_workers_that_cannot_be_are_refused_by_name():
    with pytest.raises(
        UsageError, match="workers: expected a whole number from 1 to 1,024, got -1"
    ):
        br.simulate("hawk-dove", "random", workers=-1)


def test_a_play_goes_on_where_it_was_left_and_passes_on_what_is_new():
    told = []
    seats = {"player 1": "random", "player 2": "random"}
    whole = br.play("kuhn-poker", seats, seed=3)
    begun = whole.submissions[:2]
    rest = br.play("kuhn-poker", seats, seed=3, submissions=begun, on_submission=told.append)
    assert rest.submissions == whole.submissions
    assert tuple(told) == whole.submissions[2:]
    assert len(told) >= 1


def test_people_and_models_judge_residents_of_the_water_game(tmp_path):
    run = br.water.simulate("need", days=3, repeats=1, output_dir=tmp_path)
    sheets = br.water.make_sheets(run, ["Ada", "Bea"], sample=1)
    assert list(sheets) == ["Ada", "Bea"]
    rows = list(csv.DictReader(io.StringIO(sheets["Ada"])))
    assert [row["resident"] for row in rows] == ["Alex", "Bob", "Cindy", "David", "Eric"]
    scales = ("information", "reasoning", "effectiveness", "adaptability", "planning")
    marks = json.dumps(dict.fromkeys(scales, 4))
    judged = br.water.judge(run, ScriptedModel(lambda request: marks, name="judge"), sample=1)
    assert [score.value for score in judged.scores] == [4] * 25
    (tmp_path / "judge.csv").write_text(judged.to_csv(), "utf-8")
    read = br.water.read_scores([tmp_path / "judge.csv"])
    assert [row["mean"] for row in read.summarize().rows] == [4.0] * 5


STUDIES = ["bench", "tournament", "simulate", "steer", "verify_model", "train", "improve", "behave"]


@pytest.mark.parametrize("name", [*STUDIES, "water.simulate", "stories.bench", "formalize"])
def test_a_study_shows_its_settings_and_says_what_it_does(name):
    study = attrgetter(name)(br)
    shown = inspect.signature(study).parameters
    assert {"args", "kwargs", "config"}.isdisjoint(shown)
    assert "output_dir" in shown
    first = inspect.getdoc(study).split()[0]
    assert first[0].isupper()
    assert first != "An"


def test_help_on_the_benchmark_begins_with_what_it_does():
    assert "num_games" in inspect.signature(br.bench).parameters
    assert br.bench.__doc__.startswith("Measure how far from optimal models play")
    assert "`bestresponse run bench --help` explains the settings: model, game," in br.bench.__doc__
    assert "Measure how far from optimal models play" in pydoc.render_doc(br.bench)
    assert inspect.signature(br.formalize).parameters["story"].default is inspect.Parameter.empty
    assert type(br.bench).__doc__.startswith("An experiment as data.")
    assert "num_games" in inspect.signature(replace(br.bench, name="another")).parameters


def test_the_game_comes_first_as_at_the_terminal():
    with pytest.raises(
        UsageError, match=r"expected verify\(game, text\), got a text in place of the game"
    ):
        br.verify("If I defect, I get 1.", "prisoners-dilemma")


def test_frames_are_read_by_whatever_reads_arrow(tmp_path):
    run = br.bench("random", num_games=2, seed=1, output_dir=tmp_path)
    table = pyarrow.table(run.frame("plays"))
    assert table.column("nash_gap").to_pylist() == [row["nash_gap"] for row in run.rows()]
    assert table.num_rows == 2
    assert pyarrow.types.is_floating(table.schema.field("nash_gap").type)
