"""Play judged on six scales, by people and by models."""

import csv
import io
import json

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.games.water.bidders import play_many
from bestresponse.games.water.rules import WaterRules
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.agent import Agent
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.judging import SCALES, Score, judge_play, read_sheet, rubric, sheet, summarise
from bestresponse.studies.water.plan import specs
from bestresponse.studies.water.playing import records_of


def plays(persona=True, games=2):
    names = ("need",) * 5
    config = WaterConfig(names, ("medium",), (persona,), games, rules=WaterRules(days=3))
    planned = list(specs(config))
    records = records_of(play_many(config.rules, names, [spec.data["seed"] for spec in planned]), names)
    return [StoredPlay(spec.id, spec.data, record) for spec, record in zip(planned, records, strict=True)]


def test_the_rubric_describes_five_levels_of_six_scales():
    assert list(rubric()) == list(SCALES)
    assert all(len(levels) == 5 for _, levels in rubric().values())


def test_a_sheet_goes_out_empty_and_comes_back_filled():
    rows = list(csv.DictReader(io.StringIO(sheet(plays(), "Ada"))))
    assert len(rows) == 10
    for row in rows:
        row.update(dict.fromkeys(SCALES, "4"), planning="")
    target = io.StringIO()
    writer = csv.DictWriter(target, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    scores = read_sheet(target.getvalue(), "ada.csv")
    assert len(scores) == 50
    assert scores[0] == Score("Ada", rows[0]["game"], "Alex", "information", 4)


def test_identity_is_not_judged_where_nobody_had_a_persona():
    rows = list(csv.DictReader(io.StringIO(sheet(plays(persona=False), "Ada"))))
    assert {row["identity"] for row in rows} == {"n/a"}


@pytest.mark.parametrize("given", ["0", "6", "3.5", "-1", "good", "nan", "1e9"])
def test_a_score_outside_the_scale_is_refused_with_its_place(given):
    text = f"judge,game,resident,information\nAda,g,Alex,{given}\n"
    with pytest.raises(UsageError, match=r"ada.csv, line 2, information: .* is not a whole number from 1 to 5"):
        read_sheet(text, "ada.csv")


def test_a_file_that_is_no_sheet_is_explained():
    with pytest.raises(UsageError, match="is no sheet; expected a CSV file with the columns judge, game, resident"):
        read_sheet("a,b\n1,2\n", "x.csv")
    with pytest.raises(UsageError, match="no scores yet"):
        summarise(())
    with pytest.raises(UsageError, match="no finished game"):
        sheet([], "Ada")


def test_medians_and_agreement_by_hand():
    table = {"Ada": (1, 2, 5, 4), "Bea": (1, 2, 5, 3)}
    scores = [
        Score(judge, f"g{item}", "Alex", "reasoning", value)
        for judge, values in table.items()
        for item, value in enumerate(values)
    ]
    (found,) = summarise(scores)
    assert (found.scores, found.judges, found.median) == (8, 2, 2.5)
    # three of four items agree; chance = (4 + 4 + 4 + 1 + 1) / 64; kappa = (0.75 - 14/64) / (1 - 14/64)
    assert found.fleiss == pytest.approx((0.75 - 14 / 64) / (1 - 14 / 64))
    assert found.krippendorff > 0.9
    assert found.icc > 0.9


def test_one_judge_has_nobody_to_agree_with():
    (found,) = summarise([Score("Ada", "g", "Alex", "planning", 3)])
    assert (found.median, found.fleiss, found.krippendorff, found.icc) == (3, None, None, None)


def test_a_model_judges_what_it_is_shown_and_scores_outside_the_scale_do_not_count():
    (play, other) = plays()
    good = json.dumps(dict.fromkeys(SCALES, 4))
    bad = json.dumps(dict.fromkeys(SCALES, 9))
    model = ScriptedModel([good, bad, bad])
    judge = Agent(model, style="json", attempts=2)
    assert [score.value for score in judge_play(play, "David", judge)] == [4] * 6
    assert judge_play(other, "David", judge) == ()
    told = model.asked[0].messages[-1].content
    assert "Judge the play of David" in told
    assert "Day 3: " in told
    assert "9 is not between 1 and 5" in model.asked[2].messages[-1].content
