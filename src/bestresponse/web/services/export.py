"""Sessions as tables, with a codebook.

There is a row for each answer, for each person, and for each game of a person.

A participant is a code made from the session and the seat, beside the labels that came with the
link, which tables to be shared leave out. Nothing else personal is kept, so nothing else is
exported, unless people write it into their answers.
"""

import json
import logging
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from importlib.resources import files
from importlib.util import find_spec

from bestresponse.analysis.truth import find_truth, judge_decisions
from bestresponse.core.capabilities import PrivateInformation
from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.game import NATURE, REFEREE, Action, Game, Role, S
from bestresponse.core.json import JsonMapping
from bestresponse.games.strategy_method.rules import StrategyMethod
from bestresponse.report import tables
from bestresponse.report.document import Cell
from bestresponse.runs.reporting.steps import trace_states
from bestresponse.telling.render import write_history, write_private
from bestresponse.web.access import ServerState
from bestresponse.web.experiments.items import Item
from bestresponse.web.experiments.model import Experiment
from bestresponse.web.services.earnings import (
    AnswerPlace,
    Earnings,
    PartEarnings,
    compute_earnings,
    find_outcome,
    locate_answers,
)
from bestresponse.web.services.situation import write_situation
from bestresponse.web.sessions.lobbies import Departed, Lobby
from bestresponse.web.sessions.session import (
    LABELS,
    Holder,
    Moment,
    Session,
    SessionTable,
    TimedAnswer,
)
from bestresponse.web.sessions.setup import PERSON, GameChoice, count_rounds, make_game

Row = dict[str, Cell]
_TEXTS = tomllib.loads(
    files("bestresponse.web.services").joinpath("codebook.toml").read_text("utf-8")
)
_DECISIONS = _TEXTS["setup"] | _TEXTS["decisions"]


def _explain(table: Mapping[str, str]) -> dict[str, str]:
    return {column: text or _DECISIONS[column] for column, text in table.items()}


COLUMNS: Mapping[str, Mapping[str, str]] = {
    "decisions": _DECISIONS,
    "participants": _explain(_TEXTS["participants"]),
    "parts": _TEXTS["setup"] | _TEXTS["parts"],
    "draws": _explain(_TEXTS["draws"]),
    "times": _explain(_TEXTS["times"]),
    "chat": _explain(_TEXTS["chat"]),
}
"""What every exported column means, in the order of the columns."""
FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
_log = logging.getLogger("bestresponse.web")
_DIGITS = re.compile(r"\d+")


def _list_lobbies(server: ServerState, lobby: str) -> list[Lobby]:
    """List the lobby, or all, the oldest first."""
    return [server.sessions.get_lobby(lobby)] if lobby else server.sessions.list_lobbies()[::-1]


def list_items(server: ServerState, lobby: str = "") -> list[Item]:
    """List the questions of the questionnaires, each name once."""
    items = [
        item for known in _list_lobbies(server, lobby) for item in known.experiment.list_items()
    ]
    return list({item.name: item for item in reversed(items)}.values())[::-1]


def list_participants(server: ServerState, lobby: str = "") -> list[Row]:
    """List every person who took a seat or came in vain.

    Rows say what they agreed to, did, earned and answered on pages with questions.
    """
    items = list_items(server, lobby)
    readied = _find_ready(server)
    rows: list[Row] = []
    for study in _list_lobbies(server, lobby):
        for table in study.first_tables:
            for seat in table.setup.persons:
                holder = server.sessions.register.get(table.id, seat)
                ready = readied.get((table.id, seat))
                if holder.is_here or (ready and not holder.released):
                    answers = server.sessions.gather_answers(table.id, seat)
                    person = _describe_person(server, study.experiment, table, seat)
                    rows.append(person | {"ready": ready} | _list_replies(items, answers))
        for number, left in enumerate(server.sessions.departed[study.id]):
            # Whoever came again and has a seat now is one person.
            held = server.sessions.register.find(study.id, left.labels)
            if held is None or not server.sessions.register.get(*held).is_here:
                person = _describe_departed(server, study, number, left)
                rows.append(person | _list_replies(items, left.answers))
    columns = (*COLUMNS["participants"], *(f"q_{item.name}" for item in items))
    return [{name: row.get(name) for name in columns} for row in rows]


