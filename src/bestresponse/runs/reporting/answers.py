"""How the answers of every player of a run were read.

They are counted from the records as the frame `answers`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, TypedDict, cast

from bestresponse.core.episode import Record
from bestresponse.core.json import JsonObject
from bestresponse.core.player import FORCED
from bestresponse.report.blocks import Measurement, Shown
from bestresponse.report.document import Note
from bestresponse.report.frames import Frame, Row, column
from bestresponse.runs.store.folder import StoredPlay


class VoidRow(TypedDict):
    """A play without a result."""

    repeat: int
    players: Annotated[str, column(help="who played, in the order of the seats")]
    seat: Annotated[str, column(help="whose answer could not be used")]
    why: str


class AnswerRow(TypedDict):
    """How the answers of one player were read."""

    player: str
    valid: int
    repaired: int
    refused: int
    truncated: int
    unparseable: int
    illegal: int
    refused_before: Annotated[
        int, column(help="answers that were rejected with a reason before one was accepted")
    ]
    abstained: Annotated[
        int, column(help="no usable answer; the seat passed, according to the settings")
    ]


class Readings:
    """How the answers of every player were read, and the plays without a result."""

    def __init__(self) -> None:
        self.players: dict[str, JsonObject] = {}
        self.voids: list[VoidRow] = []

    def add(self, player: str, status: str, how: str, stand_in: str = "") -> None:
        """Count one answer."""
        row = self.players.setdefault(
            player, {**dict.fromkeys(AnswerRow.__annotations__, 0), "player": player}
        )
        row[status] += 1
        row["refused_before"] += how.count("refused: ")
        row["abstained"] += bool(stand_in)

    def count(self, record: Record, names: Mapping[str, str]) -> None:
        """Count the answers of one play; `names` tells who sits in a seat."""
        for submission in record.submissions:
            if submission.role in names and submission.decision.reading != FORCED:
                reading = submission.decision.reading
                self.add(
                    names[submission.role],
                    reading.status,
                    reading.how,
                    submission.decision.stand_in,
                )

    def list_finished(self, plays: Iterable[StoredPlay]) -> Iterator[StoredPlay]:
        """Yield the plays that have a result and count the answers of all."""
        for play in plays:
            seats = dict(play.data["seats"])
            void = play.record.void
            self.count(play.record, seats)
            if void is None:
                yield play
                continue
            players = ", ".join(seats.values())
            self.voids.append(
                VoidRow(
                    repeat=play.data["repeat"],
                    players=players,
                    seat=void.role,
                    why=void.why,
                )
            )

    @property
    def frames(self) -> dict[str, Frame[Row]]:
        """Both as frames."""
        answers = cast(list[AnswerRow], list(self.players.values()))
        return {"voids": Frame(VoidRow, self.voids), "answers": Frame(AnswerRow, answers)}


def warn_of_gaps(measured: Measurement) -> Shown | None:
    """Say how many plays are missing or void, and how often a seat abstained.

    Missing and void plays are in the frame `voids`.
    """
    void = len(measured.frame("voids"))
    abstained = sum(row["abstained"] for row in measured.frame("answers"))
    missing = 0 if measured.total is None else measured.total - measured.answered - void
    sentences = []
    if missing:
        sentences.append(
            f"{missing:,} of the planned plays are missing; run the same command to play them."
        )
    if void:
        plays = "1 play is" if void == 1 else f"{void:,} plays are"
        sentences.append(
            f"{plays} void: a seat gave no answer that could be used. They enter no figure."
        )
    if abstained:
        sentences.append(
            f"{abstained:,} times a seat without a usable answer abstained, as the settings say."
        )
    return (
        Shown("", tuple(Note(sentence, "warning") for sentence in sentences)) if sentences else None
    )
