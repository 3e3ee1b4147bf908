"""An agent: a game and a strategy, both as logic programs, under a name.

Agents are values. They are made from rules (text, files or the published strategies), saved and
loaded as JSON, cloned, and changed by replacing the strategy or the default move; each change gives
a new agent. What an agent does is a table or an automaton (`Agent.seats`), taken out of its rules
inside a logic engine; the rules never run anywhere else.

`write_match_program` writes a table of payoffs as a game program, so that strategies written as
rules can play any matrix game; `write_strategy_rules` lets a model write the rules of a strategy
that is told in words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

from bestresponse.core.errors import BestResponseError, InvalidGame, UsageError
from bestresponse.core.files import read_text, read_text_file
from bestresponse.core.player import Call, Status
from bestresponse.formal.formalize.forms import find_code, what_is_wrong
from bestresponse.formal.strategies.programs import PUBLISHED, published_strategy
from bestresponse.formal.strategies.texts import TEXTS
from bestresponse.games.logic.tables import as_game_table, write_table_program
from bestresponse.games.lookup import LoadedGame
from bestresponse.logic.confined.engine import ConfinedEngine
from bestresponse.logic.engine import LogicEngine
from bestresponse.logic.language.diagnostics import numbered
from bestresponse.logic.language.terms import Atom, write
from bestresponse.logic.programs.strategies import (
    Mixture,
    SeatsFound,
    StrategyMachine,
    StrategyTable,
)
from bestresponse.logic.programs.validate import validate_strategy
from bestresponse.logic.settings import settings
from bestresponse.models.base import Finish, Message, Model, Reply, Request
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import (
    Automaton,
    cooperative_actions,
    memory_one,
    reduced,
)


@dataclass(frozen=True, slots=True)
class Agent:
    """`game` and `rules` are programs.

    `words` says where the strategy comes from, if it was told in words.
    """

    name: str
    game: str
    rules: str
    default_move: str | None = None
    words: str = ""
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    @classmethod
    def of(
        cls,
        name: str,
        game: str | Path | NormalForm | LoadedGame,
        strategy: str | Path,
    ) -> Agent:
        """A game as program text, file, payoff table or found game.

        A strategy as rules, file, or published name.

        >>> from bestresponse.theory.catalogue.tables import load
        >>> Agent.of("Ada", load("prisoners-dilemma"), "tit-for-tat").name
        'Ada'
        """
        form = game.solvable() if isinstance(game, LoadedGame) else game
        if isinstance(form, NormalForm):
            return cls(name, write_match_program(form), _strategy(strategy))
        if not isinstance(form, str | Path):
            raise UsageError(
                f"{name}: expected a game as program, file or payoff table of two players, got"
                f" {type(form).__name__}"
            )
        return cls(name, _text(form), _strategy(strategy))

    def clone(self, name: str) -> Agent:
        """The same agent under another name."""
        return replace(self, name=name)

    def with_strategy(self, strategy: str | Path) -> Agent:
        """Another strategy for the same game."""
        return replace(self, rules=_strategy(strategy), words="")

    def with_default_move(self, move: str | None) -> Agent:
        """Another default move than the one the game names; None for the game's own."""
        return replace(self, default_move=move)

    def save(self, path: Path) -> None:
        """Write the agent to a JSON file."""
        data = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        path.write_text(data + "\n", "utf-8")

    @classmethod
    def load(cls, path: Path) -> Agent:
        """Read an agent from a JSON file; UsageError where it is none."""
        try:
            return TypeAdapter(cls).validate_json(read_text(path))
        except ValidationError as error:
            wrong = error.errors()[0]
            problem = f"{wrong['msg']} {'.'.join(map(str, wrong['loc']))}".rstrip()
            raise UsageError(
                f"{path}: expected an agent as JSON, with name, game and rules: {problem}"
            ) from None

    def seats(self, usual_moves: Sequence[str] = ()) -> Seats:
        """Return what it does in either seat of its game.

        All of it is found out in a confined process.

        `usual_moves` are the default moves of both seats where neither the agent nor its game names
        one.
        """
        engine = ConfinedEngine(settings.limits)
        return Seats(
            self.name,
            engine.find_seats(
                self.game,
                self.rules,
                self.default_move,
                usual_moves,
            ),
        )


