"""The water study: plans, records of the fast path, indicators, resumption, the report."""

import json
import re

import numpy as np
import pytest
import running

import bestresponse as br
from bestresponse.core.ask import PASS
from bestresponse.core.codec import record_to_json
from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.core.player import Decision, Reading, Status
from bestresponse.games.water.bidders import play_many
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import Resident, WaterRules
from bestresponse.models.base import Request
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.agent import WithFailurePolicy
from bestresponse.report import page
from bestresponse.report.document import Figure, Table
from bestresponse.runs.seats import ask_at_once
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.frames import (
    ConditionGames,
    find_prices,
    rebuild_games,
    sum_up_condition,
)
from bestresponse.studies.water.study import list_records, water

NAMES = ("Alex", "Bob", "Cindy", "David", "Eric")
BIDDERS = dict(zip(NAMES, ("random", "share:0.3", "need", "myopic", "random"), strict=True))
AMONG_BIDDERS = {"seat": {name: BIDDERS[name] for name in NAMES[1:]}}


def settings(*args, **more):
    return WaterConfig(*args, **{"seat": BIDDERS, **more})


def one_model(**more):
    """Alex is the model m, the others are bidders."""
    return WaterConfig("m", **{**AMONG_BIDDERS, "repeats": 1, **more})


def ran(output, config, models=None):
    return running.run(water, config, output, models)


def section(run, title):
    (found,) = [part for part in run.report().sections if part.title == title]
    return found.blocks


def test_the_fast_path_leaves_the_same_records_as_games_played_one_by_one():
    config = settings(abundance=("low", "high"), repeats=2, seed=5)
    play = water.play(config, {})
    for condition in config.conditions:
        planned = [
            spec
            for spec in water.list_specs(config)
            if spec.data["abundance"] == condition.abundance
        ]
        trace = play_many(
            condition.rules, list(BIDDERS.values()), [spec.data["seed"] for spec in planned]
        )
        fast = list_records(trace, list(BIDDERS.values()))
        slow = [play(spec, [], lambda submission: None) for spec in planned]
        assert [json.dumps(record_to_json(r)) for r in fast] == [
            json.dumps(record_to_json(r)) for r in slow
        ]


@pytest.mark.parametrize("seat", [BIDDERS, {**BIDDERS, "Eric": "always:0"}])
def test_nobody_draws_or_bids_once_all_are_dead(seat, tmp_path):
    """Without water a health of 3 is gone after two days: 3 - 1 - 2. The second town is played one
    by one."""
    config = WaterConfig(
        seat=seat, low=0, high=0, rules=WaterRules(health=3, most_health=3), repeats=1
    )
    (play,) = ran(tmp_path, config).folder.plays()
    assert [submission.role for submission in play.record.submissions] == ["nature", *NAMES] * 2
    assert set(play.record.payoffs.values()) == {0.0}
    game = Water(config.town)
    state = game.start()
    for _ in range(2):
        state = game.apply(game.apply(state, {"nature": 0}), dict.fromkeys(NAMES, PASS))
    assert game.asks(state) == {}


def test_all_conditions_share_the_supplies_of_a_repeat():
    config = settings(grid=True, repeats=3)
    planned = list(water.list_specs(config))
    assert len({spec.id for spec in planned}) == 18
    assert len({spec.data["seed"] for spec in planned}) == 3
    assert [spec.data["repeat"] for spec in planned[:6]] == [0] * 6


def test_a_run_of_bidders_goes_on_where_it_was_stopped(tmp_path):
    config = settings(abundance="low", repeats=4, seed=1)
    records = ran(tmp_path, config).path / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[:2]) + lines[2][:40])
    outcome = ran(tmp_path, config).outcome
    assert (outcome.found, outcome.played) == (2, 2)
    again = records.read_text().splitlines(keepends=True)
    assert sorted(again) == sorted(lines)


TWO = WaterRules((Resident("a", 4, 10), Resident("b", 6, 10)), 4, 6, 3, health=2)


def two_games():
    """Day 1: only a fits, b falls to 1; day 2: b outbids a and lives; day 3: a is served, b falls
    to 2.

    In the second game nobody bids, and both are dead after two days.
    """
    games = [
        [(4, {"a": 3.0, "b": 9.0}), (6, {"a": 2.0, "b": 5.0}), (4, {"a": 1.0, "b": 1.0})],
        [(4, {}), (4, {})],
    ]
    condition = WaterConfig("need", rules=TWO).conditions[0]
    return ConditionGames(condition, (0, 1), rebuild_games(TWO, games), void=3)


