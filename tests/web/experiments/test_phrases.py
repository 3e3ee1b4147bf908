"""What a game says can be listed, given in other words, and is refused where it is not there."""

import re

import pytest
from typer.testing import CliRunner
from web_server import join

from bestresponse.cli.app import app
from bestresponse.core.errors import UsageError
from bestresponse.telling.render import word_rules
from bestresponse.web.experiments.phrases import list_phrases
from bestresponse.web.experiments.reading import check_experiment, list_remarks, parse_experiment
from bestresponse.web.sessions.setup import GameChoice, list_homes, make_game
from bestresponse.web.texts import load_texts

FILE = """title = "Zwei"
language = "de"
[[games]]
game = "{game}"
seats = ["person", "person"]
{more}
"""


def write_file(game="chicken", more=""):
    return FILE.format(game=game, more=more)


def run(*arguments):
    return CliRunner().invoke(app, ["experiment", *arguments])


def test_the_words_and_sentences_of_a_game_are_printed_as_a_table_for_the_file():
    printed = run("game", "chicken", "--text", "de").output
    assert printed.startswith(
        "# What chicken says; keep the lines that you change.\n[games.text]\n"
        '"row" = "Seite A"\n"col" = "Seite B"\n"swerve" = "ausweichen"\n"straight" = "geradeaus"\n'
    )
    assert '"Your possible actions: $options." = "Sie können wählen: $options."' in printed


@pytest.mark.parametrize("game", ["chicken", "centipede", "matching-pennies"])
def test_the_printed_table_is_accepted_and_changes_nothing(game):
    table = run("game", game, "--text", "de").output
    text = write_file(game, table)
    check_experiment(text)
    (part,) = parse_experiment(text)[1][""]
    made = make_game(GameChoice(game))
    view = made.view(made.start(), made.roles[0])
    german = load_texts("de").within(list_homes(GameChoice(game))).language
    assert word_rules(made, view, part.texts.language) == word_rules(made, view, german)


def test_a_sentence_and_a_word_are_given_in_other_words():
    more = (
        '[games.text]\n"swerve" = "bremsen"\n"Your possible actions: $options." = "Wahl: $options."'
    )
    text = write_file(more=more)
    check_experiment(text)
    (part,) = parse_experiment(text)[1][""]
    game = make_game(GameChoice("chicken"))
    told = word_rules(game, game.view((), "row"), part.texts.language)
    assert "Wahl: bremsen, geradeaus." in told
    assert "ausweichen" not in told


@pytest.mark.parametrize(
    ("game", "more", "why"),
    [
        (
            "trust",
            '[games.text]\n"sendr" = "Geber"',
            "line 7: the game game 1: it says nothing like 'sendr'. Did you mean sender",
        ),
        (
            "chicken",
            '[games.text]\n"proposer" = "A"',
            "line 7: the game game 1: it says nothing like 'proposer'",
        ),
        (
            "chicken",
            '[games.text]\n"row" = "Person"\n"col" = "person"',
            "line 8: the game game 1: two roles, 'row' and 'col', are both called 'person';",
        ),
        (
            "chicken",
            '[games.text]\n"swerve" = "geradeaus"',
            "line 7: the game game 1: two moves, 'swerve' and 'straight', are both called",
        ),
    ],
)
def test_what_a_game_does_not_say_and_two_of_one_name_are_refused(game, more, why):
    with pytest.raises(UsageError, match=re.escape(why)):
        check_experiment(write_file(game, more))


def test_a_debriefing_may_be_offered_in_a_german_experiment():
    check_experiment("debrief = true\n" + write_file())


def test_check_lists_what_would_be_read_in_english(tmp_path, monkeypatch):
    german = load_texts("de").within(list_homes(GameChoice("chicken"))).language
    words = dict(german.words)
    del words["swerve"]
    monkeypatch.setitem(german.__dict__, "words", words)
    file = tmp_path / "file.toml"
    file.write_text(write_file())
    printed = run("check", str(file)).output
    assert (
        "In the game game 1 people read these as the game has them: 'swerve'. Give your own words"
        " in [games.text], or the rules as instructions."
    ) in printed.replace("\n", " ")
    assert list_remarks(write_file(more='[games.text]\n"swerve" = "bremsen"')) == []


def test_every_name_of_the_catalogue_games_has_a_german_word():
    german = load_texts("de").within(["bestresponse.theory.catalogue"]).language
    for name in ("prisoners-dilemma", "rock-paper-scissors-lizard-spock", "two-finger-morra"):
        phrases = list_phrases(make_game(GameChoice(name)), german)
        assert [word for word in phrases.words if german.find_word(word) is None] == []


@pytest.mark.parametrize(
    "game",
    ["tic-tac-toe", "nim", "connect-four", "breakthrough", "pig", "liars-dice", "goofspiel"],
)
def test_board_games_and_dice_are_german_as_a_whole_and_moves_such_as_a3xb4_are_no_words(game):
    assert list_remarks(write_file(game)) == []


def test_a_roll_of_pig_and_a_number_of_plays_are_written_as_germans_do():
    pig = load_texts("de").within(list_homes(GameChoice("pig"))).language
    assert (pig.translate("roll"), pig.translate("10,000")) == ("würfeln", "10.000")


def test_whoever_finds_the_study_full_reads_why_in_german(server):
    text = write_file().replace('"person", "person"', '"person", "strategy:random"')
    lobby = server.state.sessions.create_experiment(text.replace("title", "groups = 1\ntitle", 1))
    join(server, lobby, server.client())
    late = join(server, lobby, server.client())
    assert "Alle Plätze sind vergeben" in late.text
    assert "taken" not in late.text
    forged = server.client().get(server.state.join_path(lobby.id)[:-3] + "xxx")
    assert "Dieser Link führt zu keinem Tisch." in forged.text
