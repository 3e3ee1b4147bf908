"""Games as JSON: a table or a tree.

Meant for models whose decoding can be constrained and for those too small for programs.

The model fills in a form under a schema; the program is then written by rule. Nothing it says is
run. Everything is checked before it is used.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Final

from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonObject, refuse_repeated_keys
from bestresponse.games.logic.tables import table_from_cells
from bestresponse.logic.programs.game_table import FORGETS, GameTable, Row
from bestresponse.models.schema import schema_text

NO_GAME: Final = "no game"
MISFIT: Final = "does not fit"
MOST_QUESTIONS = 10
_LONGEST_NAME = 200
_LONGEST_REASON = 300
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30}|/0{0,20}[1-9]\d{0,20})?")

Schema = JsonObject
TEXT: Final[Schema] = {"type": "string"}
PROBABILITY: Final[Schema] = {"type": "string", "pattern": r"^[0-9]+(/[0-9]+|\.[0-9]+)?$"}


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


def list_schema(items: Schema, least: int | None = None, most: int | None = None) -> Schema:
    """Return the schema of a list, of a bounded length where bounds are given."""
    bounds = {"minItems": least, "maxItems": most}
    return {"type": "array", "items": items} | {
        name: bound for name, bound in bounds.items() if bound is not None
    }


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


AT_ONCE: Final = "at the same time"
IN_TURN: Final = "in turn"
MOST_ENDS = 2_000
NO_PLAYERS: Final = "the game has no players"

_End = tuple[tuple[str, ...], tuple[Fraction, ...]]
"""The moves made, in the order of the players, and everybody's payoff."""


_SEAT: Final = object_schema(
    player=TEXT,
    move={"type": ["string", "null"]},
    payoff={"type": "number"},
)
TABLE_SCHEMA: Final = schema_text(
    object_schema(
        asides_schema(),
        players=list_schema(object_schema(name=TEXT, moves=list_schema(TEXT))),
        timing={"type": "string", "enum": [AT_ONCE, IN_TURN]},
        ends=list_schema(object_schema(story=TEXT, result=list_schema(_SEAT))),
    )
)
"""What a model is held to."""


def read_game_table(answer: str) -> GameTable:
    """Return the table in an answer; InvalidGame says what is wrong with it.

    Its order is that of thinking: who plays, what each can do, and only then what comes of it: for
    every end first the words of the story about it, then everybody's payoff beside the move that
    earns it. Small models read numbers off words that they have just quoted far better than off a
    story they were told long before.
    """
    data = read_object(answer)
    listed = _objects(data, "players")
    if not listed:
        raise InvalidGame(NO_PLAYERS)
    names = [player.get("name") for player in listed]
    players = list(read_players(names))
    moves = []
    for name, player in zip(players, listed, strict=True):
        moves.append(_moves(name, player.get("moves")))
    ends = data.get("ends")
    if not isinstance(ends, list) or not 0 < len(ends) <= MOST_ENDS:
        raise InvalidGame(f"expected a list of 1 to {MOST_ENDS} ends")
    if data.get("timing") not in (AT_ONCE, IN_TURN):
        raise InvalidGame(f'timing must be "{AT_ONCE}" or "{IN_TURN}"')
    read = [_end(players, end) for end in ends]
    if data["timing"] == AT_ONCE:
        return _at_once(players, moves, read)
    return _in_turn(players, moves, read)


def _objects(data: Mapping[str, object], key: str) -> list[dict[str, object]]:
    objects = data.get(key)
    if isinstance(objects, list) and all(isinstance(entry, dict) for entry in objects):
        return objects
    raise InvalidGame(f"{key} must be a list of objects as in the example")


def _moves(player: str, listed: object) -> list[str]:
    moves = [read_name(name) for name in listed] if isinstance(listed, list) else []
    if not moves or len(set(moves)) != len(moves):
        raise InvalidGame(
            f"{player} needs different moves, at least one; got {', '.join(moves) or 'none'}"
        )
    return moves


def _end(players: Sequence[str], end: object) -> _End:
    """One end: every player once, in any order, with a move and a number.

    There is no move if it was over before.
    """
    result = _objects(end, "result") if isinstance(end, dict) else []
    seats = {str(seat.get("player")).strip(): seat for seat in result}
    if len(result) != len(players) or seats.keys() != set(players):
        named = ", ".join(player[:40] for player in seats) or "nobody"
        raise InvalidGame(
            f"each end must tell of {', '.join(players)}, once each; one tells of {named}"
        )
    made = [seats[player].get("move") for player in players]
    moved = [read_name(move) for move in made if move is not None]
    after = made[len(moved) :]
    if any(move is not None for move in after):
        raise InvalidGame(
            f"in the end {_join_moves(moved)} a player without a move comes before one who moves"
        )
    otherwise = f"the payoffs of the end {_join_moves(moved)} must be numbers"
    payoffs = [seats[player].get("payoff") for player in players]
    return tuple(moved), read_numbers(payoffs, len(players), otherwise)


