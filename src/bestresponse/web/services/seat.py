"""What a person in a seat may know and do, for pages and programs.

This covers rules, quiz, questions, and what theory says.

Everything here is that seat's view and nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from urllib.parse import quote

from bestresponse.analysis.costs import price_against_strategies
from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree
from bestresponse.analysis.theory import Theory, describe_theory
from bestresponse.analysis.truth import iterate_decisions
from bestresponse.core.capabilities import (
    EquilibriumSummary,
    HasPositions,
    Question,
    TheoryRemark,
    find_equilibrium_moves,
)
from bestresponse.core.codec import ask_to_json
from bestresponse.core.episode import Record
from bestresponse.core.errors import NotAsked
from bestresponse.core.game import Action, Game, Role, S, View
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Decision
from bestresponse.core.seeds import generator
from bestresponse.games.capabilities import HasStage, find_stage_form
from bestresponse.games.quiz import make_quiz
from bestresponse.players.lookup import find_known_strategies
from bestresponse.report.document import Block, Cell, Column, Note, Paragraph, Table
from bestresponse.runs.reporting.steps import format_action, round_amount
from bestresponse.telling.language import ENGLISH
from bestresponse.telling.render import word_rules, write_history
from bestresponse.theory.trees.sequence_form import policy_value
from bestresponse.web.access import NotAllowed, SeatContext, ServerState
from bestresponse.web.experiments.items import FormPage, ItemAnswer
from bestresponse.web.experiments.model import Experiment
from bestresponse.web.services.earnings import (
    Earnings,
    compute_earnings,
    explain_earnings,
    find_outcome,
)
from bestresponse.web.sessions.session import (
    Presence,
    Session,
    ToldSeat,
    find_label,
)
from bestresponse.web.sessions.setup import GameChoice, list_homes, list_placeholders, make_game
from bestresponse.web.texts import Cause, FieldMistake, PageTexts, load_texts

_MOST_READABLE = 150
"""Cells of a payoff table that is shown as a table."""
_LONGEST = 2000
_TWO = 2
"""Of two people who choose at the same time, one who waits knows that the other has not."""
_WHY = {
    "nobody had come": "why_absent",
    "advanced by the experimenter": "why_advanced",
    "replaced by the experimenter": "why_replaced",
}


@dataclass(frozen=True, slots=True)
class SeatView:
    """What the person in a seat may know, and what is asked.

    `version` changes whenever any of it does.
    """

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
    """Describe the seat as it is now.

    The person has seen it then, unless somebody else is `looking`.
    """
    session = context.session
    seat = context.seat
    role = context.role
    with session.lock:
        phase = session.phase(seat)
        version = session.version(seat)
        view = session.episode.view(role)
        if not looking:
            context.server.sessions.note_shown(session, seat, name_page(context))
            session.note_page(seat, version)
        ask = session.pending().get(role) if phase == "turn" else None
        told = session.told.get(seat)
        if told is None or told.settled != session.settled:
            situation = write_history(view, session.table.texts.language)
            told = ToldSeat(session.settled, _tell_rules(session, view), situation)
            session.told[seat] = told
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
            briefing=told.rules,
            situation=told.situation,
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
    """Find the seat of a personal link, or the one that was `kept`.

    NotAllowed where a label is not enough.

    A label alone opens no seat that was taken: anybody can write one into an address. Where the
    experiment lists its labels, nobody takes part without the key of one.
    """
    label = find_label(labels)
    experiment = server.sessions.get_lobby(lobby).experiment
    personal = bool(label) and server.keys.opens(key, "label", lobby, label)
    if experiment.assignment.labels and not (personal and label in experiment.assignment.labels):
        raise NotAllowed(Cause("cause_personal_link"))
    held = server.sessions.register.find(lobby, labels)
    screened_out = []
    for left in server.sessions.departed[lobby]:
        if left.why == "screened out":
            screened_out.append(find_label(left.labels))
    if held is None and label and label in screened_out:
        raise NotAllowed(Cause("cause_not_passed"))
    if held is not None and not personal and kept is None:
        raise NotAllowed(Cause("cause_label_taken"))
    return held if personal else kept


def find_consent(context: SeatContext) -> str:
    """Return what the person still has to agree to.

    Empty after the first game, and after they agreed to take part.
    """
    holder = context.server.sessions.register.get(context.session.id, context.seat)
    asked = context.session.table.number == 1 and not holder.agreed
    return context.session.setup.consent if asked else ""


def _tell_rules(session: Session, view: View) -> str:
    """Return the instructions of the experiment, or the rules as people are told them."""
    part = session.table.part
    if part.game.instructions:
        placeholders = {}
        for name, value in list_placeholders(part.setup.game).items():
            placeholders[name] = part.texts.number(value)
        return Template(part.game.instructions).safe_substitute(
            placeholders, role=part.texts.word(view.role)
        )
    return word_rules(session.game, view, part.texts.language)


def list_calculator(session: Session, role: str) -> list[tuple[int, str]]:
    """List number and name of every seat of a payoff table that is too large to be read.

    None for others.
    """
    form = find_stage_form(session.game)
    if form is None or form.payoffs[0].size <= _MOST_READABLE:
        return []
    return [(seat, "" if other == role else other) for seat, other in enumerate(session.roles)]


def list_announcements(session: Session, seat: int) -> list[str]:
    """Say that the game was restarted, and which answers a stand-in gave.

    The restart is told until the seat has answered.

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


