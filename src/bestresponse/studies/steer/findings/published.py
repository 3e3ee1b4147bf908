"""What a run found beside the published study: its table of CFR solutions, and who would choose guidance.

I. Gemp et al., "Steering Language Models with Game-Theoretic Solvers", 2024, appendix J, table 1, and figure 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from bestresponse.report.document import Block, Cell, Column, KeyValues, Note, Section, Table
from bestresponse.studies.steer.session import SteerResults
from bestresponse.studies.steer.solving import Solved, mixed_policy
from bestresponse.studies.steer.summary import shown
from bestresponse.theory.equilibria.solve import nash_one
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.sequence_form import policy_value

__all__ = ["beside_published", "guidance_game"]

_PUBLISHED = {"debate": (328, "0 to 1", 0.024, 0.106), "meeting": (67, "0 to 20", 0.417, 1.596)}
"""Games, payoffs, mean NashConv and mean CFR gain."""


def beside_published(steered: SteerResults) -> Section | None:
    """Build the section; None where no game was solved."""
    solved = [one.solved for one in steered.solved if one.solved is not None]
    if not solved:
        return None
    blocks = _guidance_blocks(guidance_game(solved), "on the recorded texts")
    if steered.imitation is not None:
        late = [one.solved for one in steered.held_out if one.solved is not None]
        form = guidance_game(late, steered.imitation.policies)
        blocks += _guidance_blocks(form, "on the recorded texts of the held-out games, with the imitating network")
    return Section("Beside the published study", (_solutions_table(steered), *blocks))


def _solutions_table(steered: SteerResults) -> Table:
    domain = steered.domain
    columns = (
        Column("study"),
        Column("games", "right"),
        Column("payoffs"),
        Column("NashConv", "right", "what all could gain by deviating alone from the policy", ".3f"),
        Column("CFR gain", "right", "what a speaker gains by the policy while the others stay unguided", ".3f"),
    )
    span = f"{domain.low:g} to {domain.high:g}"
    found = (shown(steered.interval("nash_conv")), shown(steered.interval("gain")))
    rows: list[tuple[Cell, ...]] = [("this run", len(steered.solved), span, *found)]
    if domain.name in _PUBLISHED:
        rows.append(("published, with another model", *_PUBLISHED[domain.name]))
    return Table(columns, tuple(rows), "Solutions by CFR")


def guidance_game(solved: Sequence[Solved], imitations: Sequence[Policy] = ()) -> NormalForm:
    """Build the game of choosing how to be guided: exact payoffs on the recorded trees, mean over games.

    `imitations` are the policies of a network in the same games; without them nobody can choose it.
    """
    choices = ("unguided", "guided", "imitation")[: 3 if imitations else 2]
    players = solved[0].tree.players
    payoffs: Array = np.zeros((len(players), *(len(choices),) * len(players)))
    for number, one in enumerate(solved):
        policies = [one.unguided, one.policy, *imitations[number : number + 1]]
        for choice in product(range(len(choices)), repeat=len(players)):
            guided = {seat: policies[chosen] for seat, chosen in enumerate(choice)}
            values = policy_value(one.tree, mixed_policy(one.unguided, guided))
            for seat, player in enumerate(players):
                payoffs[seat][choice] += values[player] / len(solved)
    return NormalForm(payoffs, players, (choices,) * len(players))


def _guidance_blocks(form: NormalForm, where: str) -> list[Block]:
    if form.num_players != 2:
        return []
    first, second = form.players
    choices = form.actions[0]
    columns = (Column(f"{first} \\ {second}"), *(Column(choice, "right") for choice in choices))
    rows = tuple(
        (choice, *(f"{form.payoffs[0, i, j]:.3f}, {form.payoffs[1, i, j]:.3f}" for j in range(len(choices))))
        for i, choice in enumerate(choices)
    )
    chances = tuple(
        (f"{player}: {choice} with probability", float(chance))
        for player, mix in zip(form.players, nash_one(form).strategies, strict=True)
        for choice, chance in zip(choices, mix, strict=True)
    )
    told = (
        f"If speakers could choose how to be guided: payoffs of both, exact {where}, mean over games, and one "
        "equilibrium of that choice."
    )
    return [Note(told), Table(columns, rows), KeyValues(chances, format=".3f")]
