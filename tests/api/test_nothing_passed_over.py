"""What a call from Python does not pass over in silence: models mixed up, parts taken for the
whole, no results."""

import functools
import json
import random
from itertools import chain, repeat

import pytest

import bestresponse as br
from bestresponse.core.errors import ModelUnavailable, SettingError, StoreError, UsageError

DILEMMA = "prisoners-dilemma"
FIRST, LAST = '{"A": 1, "B": 0, "C": 0}', '{"A": 0, "B": 0, "C": 1}'


def make_model(text):
    def model(prompt):
        return text

    return model


def make_strategy(move):
    def constant(own, other):
        return move

    return constant


def repeat_text(text, prompt):
    return text


def uniform(prompt):
    return "ANSWER: cooperate"


class Speaker:
    """Says the same each time and counts."""

    def __init__(self, text):
        self.text = text
        self.calls = 0

    def __call__(self, prompt):
        self.calls += 1
        return self.text

    def speak(self, prompt):
        return self(prompt)


@pytest.mark.parametrize(
    "make",
    [
        make_model,
        lambda text: functools.partial(repeat_text, text),
        Speaker,
        lambda text: Speaker(text).speak,
    ],
    ids=["closure", "partial", "object", "method"],
)
def test_a_function_of_the_same_text_with_another_value_in_it_does_not_get_the_answers_on_record(
    tmp_path, make
):
    settings = {"num_games": 2, "output_dir": tmp_path}
    assert br.bench(make(FIRST), **settings).rows()[0]["strategy"] == [1.0, 0.0, 0.0]
    with pytest.raises(StoreError, match="was made with another function called"):
        br.bench(make(LAST), **settings)
    assert br.bench(make(FIRST), **settings).outcome.found == 2


def test_a_value_bound_by_a_default_makes_another_model(tmp_path):
    models = [lambda prompt, text=text: text for text in (FIRST, LAST)]
    rows = br.bench(models, num_games=1, output_dir=tmp_path).rows()
    assert sorted(row["strategy"] for row in rows) == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


def test_an_object_that_counts_its_calls_is_still_the_same_model(tmp_path):
    speaker = Speaker(FIRST)
    br.bench(speaker, num_games=3, output_dir=tmp_path)
    assert br.bench(speaker, num_games=3, output_dir=tmp_path).outcome.found == speaker.calls == 3


def test_a_function_that_counts_its_calls_is_still_the_same_model(tmp_path):
    calls = 0

    def count(prompt):
        nonlocal calls
        calls += 1
        return FIRST

    br.bench(count, num_games=3, output_dir=tmp_path)
    assert br.bench(count, num_games=3, output_dir=tmp_path).outcome.found == calls == 3


def test_two_models_of_one_name_do_not_answer_for_each_other(tmp_path):
    seats = {"row": make_model("ANSWER: cooperate"), "col": make_model("ANSWER: defect")}
    with pytest.raises(UsageError, match="two models are called model"):
        br.simulate(DILEMMA, seat=seats, output_dir=tmp_path)
    with pytest.raises(SettingError, match="two have the same label among model, model"):
        br.bench([make_model(FIRST), make_model(LAST)], num_games=2, output_dir=tmp_path)
    with pytest.raises(SettingError, match="a name occurs twice"):
        br.stories.bench([make_model(FIRST), make_model(LAST)], count=1, output_dir=tmp_path)


def test_one_function_may_sit_in_two_seats(tmp_path):
    model = make_model("ANSWER: cooperate")
    run = br.simulate(DILEMMA, seat={"row": model, "col": model}, repeats=1, output_dir=tmp_path)
    assert [row["payoff"] for row in run.rows()] == [3.0, 3.0]  # both cooperate


def test_a_way_of_asking_that_is_named_twice_is_refused_because_it_would_be_planned_twice(tmp_path):
    with pytest.raises(SettingError, match="elicit: a name occurs twice"):
        br.bench(make_model(FIRST), num_games=2, elicit=["mixed", "mixed"], output_dir=tmp_path)


def test_a_model_with_the_name_of_a_strategy_is_refused_because_the_strategy_would_play(tmp_path):
    with pytest.raises(UsageError, match="uniform is the name of a strategy of prisoners-dilemma"):
        br.simulate(DILEMMA, seat={"row": uniform, "col": "always:defect"}, output_dir=tmp_path)


def test_strategies_of_one_text_with_another_move_in_it_play_tournaments_of_their_own(tmp_path):
    def play(move):
        run = br.tournament(
            DILEMMA, [make_strategy(move), "tit-for-tat"], rounds=5, output_dir=tmp_path
        )
        return {row["name"]: row["per_round"] for row in run.rows()}

    assert play("cooperate") == {"constant": 3.0, "tit-for-tat": 3.0}
    # Who defects gets 5 + 4 x 1 = 9 of tit for tat in 5 rounds and 1 a round of itself: (1.8 + 1) /
    # 2. Tit for tat gets 0 + 4 x 1 = 4 of it in 5 rounds and 3 a round of itself: (0.8 + 3) / 2.
    assert play("defect") == pytest.approx({"constant": 1.4, "tit-for-tat": 1.9})


