"""What participants have earned, and sessions as tables: a row for each answer, seat or person,
with a codebook.

A participant is a code made from the session and the seat, beside the labels that came with the
link. Nothing else personal is kept, so nothing else comes out, unless people write it into their
answers.
"""

import json
import logging
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from itertools import pairwise

from bestresponse.core.capabilities import PrivateInformation, find_round
from bestresponse.core.episode import Submission
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.game import NATURE, REFEREE, Game, Role, S
from bestresponse.core.json import JsonMapping
from bestresponse.core.seeds import generator
from bestresponse.report import tables
from bestresponse.report.document import Cell
from bestresponse.runs.reporting.steps import round_amount, trace_states
from bestresponse.telling.render import write_history, write_private
from bestresponse.web.access import ServerState
from bestresponse.web.experiments.model import Experiment, Item, Outcome, Payment
from bestresponse.web.sessions.session import (
    LABELS,
    Session,
    SessionTable,
    TimedAnswer,
)
from bestresponse.web.sessions.setup import PERSON, GameChoice, count_rounds, make_game
from bestresponse.web.sessions.store import Lobby

Row = dict[str, Cell]
_TEXTS = tomllib.loads(
    files("bestresponse.web.services").joinpath("codebook.toml").read_text("utf-8")
)
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "decisions": _TEXTS["setup"] | _TEXTS["decisions"],
    "participants": _TEXTS["setup"] | _TEXTS["participants"],
    **{table: _TEXTS[table] for table in ("payments", "draws", "times")},
}
"""What every exported column means, in the order of the columns."""
_CENT = Decimal("0.01")
FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
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


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """`stage` counts within the round from 1; payoffs are None until the stage is complete."""

    round: int
    stage: int
    payoff: float | None = None
    total: float | None = None


def locate_answers(game: Game[S], submissions: Sequence[Submission]) -> list[AnswerPlace]:
    """Place every answer of a play, nature's too, in the order of the submissions.

    The round is the one that the game says. A draw has the stage of the answers before it, 0 where
    the round begins with it.
    """
    turns: list[AnswerPlace] = []
    stages: Counter[int] = Counter()
    latest: dict[Role, int] = {}
    opened = False
    steps = zip(submissions, pairwise(trace_states(game, submissions)), strict=True)
    for index, (submission, (before, after)) in enumerate(steps):
        current = find_round(game, before)
        if submission.role != NATURE and not opened:
            opened = True
            stages[current] += 1
        turns.append(AnswerPlace(current, stages[current]))
        latest[submission.role] = index
        if after is not before:
            opened = False
            _credit(turns, latest, game.payoffs(after), submissions)
    return turns


def _credit(
    turns: list[AnswerPlace],
    latest: Mapping[Role, int],
    earned: Mapping[Role, float],
    answers: Sequence[Submission],
) -> None:
    """Credit what each role has earned since its answer before the latest to its latest answer."""
    for role, total in earned.items():
        if role in latest:
            turn = turns[latest[role]]
            before = sum(
                p.payoff or 0.0 for p, s in zip(turns, answers, strict=False) if s.role == role
            )
            payoff = round_amount(total - before + (turn.payoff or 0.0))
            turns[latest[role]] = replace(turn, payoff=payoff, total=round_amount(total))


@dataclass(frozen=True, slots=True)
class PartEarnings:
    """What one game brings: the points of the seat, those that count for the person, and the money
    for these.

    `bonus` is for taking part, and is paid whichever game or round is drawn. `round` is the one
    that was drawn to be paid, None where all are. `answers` are all of the seat, `stand_ins` those
    that the person did not give.
    """

    name: str
    seat_points: float
    points: float
    money: Decimal
    answers: int
    stand_ins: int
    round: int | None = None
    bonus: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Earnings:
    """What a participant has earned; money is due only to whoever confirmed the seat (consent and
    quiz included).

    `paid` is the name of the game that was drawn to be paid, empty where all are.
    """

    payment: Payment
    due: bool
    parts: tuple[PartEarnings, ...]
    paid: str = ""

    @property
    def answers(self) -> int:
        """How many answers the person gave."""
        return sum(part.answers - part.stand_ins for part in self.parts)

    @property
    def stand_ins(self) -> int:
        """How many answers stand-ins or bots gave."""
        return sum(part.stand_ins for part in self.parts)

    @property
    def seat_points(self) -> float:
        """The points of the seat in all games that count, whoever answered."""
        return round_amount(sum(part.seat_points for part in self.parts))

    @property
    def points(self) -> float:
        """The points that count for the person."""
        return round_amount(sum(part.points for part in self.parts if self.paid in ("", part.name)))

    @property
    def total(self) -> Decimal:
        """What is paid."""
        earned = Decimal(0)
        for part in self.parts:
            earned += part.bonus
            if self.paid in ("", part.name):
                earned += part.money
        return self.payment.settle(earned)

    @property
    def for_points(self) -> Decimal:
        """The part of the total that is not for showing up."""
        return self.total - self.payment.show_up.quantize(_CENT)


