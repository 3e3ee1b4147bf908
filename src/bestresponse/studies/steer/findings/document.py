"""The report of a steering run: headline figures, what guidance earns, and what the solver and the models did."""

from __future__ import annotations

from collections import Counter

from bestresponse.report.document import Block, Cell, Column, Document, KeyValues, Note, Section, Table
from bestresponse.runs.reporting.costs import costs_section
from bestresponse.runs.reporting.method import method_section
from bestresponse.runs.run import Run
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

__all__ = ["findings"]

_INTERVALS = "Intervals are over games (95 %, bootstrap of whole games); one game alone has none."


def findings(results: SteerMeasured, run: Run[Any]) -> Document:
    """Build the report of a run."""
    steered, calls = results.steered, sum(total.calls for total in run.costs)
    config = steered.config
    title = f"Steering {config.model} in {steered.domain.name} dialogues"
    how = "counterfactual regret minimisation" if config.solver == "cfr" else "prompt-space response oracles"
    if steered.psro is not None:
        opening, worth = _psro_opening(steered, steered.psro, calls), _psro_worth(steered, run)
        sections = [worth, *psro_sections(steered, steered.psro)]
    else:
        opening, worth = _cfr_opening(steered, calls), _cfr_worth(steered, run)
        published = beside_published(steered)
        sections = [worth, *([] if published is None else [published]), *cfr_sections(steered)]
    blocks: tuple[Block, ...] = (opening,)
    if steered.stopped:
        blocks += (Note(f"The run was stopped before its end: {steered.stopped}", "warning"),)
    written = () if steered.written is None else (_written(steered.written, config.scenarios_by),)
    costs = costs_section(run.costs)
    method = method_section(run.manifest, without=("domain_text",))
    end = (*written, *([] if costs is None else [costs]), method)
    return Document(title, f"Solved by {how}", (*sections, *end), blocks, run.manifest.footer)


def _written(written: Written, by: str) -> Section:
    """Who wrote the games, and why some of what it wrote was not played."""
    told = Note(f"{by} wrote the {len(written.scenarios)} games from examples that the seed drew.")
    rows = tuple(Counter(written.rejected).most_common())
    why = Table((Column("why a scenario was rejected"), Column("how often", "right")), rows)
    return Section("Who wrote the games", (told, why) if rows else (told,))


def _cfr_opening(steered: SteerResults, calls: int) -> KeyValues:
    fresh = fresh_worth(steered, steered.games)
    items: list[tuple[str, Cell]] = [
        ("games solved", f"{len(steered.solved)} of {steered.config.games}"),
        ("NashConv of the policy", shown(steered.interval("nash_conv"))),
        ("CFR gain, recorded texts", shown(steered.interval("gain"))),
    ]
    if fresh.gain is not None:
        items.append(("CFR gain, fresh texts", shown(fresh.gain)))
    items.append(("calls made", f"{calls:,}"))
    return KeyValues(tuple(items), prominent=True, format=".3f")


def _cfr_worth(steered: SteerResults, run: Run[Any]) -> Section:
    share = attainable_share(steered)
    told = (
        "Recorded texts: exact on the tree that was solved, so there is no sampling error within a game; but the "
        "policy was fitted to just these texts, and its gain there is optimistic. Fresh texts: dialogues in words that "
        "were drawn afterwards, guided and unguided on the same games and draws. "
    )
    if share is not None:
        over_all = all(one.solved is not None and one.solved.refined.over_all for one in steered.solved)
        most = "any equilibrium of these trees" if over_all else "a policy without a higher NashConv"
        told += f"The gain there is {share:.1%} of the most that {most} can gain"
        best = steered.interval("best_response_gain")
        told += f"; best replies to unguided partners, in equilibrium or not, gain {shown(best):.3f}. "
    if fresh_worth(steered, steered.games).gain is None:
        told += "No fresh text was drawn (--fresh 0)."
    plays = [one.fresh for one in steered.games if one.fresh is not None]
    if plays:
        met = sum(one.met.total() for one in plays)
        near = sum(one.met["nearest"] for one in plays)
        told += (
            f"In {met - near} of {met} situations that a guided speaker met there, the policy knew the words; in "
            f"{near} it did as in the most similar situation that it knew. "
            f"{sum(one.void for one in plays)} of {sum(one.plays for one in plays)} dialogues could not be read."
        )
    return Section("What guidance earns", (run.figures.to_table(), Note(f"{told} {_INTERVALS}")))


def _psro_opening(steered: SteerResults, found: PsroResult, calls: int) -> KeyValues:
    items: list[tuple[str, Cell]] = [(f"payoff of player {seat + 1}", value) for seat, value in enumerate(found.values)]
    items.append(("gain in the search", shown(table_worth(steered, found).gain)))
    if steered.psro_held_out is not None:
        items.append(("gain on held-out games", shown(held_out_worth(steered, steered.psro_held_out).gain)))
    items.append(("calls made", f"{calls:,}"))
    return KeyValues(tuple(items), prominent=True, format=".3f")


def _psro_worth(steered: SteerResults, run: Run[Any]) -> Section:
    plays = steered.psro_held_out
    told = (
        "Plays of the search: those that the manners were found and the solution was fitted by, so the gain there is "
        "optimistic. Held-out games: drawn afterwards; a guided speaker draws its manner from the solution and keeps "
        "to it, beside unguided ones, and the same game and draws are played with everybody unguided."
    )
    if plays is not None:
        told += f" {plays.void} of {plays.plays} dialogues could not be read."
    return Section("What guidance earns", (run.figures.to_table(), Note(f"{told} {_INTERVALS}")))
