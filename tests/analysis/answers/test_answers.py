"""Single answers by name: every question is answered as data and as a page, and settings are read
or refused."""

import json

import numpy as np
import pytest

from bestresponse.analysis.answers import (
    CONCEPTS,
    DYNAMICS,
    TREE_CONCEPTS,
    ask_game,
    read_profile,
    read_setting,
)
from bestresponse.core.errors import UsageError
from bestresponse.games.lookup import LoadedGame, find_game
from bestresponse.report.page import render
from bestresponse.theory import NormalForm

# Hawk-dove with payoffs that are fitnesses: value 4, cost 6, 3 added.
HAWK_DOVE = NormalForm.bimatrix([[2, 7], [3, 5]], [[2, 3], [7, 5]], actions=(("hawk", "dove"),) * 2)


def asked(game, **question):
    return ask_game(LoadedGame("given", "file", game), **question)


@pytest.mark.parametrize("name", [question.name for question in DYNAMICS])
def test_every_dynamic_is_answered_as_data_and_as_a_page(name):
    settings = {} if name == "alpha-rank" else {"steps": 50}
    found = asked(HAWK_DOVE, dynamics=name, settings=settings)
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert (data["game"], data["asked"]) == ("given", name)
    assert data["method"]
    assert "Method: " in render(found.to_document(drawn=True))


@pytest.mark.parametrize("name", [question.name for question in CONCEPTS])
def test_every_concept_is_answered_as_data_and_as_a_page(name):
    found = asked(HAWK_DOVE, concept=name)
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["asked"] == name
    assert name in render(found.to_document(drawn=True))


def test_the_replicator_leads_to_the_mixed_equilibrium_of_hawk_dove():
    # Hawks and doves earn the same where 2 h + 7 (1 - h) = 3 h + 5 (1 - h): two thirds of hawks.
    data = asked(
        HAWK_DOVE,
        dynamics="replicator",
        settings={"start": "0.1,0.9/0.1,0.9", "one_population": "yes"},
    ).to_json()
    assert data["final"]["row"]["hawk"] == pytest.approx(2 / 3, abs=1e-6)
    assert data["gap"] < 1e-5
    assert len(data["path"]["times"]) == len(data["path"]["strategies"]["row"]["hawk"]) <= 200


def test_concepts_have_their_values():
    assert (
        asked(HAWK_DOVE, concept="level-k", settings={"level": 1}).to_json()["predicted"]["row"][
            "hawk"
        ]
        == 1.0
    )
    response = asked(HAWK_DOVE, concept="quantal-response", settings={"precision": 0}).to_json()
    assert response["strategies"]["col"] == {"hawk": 0.5, "dove": 0.5}
    assert asked(HAWK_DOVE, concept="ordinal").to_json()["name"] == "chicken"
    assert asked(find_game("prisoners-dilemma").game, concept="rationalizable").to_json()["kept"][
        "row"
    ] == ["defect"]
    levels = asked(HAWK_DOVE, concept="maximin").to_json()["values"]
    assert levels == {"row": 3.0, "col": 3.0}


def test_a_tree_is_asked_in_its_normal_form_and_the_threat_of_the_incumbent_is_not_perfect():
    data = ask_game(find_game("entry-deterrence"), concept="perfect").to_json()
    perfect = [e["strategies"]["entrant"]["market: in"] for e in data["equilibria"] if e["perfect"]]
    assert perfect == [1.0]
    assert len(data["equilibria"]) > 1


@pytest.mark.parametrize(
    ("question", "settings", "sentence"),
    [
        (
            {"concept": "nonsense"},
            {},
            "concept: there is no 'nonsense'; expected one of quantal-response",
        ),
        ({"dynamics": "replicator"}, {"speed": 3}, "it has start=, steps=10000, size=0.01"),
        ({"dynamics": "replicator"}, {"steps": "many"}, "steps: expected a whole number"),
        ({"dynamics": "replicator"}, {"one_population": "perhaps"}, "expected yes or no"),
        ({"dynamics": "replicator"}, {"form": "cubic"}, "expected one of euler, rk4, discrete"),
        ({"concept": "correlated"}, {"objective": "envy"}, "expected one of welfare"),
        ({}, {}, "expected either dynamics or concept"),
    ],
)
def test_what_is_not_there_is_refused_in_a_sentence(question, settings, sentence):
    with pytest.raises(UsageError, match=sentence):
        asked(HAWK_DOVE, **question, settings=settings)


def test_settings_have_the_type_of_their_default():
    assert read_setting("steps", 1, "3") == 3
    assert read_setting("size", 1.0, "3") == 3.0
    assert read_setting("plus", True, "no") is False
    assert read_setting("rate", None, "0.5") == 0.5
    assert read_setting("start", None, "1,0/0,1") == "1,0/0,1"


def test_a_profile_is_read_player_by_player():
    assert read_profile(HAWK_DOVE, "") is None
    assert np.array(read_profile(HAWK_DOVE, "1,0/0.25,0.75")).tolist() == [[1, 0], [0.25, 0.75]]
    with pytest.raises(UsageError, match="expected probabilities such as"):
        read_profile(HAWK_DOVE, "a,b")


def test_concepts_of_trees_are_asked_of_trees_only():
    data = ask_game(find_game("entry-deterrence"), concept="subgame-perfect").to_json()
    assert [e["payoffs"] for e in data["equilibria"]] == [{"entrant": 2.0, "incumbent": 2.0}]
    assert data["complete"] is True
    held = ask_game(find_game("kuhn-poker"), concept="sequential")
    assert held.to_json()["policy"]["player 2"]["K b"] == {"pass": 0.0, "bet": 1.0}
    assert "Beliefs" in render(held.to_document())
    with pytest.raises(UsageError, match="is for games played in turns; given is a table"):
        asked(HAWK_DOVE, concept="sequential")


@pytest.mark.parametrize(("kind", "first"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_path_is_drawn_in_lines_or_in_pixels(kind, first):
    chart = ask_game(
        find_game("hawk-dove"), dynamics="replicator", settings={"steps": 20}
    ).answer.chart
    assert chart.draw(kind).startswith(first)


@pytest.mark.parametrize("name", [question.name for question in TREE_CONCEPTS])
def test_every_concept_of_trees_is_answered_as_data_and_as_a_page(name):
    found = ask_game(find_game("entry-deterrence"), concept=name)
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["asked"] == name
    assert name in render(found.to_document(drawn=True))


def test_a_leader_may_deter_entry():
    # (out, fight) earns 1 and 5; the incumbent that leads commits to fight.
    led = ask_game(
        find_game("entry-deterrence"), concept="stackelberg", settings={"leader": "incumbent"}
    ).to_json()
    assert led["payoffs"] == pytest.approx({"entrant": 1.0, "incumbent": 5.0})
    assert led["policy"]["entrant"]["market"]["out"] == 1.0


def test_a_commitment_in_a_table_is_told_in_fractions():
    # The follower is indifferent at one half, and takes the column that the leader likes better.
    game = NormalForm.bimatrix([[2, 4], [1, 3]], [[1, 0], [0, 1]])
    data = asked(game, concept="stackelberg").to_json()
    assert data["strategies_exact"]["row"] == {"a0": "1/2", "a1": "1/2"}
    assert data["payoffs_exact"] == {"row": "7/2", "col": "1/2"}
    assert data["strategies"]["col"] == {"a0": 0.0, "a1": 1.0}
