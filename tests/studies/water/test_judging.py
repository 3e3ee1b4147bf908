"""Play judged on six scales, by people and by models."""

import csv
import io
import json
from dataclasses import asdict, replace
from itertools import count
from threading import Barrier

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.core.player import Decision
from bestresponse.games.water.bidders import play_many
from bestresponse.games.water.rules import WaterRules
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.persona import published_personas
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.judging import (
    SCALES,
    Score,
    judge_play,
    judge_plays,
    read_sheet,
    rubric,
    sheet,
    summarise,
)
from bestresponse.studies.water.plan import specs
from bestresponse.studies.water.playing import records_of


def plays(persona=True, games=2):
    names = ("need",) * 5
    config = WaterConfig(names, ("medium",), (persona,), games, rules=WaterRules(days=3))
    planned = list(specs(config))
    records = records_of(play_many(config.rules, names, [spec.data["seed"] for spec in planned]), names)
    told = {name: asdict(text) for name, text in published_personas().items()} if persona else {}
    return [
        StoredPlay(spec.id, {**spec.data, **({"personas": told} if told else {})}, record)
        for spec, record in zip(planned, records, strict=True)
    ]


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
    good = json.dumps({"reasons": "it bids what it needs", "answer": dict.fromkeys(SCALES, 4)})
    bad = json.dumps(dict.fromkeys(SCALES, 9))
    model = ScriptedModel([good, bad, bad, bad])
    assert [score.value for score in judge_play(play, "David", model)] == [4] * 6
    assert judge_play(other, "David", model) == ()
    system, told = (message.content for message in model.asked[0].messages)
    assert system.startswith("You are an impartial judge")
    assert "Judge the play of David" in told
    assert "David. Profession: " in told
    assert "Day 3, bid $" in told
    assert "9 is not between 1 and 5" in model.asked[2].messages[-1].content


def test_a_judge_reads_the_reasons_and_is_told_where_there_was_no_persona():
    (play, _) = plays(persona=False)
    said = Decision(12.5, '{"reasons": "It is dry.", "answer": 12.5}')
    spoken = tuple(replace(s, decision=said) if s.role == "David" else s for s in play.record.submissions)
    model = ScriptedModel([json.dumps({"reasons": "", "answer": dict.fromkeys(SCALES[:-1], 3)})])
    scores = judge_play(replace(play, record=replace(play.record, submissions=spoken)), "David", model)
    assert [score.scale for score in scores] == list(SCALES[:-1])
    told = model.asked[0].messages[-1].content
    assert "Day 1, bid $12.50: It is dry." in told
    assert "the player was given no persona" in told


def test_judges_run_at_the_same_time_and_their_scores_come_in_order():
    four, numbers = Barrier(4, timeout=300), count()

    def meet(request):
        if next(numbers) < 4:
            four.wait()
        return json.dumps({"reasons": "", "answer": dict.fromkeys(SCALES, 2)})

    scores = judge_plays(plays(), [ScriptedModel(meet, name="m")], 4)
    assert len(scores) == 2 * 5 * 6
    assert [score.resident for score in scores[::6]] == ["Alex", "Bob", "Cindy", "David", "Eric"] * 2
    assert {score.kind for score in scores} == {"model"}


def test_a_sheet_for_people_holds_the_persona_what_happened_and_the_words():
    row = next(csv.DictReader(io.StringIO(sheet(plays(), "Ada"))))
    assert row["kind"] == "person"
    assert row["persona"].startswith("Alex. Profession: ")
    assert "Day 1: " in row["what happened"]
    assert "Day 1, bid $" in row["words"]


def test_models_are_compared_with_people_on_what_both_have_judged():
    people = {"Ada": (1, 2, 4), "Bea": (3, 2, 4)}
    scores = [Score(j, f"g{k}", "Alex", "planning", v) for j, given in people.items() for k, v in enumerate(given)]
    scores += [Score("m", f"g{k}", "Alex", "planning", v, "model") for k, v in enumerate((3, 3, 5, 1))]
    (found,) = summarise(scores)
    # means of people 2, 2, 4 and of the model 3, 3, 5 (the fourth play only the model has judged)
    assert found.models_minus_people == pytest.approx(1)
    # observed disagreement (1 + 1 + 1) x 2 / 6; expected: 2 x 40 / 30 over all pairs of 2, 2, 4, 3, 3, 5
    assert found.people_and_models == pytest.approx(1 - 1 / (2 * 41 / 30))
    assert found.mean == pytest.approx(28 / 10)
    assert found.deviation == pytest.approx(1.3166, abs=1e-4)
    (alone,) = summarise(scores[:6])
    assert (alone.models_minus_people, alone.people_and_models) == (None, None)
