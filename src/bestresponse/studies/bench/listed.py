"""Single plays in words: what was said, how it was read, what it lost and what was right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.report.frames import column
from bestresponse.report.numbers import format_number
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.runs.study import Judgement
from bestresponse.studies.bench.games import own_view
from bestresponse.studies.bench.measure import PlayRow, find_decision, measure_plays
from bestresponse.studies.bench.plan import BASE, Plan, find_theme, make_bench_game
from bestresponse.studies.bench.results import Results
from bestresponse.telling.render import write_rules
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.zero_sum.solve import solve_zero_sum

_LONGEST_REPLY = 3500


class ListedRow(TypedDict):
    """A play in words: the answer, everything that was said, and the game.

    The answer comes with what it lost, and the game with its solution.
    """

    play: Annotated[
        int, column(help="its number in this table, by which outliers are named", anchor="play")
    ]
    player: Annotated[
        str, column(help="and the suite's version of the game, if it is not the original")
    ]
    transcript: Annotated[
        str, column(help="the reply, how it was read and judged, and the prompt; open it to read")
    ]
    answer: Annotated[str | None, column(help="probabilities of the own actions")]
    gap_normalised: Annotated[float | None, column("gap / range", ".3f")]
    exploitability_normalised: Annotated[float | None, column("exploitability / range", ".3f")]
    payoffs: Annotated[str, column(help="own payoffs by action; the other's behind a bar")]
    solution: Annotated[str | None, column(help="an optimal strategy in a zero-sum game")]
    opponent: Annotated[str, column(help="the equilibrium strategy that the opponent plays")]
    game: Annotated[int, column(help="number of the game in the run")]


def list_worst(results: Results) -> Iterator[ListedRow]:
    """Yield the worst plays in words, numbered from 1."""
    for number, (row, play) in enumerate(results.worst, 1):
        names = find_theme(play.data).actions[play.data["seat"]]
        answer = None
        if row["strategy"] is not None:
            as_told = np.asarray(row["strategy"])[play.data["back"]]
            answer = _write_mix(names, as_told)

        versions = [row["condition"], row["variant"]]
        told = [word for word in versions if word not in (BASE, "original")]
        heads = [row["model"], row["asked_for"], " ".join(told)]
        yield ListedRow(
            play=number,
            player=" / ".join(filter(None, heads)),
            transcript=_write_transcript(row, play),
            answer=answer,
            gap_normalised=row["gap_normalised"],
            exploitability_normalised=row["exploitability_normalised"],
            payoffs=_write_payoffs(names, play),
            solution=_write_solution(play),
            opponent=_write_opponent(results.plan, play),
            game=row["game"],
        )


def _write_payoffs(names: Sequence[str], play: StoredPlay) -> str:
    """Write the own payoffs by action; those of the other behind a bar where not zero-sum."""
    own, other = _find_payoffs(play)
    lines = own
    if not np.array_equal(own, -other):
        bar = np.full((len(own), 1), np.nan)
        lines = np.concatenate([own, bar, other], axis=1)
    written = []
    for name, line in zip(names, lines, strict=False):
        written.append(f"{name}: {_write_numbers(line)}")
    return "\n".join(written)


def _find_payoffs(play: StoredPlay) -> tuple[Array, Array]:
    """Return the payoffs of the player that a play was made for, and those of the other."""
    payoffs = np.asarray(play.data["payoffs"], dtype=np.float64)
    return own_view(payoffs, play.data["seat"])


def _write_transcript(row: PlayRow, play: StoredPlay) -> str:
    """Write what a model said and what it had been asked.

    Includes how that was read and what was refuted in it.
    """
    decision = find_decision(play)
    reply = decision.reasoning[:_LONGEST_REPLY] if decision is not None else ""
    parts = [reply or "(nothing)"]
    parts.append(f"read as {row['status']}{': ' if row['how'] else ''}{row['how']}")
    if row["claims"] is not None:
        parts.append(f"claims: {row['claims']}, refuted: {row['refuted']}")

    game = make_bench_game(play.data)
    role = game.roles[play.data["seat"]]
    asked = write_rules(game.view((), role))
    parts.append(f"The prompt:\n{asked}")
    return "\n\n".join(parts)


def _write_mix(names: Sequence[str], mix: Array) -> str:
    """Write the probabilities that are not 0 with the names of their actions."""
    shares = []
    for name, p in zip(names, mix, strict=False):
        if p:
            rounded = round(float(p), 3)
            shares.append(f"{name}\N{NO-BREAK SPACE}{rounded:g}")
    return ", ".join(shares)


def _write_numbers(numbers: Array) -> str:
    """Write numbers in a line; what is none separates the payoffs of two players."""
    written = []
    for number in numbers.tolist():
        written.append("|" if isnan(number) else format_number(round(number, 3)))
    return "\N{NO-BREAK SPACE}".join(written)


def judge_plays(plan: Plan, plays: Sequence[StoredPlay]) -> list[Judgement]:
    """Say what every play lost, as a share of the payoff range, and what would have been right."""
    return [_judge_play(plan, row, play) for row, play in measure_plays(plan, plays)]


def _judge_play(plan: Plan, row: PlayRow, play: StoredPlay) -> Judgement:
    """Judge a play by what a best response takes where that is known, else by its Nash gap.

    A pure answer cannot be a mixture, and is judged by its gap.
    """
    gap = row["gap_normalised"]
    exploitability = row["exploitability_normalised"]
    facts = []
    if gap is not None:
        facts.append(("Gap / range", format_number(gap, ".3f")))
    if exploitability is not None:
        facts.append(("Exploitability / range", format_number(exploitability, ".3f")))
    solution = _write_solution(play)
    if solution is not None:
        facts.append(("Optimal strategy", solution))
    facts.append(("The opponent plays", _write_opponent(plan, play)))
    exploited = exploitability is not None and row["elicit"] != "pure"
    return Judgement(exploitability if exploited else gap, tuple(facts))


def _write_solution(play: StoredPlay) -> str | None:
    """Write an optimal strategy of the player that a play was made for.

    Returns None where the game is not zero-sum.
    """
    own, other = _find_payoffs(play)
    if not np.array_equal(own, -other):
        return None
    names = find_theme(play.data).actions[play.data["seat"]]
    return _write_mix(names, solve_zero_sum(own).row[0])


def _write_opponent(plan: Plan, play: StoredPlay) -> str:
    names = find_theme(play.data).actions[1 - play.data["seat"]]
    played = find_decision(play, opponent=True)
    mix = plan.find_opponent(play.data) if played is None else played.action
    return _write_mix(names, np.asarray(mix))
