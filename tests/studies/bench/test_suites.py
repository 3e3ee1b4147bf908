import json
import threading
from pathlib import Path

import numpy as np
import pytest
import running

from bestresponse.core.errors import UsageError
from bestresponse.models.base import Abilities
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.report import page
from bestresponse.runs.execution import Progress
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.findings.plays import list_outliers, rank_plays
from bestresponse.studies.bench.games.given import UserGame
from bestresponse.studies.bench.games.variants import VARIANTS
from bestresponse.studies.bench.stability import compare_players, measure_conditions, measure_variants
from bestresponse.studies.bench.study import BenchStudy
from bestresponse.theory.games.normal_form import NormalForm


def optimal_reply(request):
    """Solves the game it is shown as a table: what a perfect model would say."""
    from bestresponse.theory import solve_zero_sum

    text = request.messages[-1].content
    rows = [line for line in text.splitlines() if line.startswith("|")]
    labels = [cell.strip() for cell in rows[0].strip("|").split("|")][1:]
    names, numbers = [], []
    for line in rows[1:]:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        names.append(name)
        numbers.append([float(cell) for cell in cells])
    matrix = np.array(numbers)
    mine_are_rows = "The rows are your actions" in text
    if not mine_are_rows:
        matrix, names = matrix.T, labels
    mix = solve_zero_sum(matrix).row[0]
    return json.dumps(dict(zip(names, map(float, mix), strict=True)))


def first_action(request):
    """Always the first label: as good as ignoring the game."""
    text = request.messages[-1].content
    labels = text.split("Your possible actions: ")[1].splitlines()[0].rstrip(".").split(", ")
    return json.dumps({label: float(k == 0) for k, label in enumerate(labels)})


def run(tmp_path: Path, script, workers=2, **settings):
    config = BenchConfig(models=("m",), **settings)
    models = {"m": ScriptedModel(script, name="m", abilities=Abilities(schema=True))}
    told: list[Progress] = []
    ran = running.run(BenchStudy(), config, tmp_path, models, workers=workers, on_progress=told.append)
    return ran, ran.outcome, ran.results, models["m"]


def document_of(folder, results):
    return folder.report()


def test_a_perfect_model_has_no_gap_and_no_exploitability(tmp_path):
    _, outcome, results, _ = run(tmp_path, optimal_reply, num_games=12, seats=("row", "col"), seed=3)
    (row, col) = results.summaries
    assert outcome.played == 24
    for summary in (row, col):
        assert summary.get_interval("gap_normalised").estimate == pytest.approx(0, abs=1e-9)
        assert summary.get_interval("exploitability_normalised").estimate == pytest.approx(0, abs=1e-9)


def test_every_table_has_all_baselines_on_the_same_games_and_the_optimal_one_is_perfect(tmp_path):
    _, _, results, _ = run(tmp_path, first_action, num_games=8, seed=3)
    names = [s.player for s in results.baseline_summaries]
    assert names == ["uniform", "random", "greedy", "maximin", "level-1", "level-2", "equilibrium"]
    assert {s.asked for s in results.baseline_summaries} == {8}
    best = results.baseline_summaries[-1].get_interval("exploitability_normalised")
    assert best.estimate == pytest.approx(0, abs=1e-9)


def test_the_invariance_suite_tells_a_perfect_model_from_one_that_looks_at_places(tmp_path):
    _, outcome, perfect, _ = run(tmp_path / "a", optimal_table, num_games=6, seed=4, suite="invariance")
    assert outcome.played == 6 * (1 + len(VARIANTS))
    assert perfect.summaries[0].get_interval("invariance").estimate == pytest.approx(1.0)
    _, _, placed, _ = run(tmp_path / "b", first_action, num_games=6, seed=4, suite="invariance")
    by_variant = {e.variant: e.score.estimate for e in measure_variants(placed)}
    assert by_variant["shifted"] == by_variant["scaled"] == by_variant["relabelled"] == 1.0
    assert by_variant["permuted"] < 1.0


def optimal_table(request):
    """Perfect on tables; on other formats it reads the sentences or the JSON."""
    text = request.messages[-1].content
    return optimal_reply(request) if "\n|" in text else optimal_of_outcomes(text)


