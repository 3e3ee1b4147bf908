"""The rows that exports write and trainings read, by their columns."""

from __future__ import annotations

from typing import Annotated, TypedDict

from bestresponse.report.frames import column


class ChatMessage(TypedDict):
    """One message of a conversation."""

    role: str
    content: str


class Conversation(TypedDict):
    """An example to train on: what is asked, and last what the assistant says.

    `task` is the task as JSON text.
    """

    messages: list[ChatMessage]
    task: str


GameTask = TypedDict(
    "GameTask",
    {
        "kind": str,
        "payoffs": list[list[list[float]]],
        "seat": int,
        "format": str,
        "theme": str,
        "elicit": str,
        "opponent": list[float],
        "class": str,
        "text": str,
        "claims": list[str],
    },
    total=False,
)
"""What is asked, as plain data: what an answer is measured by.

Every task has a `kind`. Those about payoff tables have `payoffs`, `seat`, `format` and `theme`;
those about claims have `text`.
"""


class Measures(TypedDict):
    """The worth of replies: shares of those asked, and the mean loss of those read."""

    asked: int
    read: float
    success: float
    near: float
    lost: float | None


Success = Annotated[float, column("within 0.01", ".1%", "lose at most 0.01 of the payoff range")]
Near = Annotated[float, column("within 0.05", ".1%", "lose at most 0.05 of the payoff range")]
Lost = Annotated[
    float | None, column("lost", ".4f", "mean loss as a share of the payoff range, of those read")
]


class TrainRow(TypedDict):
    """Where a training was at some time."""

    minutes: Annotated[float, column("minutes", ".1f")]
    step: int
    loss: Annotated[
        float | None, column("loss", ".4f", "mean of the steps since the row before, answers alone")
    ]
    tokens_per_second: Annotated[
        float, column("tokens/s", ",.0f", "of questions and answers, without filling")
    ]
    asked: Annotated[int, column("asked", "", "held-out questions")]
    read: Annotated[float, column("read", ".1%", "replies with an answer that can be read")]
    success: Success
    near: Near
    lost: Lost


class TestRow(TypedDict):
    """What the trained model does on a part of the test games."""

    kind: Annotated[str, column("games")]
    size: str
    format: str
    asked: int
    read: Annotated[float, column("read", ".1%")]
    success: Success
    near: Near
    lost: Lost


class AbilityRow(TypedDict):
    """What a model can do besides games, before or after a training."""

    when: str
    asked: Annotated[int, column("asked", "", "general questions with four answers")]
    right: Annotated[float, column("right", ".1%", "a guess is right in 25 %")]
    perplexity: Annotated[float | None, column("perplexity", ".1f", "of plain prose, per token")]


class TimeRow(TypedDict):
    """What the time of a training went into."""

    part: str
    minutes: Annotated[float, column("minutes", ".1f")]


class ExportSettings(TypedDict):
    """What the files of an export depend on."""

    games: str
    sizes: str
    rectangular: float
    count: int
    varied: float
    answers: str
    purpose: str
    scale: list[int]
    formats: list[str]
    themes: list[str]
    seed: int


class ExportCounts(TypedDict):
    """How many examples of each split there are, the hash of the prompts, and remarks."""

    counts: dict[str, int]
    prompts: str
    notes: list[str]


class ExportManifest(ExportCounts):
    """What a folder of examples says of itself; `files` holds the SHA-256 of every file."""

    format: int
    settings: ExportSettings
    python: str
    files: dict[str, str]
