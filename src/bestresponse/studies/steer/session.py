"""A steering run from settings to findings: manifest, execution, and the same again from what is on record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bestresponse.core.errors import StoreError
from bestresponse.core.seeds import split
from bestresponse.games.dialogue.domain import Domain
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.games.dialogue.recorded import Entry
from bestresponse.models.base import Model
from bestresponse.report.stats.interval import Interval
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.runs.execution import Outcome, Progress
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.store.manifest import Manifest
from bestresponse.studies.steer.answers import (
    AnswerStore,
    MemoryAnswers,
    answers_path,
    make_offline_model,
    read_answers,
)
from bestresponse.studies.steer.authoring import Author, Written
from bestresponse.studies.steer.building import Cast
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.fresh import FreshPlays
from bestresponse.studies.steer.playing import GameResult, GameServices, cast_of, games_of, held_out_games, play_game
from bestresponse.studies.steer.psro.judging import judge_psro
from bestresponse.studies.steer.psro.oracles import Inventor
from bestresponse.studies.steer.psro.plays import Arena
from bestresponse.studies.steer.psro.search import PsroResult, PsroSettings, psro
from bestresponse.studies.steer.reading.embedding import EMBEDDINGS, embedding_named
from bestresponse.studies.steer.reading.following import learned_follow, spoken_messages
from bestresponse.studies.steer.reading.imitation import Imitation, Training, imitate

__all__ = [
    "SteerResults",
    "find_answers",
    "held_out_arena",
    "psro_search",
    "read_results",
    "run",
    "steps",
    "write_scenarios",
]


Tell = Callable[[Progress], None]


@dataclass(slots=True, eq=False)
class SteerResults:
    """What a run found; `held_out` are the games that nothing was learned from."""

    config: SteerConfig
    domain: Domain
    games: tuple[GameResult, ...] = ()
    held_out: tuple[GameResult, ...] = ()
    elsewhere: tuple[GameResult, ...] = ()
    imitation: Imitation | None = None
    psro: PsroResult | None = None
    psro_played: int = 0
    psro_voids: int = 0
    psro_held_out: FreshPlays | None = None
    stopped: str = ""
    answers: tuple[Entry, ...] = ()
    written: Written | None = None

    @property
    def solved(self) -> tuple[GameResult, ...]:
        """The games that were solved."""
        return tuple(one for one in self.games if one.solved is not None)

    def interval(self, figure: str) -> Interval | None:
        """The mean of a figure of the solutions over games, with its interval; None where no game was solved."""
        return self.mean([float(getattr(one.solved, figure)) for one in self.solved], figure)

    def mean(self, values: Sequence[float], figure: str, clusters: Sequence[int] | None = None) -> Interval | None:
        """The mean with its interval over games (`clusters`); None where there is nothing."""
        if not len(values):
            return None
        return cluster_bootstrap(values, clusters, rng=np.random.default_rng(split(self.config.seed, figure)))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every recorded answer that the run's games are made of, in order."""
        keys = {key for one in (*self.games, *self.held_out, *self.elsewhere) for key in one.keys}
        return tuple(entry for entry in self.answers if entry.key in keys)


def find_answers(config: SteerConfig, manifest: Manifest, output_dir: Path) -> Path:
    """Return the folder in which the answers of a stored run are; StoreError where they are not."""
    who = {name: entry["identity"] for name, entry in manifest.models.items()}
    path = answers_path(output_dir, config, who)
    if not path.exists():
        raise StoreError(f"the answers of run {manifest.run} were kept in {path}, which is not there")
    return path


def steps(config: SteerConfig) -> tuple[int, str]:
    """What progress counts: how many of what."""
    if config.solver == "psro":
        return config.iterations + 1, "iterations"
    return config.games + config.held_out, "games"


def run(
    config: SteerConfig,
    models: Mapping[str, Model],
    kept: AnswerStore,
    *,
    workers: int = 1,
    on_progress: Tell = lambda progress: None,
) -> tuple[SteerResults, Outcome]:
    """Do everything that the settings want; what is on record already is not asked again."""
    work = _run_psro if config.solver == "psro" else _run_cfr
    domain = config.read_domain()
    written = write_scenarios(config, domain, models, kept)
    domain = domain if written is None else written.of(domain)
    steered, outcome = work(config, domain, models, kept, workers, on_progress)
    steered.written = written
    return steered, outcome


def write_scenarios(
    config: SteerConfig, domain: Domain, models: Mapping[str, Model], kept: AnswerStore
) -> Written | None:
    """The scenarios that a model writes for all games of a run; None where the seed draws them."""
    if not config.scenarios_by:
        return None
    author = Author(models[config.scenarios_by], domain, kept.book, kept.keep, config.seed)
    return author.write(config.games + config.held_out)


def read_results(config: SteerConfig, folder: RunFolder) -> SteerResults:
    """Work out the findings of a stored run from its record alone."""
    path = find_answers(config, folder.manifest, folder.path.parent)
    kept = MemoryAnswers(read_answers(path))
    models = {name: make_offline_model(name, entry) for name, entry in folder.manifest.models.items()}
    return run(config, models, kept)[0]


