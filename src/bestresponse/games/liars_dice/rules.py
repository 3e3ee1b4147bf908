"""Liar's dice with one hidden die each: bid on both dice, or doubt the last bid."""

from dataclasses import dataclass
from itertools import product

from bestresponse.core.capabilities import ToMove
from bestresponse.core.errors import UsageError
from bestresponse.core.game import Role
from bestresponse.core.told import Statement, TextPlace, Worded
from bestresponse.games.positions import DealtGame, Table

_LARGEST = 6
_DOUBT = "liar"
_RULES = (
    "Each of two players rolls a die with {sides} sides and keeps it secret. In turn each player"
    " makes a bid NxF: at least N of the two dice show F. A bid must be higher than the last one: a"
    " larger N, or an equal N and a larger F. Instead of a bid you may say liar. Then the dice are"
    " shown: if the last bid is true, whoever made it wins, and otherwise whoever doubted it. The"
    " winner gets 1, the loser -1."
)
_WILD = "A die that shows {sides} counts as any number."
_POSITION = "Your die shows {die}. Bids so far: {bids}."


@dataclass(frozen=True)
class LiarsDice(DealtGame):
    """Bid on two dice, of which you see one, or doubt the last bid.

    What a player knows is no position, so the game is solved as a tree.
    """

    sides: int = 3
    wild: bool = False
    """Whether the highest number counts as any number."""
    name: str = "liars-dice"
    title = "Liar's dice"
    own = "your die shows {number}"

    def __post_init__(self) -> None:
        if not 2 <= self.sides <= _LARGEST:
            raise UsageError(f"liar's dice needs dice of 2 to {_LARGEST} sides, got {self.sides}")

    def find_turn(self, position: Table) -> ToMove:
        """Roll both dice; then offer the higher bids, and to doubt the last one."""
        dice, said = position
        if not dice:
            return self.deal(product(range(1, self.sides + 1), repeat=2))
        if said and said[-1] == _DOUBT:
            return ToMove()
        faces = range(1, self.sides + 1)
        bids = [f"{number}x{face}" for number in (1, 2) for face in faces]
        higher = [*bids[bids.index(said[-1]) + 1 :], _DOUBT] if said else bids
        return ToMove(self.roles[len(said) % 2], tuple(higher))

    def find_result(self, position: Table) -> tuple[float, ...]:
        """Return 1 for the bidder of a true bid, or for whoever doubted a false one."""
        dice, said = position
        number, face = map(int, said[-2].split("x"))
        bidder = len(said) % 2
        fitting = {face, self.sides} if self.wild else {face}
        is_true = sum(die in fitting for die in dice) >= number
        winner = bidder if is_true else 1 - bidder
        return (1.0, -1.0) if winner == 0 else (-1.0, 1.0)

    def state_rules(self) -> tuple[Statement, ...]:
        """State what bids are and who wins."""
        sides = (TextPlace("sides", (str(self.sides),)),)
        told = (Worded(_RULES, sides),)
        return (*told, Worded(_WILD, sides)) if self.wild else told

    def state_position(self, position: Table, role: Role) -> tuple[Statement, ...]:
        """State the own die, and what was said; all dice once they are shown."""
        dice, said = position
        own = str(dice[self.roles.index(role)]) if dice else "nothing yet"
        lines = tuple(f"{self.roles[k % 2]}: {bid}" for k, bid in enumerate(said)) or ("none",)
        places = TextPlace("die", (own,)), TextPlace("bids", lines, "semicolons")
        told: tuple[Statement, ...] = (Worded(_POSITION, places),)
        if said and said[-1] == _DOUBT:
            shown = TextPlace("dice", tuple(map(str, dice)), "and")
            told += (Worded("The dice show {dice}.", (shown,)),)
        return told
