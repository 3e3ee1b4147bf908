"""Sessions as tables: one row for each answer, or one row for each seat; CSV, JSON or Parquet, with a codebook.

A participant is a code made from the session and the seat, beside the labels that came with the link. Nothing else
personal is kept, so nothing else comes out, unless people write it into their answers and remarks.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

from bestresponse.core.episode import AnyEpisode, Episode, Submission
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, Action, AnyGame, Role
from bestresponse.core.player import Decision
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
    "COLUMNS", "FORMATS", "TABLES", "AnswerPlace", "export_table", "list_codebook", "list_decisions",
    "list_formats", "list_participants", "locate_answers",
]  # fmt: skip

_SETUP = {
    "lobby": "Sessions that were created together share a lobby.",
    "session": "One play of one group.",
    "group": "Number of the group in its lobby, from 1.",
    "part": "Number of the game in the sequence of an experiment, from 1.",
    "treatment": "Treatment of the group; empty where there is none.",
    "created": "Time at which the lobby was created (UTC, ISO 8601).",
    "game": "Name of the game.",
    "parameters": "Parameters of the game that were set, as JSON.",
    "rounds": "Rounds chosen in the setup; 1 where the game sets its own.",
    "mixed": "Whether probabilities were asked for instead of one action.",
    "seconds": "Time limit for an answer in seconds; 0 is no limit.",
    "stand_in_strategy": "Strategy that answers for people whose time is up, who are absent or were replaced.",
    "seed": "Seed of nature and of the strategies.",
    "role": "Role in the game.",
    "seat": "Who fills the seat: person, strategy:NAME or model:NAME.",
    "participant": "Code of the person; empty for strategies and models.",
    "participant_label": "Label from the link, as given.",
    "PROLIFIC_PID": "Label from the link, as given.",
    "STUDY_ID": "Label from the link, as given.",
    "SESSION_ID": "Label from the link, as given.",
}
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "decisions": _SETUP
    | {
        "attempt": "1, or a higher number after the experimenter restarted the table.",
        "discarded": "Whether the table was restarted after this answer; it then counts for no payoff of the session.",
        "round": "Round as the participants were told it; 1 in games without rounds.",
        "stage": "Number of the decision within the round, from 1; answers given at the same time share it.",
        "payoff": "What the role earned from this answer until its next one; empty until everybody has answered.",
        "total": "What the role had earned in all by then.",
        "action": "The answer: an option, a number, or JSON for several fields or probabilities.",
        "answered_by": "person, strategy, model, or stand-in; a stand-in's answer is not the person's.",
        "shown": "Time at which the question was first shown to the person (UTC, milliseconds, by the server's clock).",
        "answered": "Time at which the answer was accepted (UTC, milliseconds, by the server's clock).",
        "timed_out": "Whether the time limit was reached: typed input was sent by the page, or a stand-in answered.",
        "away_times": "How often the page was out of sight (another tab or window) while the question was open.",
        "away_seconds": "For how many seconds in all; empty where the browser did not tell.",
        "status": "How the answer was read: valid, repaired, or why none could be read before a stand-in answered.",
        "how": "What was repaired or why a stand-in answered.",
        "stand_in": "Strategy that answered instead; empty for an answer of the seat itself.",
        "words": "Reasoning given with the answer.",
    },
    "participants": _SETUP
    | {
        "seated": "Time at which the seat was taken by the shared link; empty for a link of one's own.",
        "ready": "Time at which the person had passed the quiz and was ready.",
        "consent": "Whether the consent text was agreed to; empty where there was none.",
        "quiz_tries": "How often the quiz was sent until it was right, counted by the server.",
        "state": "State of the seat when the data were exported.",
        "answers": "Number of answers, those of stand-ins included.",
        "stand_ins": "Number of answers that a stand-in gave.",
        "restarts": "How often the experimenter restarted the table; the other columns tell of the last attempt.",
        "payoff": "Payoff of a play that is over.",
        "remark": "What the person wrote at the end.",
    },
    "payments": {
        "lobby": "Sessions of one experiment share a lobby.",
        "group": "Number of the group in its lobby, from 1.",
        "treatment": "Treatment of the group; empty where there is none.",
        "participant": "Code of the person.",
        **{name: _SETUP[name] for name in ("participant_label", "PROLIFIC_PID", "STUDY_ID", "SESSION_ID")},
        "confirmed": "Whether the person said in the first game that they are ready (consent and quiz included).",
        "consent": "Whether the consent text was agreed to; empty where there was none.",
        "answers": "Number of answers that the person gave, in all games.",
        "stand_ins": "Number of answers that a stand-in or bot gave for the person, in all games.",
        "replaced": "Whether the experimenter replaced the person by a bot.",
        "parts_finished": "Number of games of the group that are over.",
        "parts": "Number of games of the experiment.",
        "finished": "Time at which the last page, with the code, was first shown (UTC); empty before.",
        "seat_points": "Sum of the payoffs of the seat over the games that are over, whoever answered.",
        "points": "What of it is paid: of each game the share of one's own answers; see stand_ins_count.",
        "currency": "Currency of the payment.",
        "stand_ins_count": "What of an answer of a stand-in counts as one's own: none, half, or count (all of it).",
        "show_up": "Money for taking part.",
        "rate": "Money for one point.",
        "least": "Least that is paid.",
        "money": "Money in all: show_up + rate x points, or least if that is more; empty if not confirmed.",
        "completion_code": "Code that was shown on the last page; empty before.",
    },
}


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
    fixed: list[Row] = [
        {"table": table, "column": column, "meaning": meaning}
        for table, columns in COLUMNS.items()
        for column, meaning in columns.items()
    ]
    asked = {f"q_{item.name}": item.text for item in list_items(server, lobby)}
    return fixed + [{"table": "payments", "column": name, "meaning": text} for name, text in asked.items()]


def _list_tables(server: ServerState, lobby: str) -> list[Table]:
    """List the tables of one lobby or of all, the oldest first."""
    lobbies = [server.sessions.get_lobby(lobby)] if lobby else reversed(server.sessions.list_lobbies())
    return [table for one in lobbies for table in one.tables]


def _open(server: ServerState, table: Table) -> Session | None:
    """Open a session, None where it cannot be rebuilt; its answers are exported all the same."""
    try:
        return server.sessions.get_session(table.id)
    except BrokenSession:
        return None


def _describe_table(table: Table) -> Row:
    setup = table.setup
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
    }


def _describe_seat(server: ServerState, table: Table, seat: int, role: str) -> Row:
    who = table.setup.seats[seat]
    holder = server.sessions.register.get(*server.sessions.find_participant(table.id, seat))
    labels = holder.labels if holder else {}
    return (
        _describe_table(table)
        | {"role": role, "seat": who, "participant": server.code(table.id, seat) if who == PERSON else None}
        | {name: labels.get(name) for name in LABELS}
    )


def list_decisions(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each answer of each seat."""
    return [row for table in _list_tables(server, lobby) for row in _list_answers(server, table)]


