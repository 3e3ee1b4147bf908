"""`bestresponse verify`: reasoning about a game, checked claim by claim."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.commands.games.check import engine_for
from bestresponse.cli.commands.verify.review import exit_code, print_review, review_to_json
from bestresponse.cli.options import expand_options
from bestresponse.cli.run_options import SharedRunOptions
from bestresponse.cli.running import run_and_show
from bestresponse.core.errors import UsageError
from bestresponse.formal.claims.review import Reviewer, check_reasoning
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translators.model import ModelTranslator
from bestresponse.formal.claims.translators.rules import RulesTranslator
from bestresponse.formal.claims.translators.translation import Translator
from bestresponse.games.named_game import NamedGame
from bestresponse.runs.models import open_models
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.study import VerifyStudy
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

__all__ = ["verify"]


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """Say who reasons, how, and how the reasoning is checked."""

    model: Annotated[str | None, typer.Option("--model", "-m", help="The model that reasons.")] = None
    text: Annotated[
        Path | None, typer.Option(help="Check the reasoning in this file instead of asking a model; - reads it.")
    ] = None
    translator: Annotated[str, typer.Option(help="Who finds the claims: rules (no model), or a model.")] = "rules"
    repeats: Annotated[int, typer.Option(help="How many times the model reasons.")] = 30
    attempts: Annotated[int, typer.Option(help="The most attempts at one reasoning.")] = 5
    feedback: Annotated[str, typer.Option(help="positive (the true values) or negative (the negation).")] = "positive"
    unit: Annotated[str, typer.Option(help="Translate the whole text, or paragraph by paragraph.")] = "text"
    plain: Annotated[bool, typer.Option("--plain", help="Tell the game with its own names for actions.")] = False
    usual_order: Annotated[bool, typer.Option("--usual-order", help="Do not reverse the order of actions.")] = False
    seat: Annotated[int, typer.Option(help="Which player reasons, from 1.", min=1)] = 1
    after: Annotated[
        list[str] | None,
        typer.Option(help="With --model, in a game played move by move: a move made before; repeat it in order."),
    ] = None
    temperature: Annotated[float, typer.Option(help="Sampling temperature of the reasoner.")] = 1.0
    max_tokens: Annotated[int, typer.Option(help="Longest reply, in tokens.")] = 1024
    llm_seed: Annotated[int | None, typer.Option(help="Seed sent to the models.")] = None
    engine: Annotated[str, typer.Option(help="Logic engine for --text: auto, embedded or swi.")] = "embedded"


@expand_options
def verify(
    game: Annotated[str, typer.Argument(help="A game: a name of the catalogue, or a file (.nfg .efg .json .pl).")],
    *,
    options: VerifyOptions,
    run: SharedRunOptions,
) -> None:
    """Check reasoning about payoffs by logic: of a model, with feedback until it is right, or of a given text.

    The same command again goes on where it was stopped. With --text no model is needed; the exit code is then 1 where
    something is refuted and 2 where nothing could be checked.
    """
    if (options.model is None) == (options.text is None):
        raise UsageError("give either --model (who reasons) or --text (a reasoning to check)")
    named = NamedGame.find(game)
    if options.text is not None:
        _check_text(named.found.solvable(), options.text, options, run)
        return
    config = VerifyConfig(
        named,
        model=str(options.model),
        translator=options.translator,
        repeats=options.repeats,
        attempts=options.attempts,
        manner=options.feedback,
        unit=options.unit,
        disguised=not options.plain,
        inverted=not options.usual_order,
        seat=options.seat - 1,
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        seed=options.llm_seed,
        after=tuple(options.after or ()),
    )
    run_and_show(VerifyStudy(), config, run)


def _check_text_options(options: VerifyOptions, run: SharedRunOptions, players: int) -> None:
    """Refuse what means nothing for a given text."""
    if run.shard is not None or run.executor != "threads":
        raise UsageError("--shard and --executor share out the repeats of --model; a text is checked at once")
    if options.after:
        raise UsageError("--after says where a model begins to reason; a text is read from the start of the game")
    if options.feedback not in ("positive", "negative"):
        raise UsageError(f"--feedback {options.feedback!r}: expected positive or negative")
    if options.unit not in ("text", "paragraph"):
        raise UsageError(f"--unit {options.unit!r}: expected text or paragraph")
    if options.seat > players:
        raise UsageError(f"--seat {options.seat}: the game has {players} players")


def _read_text(path: Path) -> str:
    """Read the reasoning; bytes that are no text are replaced, not refused."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise UsageError(f"--text {path}: {error.strerror}") from None
    return data.decode("utf-8", "replace")


def _check_text(game: NormalForm | Tree, path: Path, options: VerifyOptions, run: SharedRunOptions) -> None:
    _check_text_options(options, run, game.num_players)
    text = _read_text(path)
    check_reasoning(text)
    subject = Subject(game, options.seat - 1)
    engine = engine_for(options.engine, confined=False)

    def review(translator: Translator) -> int:
        reviewer = Reviewer(translator, lambda: engine, tone=options.feedback, unit=options.unit)  # type: ignore[arg-type]
        found = reviewer.review(text, subject)
        if run.as_json:
            print(json.dumps(review_to_json(found, translator.name), indent=2, ensure_ascii=False))
        else:
            print_review(found, translator.name)
        return exit_code(found)

    try:
        if options.translator == "rules":
            code = review(RulesTranslator())
        else:
            with open_models((options.translator,), run.output_dir, run.limits) as opened:
                code = review(ModelTranslator(opened.models[options.translator]))
    finally:
        engine.close()
    if code:
        raise typer.Exit(code)
