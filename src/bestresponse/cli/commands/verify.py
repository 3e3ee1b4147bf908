"""`bestresponse verify`: reasoning about a game, checked claim by claim: of a model, or of a text
in a file."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

import bestresponse as br
from bestresponse.cli.options import AsJson, complete_engine, name_option_of
from bestresponse.cli.study_command import (
    Against,
    DryRun,
    FailIf,
    FiguresFolder,
    GateOptions,
    Junit,
    Typed,
    make_settings_command,
    run_gated,
)
from bestresponse.core.errors import UsageError
from bestresponse.core.files import read_text
from bestresponse.formal.claims.review import Review, State
from bestresponse.report.text import visible
from bestresponse.runs.settings import RunSettings, read_settings
from bestresponse.studies.verify.audit import SentenceVerdict, list_judged_sentences
from bestresponse.studies.verify.config import AUTO

_LARGEST = 10_000_000
"""Bytes of a text that is checked."""
_FOR_JUDGES = ("model", "workers", "cache", "cache_dir", "budget")
_FOR_TEXTS = (
    "game",
    "translator",
    "forms",
    "solver",
    "feedback",
    "seat",
    "output_dir",
)
_FOR_RUNS = ("dry_run", "against", "fail_if", "junit", "figures")
_TEXT = "Check the reasoning in this file instead of asking a model; - reads standard input."
_JUDGE = "Let the model rate the reasoning in this run by its protocol, as people do."
_ENGINE = "Logic engine for --text: auto, embedded or swi."
_FORMULAS = "With --text: also print each claim as a formula."
_ABOUT = """Run the same command again to resume.