def _list_replies(items: Sequence[Item], answers: Mapping[str, Cell]) -> Row:
    return {f"q_{item.name}": answers.get(item.name) for item in items}


def _find_ready(server: ServerState) -> dict[tuple[str, int], str]:
    """Find when the person in each seat was first ready."""
    found: dict[tuple[str, int], str] = {}
    for event in server.sessions.journal.read_events("ready"):
        found.setdefault((event["session"], event["seat"]), event["at"])
    return found


def _describe_departed(server: ServerState, study: Lobby, number: int, left: Departed) -> Row:
    agreed = left.agreed if study.setup.consent else None
    return {
        "lobby": study.id,
        **left.labels,
        "participant": server.departed_code(study.id, number),
        "seated": left.seated,
        "quiz_tries": left.quiz_tries if left.place else None,
        "confirmed": False,
        "consent": agreed,
        "outcome": left.why,
        "finished": left.at,
        "completion_code": study.experiment.completion.find_code(left.why) or None,
    }


def _describe_person(
    server: ServerState, experiment: Experiment, table: SessionTable, seat: int
) -> Row:
    sessions = server.sessions
    holder = sessions.register.get(table.id, seat)
    seats = sessions.list_seats(table.id, seat)
    earnings = compute_earnings(server, experiment, table.id, seat)
    finished = sessions.finished.get((table.id, seat))
    outcome = find_outcome(server, earnings, seats) if finished else None
    agreed = holder.agreed or holder.confirmed
    return {
        "lobby": table.lobby,
        "group": table.group,
        "treatment": table.treatment,
        "participant": server.code(table.id, seat),
        **{name: holder.labels.get(name) for name in LABELS},
        "seated": holder.seated,
        "quiz_tries": _count_tries(table, holder),
        "confirmed": earnings.due,
        "consent": agreed if table.setup.consent else None,
        "answers": earnings.answers,
        "stand_ins": earnings.stand_ins,
        "replaced": any(held in sessions.standings[name].replaced for name, held in seats),
        "parts_finished": sum(sessions.is_finished(name) for name, _ in seats),
        "parts": len(seats),
        "outcome": outcome,
        "finished": finished,
        "completion_code": (experiment.completion.find_code(outcome) or None) if outcome else None,
        "seat_points": earnings.seat_points,
        "points": earnings.points,
        **(_describe_payment(experiment, earnings) if experiment.payment else {}),
    }


def _describe_payment(experiment: Experiment, earnings: Earnings) -> Row:
    payment = earnings.payment
    drawn = [part for part in earnings.parts if part.round]
    return {
        "currency": payment.currency,
        "stand_ins_count": payment.stand_ins,
        "show_up": float(payment.show_up),
        "least": float(payment.least),
        "most": None if payment.most is None else float(payment.most),
        "payment_seed": experiment.seed,
        "paid": payment.paid,
        "game_draw": earnings.draw,
        "paid_game": earnings.paid or None,
        "paid_rounds": ", ".join(f"{part.name}: {part.round}" for part in drawn) or None,
        "settled": earnings.settled,
        "money": float(earnings.total) if earnings.due else None,
    }


def _count_tries(table: SessionTable, holder: Holder) -> int | None:
    """Count how often the quiz was sent; None where there is none."""
    asked = table.setup.quiz or table.part.game.questions
    return holder.quiz_tries if holder.quiz_tries and asked else None


def list_formats() -> list[str]:
    """List the formats that can be written here; Parquet needs a package of its own."""
    return [form for form in FORMATS if form != "parquet" or find_spec("pyarrow") is not None]


