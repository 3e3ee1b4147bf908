"""Prompt-space response oracles: grow every speaker's manners by best responses.

The responses are to the present solution.

Each iteration estimates the full joint payoff table over the prompts so far, solves it, and asks an
oracle for a better response of every seat (Lanctot et al. 2017; Gemp et al. 2024, algorithm 5).

The search ends when no seat's response is new, or after the given number of iterations. Because a
table of few plays can show an equilibrium that is none, the first time that no response is new is
only believed after the plays of every profile were doubled. Then the oracles are asked for
responses to the other solutions that the plays do not rule out: only if these bring nothing new, it
ends. In an arena whose speakers swap seats all of them have the same prompts, and what one of them
finds is a prompt of all. A search that is stopped (by a budget, by a model that fails) ends with
the last whole table: the present one with fewer plays, or the one before.

I. Gemp et al., "Steering Language Models with Game-Theoretic Solvers", 2024, appendix H.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from math import comb

import numpy as np

from bestresponse.core.errors import ModelError, UsageError
from bestresponse.core.seeds import generator, split
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.fresh import FreshPlays
from bestresponse.studies.steer.meta_game import (
    MetaGame,
    MetaSolution,
    PromptArena,
    deviate,
    estimate,
    find_plausible,
    solve_meta,
)
from bestresponse.studies.steer.oracles import CATEGORIES, Inventor, Oracle, Response, find_response
from bestresponse.theory.games.normal_form import Array

_OTHERS = 2
"""How many other plausible solutions are responded to before a search is closed."""
_FEWEST_PLAYS = 2  # one play has no deviation, so nothing could be said of its error


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """The prompts, their solution, and the oracles' answers (empty after the last table)."""

    prompts: tuple[tuple[str, ...], ...]
    solution: MetaSolution
    responses: tuple[Response, ...] = ()


def psro(
    arena: PromptArena,
    inventor: Inventor,
    settings: SteerConfig,
    on_iteration: Callable[[int], None] = lambda number: None,
) -> PsroResult:
    """Search from the domain's own manners until that is closed, used up or stopped.

    ModelError where it was stopped before there was a whole table.
    """
    if not arena.manners.new:
        raise UsageError(
            f"the actions {arena.manners.name!r} cannot be added to; choose another set of actions"
        )
    search = PsroResult(arena, inventor, settings)
    try:
        while search.step(on_iteration):
            pass
    except ModelError as error:
        if not search.cut_short(str(error)):
            raise
    return search


class PsroResult:
    """A search under way or finished: its last whole table, the solution, and its history.

    `closed`: no response was new; `stopped`: why the search was cut short (empty: it was not).
    """

    game: MetaGame
    solution: MetaSolution

    def __init__(
        self,
        arena: PromptArena,
        inventor: Inventor,
        settings: SteerConfig,
    ) -> None:
        self.arena = arena
        self.inventor = inventor
        self.settings = settings
        self._manners = (arena.manners.options,) * arena.game.domain.players
        self._plays = settings.plays
        self.history: list[Iteration] = []
        self.closed = False
        self.stopped = ""

    @property
    def prompts(self) -> tuple[tuple[str, ...], ...]:
        """The prompts of every speaker in the last whole table."""
        return self.game.prompts

    def step(self, on_iteration: Callable[[int], None]) -> bool:
        """Make one iteration; return whether there is another one."""
        on_iteration(len(self.history))
        self._solve(self._plays)
        if len(self.history) == self.settings.iterations:
            self.history.append(Iteration(self._manners, self.solution))
            return False
        responses = self._respond(self.solution)
        if not _list_new(responses) and self._plays > self.settings.plays:
            seed = split(self.settings.seed, "psro others", len(self.history))
            rng = np.random.default_rng(seed)
            for solution in find_plausible(
                self.game,
                self.settings.meta,
                _OTHERS,
                rng=rng,
            ):
                responses += self._respond(solution)
                if _list_new(responses):
                    break
            self.closed = not _list_new(responses)
        elif not _list_new(responses):
            self._plays *= 2
        self.history.append(Iteration(self._manners, self.solution, responses))
        # To the seat that found a manner, or to all where speakers swap seats.
        grown = []
        for seat, known in enumerate(self._manners):
            found = [
                manner
                for finder, manner in _list_new(responses)
                if self.arena.swap or finder == seat
            ]
            grown.append(tuple(dict.fromkeys((*known, *found))))
        self._manners = tuple(grown)
        return not self.closed

    def _respond(self, solution: MetaSolution) -> tuple[Response, ...]:
        """Ask the oracle for every seat."""
        responses = []
        for seat in range(len(self._manners)):
            oracle = Oracle(
                arena=self.arena,
                inventor=self.inventor,
                seat=seat,
                prompts=self._manners,
                solution=solution,
                plays=self._plays,
                candidates=self.settings.candidates,
                seed=self.settings.seed,
                round=len(self.history),
            )
            responses.append(find_response(oracle, self.settings.oracle))
        return tuple(responses)

    def cut_short(self, why: str) -> bool:
        """End with the present prompts if all their profiles were played.

        Otherwise ends with the table before, if any.
        """
        self.stopped = why
        known = self.arena.count_whole_plays(list(product(*self._manners)))
        whole = min(known, self._plays)
        is_new = not self.history or self.history[-1].prompts != self._manners
        if whole >= _FEWEST_PLAYS and is_new:
            self._solve(whole)
            self.history.append(Iteration(self._manners, self.solution))
        return bool(self.history)

    def _solve(self, plays: int) -> None:
        self.game = estimate(self.arena, self._manners, plays)
        self.solution = solve_meta(self.game, self.settings.meta)


