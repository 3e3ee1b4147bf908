"""The user's own models and games: an object with `query(game)`, a list or a batch of games."""

import json

import numpy as np
import pytest

import bestresponse as br
from bestresponse.core.errors import BestResponseError, ModelUnavailable, SettingError, UsageError
from bestresponse.models.base import Message, Request
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.theory import generate
from bestresponse.theory.games.normal_form import NormalForm

PENNIES = NormalForm.zero_sum([[1, -1], [-1, 1]])
WIDE = NormalForm.zero_sum([[4, 1, 3], [2, 0, 5]])
STAG = NormalForm.bimatrix([[4, 0], [3, 3]], [[4, 3], [0, 3]])


class Answering:
    """Returns what it was made with, and keeps the games that it was asked about."""

    def __init__(self, answer):
        self.answer = answer
        self.seen = []

    def query(self, game):
        self.seen.append(game)
        return self.answer(game) if callable(self.answer) else self.answer


def bench(tmp_path, model, games, **settings):
    return br.bench(model, games, output_dir=tmp_path, plain=True, **settings)


def test_every_game_of_a_list_is_asked_about_once_whatever_its_size(tmp_path):
    player = Answering(lambda game: int(game.payoffs.min(axis=1).argmax()))
    run = bench(tmp_path, player, [PENNIES, WIDE, STAG])
    assert [
        game.payoffs.tolist() for game in sorted(player.seen, key=lambda game: game.payoffs.sum())
    ] == [
        [[1, -1], [-1, 1]],
        [[4, 0], [3, 3]],
        [[4, 1, 3], [2, 0, 5]],
    ]
    rows = {row["game"]: row for row in run.rows()}
    # 1 is the least of its row and the largest of its column: maximin finds the saddle point.
    assert (rows[1]["strategy"], rows[1]["nash_gap"], rows[1]["br_value"]) == ([1, 0], 0, 1)
    assert (rows[0]["nash_gap"], rows[0]["exploitability"]) == (0, 1)
    assert rows[2]["exploitability"] is None
    games = {row["game"]: row for row in run.frame("games").select(player="Answering / mixed")}
    assert [games[k]["equilibrium"] for k in (0, 1)] == ["mixed", "pure"]
    assert (games[1]["rows"], games[1]["cols"], games[1]["value"]) == (2, 3, 1)
    assert {row["player"] for row in run.frame("games")} > {"uniform", "equilibrium"}


def test_a_batch_that_was_drawn_is_a_list_of_games(tmp_path):
    batch = generate("zero-sum", 5, (3, 3), seed=7)
    run = br.bench("random", batch, output_dir=tmp_path)
    results = json.loads(next(run.path.glob("benchmark_results_*.json")).read_text())
    assert [result["payoff_matrix"] for result in results] == batch.row.tolist()


def test_a_list_is_kept_with_the_run_and_is_read_again(tmp_path):
    run = bench(tmp_path, lambda prompt: "ANSWER: 1, 0", [PENNIES, STAG], elicit="mixed")
    loaded = br.load_run(run.path)
    assert loaded.config.game == run.config.game
    assert loaded.replay().same == 2
    assert "on 2 given games" in loaded.report().subtitle


def test_names_of_players_and_actions_are_those_of_each_game(tmp_path):
    named = NormalForm(PENNIES.payoffs, ("Ann", "Bob"), (("heads", "tails"), ("left", "right")))
    player = Answering(0)
    bench(tmp_path, player, [named, WIDE])
    first = min(player.seen, key=lambda game: game.payoffs.size)
    assert (first.actions, first.other_actions) == (("heads", "tails"), ("left", "right"))
    assert "heads" in first.prompt


def test_fewer_games_of_a_list_are_its_first_ones(tmp_path):
    run = br.bench("random", [PENNIES, WIDE, STAG], num_games=1, output_dir=tmp_path)
    assert [row["game"] for row in run.rows()] == [0]


def test_names_of_games_may_stand_in_a_list(tmp_path):
    run = br.bench("random", ["matching-pennies", "rock-paper-scissors"], output_dir=tmp_path)
    assert [row["rows"] for row in sorted(run.rows(), key=lambda row: row["game"])] == [2, 3]


