"""Which games are judged, and by whom.

    draw_balanced   games drawn at random, as many with personas as without, and of every supply
                    alike
    divide          every game to so many of the judges, every judge as many games as the others

In the published study 10 judges shared 30 games out of 60, 15 with and 15 without personas, five
judges a game.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from random import Random
from typing import TypeVar

from bestresponse.core.errors import UsageError

T = TypeVar("T")
Key = tuple[Hashable, ...]


def draw_balanced(items: Sequence[tuple[Key, T]], count: int, rng: Random) -> list[T]:
    """Draw at most `count` items, balanced by the first part of their keys, then by the second.

    The further parts follow in the same way.

    A group that has too few gives all it has, and the others fill up. What is left over when a
    number cannot be divided goes to groups that are drawn too. The items come in the order in which
    they were given.

    >>> draw_balanced([(("with",), 1), (("with",), 2), (("without",), 3)], 2, Random(0))[-1]
    3
    """
    keys = {number: key for number, (key, _) in enumerate(items)}
    drawn = set(_draw(keys, min(count, len(items)), rng))
    return [item for number, (_, item) in enumerate(items) if number in drawn]


def _draw(keys: Mapping[int, Key], count: int, rng: Random) -> list[int]:
    """Draw the numbers of items; `keys` holds what is left of their keys."""
    groups: dict[Hashable, dict[int, Key]] = {}
    for number, key in keys.items():
        if not key:
            return rng.sample(sorted(keys), count)
        groups.setdefault(key[0], {})[number] = key[1:]
    # Every group has the same share, no group more than it has.
    shares = dict.fromkeys(groups, 0)
    while count:
        open_groups = [name for name, group in groups.items() if shares[name] < len(group)]
        rng.shuffle(open_groups)
        for name in open_groups[:count]:
            shares[name] += 1
        count -= min(count, len(open_groups))
    return [number for name, group in groups.items() for number in _draw(group, shares[name], rng)]


def divide(
    items: Sequence[T],
    judges: Sequence[str],
    each: int,
    rng: Random,
) -> dict[str, list[T]]:
    """Give every item to `each` of the judges, as evenly as possible.

    Their numbers of items differ by one at most.

    >>> shared = divide(range(6), ["Ada", "Bea", "Cid"], 2, Random(1))
    >>> [len(items) for items in shared.values()]
    [4, 4, 4]
    """
    if not judges or len(set(judges)) < len(judges):
        raise UsageError("expected the names of the judges, at least one and all different")
    if not 1 <= each <= len(judges):
        raise UsageError(
            f"{each} judges for each game: expected 1 to {len(judges)}, the judges there are"
        )
    places = list(range(len(items)))
    rng.shuffle(places)
    given: dict[str, list[int]] = {judge: [] for judge in judges}
    turn = 0
    for place in places:
        for step in range(each):
            given[judges[(turn + step) % len(judges)]].append(place)
        turn += each
    return {judge: [items[place] for place in sorted(places)] for judge, places in given.items()}
