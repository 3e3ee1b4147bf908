"""The games of a steering run, one after another: built, solved, compared; a game that cannot be is void, with why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from bestresponse.core.errors import InvalidGame, ModelError
from bestresponse.core.player import Player
from bestresponse.games.dialogue.domain import Domain
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.games.dialogue.recorded import Book, RecordedDialogue
from bestresponse.games.dialogue.scenario import scenarios, variants
from bestresponse.models.base import Model
from bestresponse.players.dialogue.referee import DealReferee, ScoreReferee
from bestresponse.players.dialogue.speaker import Speaker
from bestresponse.players.llm.player import Sampling
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.building import Built, Cast, Size, build, size_of
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.fresh import FreshPlays, play_fresh
from bestresponse.studies.steer.reading.embedding import Embedding
from bestresponse.studies.steer.reading.following import Followed, follow_rate, spoken_messages
from bestresponse.studies.steer.reading.nearest import Nearest
from bestresponse.studies.steer.reading.opinions import Opinions, compare_rulings
from bestresponse.studies.steer.solving import Solved, solve_dialogue

__all__ = ["GameResult", "GameServices", "cast_of", "games_of", "held_out_games", "per_ruling", "play_game"]


@dataclass(frozen=True, slots=True, eq=False)
class GameResult:
    """One game: its recorded dialogue and solution, or why there is none."""

    number: int
    game: DialogueGame
    size: Size
    built: Built
    recorded: RecordedDialogue | None = None
    solved: Solved | None = None
    why_void: str = ""
    followed: Followed = field(default_factory=Followed)
    opinions: Opinions = field(default_factory=Opinions)
    fresh: FreshPlays | None = None

    @property
    def calls(self) -> int:
        """The calls that were made for this game."""
        return self.built.calls + self.followed.calls + (self.fresh.calls if self.fresh else 0)

    @property
    def keys(self) -> set[str]:
        """The keys of all answers that this game is made of."""
        return self.built.keys | (self.fresh.keys if self.fresh else set())


def games_of(config: SteerConfig, domain: Domain) -> list[DialogueGame]:
    """The games that the seed draws for the solver."""
    return _games(config, domain)[: config.games]


def held_out_games(config: SteerConfig, domain: Domain) -> list[DialogueGame]:
    """The games that the seed draws after those, for judging what was learned."""
    return _games(config, domain)[config.games :]


def _games(config: SteerConfig, domain: Domain) -> list[DialogueGame]:
    manners = domain.manners(config.actions)
    return [
        DialogueGame(
            domain, variants(domain, drawn, config.seed, config.types), manners, config.replies, config.early_end
        )
        for drawn in scenarios(domain, config.seed, config.games + config.held_out)
    ]


def cast_of(config: SteerConfig, domain: Domain, models: Mapping[str, Model]) -> Cast:
    """Who speaks and who rules."""
    judge = models[config.judge or config.model]

    def speaker(number: int) -> Player:
        return Speaker(
            models[config.model], Sampling(config.temperature, max_tokens=config.max_tokens, replicate=number)
        )

    second = models[config.second_judge] if config.second_judge else judge
    return Cast(
        speaker,
        _referee(config.payoffs, judge, domain),
        _referee(config.second, second, domain) if config.second else None,
    )


def _referee(kind: str, model: Model, domain: Domain) -> Player:
    return DealReferee(model, domain) if kind == "deal" else ScoreReferee(model, domain)


def per_ruling(config: SteerConfig, domain: Domain, *, second: bool = True) -> int:
    """How many calls the rulings on one dialogue take, with or without those that are only compared."""
    calls = {"": 0, "deal": 1, "score": 1 + domain.players}
    return calls[config.payoffs] + (calls[config.second] if second else 0)


@dataclass(frozen=True, slots=True, eq=False)
class GameServices:
    """Everybody that a game needs: who speaks and rules, who tells manners apart, who reads, and where it is kept."""

    cast: Cast
    kept: AnswerStore
    embed: Embedding
    classifier: Model | None = None
    workers: int = 1


def play_game(config: SteerConfig, number: int, game: DialogueGame, company: GameServices) -> GameResult:
    """Build what is missing of one game, solve it, and play, classify and rule again as the settings want it."""
    size, kept = size_of(game, config.wordings), company.kept
    built = build(game, company.cast, kept.book, wordings=config.wordings, workers=company.workers, keep=kept.keep)
    try:
        recorded = RecordedDialogue(game, kept.book, config.wordings)
    except InvalidGame as error:
        why = built.stopped or built.last_failure or _voids(kept.book, built) or str(error)
        return GameResult(number, game, size, built, why_void=why)
    solved = solve_dialogue(recorded, config.iterations, config.variant)
    result = GameResult(number, game, size, built, recorded, solved)
    if company.cast.second is not None:
        result = replace(result, opinions=compare_rulings(recorded, company.cast.second))
    return result if built.stopped else _judged(config, result, company)


def _judged(config: SteerConfig, result: GameResult, company: GameServices) -> GameResult:
    """The same game with the figures that take further calls; where these end early, the reason is noted."""
    kept, recorded, solved = company.kept, result.recorded, result.solved
    if recorded is None or solved is None:
        return result
    try:
        if config.fresh:
            draws = range(config.wordings, config.wordings + config.fresh)
            policy, how = solved.policy, {"seed": config.seed, "workers": company.workers}
            nearest = partial(Nearest, policy, company.embed)
            result = replace(result, fresh=play_fresh(result.game, nearest, company.cast, kept, draws, **how))
        if company.classifier is not None:
            messages = spoken_messages(recorded)
            manners = recorded.live.manners
            followed = follow_rate(messages, manners, company.classifier, kept.book, kept.keep)
            result = replace(result, followed=followed)
    except ModelError as error:
        result.built.stopped = str(error)
    return result


def _voids(book: Book, built: Built) -> str:
    """The commonest reason why answers could not be read."""
    unread = [entry for entry in book.entries if entry.key in built.keys and entry.text is None]
    reasons = Counter(entry.reading.how for entry in unread)
    return "" if not reasons else f"no dialogue came to a readable end; mostly because {reasons.most_common(1)[0][0]}"
