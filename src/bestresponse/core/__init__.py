"""The ground floor: asks, games, players, episodes, records. Standard library only."""

from bestresponse.core.ask import PASS, Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.episode import Episode, Record, Submission, Void, play
from bestresponse.core.game import NATURE, REFEREE, Action, Game, Role, View
from bestresponse.core.player import Call, Decision, Nature, Player, Reading, Status

__all__ = [
    "NATURE",
    "PASS",
    "REFEREE",
    "Action",
    "Amount",
    "Ask",
    "Call",
    "Choice",
    "Decision",
    "Episode",
    "Form",
    "Game",
    "Lottery",
    "Mixture",
    "Nature",
    "Player",
    "Reading",
    "Record",
    "Role",
    "Status",
    "Submission",
    "View",
    "Void",
    "Words",
    "play",
]
