"""Seeded, splittable randomness: stream k of a seed depends on (seed, k) and on nothing else.

A counter-based generator (Philox: Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as
1, 2, 3", SC 2011) maps (key, counter) to random bits. The key comes from the seed; stream k starts
at counter k * 2**64, so streams never overlap, any of them can be made on its own, and making one
costs a few microseconds. These are for arrays of numbers; what is drawn by name, such as a play or
a seat, has a seed of `core.seeds`, which needs no numpy.
"""

from collections.abc import Iterator

import numpy as np

from bestresponse.core.errors import UsageError

Seed = int | np.random.Generator


def as_generator(seed: Seed) -> np.random.Generator:
    """`seed` itself if it is a generator, else stream 0 of that integer."""
    return seed if isinstance(seed, np.random.Generator) else stream(seed, 0)


def stream(seed: int, k: int) -> np.random.Generator:
    """Stream `k` of `seed`.

    >>> bool(stream(7, 3).random() == stream(7, 3).random())
    True
    """
    return np.random.Generator(np.random.Philox(key=_key(seed), counter=k << 64))


def streams(seed: int, count: int) -> Iterator[np.random.Generator]:
    """Streams 0 to count - 1, one after the other; each is valid until the next one is taken."""
    bits = np.random.Philox(key=_key(seed))
    rng = np.random.Generator(bits)
    state = bits.state
    for k in range(count):
        state["state"]["counter"][1] = k
        bits.state = state
        yield rng


def _key(seed: int) -> np.typing.NDArray[np.uint64]:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise UsageError(f"seed: expected an integer >= 0, got {seed!r}")
    return np.random.SeedSequence(int(seed)).generate_state(4).view(np.uint64)
