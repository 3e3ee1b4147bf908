"""Whether the estimators of behaviour find what simulated players are made of: bias and coverage of
95 % intervals.

    python benchmarks/behave_recovery.py [SAMPLES] [PART ...]

Every sample is drawn from known parameters at a realistic size, fitted, and resampled 200 times; a
row says how far the mean estimate is from the truth and how often the interval held it. Parts are
`matches`, `people` (the same people meet in many matches, in both seats) and `choices`; all of them
by default.
"""

import sys

import numpy as np

from bestresponse.report.stats.statistics import interval_of_draws
from bestresponse.studies.behave.estimates import PlayerGroup
from bestresponse.studies.behave.moves import SeatMoves
from bestresponse.theory.behaviour.choices import (
    Choices,
    fit_choices,
    predict_hierarchy,
    predict_quantal,
)
from bestresponse.theory.behaviour.mixtures import Histories, count_agreement, fit_mixture, resample
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.fitting import level_k
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import classic_strategy
from bestresponse.theory.repeated.round_robin import Rules, exact_round_robin

NAMES = ("defector", "cooperator", "grim", "tit-for-tat")
SHARES, ERROR = np.array([0.4, 0.1, 0.2, 0.3]), 0.08
LAMBDA, TAU, LEVELS = 0.8, 1.5, np.array([0.2, 0.4, 0.3, 0.1])
DRAWS = 200
AUTOMATA = [classic_strategy(name) for name in NAMES]


def draw_matches(units: int, rounds: int, rng: np.random.Generator) -> Histories:
    """Let players who err meet others who do, in pairs of strategies drawn by their shares."""
    own, other = np.empty((2, units, rounds), dtype=np.int32)
    for i in range(units):
        own[i], other[i] = play_match(rng.choice(len(NAMES), 2, p=SHARES), rounds, rng)
    return Histories(own, other, AUTOMATA, np.arange(units))


def play_match(pair: np.ndarray, rounds: int, rng: np.random.Generator) -> np.ndarray:
    """Let two strategies meet, by their numbers, and return the moves of both."""
    states = [0, 0]
    moves = np.empty((2, rounds), dtype=np.int32)
    for t in range(rounds):
        meant = [
            int(AUTOMATA[k].mix[state, 1] > 0.5) for k, state in zip(pair, states, strict=True)
        ]
        made = [1 - move if rng.random() < ERROR else move for move in meant]
        moves[:, t] = made
        states = [AUTOMATA[k].step[states[s], made[s], made[1 - s]] for s, k in enumerate(pair)]
    return moves


def recover_people(people: int, matches: int, rounds: int, samples: int) -> None:
    """Print a row for every share, the error and cooperation: people keep their strategy and meet
    in random pairs."""
    form = load("prisoners-dilemma")
    fits = []
    averages = []
    for sample in range(samples):
        rng = np.random.default_rng(sample)
        kinds = rng.choice(len(NAMES), people, p=SHARES)
        rows, others, units, sequences = [], [], [], []
        for number in range(matches):
            for pair in rng.permutation(people).reshape(-1, 2):
                moves = play_match(kinds[pair], rounds, rng)
                for seat in range(2):
                    rows.append(moves[seat])
                    others.append(moves[1 - seat])
                    units.append(pair[seat])
                    labels = {"run": "r", "seat": form.players[seat]}
                    names = [str(pair[seat]), str(pair[1 - seat])]
                    match = f"{number} {pair[0]}"
                    own = tuple(moves[seat].tolist())
                    sequences.append(SeatMoves(labels, form, seat, own, (), match, *names))
        agreement = count_agreement(
            [Histories(np.array(rows), np.array(others), AUTOMATA, np.array(units))]
        )
        fitted = fit_mixture(agreement, seed=sample)
        shares, errors = resample(agreement, fitted, DRAWS, np.arange(people), seed=sample)
        fits.append((np.append(fitted.shares, fitted.error), np.column_stack([shares, errors])))
        averages.append(PlayerGroup(sequences, sample).average_cooperation())
    what = f"{people} people with {matches} matches of {rounds} rounds each"
    bounds = [(people, (0.0, 1.0))] * len(NAMES) + [(people * matches * rounds, (0.0, 0.5))]
    report(what, [*NAMES, "error"], np.append(SHARES, ERROR), fits, bounds)
    truth = expect_cooperation(rounds)
    estimates = [average.estimate for average in averages]
    held = np.mean([average.contains(truth) for average in averages])
    bias, spread = np.mean(estimates) - truth, np.std(estimates)
    print(
        f"| {what} | cooperation | {truth:.4f} | {bias:+.4f} | {spread:.4f} | {held:.3f} |",
        flush=True,
    )


