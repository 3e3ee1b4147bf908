"""What participants have earned, answer by answer and game by game, and what they are paid."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from bestresponse.core.episode import Submission
from bestresponse.core.game import NATURE, AnyGame, Role, View
from bestresponse.core.seeds import generator
from bestresponse.games.capabilities import HasStage
from bestresponse.report.document import Cell
from bestresponse.web.access import ServerState
from bestresponse.web.experiments.model import Experiment, Item, Outcome, Payment
from bestresponse.web.services import COLUMNS
from bestresponse.web.sessions.register import LABELS
from bestresponse.web.sessions.session import Session, Table, round_amount, trace_states
from bestresponse.web.sessions.store import BrokenSession, Lobby

_ROUND = re.compile(r"\b(?:round|day)\s+(\d+)", re.IGNORECASE)
_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """`stage` counts within the round from 1; payoffs are None until the stage is complete."""

    round: int
    stage: int
    payoff: float | None = None
    total: float | None = None


def locate_answers(game: AnyGame, submissions: Sequence[Submission]) -> list[AnswerPlace]:
    """Place every answer of a play, nature's too, in the order of the submissions."""
    places: list[AnswerPlace] = []
    stages: Counter[int] = Counter()
    latest: dict[Role, int] = {}
    number, here, opened = 0, AnswerPlace(1, 0), False
    for index, (submission, (before, after)) in enumerate(
        zip(submissions, pairwise(trace_states(game, submissions)), strict=True)
    ):
        if submission.role != NATURE and not opened:
            number, opened = number + 1, True
            current = number if isinstance(game, HasStage) else _find_round(game.view(before, submission.role))
            stages[current] += 1
            here = AnswerPlace(current, stages[current])
        places.append(here)
        latest[submission.role] = index
        if after is not before:
            opened = False
            _credit(places, latest, game.payoffs(after), submissions)
    return places


def _credit(
    places: list[AnswerPlace], latest: Mapping[Role, int], earned: Mapping[Role, float], given: Sequence[Submission]
) -> None:
    """Credit what each role has earned since its answer before the latest to its latest answer."""
    for role, total in earned.items():
        if role in latest:
            place = places[latest[role]]
            before = sum(p.payoff or 0.0 for p, s in zip(places, given, strict=False) if s.role == role)
            payoff = round_amount(total - before + (place.payoff or 0.0))
            places[latest[role]] = replace(place, payoff=payoff, total=round_amount(total))


def _find_round(view: View) -> int:
    now = view.facts.get("now")
    told = _ROUND.search(now if isinstance(now, str) else view.situation)
    return int(told[1]) if told else 1


@dataclass(frozen=True, slots=True)
class PartEarnings:
    """What one game brings: the points of the seat, those that count for the person, and the money for these.

    `round` is the one that was drawn to be paid, None where all are. `answers` are all of the seat, `stand_ins` those
    that the person did not give.
    """

    name: str
    seat_points: float
    points: float
    money: Decimal
    answers: int
    stand_ins: int
    round: int | None = None