def test_a_part_says_in_its_summary_and_its_report_which_part_it_is(tmp_path):
    run = br.bench(make_model(FIRST), num_games=8, shard="1/2", output_dir=tmp_path)
    assert 0 < len(run.rows()) == run.total < 8
    assert json.loads((run.path / "summary.json").read_text("utf-8"))["shard"] == "1/2"
    assert run.report().subtitle.endswith(" (part 1/2 of the run only)")
    # all of the part was played: the same command would play nothing
    assert "planned plays are not finished" not in run.report_as_json()


def test_a_whole_run_is_no_part(tmp_path):
    run = br.bench(make_model(FIRST), num_games=2, output_dir=tmp_path)
    assert run.summary()["shard"] is None
    assert "of the run only" not in run.report().subtitle


def test_parts_with_gaps_that_are_merged_into_one_of_them_are_not_complete(tmp_path):
    parts = [
        br.bench(
            make_model(FIRST),
            num_games=12,
            seed=1,
            shard=f"{number}/3",
            output_dir=tmp_path / str(number),
        )
        for number in (1, 2)
    ]
    count = sum(len(part.rows()) for part in parts)
    with pytest.warns(UserWarning, match="lacks plays; merge the other parts too, or play them"):
        merged = br.merge_runs([part.path for part in parts], tmp_path / "1")
    assert not merged.complete
    assert not br.load_run(tmp_path / "1").complete
    # the files of the part that was there are those of both now
    summary = json.loads((merged.path / "summary.json").read_text("utf-8"))
    assert (summary["answered"], summary["complete"], summary["shard"]) == (count, False, None)


def test_a_run_in_which_no_answer_could_be_read_says_so(tmp_path):
    with pytest.warns(UserWarning, match="has a result to compute metrics from"):
        run = br.bench(make_model("I do not know."), num_games=2, output_dir=tmp_path)
    assert (run.complete, run.answered) == (True, 0)


def test_two_folders_of_one_name_with_other_plays_in_them_are_not_taken_for_one_run(tmp_path):
    draws = random.Random(1)

    def coin(prompt):
        return f"ANSWER: {draws.choice(['cooperate', 'defect'])}"

    first, second = (
        br.simulate(
            DILEMMA,
            seat={"row": coin, "col": "always:defect"},
            repeats=9,
            output_dir=tmp_path / name,
        ).path
        for name in ("first", "second")
    )
    with pytest.raises(
        SettingError, match=f"two folders called {first.name} hold different plays; rename one"
    ):
        br.behave([first, second], output_dir=tmp_path)
    renamed = second.rename(second.with_name("again"))
    described = br.behave([first, renamed], output_dir=tmp_path)
    assert described.answered == 36  # 2 seats x 9 plays x 2 runs
    assert br.behave([first, first], output_dir=tmp_path).answered == 18


def test_the_extreme_equilibria_of_a_continuum_are_not_called_all_equilibria():
    # column is indifferent between a1 and a2, and so is every mix of the two an equilibrium
    assert repr(br.nash([[1, 2, 3]], [[1, 3, 3]])).startswith(
        "NashResult(all extreme equilibria: 2, "
    )


def test_a_model_that_ends_its_thread_fails_instead_of_being_waited_for(tmp_path):
    def leave(prompt):
        raise SystemExit(3)

    with pytest.raises(ModelUnavailable, match="the function of leave failed: SystemExit: 3"):
        br.bench(
            br.models.from_function("leave", leave, concurrency=2),
            num_games=2,
            workers=2,
            output_dir=tmp_path,
        )


def test_a_comparison_of_different_games_is_false():
    assert not br.compare(DILEMMA, "stag-hunt")
    assert br.compare([[3, 0], [5, 1]], [[6, 0], [10, 2]])  # all payoffs doubled


def test_a_solution_that_is_far_from_an_equilibrium_says_how_far():
    rough = br.solve("kuhn-poker", method="cfr", iterations=1)
    # After one iteration both play uniformly. The game is worth -1/18 to the first, and uniform
    # play 1/8.
    assert rough.value == pytest.approx(1 / 8)
    assert (
        repr(rough)
        == f"Solution('kuhn-poker', 1 equilibrium: mixed; regret up to {rough.solved.regret:.2g})"
    )
    assert "regret" not in repr(br.solve("kuhn-poker"))


def test_a_tournament_counts_the_plays_with_a_result_and_not_those_who_take_part(tmp_path):
    answers = chain(["I do not know."], repeat("ANSWER: cooperate"))

    def once_silent(prompt):
        return next(answers)

    # Against itself its first answer is of no use; the plays in either seat against the defector
    # have results.
    run = br.tournament(DILEMMA, [once_silent, "defector"], rounds=1, output_dir=tmp_path)
    assert (run.total, run.answered, run.complete) == (3, 2, True)


def test_a_study_of_recorded_plays_is_not_called_a_part_of_itself(tmp_path):
    played = br.simulate(
        DILEMMA, seat={"row": "uniform", "col": "uniform"}, repeats=2, output_dir=tmp_path
    )
    with pytest.raises(UsageError, match="this behave has no plays to share out"):
        br.behave([played.path], shard="1/2", output_dir=tmp_path)