_SEATS = ("first", "second")


@dataclass(frozen=True, slots=True)
class Seats:
    """The two seats of an agent's game: who sits there, the moves, what the agent does."""

    agent: str
    facts: SeatsFound

    def table(self, seat: int) -> StrategyTable:
        """What the agent does in seat 0 or 1.

        Raises InvalidGame where its rules do not say, or keep a memory.
        """
        behaviour = self._behaviour(seat)
        if isinstance(behaviour, StrategyMachine):
            raise InvalidGame(
                f"the strategy {self.agent} keeps a memory of its own; it is an automaton, not a"
                " table"
            )
        return behaviour

    def automaton(self, seat: int, actions: Sequence[Sequence[str]] = ((), ())) -> Automaton:
        """The same as an automaton.

        `actions` are the moves of both seats in the order the game lists them.
        """
        return build_automaton(
            self._behaviour(seat),
            self.agent,
            actions[seat],
            actions[1 - seat],
        )

    def _behaviour(self, seat: int) -> StrategyTable | StrategyMachine:
        behaviour = self.facts.behaviour[seat]
        if isinstance(behaviour, str):
            raise InvalidGame(f"In the {_SEATS[seat]} seat: {behaviour}")
        return behaviour


def _text(source: str | Path) -> str:
    return read_text_file(source) if isinstance(source, Path) else source


def _strategy(strategy: str | Path) -> str:
    return (
        published_strategy(strategy)
        if strategy in PUBLISHED and isinstance(strategy, str)
        else _text(strategy)
    )


def build_automaton(
    behaviour: StrategyTable | StrategyMachine,
    name: str,
    own: Sequence[str],
    other: Sequence[str],
) -> Automaton:
    """Return what a strategy does as an automaton.

    Rules that see only the last move of each player are a strategy of memory one (see
    `theory.repeated.automaton`). Rules with a memory of their own, a counter for example, have one
    state for each state of memory and pair of last moves. In a game whose seats differ a strategy
    is one automaton for each seat.

    `own` and `other` are the moves in the order in which the game lists them for each seat; where
    they are empty the strategy's own order is used.
    """
    mine = tuple(own or behaviour.moves)
    theirs = tuple(other or behaviour.moves)
    if isinstance(behaviour, StrategyTable):
        after = []
        for a in mine:
            after.append([_weights(behaviour.reply(a, b), mine, name) for b in theirs])
        first = _weights(behaviour.first, mine, name)
        return reduced(memory_one(name, first, after))
    mix = [_weights(mixture, mine, name) for mixture, _ in behaviour.states]
    pairs = product(behaviour.moves, behaviour.moves)
    pair_index = {pair: index for index, pair in enumerate(pairs)}
    places = [[pair_index[a, b] for b in theirs] for a in mine]
    step = [np.array(following)[places] for _, following in behaviour.states]
    return reduced(Automaton(name, np.array(mix), np.array(step)))


def _weights(mixture: Mixture, moves: tuple[str, ...], name: str) -> list[float]:
    foreign = [move for move, _ in mixture if move not in moves]
    if foreign:
        raise InvalidGame(
            f"the strategy {name} plays {foreign[0]}; expected one of the moves {', '.join(moves)}"
        )
    chances = dict(mixture)
    return [float(chances.get(move, 0)) for move in moves]


