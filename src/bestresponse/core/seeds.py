"""Splittable seeds: a child depends only on its parent and its name.

It never depends on how many siblings were drawn. Arrays of random numbers come from `theory.seeds`.

>>> split(7, "game", 3) == split(7, "game", 3) != split(7, "game", 4)
True
"""

import hashlib
from random import Random


def split(seed: int, *path: str | int) -> int:
    """A 63-bit seed for the place `path` below `seed`."""
    names = [f"{type(part).__name__}:{part}" for part in path]
    text = "\x1f".join([str(int(seed)), *names])
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def generator(seed: int, *path: str | int) -> Random:
    """A generator of its own for the place `path` below `seed`."""
    return Random(split(seed, *path))
