"""The people of a lobby, for the experimenter: one row each, from the first page to the payment."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bestresponse.core.errors import UsageError
from bestresponse.runs.reporting.steps import format_action
from bestresponse.web.access import ServerState
from bestresponse.web.services.earnings import compute_earnings, label_part
from bestresponse.web.sessions.lobbies import Lobby
from bestresponse.web.sessions.session import PHASES, Session, find_label

Stage = Literal["to come", "reading", "waiting", "asked", "away", "finished"]
STAGES: dict[str, str] = {
    "": "everybody",
    "asked": "asked now",
    "waiting": "waiting for others",
    "away": "not seen for a minute",
    "reading": "reading or answering pages",
    "finished": "finished",
    "to come": "not here yet",
}
"""What the list can be narrowed to, in words."""
_AWAY = 60.0
"""Seconds after which a person who was not heard of counts as away; an open page is heard of
several times a minute."""


@dataclass(frozen=True, slots=True)
class PersonState:
    """One person: where they are, since when, what they answered last, and what they have earned.

    `session` and `seat` are those of the game they are in now. `on_page` are the seconds since
    the page was first shown, `seen` those since it was last heard of. `points` are those of games
    that are over, `money` what would be paid now.
    """

    participant: str
    label: str
    group: int
    treatment: str
    part: int
    parts: int
    game: str
    role: str
    session: str
    seat: int
    stage: Stage
    state: str
    page: str
    on_page: int | None
    seen: int | None
    last_answer: str
    answers: int
    stand_ins: int
    points: float | None
    money: float | None
    active: bool


def list_people(
    server: ServerState, lobby: Lobby, stage: str = "", find: str = ""
) -> list[PersonState]:
    """List the people of a lobby in the order of their seats.

    Only those at a stage, and with some words in their label, code, group, treatment or role, are
    listed.
    """
    if stage not in STAGES:
        known = ", ".join(name for name in STAGES if name)
        raise UsageError(f"there is no stage {stage[:40]!r}; expected one of {known}")
    words = find.casefold().split()
    rows: list[PersonState] = []
    for table in lobby.first_tables:
        for seat in table.setup.persons:
            row = _describe_person(server, lobby, (table.id, seat))
            if row is None or stage not in ("", row.stage):
                continue
            named = f"{row.label} {row.participant} group {row.group} {row.treatment} {row.role}"
            named = named.casefold()
            if all(word in named for word in words):
                rows.append(row)
    return rows


def _describe_person(
    server: ServerState, lobby: Lobby, person: tuple[str, int]
) -> PersonState | None:
    """Describe a person; None where the table cannot be rebuilt, which the list of tables says."""
    sessions = server.sessions
    seats = sessions.list_seats(*person)
    current, seat = sessions.find_current(*person)
    session = sessions.find_session(current)
    if session is None:
        return None
    holder = sessions.register.get(*person)
    earnings = compute_earnings(server, lobby.experiment, *person)
    counted = [part.points for part in earnings.parts if part.counts]
    role = session.roles[seat]
    with session.lock:
        version, since = session.pages.get(seat, ("", 0.0))
        heard = session.seen.get(seat)
        now = time.monotonic()
        state = session.state(seat)
        if state == "not here yet" and holder.is_here:
            state = "seated, not confirmed"
        phase = version.split(".")[0]
        stage = _find_stage(session, seat, here=holder.is_here, heard=heard)
        last = session.answer(role, session.turn(role) - 1)
        shown = ""
        if last is not None:
            shown = format_action(last.decision.action)
            shown += " (stand-in)" if last.decision.stand_in else ""
        return PersonState(
            participant=server.code(*person),
            label="" if holder.released else find_label(holder.labels),
            group=session.table.group,
            treatment=session.table.treatment,
            part=session.table.number,
            parts=len(seats),
            game=label_part(session.table.part) if session.table.part.name else "",
            role=role,
            session=current,
            seat=seat,
            stage="finished" if person in sessions.finished else stage,
            state="finished" if person in sessions.finished else state,
            page=next((page for name, (_, page) in PHASES.items() if name == phase), ""),
            on_page=int(now - since) if version else None,
            seen=None if heard is None else int(now - heard),
            last_answer=shown,
            answers=earnings.answers,
            stand_ins=earnings.stand_ins,
            points=sum(counted) if counted else None,
            money=float(earnings.total) if lobby.experiment.payment and earnings.due else None,
            active=not session.ended and seat not in session.standing.replaced,
        )


def _find_stage(session: Session, seat: int, *, here: bool, heard: float | None) -> Stage:
    phase = session.phase(seat)
    if phase == "welcome" and not here and heard is None:
        return "to come"
    if phase in ("closed", "replaced"):
        return "finished"
    if heard is None or time.monotonic() - heard > _AWAY:
        return "away"
    match phase:
        case "turn":
            return "asked"
        case "gathering" | "waiting":
            return "waiting"
    return "reading"


def count_stages(people: Sequence[PersonState]) -> dict[str, int]:
    """Count the people at every stage, all under the empty name."""
    counts = dict.fromkeys(STAGES, 0)
    counts[""] = len(people)
    for person in people:
        counts[person.stage] += 1
    return counts
