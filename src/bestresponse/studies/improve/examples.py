"""Questions exactly as the benchmark asks them, with the solver's answers, and how another answer
is measured.

Games are told apart by their class: two games that differ by the order of actions, by who is which
player or by a positive affine change of a player's payoffs have the same key. Keys decide which
games are trained on, so that no game of a test is a relabelled game of the training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.ask import Mixture
from bestresponse.core.errors import InvalidMove
from bestresponse.core.game import View
from bestresponse.core.json import JsonMapping, JsonObject, digest
from bestresponse.formal.claims.review import Review, Reviewer
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translation import RulesTranslator
from bestresponse.formal.evaluate.validation import compare_tables
from bestresponse.formal.formalize.forms import ProgramForm, find_code
from bestresponse.formal.formalize.plan import library, nearest
from bestresponse.games.logic.tables import as_game_table, write_table_program
from bestresponse.games.lookup import NamedGame
from bestresponse.games.matrix.game import MatrixGame, as_strategy, number as write_number
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.players.llm.player import prompt
from bestresponse.players.llm.reading import read_reply
from bestresponse.players.llm.texts import TEXTS
from bestresponse.studies.bench.config import BenchConfig, make_bench_game, own_view
from bestresponse.studies.bench.measure import measure_strategies
from bestresponse.studies.bench.sequential.policies import QuestionPlan, plan_questions
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.sequence_form_lp import solve_tree
from bestresponse.theory.trees.tree import Policy
from bestresponse.theory.zero_sum.solve import solve_zero_sum

Keys = NDArray[np.uint64]
SPLITS = ("train", "validation", "test")
SHORT = "short"
"""A format beside those of the benchmark: the payoffs alone, so that a training sees four times as
many games."""
_NEUTRAL = "neutral"
_HELD_OUT = 50
"""One class in so many is for validation, and as many for tests."""
_POSITIVE = 1e-9  # smaller weights and fractions are rounding errors of the solver
_MIXING = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
"""Multipliers of splitmix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators",
OOPSLA 2014)."""
_WIDE = 1 << 20
"""More than any normalised payoff, so that two payoffs of a cell fit in one number."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the solver's answer, and what is needed to measure another answer."""

    system: str
    question: str
    answer: str
    task: JsonObject

    def to_json(self) -> JsonObject:
        """Return the example as a conversation, as trainers read it."""
        turns = (("system", self.system), ("user", self.question), ("assistant", self.answer))
        return {
            "messages": [{"role": role, "content": text} for role, text in turns if text],
            "task": self.task,
        }


@dataclass(frozen=True, slots=True)
class Telling:
    """How questions are put: payoff formats and themes of the benchmark, with worked answers or
    bare ones."""

    formats: tuple[str, ...] = ("table",)
    themes: tuple[str, ...] = ("neutral",)
    worked: bool = True
    kind: str = "matrix"

    def hash_questions(self) -> str:
        """Hash what is asked in two small games, so that data of other prompts are recognised."""
        games = np.array(
            [[[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]], [[[3, 0], [5, 1]], [[3, 5], [0, 1]]]]
        )
        questions = [
            write_question(describe_matrix(payoffs, 0, shown_as, theme, self.kind), self.worked)
            for payoffs in games
            for shown_as in sorted(set(self.formats))
            for theme in sorted(set(self.themes))
        ]
        return digest({"questions": questions})


