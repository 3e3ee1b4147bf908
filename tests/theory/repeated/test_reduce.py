import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import (
    Automaton,
    behave_alike,
    classic_strategies,
    classic_strategy,
    constant,
    cooperative_actions,
    cycle,
    reduced,
    relabelled,
)
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.repeated.round_robin import exact_round_robin

DILEMMA = load("prisoners-dilemma")


@st.composite
def automata(draw):
    states = draw(st.integers(1, 6))
    places = st.integers(0, states - 1)
    mix = [draw(st.sampled_from([(1, 0), (0, 1), (0.5, 0.5), (0.25, 0.75)])) for _ in range(states)]
    step = [[[draw(places) for _ in range(2)] for _ in range(2)] for _ in range(states)]
    return Automaton("drawn", np.array(mix), np.array(step))


@settings(max_examples=60, deadline=None)
@given(automata(), automata(), st.sampled_from([0.0, 0.1]))
def test_a_reduced_automaton_earns_the_same_in_every_match(first, second, noise):
    rules = Repetition(7, noise)
    whole = exact_round_robin([first, second], DILEMMA, rules).totals
    small = exact_round_robin([reduced(first), reduced(second)], DILEMMA, rules).totals
    assert np.allclose(whole, small, rtol=0, atol=1e-12)
    assert reduced(first).states <= first.states
    assert behave_alike(first, reduced(first))


def test_states_that_do_the_same_become_one():
    sizes = {strategy.name: reduced(strategy).states for strategy in classic_strategies()}
    assert sizes["tit-for-tat"] == sizes["anti-tit-for-tat"] == sizes["grim"] == 2
    assert sizes["win-stay-lose-shift"] == sizes["generous-tit-for-tat"] == 2
    assert sizes["zd-extort-2"] == 5
    assert sizes["tit-for-two-tats"] == 3


def test_behaviour_is_compared_not_form():
    assert behave_alike(constant("a", [1, 0]), cycle("b", [0, 0, 0], 2))
    assert not behave_alike(
        classic_strategy("tit-for-tat"), classic_strategy("suspicious-tit-for-tat")
    )
    assert not behave_alike(constant("a", [1, 0]), constant("b", [1, 0, 0]))


def test_relabelling_lets_a_strategy_play_a_game_that_lists_defect_first():
    turned = NormalForm(DILEMMA.payoffs[:, ::-1, ::-1])
    pair = [classic_strategy("grim"), classic_strategy("alternator")]
    there = [relabelled(one, (1, 0), (1, 0)) for one in pair]
    assert np.array_equal(
        exact_round_robin(pair, DILEMMA, Repetition(9)).totals,
        exact_round_robin(there, turned, Repetition(9)).totals,
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [("prisoners-dilemma", (0, 0)), ("chicken", (0, 0)), ("stag-hunt", (0, 0))],
)
def test_cooperation_is_found_by_payoffs(name, expected):
    form = load(name)
    assert cooperative_actions(form) == expected
    assert cooperative_actions(NormalForm(form.payoffs[:, ::-1])) == (1, 0)


@pytest.mark.parametrize(
    "name", ["matching-pennies", "battle-of-the-sexes", "coordination", "rock-paper-scissors"]
)
def test_games_without_cooperation_say_why(name):
    with pytest.raises(InvalidGame, match="cooperat"):
        cooperative_actions(load(name))
