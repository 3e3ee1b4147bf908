"""Several programs for one story, put to the vote by the games they describe.

Programs that look different may be the same game; what is counted is the tree each produces, up to names that do not
occur in both and the order of simultaneous moves. The game that most candidates describe wins, the earliest among
equals (self-consistency: Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", 2023,
applied to trees).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bestresponse.core.errors import UsageError
from bestresponse.formal.evaluate.equivalence import compare_tables
from bestresponse.formal.formalize.autoformalizer import Formalization, Formalizer

_HEAT = 0.7


@dataclass(frozen=True, slots=True)
class Election:
    """All candidates, the votes as groups of their numbers (the largest first), and the winner."""

    candidates: tuple[Formalization, ...]
    groups: tuple[tuple[int, ...], ...]

    @property
    def winner(self) -> Formalization:
        """The first candidate of the largest group; where none is a game, the one that came furthest."""
        if self.groups:
            return self.candidates[self.groups[0][0]]
        return max(self.candidates, key=lambda one: one.best.progress if one.best else (-2, 0))

    @property
    def votes(self) -> int:
        """How many candidates describe the winner's game."""
        return len(self.groups[0]) if self.groups else 0


def elect(candidates: Sequence[Formalization]) -> Election:
    """Group candidates by the game they describe."""
    groups: list[list[int]] = []
    for number, candidate in enumerate(candidates):
        table = candidate.table
        if table is None:
            continue
        for group in groups:
            other = candidates[group[0]].table
            if other is not None and compare_tables(table, other).exact:
                group.append(number)
                break
        else:
            groups.append([number])
    ordered = sorted(groups, key=lambda group: (-len(group), group[0]))
    return Election(tuple(candidates), tuple(map(tuple, ordered)))


def formalize_many(formalizer: Formalizer, story: str, count: int) -> Election:
    """Formalize a story `count` times, the first time at the set temperature and then with more freedom, and vote."""
    if count < 1:
        raise UsageError(f"{count} candidates are none; give at least 1")
    base = formalizer.settings
    found: list[Formalization] = []
    for number in range(count):
        warm = base if number == 0 else replace(base, temperature=max(base.temperature, _HEAT))
        found.append(replace(formalizer, settings=replace(warm, replicate=base.replicate + number)).formalize(story))
        if found[-1].no_game is not None and number == 0:
            break
    return elect(found)
