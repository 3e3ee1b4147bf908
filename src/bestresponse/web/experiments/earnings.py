"""What a participant has earned over all parts, and where the participant goes afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import quote

from bestresponse.web.experiments.model import Experiment, Payment
from bestresponse.web.sessions.session import round_amount
from bestresponse.web.sessions.state import ServerState
from bestresponse.web.sessions.store import BrokenSession

__all__ = ["Earnings", "compute_earnings", "fill_link"]


@dataclass(frozen=True, slots=True)
class Earnings:
    """The points of a participant and the money for them."""

    points: float
    payment: Payment

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
    points = 0.0
    for name, place in server.sessions.list_seats(session, seat):
        try:
            found = server.sessions.get_session(name)
        except BrokenSession:
            continue
        with found.lock:
            if found.begun and found.over:
                points += found.payoffs().get(found.roles[place], 0.0)
    return Earnings(round_amount(points), experiment.payment or Payment(""))


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
