"""Logs of the authors' own program become the rows of our two files."""

import json
import zipfile

import pytest

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.studies.reproduce.alympics import replay_towns, reproduce_alympics
from bestresponse.studies.reproduce.alympics_logs import read_recorded_games

RULES = "You have to live. The total daily water supply will vary between {} units."
ANNOUNCED = (
    "Thank you all for participating in Round 1. In this round, Alex bid 40, Bob bid 45.5, Cindy"
    " bid 40, David bid 95, Eric bid 105.\nTotal water resource supply is 19. According to the"
    " principle of the highest bidder and the rule of prioritizing low-demand individuals when the"
    " game is tied, Eric won this auction and obtain water resource. After allocation, all survival"
    " residents' information is as follows: NAME:Alex\tBALANCE:70\tHEALTH"
    " POINT:7\tNO_DRINK:2\nNAME:Bob\tBALANCE:75\tHEALTH"
    " POINT:7\tNO_DRINK:2\nNAME:Cindy\tBALANCE:100\tHEALTH"
    " POINT:7\tNO_DRINK:2\nNAME:David\tBALANCE:120\tHEALTH"
    " POINT:7\tNO_DRINK:2\nNAME:Eric\tBALANCE:15\tHEALTH POINT:10\tNO_DRINK:1"
)


def write_log(path, supply="10 and 20", announced=ANNOUNCED, about=""):
    """Write a log of one day in which Alex and Bob speak."""
    replies = {
        "Alex": "I will bid $40.",
        "Bob": "My bid is $45.50, since the others bid more than $40.",
    }
    log = []
    for name in ("Alex", "Bob", "Cindy", "David", "Eric"):
        call = f"Hello, {name}! Today is the Day 1 of the drought, with a quantity of 19 units."
        texts = [("system", about + RULES.format(supply)), ("system", call)]
        texts += [("assistant", replies[name])] if name in replies else []
        texts += [("system", announced)]
        log.append({name: [{"role": role, "content": content} for role, content in texts]})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(log))


def test_a_log_becomes_days_and_replies_with_the_bids_that_were_announced(tmp_path):
    write_log(tmp_path / "log.json")
    recorded = read_recorded_games(tmp_path)
    (day,) = recorded.rounds
    assert {
        name: day[name] for name in ("persona", "low", "high", "number", "day", "supply", "winners")
    } == {
        "persona": False,
        "low": 10,
        "high": 20,
        "number": 1,
        "day": 1,
        "supply": 19,
        "winners": ["Eric"],
    }
    assert day["bids"] == {"Alex": 40.0, "Bob": 45.5, "Cindy": 40.0, "David": 95.0, "Eric": 105.0}
    assert day["after"]["Eric"] == {"balance": 15.0, "hp": 10.0, "dry_days_plus_one": 1}
    assert [(row["who"], row["day"], row["bid"]) for row in recorded.replies] == [
        ("Alex", 1, 40.0),
        ("Bob", 1, 45.5),
    ]


def test_a_converted_log_is_played_again_and_comes_out_as_announced(tmp_path):
    write_log(tmp_path / "log.json")
    (town,) = replay_towns(read_recorded_games(tmp_path).rounds)
    assert (town.abundance, town.ties, town.differences) == ("low", (), ())
    checks = {check.what: check for check in reproduce_alympics(tmp_path).checks}
    assert checks["rounds with the recorded winners, balances and health"].found == 1
    assert checks["share of recorded bids that are read from the replies"].found == 1.0


def test_the_range_is_that_of_the_name_where_the_rules_leave_it_open(tmp_path):
    write_log(tmp_path / "20-30" / "a.json", "LOWER and UPPER", about="Your Profession: teacher\n")
    write_log(tmp_path / "20-30" / "b.json", "LOWER and UPPER", about="Your Profession: teacher\n")
    write_log(tmp_path / "supply_15_25.json", "LOWER and UPPER")
    rows = [
        (row["persona"], row["low"], row["high"], row["number"])
        for row in read_recorded_games(tmp_path).rounds
    ]
    assert rows == [(True, 20, 30, 1), (True, 20, 30, 2), (False, 15, 25, 1)]


def test_the_archive_of_the_authors_has_letters_for_residents(tmp_path):
    write_log(tmp_path / "listed" / "10-20.json")
    log = json.loads((tmp_path / "listed" / "10-20.json").read_text())
    lettered = {name[0]: said for entry in log for name, said in entry.items()}
    assert sorted(lettered) == list("ABCDE")
    (tmp_path / "lettered").mkdir()
    (tmp_path / "lettered" / "10-20.json").write_text(json.dumps(lettered))
    listed = read_recorded_games(tmp_path / "listed")
    assert len(listed.replies) == 2
    assert read_recorded_games(tmp_path / "lettered") == listed
    checks = {check.what: check for check in reproduce_alympics(tmp_path / "lettered").checks}
    assert checks["rounds with the recorded winners, balances and health"].agrees


@pytest.mark.parametrize("nobody", ["", "no one "])
def test_a_day_without_a_winner_agrees_however_the_log_says_so(tmp_path, nobody):
    nothing = (
        "Thank you all for participating in Round 1. In this round, Alex bid 400, Bob bid 400, Cindy"
        " bid 400, David bid 400, Eric bid 400.\nTotal water resource supply is 19. According to"
        f" the principle, when the game is tied, {nobody}won this auction and obtain water resource."
        " After allocation, all survival residents' information is as follows: "
    )
    write_log(tmp_path / "log.json", announced=nothing)
    (town,) = replay_towns(read_recorded_games(tmp_path).rounds)
    assert town.differences == ()


def test_what_is_no_log_is_refused_with_the_reason(tmp_path):
    path = tmp_path / "log.json"
    path.write_text('{"Alex": 3}')
    with pytest.raises(UsageError, match="is not a log of a game; expected JSON of the form"):
        read_recorded_games(tmp_path)
    write_log(path, "LOWER and UPPER")
    with pytest.raises(
        UsageError, match=r"log\.json does not say the range of the supply.*name it or its folder"
    ):
        read_recorded_games(tmp_path)
    write_log(path, announced="Good night.")
    with pytest.raises(UsageError, match="no announcement of a day was found in this log"):
        read_recorded_games(tmp_path)


def test_the_authors_archive_is_read_as_it_is(tmp_path):
    write_log(tmp_path / "games" / "10-20" / "a.json", "LOWER and UPPER")
    write_log(tmp_path / "games" / "20-30" / "b.json", "LOWER and UPPER")
    packed = tmp_path / "records.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(tmp_path.rglob("*.json")):
            log = json.loads(path.read_text())
            by_letter = {name[0]: said for entry in log for name, said in entry.items()}
            archive.writestr(str(path.relative_to(tmp_path)), json.dumps(by_letter))
        archive.writestr("__MACOSX/games/10-20/._a.json", b"\x00\x05")
        archive.writestr("README.txt", "60 games")
    assert read_recorded_games(packed) == read_recorded_games(tmp_path / "games")
    checks = {check.what: check for check in br.reproduce("alympics", packed).checks}
    assert checks["rounds with the recorded winners, balances and health"].found == 2


def test_an_archive_that_is_none_or_holds_no_log_is_refused(tmp_path):
    packed = tmp_path / "records.zip"
    for content, problem in (
        (b"no archive", "is not a ZIP archive"),
        (None, "holds no log of a game"),
    ):
        if content is None:
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr("notes.txt", "nothing")
        else:
            packed.write_bytes(content)
        with pytest.raises(UsageError, match=problem):
            br.reproduce("alympics", packed)
