"""`bestresponse formalize`: a story becomes a checked game program, alone or together with a person."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, get_args

import typer

from bestresponse.cli.commands.formalize.result import Checks, keep_partial, publish
from bestresponse.cli.commands.formalize.talk import talk
from bestresponse.cli.commands.games.check import ENGINE_HELP, engine_for
from bestresponse.cli.options import AsJson, build_config, expand_options
from bestresponse.cli.run_options import CallOptions
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.formal.formalize.autoformalizer import Attempt, Formalizer, Settings, check_story
from bestresponse.formal.formalize.back_translation import BackCheck, compare
from bestresponse.formal.formalize.candidates import Election, formalize_many
from bestresponse.formal.formalize.examples import Example, library, read_examples, write_example
from bestresponse.formal.formalize.plan import Wish
from bestresponse.formal.formalize.story_claims import ClaimCheck, check_claims
from bestresponse.report.text import visible
from bestresponse.runs.models import open_models

DEFAULT_MODEL = "qwen2.5-coder-1.5b"


@dataclass(frozen=True, kw_only=True)
class FormalizeOptions:
    """Say which model writes the game, how, and what is kept."""

    model: Annotated[str, typer.Option("--model", "-m", help="See `bestresponse models`.")] = DEFAULT_MODEL
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the program goes. [default: the story's name, .pl]")
    ] = None
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="See the game, say what is wrong, let the model revise it.")
    ] = False
    attempts: Annotated[int, typer.Option(help="How often the model may repair a program.", min=1, max=20)] = 5
    candidates: Annotated[
        int, typer.Option(help="Programs to write; the game that most of them describe is taken.", min=1, max=50)
    ] = 1
    back_check: Annotated[
        bool, typer.Option("--back-check", help="Let the model compare the game, told in words, with the story.")
    ] = False
    claims: Annotated[
        bool, typer.Option("--claims", help="Let the model list what the story says, and test that on the game.")
    ] = False
    shots: Annotated[int, typer.Option(help="Examples shown to the model.", min=0, max=6)] = 1
    choose: Annotated[
        str, typer.Option(help="Which examples: nearest to the story, or first (the prisoner's dilemma).")
    ] = "nearest"
    examples: Annotated[
        Path | None, typer.Option(help="A folder of further examples: NAME.txt with a story, NAME.pl its game.")
    ] = None
    save_example: Annotated[
        Path | None, typer.Option(help="Keep the story and its game in this folder, for --examples.")
    ] = None
    form: Annotated[
        str,
        typer.Option(
            help="What the model writes: program, table or tree (JSON, held to a schema where it can be), or "
            "auto: by the story and the model. A model on this machine begins with JSON, others with the program; "
            "after two failures the next form is tried, if it can hold the game."
        ),
    ] = "auto"
    temperature: Annotated[float, typer.Option(help="Sampling temperature.", min=0, max=5)] = 0.0
    max_tokens: Annotated[int, typer.Option(help="Longest reply, in tokens.", min=1, max=100_000)] = 1500
    llm_seed: Annotated[int | None, typer.Option(help="Seed sent to the model if it takes one.")] = None
    engine: Annotated[str, typer.Option(help=ENGINE_HELP)] = "auto"
    threads: Annotated[
        int,
        typer.Option(help="Threads for a model on this machine; more are faster on idle cores only.", min=1, max=256),
    ] = 1


@expand_options
def formalize(
    story: Annotated[str, typer.Argument(help="A text file with the story, or - to read it from standard input.")],
    as_json: AsJson = False,
    *,
    options: FormalizeOptions,
    calls: CallOptions,
) -> None:
    """Turn a story into a game program that is checked, repaired with feedback, and solved.

    The best program so far is kept in NAME.partial.pl with the messages in NAME.messages.txt until there is a game;
    where none comes out the exit code is 1. Where the story is contradictory or incomplete the game is written with the
    assumptions that were made, the questions are reported, and the exit code is 1 too; --interactive asks them. So it
    is where a check that was asked for finds a difference between story and game.
    """
    settings = _make_settings(options)
    if options.interactive and (story == "-" or as_json):
        raise UsageError(
            "--interactive reads remarks from standard input; give the story as a file and leave out --json"
        )
    text = _read_story(story)
    target = _find_target(story, options.output)
    known = _list_examples(options.examples)
    opened = engine_for(options.engine)
    try:
        with open_models((options.model,), calls.output_dir, replace(calls.limits, threads=options.threads)) as table:
            formalizer = Formalizer(table.models[options.model], opened, settings, known, tell=_Teller(target))
            election = formalize_many(formalizer, text, options.candidates)
            if options.interactive:
                election = talk(formalizer, election, target)
            check = _check_back(formalizer, election) if options.back_check and election.winner.ok else None
            tested = _test_claims(formalizer, election) if options.claims and election.winner.ok else None
            spent = table.meter.spent
            money = None if spent.unpriced else spent.money
    finally:
        opened.close()

    if not publish(election, Checks(check, tested), target, money, as_json):
        raise typer.Exit(1)
    if options.save_example is not None:
        write_example(options.save_example, Example(target.stem, election.winner.story, election.winner.source))


def _make_settings(options: FormalizeOptions) -> Settings:
    if options.choose not in ("nearest", "first"):
        raise UsageError(f"--choose {options.choose}: expected nearest or first")
    if options.form not in get_args(Wish):
        raise UsageError(f"--form {options.form}: expected {', '.join(get_args(Wish))}")
    return build_config(Settings, options, seed=options.llm_seed)


def _read_story(story: str) -> str:
    if story == "-":
        return check_story(sys.stdin.read())
    path = Path(story)
    if not path.exists():
        raise UsageError(f"{path}: there is no such file; write the story into a text file, or give - and type it")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; expected a text file with a story")
    try:
        return check_story(path.read_bytes()[:1_000_000].decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: expected text in UTF-8; byte {error.start} is none") from None


def _find_target(story: str, output: Path | None) -> Path:
    target = output or Path("game.pl" if story == "-" else Path(story).with_suffix(".pl").name)
    if target.suffix != ".pl":
        raise UsageError(f"--output {target}: expected a name that ends in .pl, so that other commands know it")
    if story != "-" and target.exists() and target.resolve() == Path(story).resolve():
        raise UsageError(f"{target} is the story itself; give another --output")
    if not target.parent.is_dir():
        raise UsageError(f"--output {target}: there is no folder {target.parent}")
    return target


def _list_examples(folder: Path | None) -> tuple[Example, ...]:
    return (*library(), *read_examples(folder)) if folder is not None else library()


def _check_back(formalizer: Formalizer, election: Election) -> BackCheck:
    winner = election.winner
    assert winner.table is not None
    return compare(winner.told, winner.table, formalizer.model, seed=formalizer.settings.seed)


def _test_claims(formalizer: Formalizer, election: Election) -> ClaimCheck | None:
    winner = election.winner
    assert winner.table is not None
    try:
        return check_claims(winner.told, winner.table, formalizer.model, seed=formalizer.settings.seed)
    except InvalidGame as error:
        print(f"bestresponse: the claims of the story cannot be read: {visible(str(error))}", file=sys.stderr)
        return None


class _Teller:
    """A line of progress for each answer of the model; the best one so far is kept in files, whatever happens next."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._made: list[Attempt] = []

    def __call__(self, attempt: Attempt) -> None:
        self._made.append(attempt)
        line = "the program is a game" if attempt.ok else attempt.trouble
        print(f"attempt {len(self._made)}: {visible(line)}", file=sys.stderr, flush=True)
        if not attempt.ok:
            keep_partial(max(self._made, key=lambda one: one.progress), self._target)
