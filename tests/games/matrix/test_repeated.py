import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from bestresponse.core import NATURE, Episode, Nature
from bestresponse.core.ask import Choice, Lottery
from bestresponse.core.conformance import check_game, check_player
from bestresponse.core.episode import play
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame
from bestresponse.players.llm.player import prompt
from bestresponse.players.strategies import Always, AutomatonPlayer, RandomPlayer
from bestresponse.telling.language import load_language
from bestresponse.telling.render import word_rules, write_history, write_rules
from bestresponse.theory.catalogue.tables import load, names
from bestresponse.theory.repeated.automaton import classic_strategy
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.repeated.round_robin import exact_round_robin

DILEMMA = load("prisoners-dilemma")
CHOICE = Choice(("a", "b"))


@dataclass
class Onlooker:
    """A player who keeps every view it is shown."""

    player: RandomPlayer
    shown: list
    name: str = "onlooker"

    def decide(self, view, ask):
        self.shown.append(view)
        return self.player.decide(view, ask)


def test_a_repeated_game_keeps_the_promises_of_a_game():
    for seed in range(5):
        check_game(RepeatedGame(DILEMMA, rounds=4), seed)
        check_game(RepeatedGame(DILEMMA, rounds=6, continuation=0.5), seed)
        check_game(RepeatedGame(DILEMMA, rounds=3, noise=0.4, continuation=0.9), seed)
        check_game(RepeatedGame(DILEMMA, rounds=1, noise=0.4), seed)


@pytest.mark.parametrize(
    ("first", "second"), [("tit-for-tat", "defector"), ("grim", "alternator"), ("tester", "grim")]
)
def test_automata_in_seats_earn_what_the_chain_says(first, second):
    pair = [classic_strategy(first), classic_strategy(second)]
    players = dict(zip(DILEMMA.players, (AutomatonPlayer(a) for a in pair), strict=True))
    record = play(RepeatedGame(DILEMMA, rounds=12), players)
    assert (
        list(record.payoffs.values())
        == exact_round_robin(pair, DILEMMA, Repetition(12)).totals[0, 1].tolist()
    )


def test_a_mixed_automaton_is_a_function_of_its_view():
    check_player(
        AutomatonPlayer(classic_strategy("random"), seed=4), RepeatedGame(DILEMMA, rounds=8)
    )


def test_the_length_is_geometric_where_nature_decides():
    players = {role: AutomatonPlayer(classic_strategy("cooperator")) for role in DILEMMA.players}
    rounds = [
        play(RepeatedGame(DILEMMA, 1000, 0.8), {**players, NATURE: Nature(seed)}).payoffs[
            DILEMMA.players[0]
        ]
        / 3
        for seed in range(300)
    ]
    assert abs(np.mean(rounds) - 5) < 4 * np.sqrt(0.8 / 0.04 / 300)


def test_the_view_tells_the_history_from_ones_own_side():
    game = RepeatedGame(DILEMMA, rounds=3)
    state = game.apply(
        game.start(), dict(zip(DILEMMA.players, [a[1] for a in DILEMMA.actions], strict=True))
    )
    told = write_history(game.view(state, DILEMMA.players[1]))
    assert told.splitlines()[-1] == "Round 2."
    assert "you chose defect" in told
    assert "you got 1." in told


def test_a_move_that_goes_wrong_is_told_as_meant_and_made_to_the_mover_and_as_made_to_the_other():
    game = RepeatedGame(DILEMMA, rounds=3, noise=0.1)
    state = game.apply(game.start(), {"row": "cooperate", "col": "cooperate"})
    assert game.asks(state) == {NATURE: Lottery((("cooperate", 0.9), ("defect", 0.1)))}
    state = game.apply(game.apply(state, {NATURE: "defect"}), {NATURE: "cooperate"})
    assert game.payoffs(state) == {"row": 5, "col": 0}
    row, col = game.view(state, "row"), game.view(state, "col")
    assert (
        write_history(row)
        == "Round 1: you meant cooperate, defect was made, col made the move cooperate;"
        " you got 5.\nRound 2."
    )
    assert (
        write_history(col)
        == "Round 1: you meant cooperate, cooperate was made, row made the move defect;"
        " you got 0.\nRound 2."
    )
    assert (row.facts["meant"], row.facts["history"]) == (["cooperate"], [["defect", "cooperate"]])
    assert "with a probability of 10 % a move is made that the player did not mean" in write_rules(
        row
    )
    assert "with a probability of 10 % a move is made that the player did not mean" in word_rules(
        game, row
    )
    table = game.list_rounds(state, "row")
    assert dict(zip(table.columns, table.rows[0], strict=True)) == {
        "round": 1,
        "you meant": "cooperate",
        "you": "defect",
        "col": "cooperate",
        "your payoff": 5,
    }


def test_noise_is_not_mentioned_where_there_is_none():
    view = RepeatedGame(DILEMMA, rounds=3).view(RepeatedGame(DILEMMA, rounds=3).start(), "row")
    assert "go wrong" not in write_rules(view)
    assert "meant" not in view.facts


def test_moves_go_wrong_as_often_as_the_rules_say_and_evenly():
    """20 times 50 draws of a seat with three actions at 30 %: 15 % for each of the two others."""
    game = RepeatedGame(load("rock-paper-scissors"), rounds=50, noise=0.3)
    players = {role: Always("rock") for role in game.roles}
    made = Counter()
    for seed in range(
        20
    ):  # in one game of 1,000 rounds every seat would be told all of them 1,000 times
        state = Episode(game, play(game, {**players, NATURE: Nature(seed)}).submissions).state
        made.update(moves[0] for moves in state.played)
    assert made.total() == 1000
    assert abs(made["paper"] - 150) < 4 * np.sqrt(1000 * 0.15 * 0.85)
    assert abs(made["scissors"] - 150) < 4 * np.sqrt(1000 * 0.15 * 0.85)


write_name = load_language("en").write_name


@pytest.mark.parametrize("name", names())
def test_no_prompt_misstates_a_move_under_noise(name):
    """Every line of every prompt is compared with the answers that were given and with what nature
    drew."""
    game = RepeatedGame(load(name), rounds=6, noise=0.5)
    shown = {role: [] for role in game.roles}
    players = {role: Onlooker(RandomPlayer(7), shown[role]) for role in game.roles}
    record = play(game, {**players, NATURE: Nature(1)})
    meant = {
        role: [s.decision.action for s in record.submissions if s.role == role]
        for role in game.roles
    }
    drawn = [s.decision.action for s in record.submissions if s.role == NATURE]
    made = {role: drawn[seat :: len(game.roles)] for seat, role in enumerate(game.roles)}
    for role in game.roles:
        assert len(shown[role]) == 6
        for view in shown[role]:
            lines = re.findall(r"Round \d+: .*?;", prompt(view, CHOICE, "line"))
            assert lines == [
                f"Round {k + 1}: you meant {write_name(meant[role][k])},"
                f" {write_name(made[role][k])} was made, "
                + ", ".join(
                    f"{other} made the move {write_name(made[other][k])}"
                    for other in game.roles
                    if other != role
                )
                + ";"
                for k in range(len(view.facts["history"]))
            ]
    assert meant != made


def test_a_strategy_for_repeated_games_refuses_others():
    with pytest.raises(Exception, match="repeated games"):
        check_player(AutomatonPlayer(classic_strategy("grim")), MatrixGame(DILEMMA))
