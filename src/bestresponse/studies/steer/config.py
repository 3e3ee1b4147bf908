"""The settings of a steering run, checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.games.dialogue.domain import Domain, domain_names, parse_domain, read_domain_text
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.players.lookup import SIMULATED
from bestresponse.runs.inputs import ModelSetting, NamedModel, as_model, list_once
from bestresponse.runs.settings import RunSettings, setting, settings

_ONLY_CFR = ("second", "follow", "wordings", "credible", "farthest", "embed")
_ONLY_PSRO: tuple[str, ...] = ("oracle", "meta", "candidates", "plays", "swap_seats")
"""The settings that one solver alone has."""


@settings
class SteerConfig(RunSettings):
    """Let an equilibrium solver choose how a model speaks, and measure what that earns.

    Every text is asked for once and kept; the same command again makes no call.
    """

    domain: str | Path = setting(
        kw_only=False, argument=True, help=f"{', '.join(domain_names())}, or a domain file (.toml)."
    )
    model: ModelSetting = setting(default=SIMULATED, kw_only=False, short="-m")
    """The model that speaks; `simulated` needs none."""
    judge: str = setting(default="", help="The model that rules; the speaker if not said.")
    scenarios_by: str = setting(default="")
    """A model that writes the games from examples; the seed draws them if not said."""
    second: Literal["", "deal", "score"] = setting(default="")
    """Rule in this way too, and report how far both agree."""
    second_judge: str = setting(
        default="", help="The model of the second ruling; the judge if not said."
    )
    solver: Literal["cfr", "psro"] = setting(
        default="cfr", help="Solve the tree, or search for better prompts."
    )
    games: int = setting(default=1, ge=1, help="Number of games drawn from the domain.")
    seed: int = setting(default=0, ge=0, help="Seed of the games and draws.")
    replies: int = setting(default=1, ge=1, help="Messages of each speaker.")
    wordings: int = setting(default=1, ge=1, help="Recorded texts of each choice.")
    types: int = setting(
        default=1, ge=1, help="Equally likely draws of private information in each game."
    )
    actions: str = setting(
        default="", help="Which of the domain's sets of actions; the first if not said."
    )
    payoffs: Literal["deal", "score"] = setting(default="deal")
    """Whether a referee reads what was agreed, or a model says what it is worth."""
    early_end: bool = setting(default=False, help="Let the referee end a talk once all agree.")
    follow: bool = setting(
        default=False, help="Let a classifier tell in which manner each message was written."
    )
    classifier: str = setting(default="")
    """For follow: the model that names the manners; the judge if not said."""
    credible: bool = setting(default=True, metavar="commitment")  # the option that turns it off
    """Advise what is best wherever a talk leads; or the equilibrium that gains most, threats
    included."""
    iterations: int = setting(
        default=None, ge=1, help="Of the solver; 1000 for cfr, 4 for psro if not said."
    )
    oracle: Literal["shotgun", "better", "trajectory", "categorical"] = setting(default="shotgun")
    """psro: how new prompts are found."""
    meta: Literal["replicator", "nash", "welfare", "bargaining"] = setting(default="nash")
    """psro: how the game of prompts is solved."""
    candidates: int = setting(default=3, ge=1, help="psro: new prompts that an oracle tries.")
    plays: int = setting(default=20, ge=1, help="psro: plays of each profile of prompts.")
    swap_seats: bool = setting(default=False)
    """psro: let the speakers change seats, so that the game is symmetric."""
    temperature: float = setting(
        default=0.7, ge=0, lt=10, help="Sampling temperature of the messages."
    )
    max_tokens: int = setting(default=200, ge=1, help="Longest message, in tokens.")
    fresh: int = setting(default=None, ge=0)
    """Draws of fresh texts to play guided against unguided on, in each game (psro: in each held-out
    one); 4 for cfr, 1 for psro if not said."""
    farthest: float = setting(default=0.5, ge=0, le=2)
    """How far (1 less the cosine) the nearest known situation may be from fresh words; beyond it
    there is no advice."""
    held_out: int = setting(default=None, ge=0)
    """psro: further games kept from the search, to play its solution on; 20 if not said."""
    embed: Literal["words", "minilm"] = setting(default="words")
    """How texts are compared: hashed words, or a small network (extra `embed`)."""
    max_nodes: int = setting(
        default=500_000, how=True, ge=1, help="Refuse trees with more nodes than this."
    )
    cut_short: bool = setting(default=False, how=True)
    """Build as far as the budget goes instead of refusing to start."""
    domain_text: str = setting(default="", option=False)
    """The text of the domain's file, read when the settings are made, so that a stored run needs no
    file."""

    def __post_init__(self) -> None:
        self._settle("domain", str(self.domain))
        if not isinstance(self.model, NamedModel):
            self._settle("model", NamedModel(self.model))
        if not self.domain_text:
            self._settle("domain_text", read_domain_text(str(self.domain)))
        psro = self.solver == "psro"
        # The three are left open by None, which only a default can be, and are whole numbers from
        # here on.
        if self.iterations is None:
            self._settle("iterations", 4 if psro else 1000)
        fresh, held_out = self.fresh, self.held_out
        if (
            fresh is None
        ):  # none where texts never differ, or where psro has no game to play them on
            self._settle("fresh", int(held_out != 0) if psro else 4 * (self.temperature > 0))
        if held_out is None:
            self._settle("held_out", 20 * (psro and fresh != 0))
        self._check_together(psro)

    def _settle(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_together(self, psro: bool) -> None:
        """Refuse what the solver does not do, and evaluations that cannot be made."""
        useless, why = _ONLY_PSRO, "it belongs to the solver psro"
        if psro:
            useless, why = (
                _ONLY_CFR,
                "it belongs to cfr; psro plays dialogues instead of building their tree",
            )
        self.refuse_set(useless, why)
        held_out = "with psro the held-out games are played `fresh` times each: give both or none"
        certain = self.temperature == 0
        for name, wrong, problem in (
            (
                "temperature",
                certain and self.wordings > 1,
                "several wordings of one choice need one above 0",
            ),
            (
                "fresh",
                not psro and self.fresh and certain,
                "fresh draws of the texts need a temperature above 0",
            ),
            ("held_out", not psro and self.held_out, why),
            ("held_out", psro and bool(self.held_out) != bool(self.fresh), held_out),
            ("classifier", self.classifier and not self.follow, "it belongs to follow"),
            ("second_judge", self.second_judge and not self.second, "it belongs to second"),
        ):
            if wrong:
                raise SettingError(name, problem)

    def read_domain(self) -> Domain:
        """Parse the domain."""
        return parse_domain(self.domain_text, str(self.domain))

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that is needed, each once."""
        named = (self.model, self.judge, self.second_judge, self.classifier, self.scenarios_by)
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
