"""Check game programs, and let models turn stories into games."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from bestresponse.api.solving import Solution, solve
from bestresponse.core.errors import BestResponseError, InvalidGame, ModelError, UsageError
from bestresponse.core.files import read_text
from bestresponse.core.json import JsonObject
from bestresponse.core.notebook import format_html
from bestresponse.formal.evaluate.validation import find_names
from bestresponse.formal.formalize.autoformalizer import (
    Attempt,
    Election,
    Formalization,
    Formalizer,
    Settings,
    check_story,
    formalize_many,
)
from bestresponse.formal.formalize.plan import Wish, library, read_examples
from bestresponse.formal.formalize.story_claims import (
    BackCheck,
    ClaimCheck,
    check_claims,
    compare_with_story,
)
from bestresponse.formal.strategies.agents import (
    Agent,
    StrategyAttempt,
    StrategyFormalization,
    StrategySettings,
    write_match_program,
    write_strategy_rules,
)
from bestresponse.games.describing import MOST_TOLD
from bestresponse.games.logic.game import program_game, read_program_text
from bestresponse.games.logic.tables import table_to_data
from bestresponse.games.lookup import LoadedGame, NamedGame, as_source
from bestresponse.logic.engine import EngineKind, Limits, open_engine
from bestresponse.logic.language.terms import write
from bestresponse.logic.programs.recorded import Plays, check_plays, read_recorded_plays
from bestresponse.logic.programs.validate import Report, validate
from bestresponse.models.base import Model
from bestresponse.models.registry import KnownModel, known_models, read_default_settings
from bestresponse.models.wrappers.limits import Cost
from bestresponse.report.document import Document, Paragraph, Section
from bestresponse.report.frames import Frame
from bestresponse.report.page import render
from bestresponse.report.text import visible
from bestresponse.runs.inputs import (
    DefaultModel,
    ModelLike,
    ModelSetting,
    as_model,
    take_settings,
)
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.runs.settings import OF_PLAYS, RunSettings, setting, settings
from bestresponse.studies.behave.layouts import read_rows
from bestresponse.theory.games.normal_form import NormalForm


def check(
    program: str | Path,
    *,
    engine: EngineKind = "auto",
    limits: Limits | None = None,
    plays: str | Path | None = None,
) -> Report:
    """Check a game program from text or a file: syntax, names, running, resulting game.

    `limits` allow more than usual, such as `Limits.within(60)` a minute for a large game. `plays`
    is a file of recorded plays, all of which the game must allow and pay alike.
    """
    text = _read_program(program)
    recorded = _read_plays(plays)
    opened = open_engine(engine, limits)
    try:
        return check_plays(validate(text, opened), recorded)
    finally:
        opened.close()


def _read_plays(path: str | Path | None) -> Plays:
    return () if path is None else read_recorded_plays(Path(path), read_rows(Path(path)))


def _read_program(program: str | Path) -> str:
    is_file = isinstance(program, Path) or (program.endswith(".pl") and "\n" not in program)
    if is_file and not Path(program).exists():
        raise UsageError(f"{program}: there is no such file")
    return read_program_text(Path(program)) if is_file else str(program)


@dataclass(frozen=True, slots=True)
class QueryAnswers:
    """The answers of a program to a query, with the value of each variable as text.

    Also says whether there are more answers than were asked for.

    A query without variables has one answer without entries where it holds, and none where it does
    not.
    """

    answers: tuple[Mapping[str, str], ...]
    more: bool = False

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Mapping[str, str]]:
        return iter(self.answers)


def query(
    program: str | Path,
    goal: str,
    *,
    most: int = 100,
    engine: EngineKind = "auto",
    limits: Limits | None = None,
) -> QueryAnswers:
    """Put a query to a program, given as text or as a file, and return its first `most` answers.

    The solver's `game/2` and `holds/2` are there beside what the program defines. Program and query
    pass the gate and run within limits; ProgramRefused, RuntimeFault or LimitReached says why there
    is no answer.
    """
    if most < 1:
        raise UsageError(f"most is {most}; expected at least 1 answer")
    text = _read_program(program)
    opened = open_engine(engine, limits)
    try:
        # Prolog's prompt and full stop may stay where a query was copied with them.
        asked = goal.strip().removeprefix("?-").strip().removesuffix(".")
        found = opened.solutions(opened.load(text), asked, most + 1)
    finally:
        opened.close()
    rows = [{name: write(term) for name, term in answer.items()} for answer in found]
    return QueryAnswers(tuple(rows[:most]), more=len(rows) > most)


@dataclass(frozen=True)
class Formalized:
    """The result of formalizing a story: every attempt of the model, the game if there is one, and
    the checks."""

    election: Election
    name: str = "story"
    told_back: BackCheck | None = None
    tested: ClaimCheck | None = None
    spent: Cost = field(default_factory=Cost)
    """What all calls took together; replies that were kept from earlier runs cost nothing."""

    def __repr__(self) -> str:
        return (
            f"Formalized({self.name!r},"
            f" {'a game' if self.ok else self.formalization.trouble[:150]})"
        )

    def _repr_html_(self) -> str:
        return (
            self.solve()._repr_html_()
            if self.ok
            else format_html(repr(self), ("program",), [(self.program,)])
        )

    @property
    def formalization(self) -> Formalization:
        """The candidate that was elected."""
        return self.election.winner

    @property
    def ok(self) -> bool:
        """Whether there is a game."""
        return self.formalization.ok

    @property
    def agrees(self) -> bool:
        """Whether there is a game, the story leaves nothing open, and all checks agree.

        Only the checks that were asked for count.

        A check whose answer could not be read has found none.
        """
        checks = [
            check.agrees is True for check in (self.told_back, self.tested) if check is not None
        ]
        return self.ok and not self.formalization.questions and all(checks)

    @property
    def program(self) -> str:
        """The best program that the model wrote."""
        return self.formalization.source

    @property
    def words(self) -> tuple[str, ...]:
        """The game in sentences; none where there is no game."""
        return self.formalization.describe(MOST_TOLD)

    @property
    def game(self) -> LoadedGame:
        """The game, as every other function takes it; InvalidGame says why where there is none."""
        best = self.formalization.best
        if not self.ok or best is None or best.report is None:
            raise InvalidGame(self.formalization.trouble)
        text = " ".join(self.formalization.story.split())
        return LoadedGame(
            self.name,
            "file",
            program_game(best.report, self.name),
            text if len(text) <= 200 else f"{text[:199]}…",
        )

    def solve(self, **options: Any) -> Solution:
        """Solve the game; the options are those of `solve`."""
        return solve(self.game, **options)

    def save(self, path: str | Path) -> Path:
        """Write the program into a file, below the game in words as comments."""
        comments = "".join(f"% {' '.join(visible(line).split())}\n" for line in self.words)
        Path(path).write_text(f"{comments}{self.program}\n", "utf-8")
        return Path(path)

    def to_page(self) -> str:
        """Return one HTML page with the story, the game in words, its picture and its solution."""
        story = Section("Story", (Paragraph(self.formalization.told),))
        if not self.ok:
            return render(Document(self.name, self.formalization.trouble, (story,)))
        try:
            return self.solve().to_page(story)
        except BestResponseError as error:
            words = Section("The game in words", tuple(map(Paragraph, self.words)))
            return render(
                Document(self.name, f"The game cannot be solved here: {error}", (story, words))
            )

    def to_json(self) -> dict[str, object]:
        """Return the program, its table, what was said of it and its solution as plain data."""
        winner = self.formalization
        best = self.formalization.best
        prompt, completion = winner.tokens
        data: JsonObject = {
            "ok": self.ok,
            "trouble": winner.trouble,
            "model": winner.model,
            "examples": list(winner.examples),
            "attempts": len(winner.attempts),
            "tokens": {"prompt": prompt, "completion": completion},
            "calls": self.spent.calls,
            "tokens_spent": self.spent.tokens,
            "cost": None if self.spent.unpriced else self.spent.money,
            "questions": [
                {"question": question.text, "assumed": question.assumed}
                for question in winner.questions
            ],
            "messages": (
                [message.to_json() for message in best.report.diagnostics]
                if best and best.report
                else []
            ),
            "program": winner.source,
            "words": list(self.words),
            "table": table_to_data(winner.table) if winner.table is not None else None,
            "names": list(find_names(winner.table)) if winner.table is not None else [],
            "votes": [len(group) for group in self.election.groups],
            "back_check": (
                self.told_back and {"agrees": self.told_back.agrees, "why": self.told_back.why}
            ),
            "claims": self.tested and [asdict(claim) for claim in self.tested.claims],
            "claims_problem": self.tested and self.tested.problem,
            "solution": None,
        }
        if self.ok:
            try:
                data["solution"] = self.solve().to_json()
            except BestResponseError as error:
                data["solution"] = {"error": str(error)}
        return data


@dataclass(frozen=True)
class FormalizedStrategy:
    """The result of formalizing a strategy: every attempt of the model, and the rules if there are
    any."""

    name: str
    game: str
    formalization: StrategyFormalization
    spent: Cost = field(default_factory=Cost)

    def __repr__(self) -> str:
        return (
            f"FormalizedStrategy({self.name!r},"
            f" {'rules' if self.ok else self.formalization.trouble[:150]})"
        )

    @property
    def ok(self) -> bool:
        """Whether there are rules that give a legal move in every situation, in both seats."""
        return self.formalization.ok

    @property
    def rules(self) -> str:
        """The rules for `select/4`; empty where there are none."""
        return self.formalization.rules

    @property
    def agent(self) -> Agent:
        """The game and the strategy as an agent; InvalidGame says why where there are no rules."""
        if not self.ok:
            raise InvalidGame(self.formalization.trouble)
        return Agent(self.name, self.game, self.rules, words=self.formalization.words)

    def to_json(self) -> dict[str, object]:
        """Return the rules, what was wrong with every attempt and what it took as plain data."""
        return {
            "ok": self.ok,
            "trouble": self.formalization.trouble,
            "model": self.formalization.model,
            "attempts": len(self.formalization.attempts),
            "wrong": [attempt.wrong for attempt in self.formalization.attempts],
            "rules": self.rules,
            "words": self.formalization.words,
            "calls": self.spent.calls,
            "tokens_spent": self.spent.tokens,
            "cost": None if self.spent.unpriced else self.spent.money,
        }


def formalize_strategy(
    words: str,
    game: str | Path | NormalForm | NamedGame,
    model: ModelLike,
    *,
    name: str = "strategy",
    asked: StrategySettings | None = None,
    limits: ModelLimits | None = None,
    output_dir: str | Path = "results",
    tell: Callable[[StrategyAttempt], None] = lambda attempt: None,
) -> FormalizedStrategy:
    """Let a model turn a strategy in words into rules for a game.

    The game is one of two players who choose among the same moves at once.
    """
    program = _write_stage_program(as_source(game))
    named = as_model(model)
    engine = open_engine()
    try:
        with open_models((named,), Path(output_dir), limits or ModelLimits()) as opened:
            found = write_strategy_rules(
                words,
                program,
                opened.models[named],
                engine,
                asked=asked,
                tell=tell,
            )
            return FormalizedStrategy(name, program, found, opened.meter.spent)
    finally:
        engine.close()


def _write_stage_program(game: NamedGame) -> str:
    """Return the game as a program; a table of payoffs is written as one."""
    if game.ending == ".pl":
        return game.text
    form = game.loaded.solvable()
    if not isinstance(form, NormalForm):
        raise InvalidGame(
            f"{game.name}: a strategy needs a game of two players who choose once, at the same time"
        )
    return write_match_program(form)


DEFAULT_MODEL = "qwen2.5-coder-1.5b"
ENGINE_HELP = "auto (SWI-Prolog if it is installed and can be confined), embedded or swi."


@settings
class FormalizeConfig(RunSettings):
    """Turn a story into a game program that is checked, repaired with feedback, and solved."""

    story: str | Path = setting(kw_only=False, argument=True)
    """A text file with the story, or - to read it from standard input."""
    model: ModelSetting = setting(
        default=DefaultModel(DEFAULT_MODEL),
        kw_only=False,
        short="-m",
        help="See `bestresponse models`.",
    )
    name: str = setting(default="story", option=False)
    attempts: int = setting(
        default=5,
        ge=1,
        le=20,
        help="Maximum attempts to repair a program.",
    )
    candidates: int = setting(default=1, ge=1, le=50)
    """Programs to write; the game that most of them describe wins."""
    back_check: bool = setting(
        default=False, help="Let the model compare the story with the game in words."
    )
    claims: bool = setting(
        default=False,
        help="Let the model list the statements of the story, and test them on the game.",
    )
    shots: int = setting(default=1, ge=0, le=6, help="Examples shown to the model.")
    choose: Literal["nearest", "first"] = setting(default="nearest")
    """Which examples: nearest to the story, or first (the prisoner's dilemma)."""
    examples: str | Path | None = setting(default=None)
    """A folder of further examples: NAME.txt with a story, NAME.pl its game."""
    plays: Path | None = setting(default=None)
    """A file of recorded plays (.csv or .jsonl), which the game must allow and pay alike."""
    form: Wish = setting(default="auto")
    """What the model writes: a program, or a tree in JSON; auto chooses by the story and the model.
    A local model starts with JSON, any other with a program; after two failures it is the other's
    turn."""
    temperature: float = setting(default=0.0, ge=0, le=5, help="Sampling temperature.")
    max_tokens: int = setting(
        default=1500,
        ge=1,
        le=100_000,
        help="Maximum tokens per reply.",
    )
    effort: Literal["minimal", "low", "medium", "high"] | None = setting(default=None)
    """Reasoning effort, for models that have one. [default: the provider's choice]"""
    reasoning_tokens: int | None = setting(default=None, ge=0, le=200_000)
    """Maximum reasoning tokens. [default: the provider's choice]"""
    llm_seed: int | None = setting(default=None, help="Seed sent to the model, if it accepts one.")
    engine: EngineKind = setting(default="auto", help=ENGINE_HELP)
    threads: int = setting(default=1, ge=1, le=256)
    """Threads for a local model; more help only on idle cores."""
    tell: Callable[[Attempt], None] | None = setting(
        default=None,
        option=False,
        help="Called with every attempt.",
    )
    refine: Callable[[Formalizer, Election], Election] | None = setting(default=None, option=False)
    """May change the game before it is checked."""

    unused: ClassVar[frozenset[str]] = OF_PLAYS

    @property
    def limits(self) -> ModelLimits:
        """What calls may cost, and the threads of a model on this machine."""
        return replace(super().limits, threads=self.threads)


def formalize_story(config: FormalizeConfig) -> Formalized:
    """Let a model turn a story, given as text or as a file, into a checked game program."""
    story = read_text(config.story) if isinstance(config.story, Path) else config.story
    text = check_story(story)
    asked = Settings(
        attempts=config.attempts,
        shots=config.shots,
        choose=config.choose,
        form=config.form,
        max_tokens=config.max_tokens,
        temperature=config.temperature,
        effort=config.effort,
        reasoning_tokens=config.reasoning_tokens,
        seed=config.llm_seed,
    )
    known = (
        library()
        if config.examples is None
        else (*library(), *read_examples(Path(config.examples)))
    )
    opened = open_engine(config.engine)
    try:
        with open_models((config.model,), Path(config.output_dir), config.limits) as models:
            tell = config.tell or (lambda attempt: None)
            formalizer = Formalizer(
                models.models[config.model],
                opened,
                asked,
                known,
                tell,
                plays=_read_plays(config.plays),
            )
            election = formalize_many(formalizer, text, config.candidates)
            if config.refine is not None:
                election = config.refine(formalizer, election)
            checks = _check_game(election.winner, formalizer.model, config)
            if checks.findings:
                election, checks = _repair_game(formalizer, election, checks, config)
            return Formalized(
                election,
                config.name,
                checks.told_back,
                checks.tested,
                models.meter.spent,
            )
    finally:
        opened.close()


@dataclass(frozen=True)
class _Checks:
    """What was found when a game was compared with its story; None for a check not asked for."""

    told_back: BackCheck | None = None
    tested: ClaimCheck | None = None

    @property
    def findings(self) -> list[str]:
        """What the story says and the game does not do, in sentences."""
        found = []
        if self.told_back is not None and self.told_back.agrees is False:
            found.append(f"The game differs from the story: {self.told_back.why}")
        broken = self.tested.broken if self.tested is not None else ()
        for claim in broken:
            found.append(f"The story says: {claim.words!r}. The game does otherwise: {claim.why}")
        return found


def _check_game(formalization: Formalization, model: Model, config: FormalizeConfig) -> _Checks:
    """Compare a game with its story, as asked for."""
    table = formalization.table
    if table is None:
        return _Checks()
    told_back = tested = None
    room = config.max_tokens
    seed = config.llm_seed
    if config.back_check:
        told_back = compare_with_story(
            formalization.told,
            table,
            model,
            max_tokens=room,
            seed=seed,
        )
    if config.claims:
        tested = check_claims(
            formalization.told,
            table,
            model,
            max_tokens=room,
            seed=seed,
        )
    return _Checks(told_back, tested)


def _repair_game(
    formalizer: Formalizer,
    election: Election,
    checks: _Checks,
    config: FormalizeConfig,
) -> tuple[Election, _Checks]:
    """Give what the checks found back to the writer, once; keep the game of which they find less.

    A check may be wrong itself, so that a game is only replaced by one that it likes better. Where
    the model cannot be asked any more, the game stays, with what was found.
    """
    winner = election.winner
    try:
        repaired = formalizer.repair(winner, checks.findings)
        if repaired.table is None or repaired.best is winner.best:
            return election, checks
        again = _check_game(repaired, formalizer.model, config)
    except ModelError:
        return election, checks
    if len(again.findings) >= len(checks.findings):
        return election, checks
    place = election.candidates.index(winner)
    candidates = list(election.candidates)
    candidates[place] = repaired
    others = [tuple(one for one in group if one != place) for group in election.groups]
    groups = ((place,), *(group for group in others if group))
    return Election(tuple(candidates), groups), again


formalize = take_settings(FormalizeConfig, formalize_story)
"""Let a model turn a story, given as text or as a file, into a game; the arguments are those of
`FormalizeConfig`."""


def list_models() -> Frame[KnownModel]:
    """List the models that can be named."""
    return Frame(KnownModel, known_models(read_default_settings()))
