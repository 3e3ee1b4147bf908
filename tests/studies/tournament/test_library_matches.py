"""Matches that are played inside Axelrod's library, here a small one with the same interface:
nothing is skipped."""

import sys
from dataclasses import replace

import pytest
import running
from courses import name_course

from bestresponse.core.episode import Episode
from bestresponse.core.errors import StoreError
from bestresponse.players import strategies
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.standings import find_standings
from bestresponse.studies.tournament.study import tournament

LIBRARY = """
from enum import Enum
from random import Random

class Action(Enum):
    C = 0
    D = 1

class Player:
    def __init__(self):
        self.history = []
    def update_history(self, own, other):
        self.history.append(own)
    def set_match_attributes(self, length, game, noise):
        pass
    def set_seed(self, seed):
        pass

class MockPlayer(Player):
    pass

class Game:
    pass

class Cooperator(Player):
    name = "Always kind"
    def strategy(self, other):
        return Action.C

class Copier(Player):
    name = "Copier"
    def strategy(self, other):
        return other.history[-1] if other.history else Action.C

class Defector(Player):
    name = "Never kind"
    def strategy(self, other):
        return Action.D

all_strategies = [Cooperator, Copier, Defector]

class Generator(Random):
    def random_flip(self, action, chance):
        return Action(1 - action.value) if self.random() < chance else action

class Match:
    def __init__(self, players, turns=None, prob_end=None, noise=0, seed=None):
        self.players, self.turns, self.prob_end, self.noise = players, turns, prob_end, noise
        self._random = Generator(seed)
    def play(self):
        turns = 1
        while turns < self.turns and not (self.prob_end and self._random.random() < self.prob_end):
            turns += 1
        for player in self.players:
            player.history = []
        return [self.simultaneous_play(*self.players, self.noise) for _ in range(turns)]
"""


@pytest.fixture(autouse=True)
def library(tmp_path, monkeypatch):
    """Stand a small library in place of Axelrod's, installed or not."""
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "axelrod.py").write_text(LIBRARY, "utf-8")
    caches = [strategies.axelrod_strategy, strategies._library_player, strategies._recording_match]
    for name in [name for name in sys.modules if name.partition(".")[0] == "axelrod"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(folder))
    for cached in caches:
        cached.cache_clear()
    yield
    sys.modules.pop("axelrod", None)
    for cached in caches:
        cached.cache_clear()


def run(tmp_path, *names, **settings):
    return running.run(
        tournament,
        TournamentConfig(name_course("prisoners-dilemma", settings), names, **settings),
        tmp_path / "runs",
    )


def test_standings_divide_by_the_rounds_of_matches_in_the_library(tmp_path):
    rows = {
        row["name"]: row for row in run(tmp_path, "Copier", "Defector", rounds=5).frame("standings")
    }
    # Copier: 5 * 3 with itself, 0 + 4 * 1 against the defector, who gets 5 + 4 * 1 and 5 * 1 with
    # itself.
    assert {name: row["total"] for name, row in rows.items()} == {
        "Copier": 2 * (15 + 4),
        "Defector": 2 * (9 + 5),
    }
    assert rows["Copier"]["per_round"] == pytest.approx((3 + 0.8) / 2)
    assert rows["Defector"]["per_round"] == pytest.approx((1.8 + 1) / 2)


def test_random_ends_divide_by_the_rounds_really_played(tmp_path):
    rows = run(tmp_path, "Cooperator", "Copier", rounds=50, continuation=0.7, repetitions=4).frame(
        "standings"
    )
    assert [row["per_round"] for row in rows] == pytest.approx([3.0, 3.0])
    assert all(0 < row["total"] < 4 * 50 * 3 for row in rows)


def test_moves_are_kept_as_the_game_would_have_recorded_them(tmp_path):
    ran = run(tmp_path, "Copier", "Defector", rounds=8, noise=0.3, continuation=0.9, repetitions=3)
    records = [play.record for play in ran.folder.plays()]
    assert len(records) == 9
    for record in records:
        assert Episode(ran.config.repeated, record.submissions).record(record.players) == record
    assert ran.replay().same == 9


def test_library_strategies_meet_ours_and_each_other_in_one_tournament(tmp_path):
    rows = run(tmp_path, "Copier", "defector", "axelrod:Defector", rounds=2).frame("matches")
    earned = {
        (row["first"], row["second"]): (row["first_per_round"], row["second_per_round"])
        for row in rows
    }
    assert earned["axelrod:Defector", "defector"] == (1, 1)
    assert earned["Copier", "axelrod:Defector"] == (0.5, 3)
    assert earned["axelrod:Defector", "Copier"] == (3, 0.5)


def test_a_record_without_moves_is_refused_in_a_sentence(tmp_path):
    ran = run(tmp_path, "Copier", "Defector", rounds=2)
    plays = [
        replace(play, record=replace(play.record, submissions=())) for play in ran.folder.plays()
    ]
    with pytest.raises(StoreError, match="holds no moves"):
        find_standings(ran.config, plays)
