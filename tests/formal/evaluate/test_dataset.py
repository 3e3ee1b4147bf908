"""The stories that come along: enough of them, told with their own numbers, and each the game it
claims to be."""

import math
import re
import shutil
import tomllib
from collections import Counter
from fractions import Fraction
from functools import cache
from importlib.resources import files

import pytest

from bestresponse import solve
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.formal.evaluate.dataset import choose, read_game_lines, read_stories, stories
from bestresponse.formal.evaluate.validation import (
    check_constraints,
    compare_tables,
    find_broken_order,
    find_names,
)
from bestresponse.formal.formalize.plan import count_words, library
from bestresponse.games.logic.game import as_game
from bestresponse.games.logic.tables import write_table_program
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.settings import Limits
from bestresponse.logic.swi.engine import SwiEngine
from bestresponse.theory.trees.perfection.subgame_perfect import subgame_perfect

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


@cache
def find_mentions() -> dict[str, set[Fraction]]:
    """The numbers of a story: those its file lists, or the payoffs where it is said how the story
    is told."""
    folder = files("bestresponse.formal.evaluate.stories")
    entries = [
        entry
        for file in folder.iterdir()
        if file.name.endswith(".toml")
        for entry in tomllib.loads(file.read_text("utf-8"))["story"]
    ]
    listed = {
        entry["id"]: set(map(Fraction, entry["mentions"]))
        for entry in entries
        if "mentions" in entry
    }
    plain = {entry["id"] for entry in entries if "canonical" in entry}
    paid = {
        s.id: {abs(u) for row in s.table.rows for u in row.payoffs}
        for s in stories()
        if s.id in plain
    }
    return {**paid, **listed, **{story.id: set() for story in stories() if not story.numeric}}


@cache
def list_new():
    """The stories of chance, secrets, signals, auctions, bargaining, repetition, many players and
    other languages."""
    return [story for story in stories() if story.id not in find_mentions() or story.orders]


def test_there_are_at_least_190_stories_with_ids_and_texts_of_their_own():
    told = stories()
    assert len(told) >= 190
    assert len(list_new()) >= 60
    assert sum(story.table.chancy for story in list_new()) >= 30
    assert sum(len(story.table.players) > 2 for story in list_new()) >= 8
    assert sum(not story.numeric or story.language != "en" for story in list_new()) >= 20
    assert len({s.id for s in told}) == len({s.text for s in told}) == len(told)


def test_each_of_the_five_games_is_told_in_all_four_ways():
    counts = Counter((s.game, s.numeric, s.canonical) for s in stories() if s.game in FIVE)
    assert len(counts) == 20
    assert min(counts.values()) >= 2


def test_each_game_beyond_two_moves_at_once_is_told_several_times():
    counts = Counter(s.game for s in stories() if s.game not in FIVE and s not in list_new())
    assert set(counts) == BEYOND
    assert min(counts.values()) >= 4


def test_a_story_contains_exactly_its_numbers():
    for story in stories():
        if story.id in find_mentions():
            told = {Fraction(number) for number in re.findall(r"\d+(?:\.\d+)?", story.text)}
            assert told - {0} == find_mentions()[story.id] - {0}, story.id


def test_a_story_satisfies_the_constraints_of_its_name_and_of_no_other_of_the_five():
    for story in stories():
        if story.named:
            assert check_constraints(story.table, story.named), story.id
            assert set(find_names(story.table)) == {story.game}, story.id


def test_payoffs_of_a_story_without_numbers_are_ranks():
    for story in stories():
        for seat in range(len(story.table.players)) if not story.numeric else ():
            payoffs = {row.payoffs[seat] for row in story.table.rows}
            assert payoffs == set(range(1, len(payoffs) + 1)), story.id


EVERY = pytest.mark.parametrize(
    "step",
    [4, pytest.param(1, marks=pytest.mark.soak)],
    ids=["each fourth story", "every story"],
)


@EVERY
def test_every_true_table_can_be_written_as_a_program_and_read_back(step):
    engine = EmbeddedEngine()
    for story in stories()[::step]:
        report = validate(write_table_program(story.table), engine)
        assert report.ok, story.id
        assert compare_tables(report.table, story.table).exact, story.id


def measure_likeness(first, second):
    """Return the cosine of two counts of words: 0 for no word in common, 1 for the same words
    equally often."""
    product = sum(count * second[word] for word, count in first.items())
    return product / math.sqrt(
        sum(n * n for n in first.values()) * sum(n * n for n in second.values())
    )


def test_no_example_shown_to_a_model_is_one_of_the_stories():
    shown = [(example.name, count_words(example.story)) for example in library()]
    for story in stories():
        words = count_words(story.text)
        assert [name for name, example in shown if measure_likeness(example, words) >= 0.8] == [], (
            story.id
        )