def export_table(server: ServerState, table: str, form: str, lobby: str = "") -> bytes:
    """Export the table in that format, of one lobby or of all.

    Raises UsageError if there is no table of that name.
    """
    if table not in TABLES or form not in FORMATS:
        raise UsageError(
            f"there is no export {table}.{form}; known: {', '.join(TABLES)} as {', '.join(FORMATS)}"
        )
    if form not in list_formats():
        raise UsageError(f"Parquet needs the extra `parquet`: {install_hint('parquet')}")
    return _write(TABLES[table](server, lobby), form)


def export_without_labels(server: ServerState) -> dict[str, bytes]:
    """Write every table of all lobbies as CSV, by file name, without the labels of links."""
    written = {}
    for table, list_rows in TABLES.items():
        rows = []
        for row in list_rows(server, ""):
            if row.get("column") not in LABELS:
                rows.append({name: cell for name, cell in row.items() if name not in LABELS})
        written[f"{table}.csv"] = _write(rows, "csv")
    return written


def _write(rows: Sequence[Row], form: str) -> bytes:
    if form == "parquet":
        return tables.to_parquet(rows)
    return (tables.to_csv(rows) if form == "csv" else tables.to_json(rows)).encode("utf-8")


def list_codebook(server: ServerState, lobby: str = "") -> list[Row]:
    """Describe every column of the other tables, those of the questionnaires too."""
    asked = {f"q_{item.name}": item.text for item in list_items(server, lobby)}
    described = {**COLUMNS, "participants": {**COLUMNS["participants"], **asked}}
    described["wide"] = {
        "g1_points, ...": "Points in game 1 that count for the person; empty where it is not over.",
        "g1_money, ...": "Money for them, not rounded, without the bonus; 0 where not drawn.",
        "g1_r2_1, ...": "Answer in game 1, round 2, stage 1; beside all columns of participants.",
    }
    columns = [
        (table, *column) for table, columns in described.items() for column in columns.items()
    ]
    return [
        {"table": table, "column": column, "meaning": meaning} for table, column, meaning in columns
    ]


def _list_tables(server: ServerState, lobby: str) -> list[tuple[SessionTable, Session | None]]:
    """List the tables of one lobby or of all, the oldest first.

    A session that cannot be rebuilt is None.
    """
    found = []
    for known in _list_lobbies(server, lobby):
        for table in known.tables:
            found.append((table, server.sessions.find_session(table.id)))
    return found


def _count_rounds(choice: GameChoice) -> int | None:
    """Count the rounds of a game.

    Returns None where a plug-in that brought it is gone, so that nobody can tell.
    """
    try:
        return count_rounds(choice)
    except BestResponseError:
        return None


def _describe_seat(server: ServerState, table: SessionTable, seat: int | None, role: str) -> Row:
    """Describe a table and a seat of it; None stands for one that is not known."""
    setup = table.setup
    occupant = None if seat is None else setup.seats[seat]
    holder = server.sessions.register.get(
        *server.sessions.find_participant(table.id, -1 if seat is None else seat)
    )
    if holder.released:
        # Nobody has the seat of a person who was screened out; a stand-in plays it.
        holder = Holder()
        occupied = False
    else:
        occupied = occupant == PERSON
    return {
        **{name: getattr(table, name) for name in ("lobby", "group", "treatment", "created")},
        "rounds": _count_rounds(setup.game),
        "mixed": setup.game.mixed,
        **{name: getattr(setup, name) for name in ("seconds", "seed")},
        "session": table.id,
        "part": table.number,
        "game": setup.game.name,
        "parameters": (
            json.dumps(setup.game.parameters, ensure_ascii=False) if setup.game.parameters else ""
        ),
        "stand_in_strategy": setup.stand_in,
        "role": role,
        "seat": occupant,
        "participant": server.code(table.id, seat) if seat is not None and occupied else None,
        **{name: holder.labels.get(name) for name in LABELS},
    }


