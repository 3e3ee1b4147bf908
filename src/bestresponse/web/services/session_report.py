"""What people have done so far in a lobby, while they play.

It goes round by round and treatment by treatment.

Only answers of people count, not those of stand-ins, strategies and models; a restarted game counts
from its last beginning.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bestresponse.report.document import Cell
from bestresponse.web.access import ServerState
from bestresponse.web.services.export import Row, list_moves

_MOST_OPTIONS = 6
"""So many different answers are listed with their shares; more are words, not choices."""


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """The answers of people at one point of a game, in one treatment.

    It says how many there are, what they were, and what they brought on average.
    """

    part: int
    game: str
    treatment: str
    round: int
    stage: int
    answers: int
    summary: str
    payoff: float | None


def summarize_session(server: ServerState, lobby: str) -> list[RoundSummary]:
    """Summarize the answers of people in a lobby, in the order of the games."""
    groups: dict[tuple[int, str, int, int], list[Row]] = {}
    for row in list_moves(server, lobby):
        part = row["part"]
        number = row["round"]
        stage = row["stage"]
        if row["answered_by"] != "person" or row["discarded"]:
            continue
        # An answer of a play that cannot be rebuilt has no round.
        if isinstance(part, int) and isinstance(number, int) and isinstance(stage, int):
            place = (part, str(row["treatment"]), number, stage)
            groups.setdefault(place, []).append(row)
    return [_summarize(place, rows) for place, rows in sorted(groups.items())]


def _summarize(place: tuple[int, str, int, int], rows: Sequence[Row]) -> RoundSummary:
    part, treatment, number, stage = place
    earned = [row["payoff"] for row in rows if isinstance(row["payoff"], int | float)]
    return RoundSummary(
        part=part,
        game=str(rows[0]["game"]),
        treatment=treatment,
        round=number,
        stage=stage,
        answers=len(rows),
        summary=summarize_answers([row["action"] for row in rows]),
        payoff=sum(earned) / len(earned) if earned else None,
    )


def summarize_answers(answers: Sequence[Cell]) -> str:
    """Say what answers were: numbers by their mean and range, choices by their shares.

    Returns an empty result for anything else.

    >>> summarize_answers([4, 7.5, 5])
    'mean 5.5 (4 to 7.5)'
    >>> summarize_answers(["defect", "cooperate", "defect"])
    'defect 67 %, cooperate 33 %'
    """
    numbers = [answer for answer in answers if isinstance(answer, int | float)]
    if len(numbers) == len(answers):
        mean = sum(numbers) / len(numbers)
        return f"mean {mean:.4g} ({min(numbers):g} to {max(numbers):g})"
    counts = Counter(str(answer) for answer in answers)
    if len(counts) > _MOST_OPTIONS or any(text.startswith(("{", "[")) for text in counts):
        return ""
    shares = [f"{text} {100 * count / len(answers):.0f} %" for text, count in counts.most_common()]
    return ", ".join(shares)
