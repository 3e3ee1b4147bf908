"""How often the 95 % interval of a policy of sampled moves holds its true NashConv, in Kuhn poker.

    python benchmarks/interval_coverage.py [--trials 100] [--samples 10 40] [--seed 1]

Policies: Kuhn's equilibria (the first player bets the jack with probability a, the king with 3a), where the truth, 0,
is the least value possible and every sample looks exploitable, and mixed policies that are not in equilibrium.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

from bestresponse.studies.bench.sequential.arena import Arena, Partial
from bestresponse.studies.bench.sequential.policies import StatedPolicy
from bestresponse.theory.catalogue.trees import kuhn_poker
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import to_sequence_form
from bestresponse.theory.trees.sequence_form_lp import solve_tree

TREE = kuhn_poker()
ARENA = Arena(to_sequence_form(TREE), solve_tree(TREE).policy)
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
    return StatedPolicy(ARENA, (0, 1), Partial(drawn, EVERYWHERE), counts, number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--samples", type=int, nargs="+", default=[10, 40])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    labels = [one.label for one in TREE.infosets]
    rng = np.random.default_rng(options.seed)
    policies = {f"equilibrium, a = {a}": bet_in_equilibrium(eval_fraction(a)) for a in ("0", "1/6", "1/3")}
    policies |= {f"always {bet} to bet": dict.fromkeys(labels, bet) for bet in (0.5, 0.2)}
    policies["drawn"] = dict(zip(labels, rng.uniform(size=len(labels)), strict=True))
    heads = "".join(f"{one:>7}" for one in ("samples", "truth", "held", "below", "above"))
    print(f"{'policy':<24} {heads} {'mean ends':>16} {'s':>6}")
    for name, bets in policies.items():
        row = write_policy(bets)
        truth = StatedPolicy(ARENA, (0, 1), Partial(row, EVERYWHERE), {}).figures["nash_conv"] or 0.0
        for samples in options.samples:
            began = perf_counter()
            found = [sample(row, samples, k, rng).estimate("nash_conv") for k in range(options.trials)]
            ends = np.array([(one.low, one.high) for one in found if one is not None])
            below, above = float((truth < ends[:, 0] - 1e-9).mean()), float((truth > ends[:, 1] + 1e-9).mean())
            low, high = ends.mean(axis=0)
            print(
                f"{name:<24} {samples:>7} {truth:>7.3f} {1 - below - above:>6.2f} {below:>6.2f} {above:>6.2f}"
                f" {f'{low:.3f} - {high:.3f}':>16} {(perf_counter() - began) / options.trials:>6.2f}",
                flush=True,
            )


def eval_fraction(text: str) -> float:
    """Return the number that a fraction writes."""
    over, _, under = text.partition("/")
    return float(over) / float(under or 1)


if __name__ == "__main__":
    main()
