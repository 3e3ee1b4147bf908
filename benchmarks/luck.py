"""How many plays it saves to take luck out of payoffs, and whether that biases the mean.

    python benchmarks/luck.py [PLAYS] [GAME ...]        default: 100000 kuhn-poker leduc-poker pig

The first seat plays the equilibrium, errs in some share of its moves or plays at random; known are
chance and the equilibrium of the other seat, as it is where a model plays. Factors are variances
with luck over variances without; errors are in standard errors, from what the strategies expect or,
in Pig, from the same plays with luck.
"""

import sys
from random import Random

import numpy as np

from bestresponse.analysis.decisions import measure_luck
from bestresponse.analysis.truth import TreeTruth, find_truth
from bestresponse.core.ask import Lottery
from bestresponse.core.episode import Record, Submission
from bestresponse.core.player import Decision
from bestresponse.games.lookup import find_game
from bestresponse.games.pig.rules import Pig
from bestresponse.players.lookup import find_strategy
from bestresponse.report.stats.luck import take_out_luck
from bestresponse.theory.trees.sequence_form import policy_value
from bestresponse.theory.trees.tree import Policy

ERRORS = {"equilibrium": 0.0, "20 % errors": 0.2, "random": 1.0}


def draw_play(game, chances, error, rng):
    """Draw one play; the first role errs by that probability."""
    state = game.start()
    submissions = []
    while asks := game.asks(state):
        ((role, ask),) = asks.items()
        if isinstance(ask, Lottery):
            outcomes, weights = zip(*ask.chances, strict=True)
        elif role == game.roles[0] and rng.random() < error:
            outcomes, weights = ask.options, None
        else:
            mix = chances[role](game.view(state, role), ask)
            outcomes, weights = list(mix), [max(share, 0.0) for share in mix.values()]
        move = rng.choices(outcomes, weights)[0]
        submissions.append(Submission(role, Decision(move)))
        state = game.apply(state, {role: move})
    return Record(game.name, game.version, {}, tuple(submissions), game.payoffs(state))


def expect(truth, error):
    """Return what the first seat expects by the policies, None where there is no tree."""
    if not isinstance(truth, TreeTruth):
        return None
    tree = truth.tree
    row = truth.theory.policies[0].probabilities.copy()
    for number, infoset in enumerate(tree.infosets):
        if infoset.player == 0:
            moves = slice(tree.first_move[number], tree.first_move[number + 1])
            row[moves] = (1 - error) * row[moves] + error / len(row[moves])
    return policy_value(tree, Policy(tree, row))[tree.players[0]]


def main(plays=100_000, *names):
    for name in names or ("kuhn-poker", "leduc-poker", "pig"):
        game = Pig(20) if name == "pig" else find_game(name).playable()
        truth = find_truth(game)
        seated = {role: find_strategy("equilibrium", game, role, 0) for role in game.roles}
        chances = {role: player.find_chances for role, player in seated.items()}
        known = {game.roles[1]: chances[game.roles[1]]}
        for who, error in ERRORS.items():
            rng = Random(1)
            paid, luck = [], []
            for _ in range(int(plays)):
                record = draw_play(game, chances, error, rng)
                paid.append(record.payoffs[game.roles[0]])
                luck.append(measure_luck(record, game, truth, known)[:, 0])
            paid, luck = np.array(paid), np.array(luck).T
            without = take_out_luck(paid, luck)
            true = expect(truth, error)
            spread = max(without.std(), 1e-9)
            if true is None:
                bias = (without.mean() - paid.mean()) / (paid.std() / len(paid) ** 0.5)
            else:
                bias = (without.mean() - true) / (spread / len(paid) ** 0.5)
            factor = paid.var() / spread**2
            ratios = []
            for start in range(0, len(paid) - 199, 200):
                part = slice(start, start + 200)
                left = max(take_out_luck(paid[part], luck[:, part]).var(), 1e-18)
                ratios.append(paid[part].var() / left)
            low = np.quantile(ratios, [0, 0.05])
            print(
                f"{name:12s} {who:12s} x{factor:.3g}, error {bias:+.1f} standard errors;"
                f" of 200 plays each: least x{low[0]:.3g}, 5 % x{low[1]:.3g}",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
