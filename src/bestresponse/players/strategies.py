"""Strategies in a seat.

These are fixed answers and mixtures, functions, chance, automata, Axelrod's library and equilibria.

Baselines are simple ways to play a two-player matrix game, to be next to every model in every
table. Each is a function of the player's own payoffs and the opponent's, both with the player's own
actions as rows, for a whole batch of games at once: (n, own, other) -> strategies (n, own). Ties go
to the action listed first.

    uniform   every action equally often
    random    one action, drawn once per game
    greedy    the action with the largest payoff anywhere in its row
    maximin   the action whose worst payoff is best
    level-1   best response to an opponent who plays uniformly (Stahl & Wilson 1995; Nagel 1995)
    level-2   best response to an opponent who plays level-1
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from math import inf
from random import Random
from threading import get_ident
from typing import Any, Protocol

import numpy as np

from bestresponse.analysis.costs import always_mixing
from bestresponse.analysis.theory import Predicted, Theory, describe_theory, may_have_equilibrium
from bestresponse.core.ask import NO_WORDS, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.capabilities import AnyPositions, HasPositions, KnownEquilibrium
from bestresponse.core.conformance import any_legal_action
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.game import Game, Role, S, View, find_first_asks
from bestresponse.core.player import Decision, Player
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import HasTree, find_stage_form
from bestresponse.games.matrix.game import as_strategy
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.positions.solve import PositionSolution, list_best
from bestresponse.theory.repeated.automaton import (
    Automaton,
    classic_strategy,
    cooperative_actions,
    reduced,
    relabelled,
)
from bestresponse.theory.repeated.repetition import Repetition

ALWAYS = "always:"


@dataclass(frozen=True, slots=True)
class FixedMix:
    """One mixed strategy: stated where a mixture is asked, drawn from where an action is.

    With `blind` it asks for no view; where every ask is for a mixture, it needs none.

    >>> FixedMix((0.5, 0.5)).decide(View("a"), Mixture(("1", "2"))).action
    (0.5, 0.5)
    """

    mix: tuple[float, ...]
    name: str = "fixed"
    seed: int = 0
    blind: bool = False

    def decide(self, view: View, ask: Ask) -> Decision:
        """State the strategy, or draw from it."""
        if isinstance(ask, Mixture):
            return Decision(self.mix)
        if isinstance(ask, Choice):
            return _draw_move(view.draw(self.seed), ask.options, self.mix)
        raise UsageError(f"a mixed strategy answers choices and mixtures, not {type(ask).__name__}")


@dataclass(frozen=True, slots=True)
class Mixing:
    """One behaviour strategy of a tree.

    Gives the probabilities of the moves at each information set, by its label.
    """

    mixes: Mapping[str, Mapping[str, float]]
    name: str = "fixed"
    seed: int = 0

    def decide(self, view: View, ask: Ask) -> Decision:
        """Draw a move of the information set."""
        mix = self.mixes[view.facts["infoset"]]
        return _draw_move(view.draw(self.seed), list(mix), list(mix.values()))


def _draw_move(rng: Random, moves: Sequence[str], weights: Sequence[float]) -> Decision:
    """Draw one of some moves with these probabilities."""
    (move,) = rng.choices(moves, weights)
    return Decision(move)


@dataclass(frozen=True, slots=True)
class Always:
    """The same answer whenever it is asked.

    >>> Always("2").decide(View("a"), Choice(("1", "2"))).action
    '2'
    """

    answer: str

    @property
    def name(self) -> str:
        """The answer, with `always:` before it."""
        return f"{ALWAYS}{self.answer}"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Give the one answer."""
        try:
            return Decision(ask.read(self.answer))
        except InvalidMove as error:
            raise UsageError(f"{self.name} cannot play {view.role}: {error}") from None


def make_always(answer: str, game: Game[S], role: Role) -> Always:
    """Seat a player with one answer; UsageError where its first ask refuses it."""
    ask = find_first_asks(game).get(role)
    if ask is not None and not isinstance(game, HasTree):
        try:
            ask.read(answer)
        except InvalidMove as error:
            raise UsageError(f"{role}={ALWAYS}{answer}: {error}") from None
    return Always(answer)


ViewFunction = Callable[[View, Ask], Any]
"""A strategy for any game: from what it sees and what it is asked to its answer."""
HistoryFunction = Callable[[Sequence[str], Sequence[str]], str]
"""A strategy for repeated games of two: from its own moves and the other's moves so far to its next
move."""