def optimal_of_outcomes(text):
    import re

    from bestresponse.theory import solve_zero_sum

    outcomes = [
        (m["me"], m["other"], float(m["pay"]))
        for m in re.finditer(
            r"If you choose (?P<me>\S+) and .* chooses (?P<other>\S+), you get (?P<pay>[-\d.]+)\.", text
        )
    ]
    if not outcomes:
        data = json.loads(text[text.index("[") : text.rindex("]") + 1])
        outcomes = [
            (o["you"], next(v for k, v in o.items() if k not in ("you", "your_payoff")), o["your_payoff"]) for o in data
        ]
    mine, theirs = (list(dict.fromkeys(o[k] for o in outcomes)) for k in (0, 1))
    matrix = np.zeros((len(mine), len(theirs)))
    for me, other, pay in outcomes:
        matrix[mine.index(me), theirs.index(other)] = pay
    mix = solve_zero_sum(matrix).row[0]
    return json.dumps(dict(zip(mine, map(float, mix), strict=True)))


def test_the_sensitivity_suite_changes_one_setting_at_a_time(tmp_path):
    _, _, results, model = run(tmp_path, first_action, num_games=2, seed=4, suite="sensitivity")
    names = [e.condition for e in measure_conditions(results)]
    assert names == [
        "base", "size 2x2", "size 4x4", "size 6x6", "payoffs x0.01", "payoffs x100", "temperature 0.7", "temperature 1",
    ]  # fmt: skip
    assert {r.temperature for r in model.asked} == {0.0, 0.7, 1.0}


def test_a_run_stops_when_the_precision_is_reached_and_not_before(tmp_path):
    _, outcome, _, _ = run(tmp_path / "a", optimal_reply, num_games=200, seed=1, precision=0.01)
    assert 50 <= outcome.played < 80
    _, again, _, _ = run(tmp_path / "a", optimal_reply, num_games=200, seed=1, precision=0.01)
    assert again.played == 0
    _, varied, _, _ = run(tmp_path / "b", first_action, num_games=60, seed=1, precision=0.0001)
    assert varied.played == 60


def test_only_the_original_games_count_for_the_precision(tmp_path):
    # Optimal as the row player of a table, poor in other variants: their gaps vary too much for 60 games. The 50th
    # original game, the first that may end the run, is play 49 * 8 + 1.
    def sure_of_rows_only(request):
        plain = "The rows are your actions" in request.messages[-1].content
        return optimal_reply(request) if plain else first_action(request)

    settings = {"num_games": 60, "seed": 1, "suite": "invariance", "precision": 0.01}
    _, outcome, _, _ = run(tmp_path, sure_of_rows_only, workers=1, **settings)
    assert outcome.played == 393


def test_a_model_that_cannot_be_read_gives_a_report_that_says_so_and_no_gap(tmp_path):
    folder, _, results, _ = run(tmp_path, lambda request: "I would rather not <script>alert(1)</script>", num_games=5)
    (summary,) = results.summaries
    assert (summary.get_interval("nash_gap"), summary.answered) == (None, 0)
    html = page.render(document_of(folder, results))
    assert "gave no answer that could be read: there is no gap" in html
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_some_unreadable_answers_widen_the_bounds_and_enter_no_mean(tmp_path):
    def half(request):
        half.count += 1
        return optimal_reply(request) if half.count % 2 else "hm"

    half.count = 0
    _, _, results, _ = run(tmp_path, half, num_games=10, seed=2)
    (summary,) = results.summaries
    assert dict(summary.statuses) == {"valid": 5, "unparseable": 5}
    assert summary.get_interval("gap_normalised").estimate == pytest.approx(0, abs=1e-9)
    bounds = summary.bound("gap_normalised")
    worst = [row["worst_gap"] / row["payoff_range"] for row in results.rows if row["nash_gap"] is None]
    assert bounds.low == pytest.approx(0, abs=1e-9)
    assert bounds.high == pytest.approx(sum(worst) / 10)
    assert max(worst) < 1


def test_baselines_stand_beside_a_player_on_the_games_that_it_answered(tmp_path):
    def three(request):
        three.count += 1
        return optimal_reply(request) if three.count <= 3 else "hm"

    three.count = 0
    folder, _, _, _ = run(tmp_path, three, num_games=7, seed=2)
    (whole, same, *_) = [table for _, table in document_of(folder, None).tables]
    assert same.caption == "Only the 3 games that m (mixed) answered."
    plays = [column.name for column in same.columns].index("answers")
    assert {row[plays] for row in same.rows} == {3}
    assert {row[plays] for row in whole.rows[1:]} == {7}


def test_players_are_compared_on_gap_and_on_exploitability(tmp_path):
    _, _, results, _ = run(tmp_path, optimal_reply, num_games=8, seed=3)
    found = {(d.second, d.figure): d.comparison.difference.estimate for d in compare_players(results)}
    assert found["equilibrium", "exploitability_normalised"] == 0.0
    assert found["maximin", "exploitability_normalised"] < -0.05