def list_moves(server: ServerState, lobby: str = "", table: str = "decisions") -> list[Row]:
    """List one row for each answer of a seat.

    As `draws`, lists one for each answer of nature and for each ruling of a referee.
    """
    rows = [
        row
        for row in _list_moves(server, lobby)
        if (row["role"] in (NATURE, REFEREE)) == (table == "draws")
    ]
    return [{name: row[name] for name in COLUMNS[table]} for row in rows]


def _list_moves(server: ServerState, lobby: str) -> Iterator[Row]:
    for table, session in _list_tables(server, lobby):
        attempts = server.sessions.list_attempts(table.id)
        if session is not None:
            with session.lock:
                attempts.append((session.attempt, session.list_answers()))
        last = server.sessions.standings[table.id].attempt
        for number, answers in attempts:
            for row in _list_answers(server, table, answers):
                yield row | {"attempt": number, "discarded": number < last}


def _list_answers(
    server: ServerState, table: SessionTable, answers: list[TimedAnswer]
) -> list[Row]:
    """List the answers of one attempt.

    Where it cannot be rebuilt without rounds and payoffs, but none is left out.
    """
    roles: tuple[Role, ...] = ()
    lost: Mapping[int, float] = {}
    counted: Mapping[Role, Action] = {}
    turns: list[AnswerPlace] | list[None] = [None] * len(answers)
    seen: list[Row] = [dict.fromkeys(("situation", "prompt", "private", "known")) for _ in answers]
    try:
        game = make_game(table.setup.game)
        submissions = [answer.submission for answer in answers]
        turns = locate_answers(game, submissions)
        seen = _list_seen(table, game, submissions)
        lost = _judge(game, submissions)
        counted = _find_counted(game, submissions)
        roles = game.roles
    except Exception:  # noqa: BLE001 - the rules of a plug-in can raise anything
        _log.warning("session %s is exported without payoffs", table.id)
    rows: list[Row] = []
    for number, (answer, turn, view) in enumerate(zip(answers, turns, seen, strict=True), 1):
        role = answer.submission.role
        decision = answer.submission.decision
        seat = roles.index(role) if role in roles else None
        occupant = None if seat is None else table.setup.seats[seat].partition(":")[0]
        plain = decision.action is None or isinstance(decision.action, str | int | float)
        rows.append(
            _describe_seat(server, table, seat, role)
            | (asdict(turn) if turn else dict.fromkeys(("round", "stage", "payoff", "total")))
            | asdict(answer.timing)
            | view
            | {
                "number": number,
                "regret": lost.get(number),
                "action": decision.action if plain else _dump(decision.action),
                "counted": counted.get(role),
                # The answer of a stand-in is never taken for a person's.
                "answered_by": "stand-in" if decision.stand_in else occupant,
                "status": decision.reading.status.value,
                "how": decision.reading.how,
                "stand_in": decision.stand_in,
                "words": decision.reasoning,
            }
        )
    return rows


def _judge(game: Game[S], submissions: Sequence[Submission]) -> dict[int, float]:
    """Say what each answer lost at which something could be lost, where single ones are judged."""
    truth = find_truth(game)
    if truth is None or not truth.judges_moves:
        return {}
    record = Record(game.name, game.version, {}, tuple(submissions), {})
    priced = judge_decisions(record, game, truth)
    return {number: one.least for number, one in priced.items() if one.stake}


def _find_counted(game: Game[S], submissions: Sequence[Submission]) -> dict[Role, Action]:
    """Find the answers that count where people answered for every case."""
    *_, last = trace_states(game, submissions)
    if not isinstance(game, StrategyMethod):
        return {}
    return {role: game.find_counted(last, role) for role in game.roles}


