"""Games as JSON: a tree.

Meant for models whose decoding can be constrained and for those too small for programs.

The model fills in a form under a schema; the program is then written by rule. Nothing it says is
run. Everything is checked before it is used.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonObject, refuse_repeated_keys
from bestresponse.logic.programs.game_table import FORGETS, GameTable, Row
from bestresponse.models.schema import schema_text

NO_GAME = "no game"
MISFIT = "does not fit"
MOST_QUESTIONS = 10
_LONGEST_NAME = 200
_LONGEST_REASON = 300
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30}|/0{0,20}[1-9]\d{0,20})?")

Schema = JsonObject
TEXT: Schema = {"type": "string"}
PROBABILITY: Schema = {"type": "string", "pattern": r"^[0-9]+(/[0-9]+|\.[0-9]+)?$"}


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """Something the story leaves open or contradicts, and what the model assumed instead."""

    text: str
    assumed: str = ""

    def __str__(self) -> str:
        return f"{self.text} (assumed: {self.assumed})" if self.assumed else self.text


@dataclass(frozen=True, slots=True)
class ProgramAnswer:
    """A program, empty where there is none, and what kept the answer from being one.

    `no_game` is the reason why the story is no game, `misfit` the reason why the form cannot hold
    the game, where the model says so.
    """

    source: str = ""
    problem: str = ""
    questions: tuple[OpenQuestion, ...] = ()
    no_game: str | None = None
    misfit: str | None = None

    @classmethod
    def refuse(
        cls,
        questions: tuple[OpenQuestion, ...],
        reason: str,
        no_game: bool,
    ) -> ProgramAnswer:
        """Return the answer that the story is no game, or that the form does not fit."""
        why = reason or "it gave no reason"
        return cls(
            questions=questions,
            no_game=why if no_game else None,
            misfit=None if no_game else why,
        )


def object_schema(optional: Mapping[str, Schema] | None = None, /, **properties: Schema) -> Schema:
    """Return the schema of an object with these properties, in this order, and no others."""
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
        "additionalProperties": False,
    }


def list_schema(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def asides_schema() -> dict[str, Schema]:
    """Return the optional properties in which a model asks or declines.

    It may say that there is no game or that the game does not fit.
    """
    return {
        "unclear": list_schema(object_schema(question=TEXT, assumed=TEXT)),
        "refusal": object_schema(kind={"type": "string", "enum": [NO_GAME, MISFIT]}, reason=TEXT),
    }


def read_numbers(payoffs: object, count: int, otherwise: str) -> tuple[Fraction, ...]:
    """Return so many numbers; InvalidGame with the sentence `otherwise` where they are none."""
    numbers = [read_exact(u) for u in payoffs] if isinstance(payoffs, list) else []
    known = tuple(u for u in numbers if u is not None)
    if len(known) != count or len(numbers) != count:
        raise InvalidGame(otherwise)
    return known


def read_object(answer: str) -> dict[str, object]:
    """Return the JSON object in an answer; InvalidGame where there is none."""
    start = answer.find("{")
    stop = answer.rfind("}")
    try:
        data = json.loads(answer[start : stop + 1], object_pairs_hook=refuse_repeated_keys)
    except (ValueError, RecursionError):
        raise InvalidGame("the answer is not a JSON object, or a key occurs twice in one") from None
    return data if isinstance(data, dict) else {}


def read_asides(data: Mapping[str, object]) -> ProgramAnswer:
    """Return an answer that has only the questions and the refusal in the data."""
    unclear = data.get("unclear")
    listed = unclear[:MOST_QUESTIONS] if isinstance(unclear, list) else []
    asked = []
    for entry in listed:
        if isinstance(entry, dict) and (question := _shorten(entry.get("question"))):
            asked.append(OpenQuestion(question, _shorten(entry.get("assumed"))))
    questions = tuple(asked)
    refusal = data.get("refusal")
    if not isinstance(refusal, dict):
        return ProgramAnswer(questions=questions)
    return ProgramAnswer.refuse(
        questions,
        _shorten(refusal.get("reason")),
        refusal.get("kind") == NO_GAME,
    )


def _shorten(value: object) -> str:
    if not isinstance(value, str):
        return ""
    words = " ".join(value.split())
    return words[:_LONGEST_REASON]


def read_name(value: object) -> str:
    """Return a name of a player or a move; InvalidGame where it is none."""
    if not isinstance(value, str) or not 0 < len(value.strip()) <= _LONGEST_NAME:
        raise InvalidGame(
            f"expected a name of 1 to {_LONGEST_NAME} characters, got {str(value)[:40]!r}"
        )
    return value.strip()


def read_exact(value: object) -> Fraction | None:
    """Return a number, or a text such as `-1/3` or `0.25`, exactly; None where it is no number.

    >>> read_exact("1/3"), read_exact(0.1), read_exact("one")
    (Fraction(1, 3), Fraction(1, 10), None)
    """
    if isinstance(value, str):
        plain = value.strip()
        return Fraction(plain) if _NUMBER.fullmatch(plain) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return Fraction(repr(value))


NO_PLAYERS = "the game has no players"
MOST_NODES = 3_000
# Each level of a tree is read by a call within a call.
MOST_LEVELS = 60
_NOTHING = "(nothing)"
"""What the player who begins perceives where it has forgotten everything, though it knew something
when it began."""

_NODE = {"$ref": "#/$defs/node"}
_DRAWS = list_schema(object_schema(draw=TEXT, probability=PROBABILITY, then=_NODE))
_CHOICES = list_schema(object_schema(move=TEXT, then=_NODE))
# A player forgets only where the story says so, and the word stands before the moves that are made
# without knowing.
_CHOICE = object_schema(
    player=TEXT,
    knows=TEXT,
    forgets={"type": "boolean"},
    moves=_CHOICES,
) | {"required": ["player", "knows", "moves"]}
_PAYOFFS = list_schema({"type": ["number", "string"]})
TREE_SCHEMA = schema_text(
    {
        **object_schema(
            asides_schema(),
            players=list_schema(TEXT),
            tree={"anyOf": [_NODE, {"type": "null"}]},
        ),
        "$defs": {
            "node": {
                "anyOf": [
                    object_schema(chance=_DRAWS),
                    _CHOICE,
                    object_schema(end=TEXT, payoffs=_PAYOFFS),
                ]
            }
        },
    }
)
"""What a model is held to."""


def read_tree(answer: str) -> GameTable:
    """Return the game in an answer; InvalidGame says what is wrong with it, and where.

    A tree is nested: chance with exact probabilities, choices with what is known, ends with
    payoffs. What a player knows adds up: the `knows` of its positions so far, and its own moves.
    Positions at which a player knows the same are one information set. Only where a position says
    `forgets` the player knows nothing but the `knows` of that position. Probabilities sum to
    exactly 1, an information set offers the same moves everywhere, every end pays everybody.
    """
    data = read_object(answer)
    if data.get("players") == []:
        raise InvalidGame(NO_PLAYERS)
    return build_table(read_players(data.get("players")), data.get("tree"))


def read_players(listed: object) -> tuple[str, ...]:
    """Return the names of the players; InvalidGame where they are none."""
    names = listed if isinstance(listed, list) else []
    players = tuple(map(read_name, names))
    if not players or len(set(players)) != len(players):
        raise InvalidGame(
            f"players must be a list of different names; got {', '.join(players) or 'none'}"
        )
    for player in players:
        if player.casefold() in (NATURE, "luck"):
            raise InvalidGame(
                f"{player} is not a player: write what luck decides as chance, with probabilities"
            )
    return players


def build_table(players: tuple[str, ...], tree: object) -> GameTable:
    """Return the game of a tree in nested JSON.

    InvalidGame says what is wrong with it, and where. Where everybody moves once and knows nothing,
    all move at the same time.
    """
    reader = _Reader(players, tree)
    rows = tuple(reader.read(tree, _Path()))
    private = any(seen.count > 1 for seen in reader.sets.values())
    chancy = any(chance is not None for row in rows for chance in row.chances)
    if not chancy:
        rows = tuple(replace(row, chances=()) for row in rows)
    once = len({mover for mover, _ in reader.sets}) == len(reader.sets)
    if once and private and not chancy and {len(row.moves) for row in rows} == {len(players)}:
        rows = tuple(replace(row, blocks=(len(players),)) for row in rows)
        private = False
    if not private:
        rows = tuple(replace(row, percepts=()) for row in rows)
    moves = [tuple(reader.moves[player]) for player in players]
    return GameTable(players, tuple(moves), rows, private=private)


_Known = tuple[tuple[str, str], ...]
"""What a player has seen and done, in order: what was seen with "sees" before it, a move with
"did"."""


@dataclass(frozen=True, slots=True)
class _Path:
    """The way to a position: moves, their probabilities and what is known.

    Holds what was perceived after each move and what everybody knows.
    """

    moves: tuple[tuple[str, str], ...] = ()
    chances: tuple[Fraction | None, ...] = ()
    percepts: tuple[tuple[tuple[str, str], ...], ...] = ()
    known: Mapping[str, _Known] = field(default_factory=dict)

    def extend(
        self,
        mover: str,
        move: str,
        chance: Fraction | None,
        percepts: tuple[tuple[str, str], ...],
    ) -> _Path:
        return _Path(
            (*self.moves, (mover, move)),
            (*self.chances, chance),
            (*self.percepts, percepts),
            self.known,
        )

    def __str__(self) -> str:
        return (
            f"after {' > '.join(move for _, move in self.moves)}" if self.moves else "at the start"
        )


@dataclass(slots=True)
class _Seen:
    """An information set while the tree is read: where it was met first, and how often."""

    path: _Path
    moves: tuple[str, ...]
    count: int = 1


class _Reader:
    """Read positions depth first and remember the information sets."""

    def __init__(self, players: tuple[str, ...], tree: object) -> None:
        self.players = players
        self.moves: dict[str, dict[str, None]] = {player: {} for player in players}
        self.sets: dict[tuple[str, _Known], _Seen] = {}
        self._nodes = 0
        root = tree if isinstance(tree, dict) and tree.get("moves") is not None else {}
        # Nobody perceives anything before the first move: what the first mover knows then has no
        # percept.
        self._beginner = self._match_player(root.get("player"))
        self._knows_at_start = _read_knowledge(root)

    def read(self, node: object, path: _Path) -> Iterator[Row]:
        """Yield every end below a position."""
        self._nodes += 1
        if self._nodes > MOST_NODES or len(path.moves) > MOST_LEVELS:
            raise InvalidGame(
                f"the tree has more than {MOST_NODES:,} positions or {MOST_LEVELS} levels"
            )
        if not isinstance(node, dict):
            raise InvalidGame(
                f"{path}: expected an object with chance, with player and moves, or with payoffs"
            )
        kinds = [kind for kind in ("chance", "moves", "payoffs") if node.get(kind) is not None]
        if len(kinds) != 1:
            raise InvalidGame(
                f"{path}: expected one of chance, moves and payoffs; got"
                f" {', '.join(map(str, node)) or 'nothing'}"
            )
        if kinds == ["chance"]:
            yield from self._read_chance(node["chance"], path)
        elif kinds == ["moves"]:
            yield from self._read_choice(node, path)
        else:
            yield self._read_end(node["payoffs"], path)

    def _read_chance(self, draws: object, path: _Path) -> Iterator[Row]:
        branches = _read_branches(draws, "draw", path)
        odds = [
            _read_probability(branch.get("probability"), move, path) for move, branch in branches
        ]
        if sum(odds) != 1:
            terms = " + ".join(map(str, odds))
            raise InvalidGame(
                f"{path}: the probabilities {terms} sum to {sum(odds)}; they must sum to exactly 1"
            )
        for (move, branch), chance in zip(branches, odds, strict=True):
            if chance:
                yield from self._read_next(
                    branch.get("then"),
                    path,
                    NATURE,
                    move,
                    chance,
                )

    def _read_choice(self, node: Mapping[str, object], path: _Path) -> Iterator[Row]:
        player = self._find_player(node.get("player"), path)
        knows = _read_knowledge(node)
        before = () if _read_forgets(node, path) else path.known.get(player, ())
        known = (*before, ("sees", knows)) if knows else before
        branches = _read_branches(node["moves"], "move", path)
        moves = tuple(move for move, _ in branches)
        self._enter(player, known, moves, path)
        self.moves[player] |= dict.fromkeys(moves)
        for move, branch in branches:
            after = replace(path, known={**path.known, player: (*known, ("did", move))})
            yield from self._read_next(branch.get("then"), after, player, move, None)

    def _read_next(
        self,
        node: object,
        path: _Path,
        mover: str,
        move: str,
        chance: Fraction | None,
    ) -> Iterator[Row]:
        return self.read(node, path.extend(mover, move, chance, self._find_percepts(node)))

    def _find_percepts(self, node: object) -> tuple[tuple[str, str], ...]:
        """Return what the next mover perceives when the play comes to its position."""
        if not isinstance(node, dict) or node.get("moves") is None:
            return ()
        player = self._match_player(node.get("player"))
        if not player:
            return ()
        knows = _read_knowledge(node)
        if node.get("forgets") is not True:
            return ((player, knows),) if knows else ()
        if player == self._beginner:
            knows = "" if knows == self._knows_at_start else knows or _NOTHING
        return ((player, FORGETS), (player, knows)) if knows else ((player, FORGETS),)

    def _read_end(self, payoffs: object, path: _Path) -> Row:
        count = len(self.players)
        otherwise = (
            f"{path}: payoffs must be {count} numbers, one for each of {', '.join(self.players)}"
        )
        return Row(
            path.moves,
            read_numbers(payoffs, count, otherwise),
            (1,) * len(path.moves),
            path.chances,
            path.percepts,
        )

    def _find_player(self, label: object, path: _Path) -> str:
        player = self._match_player(label)
        if not player:
            raise InvalidGame(
                f"{path}: {str(label)[:40]!r} moves, but the players are {', '.join(self.players)}"
            )
        return player

    def _match_player(self, label: object) -> str:
        name = str(label).strip()
        alike = [player for player in self.players if player.casefold() == name.casefold()]
        return name if name in alike else next(iter(alike), "")

    def _enter(
        self,
        player: str,
        known: _Known,
        moves: tuple[str, ...],
        path: _Path,
    ) -> None:
        seen = self.sets.get((player, known))
        if seen is None:
            self.sets[player, known] = _Seen(path, moves)
            return
        seen.count += 1
        if set(seen.moves) != set(moves):
            words = "; ".join(what for _, what in known) or "nothing"
            raise InvalidGame(
                f"{path}: {player}, knowing {words!r}, can choose {', '.join(moves)}, but"
                f" {seen.path}, knowing the same, {', '.join(seen.moves)}; give both positions the"
                " same moves, or say in knows what tells them apart"
            )


def _read_knowledge(node: Mapping[str, object]) -> str:
    knows = str(node.get("knows") or "")
    return " ".join(knows.split())


def _read_forgets(node: Mapping[str, object], path: _Path) -> bool:
    forgets = node.get("forgets")
    if forgets is not None and not isinstance(forgets, bool):
        raise InvalidGame(f"{path}: forgets must be true or false, not {str(forgets)[:40]!r}")
    return forgets is True


def _read_branches(
    branches: object,
    name: str,
    path: _Path,
) -> list[tuple[str, Mapping[str, object]]]:
    listed = branches if isinstance(branches, list) else ()
    if not listed or not all(isinstance(branch, dict) for branch in listed):
        raise InvalidGame(f"{path}: expected a list of objects with {name} and then")
    names = [read_name(branch.get(name)) for branch in listed]
    if len(set(names)) != len(names):
        raise InvalidGame(f"{path}: two branches are called the same: {', '.join(names)}")
    return list(zip(names, listed, strict=True))


def _read_probability(written: object, draw: str, path: _Path) -> Fraction:
    probability = read_exact(written)
    if probability is None or not 0 <= probability <= 1:
        raise InvalidGame(
            f"{path}: the probability of {draw} is {str(written)[:40]!r}; expected one such as"
            ' "1/3" or "0.25"'
        )
    return probability
