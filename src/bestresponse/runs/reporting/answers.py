"""How the answers of every player of a run were read, counted from the records as the frame `answers`."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Status
from bestresponse.report.blocks import Measurement, Shown
from bestresponse.report.document import Note
from bestresponse.report.frames import Frame, column


class VoidRow(TypedDict):
    """A play without a result."""

    repeat: int
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
    refused_before: Annotated[int, column(help="answers that were refused with a reason before one was accepted")]
    abstained: Annotated[int, column(help="no usable answer: the seat passed, as the settings say")]


@dataclass
class Answers:
    """How the answers of one player were read."""

    statuses: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    abstained: int = 0

    def add(self, status: str, how: str, stand_in: str) -> None:
        """Count one answer."""
        self.statuses[status] += 1
        self.refused += how.count("refused: ")
        self.abstained += bool(stand_in)

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        return {"statuses": dict(self.statuses), "refused": self.refused, "abstained": self.abstained}


def count_answers(answers: dict[str, Answers], submissions: Iterable[JsonMapping], names: Mapping[str, str]) -> None:
    """Add the submissions of one play, as plain data; `names` tells who sits in a seat."""
    for given in submissions:
        if given["role"] in names:
            read = answers.setdefault(names[given["role"]], Answers())
            read.add(given["status"], given.get("how", ""), given.get("stand_in", ""))


def describe_void(line: JsonMapping) -> VoidRow:
    """Say why a play has no result; `line` is that of its record, as plain data."""
    seat, why = line["record"]["void"]
    return VoidRow(repeat=line["data"]["repeat"], seat=seat, why=why)


def make_answers_frame(answers: Mapping[str, Answers]) -> Frame[AnswerRow]:
    """Build the frame with one row a player."""
    return Frame(
        AnswerRow,
        [
            AnswerRow(
                player=name,
                **{status.value: read.statuses.get(status.value, 0) for status in Status},  # type: ignore[typeddict-item]
                refused_before=read.refused,
                abstained=read.abstained,
            )
            for name, read in answers.items()
        ],
    )


def warn_of_gaps(measured: Measurement) -> Shown | None:
    """Say how many plays are missing or void (the frame `voids`), and how often a seat abstained."""
    void, abstained = len(measured.frame("voids")), sum(row["abstained"] for row in measured.frame("answers"))
    missing = 0 if measured.total is None else measured.total - measured.answered - void
    sentences = []
    if missing:
        sentences.append(f"{missing:,} of the planned plays are missing; run the same command to play them.")
    if void:
        plays = "1 play is" if void == 1 else f"{void:,} plays are"
        sentences.append(f"{plays} void: a seat gave no answer that could be used. They enter no figure.")
    if abstained:
        sentences.append(f"{abstained:,} times a seat without a usable answer abstained, as the settings say.")
    return Shown("", tuple(Note(sentence, "warning") for sentence in sentences)) if sentences else None