@dataclass(frozen=True, slots=True)
class FunctionPlayer:
    """Ask a function of the view; what it returns must be a legal answer."""

    function: ViewFunction
    name: str = "function"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Call the function and read its answer as the ask reads any answer."""
        return Decision(ask.read(self.function(view, ask)))


@dataclass(frozen=True, slots=True)
class HistoryPlayer:
    """Ask a function of the history in a seat of a repeated two-player game."""

    function: HistoryFunction
    name: str = "function"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Call the function with its own and the other's moves so far."""
        if not isinstance(ask, Choice) or "history" not in view.facts or "seat" not in view.facts:
            raise UsageError(f"the strategy {self.name} plays repeated games of two players only")
        seat: int = view.facts["seat"]
        history = view.facts["history"]
        own = [moves[seat] for moves in history]
        other = [moves[1 - seat] for moves in history]
        move = self.function(own, other)
        if move not in ask.options:
            raise InvalidMove(
                f"the strategy {self.name} returned {move!r}; expected one of"
                f" {', '.join(ask.options)}"
            )
        return Decision(move)


@dataclass(frozen=True, slots=True)
class RandomPlayer:
    """Some legal move, each as likely as any other."""

    seed: int = 0
    name: str = "random"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Draw an answer that depends on the seed and the view only."""
        if isinstance(ask, Lottery):
            raise UsageError("a random player cannot answer Lottery; seat a model or a person")
        rng = view.draw(self.seed)
        if not isinstance(ask, Form):
            return Decision(self._draw(ask, rng))
        return Decision({name: self._draw(field, rng) for name, field in ask.fields})

    def find_chances(self, view: View, ask: Ask) -> Mapping[str, float] | None:
        """Return how likely each option of a choice is."""
        if not isinstance(ask, Choice):
            return None
        return dict.fromkeys(ask.options, 1 / len(ask.options))

    def _draw(self, ask: Ask, rng: Random) -> object:
        """Draw an answer; words are not put into anybody's mouth."""
        return NO_WORDS if isinstance(ask, Words) else any_legal_action(ask, rng)


def make_random(game: Game[S], role: Role, seed: int) -> RandomPlayer:
    """Seat a random player."""
    return RandomPlayer(seed)


@dataclass(frozen=True, slots=True)
class AutomatonPlayer:
    """Plays `automaton`.

    A mixed action is drawn anew for each view, always the same for the same seed and view.
    """

    automaton: Automaton
    seed: int = 0

    @property
    def name(self) -> str:
        """The player's name in records."""
        return self.automaton.name

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        mix = self.find_chances(view, ask)
        return _draw_move(view.draw(self.seed), list(mix), list(mix.values()))

    def find_chances(self, view: View, ask: Ask) -> Mapping[str, float]:
        """Return how likely each move is after the rounds so far."""
        actions = view.facts.get("actions", ())
        if not isinstance(ask, Choice) or "history" not in view.facts or len(actions) != 2:
            raise UsageError(f"the strategy {self.name} plays repeated games of two players only")
        seat: int = view.facts["seat"]
        own = list(actions[seat])
        other = list(actions[1 - seat])
        state = 0
        for moves in view.facts["history"]:
            mine = own.index(moves[seat])
            theirs = other.index(moves[1 - seat])
            state = int(self.automaton.step[state, mine, theirs])
        return dict(zip(own, self.automaton.mix[state].tolist(), strict=True))


def make_automaton(name: str, form: NormalForm, seat: int) -> Automaton:
    """Make the classic strategy for that seat.

    The library counts actions as cooperate, defect; the game may not.
    """
    order = [(first, 1 - first) for first in cooperative_actions(form)]
    automaton = reduced(classic_strategy(name))
    return relabelled(automaton, order[seat], order[1 - seat])


@cache
def axelrod_strategy(name: str) -> Any:
    """The class of a strategy, by the name of the class or the name it shows.

    Raises UsageError where there is none.
    """
    if find_spec("axelrod") is None:
        raise UsageError("strategies of Axelrod's library need it installed: pip install axelrod")
    library = import_module("axelrod")
    known = {strategy.__name__: strategy for strategy in library.all_strategies}
    by_shown_name = {strategy.name: strategy for strategy in library.all_strategies}
    strategy = known.get(name) or by_shown_name.get(name)
    if strategy is None:
        raise UsageError(
            f"Axelrod's library has no strategy {name!r}.{did_you_mean(name, sorted(known))}"
        )
    return strategy