def count_answered(session: Session, seat: int) -> str:
    """Say to a person who waits how many of those who choose at the same time have answered.

    Returns an empty result where that is clear anyway.
    """
    done = len(session.episode.moves)
    of = done + len(session.pending())
    if session.phase(seat) != "waiting" or not done or of <= _TWO:
        return ""
    return session.table.texts("answered_of", done=done, of=of)


def make_questions(game: Game[S], seat: int, seed: int) -> tuple[Question, ...]:
    """Make the quiz for that seat from the rules; empty where these give nothing to ask."""
    return make_quiz(game, game.roles[seat], generator(seed, "quiz", seat))


def list_quiz_questions(session: Session, seat: int) -> tuple[Question, ...]:
    """List the quiz of a session for that seat.

    It has the questions of the experiment, and those made from the rules.
    """
    written = session.table.part.game.questions
    if not session.setup.quiz:
        return written
    # Whoever is put into another group while answering has to find the same questions.
    asked_as = session.standing.asked_as.get(seat, seat)
    return (*written, *make_questions(session.game, asked_as, session.quiz_seed))


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
    padded = [*typed, *[""] * len(quiz)][: len(quiz)]
    wrong = {
        f"quiz.{k}": why for k, why in find_mistakes(quiz, padded, session.table.texts).items()
    }
    if wrong:
        context.server.sessions.note_quiz_failed(session, seat)
        most = context.experiment.limits.tries if session.table.number == 1 else 0
        if most and context.server.sessions.register.get(session.id, seat).quiz_tries >= most:
            context.server.sessions.screen_out(session, seat)
    if find_consent(context) and not agreed:
        wrong["consent"] = session.table.texts("agree_first")
    if not wrong:
        context.server.sessions.make_ready(session, seat)
    return wrong


def submit_answer(context: SeatContext, turn: int, decision: Decision, presence: Presence) -> None:
    """Take the answer to question number `turn`.

    NotAsked, AlreadyAnswered or InvalidMove where it does not count.
    """
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
        texts = context.session.table.texts
    return describe_equilibria(context.session.setup.game, record, texts)


def find_page(context: SeatContext) -> FormPage | None:
    """Return the page with questions that the person has to answer first, or None.

    It comes before anything else. None means that there is no such page.
    """
    session = context.session
    seat = context.seat
    experiment = context.experiment
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


def name_page(context: SeatContext) -> str:
    """Name the page that the person sees, as the table of times has it."""
    form = find_page(context)
    if form is not None:
        return f"page {form.name}"
    phase = context.session.phase(context.seat)
    match phase:
        case "welcome":
            return "rules"
        case "gathering":
            return "waiting room"
        case "turn":
            return "question"
        case "waiting":
            return "waiting"
    later = context.server.sessions.list_later(context.session.id, context.seat)
    return "result" if phase == "over" and later else "last page"


