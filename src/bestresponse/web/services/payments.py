"""What participants have earned over all parts, and what they are paid for answers of their own."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import quote

from bestresponse.report.document import Cell
from bestresponse.web.experiments.model import Experiment, Item, Payment
from bestresponse.web.sessions.lobby import Lobby
from bestresponse.web.sessions.register import LABELS
from bestresponse.web.sessions.session import Session, round_amount
from bestresponse.web.sessions.state import ServerState
from bestresponse.web.sessions.store import BrokenSession

__all__ = ["Earnings", "compute_earnings", "fill_link", "list_items", "list_payments"]


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
    return payment.compute_share(1, int(seat not in part.ready or seat in part.standing.replaced))


def fill_link(server: ServerState, experiment: Experiment, session: str, seat: int) -> str:
    """Return the link back with its places filled, empty where there is none."""
    holder = server.sessions.register.get(*server.sessions.find_participant(session, seat))
    labels = holder.labels if holder else {}
    values = {
        "code": experiment.completion.code,
        "participant": server.code(session, seat),
        "label": labels.get("participant_label") or labels.get("PROLIFIC_PID", ""),
    }
    link = experiment.completion.link
    for name, value in values.items():
        link = link.replace("{" + name + "}", quote(value, safe=""))
    return link


Row = dict[str, Cell]


def _list_lobbies(server: ServerState, lobby: str) -> list[Lobby]:
    """List one lobby or all, the oldest first; those of experiments only."""
    found = [server.sessions.get_lobby(lobby)] if lobby else reversed(server.sessions.list_lobbies())
    return [one for one in found if one.experiment is not None]


def list_items(server: ServerState, lobby: str = "") -> list[Item]:
    """List the questions of the questionnaires, each name once."""
    found: dict[str, Item] = {}
    for one in _list_lobbies(server, lobby):
        for item in one.experiment.questionnaire if one.experiment else ():
            found.setdefault(item.name, item)
    return list(found.values())


def list_payments(server: ServerState, lobby: str = "") -> list[Row]:
    """List every person who took a seat, with points, money, codes and the answers to the questionnaire."""
    items = list_items(server, lobby)
    return [
        _describe_person(server, one, table.id, seat, items)
        for one in _list_lobbies(server, lobby)
        for table in one.first_tables
        for seat in table.setup.persons
        if server.sessions.register.get(table.id, seat) is not None
    ]


def _describe_person(server: ServerState, lobby: Lobby, session: str, seat: int, items: list[Item]) -> Row:
    assert lobby.experiment is not None
    table = next(one for one in lobby.first_tables if one.id == session)
    holder = server.sessions.register.get(session, seat)
    labels = holder.labels if holder else {}
    seats = server.sessions.list_seats(session, seat)
    answers = next((a for place in seats if (a := server.sessions.questionnaires.get(place)) is not None), {})
    earnings = compute_earnings(server, lobby.experiment, session, seat)
    payment = lobby.experiment.payment
    finished = server.sessions.finished.get((session, seat))
    row: Row = {"lobby": lobby.id, "group": table.group, "treatment": table.treatment}
    row |= {"participant": server.code(session, seat), **{name: labels.get(name) for name in LABELS}}
    row |= {
        "confirmed": earnings.due,
        "consent": earnings.due if table.setup.consent else None,
        "answers": earnings.answers,
        "stand_ins": earnings.stand_ins,
        "replaced": any(place in server.sessions.get_standing(name).replaced for name, place in seats),
        "parts_finished": sum(server.sessions.is_finished(name) for name, _ in seats),
        "parts": len(seats),
        "finished": finished,
        "seat_points": earnings.seat_points,
        "points": earnings.points,
        "currency": payment.currency if payment else None,
        "stand_ins_count": payment.stand_ins if payment else None,
        "show_up": float(payment.show_up) if payment else None,
        "rate": float(payment.rate) if payment else None,
        "least": float(payment.least) if payment else None,
        "money": float(earnings.total) if payment and earnings.due else None,
        "completion_code": lobby.experiment.completion.code or None if finished else None,
    }
    return row | {f"q_{item.name}": answers.get(item.name) for item in items}
