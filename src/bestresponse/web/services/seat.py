"""What a person in a seat may know and do, for pages and programs: rules, quiz, questions, what
theory says.

Everything here is that seat's view and nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from urllib.parse import quote

from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree
from bestresponse.analysis.theory import (
    Theory,
    describe_theory,
    iterate_decisions,
    measure_against_others,
)
from bestresponse.core.capabilities import (
    EquilibriumSummary,
    Question,
    TheoryRemark,
    find_equilibrium_moves,
)
from bestresponse.core.codec import ask_to_json
from bestresponse.core.episode import Record
from bestresponse.core.errors import NotAsked
from bestresponse.core.game import Game, Role, S, View
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Decision
from bestresponse.core.seeds import generator
from bestresponse.games.capabilities import HasStage, find_stage_form
from bestresponse.games.quiz import make_quiz
from bestresponse.report.document import Block, Cell, Column, Note, Paragraph, Table
from bestresponse.runs.reporting.steps import format_action, round_amount
from bestresponse.telling.render import word_rules, write_history
from bestresponse.theory.trees.sequence_form import policy_value
from bestresponse.web.access import NotAllowed, SeatContext, ServerState
from bestresponse.web.experiments.model import Experiment, FormPage, ItemAnswer
from bestresponse.web.services.export import Earnings, compute_earnings, find_outcome
from bestresponse.web.sessions.session import (
    Presence,
    Session,
    find_label,
)
from bestresponse.web.sessions.setup import GameChoice, list_placeholders, make_game
from bestresponse.web.texts import Cause, FieldMistake, PageTexts

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
    """What the person in a seat may know, and what is asked; `version` changes whenever any of it
    does."""

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


def describe_own_seat(context: SeatContext, looking: bool = False) -> SeatView:
    """Describe the seat as it is now; the person has seen it then, unless somebody else is
    `looking`."""
    session = context.session
    seat = context.seat
    role = context.role
    with session.lock:
        phase = session.phase(seat)
        version = session.version(seat)
        view = session.episode.view(role)
        if not looking:
            context.server.sessions.note_shown(session, seat)
            session.note_page(seat, version)
        ask = session.pending().get(role) if phase == "turn" else None
        rules = _tell_rules(session, view)
        consent = find_consent(context)
        asked = ask_to_json(ask) if ask else None
        left = session.seconds_left(seat)
        quiz = (
            [
                session.table.texts.language.tell(question.text)
                for question in list_quiz_questions(session, seat)
            ]
            if phase == "welcome"
            else []
        )
        payoffs = session.payoffs() if phase == "over" else None
        return SeatView(
            role=role,
            participant=context.server.code(session.id, seat),
            version=version,
            phase=phase,
            briefing=rules,
            situation=write_history(view, session.table.texts.language),
            notes=list(view.notes),
            turn=session.turn(role),
            attempt=session.attempt,
            ask=asked,
            seconds_left=left,
            consent=consent,
            quiz=quiz,
            missing=session.missing,
            stand_ins=session.stand_ins(role),
            announcements=list_announcements(session, seat),
            payoffs=payoffs,
        )


def find_seat(
    server: ServerState,
    lobby: str,
    labels: Mapping[str, str],
    key: str,
    kept: tuple[str, int] | None = None,
) -> tuple[str, int] | None:
    """Find the seat of a personal link, or the one that was `kept`; NotAllowed where a label is not
    enough.

    A label alone opens no seat that was taken: anybody can write one into an address. Where the
    experiment lists its labels, nobody takes part without the key of one.
    """
    label = find_label(labels)
    experiment = server.sessions.get_lobby(lobby).experiment
    personal = bool(label) and server.keys.opens(key, "label", lobby, label)
    if experiment.assignment.labels and not (personal and label in experiment.assignment.labels):
        raise NotAllowed(Cause("cause_personal_link"))
    held = server.sessions.register.find(lobby, labels)
    screened_out = [
        left["labels"] for left in server.sessions.departed[lobby] if left["why"] == "screened out"
    ]
    if held is None and label and label in map(find_label, screened_out):
        raise NotAllowed(Cause("cause_not_passed"))
    if held is not None and not personal and kept is None:
        raise NotAllowed(Cause("cause_label_taken"))
    return held if personal else kept


def find_consent(context: SeatContext) -> str:
    """Return what the person still has to agree to; empty after the first game, and after they
    agreed to take part."""
    holder = context.server.sessions.register.get(context.session.id, context.seat)
    asked = context.session.table.number == 1 and not holder.agreed
    return context.session.setup.consent if asked else ""


def _tell_rules(session: Session, view: View) -> str:
    """Return the instructions of the experiment, or the rules as people are told them."""
    part = session.table.part
    if part.game.instructions:
        placeholders = {
            name: part.texts.number(value)
            for name, value in list_placeholders(part.setup.game).items()
        }
        return Template(part.game.instructions).safe_substitute(
            placeholders, role=part.texts.word(view.role)
        )
    return word_rules(session.game, view, part.texts.language)


def list_calculator(session: Session, role: str) -> list[tuple[int, str]]:
    """List number and name of every seat of a payoff table that is too large to be read; none for
    others."""
    form = find_stage_form(session.game)
    if form is None or form.payoffs[0].size <= _MOST_READABLE:
        return []
    return [(seat, "" if other == role else other) for seat, other in enumerate(session.roles)]


def list_announcements(session: Session, seat: int) -> list[str]:
    """Say that the game was restarted until the seat has answered, and which answers a stand-in
    gave.

    Of this seat that is its last answer, of others all settled ones.
    """
    role = session.roles[seat]
    texts = session.table.texts
    last = session.answer(role, session.turn(role) - 1)
    notices = [texts("restarted")] if session.attempt > 1 and last is None else []
    if last is not None and last.decision.stand_in:
        why = texts(_WHY.get(last.decision.reading.how, "why_time"))
        notices.append(
            texts("own_stand_in", why=why, action=texts.word(format_action(last.decision.action)))
        )
    settled = session.episode.submissions[: session.settled]
    for other in session.roles:
        answers = [submission for submission in settled if submission.role == other]
        missed = sum(bool(submission.decision.stand_in) for submission in answers)
        if missed and other != role:
            notices.append(
                texts("other_stand_in", who=texts.word(other), missed=missed, count=len(answers))
            )
    return notices


def make_questions(game: Game[S], seat: int, seed: int) -> tuple[Question, ...]:
    """Make the quiz for that seat from the rules; empty where these give nothing to ask."""
    return make_quiz(game, game.roles[seat], generator(seed, "quiz", seat))


def list_quiz_questions(session: Session, seat: int) -> tuple[Question, ...]:
    """List the quiz of a session for that seat: the questions of the experiment, and those made
    from the rules."""
    written = session.table.part.game.questions
    return (
        (*written, *make_questions(session.game, seat, session.seed))
        if session.setup.quiz
        else written
    )


def find_mistakes(quiz: tuple[Question, ...], typed: list[str], texts: PageTexts) -> dict[int, str]:
    """Say what is wrong with each answer, by the number of its question."""
    wrong = [
        (k, question)
        for k, question in enumerate(quiz)
        if not question.accepts(typed[k], texts.language.decimal_mark)
    ]
    missing = {
        k: "item_option" if getattr(question, "options", ()) else "type_number"
        for k, question in wrong
    }
    return {k: texts("quiz_wrong" if typed[k].strip() else missing[k]) for k, _ in wrong}


def try_ready(context: SeatContext, typed: list[str], agreed: bool) -> dict[str, str]:
    """Make the person ready, or say what is missing: by the name of the field.

    Whoever has failed the quiz as often as the experiment allows is screened out, and loses the
    seat.
    """
    session = context.session
    seat = context.seat
    if context.server.sessions.register.get(session.id, seat).released:
        raise NotAsked("this person did not pass the quiz and has lost the seat")
    if find_page(context) is not None:
        raise NotAsked("a page with questions comes first; answer it, then say that you are ready")
    quiz = list_quiz_questions(session, seat)
    padded = [*typed, *("" for _ in quiz)][: len(quiz)]
    wrong = {
        f"quiz.{k}": why for k, why in find_mistakes(quiz, padded, session.table.texts).items()
    }
    if wrong:
        context.server.sessions.note_quiz_failed(session, seat)
        experiment = context.server.sessions.get_lobby(session.table.lobby).experiment
        most = experiment.limits.tries if session.table.number == 1 else 0
        if most and context.server.sessions.register.get(session.id, seat).quiz_tries >= most:
            context.server.sessions.screen_out(session, seat)
    if find_consent(context) and not agreed:
        wrong["consent"] = session.table.texts("agree_first")
    if not wrong:
        context.server.sessions.make_ready(session, seat)
    return wrong


def submit_answer(context: SeatContext, turn: int, decision: Decision, presence: Presence) -> None:
    """Take the answer to question number `turn`; NotAsked, AlreadyAnswered or InvalidMove where it
    does not count."""
    if context.session.phase(context.seat) in ("welcome", "replaced"):
        raise NotAsked("nobody is asked here: the seat is not confirmed, or a bot plays it now")
    decision = Decision(decision.action, decision.reasoning[:_LONGEST])
    context.server.sessions.submit(context.session, context.role, turn, decision, presence)


def describe_equilibrium(context: SeatContext) -> tuple[Block, ...]:
    """Describe what the equilibrium would have been; NotAsked before the game is over."""
    if context.session.phase(context.seat) != "over":
        raise NotAsked("the game is not over yet")
    with context.session.lock:
        record = context.session.episode.record({})
    return describe_equilibria(context.session.setup.game, record)


def find_page(context: SeatContext) -> FormPage | None:
    """Return the page with questions that the person has to answer before anything else, None where
    there is none."""
    session = context.session
    seat = context.seat
    experiment = context.server.sessions.get_lobby(session.table.lobby).experiment
    phase = session.phase(seat)
    later = context.server.sessions.list_later(session.id, seat)
    pages: list[FormPage] = []
    if phase == "welcome":
        pages = experiment.list_pages(session.table.part.name)
    elif phase in ("closed", "replaced") or (phase == "over" and not later):
        pages = experiment.list_pages()
    open_pages = [
        page
        for page in pages
        if (session.id, seat, page.name) not in context.server.sessions.answered_pages
    ]
    answers = context.server.sessions.gather_answers(session.id, seat) if open_pages else {}
    return next((page for page in open_pages if experiment.is_asked(page, answers)), None)


def keep_questionnaire(context: SeatContext, typed: Mapping[str, str]) -> dict[str, str]:
    """Keep the answers to the page that is open, or say for each field what is wrong; NotAsked
    where none is."""
    session = context.session
    page = find_page(context)
    if page is None:
        raise NotAsked("no page with questions is open here")
    answers: dict[str, ItemAnswer] = {}
    wrong: dict[str, str] = {}
    for item in page.items:
        name = f"item.{item.name}"
        try:
            answers[item.name] = item.read(typed.get(name, ""), session.table.texts)
        except FieldMistake as mistake:
            wrong[name] = str(mistake)
    if not wrong:
        context.server.sessions.note_questionnaire(session, context.seat, page.name, answers)
    return wrong


@dataclass(frozen=True, slots=True)
class StudyStage:
    """Where a person is in an experiment: what comes after this game, and at the end what is paid.

    `last` says that this is the last page.
    """

    next: str = ""
    last: bool = False
    earnings: Earnings | None = None
    completion: str = ""
    back: str = ""


def describe_stage(context: SeatContext) -> StudyStage:
    """Describe what comes after the game: the next part, the questionnaire, or the end with code
    and money."""
    session = context.session
    seat = context.seat
    experiment = context.server.sessions.get_lobby(session.table.lobby).experiment
    phase = session.phase(seat)
    if phase not in ("over", "closed", "replaced"):
        return StudyStage()
    later = context.server.sessions.list_later(session.id, seat)
    if phase == "over" and later:
        return StudyStage(next=context.server.seat_path(*later[0]))
    earnings = compute_earnings(context.server, experiment, session.id, seat)
    if find_page(context) is not None or not earnings.due:
        return StudyStage()
    context.server.sessions.note_finished(session.id, seat)
    seats = context.server.sessions.list_seats(session.id, seat)
    holder = context.server.sessions.register.get(*seats[0])
    code = experiment.completion.find_code(find_outcome(context.server, earnings, seats))
    back = fill_link(experiment, code, context.server.code(*seats[0]), find_label(holder.labels))
    return StudyStage("", True, earnings if experiment.payment else None, code, back)


def fill_link(experiment: Experiment, code: str, participant: str = "", label: str = "") -> str:
    """Return the link back with its places filled, empty where there is none."""
    link = experiment.completion.link
    for name, value in {"code": code, "participant": participant, "label": label}.items():
        link = link.replace("{" + name + "}", quote(value, safe=""))
    return link


_MOST = 12
_SURE = 1e-9  # less is what rounding leaves of a gain or a share that is none
_NASH = "In an equilibrium nobody gains by changing only their own choice."
_PERFECT = (
    "In a subgame-perfect equilibrium whoever moves does what is best for them at every point of"
    " the game, also at those that are never reached, knowing that everybody who moves later does"
    " the same."
)
_ONLY = (
    "As the number of rounds is known, playing this in every round is the only subgame-perfect"
    " equilibrium of the whole game."
)
_REPEATED = (
    "Playing one of these in every round is an equilibrium of the whole game; it can have many"
    " others."
)
_NOTHING = (
    "No equilibrium of this game is known here: it has no payoff table and no tree that is small"
    " enough."
)


def describe_equilibria(choice: GameChoice, record: Record) -> tuple[Block, ...]:
    """Describe what theory says of the game and of this play of it, as blocks of a document."""
    game = make_game(choice)
    theory = describe_theory(game)
    if theory.known is not None:
        return _describe_known(game, theory.known, record)
    match theory.solution:
        case SolvedTree() as tree:
            return _describe_tree(game, theory, tree, record)
        case SolvedTable() as table:
            return _describe_table(game, table, record)
        case _:
            return (Note(game.theory_remark if isinstance(game, TheoryRemark) else _NOTHING),)


def _describe_known(game: Game[S], known: EquilibriumSummary, record: Record) -> tuple[Block, ...]:
    sentences = (f"{known.concept[:1].upper()}{known.concept[1:]}: {known.words}", known.better)
    words = tuple(Paragraph(text) for text in sentences if text)
    if not known.payoffs:
        moves = []
        for _, state, role, action in iterate_decisions(record, game):
            usual = format_action(find_equilibrium_moves(game, state).get(role))
            moves.append(
                (role, write_history(game.view(state, role)), format_action(action), usual)
            )
        return (*words, _tabulate_moves(moves))
    rows = {
        "earned here": record.payoffs,
        "in equilibrium": known.payoffs,
        "together at best": known.better_payoffs,
    }
    return (*words, _tabulate_payoffs(game.roles, rows))


def _tabulate_moves(moves: Sequence[tuple[Role, str, str, str]]) -> Table:
    """Put every answer beside that of the equilibrium, with what was known when it was given."""
    return Table(
        tuple(map(Column, ("who", "knowing", "did", "in equilibrium"))),
        tuple(moves),
        "Move by move",
    )


def _tabulate_payoffs(
    roles: Sequence[Role], rows: Mapping[str, Mapping[Role, float] | None]
) -> Table:
    columns = (Column(""), *(Column(role, "right", format=".4g") for role in roles))
    cells = tuple(
        (name, *(earned.get(role) for role in roles)) for name, earned in rows.items() if earned
    )
    return Table(columns, cells, "Payoffs")


def _describe_table(game: Game[S], solved: SolvedTable, record: Record) -> tuple[Block, ...]:
    shown = solved.nash.equilibria[:_MOST]
    roles = solved.game.players
    columns = (
        Column(""),
        *(Column(role) for role in roles),
        *(Column(f"{role} gets", "right") for role in roles),
    )
    rows: list[tuple[Cell, ...]] = []
    for number, equilibrium in enumerate(shown, 1):
        mixes = zip(solved.game.actions, equilibrium.strategies, strict=True)
        played = [
            _format_mix(dict(zip(actions, map(float, mix), strict=True))) for actions, mix in mixes
        ]
        name = f"equilibrium {number}" if len(shown) > 1 else "equilibrium"
        rows.append((name, *played, *map(_format_number, equilibrium.payoffs)))
    repeated = isinstance(game, HasStage)
    if not repeated and record.payoffs:
        choices = {s.role: s.decision.action for s in record.submissions}
        answers = (format_action(choices.get(role)) for role in roles)
        rows.insert(
            0,
            (
                "what was played",
                *answers,
                *(_format_number(record.payoffs[role]) for role in roles),
            ),
        )
    table = Table(columns, tuple(rows), "Of one round" if repeated else "")
    blocks = (
        Paragraph(f"{_NASH} {_say_how_many(solved)}"),
        table,
        Paragraph(_judge_play(game, record)),
    )
    if not isinstance(game, HasStage):
        return blocks
    only = solved.nash.complete and len(solved.nash.equilibria) == 1 and game.continuation == 1.0
    return (*blocks, Paragraph(_ONLY if only else _REPEATED))


def _say_how_many(solved: SolvedTable) -> str:
    count = len(solved.nash.equilibria)
    if not solved.nash.complete:
        return (
            "Here is one; there may be more."
            if count == 1
            else f"Here are {min(count, _MOST)}; there may be more."
        )
    if any(equilibrium.index is None for equilibrium in solved.nash.equilibria) and count > 1:
        return (
            f"This game has infinitely many; {'some' if count > _MOST else 'these'} of their"
            " corners are shown."
        )
    return "This game has exactly one." if count == 1 else f"This game has {count}."


def _format_mix(chances: Mapping[str, float]) -> str:
    """Format a move, or each with its share.

    >>> _format_mix({"swerve": 0.9, "straight": 0.1})
    'swerve 90 %, straight 10 %'
    """
    used = {move: p for move, p in chances.items() if p > _SURE}
    return (
        next(iter(used))
        if len(used) == 1
        else ", ".join(f"{move} {100 * p:.3g} %" for move, p in used.items())
    )


def _format_number(amount: float) -> str:
    return f"{round_amount(amount):.4g}"


def _judge_play(game: Game[S], record: Record) -> str:
    """Say whether anybody could have gained, given what the others did."""
    lost = measure_against_others(record, game)
    if not lost:
        return ""
    role_of = {number: s.role for number, s in enumerate(record.submissions, 1)}
    if isinstance(game, HasStage):
        missed = {
            role: sum(lost[n] > _SURE for n in lost if role_of[n] == role) for role in game.roles
        }
        rounds = len(lost) // len(game.roles)
        counts = ", ".join(f"{role} in {count} of {rounds}" for role, count in missed.items())
        return f"Rounds in which another choice would have earned more in that round: {counts}."
    gains = [
        f"{role_of[n]} could have gained {_format_number(lost[n])}"
        for n in sorted(lost)
        if lost[n] > _SURE
    ]
    if not gains:
        return (
            "What was played is an equilibrium: given what the others did, nobody could have"
            " gained."
        )
    return f"What was played is no equilibrium: given what the others did, {' and '.join(gains)}."


def _describe_tree(
    game: Game[S], theory: Theory, solved: SolvedTree, record: Record
) -> tuple[Block, ...]:
    perfect = solved.subgame_perfect
    blocks: list[Block] = [Paragraph(_PERFECT if perfect else _NASH)]
    policy, *others = theory.policies
    if perfect and perfect.count > 1:
        blocks.append(
            Paragraph(
                f"This game has {perfect.count:,}, as some moves are equally good; here is one."
            )
        )
    if others and not perfect:
        blocks.append(Paragraph(f"This game has {len(theory.policies)} or more; here is one."))
    if solved.cfr is not None:
        blocks.append(Note(f"The numbers are approximate: {solved.remarks[0]}."))
    moves = []
    for _, state, role, action in iterate_decisions(record, game):
        label = theory.name_infoset(game.view(state, role))
        moves.append((role, label, format_action(action), _format_mix(policy.at(role, label))))
    payoffs = {
        "earned here": record.payoffs,
        "in equilibrium, on average": policy_value(solved.tree, policy),
    }
    return (*blocks, _tabulate_moves(moves), _tabulate_payoffs(game.roles, payoffs))
