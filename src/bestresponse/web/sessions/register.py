"""Who holds which seat: taken, confirmed, released again, and under which participant label."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping

LABELS = ("participant_label", "PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
_IDENTIFYING = LABELS[:2]
_LONGEST = 200


def read_labels(given: Mapping[str, str]) -> dict[str, str]:
    """Read the participant labels of a link or form; UsageError where one is too long.

    >>> read_labels({"PROLIFIC_PID": " 5f3 ", "other": "x"})
    {'PROLIFIC_PID': '5f3'}
    """
    found = {name: label for name in LABELS if (label := given.get(name, "").strip())}
    for name, label in found.items():
        if len(label) > _LONGEST:
            raise UsageError(f"{name} has {len(label):,} characters; expected at most {_LONGEST}")
    return found


def _identify(labels: Mapping[str, str]) -> str:
    """Return the label that tells one person from another, empty where there is none."""
    return next((f"{name}={labels[name]}" for name in _IDENTIFYING if name in labels), "")


@dataclass(frozen=True, slots=True)
class Holder:
    """The person in a seat; `number` counts those who held the seat before and did not confirm it.

    `agreed` says that the person agreed to the consent text before taking the seat, `released` that they lost it again.
    """

    since: float
    number: int = 0
    seated: str | None = None
    confirmed: bool = False
    quiz_tries: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    agreed: bool = False
    released: bool = False

    @property
    def label(self) -> str:
        """The label by which people know the person, empty where there is none."""
        return next((self.labels[name] for name in _IDENTIFYING if name in self.labels), "")


class SeatRegister:
    """The holders of all seats, as the events of the journal tell them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._holders: dict[tuple[str, int], Holder] = {}
        self._by_label: dict[tuple[str, str], tuple[str, int]] = {}
        self._taken: dict[str, int] = {}

    def apply(self, event: JsonMapping) -> None:
        """Follow one event: seated, quiz, ready or left."""
        key = (event["session"], event["seat"])
        before = self._holders.get(key, Holder(self._clock()))
        match event["event"]:
            case "seated":
                lobby, labels = key[0].rpartition("-")[0], event.get("labels", {})
                self._by_label.pop((lobby, _identify(before.labels)), None)
                self._by_label[lobby, _identify(labels)] = key
                self._by_label.pop((lobby, ""), None)
                self._taken[lobby] = self._taken.get(lobby, 0) + 1
                self._holders[key] = Holder(
                    self._clock(), event.get("holder", 0), event["at"], labels=labels, agreed=event.get("agreed", False)
                )
            case "quiz":
                self._holders[key] = replace(before, quiz_tries=event["tries"])
            case "left":
                self._holders[key] = replace(before, released=True)
            case "ready":
                self._holders[key] = replace(before, confirmed=True, quiz_tries=event["quiz_tries"])

    def get(self, session: str, seat: int) -> Holder | None:
        """Return who holds the seat, None where nobody ever took it."""
        return self._holders.get((session, seat))

    def find(self, lobby: str, labels: Mapping[str, str]) -> tuple[str, int] | None:
        """Return the seat of the person with these labels, None where they hold none in that lobby."""
        return self._by_label.get((lobby, _identify(labels)))

    def is_free(self, session: str, seat: int, hold: int, seen: float | None) -> bool:
        """Tell whether the next person may take the seat.

        A seat that was not confirmed is free again once its holder was not `seen` for `hold` seconds (0: never).
        """
        holder = self._holders.get((session, seat))
        if holder is not None and (holder.released or holder.confirmed or not hold):
            return holder.released
        times = [time for time in (None if holder is None else holder.since, seen) if time is not None]
        return not times or self._clock() - max(times) > hold

    def count_taken(self, lobby: str) -> int:
        """Return how often a seat of that lobby was taken."""
        return self._taken.get(lobby, 0)

    def count_tries(self, session: str, seat: int) -> int:
        """Return how often the holder of the seat sent the quiz so far."""
        holder = self._holders.get((session, seat))
        return 0 if holder is None else holder.quiz_tries

    def count_holders(self, session: str, seat: int) -> int:
        """Return the number that the next holder of the seat gets."""
        holder = self._holders.get((session, seat))
        return 0 if holder is None else holder.number + 1