With --text no model is needed: rules read the text, and --translator MODEL reads more. The exit
code is then 1 if something is refuted and 2 if nothing could be checked. With --judge the
model rates a finished run."""


def _run(
    config: RunSettings,
    as_json: AsJson = False,
    dry_run: DryRun = False,
    against: Against = None,
    fail_if: FailIf = None,
    junit: Junit = None,
    figures: FiguresFolder = None,
    text: Annotated[Path | None, typer.Option(help=_TEXT)] = None,
    judge: Annotated[Path | None, typer.Option(metavar="RUN", help=_JUDGE)] = None,
    engine: Annotated[str, typer.Option(help=_ENGINE, autocompletion=complete_engine)] = "embedded",
    formulas: Annotated[bool, typer.Option("--formulas", help=_FORMULAS)] = False,
) -> None:
    """Let a model reason; the options of texts and judges were seen before."""
    gate = GateOptions(tuple(fail_if or ()), against, junit)
    run_gated(
        br.verify_model,
        config,
        gate,
        as_json=as_json,
        dry_run=dry_run,
        figures=figures,
    )


def _check_text_or_judge(typed: Typed) -> bool:
    """Check a text, or let models rate a run, where that was asked for."""
    text: Path | None = typed.options["text"]
    judge: Path | None = typed.options["judge"]
    if judge is not None:
        _judge_run(judge, text, typed)
        return True
    if text is not None:
        _check_text(text, typed)
        return True
    if typed.options["formulas"]:
        raise UsageError("--formulas is about --text; the report of a run has the formulas")
    if not typed.settings["model"] and not typed.elsewhere:
        raise UsageError("give either --model (who reasons) or --text (a reasoning to check)")
    return False


verify_command = make_settings_command(
    br.verify_model.config,
    _run,
    _ABOUT,
    instead=_check_text_or_judge,
)


def _check_text(text: Path, typed: Typed) -> None:
    """Check the reasoning in a file, print what was found, and exit by the verdict."""
    useless = [name for name in typed.list_given() if name not in _FOR_TEXTS]
    useless += [name for name in _FOR_RUNS if typed.options[name]]
    if useless:
        option = name_option_of(useless[0])
        raise UsageError(f"{option} is about a model that reasons; it has no effect on --text")
    games = typed.settings["game"] or []
    if not games:
        raise UsageError("name the game that the text is about: verify GAME --text FILE")
    if len(games) > 1:
        raise UsageError(f"--text is about one game, got {', '.join(games)}")
    given = typed.settings
    translator = given["translator"] or AUTO
    if translator == AUTO:  # nobody reasons here, so there is no model at hand
        translator = "rules"
    review = br.verify(
        games[0],
        _read_text(text),
        seat=given["seat"],
        translator=None if translator == "rules" else translator,
        feedback=given["feedback"] or "positive",
        forms=given["forms"] or "all",
        solver=given["solver"] or "both",
        engine=typed.options["engine"],
        output_dir=given["output_dir"] or "results",
    )
    if typed.options["as_json"]:
        report = {"translator": translator, **review.to_json()}
        print(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        _print_review(review, translator, with_formulas=typed.options["formulas"])
    code = {State.REFUTED: 1, State.UNREFUTED: 0}.get(review.state, 2)
    if code:
        raise typer.Exit(code)


def _read_text(path: Path) -> str:
    """Return the text of a file; single bytes that are no text are replaced, binary files
    refused."""
    if str(path) == "-":
        return sys.stdin.buffer.read(_LARGEST).decode("utf-8", "replace")
    if not path.exists():
        raise UsageError(
            f"--text {path}: there is no such file; write the text into a file, or give - and type"
            " it"
        )
    text = read_text(path, _LARGEST, "replace")
    if "\0" in text:
        raise UsageError(f"--text {path}: expected text in UTF-8, got a binary file")
    return text


def _judge_run(run: Path, text: Path | None, typed: Typed) -> None:
    """Let models rate the reasonings of a run, and name the sheets they filled in."""
    if text is not None:
        raise UsageError(
            "--judge is about a finished run and --text about a text; give one of them"
        )
    useless = [name for name in typed.list_given() if name not in _FOR_JUDGES]
    useless += [name for name in _FOR_RUNS if typed.options[name]]
    if useless:
        option = "GAME" if useless[0] == "game" else name_option_of(useless[0])
        raise UsageError(f"{option} has no effect on --judge, which takes the games of the run")
    models = typed.settings["model"]
    if not models:
        raise UsageError("--judge needs --model: the model that rates")
    limits = {name: typed.settings[name] for name in _FOR_JUDGES[1:]}
    given = {name: value for name, value in limits.items() if value is not None}
    config = read_settings(RunSettings, given)
    sheets = br.reasoning.judge(run, models, config.limits)
    marks = {row["rater"]: row for row in br.load_run(run).frame("marks").rows}
    for sheet in sheets:
        print(f"wrote {sheet}; `bestresponse report {run}` sets it beside people's")
        row = marks[sheet.stem.removeprefix("sheet-")]
        print(
            f"marks used: {row['used']} of {row['samples']} samples; blank or refused:"
            f" {row['blank']}; contradictory: {row['contradictory']}; the same text marked"
            f" differently: {row['unsteady']}"
        )


def _print_review(review: Review, translator: str, *, with_formulas: bool) -> None:
    """Print how much was read, then every sentence with its verdict, its claims in words, and what
    is true instead."""
    if review.passages is not None:
        print(visible(_tell_share(review, translator)))
    print(visible(review.summary))
    before = ""
    for cells in list_judged_sentences(review.to_json()):
        if cells.sentence != before:
            print()
            print(visible(cells.sentence))
        before = cells.sentence
        for line in _tell_verdict(cells):
            print(visible(f"    {line}"))
        if with_formulas and cells.formula:
            print(visible(f"    {cells.formula}"))


def _tell_share(review: Review, translator: str) -> str:
    """Say what share of the sentences was read whole, and how to have the others read."""
    share = review.share_read
    counted = f"{share.whole:,} of {share.all:,} sentences"
    if not share.all:
        return f"The text says nothing of amounts or solutions that {translator} would read."
    line = f"Read by {translator}: {counted} ({share.whole / share.all:.0%})."
    if share.whole < share.all and translator == "rules":
        line += " To have a model read the others, name it: --translator MODEL."
    return line


def _tell_verdict(cells: SentenceVerdict) -> list[str]:
    """Say what a sentence was taken to claim and whether that is so, or that it was not read."""
    if cells.verdict is None:
        return [f"{cells.reading}: {cells.why}" if cells.why else cells.reading]
    lines = [f"{cells.verdict}: {cells.words}"]
    if cells.reading != "read":
        lines[0] = f"{lines[0]} ({cells.reading})"
    if cells.why:
        lines.append(cells.why)
    return lines
