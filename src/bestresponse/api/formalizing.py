"""Check game programs, and let models turn stories into games."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

from bestresponse.api.solving import Solution, solve
from bestresponse.core.errors import InvalidGame
from bestresponse.core.notebook import format_html
from bestresponse.formal.formalize.autoformalizer import Formalization, Formalizer, Settings
from bestresponse.formal.formalize.plan import Wish
from bestresponse.games.logic.game import as_game, read_program_text
from bestresponse.games.lookup import Found
from bestresponse.logic.engine import EngineKind, open_engine
from bestresponse.logic.programs.validate import Report, validate
from bestresponse.models.registry import known_models, read_default_settings
from bestresponse.report.frames import Frame, column
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
    """What came of a story: every attempt of the model, and the game where there is one."""

    formalization: Formalization
    name: str = "story"

    def __repr__(self) -> str:
        return f"Formalized({self.name!r}, {'a game' if self.ok else self.formalization.trouble[:150]})"

    def _repr_html_(self) -> str:
        return self.solve()._repr_html_() if self.ok else format_html(repr(self), ("program",), [(self.program,)])

    @property
    def ok(self) -> bool:
        """Whether a game came out."""
        return self.formalization.ok

    @property
    def program(self) -> str:
        """The best program that the model wrote."""
        return self.formalization.source

    @property
    def game(self) -> Found:
        """The game, as every other function takes it; InvalidGame says why where there is none."""
        table = self.formalization.table
        if not self.ok or table is None:
            raise InvalidGame(self.formalization.trouble)
        return Found(self.name, "file", as_game(table, self.name), " ".join(self.formalization.story.split())[:200])

    def solve(self, **options: Any) -> Solution:
        """Solve the game; the options are those of `solve`."""
        return solve(self.game, **options)

    def save(self, path: str | Path) -> Path:
        """Write the program into a file."""
        Path(path).write_text(self.program + "\n", "utf-8")
        return Path(path)


def formalize(
    story: str | Path,
    model: ModelLike,
    *,
    name: str = "story",
    form: Wish = "auto",
    attempts: int = 5,
    max_tokens: int = 1500,
    temperature: float = 0.0,
    seed: int | None = None,
    engine: EngineKind = "auto",
    output_dir: str | Path = "results",
    limits: ModelLimits | None = None,
) -> Formalized:
    """Let a model turn a story, given as text or as a file, into a checked game program."""
    text = story.read_text("utf-8-sig") if isinstance(story, Path) else story
    named = as_model(model)
    settings = Settings(attempts=attempts, form=form, max_tokens=max_tokens, temperature=temperature, seed=seed)
    opened = open_engine(engine)
    try:
        with open_models((named,), Path(output_dir), limits) as models:
            return Formalized(Formalizer(models.models[named], opened, settings).formalize(text), name)
    finally:
        opened.close()


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
