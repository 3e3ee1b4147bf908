"""A game of a package is a full citizen: quiz, named rivals, equilibrium, and what every answer
cost."""

from pathlib import Path

import pytest
from plugins import lay_example

from bestresponse.analysis.truth import find_truth, judge_decisions
from bestresponse.api.prompts import write_prompts
from bestresponse.core.capabilities import Question
from bestresponse.core.conformance import Broken, check_game
from bestresponse.core.episode import Episode
from bestresponse.core.player import Decision
from bestresponse.games.kit import check_game as check_folder
from bestresponse.players.lookup import find_strategy, list_strategies
from bestresponse.telling.render import word_rules, write_history, write_rules
from bestresponse.web.services.seat import describe_equilibria, make_questions
from bestresponse.web.sessions.setup import GameChoice, list_homes, make_game
from bestresponse.web.texts import load_texts

EXAMPLE = Path(__file__).parents[3] / "examples" / "plugins" / "game"
CHOICE = GameChoice("race-to-ten")


@pytest.fixture
def race(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(lay_example(EXAMPLE, tmp_path))
    return make_game(CHOICE)


def play(game, *moves):
    episode = Episode(game)
    for number, move in enumerate(moves):
        episode.submit(game.roles[number % 2], Decision(move))
    return episode.record({})


def test_it_keeps_the_promises_of_games_and_brings_its_quiz(race):
    check_game(race)
    assert make_questions(race, 0, 3) == (
        Question("The sum is 8 and you add 2. How much do you get?", 1.0),
    )


def test_its_own_strategy_is_offered_first_and_beats_all_others(race):
    assert list_strategies(race)[0] == "multiples"
    assert "equilibrium" in list_strategies(race)
    view = race.view((1, 2), "player 1")
    assert (
        find_strategy("multiples", race, "player 1", 0)
        .decide(view, race.asks((1, 2))["player 1"])
        .action
        == "1"
    )


def test_its_end_is_told_beside_the_equilibrium_and_mistakes_cost(race):
    record = play(race, "2", "2", "1", "2", "1", "2")
    prices = judge_decisions(record, race, find_truth(race))
    assert {number: priced.least for number, priced in prices.items()} == {
        1: 2.0,
        2: 0.0,
        3: 0.0,
        4: 0.0,
        5: 0.0,
        6: 0.0,
    }
    perfect, table, payoffs = (
        describe_equilibria(CHOICE, record)[0],
        *describe_equilibria(CHOICE, record)[-2:],
    )
    assert perfect.text.startswith("In a subgame-perfect equilibrium")
    assert table.rows[0] == ("player 1", "The sum is 0, added so far: nothing.", "2", "1")
    assert payoffs.rows[1] == ("in equilibrium, on average", "1", "-1")


@pytest.fixture
def split(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(lay_example(EXAMPLE, tmp_path))
    return make_game(GameChoice("split-or-steal"))


def test_a_game_that_states_its_rules_is_told_in_german(split):
    check_game(split)
    told = write_rules(split.view(split.start(), "player 1"), "de")
    assert "Sie können wählen: split, steal." in told


def test_a_payoff_that_is_stated_wrongly_is_found(split, monkeypatch):
    right = split.payoffs

    def pay_less(state):
        return {**right(state), "player 2": 7.0} if state == ("split", "steal") else right(state)

    monkeypatch.setattr(split, "payoffs", pay_less)
    with pytest.raises(AssertionError, match="what split-or-steal states is not what it does"):
        check_game(split)


def test_a_game_in_one_folder_is_told_in_its_languages(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(lay_example(EXAMPLE, tmp_path))
    choice = GameChoice("eleven-twenty")
    game = make_game(choice)
    check_folder(game)
    german = load_texts("de").within(list_homes(choice)).language
    state = game.apply((), {"player 1": 19.0, "player 2": 20.0})
    assert game.payoffs(state) == {"player 1": 39.0, "player 2": 20.0}
    view = game.view(state, "player 1")
    assert write_history(view) == ("The game is over: you asked for 19, player 2 asked for 20.")
    assert write_history(view, german) == (
        "Das Spiel ist zu Ende: Sie haben 19 verlangt, Teilnehmer 2 hat 20 verlangt."
    )
    assert "von 11 bis 20 und bekommen, was sie verlangen" in word_rules(game, view, german)
    kept = (EXAMPLE / "eleven_twenty" / "golden.txt").read_text("utf-8")
    assert write_prompts("eleven-twenty") == kept


def test_a_rule_that_pays_otherwise_than_it_tells_is_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(lay_example(EXAMPLE, tmp_path))
    game = make_game(GameChoice("eleven-twenty"))
    monkeypatch.setattr(type(game), "payoffs", lambda self, state: dict.fromkeys(self.roles, 1.0))
    with pytest.raises(Broken, match="after this play is"):
        check_folder(game)
