"""Everything that the Python interface returns shows itself: in one short line, and as a table in a
notebook."""

import pytest

import bestresponse as br
from bestresponse.core.errors import StoreError
from bestresponse.theory.games.normal_form import NormalForm

LONGEST = 200


def answer(prompt):
    return '{"A": 1, "B": 0, "C": 0}'


SHOWN = {
    "check": lambda folder: br.check("payoff(ann, 1)."),
    "metrics": lambda folder: br.simulate("stag-hunt", repeats=2, output_dir=folder).metrics,
    "formalize": lambda folder: br.formalize(
        "A story", lambda prompt: "no game " * 100, output_dir=folder
    ),
    "nash": lambda folder: br.nash("stag-hunt"),
    "normal form": lambda folder: NormalForm([[[0.0] * 20] * 20] * 2),
    "play": lambda folder: br.play("prisoners-dilemma", ["random", "random"]),
    "run": lambda folder: br.bench(answer, num_games=2, seed=1, output_dir=folder),
    "solve": lambda folder: br.solve("kuhn-poker"),
    "verify": lambda folder: br.verify(
        "stag-hunt", "If both hunt stag, I get 4. Hare dominates stag." * 20
    ),
}


@pytest.mark.parametrize("name", list(SHOWN))
def test_a_value_shows_itself_in_one_short_line_and_as_html(name, tmp_path):
    shown = SHOWN[name](tmp_path)
    assert len(repr(shown)) <= LONGEST
    assert "\n" not in repr(shown)
    assert shown._repr_html_().startswith("<p>")


@pytest.mark.parametrize("name", ["stag-hunt", "kuhn-poker", "water"])
def test_a_game_shows_itself_in_one_short_line(name):
    assert len(repr(br.find_game(name))) <= LONGEST


def test_a_review_says_what_is_refuted():
    review = br.verify("prisoners-dilemma", "If I defect and you cooperate, I get 1.")
    assert repr(review) == "Review(1 refuted; 1 claim read, 0 of 1 sentence unread)"
    assert "<td>refuted</td><td>If you choose defect" in review._repr_html_()


def test_a_run_of_a_function_without_a_name_is_replayed(tmp_path):
    run = br.bench(lambda prompt: answer(prompt), num_games=2, seed=1, output_dir=tmp_path)
    assert (run.replay().same, run.replay().different) == (2, ())


def test_another_function_of_the_same_name_does_not_get_the_first_ones_results(tmp_path):
    def player(prompt):
        return '{"A": 1, "B": 0, "C": 0}'

    br.bench(player, num_games=2, seed=1, output_dir=tmp_path)

    def player(prompt):
        return '{"A": 0, "B": 1, "C": 0}'

    with pytest.raises(
        StoreError,
        match="another function called player; rename yours, or choose another output_dir",
    ):
        br.bench(player, num_games=2, seed=1, output_dir=tmp_path)
