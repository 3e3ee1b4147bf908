"""No true sentence is refuted and no false one proved, in words that were not taken from the
grammar."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from recorded import recorded
from true_sentences import cases, draw_sentences, frequency, lower_payoffs, outcome, sums

from bestresponse.formal.claims import Reviewer, RulesTranslator, State, Subject
from bestresponse.games.lookup import find_game

REVIEWER = Reviewer(RulesTranslator())
LONG = pytest.mark.soak
TRUTHS = {"true": State.REFUTED, "not asserted": State.REFUTED, "false": State.UNREFUTED}
"""The state in which a sentence would be misjudged, by its truth."""


@pytest.mark.parametrize(
    ("count", "seed"), [(200, 0), *(pytest.param(600, seed, marks=LONG) for seed in range(1, 5))]
)
def test_of_many_true_sentences_none_is_refuted(count: int, seed: int) -> None:
    read = 0
    for game, sentence in draw_sentences(count, seed):
        review = REVIEWER.review(sentence, Subject(game))
        assert review.refuted == (), sentence
        read += review.state is State.UNREFUTED
    assert read > count / 50


@pytest.mark.parametrize("count", [100, pytest.param(600, marks=LONG)])
def test_of_many_false_sentences_none_is_proved(count: int) -> None:
    refuted = 0
    for game, sentence in draw_sentences(count, 7, (outcome, frequency, cases, sums)):
        review = REVIEWER.review(sentence, Subject(lower_payoffs(game)))
        assert review.state is not State.UNREFUTED, sentence
        refuted += review.state is State.REFUTED
    assert refuted > count / 15


def test_sentences_of_another_writer_are_judged_rightly_or_not_at_all() -> None:
    folder = recorded("reasoning")
    states = Counter()
    with (folder / "sentences-2.tsv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            game = find_game(_locate(folder, row["game"])).solvable()
            state = REVIEWER.review(row["sentence"], Subject(game)).state
            assert state is not TRUTHS[row["truth"]], row["sentence"]
            states[row["truth"], state] += 1
    assert states["false", State.REFUTED] >= 9


@pytest.mark.parametrize(
    ("name", "game", "errors"),
    [
        ("t1.md", "prisoners-dilemma", 0),
        ("t2.md", "stag-hunt", 9),
        ("t3.md", "hawk-dove", 3),
        ("t4.md", "price.nfg", 2),
    ],
)
def test_errors_of_whole_texts_are_found_and_nothing_else(
    name: str, game: str, errors: int
) -> None:
    folder = recorded("reasoning")
    text = (folder / name).read_text("utf-8")
    review = REVIEWER.review(text, Subject(find_game(_locate(folder, game)).solvable()))
    assert len({refutation.passages[0].start for refutation in review.refutations}) == errors


def _locate(folder: Path, game: str) -> str:
    return str(folder / game) if game.endswith(".nfg") else game
