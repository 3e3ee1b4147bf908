"""What choices cost in one play, worked out by hand."""

from dataclasses import dataclass

import numpy as np
import pytest
from tests.oracles.best_replies import find_value

from bestresponse.analysis.costs import price_against_strategies, price_choices
from bestresponse.core.episode import play
from bestresponse.core.game import NATURE
from bestresponse.core.player import Decision, Nature
from bestresponse.games.lookup import as_loaded_game, find_game
from bestresponse.games.matrix.game import RepeatedGame
from bestresponse.players.lookup import find_known_strategies, find_strategy
from bestresponse.players.strategies import AutomatonPlayer
from bestresponse.theory import Automaton, NormalForm


def play_with(game, seats):
    players = {role: find_strategy(name, game, role, 0) for role, name in seats.items()}
    return play(game, {**players, NATURE: Nature(0)})


def test_a_choice_is_priced_against_what_the_other_did_and_against_the_equilibrium():
    """Against cooperation, cooperating earns 3 instead of 5; the equilibrium is to defect, where 1
    is left of 0."""
    game = find_game("prisoners-dilemma").playable()
    record = play_with(game, {"row": "always:cooperate", "col": "always:cooperate"})
    (row,) = price_choices(game, record, "row").rows
    assert row == {
        "number": 1,
        "choice": "cooperate",
        "best_reply": "defect",
        "cost": 2.0,
        "best_in_equilibrium": "defect",
        "equilibrium_cost": 1.0,
        "most_cost": 1.0,
    }


def repeat_dilemma(rounds, **more):
    return RepeatedGame(find_game("prisoners-dilemma").playable().normal_form, rounds, **more)


def play_against(game, answers, other):
    """Play the first seat by a list of moves against a strategy, and price what was played."""
    players = {"row": Scripted(list(answers)), "col": find_strategy(other, game, "col", 0)}
    record = play(game, {**players, NATURE: Nature(0)})
    return price_choices(game, record, "row", find_known_strategies(game, record.players)).rows


def test_the_best_play_against_tit_for_tat_costs_nothing():
    """Cooperating three times and defecting in the last round earns 14, the most that is
    possible."""
    rows = play_against(repeat_dilemma(4), ["cooperate"] * 3 + ["defect"], "tit-for-tat")
    assert [row["cost"] for row in rows] == [0.0, 0.0, 0.0, 0.0]
    assert [row["best_reply"] for row in rows] == ["cooperate"] * 3 + ["defect"]


def test_defecting_at_once_costs_what_tit_for_tat_takes_back():
    """5 + 1 + 1 + 1 = 8. Once defected, 0 + 3 + 5 would make 8 of the last three rounds, so that the
    first move costs 14 - 13 = 1; then 8 - (1 + 0 + 5) = 2, 5 - (1 + 1) = 3 and nothing in the
    end."""
    rows = play_against(repeat_dilemma(4), ["defect"] * 4, "tit-for-tat")
    assert [row["cost"] for row in rows] == [1.0, 2.0, 3.0, 0.0]


def test_noise_counts_what_was_meant_and_what_it_is_worth_on_average():
    """With noise 0.4 meaning to cooperate turns out so in 0.6 of the rounds: against one who means
    to cooperate that costs (1 - 2 x 0.4) x (0.6 x 2 + 0.4 x 1) = 0.32, against one who means to
    defect 0.2 x (0.4 x 2 + 0.6 x 1) = 0.28."""
    game = repeat_dilemma(1, noise=0.4)
    (row,) = play_against(game, ["cooperate"], "always:cooperate")
    assert row["choice"] == "cooperate"
    assert row["best_reply"] == "defect"
    assert row["cost"] == pytest.approx(0.32)
    assert row["equilibrium_cost"] == pytest.approx(0.28)


def test_every_round_costs_the_same_against_one_who_never_changes():
    rows = play_against(repeat_dilemma(3), ["cooperate"] * 3, "defector")
    assert [(row["number"], row["cost"], row["equilibrium_cost"]) for row in rows] == [
        (n, 1.0, 1.0) for n in (1, 2, 3)
    ]


def test_no_cost_is_told_of_several_rounds_against_somebody_unknown():
    game = repeat_dilemma(2)
    players = {"row": Scripted(["cooperate"] * 2), "col": Scripted(["cooperate"] * 2)}
    rows = price_choices(game, play(game, players), "row").rows
    assert [(row["best_reply"], row["cost"]) for row in rows] == [(None, None)] * 2
    assert [row["equilibrium_cost"] for row in rows] == [1.0, 1.0]


