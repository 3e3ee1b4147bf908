"""Round robins compiled with numba (extra `fast`).

They play matches with two actions and a fixed number of rounds in registers, on all cores. Others
are played by numpy.

Random numbers: xoroshiro128+ (Blackman & Vigna, "Scrambled linear pseudorandom number generators",
ACM TOMS 47, 2021), one stream per match, seeded by splitmix64 from (seed, match); 32 bits of each
draw go to either player.
"""

import numpy as np
from numba import njit, prange

from bestresponse.core.errors import UsageError
from bestresponse.theory.arrays import Bools, Floats, Shorts, Words
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.repeated.round_robin import MOST_COMPILED, Matches

_RANGE = 4294967296.0  # 2**32: half of a random number decides one move


def play_compiled(
    matches: Matches,
    repetition: Repetition,
    repetitions: int,
    seed: int,
) -> Array:
    """Totals of both and rounds (strategies, strategies, repetitions, 3)."""
    repetition.allow("the compiled loop", "rounds", "noise")
    rounds = repetition.rounds
    count, _, actions = matches.mix.shape
    if actions != 2 or rounds > MOST_COMPILED:
        raise UsageError(
            f"the compiled loop plays two actions and at most {MOST_COMPILED:,} rounds, got"
            f" {actions} and {rounds:,}; leave engine at numpy"
        )
    limits = (np.cumsum(matches.mix, axis=2) * _RANGE).astype(np.uint64)
    certain = ((matches.mix == 0.0) | (matches.mix == 1.0)).all(axis=(1, 2))
    out = np.full((count * count, repetitions, 3), float(rounds))
    _play_side_by_side(
        limits,
        matches.step,
        payoffs=matches.payoffs,
        rounds=rounds,
        seed=np.uint64(seed),
        certain=certain,
        out=out,
    )
    return out.reshape(count, count, repetitions, 3)


@njit(cache=True, inline="always")
def _mixed(state: np.uint64) -> np.uint64:
    """splitmix64: one well-mixed word from a counter."""
    z = state + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, inline="always")
def _rotated(x: np.uint64, by: int) -> np.uint64:
    return (x << np.uint64(by)) | (x >> np.uint64(64 - by))


@njit(cache=True, inline="always")
def _draw(s0: np.uint64, s1: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64]:
    """xoroshiro128+: a random word, and the next state."""
    new = s0 ^ s1
    return s0 + s1, _rotated(s0, 24) ^ new ^ (new << np.uint64(16)), _rotated(new, 37)


@njit(cache=True, parallel=True, nogil=True, error_model="numpy")
def _play_side_by_side(
    limits: Words,
    step: Shorts,
    payoffs: Floats,
    rounds: int,
    seed: np.uint64,
    certain: Bools,
    out: Floats,
) -> None:
    """Play two repetitions of a match at a time, with two actions and fixed rounds.

    One works while the other waits for its tables. States of both players are one number, and the
    four outcomes are counted in the four quarters of a word.
    """
    count = limits.shape[0]
    states = limits.shape[1]
    low = np.uint64(0xFFFFFFFF)
    for match in prange(out.shape[0]):
        i = match // count
        j = match % count
        lim_x = np.empty(states * states, np.uint64)
        lim_y = np.empty(states * states, np.uint64)
        go = np.empty(4 * states * states, np.int64)
        for s in range(states):
            for t in range(states):
                lim_x[s * states + t] = limits[i, s, 0]
                lim_y[s * states + t] = limits[j, t, 0]
                for x in range(2):
                    for y in range(2):
                        go[4 * (s * states + t) + 2 * x + y] = (
                            step[i, s, x, y] * states + step[j, t, y, x]
                        )
        s0 = _mixed(seed * np.uint64(0xD1342543DE82EF95) + np.uint64(4 * match))
        s1 = _mixed(s0 + np.uint64(4 * match + 1))
        r0 = _mixed(s1 + np.uint64(4 * match + 2))
        r1 = _mixed(r0 + np.uint64(4 * match + 3))
        for rep in range(0, out.shape[1], 2):
            if rep > 0 and certain[i] and certain[j]:
                for later in range(rep, out.shape[1]):
                    out[match, later, 0], out[match, later, 1] = out[match, 0, 0], out[match, 0, 1]
                break
            a = 0
            b = 0
            tally = np.uint64(0)
            total = np.uint64(0)
            for _ in range(rounds):
                z, s0, s1 = _draw(s0, s1)
                w, r0, r1 = _draw(r0, r1)
                k = 2 * ((z >> np.uint64(32)) >= lim_x[a]) + ((z & low) >= lim_y[a])
                m = 2 * ((w >> np.uint64(32)) >= lim_x[b]) + ((w & low) >= lim_y[b])
                tally += np.uint64(1) << np.uint64(16 * k)
                total += np.uint64(1) << np.uint64(16 * m)
                a = go[4 * a + k]
                b = go[4 * b + m]
            _pay(out, match, rep, payoffs, tally)
            if rep + 1 < out.shape[1]:
                _pay(out, match, rep + 1, payoffs, total)


@njit(cache=True, inline="always")
def _pay(out: Floats, match: int, rep: int, payoffs: Floats, tally: np.uint64) -> None:
    """Totals from the outcomes counted in `tally`."""
    quarter = np.uint64(0xFFFF)
    for player in range(2):
        earned = 0.0
        for k in range(4):
            earned += (
                np.float64((tally >> np.uint64(16 * k)) & quarter) * payoffs[player, k // 2, k % 2]
            )
        out[match, rep, player] = earned
