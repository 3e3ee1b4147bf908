"""`bestresponse solve`: the equilibria of a game, and all else that theory knows of it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import bestresponse as br
from bestresponse.cli.options import AsJson, expand_options
from bestresponse.cli.terminal import console, notes
from bestresponse.cli.terminal_document import print_document
from bestresponse.cli.waiting import Progress, wait_for
from bestresponse.core.errors import UsageError
from bestresponse.theory.equilibria.many_players.budget import SECONDS

if TYPE_CHECKING:
    from bestresponse.analysis.answers.ask import Answered
    from bestresponse.games.lookup import Found

_PICTURE_FILES = (".svg", ".png", ".html")


@dataclass(frozen=True, kw_only=True)
class SolveOptions:
    """Say how the game is solved, what is asked of it instead, and where it is drawn."""

    plot: Annotated[
        Path | None, typer.Option(help="Draw the game into this .svg or .png file, or a page with everything in .html.")
    ] = None
    method: Annotated[
        str,
        typer.Option(
            help="auto; for a table enumeration, lemke-howson, zero-sum, double-oracle or pure; for a tree "
            "sequence-form, backward-induction, normal-form, double-oracle, cfr, cfr+, dcfr, pcfr+, external-sampling "
            "or outcome-sampling."
        ),
    ] = "auto"
    iterations: Annotated[
        int | None,
        typer.Option(
            help="Of CFR or the double oracle, for trees that they solve. [default: 1000]", min=1, max=100_000_000
        ),
    ] = None
    objective: Annotated[
        str | None,
        typer.Option(help="Also the correlated equilibrium best by this: welfare, fairness, entropy or any."),
    ] = None
    seconds: Annotated[
        float, typer.Option(help="How long mixed equilibria of more than two players are searched.", min=0)
    ] = SECONDS
    dynamics: Annotated[
        str | None,
        typer.Option(
            help="Instead, where play leads by replicator, fictitious-play, regret-matching, multiplicative-weights, "
            "logit, moran or alpha-rank."
        ),
    ] = None
    concept: Annotated[
        str | None,
        typer.Option(
            help="Instead, one of quantal-response, level-k, cognitive-hierarchy, correlated, coarse-correlated, "
            "rationalizable, maximin, bargaining, ordinal, perfect, proper; of trees subgame-perfect, sequential, "
            "agent-quantal-response."
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of --dynamics or --concept, as NAME=VALUE; an unknown name lists all."),
    ] = None


@expand_options
def solve(
    game: Annotated[
        str,
        typer.Argument(help="A name from `bestresponse games`, a .nfg, .efg, .json or .pl file, or - to read JSON."),
    ],
    as_json: AsJson = False,
    *,
    options: SolveOptions,
) -> None:
    """Print the equilibria of a game, how they were found and how sure they are; dominance, efficiency and kind."""
    plot = options.plot
    if plot is not None and plot.suffix.lower() not in _PICTURE_FILES:
        raise UsageError(f"--plot {plot}: expected a file ending in {', '.join(_PICTURE_FILES)}")
    found = wait_for(lambda: br.find_game(game, read_input=sys.stdin.read), "loading")
    if options.dynamics is not None or options.concept is not None:
        _answer(found, as_json, options)
        return
    if options.settings:
        raise UsageError("--set is for --dynamics and --concept")
    if plot is not None:
        try:
            from bestresponse.analysis.solve.pictures import drawable

            drawable(found.solvable())
        except UsageError as error:  # a page can do without a picture; a picture is refused before a long solve
            if plot.suffix.lower() != ".html":
                raise
            notes().print(f"the page has no picture: {error}", markup=False, soft_wrap=True)
    progress = Progress()

    def run() -> br.Solution:
        return br.solve(
            found,
            method=options.method,
            iterations=options.iterations,
            objective=options.objective,  # type: ignore[arg-type]
            seconds=options.seconds,
            report=progress.report,
        )

    solution = wait_for(run, progress=progress)
    _print(solution, as_json)
    if plot is not None:
        page = plot.suffix.lower() == ".html"
        picture = solution.to_page().encode("utf-8") if page else solution.draw("png" if _is_png(plot) else "svg")
        _write(plot, picture)


def _answer(found: Found, as_json: bool, options: SolveOptions) -> None:
    """Print the answer to --concept or --dynamics, and draw it where that is wanted."""
    if (options.method, options.iterations, options.objective, options.seconds) != ("auto", None, None, SECONDS):
        raise UsageError(
            "--dynamics and --concept take --set and none of --method, --iterations, --objective, --seconds"
        )
    settings = {}
    for words in options.settings or ():
        name, equals, value = words.partition("=")
        if not equals:
            raise UsageError(f"--set {words}: expected NAME=VALUE")
        settings[name] = value
    answer = wait_for(lambda: br.ask(found, dynamics=options.dynamics, concept=options.concept, settings=settings))
    chart, plot = answer.answer.chart, options.plot
    if plot is not None and chart is None:
        raise UsageError(f"--plot {plot}: expected no --plot, as there is nothing to draw for {answer.question.name}")
    _print(answer, as_json)
    if plot is not None and chart is not None:
        if plot.suffix.lower() == ".html":
            from bestresponse.report.page import render

            _write(plot, render(answer.to_document(drawn=True)).encode("utf-8"))
        else:
            _write(plot, chart.draw("png" if _is_png(plot) else "svg"))


def _print(result: br.Solution | Answered, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result.to_json(), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print_document(console(), result.to_document())


def _is_png(plot: Path) -> bool:
    return plot.suffix.lower() == ".png"


def _write(plot: Path, picture: bytes) -> None:
    plot.write_bytes(picture)
    notes().print(f"wrote {plot}", markup=False, soft_wrap=True)
