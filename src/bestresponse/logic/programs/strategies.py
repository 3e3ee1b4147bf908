"""Strategies of finite memory.

Says what `select/4` answers in every situation it can meet, in either seat of a game.

A strategy sees the last move of each player (`holds(last_move(Player, Move), S)`). It is asked once
for the first round and once for every pair of last moves; one that keeps a memory of its own
(`start_memory/1`, `next_memory/4`) sees that too (`holds(memory(Player, State), S)`). Random
predicates are unfolded, not sampled, so the table of a mixed strategy is exact: each call of
`random_member/2` and the like branches into all its outcomes with their probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from bestresponse.core.errors import InvalidGame, LimitReached, LogicError, UsageError
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, LogicEngine, Program
from bestresponse.logic.gate.check import GatedProgram, check_source
from bestresponse.logic.language.terms import Atom, Struct, Term, Var, variables_of, write
from bestresponse.logic.programs.plays import label
from bestresponse.logic.programs.report import JsonList
from bestresponse.logic.programs.table import extract

MAX_BRANCHES = 1_000
MOST_STATES = 400
_MOST_MOVES = 20

Mixture = tuple[tuple[str, Fraction], ...]
LastMoves = tuple[str, str] | None
"""The own move in the last round and the other's; None in the first round."""


@dataclass(frozen=True, slots=True)
class StrategyTable:
    """What a player does first and after each pair of last moves.

    A pair is (own last move, opponent's last move); what is done is moves with probabilities.
    """

    player: str
    opponent: str
    moves: tuple[str, ...]
    first: Mixture
    after: tuple[tuple[tuple[str, str], Mixture], ...]

    def reply(self, own: str, other: str) -> Mixture:
        """The moves after a pair of last moves."""
        return dict(self.after)[own, other]

    @property
    def pure(self) -> bool:
        """Whether it never leaves anything to chance."""
        mixtures = [self.first, *dict(self.after).values()]
        return all(len(mixture) == 1 for mixture in mixtures)


