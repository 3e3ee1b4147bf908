"""Participants read whole sentences: roles have articles, and moves are verbs."""

from random import Random

import pytest

from bestresponse.games.haggling.rules import Haggling, HiddenHaggling
from bestresponse.games.lookup import find_game
from bestresponse.games.quiz import make_quiz
from bestresponse.telling.language import find_home, load_language
from bestresponse.telling.render import word_rules


def introduce(name, role, language):
    game = find_game(name).playable()
    spoken = load_language(language).within("bestresponse.theory.catalogue")
    return word_rules(game, game.view(game.start(), role), spoken).split("\n\n")[0]


def ask(game, role, language="en"):
    spoken = load_language(language).within(find_home(game))
    return [(spoken.tell(one.text), one.answer) for one in make_quiz(game, role, Random(1))]


@pytest.mark.parametrize(
    ("name", "role", "english", "german"),
    [
        (
            "ultimatum",
            "proposer",
            "You are the proposer. You play with the responder.",
            "Sie sind der Anbieter. Mit Ihnen spielt der Antwortende.",
        ),
        (
            "prisoners-dilemma",
            "row",
            "You are row. You play with col. You both choose at the same time; neither sees the"
            " other's choice beforehand.",
            "Sie sind Seite A. Mit Ihnen spielt Seite B. Sie wählen beide gleichzeitig; niemand"
            " sieht vorher, was die andere Seite wählt.",
        ),
        (
            "public-goods-punishment",
            "player 2",
            "You are player 2. You play with player 1, player 3 and player 4.",
            "Sie sind Teilnehmer 2. Mit Ihnen spielen Teilnehmer 1, Teilnehmer 3 und Teilnehmer 4.",
        ),
    ],
)
def test_people_are_introduced_in_sentences(name, role, english, german):
    assert introduce(name, role, "en") == english
    assert introduce(name, role, "de") == german


def test_whoever_moves_has_an_article_and_answers_are_verbs():
    game = find_game("ultimatum").playable()
    assert ask(game, "responder")[0] == (
        "If the proposer offers 2 and you accept, how much do you get?",
        2.0,
    )
    assert ask(game, "proposer", "de")[0] == (
        "Angenommen, Sie bieten 2 an und der Antwortende nimmt an. Wie viel bekommen Sie?",
        8.0,
    )


def test_questions_about_haggling_end_with_a_deal():
    # 25 - 12, and 0.7 * (35 - 12) after one offer that was not accepted
    first, second = ask(Haggling(), "seller")
    assert first == (
        "If it is worth 12 to you, you offer 25 and the buyer accepts, how much do you get?",
        13.0,
    )
    assert second[0] == (
        "If it is worth 12 to you, you offer 45, the buyer offers 35 and you accept, how much do"
        " you get?"
    )
    assert second[1] == pytest.approx(0.7 * 23)
    assert "der Käufer nimmt an" in ask(HiddenHaggling(), "seller", "de")[0][0]
