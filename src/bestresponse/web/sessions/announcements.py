"""What a person is told about answers that a stand-in gave, for them and for others."""

from __future__ import annotations

from bestresponse.core.episode import Submission
from bestresponse.web.sessions.session import Session

__all__ = ["announce_stand_ins"]

_WHY = {
    "nobody had come": "You had not come yet",
    "advanced by the experimenter": "The experimenter moved the session on",
    "replaced by the experimenter": "The experimenter replaced you",
}


def announce_stand_ins(session: Session, seat: int) -> list[str]:
    """Say which of the answers so far a stand-in gave: the last one of this seat, and all settled ones of others."""
    role = session.roles[seat]
    own = [submission for submission in session.episode.submissions if submission.role == role]
    said = [_announce_own(own[-1])] if own and own[-1].decision.stand_in else []
    settled = session.episode.submissions[: session.settled]
    for other in session.roles:
        answers = [submission for submission in settled if submission.role == other]
        missed = sum(bool(submission.decision.stand_in) for submission in answers)
        if missed and other != role:
            said.append(f"A stand-in answered for {other}: {missed} of {len(answers)} answers so far.")
    return said


def _announce_own(submission: Submission) -> str:
    why = _WHY.get(submission.decision.reading.how, "Your time was up")
    return f"{why}: a stand-in answered the last question for you ({_format(submission.decision.action)})."


def _format(action: object) -> str:
    match action:
        case dict():
            return ", ".join(f"{name}: {_format(part)}" for name, part in action.items())
        case tuple() | list():
            return ", ".join(f"{100 * part:.3g} %" for part in action)
        case float():
            return f"{action:g}"
        case _:
            return str(action)