def test_indicators_by_hand():
    games = two_games()
    assert games.trace.served[0].tolist() == [[True, False], [False, True], [True, False]]
    assert games.trace.survived.tolist() == [[True, True], [False, False]]
    assert find_prices(games.trace)[0].tolist() == [3.0, 5.0, 1.0]
    assert games.rsr[0].tolist() == [0.5] * 4
    values = sum_up_condition(games)
    assert (values["games"], values["void"], values["rsr_start"]) == (2, 3, 0.5)
    assert (values["survivors"].estimate, values["survivors"].n) == (1.0, 2)
    # in the second game nobody is left to need water, and nobody was served
    assert (values["rsr_end"].estimate, values["rsr_end"].n) == (0.5, 1)
    assert (values["median_price"].estimate, values["median_price"].n) == (3.0, 1)


def test_the_satisfaction_rate_rises_as_residents_die():
    trace = rebuild_games(TWO, [[(4, {"a": 3.0}), (4, {"a": 3.0}), (4, {"a": 3.0})]])
    games = ConditionGames(WaterConfig("need", rules=TWO).conditions[0], (0,), trace)
    # b falls to 1 on day 1 and dies on day 2: 5 / 10 for two mornings, then 5 / 4
    assert games.rsr[0].tolist() == [0.5, 0.5, 1.25, 1.25]


def bid_by_day(first, second):
    """A model that bids a fixed amount on each of two days."""
    return ScriptedModel(
        lambda request: f"ANSWER: {second if 'Day 2 of' in request.messages[-1].content else first}"
    )


def test_frames_hold_what_happened_by_hand(tmp_path):
    """Two residents, one unit too little for both: m bids 3 then 1, the other passes nothing and
    bids 2 always."""
    rules = WaterRules((Resident("a", 4, 10), Resident("b", 6, 10)), 8, 8, 2, health=2)
    config = WaterConfig("m", seat={"b": "always:2"}, rules=rules, repeats=2, style="line")
    run = ran(tmp_path, config, {"m": bid_by_day(3, 1)})
    days = run.frame("days").select(repeat=0)
    # a is served on day 1 and pays 3 of 10; b is served on day 2 and pays 2 of 20
    columns = ("resident", "day", "bid", "served", "balance", "health")
    assert [tuple(row[name] for name in columns) for row in days] == [
        ("a", 1, 3.0, True, 7.0, 4.0),
        ("b", 1, 2.0, False, 10.0, 1.0),
        ("a", 2, 1.0, False, 17.0, 3.0),
        ("b", 2, 2.0, True, 18.0, 3.0),
    ]
    quartiles = [(row["day"], row["first_quartile"], row["median"]) for row in run.frame("prices")]
    assert quartiles == [(1, 3.0, 3.0), (2, 2.0, 2.0)]
    first = run.frame("residents").select(resident="a", day=1)[0]
    assert (first["bid"].estimate, first["health"].estimate, first["balance"].estimate) == (
        3.0,
        4.0,
        7.0,
    )
    assert (first["bid"].low, first["bid"].high, first["bid"].n) == (3.0, 3.0, 2)
    assert [
        (row["day"], row["rsr"].estimate, row["rsr_start"]) for row in run.frame("mornings")
    ] == [(day, 0.8, 0.8) for day in (1, 2, 3)]
    assert [(row["resident"], row["survived"].estimate) for row in run.frame("survival")] == [
        ("a", 1.0),
        ("b", 1.0),
    ]
    assert [(row["survivors"], row["rsr_end"], row["alive"]) for row in run.frame("games")] == [
        (2, 0.8, {"a": True, "b": True})
    ] * 2


def test_a_mean_by_day_has_two_standard_errors_and_none_of_a_single_game(tmp_path):
    rules = WaterRules((Resident("a", 4, 10),), 4, 4, 1)
    bids = iter([2.0, 6.0])
    config = WaterConfig("m", rules=rules, repeats=2, style="line", workers=1)
    run = ran(tmp_path, config, {"m": ScriptedModel(lambda request: f"ANSWER: {next(bids)}")})
    (row,) = run.frame("residents")
    # 2 and 6: mean 4, squared deviations 4 + 4 over one less than the games, so the standard error
    # is sqrt(8 / 2)
    assert row["bid"].estimate == 4.0
    assert row["bid"].high - 4.0 == pytest.approx(2 * 2)
    alone = ran(tmp_path / "alone", WaterConfig("need", rules=rules, repeats=1)).frame("residents")[
        0
    ]["bid"]
    assert (alone.n, alone.high) == (1, np.inf)


