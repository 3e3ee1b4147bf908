"""Games with types: their equilibria by definition, auctions, files and what is wrong in them."""

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from bestresponse.analysis.solve.solution import Wish
from bestresponse.analysis.solve.solve import solve_form
from bestresponse.core.errors import InvalidGame, NotCertified, SettingError, TooLarge, UsageError
from bestresponse.theory import (
    NormalForm,
    TypeCase,
    auction,
    build_cases,
    equilibrium_bid,
    interim_form,
    load_tree,
    nash,
    parse_matrix_json,
    policy_from_table,
    policy_regrets,
    pure_nash,
    to_normal_form,
)

Plan = dict[str, int]
"""What each type of a player does."""


def draw_cases(seed: int) -> list[TypeCase]:
    """Draw a game of two or three players with correlated types; few payoffs, so that ties come."""
    random = Random(seed)
    players = random.choice([2, 2, 3])
    actions = [random.randint(2, 3 if players == 2 else 2) for _ in range(players)]
    types = [[f"t{k}" for k in range(random.randint(1, 2))] for _ in range(players)]
    profiles = list(product(*types))
    weights = [random.randint(1, 4) for _ in profiles]
    cases = []
    for profile, weight in zip(profiles, weights, strict=True):
        numbers = [random.randint(0, 3) for _ in range(players * int(np.prod(actions)))]
        payoffs = np.array(numbers, dtype=object).reshape(players, *actions)
        cases.append(TypeCase(profile, Fraction(weight, sum(weights)), NormalForm(payoffs)))
    return cases


def expect(
    cases: list[TypeCase], seat: int, own: str, play: list[dict[str, list[Fraction]]]
) -> list:
    """Compute by definition what each action of a type earns, given that it is drawn."""
    count = cases[0].payoffs.shape[seat]
    earned = [Fraction(0)] * count
    drawn = sum(case.probability for case in cases if case.types[seat] == own)
    for case in cases:
        if case.types[seat] != own:
            continue
        for cell in np.ndindex(*case.payoffs.shape):
            chance = case.probability / drawn
            for other, action in enumerate(cell):
                if other != seat:
                    chance *= play[other][case.types[other]][action]
            earned[cell[seat]] += chance * Fraction(case.payoffs.payoffs[(seat, *cell)])
    return earned


def list_types(cases: list[TypeCase]) -> list[list[str]]:
    return [sorted({case.types[k] for case in cases}) for k in range(len(cases[0].types))]


def find_pure_by_definition(cases: list[TypeCase]) -> Iterator[tuple[int, ...]]:
    """Try all plans of all players."""
    types = list_types(cases)
    shape = cases[0].payoffs.shape
    agents = [(seat, own) for seat, names in enumerate(types) for own in names]
    for actions in product(*(range(shape[seat]) for seat, _ in agents)):
        play: list[dict] = [{} for _ in shape]
        for (seat, own), action in zip(agents, actions, strict=True):
            play[seat][own] = [Fraction(k == action) for k in range(shape[seat])]
        chosen = zip(agents, actions, strict=True)
        if all(
            expect(cases, seat, own, play)[action] == max(expect(cases, seat, own, play))
            for (seat, own), action in chosen
        ):
            yield actions


@pytest.mark.parametrize("part", range(6))
def test_pure_equilibria_are_those_by_definition_interim_and_ex_ante(part: int) -> None:
    for seed in range(part, 300, 6):
        cases = draw_cases(seed)
        tree = build_cases(cases)
        expected = set(find_pure_by_definition(cases))
        form = interim_form(tree)
        in_order = [f"{own}" for own in form.players]
        agents = [
            f"player {seat + 1}: {own}" if len(cases[0].types) > 2 else f"{who}: {own}"
            for seat, (who, names) in enumerate(
                zip(cases[0].payoffs.players, list_types(cases), strict=True)
            )
            for own in names
        ]
        assert sorted(in_order) == sorted(agents)
        turn = [in_order.index(agent) for agent in agents]
        assert {tuple(cell[k] for k in turn) for cell in pure_nash(form)} == expected
        plans = to_normal_form(tree)
        assert len(pure_nash(plans)) == len(expected)


