"""Recorded games of the Water Allocation Challenge, in the two forms in which they come.

Ours is a folder with two files of one JSON object per line:

    rounds.jsonl   persona, low, high, number, day, supply, bids, winners, after
    replies.jsonl  persona, low, high, number, day, who, reply, bid

`bids` maps the living to what they bid; `after` maps residents to `balance`, `hp` and
`dry_days_plus_one` on that evening, and may be left out.

The other is the log that the authors' own program (github.com/microsoft/Alympics,
`src/waterAllocation.py`) writes at the end of a game: one JSON file per game, a list with one
object per resident, `{"Alex": [{"role": ..., "content": ...}, ...]}`. In the archive of their games
(`exp/WAC/records.zip`, which is read as it is) it is one object for all residents, who are called A
to E: `{"A": [...], ..., "E": [...]}`. Everybody's messages hold the announcements of all days and
the own replies, so the bids, winners and states are in them in words. The log does not say the
range of the supply where its rules still read "between LOWER and UPPER units"; then two numbers in
the name of the file or of a folder above it say it, such as `without-persona/10-20/game3.json`.
Residents have personas where the rules tell of a profession.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.core.files import parse_json, read_archive, read_text
from bestresponse.core.json import JsonObject
from bestresponse.games.water.rules import RESIDENTS
from bestresponse.studies.reproduce.reproduction import read_records

ROUNDS = "rounds.jsonl"
REPLIES = "replies.jsonl"
_OF_ROUNDS = ("persona", "low", "high", "number", "day", "supply", "bids", "winners")
_OF_REPLIES = ("who", "reply", "bid")
_NUMBER = r"-?\d+(?:\.\d+)?"
_SUPPLY_TOLD = re.compile(r"vary between (\d+) and (\d+) units")
_SUPPLY_NAMED = re.compile(r"(?<!\d)(\d{1,3})\s*[-_]\s*(\d{1,3})(?!\d)")
_ANNOUNCEMENT = re.compile(
    r"Thank you all for participating in Round (?P<day>\d+)\. In this round, (?P<bids>.*?)\.\s*\n"
    rf"Total water resource supply is (?P<supply>{_NUMBER})\..*?when the game is tied, "
    r"(?P<winners>.*?)\s*won this auction.*?as follows:(?P<after>.*)",
    re.DOTALL,
)
_BID = re.compile(rf"(\w+) bid \$?({_NUMBER}|None|null)")
_STATUS = re.compile(
    rf"NAME:(\w+)\s+BALANCE:({_NUMBER})\s+HEALTH POINT:({_NUMBER})\s+NO_DRINK:(\d+)"
)
_BY_LETTER = {resident.name[0]: resident.name for resident in RESIDENTS}
_CALL = re.compile(r"Today is the Day (\d+) of")


@dataclass(frozen=True, slots=True)
class RecordedGames:
    """Every day and every reply of some games, as rows of the two files."""

    rounds: tuple[JsonObject, ...]
    replies: tuple[JsonObject, ...]


def read_recorded_games(folder: Path) -> RecordedGames:
    """Read the games of a folder in either form, or of an archive of logs.

    UsageError where it holds none.
    """
    logs: dict[Path, str | bytes] = {}
    if folder.suffix == ".zip":
        packed = read_archive(folder)
        names = sorted(name for name in packed if name.endswith(".json"))
        # A Mac packs a second file for each, which is no log.
        logs = {Path(name): packed[name] for name in names if "__MACOSX" not in name}
        if not logs:
            raise UsageError(f"{folder} holds no log of a game; expected one .json file per game")
    elif not (folder / ROUNDS).exists():
        found = sorted(folder.rglob("*.json"))
        logs = {path.relative_to(folder): read_text(path, errors="replace") for path in found}
    if logs:
        return convert_logs(logs)
    rounds = tuple(read_records(folder / ROUNDS, *_OF_ROUNDS))
    has_replies = (folder / REPLIES).exists()
    replies = tuple(read_records(folder / REPLIES, *_OF_REPLIES)) if has_replies else ()
    return RecordedGames(rounds, replies)


def convert_logs(logs: Mapping[Path, str | bytes]) -> RecordedGames:
    """Turn logs of the authors' program into rows, games numbered in the order of their names."""
    rounds: list[JsonObject] = []
    replies: list[JsonObject] = []
    numbers: Counter[tuple[bool, int, int]] = Counter()
    for path, log in logs.items():
        messages = _read_log(path, log)
        told = "\n".join(texts[0][1] for texts in messages.values() if texts)
        low, high = _find_supply(told, path)
        setting = ("Your Profession:" in told, low, high)
        numbers[setting] += 1
        game = dict(zip(("persona", "low", "high"), setting, strict=True))
        game["number"] = numbers[setting]
        days = list(_list_days(messages))
        if not days:
            raise UsageError(f"{path}: no announcement of a day was found in this log")
        rounds += [{**game, **day} for day in days]
        bids = {day["day"]: day["bids"] for day in days}
        replies += [{**game, **reply} for reply in _list_replies(messages, bids)]
    return RecordedGames(tuple(rounds), tuple(replies))


