"""Solve, compare, convert and list games."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, cast

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.report.frames import Frame, column
from bestresponse.theory.engines import Engine
from bestresponse.theory.equilibria.many_players.budget import SECONDS
from bestresponse.theory.equilibria.result import Equilibrium, NashResult
from bestresponse.theory.equilibria.solve import nash as solve_nash
from bestresponse.theory.games.normal_form import NormalForm

# What only some calls need is imported by them: a first solution of a matrix takes a third of a second so.
if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bestresponse.analysis.answers.ask import Answered
    from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree
    from bestresponse.core.json import JsonObject
    from bestresponse.games.comparison import Comparison
    from bestresponse.games.lookup import Found
    from bestresponse.games.named_game import GameLike, Matrix
    from bestresponse.report.document import Document, Section


@dataclass(frozen=True)
class Solution:
    """A solved game: `solved` holds equilibria, certificate and everything else; it shows itself in a notebook."""

    game: Found
    solved: SolvedTable | SolvedTree

    def __repr__(self) -> str:
        kinds = ", ".join(one.kind for one in self.equilibria) or "none listed"
        count = f"{len(self.equilibria)} equilibri{'um' if len(self.equilibria) == 1 else 'a'}"
        return f"Solution({self.game.name!r}, {count}: {kinds})"

    def __str__(self) -> str:
        """List what is played at the equilibria, and what everybody earns."""
        lines = [repr(self)]
        for one in self.equilibria:
            if isinstance(one, Equilibrium):
                lines.append(str(one))
            else:
                earned = ", ".join(f"{player} {payoff:.6g}" for player, payoff in one.payoffs.items())
                lines += [str(one.policy), f"(payoffs: {earned})"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from bestresponse.report.page import embed_page

        return embed_page(self.to_document())

    @property
    def equilibria(self) -> tuple[Any, ...]:
        """The equilibria that were found."""
        from bestresponse.analysis.solve.solution import SolvedTree

        if not isinstance(self.solved, SolvedTree):
            return self.solved.nash.equilibria
        return self.solved.equilibria if self.solved.table is None else self.solved.table.nash.equilibria

    @property
    def value(self) -> float | None:
        """What the first of two players gets in a constant-sum game; None elsewhere."""
        return None if self.solved.value is None else self.solved.value.number

    def to_document(self) -> Document:
        """Return everything that is known as a report."""
        from bestresponse.analysis.solve.document import as_document

        return as_document(self.game, self.solved)

    def to_json(self) -> JsonObject:
        """Return everything that is known as plain JSON data."""
        from bestresponse.analysis.solve.data import as_data

        return as_data(self.game, self.solved)

    def draw(self, kind: Literal["svg", "png"] = "svg") -> bytes:
        """Draw the game; UsageError where there is no picture of it."""
        from bestresponse.analysis.solve.pictures import draw_game, drawable

        return draw_game(drawable(self.game.solvable()), kind)

    def to_page(self, *first: Section) -> str:
        """Return everything that is known as one HTML page, with a picture where there is one, after `first`."""
        from bestresponse.analysis.solve.document import as_document
        from bestresponse.analysis.solve.pictures import drawable, picture_section
        from bestresponse.report.page import render

        try:
            picture = [picture_section(drawable(self.game.solvable()))]
        except UsageError:
            picture = []
        return render(as_document(self.game, self.solved, (*first, *picture)))


def solve(
    game: GameLike,
    other: Matrix | None = None,
    *,
    method: str = "auto",
    iterations: int | None = None,
    objective: Literal["welfare", "fairness", "entropy", "any"] | None = None,
    seconds: float = SECONDS,
    report: Callable[[str], None] | None = None,
    engine: Engine = "auto",
) -> Solution:
    """Solve a game: a name, a file, a table, a tree, rules, a payoff matrix, or the matrices of two players.

    `iterations` are those of CFR or the double oracle, `objective` asks for the correlated equilibrium that is best by
    it, `seconds` bound the search for mixed equilibria of more than two players, and `report` is told how far it is.
    `engine` is that of `nash`; `to_json()["engine"]` says which one was used.

    >>> solve([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    Solution('game', 1 equilibrium: pure)
    >>> solve([[0, 5], [4, 1]]).value
    2.5
    """
    from bestresponse.analysis.solve.solution import Wish
    from bestresponse.analysis.solve.solve import solve_found
    from bestresponse.games.named_game import as_found

    found = as_found(game, other)
    return Solution(found, solve_found(found, Wish(method, iterations, objective, seconds, report, engine)))


def ask(
    game: GameLike,
    other: Matrix | None = None,
    *,
    concept: str | None = None,
    dynamics: str | None = None,
    settings: Mapping[str, object] | None = None,
) -> Answered:
    """Ask one solution concept of a game by name, or where play leads by one of the dynamics.

    >>> ask("prisoners-dilemma", concept="rationalizable").answer.data["kept"]
    {'row': ['defect'], 'col': ['defect']}
    """
    from bestresponse.analysis.answers.ask import ask_game
    from bestresponse.games.named_game import as_found

    return ask_game(as_found(game, other), concept=concept, dynamics=dynamics, settings=settings)


def compare(first: GameLike, second: GameLike, *, any_names: bool = False) -> Comparison:
    """Say whether two games are the same up to names, order and positive affine payoffs, and where they differ.

    Names that occur in both games mean the same unless `any_names` is set.

    >>> compare("prisoners-dilemma", "prisoners-dilemma").same
    True
    """
    from bestresponse.games.comparison import compare_games
    from bestresponse.games.named_game import as_found

    return compare_games(as_found(first).solvable(), as_found(second).solvable(), any_names=any_names)


def convert(game: GameLike, path: str | Path, *, force: bool = False, openspiel: bool = False) -> Path:
    """Write a game into a file that ends in .efg, .nfg, .json or .pl; `force` overwrites one that is there.

    With `openspiel` an .nfg file has the form that OpenSpiel reads: numbers of actions instead of their names.
    """
    from bestresponse.games.convert import WRITERS, format_game
    from bestresponse.games.named_game import as_found

    out = Path(path)
    if out.suffix.lower() not in WRITERS:
        raise UsageError(f"{out}: expected a file ending in {', '.join(WRITERS)}")
    if out.exists() and not force:
        raise UsageError(f"{out} is there already; choose another name or overwrite it by force")
    out.write_text(format_game(as_found(game).solvable(), out.suffix.lower(), openspiel=openspiel), "utf-8")
    return out


class GameRow(TypedDict):
    """A game that can be named, or a family of games that `bench` draws from."""

    name: str
    kind: str
    what: Annotated[str, column("what it is")]


def list_games() -> Frame[GameRow]:
    """List the games of the catalogue, the registered games and the families that `bench` draws from."""
    from bestresponse.core import registry
    from bestresponse.theory import catalogue
    from bestresponse.theory.generators import FAMILIES, families

    rows = [GameRow(name=entry.name, kind="matrix", what=entry.description) for entry in catalogue.entries()]
    rows += [
        GameRow(name=name, kind="tree", what=catalogue.tree_entry(name).description) for name in catalogue.tree_names()
    ]
    for name in registry.games.names():
        try:
            what = inspect.getdoc(registry.games.load(name)) or ""
        except UsageError as error:
            what = str(error)
        rows.append(GameRow(name=name, kind="registered", what=what.partition("\n")[0]))
    rows += [
        GameRow(name=name, kind="family", what=(inspect.getdoc(FAMILIES[name]) or "").partition("\n")[0])
        for name in families()
    ]
    return Frame(GameRow, rows)


def nash(
    game: GameLike,
    other: Matrix | None = None,
    *,
    method: str = "auto",
    seconds: float = SECONDS,
    engine: Engine = "auto",
) -> NashResult:
    """Find the Nash equilibria of a game, in any form that `solve` takes; trees in their reduced normal form.

    `method` is one of those of `solve` for tables, `seconds` bound the search for mixed equilibria of more than two
    players, and `engine` says whether loops are compiled: "numpy", "numba", or "auto", where that pays.

    >>> print(nash([[(2, 1), (0, 0)], [(0, 0), (1, 2)]]))
    NashResult(all equilibria: 3, vertex enumeration, exact)
    row: a0; col: a0 (payoffs 2, 1)
    row: a1; col: a1 (payoffs 1, 2)
    row: a0 2/3, a1 1/3; col: a0 1/3, a1 2/3 (payoffs 2/3, 2/3)
    """
    form = _as_table(game, other)
    if method == "auto":
        return solve_nash(form, seconds=seconds, engine=engine)
    from bestresponse.analysis.solve.solution import Wish
    from bestresponse.analysis.solve.tables import find_equilibria

    return find_equilibria(form, Wish(method, seconds=seconds, engine=engine))


_PAYOFFS = (list, tuple, np.ndarray)


def _as_table(game: GameLike, other: Matrix | None) -> NormalForm:
    """Read payoffs at once, and look up everything else: looking up takes longer than a small game."""
    if isinstance(game, NormalForm) and other is None:
        return game
    if other is not None and isinstance(game, _PAYOFFS):
        return NormalForm.bimatrix(cast("ArrayLike", game), cast("ArrayLike", other))
    from bestresponse.games.named_game import as_found
    from bestresponse.theory.trees.normal_form import to_normal_form

    form = as_found(game, other).solvable()
    return form if isinstance(form, NormalForm) else to_normal_form(form)