@pytest.mark.parametrize("part", range(4))
def test_in_every_equilibrium_no_type_gains_by_definition(part: int) -> None:
    mixed = 0
    for seed in range(part, 60, 4):
        cases = draw_cases(seed)
        form = interim_form(build_cases(cases))
        for e in nash(form, seconds=0.5):
            play: list[dict] = [{} for _ in cases[0].types]
            for name, mix in zip(form.players, e.exact or e.strategies, strict=True):
                who, own = name.split(": ")
                seat = cases[0].payoffs.players.index(who)
                play[seat][own] = list(map(Fraction, mix))
            for seat, names in enumerate(list_types(cases)):
                for own in names:
                    earned = expect(cases, seat, own, play)
                    got = sum(p * u for p, u in zip(play[seat][own], earned, strict=True))
                    assert max(earned) - got <= (0 if e.exact else 1e-8)
            mixed += e.kind == "mixed"
    assert mixed > 5


# Ann is strong with probability 1/3. A strong Ann fights in any case. Bob earns 2 by fighting one
# who yields, and loses 1 against a strong one who fights: he fights. A weak Ann then yields.
DUEL = {
    "name": "duel",
    "players": ["Ann", "Bob"],
    "actions": [["fight", "yield"], ["fight", "yield"]],
    "cases": [
        {
            "types": ["strong", "unsure"],
            "probability": "1/3",
            "row": [[1, 2], [0, 0]],
            "col": [[-1, 0], [2, 0]],
        },
        {
            "types": ["weak", "unsure"],
            "probability": "2/3",
            "row": [[-2, 2], [0, 0]],
            "col": [[1, 0], [2, 0]],
        },
    ],
}


def test_a_file_with_cases_is_a_game_with_types() -> None:
    tree = parse_matrix_json(json.dumps(DUEL))
    form = interim_form(tree)
    assert form.players == ("Ann: strong", "Ann: weak", "Bob: unsure")
    assert form.rationals is not None
    # Weak Ann fights as strong Ann does: Bob's fight earns -1/3 + 2/3.
    assert form.given[2][0, 0].tolist() == [Fraction(1, 3), 0]
    solved = solve_form(tree, Wish("interim"))
    (found,) = solved.equilibria
    assert found.policy.at("Ann", "strong") == {"fight": 1.0, "yield": 0.0}
    assert found.policy.at("Ann", "weak") == {"fight": 0.0, "yield": 1.0}
    assert found.policy.at("Bob", "unsure") == {"fight": 1.0, "yield": 0.0}
    assert found.payoffs == pytest.approx({"Ann": 1 / 3, "Bob": -1 / 3 + 4 / 3})
    assert solved.complete


