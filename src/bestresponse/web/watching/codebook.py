"""What every exported column means; exported beside the data."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["COLUMNS"]

_SETUP = {
    "lobby": "Sessions that were created together share a lobby.",
    "session": "One play of one group.",
    "group": "Number of the group in its lobby, from 1.",
    "part": "Number of the game in the sequence of an experiment, from 1.",
    "treatment": "Treatment of the group; empty where there is none.",
    "created": "Time at which the lobby was created (UTC, ISO 8601).",
    "game": "Name of the game.",
    "parameters": "Parameters of the game that were set, as JSON.",
    "rounds": "Rounds chosen in the setup; 1 where the game sets its own.",
    "mixed": "Whether probabilities were asked for instead of one action.",
    "seconds": "Time limit for an answer in seconds; 0 is no limit.",
    "stand_in_strategy": "Strategy that answers for people whose time is up, who are absent or were replaced.",
    "seed": "Seed of nature and of the strategies.",
    "role": "Role in the game.",
    "seat": "Who fills the seat: person, strategy:NAME or model:NAME.",
    "participant": "Code of the person; empty for strategies and models.",
    "participant_label": "Label from the link, as given.",
    "PROLIFIC_PID": "Label from the link, as given.",
    "STUDY_ID": "Label from the link, as given.",
    "SESSION_ID": "Label from the link, as given.",
}
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "decisions": _SETUP
    | {
        "attempt": "1, or a higher number after the experimenter restarted the table.",
        "discarded": "Whether the table was restarted after this answer; it then counts for no payoff of the session.",
        "round": "Round as the participants were told it; 1 in games without rounds.",
        "stage": "Number of the decision within the round, from 1; answers given at the same time share it.",
        "payoff": "What the role earned from this answer until its next one; empty until everybody has answered.",
        "total": "What the role had earned in all by then.",
        "action": "The answer: an option, a number, or JSON for several fields or probabilities.",
        "answered_by": "person, strategy, model, or stand-in; a stand-in's answer is not the person's.",
        "shown": "Time at which the question was first shown to the person (UTC, milliseconds, by the server's clock).",
        "answered": "Time at which the answer was accepted (UTC, milliseconds, by the server's clock).",
        "timed_out": "Whether the time limit was reached: typed input was sent by the page, or a stand-in answered.",
        "away_times": "How often the page was out of sight (another tab or window) while the question was open.",
        "away_seconds": "For how many seconds in all; empty where the browser did not tell.",
        "status": "How the answer was read: valid, repaired, or why none could be read before a stand-in answered.",
        "how": "What was repaired or why a stand-in answered.",
        "stand_in": "Strategy that answered instead; empty for an answer of the seat itself.",
        "words": "Reasoning given with the answer.",
    },
    "participants": _SETUP
    | {
        "seated": "Time at which the seat was taken by the shared link; empty for a link of one's own.",
        "ready": "Time at which the person had passed the quiz and was ready.",
        "consent": "Whether the consent text was agreed to; empty where there was none.",
        "quiz_tries": "How often the quiz was sent until it was right, counted by the server.",
        "state": "State of the seat when the data were exported.",
        "answers": "Number of answers, those of stand-ins included.",
        "stand_ins": "Number of answers that a stand-in gave.",
        "restarts": "How often the experimenter restarted the table; the other columns tell of the last attempt.",
        "payoff": "Payoff of a play that is over.",
        "remark": "What the person wrote at the end.",
    },
    "payments": {
        "lobby": "Sessions of one experiment share a lobby.",
        "group": "Number of the group in its lobby, from 1.",
        "treatment": "Treatment of the group; empty where there is none.",
        "participant": "Code of the person.",
        **{name: _SETUP[name] for name in ("participant_label", "PROLIFIC_PID", "STUDY_ID", "SESSION_ID")},
        "confirmed": "Whether the person said in the first game that they are ready (consent and quiz included).",
        "consent": "Whether the consent text was agreed to; empty where there was none.",
        "answers": "Number of answers that the person gave, in all games.",
        "stand_ins": "Number of answers that a stand-in or bot gave for the person, in all games.",
        "replaced": "Whether the experimenter replaced the person by a bot.",
        "parts_finished": "Number of games of the group that are over.",
        "parts": "Number of games of the experiment.",
        "finished": "Time at which the last page, with the code, was first shown (UTC); empty before.",
        "seat_points": "Sum of the payoffs of the seat over the games that are over, whoever answered.",
        "points": "What of it is paid: of each game the share of one's own answers; see stand_ins_count.",
        "currency": "Currency of the payment.",
        "stand_ins_count": "What of an answer of a stand-in counts as one's own: none, half, or count (all of it).",
        "show_up": "Money for taking part.",
        "rate": "Money for one point.",
        "least": "Least that is paid.",
        "money": "Money in all: show_up + rate x points, or least if that is more; empty if not confirmed.",
        "completion_code": "Code that was shown on the last page; empty before.",
    },
}