def test_the_report_lists_every_play_the_worst_first(tmp_path):
    folder, _, _, _ = run(tmp_path, first_action, num_games=5, seed=3)
    (table,) = [table for title, table in document_of(folder, None).tables if title == "The plays"]
    names = [column.name for column in table.columns]
    losses = [row[names.index("exploitability / range")] for row in table.rows]
    assert len(losses) == 5
    assert losses == sorted(losses, reverse=True)
    assert {row[names.index("reply")] for row in table.rows} == {'{"A": 1.0, "B": 0.0, "C": 0.0}'}
    assert {row[names.index("answer")] for row in table.rows} == {"1 0 0"}


def test_general_sum_families_are_measured_with_their_own_figures(tmp_path):
    settings = {"family": "uniform", "num_games": 4, "seats": ("row", "col"), "seed": 9}
    folder, _, results, _ = run(tmp_path, first_action, **settings)
    assert all(r["equilibrium_distance"] is not None for r in results.rows)
    tables = document_of(folder, results).tables
    titles = [table.caption for _, table in tables]
    assert "distance to equilibrium" in [column.name for column in tables[0][1].columns]
    assert any("correlated-equilibrium regret" in title for title in titles)


def test_a_recorded_run_replays_to_the_same_records_and_notices_a_changed_reply(tmp_path):
    folder, _, _, _ = run(tmp_path, first_action, num_games=4)
    assert folder.replay().same == 4
    calls = folder.path / "calls.jsonl"
    calls.write_text(calls.read_text().replace('\\"A\\": 1.0, \\"B\\": 0.0', '\\"A\\": 0.0, \\"B\\": 1.0', 1))
    found = folder.replay()
    assert (found.same, len(found.different)) == (3, 1)


def test_equal_settings_are_the_same_run_and_reports_are_equal_to_the_byte(tmp_path):
    first = run(tmp_path / "a", first_action, num_games=5, seed=8)
    second = run(tmp_path / "b", first_action, num_games=5, seed=8)
    assert first[0].manifest.run == second[0].manifest.run
    for kind in ("rows", "summaries"):
        assert getattr(first[2], kind) == getattr(second[2], kind)


def test_the_generalisation_suite_has_sizes_names_and_padding_with_intervals(tmp_path):
    folder, _, results, _ = run(tmp_path, optimal_reply, num_games=3, seed=4, suite="generalisation")
    conditions = [c.name for c in results.plan.conditions]
    assert conditions[:7] == ["base", *(f"size {n}x{n}" for n in (2, 4, 5, 6, 8, 10))]
    assert conditions[7:9] == ["named matching-pennies", "anonymous matching-pennies"]
    tables = {table.caption: table for title, table in document_of(folder, results).tables if title == "Generalisation"}
    sizes = tables["The same questions about games of other sizes."]
    assert [row[2] for row in sizes.rows] == [f"{n} x {n}" for n in (2, 3, 4, 5, 6, 8, 10)]
    within = [column.name for column in sizes.columns].index("within 1 %")
    assert [row[within].estimate for row in sizes.rows] == [1.0] * 7
    assert [row[within].n for row in sizes.rows] == [3] * 7
    named = tables[
        "Well-known games under their own names and under letters (means resample games, shares count plays)."
    ]
    assert [(row[2], row[within].estimate) for row in named.rows] == [("named", 1.0), ("anonymous", 1.0)]
    padded = tables["Games with one dominated action more for each player, and as drawn."]
    assert [(row[2], row[within].estimate) for row in padded.rows] == [("padded", 1.0), ("as drawn", 1.0)]


def test_a_padded_action_is_dominated_and_the_solution_stays(tmp_path):
    _, _, results, _ = run(tmp_path, optimal_reply, num_games=4, seed=4, suite="generalisation")
    padded = [row for row in results.rows if row["variant"] == "padded"]
    assert [(row["rows"], row["cols"]) for row in padded] == [(4, 4)] * 4
    assert [row["strategy"][3] for row in padded] == [0.0] * 4
    assert [row["nash_gap"] for row in padded] == [0.0] * 4


def test_thinking_asks_for_reasons_first_and_gives_them_room(tmp_path):
    _, _, results, model = run(tmp_path, lambda request: "Because.\nANSWER: A: 1, B: 0, C: 0", num_games=1, think=True)
    (asked,) = model.asked
    assert asked.max_tokens == 2000
    assert asked.schema is None
    assert "write down your reasons" in asked.messages[-1].content
    assert results.rows[0]["status"] == "valid"


