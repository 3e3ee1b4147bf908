"""The settings of a steering run, checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.games.dialogue.domain import Domain, domain_names, parse_domain, read_domain_text
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.players.lookup import SIMULATED
from bestresponse.runs.inputs import (
    ModelSetting,
    ModelsSetting,
    NamedModel,
    as_model,
    list_once,
)
from bestresponse.runs.settings import RunSettings, setting, settings

PolicyName = Literal["cfr", "credible"]
"""The policies that are worked out on a tree; `solving` says what each is."""
Variant = Literal["cfr", "cfr+", "dcfr", "pcfr+", "external-sampling"]
"""Ways of regret minimisation: `theory.trees.cfr`, or samples of play (`theory.trees.mccfr`)."""

_ONLY_PSRO = ("oracle", "meta", "candidates", "plays", "swap_seats")
_OF_TREES = ("wordings", "variant", "embed", "observe")
_ONLY_CFR = ("second", "follow", "policy", "farthest")
_REFUSED: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "cfr": ((_ONLY_PSRO, "it belongs to the solver psro"),),
    "psro": (
        (
            (*_ONLY_CFR, *_OF_TREES),
            "it belongs to cfr; psro plays dialogues instead of building their tree",
        ),
    ),
    "imitation": (
        (_ONLY_PSRO, "it belongs to the solver psro"),
        (_ONLY_CFR, "it belongs to cfr; imitation learns the policies of cfr from many games"),
    ),
}
"""By solver, the settings that it does not read, and why not."""


@settings
class SteerConfig(RunSettings):
    """Let an equilibrium solver choose how a model speaks, and measure what that earns.

    Each message is generated once and kept, so running the same command again makes no calls.
    """

    domain: str | Path = setting(
        kw_only=False,
        argument=True,
        help=f"{', '.join(domain_names())}, or a domain file (.toml).",
    )
    model: ModelSetting = setting(default=SIMULATED, kw_only=False, short="-m")
    """Model that speaks; `simulated` needs no model."""
    judge: str = setting(default="", help="Model that judges the outcome. [default: the speaker]")
    scenarios_by: str = setting(default="")
    """Model that writes the games from examples. [default: drawn from the seed]"""
    second: Literal["", "deal", "score"] = setting(default="")
    """Also judge with this second method, and report agreement."""
    second_judge: str = setting(
        default="", help="Model for the second judgement. [default: the judge]"
    )
    solver: Literal["cfr", "psro", "imitation"] = setting(default="cfr")
    """Solve the tree, search for better prompts, or train a network on the policies of many
    games."""
    games: int = setting(default=None, ge=1)
    """Number of games drawn from the domain [default: 1, or 200 for imitation]."""
    seed: int = setting(default=0, ge=0, help="Seed of the games and draws.")
    replies: int = setting(default=1, ge=1, help="Messages per speaker.")
    wordings: int = setting(default=1, ge=1, help="Messages recorded per choice.")
    types: int = setting(
        default=1,
        ge=1,
        help="Draws of private information per game, equally likely.",
    )
    actions: str = setting(default="", help="Set of actions of the domain. [default: the first]")
    payoffs: Literal["deal", "score"] = setting(default="deal")
    """Who sets payoffs: a referee who reads the agreement, or a model that values it."""
    early_end: bool = setting(
        default=False, help="Let the referee end a dialogue once everybody agrees."
    )
    follow: bool = setting(default=False, help="Classify the manner of each message with a model.")
    observe: Literal["transcript", "summary"] = setting(default="transcript")
    """What the choice of a manner is based on: all messages, or a summary that the judge writes
    before each choice."""
    classifier: ModelsSetting = setting(default=())
    """With --follow: the model that classifies. Of several, the one that classifies most of the
    domain's labelled messages correctly is used. [default: the judge]"""
    policy: PolicyName = setting(default="credible")
    """Policy to follow. cfr: the average policy of CFR; credible: a best reply at every
    information set. Both are reported."""
    iterations: int = setting(
        default=None,
        ge=1,
        help="Iterations of the solver. [default: 1000 for cfr, 10 for imitation, 4 for psro]",
    )
    variant: Variant = setting(default="cfr+")
    """cfr: variant of counterfactual regret minimisation; external-sampling suits large trees."""
    oracle: Literal["shotgun", "better", "trajectory", "categorical"] = setting(default="shotgun")
    """psro: how new prompts are found."""
    meta: Literal["replicator", "nash", "welfare", "bargaining"] = setting(default="nash")
    """psro: how the game of prompts is solved."""
    candidates: int = setting(default=3, ge=1, help="psro: new prompts per oracle call.")
    plays: int = setting(default=20, ge=1, help="psro: plays per profile of prompts.")
    swap_seats: bool = setting(default=False)
    """psro: let the speakers swap seats, so that the game is symmetric."""
    temperature: float = setting(
        default=0.7,
        ge=0,
        lt=10,
        help="Sampling temperature of the messages.",
    )
    max_tokens: int = setting(default=200, ge=1, help="Longest message, in tokens.")
    fresh: int = setting(default=None, ge=0)
    """Fresh dialogues per game, guided against unguided (psro: per held-out game). [default: 4
    for cfr, 1 for psro]"""
    farthest: float = setting(default=0.5, ge=0, le=2)
    """Maximum cosine distance to the nearest recorded situation; beyond it there is no advice."""
    held_out: int = setting(default=None, ge=0)
    """Additional games for evaluation, which psro and imitation do not see. [default: 20 for psro,
    50 for imitation]"""
    embed: Literal["words", "minilm"] = setting(default="words")
    """How texts are embedded: hashed words, or a small network (extra `embed`)."""
    max_nodes: int = setting(
        default=500_000,
        how=True,
        ge=1,
        help="Maximum number of nodes in a tree.",
    )
    cut_short: bool = setting(default=False, how=True)
    """Build a partial tree if the budget does not allow a full one."""
    domain_text: str = setting(default="", option=False)
    """The text of the domain's file, read when the settings are made, so that a stored run needs no
    file."""

    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "paper": {"policy": "cfr", "variant": "cfr", "iterations": 10},
        "paper, with solver=psro": {"meta": "replicator"},
        "paper, with solver=imitation": {"variant": "cfr", "iterations": 10, "games": 200},
    }

    def __post_init__(self) -> None:
        self._settle("domain", str(self.domain))
        if not isinstance(self.model, NamedModel):
            self._settle("model", NamedModel(self.model))
        if not self.domain_text:
            self._settle("domain_text", read_domain_text(str(self.domain)))
        self._settle_counts()
        self._check_together()

    def _settle_counts(self) -> None:
        """Settle what is left open by None to the whole number of the solver.

        Only a default can be None.
        """
        psro = self.solver == "psro"
        if self.games is None:
            self._settle("games", 200 if self.solver == "imitation" else 1)
        if self.iterations is None:
            self._settle("iterations", {"cfr": 1000, "psro": 4, "imitation": 10}[self.solver])
        fresh = self.fresh
        held_out = self.held_out
        if fresh is None:
            # None where texts never differ, or where psro has no game to play them on.
            usual = {"cfr": 4 * (self.temperature > 0), "psro": int(held_out != 0), "imitation": 0}
            self._settle("fresh", usual[self.solver])
        if held_out is None:
            usual = {"cfr": 0, "psro": 20 * (psro and fresh != 0), "imitation": 50}
            self._settle("held_out", usual[self.solver])

    def _settle(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_together(self) -> None:
        """Refuse what the solver does not do, and evaluations that cannot be made."""
        for useless, why in _REFUSED[self.solver]:
            self.refuse_set(useless, why)
        psro = self.solver == "psro"
        trees = self.solver == "cfr"
        learns = self.solver == "imitation"
        both = "with psro the held-out games are played `fresh` times each: give both or none"
        needs = "imitation is judged on held-out games: at least 1"
        certain = self.temperature == 0
        for name, wrong, problem in (
            (
                "temperature",
                certain and self.wordings > 1,
                "several wordings of one choice need one above 0",
            ),
            (
                "fresh",
                trees and self.fresh and certain,
                "fresh draws of the texts need a temperature above 0",
            ),
            (
                "fresh",
                learns and self.fresh,
                "imitation is judged exactly on the recorded texts of held-out games",
            ),
            ("held_out", trees and self.held_out, "it belongs to psro and imitation"),
            ("held_out", learns and not self.held_out, needs),
            ("held_out", psro and bool(self.held_out) != bool(self.fresh), both),
            ("classifier", self.classifier and not self.follow, "it belongs to follow"),
            (
                "classifier",
                len(self.classifier) > 1 and not self._labelled,
                "several are compared by labelled messages, and this domain has none; name one, or"
                " add `labelled` to its file",
            ),
            ("second_judge", self.second_judge and not self.second, "it belongs to second"),
        ):
            if wrong:
                raise SettingError(name, problem)

    @property
    def _labelled(self) -> tuple[tuple[str, str], ...]:
        """The labelled messages of the domain."""
        return self.read_domain().manners(self.actions).labelled

    @property
    def classifiers(self) -> tuple[str, ...]:
        """Who may name the manners of messages."""
        return tuple(map(str, self.classifier)) or (str(self.judge or self.model),)

    def read_domain(self) -> Domain:
        """Parse the domain."""
        return parse_domain(self.domain_text, str(self.domain))

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that is needed, each once."""
        voices = self.read_domain().manners(self.actions).models.values()
        named = (
            self.model,
            self.judge,
            self.second_judge,
            *self.classifier,
            self.scenarios_by,
            *voices,
        )
        speaker = NamedModel(SIMULATED, SimulatedSpeaker(self.seed))
        return list_once(speaker if name == SIMULATED else as_model(name) for name in named if name)

    @classmethod
    def from_json(cls, data: Mapping[str, object], *, stored: bool = True) -> SteerConfig:
        """Read settings; no name in those of a stored run is ever opened as a file."""
        if stored and not data.get("domain_text") and data.get("domain") not in domain_names():
            raise UsageError(
                f"the settings name the domain {data.get('domain')!r} and do not hold its text"
            )
        return super().from_json(data, stored=stored)