def _list_seen(table: SessionTable, game: Game[S], submissions: Sequence[Submission]) -> list[Row]:
    """List what was known before each answer.

    This is the text of a person's page, what a model was told, what one seat alone knew, and all
    as data.
    """
    seen: list[Row] = []
    for submission, state in zip(submissions, trace_states(game, submissions), strict=False):
        role = submission.role
        if role not in game.roles:
            seen.append(dict.fromkeys(("situation", "prompt", "private", "known")))
            continue
        view = game.view(state, role)
        occupant = table.setup.seats[game.roles.index(role)]
        situation = prompt = private = None
        if occupant == PERSON:
            ask = game.asks(state).get(role)
            situation = write_situation(game, state, role, ask, table.texts)
        elif occupant.startswith("model:"):
            prompt = write_history(view)
        if isinstance(game, PrivateInformation):
            listed = game.list_private(state, role)
            private = write_private(view, listed, table.texts.language)
        seen.append(
            {
                "situation": situation,
                "prompt": prompt,
                "private": private,
                "known": _dump(dict(view.facts)),
            }
        )
    return seen


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def list_times(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each page that a person came to, with the time until the next.

    The time is by a steady clock.
    """
    tables = {table.id: table for table, _ in _list_tables(server, lobby)}
    visits: dict[tuple[str, int], list[JsonMapping]] = {}
    for event in server.sessions.journal.read_events("seated", "shown", "moved"):
        table = tables.get(event["session"])
        if table is None or table.setup.seats[event["seat"]] != PERSON:
            continue
        person = server.sessions.find_participant(table.id, event["seat"])
        if event["event"] == "seated":
            # Whoever held the seat before is another person.
            visits[person] = []
        elif event["event"] == "moved":
            other = (event["to"], event["to_seat"])
            seen_here = visits.pop(person, [])
            visits[person] = visits.pop(other, [])
            visits[other] = seen_here
        else:
            visits.setdefault(person, []).append(event)
    rows: list[Row] = []
    for person, pages in visits.items():
        if server.sessions.register.get(*person).released:
            continue
        for seen, following in zip(pages, [*pages[1:], None], strict=True):
            table = tables[seen["session"]]
            turn = seen.get("turn")
            spent = Moment.of(seen).seconds_until(Moment.of(following)) if following else None
            visit = _describe_seat(server, table, seen["seat"], "") | {
                "participant": server.code(*person),
                "page": seen.get("page", "question"),
                "question": None if turn is None else turn + 1,
                "at": seen["at"],
                "spent": spent,
            }
            rows.append({name: visit[name] for name in COLUMNS["times"]})
    return rows


def list_chat_messages(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each message that somebody wrote to their group beside a game."""
    rows: list[Row] = []
    for table, session in _list_tables(server, lobby):
        messages = server.sessions.standings[table.id].chat
        rounds = _list_answer_rounds(server, table, session) if messages else {}
        for message in messages:
            role = session.roles[message.seat] if session else f"seat {message.seat + 1}"
            row = _describe_seat(server, table, message.seat, role)
            row |= {
                "attempt": message.attempt,
                "discarded": message.attempt < server.sessions.standings[table.id].attempt,
                "round": rounds.get((message.attempt, message.after)),
                "at": message.at,
                "text": message.text,
            }
            rows.append({name: row[name] for name in COLUMNS["chat"]})
    return rows


def _list_answer_rounds(
    server: ServerState, table: SessionTable, session: Session | None
) -> dict[tuple[int, int], int]:
    """List the round of every answer, by attempt and number from 0.

    It is empty where the play cannot be rebuilt.
    """
    attempts = server.sessions.list_attempts(table.id)
    if session is None:
        return {}
    with session.lock:
        attempts.append((session.attempt, session.list_answers()))
    rounds: dict[tuple[int, int], int] = {}
    for attempt, answers in attempts:
        places = locate_answers(session.game, [answer.submission for answer in answers])
        rounds |= {(attempt, number): place.round for number, place in enumerate(places)}
    return rounds


def list_wide(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each person of an experiment.

    It has all of `participants`, what every game brought, and every answer in a separate column.
    """
    cells: dict[Cell, Row] = {}
    for row in list_parts(server, lobby):
        if row["participant"]:
            brought = cells.setdefault(row["participant"], {})
            brought[f"g{row['part']}_points"] = row["points"]
            brought[f"g{row['part']}_money"] = row["money"]
    for row in list_moves(server, lobby):
        if row["participant"] and not row["discarded"]:
            name = f"g{row['part']}_r{row['round']}_{row['stage']}"
            cells.setdefault(row["participant"], {})[name] = row["action"]
    # In the order in which they were met: that of a set is another one in every process.
    names = dict.fromkeys(name for row in cells.values() for name in row)
    columns = sorted(names, key=lambda name: [*map(int, _DIGITS.findall(name))])
    return [
        row | {name: cells.get(row["participant"], {}).get(name) for name in columns}
        for row in list_participants(server, lobby)
    ]


def list_parts(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each seat of each game: how far it came, and what it brought the person."""
    readied = _find_ready(server)
    brought = _find_part_earnings(server, lobby)
    rows: list[Row] = []
    for table, session in _list_tables(server, lobby):
        for seat in range(len(table.setup.seats)):
            role = session.roles[seat] if session else f"seat {seat + 1}"
            row = _describe_seat(server, table, seat, role)
            row |= {"name": table.part.name or table.setup.game.name}
            row |= {"ready": readied.get((table.id, seat))}
            row |= _describe_result(session, seat) | brought.get((table.id, seat), {})
            rows.append({name: row.get(name) for name in COLUMNS["parts"]})
    return rows


def _find_part_earnings(server: ServerState, lobby: str) -> dict[tuple[str, int], Row]:
    """Find what each game of each person brought, by session and seat."""
    found: dict[tuple[str, int], Row] = {}
    for study in _list_lobbies(server, lobby):
        for table in study.first_tables:
            for seat in table.setup.persons:
                if not server.sessions.register.get(table.id, seat).is_here:
                    continue
                earnings = compute_earnings(server, study.experiment, table.id, seat)
                parts = {part.name: part for part in earnings.parts}
                for name, held in server.sessions.list_seats(table.id, seat):
                    part = parts.get(server.sessions.get_table(name).part.name)
                    if part is not None:
                        found[name, held] = _describe_points(part)
                        if study.experiment.payment is not None:
                            found[name, held] |= _describe_money(earnings, part)
    return found


def _describe_points(part: PartEarnings) -> Row:
    return {
        "rounds_played": part.rounds,
        "rounds_missed": part.missed,
        "points": part.points if part.counts else None,
    }


def _describe_money(earnings: Earnings, part: PartEarnings) -> Row:
    paid = earnings.is_paid(part)
    return {
        "round_draw": part.draw,
        "paid_round": part.round,
        "paid": paid,
        "rate": float(part.rate),
        "most": None if part.most is None else float(part.most),
        "bonus": float(part.bonus),
        "money": float(part.money) if paid else 0.0,
    }


def _describe_result(session: Session | None, seat: int) -> Row:
    if session is None:
        return {"state": "cannot be rebuilt"} | dict.fromkeys(
            ("answers", "stand_ins", "restarts", "payoff")
        )
    role = session.roles[seat]
    with session.lock:
        over = session.begun and session.over and not session.episode.void
        counts = {
            "answers": session.turn(role),
            "stand_ins": session.stand_ins(role),
            "restarts": session.attempt - 1,
        }
        return {
            "state": session.state(seat),
            **counts,
            "payoff": session.payoffs()[role] if over else None,
        }


TABLES: dict[str, Callable[[ServerState, str], list[Row]]] = {
    "decisions": list_moves,
    "participants": list_participants,
    "parts": list_parts,
    "wide": list_wide,
    "draws": partial(list_moves, table="draws"),
    "times": list_times,
    "chat": list_chat_messages,
    "codebook": list_codebook,
}
