"""Whether the estimators of behaviour find what simulated players are made of: bias and coverage of 95 % intervals.

    python benchmarks/behave_recovery.py [SAMPLES]

Every sample is drawn from known parameters at a realistic size, fitted, and resampled 200 times; a row says how far the
mean estimate is from the truth and how often the interval held it.
"""

import sys

import numpy as np

from bestresponse.report.stats.statistics import interval_of_draws
from bestresponse.theory.behaviour.choices import Choices, fit_choices, predict_hierarchy, predict_quantal
from bestresponse.theory.behaviour.mixtures import Histories, count_agreement, fit_mixture, resample
from bestresponse.theory.fitting import level_k
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import classic_strategy

NAMES = ("defector", "cooperator", "grim", "tit-for-tat")
SHARES, ERROR = np.array([0.4, 0.1, 0.2, 0.3]), 0.08
LAMBDA, TAU, LEVELS = 0.8, 1.5, np.array([0.2, 0.4, 0.3, 0.1])
DRAWS = 200


def draw_matches(units: int, rounds: int, rng: np.random.Generator) -> Histories:
    """Let players who err meet others who do, in pairs of strategies drawn by their shares."""
    automata = [classic_strategy(name) for name in NAMES]
    own, other = np.empty((2, units, rounds), dtype=np.int32)
    for i in range(units):
        pair = rng.choice(len(NAMES), 2, p=SHARES)
        states = [0, 0]
        for t in range(rounds):
            meant = [int(automata[k].mix[state, 1] > 0.5) for k, state in zip(pair, states, strict=True)]
            made = [1 - move if rng.random() < ERROR else move for move in meant]
            own[i, t], other[i, t] = made
            states = [automata[k].step[states[s], made[s], made[1 - s]] for s, k in enumerate(pair)]
    return Histories(own, other, automata, np.arange(units))


def recover_strategies(units: int, rounds: int, samples: int) -> None:
    """Print a row for every share and the error."""
    found = []
    for sample in range(samples):
        agreement = count_agreement([draw_matches(units, rounds, np.random.default_rng(sample))])
        fitted = fit_mixture(agreement, seed=sample)
        shares, errors = resample(agreement, fitted, DRAWS, np.arange(len(agreement.rows)), seed=sample)
        found.append((np.append(fitted.shares, fitted.error), np.column_stack([shares, errors])))
    bounds = [(units, (0.0, 1.0))] * len(NAMES) + [(units * rounds, (0.0, 0.5))]
    names = [*NAMES, "error"]
    report(f"strategies, {units} matches of {rounds} rounds", names, np.append(SHARES, ERROR), found, bounds)


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
                NormalForm(rng.permuted(np.tile([1.0, 2, 3, 4], (2, 1)), axis=1).reshape(2, 2, 2)) for _ in range(games)
            ]
            data = []
            for form, quantal in zip(forms, predict_quantal(forms, grid), strict=True):
                if model == "qre":
                    sides = [side[-1] for side in quantal]
                elif model == "level-k":
                    sides = [LEVELS @ side for side in level_k(form, 3).strategies]
                else:
                    sides = [side[0] for side in predict_hierarchy(form, np.array([TAU]))]
                data.append(Choices(form, tuple(rng.multinomial(choices, side).astype(float) for side in sides)))
            (fit,) = fit_choices(data, (model,), draws=DRAWS, seed=sample)
            found.append((fit.estimate, fit.resampled))
        bounds = [(games, (0.0, 1.0) if model == "level-k" else (-np.inf, np.inf))] * len(names)
        report(f"{model}, {games} games, {2 * choices} choices each", names, truth, found, bounds)


def report(what: str, names: list[str], truth: np.ndarray, found: list, bounds: list) -> None:
    """Print bias and coverage of every parameter; `bounds` says for each how many units there are and its bounds."""
    estimates = np.array([estimate for estimate, _ in found])
    held = [
        np.mean([interval_of_draws(e[k], draws[:, k], units, ends).contains(truth[k]) for e, draws in found])
        for k, (units, ends) in enumerate(bounds)
    ]
    for name, true, mean, spread, share in zip(
        names, truth, estimates.mean(axis=0), estimates.std(axis=0), held, strict=True
    ):
        print(f"| {what} | {name} | {true:g} | {mean - true:+.4f} | {spread:.4f} | {share:.3f} |", flush=True)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print(f"| {count} samples | parameter | truth | bias | spread | coverage |\n|---|---|---:|---:|---:|---:|")
    recover_strategies(200, 10, count)
    recover_strategies(1000, 4, count)
    recover_choices(72, 10, count)