def _run_cfr(
    config: SteerConfig, domain: Domain, models: Mapping[str, Model], kept: AnswerStore, workers: int, tell: Tell
) -> tuple[SteerResults, Outcome]:
    """Build, solve and judge every game."""
    company = GameServices(
        cast_of(config, domain, models),
        kept,
        embedding_named(config.embed),
        models.get(config.classifier or config.judge or config.model) if config.follow else None,
        workers,
    )
    drawn = [*games_of(config, domain), *held_out_games(config, domain)]
    results: list[GameResult] = []
    outcome = Outcome()
    for number, game in enumerate(drawn):
        result = play_game(config, number, game, company)
        results.append(result)
        _count(result, outcome)
        tell(Progress(len(drawn), outcome.found, outcome.played, outcome.failed))
        if outcome.stopped:
            break
    if config.classifier in EMBEDDINGS and not outcome.stopped:
        results = _classified(config, results)
    steered = SteerResults(config, domain, tuple(results[: config.games]), tuple(results[config.games :]))
    steered.stopped, steered.answers = outcome.stopped, kept.book.entries
    if config.imitate and not outcome.stopped:
        if config.transfer:
            steered.elsewhere = _play_elsewhere(config.elsewhere, models, company, outcome)
        how = Training(seed=config.seed)
        steered.imitation = imitate(steered.games, steered.held_out, company.embed, how, steered.elsewhere)
        steered.stopped, steered.answers = outcome.stopped, kept.book.entries
    return steered, outcome


def _play_elsewhere(
    config: SteerConfig, models: Mapping[str, Model], company: GameServices, outcome: Outcome
) -> tuple[GameResult, ...]:
    """Build and solve the games of another domain."""
    domain = config.read_domain()
    there = replace(company, cast=cast_of(config, domain, models), classifier=None)
    results = []
    for number, game in enumerate(games_of(config, domain)):
        results.append(play_game(config, number, game, there))
        outcome.stopped = results[-1].built.stopped
        if outcome.stopped:
            break
    return tuple(results)


def _classified(config: SteerConfig, results: list[GameResult]) -> list[GameResult]:
    """The games with what a network trained on other games says of their messages."""
    messages = [spoken_messages(one.recorded) if one.recorded else {} for one in results]
    manners, embed = results[0].game.manners, embedding_named(config.classifier)
    found = learned_follow(messages, manners, embed, config.seed)
    return [replace(one, followed=followed) for one, followed in zip(results, found, strict=True)]


def _count(result: GameResult, outcome: Outcome) -> None:
    """Where the run is after this game: found on record, played now, or with calls that failed."""
    built = result.built
    outcome.stopped = built.stopped
    if built.failed or built.stopped:
        outcome.failed += 1
    elif result.calls:
        outcome.played += 1
    else:
        outcome.found += 1
    if built.last_failure and built.last_failure not in outcome.failures:
        outcome.failures.append(built.last_failure)


def _run_psro(
    config: SteerConfig, domain: Domain, models: Mapping[str, Model], kept: AnswerStore, workers: int, tell: Tell
) -> tuple[SteerResults, Outcome]:
    """Search in prompt space over the games of the run, and play what was found on those held out."""
    total, _ = steps(config)
    arena, inventor, settings = psro_search(config, domain, models, kept, workers)
    found = psro(arena, inventor, settings, lambda number: tell(Progress(total, 0, number, 0)))
    steered = SteerResults(config, domain, psro=found, psro_played=arena.played, psro_voids=arena.voids)
    steered.stopped, steered.answers = found.stopped, kept.book.entries
    if config.held_out and not found.stopped:
        steered.psro_held_out = judge_psro(config, found, held_out_arena(config, domain, models, kept, workers))
    outcome = Outcome(played=len(found.history), stopped=found.stopped)
    tell(Progress(total, 0, total, 0))
    return steered, outcome


def psro_search(
    config: SteerConfig, domain: Domain, models: Mapping[str, Model], kept: AnswerStore, workers: int
) -> tuple[Arena, Inventor, PsroSettings]:
    """Who plays, who proposes, and how the search is made."""
    games = games_of(config, domain)
    arena = _arena(config, games, cast_of(config, domain, models), kept, workers)
    task = games[0].view(games[0].start(), "referee").briefing
    inventor = Inventor(models[config.model], task, kept.book, kept.keep, max(config.temperature, 0.7))
    settings = PsroSettings(config.iterations, config.plays, config.candidates, config.oracle, config.meta, config.seed)
    return arena, inventor, settings


def held_out_arena(
    config: SteerConfig, domain: Domain, models: Mapping[str, Model], kept: AnswerStore, workers: int
) -> Arena:
    """The same players on the games held out."""
    return _arena(config, held_out_games(config, domain), cast_of(config, domain, models), kept, workers)


def _arena(config: SteerConfig, games: Sequence[DialogueGame], cast: Cast, kept: AnswerStore, workers: int) -> Arena:
    return Arena(games, cast, kept.book, keep=kept.keep, workers=workers, seed=config.seed, swap=config.swap_seats)
