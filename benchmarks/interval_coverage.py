"""How often the 95 % intervals of the benchmark hold the truth.

    python benchmarks/interval_coverage.py [--trials 300] [--games 4 8 20 50 100] [--seed 1]
    python benchmarks/interval_coverage.py --differences [--trials 1000] [--seed 1]
    python benchmarks/interval_coverage.py --kuhn [--trials 100] [--samples 10 40] [--seed 1]
    python benchmarks/interval_coverage.py --places [--trials 1000] [--seed 1]

Of matrix games: players that are optimal but err, which is to choose an action by chance, in some
share of the games, and players that always err, on 3 x 3 zero-sum games; the truth is the mean over
20,000 games.

Of differences (`--differences`): pairs of such players on the same games, with the share of samples
in which the test finds a difference.

Of the places of tournaments (`--places`): everybody meets everybody, and itself, a few times; what
they earn in a match varies around a mean of the two, and the truth is the place by these means.

Of policies of sampled moves in Kuhn poker (`--kuhn`): Kuhn's equilibria (the first player bets the
jack with probability a, the king with 3a), where the truth, 0, is the least value possible and
every sample looks exploitable, and mixed policies that are not in equilibrium.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

from bestresponse.report.stats.differences import paired_difference
from bestresponse.report.stats.statistics import bound_mean
from bestresponse.studies.bench.games import Source, draw_games
from bestresponse.studies.bench.measure import measure_strategies
from bestresponse.studies.bench.policies import Arena, StatedPolicy
from bestresponse.studies.tournament.uncertainty import SampledMeans, measure_error
from bestresponse.theory.catalogue.trees import kuhn_poker
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import to_sequence_form
from bestresponse.theory.trees.sequence_form_lp import solve_tree

TREE = kuhn_poker()
ARENA = Arena(to_sequence_form(TREE), solve_tree(TREE).policy)
METRICS = {
    "gap_normalised": "worst_normalised",
    "exploitability_normalised": "worst_exploitability_normalised",
}
"""Losses, each with the most that it can be in a game."""
EVERYWHERE = np.ones(len(TREE.infosets), dtype=bool)


def bet_in_equilibrium(jack: float) -> dict[str, float]:
    """Return how often Kuhn's equilibrium bets, by information set."""
    first = {"J": jack, "Q": 0.0, "K": 3 * jack, "J pb": 0.0, "Q pb": jack + 1 / 3, "K pb": 1.0}
    return first | {"J p": 1 / 3, "Q p": 0.0, "K p": 1.0, "J b": 0.0, "Q b": 1 / 3, "K b": 1.0}


def write_policy(bets: dict[str, float]) -> Array:
    """Return a policy in a row from how often it bets."""
    row = np.zeros(int(TREE.first_move[-1]))
    for index, infoset in enumerate(TREE.infosets):
        start = TREE.first_move[index]
        bet = bets[infoset.label]
        for k, move in enumerate(infoset.moves):
            row[start + k] = bet if move == "bet" else 1 - bet
    return row