def change(path: tuple, value: object) -> str:
    data = json.loads(json.dumps(DUEL))
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (("cases", 0, "probability"), "1/2", "sum to 1.16667; expected 1"),
        (("cases", 0, "probability"), "-1/3", r"cases\[0\]: expected a probability from 0 to 1"),
        (("cases", 0, "probability"), "often", r"cases\[0\], probability: expected a number"),
        (("cases", 0, "probability"), [1], r"cases\[0\], probability: expected a number, got a li"),
        (("cases", 1, "types"), ["weak"], r"cases\[1\]: expected a type for each of 2 players"),
        (("cases", 1, "types"), "weak", r"cases\[1\], types: expected a list of names"),
        (("cases", 1, "col"), None, r"cases\[1\]: expected 'zero_sum', 'row' and 'col'"),
        (("cases", 1, "probability"), None, r"cases\[1\]: expected an object with types"),
        (("cases", 1, "actions"), [["a", "b"], ["c", "d"]], r"cases\[1\]: expected the players an"),
        (("cases",), [], "cases: expected at least one"),
        (("cases",), {}, "cases: expected a list, got an object"),
        (("row",), [[1]], r"expected 'cases' and \['actions', 'name', 'players'\], got row"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(path: tuple, value: object, why: str) -> None:
    with pytest.raises(InvalidGame, match=why):
        parse_matrix_json(change(path, value))


def test_a_type_that_is_never_drawn_is_refused() -> None:
    data = json.loads(json.dumps(DUEL))
    data["cases"][0]["probability"] = 0
    data["cases"][1]["probability"] = 1
    with pytest.raises(InvalidGame, match="the type 'strong' of Ann has probability 0"):
        parse_matrix_json(json.dumps(data))


def test_who_does_not_learn_the_own_type_plays_against_the_mean_of_the_cases() -> None:
    data = json.loads(json.dumps(DUEL))
    for case in data["cases"]:
        case["types"] = ["Ann", "unsure"]
    tree = parse_matrix_json(json.dumps(data))
    assert len(tree.infosets) == 2
    # Ann's fight against a fight: 1/3 - 4/3.
    assert interim_form(tree).given[0].tolist() == [[-1, 2], [0, 0]]


def test_only_games_in_which_all_move_at_once_have_an_interim_form() -> None:
    with pytest.raises(UsageError, match="the method normal-form takes any tree"):
        interim_form(load_tree("kuhn-poker"))
    with pytest.raises(TooLarge, match="10 types with their actions make 60,466,176 cells"):
        interim_form(auction("first-price", range(5), range(6)))
    with pytest.raises(SettingError, match="interim solves trees"):
        solve_form(NormalForm.zero_sum([[1, -1], [-1, 1]]), Wish("interim"))


def test_a_search_without_time_ends() -> None:
    tree = auction("all-pay", [1, 2, 3], [0, 1, 2])
    try:
        found = nash(interim_form(tree), seconds=0.0)
    except NotCertified:
        return
    assert not found.complete


@pytest.mark.parametrize("bidders", [2, 3])
def test_nobody_gains_by_a_lie_in_a_second_price_auction(bidders: int) -> None:
    values = [0, 1, 2, 4] if bidders == 2 else [0, 1, 3]
    tree = auction("second-price", values, bidders=bidders)
    truth = {}
    for name in tree.players:
        own = [i.label for i in tree.infosets if tree.players[i.player] == name]
        truth[name] = {value: {value: 1.0} for value in own}
    assert max(policy_regrets(tree, policy_from_table(tree, truth)).values()) <= 1e-12


def test_two_bidders_in_a_small_first_price_auction_by_hand() -> None:
    # Values 0, 1, 2, each with 1/3. Both bid 0 at 0 and at 1. Who has 2 and bids 1 beats both and
    # ties its like: 1 x (1/3 + 1/3 + 1/6) = 5/6; by bidding 0 it ties all three but the one who
    # bids 1: 2 x (1/6 + 1/6) = 2/3. Who has 1 bids 0: 1 x (1/6 + 1/6) = 1/3, by bidding 1 nothing.
    form = interim_form(auction("first-price", [0, 1, 2]))
    assert (0, 0, 1, 0, 0, 1) in pure_nash(form)
    cell = (0, 0, 1, 0, 0, 1)
    assert [form.given[k][cell] for k in range(3)] == [0, Fraction(1, 3), Fraction(5, 6)]


@pytest.mark.parametrize("kind", ["first-price", "all-pay"])
def test_the_closed_form_is_nearly_an_equilibrium_on_a_grid(kind: str) -> None:
    grain = 8
    values = [Fraction(k, grain) for k in range(grain + 1)]
    bids = [Fraction(k, 2 * grain) for k in range(grain + 2)]
    tree = auction(kind, values, bids)
    table = {}
    for name in tree.players:
        plan = {}
        for value in values:
            wanted = equilibrium_bid(kind, float(value))
            nearest = min(bids, key=lambda bid: abs(float(bid) - wanted))
            plan[str(value)] = {str(nearest): 1.0}
        table[name] = plan
    near = max(policy_regrets(tree, policy_from_table(tree, table)).values())
    flat = {name: {own: {"0": 1.0} for own in table[name]} for name in tree.players}
    assert near < 0.02
    assert max(policy_regrets(tree, policy_from_table(tree, flat)).values()) > 0.15


def test_the_winner_of_a_tie_is_drawn_and_everybody_pays_in_an_all_pay_auction() -> None:
    form = interim_form(auction("all-pay", [3], [0, 1]))
    assert form.given[0].tolist() == [[Fraction(3, 2), 0], [2, Fraction(1, 2)]]
    second = interim_form(auction("second-price", [3], [0, 1]))
    assert second.given[0].tolist() == [[Fraction(3, 2), 0], [3, 1]]


def test_an_unknown_auction_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="expected one of first-price, second-price, all-pay"):
        auction("dutch", [1])
    with pytest.raises(UsageError, match="two bidders or more"):
        auction("all-pay", [1], bidders=1)
