"""The water study: plans, records of the fast path, indicators, resumption, the report."""

import json
import re

import numpy as np
import pytest
import running

from bestresponse.core.ask import PASS
from bestresponse.core.codec import record_to_json
from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.core.player import Decision, Reading, Status
from bestresponse.games.water.bidders import play_many
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import Resident, WaterRules
from bestresponse.models.base import Request
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.report import page
from bestresponse.report.document import Figure
from bestresponse.runs.agents import ask_at_once
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.measure import lowest_served, rsr_by_day, rsr_end, trace_of
from bestresponse.studies.water.plan import game_seed, specs
from bestresponse.studies.water.playing import make_player, records_of
from bestresponse.studies.water.study import WaterStudy

BIDDERS = ("random", "share:0.3", "need", "myopic", "no-regret")


def ran(output, config, models=None):
    return running.run(WaterStudy(), config, output, models)


def test_the_fast_path_leaves_the_same_records_as_games_played_one_by_one():
    config = WaterConfig(BIDDERS, ("low", "high"), repeats=2, seed=5)
    for setting in config.settings:
        seeds = [game_seed(config, repeat) for repeat in range(2)]
        fast = records_of(play_many(setting.rules, BIDDERS, seeds), BIDDERS)
        planned = [spec for spec in specs(config) if spec.data["abundance"] == setting.abundance]
        slow = [make_player({})(spec, [], lambda submission: None) for spec in planned]
        assert [json.dumps(record_to_json(r)) for r in fast] == [json.dumps(record_to_json(r)) for r in slow]


def test_all_settings_share_the_supplies_of_a_repeat():
    config = WaterConfig(BIDDERS, ("low", "medium", "high"), (False, True), 3)
    planned = list(specs(config))
    assert len({spec.id for spec in planned}) == 18
    assert len({spec.data["seed"] for spec in planned}) == 3
    assert [spec.data["repeat"] for spec in planned[:6]] == [0] * 6


def test_a_run_of_bidders_goes_on_where_it_was_stopped(tmp_path):
    config = WaterConfig(BIDDERS, ("low",), repeats=4, seed=1)
    records = ran(tmp_path, config).path / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[:2]) + lines[2][:40])
    outcome = ran(tmp_path, config).outcome
    assert (outcome.found, outcome.played) == (2, 2)
    again = records.read_text().splitlines(keepends=True)
    assert sorted(again) == sorted(lines)


def test_indicators_by_hand():
    rules = WaterRules((Resident("a", 4, 10), Resident("b", 6, 10)), 4, 6, 3, health=2)
    games = [[(4, {"a": 3.0, "b": 9.0}), (6, {"a": 2.0, "b": 5.0}), (4, {"a": 1.0, "b": 1.0})], [(4, {}), (4, {})]]
    trace = trace_of(rules, games)
    # day 1: only a fits, b falls to 1; day 2: b outbids a and lives; day 3: a is served, b falls to 2
    assert trace.served[0].tolist() == [[True, False], [False, True], [True, False]]
    assert trace.survived.tolist() == [[True, True], [False, False]]
    assert lowest_served(trace)[0].tolist() == [3.0, 5.0, 1.0]
    assert rsr_end(trace).tolist() == [0.5, np.inf]


def test_the_report_of_a_run_is_one_page_with_every_indicator(tmp_path):
    config = WaterConfig(BIDDERS, ("low", "high"), repeats=3, seed=1)
    run = ran(tmp_path, config)
    measured = run.results.measured
    low, high = run.figures.to_json()
    assert low["survivors"]["estimate"] == measured.settings[0].survivors.mean()
    assert high["rsr_start"] == 0.5
    document = run.report()
    titles = [section.title for section in document.sections]
    assert titles[:2] == ["Who survived", "What made the difference"]
    assert "Beside bidders without a model" in titles
    html = page.render(document)
    assert "smallest bid served" in html
    figures = [block for section in document.sections for block in section.blocks if isinstance(block, Figure)]
    assert len(figures) == 10
    assert len(run.rows()) == 6
    days = measured.list_days()
    assert set(days["resident"]) == {"Alex", "Bob", "Cindy", "David", "Eric"}
    assert {len(values) for values in days.values()} == {len(days["day"])}


def test_a_void_game_enters_no_figure_and_is_counted(tmp_path):
    config = WaterConfig(("m", *BIDDERS[1:]), repeats=1, policy="void", attempts=1, rules=WaterRules(days=1))
    models = {"m": ScriptedModel(["no idea"], name="m")}
    measured = ran(tmp_path, config, models).results.measured
    assert measured.games == 0
    assert measured.settings[0].void == 1
    assert measured.answers["m"].statuses == {"unparseable": 1}


