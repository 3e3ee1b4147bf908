"""Find, solve, check and formalize games."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from bestresponse.analysis.solve.data import as_data
from bestresponse.analysis.solve.document import as_document
from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree, Wish
from bestresponse.analysis.solve.solve import solve_found
from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonObject
from bestresponse.core.notebook import format_html
from bestresponse.formal.formalize.autoformalizer import Formalization, Formalizer, Settings
from bestresponse.formal.formalize.plan import Wish as FormWish
from bestresponse.games.logic.game import as_game, read_program_text
from bestresponse.games.lookup import Found
from bestresponse.logic.engine import EngineKind, open_engine
from bestresponse.logic.programs.validate import Report, validate
from bestresponse.report.document import Document
from bestresponse.runs.inputs import GameLike, Matrix, ModelLike, as_found, as_model
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.runs.reporting.notebook import embed_page
from bestresponse.theory.equilibria.result import NashResult
from bestresponse.theory.equilibria.solve import nash as solve_nash
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form

__all__ = ["Formalized", "Solution", "check", "formalize", "nash", "solve"]


@dataclass(frozen=True)
class Solution:
    """A solved game: `solved` holds equilibria, certificate and everything else; it shows itself in a notebook."""

    game: Found
    solved: SolvedTable | SolvedTree

    def __repr__(self) -> str:
        kinds = ", ".join(one.kind for one in self.equilibria) or "none listed"
        count = f"{len(self.equilibria)} equilibri{'um' if len(self.equilibria) == 1 else 'a'}"
        return f"Solution({self.game.name!r}, {count}: {kinds})"

    def _repr_html_(self) -> str:
        return embed_page(self.document)

    @property
    def equilibria(self) -> tuple[Any, ...]:
        """The equilibria that were found."""
        if isinstance(self.solved, SolvedTree):
            table = self.solved.table
            return self.solved.equilibria if table is None else table.nash.equilibria
        return self.solved.nash.equilibria

    @property
    def value(self) -> float | None:
        """What the first of two players gets in a constant-sum game; None elsewhere."""
        return None if self.solved.value is None else self.solved.value.number

    @cached_property
    def document(self) -> Document:
        """Everything that is known, as a report."""
        return as_document(self.game, self.solved)

    def to_json(self) -> JsonObject:
        """Return everything that is known as plain JSON data."""
        return as_data(self.game, self.solved)


def solve(
    game: GameLike,
    other: Matrix | None = None,
    *,
    method: str = "auto",
    iterations: int | None = None,
    objective: Literal["welfare", "fairness", "entropy", "any"] | None = None,
) -> Solution:
    """Solve a game: a name, a file, a table, a tree, rules, a payoff matrix, or the matrices of two players.

    >>> solve([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    Solution('game', 1 equilibrium: pure)
    >>> solve([[0, 5], [4, 1]]).value
    2.5
    """
    found = as_found(game, other)
    return Solution(found, solve_found(found, Wish(method, iterations, objective)))


def nash(game: GameLike, other: Matrix | None = None) -> NashResult:
    """Return all Nash equilibria that can be found of a game; trees are taken in their reduced normal form."""
    form = game if isinstance(game, NormalForm) and other is None else as_found(game, other).solvable()
    return solve_nash(form if isinstance(form, NormalForm) else to_normal_form(form))


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
    form: FormWish = "auto",
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
