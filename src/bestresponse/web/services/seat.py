"""What a person in a seat may know and do, for pages and programs: rules, quiz, questions, remarks, and the end.

Everything here is that seat's view and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from urllib.parse import quote

from bestresponse.core.capabilities import Question, word_rules
from bestresponse.core.codec import ask_to_json
from bestresponse.core.errors import NotAsked
from bestresponse.core.game import AnyGame, View
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Decision
from bestresponse.core.seeds import generator
from bestresponse.games.capabilities import find_stage_form
from bestresponse.games.quiz import make_quiz
from bestresponse.report.document import Block
from bestresponse.web.access import NotAllowed, SeatContext, ServerState
from bestresponse.web.experiments.model import Experiment, FormPage
from bestresponse.web.services.payments import Earnings, compute_earnings, find_outcome
from bestresponse.web.sessions.ending import describe_equilibria
from bestresponse.web.sessions.register import Holder
from bestresponse.web.sessions.session import Presence, Session, format_action
from bestresponse.web.sessions.setup import list_offers, list_places
from bestresponse.web.texts import InterfaceTexts

_MOST_READABLE = 150
"""Cells of a payoff table that is shown as a table."""
_LONGEST = 2000
_WHY = {
    "nobody had come": "why_absent",
    "advanced by the experimenter": "why_advanced",
    "replaced by the experimenter": "why_replaced",
}


@dataclass(frozen=True, slots=True)
class SeatView:
    """What the person in a seat may know, and what is asked; `version` changes whenever any of it does."""

    role: str
    participant: str
    version: str
    phase: str
    briefing: str
    situation: str
    notes: list[str]
    turn: int
    attempt: int
    ask: JsonObject | None
    seconds_left: float | None
    consent: str
    quiz: list[str]
    missing: int
    stand_ins: int
    announcements: list[str]
    payoffs: dict[str, float] | None


def describe_own_seat(server: ServerState, context: SeatContext, looking: bool = False) -> SeatView:
    """Describe the seat as it is now; the person has seen it then, unless somebody else is `looking`."""
    session, seat, role = context.session, context.seat, context.role
    with session.lock:
        if not looking:
            server.sessions.note_shown(session, seat)
            session.note_page(seat)
        phase, view = session.phase(seat), session.episode.view(role)
        ask = session.pending().get(role) if phase == "turn" else None
        return SeatView(
            role,
            server.code(session.id, seat),
            session.version(seat),
            phase,
            _tell_rules(session, view),
            view.situation,
            list(view.notes),
            session.turn(role),
            session.attempt,
            ask_to_json(ask) if ask else None,
            session.seconds_left(seat),
            find_consent(server, context),
            [question.text for question in list_quiz_questions(session, seat)] if phase == "welcome" else [],
            session.missing,
            session.stand_ins(role),
            list_announcements(session, seat),
            session.payoffs() if phase == "over" else None,
        )


def find_seat(
    server: ServerState, lobby: str, labels: Mapping[str, str], key: str, kept: tuple[str, int] | None = None
) -> tuple[str, int] | None:
    """Find the seat of a personal link, or the one that was `kept`; NotAllowed where a label is not enough.

    A label alone opens no seat that was taken: anybody can write one into an address. Where the experiment lists its
    labels, nobody takes part without the key of one.
    """
    label, experiment = Holder(0, labels=labels).label, server.sessions.get_lobby(lobby).experiment
    personal = bool(label) and server.keys.opens(key, "label", lobby, label)
    if experiment.assignment.labels and not (personal and label in experiment.assignment.labels):
        raise NotAllowed("this study is open to whoever has a personal link; ask whoever invited you for yours")
    held = server.sessions.register.find(lobby, labels)
    if held is not None and not personal and kept is None:
        raise NotAllowed(
            "somebody takes part under this label already; open the link in the browser in which you began, "
            "or ask whoever invited you for a personal link"
        )
    return held if personal else kept


def find_consent(server: ServerState, context: SeatContext) -> str:
    """Return what the person still has to agree to; empty after the first game, and after they agreed to take part."""
    holder = server.sessions.register.get(context.session.id, context.seat)
    asked = context.session.table.number == 1 and not (holder and holder.agreed)
    return context.session.setup.consent if asked else ""


def _tell_rules(session: Session, view: View) -> str:
    """Return the instructions of the experiment, or the game's words for people.

    Where its payoff table is too large to be shown, these begin with the first sentence about the game.
    """
    part = session.table.part
    if part.game.instructions:
        places = {name: part.texts.number(value) for name, value in list_places(part.setup.game).items()}
        return Template(part.game.instructions).safe_substitute(places, role=part.texts.word(view.role))
    rules = word_rules(session.game, view)
    if not list_calculator(session, view.role):
        return rules
    known = {offer.name: offer.description for offer in list_offers()}
    described = known.get(session.setup.game.name, "").partition(". ")[0]
    return f"{described.rstrip('.')}.\n\n{rules}" if described else rules


def list_calculator(session: Session, role: str) -> list[tuple[int, str]]:
    """List number and name of every seat of a payoff table that is too large to be read; none for others."""
    form = find_stage_form(session.game)
    if form is None or form.payoffs[0].size <= _MOST_READABLE:
        return []
    return [(seat, "" if other == role else other) for seat, other in enumerate(session.roles)]


def list_announcements(session: Session, seat: int) -> list[str]:
    """Say that the game was restarted until the seat has answered, and which answers a stand-in gave.

    Of this seat that is its last answer, of others all settled ones.
    """
    role, texts = session.roles[seat], session.table.texts
    last = session.answer(role, session.turn(role) - 1)
    said = [texts("restarted")] if session.attempt > 1 and last is None else []
    if last is not None and last.decision.stand_in:
        why = texts(_WHY.get(last.decision.reading.how, "why_time"))
        said.append(texts("own_stand_in", why=why, action=texts.word(format_action(last.decision.action))))
    settled = session.episode.submissions[: session.settled]
    for other in session.roles:
        answers = [submission for submission in settled if submission.role == other]
        missed = sum(bool(submission.decision.stand_in) for submission in answers)
        if missed and other != role:
            said.append(texts("other_stand_in", who=texts.word(other), missed=missed, count=len(answers)))
    return said


def make_questions(game: AnyGame, seat: int, seed: int) -> tuple[Question, ...]:
    """Make the quiz for that seat from the rules; empty where these give nothing to ask."""
    return make_quiz(game, game.roles[seat], generator(seed, "quiz", seat))


def list_quiz_questions(session: Session, seat: int) -> tuple[Question, ...]:
    """List the quiz of a session for that seat: the questions of the experiment, and those made from the rules."""
    written = session.table.part.game.questions
    return (*written, *make_questions(session.game, seat, session.seed)) if session.setup.quiz else written


def find_mistakes(quiz: tuple[Question, ...], typed: list[str], texts: InterfaceTexts) -> dict[int, str]:
    """Say what is wrong with each answer, by the number of its question."""
    wrong = [(k, question) for k, question in enumerate(quiz) if not question.accepts(typed[k])]
    missing = {k: "item_option" if getattr(question, "options", ()) else "type_number" for k, question in wrong}
    return {k: texts("quiz_wrong" if typed[k].strip() else missing[k]) for k, _ in wrong}


def try_ready(server: ServerState, context: SeatContext, typed: list[str], agreed: bool) -> dict[int | str, str]:
    """Make the person ready, or say what is missing: by number of the question, and for the consent.

    Whoever has failed the quiz as often as the experiment allows is screened out, and loses the seat.
    """
    session, seat = context.session, context.seat
    quiz = list_quiz_questions(session, seat)
    padded = [*typed, *("" for _ in quiz)][: len(quiz)]
    wrong: dict[int | str, str] = dict(find_mistakes(quiz, padded, session.table.texts).items())
    if wrong:
        server.sessions.note_quiz_failed(session, seat)
        experiment = server.sessions.get_lobby(session.table.lobby).experiment
        most = experiment.limits.tries if session.table.number == 1 else 0
        if most and server.sessions.register.count_tries(session.id, seat) >= most:
            server.sessions.screen_out(session, seat)
    if find_consent(server, context) and not agreed:
        wrong["consent"] = session.table.texts("agree_first")
    if not wrong:
        server.sessions.make_ready(session, seat)
    return wrong


def submit_answer(server: ServerState, context: SeatContext, turn: int, decision: Decision, presence: Presence) -> None:
    """Take the answer to question number `turn`; NotAsked, AlreadyAnswered or InvalidMove where it does not count."""
    if context.session.phase(context.seat) in ("welcome", "replaced"):
        raise NotAsked("nobody is asked here: the seat is not confirmed, or a bot plays it now")
    decision = Decision(decision.action, decision.reasoning[:_LONGEST])
    server.sessions.submit(context.session, context.role, turn, decision, presence)


def describe_equilibrium(context: SeatContext) -> tuple[Block, ...]:
    """Describe what the equilibrium would have been; NotAsked before the game is over."""
    _check_over(context)
    with context.session.lock:
        record = context.session.episode.record({})
    return describe_equilibria(context.session.setup.game, record)


def keep_remark(server: ServerState, context: SeatContext, text: str) -> None:
    """Keep a remark about a game that is over; NotAsked before."""
    _check_over(context)
    server.sessions.note_remark(context.session, context.seat, text.strip()[:_LONGEST])


def _check_over(context: SeatContext) -> None:
    if context.session.phase(context.seat) != "over":
        raise NotAsked("the game is not over yet")


def find_page(server: ServerState, context: SeatContext) -> FormPage | None:
    """Return the page with questions that the person has to answer before anything else, None where there is none."""
    session, seat = context.session, context.seat
    experiment, phase = server.sessions.get_lobby(session.table.lobby).experiment, session.phase(seat)
    later = server.sessions.list_later(session.id, seat)
    pages: list[FormPage] = []
    if phase == "welcome":
        pages = experiment.list_pages(session.table.part.name)
    elif phase in ("closed", "replaced") or (phase == "over" and not later):
        pages = experiment.list_pages()
    done = server.sessions.answered_pages
    return next((page for page in pages if (session.id, seat, page.name) not in done), None)


def keep_questionnaire(server: ServerState, context: SeatContext, typed: Mapping[str, str]) -> dict[int | str, str]:
    """Keep the answers to the page that is open, or say what is wrong with them; NotAsked where none is."""
    session, page = context.session, find_page(server, context)
    if page is None:
        raise NotAsked("no page with questions is open here")
    answers = {item.name: typed.get(item.name, "").strip() for item in page.items}
    mistakes = {item.name: item.find_mistake(answers[item.name]) for item in page.items}
    texts = session.table.texts
    wrong: dict[int | str, str] = {name: texts(why) for name, why in mistakes.items() if why}
    if not wrong:
        server.sessions.note_questionnaire(session, context.seat, answers, page.name)
    return wrong


@dataclass(frozen=True, slots=True)
class StudyStage:
    """Where a person is in an experiment: what comes after this game, and at the end what is paid.

    `last` says that this is the last page; `asked` that the questionnaire comes first.
    """

    next: str = ""
    asked: bool = False
    last: bool = False
    earnings: Earnings | None = None
    completion: str = ""
    back: str = ""


def describe_stage(server: ServerState, context: SeatContext) -> StudyStage:
    """Describe what comes after the game: the next part, the questionnaire, or the end with code and money."""
    session, seat = context.session, context.seat
    experiment = server.sessions.get_lobby(session.table.lobby).experiment
    phase = session.phase(seat)
    if phase not in ("over", "closed", "replaced"):
        return StudyStage()
    later = server.sessions.list_later(session.id, seat)
    if phase == "over" and later:
        return StudyStage(next=server.seat_path(*later[0]))
    if find_page(server, context) is not None:
        return StudyStage(asked=True)
    earnings = compute_earnings(server, experiment, session.id, seat)
    if not earnings.due:
        return StudyStage()
    server.sessions.note_finished(session.id, seat)
    seats = server.sessions.list_seats(session.id, seat)
    holder = server.sessions.register.get(*seats[0])
    code = experiment.completion.find_code(find_outcome(server, earnings, seats))
    back = fill_link(experiment, code, server.code(*seats[0]), holder.label if holder else "")
    return StudyStage("", False, True, earnings if experiment.payment else None, code, back)


def fill_link(experiment: Experiment, code: str, participant: str = "", label: str = "") -> str:
    """Return the link back with its places filled, empty where there is none."""
    link = experiment.completion.link
    for name, value in {"code": code, "participant": participant, "label": label}.items():
        link = link.replace("{" + name + "}", quote(value, safe=""))
    return link
