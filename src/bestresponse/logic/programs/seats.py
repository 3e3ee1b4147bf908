"""A strategy in the game it is written for: who plays, with which moves, and what its rules do in either seat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from bestresponse.core.errors import InvalidGame, LogicError, UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits
from bestresponse.logic.gate.check import GatedProgram, check
from bestresponse.logic.language.terms import Atom, Struct, Term, write
from bestresponse.logic.programs.strategies import (
    Mixture,
    StrategyReader,
    StrategyTable,
    find_move_terms,
    strategy_table,
)
from bestresponse.logic.programs.table import extract, label

__all__ = ["Behaviour", "SeatsFound", "StrategyMachine", "decode_seats", "encode_seats", "find_seats"]

MOST_STATES = 400


@dataclass(frozen=True, slots=True)
class StrategyMachine:
    """A strategy with a memory of its own: for each state its moves, and the states after each pair of moves.

    The pairs are in the order of `product(moves, moves)`, own move first. Play starts in the first state.
    """

    moves: tuple[str, ...]
    states: tuple[tuple[Mixture, tuple[int, ...]], ...]


Behaviour = StrategyTable | StrategyMachine | str
"""What a strategy does in a seat, or why its rules do not say."""


@dataclass(frozen=True, slots=True)
class SeatsFound:
    """The players and moves of a game and what a strategy does in each seat.

    `ambiguous` names the first situation in which pure rules without a memory give several moves.
    """

    players: tuple[str, str]
    moves: tuple[str, ...]
    behaviour: tuple[Behaviour, Behaviour]
    ambiguous: str = ""


def find_seats(game: str, rules: str, default_move: str | None, limits: Limits) -> SeatsFound:
    """Look into a game of two players who move once, at the same time, with the same moves; runs in this process."""
    engine = EmbeddedEngine(limits)
    alone = engine.load(game)
    table = extract(engine, alone).require()
    if len(table.players) != 2 or table.sequential or set(table.moves[0]) != set(table.moves[1]):
        raise InvalidGame("a match needs two players who choose among the same moves at the same time")
    moves = table.moves[0]
    terms = find_move_terms(engine, alone)
    gated = check(f"{game}\n{_write_opposites(alone.gated.defined, moves, terms)}\n{rules}").require()
    situation = label(engine.solutions(engine.load(gated), "initial(S)", 1)[0]["S"])
    players = (table.players[0], table.players[1])
    if default_move is not None and default_move not in moves:
        raise UsageError(f"the default move {default_move!r} is none of {', '.join(moves)}")
    if default_move is None and not engine.solutions(engine.load(gated), "initial(S), holds(default_move(_, M), S)", 1):
        default_move = moves[0]
    if default_move is not None:
        term = terms.get(default_move, Atom(default_move))
        gated = gated.given((Struct("default_move", (Atom(who), term)), Atom(situation)) for who in players)
    readers = [StrategyReader(gated, *pair, situation, limits) for pair in (players, players[::-1])]
    behaviour = (_read(gated, readers[0], moves), _read(gated, readers[1], moves))
    return SeatsFound(players, moves, behaviour, _find_ambiguity(behaviour[0], readers[0], moves))


def _write_opposites(defined: frozenset[str], moves: tuple[str, ...], terms: Mapping[str, Term]) -> str:
    """Of two moves each is the opposite of the other, also where the game does not say so."""
    if "opposite_move/2" in defined or len(moves) != 2:
        return ""
    one, other = (write(terms.get(move, Atom(move))) for move in moves)
    return f"opposite_move({one}, {other}).\nopposite_move({other}, {one}).\n"


def _read(gated: GatedProgram, reader: StrategyReader, moves: tuple[str, ...]) -> Behaviour:
    try:
        return _explore(reader, moves) if "start_memory/1" in gated.defined else strategy_table(reader, moves)
    except (InvalidGame, LogicError) as error:
        return str(error)


def _explore(reader: StrategyReader, moves: tuple[str, ...]) -> StrategyMachine:
    """Follow the memory of a strategy to every state that play can lead to."""
    start = reader.start()
    order: list[tuple[Term, tuple[str, str] | None]] = [(start, None)]
    places: dict[tuple[str, tuple[str, str] | None], int] = {(write(start), None): 0}
    states: list[tuple[Mixture, tuple[int, ...]]] = []
    for memory, last in order:
        mixture = reader.mix(last, memory)
        following = []
        for pair in product(moves, moves):
            after = reader.remember(memory, pair)
            if (write(after), pair) not in places:
                places[write(after), pair] = len(order)
                order.append((after, pair))
            following.append(places[write(after), pair])
        if len(order) > MOST_STATES:
            raise InvalidGame(f"the strategy has more than {MOST_STATES} states; let its counters end somewhere")
        states.append((mixture, tuple(following)))
    return StrategyMachine(moves, tuple(states))


def _find_ambiguity(behaviour: Behaviour, reader: StrategyReader, moves: tuple[str, ...]) -> str:
    """Find rules for one situation, often for the first round, that also apply in others."""
    if not isinstance(behaviour, StrategyTable) or not behaviour.pure:
        return ""
    for last in (None, *product(moves, moves)):
        given = reader.list_moves(last)
        if len(given) > 1:
            when = f"after own {last[0]} and the opponent's {last[1]}" if last else "in the first round"
            return f"{when} the rules give several moves ({', '.join(given)}), of which the first would be made"
    return ""


def encode_seats(seats: SeatsFound) -> JsonObject:
    """Return what was found as JSON data."""
    behaviour = [_encode_behaviour(one) for one in seats.behaviour]
    return {"players": seats.players, "moves": seats.moves, "behaviour": behaviour, "ambiguous": seats.ambiguous}


def decode_seats(data: JsonMapping) -> SeatsFound:
    """Return what `encode_seats` wrote."""
    players, moves = (data["players"][0], data["players"][1]), tuple(data["moves"])
    first, second = data["behaviour"]
    behaviour = (_decode_behaviour(first, players, moves), _decode_behaviour(second, players[::-1], moves))
    return SeatsFound(players, moves, behaviour, data["ambiguous"])


def _encode_behaviour(behaviour: Behaviour) -> object:
    match behaviour:
        case StrategyTable():
            after = [[*pair, _encode_mixture(mixture)] for pair, mixture in behaviour.after]
            return {"first": _encode_mixture(behaviour.first), "after": after}
        case StrategyMachine():
            return {"states": [[_encode_mixture(mixture), following] for mixture, following in behaviour.states]}
        case _:
            return behaviour


def _decode_behaviour(data: JsonObject | str, players: tuple[str, str], moves: tuple[str, ...]) -> Behaviour:
    if isinstance(data, str):
        return data
    if "states" in data:
        states = ((_decode_mixture(mixture), tuple(following)) for mixture, following in data["states"])
        return StrategyMachine(moves, tuple(states))
    after = tuple(((own, other), _decode_mixture(mixture)) for own, other, mixture in data["after"])
    return StrategyTable(*players, moves, _decode_mixture(data["first"]), after)


def _encode_mixture(mixture: Mixture) -> list[tuple[str, str]]:
    return [(move, str(chance)) for move, chance in mixture]


def _decode_mixture(data: list[tuple[str, str]]) -> Mixture:
    return tuple((move, Fraction(chance)) for move, chance in data)