def _list_answers(server: ServerState, table: Table) -> list[Row]:
    session = _open(server, table)
    attempts = server.sessions.list_attempts(table.id)
    if session is not None:
        with session.lock:
            attempts.append((session.attempt, session.list_answers()))
    last = server.sessions.get_standing(table.id).attempt
    return [
        row
        for number, answers in attempts
        for row in _list_attempt(server, table, answers, {"attempt": number, "discarded": number < last})
    ]


def _list_attempt(server: ServerState, table: Table, answers: list[Answer], about: Row) -> list[Row]:
    """List the answers of one attempt; where it cannot be rebuilt without rounds and payoffs, but none is left out."""
    try:
        game = make_game(table.setup.game)
        places = locate_answers(game, [answer.submission for answer in answers])
    except Exception:  # noqa: BLE001 - the rules of a plug-in can raise anything
        _log.warning("session %s is exported without payoffs", table.id)
        return _list_broken(table, answers, about)
    rows: list[Row] = []
    for answer, place in zip(answers, places, strict=True):
        if (role := answer.submission.role) in game.roles:
            seat = game.roles.index(role)
            rows.append(
                _describe_seat(server, table, seat, role)
                | about
                | {"round": place.round, "stage": place.stage, "payoff": place.payoff, "total": place.total}
                | _describe_answer(answer, (table.setup.seats[seat],))
            )
    return rows


def _list_broken(table: Table, answers: list[Answer], about: Row) -> list[Row]:
    unknown: Row = dict.fromkeys(("seat", "participant", *LABELS))
    unknown |= about | dict.fromkeys(("round", "stage", "payoff", "total"))
    return [
        _describe_table(table) | {"role": answer.submission.role} | unknown | _describe_answer(answer, ())
        for answer in answers
        if answer.submission.role != NATURE
    ]


def _describe_answer(answer: Answer, seats: tuple[str, ...]) -> Row:
    decision, timing = answer.submission.decision, answer.timing
    return {
        "action": _plain(decision.action),
        "answered_by": _say_who(decision, seats),
        "shown": timing.shown,
        "answered": timing.answered,
        "timed_out": timing.timed_out,
        "away_times": timing.away_times,
        "away_seconds": timing.away_seconds,
        "status": decision.reading.status.value,
        "how": decision.reading.how,
        "stand_in": decision.stand_in,
        "words": decision.reasoning,
    }


def _say_who(decision: Decision, seats: tuple[str, ...]) -> str | None:
    """Say whose answer it is, so that the answer of a stand-in is never taken for a person's."""
    if decision.stand_in:
        return "stand-in"
    return seats[0].partition(":")[0] if len(seats) == 1 else None


def _plain(action: Action) -> Cell:
    return action if action is None or isinstance(action, str | int | float) else json.dumps(action, ensure_ascii=False)


def list_participants(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each seat, with what is known at the end and the answers to the questionnaire."""
    ready = {(e["session"], e["seat"]): e["at"] for e in server.sessions.journal.read_events("ready")}
    rows: list[Row] = []
    for table in _list_tables(server, lobby):
        session = _open(server, table)
        for seat in range(len(table.setup.seats)):
            role = session.roles[seat] if session else f"seat {seat + 1}"
            own = _describe_seat(server, table, seat, role)
            own |= _describe_start(server, table, seat, ready.get((table.id, seat)))
            own |= _describe_result(session, seat)
            rows.append(own | {"remark": "\n".join(server.sessions.remarks.get((table.id, seat), []))})
    return rows


def _describe_start(server: ServerState, table: Table, seat: int, ready: str | None) -> Row:
    person = table.setup.seats[seat] == PERSON
    holder = server.sessions.register.get(table.id, seat)
    return {
        "seated": holder.seated if holder else None,
        "ready": ready,
        "consent": ready is not None if table.setup.consent and table.number == 1 and person else None,
        "quiz_tries": holder.quiz_tries if holder and (table.setup.quiz or table.part) else None,
    }


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
