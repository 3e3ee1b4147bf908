"""The catalogue: names, sources, and the known solution of every classic."""

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.theory import catalogue


def gains(game, *profile):
    """How much each player could gain by deviating from a mixed profile."""
    found = []
    for i, own in enumerate(game.payoffs):
        values = own
        for j in reversed(range(game.num_players)):
            if j != i:
                values = np.tensordot(values, profile[j], axes=(j, 0))
        found.append(float(values.max() - values @ np.asarray(profile[i])))
    return found


def pure(game):
    """The labels of all pure equilibria."""
    best = [own == own.max(axis=i, keepdims=True) for i, own in enumerate(game.payoffs)]
    places = np.argwhere(np.logical_and.reduce(best))
    return [tuple(game.actions[i][a] for i, a in enumerate(place)) for place in places]


def test_every_entry_has_a_kebab_case_name_a_description_and_a_dated_source():
    for entry in catalogue.entries():
        assert entry.name == entry.name.lower().replace(" ", "-").replace("_", "-")
        assert entry.description.endswith(".")
        assert any(year in entry.citation for year in ("17", "19", "20"))


def test_every_entry_loads_as_a_game_of_its_own_name():
    assert [catalogue.load(name).name for name in catalogue.names()] == list(catalogue.names())


@pytest.mark.parametrize(
    "name",
    [
        "battle-of-the-sexes",
        "chicken",
        "hawk-dove",
        "matching-pennies",
        "oneill",
        "prisoners-dilemma",
        "rock-paper-scissors",
        "stag-hunt",
    ],
)
def test_the_best_known_classics_are_there(name):
    assert name in catalogue.names()


def test_names_are_read_leniently():
    assert catalogue.load("Battle of the Sexes").name == "battle-of-the-sexes"
    assert catalogue.load("prisoner's_dilemma").name == "prisoners-dilemma"


def test_a_misspelt_name_is_answered_with_the_nearest_one():
    with pytest.raises(UsageError, match="did you mean 'prisoners-dilemma'"):
        catalogue.load("prisoner-dilema")


def test_a_hopeless_name_is_answered_with_the_list():
    with pytest.raises(UsageError, match="expected one of: asymmetric-matching-pennies, "):
        catalogue.load("zzz")


PURE = {
    "aumann-chicken": [("yield", "dare"), ("dare", "yield")],
    "battle-of-the-sexes": [("opera", "opera"), ("football", "football")],
    "beauty-contest": [("0", "0", "0")],
    "bismarck-sea": [("north", "north")],
    "chicken": [("swerve", "straight"), ("straight", "swerve")],
    "coordination": [("left", "left"), ("right", "right")],
    "deadlock": [("defect", "defect")],
    "el-farol": [("go", "go", "stay"), ("go", "stay", "go"), ("stay", "go", "go")],
    "harmony": [("cooperate", "cooperate")],
    "hawk-dove": [("hawk", "dove"), ("dove", "hawk")],
    "hi-lo": [("high", "high"), ("low", "low")],
    "jordan-matching-pennies": [],
    "minimum-effort": [(str(k),) * 3 for k in range(1, 8)],
    "public-goods": [("0", "0", "0")],
    "prisoners-dilemma": [("defect", "defect")],
    "shapley": [],
    "snowdrift": [("shovel", "wait"), ("wait", "shovel")],
    "stag-hunt": [("stag", "stag"), ("hare", "hare")],
    "travelers-dilemma": [("2", "2")],
    "travelers-dilemma-10": [("2", "2")],
    "volunteers-dilemma": [
        ("volunteer", "wait", "wait"),
        ("wait", "volunteer", "wait"),
        ("wait", "wait", "volunteer"),
    ],
}


@pytest.mark.parametrize("name", PURE)
def test_pure_equilibria_are_the_known_ones(name):
    assert pure(catalogue.load(name)) == PURE[name]


THIRD, HALF = [1 / 3] * 3, [1 / 2] * 2
MIXED = {
    "asymmetric-matching-pennies": ([1 / 2, 1 / 2], [1 / 8, 7 / 8]),
    "battle-of-the-sexes": ([2 / 3, 1 / 3], [1 / 3, 2 / 3]),
    "chicken": ([0.9, 0.1], [0.9, 0.1]),
    "hawk-dove": (HALF, HALF),
    "inspection": ([0.1, 0.9], [0.8, 0.2]),
    "jordan-matching-pennies": (HALF, HALF, HALF),
    "matching-pennies": (HALF, HALF),
    "money-request": ([0, 0, 0, 0, 0.25, 0.25, 0.2, 0.15, 0.1, 0.05],) * 2,
    "oneill": ([0.2, 0.2, 0.2, 0.4], [0.2, 0.2, 0.2, 0.4]),
    "penalty-kicks": ([2299 / 5966, 3667 / 5966], [2505 / 5966, 3461 / 5966]),
    "rock-paper-scissors": (THIRD, THIRD),
    "rock-paper-scissors-lizard-spock": ([0.2] * 5, [0.2] * 5),
    "shapley": (THIRD, THIRD),
    "two-finger-morra": ([0, 3 / 5, 2 / 5, 0], [0, 4 / 7, 3 / 7, 0]),
    "volunteers-dilemma": ([1 - 0.5**0.5, 0.5**0.5],) * 3,
}


@pytest.mark.parametrize("name", MIXED)
def test_the_published_mixed_equilibrium_leaves_nothing_to_gain(name):
    assert gains(catalogue.load(name), *MIXED[name]) == pytest.approx(
        [0] * len(MIXED[name]), abs=1e-12
    )


def test_the_inspector_of_the_published_game_inspects_one_time_in_ten():
    game = catalogue.load("inspection")
    assert game.payoffs[:, 0, 1].tolist() == [-6, -90]
    assert game.payoffs[:, 1, 1].tolist() == [-10, 10]


def test_spock_vaporises_rock_and_is_poisoned_by_lizard():
    game = catalogue.load("rock-paper-scissors-lizard-spock")
    at = game.actions[0].index
    beaten = {
        "rock": ("lizard", "scissors"),
        "paper": ("rock", "spock"),
        "scissors": ("paper", "lizard"),
        "lizard": ("spock", "paper"),
        "spock": ("scissors", "rock"),
    }
    for winner, losers in beaten.items():
        assert [game.payoffs[0, at(winner), at(loser)] for loser in losers] == [1, 1]
    assert (game.payoffs[0] == 1).sum() == 10


def test_the_lower_claim_earns_two_more_and_the_higher_two_less():
    game = catalogue.load("travelers-dilemma-10")
    claims = game.actions[0].index
    assert game.payoffs[:, claims("5"), claims("9")].tolist() == [7, 3]
    assert game.payoffs[:, claims("9"), claims("9")].tolist() == [9, 9]