def expect_cooperation(rounds: int) -> float:
    """Work out how often a player cooperates on average, against players drawn by the same
    shares."""
    rules = Rules(rounds, noise=ERROR)
    # The payoff of a round is 1 where one cooperates and 0 elsewhere, so that totals count
    # cooperation.
    counting = NormalForm(np.array([[[1.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]]))
    totals = exact_round_robin(AUTOMATA, counting, rules).totals[:, :, 0]
    return float(SHARES @ totals @ SHARES) / rounds


def recover_strategies(units: int, rounds: int, samples: int) -> None:
    """Print a row for every share and the error."""
    found = []
    for sample in range(samples):
        agreement = count_agreement([draw_matches(units, rounds, np.random.default_rng(sample))])
        fitted = fit_mixture(agreement, seed=sample)
        shares, errors = resample(
            agreement, fitted, DRAWS, np.arange(len(agreement.rows)), seed=sample
        )
        found.append((np.append(fitted.shares, fitted.error), np.column_stack([shares, errors])))
    bounds = [(units, (0.0, 1.0))] * len(NAMES) + [(units * rounds, (0.0, 0.5))]
    names = [*NAMES, "error"]
    report(
        f"strategies, {units} matches of {rounds} rounds",
        names,
        np.append(SHARES, ERROR),
        found,
        bounds,
    )


def recover_choices(games: int, choices: int, samples: int) -> None:
    """Print a row for lambda, tau and the shares of levels, each in data of its own model."""
    grid = np.linspace(0, LAMBDA, 9)
    for model, names, truth in (
        ("qre", ["lambda"], np.array([LAMBDA])),
        ("cognitive-hierarchy", ["tau"], np.array([TAU])),
        ("level-k", [f"level {k}" for k in range(4)], LEVELS),
    ):
        found = []
        for sample in range(samples):
            rng = np.random.default_rng(sample)
            forms = [
                NormalForm(rng.permuted(np.tile([1.0, 2, 3, 4], (2, 1)), axis=1).reshape(2, 2, 2))
                for _ in range(games)
            ]
            data = []
            for form, quantal in zip(forms, predict_quantal(forms, grid), strict=True):
                if model == "qre":
                    sides = [side[-1] for side in quantal]
                elif model == "level-k":
                    sides = [LEVELS @ side for side in level_k(form, 3).strategies]
                else:
                    sides = [side[0] for side in predict_hierarchy(form, np.array([TAU]))]
                data.append(
                    Choices(
                        form, tuple(rng.multinomial(choices, side).astype(float) for side in sides)
                    )
                )
            (fit,) = fit_choices(data, (model,), draws=DRAWS, seed=sample)
            found.append((fit.estimate, fit.resampled))
        bounds = [(games, (0.0, 1.0) if model == "level-k" else (-np.inf, np.inf))] * len(names)
        report(f"{model}, {games} games, {2 * choices} choices each", names, truth, found, bounds)


def report(what: str, names: list[str], truth: np.ndarray, found: list, bounds: list) -> None:
    """Print bias and coverage of every parameter; `bounds` says for each how many units there are
    and its bounds."""
    estimates = np.array([estimate for estimate, _ in found])
    held = [
        np.mean(
            [
                interval_of_draws(e[k], draws[:, k], units, ends).contains(truth[k])
                for e, draws in found
            ]
        )
        for k, (units, ends) in enumerate(bounds)
    ]
    for name, true, mean, spread, share in zip(
        names, truth, estimates.mean(axis=0), estimates.std(axis=0), held, strict=True
    ):
        print(
            f"| {what} | {name} | {true:g} | {mean - true:+.4f} | {spread:.4f} | {share:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print(
        f"| {count} samples | parameter | truth | bias | spread | coverage"
        " |\n|---|---|---:|---:|---:|---:|"
    )
    parts = sys.argv[2:] or ["matches", "people", "choices"]
    if "matches" in parts:
        recover_strategies(200, 10, count)
        recover_strategies(1000, 4, count)
    if "people" in parts:
        recover_people(40, 10, 10, count)
    if "choices" in parts:
        recover_choices(72, 10, count)
