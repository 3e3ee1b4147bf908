"""A steering run from settings to figures: what it will take, what it found, as plain data and as a report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.core.json import digest
from bestresponse.core.player import Status
from bestresponse.core.seeds import split
from bestresponse.games.dialogue import DialogueGame
from bestresponse.games.dialogue_domain import Domain
from bestresponse.games.dialogue_recorded import Entry
from bestresponse.games.dialogue_texts import TEXTS
from bestresponse.models.base import Model
from bestresponse.models.meter import Budget
from bestresponse.report.interval import Interval
from bestresponse.report.statistics import cluster_bootstrap
from bestresponse.store.manifest import Manifest, environment
from bestresponse.studies.steer.building import missing_calls, size_of
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.embedding import MiniLM
from bestresponse.studies.steer.imitation import HashedWords, Imitation, Training, imitate
from bestresponse.studies.steer.opinions import pooled
from bestresponse.studies.steer.playing import BookFile, GameResult, book_id, cast_of, games_of, per_ruling, play_game
from bestresponse.studies.steer.psro import PsroResult, PsroSettings, psro
from bestresponse.studies.steer.psro_budget import missing_psro_calls
from bestresponse.studies.steer.psro_oracles import Inventor
from bestresponse.studies.steer.psro_plays import Arena

__all__ = ["Needed", "Steered", "check_budget", "manifest_of", "needed", "run_cfr", "run_psro", "summary_of"]

STUDY = "steer"
_BYTES_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class Needed:
    """The most that is still to be asked for, and the nodes of the largest tree."""

    calls: int
    tokens: int
    nodes: int


@dataclass(slots=True, eq=False)
class Steered:
    """What a run found."""

    config: SteerConfig
    domain: Domain
    games: tuple[GameResult, ...] = ()
    psro: PsroResult | None = None
    psro_played: int = 0
    psro_voids: int = 0
    stopped: str = ""
    answers: tuple[Entry, ...] = ()
    imitation: Imitation | None = None

    @property
    def solved(self) -> tuple[GameResult, ...]:
        return tuple(one for one in self.games if one.solved is not None)

    def interval(self, figure: str) -> Interval | None:
        """The mean of a figure of the solutions over games, with its interval; None where no game was solved."""
        values = [float(getattr(one.solved, figure)) for one in self.solved]
        if not values:
            return None
        return cluster_bootstrap(values, rng=np.random.default_rng(split(self.config.seed, figure)))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every recorded answer that the run's trees are made of, in order."""
        keys = {key for one in self.games for key in one.built.keys}
        return tuple(entry for entry in self.answers if entry.key in keys)


def manifest_of(
    config: SteerConfig,
    domain: Domain,
    models: Mapping[str, Model],
    *,
    command: Iterable[str],
    created: str,
    revision: str | None,
) -> Manifest:
    """What is written down before the first call."""
    run = digest({"study": STUDY, "config": config.to_json(), "domain": domain.digest}, 12)
    who = {name: {"identity": dict(model.identity)} for name, model in models.items()}
    prompts = {**TEXTS.hashes(), f"{domain.name}.toml": domain.digest}
    return Manifest(run, STUDY, config.to_json(), tuple(command), created, environment(revision), prompts, who)


def book_path(output_dir: Path, config: SteerConfig, domain: Domain, models: Mapping[str, Model]) -> Path:
    """Where the answers are kept: one file for everything that asks the same of the same models."""
    return output_dir / f"dialogues-{domain.name}-{book_id(config, domain, models)}.jsonl"


def needed(config: SteerConfig, domain: Domain, models: Mapping[str, Model], file: BookFile) -> Needed:
    """The most that the trees of a run, or its search in prompt space, still take."""
    games = games_of(config, domain)
    if config.solver == "psro":
        search = _psro_search(config, domain, models, file, workers=1)
        calls = missing_psro_calls(*search, per_ruling(config, domain))
        return Needed(calls, calls * _tokens_per_call(games[0], config), 0)
    cast = cast_of(config, domain, models)
    rulings = per_ruling(config, domain)
    calls = sum(missing_calls(game, cast, file.book, config.wordings, rulings) for game in games)
    sizes = [size_of(game, config.wordings) for game in games]
    if config.follow:
        calls += sum(size.messages for size in sizes) if calls else 0
    return Needed(calls, calls * _tokens_per_call(games[0], config), max(size.nodes for size in sizes))