def compute_earnings(
    server: ServerState, experiment: Experiment, session: str, seat: int
) -> Earnings:
    """Work out what the person has earned in the games that count; any other brings nothing."""
    payment = experiment.payment or Payment("none")
    person = server.sessions.find_participant(session, seat)
    holder = server.sessions.register.get(*person)
    parts: list[PartEarnings] = []
    for name, part_seat in server.sessions.list_seats(session, seat):
        part = server.sessions.find_session(name)
        if part is None:
            continue
        with part.lock:
            draw = generator(experiment.seed, "paid round", *person, name).random()
            parts.append(compute_part(part, part_seat, payment, draw))
    paid = ""
    if payment.paid == "random game" and parts:
        paid = generator(experiment.seed, "paid game", *person).choice(parts).name
    return Earnings(payment, holder.confirmed, tuple(parts), paid)


def compute_part(session: Session, seat: int, payment: Payment, draw: float) -> PartEarnings:
    """Work out a game: all of its points or those of the round that was drawn, by the share that is
    the person's own.

    A game that was closed counts as far as it was played where the experiment says so.
    """
    role = session.roles[seat]
    part = session.table.part
    counts = session.begun and (
        session.over or (session.standing.closed and payment.unfinished == "so far")
    )
    submissions = [
        submission for submission in session.episode.submissions if submission.role == role
    ]
    in_person = [not submission.decision.stand_in for submission in submissions]
    payoff = session.payoffs().get(role, 0.0) if counts else 0.0
    points = payoff
    chosen = in_person
    drawn = None
    if counts and payment.paid == "random round":
        every = session.episode.submissions
        located = [
            turn
            for turn, s in zip(locate_answers(session.game, every), every, strict=True)
            if s.role == role
        ]
        # A round in which the table was closed has no payoff yet.
        if rounds := sorted({turn.round for turn in located if turn.payoff is not None}):
            drawn = rounds[int(draw * len(rounds))]
            chosen = [
                mine for mine, turn in zip(in_person, located, strict=True) if turn.round == drawn
            ]
            points = sum(turn.payoff or 0.0 for turn in located if turn.round == drawn)
    # Where nothing was asked, being there counts as one answer.
    chosen = chosen or [seat in session.standing.ready and seat not in session.standing.replaced]
    counted = round_amount(points * payment.compute_share(len(chosen), chosen.count(False)))
    money = part.game.convert(counted, payment) if counts else Decimal(0)
    took_part = counts and True in (*chosen, *in_person)
    return PartEarnings(
        name=part.name,
        seat_points=payoff,
        points=counted,
        money=money,
        answers=len(in_person),
        stand_ins=in_person.count(False),
        round=drawn,
        bonus=part.game.bonus if took_part else Decimal(0),
    )


def find_outcome(
    server: ServerState, earnings: Earnings, seats: Sequence[tuple[str, int]]
) -> Outcome:
    """Tell whether a person who sees the last page has finished: not closed, not replaced, half of
    the answers own."""
    standings = [(server.sessions.standings[name], seat) for name, seat in seats]
    ended = any(standing.closed or seat in standing.replaced for standing, seat in standings)
    return "unfinished" if ended or earnings.stand_ins > earnings.answers else "finished"


def _list_lobbies(server: ServerState, lobby: str) -> list[Lobby]:
    """List the lobby, or all, the oldest first."""
    return [server.sessions.get_lobby(lobby)] if lobby else server.sessions.list_lobbies()[::-1]


def list_items(server: ServerState, lobby: str = "") -> list[Item]:
    """List the questions of the questionnaires, each name once."""
    items = [
        item for known in _list_lobbies(server, lobby) for item in known.experiment.list_items()
    ]
    return list({item.name: item for item in reversed(items)}.values())[::-1]


