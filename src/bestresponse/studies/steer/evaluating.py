"""What guidance earns, as metrics with intervals over whole games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestresponse.core.seeds import split
from bestresponse.report.frames import Heads, Value, list_metrics
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.studies.steer import session, solving
from bestresponse.studies.steer.fresh import FreshPlays
from bestresponse.studies.steer.imitation import Imitation
from bestresponse.studies.steer.psro import PsroResult, weigh_table
from bestresponse.theory.games.regrets import regret
from bestresponse.theory.trees.sequence_form import policy_value

Evaluation = Mapping[str, Value]
"""What guidance earns on one set of texts or games, by the name of the metric."""
METRICS = list_metrics(solving.GuidanceMetrics)


def average_games(
    results: session.SteerResults,
    values: Sequence[float],
    games: Sequence[int] | None = None,
) -> Value:
    """Average metrics, with an interval over whole games; None where there is nothing.

    All metrics are resampled alike, so the same values have the same interval in every table.
    """
    if not len(values):
        return None
    return cluster_bootstrap(
        values,
        games,
        rng=np.random.default_rng(split(results.config.seed, "games")),
    )


def evaluate_plays(
    results: session.SteerResults,
    parts: Sequence[tuple[int, FreshPlays]],
) -> Evaluation:
    """Evaluate plays, which come with the number of their game."""
    numbers = [np.full(len(plays.unguided), game) for game, plays in parts]
    games = np.concatenate(numbers)
    metrics: dict[str, Value] = {}
    for metric, attribute in (("gain", "gains"), ("margin", "margins"), ("won", "wins")):
        values = np.concatenate([getattr(plays, attribute) for _, plays in parts])
        known = np.isfinite(values)
        metrics[metric] = average_games(
            results,
            values[known].tolist(),
            games[known].tolist(),
        )
    own = [table[:, seat] for _, plays in parts for seat, table in enumerate(plays.guided)]
    guided = np.concatenate(own)
    unguided = np.concatenate([plays.unguided.T.ravel() for _, plays in parts])
    known = np.isfinite(guided - unguided)  # the same dialogues as in the gain: both could be read
    return {
        **metrics,
        "relative_gain": solving.compare_earnings(guided[known].tolist(), unguided[known].tolist()),
    }


def evaluate_cfr(results: session.SteerResults) -> dict[Heads, Evaluation]:
    """Evaluate what is advised on the recorded texts and on fresh ones."""
    solved = results.solved
    if not solved:
        return {}
    rows: list[Mapping[str, Any]] = [dialogue.metrics for dialogue in solved]
    means = {}
    for name in rows[0]:
        if name != "relative_gain":
            means[name] = average_games(results, [row[name] for row in rows])
    guided = [value for dialogue in solved for value in dialogue.guided_payoffs]
    unguided = [value for dialogue in solved for value in dialogue.unguided_payoffs]
    whole: Evaluation = {
        "relative_gain": solving.compare_earnings(guided, unguided),
        "loss": max(row["loss"] for row in rows),
    }
    groups: dict[Heads, Evaluation] = {("recorded texts",): {**means, **whole}}
    fresh = [(game.number, game.fresh) for game in results.games if game.fresh is not None]
    if fresh:
        groups["fresh texts",] = evaluate_plays(results, fresh)
    return groups


def evaluate_psro(results: session.SteerResults, psro: PsroResult) -> dict[Heads, Evaluation]:
    """Evaluate the solution of a search on its own plays and on held-out games."""
    config = results.config
    plays = weigh_table(psro)
    neutral = []
    for prompts, k in zip(psro.prompts, psro.game.alone, strict=True):
        neutral.append(np.eye(len(prompts))[k])
    games = config.games if config.games > 1 else len(plays.unguided)
    groups: dict[Heads, Evaluation] = {
        ("plays of the search",): {
            **evaluate_plays(results, _split_by_game(plays, games)),
            "nash_conv": float(regret(psro.game.means, psro.solution.marginals).sum()),
            "unguided_nash_conv": float(regret(psro.game.means, neutral).sum()),
        }
    }
    if results.psro_held_out is not None:
        parts = _split_by_game(results.psro_held_out, config.held_out)
        groups["held-out games",] = evaluate_plays(results, parts)
    return groups


def _split_by_game(plays: FreshPlays, games: int) -> list[tuple[int, FreshPlays]]:
    """Split plays by their game: play n is on game n % games."""
    parts = []
    for game in range(min(games, len(plays.unguided))):
        of_game = FreshPlays(plays.unguided[game::games], plays.guided[:, game::games])
        parts.append((game, of_game))
    return parts


def evaluate_imitation(results: session.SteerResults, found: Imitation) -> dict[Heads, Evaluation]:
    """Evaluate every guide on the held-out games, those who follow nobody last."""
    groups: dict[Heads, Evaluation] = {}
    unguided: list[float] = []
    for base in found.unguided:
        unguided += policy_value(base.tree, base).values()
    for guide, policies in found.evaluated.items():
        earned = [one.earned for one in policies]
        guided = [payoff for one in earned for payoff in one.payoffs]
        groups[guide,] = {
            "gain": average_games(results, [one.gain for one in earned]),
            "margin": average_games(results, [one.margin for one in earned]),
            "relative_gain": solving.compare_earnings(guided, unguided),
            "won": average_games(results, [one.won for one in earned]),
            "nash_conv": average_games(
                results,
                [one.nash_conv for one in policies],
            ),
        }
    convs = [solving.judge_policy(base, base) for base in found.unguided]
    groups["unguided",] = {
        "gain": 0.0,
        "won": average_games(results, [one.earned.won for one in convs]),
        "nash_conv": average_games(results, [one.nash_conv for one in convs]),
    }
    return groups
