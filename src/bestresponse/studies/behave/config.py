"""The settings of a description: which runs, which models of behaviour, which groups."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from bestresponse.runs.inputs import OptionalModelSetting
from bestresponse.runs.settings import OF_PLAYS, RunSettings, setting, settings
from bestresponse.studies.tournament.entries import EntriesSetting, StageGame, gather_entries
from bestresponse.theory.catalogue.tables import load as load_table

Fit = Literal["strategies", "qre", "level-k", "cognitive-hierarchy"]
Move = int | tuple[float, ...]
"""The number of a move, or the probabilities of a mixture."""
STRATEGIES = (
    "defector",
    "cooperator",
    "grim",
    "tit-for-tat",
    "suspicious-tit-for-tat",
    "tit-for-two-tats",
    "win-stay-lose-shift",
)
"""After Dal Bo & Frechette 2011 (`grim` answers defections of the other alone), and two of later
estimates."""


@settings
class BehaveConfig(RunSettings):
    """Estimate strategies, errors, precision and depth of reasoning from recorded play.

    Takes runs of `import`, `bench`, `simulate`, `tournament` and `serve` in two-player games with a
    payoff table.
    """

    runs: tuple[str | Path, ...] = setting(
        default=(),
        kw_only=False,
        argument=True,
        how=True,
    )
    """Folders of runs, or folders above them: all runs below are read."""
    fit: tuple[Fit, ...] = setting(default=())
    """What is estimated: strategies, qre, level-k, cognitive-hierarchy [default: all; only
    strategies for a group that played a single dilemma]."""
    strategies: EntriesSetting = setting(default=STRATEGIES)
    """Strategies that may have been played: names, all, classic, published, or files with rules
    (.pl), saved agents (.json) or words (.txt)."""
    model: OptionalModelSetting = setting(default=None, short="-m")
    """The model that formalizes strategies in words."""
    by: tuple[str, ...] = setting(default=("player", "treatment"))
    """Group by: player, opponent, game, seat, run, treatment, or a part of the treatment by
    name."""
    choose: Literal["all", "bic", "icl"] = setting(default="all")
    """Which strategies to keep: all, or as many as BIC or ICL prefers."""
    rounds: Literal["first", "all"] = setting(default="first")
    """Which choices count as single ones for qre, level-k and cognitive-hierarchy."""
    beside: Literal["", "dilemma"] = setting(
        default="", help="Human data to compare with: dilemma."
    )
    bootstraps: int = setting(
        default=200,
        ge=20,
        le=100_000,
        help="Bootstrap resamples for the intervals.",
    )
    seed: int = setting(default=0, ge=0, lt=2**63, help="Random seed.")
    sources: tuple[str, ...] = setting(default=(), option=False)
    unused: ClassVar[frozenset[str]] = OF_PLAYS

    def __post_init__(self) -> None:
        stage = StageGame("dilemma", load_table("prisoners-dilemma"))
        entries, _ = gather_entries(self.strategies, stage)
        object.__setattr__(self, "strategies", entries)

    def select_rounds(self, moves: tuple[Move, ...]) -> tuple[Move, ...]:
        """Return the moves of a match that count as single choices."""
        return moves[:1] if self.rounds == "first" else moves
