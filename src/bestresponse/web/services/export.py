"""Sessions as tables: one row for each answer, or one row for each seat; CSV, JSON or Parquet, with a codebook.

A participant is a code made from the session and the seat, beside the labels that came with the link. Nothing else
personal is kept, so nothing else comes out, unless people write it into their answers and remarks.
"""

from __future__ import annotations

import json
import logging
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from importlib.util import find_spec

from bestresponse.core.episode import AnyEpisode, Episode, Submission
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, AnyGame, Role
from bestresponse.games.capabilities import HasStage
from bestresponse.report import tables
from bestresponse.report.document import Cell
from bestresponse.web.access import ServerState
from bestresponse.web.services import File
from bestresponse.web.services.payments import list_items, list_payments
from bestresponse.web.sessions.games import make_game
from bestresponse.web.sessions.register import LABELS
from bestresponse.web.sessions.session import Answer, Session, Table, round_amount
from bestresponse.web.sessions.setup import PERSON
from bestresponse.web.sessions.store import BrokenSession

__all__ = [
    "COLUMNS", "FORMATS", "TABLES", "AnswerPlace", "export_table", "list_decisions", "list_formats", "locate_answers",
]  # fmt: skip

_TEXTS = tomllib.loads(files("bestresponse.web.texts").joinpath("en", "codebook.toml").read_text("utf-8"))
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "decisions": _TEXTS["setup"] | _TEXTS["decisions"],
    "participants": _TEXTS["setup"] | _TEXTS["participants"],
    "payments": _TEXTS["payments"],
}
"""What every exported column means, in the order of the columns."""
_ROUND = re.compile(r"\b(?:round|day)\s+(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """`stage` counts within the round from 1; payoffs are None until the stage is complete."""

    round: int
    stage: int
    payoff: float | None = None
    total: float | None = None


def locate_answers(game: AnyGame, submissions: Sequence[Submission]) -> list[AnswerPlace]:
    """Place every answer of a play, nature's too, in the order of the submissions."""
    episode: AnyEpisode = Episode(game)
    found: list[AnswerPlace] = []
    stages: dict[int, int] = {}
    latest: dict[Role, int] = {}
    number, here = 0, (1, 0)
    opened = False
    for index, submission in enumerate(submissions):
        if submission.role != NATURE and not opened:
            number, opened = number + 1, True
            current = _find_round(game, episode, submission.role, number)
            stages[current] = stages.get(current, 0) + 1
            here = (current, stages[current])
        found.append(AnswerPlace(*here))
        latest[submission.role] = index
        before = episode.state
        episode.submit(submission.role, submission.decision)
        if episode.state is not before:
            opened = False
            _pay(found, latest, game.payoffs(episode.state), submissions)
    return found


def _pay(
    found: list[AnswerPlace], latest: Mapping[Role, int], earned: Mapping[Role, float], given: Sequence[Submission]
) -> None:
    """Credit what each role has earned since its answer before the latest to its latest answer."""
    for role, total in earned.items():
        if role in latest:
            before = sum(p.payoff or 0.0 for p, s in zip(found, given, strict=False) if s.role == role)
            before -= found[latest[role]].payoff or 0.0
            found[latest[role]] = replace(
                found[latest[role]], payoff=round_amount(total - before), total=round_amount(total)
            )


def _find_round(game: AnyGame, episode: AnyEpisode, role: Role, number: int) -> int:
    if isinstance(game, HasStage):
        return number
    view = episode.view(role)
    now = view.facts.get("now")
    told = _ROUND.search(now if isinstance(now, str) else view.situation)
    return int(told[1]) if told else 1


Row = dict[str, Cell]
FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json", "parquet": "application/vnd.apache.parquet"}
_log = logging.getLogger("bestresponse.web")


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


def list_decisions(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each answer of each seat."""
    rows: list[Row] = []
    for table, session in _list_tables(server, lobby):
        attempts = server.sessions.list_attempts(table.id)
        if session is not None:
            with session.lock:
                attempts.append((session.attempt, session.list_answers()))
        last = server.sessions.get_standing(table.id).attempt
        for number, answers in attempts:
            about: Row = {"attempt": number, "discarded": number < last}
            rows += [row | about for row in _list_answers(server, table, answers)]
    return [{name: row[name] for name in COLUMNS["decisions"]} for row in rows]


def _list_answers(server: ServerState, table: Table, answers: list[Answer]) -> list[Row]:
    """List the answers of one attempt; where it cannot be rebuilt without rounds and payoffs, but none is left out."""
    roles: tuple[Role, ...] | None = None
    places: list[AnswerPlace] | list[None] = [None] * len(answers)
    try:
        game = make_game(table.setup.game)
        places, roles = locate_answers(game, [answer.submission for answer in answers]), game.roles
    except Exception:  # noqa: BLE001 - the rules of a plug-in can raise anything
        _log.warning("session %s is exported without payoffs", table.id)
    rows: list[Row] = []
    for answer, place in zip(answers, places, strict=True):
        role, decision = answer.submission.role, answer.submission.decision
        if role == NATURE or (roles is not None and role not in roles):
            continue
        seat = None if roles is None else roles.index(role)
        occupant = None if seat is None else table.setup.seats[seat].partition(":")[0]
        plain = decision.action is None or isinstance(decision.action, str | int | float)
        rows.append(
            _describe_seat(server, table, seat, role)
            | (asdict(place) if place else dict.fromkeys(("round", "stage", "payoff", "total")))
            | asdict(answer.timing)
            | {
                "action": decision.action if plain else json.dumps(decision.action, ensure_ascii=False),
                # The answer of a stand-in is never taken for a person's.
                "answered_by": "stand-in" if decision.stand_in else occupant,
                "status": decision.reading.status.value,
                "how": decision.reading.how,
                "stand_in": decision.stand_in,
                "words": decision.reasoning,
            }
        )
    return rows


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
                    "quiz_tries": holder.quiz_tries if holder and (table.setup.quiz or table.part) else None,
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
    "decisions": list_decisions,
    "participants": list_participants,
    "payments": list_payments,
    "codebook": list_codebook,
}