def has_axelrod_strategy(name: str) -> bool:
    """Say whether Axelrod's library is installed and has a strategy of that name."""
    try:
        return axelrod_strategy(name) is not None
    except UsageError:
        return False


@cache
def _library_player(name: str, seat: int, thread: int) -> object:
    """Make a player of the library, once for each seat and thread.

    Its matches begin by resetting it.
    """
    return axelrod_strategy(name)()


@dataclass(frozen=True, slots=True)
class LibraryRound:
    """The moves meant and made by both seats in one round, as numbers of actions."""

    meant: tuple[int, int]
    made: tuple[int, int]


def play_in_library(
    names: tuple[str, str],
    form: NormalForm,
    repetition: Repetition,
    seed: int,
) -> tuple[LibraryRound, ...]:
    """Let two strategies of Axelrod's library play a match there, and return its rounds.

    A match of 200 rounds takes the library some milliseconds. Asked round by round through views,
    its strategies would have to live through the whole history for every move.
    """
    library = import_module("axelrod")
    # The library tells its players the number of rounds only where no probability of an end is
    # given, not even 0.
    ends = None if repetition.continuation == 1.0 else 1 - repetition.continuation
    players = [_library_player(name, seat, get_ident()) for seat, name in enumerate(names)]
    match = _recording_match()(
        players,
        turns=repetition.rounds,
        prob_end=ends,
        noise=repetition.noise,
        seed=seed % 2**32,
    )
    first, second = cooperative_actions(form)
    by_seat = [
        {library.Action.C: first, library.Action.D: 1 - first},
        {library.Action.C: second, library.Action.D: 1 - second},
    ]
    made = match.play()
    rounds = []
    for meant, moves in zip(match.meant, made, strict=True):
        both_meant = (by_seat[0][meant[0]], by_seat[1][meant[1]])
        both_made = (by_seat[0][moves[0]], by_seat[1][moves[1]])
        rounds.append(LibraryRound(both_meant, both_made))
    return tuple(rounds)


class _LibraryPlayer(Protocol):
    """What a match of the library asks of its players; moves are its actions C and D."""

    def strategy(self, opponent: "_LibraryPlayer") -> Hashable: ...

    def update_history(self, play: Hashable, coplay: Hashable) -> None: ...


def ask_library_player(
    player: _LibraryPlayer,
    other: _LibraryPlayer,
    moves: Sequence[Hashable],
) -> Hashable:
    """Ask a strategy of Axelrod's library, or of a package that adds to it, for its move.

    Raises UsageError where it fails or makes none.
    """
    try:
        move = player.strategy(other)
    except Exception as error:  # code of others, which may fail in any way
        raise UsageError(
            f"the strategy {player} of the axelrod package failed: {type(error).__name__}: {error}"
        ) from error
    if move not in moves:
        raise UsageError(
            f"the strategy {player} of the axelrod package made the move {move!r}; expected one of"
            f" {', '.join(map(str, moves))}"
        )
    return move


@cache
def _recording_match() -> type:
    """Return the library's class of matches with a list `meant`.

    The library itself keeps only the moves after noise.
    """
    library = import_module("axelrod")

    class RecordingMatch(library.Match):  # type: ignore[misc, name-defined]
        def play(self) -> list[tuple[Hashable, Hashable]]:
            """Play all rounds and return the moves that were made."""
            self.meant: list[tuple[Hashable, Hashable]] = []
            made: list[tuple[Hashable, Hashable]] = super().play()
            return made

        def simultaneous_play(
            self,
            player: _LibraryPlayer,
            coplayer: _LibraryPlayer,
            noise: float = 0,
        ) -> tuple[Hashable, Hashable]:
            """Play a round as the library does, with its draws in its order."""
            meant = (
                ask_library_player(player, coplayer, tuple(library.Action)),
                ask_library_player(coplayer, player, tuple(library.Action)),
            )
            first, second = meant
            if noise:
                first = self._random.random_flip(first, noise)
                second = self._random.random_flip(second, noise)
            player.update_history(first, second)
            coplayer.update_history(second, first)
            self.meant.append(meant)
            return first, second

    return RecordingMatch