@dataclass(frozen=True, slots=True)
class Earnings:
    """What a participant has earned; money is due only to whoever confirmed the seat (consent and quiz included).

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
        return self.payment.settle(sum((part.money for part in self.parts if self.paid in ("", part.name)), Decimal(0)))

    @property
    def for_points(self) -> Decimal:
        """The part of the total that is not for showing up."""
        return self.total - self.payment.show_up.quantize(_CENT)


def compute_earnings(server: ServerState, experiment: Experiment, session: str, seat: int) -> Earnings:
    """Work out what the person has earned in the games that count; any other brings nothing."""
    payment = experiment.payment or Payment("none")
    person = server.sessions.find_participant(session, seat)
    holder = server.sessions.register.get(*person)
    parts: list[PartEarnings] = []
    for name, part_seat in server.sessions.list_seats(session, seat):
        try:
            part = server.sessions.get_session(name)
        except BrokenSession:
            continue
        with part.lock:
            draw = generator(experiment.seed, "paid round", *person, name).random()
            parts.append(_compute_part(part, part_seat, payment, draw))
    paid = ""
    if payment.paid == "random game" and parts:
        paid = generator(experiment.seed, "paid game", *person).choice(parts).name
    return Earnings(payment, holder is not None and holder.confirmed, tuple(parts), paid)


def _compute_part(session: Session, seat: int, payment: Payment, draw: float) -> PartEarnings:
    """Work out a game: all of its points or those of the round that was drawn, by the share that is the person's own.

    A game that was closed counts as far as it was played where the experiment says so.
    """
    role, part = session.roles[seat], session.table.part
    counts = session.begun and (session.over or (session.standing.closed and payment.unfinished == "so far"))
    submissions = [submission for submission in session.episode.submissions if submission.role == role]
    own = [not submission.decision.stand_in for submission in submissions]
    points, chosen, drawn = session.payoffs().get(role, 0.0) if counts else 0.0, own, None
    if counts and submissions and payment.paid == "random round":
        every = session.episode.submissions
        located = [place for place, s in zip(locate_answers(session.game, every), every, strict=True) if s.role == role]
        rounds = sorted({place.round for place in located})
        drawn = rounds[int(draw * len(rounds))]
        chosen = [mine for mine, place in zip(own, located, strict=True) if place.round == drawn]
        points = sum(place.payoff or 0.0 for place in located if place.round == drawn)
    # Where nothing was asked, being there counts as one answer.
    chosen = chosen or [seat in session.standing.ready and seat not in session.standing.replaced]
    counted = round_amount(points * payment.compute_share(len(chosen), chosen.count(False)))
    money = part.game.convert(counted, payment) if counts else Decimal(0)
    if counts and True in chosen:
        money += part.game.bonus
    return PartEarnings(part.name, points, counted, money, len(own), own.count(False), drawn)


def find_outcome(server: ServerState, earnings: Earnings, seats: Sequence[tuple[str, int]]) -> Outcome:
    """Tell whether a person who sees the last page has finished: not closed, not replaced, half of the answers own."""
    standings = [(server.sessions.get_standing(name), seat) for name, seat in seats]
    ended = any(standing.closed or seat in standing.replaced for standing, seat in standings)
    return "unfinished" if ended or earnings.stand_ins > earnings.answers else "finished"


Row = dict[str, Cell]


def _list_experiments(server: ServerState, lobby: str) -> list[Lobby]:
    """List the lobby, or all, the oldest first; those without an experiment file are left out."""
    lobbies = [server.sessions.get_lobby(lobby)] if lobby else reversed(server.sessions.list_lobbies())
    return [found for found in lobbies if found.source]


def list_items(server: ServerState, lobby: str = "") -> list[Item]:
    """List the questions of the questionnaires, each name once."""
    items = [item for found in _list_experiments(server, lobby) for item in found.experiment.list_items()]
    return list({item.name: item for item in reversed(items)}.values())[::-1]


def list_payments(server: ServerState, lobby: str = "") -> list[Row]:
    """List every person who took a seat or was turned away, with points, money, codes and the questionnaire."""
    items = list_items(server, lobby)
    rows: list[Row] = []
    for found in _list_experiments(server, lobby):
        for table in found.first_tables:
            for seat in table.setup.persons:
                holder = server.sessions.register.get(table.id, seat)
                if holder is not None and not holder.released:
                    person = _describe_person(server, found.experiment, table, seat)
                    rows.append(person | _list_answers(server, table, seat, items))
        for left in server.sessions.list_departed(found.id):
            told = {"lobby": found.id, **left["labels"], "confirmed": False, "consent": left["why"] != "no consent"}
            code = found.experiment.completion.find_code(left["why"]) or None
            rows.append(told | {"outcome": left["why"], "finished": left["at"], "completion_code": code})
    columns = (*COLUMNS["payments"], *(f"q_{item.name}" for item in items))
    return [{name: row.get(name) for name in columns} for row in rows]


def _list_answers(server: ServerState, table: Table, seat: int, items: list[Item]) -> Row:
    sent = [server.sessions.questionnaires.get(place, {}) for place in server.sessions.list_seats(table.id, seat)]
    answers = {name: answer for page in sent for name, answer in page.items()}
    return {f"q_{item.name}": answers.get(item.name) for item in items}


def _describe_person(server: ServerState, experiment: Experiment, table: Table, seat: int) -> Row:
    sessions, payment = server.sessions, experiment.payment
    holder = sessions.register.get(table.id, seat)
    seats = sessions.list_seats(table.id, seat)
    earnings = compute_earnings(server, experiment, table.id, seat)
    finished, outcome = sessions.finished.get((table.id, seat)), find_outcome(server, earnings, seats)
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
        "outcome": outcome if finished else None,
        "finished": finished,
        "seat_points": earnings.seat_points,
        "points": earnings.points,
        "currency": payment.currency if payment else None,
        "stand_ins_count": payment.stand_ins if payment else None,
        **{name: float(getattr(payment, name)) if payment else None for name in ("show_up", "rate", "least")},
        "paid_game": earnings.paid or None,
        "paid_rounds": ", ".join(f"{part.name}: {part.round}" for part in earnings.parts if part.round) or None,
        "money": float(earnings.total) if payment and earnings.due else None,
        "completion_code": (experiment.completion.find_code(outcome) or None) if finished else None,
    }
