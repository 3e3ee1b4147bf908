"""A game as a tree in nested JSON: chance with exact probabilities, choices with what is known, ends with payoffs.

Positions of a player with the same `knows` are one information set. Everything is checked before it is used:
probabilities sum to exactly 1, an information set offers the same moves everywhere, every end pays everybody. A player
who knows the same after having done or known different things forgets: from then on `knows` is all that it knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE
from bestresponse.formal.formalize.json_answer import (
    PROBABILITY,
    TEXT,
    asides_schema,
    list_schema,
    object_schema,
    read_name,
    read_number,
    read_object,
)
from bestresponse.logic.programs.game_table import FORGETS, GameTable, Row
from bestresponse.models.schema import schema_text

MOST_NODES = 3_000
MOST_LEVELS = 60
_NOTHING = "(nothing)"
"""What a player perceives who has forgotten everything: not the same as before its first move."""

_NODE: Final = {"$ref": "#/$defs/node"}
_DRAWS: Final = list_schema(object_schema(draw=TEXT, probability=PROBABILITY, then=_NODE))
_CHOICES: Final = list_schema(object_schema(move=TEXT, then=_NODE))
_PAYOFFS: Final = list_schema({"type": ["number", "string"]})
TREE_SCHEMA: Final = schema_text(
    {
        **object_schema(asides_schema(), players=list_schema(TEXT), tree={"anyOf": [_NODE, {"type": "null"}]}),
        "$defs": {
            "node": {
                "anyOf": [
                    object_schema(chance=_DRAWS),
                    object_schema(player=TEXT, knows=TEXT, moves=_CHOICES),
                    object_schema(end=TEXT, payoffs=_PAYOFFS),
                ]
            }
        },
    }
)
"""What a model is held to."""


def read_tree(answer: str) -> GameTable:
    """Return the game in an answer; InvalidGame says what is wrong with it, and where."""
    data = read_object(answer)
    return build_table(read_players(data.get("players")), data.get("tree"))


def read_players(given: object) -> tuple[str, ...]:
    """Return the names of the players; InvalidGame where they are none."""
    players = tuple(read_name(one) for one in given) if isinstance(given, list) else ()
    if not players or len(set(players)) != len(players):
        raise InvalidGame(f"players must be a list of different names; got {', '.join(players) or 'none'}")
    luck = next((who for who in players if who.casefold() in (NATURE, "luck")), None)
    if luck is not None:
        raise InvalidGame(f"{luck} is no player: write what luck decides as chance, with probabilities")
    return players


def build_table(players: tuple[str, ...], tree: object) -> GameTable:
    """Return the game of a tree in nested JSON; InvalidGame says what is wrong with it, and where."""
    reader = _Reader(players)
    rows = tuple(reader.read(tree, _Path()))
    rows = reader.add_forgetting(rows)
    private = any(seen.count > 1 for seen in reader.sets.values())
    chancy = any(chance is not None for row in rows for chance in row.chances)
    return GameTable(
        players,
        tuple(tuple(reader.moves[who]) for who in players),
        tuple(Row(r.moves, r.payoffs, r.blocks, r.chances * chancy, r.percepts * private) for r in rows),
        private=private,
    )


@dataclass(frozen=True, slots=True)
class _Path:
    """The way to a position: moves, their probabilities, what was perceived after each, and what everybody did."""

    moves: tuple[tuple[str, str], ...] = ()
    chances: tuple[Fraction | None, ...] = ()
    percepts: tuple[tuple[tuple[str, str], ...], ...] = ()
    own: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)

    def extend(self, who: str, move: str, chance: Fraction | None, percepts: tuple[tuple[str, str], ...]) -> _Path:
        return _Path((*self.moves, (who, move)), (*self.chances, chance), (*self.percepts, percepts), self.own)

    def __str__(self) -> str:
        return f"after {' > '.join(move for _, move in self.moves)}" if self.moves else "at the start"


@dataclass(slots=True)
class _Seen:
    """An information set while the tree is read: where it was met first, and how often."""

    path: _Path
    moves: tuple[str, ...]
    own: tuple[tuple[str, str], ...]
    count: int = 1
    forgets: bool = False


class _Reader:
    """Read positions depth first and remember the information sets."""

    def __init__(self, players: tuple[str, ...]) -> None:
        self.players = players
        self.moves: dict[str, dict[str, None]] = {who: {} for who in players}
        self.sets: dict[tuple[str, str], _Seen] = {}
        self._nodes = 0

    def read(self, node: object, path: _Path) -> Iterator[Row]:
        """Yield every end below a position."""
        self._nodes += 1
        if self._nodes > MOST_NODES or len(path.moves) > MOST_LEVELS:
            raise InvalidGame(f"the tree has more than {MOST_NODES:,} positions or {MOST_LEVELS} levels")
        if not isinstance(node, dict):
            raise InvalidGame(f"{path}: expected an object with chance, with player and moves, or with payoffs")
        if "chance" in node:
            yield from self._read_chance(node["chance"], path)
        elif "moves" in node:
            yield from self._read_choice(node, path)
        elif "payoffs" in node:
            yield self._read_end(node["payoffs"], path)
        else:
            raise InvalidGame(
                f"{path}: expected chance, moves or payoffs; got {', '.join(map(str, node)) or 'nothing'}"
            )

    def _read_chance(self, draws: object, path: _Path) -> Iterator[Row]:
        branches = _read_branches(draws, "draw", path)
        odds = [_read_probability(one.get("probability"), move, path) for move, one in branches]
        if sum(odds) != 1:
            told = " + ".join(map(str, odds))
            raise InvalidGame(f"{path}: the probabilities {told} sum to {sum(odds)}; they must sum to exactly 1")
        for (move, one), chance in zip(branches, odds, strict=True):
            if chance:
                yield from self._read_next(one.get("then"), path, NATURE, move, chance)

    def _read_choice(self, node: Mapping[str, object], path: _Path) -> Iterator[Row]:
        who = self._find_player(node.get("player"), path)
        knows = _read_knowledge(node)
        branches = _read_branches(node["moves"], "move", path)
        moves = tuple(move for move, _ in branches)
        self._enter(who, knows, moves, path)
        self.moves[who] |= dict.fromkeys(moves)
        for move, one in branches:
            own = {**path.own, who: (*path.own.get(who, ()), (knows, move))}
            after = _Path(path.moves, path.chances, path.percepts, own)
            yield from self._read_next(one.get("then"), after, who, move, None)

    def _read_next(self, node: object, path: _Path, who: str, move: str, chance: Fraction | None) -> Iterator[Row]:
        return self.read(node, path.extend(who, move, chance, self._find_percepts(node)))

    def _find_percepts(self, node: object) -> tuple[tuple[str, str], ...]:
        """Return what the next mover perceives when the play comes to its position."""
        if not isinstance(node, dict) or "moves" not in node:
            return ()
        knows, who = _read_knowledge(node), self._match_player(node.get("player"))
        return ((who, knows),) if who and knows else ()

    def _read_end(self, given: object, path: _Path) -> Row:
        numbers = [read_number(one) for one in given] if isinstance(given, list) else []
        payoffs = tuple(one for one in numbers if one is not None)
        if len(payoffs) != len(self.players) or len(numbers) != len(self.players):
            raise InvalidGame(
                f"{path}: payoffs must be {len(self.players)} numbers, one for each of {', '.join(self.players)}"
            )
        return Row(path.moves, payoffs, (1,) * len(path.moves), path.chances, path.percepts)

    def _find_player(self, given: object, path: _Path) -> str:
        found = self._match_player(given)
        if not found:
            raise InvalidGame(f"{path}: {str(given)[:40]!r} moves, but the players are {', '.join(self.players)}")
        return found

    def _match_player(self, given: object) -> str:
        name = str(given).strip().casefold()
        return next((who for who in self.players if who.casefold() == name), "")

    def _enter(self, who: str, knows: str, moves: tuple[str, ...], path: _Path) -> None:
        own = path.own.get(who, ())
        if any(known == knows for known, _ in own):
            raise InvalidGame(
                f"{path}: {who} knows {knows or 'nothing'!r} for the second time on this way, as if it did not know "
                "that it has chosen already; that cannot be told so: where the story means it, say that it does not fit"
            )
        seen = self.sets.get((who, knows))
        if seen is None:
            self.sets[who, knows] = _Seen(path, moves, own)
            return
        seen.count += 1
        if set(seen.moves) != set(moves):
            raise InvalidGame(
                f"{path}: {who}, knowing {knows or 'nothing'!r}, can choose {', '.join(moves)}, but {seen.path}, "
                f"knowing the same, {', '.join(seen.moves)}; give both positions the same moves, or say in knows what "
                "tells them apart"
            )
        seen.forgets = seen.forgets or seen.own != own

    def add_forgetting(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        """Let players who forget anything know nothing else than what `knows` says, wherever they choose."""
        forgetful = {who for (who, _), seen in self.sets.items() if seen.forgets}

        def forget(row: Row) -> Row:
            next_movers = [*(who for who, _ in row.moves[1:]), ""]
            percepts = tuple(
                ((who, FORGETS), *(seen or ((who, _NOTHING),))) if who in forgetful else seen
                for who, seen in zip(next_movers, row.percepts, strict=True)
            )
            return replace(row, percepts=percepts)

        return tuple(map(forget, rows)) if forgetful else rows


def _read_knowledge(node: Mapping[str, object]) -> str:
    return " ".join(str(node.get("knows") or "").split())


def _read_branches(given: object, name: str, path: _Path) -> list[tuple[str, Mapping[str, object]]]:
    listed = given if isinstance(given, list) else ()
    if not listed or not all(isinstance(one, dict) for one in listed):
        raise InvalidGame(f"{path}: expected a list of objects with {name} and then")
    names = [read_name(one.get(name)) for one in listed]
    if len(set(names)) != len(names):
        raise InvalidGame(f"{path}: two branches are called the same: {', '.join(names)}")
    return list(zip(names, listed, strict=True))


def _read_probability(given: object, draw: str, path: _Path) -> Fraction:
    found = read_number(given)
    if found is None or not 0 <= found <= 1:
        raise InvalidGame(
            f'{path}: the probability of {draw} is {str(given)[:40]!r}; expected one such as "1/3" or "0.25"'
        )
    return found
