"""What a steering run will take at most, known before the first call, and the refusal of what is not allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.games.dialogue.domain import Domain
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.models.base import Model
from bestresponse.models.wrappers.meter import Budget
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.authoring import Author, Written, most_questions
from bestresponse.studies.steer.building import missing_calls, size_of
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.fresh import fresh_on_record
from bestresponse.studies.steer.playing import cast_of, games_of, held_out_games, per_ruling
from bestresponse.studies.steer.psro.budget import missing_psro_calls
from bestresponse.studies.steer.psro.judging import held_out_on_record
from bestresponse.studies.steer.session import held_out_arena, psro_search

__all__ = ["SteerEstimate", "check_budget", "estimate"]

_BYTES_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class SteerEstimate:
    """The most that is still to be asked for, and the nodes of the largest tree."""

    calls: int
    tokens: int
    nodes: int


def estimate(config: SteerConfig, models: Mapping[str, Model], kept: AnswerStore) -> SteerEstimate:
    """Say the most that a run still takes: its trees or its search in prompt space, and the fresh dialogues."""
    domain = config.read_domain()
    written = _written(config, domain, models, kept)
    domain = domain if written is None else written.of(domain)
    games = games_of(config, domain)
    calls, nodes = (_for_psro if config.solver == "psro" else _for_cfr)(config, domain, models, kept)
    if config.scenarios_by and written is None:
        calls += most_questions(config.games + config.held_out)
    return SteerEstimate(calls, calls * _tokens_per_call(games[0], config), nodes)


def _written(config: SteerConfig, domain: Domain, models: Mapping[str, Model], kept: AnswerStore) -> Written | None:
    """The scenarios on record; before they are written, games that the seed draws take as many calls."""
    if not config.scenarios_by:
        return None
    author = Author(models[config.scenarios_by], domain, kept.book, kept.keep, config.seed)
    return author.on_record(config.games + config.held_out)


def _for_cfr(config: SteerConfig, domain: Domain, models: Mapping[str, Model], kept: AnswerStore) -> tuple[int, int]:
    games = [*games_of(config, domain), *held_out_games(config, domain)]
    cast, rulings = cast_of(config, domain, models), per_ruling(config, domain)
    draws = range(config.wordings, config.wordings + config.fresh)
    a_draw = _calls_a_draw(games[0], per_ruling(config, domain, second=False))
    calls = nodes = 0
    for game in games:
        missing, size = missing_calls(game, cast, kept.book, config.wordings, rulings), size_of(game, config.wordings)
        calls += missing + (size.messages if config.follow and missing else 0)
        calls += a_draw * sum(not fresh_on_record(game, kept, draw, config.seed) for draw in draws)
        nodes = max(nodes, size.nodes)
    if config.transfer:
        there = config.elsewhere
        more, larger = _for_cfr(there, there.read_domain(), models, kept)
        return calls + more, max(nodes, larger)
    return calls, nodes


def _for_psro(config: SteerConfig, domain: Domain, models: Mapping[str, Model], kept: AnswerStore) -> tuple[int, int]:
    rulings = per_ruling(config, domain)
    calls = missing_psro_calls(*psro_search(config, domain, models, kept, workers=1), rulings)
    elsewhere = held_out_arena(config, domain, models, kept, 1) if config.held_out else None
    if elsewhere is None or held_out_on_record(config, elsewhere):
        return calls, 0
    return calls + config.held_out * config.fresh * _calls_a_draw(elsewhere.game, rulings), 0


def _calls_a_draw(game: DialogueGame, rulings: int) -> int:
    """One talk with everybody unguided, and one for each guided seat, which shares what was said before its turn."""
    talk = range(1, game.messages + 1)
    messages = game.messages + sum(game.messages - seat for seat in range(game.domain.players))
    return messages + (game.domain.players + 1) * rulings * sum(game.rules_after(said) for said in talk)


def _tokens_per_call(game: DialogueGame, config: SteerConfig) -> int:
    """About the longest prompt (with the whole transcript) and reply, in tokens."""
    start = game.view(game.start() if len(game.cases) == 1 else game.apply(game.start(), {"nature": 0}), game.roles[0])
    prompt = len(start.briefing.encode()) // _BYTES_PER_TOKEN + 200
    return prompt + (game.messages + 1) * config.max_tokens


def check_budget(need: SteerEstimate, budget: Budget, max_nodes: int, price: float | None) -> None:
    """Refuse before the first call what cannot be finished; `price` is the most that all calls cost, if known."""
    if need.nodes > max_nodes:
        raise TooLarge(
            f"a tree could have {need.nodes:,} nodes, more than {max_nodes:,}; choose fewer replies or wordings, "
            "or raise `max_nodes`"
        )
    advice = "raise the limit, choose a smaller game, or say `cut_short` to build as far as it goes"
    if budget.calls is not None and need.calls > budget.calls:
        raise UsageError(f"this could take {need.calls:,} calls, more than the {budget.calls:,} allowed; {advice}")
    if budget.tokens is not None and need.tokens > budget.tokens:
        raise UsageError(f"this could take {need.tokens:,} tokens, more than the {budget.tokens:,} allowed; {advice}")
    if budget.money is not None and price is not None and price > budget.money:
        raise UsageError(f"this could cost ${price:.2f}, more than the ${budget.money:.2f} allowed; {advice}")