@pytest.mark.parametrize(
    ("games", "sentence"),
    [
        ([], "game: expected at least one game, got an empty list"),
        (
            [PENNIES, "kuhn-poker"],
            "game: a list of games holds payoff tables of two players; game 2 is played in turn",
        ),
        (
            [PENNIES, NormalForm(np.zeros((3, 2, 2, 2)))],
            (
                "game: a list of games holds payoff tables of two players; game 2 has 3 players:"
                " bench it by itself"
            ),
        ),
        (
            generate("uniform", 2, (2, 2, 2)),
            "game: a list of games holds payoff tables of two players; game 1 has 3",
        ),
        (
            [PENNIES, NormalForm.zero_sum(np.zeros((2, 13)))],
            "game: expected at most 12 actions; game 2 has 13",
        ),
        (
            [PENNIES, 7],
            (
                "game: game 2 of the list: expected a game, its name, a file or a payoff matrix,"
                " got 7"
            ),
        ),
        (
            [PENNIES, "no-such-game"],
            "game: game 2 of the list: there is no game or file named 'no-such-game'",
        ),
        (
            [np.eye(2), 5],
            "game: game 2 of the list: expected a game, its name, a file or a payoff matrix",
        ),
        (
            [np.eye(2), "kuhn-poker"],
            "game: a list of games holds payoff tables of two players; game 2 is played in turn",
        ),
        (
            [np.array([[np.nan, 1], [1, 2]])],
            "game: game 1 of the list: matrix: expected finite numbers, got nan at [0, 0]",
        ),
    ],
)
def test_a_list_of_games_of_different_kinds_is_refused_with_a_sentence(games, sentence):
    with pytest.raises(SettingError) as error:
        BenchConfig("m", games)
    assert str(error.value).startswith(sentence)


def test_settings_of_drawn_games_do_nothing_for_a_list():
    with pytest.raises(SettingError, match="num_rows: this has no effect on a list of games"):
        BenchConfig("m", [PENNIES], num_rows=5)
    with pytest.raises(SettingError, match="num_games: there are 2 games in the list, not 3"):
        BenchConfig("m", [PENNIES, STAG], num_games=3)
    with pytest.raises(SettingError, match="suite: sensitivity draws games of other sizes"):
        BenchConfig("m", [PENNIES], suite="sensitivity")


def test_lists_of_numbers_are_the_table_of_one_game_as_ever():
    assert BenchConfig("m", [[1, -1], [-1, 1]]).num_games == 4
    assert BenchConfig("m", np.zeros((3, 3))).num_games == 24
    rows, columns = np.array([[3, 0], [5, 1]]), np.array([[3, 5], [0, 1]])
    both = BenchConfig("m", {"tables": [rows, columns]})
    assert both.form.payoffs.tolist() == [[[3, 0], [5, 1]], [[3, 5], [0, 1]]]
    assert BenchConfig("m", {"row": rows, "col": columns}).form == both.form


@pytest.mark.parametrize("size", [2, 3])
def test_as_many_arrays_as_players_may_be_one_game_or_several_and_are_refused(size):
    arrays = [np.eye(size), np.ones((size, size))]
    with pytest.raises(SettingError, match="2 arrays of one shape may be one game or 2 games"):
        BenchConfig("m", arrays)
    with pytest.raises(
        BestResponseError, match=f"numbers of sizes 2 x {size} x {size} may be cells"
    ):
        BenchConfig("m", np.stack(arrays))
    games = [br.NormalForm.zero_sum(array) for array in arrays]
    assert BenchConfig("m", games).game.count == 2


@pytest.mark.parametrize(
    ("games", "shapes"),
    [
        ([np.eye(2)], [(2, 2)]),
        ([np.eye(2), np.eye(3)], [(2, 2), (3, 3)]),
        ([np.eye(2), np.eye(2), np.eye(2)], [(2, 2)] * 3),
        ([np.eye(2), "matching-pennies"], [(2, 2)] * 2),
        ([{"tables": np.zeros((2, 2, 3))}, np.eye(2)], [(2, 3), (2, 2)]),
    ],
)
def test_arrays_that_are_not_one_game_together_are_a_list(games, shapes):
    given = BenchConfig("m", games).game
    assert [form.shape for form in given.forms] == shapes


@pytest.mark.parametrize(
    ("answer", "strategy"),
    [
        (1, [0, 1]),
        (np.int64(0), [1, 0]),
        ([0.25, 0.75], [0.25, 0.75]),
        (np.array([0.5, 0.5]), [0.5, 0.5]),
        ({"B": 1.0}, [0, 1]),
        ("I have thought about it.\nANSWER: A: 0.25, B: 0.75", [0.25, 0.75]),
    ],
    ids=repr,
)
def test_an_index_probabilities_or_a_text_are_read(tmp_path, answer, strategy):
    run = br.bench(Answering(answer), num_games=1, num_rows=2, output_dir=tmp_path)
    assert run.rows()[0]["strategy"] == strategy
    assert run.rows()[0]["status"] == "valid"
    assert br.load_run(run.path).replay().same == 1