def draw_machine(rng, own, other, states):
    """Draw an automaton, some of whose states leave their move to chance."""
    mix = np.eye(own)[rng.integers(own, size=states)]
    drawn = rng.random(states) < 0.4
    mix[drawn] = rng.dirichlet(np.ones(own), size=int(drawn.sum()))
    return Automaton("drawn", mix, rng.integers(states, size=(states, own, other)))


@pytest.mark.parametrize("noisy", [False, True])
def test_costs_of_drawn_plays_against_drawn_automata_are_those_of_brute_force(noisy):
    """100 plays each: random tables, lengths, random ends, discounts, seats and moves."""
    rng = np.random.default_rng(7 + noisy)
    compared = 0
    for play_number in range(100):
        size = int(rng.integers(2, 4)) if play_number % 10 == 0 else 2
        rounds = int(rng.integers(1, 3)) if size == 3 else int(rng.integers(1, 5))
        form = NormalForm(rng.integers(-5, 10, size=(2, size, size)))
        course = {
            "continuation": float(rng.choice([1.0, 0.8])),
            "discount": float(rng.choice([1.0, 0.9])),
            "noise": float(rng.uniform(0.01, 0.5)) if noisy else 0.0,
        }
        game = RepeatedGame(form, rounds, **course)
        machine = draw_machine(rng, size, size, int(rng.integers(1, 4)))
        seat = int(rng.integers(2))
        me, other = form.players[seat], form.players[1 - seat]
        answers = [form.actions[seat][k] for k in rng.integers(size, size=rounds)]
        players = {me: Scripted(answers), other: AutomatonPlayer(machine, play_number)}
        record = play(game, {**players, NATURE: Nature(play_number)})
        prices = price_against_strategies(record, game, {other: machine})
        payoffs = (form.payoffs[0] if seat == 0 else form.payoffs[1].T).tolist()
        plain = {"mix": machine.mix.tolist(), "step": machine.step.tolist()}
        history, made = [], []
        for number, submission in enumerate(record.submissions, 1):
            if submission.role == me:
                left = rounds - len(history)
                values = [
                    find_value(plain, payoffs, history, left, course, move) for move in range(size)
                ]
                chosen = form.actions[seat].index(submission.decision.action)
                cost = max(values) - values[chosen]
                assert prices[number].least == pytest.approx(cost, abs=1e-9)
                compared += 1
            moves = form.actions[0] + form.actions[1]
            counts = submission.role == NATURE if noisy else submission.role != NATURE
            if counts and submission.decision.action in moves:
                made.append(submission.decision.action)
            if len(made) == 2:
                pair = [form.actions[k].index(move) for k, move in enumerate(made)]
                history.append((pair[seat], pair[1 - seat]))
                made = []
    assert compared > 150


def test_three_players_are_mixed_over_the_right_axes():
    """Everybody earns 4, 2 and 1 for the second move of the first, second and third player."""
    payoffs = [[[4 * i + 2 * j + k for k in (0, 1)] for j in (0, 1)] for i in (0, 1)]
    form = NormalForm([payoffs] * 3)
    game = as_loaded_game(form).playable()
    record = play_with(
        game,
        {
            role: f"always:{moves[0]}"
            for role, moves in zip(form.players, form.actions, strict=True)
        },
    )
    rows = [price_choices(game, record, role).rows[0] for role in game.roles]
    assert [row["cost"] for row in rows] == [4.0, 2.0, 1.0]
    assert [row["equilibrium_cost"] for row in rows] == [4.0, 2.0, 1.0]


@dataclass
class Scripted:
    """Gives these answers, one after the other."""

    answers: list[str]
    name: str = "scripted"

    def decide(self, view, ask):
        return Decision(self.answers.pop(0))


def test_moves_of_a_tree_are_priced_where_they_are_made():
    """Holding the king, passing after a bet loses 1 where betting wins 2: the choice costs 3."""
    game = find_game("kuhn-poker").playable()
    king = next(
        label for label, _ in game.asks(game.start())[NATURE].chances if label.startswith("K")
    )
    players = {
        "player 1": Scripted(["pass", "pass"]),
        "player 2": Scripted(["bet"]),
        NATURE: Scripted([king, "J"]),
    }
    rows = price_choices(game, play(game, players), "player 1").rows
    assert [row["choice"] for row in rows] == ["pass", "pass"]
    assert (rows[1]["best_in_equilibrium"], rows[1]["cost"]) == ("bet", None)
    assert rows[1]["equilibrium_cost"] == pytest.approx(3.0)


def test_a_game_without_table_or_tree_has_no_prices():
    game = find_game("water").playable()
    record = play_with(game, dict.fromkeys(game.roles, "random"))
    assert price_choices(game, record, game.roles[0]).rows == []
