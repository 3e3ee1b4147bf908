"""Sessions as tables: one row a player and round, or one row a participant; CSV, JSON or Parquet.

A participant is a code made from the session and the seat. Nothing personal is kept, so nothing personal comes out,
unless people write it into their answers and remarks.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

from bestresponse.core.episode import Submission
from bestresponse.core.errors import UsageError
from bestresponse.core.game import Action, Role
from bestresponse.games.capabilities import find_stage_form
from bestresponse.games.matrix.game import as_strategy
from bestresponse.report import tables
from bestresponse.report.document import Cell
from bestresponse.theory.games.regrets import expected_payoffs
from bestresponse.web.sessions.session import Session
from bestresponse.web.sessions.setup import PERSON
from bestresponse.web.sessions.state import ServerState

__all__ = ["FORMATS", "TABLES", "export_table", "list_decisions", "list_participants"]

Row = dict[str, Cell]
FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json", "parquet": "application/vnd.apache.parquet"}
TABLES = ("decisions", "participants")


def export_table(server: ServerState, table: str, form: str) -> bytes:
    """The table in that format; UsageError where there is none of that name."""
    if table not in TABLES or form not in FORMATS:
        raise UsageError(f"there is no export {table}.{form}; known: {', '.join(TABLES)} as {', '.join(FORMATS)}")
    rows = list_decisions(server) if table == "decisions" else list_participants(server)
    if form == "parquet":
        if find_spec("pyarrow") is None:
            raise UsageError("Parquet needs the extra `parquet`: pip install 'bestresponse[parquet]'")
        return tables.to_parquet(rows)
    return (tables.to_csv(rows) if form == "csv" else tables.to_json(rows)).encode("utf-8")


def _sessions(server: ServerState) -> list[Session]:
    """The oldest first."""
    return [
        server.sessions.get_session(table.id)
        for lobby in reversed(server.sessions.list_lobbies())
        for table in lobby.tables
    ]


def _seat(server: ServerState, session: Session, seat: int) -> Row:
    who = session.setup.seats[seat]
    return {
        "lobby": session.table.lobby,
        "session": session.id,
        "group": session.table.group,
        "created": session.table.created,
        "game": session.setup.game.name,
        "role": session.roles[seat],
        "seat": who,
        "participant": server.code(session.id, seat) if who == PERSON else None,
    }


def list_decisions(server: ServerState) -> list[Row]:
    """One row for each answer of each seat; `round` counts the answers of the seat from 1."""
    return [row for session in _sessions(server) for row in _decisions(server, session)]


def _decisions(server: ServerState, session: Session) -> list[Row]:
    with session.lock:
        submissions = [s for s in session.episode.submissions if s.role in session.roles]
    earned = _earned(session, submissions)
    rounds = dict.fromkeys(session.roles, 0)
    rows: list[Row] = []
    for submission in submissions:
        role, decision = submission.role, submission.decision
        rounds[role] += 1
        rows.append(
            _seat(server, session, session.roles.index(role))
            | {
                "round": rounds[role],
                "action": _plain(decision.action),
                "payoff": earned.get((role, rounds[role])),
                "status": decision.reading.status.value,
                "how": decision.reading.how,
                "stand_in": decision.stand_in,
                "words": decision.reasoning,
            }
        )
    return rows


def _earned(session: Session, submissions: list[Submission]) -> dict[tuple[Role, int], float]:
    """What each role got in each complete round; in games without a payoff table nothing is got before the end."""
    form = find_stage_form(session.game)
    if form is None:
        return {}
    given = [[s.decision.action for s in submissions if s.role == role] for role in session.roles]
    rounds = enumerate(zip(*given, strict=False), 1)
    found: dict[tuple[Role, int], float] = {}
    for number, moves in rounds:
        mixes = [as_strategy(move, own) for move, own in zip(moves, form.actions, strict=True)]
        found |= {
            (role, number): float(got) for role, got in zip(form.players, expected_payoffs(form, mixes), strict=True)
        }
    return found


def _plain(action: Action) -> Cell:
    return action if action is None or isinstance(action, str | int | float) else json.dumps(action, ensure_ascii=False)


def list_participants(server: ServerState) -> list[Row]:
    """One row for each seat, with what is known at the end and the answers to the questionnaire."""
    ready = {(e["session"], e["seat"]): e for e in server.sessions.journal.read_events("ready")}
    remarks: dict[tuple[str, int], list[str]] = {}
    for event in server.sessions.journal.read_events("remark"):
        remarks.setdefault((event["session"], event["seat"]), []).append(event["text"])
    return [
        _seat(server, session, seat) | _result(session, seat, ready.get((session.id, seat)))
        | {"remark": "\n".join(remarks.get((session.id, seat), []))}
        for session in _sessions(server)
        for seat in range(len(session.roles))
    ]  # fmt: skip


def _result(session: Session, seat: int, ready: dict[str, Any] | None) -> Row:
    role = session.roles[seat]
    with session.lock:
        own = [s.decision for s in session.episode.submissions if s.role == role]
        over = session.begun and session.over and not session.episode.void
        return {
            "ready": ready["at"] if ready else None,
            "consent": bool(ready) if session.setup.consent and session.setup.seats[seat] == PERSON else None,
            "quiz_tries": ready["quiz_tries"] if ready else None,
            "answers": len(own),
            "stand_ins": sum(bool(decision.stand_in) for decision in own),
            "payoff": session.game.payoffs(session.episode.state)[role] if over else None,
        }
