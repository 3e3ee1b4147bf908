"""Questions that follow from the answers so far: theory alone says which one tells most."""

import re
from math import exp, log

import numpy as np
import pytest
from scipy.stats import kendalltau

import bestresponse as br
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.runs.gate import check_conditions
from bestresponse.runs.leaderboard import write_leaderboard
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench, plan_questions


def plan(game="tic-tac-toe", count=30, difficulty="adaptive"):
    config = BenchConfig(model="random", game=game, num_games=count, difficulty=difficulty)
    return plan_questions(config)


def find_shares(plan, number):
    """What moves lose as a share of what the worst one loses, by name."""
    values = plan.find_values(number)
    worths = values.worths[0]
    return dict(zip(values.answers, (worths.max() - worths) / np.ptp(worths), strict=True))


def choose_by_logit(plan, number, precision, rng):
    shares = find_shares(plan, number)
    odds = np.array([exp(-precision * share) for share in shares.values()])
    return str(rng.choice(list(shares), p=odds / odds.sum()))


def test_precision_is_what_the_chances_of_the_answers_say():
    """Bayes' rule over 46 precisions that were alike before, by loops over plain numbers."""
    asked = plan(count=6)
    answers = ()
    for turn in range(6):
        number = asked.choose(answers)
        shares = sorted(find_shares(asked, number).items(), key=lambda one: one[1])
        answers = (*answers, (number, shares[0 if turn % 3 else -1][0]))
    assert len({number for number, _ in answers}) == 6
    grid = [0.3 * 1000 ** (k / 45) for k in range(46)]
    likely = []
    for precision in grid:
        chance = 1.0
        for number, move in answers:
            shares = find_shares(asked, number)
            odds = {name: exp(-precision * share) for name, share in shares.items()}
            chance *= odds[move] / sum(odds.values())
        likely.append(chance)
    mean = sum(chance * log(x) for chance, x in zip(likely, grid, strict=True)) / sum(likely)
    found = asked.measure_skill(answers)
    assert found.estimate == pytest.approx(exp(mean))
    assert found.low < found.estimate < found.high


def test_the_next_position_is_where_chances_change_most_with_the_precision():
    """Fisher's information is the expected square of what a log chance gains with log precision."""
    asked = plan(count=4)
    step = 1e-4
    grid = [0.3 * 1000 ** (k / 45) for k in range(46)]

    def log_chances(number, precision):
        shares = np.array(list(find_shares(asked, number).values()))
        logs = -precision * shares
        return logs - np.log(np.exp(logs).sum())

    told = []
    for number in asked.decisions:
        total = 0.0
        for x in grid:
            slope = log_chances(number, x * exp(step)) - log_chances(number, x * exp(-step))
            total += np.exp(log_chances(number, x)) @ (slope / (2 * step)) ** 2
        told.append(total)
    assert told[asked.choose(())] == pytest.approx(max(told), rel=1e-6)


def test_ten_players_are_ordered_by_a_third_of_the_questions():
    """Players of precisions 1 to 60: Kendall's correlation with the truth, mean of 20 draws."""
    adaptive, plain = plan(count=30), plan(count=90, difficulty="any")
    players = np.geomspace(1, 60, 10)
    orders = {"adaptive": [], "plain": []}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        skills, regrets = [], []
        for precision in players:
            answers = ()
            for _ in range(30):
                number = adaptive.choose(answers)
                answers = (*answers, (number, choose_by_logit(adaptive, number, precision, rng)))
            skills.append(adaptive.measure_skill(answers).estimate)
            lost = []
            for number in plain.decisions:
                move = choose_by_logit(plain, number, precision, rng)
                lost.append(find_shares(plain, number)[move])
            regrets.append(-np.mean(lost))
        orders["adaptive"].append(kendalltau(players, skills)[0])
        orders["plain"].append(kendalltau(players, regrets)[0])
    assert np.mean(orders["adaptive"]) > np.mean(orders["plain"]) - 0.01
    assert np.mean(orders["adaptive"]) > 0.8


def make_model(name, silent=0):
    """Answers with the first legal move, but says nothing to every prompt that `silent` divides."""
    asked = []

    def reply(prompt):
        asked.append(prompt)
        first = re.search(r"is one of (\w\d)", prompt)[1]
        return "" if silent and len(asked) % silent == 0 else f"ANSWER: {first}"

    reply.__name__ = name
    return reply, asked


def test_an_answer_that_cannot_be_read_is_passed_over(tmp_path):
    model, asked = make_model("first", silent=3)
    run = br.bench(
        model, "tic-tac-toe", num_games=6, difficulty="adaptive", style="line", output_dir=tmp_path
    )
    ((heads, figures),) = run.metrics.groups
    assert heads == ("first", "pure")
    rows = run.frame("plays").rows
    assert len(rows) == len(asked) == 6
    assert len({row["decision"] for row in rows}) == 6
    assert (figures["asked"], figures["answered"]) == (6, 4)
    assert not any(re.search(r"\bpass\b", prompt) for prompt in asked)
    replayed = br.load_run(run.path).replay()
    assert (replayed.same, replayed.different) == (1, ())


def test_an_adaptive_run_enters_no_mean_difference_gate_or_leaderboard_of_plain_ones(tmp_path):
    settings = {"num_games": 6, "output_dir": tmp_path}
    adaptive = br.bench(
        ["equilibrium", "uniform"], "tic-tac-toe", difficulty="adaptive", **settings
    )
    plain = br.bench(["equilibrium", "uniform"], "tic-tac-toe", **settings)
    _, figures = adaptive.metrics.groups[0]
    assert {name for name, value in figures.items() if value is not None} == {
        "precision",
        "asked",
        "answered",
    }
    assert plain.metrics.groups[0][1]["regret"] is not None
    assert list(bench.compared.values(adaptive.config, adaptive.results)) == []
    _, document = write_leaderboard([tmp_path], tmp_path)
    assert [len(table.rows) for _, table in document.tables] == [2]
    notes = " ".join(note.text for note in document.opening)
    assert f"{adaptive.path.name} is left out" in notes
    compared = br.compare_runs(plain, adaptive)
    assert {row["metric"] for row in compared.differences} <= {"asked", "answered"}
    with pytest.raises(UsageError, match="regret"):
        check_conditions(["regret - baseline > 0"], adaptive, plain)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"elicit": "mixed"}, "elicit: an adaptive run asks for moves"),
        ({"recognise": True}, "recognise: an adaptive run asks for moves alone"),
        ({"game": "kuhn-poker"}, "difficulty: this has no effect on a game played in turn"),
    ],
)
def test_what_an_adaptive_run_cannot_ask_is_refused(changes, sentence):
    with pytest.raises(SettingError, match=sentence):
        BenchConfig(**{"model": "m", "game": "tic-tac-toe", "difficulty": "adaptive", **changes})
