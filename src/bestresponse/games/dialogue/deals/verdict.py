"""Who argued better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from bestresponse.core.errors import Flaw, InvalidGame, InvalidMove
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.dialogue.deals.rules import Deal, Private, Said, make_object, read_item, shorten
from bestresponse.games.dialogue.reader import DomainReader

__all__ = ["Verdict"]

_TIE = "tie"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Who argued better, with reasons."""

    kind: ClassVar[str] = "verdict"
    ending: ClassVar[str] = "The judge decides then."
    impossible: ClassVar[str] = "two of them are on the same side"
    public: ClassVar[frozenset[str]] = frozenset({"topic"})
    private: ClassVar[frozenset[str]] = frozenset({"side"})
    sealed: ClassVar[bool] = False

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Verdict:
        """Check the sides and topics of a domain."""
        reader.words("generate.sides", players)
        reader.words("generate.topics")
        return cls()

    def find_bounds(self, reader: DomainReader) -> tuple[float, float]:
        """Return the payoffs of a loser and a winner."""
        return 0, 1

    def draw(self, generate: JsonMapping, rng: Random, players: int) -> tuple[Private, ...]:
        """Draw a side for each of the people."""
        return tuple({"side": side} for side in rng.sample(generate["sides"], players))

    def is_possible(self, private: tuple[Private, ...]) -> bool:
        """Tell whether all sides differ."""
        return len({own["side"] for own in private}) == len(private)

    def read_private(self, generate: JsonMapping, name: str, given: JsonMapping) -> Private:
        """Return the side that somebody wrote for one person; InvalidGame where the domain has no such side."""
        said = str(given.get("side")).strip().casefold()
        sides = [side for side in generate["sides"] if side.casefold() == said]
        if not sides:
            expected = ", ".join(generate["sides"])
            raise InvalidGame(f"the side of {name} is {shorten(given.get('side'))}, expected one of {expected}")
        return {"side": sides[0]}

    def describe_private(self, generate: JsonMapping) -> list[str]:
        """Say what a writer of scenarios has to keep to."""
        return [f"private, for each person: side, one of {', '.join(generate['sides'])}, different for each"]

    def private_schema(self, generate: JsonMapping) -> JsonObject:
        """Return the JSON schema of what one person knows."""
        return make_object({"side": {"type": "string", "enum": list(generate["sides"])}})

    def fill_public(self) -> dict[str, str]:
        """Return nothing: everything depends on the game."""
        return {}

    def schema(self, names: tuple[str, ...]) -> JsonObject:
        """Return the JSON schema of the referee's ruling."""
        return make_object({"reasons": {"type": "string"}, "winner": {"type": "string", "enum": [*names, _TIE]}})

    def read(self, data: JsonMapping, names: tuple[str, ...], private: tuple[Private, ...], said: Said = ()) -> Deal:
        """Return the ruling as a deal, or InvalidMove where it names no winner."""
        winner = read_item(data.get("winner"), (*names, _TIE))
        if winner is None:
            raise InvalidMove("the winner is missing", Flaw.UNPARSEABLE)
        reasons = data.get("reasons", "")
        seat = None if winner == _TIE else names.index(winner)
        return {"winner": seat, "reasons": reasons if isinstance(reasons, str) else ""}

    def utilities(self, deal: Deal, private: tuple[Private, ...]) -> tuple[float, ...]:
        """Return 1 for the winner and 0 for the others, or equal shares for a tie."""
        if deal["winner"] is None:
            return (1 / len(private),) * len(private)
        return tuple(float(i == deal["winner"]) for i in range(len(private)))

    def rule(self, last: Sequence[str]) -> None:
        """Leave the ruling to a referee, because no rule tells it from the words."""

    def settled(self, deal: Deal) -> bool:
        """Tell that a debate is never settled before its end."""
        return False