@dataclass(frozen=True, slots=True)
class AxelrodPlayer:
    """`cooperate` gives, for each seat, the number of the action that is to cooperate.

    Strategies of the library may know the number of `rounds`, None where the end is random, and the
    noise.
    """

    strategy: str
    cooperate: tuple[int, int] = (0, 0)
    seed: int = 0
    rounds: int | None = None
    noise: float = 0.0

    @property
    def name(self) -> str:
        """The player's name in records."""
        return f"axelrod:{self.strategy}"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        actions = view.facts.get("actions", ())
        is_two_by_two = [len(names) for names in actions] == [2, 2]
        if not isinstance(ask, Choice) or "history" not in view.facts or not is_two_by_two:
            raise UsageError(
                f"{self.name} plays repeated games of two players with two actions only"
            )
        seat: int = view.facts["seat"]
        library = import_module("axelrod")
        player = axelrod_strategy(self.strategy)()
        other = library.MockPlayer()
        player.set_match_attributes(
            length=self.rounds or inf,
            game=library.Game(),
            noise=self.noise,
        )
        player.set_seed(split(self.seed, view.role) % 2**32)
        letters = [
            {names[c]: library.Action.C, names[1 - c]: library.Action.D}
            for names, c in zip(actions, self.cooperate, strict=True)
        ]
        for moves in view.facts["history"]:
            mine = letters[seat][moves[seat]]
            theirs = letters[1 - seat][moves[1 - seat]]
            ask_library_player(player, other, tuple(library.Action))
            player.update_history(mine, theirs)
            other.update_history(theirs, mine)
        chosen = ask_library_player(player, other, tuple(library.Action))
        by_letter = {letter: action for action, letter in letters[seat].items()}
        return Decision(by_letter[chosen])


Baseline = Callable[[Array, Array, int], Array]


def _pure(choices: np.ndarray[tuple[int], np.dtype[np.intp]], actions: int) -> Array:
    return np.eye(actions)[choices]


def play_uniform(own: Array, other: Array, seed: int) -> Array:
    """Play every action with equal probability."""
    return np.full(own.shape[:2], 1.0 / own.shape[1])


def play_random(own: Array, other: Array, seed: int) -> Array:
    """Play one action, drawn by the seed."""
    drawn = np.random.default_rng(split(seed, "random baseline")).integers(
        own.shape[1], size=len(own)
    )
    return _pure(drawn, own.shape[1])


def _play_largest(judge: Callable[..., Array]) -> Baseline:
    """Play the row that is best by its largest, its smallest or its mean payoff."""
    return lambda own, other, seed: _pure(judge(own, axis=2).argmax(axis=1), own.shape[1])


def play_level_2(own: Array, other: Array, seed: int) -> Array:
    """Play the best response to an opponent of level 1."""
    opponent = other.mean(axis=1).argmax(axis=1)
    faced = np.take_along_axis(own, opponent[:, None, None], axis=2)[:, :, 0]
    return _pure(faced.argmax(axis=1), own.shape[1])


BASELINES: dict[str, Baseline] = {
    "uniform": play_uniform,
    "random": play_random,
    "greedy": _play_largest(np.max),
    "maximin": _play_largest(np.min),
    "level-1": _play_largest(np.mean),
    "level-2": play_level_2,
}


@dataclass(frozen=True, slots=True)
class BaselinePlayer:
    """A baseline in a seat of a two-player matrix game.

    A mixed strategy is drawn from where an action is asked.
    """

    name: str
    seed: int = 0

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        payoffs = np.asarray(view.facts.get("payoffs", ()), dtype=np.float64)
        if payoffs.ndim != 3:
            raise UsageError(f"the baseline {self.name} plays two-player matrix games only")
        if view.facts["seat"] == 1:
            payoffs = payoffs[::-1].transpose(0, 2, 1)
        rng = view.draw(self.seed)
        mix = _find_baseline(self.name, payoffs, rng.getrandbits(63))
        if isinstance(ask, Mixture):
            return Decision(tuple(map(float, mix)))
        if isinstance(ask, Choice):
            return _draw_move(rng, ask.options, mix.tolist())
        raise UsageError(
            f"the baseline {self.name} answers choices and mixtures, not {type(ask).__name__}"
        )