def list_payments(server: ServerState, lobby: str = "") -> list[Row]:
    """List every person who took a seat or was turned away, with points, money, codes and the
    questionnaire."""
    items = list_items(server, lobby)
    rows: list[Row] = []
    for study in (lobby for lobby in _list_lobbies(server, lobby) if lobby.source):
        for table in study.first_tables:
            for seat in table.setup.persons:
                if server.sessions.register.get(table.id, seat).is_here:
                    answers = server.sessions.gather_answers(table.id, seat)
                    person = _describe_person(server, study.experiment, table, seat)
                    rows.append(
                        person | {f"q_{item.name}": answers.get(item.name) for item in items}
                    )
        for left in server.sessions.departed[study.id]:
            person = {
                "lobby": study.id,
                **left["labels"],
                "confirmed": False,
                "consent": left["why"] != "no consent",
            }
            code = study.experiment.completion.find_code(left["why"]) or None
            rows.append(
                person | {"outcome": left["why"], "finished": left["at"], "completion_code": code}
            )
    columns = (*COLUMNS["payments"], *(f"q_{item.name}" for item in items))
    return [{name: row.get(name) for name in columns} for row in rows]


def _describe_person(
    server: ServerState, experiment: Experiment, table: SessionTable, seat: int
) -> Row:
    sessions = server.sessions
    payment = experiment.payment
    holder = sessions.register.get(table.id, seat)
    seats = sessions.list_seats(table.id, seat)
    earnings = compute_earnings(server, experiment, table.id, seat)
    finished = sessions.finished.get((table.id, seat))
    outcome = find_outcome(server, earnings, seats)
    return {
        **{name: getattr(table, name) for name in ("lobby", "group", "treatment")},
        **{
            name: getattr(earnings, name)
            for name in ("answers", "stand_ins", "seat_points", "points")
        },
        "participant": server.code(table.id, seat),
        **{name: holder.labels.get(name) for name in LABELS},
        "confirmed": earnings.due,
        "consent": earnings.due if table.setup.consent else None,
        "replaced": any(held in sessions.standings[name].replaced for name, held in seats),
        "parts_finished": sum(sessions.is_finished(name) for name, _ in seats),
        "parts": len(seats),
        "outcome": outcome if finished else None,
        "finished": finished,
        "currency": payment.currency if payment else None,
        "stand_ins_count": payment.stand_ins if payment else None,
        **{
            name: float(getattr(payment, name)) if payment else None
            for name in ("show_up", "rate", "least")
        },
        "paid_game": earnings.paid or None,
        "paid_rounds": (
            ", ".join(f"{part.name}: {part.round}" for part in earnings.parts if part.round) or None
        ),
        "money": float(earnings.total) if payment and earnings.due else None,
        "completion_code": (experiment.completion.find_code(outcome) or None) if finished else None,
    }


def list_formats() -> list[str]:
    """List the formats that can be written here; Parquet needs a package of its own."""
    return [form for form in FORMATS if form != "parquet" or find_spec("pyarrow") is not None]


def export_table(server: ServerState, table: str, form: str, lobby: str = "") -> bytes:
    """Export the table in that format, of one lobby or of all; UsageError where there is none of
    that name."""
    if table not in TABLES or form not in FORMATS:
        raise UsageError(
            f"there is no export {table}.{form}; known: {', '.join(TABLES)} as {', '.join(FORMATS)}"
        )
    if form not in list_formats():
        raise UsageError(f"Parquet needs the extra `parquet`: {install_hint('parquet')}")
    rows = TABLES[table](server, lobby)
    if form == "parquet":
        return tables.to_parquet(rows)
    return (tables.to_csv(rows) if form == "csv" else tables.to_json(rows)).encode("utf-8")


def list_codebook(server: ServerState, lobby: str = "") -> list[Row]:
    """Describe every column of the other tables, those of the questionnaires too."""
    asked = {f"q_{item.name}": item.text for item in list_items(server, lobby)}
    described = {**COLUMNS, "payments": {**COLUMNS["payments"], **asked}}
    described["wide"] = {
        "g1_r2_1, ...": "Answer in game 1, round 2, stage 1; beside all columns of payments."
    }
    columns = [
        (table, *column) for table, columns in described.items() for column in columns.items()
    ]
    return [
        {"table": table, "column": column, "meaning": meaning} for table, column, meaning in columns
    ]


def _list_tables(server: ServerState, lobby: str) -> list[tuple[SessionTable, Session | None]]:
    """List the tables of one lobby or of all, the oldest first; a session that cannot be rebuilt is
    None."""
    tables = [table for known in _list_lobbies(server, lobby) for table in known.tables]
    return [(table, server.sessions.find_session(table.id)) for table in tables]


def _count_rounds(choice: GameChoice) -> int | None:
    """Count the rounds of a game; None where a plug-in that brought it is gone, so that nobody can
    tell."""
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
        "participant": (
            server.code(table.id, seat) if seat is not None and occupant == PERSON else None
        ),
        **{name: holder.labels.get(name) for name in LABELS},
    }


