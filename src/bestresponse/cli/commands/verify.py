"""`bestresponse verify`: reasoning about a game, checked claim by claim: of a model, or of a text
in a file."""

import json
import sys
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

import bestresponse as br
from bestresponse.cli.study_command import make_study_command
from bestresponse.cli.terminal import console, print_table
from bestresponse.core.errors import UsageError
from bestresponse.formal.claims.review import Review, State
from bestresponse.report.document import Column, Table
from bestresponse.report.text import visible
from bestresponse.runs.settings import RunSettings, read_settings
from bestresponse.studies.verify.judge import judge_reasoning

_TEXT = Annotated[
    Path | None,
    typer.Option(
        help="Check the reasoning in this file instead of asking a model; - reads standard input."
    ),
]
_ENGINE = Annotated[str, typer.Option(help="Logic engine for --text: auto, embedded or swi.")]
_JUDGE = Annotated[
    Path | None,
    typer.Option(
        metavar="RUN",
        help="Let the model rate the reasonings of this run by its protocol, as people do.",
    ),
]
_FOR_JUDGES = ("model", "workers", "cache", "max_calls", "max_total_tokens", "max_cost")
_FOR_TEXTS = (
    "game",
    "text",
    "engine",
    "translator",
    "forms",
    "solver",
    "feedback",
    "unit",
    "seat",
    "output_dir",
    "as_json",
    "dry_run",
)
_run_study = make_study_command(br.verify_model)


def verify_command(*, text: Path | None, judge: Path | None, engine: str, **typed: Any) -> None:
    """Check reasoning about payoffs by logic: of a model, with feedback until it is right, or of a
    given text.

    Run the same command again to resume. With --text no model is needed; the exit
    code is then 1 where something is refuted and 2 where nothing could be checked. With --judge the
    model rates a finished run.
    """
    if judge is not None:
        _judge_run(judge, text, typed)
        return
    if text is None:
        if not typed["model"] and typed["settings"] is None:
            raise UsageError("give either --model (who reasons) or --text (a reasoning to check)")
        _run_study(**typed)
        return
    useless = [
        name
        for name, value in typed.items()
        if value not in (None, [], False) and name not in _FOR_TEXTS
    ]
    if useless:
        raise UsageError(
            f"--{useless[0].replace('_', '-')} is about a model that reasons; it does nothing for"
            " --text"
        )
    games = typed["game"] or []
    if len(games) != 1:
        raise UsageError(f"--text is about one game, got {', '.join(games) or 'none'}")
    try:  # bytes that are no text are replaced, not refused
        data = sys.stdin.buffer.read() if str(text) == "-" else text.read_bytes()
    except OSError as error:
        raise UsageError(f"--text {text}: {error.strerror}") from None
    review = br.verify(
        data.decode("utf-8", "replace"),
        games[0],
        seat=typed["seat"],
        translator=None if typed["translator"] in (None, "rules") else typed["translator"],
        feedback=typed["feedback"] or "positive",
        unit=typed["unit"] or "text",
        forms=typed["forms"] or "all",
        solver=typed["solver"] or "both",
        engine=engine,  # type: ignore[arg-type]
        output_dir=typed["output_dir"] or "results",
    )
    translator = typed["translator"] or "rules"
    if typed["as_json"]:
        print(
            json.dumps({"translator": translator, **review.to_json()}, indent=2, ensure_ascii=False)
        )
    else:
        _print_review(review, translator)
    if code := {State.REFUTED: 1, State.UNREFUTED: 0}.get(review.state, 2):
        raise typer.Exit(code)


_PARAMETERS = [
    Parameter("text", Parameter.KEYWORD_ONLY, default=None, annotation=_TEXT),
    Parameter("judge", Parameter.KEYWORD_ONLY, default=None, annotation=_JUDGE),
    Parameter("engine", Parameter.KEYWORD_ONLY, default="embedded", annotation=_ENGINE),
    *signature(_run_study).parameters.values(),
]
verify_command.__signature__ = signature(verify_command).replace(parameters=_PARAMETERS)  # type: ignore[attr-defined]
verify_command.__annotations__ = {parameter.name: parameter.annotation for parameter in _PARAMETERS}


def _judge_run(run: Path, text: Path | None, typed: dict[str, Any]) -> None:
    """Let models rate the reasonings of a run, and name the sheets they filled in."""
    if text is not None:
        raise UsageError(
            "--judge is about a finished run and --text about a text; give one of them"
        )
    useless = [
        name
        for name, value in typed.items()
        if value not in (None, [], False) and name not in _FOR_JUDGES
    ]
    if useless:
        option = "GAME" if useless[0] == "game" else f"--{useless[0].replace('_', '-')}"
        raise UsageError(f"{option} does nothing for --judge, which takes the games of the run")
    if not typed["model"]:
        raise UsageError("--judge needs --model: the model that rates")
    given = {name: typed[name] for name in _FOR_JUDGES[1:] if typed[name] is not None}
    config = read_settings(RunSettings, given)
    for sheet in judge_reasoning(run, typed["model"], config.limits):
        print(f"wrote {sheet}; `bestresponse report {run}` sets it beside people's")


def _print_review(review: Review, translator: str) -> None:
    """Print every claim, its verdict, what is true instead, and what was not read."""
    columns = (Column("verdict"), Column("claim"), Column("why it is unknown"))
    rows = tuple(
        (claim.verdict.value.upper(), claim.text, claim.proof.why or None)
        for claim in review.checked
    )
    if rows:
        print_table(console(), Table(columns, rows, f"Claims found by {translator}"))
    print(review.summary)
    facts = review.to_json()
    refuted = (claim for claim in facts["claims"] if claim["correction"])
    for number, claim in enumerate(refuted, 1):
        for passage in claim["places"]:
            print(visible(f"  [{number}] {passage['start']}-{passage['end']}: {passage['text']}"))
        print(visible(f"  [{number}] {claim['claim']} {claim['correction']}"))
    for passage in facts["partly_read"] or ():
        left_out = "; ".join(passage["left_out"])
        place = f"{passage['start']}-{passage['end']}"
        print(visible(f"  partly read {place}: {passage['text']} (not read: {left_out})"))
    for passage in facts["set_aside"] or ():
        print(
            visible(
                f"  set aside {passage['start']}-{passage['end']}: {passage['text']}"
                f" ({passage['why']})"
            )
        )
    for passage in facts["unread"] or ():
        why = f" ({passage['why']})" if passage["why"] else ""
        print(visible(f"  unread {passage['start']}-{passage['end']}: {passage['text']}{why}"))
