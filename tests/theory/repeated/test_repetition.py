"""Every engine obeys every field of a repetition."""

from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pytest

from bestresponse.core import NATURE, Nature, play
from bestresponse.games.matrix.game import RepeatedGame
from bestresponse.players.strategies import AutomatonPlayer
from bestresponse.studies.tournament.matches import draw_rounds, record_rounds
from bestresponse.theory import (
    NormalForm,
    Repetition,
    classic_strategy,
    exact_round_robin,
)
from bestresponse.theory.repeated.best_reply import value_replies

DILEMMA = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
PAIR = (classic_strategy("tit-for-tat"), classic_strategy("suspicious-tit-for-tat"))
PLAIN = Repetition(4)
SET = {"rounds": 7, "noise": 0.2, "continuation": 0.5, "discount": 0.5}
PLAYS = 4000


def make_game(repetition: Repetition) -> RepeatedGame:
    values = {field.name: getattr(repetition, field.name) for field in fields(repetition)}
    return RepeatedGame(DILEMMA, **values)


def draw_and_record(repetition: Repetition) -> np.ndarray:
    game = make_game(repetition)
    totals = np.zeros(2)
    for seed in range(PLAYS):
        record = record_rounds(game, draw_rounds(PAIR, repetition, seed), {})
        totals += [record.payoffs[role] for role in game.roles]
    return totals / PLAYS


def ask_round_by_round(repetition: Repetition) -> np.ndarray:
    game = make_game(repetition)
    totals = np.zeros(2)
    for seed in range(PLAYS // 8):
        seats = {role: AutomatonPlayer(one) for role, one in zip(game.roles, PAIR, strict=True)}
        record = play(game, {**seats, NATURE: Nature(seed)})
        totals += [record.payoffs[role] for role in game.roles]
    return totals / (PLAYS // 8)


ENGINES: dict[str, Callable[[Repetition], np.ndarray]] = {
    "drawn": draw_and_record,
    "asked": ask_round_by_round,
}
# Tit-for-tat and its suspicious twin take turns in exploiting each other: 0, 5, 0, 5, ... and 5, 0,
# 5, 0, ... Noise of 0.2 is left to the engines, which know nothing of each other.
BY_HAND = {
    "rounds": [15, 20],
    "continuation": [5 / 2 + 5 / 8, 5 + 5 / 4],
    "discount": [5 / 2 + 5 / 8, 5 + 5 / 4],
}


def test_the_table_below_has_every_field() -> None:
    assert {field.name for field in fields(Repetition)} == set(SET)


@pytest.mark.parametrize("field", SET)
@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_obeys_a_field(engine: str, field: str) -> None:
    repetition = replace(PLAIN, **{field: SET[field]})
    exact = exact_round_robin(PAIR, DILEMMA, repetition).totals[0, 1]
    plain = exact_round_robin(PAIR, DILEMMA, PLAIN).totals[0, 1]
    assert np.abs(exact - plain).max() > 1.0
    if field in BY_HAND:
        assert exact == pytest.approx(BY_HAND[field])
    is_certain = field in ("rounds", "discount")
    # Five standard errors of the mean of 500 plays are at most 0.9 here, of 4,000 at most 0.35.
    tolerance = 1e-9 if is_certain else 0.9 if engine == "asked" else 0.35
    assert ENGINES[engine](repetition) == pytest.approx(exact, abs=tolerance)


@pytest.mark.parametrize("field", SET)
def test_the_best_reply_obeys_every_field(field: str) -> None:
    # Who defects for ever against a defector who errs alike earns what the chain says.
    repetition = replace(PLAIN, **{field: SET[field]})
    defectors = [classic_strategy("defector")]
    exact = exact_round_robin(defectors, DILEMMA, repetition).totals[0, 0, 0]
    values = value_replies(defectors[0], DILEMMA.payoffs[0], repetition)
    assert values[-1, 0, 1] == pytest.approx(exact)
