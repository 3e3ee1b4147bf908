"""Play judged on six scales, by people and by models."""

import csv
import io
import json
from collections import Counter
from itertools import count
from threading import Barrier

import pytest
import running

from bestresponse.core.errors import BadReply, UsageError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.models import ModelLimits
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.study import simulate
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.judging import (
    SCALES,
    ResidentScore,
    judge_run,
    make_sheets,
    read_sheets,
    rubric,
    summarise,
    write_scores,
)
from bestresponse.studies.water.study import water


def bid(request):
    return json.dumps({"reasons": "It is dry.", "answer": 12.5})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two games of three days, a model with a persona in every seat."""
    config = WaterConfig("m", with_personas="on", days=3, repeats=2)
    return running.run(
        water, config, tmp_path_factory.mktemp("run"), {"m": ScriptedModel(bid, name="m")}
    )


@pytest.fixture
def plain(tmp_path):
    """One game of bidders without personas."""
    return running.run(water, WaterConfig("need", days=3, repeats=1), tmp_path)


def read_rows(sheet):
    return list(csv.DictReader(io.StringIO(sheet)))


def test_the_rubric_describes_five_levels_of_six_scales():
    assert list(rubric()) == list(SCALES)
    assert all(len(levels) == 5 for _, levels in rubric().values())


def test_a_sheet_goes_out_empty_and_comes_back_filled(run, tmp_path):
    rows = read_rows(make_sheets(run, ["Ada"])["Ada"])
    assert len(rows) == 10
    for row in rows:
        row.update(dict.fromkeys(SCALES, "4"), planning="")
    with (tmp_path / "ada.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    scores = read_sheets([tmp_path / "ada.csv"]).scores
    assert len(scores) == 50
    assert scores[0] == ResidentScore(
        "Ada", rows[0]["game"], "Alex", "information", 4, setting="medium (15-25), with personas"
    )
    assert len(read_rows(make_sheets(run.path, ["Ada"], sample=1)["Ada"])) == 5


def test_identity_is_not_judged_where_nobody_had_a_persona(plain):
    assert {row["identity"] for row in read_rows(make_sheets(plain, ["Ada"])["Ada"])} == {"n/a"}


@pytest.mark.parametrize("given", ["0", "6", "3.5", "-1", "good", "nan", "1e9"])
def test_a_score_outside_the_scale_is_refused_with_its_place(given, tmp_path):
    (tmp_path / "ada.csv").write_text(f"judge,game,resident,information\nAda,g,Alex,{given}\n")
    with pytest.raises(
        UsageError, match=r"ada.csv, line 2, information: .* is not a whole number from 1 to 5"
    ):
        read_sheets([tmp_path / "ada.csv"])


def test_two_scores_of_one_judge_for_the_same_are_refused(tmp_path):
    for name, score in (("a", 3), ("b", 3), ("c", 4)):
        sheet = f"judge,game,resident,planning\nAda,g,Alex,{score}\nBea,g,Alex,{score}\n"
        (tmp_path / f"{name}.csv").write_text(sheet.replace("Bea,g", f"Bea,{name}"))
    assert len(read_sheets([tmp_path / "a.csv", tmp_path / "b.csv"])) == 4
    with pytest.raises(
        UsageError,
        match="Ada gave Alex both 3 and 4 for planning in game g; keep one, or give two judges",
    ):
        read_sheets([tmp_path / "a.csv", tmp_path / "c.csv"])


def test_what_cannot_be_judged_is_explained(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(
        UsageError,
        match="is not a sheet; expected a CSV file with the columns judge, game, resident",
    ):
        read_sheets([tmp_path / "x.csv"])
    with pytest.raises(UsageError, match=r"no\.csv: there is no such file"):
        read_sheets([tmp_path / "no.csv"])
    with pytest.raises(UsageError, match="no scores yet"):
        summarise(())
    config = WaterConfig("m", on_failure="void", attempts=1, days=1, repeats=1)
    void = running.run(
        water, config, tmp_path / "void", {"m": ScriptedModel(lambda request: "?", name="m")}
    )
    with pytest.raises(UsageError, match="no finished game"):
        make_sheets(void, ["Ada"])["Ada"]
    other = running.run(
        simulate, SimulateConfig("stag-hunt", "random", repeats=1), tmp_path / "other"
    )
    with pytest.raises(UsageError, match="holds a run of simulate, not of water"):
        make_sheets(other, ["Ada"])["Ada"]


def test_medians_and_agreement_by_hand():
    table = {"Ada": (1, 2, 5, 4), "Bea": (1, 2, 5, 3)}
    scores = [
        ResidentScore(judge, f"g{item}", "Alex", "reasoning", value)
        for judge, values in table.items()
        for item, value in enumerate(values)
    ]
    (row,) = summarise(scores)
    assert (row["scores"], row["judges"], row["median"]) == (8, 2, 2.5)
    # three of four items agree; chance = (4 + 4 + 4 + 1 + 1) / 64; kappa = (0.75 - 14/64) / (1 -
    # 14/64)
    assert row["fleiss"] == pytest.approx((0.75 - 14 / 64) / (1 - 14 / 64))
    assert row["krippendorff"] > 0.9
    assert row["icc"] > 0.9


def test_one_judge_has_nobody_to_agree_with():
    (row,) = summarise([ResidentScore("Ada", "g", "Alex", "planning", 3)])
    assert (row["median"], row["fleiss"], row["krippendorff"], row["icc"]) == (3, None, None, None)


def test_a_model_judges_what_it_is_shown_and_scores_outside_the_scale_do_not_count(run):
    def rule(request):
        named = "Judge the play of David" in request.messages[1].content
        given = dict.fromkeys(SCALES, 4 if named else 9)
        return json.dumps({"reasons": "it bids what it needs", "answer": given})

    model = ScriptedModel(rule, name="judge")
    # Of five residents only David gets scores from 1 to 5.
    with pytest.warns(UserWarning, match="4 of 5 rulings could not be read and count nowhere"):
        scores = judge_run(run, model, sample=1).scores
    assert [(score.judge, score.resident, score.value) for score in scores] == [
        ("judge", "David", 4)
    ] * 6
    (asked,) = [
        request
        for request in model.asked
        if "Judge the play of David" in request.messages[1].content
    ]
    system, told = (message.content for message in asked.messages)
    assert system.startswith("You are an impartial judge")
    assert "David. Profession: " in told
    assert "Day 3, bid $12.50: It is dry." in told
    refused = [request.messages[-1].content for request in model.asked if len(request.messages) > 2]
    assert len(refused) == 4 * 2
    assert all("9 is not between 1 and 5" in words for words in refused)


def test_a_judge_is_told_where_there_was_no_persona(plain):
    model = ScriptedModel(
        lambda request: json.dumps({"reasons": "", "answer": dict.fromkeys(SCALES[:-1], 3)})
    )
    scores = judge_run(plain, model).scores
    assert [score.scale for score in scores[:5]] == list(SCALES[:-1])
    told = model.asked[0].messages[-1].content
    assert "Day 1, bid $" in told
    assert "the player was given no persona" in told


def test_a_judge_without_a_usable_word_is_an_error(plain):
    with pytest.raises(BadReply, match="mute gave no scores that could be read"):
        judge_run(plain, ScriptedModel(lambda request: "?", name="mute"))


def test_judges_run_at_the_same_time_and_their_scores_come_in_order(run, tmp_path):
    four, numbers = Barrier(4, timeout=300), count()

    def meet(request):
        if next(numbers) < 4:
            four.wait()
        return json.dumps({"reasons": "", "answer": dict.fromkeys(SCALES, 2)})

    scores = judge_run(run, [ScriptedModel(meet, name="m")], limits=ModelLimits(4)).scores
    assert len(scores) == 2 * 5 * 6
    assert [score.resident for score in scores[::6]] == [
        "Alex",
        "Bob",
        "Cindy",
        "David",
        "Eric",
    ] * 2
    assert {score.kind for score in scores} == {"model"}
    (tmp_path / "m.csv").write_text(write_scores(scores))
    assert read_sheets([tmp_path / "m.csv"]).scores == scores


def test_a_sheet_for_people_holds_the_persona_what_happened_and_the_words(run):
    row = read_rows(make_sheets(run, ["Ada"])["Ada"])[0]
    assert row["kind"] == "person"
    assert row["persona"].startswith("Alex. Profession: ")
    assert "Day 1: " in row["what happened"]
    assert row["words"].startswith("Day 1, bid $12.50: It is dry.")


def test_models_are_compared_with_people_on_what_both_have_judged():
    people = {"Ada": (1, 2, 4), "Bea": (3, 2, 4)}
    scores = [
        ResidentScore(j, f"g{k}", "Alex", "planning", v)
        for j, given in people.items()
        for k, v in enumerate(given)
    ]
    scores += [
        ResidentScore("m", f"g{k}", "Alex", "planning", v, "model")
        for k, v in enumerate((3, 3, 5, 1))
    ]
    (row,) = summarise(scores)
    # means of people 2, 2, 4 and of the model 3, 3, 5 (the fourth play only the model has judged)
    assert row["models_minus_people"] == pytest.approx(1)
    # observed disagreement (1 + 1 + 1) x 2 / 6; expected: 2 x 40 / 30 over all pairs of 2, 2, 4, 3,
    # 3, 5
    assert row["people_and_models"] == pytest.approx(1 - 1 / (2 * 41 / 30))
    assert row["mean"] == pytest.approx(28 / 10)
    assert row["deviation"] == pytest.approx(1.3166, abs=1e-4)
    (alone,) = summarise(scores[:6])
    assert (alone["models_minus_people"], alone["people_and_models"]) == (None, None)


@pytest.fixture(scope="module")
def six_settings(tmp_path_factory):
    """Four games of two days in each of the six settings of the paper."""
    return running.run(
        water, WaterConfig("need", grid=True, days=2, repeats=4), tmp_path_factory.mktemp("six")
    )


def count_by(rows, *names):
    games = {row["game"]: tuple(row[name] for name in names) for row in rows}
    return Counter(games.values())


def test_games_to_judge_are_drawn_at_random_and_balanced_by_setting(six_settings):
    rows = read_rows(make_sheets(six_settings, ["Ada"], sample=12, seed=3)["Ada"])
    assert set(count_by(rows, "setting").values()) == {2}
    assert len(count_by(rows, "setting")) == 6
    again = read_rows(make_sheets(six_settings, ["Ada"], sample=12, seed=3)["Ada"])
    other = read_rows(make_sheets(six_settings, ["Ada"], sample=12, seed=4)["Ada"])
    assert [row["game"] for row in again] == [row["game"] for row in rows]
    assert {row["game"] for row in other} != {row["game"] for row in rows}
    everything = read_rows(make_sheets(six_settings, ["Ada"], sample=25)["Ada"])
    assert len({row["game"] for row in everything}) == 24


def test_a_number_that_cannot_be_divided_is_balanced_by_personas_first(six_settings):
    rows = read_rows(make_sheets(six_settings, ["Ada"], sample=10)["Ada"])
    # Five with personas and five without; of five in three supplies no two differ by more than one.
    personas = Counter(
        setting.endswith("with personas") for (setting,) in count_by(rows, "setting").elements()
    )
    assert personas == {True: 5, False: 5}
    assert sorted(count_by(rows, "setting").values()) == [1, 1, 2, 2, 2, 2]


def test_games_are_divided_among_judges_so_that_each_has_as_many_judges(six_settings):
    judges = [f"judge {number}" for number in range(1, 11)]
    sheets = make_sheets(six_settings, judges, sample=24, each=5)
    games = {judge: {row["game"] for row in read_rows(sheet)} for judge, sheet in sheets.items()}
    # 24 games x 5 judges / 10 judges.
    assert {len(own) for own in games.values()} == {12}
    assert set(Counter(game for own in games.values() for game in own).values()) == {5}
    with pytest.raises(
        UsageError, match="3 judges for each game: expected 1 to 2, the judges there are"
    ):
        make_sheets(six_settings, ["Ada", "Bea"], each=3)


def test_scores_are_summed_up_by_setting():
    def score(game, value, setting):
        return ResidentScore("Ada", game, "Alex", "planning", value, setting=setting)

    scores = [score("a", 1, "low"), score("b", 4, "low"), score("c", 5, "high")]
    rows = summarise(scores, by="setting")
    assert [(row["group"], row["scores"], row["mean"]) for row in rows] == [
        ("low", 2, 2.5),
        ("high", 1, 5.0),
    ]
    with pytest.raises(
        UsageError, match=r"scores cannot be grouped by 'seting'.*Did you mean setting"
    ):
        summarise(scores, by="seting")


def test_people_who_judged_themselves_stand_beside_the_players_whom_others_judged(tmp_path):
    # Ten people, mean 3.4; the squares of what they differ from it add up to 12.4.
    own = (3, 3, 3, 4, 3, 1, 4, 5, 5, 3)
    lines = ["lobby,group,treatment,participant,q_planning,q_age"]
    lines += [f"L,1,,P-{number},{value},30" for number, value in enumerate(own)]
    (tmp_path / "payments.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "ada.csv").write_text("judge,game,resident,planning\nAda,g,Alex,4\nAda,g,Bob,3\n")
    players, people = summarise(
        read_sheets([tmp_path / "payments.csv", tmp_path / "ada.csv"]).scores
    )
    assert (players["judged"], players["scores"], players["mean"]) == ("players", 2, 3.5)
    assert (people["judged"], people["scores"], people["mean"]) == ("themselves", 10, 3.4)
    assert people["deviation"] == pytest.approx((12.4 / 9) ** 0.5)
    (tmp_path / "payments.csv").write_text("lobby,group,participant,q_planning\nL,1,P,7\n")
    with pytest.raises(
        UsageError,
        match=r"payments\.csv, line 2, q_planning: '7' is not a whole number from 1 to 5",
    ):
        read_sheets([tmp_path / "payments.csv"])
