"""Our rules against the games that were really played."""

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.studies.reproduce.alympics import replay_towns
from bestresponse.studies.reproduce.reproduction import read_records


def test_recorded_bids_give_the_announced_winners_and_every_balance_health_and_dry_count(
    recorded_water,
):
    towns = replay_towns(recorded_water)
    assert sum(len(town.end.past) for town in towns) >= 600
    assert [town.differences for town in towns if town.differences] == []
    assert sum(len(town.ties) for town in towns) == 4 or len(towns) != 30


def test_every_recorded_reply_has_its_bid(recorded_water):
    assert all(
        row["bid"] >= 0 and row["reply"] for row in read_records(recorded_water / "replies.jsonl")
    )


def test_a_folder_without_recorded_games_is_explained(tmp_path):
    with pytest.raises(
        UsageError, match=r"holds no rounds\.jsonl; expected the folder of the recorded runs"
    ):
        replay_towns(tmp_path)
    (tmp_path / "rounds.jsonl").write_text('{"persona": true}\n')
    with pytest.raises(UsageError, match=r"line 1: the field 'low' is missing"):
        replay_towns(tmp_path)


def test_a_replay_names_what_differs(tmp_path):
    (tmp_path / "rounds.jsonl").write_text(
        '{"persona": false, "low": 10, "high": 20, "number": 1, "day": 1, "supply": 10,'
        ' "bids": {"Alex": 5, "Bob": 4, "Cindy": 3, "David": 2, "Eric": 1}, "winners": ["Bob"],'
        ' "after": {"Alex": {"balance": 70, "hp": 7, "dry_days_plus_one": 2}}}\n'
    )
    (town,) = replay_towns(tmp_path)
    day = "without persona, 10-20, game 1, day 1"
    assert town.differences == (
        f"{day}: served were Alex, not Bob",
        f"{day}: Alex has balance, health, dry days + 1 of (65.0, 10, 1), not (70, 7, 2)",
    )
