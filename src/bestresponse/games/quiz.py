"""Questions about the rules of any game.

Whoever answers them has understood how payoffs come about.

Every question tells some answers and asks what they earn; what is right comes from playing those
answers by the rules. A game may bring its own questions (`core.capabilities.Quiz`); any other is
asked about cells of its table, about ways through its tree, or about a short play.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Literal

import numpy as np

from bestresponse.core.ask import PASS, Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.capabilities import Question, Quiz, pays_by_round
from bestresponse.core.game import NATURE, REFEREE, Action, Game, Role, S
from bestresponse.core.phrase import Phrase, make_phrase
from bestresponse.core.told import CARD_NAMES, Chose, Dealt, Drew, Event, LaidOpen
from bestresponse.games.capabilities import HasTree, ToldPaths, find_stage_form
from bestresponse.games.statements import list_moves_to
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import CHANCE

Verb = Literal["choose", "send", "return", "offer", "invest", "answer"]
"""What is done in a step of a play; an answer is a verb itself, such as accept."""

_COUNT = 2


def make_quiz(game: Game[S], role: Role, rng: Random) -> tuple[Question, ...]:
    """Make the quiz for the seat of `role`; empty where the rules give nothing to ask."""
    if isinstance(game, Quiz):
        return game.make_quiz(role, rng)
    form = find_stage_form(game)
    if form is not None:
        return ask_about_table(form, role, rng)
    if isinstance(game, HasTree):
        return ask_about_paths(game, role, rng)
    return ask_about_play(game, role, rng)


def ask_about_table(form: NormalForm, role: Role, rng: Random) -> tuple[Question, ...]:
    """Ask what some cells of a payoff table are worth."""
    seat = form.players.index(role)
    size = form.payoffs[0].size
    cells = rng.sample(range(size), min(_COUNT, size))
    return tuple(_ask_about_cell(form, seat, cell) for cell in sorted(cells))


def _ask_about_cell(form: NormalForm, seat: int, cell: int) -> Question:
    chosen = tuple(int(k) for k in np.unravel_index(cell, form.shape))
    others = [other for other in range(len(form.players)) if other != seat]
    reader = form.players[seat]
    steps = []
    for player in (seat, *others):
        move = form.actions[player][chosen[player]]
        steps.append(say_step(form.players[player], move, reader))
    return Question(ask_for_payoff(steps), float(form.payoffs[(seat, *chosen)]))


def ask_about_paths(game: HasTree, role: Role, rng: Random) -> tuple[Question, ...]:
    """Ask where the shorter ways through a tree end."""
    tree = game.tree
    leaves = sorted(tree.leaves.tolist(), key=lambda leaf: tree.path(leaf).count(">"))
    num_short = max(2 * _COUNT, len(leaves) // 8)
    drawn = rng.sample(leaves[:num_short], min(_COUNT, len(leaves)))
    asked = []
    for leaf in sorted(drawn):
        steps = [say_event(event, role) for event in _list_events(game, leaf)]
        payoff = float(tree.payoffs[leaf][tree.players.index(role)])
        asked.append(Question(ask_for_payoff(steps), payoff))
    return tuple(asked)


def _list_events(game: HasTree, leaf: int) -> Iterator[Event]:
    if isinstance(game, ToldPaths):
        yield from game.list_moves(leaf)
        return
    for owner, move in list_moves_to(game.tree, leaf):
        yield Drew((move,)) if owner == CHANCE else Chose(game.tree.players[owner], (move,))


def ask_about_play(
    game: Game[S],
    role: Role,
    rng: Random,
    verbs: Sequence[Verb] = (),
) -> tuple[Question, ...]:
    """Ask what short plays earn.

    `verbs` say what is done, step by step, where there is a better word than choose.
    """
    asked = (_ask_about_one_play(game, role, rng, verbs) for _ in range(_COUNT))
    return tuple(dict.fromkeys(question for question in asked if question))


def _ask_about_one_play(
    game: Game[S],
    reader: Role,
    rng: Random,
    verbs: Sequence[Verb],
) -> Question | None:
    """Let everybody answer until the same kind of question would come again or the game is over.

    A play that is broken off has paid something only where rounds are paid.
    """
    state = game.start()
    seen = set()
    words = iter(verbs)
    parts: list[Phrase] = []
    while True:
        asks = game.asks(state)
        kind = tuple((role, type(ask).__name__) for role, ask in asks.items())
        if not asks or kind in seen:
            break
        seen.add(kind)
        moves = _draw_moves(asks, reader, rng)
        if moves is None:
            return None
        parts += _describe_moves(moves, reader, next(words, "choose"))
        state = game.apply(state, moves)
    earned = game.payoffs(state).get(reader)
    if not parts or earned is None or (asks and not pays_by_round(game)):
        return None
    return Question(ask_for_payoff(parts), float(earned))


def _draw_moves(asks: Mapping[Role, Ask], reader: Role, rng: Random) -> dict[Role, object] | None:
    """Draw an answer to every ask, the same for all others who are asked the same.

    Returns None where words count.
    """
    drawn: dict[str, Action] = {}
    moves: dict[Role, Action] = {}
    for role, ask in asks.items():
        key = reader if role == reader else repr(ask)
        if key not in drawn:
            taken = list(drawn.values())
            drawn[key] = None if role == REFEREE else _draw_answer(ask, rng, taken)
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
            width = high - low
            steps = [float(round(low + width * k / 5)) for k in (1, 2, 3)]
            free = [step for step in steps if low <= step <= high and step not in taken]
            return rng.choice(free or [low])
        case Lottery(chances):
            return rng.choice([outcome for outcome, p in chances if p > 0])
        case Form() | Mixture() | Words():
            return None


def _describe_moves(moves: Mapping[Role, object], reader: Role, verb: Verb) -> list[Phrase]:
    others = {role: move for role, move in moves.items() if role not in (reader, NATURE)}
    parts: list[Phrase] = []
    if NATURE in moves:
        parts.append(make_phrase("{move} is drawn", move=_fill(moves[NATURE])))
    if reader in moves:
        parts.append(say_step(reader, moves[reader], reader, verb))
    different = {repr(move) for move in others.values()}
    if len(others) > 1 and len(different) == 1:
        move = next(iter(others.values()))
        return [*parts, make_phrase(f"each of the others {verb}s {{move}}", move=_fill(move))]
    return [*parts, *(say_step(role, move, reader, verb) for role, move in others.items())]


def say_step(role: Role, move: object, reader: Role, verb: Verb = "choose") -> Phrase:
    """Say who does what, to `reader`.

    >>> say_step("sender", "5", "receiver").text, say_step("sender", "5", "sender").text
    ('{who} chooses {move}', 'you choose {move}')
    """
    if verb == "answer":
        return make_phrase(f"you {move}" if role == reader else f"the {role} {move}s")
    if role == reader:
        return make_phrase(f"you {verb} {{move}}", move=_fill(move))
    return make_phrase(f"{{who}} {verb}s {{move}}", who=role, move=_fill(move))


def say_event(event: Event, reader: Role) -> Phrase:
    """Say a step on the way through a tree, to `reader`."""
    match event:
        case Chose(who, (move,)):
            return say_step(who, move, reader)
        case Dealt(who, card) if who == reader:
            return make_phrase("you are dealt the {card}", card=CARD_NAMES[card])
        case Dealt(who, card):
            return make_phrase("{who} is dealt the {card}", who=who, card=CARD_NAMES[card])
        case LaidOpen(card):
            return make_phrase("the {card} is laid open", card=CARD_NAMES[card])
        case Drew((outcome,)):
            return make_phrase("{move} is drawn", move=outcome)
        case _:
            raise TypeError(f"{type(event).__name__} is no step on the way through a tree")


def ask_for_payoff(steps: Sequence[Phrase]) -> Phrase:
    """Ask what the reader gets if these steps are taken."""
    return make_phrase("If {steps}, how much do you get?", steps=tuple(steps))


def _fill(move: object) -> str | float:
    return move if isinstance(move, float) else str(move)