def _tokens_per_call(game: DialogueGame, config: SteerConfig) -> int:
    """About the longest prompt (with the whole transcript) and reply, in tokens."""
    start = game.view(game.start() if len(game.cases) == 1 else game.apply(game.start(), {"nature": 0}), game.roles[0])
    prompt = len(start.briefing.encode()) // _BYTES_PER_TOKEN + 200
    return prompt + (game.messages + 1) * config.max_tokens


def check_budget(need: Needed, budget: Budget, max_nodes: int, price: float | None) -> None:
    """Refuse before the first call what cannot be finished; `price` is the most that all calls cost, if known."""
    if need.nodes > max_nodes:
        raise TooLarge(
            f"a tree could have {need.nodes:,} nodes, more than --max-nodes {max_nodes:,}; "
            "choose fewer --replies or --wordings"
        )
    advice = "raise the limit, choose a smaller game, or add --cut-short to build as far as it goes"
    if budget.calls is not None and need.calls > budget.calls:
        raise UsageError(f"this could take {need.calls:,} calls, more than the {budget.calls:,} allowed; {advice}")
    if budget.tokens is not None and need.tokens > budget.tokens:
        raise UsageError(f"this could take {need.tokens:,} tokens, more than the {budget.tokens:,} allowed; {advice}")
    if budget.money is not None and price is not None and price > budget.money:
        raise UsageError(f"this could cost ${price:.2f}, more than the ${budget.money:.2f} allowed; {advice}")


def run_cfr(
    config: SteerConfig,
    domain: Domain,
    models: Mapping[str, Model],
    file: BookFile,
    *,
    workers: int = 1,
    on_game: Callable[[int, int], None] = lambda done, answers: None,
) -> Steered:
    """Build and solve every game."""
    cast = cast_of(config, domain, models)
    classifier = models[config.judge or config.model] if config.follow else None
    embed = MiniLM() if config.imitate and config.embed == "minilm" else HashedWords()
    results: list[GameResult] = []
    steered = Steered(config, domain)
    for number, game in enumerate(games_of(config, domain)):
        result = play_game(config, number, game, cast, file, classifier=classifier, workers=workers)
        results.append(result)
        on_game(len(results), result.built.asked)
        if result.built.stopped:
            steered.stopped = result.built.stopped
            break
    steered.games = tuple(results)
    steered.answers = file.book.entries
    if config.imitate and not steered.stopped:
        steered.imitation = imitate(results, config.imitate, embed, Training(seed=config.seed))
    return steered


def run_psro(
    config: SteerConfig,
    domain: Domain,
    models: Mapping[str, Model],
    file: BookFile,
    *,
    workers: int = 1,
    on_iteration: Callable[[int], None] = lambda number: None,
) -> Steered:
    """Search in prompt space over all games of the run."""
    arena, inventor, settings = _psro_search(config, domain, models, file, workers)
    found = psro(arena, inventor, settings, on_iteration)
    return Steered(config, domain, psro=found, psro_played=arena.played, psro_voids=arena.voids, stopped=found.stopped)


def _psro_search(
    config: SteerConfig, domain: Domain, models: Mapping[str, Model], file: BookFile, workers: int
) -> tuple[Arena, Inventor, PsroSettings]:
    games = games_of(config, domain)
    cast = cast_of(config, domain, models)
    arena = Arena(games, cast, file.book, keep=file.keep, workers=workers, seed=config.seed, swap=config.swap_seats)
    task = games[0].view(games[0].start(), "referee").briefing
    inventor = Inventor(models[config.model], task, file.book, file.keep, max(config.temperature, 0.7))
    settings = PsroSettings(config.iterations, config.plays, config.candidates, config.oracle, config.meta, config.seed)
    return arena, inventor, settings


def summary_of(steered: Steered, calls: int) -> dict[str, Any]:
    """The figures of a run as plain data; `calls` are those that this run made."""
    config = steered.config
    head = {
        "domain": steered.domain.name,
        "model": config.model,
        "judge": config.judge or config.model,
        "solver": config.solver,
        "games": config.games,
        "replies": config.replies,
        "wordings": config.wordings,
        "seed": config.seed,
        "calls": calls,
        "stopped": steered.stopped or None,
    }
    return head | (_psro_figures(steered) if steered.psro is not None else _cfr_figures(steered))


