"""Strategies are drawn as automata under the names that the literature gives them."""

import xml.etree.ElementTree as ElementTree

import pytest

import bestresponse as br
from bestresponse.studies.behave.automata import (
    SHORT_NAMES,
    draw_automaton,
    label_state,
    list_transitions,
    name_in_literature,
)
from bestresponse.theory.repeated.automaton import classic_strategies, classic_strategy, reduced


@pytest.mark.parametrize(
    ("name", "moves", "steps"),
    [
        ("defector", ["D"], [(0, 0, "C, D")]),
        ("grim", ["C", "D"], [(0, 0, "C"), (0, 1, "D"), (1, 1, "C, D")]),
        ("tit-for-tat", ["C", "D"], [(0, 0, "C"), (0, 1, "D"), (1, 0, "C"), (1, 1, "D")]),
        # It stays where the other cooperates and shifts where the other defects.
        ("win-stay-lose-shift", ["C", "D"], [(0, 0, "C"), (0, 1, "D"), (1, 1, "C"), (1, 0, "D")]),
    ],
)
def test_an_automaton_is_drawn_by_its_states_and_the_moves_of_the_other(name, moves, steps):
    automaton = reduced(classic_strategy(name))
    assert [label_state(automaton, state) for state in range(automaton.states)] == moves
    assert list(list_transitions(automaton)) == steps


def test_a_state_in_which_a_lot_decides_says_how_likely_cooperation_is():
    generous = reduced(classic_strategy("generous-tit-for-tat"))
    assert [label_state(generous, state) for state in range(2)] == ["C", "C 33%"]


def test_a_drawing_is_a_picture_with_a_circle_for_every_state():
    picture = ElementTree.fromstring(draw_automaton(reduced(classic_strategy("tit-for-two-tats"))))
    circles = picture.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 3


def test_short_names_are_those_of_known_strategies():
    known = {automaton.name for automaton in classic_strategies()}
    assert set(SHORT_NAMES) <= known
    assert name_in_literature("tit-for-tat") == "tit-for-tat (TFT)"
    assert name_in_literature("my own") == "my own"


def test_the_report_draws_what_was_found(tmp_path):
    """Everybody defects, which two of the strategies would do: both are drawn."""
    played = br.tournament(
        "prisoners-dilemma", ["defector"], repetitions=3, rounds=5, output_dir=tmp_path / "played"
    )
    found = br.behave([played.path], fit=("strategies",), output_dir=tmp_path / "found")
    report = (found.path / "report.html").read_text()
    assert "Strategies as automata" in report
    assert "defector (ALLD)" in report
    assert "suspicious-tit-for-tat (D-TFT)" in report
    assert "cooperator (ALLC)" not in report