def keep_questionnaire(context: SeatContext, typed: Mapping[str, str]) -> dict[str, str]:
    """Keep the answers to the page that is open, or say for each field what is wrong.

    NotAsked where none is.
    """
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

    `last` says that this is the last page, `notes` what changed the sum.
    """

    next: str = ""
    last: bool = False
    earnings: Earnings | None = None
    completion: str = ""
    back: str = ""
    notes: Sequence[str] = ()


def describe_stage(context: SeatContext) -> StudyStage:
    """Describe what comes after the game.

    This is the next part, the questionnaire, or the end with code and money.
    """
    session = context.session
    seat = context.seat
    experiment = context.experiment
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
    if not experiment.payment:
        return StudyStage(last=True, completion=code, back=back)
    return StudyStage(
        last=True,
        earnings=earnings,
        completion=code,
        back=back,
        notes=explain_earnings(earnings, session.table.texts),
    )


def fill_link(experiment: Experiment, code: str, participant: str = "", label: str = "") -> str:
    """Return the link back with its places filled, empty where there is none."""
    link = experiment.completion.link
    for name, value in {"code": code, "participant": participant, "label": label}.items():
        link = link.replace("{" + name + "}", quote(value, safe=""))
    return link


_MOST = 12
_SURE = 1e-9  # less is what rounding leaves of a gain or a share that is none


def describe_equilibria(
    choice: GameChoice, record: Record, language: str | PageTexts = ENGLISH
) -> tuple[Block, ...]:
    """Describe what theory says of the game and of this play of it, as blocks of a document."""
    texts = load_texts(language) if isinstance(language, str) else language
    texts = texts.within(list_homes(choice))
    game = make_game(choice)
    theory = describe_theory(game)
    if theory.known is not None:
        return _describe_known(game, theory.known, record, texts)
    match theory.solution:
        case SolvedTree() as tree:
            return _describe_tree(game, theory, tree, record, texts)
        case SolvedTable() as table:
            return _describe_table(game, table, record, texts)
    if isinstance(game, TheoryRemark):
        return (Note(texts.word(game.theory_remark)),)
    if isinstance(game, HasPositions):
        # It has such an equilibrium, whether or not it is small enough to be solved here.
        return (Paragraph(texts("theory_perfect")),)
    return (Note(texts("theory_nothing")),)


def _describe_known(
    game: Game[S], known: EquilibriumSummary, record: Record, texts: PageTexts
) -> tuple[Block, ...]:
    tell = texts.language.tell
    concept = texts.word(known.concept)
    sentences = [f"{concept[:1].upper()}{concept[1:]}: {tell(known.words)}"]
    if known.better:
        sentences.append(tell(known.better))
    words = tuple(map(Paragraph, sentences))
    if not known.payoffs:
        moves = []
        for _, state, role, action in iterate_decisions(record, game):
            moves.append(
                ComparedMove(
                    who=role,
                    knowing=write_history(game.view(state, role), texts.language),
                    did=_write_answer(action, texts),
                    usual=_write_answer(find_equilibrium_moves(game, state).get(role), texts),
                )
            )
        return (*words, _tabulate_moves(moves, texts))
    rows = {
        "theory_earned": record.payoffs,
        "theory_in_equilibrium": known.payoffs,
        "theory_together": known.better_payoffs,
    }
    return (*words, _tabulate_payoffs(game.roles, rows, texts))


@dataclass(frozen=True, slots=True)
class ComparedMove:
    """An answer beside that of the equilibrium, with what was known when it was given."""

    who: Role
    knowing: str
    did: str
    usual: str


def _tabulate_moves(moves: Sequence[ComparedMove], texts: PageTexts) -> Table:
    names = ("theory_who", "theory_knowing", "theory_did", "theory_in_equilibrium")
    rows = tuple((texts.word(move.who), move.knowing, move.did, move.usual) for move in moves)
    return Table(tuple(Column(texts(name)) for name in names), rows, texts("theory_moves"))


def _tabulate_payoffs(
    roles: Sequence[Role], rows: Mapping[str, Mapping[Role, float] | None], texts: PageTexts
) -> Table:
    """Tabulate what each role earns; the rows by the names of their texts."""
    columns = (Column(""), *(Column(texts.word(role), "right") for role in roles))
    cells = tuple(
        (texts(name), *(_write_number(earned[role], texts) for role in roles))
        for name, earned in rows.items()
        if earned
    )
    return Table(columns, cells, texts("theory_payoffs"))


def _describe_table(
    game: Game[S], solved: SolvedTable, record: Record, texts: PageTexts
) -> tuple[Block, ...]:
    shown = solved.nash.equilibria[:_MOST]
    roles = solved.game.players
    names = [texts.word(role) for role in roles]
    columns = (
        Column(""),
        *map(Column, names),
        *(Column(texts("theory_gets", who=name), "right") for name in names),
    )
    rows: list[tuple[Cell, ...]] = []
    for number, equilibrium in enumerate(shown, 1):
        mixes = zip(solved.game.actions, equilibrium.strategies, strict=True)
        played = []
        for actions, mix in mixes:
            played.append(_write_mix(dict(zip(actions, map(float, mix), strict=True)), texts))
        one = texts("theory_equilibrium")
        name = texts("theory_numbered", number=number) if len(shown) > 1 else one
        earned = [_write_number(payoff, texts) for payoff in equilibrium.payoffs]
        rows.append((name, *played, *earned))
    repeated = isinstance(game, HasStage)
    if not repeated and record.payoffs:
        choices = {s.role: s.decision.action for s in record.submissions}
        answers = [_write_answer(choices.get(role), texts) for role in roles]
        earned = [_write_number(record.payoffs[role], texts) for role in roles]
        rows.insert(0, (texts("theory_played"), *answers, *earned))
    table = Table(columns, tuple(rows), texts("theory_of_one_round") if repeated else "")
    blocks: list[Block] = [
        Paragraph(f"{texts('theory_nash')} {_say_how_many(solved, texts)}"),
        table,
    ]
    judged = _judge_play(game, record, texts)
    if judged:
        blocks.append(Paragraph(judged))
    if isinstance(game, HasStage):
        is_unique = solved.nash.complete and len(solved.nash.equilibria) == 1
        only = is_unique and game.continuation == 1.0
        blocks.append(Paragraph(texts("theory_only" if only else "theory_repeated")))
    return tuple(blocks)


def _say_how_many(solved: SolvedTable, texts: PageTexts) -> str:
    count = len(solved.nash.equilibria)
    if not solved.nash.complete:
        return texts("theory_found", count=min(count, _MOST))
    if any(equilibrium.index is None for equilibrium in solved.nash.equilibria) and count > 1:
        return texts("theory_some_corners" if count > _MOST else "theory_corners")
    return texts("theory_all", count=count)


def _write_mix(chances: Mapping[str, float], texts: PageTexts) -> str:
    """Write a move, or each with its share.

    >>> _write_mix({"swerve": 0.875, "straight": 0.125}, load_texts("en"))
    'swerve 87.5 %, straight 12.5 %'
    >>> german = load_texts("de").within(["bestresponse.theory.catalogue"])
    >>> _write_mix({"swerve": 0.875, "straight": 0.125}, german)
    'ausweichen 87,5 %; geradeaus 12,5 %'
    """
    used = {texts.word(move): p for move, p in chances.items() if p > _SURE}
    if len(used) == 1:
        return next(iter(used))
    shares = [f"{move} {texts.number(f'{100 * p:.3g}')} %" for move, p in used.items()]
    return texts.language.messages["list-mark"].join(shares)


def _write_answer(action: Action | None, texts: PageTexts) -> str:
    return texts.word(format_action(action))


def _write_number(amount: float, texts: PageTexts) -> str:
    return texts.number(f"{round_amount(amount):.4g}")


def _judge_play(game: Game[S], record: Record, texts: PageTexts) -> str:
    """Say what the choices cost beside the best reply.

    In one round this is the best reply to what the others did, over several the best reply to the
    strategies that are known.
    """
    role_of = {number: s.role for number, s in enumerate(record.submissions, 1)}
    if isinstance(game, HasStage):
        known = find_known_strategies(game, record.players)
        prices = price_against_strategies(record, game, known)
        people = [role for role in game.roles if role not in known]
        costs = {
            role: sum(price.least for n, price in prices.items() if role_of[n] == role)
            for role in people
            if any(role_of[n] == role for n in prices)
        }
        if not costs:
            return ""
        lost = [f"{texts.word(role)} {_write_number(cost, texts)}" for role, cost in costs.items()]
        return texts("theory_cost", costs=texts.language.messages["list-mark"].join(lost))
    prices = price_against_strategies(record, game, {})
    if not prices:
        return ""
    gains = [
        texts("theory_gain", who=texts.word(role_of[n]), amount=_write_number(price.least, texts))
        for n, price in sorted(prices.items())
        if price.least > _SURE
    ]
    if not gains:
        return texts("theory_kept")
    return texts("theory_left", gains=texts.language.join(gains, "standard"))


def _describe_tree(
    game: Game[S], theory: Theory, solved: SolvedTree, record: Record, texts: PageTexts
) -> tuple[Block, ...]:
    perfect = solved.subgame_perfect
    blocks: list[Block] = [Paragraph(texts("theory_perfect" if perfect else "theory_nash"))]
    policy, *others = theory.policies
    if perfect and perfect.count > 1:
        number = texts.language.write_count(perfect.count)
        blocks.append(Paragraph(texts("theory_ties", number=number)))
    if others and not perfect:
        number = texts.language.write_count(len(theory.policies))
        blocks.append(Paragraph(texts("theory_more", number=number)))
    if solved.cfr is not None:
        # How far they may be off is said in English only.
        in_english = texts.language.name == ENGLISH
        roughly = texts("theory_roughly")
        blocks.append(Note(f"{roughly[:-1]}: {solved.remarks[0]}." if in_english else roughly))
    moves = []
    for _, state, role, action in iterate_decisions(record, game):
        view = game.view(state, role)
        label = theory.name_infoset(view)
        moves.append(
            ComparedMove(
                who=role,
                knowing=write_history(view, texts.language),
                did=_write_answer(action, texts),
                usual=_write_mix(policy.at(role, label), texts),
            )
        )
    payoffs = {
        "theory_earned": record.payoffs,
        "theory_on_average": policy_value(solved.tree, policy),
    }
    return (*blocks, _tabulate_moves(moves, texts), _tabulate_payoffs(game.roles, payoffs, texts))
