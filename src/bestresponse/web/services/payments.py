"""What participants have earned over all parts, and what they are paid for answers of their own."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from bestresponse.report.document import Cell
from bestresponse.web.access import ServerState
from bestresponse.web.experiments.model import Experiment, Item, Payment
from bestresponse.web.sessions.lobby import Lobby
from bestresponse.web.sessions.register import LABELS
from bestresponse.web.sessions.session import Session, Table, round_amount
from bestresponse.web.sessions.store import BrokenSession

__all__ = ["Earnings", "compute_earnings", "list_items", "list_payments"]


@dataclass(frozen=True, slots=True)
class Earnings:
    """What a participant has earned; money is due only to whoever confirmed the seat (consent and quiz included).

    `seat_points` are those of the seat in all parts that are over, `points` those of them that count for the person.
    `answers` and `stand_ins` count what the person and what stand-ins or bots answered, in all parts.
    """

    payment: Payment
    due: bool
    points: float
    seat_points: float
    answers: int
    stand_ins: int

    @property
    def total(self) -> Decimal:
        """What is paid."""
        return self.payment.pay(self.points)

    @property
    def for_points(self) -> Decimal:
        """The part of the total that is not for showing up."""
        return self.total - self.payment.show_up.quantize(Decimal("0.01"))


def compute_earnings(server: ServerState, experiment: Experiment, session: str, seat: int) -> Earnings:
    """Add up what the person has earned in the parts that are over; a part without a result counts nothing."""
    payment = experiment.payment or Payment("none")
    holder = server.sessions.register.get(*server.sessions.find_participant(session, seat))
    points = seat_points = 0.0
    answers = stand_ins = 0
    for name, part_seat in server.sessions.list_seats(session, seat):
        try:
            part = server.sessions.get_session(name)
        except BrokenSession:
            continue
        with part.lock:
            role = part.roles[part_seat]
            answers += part.turn(role)
            stand_ins += part.stand_ins(role)
            if part.begun and part.over:
                earned = part.payoffs().get(role, 0.0)
                seat_points += earned
                points += earned * _count_share(part, part_seat, payment)
    due = holder is not None and holder.confirmed
    return Earnings(payment, due, round_amount(points), round_amount(seat_points), answers - stand_ins, stand_ins)


def _count_share(part: Session, seat: int, payment: Payment) -> float:
    """Return the share of the points of a part that counts; where nothing was asked, it is that of one answer."""
    role = part.roles[seat]
    if part.turn(role):
        return payment.compute_share(part.turn(role), part.stand_ins(role))
    return payment.compute_share(1, int(seat not in part.standing.ready or seat in part.standing.replaced))


Row = dict[str, Cell]


def _list_experiments(server: ServerState, lobby: str) -> list[tuple[Lobby, Experiment]]:
    """List one lobby or all, the oldest first, with their experiments; other lobbies are left out."""
    lobbies = [server.sessions.get_lobby(lobby)] if lobby else reversed(server.sessions.list_lobbies())
    return [(found, found.experiment) for found in lobbies if found.experiment is not None]


def list_items(server: ServerState, lobby: str = "") -> list[Item]:
    """List the questions of the questionnaires, each name once."""
    items = [item for _, experiment in _list_experiments(server, lobby) for item in experiment.questionnaire]
    return list({item.name: item for item in reversed(items)}.values())[::-1]


def list_payments(server: ServerState, lobby: str = "") -> list[Row]:
    """List every person who took a seat, with points, money, codes and the answers to the questionnaire."""
    items = list_items(server, lobby)
    return [
        _describe_person(server, experiment, table, seat) | _list_answers(server, table, seat, items)
        for found, experiment in _list_experiments(server, lobby)
        for table in found.first_tables
        for seat in table.setup.persons
        if server.sessions.register.get(table.id, seat) is not None
    ]


def _list_answers(server: ServerState, table: Table, seat: int, items: list[Item]) -> Row:
    sent = [server.sessions.questionnaires.get(place, {}) for place in server.sessions.list_seats(table.id, seat)]
    answers = next(filter(None, sent), {})
    return {f"q_{item.name}": answers.get(item.name) for item in items}


def _describe_person(server: ServerState, experiment: Experiment, table: Table, seat: int) -> Row:
    sessions, payment = server.sessions, experiment.payment
    holder = sessions.register.get(table.id, seat)
    seats = sessions.list_seats(table.id, seat)
    earnings = compute_earnings(server, experiment, table.id, seat)
    finished = sessions.finished.get((table.id, seat))
    return {
        "lobby": table.lobby,
        "group": table.group,
        "treatment": table.treatment,
        "participant": server.code(table.id, seat),
        **{name: holder.labels.get(name) if holder else None for name in LABELS},
        "confirmed": earnings.due,
        "consent": earnings.due if table.setup.consent else None,
        "answers": earnings.answers,
        "stand_ins": earnings.stand_ins,
        "replaced": any(place in sessions.get_standing(name).replaced for name, place in seats),
        "parts_finished": sum(sessions.is_finished(name) for name, _ in seats),
        "parts": len(seats),
        "finished": finished,
        "seat_points": earnings.seat_points,
        "points": earnings.points,
        "currency": payment.currency if payment else None,
        "stand_ins_count": payment.stand_ins if payment else None,
        **{name: float(getattr(payment, name)) if payment else None for name in ("show_up", "rate", "least")},
        "money": float(earnings.total) if payment and earnings.due else None,
        "completion_code": experiment.completion.code if finished else None,
    }