def find_default_moves(form: NormalForm) -> tuple[int, int]:
    """Return the number of the default move of each player.

    This is to cooperate if that is possible, else the first move.

    >>> from bestresponse.theory.catalogue.tables import load
    >>> hawk_dove = load("hawk-dove")
    >>> hawk_dove.actions[0][find_default_moves(hawk_dove)[0]]
    'dove'
    """
    try:
        return cooperative_actions(form)
    except InvalidGame:
        return (0, 0)


def write_match_program(form: NormalForm) -> str:
    """Write the program of a two-player game with as many moves for each.

    Both players' moves have the first one's names. The default move is to cooperate where the game
    has such a move, else the first one.
    """
    if form.num_players != 2 or form.shape[0] != form.shape[1]:
        raise InvalidGame(
            f"a repeated match needs two players with equally many moves, got {form.shape}"
        )
    moves = form.actions[0]
    table = as_game_table(NormalForm(form.payoffs, players=("p1", "p2"), actions=(moves, moves)))
    names = [write(Atom(move)) for move in moves]
    payoffs = []
    for (own, other), row in zip(product(names, repeat=2), table.rows, strict=True):
        first, second = row.payoffs
        payoffs.append(f"payoff({own}, {other}, {first}, {second}).")
    default, default_of_second = (names[number] for number in find_default_moves(form))
    lines = [f"initially(default_move(_, {default}), s0)."]
    if default != default_of_second:
        lines = [
            f"initially(default_move(p1, {default}), s0).",
            f"initially(default_move(p2, {default_of_second}), s0).",
        ]
    if len(names) == 2:
        lines += [
            f"opposite_move({names[0]}, {names[1]}).",
            f"opposite_move({names[1]}, {names[0]}).",
        ]
    game = ":- discontiguous initially/2.\n" + write_table_program(table)
    return game + "\n".join([_OUTCOME, *payoffs, *_ROLES, *lines]) + "\n"


# What strategies of the published study ask for besides: who is row, and the outcome with both
# moves and payoffs.
_ROLES = ("initially(role(p1, row), s0).", "initially(role(p2, col), s0).")
_OUTCOME = (
    "finally(outcome(p1, M1, U1, p2, M2, U2), S) :- "
    "final(S), holds(did(p1, M1), S), holds(did(p2, M2), S), payoff(M1, M2, U1, U2)."
)


