"""`bestresponse play`, as a person types it."""

from pathlib import Path

import pytest

from bestresponse.formal.formalize import library


@pytest.fixture
def play(bestresponse):
    """Type `play` and more."""
    return lambda *words, typed="": bestresponse("play", *words, typed=typed)


def test_a_person_plays_the_water_game_and_nonsense_loses_nothing(play, tmp_path):
    done = play(
        "water",
        "--seat",
        "Alex=me",
        "--rounds",
        2,
        "--seed",
        4,
        "--output-dir",
        tmp_path,
        typed="foo\n500\n20\n\n0\n",
    )
    assert done.returncode == 0, done.stderr
    assert "That cannot be played: 'foo' is not a number" in done.stdout
    assert "That cannot be played: 500 is not between 0 and 70" in done.stdout
    assert "You bid $20" in done.stdout
    assert "Alex (me): 1" in done.stdout


def test_a_game_that_was_left_goes_on_with_the_same_command(play, tmp_path):
    words = ("water", "--seat", "Bob=me", "--rounds", 2, "--output-dir", tmp_path)
    left = play(*words, typed="33\nquit\n")
    assert "you left the game; run the same command to resume" in left.stdout
    done = play(*words, typed="44\n")
    assert done.returncode == 0, done.stderr
    assert "going on with" in done.stderr
    assert "You bid $33" in done.stdout
    assert "You bid $44" in done.stdout


def test_a_matrix_game_a_tree_and_a_registered_game_can_be_played(play, tmp_path):
    assert "row (me)" in play("stag-hunt", "--output-dir", tmp_path, typed="hare\n").stdout
    poker = play("kuhn-poker", "--seed", 1, "--output-dir", tmp_path, typed="1\n1\n").stdout
    assert "player 2 (equilibrium)" in poker
    assert "It is your turn. You hold the" in poker
    # cards and moves are told in words, not by the labels of information sets
    cards = "There are 3 cards, from the lowest to the highest: jack, queen and king."
    assert cards in poker.replace("\n", " ")
    assert "What you know" not in poker
    assert "pb" not in poker


def test_a_formalized_game_of_turns_is_played_against_its_equilibrium(play, tmp_path):
    program = Path(library.__file__).parent / "trust.pl"
    done = play(program, "--others", "equilibrium", "--output-dir", tmp_path, typed="lend\n")
    assert done.returncode == 0, done.stderr
    assert "hugo (equilibrium): 6" in done.stdout


def test_the_survival_auction_is_not_taken_for_the_water_game(play, tmp_path):
    done = play("survival-auction", "--rounds", 1, "--output-dir", tmp_path, typed="20\n")
    assert "There is 1 unit of water today." in done.stdout
    assert "player 1 (me): 1" in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["watr"], "Did you mean water"),
        (["water", "--seat", "Zed=me"], "there is no seat 'Zed'; expected one of Alex"),
        (["stag-hunt", "--abundance", "low"], "--abundance belongs to the water game"),
        (
            ["kuhn-poker", "--rounds", "3"],
            "kuhn-poker cannot be repeated, because not all choose once",
        ),
        (["kuhn-poker", "--with", "milk"], "there is no mechanism named 'milk'"),
        (["water", "--abundance", "huge"], "there is no abundance named 'huge'"),
        (["water", "--rounds", "0"], "--rounds: expected a whole number from 1 to 10,000, got 0"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_sentence(play, words, sentence, tmp_path):
    done = play(*words, "--output-dir", tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_the_end_of_the_input_keeps_the_game(play, tmp_path):
    done = play("water", "--rounds", 1, "--output-dir", tmp_path)
    assert done.returncode == 1
    assert "the input has ended; run the same command to resume this game" in done.stdout


def test_codes_for_the_terminal_in_a_game_file_or_a_name_never_reach_the_screen(play, tmp_path):
    game = tmp_path / "game.nfg"
    names = (
        '"red \x1b[31m" { "ann \x1b]0;owned\x07" "bob" } { { "a\x1b[2J" "b" } { "c\x9b2J" "d" } }'
    )
    game.write_text(f"NFG 1 R {names}\n\n1 1 2 2 3 3 4 4\n")
    done = play(game, "--output-dir", tmp_path, typed="b\n")
    assert done.returncode == 0, done.stderr
    wrong = play("no\x1b[31msuch", "--output-dir", tmp_path)
    assert wrong.returncode == 2
    assert not set("\x1b\x07\x9b") & set(done.stdout + done.stderr + wrong.stderr)


def test_a_person_meets_a_strategy_over_rounds_and_sees_what_every_choice_cost(play, tmp_path):
    done = play(
        "prisoners-dilemma",
        "--rounds",
        2,
        "--others",
        "tit-for-tat",
        "--seed",
        1,
        "--output-dir",
        tmp_path,
        typed="defect\ncooperate\n",
    )
    assert done.returncode == 0, done.stderr
    assert "row (me): 5" in done.stdout
    # Cooperating and then defecting earns 3 + 5; after a defection 5 + 1 is left at best.
    assert "1  defect     cooperate      2  defect                                 0" in done.stdout
    assert "2  cooperate  defect         1  defect                                 1" in done.stdout


def test_noise_says_what_was_meant_and_what_was_made(play, tmp_path):
    words = (
        *("prisoners-dilemma", "--with", "repeated(rounds=1, noise=0.999999)"),
        *("--others", "always:defect", "--seed", 1),
    )
    done = play(*words, "--output-dir", tmp_path, typed="defect\n")
    assert "you meant defect, cooperate was made" in done.stdout


def test_a_person_plays_the_drought_with_supply_and_residents_of_their_own(play, tmp_path):
    rules = tmp_path / "town.toml"
    rules.write_text(
        '[[residents]]\nname = "Mill"\nneed = 4\nsalary = 30\n[[residents]]\nname = "Farm"\nneed ='
        " 3\nsalary = 12\n"
    )
    done = play(
        "water",
        "--rules",
        rules,
        "--low",
        5,
        "--high",
        5,
        "--rounds",
        1,
        "--output-dir",
        tmp_path,
        typed="11\n",
    )
    assert done.returncode == 0, done.stderr
    assert "There are 5 units of water today." in done.stdout
    assert "You bid $11 and got water" in done.stdout
    assert "Farm (need): 1" in done.stdout


def test_the_supply_of_another_game_or_one_given_twice_is_refused(play, tmp_path):
    other = play("stag-hunt", "--low", 5, "--output-dir", tmp_path)
    assert "--low belongs to the water game" in other.stderr
    twice = play("water", "--low", 5, "--abundance", "low", "--output-dir", tmp_path)
    assert "the supply is given twice: by abundance, and by low or high" in twice.stderr
