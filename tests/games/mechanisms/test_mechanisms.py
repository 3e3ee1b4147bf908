"""Mechanisms are functions from games to games: what they make is what their definitions say."""

import re
from itertools import product

import numpy as np
import pytest
from tests.oracles import mechanisms_by_brute_force as oracle

import bestresponse as br
from bestresponse.analysis.solve.solution import Wish
from bestresponse.analysis.solve.solve import solve_form
from bestresponse.core.errors import BestResponseError, TooLarge, UsageError
from bestresponse.core.game import NATURE
from bestresponse.games.kit import check_game
from bestresponse.games.lookup import NamedGame, find_game
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.mechanisms import (
    mechanisms,
    with_contract,
    with_mediator,
    with_repeated,
    with_reputation,
    with_talk,
)
from bestresponse.games.mechanisms.contract import NOTHING, OFFER, REFUSE, SIGN
from bestresponse.games.mechanisms.plays import walk_plays
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.compile import compile_game

SEEDS = range(100)


def make_game(table):
    sizes = oracle.find_sizes(table)
    payoffs = np.zeros((len(sizes), *sizes))
    for cell, paid in table.items():
        payoffs[(slice(None), *cell)] = paid
    players = tuple(f"p{seat}" for seat in range(len(sizes)))
    actions = tuple(tuple(f"m{move}" for move in range(size)) for size in sizes)
    return MatrixGame(NormalForm(payoffs, players, actions, "drawn"))


def find_cell(step):
    return tuple(int(move[1:]) for _, move in step)


def find_pure(game):
    solved = solve_form(compile_game(game), Wish())
    assert solved.table.nash.complete
    return {
        tuple(round(float(one), 9) for one in equilibrium.payoffs)
        for equilibrium in solved.table.nash.equilibria
        if equilibrium.kind == "pure"
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_a_contract_pays_what_its_definition_says(seed):
    table = oracle.draw_table(seed)
    game = with_contract(make_game(table))
    payment = oracle.find_payment(table)
    assert find_cell(game.agreed[0]) == oracle.agree(table)
    assert game.payment == payment
    seen = set()
    for play in walk_plays(game):
        *told, last = play.steps
        cell = find_cell(last)
        offered = told[0] == (("p0", OFFER),)
        in_force = offered and all(answer == SIGN for _, answer in told[1])
        assert play.payoffs == pytest.approx(oracle.pay_contract(table, payment, in_force, cell))
        seen.add((offered, tuple(answer for _, answer in told[-1]) if offered else (), cell))
    sizes = oracle.find_sizes(table)
    answers = [(False, ())] + [
        (True, said) for said in product((SIGN, REFUSE), repeat=len(sizes) - 1)
    ]
    assert seen == {(*case, cell) for case in answers for cell in table}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_mediator_makes_the_table_of_its_definition(seed):
    table = oracle.draw_table(seed)
    form = with_mediator(make_game(table)).form
    expected = oracle.mediate(table)
    assert form.payoffs[0].size == len(expected)
    for cell, paid in expected.items():
        assert tuple(form.payoffs[(slice(None), *cell)]) == paid


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed % 4 == 0])
def test_equilibria_with_a_contract_are_those_of_all_strategies(seed):
    table = {cell: paid for cell, paid in oracle.draw_table(seed).items() if max(cell) < 2}
    game = with_contract(make_game(table))
    payment = oracle.find_payment(table)
    listed = oracle.list_contract_strategies(table)
    expected = oracle.find_pure_payoffs(
        listed, lambda chosen: oracle.play_contract(table, payment, chosen)
    )
    assert find_pure(game) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_talk_changes_no_payoff_whatever_is_said(seed):
    table = oracle.draw_table(seed)
    game = with_talk(make_game(table))
    seen = {(find_cell(one.steps[0]), find_cell(one.steps[1])) for one in walk_plays(game)}
    assert seen == set(product(table, table))
    for play in walk_plays(game):
        assert play.payoffs == table[find_cell(play.steps[1])]


@pytest.mark.parametrize("seed", SEEDS)
def test_labels_follow_from_past_moves_and_nothing_else_is_seen(seed):
    table = oracle.draw_table(seed)
    game = with_reputation(make_game(table), 2)
    agreed = oracle.agree(table)
    assert tuple(int(move[1:]) for move in game.agreed) == agreed
    told = {}
    for play in walk_plays(game):
        cells = [find_cell(step) for step in play.steps]
        assert play.payoffs == tuple(map(sum, zip(*(table[cell] for cell in cells), strict=True)))
        state = game.apply(game.start(), dict(play.steps[0]))
        bad = oracle.blame(agreed, cells[:1])[0]
        assert {game.roles.index(role) for role in game.find_blamed(state)[1]} == bad
        for seat, role in enumerate(game.roles):
            known = (role, cells[0][seat], bad)
            told.setdefault(known, set()).add(game.view(state, role).key)
    assert all(len(keys) == 1 for keys in told.values())
    assert len(set.union(*told.values())) == len(told)


