"""Whoever the one lookup of players finds can take part in a tournament."""

from __future__ import annotations

import pytest

import bestresponse as br
from bestresponse.core.errors import UsageError


def test_players_of_every_game_take_part_beside_published_strategies(tmp_path):
    run = br.tournament(
        "prisoners-dilemma",
        ["tit-for-tat", "always:defect", "maximin"],
        rounds=5,
        output_dir=tmp_path,
    )
    kinds = {entry.name: entry.kind for entry in run.config.entries}
    assert kinds == {"tit-for-tat": "rules", "always:defect": "player", "maximin": "player"}
    totals = {heads[1]: cells["total"] for heads, cells in run.metrics.groups}
    assert totals["always:defect"] == totals["maximin"]
    assert run.replay().different == ()


def test_a_player_who_cannot_play_the_game_is_refused_with_the_nearest_name():
    with pytest.raises(UsageError, match="Did you mean maximin"):
        br.tournament("prisoners-dilemma", ["maximim"])
    with pytest.raises(UsageError, match="'fly' is not one of cooperate, defect"):
        br.tournament("prisoners-dilemma", ["always:fly"])
