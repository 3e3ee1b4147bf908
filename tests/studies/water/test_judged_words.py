"""How much of a resident's words a judge is shown, how many games are judged, and how a model is
asked."""

import csv
import io
import json

import running

from bestresponse.models.base import Abilities
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.judging import SCALES, judge_run, make_sheets
from bestresponse.studies.water.study import water


def list_rows(run, **options):
    return list(csv.DictReader(io.StringIO(make_sheets(run, ["Ada"], **options)["Ada"])))


def play(path, *, reasons="", **settings):
    def bid(request):
        return json.dumps({"reasons": reasons, "answer": 12.5})

    config = WaterConfig("m", **{"days": 1, "repeats": 1} | settings)
    return running.run(water, config, path, {"m": ScriptedModel(bid, name="m")})


def test_a_judge_is_shown_24000_characters_of_words_shared_out_over_the_days(tmp_path):
    csv.field_size_limit(200_000)
    whole = list_rows(play(tmp_path / "whole", reasons="x" * 24_000))[0]
    assert whole["words"] == "Day 1, bid $12.50: " + "x" * 24_000
    cut = list_rows(play(tmp_path / "cut", reasons="x" * 24_001))[0]
    assert cut["words"] == "Day 1, bid $12.50: " + "x" * 24_000 + " ..."
    two = list_rows(play(tmp_path / "two", reasons="x" * 12_001, days=2))[0]
    assert two["words"].split("\n")[0] == "Day 1, bid $12.50: " + "x" * 12_000 + " ..."
    silent = list_rows(play(tmp_path / "silent"))[0]
    assert silent["words"] == "Day 1, bid $12.50"


def test_a_sheet_holds_thirty_games_and_a_model_judges_five_unless_said_otherwise(tmp_path):
    run = running.run(water, WaterConfig("need", days=1, repeats=31), tmp_path)
    rows = list_rows(run)
    assert (len(rows), len({row["game"] for row in rows})) == (30 * 5, 30)
    judge = ScriptedModel(
        lambda request: json.dumps({"reasons": "", "answer": dict.fromkeys(SCALES[:-1], 3)})
    )
    assert len(judge_run(run, judge).scores) == 5 * 5 * 5


def test_a_model_that_keeps_to_schemas_is_given_one_and_others_write_lines(tmp_path):
    run = running.run(water, WaterConfig("need", days=1, repeats=1), tmp_path)
    strict = ScriptedModel(
        lambda request: json.dumps({"reasons": "", "answer": dict.fromkeys(SCALES[:-1], 3)})
    )
    judge_run(run, strict)
    assert strict.asked[0].schema is not None
    line = "ANSWER: " + json.dumps(dict.fromkeys(SCALES[:-1], 4))
    loose = ScriptedModel(lambda request: line, name="loose", abilities=Abilities())
    assert {score.value for score in judge_run(run, loose).scores} == {4}
    assert loose.asked[0].schema is None
    assert loose.asked[0].max_tokens == 1024