def test_the_report_of_a_run_is_one_page_with_every_indicator(tmp_path):
    run = ran(tmp_path, settings(abundance=("low", "high"), repeats=3, seed=1))
    low, high = run.metrics.to_json()
    assert low["survivors"]["estimate"] == np.mean(
        [row["survivors"] for row in run.frame("games").rows[:3]]
    )
    assert (low["rsr_start"], high["rsr_start"]) == (0.3, 0.5)
    titles = [part.title for part in run.report().sections]
    assert titles == [
        "Who survived",
        "What made the difference",
        "What water cost",
        "Bids",
        "How scarce water was",
        "Health",
        "Money",
        "Beside bidders without a model",
        "The rules of these games",
        "How the answers were read",
        "How it was done",
    ]
    figures = {
        part.title: sum(isinstance(b, Figure) for b in part.blocks)
        for part in run.report().sections
    }
    assert [figures[title] for title in titles[2:7]] == [2, 2, 1, 2, 2]
    survived = section(run, "Who survived")[1]
    assert [column.name for column in survived.columns] == ["condition", *NAMES]
    (rules,) = section(run, "The rules of these games")
    assert "The drought lasts 20 days." in rules.text
    assert "Eric needs 12 units per day and earns $120." in rules.text
    assert "lowest bid that got water" in page.render(run.report())
    assert len(run.rows()) == 6
    assert set(run.frame("days").list_values("resident")) == set(NAMES)


def test_conditions_that_differ_in_one_thing_are_compared_by_repeat(tmp_path):
    run = ran(tmp_path, settings(abundance=("low", "medium", "high"), repeats=4, seed=1))
    rows = run.frame("comparisons")
    assert [row["comparison"] for row in rows] == [
        "medium (15-25), without personas - low (10-20), without personas",
        "high (20-30), without personas - low (10-20), without personas",
        "high (20-30), without personas - medium (15-25), without personas",
    ]
    survivors = {
        name: np.array([row["survivors"] for row in run.frame("games").select(abundance=name)])
        for name in ("low", "medium", "high")
    }
    assert rows[1]["difference"].estimate == pytest.approx(
        (survivors["high"] - survivors["low"]).mean()
    )
    assert [row["games"] for row in rows] == [4, 4, 4]
    assert all(row["p"] <= row["p_adjusted"] <= 1 for row in rows)
    # nobody is told a persona, so with and without are not compared
    idle = ran(tmp_path / "idle", settings(with_personas="both", repeats=2))
    assert len(idle.frame("comparisons")) == 0


def test_baselines_play_the_supplies_of_the_run(tmp_path):
    run = ran(tmp_path, settings(repeats=3, seed=7))
    seeds = [spec.data["seed"] for spec in water.list_specs(run.config)]
    alone = play_many(WaterRules(), ["need"] * 5, seeds).survived.sum(axis=1).mean()
    rows = run.frame("baselines")
    assert rows.list_values("bidder")[:4] == ["random", "share", "need", "myopic"]
    assert (rows.select(bidder="need")[0]["survivors"], rows.list_values("supply")) == (
        alone,
        ["medium (15-25)"],
    )


def test_a_void_game_enters_no_figure_and_is_counted(tmp_path):
    models = {"m": ScriptedModel(["no idea"], name="m")}
    run = ran(tmp_path, one_model(on_failure="void", attempts=1, days=1), models)
    assert run.answered == 0
    assert [(row["repeat"], row["seat"]) for row in run.frame("voids")] == [(0, "Alex")]
    assert [row["survivors"] for row in run.rows()] == [None]
    assert run.metrics.to_json()[0]["void"] == 1
    assert run.frame("answers").select(player="m")[0]["unparseable"] == 1
    assert "1 play is void" in run.report().opening[0].text


def test_refused_bids_and_abstentions_are_counted(tmp_path):
    models = {"m": ScriptedModel(["ANSWER: 900", "ANSWER: 20", "what?", "what?"], name="m")}
    answers = (
        ran(tmp_path, one_model(attempts=2, days=2), models).frame("answers").select(player="m")[0]
    )
    assert (answers["refused_before"], answers["abstained"]) == (1, 1)


