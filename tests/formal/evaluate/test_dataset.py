"""The stories that come along: enough of them, told with their own numbers, and each the game it claims to be."""

import math
import re
from collections import Counter
from fractions import Fraction

import pytest

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.formal.evaluate.dataset import choose, read_stories, stories
from bestresponse.formal.evaluate.equivalence import ordinal, same_game
from bestresponse.formal.evaluate.named_games import check_constraints, find_names
from bestresponse.formal.formalize.examples import library
from bestresponse.formal.formalize.retrieval import count_words
from bestresponse.games.logic.program_writer import write_program
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate

FIVE = {"prisoners-dilemma", "hawk-dove", "stag-hunt", "battle-of-the-sexes", "matching-pennies"}
BEYOND = {
    "rock-paper-scissors",
    "sequential-prisoners-dilemma",
    "ultimatum",
    "public-goods",
    "first-price-auction",
    "entry-deterrence",
    "traffic",
}


def test_there_are_at_least_120_stories_with_ids_and_texts_of_their_own():
    told = stories()
    assert len(told) >= 120
    assert len({s.id for s in told}) == len({s.text for s in told}) == len(told)


def test_each_of_the_five_games_is_told_in_all_four_ways():
    counts = Counter((s.game, s.numeric, s.canonical) for s in stories() if s.game in FIVE)
    assert len(counts) == 20
    assert min(counts.values()) >= 2


def test_each_game_beyond_two_moves_at_once_is_told_several_times():
    counts = Counter(s.game for s in stories() if s.game not in FIVE)
    assert set(counts) == BEYOND
    assert min(counts.values()) >= 4


@pytest.mark.parametrize("story", stories(), ids=lambda s: s.id)
def test_a_story_contains_exactly_its_numbers(story):
    told = {Fraction(number) for number in re.findall(r"\d+(?:\.\d+)?", story.text)}
    assert told - {0} == story.mentions - {0}


@pytest.mark.parametrize("story", [s for s in stories() if s.named], ids=lambda s: s.id)
def test_a_story_satisfies_the_constraints_of_its_name_and_of_no_other_of_the_five(story):
    assert check_constraints(story.table, story.named)
    assert set(find_names(story.table)) == {story.game}


@pytest.mark.parametrize("story", [s for s in stories() if not s.numeric], ids=lambda s: s.id)
def test_payoffs_of_a_story_without_numbers_are_ranks(story):
    assert ordinal(story.table) == story.table


def test_every_true_table_can_be_written_as_a_program_and_read_back():
    engine = EmbeddedEngine()
    for story in stories():
        report = validate(write_program(story.table), engine)
        assert report.ok, story.id
        assert same_game(report.table, story.table, swap_players=False), story.id


def measure_likeness(first, second):
    """Return the cosine of two counts of words: 0 for no word in common, 1 for the same words equally often."""
    product = sum(count * second[word] for word, count in first.items())
    return product / math.sqrt(sum(n * n for n in first.values()) * sum(n * n for n in second.values()))


def test_no_example_shown_to_a_model_is_one_of_the_stories():
    shown = [(example.name, count_words(example.story)) for example in library()]
    for story in stories():
        words = count_words(story.text)
        assert [name for name, example in shown if measure_likeness(example, words) >= 0.8] == [], story.id


def test_stories_are_chosen_by_game_or_id():
    assert {s.game for s in choose(stories(), games=["ultimatum"])} == {"ultimatum"}
    assert [s.id for s in choose(stories(), ids=["pd-cells"])] == ["pd-cells"]
    with pytest.raises(UsageError, match="id you mean"):
        choose(stories(), games=["ultimatums"])


def test_a_file_of_stories_that_is_wrong_says_where(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[[story]]\nid = "x"\ngame = "y"\nnumeric = true\ncanonical = true\nplayers = ["a"]\ntext = "t"\n')
    with pytest.raises(InvalidGame, match="story x is incomplete"):
        read_stories(file)
