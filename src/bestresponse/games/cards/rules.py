"""Games of bluff, as many as there are settings: one hidden card each, bets, raises, a showdown.

Three cards, bets of one size and no raise are Kuhn poker (H. W. Kuhn, 1950).
"""

from dataclasses import dataclass
from itertools import permutations

from bestresponse.core.capabilities import ToMove
from bestresponse.core.errors import UsageError
from bestresponse.core.game import Role
from bestresponse.core.told import Statement, TextPlace, Worded
from bestresponse.games.positions import DealtGame, Table

_MOST = {"cards": 13, "bets": 4, "raises": 3}
_RULES = (
    "There are {cards} cards, numbered from 1. Two players put 1 coin each into a pot, and each is"
    " dealt one card that the other does not see. Player 1 begins, and the players take turns. As"
    " long as nobody has bet, you check or bet from 1 to {bets} coins. After a bet or a raise you"
    " fold, call by putting in as much as the other has, or raise: put in as much and from 1 to"
    " {bets} coins more. The most raises in a play: {raises}. Whoever folds leaves the pot to the"
    " other. If both check, or after a call, the {winner} card takes the pot. A payoff is what you"
    " take out of the pot less what you put in."
)
_POSITION = (
    "Your card is {card}. In the pot are {mine} from you and {theirs} from the other player. Moves"
    " so far: {moves}."
)


@dataclass(frozen=True)
class Bluff(DealtGame):
    """Bet on a card that the other does not see.

    With 3 cards, bets of 1 and no raise, player 1 loses 1/18 per play, as in Kuhn poker.
    """

    cards: int = 4
    bets: int = 2
    raises: int = 1
    low_wins: bool = False
    name: str = "bluff"
    title = "Bluff"
    own = "your card is {number}"

    def __post_init__(self) -> None:
        least = {"cards": 2, "bets": 1, "raises": 0}
        for name, most in _MOST.items():
            given = getattr(self, name)
            if not least[name] <= given <= most:
                raise UsageError(f"{name}: expected {least[name]} to {most}, got {given}")
        stake = 1 + self.bets * (1 + self.raises)
        object.__setattr__(self, "payoff_bounds", (-float(stake), float(stake)))

    def find_turn(self, position: Table) -> ToMove:
        """Deal; then offer to check and bet, or to answer a bet."""
        cards, moves = position
        if not cards:
            return self.deal(permutations(range(1, self.cards + 1), 2))
        role = self.roles[len(moves) % 2]
        last = moves[-1] if moves else "check"
        if last in ("fold", "call") or moves == ("check", "check"):
            return ToMove()
        if last == "check":
            return ToMove(role, ("check", *self._list_sizes("bet")))
        may_raise = sum(move.startswith("raise") for move in moves) < self.raises
        return ToMove(role, ("fold", "call", *(self._list_sizes("raise") if may_raise else ())))

    def _list_sizes(self, verb: str) -> list[str]:
        return [f"{verb} {size}" for size in range(1, self.bets + 1)]

    def _count_coins(self, moves: tuple[str, ...]) -> list[int]:
        """Count what each has put into the pot."""
        coins = [1, 1]
        for turn, move in enumerate(moves):
            seat = turn % 2
            if move not in ("check", "fold"):
                _, _, size = move.partition(" ")
                coins[seat] = coins[1 - seat] + int(size or 0)
        return coins

    def find_result(self, position: Table) -> tuple[float, ...]:
        """Pay what the loser has put in."""
        (first, second), moves = position
        coins = self._count_coins(moves)
        if moves[-1] == "fold":
            loser = (len(moves) - 1) % 2
        else:
            loser = int((first > second) != self.low_wins)
        lost = float(coins[loser])
        return (-lost, lost) if loser == 0 else (lost, -lost)

    def state_rules(self) -> tuple[Statement, ...]:
        """State bets and who wins."""
        places = {
            "cards": str(self.cards),
            "bets": str(self.bets),
            "raises": str(self.raises),
            "winner": "lower" if self.low_wins else "higher",
        }
        told = [TextPlace(name, (value,)) for name, value in places.items()]
        return (Worded(_RULES, tuple(told)),)

    def state_position(self, position: Table, role: Role) -> tuple[Statement, ...]:
        """State the own card, the pot and the moves; both cards after a showdown."""
        cards, moves = position
        if not cards:
            return (Worded("No card has been dealt."),)
        seat = self.roles.index(role)
        coins = self._count_coins(moves)
        made = [f"{self.roles[turn % 2]}: {move}" for turn, move in enumerate(moves)]
        places = {
            "card": (str(cards[seat]),),
            "mine": (str(coins[seat]),),
            "theirs": (str(coins[1 - seat]),),
            "moves": tuple(made) or ("none",),
        }
        told = [TextPlace(name, parts, "semicolons") for name, parts in places.items()]
        stated: tuple[Statement, ...] = (Worded(_POSITION, tuple(told)),)
        if moves and moves[-1] in ("check", "call") and not self.find_turn(position).role:
            shown = TextPlace("card", (str(cards[1 - seat]),))
            stated += (Worded("The other card is {card}.", (shown,)),)
        return stated
