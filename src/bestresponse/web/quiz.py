"""A few questions about the rules, made from the rules: whoever answers them has understood how payoffs come about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bestresponse.core.game import Game
from bestresponse.core.seeds import generator
from bestresponse.games.logic_game import LogicGame
from bestresponse.games.water import Water
from bestresponse.theory.normal_form import NormalForm
from bestresponse.web.games import stage_form

__all__ = ["Question", "mistakes", "questions"]

_PAYOFF_QUESTIONS = 2


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answer is a number."""

    text: str
    answer: float

    def right(self, typed: str) -> bool:
        try:
            return abs(float(typed.strip().replace(",", ".")) - self.answer) < 1e-9
        except ValueError:
            return False


def questions(game: Game[Any], seat: int, seed: int) -> tuple[Question, ...]:
    """The quiz for that seat; empty where the rules give nothing to ask."""
    form = stage_form(game)
    if form is not None:
        return _about_table(form, seat, seed)
    if isinstance(game, Water):
        return _about_water(game, seat)
    if isinstance(game, LogicGame):
        return _about_ends(game, seat, seed)
    return ()


def mistakes(quiz: tuple[Question, ...], typed: list[str]) -> dict[int, str]:
    """By number of the question, what is wrong with its answer."""
    return {
        k: "This is not right; look at the rules again." if typed[k].strip() else "Type a number."
        for k, question in enumerate(quiz)
        if not question.right(typed[k])
    }


def _about_table(form: NormalForm, seat: int, seed: int) -> tuple[Question, ...]:
    rng = generator(seed, "quiz", seat)
    cells = rng.sample(range(form.payoffs[0].size), min(_PAYOFF_QUESTIONS, form.payoffs[0].size))
    return tuple(_about_cell(form, seat, cell) for cell in sorted(cells))


def _about_cell(form: NormalForm, seat: int, cell: int) -> Question:
    import numpy as np

    place = tuple(int(k) for k in np.unravel_index(cell, form.shape))
    others = " and ".join(
        f"{who} chooses {form.actions[i][place[i]]}" for i, who in enumerate(form.players) if i != seat
    )
    also = f" and {others}" if others else ""
    text = f"If you choose {form.actions[seat][place[seat]]}{also}, how much do you get?"
    return Question(text, float(form.payoffs[(seat, *place)]))


def _about_water(game: Water, seat: int) -> tuple[Question, ...]:
    resident = game.rules.residents[seat]
    days = "How many days does the drought last?"
    need = "How many units of water do you need each day?"
    return (Question(days, game.rules.days), Question(need, resident.need))


def _about_ends(game: LogicGame, seat: int, seed: int) -> tuple[Question, ...]:
    rows = game.table.rows
    drawn = generator(seed, "quiz", seat).sample(range(len(rows)), min(_PAYOFF_QUESTIONS, len(rows)))
    return tuple(
        Question(
            f"If {', '.join(f'{who} chooses {move}' for who, move in rows[k].moves)}, how much do you get?",
            float(rows[k].payoffs[seat]),
        )
        for k in sorted(drawn)
    )
