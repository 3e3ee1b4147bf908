"""Pig: roll on, or keep what this turn has brought.

A position is who is at turn, both scores, the points of this turn, and whether the die is rolling.
"""

from dataclasses import dataclass

from bestresponse.core.capabilities import ToMove
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, Role
from bestresponse.core.told import Statement, TextPlace, Worded
from bestresponse.games.positions import PositionGame

Turns = tuple[int, int, int, int, bool]
_MOST_POINTS = 1000
_DIE = tuple("123456")
_EVEN = (1 / 6,) * 6
_RULES = (
    "Two players collect points; whoever first has {goal} wins and gets 1, the other player gets"
    " -1. At your turn you roll a die as often as you like. A roll of 2 to 6 is added to the"
    " points of this turn. A roll of 1 loses all points of this turn, and the turn passes. If you"
    " hold, the points of this turn are yours for good, and the turn passes. You win as soon as"
    " your score and the points of this turn together reach {goal}. A play of more than {moves}"
    " rolls and decisions is stopped, and both get 0."
)


@dataclass(frozen=True)
class Pig(PositionGame[Turns]):
    """Roll a die until you stop or lose it all; the first to the goal wins.

    Of two perfect players the first wins 53.06 % of all plays to 100 points (T. Neller, C. Presser,
    The UMAP Journal 25, 2004).
    """

    goal: int = 50
    name: str = "pig"
    title = "Pig"
    most_moves = 10_000

    def __post_init__(self) -> None:
        if not 2 <= self.goal <= _MOST_POINTS:
            raise UsageError(f"Pig needs a goal of 2 to {_MOST_POINTS} points, got {self.goal}")

    def begin(self) -> Turns:
        """Return the first turn, without points."""
        return 0, 0, 0, 0, False

    def find_turn(self, position: Turns) -> ToMove:
        """Offer to roll or hold, or let the die roll."""
        seat, *scores, points, is_rolling = position
        if scores[seat] + points >= self.goal:
            return ToMove()
        if is_rolling:
            return ToMove(NATURE, _DIE, _EVEN)
        return ToMove(self.roles[seat], ("roll", "hold"))

    def advance(self, position: Turns, move: str) -> Turns:
        """Roll, hold, or count what the die shows."""
        seat, first, second, points, _ = position
        match move:
            case "roll":
                return seat, first, second, points, True
            case "hold" if seat == 0:
                return 1, first + points, second, 0, False
            case "hold":
                return 0, first, second + points, 0, False
            case "1":
                return 1 - seat, first, second, 0, False
            case _:
                return seat, first, second, points + int(move), False

    def find_result(self, position: Turns) -> tuple[float, ...]:
        """Return 1 for whoever has reached the goal."""
        return (1.0, -1.0) if position[0] == 0 else (-1.0, 1.0)

    def state_rules(self) -> tuple[Statement, ...]:
        """State what a turn is and who wins."""
        places = TextPlace("goal", (str(self.goal),)), TextPlace("moves", (f"{self.most_moves:,}",))
        return (Worded(_RULES, places),)

    def state_position(self, position: Turns, role: Role) -> tuple[Statement, ...]:
        """State both scores and the points of this turn."""
        _, *scores, points, _ = position
        seat = self.roles.index(role)
        text = (
            "Your score is {mine}, the other's {theirs}. Points of this turn, not yet safe:"
            " {points}."
        )
        places = [("mine", scores[seat]), ("theirs", scores[1 - seat]), ("points", points)]
        return (Worded(text, tuple(TextPlace(name, (str(n),)) for name, n in places)),)