def test_refused_bids_and_abstentions_are_counted(tmp_path):
    config = WaterConfig(("m", *BIDDERS[1:]), repeats=1, attempts=2, rules=WaterRules(days=2))
    models = {"m": ScriptedModel(["ANSWER: 900", "ANSWER: 20", "what?", "what?"], name="m")}
    answers = ran(tmp_path, config, models).results.measured.answers["m"]
    assert (answers.refused, answers.abstained) == (1, 1)


def test_one_seat_that_cannot_be_reached_abstains_but_an_outage_is_no_game(tmp_path):
    config = WaterConfig(("m", "m", *BIDDERS[2:]), repeats=1, rules=WaterRules(days=1))

    def half(request: Request) -> str:
        if "you are Alex" in request.messages[-1].content:
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

    from bestresponse.players.llm.agent import WithFailurePolicy

    game = Water()
    state = game.apply(game.start(), {"nature": 15})
    asks = game.asks(state)
    questions = [("Alex", WithFailurePolicy(Gone(), "abstain"), game.view(state, "Alex"), asks["Alex"])]
    with pytest.raises(ModelUnavailable, match="gone"):
        ask_at_once(questions)
    stood_in = Decision(PASS, "", Reading(Status.UNPARSEABLE, "what"), (), "abstain")
    assert stood_in.action == PASS


def test_settings_come_back_from_a_stored_run():
    config = WaterConfig(("gpt", *BIDDERS[1:]), ("own",), (True,), 2, rules=WaterRules(low=3, high=9))
    assert WaterConfig.from_json(json.loads(json.dumps(config.to_json()))) == config


def test_a_resident_without_a_persona_is_named():
    rules = WaterRules((Resident("Zoe", 1, 1),))
    with pytest.raises(UsageError, match="there is no persona for Zoe"):
        WaterConfig(("need",), personas=(True,), rules=rules)


def explain(request):
    """A model that gives reasons with its bid, and numbers them by the day it is told."""
    day = re.findall(r"Day (\d+) of", request.messages[-1].content)[-1]
    return json.dumps({"reasons": f"Thought of day {day}.", "answer": 10})


def spoken(config, done=()):
    """Play the first game of a plan on from `done`; return the prompts that Alex was shown and all submissions."""
    model, kept = ScriptedModel(explain, name="m"), []
    make_player({"m": model})(next(iter(specs(config))), list(done), kept.append)
    return [request for request in model.asked if "you are Alex" in request.messages[-1].content], kept


def test_agents_give_their_reasons_before_their_bid_and_see_their_own_again():
    config = WaterConfig(("m", *BIDDERS[1:]), repeats=1, rules=WaterRules(days=3))
    asked, kept = spoken(config)
    assert list(json.loads(asked[0].schema)["properties"]) == ["reasons", "answer"]
    last = asked[2].messages[-1].content
    assert 'Your reasons then, in your own words: "Thought of day 1."' in last.partition("Day 2:")[0]
    assert '"Thought of day 2."' in last
    again, _ = spoken(config, kept[:8])
    assert again[-1] == asked[2]


def test_reasons_and_own_words_can_be_left_out():
    plain, _ = spoken(WaterConfig(("m", *BIDDERS[1:]), repeats=1, reasons=False, rules=WaterRules(days=1)))
    assert list(json.loads(plain[0].schema)["properties"]) == ["answer"]
    asked, _ = spoken(WaterConfig(("m", *BIDDERS[1:]), repeats=1, own_words=False, rules=WaterRules(days=2)))
    assert "your own words" not in asked[1].messages[-1].content


def test_the_report_quotes_a_round_with_reasons_and_the_rules_that_were_played(tmp_path):
    config = WaterConfig(("m", *BIDDERS[1:]), ("low",), repeats=2, rules=WaterRules(days=3))
    run = ran(tmp_path, config, {"m": ScriptedModel(explain, name="m")})
    html = page.render(run.report())
    assert "An example: day 1 of 3 in game 1" in html
    assert "Thought of day 1." in html
    assert "10 to 20" in html
    assert "health, points" in html


def test_the_satisfaction_rate_rises_as_residents_die():
    rules = WaterRules((Resident("a", 4, 10), Resident("b", 6, 10)), 4, 6, 3, health=2)
    trace = trace_of(rules, [[(4, {"a": 3.0}), (4, {"a": 3.0}), (4, {"a": 3.0})]])
    # b falls to 1 on day 1 and dies on day 2: 5 / 10 for two mornings, then 5 / 4
    assert rsr_by_day(trace)[0].tolist() == [0.5, 0.5, 1.25, 1.25]
