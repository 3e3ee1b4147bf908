"""What a run takes at most, before anything is paid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bestresponse.core.json import JsonObject


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run takes at most, before anything is paid: plays, and by model the calls and their tokens.

    `sure` is False where the number of calls was counted in plays of random players and could be larger; `found` plays
    are recorded already and enter no other figure.
    """

    plays: int | None
    what: str = ""
    calls: Mapping[str, int] = field(default_factory=dict)
    prompt_tokens: Mapping[str, int] = field(default_factory=dict)
    reply_tokens: Mapping[str, int] = field(default_factory=dict)
    sure: bool = True
    found: int = 0

    @property
    def total_calls(self) -> int:
        """The calls of all models."""
        return sum(self.calls.values())

    @property
    def total_tokens(self) -> int:
        """The tokens of all models, read and written."""
        return sum(self.prompt_tokens.values()) + sum(self.reply_tokens.values())

    @classmethod
    def add(cls, parts: Sequence[Estimate], what: str) -> Estimate:
        """Add up the estimates of the parts of a run."""

        def total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
            sums: Counter[str] = Counter()
            for count in counts:
                sums.update(count)
            return dict(sums)

        return cls(
            sum(part.plays or 0 for part in parts),
            what,
            total(part.calls for part in parts),
            total(part.prompt_tokens for part in parts),
            total(part.reply_tokens for part in parts),
            all(part.sure for part in parts),
        )

    def without(self, found: int) -> Estimate:
        """Return what is still to be done where `found` of the plays are recorded already."""
        if not self.plays or not found:
            return self
        left = max(self.plays - found, 0)

        def scale(counts: Mapping[str, int]) -> dict[str, int]:
            return {name: -(-count * left // (self.plays or 1)) for name, count in counts.items()}

        return replace(
            self,
            found=found,
            calls=scale(self.calls),
            prompt_tokens=scale(self.prompt_tokens),
            reply_tokens=scale(self.reply_tokens),
        )

    def to_json(self) -> JsonObject:
        """Return the estimate as plain JSON data."""
        return {
            "plays": self.plays,
            "found": self.found,
            "calls": self.total_calls,
            "prompt_tokens": sum(self.prompt_tokens.values()),
            "reply_tokens": sum(self.reply_tokens.values()),
            "calls_by_model": dict(self.calls),
            "sure": self.sure,
        }
