"""One row for each participant of an experiment: what they earned, are paid, and answered in the questionnaire."""

from __future__ import annotations

from bestresponse.report.document import Cell
from bestresponse.web.experiments.earnings import compute_earnings
from bestresponse.web.experiments.model import Item
from bestresponse.web.sessions.lobby import Lobby
from bestresponse.web.sessions.register import LABELS
from bestresponse.web.sessions.state import ServerState

__all__ = ["list_items", "list_payments"]

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
