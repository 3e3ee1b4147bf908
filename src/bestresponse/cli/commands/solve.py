"""`bestresponse solve`: the equilibria of a game, and all else that theory knows of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import bestresponse as br
from bestresponse.cli.options import (
    AsJson,
    With,
    complete_concept,
    complete_dynamics,
    complete_game,
    complete_method,
    complete_objective,
    read_pairs,
)
from bestresponse.cli.terminal import console, print_document, print_note, wait_for
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.games.mechanisms import name_with
from bestresponse.report.figures.charts import keep_pdfs
from bestresponse.theory.equilibria.many_players.budget import SECONDS

if TYPE_CHECKING:
    from bestresponse.analysis.answers import Answered
    from bestresponse.games.lookup import LoadedGame

_PICTURE_FILES = (".svg", ".pdf", ".png", ".html")


def solve_command(
    game: Annotated[
        str,
        typer.Argument(
            help=(
                "A name from `bestresponse games`, a .nfg, .efg, .json or .pl file, or - to read"
                " JSON."
            ),
            autocompletion=complete_game,
        ),
    ],
    with_: With = None,
    as_json: AsJson = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=(
                "Draw the game to this .svg, .pdf or .png file, or write a page with everything as"
                " .html."
            ),
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help=(
                "How to solve: auto; a table by enumeration, lemke-howson, zero-sum or pure; a tree"
                " by sequence-form, backward-induction, normal-form, interim (games with types),"
                " cfr, cfr+, dcfr, pcfr+ or external-sampling."
            ),
            autocompletion=complete_method,
        ),
    ] = "auto",
    iterations: Annotated[
        int | None,
        typer.Option(
            help="Iterations of CFR, for a tree. [default: 1000]",
            min=1,
            max=100_000_000,
        ),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            help=(
                "Also find the best correlated equilibrium by this objective: welfare, fairness"
                " or any."
            ),
            autocompletion=complete_objective,
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            help="Time limit of the search for all equilibria of a table, in seconds.", min=0
        ),
    ] = SECONDS,
    dynamics: Annotated[
        str | None,
        typer.Option(
            help=(
                "Show the dynamics of play instead: replicator, fictitious-play, regret-matching,"
                " multiplicative-weights, logit or alpha-rank."
            ),
            autocompletion=complete_dynamics,
        ),
    ] = None,
    concept: Annotated[
        str | None,
        typer.Option(
            help=(
                "Show one solution concept instead: quantal-response, level-k,"
                " cognitive-hierarchy, correlated, coarse-correlated, rationalizable, maximin,"
                " bargaining, ordinal, perfect or stackelberg; for a tree also"
                " subgame-perfect, sequential or agent-quantal-response."
            ),
            autocompletion=complete_concept,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help=(
                "A setting of --dynamics or --concept, such as lambda=2 of quantal-response; an"
                " unknown name lists all; may be repeated."
            ),
        ),
    ] = None,
) -> None:
    """Print the equilibria of a game with their method and certificate, and dominance, efficiency
    and properties."""
    if output is not None and output.suffix.lower() not in _PICTURE_FILES:
        raise UsageError(
            f"--output {output}: expected a file ending in {', '.join(_PICTURE_FILES)}"
        )
    named = name_with(game, with_ or ())
    resolved = wait_for(lambda: br.find_game(named, read_input=sys.stdin.read), "loading")
    if dynamics is not None or concept is not None:
        if (method, iterations, objective, seconds) != ("auto", None, None, SECONDS):
            raise UsageError(
                "--dynamics and --concept take --set and none of --method, --iterations,"
                " --objective, --seconds"
            )
        answer = _ask(resolved, dynamics, concept, read_pairs("set", settings or ()))
        _show_answer(answer, as_json, output)
        return
    if settings:
        raise UsageError("--set is for --dynamics and --concept")
    if output is not None:
        _check_drawable(resolved, output)
    progress: list[str] = []
    solution = wait_for(
        lambda: br.solve(
            resolved,
            method=method,
            iterations=iterations,
            objective=objective,  # type: ignore[arg-type]
            seconds=seconds,
            report=progress.append,
        ),
        progress=progress,
    )
    _print(solution, as_json)
    if output is None:
        return
    _write(output, solution.to_page, solution.draw)


def _ask(
    game: LoadedGame,
    dynamics: str | None,
    concept: str | None,
    settings: Mapping[str, str],
) -> Answered:
    """Ask for dynamics or one concept; what is wrong with a setting is said of `--set`."""
    try:
        return wait_for(lambda: br.ask(game, dynamics=dynamics, concept=concept, settings=settings))
    except SettingError as error:
        if error.field in ("concept", "dynamics"):
            raise
        raise UsageError(f"--set {error.field}: {error.problem}") from None


def _show_answer(answer: Answered, as_json: bool, output: Path | None) -> None:
    """Print the answer of a concept or of dynamics, and draw its chart where one is wanted."""
    chart = answer.answer.chart
    name = answer.question.name
    if output is not None and chart is None:
        raise UsageError(
            f"--output {output}: expected no file, as there is nothing to draw for {name}"
        )
    _print(answer, as_json)
    if output is not None and chart is not None:
        from bestresponse.report.page import render  # templates are slow to load

        _write(output, lambda: render(answer.to_document(drawn=True)), chart.draw)


def _check_drawable(game: LoadedGame, output: Path) -> None:
    """Refuse a picture that cannot be drawn before a long solve; a page can do without one."""
    from bestresponse.analysis.solve.document import drawable

    try:
        drawable(game.solvable())
    except UsageError as error:
        if output.suffix.lower() != ".html":
            raise
        print_note(f"the page has no picture: {error}")


def _print(result: br.Solution | Answered, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result.to_json(), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print_document(console(), result.to_document())


def _write(
    output: Path,
    make_page: Callable[[], str],
    draw: Callable[[Literal["svg", "png"]], bytes],
) -> None:
    match output.suffix.lower():
        case ".html":
            content = make_page().encode()
        case ".png":
            content = draw("png")
        case ".pdf":
            with keep_pdfs() as kept:
                content = kept[draw("svg")]
        case _:
            content = draw("svg")
    output.write_bytes(content)
    print_note(f"wrote {output}")
