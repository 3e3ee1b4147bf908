"""One play of the benchmark: the model in its seat, the opponent fixed to its equilibrium strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping
from bestresponse.core.player import Player
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.models.base import Model
from bestresponse.players.llm.player import FirstToken, LlmPlayer, Sampled, Sampling, Thinking
from bestresponse.players.llm.prompting import Style
from bestresponse.players.llm.verified import is_verified, with_review
from bestresponse.players.strategies.fixed import FixedMix
from bestresponse.runs.spec import Spec
from bestresponse.studies.bench.games.given import theme_of
from bestresponse.studies.bench.plan import Plan

__all__ = ["game_of", "make_player", "seat_player"]

_ASKING = ("model", "elicit", "llm_seed", "temperature", "max_tokens", "style", "think", "attempts", "samples")
"""What a seated model depends on, in the data of a spec."""


def game_of(data: JsonMapping) -> MatrixGame:
    """The game of a spec, as it is shown."""
    dress = theme_of(data)
    seat = data["seat"]
    own = "action" if data["elicit"] == "pure" else "mixture"
    payoffs = np.asarray(data["payoffs"], dtype=np.float64)
    form = dress.dress(payoffs)
    wanted = (own, "mixture") if seat == 0 else ("mixture", own)
    return MatrixGame(form, wanted, data["format"], dress.story, others="rational")  # type: ignore[arg-type]


def seat_player(data: JsonMapping, model: Model) -> Player:
    """The model in the way of asking that a spec names."""
    elicit = data["elicit"]
    seed = data["llm_seed"]
    temperature = data["temperature"]
    first = data.get("replicate", 0)
    sampling = Sampling(temperature, max_tokens=data["max_tokens"], seed=seed, replicate=first)
    if elicit == "logprobs" and is_verified(data["model"]):
        raise UsageError("--elicit logprobs asks for no reasons, so that nothing can be verified; choose another way")
    if elicit == "logprobs":
        if not model.abilities.logprobs:
            raise UsageError(f"{model.id} reports no log-probabilities; choose another way with --elicit")
        return FirstToken(model, sampling)
    think = bool(data.get("think"))
    style = _style(data["style"], elicit, model, reasons=think or is_verified(data["model"]))

    def make_one(replicate: int) -> Player:
        drawn = replace(sampling, replicate=replicate)
        player: Player = LlmPlayer(model, drawn, style, data["attempts"])
        return with_review(data["model"], Thinking(player) if think else player)

    if elicit != "sampled":
        return make_one(first)
    return Sampled(tuple(make_one(k) for k in range(data["samples"])), model.abilities.concurrency)


def _style(wanted: str, elicit: str, model: Model, *, reasons: bool) -> Style:
    """The style asked for; where none is, JSON if the model can and no reasons are wanted."""
    if wanted == "letter" and elicit == "mixed":
        raise UsageError("--style letter cannot state a mixed strategy; use --elicit pure, sampled or logprobs")
    match wanted:
        case "line" | "json" | "letter":
            return wanted
        case _:
            return "json" if model.abilities.schema and not reasons else "line"


def make_player(
    plan: Plan, models: Mapping[str, Model]
) -> Callable[[Spec, list[Submission], Callable[[Submission], None]], Record]:
    """The function that plays one spec of `plan`, for `execute`."""

    seated: dict[tuple[object, ...], Player] = {}

    def seat(data: JsonMapping) -> Player:
        """Seat the model once for all plays that ask it in the same way."""
        key = tuple(data.get(name) for name in _ASKING)
        if key not in seated:
            seated[key] = seat_player(data, models[data["model"]])
        return seated[key]

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        data = spec.data
        game = game_of(data)
        own = data["seat"]
        seats: dict[str, Player] = {
            game.roles[own]: seat(data),
            game.roles[1 - own]: FixedMix(plan.find_opponent(data), "equilibrium", blind=True),
        }
        return play(game, seats, submissions=done, on_submission=keep)

    return play_one
