"""The ground floor: asks, games, players, episodes, records. Standard library only.

Names are imported when first used: `theory` needs no more of this package than its errors.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy

if TYPE_CHECKING:
    from bestresponse.core.ask import PASS, Amount, Ask, Choice, Form, Lottery, Mixture, Words
    from bestresponse.core.episode import Episode, Record, Submission, Void, play
    from bestresponse.core.game import NATURE, REFEREE, Action, Game, Role, View
    from bestresponse.core.player import Call, Decision, Nature, Player, Reading, Status

_EXPORTS = {
    "NATURE": "game",
    "PASS": "ask",
    "REFEREE": "game",
    "Action": "game",
    "Amount": "ask",
    "Ask": "ask",
    "Call": "player",
    "Choice": "ask",
    "Decision": "player",
    "Episode": "episode",
    "Form": "ask",
    "Game": "game",
    "Lottery": "ask",
    "Mixture": "ask",
    "Nature": "player",
    "Player": "player",
    "Reading": "player",
    "Record": "episode",
    "Role": "game",
    "Status": "player",
    "Submission": "episode",
    "View": "game",
    "Void": "episode",
    "Words": "ask",
    "play": "episode",
}

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

__getattr__, __dir__ = lazy(__name__, _EXPORTS)
