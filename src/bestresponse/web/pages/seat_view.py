"""What the page of a seat shows: that seat's view of the game, and what the person has typed so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import Template

from fastapi.responses import HTMLResponse

from bestresponse.core.ask import Choice
from bestresponse.core.capabilities import PrivateInformation, RoundHistory, Wording, word_rules
from bestresponse.core.game import AnyGame, View
from bestresponse.core.json import JsonObject
from bestresponse.games.capabilities import HasSpeakers, HasStage, find_stage_form
from bestresponse.report.document import Block
from bestresponse.web.experiments.model import Experiment, Item
from bestresponse.web.pages.cards import read_hand
from bestresponse.web.pages.forms import make_fields
from bestresponse.web.pages.render import render_page
from bestresponse.web.services.payments import compute_earnings, fill_link
from bestresponse.web.sessions.announcements import list_announcements
from bestresponse.web.sessions.games import list_offers, list_places
from bestresponse.web.sessions.quiz import list_questions
from bestresponse.web.sessions.session import Session
from bestresponse.web.sessions.state import SeatContext, ServerState
from bestresponse.web.texts import load_texts

__all__ = ["Rules", "SeatForms", "describe_rules", "name_roles", "render_seat", "work_out"]

_MOST_READABLE = 150
"""Cells of a payoff table that is shown as a table."""


@dataclass(frozen=True)
class SeatForms:
    """What was typed into the forms of the page and what is wrong with it; a note, and what theory says."""

    note: str = ""
    blocks: tuple[Block, ...] | None = None
    typed: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    quiz_typed: Sequence[str] = ()
    wrong: Mapping[int | str, str] = field(default_factory=dict)
    agreed: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules as a person reads them; those of an experiment are Markdown."""

    text: str
    markdown: bool


def describe_rules(session: Session, view: View) -> Rules:
    """Return the instructions of the experiment, or the game's words for people."""
    part = session.table.part
    if part is None or not part.instructions:
        return Rules(_word_game(session, view), False)
    places = list_places(part.setup.game)
    return Rules(Template(part.instructions).safe_substitute(places, role=view.role), True)


def _word_game(session: Session, view: View) -> str:
    """Word the rules of the game; where its table is too large to be shown, with the first sentence about it."""
    rules = word_rules(session.game, view)
    if not _describe_calculator(session, view.role):
        return rules
    known = {offer.name: offer.description for offer in list_offers()}
    described = known.get(session.setup.game.name, "").partition(". ")[0]
    return f"{described.rstrip('.')}.\n\n{rules}" if described else rules


def render_seat(server: ServerState, context: SeatContext, forms: SeatForms, status: int = 200) -> HTMLResponse:
    """Render the page of the seat as it is now."""
    session, seat = context.session, context.seat
    with session.lock:
        server.sessions.note_shown(session, seat)
        session.note_page(seat)
        places = _describe_seat(server, context) | _describe_game(context, forms)
        places |= _describe_result(context)
    quiz = list_questions(session, seat) if places["phase"] == "welcome" else ()
    places |= {
        "note": forms.note,
        "quiz": quiz,
        "quiz_typed": forms.quiz_typed or ["" for _ in quiz],
        "wrong": forms.wrong,
        "blocks": forms.blocks,
        "agreed": forms.agreed,
    }
    ending = _describe_ending(server, context, forms)
    if ending["last"]:
        server.sessions.note_finished(session.id, seat)
    return render_page("seat.html", status, **places, **ending)


def _describe_seat(server: ServerState, context: SeatContext) -> JsonObject:
    session, seat = context.session, context.seat
    part = session.table.part
    experiment = server.sessions.get_lobby(session.table.lobby).experiment
    worded = session.game.title if isinstance(session.game, Wording) else session.setup.game.name
    return {
        "t": load_texts(session.setup.language),
        "phase": session.phase(seat),
        "role": context.role,
        "game": (part.title if part else "") or (experiment.title if experiment else worded),
        "welcome": experiment.welcome if experiment and session.table.number == 1 else "",
        "consent": session.setup.consent if session.table.number == 1 else "",
        "consent_markdown": experiment is not None,
        "number": session.table.number,
        "parts": len(server.sessions.list_seats(session.id, seat)),
        "path": server.seat_path(session.id, seat),
        "csrf": server.csrf("seat", session.id, seat),
        "code": server.code(session.id, seat),
        "version": session.version(seat),
        "left": session.seconds_left(seat),
        "missing": session.missing,
        "announcements": list_announcements(session, seat),
        "messages": session.list_messages(seat),
    }


