"""What choices cost in one play, worked out by hand."""

from dataclasses import dataclass

import pytest

from bestresponse.analysis.theory import price_choices
from bestresponse.core.episode import play
from bestresponse.core.game import NATURE
from bestresponse.core.player import Decision, Nature
from bestresponse.games.lookup import as_loaded_game, find_game
from bestresponse.games.matrix.game import RepeatedGame
from bestresponse.players.lookup import find_strategy
from bestresponse.theory import NormalForm


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
    }


def test_every_round_of_a_repeated_game_is_priced_alone():
    game = RepeatedGame(find_game("prisoners-dilemma").playable().normal_form, 3)
    record = play_with(game, {"row": "always:cooperate", "col": "defector"})
    rows = price_choices(game, record, "row").rows
    assert [(row["number"], row["cost"], row["equilibrium_cost"]) for row in rows] == [
        (n, 1.0, 1.0) for n in (1, 2, 3)
    ]


def test_under_noise_the_choice_is_what_was_meant():
    """Noise of 1 turns every cooperation into a defection; the price is that of cooperating."""
    form = find_game("prisoners-dilemma").playable().normal_form
    game = RepeatedGame(form, 1, noise=1.0)
    record = play_with(game, {"row": "always:cooperate", "col": "always:cooperate"})
    (row,) = price_choices(game, record, "row").rows
    assert (row["choice"], row["best_reply"], row["cost"]) == ("cooperate", "defect", 1.0)


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
