"""Cheap talk before a game in which both move at once: each names its move in a sealed note after the talk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from bestresponse.core.errors import Flaw, InvalidMove
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.dialogue.deals.rules import Deal, Private, Said, find_named, make_object, read_item
from bestresponse.games.dialogue.reader import DomainReader

__all__ = ["Moves"]


@dataclass(frozen=True, slots=True)
class Moves:
    """One of `moves` for each of two; `table` has a row for one's own move and a column for the other's."""

    moves: tuple[str, ...]
    table: tuple[tuple[float, ...], ...]
    kind: ClassVar[str] = "moves"
    ending: ClassVar[str] = "Talk binds nobody: only the move on the sealed note counts."
    impossible: ClassVar[str] = ""
    public: ClassVar[frozenset[str]] = frozenset({"moves", "payoffs"})
    private: ClassVar[frozenset[str]] = frozenset()
    sealed: ClassVar[bool] = True

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Moves:
        """Read the section `deal` of a domain."""
        moves, rows = reader.words("deal.moves", 2), reader.get("deal.payoffs", list)
        numbers = [x for row in rows if isinstance(row, list) for x in row if type(x) in (int, float)]
        if players != 2 or len(rows) != len(moves) or len(numbers) != len(moves) ** 2:
            raise reader.wrong(f"deal.payoffs: expected {len(moves)} rows of {len(moves)} numbers, for 2 players")
        return cls(moves, tuple(tuple(map(float, row)) for row in rows))

    def find_bounds(self, reader: DomainReader) -> tuple[float, float]:
        """Return the lowest and the highest payoff of the table."""
        return min(map(min, self.table)), max(map(max, self.table))

    def draw(self, generate: JsonMapping, rng: Random, players: int) -> tuple[Private, ...]:
        """Return nothing: everybody knows the table."""
        return ({},) * players

    def is_possible(self, private: tuple[Private, ...]) -> bool:
        """Tell that everybody can always move."""
        return True

    def read_private(self, generate: JsonMapping, name: str, given: JsonMapping) -> Private:
        """Return nothing: there is nothing private."""
        return {}

    def describe_private(self, generate: JsonMapping) -> list[str]:
        """Say what a writer of scenarios has to keep to."""
        return ["private, for each person: an empty object"]

    def private_schema(self, generate: JsonMapping) -> JsonObject:
        """Return the JSON schema of what one person knows."""
        return make_object({})

    def fill_public(self) -> dict[str, str]:
        """Return the moves, and what each earns against each."""
        lines = [
            f"{own} against {other}: {payoff:g}"
            for own, row in zip(self.moves, self.table, strict=True)
            for other, payoff in zip(self.moves, row, strict=True)
        ]
        return {"moves": ", ".join(self.moves[:-1]) + f" or {self.moves[-1]}", "payoffs": "\n".join(lines)}

    def schema(self, names: tuple[str, ...]) -> JsonObject:
        """Return the JSON schema of the referee's ruling."""
        move = {"type": "string", "enum": list(self.moves)}
        return make_object({"moves": make_object(dict.fromkeys(names, move))})

    def read(self, data: JsonMapping, names: tuple[str, ...], private: tuple[Private, ...], said: Said = ()) -> Deal:
        """Return the moves, or InvalidMove where one is missing or is not the one that the writer's note names."""
        given = data.get("moves")
        if not isinstance(given, Mapping):
            raise InvalidMove(f"'moves' is {given!r}, expected the move of each person", Flaw.UNPARSEABLE)
        moves = [read_item(given.get(name), self.moves) for name in names]
        notes = dict(said)
        for seat, (name, move) in enumerate(zip(names, moves, strict=True)):
            if move is None:
                raise InvalidMove(f"the move of {name} is missing")
            named = find_named(self.moves, notes[seat]) if seat in notes else [move]
            if named != [move]:
                found = " and ".join(named) or "no move"
                raise InvalidMove(f"the referee says {name} plays {move}, but the note names {found}")
        return {"moves": moves}

    def rule(self, last: Sequence[str]) -> Deal | None:
        """Return the moves that the notes name; None where a note names none, or several."""
        named = [find_named(self.moves, text) for text in last]
        return {"moves": [own[0] for own in named]} if all(len(own) == 1 for own in named) else None

    def utilities(self, deal: Deal, private: tuple[Private, ...]) -> tuple[float, ...]:
        """Return what the table says."""
        first, second = (self.moves.index(move) for move in deal["moves"])
        return self.table[first][second], self.table[second][first]

    def settled(self, deal: Deal) -> bool:
        """Tell that the notes are always awaited."""
        return False