def list_moves(server: ServerState, lobby: str = "", table: str = "decisions") -> list[Row]:
    """List one row for each answer of a seat, or as `draws` for each of nature and for each ruling
    of a referee."""
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
    """List the answers of one attempt; where it cannot be rebuilt without rounds and payoffs, but
    none is left out."""
    roles: tuple[Role, ...] = ()
    turns: list[AnswerPlace] | list[None] = [None] * len(answers)
    seen: list[Row] = [dict.fromkeys(("situation", "private", "known")) for _ in answers]
    try:
        game = make_game(table.setup.game)
        submissions = [answer.submission for answer in answers]
        turns = locate_answers(game, submissions)
        seen = _list_seen(game, submissions)
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


def _list_seen(game: Game[S], submissions: Sequence[Submission]) -> list[Row]:
    """List what was known before each answer: the situation in words, what one seat alone knew, and
    both as data."""
    seen: list[Row] = []
    for submission, state in zip(submissions, trace_states(game, submissions), strict=False):
        role = submission.role
        view = game.view(state, role) if role in game.roles else None
        private = (
            write_private(view, game.list_private(state, role))
            if view and isinstance(game, PrivateInformation)
            else None
        )
        known = _dump(dict(view.facts)) if view else None
        seen.append(
            {"situation": write_history(view) if view else None, "private": private, "known": known}
        )
    return seen


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def list_times(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each page that a person came to, with the time until the next one by a
    steady clock."""
    tables = {table.id: table for table, _ in _list_tables(server, lobby)}
    visits: dict[tuple[str, int], list[tuple[SessionTable, int, str, JsonMapping]]] = {}
    for event in server.sessions.journal.read_events(*_PAGES):
        table = tables.get(event["session"])
        if table is not None and table.setup.seats[event["seat"]] == PERSON:
            person = server.sessions.find_participant(table.id, event["seat"])
            # Whoever held the seat before is in none of the other tables.
            before = [] if event["event"] == "seated" else visits.get(person, [])
            early = server.sessions.get_lobby(table.lobby).experiment.list_pages(table.part.name)
            page = (
                "rules"
                if event.get("page") in [page.name for page in early]
                else _PAGES[event["event"]]
            )
            visits[person] = [*before, (table, event["seat"], page, event)]
    rows: list[Row] = []
    for pages in visits.values():
        for (table, seat, page, seen), following in zip(pages, [*pages[1:], None], strict=True):
            spent = following[3].get("clock", 0) - seen.get("clock", 0) if following else -1.0
            question = seen["turn"] + 1 if "turn" in seen else None
            times = {
                "at": seen["at"],
                "question": question,
                "spent": round(spent, 3) if spent >= 0 else None,
            }
            visit = _describe_seat(server, table, seat, "") | {"page": page, **times}
            rows.append({name: visit[name] for name in COLUMNS["times"]})
    return rows


def list_wide(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each person of an experiment: what is paid, and every answer in a column of
    its own."""
    moves: dict[Cell, Row] = {}
    for row in list_moves(server, lobby):
        if row["participant"] and not row["discarded"]:
            moves.setdefault(row["participant"], {})[
                f"g{row['part']}_r{row['round']}_{row['stage']}"
            ] = row["action"]
    names = {name for row in moves.values() for name in row}
    columns = sorted(names, key=lambda name: [*map(int, _DIGITS.findall(name))])
    payments = list_payments(server, lobby)
    return [
        row | {name: moves.get(row["participant"], {}).get(name) for name in columns}
        for row in payments
    ]


def list_participants(server: ServerState, lobby: str = "") -> list[Row]:
    """List one row for each seat, with what is known at the end and the answers to the
    questionnaire."""
    ready = {
        (e["session"], e["seat"]): e["at"] for e in server.sessions.journal.read_events("ready")
    }
    rows: list[Row] = []
    for table, session in _list_tables(server, lobby):
        for seat, occupant in enumerate(table.setup.seats):
            holder = server.sessions.register.get(table.id, seat)
            since = ready.get((table.id, seat))
            agrees = table.setup.consent and table.number == 1 and occupant == PERSON
            row = _describe_seat(
                server, table, seat, session.roles[seat] if session else f"seat {seat + 1}"
            )
            tries = (
                holder.quiz_tries
                if holder.taken and (table.setup.quiz or table.part.name)
                else None
            )
            row |= {
                "seated": holder.seated,
                "ready": since,
                "quiz_tries": tries,
            } | _describe_result(session, seat)
            row["consent"] = since is not None if agrees else None
            rows.append({name: row[name] for name in COLUMNS["participants"]})
    return rows


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
    "payments": list_payments,
    "wide": list_wide,
    "draws": partial(list_moves, table="draws"),
    "times": list_times,
    "codebook": list_codebook,
}