def test_rows_hold_the_temperature_that_was_sent(tmp_path):
    settings = {"num_games": 1, "elicit": ("mixed", "sampled"), "samples": 2}
    _, _, results, model = run(tmp_path, first_action_or_label, **settings)
    assert {row["elicit"]: row["temperature"] for row in results.rows} == {"mixed": 0.0, "sampled": 1.0}
    assert sorted(request.temperature for request in model.asked) == [0.0, 1.0, 1.0]


def first_action_or_label(request):
    text = request.messages[-1].content
    return '{"answer": "A"}' if '"answer"' in text else first_action(request)


def test_samples_of_one_play_are_asked_for_at_the_same_time(tmp_path):
    """Four samples wait for each other: one after the other they would wait for ever."""
    gate = threading.Barrier(4, timeout=300)

    def wait(request):
        gate.wait()
        return '{"answer": "A"}'

    config = BenchConfig(models=("m",), num_games=1, elicit=("sampled",), samples=4)
    model = ScriptedModel(wait, name="m", abilities=Abilities(schema=True, concurrency=4))
    ran = running.run(BenchStudy(), config, tmp_path, {"m": model}, workers=1)
    assert ran.results.rows[0]["strategy"] == [1.0, 0.0, 0.0]


def test_a_labelled_server_is_reported_under_its_label():
    config = BenchConfig(models=("mine=http://localhost:1/v1#m", "verified:mine=http://localhost:1/v1#m"))
    assert config.labels == ("mine", "verified:mine")
    with pytest.raises(UsageError, match="same label"):
        BenchConfig(models=("a=http://localhost:1/v1#m", "a=http://localhost:2/v1#m"))


def test_reviews_of_a_verified_model_are_recorded_estimated_and_reported(tmp_path):
    """The first reasoning claims a wrong payoff; corrected, it claims nothing. The plain model is asked once."""

    def reason(request):
        text = request.messages[-1].content
        wrong = "If I choose A and the column player chooses P, I get 777. "
        return ("" if "777" in text else wrong) + "\nANSWER: A: 1, B: 0, C: 0"

    names = ("verified:m", "m")
    config = BenchConfig(models=names, num_games=3, seed=1)
    assert BenchStudy().estimate(config).calls == {"verified:m": 15, "m": 3}
    models = {name: ScriptedModel(reason, name="m") for name in names}
    ran = running.run(BenchStudy(), config, tmp_path, models)
    found = {row["model"]: (row["attempts"], row["claims"], row["refuted"]) for row in ran.results.rows}
    assert found == {"verified:m": (2, 0, 0), "m": (None, None, None)}
    tables = [table for title, table in ran.report().tables if title == "Verified reasoning"]
    assert tables[0].caption == "Verified against unverified on the 3 games both answered."
    assert tables[-1].rows == (("verified:m", "mixed", 3, 3, 0, 6),)
    assert ran.replay().same == 6


def test_the_manifest_holds_the_temperature_that_is_sent_where_it_is_one():
    assert BenchConfig(models=("scripted",), elicit=("mixed",)).to_json()["temperature"] == 0.0
    assert BenchConfig(models=("scripted",), elicit=("sampled",)).to_json()["temperature"] == 1.0
    assert BenchConfig(models=("scripted",), elicit=("mixed", "sampled")).to_json()["temperature"] is None


def test_an_outlier_of_a_figure_is_named_by_the_number_of_its_play_and_links_to_it(tmp_path):
    asked = []

    def miss_one_game(request):
        asked.append(request)
        return first_action(request) if len(asked) == 3 else optimal_reply(request)

    ran, _, results, _ = run(tmp_path, miss_one_game, workers=1, num_games=12, seats=("row",), seed=3)
    (table,) = list_outliers(results, "exploitability_normalised", "exploitability / range")
    ((number, game, *_, value),) = table.rows
    assert number == 1
    assert rank_plays(results)[0]["game"] == game
    assert value > 0.05
    html = page.render(ran.report())
    assert html.count('<a href="#play-1">') >= 1
    assert html.count('id="play-1"') == 1


def test_success_in_a_general_sum_game_is_a_small_gap_to_the_nearest_equilibrium(tmp_path):
    sexes = NormalForm(np.array([[[3, 0], [0, 2]], [[2, 0], [0, 3]]]), actions=(("opera", "match"), ("opera", "match")))
    game = UserGame.from_form("sexes", sexes)
    settings = BenchConfig(models=("scripted",), num_games=4, given=game, themes=("own",), elicit=("pure",))
    ran = running.run(BenchStudy(), settings, tmp_path, {"scripted": ScriptedModel(lambda request: "ANSWER: opera")})
    (player,) = ran.summary()["players"].values()
    assert player["metrics"]["success_1"]["estimate"] == 1.0
