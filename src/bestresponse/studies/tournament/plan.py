"""Which matches have to be played because somebody in them has to be asked, as specs for `run.execute`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from bestresponse.runs.spec import Spec
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entrants import Entrant, entrants_of

__all__ = ["Plan"]

STUDY = "tournament"


@dataclass(frozen=True)
class Plan:
    """All of these matches, every pair in both seats, `repetitions` times."""

    config: TournamentConfig

    @cached_property
    def entrants(self) -> tuple[Entrant, ...]:
        """Everybody who takes part."""
        return entrants_of(self.config)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """(first, second) seats, by number; only those that count where all play against one."""
        everyone = range(len(self.entrants))
        names = [entrant.name for entrant in self.entrants]
        rival = names.index(self.config.against) if self.config.against else None
        return tuple(
            (i, k)
            for i, k in product(everyone, repeat=2)
            if (self.entrants[i].automata is None or self.entrants[k].automata is None)
            and (rival is None or rival in (i, k))
        )

    @property
    def total(self) -> int:
        """The number of plays."""
        return len(self.pairs) * (self.config.repetitions or 1)

    def specs(self) -> Iterator[Spec]:
        """Yield every match as plain data."""
        for repetition, (i, k) in product(range(self.config.repetitions or 1), self.pairs):
            yield Spec.of(self._data(i, k, repetition))

    def _data(self, first: int, second: int, repetition: int) -> dict[str, object]:
        whole = self.config.to_json()
        settings = ("rounds", "noise", "continuation", "default_move", "seed", "temperature", "max_tokens", "attempts")
        return {
            "study": STUDY,
            "game": whole["game"],
            "seats": [whole["entries"][first], whole["entries"][second]],
            "places": [first, second],
            "repetition": repetition,
            **{name: whole[name] for name in (*settings, "style")},
        }