def test_one_seat_that_cannot_be_reached_abstains_but_an_outage_is_no_game(tmp_path):
    config = WaterConfig("m", seat=dict.fromkeys(NAMES[2:], "need"), repeats=1, days=1)

    def half(request: Request) -> str:
        if "You are Alex" in request.messages[-1].content:
            raise ModelUnavailable("no answer in 60 seconds")
        return "ANSWER: 5"

    for number, (script, played, failed) in enumerate(((half, 1, 0), ([], 0, 1))):
        models = {"m": ScriptedModel(script, name="m")}
        outcome = ran(tmp_path / str(number), config, models).outcome
        assert (outcome.played, outcome.failed) == (played, failed)


def test_bidders_beside_an_unreachable_model_do_not_hide_an_outage():
    class Gone:
        name = "gone"

        def decide(self, view, ask):
            raise ModelUnavailable("gone")

    game = Water()
    state = game.apply(game.start(), {"nature": 15})
    asks = game.asks(state)
    questions = [
        ("Alex", WithFailurePolicy(Gone(), "abstain"), game.view(state, "Alex"), asks["Alex"])
    ]
    with pytest.raises(ModelUnavailable, match="gone"):
        ask_at_once(questions)
    stood_in = Decision(PASS, "", Reading(Status.UNPARSEABLE, "what"), (), "abstain")
    assert stood_in.action == PASS


def test_settings_come_back_from_a_stored_run():
    config = WaterConfig("gpt", seat={"Eric": "need"}, low=3, high=9, with_personas="on", repeats=2)
    again = WaterConfig.from_json(json.loads(json.dumps(config.to_json())))
    assert again.to_json() == config.to_json()
    assert again.personas["Alex"].profession == config.personas["Alex"].profession
    assert [condition.name for condition in again.conditions] == ["3-9, with personas"]


def test_a_town_comes_from_a_file_a_mapping_or_rules(tmp_path):
    file = tmp_path / "town.toml"
    file.write_text('days = 3\n[[residents]]\nname = "Mill"\nneed = 4\nsalary = 30\n')
    given = [
        file,
        {"days": 3, "residents": [["Mill", 4, 30]]},
        WaterRules((Resident("Mill", 4, 30),), days=3),
    ]
    assert len({WaterConfig("need", rules=rules).town for rules in given}) == 1
    kept = WaterConfig("need", rules=file)
    file.unlink()
    assert (
        WaterConfig.from_json(json.loads(json.dumps(kept.to_json()))).town.residents[0].name
        == "Mill"
    )


def test_the_published_grid_has_six_conditions():
    assert [condition.name for condition in WaterConfig("need", grid=True).conditions] == [
        "low (10-20), without personas",
        "medium (15-25), without personas",
        "high (20-30), without personas",
        "low (10-20), with personas",
        "medium (15-25), with personas",
        "high (20-30), with personas",
    ]