def _find_baseline(name: str, payoffs: Array, seed: int) -> Array:
    """Return how a baseline mixes as the first of two players.

    Baselines are asked for many games at once, here for one.
    """
    baseline = BASELINES[name]
    own = payoffs[0][None]
    other = payoffs[1][None]
    mix: Array = baseline(own, other, seed)[0]
    return mix


EQUILIBRIUM = "equilibrium"


@dataclass(frozen=True, slots=True)
class EquilibriumPlayer:
    """Plays by the probabilities of one of the equilibria that theory predicts."""

    theory: Theory
    predicted: Predicted
    seed: int
    name: str = EQUILIBRIUM

    def decide(self, view: View, ask: Ask) -> Decision:
        """State the mixture where one is asked for, else draw a move from it."""
        moves = self.predicted.shares[view.role][self.theory.name_infoset(view)]
        if isinstance(ask, Mixture):
            return Decision(tuple(moves[option] for option in ask.options))
        weights = [max(share, 0.0) for share in moves.values()]
        drawn = _draw_move(view.draw(self.seed), list(moves), weights)
        return Decision(ask.read(str(drawn.action)))

    def find_chances(self, view: View, ask: Ask) -> Mapping[str, float] | None:
        """Return how likely each move is."""
        moves = self.predicted.shares[view.role][self.theory.name_infoset(view)]
        return None if isinstance(ask, Mixture) else moves


@dataclass(frozen=True, slots=True)
class ClosedFormPlayer:
    """Plays the equilibrium that its game knows in closed form."""

    game: KnownEquilibrium
    name: str = EQUILIBRIUM

    def decide(self, view: View, ask: Ask) -> Decision:
        """Ask the game what its equilibrium says."""
        return Decision(self.game.choose_equilibrium(view, ask))


@dataclass(frozen=True, slots=True)
class BestMovePlayer:
    """Draws one of the best moves at every position of a solved game."""

    game: AnyPositions
    solution: PositionSolution
    seed: int
    name: str = EQUILIBRIUM

    def decide(self, view: View, ask: Ask) -> Decision:
        """Look up what the legal moves are worth."""
        return Decision(view.draw(self.seed).choice(list(self.find_chances(view, ask))))

    def find_chances(self, view: View, ask: Ask) -> Mapping[str, float]:
        """Return all best moves, each as likely as any other."""
        worths = self.solution.list_worths(self.game, self.game.read_position(view))
        best = list_best(worths)
        return dict.fromkeys(best, 1 / len(best))


def make_equilibrium(game: Game[S], role: Role, seed: int) -> Player:
    """Seat the game's first equilibrium; UsageError where none is known."""
    theory = describe_theory(game)
    if theory.positions is not None and isinstance(game, HasPositions):
        return BestMovePlayer(game, theory.positions, seed)
    if theory.predicted:
        return EquilibriumPlayer(theory, theory.predicted[0], seed)
    if theory.known is not None and isinstance(game, KnownEquilibrium):
        return ClosedFormPlayer(game)
    raise UsageError(
        f"{role}={EQUILIBRIUM}: no equilibrium of {game.name} is known here; seat another strategy"
        " or a model"
    )


def describe_as_automaton(player: Player, game: Game[S], role: Role) -> Automaton | None:
    """Return the strategy of a player as an automaton; None where it is not known to be one.

    A player who draws from the same mixture in every round is an automaton of one state.
    """
    if isinstance(player, AutomatonPlayer):
        return player.automaton
    form = find_stage_form(game)
    if form is None:
        return None
    seat = form.players.index(role)
    moves = form.actions[seat]
    if isinstance(player, RandomPlayer):
        mix = np.full(len(moves), 1.0 / len(moves))
    elif isinstance(player, Always) and player.answer in moves:
        mix = as_strategy(player.answer, moves)
    elif isinstance(player, EquilibriumPlayer):
        chances = player.predicted.shares[role][""]
        mix = as_strategy([chances[move] for move in moves], moves)
    elif isinstance(player, BaselinePlayer) and form.num_players == 2:
        payoffs = form.payoffs if seat == 0 else form.payoffs[::-1].transpose(0, 2, 1)
        mix = _find_baseline(player.name, payoffs, 0)
    else:
        return None
    other_actions = form.shape[1 - seat] if form.num_players == 2 else None
    return always_mixing(player.name, mix, other_actions)


make_equilibrium.plays = may_have_equilibrium  # type: ignore[attr-defined]