def test_stories_are_chosen_by_game_or_id():
    assert {s.game for s in choose(stories(), games=["ultimatum"])} == {"ultimatum"}
    assert [s.id for s in choose(stories(), ids=["pd-cells"])] == ["pd-cells"]
    with pytest.raises(UsageError, match="id you mean"):
        choose(stories(), games=["ultimatums"])


def test_a_file_of_stories_that_is_wrong_says_where(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        '[[story]]\nid = "x"\ngame = "y"\nnumeric = true\ncanonical = true\nplayers = ["a"]\ntext ='
        ' "t"\n'
    )
    with pytest.raises(InvalidGame, match="story x is incomplete"):
        read_stories(file)


@pytest.mark.parametrize(
    ("story", "value"),
    [
        ("chance-coin-dare", "3/4"),
        ("chance-loaded-die", "0"),
        ("chance-middle-card", "0"),
        ("de-verdeckte-karte", "4/5"),
        ("fr-pile-ou-face", "16/15"),
        ("it-pari-dispari", "-1/12"),
    ],
)
def test_games_of_pure_conflict_have_the_value_worked_out_by_hand(story, value):
    """The bluffer makes the other indifferent, and the other the bluffer; the value follows from
    both mixtures."""
    (told,) = choose(stories(), ids=[story])
    assert solve(as_game(told.table, story)).value == pytest.approx(float(Fraction(value)))


@pytest.mark.parametrize(
    ("story", "payoffs"),
    [
        ("chance-open-die", (2.5, 7)),
        ("bargain-take-it", (7, 1)),
        ("bargain-outside-option", (3, 0)),
        ("repeat-centipede-jar", (2, 1)),
        ("many-veto-chain", (0, 0, 1)),
        ("words-drei-schwestern", (3, 1, 2)),
        ("es-confianza", (3, 0)),
    ],
)
def test_games_of_perfect_information_end_as_backward_induction_by_hand_says(story, payoffs):
    (told,) = choose(stories(), ids=[story])
    tree = as_game(told.table, story).tree
    (outcome,) = subgame_perfect(tree).outcomes
    assert tuple(outcome.values()) == pytest.approx(payoffs)


def test_the_true_games_have_as_many_ends_as_their_stories_tell():
    counted = {story.id: len(story.table.rows) for story in list_new()}
    wanted = {
        "repeat-two-dilemmas": 16,
        "repeat-war-of-attrition": 7,
        "many-four-lights": 16,
        "chance-insurance": 16,
    }
    assert {name: counted[name] for name in wanted} == wanted


@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not on PATH")
@EVERY
def test_both_engines_agree_on_every_true_game_with_chance_or_turns(step):
    embedded, swi = EmbeddedEngine(), SwiEngine(Limits())
    try:
        for story in list_new()[::step]:
            program = write_table_program(story.table)
            tables = [validate(program, engine).table for engine in (swi, embedded)]
            assert (tables[0].rows, tables[0].private) == (
                tables[1].rows,
                tables[1].private,
            ), story.id
    finally:
        swi.close()


def test_the_ranks_of_a_story_in_words_satisfy_what_it_says():
    for story in stories():
        assert find_broken_order(story.table, story.table, story.orders) == "", story.id


def test_what_a_story_in_words_does_not_say_is_free_and_what_it_says_is_not():
    (boat,) = choose(stories(), ids=["words-loan-of-the-boat"])
    other = read_game_lines(
        ["A", "B"], "A hold : 0,-5\nA give > B back : 7,0\nA give > B gone : -9,1"
    )
    assert find_broken_order(other, boat.table, boat.orders) == ""
    wrong = read_game_lines(
        ["A", "B"], "A hold : 0,-5\nA give > B back : -1,0\nA give > B gone : -9,1"
    )
    assert (
        find_broken_order(wrong, boat.table, boat.orders)
        == "Agnes should have 2 > 1 (numbers of ends), but it is -1 and 0"
    )


def test_lines_that_are_no_game_are_refused():
    for lines, why in (
        ("c go : 1,1", "nobody of a, b moves in 'c go'"),
        ("a go : 1", "1 payoffs for 2 players"),
        ("a {x|y} > b {u|v|w} : 1,1", "equally many parts"),
    ):
        with pytest.raises(ValueError, match=why):
            read_game_lines(["a", "b"], lines)


def test_a_story_with_two_games_beside_it_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("A story.")
    for ending in (".nfg", ".pl"):
        (tmp_path / f"a{ending}").write_text("")
    with pytest.raises(
        UsageError, match=r"a.txt has 2 games beside it; expected a.efg, a.nfg or a.pl"
    ):
        read_stories(tmp_path)