RULES = [(2, 1.0, 1.0, 0.0), (3, 0.5, 1.0, 0.0), (3, 1.0, 0.5, 0.0), (2, 0.75, 0.5, 0.25)]


@pytest.mark.parametrize("seed", SEEDS)
def test_repetition_pays_what_its_definition_says(seed):
    table = oracle.draw_table(seed)
    rounds, continuation, discount, noise = RULES[seed % 4]
    game = with_repeated(make_game(table), rounds, continuation, discount, noise)

    def expect(state):
        asks = game.asks(state)
        if not asks:
            return np.array(list(game.payoffs(state).values()))
        if NATURE in asks:
            drawn = dict(asks[NATURE].chances).items()
            return sum(chance * expect(game.apply(state, {NATURE: one})) for one, chance in drawn)
        history = tuple(tuple(int(move[1:]) for move in moves) for moves in state.played)
        moves = {}
        for seat, (role, ask) in enumerate(asks.items()):
            move = oracle.plan_move(seed, seat, history, len(ask.options))
            moves[role] = f"m{move}"
        return expect(game.apply(state, moves))

    expected = oracle.expect_repeated(table, seed, *RULES[seed % 4])
    assert expect(game.start()) == pytest.approx(np.array(expected))


def draw_two_by_two(seed):
    return {cell: paid for cell, paid in oracle.draw_table(seed).items() if max(cell) < 2}


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed % 8 == 0])
@pytest.mark.parametrize(
    ("change", "list_strategies", "play"),
    [
        (with_talk, oracle.list_talk_strategies, oracle.play_talk),
        (
            lambda game: with_reputation(game, 2),
            oracle.list_label_strategies,
            oracle.play_labels,
        ),
        (
            lambda game: with_repeated(game, 2),
            oracle.list_repeated_strategies,
            oracle.play_repeated,
        ),
    ],
    ids=["talk", "reputation", "repeated"],
)
def test_equilibria_are_those_of_all_strategies(seed, change, list_strategies, play):
    table = draw_two_by_two(seed)
    listed = list_strategies(table)
    expected = oracle.find_pure_payoffs(listed, lambda chosen: play(table, chosen))
    assert find_pure(change(make_game(table))) == expected


NAMES = {
    "contract": "contract",
    "mediator": "mediator",
    "repeated": "repeated(rounds=2)",
    "reputation": "reputation(rounds=2)",
    "talk": "talk(messages=yes;no)",
}
COMPOSE = {
    "contract": {"talk"},
    "mediator": {"contract", "repeated", "reputation", "talk"},
    "repeated": {"contract", "talk"},
    "reputation": {"contract", "talk"},
    "talk": {"talk"},
}
"""What may come behind a mechanism: worked out from what each needs."""


@pytest.mark.parametrize(("first", "second"), list(product(NAMES, NAMES)))
def test_any_two_mechanisms_compose_or_refuse_in_one_sentence(first, second):
    name = f"prisoners-dilemma with {NAMES[first]} with {NAMES[second]}"
    if second in COMPOSE[first]:
        check_game(find_game(name).playable(), 1)
        return
    with pytest.raises(UsageError) as refused:
        find_game(name)
    assert re.fullmatch(r"[^\n]*prisoners-dilemma[^\n]*", str(refused.value))


def test_every_mechanism_is_one_of_the_pairs():
    assert set(mechanisms.names()) == set(NAMES)


def test_what_a_model_reads_keeps_every_promise_of_a_game():
    for name in (
        "prisoners-dilemma with contract",
        "prisoners-dilemma with mediator",
        "prisoners-dilemma with mediator with contract",
        "trust(endowment=2) with contract",
        "centipede with contract",
        "volunteers-dilemma with mediator",
        "volunteers-dilemma with reputation(continuation=0.8)",
        "centipede with talk(messages=yes;no)",
    ):
        for seed in range(3):
            check_game(find_game(name).playable(), seed)


def test_defection_survives_and_cooperation_is_added():
    game = find_game("prisoners-dilemma with contract").playable()
    assert find_pure(game) == {(3.0, 3.0), (1.0, 1.0)}
    mediated = find_game("prisoners-dilemma with mediator").playable().form
    pure = {e.payoffs.tolist()[0] for e in solve_form(mediated, Wish()).nash.equilibria}
    assert pure == {3.0, 1.0}


@pytest.mark.parametrize("name", ["contract", "mediator", "repeated(rounds=2)"])
def test_what_is_known_of_the_plain_game_is_not_said_of_the_changed_one(name):
    # Beside a mediator defection is not dominant: to delegate is better against who delegates.
    plain = find_game("prisoners-dilemma")
    changed = find_game(f"prisoners-dilemma with {name}")
    assert plain.description.startswith("Defection is dominant")
    assert (changed.description, changed.citation) == ("", plain.citation)