def sample(row: Array, samples: int, number: int, rng: np.random.Generator) -> StatedPolicy:
    """Draw moves at every information set, as a model does that is asked so often."""
    counts = {
        k: rng.multinomial(samples, row[TREE.first_move[k] : TREE.first_move[k + 1]]).astype(float)
        for k in range(len(TREE.infosets))
    }
    drawn = np.concatenate([counts[k] / samples for k in range(len(TREE.infosets))])
    return StatedPolicy(ARENA, (0, 1), drawn, EVERYWHERE, counts, number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kuhn", action="store_true")
    parser.add_argument("--differences", action="store_true")
    parser.add_argument("--places", action="store_true")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--games", type=int, nargs="+", default=[4, 8, 20, 50, 100])
    parser.add_argument("--samples", type=int, nargs="+", default=[10, 40])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.kuhn:
        cover_policies(options.trials or 100, options.samples, options.seed)
    elif options.places:
        cover_places(options.trials or 1000, options.seed)
    elif options.differences:
        cover_differences(options.trials or 1000, options.seed)
    else:
        cover_losses(options.trials or 300, options.games, options.seed)


def cover_losses(trials: int, sizes: list[int], seed: int) -> None:
    """Print, by player and number of games, how often the interval holds the mean loss and how wide
    it is."""
    rng = np.random.default_rng(seed)
    drawn = draw_games(Source(20_000, seed, (3, 3)))
    own, count = drawn.payoffs[:, 0], len(drawn.payoffs)
    by_chance = np.eye(3)[rng.integers(3, size=count)]
    mixes = {"optimal": drawn.solved.row}
    for share in (0.01, 0.05, 0.1, 0.3):
        errs = rng.random(count) < share
        mixes[f"errs in {share:.0%}"] = np.where(errs[:, None], by_chance, drawn.solved.row)
    mixes |= {
        "uniform": np.full((count, 3), 1 / 3),
        "always the first": np.tile([1.0, 0.0, 0.0], (count, 1)),
    }
    mixes["random"] = by_chance
    print("share of intervals that hold the truth / mean width")
    for figure, worst in METRICS.items():
        print(f"{figure:<28}{'truth':>7}" + "".join(f"{f'n = {n}':>14}" for n in sizes))
        for name, mix in mixes.items():
            rows = measure_strategies(own, -own, mix, drawn.solved.col)
            losses, most = (np.array([row[column] for row in rows]) for column in (figure, worst))
            cells = []
            for size in sizes:
                ends = []
                for _ in range(trials):
                    seen = rng.integers(count, size=size)
                    found = bound_mean(
                        losses[seen], (0.0, most[seen].max()), rng=rng, resamples=1000
                    )
                    ends.append((found.low, found.high))
                low, high = np.array(ends).T
                held = ((low <= losses.mean() + 1e-12) & (losses.mean() <= high)).mean()
                cells.append(f"{held:.3f} / {(high - low).mean():.3f}")
            print(
                f"  {name:<26}{losses.mean():>7.4f}" + "".join(f"{cell:>14}" for cell in cells),
                flush=True,
            )


PAIRS = (
    ("errs in 5 %", "errs in 5 %, too"),
    ("errs in 20 %", "errs in 20 %, too"),
    ("optimal", "errs in 5 %"),
    ("optimal", "errs in 20 %"),
    ("optimal", "maximin"),
    ("optimal", "trembles by 5 %"),
    ("maximin", "best reply to uniform"),
    ("maximin", "errs in 20 %"),
    ("uniform", "best reply to uniform"),
)


def cover_differences(trials: int, seed: int) -> None:
    """Print how often the interval of a difference in exploitability holds it, and the test."""
    rng = np.random.default_rng(seed)
    drawn = draw_games(Source(20_000, seed, (3, 3)))
    own, count = drawn.payoffs[:, 0], len(drawn.payoffs)
    optimal = drawn.solved.row
    uniform = np.full((count, 3), 1 / 3)
    mixes = {
        "optimal": optimal,
        "uniform": uniform,
        "maximin": np.eye(3)[own.min(axis=2).argmax(axis=1)],
        "best reply to uniform": np.eye(3)[own.mean(axis=2).argmax(axis=1)],
        "trembles by 5 %": 0.95 * optimal + 0.05 * uniform,
    }
    for share in (5, 20):
        for again in ("", ", too"):
            errs = rng.random(count) < share / 100
            by_chance = np.eye(3)[rng.integers(3, size=count)]
            mixes[f"errs in {share} %{again}"] = np.where(errs[:, None], by_chance, optimal)

    figure, worst = "exploitability_normalised", "worst_exploitability_normalised"
    measured = {
        name: measure_strategies(own, -own, mix, drawn.solved.col) for name, mix in mixes.items()
    }
    lost = {name: np.array([row[figure] for row in rows]) for name, rows in measured.items()}
    most = np.array([row[worst] for row in measured["optimal"]])
    print("games, players, truth: held / mean width / found; interval and test disagree")
    for games in (20, 50):
        for first, second in PAIRS:
            truth = float((lost[first] - lost[second]).mean())
            held, found, apart, width = 0, 0, 0, 0.0
            for _ in range(trials):
                seen = rng.integers(count, size=games)
                compared = paired_difference(
                    lost[first][seen],
                    lost[second][seen],
                    rng=20,
                    bounds=(-most[seen], most[seen]),
                    flips=1999,
                )
                interval = compared.difference
                is_found = compared.p_value <= 0.05
                held += interval.contains(truth)
                found += is_found
                apart += is_found is interval.contains(0.0)
                width += interval.high - interval.low
            print(
                f"{games:>3} {first} - {second}, {truth:.4f}: {held / trials:.3f} /"
                f" {width / trials:.3f} / {found / trials:.3f}; {apart}",
                flush=True,
            )


FIELDS = {
    "six alike": np.zeros(6),
    "six, two of them alike": np.array([0.0, 0.0, 0.1, 0.3, 0.6, 1.0]),
    "six far apart": np.arange(6) / 2,
    "twelve in steps": np.arange(12) / 10,
    "thirty in small steps": np.arange(30) / 20,
}
"""What participants earn on average beside what depends on the opponent."""


def cover_places(trials: int, seed: int) -> None:
    """Print how often the range of places holds the true place, and how wide it is."""
    print("participants, matches, errors: share of places held / of tournaments with all / width")
    for name, strengths in FIELDS.items():
        for repeats in (3, 10):
            for kind in ("normal", "win or lose"):
                held, whole, width = find_places_held(strengths, repeats, kind, trials, seed)
                print(
                    f"{name:<24}{repeats:>3} {kind:<12} {held:.3f} / {whole:.3f} / {width:.1f}",
                    flush=True,
                )


def find_places_held(
    strengths: Array, repeats: int, kind: str, trials: int, seed: int
) -> tuple[float, float, float]:
    """Draw tournaments of participants of known strength, and look for their places."""
    rng = np.random.default_rng(seed)
    count = len(strengths)
    apart = strengths[:, None] - strengths
    truth = strengths
    if kind == "win or lose":
        chances = 1 / (1 + np.exp(-apart))
        truth = chances.mean(axis=1).round(9)
    best = 1 + (truth > truth[:, None]).sum(axis=1)
    worst = count - (truth < truth[:, None]).sum(axis=1)
    counted = np.ones((count, count, 2), dtype=bool)
    plays = np.full((count, count), repeats)
    held, whole, width = 0.0, 0.0, 0.0
    for _ in range(trials):
        shape = (repeats, count, count)
        if kind == "win or lose":
            first = (rng.random(shape) < chances).astype(float)
            second = 1 - first
        else:
            shared = rng.normal(size=shape)
            first = strengths[:, None] + shared + rng.normal(size=shape)
            second = strengths + shared + rng.normal(size=shape)
        sample = np.stack([first, second, np.ones(shape)], axis=-1)
        errors = np.zeros((count, count, 2, 2))
        for pair in np.ndindex(count, count):
            errors[pair] = measure_error(sample[:, pair[0], pair[1]])
        means = (first.mean(axis=0).mean(axis=1) + second.mean(axis=0).mean(axis=0)) / 2
        found = SampledMeans(means, errors, counted, plays).places
        low, high = found or (np.ones(count), np.full(count, count))
        inside = (low <= worst) & (high >= best)
        held += inside.mean() / trials
        whole += float(inside.all()) / trials
        width += float((high - low).mean()) / trials
    return held, whole, width


def cover_policies(trials: int, sizes: list[int], seed: int) -> None:
    """Print how often the interval of a policy of sampled moves holds its NashConv."""
    labels = [one.label for one in TREE.infosets]
    rng = np.random.default_rng(seed)
    policies = {
        f"equilibrium, a = {a}": bet_in_equilibrium(eval_fraction(a)) for a in ("0", "1/6", "1/3")
    }
    policies |= {f"always {bet} to bet": dict.fromkeys(labels, bet) for bet in (0.5, 0.2)}
    policies["drawn"] = dict(zip(labels, rng.uniform(size=len(labels)), strict=True))
    heads = "".join(f"{one:>7}" for one in ("samples", "truth", "held", "below", "above"))
    print(f"{'policy':<24} {heads} {'mean ends':>16} {'s':>6}")
    for name, bets in policies.items():
        row = write_policy(bets)
        truth = StatedPolicy(ARENA, (0, 1), row, EVERYWHERE).metrics["nash_conv"] or 0.0
        for samples in sizes:
            began = perf_counter()
            found = [sample(row, samples, k, rng).estimate("nash_conv") for k in range(trials)]
            ends = np.array([(one.low, one.high) for one in found if one is not None])
            below, above = (
                float((truth < ends[:, 0] - 1e-9).mean()),
                float((truth > ends[:, 1] + 1e-9).mean()),
            )
            low, high = ends.mean(axis=0)
            print(
                f"{name:<24} {samples:>7} {truth:>7.3f} {1 - below - above:>6.2f} {below:>6.2f}"
                f" {above:>6.2f} {f'{low:.3f} - {high:.3f}':>16}"
                f" {(perf_counter() - began) / trials:>6.2f}",
                flush=True,
            )


def eval_fraction(text: str) -> float:
    """Return the number that a fraction writes."""
    over, _, under = text.partition("/")
    return float(over) / float(under or 1)


if __name__ == "__main__":
    main()
