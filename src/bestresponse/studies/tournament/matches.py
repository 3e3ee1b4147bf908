"""How the matches of a tournament are played.

Two automata meet here, two strategies of Axelrod's library meet there; models, functions and other
players are asked round by round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, product

import numpy as np

from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, Game, S
from bestresponse.core.json import canonical
from bestresponse.core.player import Decision, Player
from bestresponse.core.seeds import generator, split
from bestresponse.games.matrix.game import GO_ON, STOP, RepeatedGame
from bestresponse.models.base import ModelsByName
from bestresponse.players import strategies
from bestresponse.players.lookup import find_strategy
from bestresponse.runs.execution import KeepAnswer, PlayOne
from bestresponse.runs.seats import make_player
from bestresponse.runs.store.folder import Spec
from bestresponse.runs.study import Estimate
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entries import is_in_words
from bestresponse.telling.render import write_rules
from bestresponse.theory.repeated.automaton import Automaton, cooperative_actions
from bestresponse.theory.repeated.repetition import Repetition

_CHARACTERS_PER_TOKEN = 4
_TOKENS_A_ROUND = 12
"""About what one round adds to the history that a model is shown."""

# A model is shown all rounds and answers at once; a match in which it does not is void.
_AGENTS = {
    "memory": "full",
    "own_words": False,
    "reasoning": "direct",
    "policy": "void",
    "personas": {},
}


def list_matches(config: TournamentConfig) -> Iterator[dict[str, object]]:
    """Yield every match that is played one by one, `repetitions` times, game by game."""
    for one in config.by_game:
        yield from _list_matches(one)


def _list_matches(config: TournamentConfig) -> Iterator[dict[str, object]]:
    shared = {
        "study": "tournament",
        "game": config.game.to_json(),
        "rounds": config.repetition.rounds,
        "default_move": config.default_move,
        "temperature": config.temperature,
        "max_tokens": config.max_tokens,
        "attempts": config.attempts,
        "style": config.style,
        "reasons": config.reasons,
        **_AGENTS,
    }
    for repetition, pair in product(range(config.repetitions or 1), config.played_pairs):
        entries = [config.entries[index] for index in pair]
        seats = []
        for role, entry in zip(config.repeated.roles, entries, strict=True):
            seats.append([role, entry.source if entry.kind == "model" else entry.name])

        asks_model = any(entry.kind == "model" for entry in entries)
        yield {
            **shared,
            "seats": seats,
            "entries": [entry.to_json() for entry in entries],
            "places": list(pair),
            "repetition": repetition,
            "seed": split(config.seed, "match", *pair, repetition),
            **(config.describe_tools() if asks_model else {}),
        }


def _seat_entry(
    config: TournamentConfig,
    spec: Spec,
    game: Game[S],
    role: str,
    name: str,
) -> Player | None:
    """Seat who needs no model."""
    seat = game.roles.index(role)
    entry = config.entries[spec.data["places"][seat]]
    seed = split(spec.data["seed"], seat)
    course = config.repetition
    match entry.kind:
        case "model":
            return None
        case "function" if entry.thing is None:
            raise UsageError(
                f"{entry.name} was a Python function, which a stored run does not hold"
            )
        case "function":
            return strategies.HistoryPlayer(entry.thing, entry.name)
        case "player" if player := find_strategy(entry.source, game, role, seed):
            return player
        case "axelrod":
            return strategies.AxelrodPlayer(
                entry.source,
                cooperative_actions(config.stage.form),
                seed,
                rounds=course.rounds if course.continuation == 1.0 else None,
                noise=course.noise,
            )
    automata = config.find_automata(entry)
    if automata is None:
        raise UsageError(
            f"{entry.name} cannot play here: it is not an installed player, or in words and without"
            " rules"
        )
    return strategies.AutomatonPlayer(automata[seat], seed)


def prepare_matches(config: TournamentConfig, models: ModelsByName) -> PlayOne:
    """Return the function that plays one match of one of the games."""
    tooled = config.offer_tools(models)
    by_game = {name: _prepare_game(one, tooled) for name, one in config.by_description.items()}

    def play_one(spec: Spec, done: list[Submission], keep: KeepAnswer) -> Record:
        play_match = by_game[canonical(spec.data["game"])]
        return play_match(spec, done, keep)

    return play_one


def _prepare_game(config: TournamentConfig, models: ModelsByName) -> PlayOne:
    """Two strategies of Axelrod's library meet there, two automata here.

    Others are asked round by round.
    """
    play_seats = make_player(lambda spec: config.repeated, models, partial(_seat_entry, config))
    form = config.stage.form

    def play_one(spec: Spec, done: list[Submission], keep: KeepAnswer) -> Record:
        entries = [config.entries[index] for index in spec.data["places"]]
        automata = [config.find_automata(entry) for entry in entries]
        if all(entry.kind == "axelrod" for entry in entries):
            sources = (entries[0].source, entries[1].source)
            rounds = strategies.play_in_library(
                sources,
                form,
                config.repetition,
                spec.data["seed"],
            )
        elif automata[0] is not None and automata[1] is not None:
            pair = (automata[0][0], automata[1][1])
            rounds = draw_rounds(pair, config.repetition, spec.data["seed"])
        else:
            return play_seats(spec, done, keep)
        names = [entry.name for entry in entries]
        players = dict(zip(config.repeated.roles, names, strict=True))
        return record_rounds(config.repeated, rounds, players)

    return play_one


def draw_rounds(
    automata: tuple[Automaton, Automaton],
    repetition: Repetition,
    seed: int,
) -> tuple[strategies.LibraryRound, ...]:
    """Draw a match of two automata, round by round; what rounds weigh changes none of them."""
    random = generator(seed, "rounds")
    actions = [range(automaton.mix.shape[1]) for automaton in automata]
    mixes = [automaton.mix.tolist() for automaton in automata]
    states = [0, 0]
    rounds: list[strategies.LibraryRound] = []
    while len(rounds) < repetition.rounds:
        meant = []
        for seat in (0, 1):
            mix = mixes[seat][states[seat]]
            meant += random.choices(actions[seat], mix)

        made = list(meant)
        for seat in (0, 1):
            others = [action for action in actions[seat] if action != meant[seat]]
            if others and repetition.noise and random.random() < repetition.noise:
                made[seat] = random.choice(others)
        first, second = made
        rounds.append(strategies.LibraryRound(meant=(meant[0], meant[1]), made=(first, second)))

        if repetition.continuation < 1.0 and random.random() >= repetition.continuation:
            break
        states = [
            int(automata[0].step[states[0], first, second]),
            int(automata[1].step[states[1], second, first]),
        ]
    return tuple(rounds)


def record_rounds(
    game: RepeatedGame,
    rounds: Sequence[strategies.LibraryRound],
    players: Mapping[str, str],
) -> Record:
    """Return the record of a match played elsewhere, as an `Episode` would leave it.

    The `Episode` is one with the same moves.

    It is put together here because an episode takes as long for 200 rounds as the library does.
    """
    # Submissions are values, so that one object serves for every round in which a seat does the
    # same.
    meant = []
    drawn = []
    for role, actions in zip(game.roles, game.form.actions, strict=True):
        decisions = [Decision(action) for action in actions]
        meant.append([Submission(role, decision) for decision in decisions])
        drawn.append([Submission(NATURE, decision) for decision in decisions])
    go_on = Submission(NATURE, Decision(GO_ON))
    stop = Submission(NATURE, Decision(STOP))
    submissions: list[Submission] = []
    for number, moves in enumerate(rounds, 1):
        submissions += [seat[move] for seat, move in zip(meant, moves.meant, strict=True)]
        if game.noise:
            submissions += [seat[move] for seat, move in zip(drawn, moves.made, strict=True)]
        if game.continuation < 1.0 and number < game.rounds:
            is_last = number == len(rounds)
            submissions.append(stop if is_last else go_on)

    totals = np.zeros(2)
    weights: dict[tuple[int, int], float] = {}
    for number, moves in enumerate(rounds):
        weight = game.repetition.weigh(number)
        weights[moves.made] = weights.get(moves.made, 0.0) + weight
    for (first, second), weight in weights.items():
        totals += weight * game.form.payoffs[:, first, second]
    payoffs = dict(zip(game.roles, totals.tolist(), strict=True))
    return Record(game.name, game.version, dict(players), tuple(submissions), payoffs)


def estimate_matches(config: TournamentConfig) -> Estimate:
    """Count every round of every match in both seats that hold a model, with every attempt."""
    in_words = [game.name for game in config.games if is_in_words(game)]
    if in_words:
        return Estimate(
            None, f"{', '.join(in_words)} has to be formalized first; the matches are counted then"
        )
    parts = [_estimate_game(one) for one in config.by_game]
    if len(parts) == 1:
        return parts[0]
    return Estimate.add(parts, f"{len(parts)} games")


def _estimate_game(config: TournamentConfig) -> Estimate:
    rounds = config.repetition.rounds
    asked = rounds * config.attempts * (config.repetitions or 1)
    calls = dict.fromkeys(map(str, config.models), 0)
    for index in chain.from_iterable(config.played_pairs):
        entry = config.entries[index]
        if entry.kind == "model":
            calls[entry.source] += config.count_with_tools(asked)

    game = config.repeated
    rules = write_rules(game.view(game.start(), game.roles[0]))
    briefing = len(rules) // _CHARACTERS_PER_TOKEN
    tokens = briefing + rounds * _TOKENS_A_ROUND // 2
    matches = count_matches(config)
    what = f"{matches:,} matches of {rounds} rounds" if calls else ""
    return Estimate.of_calls(
        matches,
        what,
        calls,
        prompt=tokens,
        reply=config.max_tokens,
    )


def count_matches(config: TournamentConfig) -> int:
    """Count the matches that are played one by one."""
    matches = sum(len(one.played_pairs) for one in config.by_game)
    return matches * (config.repetitions or 1)
