"""What a person is told about a restart, and about answers that a stand-in gave, for them and for others."""

from __future__ import annotations

from collections.abc import Mapping

from bestresponse.core.episode import Submission
from bestresponse.web.sessions.session import Session, round_amount
from bestresponse.web.texts import InterfaceTexts, load_texts

__all__ = ["format_action", "list_announcements"]

_WHY = {
    "nobody had come": "why_absent",
    "advanced by the experimenter": "why_advanced",
    "replaced by the experimenter": "why_replaced",
}


def list_announcements(session: Session, seat: int) -> list[str]:
    """Say that the game was restarted until the seat has answered, and which answers a stand-in gave.

    Of this seat that is its last answer, of others all settled ones.
    """
    role, texts = session.roles[seat], load_texts(session.setup.language)
    own = [submission for submission in session.episode.submissions if submission.role == role]
    said = [texts("restarted")] if session.attempt > 1 and not own else []
    if own and own[-1].decision.stand_in:
        said.append(_announce_own(own[-1], texts))
    settled = session.episode.submissions[: session.settled]
    for other in session.roles:
        answers = [submission for submission in settled if submission.role == other]
        missed = sum(bool(submission.decision.stand_in) for submission in answers)
        if missed and other != role:
            said.append(texts("other_stand_in", who=other, missed=missed, count=len(answers)))
    return said


def _announce_own(submission: Submission, texts: InterfaceTexts) -> str:
    why = texts(_WHY.get(submission.decision.reading.how, "why_time"))
    return texts("own_stand_in", why=why, action=format_action(submission.decision.action))


def format_action(action: object) -> str:
    """Format an answer for people; a dash where there is none.

    >>> format_action({"points": 2.0, "mix": (0.25, 0.75)})
    'points: 2, mix: 25 %, 75 %'
    """
    match action:
        case None:
            return "–"
        case Mapping():
            return ", ".join(f"{name}: {format_action(part)}" for name, part in action.items())
        case tuple() | list():
            return ", ".join(f"{100 * part:.3g} %" for part in action)
        case float():
            return f"{round_amount(action):g}"
        case _:
            return str(action)
