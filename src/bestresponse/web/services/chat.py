"""Messages that the people of a group write to each other beside a game.

They are no moves: nothing in the game depends on them, and only people write them. An experiment
offers them by giving their length. Each is written to the journal before anybody sees it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bestresponse.core.errors import NotAsked
from bestresponse.core.game import Game, S
from bestresponse.games.capabilities import HasDomain
from bestresponse.web.access import SeatContext
from bestresponse.web.sessions.session import Session
from bestresponse.web.texts import FieldMistake

_MOST_MESSAGES = 200
"""As many may a person send in one game; more is a program that went wrong."""


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A message as a person sees it: by whom, whether by themselves, and what they did with it."""

    who: str
    own: bool
    text: str
    move: str = ""


def is_chat_open(session: Session) -> bool:
    """Tell whether messages can be sent at that table now."""
    return bool(session.table.part.game.chat) and session.begun and not session.ended


def list_chat(session: Session, seat: int) -> list[ChatLine]:
    """List the messages of this attempt, in the order they came."""
    names = name_roles(session.game)
    return [
        ChatLine(
            who=session.table.texts.word(names[session.roles[message.seat]]),
            own=message.seat == seat,
            text=message.text,
        )
        for message in session.standing.chat
        if message.attempt == session.attempt
    ]


def name_roles(game: Game[S]) -> Mapping[str, str]:
    """Return the name by which people know each role.

    A dialogue's speakers are called after their parts.
    """
    names = getattr(game, "names", game.roles) if isinstance(game, HasDomain) else game.roles
    return dict(zip(game.roles, names, strict=True))


def send_chat(context: SeatContext, typed: str) -> None:
    """Send a message to the group.

    FieldMistake where it is empty or too long, NotAsked where nobody can send any.
    """
    session = context.session
    texts = session.table.texts
    text = typed.strip().replace("\r\n", "\n")
    longest = session.table.part.game.chat
    with session.lock:
        if not is_chat_open(session) or session.phase(context.seat) not in ("turn", "waiting"):
            raise NotAsked("no message can be sent here now")
        if not text:
            raise FieldMistake(texts("empty_words"))
        if len(text) > longest:
            raise FieldMistake(texts("too_long", count=len(text), most=longest))
        sent = [message for message in session.standing.chat if message.seat == context.seat]
        if len(sent) >= _MOST_MESSAGES:
            raise FieldMistake(texts("chat_full"))
        context.server.sessions.keep_chat(session, context.seat, text)