NUMBERS = [2, -1, True, 0.5]
OTHERS = [
    None,
    [0.5],
    ["A", "B"],
    [0.9, 0.9],
    [float("nan"), 1.0],
    {"Z": 1.0},
    object(),
    "no idea",
]


@pytest.mark.parametrize(
    ("theme", "answer"),
    [
        *(("numbers", answer) for answer in NUMBERS),
        *(("neutral", answer) for answer in OTHERS),
        *(pytest.param("neutral", answer, marks=pytest.mark.soak) for answer in NUMBERS),
        *(pytest.param("numbers", answer, marks=pytest.mark.soak) for answer in OTHERS),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
@pytest.mark.filterwarnings("ignore:no play of")
def test_nonsense_is_an_answer_that_cannot_be_read_and_the_run_goes_on(tmp_path, theme, answer):
    how = "illegal" if answer == [0.9, 0.9] else "unparseable"
    run = br.bench(Answering(answer), num_games=2, num_rows=2, theme=theme, output_dir=tmp_path)
    assert [row["status"] for row in run.rows()] == [how] * 2
    assert run.complete


def test_one_action_is_wanted_where_a_pure_answer_is_asked_for(tmp_path):
    answers = iter([1, [0.0, 1.0], [0.5, 0.5]])
    run = br.bench(
        Answering(lambda game: next(answers)),
        num_games=3,
        num_rows=2,
        elicit="pure",
        workers=1,
        output_dir=tmp_path,
    )
    rows = sorted(run.rows(), key=lambda row: row["game"])
    assert [row["strategy"] for row in rows] == [[0, 1], [0, 1], None]
    assert rows[2]["status"] == "unparseable"


def test_the_column_player_sees_its_own_actions_as_rows(tmp_path):
    player = Answering(lambda game: [1.0, 0.0, 0.0])
    br.bench(player, [WIDE], seat="col", output_dir=tmp_path)
    (game,) = player.seen
    assert (game.seat, game.payoffs.tolist()) == (1, [[-4, -2], [-1, 0], [-3, -5]])
    assert game.other_payoffs.tolist() == [[4, 2], [1, 0], [3, 5]]


class Failing:
    """Answers a few times and then raises."""

    def __init__(self, times):
        self.left = times

    def query(self, game):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("out of order")
        return 0


def test_a_query_that_raises_is_told_and_what_was_answered_is_kept(tmp_path):
    with pytest.warns(
        UserWarning, match="the function of Failing failed: RuntimeError: out of order"
    ):
        run = br.bench(Failing(3), num_games=5, seed=2, output_dir=tmp_path, workers=1)
    assert (run.answered, run.complete) == (3, False)
    again = br.bench(Failing(99), num_games=5, seed=2, output_dir=tmp_path, workers=1)
    assert (again.path, again.answered, again.complete) == (run.path, 5, True)


def test_a_query_that_always_raises_is_one_sentence(tmp_path):
    with pytest.raises(ModelUnavailable, match="out of order"):
        br.bench(Failing(0), num_games=5, output_dir=tmp_path)


def test_calls_of_query_count_towards_the_limit(tmp_path):
    with pytest.warns(UserWarning, match="not everything was played"):
        run = br.bench(Answering(0), num_games=5, budget="2 calls", output_dir=tmp_path, workers=1)
    assert run.answered == 2


def test_a_class_instead_of_an_object_is_refused():
    with pytest.raises(
        UsageError, match=r"Failing is a class; give an object of it, such as Failing\(\)"
    ):
        BenchConfig(Failing)


def test_an_object_may_say_its_name(tmp_path):
    player = Answering(0)
    player.name = "my model"
    run = br.bench(player, num_games=1, output_dir=tmp_path)
    assert run.summary()["metrics"][0]["player"] == "my model"


def test_a_question_about_no_table_is_refused_with_a_sentence(tmp_path):
    with pytest.raises(
        BestResponseError, match=r"Answering answers payoff tables by query\(game\)"
    ):
        br.bench(Answering(0), "kuhn-poker", output_dir=tmp_path)


def test_what_a_request_is_about_is_not_compared():
    plain = Request((Message("user", "?"),))
    told = Request((Message("user", "?"),), facts={"seat": 0})
    assert told == plain
