"""Sessions as tables: one row for each answer, or one row for each seat; CSV, JSON or Parquet, with a codebook.

A participant is a code made from the session and the seat, beside the labels that came with the link. Nothing else
personal is kept, so nothing else comes out, unless people write it into their answers and remarks.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec

from bestresponse.core.capabilities import PrivateInformation
from bestresponse.core.episode import Submission
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, REFEREE, AnyGame, Role
from bestresponse.core.json import JsonMapping
from bestresponse.report import tables
from bestresponse.report.document import Cell
from bestresponse.web.access import ServerState
from bestresponse.web.services import COLUMNS, File
from bestresponse.web.services.payments import AnswerPlace, list_items, list_payments, locate_answers
from bestresponse.web.sessions.register import LABELS
from bestresponse.web.sessions.session import Answer, Session, Table, trace_states
from bestresponse.web.sessions.setup import PERSON, make_game
from bestresponse.web.sessions.store import BrokenSession

Row = dict[str, Cell]
FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json", "parquet": "application/vnd.apache.parquet"}
_log = logging.getLogger("bestresponse.web")
_DIGITS = re.compile(r"\d+")
_PAGES = {
    "seated": "rules",
    "ready": "waiting room",
    "shown": "question",
    "questionnaire": "end",
    "finished": "last page",
}
"""The page that a person comes to by each event of the journal."""


def list_formats() -> list[str]:
    """List the formats that can be written here; Parquet needs a package of its own."""
    return [form for form in FORMATS if form != "parquet" or find_spec("pyarrow") is not None]


def export_table(server: ServerState, table: str, form: str, lobby: str = "") -> File:
    """Export the table in that format, of one lobby or of all; UsageError where there is none of that name."""
    if table not in TABLES or form not in FORMATS:
        raise UsageError(f"there is no export {table}.{form}; known: {', '.join(TABLES)} as {', '.join(FORMATS)}")
    if form not in list_formats():
        raise UsageError("Parquet needs the extra `parquet`: pip install 'bestresponse[parquet]'")
    rows = TABLES[table](server, lobby)
    if form == "parquet":
        content = tables.to_parquet(rows)
    else:
        content = (tables.to_csv(rows) if form == "csv" else tables.to_json(rows)).encode("utf-8")
    return File(f"{lobby}-{table}.{form}" if lobby else f"{table}.{form}", FORMATS[form], content)


def list_codebook(server: ServerState, lobby: str = "") -> list[Row]:
    """Describe every column of the other tables, those of the questionnaires too."""
    asked = {f"q_{item.name}": item.text for item in list_items(server, lobby)}
    described = {**COLUMNS, "payments": {**COLUMNS["payments"], **asked}}
    described["wide"] = {"g1_r2_1, ...": "Answer in game 1, round 2, stage 1; beside all columns of payments."}
    return [
        {"table": table, "column": column, "meaning": meaning}
        for table, columns in described.items()
        for column, meaning in columns.items()
    ]


def _list_tables(server: ServerState, lobby: str) -> list[tuple[Table, Session | None]]:
    """List the tables of one lobby or of all, the oldest first; a session that cannot be rebuilt is None."""
    lobbies = [server.sessions.get_lobby(lobby)] if lobby else reversed(server.sessions.list_lobbies())
    opened: list[tuple[Table, Session | None]] = []
    for table in (table for found in lobbies for table in found.tables):
        try:
            opened.append((table, server.sessions.get_session(table.id)))
        except BrokenSession:
            opened.append((table, None))
    return opened


def _describe_seat(server: ServerState, table: Table, seat: int | None, role: str) -> Row:
    """Describe a table and a seat of it; None stands for one that is not known."""
    setup = table.setup
    occupant = None if seat is None else setup.seats[seat]
    holder = server.sessions.register.get(*server.sessions.find_participant(table.id, -1 if seat is None else seat))
    return {
        "lobby": table.lobby,
        "session": table.id,
        "group": table.group,
        "part": table.number,
        "treatment": table.treatment,
        "created": table.created,
        "game": setup.game.name,
        "parameters": json.dumps(setup.game.parameters, ensure_ascii=False) if setup.game.parameters else "",
        "rounds": setup.game.rounds,
        "mixed": setup.game.mixed,
        "seconds": setup.seconds,
        "stand_in_strategy": setup.stand_in,
        "seed": setup.seed,
        "role": role,
        "seat": occupant,
        "participant": server.code(table.id, seat) if seat is not None and occupant == PERSON else None,
        **{name: holder.labels.get(name) if holder else None for name in LABELS},
    }


def list_moves(server: ServerState, lobby: str = "", table: str = "decisions") -> list[Row]:
    """List one row for each answer of a seat, or as `draws` for each of nature and for each ruling of a referee."""
    rows = [row for row in _list_moves(server, lobby) if (row["role"] in (NATURE, REFEREE)) == (table == "draws")]
    return [{name: row[name] for name in COLUMNS[table]} for row in rows]


def _list_moves(server: ServerState, lobby: str) -> Iterator[Row]:
    for table, session in _list_tables(server, lobby):
        attempts = server.sessions.list_attempts(table.id)
        if session is not None:
            with session.lock:
                attempts.append((session.attempt, session.list_answers()))
        last = server.sessions.get_standing(table.id).attempt
        for number, answers in attempts:
            for row in _list_answers(server, table, answers):
                yield row | {"attempt": number, "discarded": number < last}


def _list_answers(server: ServerState, table: Table, answers: list[Answer]) -> list[Row]:
    """List the answers of one attempt; where it cannot be rebuilt without rounds and payoffs, but none is left out."""
    roles: tuple[Role, ...] = ()
    places: list[AnswerPlace] | list[None] = [None] * len(answers)
    seen: list[Row] = [dict.fromkeys(("situation", "private", "known")) for _ in answers]
    try:
        game, submissions = make_game(table.setup.game), [answer.submission for answer in answers]
        places, seen, roles = locate_answers(game, submissions), _list_seen(game, submissions), game.roles
    except Exception:  # noqa: BLE001 - the rules of a plug-in can raise anything
        _log.warning("session %s is exported without payoffs", table.id)
    rows: list[Row] = []
    for number, (answer, place, view) in enumerate(zip(answers, places, seen, strict=True), 1):
        role, decision = answer.submission.role, answer.submission.decision
        seat = roles.index(role) if role in roles else None
        occupant = None if seat is None else table.setup.seats[seat].partition(":")[0]
        plain = decision.action is None or isinstance(decision.action, str | int | float)
        rows.append(
            _describe_seat(server, table, seat, role)
            | (asdict(place) if place else dict.fromkeys(("round", "stage", "payoff", "total")))
            | asdict(answer.timing)
            | view
            | {
                "number": number,
                "action": decision.action if plain else _dump(decision.action),
                # The answer of a stand-in is never taken for a person's.
                "answered_by": "stand-in" if decision.stand_in else occupant,
                "status": decision.reading.status.value,
                "how": decision.reading.how,
                "stand_in": decision.stand_in,
                "words": decision.reasoning,
            }
        )
    return rows


def _list_seen(game: AnyGame, submissions: Sequence[Submission]) -> list[Row]:
    """List what was known before each answer: the situation in words, what one seat alone knew, and both as data."""
    seen: list[Row] = []
    for submission, state in zip(submissions, trace_states(game, submissions), strict=False):
        role = submission.role
        view = game.view(state, role) if role in game.roles else None
        private = game.word_private(state, role) if view and isinstance(game, PrivateInformation) else None
        known = _dump(dict(view.facts)) if view else None
        seen.append({"situation": view.situation if view else None, "private": private, "known": known})
    return seen


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def list_times(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each page that a person came to, with the time until the next one by a steady clock."""
    tables = {table.id: table for table, _ in _list_tables(server, lobby)}
    visits: dict[tuple[str, int], list[tuple[Table, int, str, JsonMapping]]] = {}
    for event in server.sessions.journal.read_events(*_PAGES):
        table = tables.get(event["session"])
        if table is not None and table.setup.seats[event["seat"]] == PERSON:
            person = server.sessions.find_participant(table.id, event["seat"])
            visits.setdefault(person, []).append((table, event["seat"], _PAGES[event["event"]], event))
    rows: list[Row] = []
    for pages in visits.values():
        for (table, seat, page, seen), following in zip(pages, [*pages[1:], None], strict=True):
            spent = following[3].get("clock", 0) - seen.get("clock", 0) if following else -1.0
            visit = {
                **_describe_seat(server, table, seat, ""),
                "page": page,
                "at": seen["at"],
                "question": seen["turn"] + 1 if "turn" in seen else None,
                "spent": round(spent, 3) if spent >= 0 else None,
            }
            rows.append({name: visit[name] for name in COLUMNS["times"]})
    return rows


