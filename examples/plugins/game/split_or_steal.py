"""Two players share a pot of 8: both split it, or one steals it, or both lose it.

The rules are stated, not written: `bestresponse` puts the statements into words, in every language
that it has, and `check_game` compares them with what the game does. A game that gives a text
instead, such as `race_to_ten.py`, is told in that text, in one language.
"""

from fractions import Fraction

from bestresponse.core import (
    Aim,
    AtOnce,
    Cell,
    Cells,
    Choice,
    Made,
    Options,
    Over,
    Players,
    View,
    YourTurn,
)

MOVES = ("split", "steal")
PAYOFFS = {
    ("split", "split"): (4, 4),
    ("split", "steal"): (0, 8),
    ("steal", "split"): (8, 0),
    ("steal", "steal"): (0, 0),
}


class SplitOrSteal:
    """Split a pot of 8 or steal it; if both steal, nobody gets anything."""

    name, version, roles = "split-or-steal", 1, ("player 1", "player 2")

    def start(self):
        return ()

    def asks(self, state):
        return {} if state else dict.fromkeys(self.roles, Choice(MOVES))

    def view(self, state, role):
        rules = (
            Players(self.roles),
            AtOnce(tuple(Options(who, MOVES) for who in self.roles)),
            Cells(tuple(Cell(moves, tuple(map(Fraction, PAYOFFS[moves]))) for moves in PAYOFFS)),
            Aim(),
        )
        made = tuple(Made(who, move) for who, move in zip(self.roles, state, strict=False))
        return View(role, rules, (*made, Over()) if state else (YourTurn(),))

    def apply(self, state, moves):
        return tuple(moves[role] for role in self.roles)

    def payoffs(self, state):
        paid = PAYOFFS[state] if state else (0, 0)
        return dict(zip(self.roles, map(float, paid), strict=True))
