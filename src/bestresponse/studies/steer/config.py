"""The settings of a steering run, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_args

from bestresponse.core.errors import UsageError
from bestresponse.theory.cfr_solve import Variant

__all__ = ["EMBEDDINGS", "META_SOLVERS", "ORACLES", "PAYOFFS", "SOLVERS", "SteerConfig"]

SOLVERS = ("cfr", "psro")
PAYOFFS = ("deal", "score")
EMBEDDINGS = ("words", "minilm")
ORACLES = ("shotgun", "better", "trajectory", "categorical")
META_SOLVERS = ("replicator", "nash", "welfare", "bargaining")


@dataclass(frozen=True, slots=True)
class SteerConfig:
    """`domain` is a name or a file; `judge` is the model that rules (empty: the speaker's own).

    `games` are drawn by `seed`; each speaker writes `replies` messages, each choice has `wordings` recorded texts, and
    nature draws among `types` equally likely private informations. `payoffs` says how a ruling is made; `second` is
    another way that is only compared with it, by the model `second_judge` (empty: the judge again). With `imitate` a
    network learns from all games but the last so many and is played on those.
    """

    domain: str
    model: str
    judge: str = ""
    second: str = ""
    second_judge: str = ""
    solver: str = "cfr"
    games: int = 1
    seed: int = 0
    replies: int = 1
    wordings: int = 1
    types: int = 1
    actions: str = ""
    payoffs: str = "deal"
    early_end: bool = False
    follow: bool = False
    iterations: int = 1000
    variant: Variant = "cfr+"
    oracle: str = "shotgun"
    meta: str = "nash"
    candidates: int = 3
    plays: int = 20
    temperature: float = 0.7
    max_tokens: int = 200
    imitate: int = 0
    embed: str = "words"

    def __post_init__(self) -> None:
        _one_of("solver", self.solver, SOLVERS)
        _one_of("payoffs", self.payoffs, PAYOFFS)
        _one_of("second", self.second, ("", *PAYOFFS))
        _one_of("embed", self.embed, EMBEDDINGS)
        _one_of("oracle", self.oracle, ORACLES)
        _one_of("meta", self.meta, META_SOLVERS)
        _one_of("variant", self.variant, get_args(Variant))
        for name in ("games", "replies", "wordings", "types", "iterations", "candidates", "plays", "max_tokens"):
            if getattr(self, name) < 1:
                raise UsageError(f"--{name.replace('_', '-')} is {getattr(self, name)}; expected at least 1")
        if self.imitate < 0:
            raise UsageError(f"--imitate is {self.imitate}; expected the number of games to hold out, or 0")
        if not 0 <= self.temperature < 10:
            raise UsageError(f"--temperature is {self.temperature:g}; expected 0 to 10")
        if self.wordings > 1 and self.temperature == 0:
            raise UsageError("several wordings of one choice need a temperature above 0")

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that is needed, each once."""
        return tuple(dict.fromkeys(name for name in (self.model, self.judge, self.second_judge) if name))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SteerConfig:
        return cls(**data)


def _one_of(name: str, given: str, expected: tuple[str, ...]) -> None:
    if given not in expected:
        raise UsageError(f"--{name} {given!r}: expected one of {', '.join(expected)}")