def list_wide(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each person of an experiment: what is paid, and every answer in a column of its own."""
    moves: dict[Cell, Row] = {}
    for row in list_moves(server, lobby):
        if row["participant"] and not row["discarded"]:
            moves.setdefault(row["participant"], {})[f"g{row['part']}_r{row['round']}_{row['stage']}"] = row["action"]
    columns = sorted(
        {name for row in moves.values() for name in row}, key=lambda name: [*map(int, _DIGITS.findall(name))]
    )
    payments = list_payments(server, lobby)
    return [row | {name: moves.get(row["participant"], {}).get(name) for name in columns} for row in payments]


def list_participants(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each seat, with what is known at the end and the answers to the questionnaire."""
    ready = {(e["session"], e["seat"]): e["at"] for e in server.sessions.journal.read_events("ready")}
    rows: list[Row] = []
    for table, session in _list_tables(server, lobby):
        for seat, occupant in enumerate(table.setup.seats):
            holder, since = server.sessions.register.get(table.id, seat), ready.get((table.id, seat))
            agrees = table.setup.consent and table.number == 1 and occupant == PERSON
            rows.append(
                _describe_seat(server, table, seat, session.roles[seat] if session else f"seat {seat + 1}")
                | {
                    "seated": holder.seated if holder else None,
                    "ready": since,
                    "consent": since is not None if agrees else None,
                    "quiz_tries": holder.quiz_tries if holder and (table.setup.quiz or table.part.name) else None,
                }
                | _describe_result(session, seat)
                | {"remark": "\n".join(server.sessions.remarks.get((table.id, seat), []))}
            )
    return rows


def _describe_result(session: Session | None, seat: int) -> Row:
    if session is None:
        return {"state": "cannot be rebuilt"} | dict.fromkeys(("answers", "stand_ins", "restarts", "payoff"))
    role = session.roles[seat]
    with session.lock:
        over = session.begun and session.over and not session.episode.void
        return {
            "state": session.state(seat),
            "answers": session.turn(role),
            "stand_ins": session.stand_ins(role),
            "restarts": session.attempt - 1,
            "payoff": session.payoffs()[role] if over else None,
        }


TABLES: dict[str, Callable[[ServerState, str], list[Row]]] = {
    "decisions": list_moves,
    "participants": list_participants,
    "payments": list_payments,
    "wide": list_wide,
    "draws": partial(list_moves, table="draws"),
    "times": list_times,
    "codebook": list_codebook,
}
