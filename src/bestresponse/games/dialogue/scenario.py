"""Games of a domain drawn from a seed: names, private information, topics and sides.

`scenarios(domain, seed, count)` gives `count` different ones; the n-th depends only on the seed and on n. In a debate
the sides always differ; elsewhere some deal is possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count as numbers, islice
from random import Random

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonMapping, JsonObject, digest
from bestresponse.core.seeds import generator
from bestresponse.games.dialogue.deals import Private
from bestresponse.games.dialogue.domain import Domain

__all__ = ["Scenario", "all_scenarios", "public_parts", "scenarios", "variants"]

_TRIES = 1000


@dataclass(frozen=True, slots=True)
class Scenario:
    """One game of a domain: who plays, what everybody knows, and what each knows alone."""

    names: tuple[str, ...]
    public: Mapping[str, str]
    private: tuple[Private, ...]

    @property
    def id(self) -> str:
        """The hash of everything in the scenario."""
        return digest(self.to_json(), 12)

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        return {
            "names": list(self.names),
            "public": dict(self.public),
            "private": [dict(own) for own in self.private],
        }

    @classmethod
    def from_json(cls, data: JsonMapping) -> Scenario:
        """Return the value that `to_json` wrote."""
        return cls(tuple(data["names"]), dict(data["public"]), tuple(dict(own) for own in data["private"]))


def scenarios(domain: Domain, seed: int, count: int) -> list[Scenario]:
    """The first `count` different games of `seed`; InvalidGame where the domain has fewer."""
    found = list(islice(all_scenarios(domain, seed), count))
    if len(found) < count:
        raise InvalidGame(f"{domain.name} has only {len(found)} different games, not {count}")
    return found


def all_scenarios(domain: Domain, seed: int) -> Iterator[Scenario]:
    """Different games without end, or until `_TRIES` draws in a row bring nothing new; written ones as they stand."""
    if domain.written:
        yield from map(Scenario.from_json, domain.written)
        return
    seen: set[str] = set()
    missed = 0
    for number in numbers():
        drawn = _draw(domain, generator(seed, "scenario", domain.name, number))
        if drawn.id in seen:
            missed += 1
            if missed == _TRIES:
                return
            continue
        seen.add(drawn.id)
        missed = 0
        yield drawn


def variants(domain: Domain, scenario: Scenario, seed: int, count: int, *, fewer: bool = False) -> tuple[Scenario, ...]:
    """`scenario` and `count - 1` others that differ from it and from each other in private information only.

    Where the domain has not so many, InvalidGame, or as many as there are with `fewer`.
    """
    found = [scenario]
    for number in range(_TRIES * (1 if fewer else count) if any(scenario.private) else 0):
        if len(found) == count:
            break
        private = _private(domain, generator(seed, "variant", scenario.id, number))
        drawn = replace(scenario, private=private)
        if all(drawn.id != other.id for other in found):
            found.append(drawn)
    if len(found) < count and not fewer:
        raise InvalidGame(f"{domain.name} has only {len(found)} different draws of private information, not {count}")
    return tuple(found)


def public_parts(domain: Domain) -> tuple[str, ...]:
    """What everybody knows about a game besides the names: its topic, or the situation where a domain has several."""
    if "topic" in domain.deal.public:
        return ("topic",)
    return ("situation",) if "situations" in domain.generate else ()


def _draw(domain: Domain, rng: Random) -> Scenario:
    names = tuple(rng.sample(domain.generate["names"], domain.players))
    parts = public_parts(domain)
    topic = {part: rng.choice(domain.generate["topics"]) for part in parts if part == "topic"}
    private = _private(domain, rng)
    situation = {part: rng.choice(domain.generate["situations"]) for part in parts if part == "situation"}
    return Scenario(names, topic | situation, private)


def _private(domain: Domain, rng: Random) -> tuple[Private, ...]:
    for _ in range(_TRIES):
        drawn = domain.deal.draw(domain.generate, rng, domain.players)
        if domain.deal.is_possible(drawn):
            return drawn
    raise InvalidGame(f"{domain.name}: no deal can be reached in {_TRIES} draws of private information")