ZOE = {"profession": "baker", "personality": "calm", "background": "Zoe bakes."}


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (
            {"with_personas": "on", "rules": WaterRules((Resident("Zoe", 1, 1),))},
            "personas: there is none for Zoe",
        ),
        ({"seat": {"Zoe": "need"}}, "seat: there is no seat 'Zoe'; expected one of Alex, Bob"),
        ({"seat": {"Alex": "equilibrium"}}, "no equilibrium of water is known"),
        ({"abundance": "huge"}, "abundance: there is no 'huge'; known: low, medium, high"),
        ({"abundance": "low", "low": 3}, "abundance: the supply is given twice"),
        (
            {"grid": True, "rules": WaterRules(low=1, high=2)},
            "abundance: the supply is given twice",
        ),
        ({"with_personas": "maybe"}, "with_personas: expected one of off, on, both"),
        ({"low": 25, "high": 15}, "the supply goes from 25 to 15"),
        ({"rules": {"residents": [{"name": "A", "need": 1}]}}, "exactly name, need and salary"),
        ({"rules": {"residents": [["A", "x", 3]]}}, "A: the need is 'x'"),
        ({"rules": {"rain": 3}}, "there is no rule named 'rain'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(more, sentence):
    with pytest.raises(UsageError, match=sentence):
        WaterConfig(**more)


def test_personas_of_ones_own_are_told_to_models(tmp_path):
    config = WaterConfig(
        "m", rules=WaterRules((Resident("Zoe", 1, 1),), days=1), personas={"Zoe": ZOE}, repeats=1
    )
    model = ScriptedModel(lambda request: "ANSWER: 1", name="m")
    ran(tmp_path, config, {"m": model})
    assert "baker" in model.asked[0].messages[0].content


def test_the_study_is_a_function_and_leaves_a_file_for_each_frame(tmp_path):
    run = br.water.simulate("need", repeats=2, days=2, output_dir=tmp_path)
    assert run.config.town.days == 2
    assert {path.name for path in run.path.iterdir()} >= {
        "games.csv",
        "days.csv",
        "survival.csv",
        "baselines.csv",
    }


def explain(request):
    """A model that gives reasons with its bid, and numbers them by the day it is told."""
    day = re.findall(r"Day (\d+) of", request.messages[-1].content)[-1]
    return json.dumps({"reasons": f"Thought of day {day}.", "answer": 10})


def spoken(config, done=()):
    """Play the first game of a plan on from `done`; return the prompts that Alex was shown and all
    submissions."""
    model, kept = ScriptedModel(explain, name="m"), []
    water.play(config, {"m": model})(next(iter(water.list_specs(config))), list(done), kept.append)
    return [
        request for request in model.asked if "You are Alex" in request.messages[-1].content
    ], kept


def test_agents_give_their_reasons_before_their_bid_and_see_their_own_again():
    config = one_model(days=3)
    asked, kept = spoken(config)
    assert list(json.loads(asked[0].schema)["properties"]) == ["reasons", "answer"]
    last = asked[2].messages[-1].content
    assert (
        'Your reasons then, in your own words: "Thought of day 1."' in last.partition("Day 2:")[0]
    )
    assert '"Thought of day 2."' in last
    again, _ = spoken(config, kept[:8])
    assert again[-1] == asked[2]


def test_reasons_and_own_words_can_be_left_out():
    plain, _ = spoken(one_model(reasons=False, days=1))
    assert list(json.loads(plain[0].schema)["properties"]) == ["answer"]
    asked, _ = spoken(one_model(own_words=False, days=2))
    assert "your own words" not in asked[1].messages[-1].content


def test_the_report_quotes_a_round_with_reasons(tmp_path):
    run = ran(
        tmp_path,
        one_model(abundance="low", repeats=2, days=3),
        {"m": ScriptedModel(explain, name="m")},
    )
    (example,) = [block for block in section(run, "An example") if isinstance(block, Table)]
    # the day after a third of three days is the first
    assert [row[:2] for row in example.rows] == [(0, 1)] * 5
    assert example.rows[0][3] == "Alex"
    assert example.rows[0][-1] == "Thought of day 1."


def test_the_most_calls_are_known_beforehand():
    estimate = water.estimate(one_model(repeats=3, days=4, attempts=2, abundance=("low", "high")))
    # 3 games of two conditions, 4 days, two answers each
    assert (estimate.plays, estimate.total_calls, estimate.sure) == (6, 3 * 2 * 4 * 2, True)
    assert estimate.what == "6 games of 4 days, seed 0"


def test_a_model_is_asked_to_bid_or_to_pass_and_to_survive():
    asked, _ = spoken(one_model(days=1))
    told = asked[0].messages[-1].content
    assert (
        "How much do you bid for water today? You can also pass. The most important thing is to"
        " survive." in told
    )
    assert '"answer": <number from 0 to 70, or "pass">' in told
    number, word = json.loads(asked[0].schema)["properties"]["answer"]["anyOf"]
    assert (number["minimum"], number["maximum"], word) == (
        0,
        70,
        {"type": "string", "enum": ["pass"]},
    )


def test_every_day_has_the_reasons_of_every_resident_who_gave_any(tmp_path):
    run = ran(tmp_path, one_model(repeats=2, days=2), {"m": ScriptedModel(explain, name="m")})
    rows = [row for row in run.frame("days") if row["resident"] == "Alex"]
    assert [(row["repeat"], row["day"], row["reasons"]) for row in rows] == [
        (0, 1, "Thought of day 1."),
        (0, 2, "Thought of day 2."),
        (1, 1, "Thought of day 1."),
        (1, 2, "Thought of day 2."),
    ]
    # Nobody else is a model.
    assert {row["reasons"] for row in run.frame("days") if row["resident"] != "Alex"} == {""}