def _read_log(path: Path, log: str | bytes) -> dict[str, list[tuple[str, str]]]:
    """Read the messages of every resident as pairs of role and text."""
    try:
        entries = parse_json(log)
        if isinstance(entries, dict):
            entries = [{_BY_LETTER[letter]: said for letter, said in entries.items()}]
        return {
            name: [(str(message["role"]), str(message["content"])) for message in messages]
            for entry in entries
            for name, messages in entry.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        shape = '[{"Alex": [{"role": ..., "content": ...}, ...]}, ...] or {"A": [...], ...}'
        raise UsageError(
            f"{path} is not a log of a game; expected JSON of the form {shape}"
        ) from None


def _find_supply(told: str, place: Path) -> tuple[int, int]:
    """Find the range of the supply in the rules, else in the name of the file or a folder.

    The folder may be any above the file.
    """
    names = reversed(place.with_suffix("").parts)
    found = _SUPPLY_TOLD.search(told) or next(filter(None, map(_SUPPLY_NAMED.search, names)), None)
    if found is None:
        why = "does not say the range of the supply, neither in its rules nor in its name"
        raise UsageError(f"{place} {why}; name it or its folder like 10-20")
    return int(found[1]), int(found[2])


def _list_days(messages: dict[str, list[tuple[str, str]]]) -> Iterator[JsonObject]:
    """Yield every day once, in order: whoever lived longest heard all announcements."""
    seen: dict[int, JsonObject] = {}
    for texts in messages.values():
        for role, content in texts:
            found = _ANNOUNCEMENT.match(content) if role != "assistant" else None
            if found is None or int(found["day"]) in seen:
                continue
            after = {
                name: {
                    "balance": float(balance),
                    "hp": float(health),
                    "dry_days_plus_one": int(dry),
                }
                for name, balance, health, dry in _STATUS.findall(found["after"])
            }
            bids = {
                name: None if bid in ("None", "null") else float(bid)
                for name, bid in _BID.findall(found["bids"])
            }
            seen[int(found["day"])] = {
                "day": int(found["day"]),
                "supply": int(float(found["supply"])),
                "bids": bids,
                # Where nobody was served, the logs name nobody or "no one".
                "winners": [name for name in found["winners"].split(", ") if name in bids],
                "after": after,
            }
    for day in sorted(seen):
        yield seen[day]


def _list_replies(
    messages: dict[str, list[tuple[str, str]]], bids: dict[int, dict[str, float | None]]
) -> Iterator[JsonObject]:
    """Yield what residents answered, with the bid that was announced."""
    for name, texts in messages.items():
        day = 0
        for role, content in texts:
            if role == "assistant":
                announced = bids.get(day, {}).get(name)
                if announced is not None:
                    yield {"who": name, "day": day, "reply": content, "bid": announced}
            elif called := _CALL.search(content):
                day = int(called[1])
