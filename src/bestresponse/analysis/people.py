"""What people did in repeated dilemmas, summarised from published data.

Also finds the treatment nearest to a game.

`people.toml` holds shares worked out from the collection of Nay & Vorobeychik (MIT licence) by
`scripts/people_summary.py`; the data themselves are not part of this package. Two dilemmas are
compared by what defecting gains against a cooperator, g = (T - R) / (R - P), and what cooperating
loses against a defector, l = (P - S) / (R - P), which do not depend on the unit of payoffs (M.
Embrey, G. Frechette & S. Yuksel, Quarterly Journal of Economics 133, 2018).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.core.files import read_toml
from bestresponse.games.capabilities import find_stage_form
from bestresponse.games.lookup import NamedGame
from bestresponse.report.blocks import Measurement, Shown
from bestresponse.report.document import Paragraph
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import cooperative_actions

_FILE = Path(__file__).parent / "people.toml"
_NEAR = 0.6
"""Treatments further away in g and l together are another situation: the payoffs of one study
differ by more."""


@dataclass(frozen=True, slots=True)
class People:
    """A treatment of an experiment: its dilemma, how it went on, and cooperation.

    Holds g and l of the dilemma, and how often people cooperated.

    `rounds` are shares of cooperation by round, `strategies` estimated shares of strategies with
    matches as units.
    """

    study: str
    treatment: str
    gain: float
    loss: float
    length: str
    matches: int
    first: float
    cooperation: float
    rounds: tuple[float, ...]
    strategies: Mapping[str, float]
    source: str

    @property
    def label(self) -> str:
        """Name the treatment."""
        return (
            f"people, {self.study} {self.treatment}: g {self.gain:.2f}, l {self.loss:.2f},"
            f" {self.length}"
        )


@cache
def load_people() -> tuple[People, ...]:
    """Load all treatments."""
    data = read_toml(_FILE)
    return tuple(
        People(**{**row, "rounds": tuple(row["rounds"]), "source": data["sources"][row["study"]]})
        for row in data["treatments"]
    )


def measure_dilemma(form: NormalForm) -> tuple[float, float] | None:
    """Return g and l of a symmetric prisoner's dilemma; None where the game is none.

    >>> measure_dilemma(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]]))
    (1.0, 0.5)
    """
    try:
        first, second = cooperative_actions(form)
    except InvalidGame:
        return None
    own = form.payoffs[0][[first, 1 - first]][:, [second, 1 - second]]
    other = form.payoffs[1].T
    other = other[[second, 1 - second]][:, [first, 1 - first]]
    (reward, sucker), (temptation, punishment) = own.tolist()
    if not np.allclose(own, other) or not temptation > reward or not punishment > sucker:
        return None
    return (temptation - reward) / (reward - punishment), (punishment - sucker) / (
        reward - punishment
    )


def find_people(form: NormalForm, within: float = np.inf) -> tuple[People, ...]:
    """Return the treatments whose payoffs are nearest to those of a dilemma.

    Only treatments within the given distance, in g and l together, are returned.
    """
    own = measure_dilemma(form)
    if own is None:
        return ()
    distances = [abs(own[0] - people.gain) + abs(own[1] - people.loss) for people in load_people()]
    nearest = min(*distances, within)
    return tuple(p for p, far in zip(load_people(), distances, strict=True) if far < nearest + 1e-6)


def describe_people(form: NormalForm) -> str:
    """Say how often people cooperated in the dilemma nearest to this one.

    Returns an empty result where none is near.
    """
    nearest = find_people(form, _NEAR)
    if not nearest:
        return ""
    shares = "; ".join(
        f"{p.first:.2f} ({p.study} {p.treatment}, {p.length}, {p.matches:,} matches)"
        for p in nearest
    )
    where = (
        f"defecting gains {nearest[0].gain:.2f} and saves {nearest[0].loss:.2f} times what mutual"
        " cooperation is worth"
    )
    return (
        f"People, where {where}, cooperated in the first round with a share of {shares}."
        f" {nearest[0].source}."
    )


def show_people(measured: Measurement) -> Shown | None:
    """Say in the report of a run what people did in the dilemma nearest to its game.

    Returns nothing for other games.
    """
    game = getattr(measured.config, "game", None)
    form = find_stage_form(game.game()) if isinstance(game, NamedGame) else None
    words = "" if form is None else describe_people(form)
    return Shown("", (Paragraph(words),)) if words else None
