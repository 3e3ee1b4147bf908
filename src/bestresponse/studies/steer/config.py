"""The settings of a steering run, checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import get_args

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.dialogue.domain import Domain, domain_names, parse_domain, read_domain_text
from bestresponse.studies.steer.reading.embedding import EMBEDDINGS
from bestresponse.theory.trees.cfr import Variant

__all__ = ["META_SOLVERS", "ORACLES", "PAYOFFS", "SOLVERS", "SteerConfig"]

SOLVERS = ("cfr", "psro")
PAYOFFS = ("deal", "score")
ORACLES = ("shotgun", "better", "trajectory", "categorical")
META_SOLVERS = ("replicator", "nash", "welfare", "bargaining")


@dataclass(frozen=True, slots=True)
class SteerConfig:
    """`domain` is a name or a file; `judge` is the model that rules (empty: the speaker's own).

    `games` are drawn by `seed`, or written by the model `scenarios_by`; each speaker writes `replies` messages, each
    choice has `wordings` recorded texts, and nature draws among `types` equally likely private informations. `payoffs`
    says how a ruling is made; `second` is another way that is only compared with it, by the model `second_judge`
    (empty: the judge again). `follow` lets `classifier` tell the manner of each message: a model (empty: the judge), or
    a network by its embedding.

    The policy of each game is also played on `fresh` new draws of its texts. `held_out` more games are kept from the
    solver: with `imitate` a network that learned from the others is played on them, with `psro` the solution is. The
    network is also played on as many games of the domain `transfer`, none of which it has seen. With `swap_seats` the
    speakers of `psro` change seats from play to play, which makes the game symmetric.
    """

    domain: str
    model: str
    judge: str = ""
    scenarios_by: str = ""
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
    classifier: str = ""
    iterations: int = 1000
    variant: Variant = "cfr+"
    oracle: str = "shotgun"
    meta: str = "nash"
    candidates: int = 3
    plays: int = 20
    swap_seats: bool = False
    temperature: float = 0.7
    max_tokens: int = 200
    fresh: int = 0
    held_out: int = 0
    imitate: bool = False
    embed: str = "words"
    transfer: str = ""
    transfer_text: str = ""
    domain_text: str = ""
    """The text of the domain's file, read when the settings are made, so that a stored run needs no file."""

    def __post_init__(self) -> None:
        if not self.domain_text:
            object.__setattr__(self, "domain_text", read_domain_text(self.domain))
        if self.transfer and not self.transfer_text:
            object.__setattr__(self, "transfer_text", read_domain_text(self.transfer))
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
        for name, option in (("fresh", "--fresh"), ("held_out", "--held-out-games")):
            if getattr(self, name) < 0:
                raise UsageError(f"{option} is {getattr(self, name)}; expected at least 0")
        if not 0 <= self.temperature < 10:
            raise UsageError(f"--temperature is {self.temperature:g}; expected 0 to 10")
        if self.wordings > 1 and self.temperature == 0:
            raise UsageError("several wordings of one choice need a temperature above 0")
        self._check_solver()
        self._check_evaluation()

    def _check_solver(self) -> None:
        """Nothing may be asked for that the solver does not do."""
        only_cfr = {
            "--second": self.second,
            "--follow": self.follow,
            "--imitate": self.imitate,
            "--wordings": self.wordings > 1,
        }
        asked = [option for option, given in only_cfr.items() if given]
        if self.solver == "psro" and asked:
            raise UsageError(f"{asked[0]} belongs to --solver cfr; psro plays dialogues instead of building their tree")
        if self.solver == "cfr" and self.swap_seats:
            raise UsageError("--swap-seats belongs to --solver psro")

    def _check_evaluation(self) -> None:
        """What is judged on fresh draws or held-out games can be."""
        if self.solver == "cfr" and self.fresh and self.temperature == 0:
            raise UsageError("fresh draws of the texts need a temperature above 0")
        if self.imitate and not self.held_out:
            raise UsageError("--imitate needs --held-out-games, at least 1, to be judged on")
        if self.solver == "cfr" and self.held_out and not self.imitate:
            raise UsageError("--held-out-games belongs to --imitate or to --solver psro")
        if self.solver == "psro" and bool(self.held_out) != bool(self.fresh):
            raise UsageError("with --solver psro the held-out games are played --fresh times each: give both or none")
        if self.transfer and not self.imitate:
            raise UsageError("--transfer belongs to --imitate: what is played elsewhere is the network that learned")
        if self.transfer:
            own, other = self.read_domain().manners(self.actions), self.elsewhere.read_domain().manners(self.actions)
            if own.options != other.options:
                told = ", ".join(other.options)
                raise UsageError(f"--transfer {self.transfer}: it has the manners {told}, not those of {self.domain}")
        if self.classifier and not self.follow:
            raise UsageError("--classifier belongs to --follow")
        if self.classifier in EMBEDDINGS and self.games < 2:
            raise UsageError("a classifier that learns from other games needs at least --games 2")

    def read_domain(self) -> Domain:
        """Parse the domain."""
        return _parse(self.domain_text, self.domain)

    @property
    def elsewhere(self) -> SteerConfig:
        """The settings of the games of the other domain: as many as are held out here, and nothing but solved."""
        changes: JsonObject = {"domain": self.transfer, "domain_text": self.transfer_text, "games": self.held_out}
        off: JsonObject = {"transfer": "", "transfer_text": "", "imitate": False, "held_out": 0, "fresh": 0}
        return replace(self, **changes, **off, follow=False, classifier="", second="", scenarios_by="")

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that is needed, each once."""
        classifier = "" if self.classifier in EMBEDDINGS else self.classifier
        named = (self.model, self.judge, self.second_judge, classifier, self.scenarios_by)
        return tuple(dict.fromkeys(name for name in named if name))

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: JsonMapping) -> SteerConfig:
        """Return the value that `to_json` wrote; no name in it is ever opened as a file."""
        for name in ("domain", "transfer"):
            if data.get(name) and not data.get(f"{name}_text") and data[name] not in domain_names():
                raise UsageError(f"the settings name the domain {data[name]!r} and do not hold its text")
        return cls(**data)


@lru_cache(maxsize=8)
def _parse(text: str, name: str) -> Domain:
    return parse_domain(text, name)


def _one_of(name: str, given: str, expected: tuple[str, ...]) -> None:
    if given not in expected:
        raise UsageError(f"--{name} {given!r}: expected one of {', '.join(expected)}")
