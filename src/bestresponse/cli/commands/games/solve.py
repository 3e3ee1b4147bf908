"""`bestresponse solve`: the equilibria of a game, and all else that theory knows of it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.analysis.answers.ask import Answered, ask_game
from bestresponse.analysis.solve.data import as_data
from bestresponse.analysis.solve.document import as_document
from bestresponse.analysis.solve.pictures import draw_game, drawable, picture_section
from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree, Wish
from bestresponse.analysis.solve.solve import solve_found
from bestresponse.cli.options import AsJson, expand_options
from bestresponse.cli.terminal import console, notes
from bestresponse.cli.terminal_document import print_document
from bestresponse.cli.waiting import Progress, wait_for
from bestresponse.core.errors import UsageError
from bestresponse.games.lookup import Found, find_game
from bestresponse.report.page import render
from bestresponse.theory.equilibria.many_players.budget import SECONDS
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

__all__ = ["solve"]

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
            "rationalizable, maximin, bargaining, ordinal, perfect, proper; of trees subgame-perfect, sequential."
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
    progress = Progress()
    wish = Wish(options.method, options.iterations, options.objective, options.seconds, progress.report)
    plot, settings = options.plot, options.settings
    kind = _picture_kind(plot)
    found = wait_for(lambda: find_game(game, read_input=sys.stdin.read), "loading")
    if options.dynamics is not None or options.concept is not None:
        if wish != Wish():
            raise UsageError(
                "--dynamics and --concept take --set and none of --method, --iterations, --objective, --seconds"
            )
        asked = wait_for(
            lambda: ask_game(found, dynamics=options.dynamics, concept=options.concept, given=settings or ())
        )
        _print_answer(asked, as_json, plot)
        return
    if settings:
        raise UsageError("--set is for --dynamics and --concept")
    drawn = _find_drawable(found, kind) if kind else None
    solved = wait_for(lambda: solve_found(found, wish), progress=progress)
    _print(found, solved, as_json)
    if plot is not None:
        plot.write_bytes(_picture(found, solved, drawn, kind))
        _report_written(plot)


def _print_answer(asked: Answered, as_json: bool, plot: Path | None) -> None:
    chart = asked.answer.chart
    if plot is not None and chart is None:
        raise UsageError(f"--plot {plot}: expected no --plot, as there is nothing to draw for {asked.question.name}")
    if as_json:
        print(json.dumps(asked.to_json(), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print_document(console(), asked.to_document())
    if plot is not None and chart is not None:
        match plot.suffix.lower():
            case ".html":
                plot.write_bytes(render(asked.to_document(drawn=True)).encode("utf-8"))
            case ".png":
                plot.write_bytes(chart.draw("png"))
            case _:
                plot.write_bytes(chart.draw())
        _report_written(plot)


def _report_written(plot: Path) -> None:
    notes().print(f"wrote {plot}", markup=False, soft_wrap=True)


def _picture_kind(plot: Path | None) -> str:
    """The ending of the file to draw into; UsageError where it names no kind of picture."""
    if plot is not None and plot.suffix.lower() not in _PICTURE_FILES:
        raise UsageError(f"--plot {plot}: expected a file ending in {', '.join(_PICTURE_FILES)}")
    return "" if plot is None else plot.suffix.lower()


def _find_drawable(found: Found, kind: str) -> NormalForm | Tree | None:
    """Return the game to draw; a page is written without a picture where there is none."""
    try:
        return drawable(found.solvable())
    except UsageError as error:
        if kind != ".html":
            raise
        notes().print(f"the page has no picture: {error}", markup=False, soft_wrap=True)
        return None


def _print(found: Found, solved: SolvedTable | SolvedTree, as_json: bool) -> None:
    if as_json:
        print(json.dumps(as_data(found, solved), indent=2, ensure_ascii=False, allow_nan=False))
        return

    print_document(console(), as_document(found, solved))


def _picture(found: Found, solved: SolvedTable | SolvedTree, drawn: NormalForm | Tree | None, kind: str) -> bytes:
    if drawn is not None and kind != ".html":
        return draw_game(drawn, "png" if kind == ".png" else "svg")
    sections = (picture_section(drawn),) if drawn is not None else ()
    return render(as_document(found, solved, sections)).encode("utf-8")