def _join_moves(moves: Sequence[str]) -> str:
    return ", ".join(moves) or "(no move)"


def _at_once(players: list[str], moves: list[list[str]], ends: list[_End]) -> GameTable:
    cells: dict[tuple[str, ...], tuple[Fraction, ...]] = {}
    profiles = list(product(*moves))
    for profile, payoffs in ends:
        if cells.get(profile, payoffs) != payoffs:
            raise InvalidGame(
                f"the end {_join_moves(profile)} is there twice, with different payoffs"
            )
        if profile not in profiles:
            raise InvalidGame(
                f"the end {_join_moves(profile)} does not combine one move of each player"
            )
        cells[profile] = payoffs
    missing = [profile for profile in profiles if profile not in cells]
    if missing:
        raise InvalidGame(f"the end {_join_moves(missing[0])} is missing")
    actions = tuple(tuple(labels) for labels in moves)
    payoffs_in_order = tuple(cells[profile] for profile in profiles)
    return table_from_cells(tuple(players), actions, payoffs_in_order)


def _in_turn(players: list[str], moves: list[list[str]], ends: list[_End]) -> GameTable:
    rows: dict[tuple[str, ...], Row] = {}
    for made, payoffs in ends:
        in_order = zip(made, moves, strict=False)
        if not made or any(move not in choices for move, choices in in_order):
            raise InvalidGame(
                f"the end {_join_moves(made)} has a move that is not the next player's"
            )
        if made in rows and rows[made].payoffs == payoffs:
            continue
        for other in rows:
            if _begins_with(made, other) or _begins_with(other, made):
                raise InvalidGame(
                    f"the end {_join_moves(made)} is there twice, or the game goes on after another"
                    " end"
                )
        rows[made] = Row(tuple(zip(players, made, strict=False)), payoffs, (1,) * len(made))
    replies: dict[tuple[str, ...], set[str]] = {}
    for made in rows:
        for seat, move in enumerate(made):
            replies.setdefault(made[:seat], set()).add(move)
    for seat, choices in enumerate(moves):
        made_here = [there for before, there in replies.items() if len(before) == seat]
        missing = set(choices).difference(*made_here)
        if missing:
            raise InvalidGame(
                f"it is not said what happens after {min(missing, key=choices.index)}"
            )
    for before, there in replies.items():
        # An end that was forgotten would leave the player no choice.
        choices = moves[len(before)]
        if len(there) == 1 < len(choices) and (*before, *there) in rows:
            raise InvalidGame(
                f"after {_join_moves(before)} only {_join_moves([*there])} is possible: say what"
                " happens after the others, or leave the move out where there is no choice"
            )
    actions = tuple(tuple(labels) for labels in moves)
    return GameTable(tuple(players), actions, tuple(rows.values()))


def _begins_with(moves: Sequence[str], start: Sequence[str]) -> bool:
    return moves[: len(start)] == start


MOST_NODES = 3_000
# Each level of a tree is read by a call within a call.
MOST_LEVELS = 60
_NOTHING = "(nothing)"
"""What the player who begins perceives where it has forgotten everything, though it knew something
when it began."""

_NODE: Final = {"$ref": "#/$defs/node"}
_DRAWS: Final = list_schema(object_schema(draw=TEXT, probability=PROBABILITY, then=_NODE))
_CHOICES: Final = list_schema(object_schema(move=TEXT, then=_NODE))
# A player forgets only where the story says so, and the word stands before the moves that are made
# without knowing.
_CHOICE: Final = object_schema(
    player=TEXT,
    knows=TEXT,
    forgets={"type": "boolean"},
    moves=_CHOICES,
) | {"required": ["player", "knows", "moves"]}
_PAYOFFS: Final = list_schema({"type": ["number", "string"]})
TREE_SCHEMA: Final = schema_text(
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

    InvalidGame says what is wrong with it, and where.
    """
    reader = _Reader(players, tree)
    rows = tuple(reader.read(tree, _Path()))
    private = any(seen.count > 1 for seen in reader.sets.values())
    chancy = any(chance is not None for row in rows for chance in row.chances)
    if not chancy:
        rows = tuple(replace(row, chances=()) for row in rows)
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
