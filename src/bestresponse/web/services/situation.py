"""What the page of a seat says about the game: what happened, how things are, what is asked.

The page and the exported column `situation` are made from the same template.
"""

from dataclasses import dataclass

from bestresponse.core.ask import Ask, Choice
from bestresponse.core.capabilities import (
    PlayedRounds,
    PrivateInformation,
    RoundHistory,
    Wording,
    put_question,
)
from bestresponse.core.game import REFEREE, Action, Game, Role, S, View
from bestresponse.games.capabilities import HasDomain, HasOffers, HasStage
from bestresponse.games.dialogue.ruled import RuledDialogue
from bestresponse.report.page import PageModel, page_model
from bestresponse.telling.course import Narrator
from bestresponse.telling.language import Language
from bestresponse.telling.render import list_rounds, write_history, write_private
from bestresponse.web.reader import read_page
from bestresponse.web.render import render_text
from bestresponse.web.services.chat import ChatLine, name_roles
from bestresponse.web.texts import PageTexts


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSituation:
    """What happened and how things are `now`, as words or as rounds or messages.

    `earlier` has a text for each part of what happened, `notes` what the view adds, `question` what
    is asked.
    """

    unit: str
    private: str
    earlier: list[str]
    now: str
    progress: PlayedRounds | None
    bubbles: list[ChatLine]
    notes: tuple[str, ...]
    question: str


@page_model
class SituationPage(PageModel):
    """A situation by itself, in the language `t` of the page."""

    template = "situation.html"

    told: ShownSituation
    t: PageTexts
    role: Role


def show_situation(
    game: Game[S], state: S, role: Role, ask: Ask | None, t: PageTexts
) -> ShownSituation:
    """Show the game as it is in `state`, with the question that is put."""
    view = game.view(state, role)
    earlier, now = _tell_story(game, view, t.language)
    private = ""
    if isinstance(game, PrivateInformation):
        private = write_private(view, game.list_private(state, role), t.language)
    question = t.language.tell(put_question(game, ask)) if ask else ""
    if isinstance(ask, Choice):
        question = question or t("what_do_you_choose")
    return ShownSituation(
        unit=game.unit if isinstance(game, Wording) else "",
        private=private,
        earlier=earlier,
        now=now,
        progress=game.list_rounds(state, role) if isinstance(game, RoundHistory) else None,
        bubbles=_list_bubbles(game, state, view, t.language),
        notes=tuple(view.notes),
        question=question,
    )


def write_situation(game: Game[S], state: S, role: Role, ask: Ask | None, t: PageTexts) -> str:
    """Write the situation as the page of a participant says it."""
    told = show_situation(game, state, role, ask, t)
    return read_page(render_text(SituationPage(told=told, t=t, role=role))).text


def tell_settled(game: Game[S], view: View, action: Action, language: Language) -> str:
    """Tell what an answer settles for good, so that it can be confirmed; empty if nothing."""
    settled = game.find_settled(view, action) if isinstance(game, HasOffers) else None
    return Narrator(language).tell(settled) if settled else ""


def _list_bubbles(game: Game[S], state: S, view: View, language: Language) -> list[ChatLine]:
    """Return the messages of a dialogue with the moves beside them, and the ruling."""
    names = list(name_roles(game).values())
    own = view.facts.get("seat")
    said = view.facts.get("said", ())
    moves = [""] * len(said)
    if isinstance(game, HasOffers):
        words = Narrator(language)
        moves = [words.tell(moved) for moved in game.list_turn_moves(state)]
    lines = []
    for (seat, _, text), move in zip(said, moves, strict=True):
        lines.append(ChatLine(who=names[seat], own=seat == own, text=text, move=move))
    if isinstance(game, RuledDialogue):
        for ruled in game.list_ruling(state):
            lines.append(ChatLine(who=REFEREE, own=False, text=Narrator(language).tell(ruled)))
    return lines


def _tell_story(game: Game[S], view: View, language: Language) -> tuple[list[str], str]:
    """Return what happened, part by part, and how things stand now."""
    if isinstance(game, HasDomain | RoundHistory):
        return [], ""
    rounds = list_rounds(view, language)
    if rounds is not None:
        return rounds
    if isinstance(game, HasStage):
        first, *rest = write_history(view, language).split("\n")
        return rest, first
    return [], write_history(view, language)
