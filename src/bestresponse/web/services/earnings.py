"""What participants have earned.

It says where every answer is in its game, what it brought, and the money for it.

A person is paid the rounds that they played themselves. A game that pays no single rounds counts as
one round: it is paid in full to whoever gave all answers of their seat.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from bestresponse.core.capabilities import find_round, pays_by_round
from bestresponse.core.episode import Submission
from bestresponse.core.game import NATURE, Game, Role, S
from bestresponse.core.seeds import generator
from bestresponse.runs.reporting.steps import round_amount, trace_states
from bestresponse.web.access import ServerState
from bestresponse.web.experiments.model import Experiment, Part
from bestresponse.web.experiments.payment import Outcome, Payment
from bestresponse.web.sessions.session import Session
from bestresponse.web.texts import PageTexts


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
class RoundEarnings:
    """What a round brought a seat, or a whole game that pays no single rounds.

    `number` is None then.

    `stand_ins` of the `answers` are not the person's.
    """

    number: int | None
    points: float
    answers: int
    stand_ins: int

    def count_points(self, payment: Payment) -> float:
        """Count the points for the person.

        All points count if no stand-in answered, or else those that the experiment says.
        """
        return self.points * payment.weigh_stand_ins() if self.stand_ins else self.points


def list_round_earnings(session: Session, seat: int) -> list[RoundEarnings]:
    """List what every round of a play brought the seat.

    One entry where single rounds are not paid or the seat was never asked.
    """
    role = session.roles[seat]
    every = session.episode.submissions
    own = [submission for submission in every if submission.role == role]
    if not own:
        # Where nothing was asked, being there counts as an answer.
        present = seat in session.standing.ready and seat not in session.standing.replaced
        absent = 0 if present else 1
        return [RoundEarnings(None, session.payoffs().get(role, 0.0), 1, absent)]
    if not pays_by_round(session.game):
        stand_ins = session.stand_ins(role)
        return [RoundEarnings(None, session.payoffs().get(role, 0.0), len(own), stand_ins)]
    rounds: dict[int, RoundEarnings] = {}
    for place, submission in zip(locate_answers(session.game, every), every, strict=True):
        # A round in which the table was closed has no payoff yet.
        if submission.role != role or place.payoff is None:
            continue
        before = rounds.get(place.round, RoundEarnings(place.round, 0.0, 0, 0))
        rounds[place.round] = replace(
            before,
            points=round_amount(before.points + place.payoff),
            answers=before.answers + 1,
            stand_ins=before.stand_ins + bool(submission.decision.stand_in),
        )
    return [rounds[number] for number in sorted(rounds)]


@dataclass(frozen=True, slots=True)
class PartEarnings:
    """What one game brings: points, and money for those that count.

    It has the points of the seat, those that count for the person, and the money for these at
    `rate`, at most `most`.

    `counts` is False for a game that is not over, which brings nothing yet. `bonus` is for taking
    part, and is paid whichever game or round is drawn. `rounds` are those that were played, and
    stand-ins answered in `missed` of them; both are None where single rounds are not paid. `round`
    is the one that was drawn to be paid by the number `draw` between 0 and 1, None where all are.
    `answers` are all of the seat, `stand_ins` those that the person did not give.
    """

    name: str
    seat_points: float
    points: float
    money: Decimal
    answers: int
    stand_ins: int
    round: int | None = None
    bonus: Decimal = Decimal(0)
    rate: Decimal = Decimal(0)
    most: Decimal | None = None
    counts: bool = True
    draw: float | None = None
    rounds: int | None = None
    missed: int | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Earnings:
    """What a participant has earned.

    Money is due only to whoever confirmed the seat (consent and quiz included).

    `paid` is the name of the game that was drawn to be paid, by the number `draw` between 0 and 1;
    empty where all are. `settled` says that no game of the person goes on, so that the amount is
    final.
    """

    payment: Payment
    due: bool
    parts: tuple[PartEarnings, ...]
    paid: str = ""
    draw: float | None = None
    settled: bool = True

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
        return round_amount(sum(part.points for part in self.parts if self.is_paid(part)))

    @property
    def earned(self) -> Decimal:
        """What the games bring, before the least and the most that is paid."""
        return sum(
            (part.bonus + (part.money if self.is_paid(part) else 0) for part in self.parts),
            Decimal(0),
        )

    @property
    def total(self) -> Decimal:
        """What is paid."""
        return self.payment.settle(self.earned)

    @property
    def bound(self) -> str:
        """Which bound sets the total: least, most, or neither."""
        alone = self.payment.show_up + self.earned
        if alone < self.payment.least:
            return "least"
        return "most" if self.payment.most is not None and alone > self.payment.most else ""

    def is_paid(self, part: PartEarnings) -> bool:
        """Tell whether the points of the game are paid."""
        return self.paid in ("", part.name)


def explain_earnings(earnings: Earnings, t: PageTexts) -> list[str]:
    """Say what changed the sum, and what was drawn to be paid."""
    payment = earnings.payment
    notes = []
    if earnings.bound:
        bound = payment.least if earnings.bound == "least" else payment.most
        assert bound is not None
        notes.append(t(f"bound_{earnings.bound}", amount=t.money(payment.currency, bound)))
    for part in earnings.parts:
        if earnings.paid == part.name and earnings.draw is not None:
            drawn = _tell_draw(earnings.draw, len(earnings.parts), t)
            notes.append(f"{t('paid_game', name=part.title)} {drawn}")
        notes += _explain_part(part, payment, t)
    return notes


def _explain_part(part: PartEarnings, payment: Payment, t: PageTexts) -> list[str]:
    notes = []
    if part.round and part.draw is not None:
        paid = t("paid_round", name=part.title, number=part.round)
        notes.append(f"{paid} {_tell_draw(part.draw, part.rounds, t)}")
    if not part.counts:
        notes.append(t("part_not_over", name=part.title))
    if part.most is not None and part.money == part.most and part.money:
        notes.append(t("part_most", name=part.title, amount=t.money(payment.currency, part.most)))
    if part.counts and part.stand_ins and payment.stand_ins != "count":
        how = payment.stand_ins
        missed, of = (part.missed, part.rounds) if part.rounds else (part.stand_ins, part.answers)
        unit = "rounds" if part.rounds else "game"
        notes.append(t(f"{unit}_missed_{how}", name=part.title, missed=missed, of=of))
    return notes


def _tell_draw(draw: float, count: int | None, t: PageTexts) -> str:
    return t("drawn_by", draw=t.number(f"{draw:.6f}"), count=count)


def compute_earnings(
    server: ServerState, experiment: Experiment, session: str, seat: int
) -> Earnings:
    """Work out what the person has earned in the games that count; any other brings nothing."""
    payment = experiment.payment or Payment("none")
    person = server.sessions.find_participant(session, seat)
    holder = server.sessions.register.get(*person)
    parts: list[PartEarnings] = []
    settled = True
    for name, part_seat in server.sessions.list_seats(session, seat):
        part = server.sessions.find_session(name)
        if part is None:
            continue
        with part.lock:
            draw = generator(experiment.seed, "paid round", *person, name).random()
            parts.append(compute_part(part, part_seat, payment, draw))
            settled = settled and part.ended
    paid = ""
    drawn = None
    if payment.paid == "random game" and parts:
        drawn = generator(experiment.seed, "paid game", *person).random()
        number = int(drawn * len(parts))
        paid = parts[number].name
    return Earnings(
        payment=payment,
        due=holder.confirmed,
        parts=tuple(parts),
        paid=paid,
        draw=drawn,
        settled=settled,
    )


def compute_part(session: Session, seat: int, payment: Payment, draw: float) -> PartEarnings:
    """Work out what a game brings.

    The rounds that are the person's own count, or the one of them that was drawn.

    A game that was closed counts as far as it was played where the experiment says so.
    """
    game = session.table.part.game
    role = session.roles[seat]
    nothing = PartEarnings(
        name=session.table.part.name,
        seat_points=0.0,
        points=0.0,
        money=Decimal(0),
        answers=session.turn(role),
        stand_ins=session.stand_ins(role),
        rate=game.find_rate(payment),
        most=game.most,
        counts=False,
        title=label_part(session.table.part),
    )
    if not _counts(session, payment):
        return nothing
    rounds = list_round_earnings(session, seat)
    single = bool(rounds) and rounds[0].number is not None
    drawn = rounds
    if payment.paid == "random round" and single:
        number = int(draw * len(rounds))
        drawn = [rounds[number]]
    points = round_amount(sum(earned.count_points(payment) for earned in drawn))
    answered = nothing.answers > nothing.stand_ins
    took_part = answered or any(earned.answers > earned.stand_ins for earned in rounds)
    by_lot = payment.paid == "random round" and single
    return replace(
        nothing,
        seat_points=session.payoffs().get(role, 0.0),
        points=points,
        money=game.convert(points, payment),
        round=drawn[0].number if by_lot else None,
        draw=draw if by_lot else None,
        bonus=game.bonus if took_part else Decimal(0),
        counts=True,
        rounds=len(rounds) if single else None,
        missed=sum(earned.stand_ins > 0 for earned in rounds) if single else None,
    )


def _counts(session: Session, payment: Payment) -> bool:
    if not session.begun:
        return False
    return session.over or (session.standing.closed and payment.unfinished == "so far")


def label_part(part: Part) -> str:
    """Name a game as people know it; one that is played again has the number of the repetition.

    >>> from bestresponse.web.experiments.reading import parse_experiment
    >>> file = '''
    ... title = "Twice"
    ... [[games]]
    ... name = "pd"
    ... title = "A dilemma"
    ... game = "prisoners-dilemma"
    ... repeat = 2
    ... seats = ["person", "person"]
    ... '''
    >>> [label_part(part) for part in parse_experiment(file)[1][""]]
    ['A dilemma', 'A dilemma 2']
    """
    if not part.game.title:
        numbered = f"game {part.number + 1}"  # the name of a game that the file gives none
        if part.name != numbered and not part.name.startswith(f"{numbered} "):
            return part.name
        again = part.name.removeprefix(numbered)
        return part.texts("part_numbered", number=part.number + 1) + again
    _, _, number = part.name.rpartition(" ")
    return f"{part.game.title} {number}" if part.again else part.game.title


def find_outcome(
    server: ServerState, earnings: Earnings, seats: Sequence[tuple[str, int]]
) -> Outcome:
    """Tell whether a person who sees the last page has finished.

    Their game was not closed, they were not replaced, and half of the answers are their own.
    """
    standings = [(server.sessions.standings[name], seat) for name, seat in seats]
    ended = any(standing.closed or seat in standing.replaced for standing, seat in standings)
    return "unfinished" if ended or earnings.stand_ins > earnings.answers else "finished"
