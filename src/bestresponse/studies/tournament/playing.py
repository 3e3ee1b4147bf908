"""One match in which somebody has to be asked, round by round."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonMapping
from bestresponse.core.player import Nature, Player
from bestresponse.core.seeds import split
from bestresponse.games.matrix.repeated import RepeatedGame
from bestresponse.models.base import Model
from bestresponse.players.llm.player import LlmPlayer, Sampling
from bestresponse.players.llm.prompting import Style
from bestresponse.players.llm.verified import is_verified, with_review
from bestresponse.players.lookup import find_strategy
from bestresponse.players.strategies.automaton import AutomatonPlayer, AxelrodPlayer
from bestresponse.players.strategies.fixed import HistoryFunction, HistoryPlayer
from bestresponse.runs.spec import Spec
from bestresponse.studies.tournament.config import Entry, TournamentConfig
from bestresponse.studies.tournament.entrants import as_automata
from bestresponse.theory.repeated.dilemma import cooperative_actions

__all__ = ["game_of", "make_player"]


def game_of(config: TournamentConfig) -> RepeatedGame:
    """The repeated game that is shown to those who are asked."""
    return RepeatedGame(config.game.form, config.rounds, config.continuation, noise=config.noise)


def make_player(
    config: TournamentConfig, models: Mapping[str, Model], functions: Mapping[str, HistoryFunction] | None = None
) -> Callable[[Spec, list[Submission], Callable[[Submission], None]], Record]:
    """Return the function that plays one spec of `config`, for `execute`."""
    game = game_of(config)

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        data = spec.data
        seed = split(config.seed, "match", *data["places"], data["repetition"])
        seats: dict[str, Player] = {NATURE: Nature(split(seed, "length"))}
        for seat, role in enumerate(game.roles):
            seats[role] = _seat(config, data, seat, models, functions or {}, split(seed, seat))
        return play(game, seats, submissions=done, on_submission=keep)

    return play_one


def _seat(
    config: TournamentConfig,
    data: JsonMapping,
    seat: int,
    models: Mapping[str, Model],
    functions: Mapping[str, HistoryFunction],
    seed: int,
) -> Player:
    entry = Entry(**data["seats"][seat])
    match entry.kind:
        case "model":
            player = _model_player(config, entry.source, models[entry.source], data["repetition"])
            return with_review(entry.source, player)
        case "function":
            if entry.name not in functions:
                raise UsageError(f"{entry.name} was a Python function, which a stored run does not hold")
            return HistoryPlayer(functions[entry.name], entry.name)
        case "player":
            game = game_of(config)
            found = find_strategy(entry.source, game, game.roles[seat], seed)
            if found is None:
                raise UsageError(f"the player {entry.source} is not installed here")
            return found
        case "axelrod":
            return AxelrodPlayer(entry.source, cooperative_actions(config.game.form), seed)
        case _:
            automata = as_automata(entry, config.game, config.default_move)
            if automata is None:
                raise UsageError(f"{entry.name} is no strategy")
            return AutomatonPlayer(automata[seat], seed)


def _model_player(config: TournamentConfig, name: str, model: Model, repetition: int) -> Player:
    style: Style = "json" if model.abilities.schema and not is_verified(name) else "line"
    match config.style:
        case "line" | "json" | "letter":
            style = config.style
        case "auto":
            pass
        case _:
            raise UsageError(f"--style {config.style}: expected auto, line, json or letter")
    sampling = Sampling(
        0.0 if config.temperature is None else config.temperature,
        max_tokens=config.max_tokens,
        seed=split(config.seed, "llm") % 2**31,
        replicate=repetition,
    )
    return LlmPlayer(model, sampling, style, config.attempts)
