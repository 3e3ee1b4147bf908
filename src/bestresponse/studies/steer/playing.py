"""The games of a steering run, one after another: built, solved, compared; a game that cannot be is void, with why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from bestresponse.core.errors import InvalidGame, ModelError
from bestresponse.core.json import digest
from bestresponse.core.player import Player
from bestresponse.games.dialogue import DialogueGame
from bestresponse.games.dialogue_domain import Domain
from bestresponse.games.dialogue_recorded import Book, Entry, RecordedDialogue
from bestresponse.games.dialogue_scenario import scenarios, variants
from bestresponse.models.base import Model
from bestresponse.players.llm import Sampling
from bestresponse.players.referee import DealReferee, ScoreReferee
from bestresponse.players.speaker import Speaker
from bestresponse.store.lines import Lines, read_lines
from bestresponse.studies.steer.building import Built, Cast, Size, build, size_of
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.following import Followed, follow_rate, spoken_messages
from bestresponse.studies.steer.opinions import Opinions, compare_rulings
from bestresponse.studies.steer.solving import Solved, solve_dialogue

__all__ = ["BookFile", "GameResult", "book_id", "cast_of", "games_of", "per_ruling", "play_game"]


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


def games_of(config: SteerConfig, domain: Domain) -> list[DialogueGame]:
    """The games that the seed draws."""
    manners = domain.manners(config.actions)
    return [
        DialogueGame(
            domain, variants(domain, drawn, config.seed, config.types), manners, config.replies, config.early_end
        )
        for drawn in scenarios(domain, config.seed, config.games)
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


def per_ruling(config: SteerConfig, domain: Domain) -> int:
    """How many calls the rulings on one dialogue take."""
    calls = {"": 0, "deal": 1, "score": 1 + domain.players}
    return calls[config.payoffs] + calls[config.second]


def book_id(config: SteerConfig, domain: Domain, models: Mapping[str, Model]) -> str:
    """Names everything that can change an answer; not what is done with the answers."""
    who = {name: dict(models[name].identity) for name in config.models}
    asked = [config.model, config.judge, config.payoffs, config.temperature, config.max_tokens]
    return digest([domain.digest, who, asked], 12)


class BookFile:
    """A book that is kept in a file, answer by answer."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.book = Book(Entry.from_json(row) for row in read_lines(path))
        self._lines = Lines(path)

    def keep(self, entry: Entry) -> None:
        self._lines.append(entry.to_json())

    def __enter__(self) -> BookFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()


def play_game(
    config: SteerConfig,
    number: int,
    game: DialogueGame,
    cast: Cast,
    file: BookFile,
    *,
    classifier: Model | None = None,
    workers: int = 1,
    on_answer: Callable[[int], None] = lambda asked: None,
) -> GameResult:
    """Build what is missing of one game, solve it, and let the classifier and the second referee have their say."""
    size = size_of(game, config.wordings)
    built = build(game, cast, file.book, wordings=config.wordings, workers=workers, keep=file.keep, on_answer=on_answer)
    try:
        recorded = RecordedDialogue(game, file.book, config.wordings)
    except InvalidGame as error:
        why = built.stopped or built.last_failure or _voids(file.book, built) or str(error)
        return GameResult(number, game, size, built, why_void=why)
    solved = solve_dialogue(recorded, config.iterations, config.variant)
    followed = Followed() if classifier is None else _followed(recorded, classifier, file, built)
    opinions = Opinions() if cast.second is None else compare_rulings(recorded, cast.second)
    return GameResult(number, game, size, built, recorded, solved, "", followed, opinions)


def _followed(game: RecordedDialogue, classifier: Model, file: BookFile, built: Built) -> Followed:
    try:
        return follow_rate(spoken_messages(game), game.live.manners, classifier, file.book, file.keep)
    except ModelError as error:
        built.stopped = str(error)
        return Followed()


def _voids(book: Book, built: Built) -> str:
    """The commonest reason why answers could not be read."""
    unread = [entry for entry in book.entries if entry.key in built.keys and entry.text is None]
    reasons = Counter(entry.reading.how for entry in unread)
    return "" if not reasons else f"no dialogue came to a readable end; mostly because {reasons.most_common(1)[0][0]}"