MOST_CHARACTERS = 10_000
_HEAT = 0.7
_LONGEST_REASON = 300
_DECLINED = re.compile(r"^[*_#>%\"' ]{0,10}CANNOT\b[ \t:*.-]{0,10}(.*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StrategySettings:
    """How a model is asked for rules.

    `replicate` tells repeated formalizations of the same words apart.
    """

    attempts: int = 5
    max_tokens: int = 800
    temperature: float = 0.0
    seed: int | None = None
    replicate: int = 0


@dataclass(frozen=True, slots=True)
class StrategyAttempt:
    """One answer: the request, the reply, the rules found, and what is wrong with them.

    Nothing is wrong if that is empty.
    """

    request: Request
    reply: Reply
    rules: str
    wrong: str


@dataclass(frozen=True, slots=True)
class StrategyFormalization:
    """Every attempt; the last one is right where `ok`."""

    words: str
    model: str
    attempts: tuple[StrategyAttempt, ...]
    declined: str = ""
    """The reason, where the model says that the strategy cannot be written so."""

    @property
    def ok(self) -> bool:
        """Whether there are rules that can be played."""
        return bool(self.attempts) and not self.attempts[-1].wrong

    @property
    def rules(self) -> str:
        """The rules, empty where there are none."""
        return self.attempts[-1].rules if self.ok else ""

    @property
    def status(self) -> Status:
        """How the last answer was read."""
        if self.ok:
            return Status.VALID
        if self.declined:
            return Status.REFUSED
        if self.attempts[-1].reply.finish is Finish.LENGTH:
            return Status.TRUNCATED
        return Status.ILLEGAL if self.attempts[-1].rules else Status.UNPARSEABLE

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call of the model."""
        return tuple(
            Call(self.model, request_to_json(attempt.request), reply_to_json(attempt.reply))
            for attempt in self.attempts
        )

    @property
    def trouble(self) -> str:
        """Why there are no rules, in one sentence."""
        if self.ok:
            return ""
        if self.declined:
            return (
                f"{self.model} says that the strategy cannot be written as rules: {self.declined}"
            )
        tries = "1 attempt" if len(self.attempts) == 1 else f"{len(self.attempts)} attempts"
        return f"after {tries} the rules of {self.model} are still wrong: {self.attempts[-1].wrong}"


def write_strategy_rules(
    words: str,
    game: str,
    model: Model,
    engine: LogicEngine,
    asked: StrategySettings | None = None,
    tell: Callable[[StrategyAttempt], None] = lambda attempt: None,
) -> StrategyFormalization:
    """Return rules for the strategy told in `words`, with everything that was tried.

    The rules are for the game of the program `game`.

    The model writes `select/4`, the rules are checked, and it may repair them, after Mensfelt,
    Stathis and Trencsenyi (2024), section 3.3: one example, tit-for-tat, is shown. Rules count only
    if they give a legal move in every situation, in both seats (`Seats`); what is wrong is told
    back in words.

    `tell` hears of every attempt.
    """
    asked = asked or StrategySettings()
    strategy = words.strip()
    if not any(c.isalpha() for c in strategy):
        raise UsageError(
            "the strategy is empty: tell what to do first, and what after each move of the other"
            " player"
        )
    if len(strategy) > MOST_CHARACTERS:
        raise UsageError(
            f"the strategy has {len(strategy):,} characters; expected at most {MOST_CHARACTERS:,}"
        )
    task = TEXTS.fill(
        "task",
        example=published_strategy("tit-for-tat").strip(),
        game=game.strip(),
        words=strategy,
    )
    made: list[StrategyAttempt] = []
    declined = ""
    while len(made) < asked.attempts and not declined and (not made or made[-1].wrong):
        request = _request(task, made, asked)
        reply = model.complete(request)
        code = find_code(reply.text)
        rules = code.text if code else ""
        wrong = find_wrong(rules, game, engine) if rules else "the answer holds no rules"
        made.append(StrategyAttempt(request, reply, rules, wrong))
        tell(made[-1])
        if not rules and (refusal := _DECLINED.search(reply.text)):
            declined = refusal.group(1).strip()[:_LONGEST_REASON] or "it gave no reason"
    return StrategyFormalization(strategy, model.id, tuple(made), declined)


def _request(
    task: str,
    before: Sequence[StrategyAttempt],
    asked: StrategySettings,
) -> Request:
    """Rules given twice would be given again: then the model is asked with more freedom."""
    text = task
    if before and before[-1].rules:
        last = before[-1]
        text = TEXTS.fill(
            "repair",
            task=text,
            program=numbered(last.rules),
            wrong=last.wrong,
        )
    elif before:
        text = TEXTS.fill("no_program", task=text)
    stuck = len(before) > 1 and before[-1].rules == before[-2].rules
    return Request(
        (Message("system", TEXTS.text("system")), Message("user", text)),
        max_tokens=asked.max_tokens,
        temperature=max(_HEAT, asked.temperature) if stuck else asked.temperature,
        seed=asked.seed,
        replicate=asked.replicate * asked.attempts + len(before),
    )


def find_wrong(rules: str, game: str, engine: LogicEngine) -> str:
    """Say what keeps the rules from being a strategy for both seats; warnings alone do not."""
    report = validate_strategy(rules, game, engine)
    if report.errors:
        return what_is_wrong(report)
    try:
        seats = Agent("the strategy", game, rules).seats()
        for seat in (0, 1):
            seats.automaton(seat)
        several = seats.facts.ambiguous
    except BestResponseError as error:
        return f"- {error}"
    return f"- {several}: {TEXTS.text('exclusive')}" if several else ""
