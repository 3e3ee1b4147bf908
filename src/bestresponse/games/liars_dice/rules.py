"""Liar's dice with one hidden die each: bid on both dice, or doubt the last bid."""

from dataclasses import dataclass
from itertools import product

from bestresponse.core.capabilities import ToMove
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, Role
from bestresponse.core.told import Event, Saw, Statement, TextPlace, Worded
from bestresponse.games.positions import Moves, RuledGame, list_openly

Table = tuple[tuple[int, ...], tuple[str, ...]]
"""Both dice, and what was said so far."""
_LARGEST = 6
_DOUBT = "liar"
_RULES = (
    "Each of two players rolls a die with {sides} sides and keeps it secret. In turn each player"
    " makes a bid NxF: at least N of the two dice show F. A bid must be higher than the last one: a"
    " larger N, or an equal N and a larger F. Instead of a bid you may say liar. Then the dice are"
    " shown: if the last bid is true, whoever made it wins, and otherwise whoever doubted it. The"
    " winner gets 1, the loser -1."
)
_POSITION = "Your die shows {die}. Bids so far: {bids}."


@dataclass(frozen=True)
class LiarsDice(RuledGame[Table]):
    """Bid on two dice, of which you see one, or doubt the last bid.

    What a player knows is no position, so the game is solved as a tree.
    """

    sides: int = 3
    name: str = "liars-dice"
    title = "Liar's dice"

    def __post_init__(self) -> None:
        if not 2 <= self.sides <= _LARGEST:
            raise UsageError(f"liar's dice needs dice of 2 to {_LARGEST} sides, got {self.sides}")

    def begin(self) -> Table:
        """Return the table before the dice are rolled."""
        return (), ()

    def find_turn(self, position: Table) -> ToMove:
        """Roll both dice; then offer the higher bids, and to doubt the last one."""
        dice, said = position
        if not dice:
            rolls = tuple(f"{a},{b}" for a, b in product(range(1, self.sides + 1), repeat=2))
            return ToMove(NATURE, rolls, (1 / len(rolls),) * len(rolls))
        if said and said[-1] == _DOUBT:
            return ToMove()
        bids = [f"{number}x{face}" for number in (1, 2) for face in range(1, self.sides + 1)]
        higher = [*bids[bids.index(said[-1]) + 1 :], _DOUBT] if said else bids
        return ToMove(self.roles[len(said) % 2], tuple(higher))

    def advance(self, position: Table, move: str) -> Table:
        """Put down what was rolled or said."""
        dice, said = position
        if not dice:
            return tuple(map(int, move.split(","))), ()
        return dice, (*said, move)

    def find_result(self, position: Table) -> tuple[float, ...]:
        """Return 1 for the bidder of a true bid, or for whoever doubted a false one."""
        dice, said = position
        number, face = map(int, said[-2].split("x"))
        bidder = len(said) % 2
        is_true = dice.count(face) >= number
        winner = bidder if is_true else 1 - bidder
        return (1.0, -1.0) if winner == 0 else (-1.0, 1.0)

    def list_seen(self, made: Moves, role: Role) -> tuple[Event, ...]:
        """List what was said; of the roll a player sees its own die alone."""
        said = list_openly(made[1:])
        if not made:
            return said
        die = made[0][1].split(",")[self.roles.index(role)]
        return (Saw(f"your die shows {die}"), *said)

    def state_rules(self) -> tuple[Statement, ...]:
        """State what bids are and who wins."""
        return (Worded(_RULES, (TextPlace("sides", (str(self.sides),)),)),)

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
