"""Check game programs, and let models turn stories into games."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from bestresponse.api.solving import Solution, solve
from bestresponse.core.errors import BestResponseError, InvalidGame
from bestresponse.core.json import JsonObject
from bestresponse.core.notebook import format_html
from bestresponse.formal.evaluate.named_games import find_names
from bestresponse.formal.formalize.autoformalizer import (
    Attempt,
    Election,
    Formalization,
    Formalizer,
    Settings,
    check_story,
    formalize_many,
)
from bestresponse.formal.formalize.examples import library, read_examples
from bestresponse.formal.formalize.forms import estimate_tokens
from bestresponse.formal.formalize.plan import Wish
from bestresponse.formal.formalize.story_claims import BackCheck, ClaimCheck, check_claims, compare
from bestresponse.games.logic.game import as_game, read_program_text
from bestresponse.games.logic.tables import table_to_data
from bestresponse.games.lookup import Found
from bestresponse.games.words import describe_game
from bestresponse.logic.engine import EngineKind, open_engine
from bestresponse.logic.programs.validate import Report, validate
from bestresponse.models.registry import known_models, read_default_settings
from bestresponse.models.wrappers.limits import Cost
from bestresponse.report.document import Document, Paragraph, Section
from bestresponse.report.frames import Frame, column
from bestresponse.report.page import render
from bestresponse.report.text import visible
from bestresponse.runs.inputs import ModelLike, as_model
from bestresponse.runs.models import ModelLimits, open_models


def check(program: str | Path, *, engine: EngineKind = "auto") -> Report:
    """Check a game program, given as text or as a file: syntax, names, running, and the game that comes out."""
    is_file = isinstance(program, Path) or (program.endswith(".pl") and "\n" not in program)
    text = read_program_text(Path(program)) if is_file else str(program)
    opened = open_engine(engine)
    try:
        return validate(text, opened)
    finally:
        opened.close()


@dataclass(frozen=True)
class Formalized:
    """What came of a story: every attempt of the model, the game where there is one, and what was checked."""

    election: Election
    name: str = "story"
    told_back: BackCheck | None = None
    tested: ClaimCheck | None = None
    spent: Cost = field(default_factory=Cost)
    """What all calls took together; replies that were kept from earlier runs cost nothing."""

    def __repr__(self) -> str:
        return f"Formalized({self.name!r}, {'a game' if self.ok else self.formalization.trouble[:150]})"

    def _repr_html_(self) -> str:
        return self.solve()._repr_html_() if self.ok else format_html(repr(self), ("program",), [(self.program,)])

    @property
    def formalization(self) -> Formalization:
        """The candidate that was elected."""
        return self.election.winner

    @property
    def ok(self) -> bool:
        """Whether a game came out."""
        return self.formalization.ok

    @property
    def agrees(self) -> bool:
        """Whether there is a game, the story leaves nothing open, and no check has found a difference."""
        differs = (self.told_back is not None and self.told_back.agrees is False) or bool(
            self.tested is not None and self.tested.broken
        )
        return self.ok and not self.formalization.questions and not differs

    @property
    def program(self) -> str:
        """The best program that the model wrote."""
        return self.formalization.source

    @property
    def words(self) -> tuple[str, ...]:
        """The game in sentences; none where there is no game."""
        return describe_game(self.formalization.table) if self.formalization.table is not None else ()

    @property
    def game(self) -> Found:
        """The game, as every other function takes it; InvalidGame says why where there is none."""
        table = self.formalization.table
        if not self.ok or table is None:
            raise InvalidGame(self.formalization.trouble)
        story = " ".join(self.formalization.story.split())
        return Found(self.name, "file", as_game(table, self.name), story if len(story) <= 200 else f"{story[:199]}…")

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
            return render(Document(self.name, f"The game cannot be solved here: {error}", (story, words)))

    def to_json(self) -> JsonObject:
        """Return the program, its table, what was said of it and its solution as plain data."""
        winner, best = self.formalization, self.formalization.best
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
            "questions": [{"question": one.text, "assumed": one.assumed} for one in winner.questions],
            "messages": [one.to_json() for one in best.report.diagnostics] if best and best.report else [],
            "program": winner.source,
            "words": list(self.words),
            "table": table_to_data(winner.table) if winner.table is not None else None,
            "names": list(find_names(winner.table)) if winner.table is not None else [],
            "votes": [len(group) for group in self.election.groups],
            "back_check": self.told_back and {"agrees": self.told_back.agrees, "why": self.told_back.why},
            "claims": self.tested and [asdict(claim) for claim in self.tested.claims],
            "solution": None,
        }
        if self.ok:
            try:
                data["solution"] = self.solve().to_json()
            except BestResponseError as error:
                data["solution"] = {"error": str(error)}
        return data


def formalize(
    story: str | Path,
    model: ModelLike,
    *,
    name: str = "story",
    form: Wish = "auto",
    attempts: int = 5,
    candidates: int = 1,
    back_check: bool = False,
    claims: bool = False,
    shots: int = 1,
    choose: Literal["nearest", "first"] = "nearest",
    examples: str | Path | None = None,
    max_tokens: int = 1500,
    temperature: float = 0.0,
    effort: str | None = None,
    reasoning_tokens: int | None = None,
    seed: int | None = None,
    engine: EngineKind = "auto",
    output_dir: str | Path = "results",
    limits: ModelLimits | None = None,
    tell: Callable[[Attempt], None] = lambda attempt: None,
    refine: Callable[[Formalizer, Election], Election] | None = None,
) -> Formalized:
    """Let a model turn a story, given as text or as a file, into a checked game program.

    Of several `candidates` the game is taken that most of them describe. With `back_check` the model compares the game,
    told in words, with the story; with `claims` what it says that the story says is tested on the game. `examples` is a
    folder of further examples. `tell` hears of every attempt, and `refine` may change the game before it is checked.
    """
    text = check_story(story.read_text("utf-8-sig") if isinstance(story, Path) else story)
    named = as_model(model)
    settings = Settings(
        attempts, shots, choose, form, max_tokens, temperature, seed, effort=effort, reasoning_tokens=reasoning_tokens
    )
    known = library() if examples is None else (*library(), *read_examples(Path(examples)))
    opened = open_engine(engine)
    try:
        with open_models((named,), Path(output_dir), limits) as models:
            formalizer = Formalizer(models.models[named], opened, settings, known, tell)
            election = formalize_many(formalizer, text, candidates)
            if refine is not None:
                election = refine(formalizer, election)
            winner, table = election.winner, election.winner.table
            told_back = tested = None
            if table is not None and back_check:
                told_back = compare(winner.told, table, formalizer.model, seed=seed)
            if table is not None and claims:
                tested = check_claims(winner.told, table, formalizer.model, seed=seed)
            return Formalized(election, name, told_back, tested, models.meter.spent)
    finally:
        opened.close()


def estimate_formalizing(story: str, candidates: int = 1, checks: int = 0) -> tuple[int, int, int]:
    """Return about how many calls a story takes, and how many tokens these read and write."""
    prompt, reply = estimate_tokens(story)
    return candidates + checks, candidates * prompt + checks * prompt // 2, (candidates + checks) * reply


class ModelRow(TypedDict):
    """A model that can be named, and what is missing before it answers."""

    name: str
    kind: str
    ready: bool
    missing: Annotated[str, column("to use it")]


def list_models() -> Frame[ModelRow]:
    """List the models that can be named."""
    known = known_models(read_default_settings())
    return Frame(ModelRow, [ModelRow(name=m.name, kind=m.kind, ready=m.ready, missing=m.missing) for m in known])
