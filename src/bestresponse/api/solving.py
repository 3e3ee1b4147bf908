"""Solve games, and show what is known of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from bestresponse.analysis.solve.data import as_data
from bestresponse.analysis.solve.document import as_document, draw_game, drawable, picture_section
from bestresponse.analysis.solve.positions import SolvedPositions
from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree, Wish
from bestresponse.analysis.solve.solve import solve_loaded_game
from bestresponse.core.errors import UsageError
from bestresponse.games.lookup import GameLike, LoadedGame, Matrix, as_loaded_game
from bestresponse.report.document import Document, Section
from bestresponse.theory.engines import Engine
from bestresponse.theory.equilibria.many_players.budget import SECONDS
from bestresponse.theory.equilibria.result import Equilibrium

_ROUGH = 1e-6
"""A larger regret is that of a method which only comes near an equilibrium, and `value` is then no
nearer."""


@dataclass(frozen=True)
class Solution:
    """A solved game: `solved` holds equilibria, certificate and everything else.

    It shows itself in a notebook.
    """

    game: LoadedGame
    solved: SolvedTable | SolvedTree | SolvedPositions

    def __repr__(self) -> str:
        if isinstance(self.solved, SolvedPositions):
            found = len(self.solved.solution.graph.known)
            value = "unknown" if self.value is None else f"{self.value:.6g}"
            return f"Solution({self.game.name!r}, {found:,} positions, value {value})"
        kinds = ", ".join(equilibrium.kind for equilibrium in self.equilibria) or "none listed"
        count = f"{len(self.equilibria)} equilibri{'um' if len(self.equilibria) == 1 else 'a'}"
        regret = max((equilibrium.regret for equilibrium in self.equilibria), default=0.0)
        rough = f"; regret up to {regret:.2g}" if regret > _ROUGH else ""
        return f"Solution({self.game.name!r}, {count}: {kinds}{rough})"

    def __str__(self) -> str:
        """List what is played at the equilibria, and what everybody earns."""
        lines = [repr(self)]
        for equilibrium in self.equilibria:
            if isinstance(equilibrium, Equilibrium):
                lines.append(str(equilibrium))
            else:
                earned = ", ".join(
                    f"{player} {payoff:.6g}" for player, payoff in equilibrium.payoffs.items()
                )
                lines += [str(equilibrium.policy), f"(payoffs: {earned})"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from bestresponse.report.page import embed_page

        return embed_page(self.to_document(), "Equilibria")

    @property
    def equilibria(self) -> tuple[Any, ...]:
        """The equilibria that were found; none are listed of a game solved by its positions."""
        if isinstance(self.solved, SolvedPositions):
            return ()
        if not isinstance(self.solved, SolvedTree):
            return self.solved.nash.equilibria
        return (
            self.solved.equilibria
            if self.solved.table is None
            else self.solved.table.nash.equilibria
        )

    @property
    def value(self) -> float | None:
        """What the first of two players gets in a constant-sum game; None elsewhere."""
        return None if self.solved.value is None else self.solved.value.number

    def to_document(self) -> Document:
        """Return everything that is known as a report."""
        return as_document(self.game, self.solved)

    def to_json(self) -> dict[str, object]:
        """Return everything that is known as plain JSON data."""
        return as_data(self.game, self.solved)

    def draw(self, kind: Literal["svg", "png"] = "svg") -> bytes:
        """Draw the game; UsageError where there is no picture of it."""
        return draw_game(drawable(self.game.solvable()), kind)

    def to_page(self, *first: Section) -> str:
        """Return everything that is known as one HTML page, after `first`.

        The page has a picture if the game can be drawn.
        """
        from bestresponse.report.page import render

        if isinstance(self.solved, SolvedPositions):
            return render(as_document(self.game, self.solved, first))
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
    objective: Literal["welfare", "fairness", "any"] | None = None,
    seconds: float = SECONDS,
    report: Callable[[str], None] | None = None,
    engine: Engine = "auto",
) -> Solution:
    """Solve a game given by name, file, table, tree, rules or payoff matrices.

    Either one payoff matrix or the matrices of two players can be given.

    `iterations` are those of CFR, `objective` asks for the correlated equilibrium that is best by
    it, `seconds` bound the search for all equilibria of a table, and `report` is told how far it
    is. `engine` is that of `nash`; `to_json()["engine"]`
    says which one was used.

    >>> solve([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    Solution('game', 1 equilibrium: pure)
    >>> solve([[0, 5], [4, 1]]).value
    2.5
    """
    resolved = as_loaded_game(game, other)
    return Solution(
        resolved,
        solve_loaded_game(
            resolved,
            Wish(
                method,
                iterations,
                objective=objective,
                seconds=seconds,
                report=report,
                engine=engine,
            ),
        ),
    )
