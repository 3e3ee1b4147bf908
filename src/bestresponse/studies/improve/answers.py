"""The solver's answers to questions, in words that a model can learn from.

A worked answer of a matrix game writes out the payoffs of the actions that are played, their value,
and the mix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from bestresponse.core.json import digest
from bestresponse.games.logic.tables import as_game_table, write_table_program
from bestresponse.studies.bench.games import own_view
from bestresponse.studies.improve.claims import draw_text, write_claims_answer
from bestresponse.studies.improve.examples import (
    NEUTRAL,
    SHORT,
    Telling,
    TrainingExample,
    classify,
    describe_matrix,
    make_task_game,
    write_cells,
    write_question,
    write_short,
)
from bestresponse.studies.improve.rows import GameTask
from bestresponse.theory.equilibria.selection import select_equilibria
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.zero_sum.solve import solve_zero_sum

_POSITIVE = 1e-9  # smaller weights and fractions are rounding errors of the solver
_PENNIES = [[[1.0, -1.0], [-1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]]
_DILEMMA = [[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]]


def hash_prompts(telling: Telling) -> str:
    """Hash what is asked and answered in two small games.

    This way data of other prompts or answers are recognised.
    """
    written: list[list[str]] = []
    mixes = np.array([0.5, 0.5]), np.array([0.5, 0.5])
    for payoffs in (_PENNIES, _DILEMMA):
        for shown_as in sorted(set(telling.formats)):
            for theme in sorted(set(telling.themes)):
                task = describe_matrix(
                    np.array(payoffs),
                    0,
                    shown_as,
                    theme,
                    telling.kind,
                )
                task["opponent"] = [0.5, 0.5]
                texts = [*write_question(task, telling.worked)]
                if telling.kind in ("matrix", "reply"):
                    texts.append(write_answer(task, *mixes, telling.worked))
                written.append(texts)
    return digest({"examples": written})


def make_matrix_examples(
    payoffs: Array,
    telling: Telling,
    rng: np.random.Generator,
) -> Iterator[TrainingExample]:
    """Yield an example for every game, payoffs (n, 2, rows, cols).

    Its format, theme and seat are drawn.

    A game whose equilibria no rule can tell apart has no answer, and is left out.
    """
    kind = telling.kind
    keys = classify(payoffs)
    count = len(payoffs)
    seats = rng.integers(2, size=count)
    formats = rng.choice(telling.formats, count)
    themes = rng.choice(telling.themes, count)
    zero_sum = kind == "matrix" and bool((payoffs[:, 0] == -payoffs[:, 1]).all())
    solved = solve_zero_sum(payoffs[:, 0]) if zero_sum else None
    for number, game in enumerate(payoffs):
        seat = int(seats[number])
        shown_as = str(formats[number])
        theme = NEUTRAL if shown_as == SHORT else str(themes[number])
        task = describe_matrix(game, seat, shown_as, theme, kind)
        if kind == "reply":
            # In tenths, so that what an action brings against a mix has few decimals and can be
            # written down exactly.
            size = game.shape[2 - seat]
            mix = rng.multinomial(10, rng.dirichlet(np.ones(size))) / 10
            best = int(np.argmax(_weigh_actions(game, seat, mix)))
            mixes = np.eye(game.shape[1 + seat])[best], mix
        elif solved is not None:
            rows, columns = game.shape[1:]
            pair = solved.row[number][:rows], solved.col[number][:columns]
            mixes = pair[seat], pair[1 - seat]
        else:
            chosen = _choose_equilibrium(game, seat)
            if chosen is None:
                continue
            mixes = chosen
        own, other = mixes
        task |= {"opponent": np.round(other, 6).tolist(), "class": f"{int(keys[number]):016x}"}
        system, question = write_question(task, telling.worked)
        answer = write_answer(task, own, other, telling.worked)
        yield TrainingExample(system, question, answer, task)


def _choose_equilibrium(game: Array, seat: int) -> tuple[Array, Array] | None:
    """Return the own and the other's mix of the equilibrium that the rule selects.

    Returns None where it leaves several.
    """
    whole = np.round(game * 10)  # payoffs may be tenths: in whole numbers equilibria are exact
    left = select_equilibria(nash(NormalForm(whole)).equilibria)
    if len(left) > 1:
        return None
    mixes = left[0].strategies
    return mixes[seat], mixes[1 - seat]


def _find_support(mix: Array) -> tuple[int, ...]:
    return tuple(np.flatnonzero(mix > _POSITIVE).tolist())


def write_answer(task: GameTask, own: Array, other: Array, worked: bool) -> str:
    """Write the worked answer of a matrix game.

    It gives the payoffs of the actions that are played, their value, and the mix.

    A long question is first put in the short form: what is learnt from many short questions then
    serves long ones too. The payoffs of what is played are written out because the mix depends on
    nothing else: games of all sizes are then one task, however many of their actions nobody plays.
    """
    game = make_task_game(task)
    seat = task["seat"]
    actions = game.form.actions[seat]
    if not worked:
        return _write_mix(actions, own)
    payoffs = np.asarray(task["payoffs"], dtype=np.float64)
    restated = "" if task["format"] == SHORT else f"{write_short(task)}\n"
    if task["kind"] == "reply":
        return f"{restated}{_write_reply(actions, payoffs, seat, own, other)}"
    mine, _ = own_view(payoffs, seat)
    value = _write_value(float(own @ mine @ other))
    played = write_cells(game, seat, _find_support(own), _find_support(other))
    return f"{restated}These are played:\n{played}\nI get {value}.\n{_write_mix(actions, own)}"


def _write_reply(
    actions: Sequence[str],
    payoffs: Array,
    seat: int,
    own: Array,
    other: Array,
) -> str:
    values = np.round(_weigh_actions(payoffs, seat, other), 2) + 0.0
    brought = _join_names(
        [f"{name} brings {value:g}" for name, value in zip(actions, values, strict=True)]
    )
    return f"Here {brought}. I play {_list_support(actions, own)}.\n{_write_mix(actions, own)}"


def _write_value(value: float) -> str:
    """Write a value to one decimal, halves away from 0, without it where the value is whole.

    What rounds to 0 has no sign.
    """
    if abs(value - round(value)) < _POSITIVE:
        return f"{round(value):d}"
    tenths = math.floor(abs(value) * 10 + 0.5 + _POSITIVE)
    return f"{math.copysign(tenths / 10, value):z.1f}"


def _weigh_actions(payoffs: Array, seat: int, other: Array) -> Array:
    """Return what every action of a seat brings against a mix of the other."""
    mine, _ = own_view(payoffs, seat)
    return np.asarray(mine @ other)


def _list_support(actions: Sequence[str], mix: Array) -> str:
    return _join_names([actions[place] for place in _find_support(mix)])


def _join_names(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _write_mix(actions: Sequence[str], mix: Array) -> str:
    """Write a mix in whole thousandths that sum to 1.

    0 and 1 without decimals, which saves a tenth of the tokens.
    """
    scaled = np.asarray(mix, dtype=np.float64) * 1000
    whole = np.floor(scaled + _POSITIVE)
    missing = int(1000 - whole.sum())
    whole[np.argsort(whole - scaled, kind="stable")[:missing]] += 1
    shares = (f"{share / 1000:.3f}" if share % 1000 else f"{share / 1000:.0f}" for share in whole)
    return "ANSWER: " + ", ".join(
        f"{action}: {share}" for action, share in zip(actions, shares, strict=True)
    )


def make_told_examples(
    payoffs: Array,
    telling: Telling,
    rng: np.random.Generator,
) -> Iterator[TrainingExample]:
    """Yield an example for every game (n, 2, rows, cols): of a story its program, of a text about
    the game the claims that it makes."""
    for game, key in zip(payoffs, classify(payoffs), strict=True):
        is_story = telling.kind == "story"
        shown_as = str(rng.choice(telling.formats)) if is_story else "prose"
        theme = str(rng.choice(telling.themes))
        task = describe_matrix(game, int(rng.integers(2)), shown_as, theme, telling.kind)
        form = make_task_game(task).form
        if is_story:
            answer = f"```prolog\n{write_table_program(as_game_table(form))}```"
        else:
            text, claims = draw_text(form, task["seat"], rng)
            task |= {"text": text, "claims": [str(worded.claim) for worded in claims]}
            answer = write_claims_answer(claims)
        task["class"] = f"{int(key):016x}"
        system, question = write_question(task, telling.worked)
        yield TrainingExample(system, question, answer, task)