def _cfr_figures(steered: Steered) -> dict[str, Any]:
    games = steered.games
    opinions = pooled([one.opinions for one in games])
    followed = [one.followed for one in games if one.followed.judged]
    return {
        "iterations": steered.config.iterations,
        "answers": sum(one.built.asked for one in games),
        "solved_games": len(steered.solved),
        "void_games": [{"game": one.number, "why": one.why_void} for one in games if one.solved is None],
        "nash_conv": as_json(steered.interval("nash_conv")),
        "unguided_nash_conv": as_json(steered.interval("unguided_nash_conv")),
        "cfr_gain": as_json(steered.interval("gain")),
        "margin": as_json(steered.interval("margin")),
        "relative_gain": relative_gain(steered),
        "readings": dict(Counter(entry.reading.status.value for entry in steered.entries)),
        "follow_rate": sum(f.followed for f in followed) / sum(f.judged for f in followed) if followed else None,
        "second_referee": {
            "same": opinions.same,
            "distance": opinions.distance,
            "alpha": opinions.alpha,
            "payoffs": len(opinions.pairs),
            "void": opinions.void,
        }
        if opinions.pairs or opinions.void
        else None,
        "imitation": _imitation_figures(steered),
        "per_game": [_game_figures(one) for one in games],
    }


def _imitation_figures(steered: Steered) -> dict[str, Any] | None:
    found = steered.imitation
    if found is None:
        return None
    gain, solver = (mean_interval(values, steered.config.seed) for values in (found.gains, found.solver_gains))
    sizes = {"trained_on": found.trained_on, "information_sets": found.information_sets, "loss": found.loss}
    return sizes | {"held_out": len(found.gains), "gain": as_json(gain), "solver_gain": as_json(solver)}


def mean_interval(values: Sequence[float], seed: int) -> Interval:
    """The mean over games with its interval."""
    return cluster_bootstrap(values, rng=np.random.default_rng(split(seed, "games")))


def _game_figures(one: GameResult) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "game": one.number,
        "scenario": [case.to_json() for case in one.game.cases],
        "most": asdict(one.size),
        "calls": one.built.calls + one.followed.calls,
    }
    if one.solved is None:
        return figures | {"why_void": one.why_void}
    solved = one.solved
    return figures | {
        "nodes": solved.tree.num_nodes,
        "information_sets": len(solved.tree.infosets),
        "leaves": len(solved.tree.leaves),
        "nash_conv": solved.nash_conv,
        "unguided_nash_conv": solved.unguided_nash_conv,
        "gain": solved.gain,
        "margin": solved.margin,
        "unguided_payoffs": solved.unguided_payoffs,
        "guided_payoffs": solved.guided_payoffs,
        "equilibrium_payoffs": solved.equilibrium_payoffs,
    }


def _psro_figures(steered: Steered) -> dict[str, Any]:
    found = steered.psro
    if found is None:
        return {}
    roles = [f"player {seat + 1}" for seat in range(len(found.prompts))]
    return {
        "oracle": steered.config.oracle,
        "meta_solver": steered.config.meta,
        "closed": found.closed,
        "iterations": len(found.history) - 1 + found.closed,
        "plays": steered.psro_played,
        "void_plays": steered.psro_voids,
        "prompts": dict(zip(roles, found.prompts, strict=True)),
        "payoffs": {role: as_json(value) for role, value in zip(roles, found.values, strict=True)},
        "probabilities": {
            role: {prompt: as_json(mass) for prompt, mass in zip(own, masses, strict=True)}
            for role, own, masses in zip(roles, found.prompts, found.masses, strict=True)
        },
        "table": {"means": found.game.means.tolist(), "standard_errors": _plain(found.game.errors)},
        "responses": [
            [
                {"player": roles[r.seat], "new": r.best and r.best.manner, "value": r.value, "rejected": r.rejected}
                | {"tried": [asdict(c) | {"error": _finite(c.error)} for c in r.tried]}
                for r in iteration.responses
            ]
            for iteration in found.history
        ],
    }


def relative_gain(steered: Steered) -> float | None:
    """By which share guided speakers earn more than unguided ones on the same games; None where those earn nothing."""
    guided = _mean([value for one in steered.solved if one.solved for value in one.solved.guided_payoffs])
    unguided = _mean([value for one in steered.solved if one.solved for value in one.solved.unguided_payoffs])
    return None if guided is None or unguided is None or unguided <= 0 else guided / unguided - 1


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def as_json(one: Interval | None) -> dict[str, Any] | None:
    """An interval as plain data; an end about which nothing is known is null."""
    if one is None:
        return None
    return {
        "estimate": one.estimate,
        "low": _finite(one.low),
        "high": _finite(one.high),
        "level": one.level,
        "n": one.n,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _plain(array: Any) -> Any:
    if isinstance(array, np.ndarray):
        return [_plain(row) for row in array]
    return _finite(float(array))


def unread(steered: Steered) -> list[Entry]:
    """The answers that could not be read."""
    return [entry for entry in steered.entries if not Status(entry.reading.status).readable]
