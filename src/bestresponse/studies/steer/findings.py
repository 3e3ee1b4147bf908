"""The report of a steering run: headline figures, games, the policy, example dialogues, readings, prompts found."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np

from bestresponse.core.episode import Episode
from bestresponse.core.player import Decision, Nature
from bestresponse.players.guided import Guided
from bestresponse.report import figures
from bestresponse.report.document import (
    Block,
    Cell,
    Code,
    Column,
    Document,
    Figure,
    KeyValues,
    Note,
    Paragraph,
    Quote,
    Section,
    Table,
)
from bestresponse.store.manifest import Manifest
from bestresponse.studies.steer.imitation import Imitation
from bestresponse.studies.steer.opinions import pooled
from bestresponse.studies.steer.playing import GameResult
from bestresponse.studies.steer.psro import PsroResult
from bestresponse.studies.steer.session import Steered, mean_interval, relative_gain, unread
from bestresponse.studies.steer.solving import mixed_policy

__all__ = ["report_of"]

_EXAMPLES = 3
_MOST_GAMES = 200


def report_of(steered: Steered, summary: dict[str, Any], manifest: Manifest) -> Document:
    """The whole report."""
    config = steered.config
    title = f"Steering {config.model} in {steered.domain.name} dialogues"
    how = "counterfactual regret minimisation" if config.solver == "cfr" else "prompt-space response oracles"
    if steered.psro is not None:
        sections = _psro_sections(steered.psro, steered)
        opening: tuple[Block, ...] = ()
    else:
        sections = _cfr_sections(steered)
        opening = (_headline(steered, summary),)
    method = Section(
        "How it was done",
        (
            Code(" ".join(manifest.command), "sh"),
            Code(json.dumps(manifest.config, indent=2, ensure_ascii=False), "json"),
            KeyValues(tuple((name, str(value)) for name, value in manifest.environment.items())),
        ),
    )
    return Document(title, f"Solved by {how}", (*sections, method), opening)


def _headline(steered: Steered, summary: dict[str, Any]) -> KeyValues:
    relative = relative_gain(steered)
    return KeyValues(
        (
            ("calls in this run", f"{summary['calls']:,}"),
            ("games solved", f"{len(steered.solved)} of {len(steered.games)}"),
            ("NashConv of the policy", steered.interval("nash_conv")),
            ("NashConv of unguided talk", steered.interval("unguided_nash_conv")),
            ("CFR gain", steered.interval("gain")),
            ("margin over unguided partners", steered.interval("margin")),
            ("guided earns more by", None if relative is None else f"{relative:.1%}"),
        ),
        prominent=True,
        format=".3f",
    )


def _cfr_sections(steered: Steered) -> list[Section]:
    sections = [_games_section(steered)]
    if steered.solved:
        first = steered.solved[0]
        sections += [_policy_section(first), _examples_section(first)]
    if steered.imitation is not None:
        sections.append(_imitation_section(steered.imitation, steered.config.seed))
    sections.append(_reading_section(steered))
    return sections


def _imitation_section(found: Imitation, seed: int) -> Section:
    told = (
        f"A network of two layers of 256 units learned the policies of {found.trained_on} games "
        f"({found.information_sets} information sets) and was played on {len(found.gains)} others against unguided "
        "speakers."
    )
    gains = (
        ("gain of the imitation", mean_interval(found.gains, seed)),
        ("gain of the solver's own policy", mean_interval(found.solver_gains, seed)),
    )
    return Section("Imitation", (Paragraph(told), KeyValues(gains, format=".3f")))


def _games_section(steered: Steered) -> Section:
    columns = (
        Column("game", "right"),
        Column("people"),
        Column("nodes", "right"),
        Column("information sets", "right"),
        Column("NashConv", "right", "what all speakers could gain by deviating alone from the policy", ".4f"),
        Column("unguided NashConv", "right", "the same when nobody is guided", ".3f"),
        Column("gain", "right", "what guidance gains a speaker among unguided ones, mean over seats", ".3f"),
        Column("margin", "right", "guided speaker minus the unguided ones in the same dialogue", ".3f"),
        Column("void because"),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in steered.games[:_MOST_GAMES]:
        people, solved = ", ".join(one.game.names), one.solved
        if solved is None:
            rows.append((one.number, people, None, None, None, None, None, None, one.why_void[:200]))
            continue
        sizes = (solved.tree.num_nodes, len(solved.tree.infosets))
        figures_ = (solved.nash_conv, solved.unguided_nash_conv, solved.gain, solved.margin)
        rows.append((one.number, people, *sizes, *figures_, None))
    note = Note(
        "All figures are exact on the recorded texts: guided and unguided speakers face the same games and the same "
        "wordings. They say nothing about wordings that were not drawn; more wordings make the record more typical."
    )
    return Section("Games", (Table(columns, tuple(rows)), note))


def _policy_section(one: GameResult) -> Section:
    if one.solved is None:
        return Section("Policy")
    tree, policy = one.solved.tree, one.solved.cfr.policy
    rows = []
    for index, infoset in enumerate(tree.infosets[:40]):
        first = tree.first_move[index]
        chances = policy.probabilities[first : first + len(infoset.moves)].tolist()
        order = sorted(zip(infoset.moves, chances, strict=True), key=lambda pair: -pair[1])
        told = ", ".join(f"{move} {p:.2f}" for move, p in order if p > 0.005)
        rows.append((tree.players[infoset.player], infoset.label[-160:], told))
    columns = (Column("speaker"), Column("after"), Column("how to speak"))
    return Section(f"The policy of game {one.number}", (Table(columns, tuple(rows)),))


def _examples_section(one: GameResult) -> Section:
    """A few dialogues of the first game, guided speaker first in turn, drawn from the record."""
    blocks: list[Block] = [
        Paragraph("One speaker follows the policy, the others speak unguided; texts are drawn from the record.")
    ]
    for number in range(min(_EXAMPLES, one.game.domain.players)):
        blocks.append(_example(one, number))
    return Section("Dialogues", tuple(blocks))


def _example(one: GameResult, seat: int) -> Quote:
    if one.recorded is None or one.solved is None:
        return Quote("")
    policy = mixed_policy(one.solved.unguided, {seat: one.solved.cfr.policy})
    nature = Nature(seat)
    episode = Episode(one.recorded)
    while pending := episode.pending:
        for role, ask in pending.items():
            player = nature if role == nature.name else Guided(nature, policy, seat)
            episode.submit(role, Decision(player.decide(episode.view(role), ask).action))
    said = [f"{one.game.names[s.seat]} ({s.manner}): {s.text}" for s in episode.state.said]
    payoffs = ", ".join(
        f"{name} {value:g}"
        for name, value in zip(one.game.names, one.recorded.payoffs(episode.state).values(), strict=True)
    )
    return Quote("\n\n".join(said), f"{one.game.names[seat]} is guided; payoffs: {payoffs}")


def _reading_section(steered: Steered) -> Section:
    kinds = Counter((entry.by, entry.reading.status.value) for entry in steered.entries)
    columns = (Column("answers of"), Column("reading"), Column("number", "right"))
    blocks: list[Block] = [
        Paragraph("An answer that cannot be read is void: its wording is not drawn and no payoff is put in its place."),
        Table(columns, tuple((by, status, count) for (by, status), count in sorted(kinds.items()))),
    ]
    reasons = Counter(entry.reading.how for entry in unread(steered))
    if reasons:
        rows = tuple((how[:160], count) for how, count in reasons.most_common(10))
        blocks.append(Table((Column("why unreadable"), Column("number", "right")), rows))
    opinions = pooled([one.opinions for one in steered.games])
    if opinions.pairs or opinions.void:
        blocks.append(
            KeyValues(
                (
                    ("payoffs ruled on by both referees", str(len(opinions.pairs))),
                    ("the same", opinions.same),
                    ("mean absolute difference", opinions.distance),
                    ("Krippendorff's alpha", opinions.alpha),
                    ("dialogues the second referee left void", str(opinions.void)),
                ),
                format=".3f",
            )
        )
    followed = [one.followed for one in steered.games if one.followed.judged]
    if followed:
        hits, judged = sum(f.followed for f in followed), sum(f.judged for f in followed)
        rate = (("messages in the manner they were told", f"{hits / judged:.1%}"), ("messages judged", judged))
        blocks.append(KeyValues(rate))
    return Section("How the answers were read", tuple(blocks))


def _psro_sections(found: PsroResult, steered: Steered) -> list[Section]:
    rows = [
        (f"player {seat + 1}", prompt, mass)
        for seat, (own, masses) in enumerate(zip(found.prompts, found.masses, strict=True))
        for prompt, mass in zip(own, masses, strict=True)
    ]
    values = tuple((f"payoff of player {seat + 1}", value) for seat, value in enumerate(found.values))
    why = "no response was new" if found.closed else "the iterations were used up"
    solution = Section(
        "Solution",
        (
            KeyValues(values, format=".3f"),
            KeyValues((("ended because", why), ("plays", steered.psro_played), ("void plays", steered.psro_voids))),
            Table((Column("speaker"), Column("manner"), Column("probability", "right", format=".3f")), tuple(rows)),
            Note("Intervals hold together with 95 % confidence over the plays that were drawn."),
        ),
    )
    return [solution, _growth_section(found), _table_section(found), _tried_section(found)]


def _growth_section(found: PsroResult) -> Section:
    """Probability of every manner at the solution of each iteration."""
    blocks: list[Block] = []
    for seat, own in enumerate(found.prompts):
        series = {
            prompt: (
                [t for t, step in enumerate(found.history) if prompt in step.prompts[seat]],
                [
                    float(step.solution.marginals[seat][step.prompts[seat].index(prompt)])
                    for step in found.history
                    if prompt in step.prompts[seat]
                ],
            )
            for prompt in own
        }
        picture = figures.lines(series, x_label="iteration", y_label="probability at the solution")
        told = f"How often player {seat + 1} uses each manner at the solution, by iteration"
        blocks.append(Figure(picture, told, told))
    return Section("Manners over iterations", tuple(blocks))


def _table_section(found: PsroResult) -> Section:
    if len(found.prompts) != 2:
        return Section("Payoffs", (Note("The table of more than two speakers is in the summary file."),))
    blocks: list[Block] = []
    for seat in range(2):
        means, errors = found.game.means[seat], found.game.errors[seat]
        rows = tuple(
            (prompt, *(f"{m:.2f} ± {e:.2f}" if np.isfinite(e) else f"{m:.2f}" for m, e in zip(ms, es, strict=True)))
            for prompt, ms, es in zip(found.prompts[0], means, errors, strict=True)
        )
        columns = (Column("player 1 \\ player 2"), *(Column(prompt, "right") for prompt in found.prompts[1]))
        blocks.append(Table(columns, rows, f"Mean payoff of player {seat + 1} and its standard error"))
    return Section("Payoffs", tuple(blocks))


def _tried_section(found: PsroResult) -> Section:
    rows = [
        (t, f"player {r.seat + 1}", c.manner, c.score, c.plays, r.best is not None and r.best.manner == c.manner)
        for t, step in enumerate(found.history)
        for r in step.responses
        for c in r.tried
    ]
    columns = (
        Column("iteration", "right"),
        Column("speaker"),
        Column("manner"),
        Column("score", "right", format=".3f"),
        Column("plays", "right"),
        Column("added"),
    )
    return Section("Manners that were tried", (Table(columns, tuple(rows)),))
