"""Questions about the rules of any game: whoever answers them has understood how payoffs come about.

Every question tells some answers and asks what they earn; what is right comes from playing those answers by the rules.
A game may bring its own questions (`core.capabilities.Quiz`); any other is asked about cells of its table, about ways
through its tree, or about a short play.
"""

from collections.abc import Mapping, Sequence
from random import Random

import numpy as np

from bestresponse.core.ask import PASS, Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.capabilities import Question, Quiz
from bestresponse.core.game import NATURE, REFEREE, Action, Game, Role, S
from bestresponse.games.capabilities import HasTree, find_stage_form
from bestresponse.games.texts import join_words
from bestresponse.games.trees.outline import list_moves_to
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import CHANCE, Tree

_COUNT = 2
_MOST_STEPS = 60


def make_quiz(game: Game[S], role: Role, rng: Random) -> tuple[Question, ...]:
    """Make the quiz for the seat of `role`; empty where the rules give nothing to ask."""
    if isinstance(game, Quiz):
        return game.make_quiz(role, rng)
    form = find_stage_form(game)
    if form is not None:
        return ask_about_table(form, role, rng)
    if isinstance(game, HasTree):
        return ask_about_paths(game.tree, role, rng)
    return ask_about_play(game, role, rng)


def ask_about_table(form: NormalForm, role: Role, rng: Random) -> tuple[Question, ...]:
    """Ask what some cells of a payoff table are worth."""
    cells = rng.sample(range(form.payoffs[0].size), min(_COUNT, form.payoffs[0].size))
    return tuple(_ask_about_cell(form, form.players.index(role), cell) for cell in sorted(cells))


def _ask_about_cell(form: NormalForm, seat: int, cell: int) -> Question:
    chosen = tuple(int(k) for k in np.unravel_index(cell, form.shape))
    others = " and ".join(
        f"{player} chooses {form.actions[i][chosen[i]]}" for i, player in enumerate(form.players) if i != seat
    )
    also = f" and {others}" if others else ""
    text = f"If you choose {form.actions[seat][chosen[seat]]}{also}, how much do you get?"
    return Question(text, float(form.payoffs[(seat, *chosen)]))


def ask_about_paths(tree: Tree, role: Role, rng: Random) -> tuple[Question, ...]:
    """Ask where the shorter ways through a tree end."""
    leaves = sorted(tree.leaves.tolist(), key=lambda leaf: tree.path(leaf).count(">"))
    drawn = rng.sample(leaves[: max(2 * _COUNT, len(leaves) // 8)], min(_COUNT, len(leaves)))
    asked = []
    for leaf in sorted(drawn):
        way = join_words(
            [
                f"{move} is drawn" if owner == CHANCE else say_choice(tree.players[owner], move, role)
                for owner, move in list_moves_to(tree, leaf)
            ]
        )
        payoff = float(tree.payoffs[leaf][tree.players.index(role)])
        asked.append(Question(f"If {way}, how much do you get?", payoff))
    return tuple(asked)


def ask_about_play(game: Game[S], role: Role, rng: Random, verbs: Sequence[str] = ()) -> tuple[Question, ...]:
    """Ask what short plays earn; `verbs` say what is done, step by step, where there is a better word than answer."""
    asked = (_ask_about_one_play(game, role, rng, verbs) for _ in range(_COUNT))
    return tuple(dict.fromkeys(question for question in asked if question))


def _ask_about_one_play(game: Game[S], reader: Role, rng: Random, verbs: Sequence[str]) -> Question | None:
    """Let everybody answer until the same kind of question would come again or the game is over."""
    state, seen, words = game.start(), set(), iter(verbs)
    parts: list[str] = []
    for _ in range(_MOST_STEPS):
        asks = game.asks(state)
        kind = tuple((role, type(ask).__name__) for role, ask in asks.items())
        if not asks or kind in seen:
            break
        seen.add(kind)
        moves = _draw_moves(asks, reader, rng)
        if moves is None:
            return None
        parts += _describe_moves(moves, reader, next(words, "answer"))
        state = game.apply(state, moves)
    earned = game.payoffs(state).get(reader)
    if not parts or earned is None:
        return None
    return Question(f"If {join_words(parts)}, how much do you have then?", float(earned))


def _draw_moves(asks: Mapping[Role, Ask], reader: Role, rng: Random) -> dict[Role, object] | None:
    """Draw an answer to every ask, the same for all others who are asked the same; None where words count."""
    drawn: dict[str, Action] = {}
    moves: dict[Role, Action] = {}
    for role, ask in asks.items():
        key = reader if role == reader else repr(ask)
        if key not in drawn:
            drawn[key] = None if role == REFEREE else _draw_answer(ask, rng, list(drawn.values()))
        if drawn[key] is None:
            return None
        moves[role] = drawn[key]
    return moves


def _draw_answer(ask: Ask, rng: Random, taken: list[object]) -> object | None:
    """Draw an answer unlike those that are taken, where there is one."""
    match ask:
        case Choice(options):
            return rng.choice([option for option in options if option != PASS])
        case Amount(low, high):
            steps = [float(round(low + (high - low) * k / 5)) for k in (1, 2, 3)]
            plain = [step for step in steps if low <= step <= high]
            return rng.choice([step for step in plain if step not in taken] or [low])
        case Lottery(chances):
            return rng.choice([outcome for outcome, p in chances if p > 0])
        case Form() | Mixture() | Words():
            return None


def _describe_moves(moves: Mapping[Role, object], reader: Role, verb: str) -> list[str]:
    others = {role: move for role, move in moves.items() if role not in (reader, NATURE)}
    parts = [f"{moves[NATURE]} is drawn"] if NATURE in moves else []
    if reader in moves:
        parts.append(f"you {verb} {_format_move(moves[reader])}")
    if len(others) > 1 and len({repr(move) for move in others.values()}) == 1:
        return [*parts, f"each of the others {verb}s {_format_move(next(iter(others.values())))}"]
    return [*parts, *(f"{_name_role(role)} {verb}s {_format_move(move)}" for role, move in others.items())]


def say_choice(role: Role, move: str, reader: Role) -> str:
    """Say who chooses what, to `reader`.

    >>> say_choice("sender", "5", "receiver"), say_choice("sender", "5", "sender")
    ('the sender chooses 5', 'you choose 5')
    """
    return f"you choose {move}" if role == reader else f"{_name_role(role)} chooses {move}"


def _name_role(role: Role) -> str:
    return f"the {role}" if role.isalpha() and role.islower() else role


def _format_move(move: object) -> str:
    return f"{move:g}" if isinstance(move, float) else str(move)