def classify(payoffs: NDArray[Any]) -> Keys:
    """Return the key of the class of every game, payoffs (n, 2, rows, cols) in whole numbers.

    >>> pennies = np.array([[[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]])
    >>> relabelled = 3 * pennies[:, ::-1, ::-1] + 1
    >>> bool(classify(pennies) == classify(relabelled))
    True
    """
    whole = payoffs.astype(np.int64)
    whole = whole - whole.min(axis=(2, 3), keepdims=True)
    divisor = np.gcd.reduce(whole, axis=(2, 3), keepdims=True)
    first, second = np.moveaxis(whole // np.maximum(divisor, 1), 1, 0).astype(np.uint64)
    wide = np.uint64(_WIDE)
    # Sums do not see an order, so sums of hashes over actions are the same for every order of them.
    cells = _mix(first * wide + second)
    swapped = _mix(second * wide + first).transpose(0, 2, 1)
    keys: Keys = np.minimum(_hash_table(cells), _hash_table(swapped))
    return keys


def _hash_table(cells: Keys) -> Keys:
    rows, columns = (
        _mix(_mix(cells.sum(axis=axis)) + np.uint64(axis)).sum(axis=1) for axis in (2, 1)
    )
    return _mix(rows + np.uint64(3) * columns)


def _mix(values: Keys) -> Keys:
    for shift, factor in zip((30, 27), _MIXING, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * factor
    return values ^ (values >> np.uint64(31))


def split_classes(keys: Keys) -> NDArray[np.int64]:
    """Return for every key the place of its split in `SPLITS`."""
    rest = keys % np.uint64(_HELD_OUT)
    return np.where(rest == 0, 1, np.where(rest == 1, 2, 0))


def describe_matrix(
    payoffs: Array, seat: int, shown_as: str, theme: str, kind: str = "matrix"
) -> JsonObject:
    """Return a question about a matrix game as plain data; the benchmark makes the same game of it.

    A task of the kind "reply" says how the other player mixes, and asks for a best reply; one of
    the kind "story" tells the game, and asks for its program.
    """
    return {
        "kind": kind,
        "payoffs": payoffs.tolist(),
        "seat": seat,
        "format": shown_as,
        "theme": theme,
        "elicit": "mixed",
    }


def write_question(task: JsonMapping, worked: bool) -> tuple[str, str]:
    """Return the system message and the question of a task."""
    if task["kind"] == "story":
        game = _make_game(task)
        story = game.view(game.start(), game.roles[task["seat"]]).briefing
        form = ProgramForm(nearest(story, library(), 1))
        return form.system(), form.task(story)
    if task.get("format") == SHORT:
        return "", _write_short(task)
    view, ask = _find_ask(task)
    if worked:  # as `players.llm.player.Thinking` asks
        view = replace(view, notes=(*view.notes, TEXTS.text("think")))
    return TEXTS.text("system"), prompt(view, ask, "line")


def _find_ask(task: JsonMapping) -> tuple[View, Mixture]:
    """Return what a player sees, and the ask for a mixed strategy."""
    if task["kind"] == "tree":
        question = _plan_questions(task["game"]).make_question(task)
        return question.shown, Mixture(question.ask.options)
    game, seat = _make_game(task), task["seat"]
    view = game.view(game.start(), game.roles[seat])
    if task["kind"] == "reply":
        view = replace(view, notes=(_state_mix(game, task),))
    return view, Mixture(game.form.actions[seat])


def _make_game(task: JsonMapping) -> MatrixGame:
    """Make the game of a task; only where an equilibrium is asked for, the other is said to be
    rational."""
    game = make_bench_game({**task, "format": "table"} if task["format"] == SHORT else task)
    return game if task["kind"] == "matrix" else replace(game, others="unsaid")


def _state_mix(game: MatrixGame, task: JsonMapping) -> str:
    """Say how the other player of a task mixes."""
    other = 1 - task["seat"]
    shares = (
        f"{name} {share:g}"
        for name, share in zip(game.form.actions[other], task["opponent"], strict=True)
    )
    name = game.roles[other]
    return f"{name[:1].upper()}{name[1:]} chooses with these probabilities: {', '.join(shares)}."


def _write_short(task: JsonMapping) -> str:
    """Write a question of the payoffs alone.

    Whoever asks always has the rows, so that the seats are one task and not two.
    """
    game, seat = _make_game(task), task["seat"]
    rows, columns = (range(len(game.form.actions[player])) for player in (seat, 1 - seat))
    text = _write_payoffs(game, seat, rows, columns)
    return f"{text}\n{_state_mix(game, task)}" if task["kind"] == "reply" else text


def _write_payoffs(game: MatrixGame, seat: int, rows: Sequence[int], columns: Sequence[int]) -> str:
    """Write payoffs of some actions: a line of the other's actions, and a line for each of one's
    own."""
    mine, theirs = (
        [[write_number(side[row, column]) for column in columns] for row in rows]
        for side in own_view(game.form.payoffs, seat)
    )
    if not game.zero_sum:
        mine = [
            list(map("/".join, zip(*cells, strict=True)))
            for cells in zip(mine, theirs, strict=True)
        ]
    actions, others = game.form.actions[seat], game.form.actions[1 - seat]
    lines = [" ".join([actions[row], *cells]) for row, cells in zip(rows, mine, strict=True)]
    return "\n".join([" ".join(others[column] for column in columns), *lines])


def make_matrix_examples(
    payoffs: Array, telling: Telling, rng: np.random.Generator, kind: str = "matrix"
) -> Iterator[Example]:
    """Yield an example for every game, payoffs (n, 2, rows, cols), in a format, a theme and a seat
    that are drawn."""
    shape = payoffs.shape[2:]
    keys = classify(payoffs)
    zero_sum = kind == "matrix" and bool((payoffs[:, 0] == -payoffs[:, 1]).all())
    solved = solve_zero_sum(payoffs[:, 0]) if zero_sum else None
    for number, game in enumerate(payoffs):
        seat = int(rng.integers(2))
        shown_as, theme = str(rng.choice(telling.formats)), str(rng.choice(telling.themes))
        task = describe_matrix(game, seat, shown_as, _NEUTRAL if shown_as == SHORT else theme, kind)
        own: Array
        other: Array
        if kind == "reply":
            # In tenths, so that what an action brings against a mix has one decimal and can be
            # written down exactly.
            other = rng.multinomial(10, rng.dirichlet(np.ones(shape[1 - seat]))) / 10
            own = np.eye(shape[seat])[int(np.argmax(_weigh_actions(game, seat, other)))]
        elif solved is not None:
            mixes = solved.row[number][: shape[0]], solved.col[number][: shape[1]]
            own, other = mixes[seat], mixes[1 - seat]
        else:
            # The first one as the asked player sees the game, so that which one it is does not
            # depend on the seat.
            own, other = nash(NormalForm.bimatrix(*own_view(game, seat))).equilibria[0].strategies
        task |= {"opponent": np.round(other, 6).tolist(), "class": f"{int(keys[number]):016x}"}
        system, question = write_question(task, telling.worked)
        yield Example(system, question, write_answer(task, own, other, telling.worked), task)


def write_answer(task: JsonMapping, own: Array, other: Array, worked: bool) -> str:
    """Write the answer of a matrix game, worked: the payoffs of the actions that are played, their
    value, and the mix.

    A long question is first put in the short form: what is learnt from many short questions then
    serves long ones too. The payoffs of what is played are written out because the mix depends on
    nothing else: games of all sizes are then one task, however many of their actions nobody plays.
    """
    game, seat = _make_game(task), task["seat"]
    actions = game.form.actions[seat]
    if not worked:
        return _write_mix(actions, own)
    payoffs = np.asarray(task["payoffs"], dtype=np.float64)
    restated = "" if task["format"] == SHORT else f"{_write_short(task)}\n"
    if task["kind"] == "reply":
        values = np.round(_weigh_actions(payoffs, seat, other), 1) + 0.0
        brought = _join_names(
            [f"{name} brings {value:g}" for name, value in zip(actions, values, strict=True)]
        )
        return (
            f"{restated}Here {brought}. I play"
            f" {_list_support(actions, own)}.\n{_write_mix(actions, own)}"
        )
    mine, _ = own_view(payoffs, seat)
    value = _write_value(float(own @ mine @ other))
    rows, columns = (np.flatnonzero(mix > _POSITIVE).tolist() for mix in (own, other))
    played = _write_payoffs(game, seat, rows, columns)
    return f"{restated}These are played:\n{played}\nI get {value}.\n{_write_mix(actions, own)}"


def review_reasons(task: JsonMapping, answer: str) -> Review:
    """Have the figures in the reasons of a worked answer decided by the rules of `verify`.

    The question says how the other mixes, and that an equilibrium is wanted; verify is told it with
    the figures.
    """
    game, seat = _make_game(task), task["seat"]
    rival, shares = (
        game.roles[1 - seat],
        zip(game.form.actions[1 - seat], task["opponent"], strict=True),
    )
    reasons = answer.splitlines()[-2]
    if task["kind"] == "reply":
        mix = _join_names([f"{name} with probability {share:g}" for name, share in shares])
        reasons = reasons.replace("Here", f"If {rival} chooses {mix},", 1)
    else:
        reasons = f"In equilibrium {reasons}"
    return Reviewer(RulesTranslator(), EmbeddedEngine).review(reasons, Subject(game.form, seat))


def _write_value(value: float) -> str:
    """Write a value to one decimal, without it where the value is whole; what rounds to 0 has no
    sign."""
    return f"{round(value):d}" if abs(value - round(value)) < _POSITIVE else f"{value:z.1f}"


def _weigh_actions(payoffs: Array, seat: int, other: Array) -> Array:
    """Return what every action of a seat brings against a mix of the other."""
    mine, _ = own_view(payoffs, seat)
    return np.asarray(mine @ other)


def _list_support(actions: Sequence[str], mix: Array) -> str:
    return _join_names(
        [action for action, weight in zip(actions, mix, strict=True) if weight > _POSITIVE]
    )


def _join_names(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _write_mix(actions: Sequence[str], mix: Array) -> str:
    """Write a mix in whole thousandths that sum to 1; 0 and 1 without decimals, which saves a tenth
    of the tokens."""
    scaled = np.asarray(mix, dtype=np.float64) * 1000
    whole = np.floor(scaled + _POSITIVE)
    missing = int(1000 - whole.sum())
    whole[np.argsort(whole - scaled, kind="stable")[:missing]] += 1
    shares = (f"{share / 1000:.3f}" if share % 1000 else f"{share / 1000:.0f}" for share in whole)
    return "ANSWER: " + ", ".join(
        f"{action}: {share}" for action, share in zip(actions, shares, strict=True)
    )


def make_story_examples(
    payoffs: Array, telling: Telling, rng: np.random.Generator
) -> Iterator[Example]:
    """Yield an example for every game (n, 2, rows, cols): it is told to a player, and the answer is
    its program."""
    for game, key in zip(payoffs, classify(payoffs), strict=True):
        shown_as, theme = str(rng.choice(telling.formats)), str(rng.choice(telling.themes))
        task = describe_matrix(game, int(rng.integers(2)), shown_as, theme, "story") | {
            "class": f"{int(key):016x}"
        }
        program = write_table_program(as_game_table(_make_game(task).form))
        yield Example(*write_question(task, telling.worked), f"```prolog\n{program}```", task)


@cache
def _plan_questions(game: str) -> QuestionPlan:
    return plan_questions(BenchConfig("student", NamedGame(game), elicit="mixed"))


@cache
def _solve_tree(game: str) -> Policy:
    return solve_tree(_plan_questions(game).tree).policy


def make_tree_examples(game: str, telling: Telling) -> Iterator[Example]:
    """Yield an example for every information set of a game played in turn, with its moves in every
    order of turns."""
    plan = _plan_questions(game)
    tree, policy = plan.tree, _solve_tree(game)
    for index in plan.infosets:
        infoset = tree.infosets[index]
        first = tree.first_move[index]
        chances = policy.probabilities[first : first + len(infoset.moves)]
        for turn in range(len(infoset.moves)):
            moves = [*infoset.moves[turn:], *infoset.moves[:turn]]
            task: JsonObject = {
                "kind": "tree",
                "game": game,
                "player": tree.players[infoset.player],
                "infoset": infoset.label,
                "moves": moves,
                "elicit": "mixed",
            }
            system, question = write_question(task, telling.worked)
            yield Example(system, question, _write_mix(moves, np.roll(chances, -turn)), task)


def score_reply(task: JsonMapping, reply: str) -> float:
    """Return the reward of a reply from 0 to 1; `InvalidMove` where there is no answer in it.

    In a matrix game it is 1 less the exploitability (zero-sum) or the gap to a best reply (other
    games, and where the mix of the other is stated) as a share of the payoff range, as the
    benchmark measures them; in a game played in turn 1 less the distance in total variation from
    the equilibrium policy there; for the program of a story 1 where its game is exactly the one
    that was told, else 0.

    >>> score_reply(describe_matrix(np.array([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]), 0, "table", "neutral")
    ...             | {"opponent": [0.5, 0.5]}, "ANSWER: A: 0.75, B: 0.25")
    0.75
    """
    if task["kind"] == "story":
        return _score_program(task, reply)
    _, ask = _find_ask(task)
    decision = read_reply(ask, reply)
    if decision.action is None:
        raise InvalidMove(decision.reading.how)
    mix = as_strategy(decision.action, ask.options)
    if task["kind"] == "tree":
        plan = _plan_questions(task["game"])
        index = plan.tree.infoset_index[task["player"], task["infoset"]]
        first = plan.tree.first_move[index]
        moves = plan.tree.infosets[index].moves
        chances = dict(zip(moves, _solve_tree(task["game"]).probabilities[first:], strict=False))
        distance = (
            sum(abs(chances[move] - weight) for move, weight in zip(ask.options, mix, strict=True))
            / 2
        )
        return float(1 - distance)
    own, other = own_view(np.asarray(task["payoffs"], dtype=np.float64), task["seat"])
    row, *_ = measure_strategies(
        own[None], other[None], mix[None], np.asarray(task["opponent"])[None]
    )
    # A best reply to a mix that is stated can be exploited, and is right all the same.
    lost = None if task["kind"] == "reply" else row["exploitability_normalised"]
    return float(1 - (row["gap_normalised"] if lost is None else lost))


def _score_program(task: JsonMapping, reply: str) -> float:
    code = find_code(reply)
    if code is None:
        raise InvalidMove("there is no program in the reply")
    table = validate(code.text, EmbeddedEngine()).table
    if table is None:
        return 0.0
    return float(compare_tables(table, as_game_table(_make_game(task).form)).exact)