def test_agreed_moves_and_payments_can_be_set():
    game = find_game("chicken with contract(payment=2, row=swerve, col=straight)").playable()
    assert game.agreed == ((("row", "swerve"), ("col", "straight")),)
    signed = game.apply(game.apply(game.start(), {"row": OFFER}), {"col": SIGN})
    both = game.apply(signed, {"row": "straight", "col": "straight"})
    plain = find_game("chicken").playable()
    crash = plain.payoffs(plain.apply((), {"row": "straight", "col": "straight"}))
    assert game.payoffs(both) == {"row": crash["row"] - 2, "col": crash["col"] + 2}


def test_who_moved_later_may_leave_an_agreement_that_was_left_already():
    game = find_game("trust(endowment=2) with contract").playable()
    state = game.apply(game.apply(game.start(), {"sender": OFFER}), {"receiver": SIGN})
    state = game.apply(game.apply(state, {"sender": 1}), {"receiver": 0})
    # the sender leaves (2 were agreed) and pays 5; 2 - 1 = 1 and 2 + 3 = 5 without that
    assert game.payoffs(state) == {"sender": -4.0, "receiver": 10.0}


def test_a_contract_that_is_not_signed_by_all_is_void():
    game = find_game("volunteers-dilemma with contract").playable()
    first, second, third = game.roles
    offered = game.apply(game.start(), {first: OFFER})
    refused = game.apply(offered, {second: SIGN, third: REFUSE})
    nothing = game.apply(game.start(), {first: NOTHING})
    moves = dict.fromkeys(game.roles, "wait")
    for state in (refused, nothing):
        assert set(game.payoffs(game.apply(state, moves)).values()) == {0.0}


def test_a_game_in_a_file_keeps_its_mechanisms_in_a_run(tmp_path):
    file = br.convert("stag-hunt", tmp_path / "hunt.nfg")
    named = NamedGame.find(f"{file} with mediator with contract(payment=2)")
    again = NamedGame.from_json(named.to_json())
    assert again.game().payment == 2
    assert again.game().roles == ("row", "col")
    assert "delegate" in again.game().within.form.actions[0]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("prisoners-dilemma with contract(row=sing)", "nobody can fulfil a contract with row=sing"),
        (
            "prisoners-dilemma with contract(anna=defect)",
            "contract has no setting 'anna'; it has payment, row, col",
        ),
        ("chicken with repeated(round=3)", "no setting 'round'; it has rounds, continuation,"),
        ("prisoners-dilemma with contract(payment=-1)", "the payment of a contract is -1"),
        ("prisoners-dilemma with contract(payment=much)", "payment: expected a number, got 'much'"),
        ("prisoners-dilemma with mediator(row=sing)", "nobody can fulfil a mediator with row=sing"),
        ("prisoners-dilemma with mediator with mediator", "has a mediator already"),
        ("prisoners-dilemma with contract with mediator", "put the mediator before other"),
        ("kuhn-poker with contract", "nature draws"),
        ("kuhn-poker with talk", "Name the messages, as in talk(messages=yes;no)"),
        ("chicken with talk(messages=yes)", "two messages to choose from or more, got 'yes'"),
        ("kuhn-poker with reputation", "put the reputation before other mechanisms"),
        ("chicken with reputation(row=sing)", "nobody can fulfil a reputation with row=sing"),
        ("chicken with reputation(rounds=0)", "rounds: expected at least 1, got 0"),
        ("kuhn-poker with mediator", "all choose once and at the same time"),
        ("prisoners-dilemma with mediatr", "named 'mediatr'. Did you mean mediator?"),
        ("prisoners-dilemma with mediator with milk", "there is no mechanism named 'milk'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(name, why):
    with pytest.raises(UsageError, match="(?s)" + why.replace("(", r"\(").replace(")", r"\)")):
        find_game(name)


def test_mechanisms_in_a_game_of_one_are_refused():
    alone = MatrixGame(NormalForm(np.array([[1.0, 2.0]]), ("ann",), (("a", "b"),), "alone"))
    with pytest.raises(UsageError, match="a mediator is for two or more players; alone has one"):
        with_mediator(alone)
    for change in (with_contract, with_talk, with_reputation):
        with pytest.raises(UsageError, match="alone has one player"):
            change(alone)


def test_a_game_without_an_end_is_refused():
    with pytest.raises(TooLarge, match="never ends"):
        find_game("tic-tac-toe with contract")


def test_a_name_that_only_looks_like_a_mechanism_is_that_of_a_file(tmp_path):
    with pytest.raises(BestResponseError, match="there is no such file"):
        find_game(tmp_path / "tea with milk.efg")


@pytest.mark.parametrize(
    "name", ["chicken with repeated(rounds=200, continuation=0.9)", "chicken with reputation"]
)
def test_many_rounds_are_refused_at_once_and_say_what_to_do(name):
    with pytest.raises(TooLarge, match=r"too many for a tree\. Use fewer rounds, or"):
        find_game(name).solvable()
    assert find_game("chicken with repeated(rounds=2)").solvable().num_nodes == 1 + 2 + 4 * (
        1 + 2 + 4
    )