def _describe_game(context: SeatContext, forms: SeatForms) -> JsonObject:
    session, seat, game = context.session, context.seat, context.session.game
    view = session.episode.view(context.role)
    ask = session.pending().get(context.role) if session.phase(seat) == "turn" else None
    earlier, now = _tell_story(game, view)
    return {
        "view": view,
        "rules": describe_rules(session, view),
        "private": _describe_private(session, context.role),
        "bubbles": _list_messages(game, view),
        "hand": read_hand(game.name, view.facts["infoset"], game.roles) if "infoset" in view.facts else None,
        "progress": game.list_rounds(session.episode.state, context.role) if isinstance(game, RoundHistory) else None,
        "calculator": _describe_calculator(session, context.role),
        "earlier": earlier,
        "now": now,
        "question": game.word_question(ask) if ask and isinstance(game, Wording) else "",
        "plain_question": isinstance(ask, Choice),
        "unit": game.unit if isinstance(game, Wording) else "",
        "turn": session.turn(context.role),
        "attempt": session.attempt,
        "fields": make_fields(ask, forms.typed, forms.errors) if ask else [],
    }


def _describe_calculator(session: Session, role: str) -> list[tuple[int, str]]:
    """List number and name of every seat of a payoff table that is too large to be read; none for others."""
    form = find_stage_form(session.game)
    if form is None or form.payoffs[0].size <= _MOST_READABLE:
        return []
    return [(seat, "" if who == role else who) for seat, who in enumerate(session.roles)]


def work_out(session: Session, role: str, choices: Sequence[str]) -> str:
    """Say what everybody gets for these choices, one for each seat, in a payoff table."""
    form = find_stage_form(session.game)
    texts = load_texts(session.setup.language)
    if form is None or len(choices) != form.num_players:
        return ""
    for choice, actions in zip(choices, form.actions, strict=True):
        if choice not in actions:
            return texts("not_option", text=choice[:40] or "?")
    cell = tuple(actions.index(choice) for choice, actions in zip(choices, form.actions, strict=True))
    payoffs = [f"{float(form.payoffs[(seat, *cell)]):g}" for seat in range(form.num_players)]
    own = session.roles.index(role)
    others = ", ".join(f"{who} {payoffs[seat]}" for seat, who in enumerate(session.roles) if seat != own)
    return texts("would_get", own=payoffs[own], others=others)


def _describe_private(session: Session, role: str) -> str:
    game = session.game
    return game.word_private(session.episode.state, role) if isinstance(game, PrivateInformation) else ""


def _list_messages(game: AnyGame, view: View) -> list[JsonObject]:
    """List the messages of a dialogue, who wrote each, and whether it is one's own."""
    if not isinstance(game, HasSpeakers):
        return []
    names = list(name_roles(game).values())
    own = view.facts.get("seat")
    return [{"who": names[seat], "own": seat == own, "text": text} for seat, _, text in view.facts.get("said", [])]


def name_roles(game: AnyGame) -> dict[str, str]:
    """Return the name by which people know each role: a dialogue's speakers are called after their parts."""
    return dict(zip(game.roles, getattr(game, "names", game.roles), strict=True))


def _describe_result(context: SeatContext) -> JsonObject:
    session, role = context.session, context.role
    names = name_roles(session.game)
    payoffs = session.payoffs() if session.phase(context.seat) == "over" else {}
    return {
        "own": payoffs.get(role),
        "others": {names.get(who, who): amount for who, amount in payoffs.items() if who != role},
        "stand_ins": session.stand_ins(role),
        "void": session.episode.void,
    }


def _describe_ending(server: ServerState, context: SeatContext, forms: SeatForms) -> JsonObject:
    """Describe what comes after the game: the next part, the questionnaire, or the end with code and money."""
    session, seat = context.session, context.seat
    phase = session.phase(seat)
    after = server.sessions.list_later(session.id, seat) if phase == "over" else []
    found: JsonObject = {"next": server.seat_path(*after[0]) if after else "", "items": [], "earnings": None}
    found |= {"completion": "", "back": "", "thanks": "", "debrief": True, "last": False}
    experiment = server.sessions.get_lobby(session.table.lobby).experiment
    if experiment is None:
        return found
    found["debrief"] = experiment.debrief and not after
    if after:
        return found
    if experiment.questionnaire and (session.id, seat) not in server.sessions.questionnaires:
        return found | {"items": _list_items(experiment, forms), "debrief": False}
    earnings = compute_earnings(server, experiment, session.id, seat)
    if phase not in ("over", "closed", "replaced") or not earnings.due:
        return found
    return found | {
        "earnings": earnings if experiment.payment else None,
        "completion": experiment.completion.code,
        "back": fill_link(server, experiment, session.id, seat),
        "thanks": experiment.thanks,
        "last": True,
    }


def _list_items(experiment: Experiment, forms: SeatForms) -> list[tuple[Item, str, str]]:
    """List the questions with what was typed and what is wrong with it."""
    return [
        (item, forms.typed.get(item.name, ""), str(forms.wrong.get(item.name, ""))) for item in experiment.questionnaire
    ]


def _tell_story(game: AnyGame, view: View) -> tuple[list[str], str]:
    """Return what happened, part by part, and how things stand now."""
    if isinstance(game, HasSpeakers | RoundHistory):
        return [], ""
    past, now = view.facts.get("past"), view.facts.get("now")
    if isinstance(past, list) and isinstance(now, str):
        return past, now
    if isinstance(game, HasStage):
        first, *rest = view.situation.split("\n")
        return rest, first
    return [], view.situation
