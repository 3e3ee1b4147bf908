from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory import NormalForm
from bestresponse.theory.repeated.automaton import (
    Automaton,
    classic_strategies,
    classic_strategy,
    constant,
    cycle,
    memory_one,
    opponent_history,
)
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.repeated.round_robin import exact_round_robin

DILEMMA = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])


def totals(first, second, rounds, **rules):
    pair = [classic_strategy(first), classic_strategy(second)]
    return exact_round_robin(pair, DILEMMA, Repetition(rounds, **rules)).totals[0, 1].tolist()


@pytest.mark.parametrize(
    ("first", "second", "rounds", "expected"),
    [
        ("tit-for-tat", "defector", 10, [9, 14]),
        ("tit-for-tat", "cooperator", 10, [30, 30]),
        ("tit-for-tat", "suspicious-tit-for-tat", 4, [10, 10]),
        ("grim", "alternator", 6, [3 + 0 + 5 + 1 + 5 + 1, 3 + 5 + 0 + 1 + 0 + 1]),
        ("win-stay-lose-shift", "defector", 4, [0 + 1 + 0 + 1, 5 + 1 + 5 + 1]),
        ("tit-for-two-tats", "defector", 5, [0 + 0 + 1 + 1 + 1, 5 + 5 + 1 + 1 + 1]),
        ("anti-tit-for-tat", "tit-for-tat", 4, [3 + 5 + 1 + 0, 3 + 0 + 1 + 5]),
        ("cycler-ccd", "cooperator", 3, [11, 6]),
    ],
)
def test_matches_worked_out_by_hand(first, second, rounds, expected):
    assert totals(first, second, rounds) == pytest.approx(expected)


def test_extortion_keeps_its_promise_against_any_opponent():
    """ZD-extort-2 with these payoffs earns P + 2 (opponent's payoff - P) in the long run (Press &
    Dyson 2012)."""
    for opponent in ("random", "cooperator", "stochastic-cooperator"):
        own, other = np.array(totals("zd-extort-2", opponent, 20_000)) / 20_000
        assert own - 1 == pytest.approx(2 * (other - 1), abs=2e-3)


def test_continuation_shortens_the_match_as_expected():
    assert Repetition(1000, continuation=0.9).expected_weight == pytest.approx(10)
    assert totals("cooperator", "cooperator", 1000, continuation=0.9) == pytest.approx([30, 30])


def test_noise_flips_actions():
    assert totals("cooperator", "cooperator", 1, noise=1.0) == [1, 1]
    own, other = totals("cooperator", "defector", 1, noise=0.1)
    assert own == pytest.approx(0.9 * 0.1 * 3 + 0.1 * 0.1 * 5 + 0.1 * 0.9 * 1)
    assert other == pytest.approx(0.9 * 0.9 * 5 + 0.9 * 0.1 * 3 + 0.1 * 0.9 * 1)


def test_three_actions_are_played_too():
    rps = NormalForm.zero_sum([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    after = np.zeros((3, 3, 3))
    for other in range(3):
        after[:, other, (other + 1) % 3] = 1
    beat_last = memory_one("beat-last", [1, 0, 0], after)
    strategies = [
        beat_last,
        constant("rock", [1, 0, 0]),
        cycle("round", [0, 1, 2], 3),
        constant("even", [1 / 3] * 3),
    ]
    sure = exact_round_robin(strategies, rps, Repetition(9))
    assert sure.totals[0, 1].tolist() == [8, -8]
    assert sure.totals[0, 2].tolist() == [0, 0]
    assert sure.totals[3] == pytest.approx(np.zeros((4, 2)))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(1, 12))
def test_expected_totals_are_those_of_the_chain_walked_round_by_round(seed, actions, rounds):
    rng = np.random.default_rng(seed)
    strategies = []
    for number in range(2):
        states = int(rng.integers(1, 5))
        step = rng.integers(states, size=(states, actions, actions))
        strategies.append(Automaton(f"s{number}", rng.dirichlet(np.ones(actions), states), step))
    game = NormalForm(rng.normal(size=(2, actions, actions)))
    rules, (first, second) = Repetition(rounds, 0.1, 0.9), strategies
    mixes = [one.mix * 0.9 + (1 - one.mix) * 0.1 / (actions - 1) for one in strategies]
    chances, totals = {(0, 0): 1.0}, np.zeros(2)
    for _ in range(rounds):
        after = defaultdict(float)
        for (s, t), here in chances.items():
            for a, b in np.ndindex(actions, actions):
                both = here * mixes[0][s, a] * mixes[1][t, b]
                totals += both * game.payoffs[:, a, b]
                after[first.step[s, a, b], second.step[t, b, a]] += 0.9 * both
        chances = after
    assert exact_round_robin(strategies, game, rules).totals[0, 1] == pytest.approx(totals)


def test_every_classic_is_sound_and_named_once():
    found = classic_strategies()
    assert len(found) == len({a.name for a in found}) == 30
    with pytest.raises(UsageError, match="Did you mean tit-for-tat"):
        classic_strategy("tit-for-tad")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Automaton("x", [[0.5, 0.6]], np.zeros((1, 2, 2))),
        lambda: Automaton("x", [[0.5, 0.5]], np.ones((1, 2, 2))),
        lambda: Automaton("x", [[0.5, 0.5]], np.zeros((2, 2, 2))),
        lambda: exact_round_robin([constant("x", [1, 0, 0])], DILEMMA),
        lambda: exact_round_robin(
            [classic_strategy("grim")], NormalForm.zero_sum([[1, 2, 3], [4, 5, 6]])
        ),
    ],
)
def test_automata_that_do_not_fit_are_refused(make):
    with pytest.raises(InvalidGame):
        make()


def test_memory_of_the_opponent_is_as_deep_as_asked():
    last_two = opponent_history("x", lambda seen: int(seen == (1, 1)), 2)
    assert last_two.states == 7
    assert last_two.pure
