"""What a participant has earned over all parts, and where the participant goes afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import quote

from bestresponse.web.experiments.model import Experiment, Payment
from bestresponse.web.sessions.session import Session, round_amount
from bestresponse.web.sessions.state import ServerState
from bestresponse.web.sessions.store import BrokenSession

__all__ = ["Earnings", "compute_earnings", "fill_link"]


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
    payment = experiment.payment or Payment("")
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
