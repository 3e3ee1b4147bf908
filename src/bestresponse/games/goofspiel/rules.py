"""Goofspiel: bid your cards for prizes, everybody at the same time.

The prizes come in falling order, so that nothing is drawn, and bids are shown after every round.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bestresponse.core import Action, Ask, Choice, Role, View
from bestresponse.core.errors import UsageError
from bestresponse.core.told import (
    Aim,
    Event,
    Made,
    Over,
    Players,
    Round,
    Statement,
    TextPlace,
    Worded,
)

Bids = tuple[tuple[int, int], ...]
"""What both bid in every round so far."""
_LARGEST = 6
_RULES = (
    "Two players each hold the cards 1 to {cards}. There are prizes of {prizes} points, which"
    " come up one after the other in this order. For each prize both players play one of their"
    " cards at the same time, without seeing the other's. The higher card wins the prize; with"
    " equal cards nobody gets it. Cards that were played are seen by both and do not come back."
    " After the last prize, whoever has more points gets 1 and the other player -1; with equal"
    " points both get 0."
)
_POSITION = (
    "The prize is {prize}; still to come: {later}. You hold {mine}, the other {theirs}. Points so"
    " far: you {won}, the other {lost}."
)
_LAST = (
    "The prize is {prize}, the last one. You hold {mine}, the other {theirs}. Points so far: you"
    " {won}, the other {lost}."
)
_OVER = "All prizes have come up. Points: you {won}, the other {lost}."


@dataclass(frozen=True)
class Goofspiel:
    """Bid your cards for prizes, both players at the same time.

    What the other bids is hidden, so the game is solved as a tree.
    """

    cards: int = 3
    name: str = "goofspiel"
    version: int = 1
    title = "Goofspiel"
    roles = ("player 1", "player 2")

    def __post_init__(self) -> None:
        if not 2 <= self.cards <= _LARGEST:
            raise UsageError(f"Goofspiel needs 2 to {_LARGEST} cards, got {self.cards}")

    def start(self) -> Bids:
        """Return the state before anybody has moved."""
        return ()

    def asks(self, state: Bids) -> Mapping[Role, Ask]:
        """Ask both for one of the cards that they still hold."""
        if len(state) == self.cards:
            return {}
        return {
            role: Choice(tuple(map(str, self._list_hand(state, seat))))
            for seat, role in enumerate(self.roles)
        }

    def _list_hand(self, state: Bids, seat: int) -> list[int]:
        played = [bids[seat] for bids in state]
        return [card for card in range(1, self.cards + 1) if card not in played]

    def apply(self, state: Bids, moves: Mapping[Role, Action]) -> Bids:
        """Return the state after both have bid."""
        first, second = (int(moves[role]) for role in self.roles)
        return (*state, (first, second))

    def count_points(self, state: Bids) -> tuple[int, int]:
        """Return what both have won so far."""
        won = [0, 0]
        for number, (first, second) in enumerate(state):
            if first != second:
                won[int(second > first)] += self.cards - number
        return won[0], won[1]

    def payoffs(self, state: Bids) -> Mapping[Role, float]:
        """Return 1 for more points after the last prize, -1 for fewer."""
        first, second = self.count_points(state)
        lead = (first > second) - (first < second) if len(state) == self.cards else 0
        return dict(zip(self.roles, (float(lead), float(-lead)), strict=True))

    def view(self, state: Bids, role: Role) -> View:
        """Return what `role` may know in `state`."""
        events: list[Event] = []
        for number, bids in enumerate(state, 1):
            events.append(Round(number))
            events += [Made(who, str(bid)) for who, bid in zip(self.roles, bids, strict=True)]
        if len(state) == self.cards:
            events.append(Over())
        sizes = tuple(str(prize) for prize in range(self.cards, 0, -1))
        places = TextPlace("cards", (str(self.cards),)), TextPlace("prizes", sizes, "and")
        rules = (Players(self.roles), Worded(_RULES, places), Aim())
        facts = {"rivals": [other for other in self.roles if other != role]}
        return View(role, rules, tuple(events), facts, position=self._state_position(state, role))

    def _state_position(self, state: Bids, role: Role) -> tuple[Statement, ...]:
        """State the prize, both hands and the points; at the end the points alone."""
        seat = self.roles.index(role)
        points = self.count_points(state)
        parts = {"won": [points[seat]], "lost": [points[1 - seat]]}
        prize, *later = range(self.cards - len(state), -1, -1)
        text = _OVER
        if prize:
            text = _POSITION if later[:-1] else _LAST
            parts |= {"prize": [prize], "later": later[:-1]}
            parts |= {"mine": self._list_hand(state, seat)}
            parts |= {"theirs": self._list_hand(state, 1 - seat)}
        places = [TextPlace(name, tuple(map(str, part)), "and") for name, part in parts.items()]
        return (Worded(text, tuple(places)),)