@dataclass(frozen=True, slots=True)
class StrategyMachine:
    """A strategy with memory: each state's moves and the states after each pair of moves.

    The pairs are in the order of `product(moves, moves)`, own move first. Play starts in the first
    state.
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


def find_seats(
    game: str,
    rules: str,
    default_move: str | None,
    limits: Limits,
    usual_moves: Sequence[str],
) -> SeatsFound:
    """Look into a game of two players who move once, at the same time, with the same moves.

    Runs in this process.

    `default_move` replaces the one that the game names. `usual_moves`, one for each player, are the
    default moves of a game that names none; without them it is the first move.
    """
    engine = EmbeddedEngine(limits)
    alone = engine.load(game)
    table = extract(engine, alone).require()
    if len(table.players) != 2 or table.sequential or len(set(map(frozenset, table.moves))) > 1:
        raise InvalidGame(
            "a match needs two players who choose among the same moves at the same time"
        )
    moves = table.moves[0]
    terms = _find_move_terms(engine, alone)
    opposites = ""
    if "opposite_move/2" not in alone.gated.defined and len(moves) == 2:
        first, second = (write(terms.get(move, Atom(move))) for move in moves)
        opposites = f"opposite_move({first}, {second}).\nopposite_move({second}, {first}).\n"
    gated = check_source(f"{game}\n{opposites}\n{rules}").require()
    program = engine.load(gated)
    start = engine.solutions(program, "initial(S)", 1)[0]
    situation = label(start["S"])
    players = (table.players[0], table.players[1])
    if default_move is not None and default_move not in moves:
        raise UsageError(
            f"there is no move {default_move!r} for the default move; expected {' or '.join(moves)}"
        )
    defaults: Sequence[str] = () if default_move is None else (default_move, default_move)
    named = "initial(S), holds(default_move(_, M), S)"
    if not defaults and not engine.solutions(program, named, 1):
        defaults = usual_moves or (moves[0], moves[0])
    if defaults:
        fluents = []
        for player, move in zip(players, defaults, strict=True):
            fluent = Struct("default_move", (Atom(player), terms.get(move, Atom(move))))
            fluents.append((fluent, Atom(situation)))
        gated = gated.initialise(fluents)
    readers = [StrategyReader(gated, *pair, situation, limits) for pair in (players, players[::-1])]
    behaviour = (
        _read_behaviour(gated, readers[0], moves),
        _read_behaviour(gated, readers[1], moves),
    )
    return SeatsFound(
        players,
        moves,
        behaviour,
        _find_ambiguity(behaviour[0], readers[0], moves),
    )


def _read_behaviour(
    gated: GatedProgram,
    reader: StrategyReader,
    moves: tuple[str, ...],
) -> Behaviour:
    try:
        return (
            _explore(reader, moves)
            if "start_memory/1" in gated.defined
            else strategy_table(reader, moves)
        )
    except (InvalidGame, LogicError) as error:
        return str(error)


def strategy_table(reader: StrategyReader, moves: Sequence[str]) -> StrategyTable:
    """Return what a strategy does first and after each pair of last moves."""
    first = reader.mix(None)
    after = tuple((pair, reader.mix(pair)) for pair in product(moves, moves))
    return StrategyTable(*reader.players, tuple(moves), first, after)


def _explore(reader: StrategyReader, moves: tuple[str, ...]) -> StrategyMachine:
    """Follow the memory of a strategy to every state that play can lead to."""
    start = reader.start()
    order: list[tuple[Term, LastMoves]] = [(start, None)]
    numbers: dict[tuple[str, LastMoves], int] = {(write(start), None): 0}
    states: list[tuple[Mixture, tuple[int, ...]]] = []
    for memory, last in order:
        mixture = reader.mix(last, memory)
        following = []
        for pair in product(moves, moves):
            after = reader.remember(memory, pair)
            if (write(after), pair) not in numbers:
                numbers[write(after), pair] = len(order)
                order.append((after, pair))
            following.append(numbers[write(after), pair])
        if len(order) > MOST_STATES:
            raise InvalidGame(
                f"the strategy has more than {MOST_STATES} states; let its counters end somewhere"
            )
        states.append((mixture, tuple(following)))
    return StrategyMachine(moves, tuple(states))


def _find_ambiguity(behaviour: Behaviour, reader: StrategyReader, moves: tuple[str, ...]) -> str:
    """Find rules for one situation, often for the first round, that also apply in others."""
    if not isinstance(behaviour, StrategyTable) or not behaviour.pure:
        return ""
    for last in (None, *product(moves, moves)):
        several = reader.list_moves(last)
        if len(several) > 1:
            when = (
                f"after own {last[0]} and the opponent's {last[1]}"
                if last
                else "in the first round"
            )
            return (
                f"{when} the rules give several moves ({', '.join(several)}), of which the first"
                " would be made"
            )
    return ""


class StrategyReader:
    """Ask the rules of a strategy what they do and what they remember.

    The game and `select/4` are in one program.
    """

    def __init__(
        self,
        program: GatedProgram,
        player: str,
        opponent: str,
        situation: str = "s0",
        limits: Limits | None = None,
    ) -> None:
        self._outcomes = _Outcomes()
        self._engine = EmbeddedEngine(limits)
        self._engine.draw = self._outcomes.draw
        self._loaded = self._engine.load(program)
        self.players = (player, opponent)
        self._situation = Atom(situation)
        self._terms = _find_move_terms(self._engine, self._loaded)

    def mix(self, last: LastMoves, memory: Term | None = None) -> Mixture:
        """Return the moves after a pair of last moves, own first.

        A state of memory is taken into account if there is one.
        """
        goal = self._write_goal(last, memory)
        chances: dict[str, Fraction] = {}
        lost = Fraction(0)
        self._outcomes.path = []
        for _ in range(MAX_BRANCHES):
            self._outcomes.sizes = []
            answers = self._engine.solutions(self._loaded, goal, 1)
            if answers:
                move = label(answers[0]["Move"])
                chances[move] = chances.get(move, Fraction(0)) + self._outcomes.probability
            else:
                lost += self._outcomes.probability
            if not self._outcomes.advance():
                break
        else:
            raise LimitReached(f"The strategy has more than {MAX_BRANCHES:,} random outcomes.")
        if lost:
            when = f"after {last[0]} and {last[1]}" if last else "in the first round"
            how_often = "" if lost == 1 else f" with probability {lost}"
            raise InvalidGame(f"The strategy gives no move {when}{how_often}.")
        return tuple(chances.items())

    def list_moves(self, last: LastMoves) -> tuple[str, ...]:
        """Return all moves that the rules give after a pair of last moves.

        Only the first would be made.
        """
        goal = self._write_goal(last, None)
        answers = self._engine.solutions(self._loaded, goal, _MOST_MOVES)
        moves = [answer["Move"] for answer in answers]
        return tuple(dict.fromkeys(map(label, moves)))

    def start(self) -> Term:
        """Return the state of memory before the first round."""
        return self._ask_state(Struct("start_memory", (Var("State"),)), "before the first round")

    def remember(self, memory: Term, last: tuple[str, str]) -> Term:
        """Return the state of memory after a round."""
        moves = map(self._find_term, last)
        goal = Struct("next_memory", (memory, *moves, Var("State")))
        when = f"after {write(memory)}, own {last[0]} and the other's {last[1]}"
        return self._ask_state(goal, when)

    def _find_term(self, move: str) -> Term:
        """Return a move as the game writes it."""
        return self._terms.get(move, Atom(move))

    def _ask_state(self, goal: Term, when: str) -> Term:
        answers = self._engine.solutions(self._loaded, goal, 1)
        state = answers[0]["State"] if answers else None
        if state is None or variables_of(state):
            raise InvalidGame(f"The strategy has no state of memory {when}.")
        return state

    def _write_goal(self, last: LastMoves, memory: Term | None) -> Term:
        player, opponent = map(Atom, self.players)
        goal: Term = Struct("select", (player, opponent, self._situation, Var("Move")))
        fluents = []
        for mover, move in zip((player, opponent), last or (), strict=False):
            fluents.append(Struct("last_move", (mover, self._find_term(move))))
        if memory is not None:
            fluents.append(Struct("memory", (player, memory)))
        for fluent in fluents:
            goal = Struct(",", (Struct("initialise", (fluent, self._situation)), goal))
        return goal


class _Outcomes:
    """Walks through all outcomes of a sequence of draws.

    Each run takes one `path`, and `advance` moves to the next.
    """

    def __init__(self) -> None:
        self.path: list[int] = []
        self.sizes: list[int] = []
        """How many outcomes each draw of the present run had."""

    def draw(self, low: int, high: int) -> int:
        """Return the number that the present path has for this draw."""
        depth = len(self.sizes)
        if depth == len(self.path):
            self.path.append(0)
        self.sizes.append(high - low + 1)
        return low + self.path[depth]

    def advance(self) -> bool:
        """Move to the next path; false when all have been taken."""
        del self.path[len(self.sizes) :]
        while self.path and self.path[-1] + 1 >= self.sizes[len(self.path) - 1]:
            self.path.pop()
        if self.path:
            self.path[-1] += 1
        return bool(self.path)

    @property
    def probability(self) -> Fraction:
        """How likely the run just made is."""
        return Fraction(1, prod(self.sizes))


def _find_move_terms(engine: LogicEngine, program: Program) -> dict[str, Term]:
    """Return the terms of the first moves by their labels.

    The label `1` may represent a number or a name.
    """
    answers = engine.solutions(program, "initial(S), legal(move(_, M), S)", MAX_BRANCHES)
    return {label(answer["M"]): answer["M"] for answer in answers}


def decode_seats(data: JsonList) -> SeatsFound:
    """Return the seats that came as JSON from a confined child."""
    (player, opponent), moves, (first, second), ambiguous = data
    behaviour = (_decode_behaviour(first), _decode_behaviour(second))
    return SeatsFound((player, opponent), tuple(moves), behaviour, ambiguous)


def _decode_behaviour(data: JsonList | str) -> Behaviour:
    match data:
        case str():
            return data
        case [moves, states]:
            decoded = (
                (_decode_mixture(mixture), tuple(following)) for mixture, following in states
            )
            return StrategyMachine(tuple(moves), tuple(decoded))
        case _:
            player, opponent, moves, first, after = data
            replies = tuple((tuple(pair), _decode_mixture(mixture)) for pair, mixture in after)
            return StrategyTable(
                player,
                opponent,
                tuple(moves),
                _decode_mixture(first),
                replies,
            )


def _decode_mixture(mixture: Iterable[tuple[str, str]]) -> Mixture:
    return tuple((move, Fraction(chance)) for move, chance in mixture)
