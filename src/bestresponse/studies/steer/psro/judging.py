"""What a solution in prompt space earns against unguided speakers: in its own table, and on games held out.

A guided speaker draws a manner from its part of the solution and keeps to it, the others stay neutral; beside it stands
the same talk with everybody neutral, on the same game, the same draws of the texts (common random numbers).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestresponse.core.errors import OverBudget
from bestresponse.core.seeds import generator
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.fresh import FreshPlays
from bestresponse.studies.steer.psro.meta_game import MetaGame
from bestresponse.studies.steer.psro.plays import Arena, Profile
from bestresponse.studies.steer.psro.search import PsroResult
from bestresponse.theory.games.normal_form import Array

__all__ = ["held_out_on_record", "in_table", "judge_psro", "table_nash_conv"]


def judge_psro(config: SteerConfig, found: PsroResult, elsewhere: Arena) -> FreshPlays:
    """Play the solution in an arena of games that the search has not seen, `fresh` times each."""
    for manner in (manner for own in found.prompts for manner in own):
        elsewhere.learn(manner)
    neutral, numbers = elsewhere.manners.neutral, range(config.held_out * config.fresh)

    def profile(seat: int, number: int) -> Profile:
        mix = found.solution.marginals[seat].clip(0)
        drawn = generator(config.seed, "held out", seat, number).choices(found.prompts[seat], mix.tolist())[0]
        return tuple(drawn if place == seat else neutral for place in range(len(found.prompts)))

    seats = range(len(found.prompts))
    guided = [elsewhere.sample_many([(profile(seat, number), number) for number in numbers]) for seat in seats]
    return FreshPlays(_unguided(elsewhere, numbers), np.array(guided))


def held_out_on_record(config: SteerConfig, elsewhere: Arena) -> bool:
    """Whether the unguided talks of all held-out games, which are held last, are on record."""
    try:
        _unguided(elsewhere.on_record(), range(config.held_out * config.fresh))
    except OverBudget:
        return False
    return True


def _unguided(arena: Arena, numbers: Sequence[int]) -> Array:
    profile = (arena.manners.neutral,) * arena.game.domain.players
    return arena.sample_many([(profile, number) for number in numbers])


def in_table(found: PsroResult, neutral: str) -> FreshPlays:
    """The same on the plays of the table itself, each manner weighted by its probability instead of drawn."""
    samples = found.game.samples
    alone = [own.index(neutral) for own in found.prompts]
    unguided = samples[tuple(alone)]
    guided = []
    for seat, mix in enumerate(found.solution.marginals):
        rows = np.array([samples[tuple(k if s == seat else a for s, a in enumerate(alone))] for k in range(len(mix))])
        used = mix > 1e-12
        guided.append(np.tensordot(mix[used] / mix[used].sum(), rows[used], axes=1))
    return FreshPlays(unguided, np.array(guided))


def table_nash_conv(game: MetaGame, mixes: Sequence[Array]) -> float:
    """What all speakers together could gain in the table by deviating alone from these mixtures."""
    total = 0.0
    for seat, payoffs in enumerate(game.means):
        against = payoffs
        for other in range(len(mixes) - 1, -1, -1):
            if other != seat:
                against = np.tensordot(against, mixes[other], axes=([other], [0]))
        total += float(against.max() - against @ mixes[seat])
    return total
