"""Suites, comparisons and the report of the benchmark, with models whose play is known."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
import running
from unhashed import add_hashes, drop_hashes

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.models.base import Abilities
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.report import page
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.games import VARIANTS
from bestresponse.studies.bench.study import bench


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
    model = ScriptedModel(script, name="m", abilities=Abilities(schema=True))
    return running.run(bench, BenchConfig("m", **settings), tmp_path, {"m": model}, workers=workers)


def find_figures(ran):
    """The figures of every player and baseline, by its name."""
    return {" / ".join(heads): figures for heads, figures in ran.metrics.groups}


def find_tables(ran, title):
    return {table.caption: table for section, table in ran.report().tables if section == title}


def test_a_perfect_model_has_no_gap_and_no_exploitability(tmp_path):
    ran = run(tmp_path, optimal_reply, num_games=12, seat=("row", "col"), seed=3)
    assert ran.outcome.played == 24
    for player in ("m / mixed, row", "m / mixed, col"):
        found = find_figures(ran)[player]
        assert found["gap_normalised"].estimate == pytest.approx(0, abs=1e-9)
        assert found["exploitability_normalised"].estimate == pytest.approx(0, abs=1e-9)


def test_every_table_has_all_baselines_on_the_same_games_and_the_optimal_one_is_perfect(tmp_path):
    found = find_figures(run(tmp_path, first_action, num_games=8, seed=3))
    names = ["uniform", "random", "greedy", "maximin", "level-1", "level-2", "equilibrium"]
    assert list(found) == ["m / mixed", *(f"{name} / baseline" for name in names)]
    assert {figures["asked"] for figures in found.values()} == {8}
    best = found["equilibrium / baseline"]["exploitability_normalised"]
    assert best == pytest.approx(0, abs=1e-9)


def test_the_invariance_suite_tells_a_perfect_model_from_one_that_looks_at_places(tmp_path):
    perfect = run(tmp_path / "a", optimal_table, num_games=6, seed=4, suite="invariance")
    assert perfect.outcome.played == 6 * (1 + len(VARIANTS))
    assert find_figures(perfect)["m / mixed"]["invariance"].estimate == pytest.approx(1.0)
    assert {
        row["difference"].estimate
        for row in perfect.frame("differences").select(comparison="variants")
    } == {0.0}
    placed = run(tmp_path / "b", first_action, num_games=6, seed=4, suite="invariance")
    by_variant = {row["version"]: row["invariance"].estimate for row in placed.frame("variants")}
    assert list(by_variant) == list(VARIANTS)
    assert by_variant["shifted"] == by_variant["scaled"] == by_variant["relabelled"] == 1.0
    assert by_variant["permuted"] < 1.0
    assert placed.summary()["variants"][0]["version"] == "permuted"
    assert "Same game, told otherwise" in [section.title for section in placed.report().sections]


def test_a_game_told_otherwise_is_compared_with_the_same_game_as_drawn_in_every_variant(tmp_path):
    ran = run(tmp_path, first_action, num_games=5, seed=4, suite="invariance")
    compared = ran.frame("differences").select(comparison="variants", by="gap / range")
    assert [row["player"] for row in compared] == [f"m / mixed, {variant}" for variant in VARIANTS]
    assert {row["games"] for row in compared} == {5}
    # Always the first action: other names or a shift of all payoffs change nothing, another order
    # does.
    by_variant = {row["player"].split(", ")[1]: row["difference"].estimate for row in compared}
    assert by_variant["shifted"] == by_variant["swapped"] == 0.0
    rows = {(row["variant"], row["game"]): row["gap_normalised"] for row in ran.rows()}
    change = np.mean([rows["permuted", game] - rows["original", game] for game in range(5)])
    assert by_variant["permuted"] == pytest.approx(change)


def test_how_the_answers_were_read_counts_the_plays_of_all_variants(tmp_path):
    """Four games in eight tellings; what is shown as JSON is not answered."""

    def answer_tables(request):
        return first_action(request) if "\n|" in request.messages[-1].content else "hm"

    ran = run(tmp_path, answer_tables, num_games=4, seed=4, suite="invariance")
    (row,) = ran.frame("answers")
    unread = sum(row["status"] == "unparseable" for row in ran.rows())
    assert 0 < unread == row["unparseable"]
    assert row["valid"] + row["unparseable"] == 32


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
            r"If you choose (?P<me>\S+) and .* chooses (?P<other>\S+), you get (?P<pay>[-\d.]+)\.",
            text,
        )
    ]
    if not outcomes:
        data = json.loads(text[text.index("[") : text.rindex("]") + 1])
        outcomes = [
            (
                o["you"],
                next(v for k, v in o.items() if k not in ("you", "your_payoff")),
                o["your_payoff"],
            )
            for o in data
        ]
    mine, theirs = (list(dict.fromkeys(o[k] for o in outcomes)) for k in (0, 1))
    matrix = np.zeros((len(mine), len(theirs)))
    for me, other, pay in outcomes:
        matrix[mine.index(me), theirs.index(other)] = pay
    mix = solve_zero_sum(matrix).row[0]
    return json.dumps(dict(zip(mine, map(float, mix), strict=True)))


def test_the_sensitivity_suite_changes_one_setting_at_a_time(tmp_path):
    model = ScriptedModel(first_action, name="m", abilities=Abilities(schema=True))
    config = BenchConfig("m", num_games=2, seed=4, suite="sensitivity")
    ran = running.run(bench, config, tmp_path, {"m": model})
    assert [row["version"] for row in ran.frame("settings")] == [
        "base",
        "size 2x2",
        "size 4x4",
        "size 6x6",
        "payoffs x0.01",
        "payoffs x100",
        "temperature 0.7",
        "temperature 1",
        "instruction short",
        "instruction plain",
        "spread of 3 instructions",
    ]
    assert {r.temperature for r in model.asked} == {0.0, 0.7, 1.0}
    gaps = [row["gap_normalised"] for row in ran.rows() if row["condition"] == "size 2x2"]
    (small,) = ran.frame("settings").select(version="size 2x2")
    assert small["gap_normalised"].estimate == pytest.approx(sum(gaps) / 2)
    assert [title for title, _ in ran.report().tables[:3]] == [
        "How far from optimal",
        "The Nash gap in numbers",
        "Sensitivity",
    ]
    assert bench.count_tables(config) == 3


def test_the_instruction_is_said_in_three_ways_and_their_spread_is_told(tmp_path):
    # Asked in few words, the model always takes A; else it mixes evenly.
    def answer(request):
        told.add(request.messages[0].content)
        few = len(request.messages[0].content) < 100
        return '{"A": 1, "B": 0, "C": 0}' if few else '{"A": 0.5, "B": 0.5, "C": 0}'

    told = set()
    model = ScriptedModel(answer, name="m")
    config = BenchConfig("m", num_games=3, seed=4, suite="sensitivity")
    ran = running.run(bench, config, tmp_path, {"m": model})
    assert len(told) == 3
    by_version = {row["version"]: row for row in ran.frame("settings")}
    lost = {}
    for version in ("base", "instruction short", "instruction plain"):
        rows = [row for row in ran.rows() if row["condition"] == version]
        lost[version] = sum(row["gap_normalised"] for row in rows) / 3
    assert lost["base"] == lost["instruction plain"] != lost["instruction short"]
    spread = by_version["spread of 3 instructions"]["gap_normalised"]
    assert spread == pytest.approx(abs(lost["base"] - lost["instruction short"]))


def test_a_model_that_cannot_be_read_gives_a_report_that_says_so_and_no_gap(tmp_path):
    ran = run(tmp_path, lambda request: "I would rather not <script>alert(1)</script>", num_games=5)
    found = find_figures(ran)["m / mixed"]
    assert (found["nash_gap"], found["answered"]) == (None, 0)
    html = page.render(ran.report())
    assert "m / mixed gave no answer that could be read, so there is no gap" in html
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_some_unreadable_answers_widen_the_bounds_and_enter_no_mean(tmp_path):
    def half(request):
        half.count += 1
        return optimal_reply(request) if half.count % 2 else "hm"

    half.count = 0
    ran = run(tmp_path, half, num_games=10, seed=2)
    found = find_figures(ran)["m / mixed"]
    (read,) = ran.frame("answers")
    assert (read["valid"], read["unparseable"], read["illegal"]) == (5, 5, 0)
    assert found["gap_normalised"].estimate == pytest.approx(0, abs=1e-9)
    worst = [row["worst_normalised"] for row in ran.rows() if row["nash_gap"] is None]
    assert found["gap_at_least"] == pytest.approx(0, abs=1e-9)
    assert found["gap_at_most"] == pytest.approx(sum(worst) / 10)
    assert max(worst) < 1


def test_baselines_stand_beside_a_player_on_the_games_that_it_answered(tmp_path):
    def three(request):
        three.count += 1
        return optimal_reply(request) if three.count <= 3 else "hm"

    three.count = 0
    ran = run(tmp_path, three, num_games=7, seed=2)
    same = ran.frame("same_games")
    assert same.list_values("version") == ["the 3 that m / mixed answered"]
    assert same.list_values("player")[:2] == ["m / mixed", "uniform"]
    assert {row["answered"] for row in same} == {3}
    assert {
        figures["answered"] for name, figures in find_figures(ran).items() if name != "m / mixed"
    } == {7}


def test_players_are_compared_on_gap_and_on_exploitability(tmp_path):
    ran = run(tmp_path, optimal_reply, num_games=8, seed=3)
    rows = ran.frame("differences").select(comparison="players")
    found = {(row["against"], row["by"]): row["difference"].estimate for row in rows}
    assert found["equilibrium", "exploitability / range"] == 0.0
    assert found["maximin", "exploitability / range"] < -0.05


def test_two_players_are_compared_on_all_games_that_both_answered(tmp_path):
    """One of them leaves out the first two of ten games; the difference is the mean over the other
    eight."""

    def skip_two(request):
        skip_two.count += 1
        return optimal_reply(request) if skip_two.count > 2 else "hm"

    skip_two.count = 0
    config = BenchConfig(["a", "b"], num_games=10, seed=6)
    scripts = {"a": skip_two, "b": first_action}
    models = {name: ScriptedModel(script, name=name) for name, script in scripts.items()}
    ran = running.run(bench, config, tmp_path, models, workers=1)
    gaps = {(row["model"], row["game"]): row["exploitability_normalised"] for row in ran.rows()}
    common = [game for game in range(10) if gaps["a", game] is not None]
    players = ran.frame("differences").select(
        comparison="players", player="a / mixed", against="b / mixed"
    )
    (row,) = players.select(by="exploitability / range")
    assert (len(common), row["games"]) == (8, 8)
    expected = np.mean([gaps["a", game] - gaps["b", game] for game in common])
    assert row["difference"].estimate == pytest.approx(expected)
    # All eight differences are negative: of the 2**8 patterns of signs, this one and its mirror are
    # as extreme.
    assert min(row["p"] for row in ran.frame("differences")) >= 2 / 2**8
    assert row["effect"] < 0


def test_general_sum_families_are_measured_with_their_own_figures(tmp_path):
    ran = run(tmp_path, first_action, family="uniform", num_games=4, seat=("row", "col"), seed=9)
    assert all(row["equilibrium_distance"] is not None for row in ran.rows())
    tables = ran.report().tables
    assert "distance to equilibrium" in [column.name for column in tables[0][1].columns]


def test_a_recorded_run_replays_to_the_same_records_and_notices_a_changed_reply(tmp_path):
    ran = run(tmp_path, first_action, num_games=4)
    assert ran.replay().same == 4
    calls = ran.path / "calls.jsonl"
    changed = drop_hashes(calls.read_text()).replace(
        '\\"A\\": 1.0, \\"B\\": 0.0', '\\"A\\": 0.0, \\"B\\": 1.0', 1
    )
    calls.write_bytes(add_hashes(changed))
    found = ran.replay()
    assert (found.same, len(found.different)) == (3, 1)


def test_equal_settings_are_the_same_run_and_reports_are_equal_to_the_byte(tmp_path):
    first, second = (run(tmp_path / name, first_action, num_games=5, seed=8) for name in ("a", "b"))
    assert first.manifest.run == second.manifest.run
    assert first.rows() == second.rows()
    assert page.render(first.report()) == page.render(second.report())


def test_games_needed_follow_from_the_spread_between_games(tmp_path):
    ran = run(tmp_path / "a", first_action, num_games=6, seed=3)
    worst = max(row["worst_normalised"] for row in ran.rows())
    spread = np.std([worst, *(row["gap_normalised"] for row in ran.rows())], ddof=1)
    needed = find_figures(ran)["m / mixed"]["games_needed"]
    assert (1.96 * spread / 0.02) ** 2 <= needed <= (1.96 * spread / 0.02) ** 2 + 5
    precise = run(tmp_path / "b", optimal_reply, num_games=2, seed=3)
    assert find_figures(precise)["m / mixed"]["games_needed"] > 50


def test_games_are_hard_where_uniform_play_loses(tmp_path):
    ran = run(tmp_path, first_action, num_games=4, seed=3)
    uniform = {
        row["game"]: row["gap_normalised"] for row in ran.frame("games").select(player="uniform")
    }
    own = ran.frame("games").select(player="m / mixed")
    assert {row["game"]: row["hardness"] for row in own} == uniform
    assert {row["hardness"] for row in ran.frame("games").select(player="uniform")} == {None}


def ask(tmp_path, script, **settings):
    """Run a scripted model, and return the run and the requests it was sent."""
    model = ScriptedModel(script, name="m", abilities=Abilities(schema=True, concurrency=4))
    return (
        running.run(bench, BenchConfig("m", **settings), tmp_path, {"m": model}, workers=1),
        model.asked,
    )


def test_models_are_asked_for_their_reasons_first_and_have_room_for_them(tmp_path):
    ran, (asked,) = ask(tmp_path, lambda request: "Because.\nANSWER: A: 1, B: 0, C: 0", num_games=1)
    assert (asked.max_tokens, asked.schema, asked.effort) == (4000, None, None)
    assert "write down your reasons" in asked.messages[-1].content
    assert ran.rows()[0]["status"] == "valid"


def test_a_plain_model_answers_at_once_in_json(tmp_path):
    _, (asked,) = ask(tmp_path, lambda request: '{"A": 1, "B": 0, "C": 0}', num_games=1, plain=True)
    assert asked.max_tokens == 512
    assert asked.schema is not None
    assert "reasons" not in asked.messages[-1].content


def test_the_effort_of_reasoning_is_sent_recorded_and_paid_for(tmp_path):
    settings = {"num_games": 2, "effort": "high", "reasoning_tokens": 9000}
    ran, (asked, _) = ask(tmp_path, lambda request: "ANSWER: A: 1, B: 0, C: 0", **settings)
    assert (asked.effort, asked.reasoning_tokens) == ("high", 9000)
    assert bench.estimate(BenchConfig("m", **settings)).reply_tokens == {"m": 2 * (4000 + 9000)}
    (kept,) = {(play.data["effort"], play.data["reasoning_tokens"]) for play in ran.folder.plays()}
    assert kept == ("high", 9000)


def test_rows_hold_the_temperature_that_was_sent(tmp_path):
    ran, asked = ask(
        tmp_path, first_action_or_label, num_games=1, elicit=("mixed", "sampled"), samples=2
    )
    assert {row["elicit"]: row["temperature"] for row in ran.rows()} == {
        "mixed": 0.0,
        "sampled": 1.0,
    }
    assert sorted(request.temperature for request in asked) == [0.0, 1.0, 1.0]


def first_action_or_label(request):
    text = request.messages[-1].content
    return "ANSWER: A" if "<action>" in text else first_action(request)


def test_samples_of_one_play_are_asked_for_at_the_same_time(tmp_path):
    """Four samples wait for each other: one after the other they would wait for ever."""
    gate = threading.Barrier(4, timeout=300)

    def wait(request):
        gate.wait()
        return '{"answer": "A"}'

    ran, _ = ask(tmp_path, wait, num_games=1, elicit="sampled", samples=4)
    assert ran.rows()[0]["strategy"] == [1.0, 0.0, 0.0]


def test_a_labelled_server_is_reported_under_its_label():
    config = BenchConfig(["mine=http://localhost:1/v1#m", "verified:mine=http://localhost:1/v1#m"])
    assert config.labels == ("mine", "verified:mine")
    with pytest.raises(UsageError, match="same label"):
        BenchConfig(["a=http://localhost:1/v1#m", "a=http://localhost:2/v1#m"])


def test_reviews_of_a_verified_model_are_recorded_estimated_and_reported(tmp_path):
    """The first reasoning claims a wrong payoff; corrected, it claims nothing. The plain model is
    asked once."""

    def reason(request):
        text = request.messages[-1].content
        wrong = "If I choose A and the column player chooses P, I get 777. "
        return ("" if "777" in text else wrong) + "\nANSWER: A: 1, B: 0, C: 0"

    names = ("verified:m", "m")
    config = BenchConfig(names, num_games=3, seed=1)
    assert bench.estimate(config).calls == {"verified:m": 15, "m": 3}
    models = {name: ScriptedModel(reason, name="m") for name in names}
    ran = running.run(bench, config, tmp_path, models)
    found = {row["model"]: (row["attempts"], row["claims"], row["refuted"]) for row in ran.rows()}
    assert found == {"verified:m": (2, 0, 0), "m": (None, None, None)}
    figures = find_figures(ran)["verified:m / mixed"]
    assert (figures["wrong_first"], figures["wrong_last"], figures["attempts"]) == (3, 0, 2.0)
    compared = ran.frame("differences").select(comparison="verified")
    assert [
        (row["player"], row["against"], row["games"], row["difference"].estimate)
        for row in compared
    ] == [("verified:m / mixed", "m / mixed", 3, 0.0)] * 2
    assert ran.replay().same == 6


def test_verified_reasoning_is_also_compared_with_a_model_that_is_only_asked_again(tmp_path):
    """Told that 777 is wrong the model finds the solution, only asked again it repeats itself."""

    def reason(request):
        if "In fact" in request.messages[-1].content:
            return optimal_reply(request)
        return "If I choose A and the column player chooses P, I get 777.\n" + first_action(request)

    names = ("verified:m", "again:m", "m")
    models = {name: ScriptedModel(reason, name="m") for name in names}
    ran = running.run(bench, BenchConfig(names, num_games=2, seed=1), tmp_path, models)
    compared = ran.frame("differences").select(comparison="verified", by="exploitability / range")
    assert [
        (row["player"], row["against"], row["difference"].estimate < 0) for row in compared
    ] == [
        ("verified:m / mixed", "again:m / mixed", True),
        ("verified:m / mixed", "m / mixed", True),
        ("again:m / mixed", "m / mixed", False),
    ]
    assert len(models["again:m"].asked) == 2 * 5


def test_the_manifest_holds_the_temperature_that_is_sent_where_it_is_one():
    for elicit, sent in (("mixed", 0.0), ("sampled", 1.0), (("mixed", "sampled"), None)):
        assert BenchConfig("scripted", elicit=elicit).to_json()["temperature"] == sent


def test_a_study_reports_what_is_missing_of_a_run_that_was_stopped(tmp_path):
    with pytest.warns(UserWarning, match="the next call could exceed the budget: 3 calls of 2"):
        stopped = br.bench(
            lambda prompt: "A: 1, B: 0, C: 0",
            num_games=5,
            seed=1,
            output_dir=tmp_path,
            budget="2 calls",
        )
    notes = [block.text for block in stopped.report().opening if hasattr(block, "text")]
    assert "3 planned plays are not finished; run the same command to play them." in notes


def test_the_first_game_is_shown_as_models_are_told_it(tmp_path):
    ran, (asked, *_) = ask(tmp_path, first_action, num_games=2, seed=1)
    (section,) = [
        section
        for section in ran.report().sections
        if section.title == "The first question as it was shown"
    ]
    assert section.blocks[0].text in asked.messages[-1].content