def _list_new(responses: tuple[Response, ...]) -> list[tuple[int, str]]:
    """List the manners that were found, each with the seat that found it."""
    return [
        (response.seat, response.best.manner) for response in responses if response.best is not None
    ]


def play_held_out(
    result: PsroResult,
    arena: PromptArena,
    numbers: Sequence[int],
    seed: int,
) -> FreshPlays:
    """Play the solution in an arena of games that the search has not seen.

    A guided speaker draws a manner from its part of the solution and keeps to it, the others stay
    neutral; beside it stands the same talk with everybody neutral, on the same game, the same draws
    of the texts.
    """
    for manner in chain.from_iterable(result.prompts):
        arena.learn(manner)
    neutral = arena.manners.neutral

    guided = []
    for seat, prompts in enumerate(result.prompts):
        mix = result.solution.marginals[seat].clip(0).tolist()
        wanted = []
        for number in numbers:
            random = generator(seed, "held out", seat, number)
            profile = [neutral] * len(result.prompts)
            profile[seat] = random.choices(prompts, mix)[0]
            wanted.append((tuple(profile), number))
        guided.append(arena.sample_many(wanted))
    return FreshPlays(play_neutral(arena, numbers), np.array(guided))


def play_neutral(arena: PromptArena, numbers: Sequence[int]) -> Array:
    """Play the games with everybody in the neutral manner; of those held out this is done last."""
    profile = (arena.manners.neutral,) * arena.game.domain.players
    return arena.sample_many([(profile, number) for number in numbers])


def weigh_table(result: PsroResult) -> FreshPlays:
    """Compare the solution with neutral talk on the plays of the table.

    Each manner is weighted by its probability.
    """
    samples = result.game.samples
    alone = result.game.alone
    guided = []
    for seat, mix in enumerate(result.solution.marginals):
        manners = [deviate(alone, seat, manner) for manner in range(len(mix))]
        rows = np.array([samples[profile] for profile in manners])
        used = mix > 1e-12
        guided.append(np.tensordot(mix[used] / mix[used].sum(), rows[used], axes=1))
    return FreshPlays(samples[alone], np.array(guided))


def count_missing_psro_calls(arena: PromptArena, inventor: Inventor, settings: SteerConfig) -> int:
    """Count the most calls that a search still takes: 0 where everything is on record.

    What is on record is not asked again, so the search is rehearsed with the record alone, and the
    answers that it uses come off.
    """
    most = count_most_psro_calls(
        arena.game,
        settings,
        arena.cast.referee_calls,
        arena.swap,
    )
    answers = arena.answers.rehearse()
    try:
        search = psro(arena.rehearse(answers), replace(inventor, answers=answers), settings)
    except ModelError:
        finished = False
    else:
        finished = not search.stopped
    return 0 if finished else most - sum(answers.recalled.values())


def count_most_psro_calls(
    game: DialogueGame,
    settings: SteerConfig,
    per_ruling: int,
    swap: bool = False,
) -> int:
    """Count the most calls that a search from nothing takes.

    The largest table, every candidate played to the end, and the oracle's own questions; plays are
    doubled at the first iteration, as if no response had been new, and then every iteration
    responds to other solutions too; or they are never doubled, whichever costs more.
    """
    rounds = settings.iterations
    plays = settings.plays
    seats = game.domain.players
    # calls of an oracle for one seat at most, and candidates that it plays
    asked = 1
    tried = settings.candidates
    if settings.oracle == "better":
        asked = settings.candidates
    elif settings.oracle == "categorical":
        asked = 1 + CATEGORIES
        tried = CATEGORIES * settings.candidates

    def count_message(message: int) -> int:
        """Count the calls of one message, with those of the referee after it."""
        return 1 + per_ruling * game.rules_after(message)

    def count_talk(first: int) -> int:
        """Count the calls of one play from message `first` on."""
        return sum(map(count_message, range(first + 1, game.messages + 1)))

    def count(rounds: int, plays: int, candidates: int) -> int:
        """Count the calls of a table to which `rounds` have added, and of candidates' plays.

        Candidates are played for every seat.
        """
        size = len(game.manners.options) + rounds * (seats if swap else 1)
        profiles = comb(size + seats - 1, seats) if swap else size**seats
        table = 0
        for message in range(1, game.messages + 1):
            # A message depends on the manners of those who have spoken.
            spoken = size ** min(message, seats)
            table += int(min(spoken, profiles)) * count_message(message)
        talk = sum(count_talk(0 if swap else seat) for seat in range(seats))
        return plays * table + candidates * talk

    once = count(rounds, plays, rounds * tried * plays)
    later = (1 + _OTHERS) * (rounds - 1) * tried * 2 * plays
    doubled = count(rounds - 1, 2 * plays, tried * plays + later)
    responses = 1 + (rounds - 1) * (1 + _OTHERS)
    return max(once, doubled) + responses * asked * seats
