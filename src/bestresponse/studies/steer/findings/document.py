"""The report of a steering run: headline figures, what guidance earns, and what the solver and the models did."""

from __future__ import annotations

from collections import Counter

from bestresponse.report.blocks import Measurement, Shown
from bestresponse.report.document import Cell, Column, KeyValues, Note, Section, Table
from bestresponse.studies.steer.authoring import Written
from bestresponse.studies.steer.findings.cfr import cfr_sections
from bestresponse.studies.steer.findings.psro import psro_sections
from bestresponse.studies.steer.findings.published import beside_published
from bestresponse.studies.steer.psro.search import PsroResult
from bestresponse.studies.steer.results import SteerMeasured
from bestresponse.studies.steer.session import SteerResults
from bestresponse.studies.steer.summary import (
    attainable_share,
    fresh_worth,
    held_out_worth,
    shown,
    table_worth,
)

__all__ = ["REPORT"]

_INTERVALS = "Intervals are over games (95 %, bootstrap of whole games); one game alone has none."


def _get_steered(run: Measurement) -> SteerResults:
    results: SteerMeasured = run.results  # type: ignore[attr-defined]
    return results.steered


def show_headline(run: Measurement) -> Shown:
    """Open with what was solved and gained, and with a warning where the run was stopped."""
    steered = _get_steered(run)
    opening = _cfr_opening(steered) if steered.psro is None else _psro_opening(steered, steered.psro)
    stopped = [Note(f"The run was stopped before its end: {steered.stopped}", "warning")] if steered.stopped else []
    return Shown("", (opening, *stopped))


def show_worth(run: Measurement) -> Shown:
    """Show what guidance earns, and of which texts each figure is."""
    steered = _get_steered(run)
    words = _describe_cfr_worth(steered) if steered.psro is None else _describe_psro_worth(steered)
    return Shown("What guidance earns", (run.figures.to_table(), Note(f"{words} {_INTERVALS}")))


def show_solution(run: Measurement) -> list[Shown]:
    """Show what the solver and the models did, and who wrote the games."""
    steered = _get_steered(run)
    if steered.psro is not None:
        sections = psro_sections(steered, steered.psro)
    else:
        published = beside_published(steered)
        sections = [*([] if published is None else [published]), *cfr_sections(steered)]
    if steered.written is not None:
        sections.append(_written(steered.written, steered.config.scenarios_by))
    return [Shown(section.title, section.blocks) for section in sections]


REPORT = (show_headline, show_worth, show_solution)


def _written(written: Written, by: str) -> Section:
    """Who wrote the games, and why some of what it wrote was not played."""
    told = Note(f"{by} wrote the {len(written.scenarios)} games from examples that the seed drew.")
    rows = tuple(Counter(written.rejected).most_common())
    why = Table((Column("why a scenario was rejected"), Column("how often", "right")), rows)
    return Section("Who wrote the games", (told, why) if rows else (told,))


def _cfr_opening(steered: SteerResults) -> KeyValues:
    fresh = fresh_worth(steered, steered.games)
    items: list[tuple[str, Cell]] = [
        ("games solved", f"{len(steered.solved)} of {steered.config.games}"),
        ("NashConv of the policy", shown(steered.interval("nash_conv"))),
        ("CFR gain, recorded texts", shown(steered.interval("gain"))),
    ]
    if fresh.gain is not None:
        items.append(("CFR gain, fresh texts", shown(fresh.gain)))
    return KeyValues(tuple(items), prominent=True, format=".3f")


def _describe_cfr_worth(steered: SteerResults) -> str:
    share = attainable_share(steered)
    words = (
        "Recorded texts: exact on the tree that was solved, so there is no sampling error within a game; but the "
        "policy was fitted to just these texts, and its gain there is optimistic. Fresh texts: dialogues in words that "
        "were drawn afterwards, guided and unguided on the same games and draws. "
    )
    if share is not None:
        over_all = all(one.solved is not None and one.solved.refined.over_all for one in steered.solved)
        most = "any equilibrium of these trees" if over_all else "a policy without a higher NashConv"
        words += f"On the recorded texts the gain is {share:.1%} of the most that {most} can gain"
        best = steered.interval("best_response_gain")
        words += f"; best replies to unguided partners, in equilibrium or not, gain {shown(best):.3f}. "
    if fresh_worth(steered, steered.games).gain is None:
        words += "No fresh text was drawn."
    plays = [one.fresh for one in steered.games if one.fresh is not None]
    if plays:
        met = sum(one.met.total() for one in plays)
        near = sum(one.met["nearest"] for one in plays)
        words += (
            f"In {met - near} of {met} situations that a guided speaker met there, the policy knew the words; in "
            f"{near} it did as in the most similar situation that it knew. "
            f"{sum(one.void for one in plays)} of {sum(one.plays for one in plays)} dialogues could not be read."
        )
    return words


def _psro_opening(steered: SteerResults, found: PsroResult) -> KeyValues:
    items: list[tuple[str, Cell]] = [(f"payoff of player {seat + 1}", value) for seat, value in enumerate(found.values)]
    items.append(("gain in the search", shown(table_worth(steered, found).gain)))
    if steered.psro_held_out is not None:
        items.append(("gain on held-out games", shown(held_out_worth(steered, steered.psro_held_out).gain)))
    return KeyValues(tuple(items), prominent=True, format=".3f")


def _describe_psro_worth(steered: SteerResults) -> str:
    plays = steered.psro_held_out
    words = (
        "Plays of the search: those that the manners were found and the solution was fitted by, so the gain there is "
        "optimistic. Held-out games: drawn afterwards; a guided speaker draws its manner from the solution and keeps "
        "to it, beside unguided ones, and the same game and draws are played with everybody unguided."
    )
    if plays is not None:
        words += f" {plays.void} of {plays.plays} dialogues could not be read."
    return words
