"""`bestresponse verify`: reasoning about a game, checked claim by claim."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestresponse.cli.options import AsJson, BudgetCalls, BudgetMoney, BudgetTokens, CacheChoice, OutputDir, Workers

if TYPE_CHECKING:
    from bestresponse.cli.models_open import Limits
    from bestresponse.models.base import Model
    from bestresponse.runs.execute import Outcome, Progress
    from bestresponse.runs.folder import RunFolder
    from bestresponse.studies.verify.config import VerifyConfig
    from bestresponse.theory.games.normal_form import NormalForm
    from bestresponse.theory.trees.tree import Tree

__all__ = ["verify"]


def verify(
    game: Annotated[str, typer.Argument(help="A game: a name of the catalogue, or a file (.nfg .efg .json .pl).")],
    model: Annotated[str | None, typer.Option("--model", "-m", help="The model that reasons.")] = None,
    text: Annotated[
        Path | None, typer.Option(help="Check the reasoning in this file instead of asking a model; - reads it.")
    ] = None,
    translator: Annotated[str, typer.Option(help="Who finds the claims: rules (no model), or a model.")] = "rules",
    repeats: Annotated[int, typer.Option(help="How many times the model reasons.")] = 30,
    attempts: Annotated[int, typer.Option(help="The most attempts at one reasoning.")] = 5,
    feedback: Annotated[str, typer.Option(help="positive (the true values) or negative (the negation).")] = "positive",
    unit: Annotated[str, typer.Option(help="Translate the whole text, or paragraph by paragraph.")] = "text",
    plain: Annotated[bool, typer.Option("--plain", help="Tell the game with its own names for actions.")] = False,
    usual_order: Annotated[bool, typer.Option("--usual-order", help="Do not reverse the order of actions.")] = False,
    seat: Annotated[int, typer.Option(help="Which player reasons, from 1.", min=1)] = 1,
    after: Annotated[
        list[str] | None,
        typer.Option(help="With --model, in a game played move by move: a move made before; repeat it in order."),
    ] = None,
    temperature: Annotated[float, typer.Option(help="Sampling temperature of the reasoner.")] = 1.0,
    max_tokens: Annotated[int, typer.Option(help="Longest reply, in tokens.")] = 1024,
    llm_seed: Annotated[int | None, typer.Option(help="Seed sent to the models.")] = None,
    engine: Annotated[str, typer.Option(help="Logic engine for --text: auto, embedded or swi.")] = "embedded",
    output_dir: OutputDir = Path("results"),
    workers: Workers = None,
    cache: CacheChoice = "read-write",
    max_calls: BudgetCalls = None,
    max_tokens_total: BudgetTokens = None,
    max_cost: BudgetMoney = None,
    as_json: AsJson = False,
) -> None:
    """Check reasoning about payoffs by logic: of a model, with feedback until it is right, or of a given text.

    The same command again goes on where it was stopped. With --text no model is needed; the exit code is then 1 where
    something is refuted and 2 where nothing could be checked.
    """
    from bestresponse.cli.models_open import Limits
    from bestresponse.core.errors import UsageError
    from bestresponse.games.lookup import find_game
    from bestresponse.studies.verify.config import VerifyConfig

    if (model is None) == (text is None):
        raise UsageError("give either --model (who reasons) or --text (a reasoning to check)")
    found = find_game(game)
    limits = Limits(workers, cache, max_calls, max_tokens_total, max_cost)
    if text is not None and after:
        raise UsageError("--after says where a model begins to reason; a text is read from the start of the game")
    if text is not None:
        options = _TextOptions(text, translator, feedback, unit, engine, seat - 1, max_tokens)
        _check_text(found.solvable(), options, output_dir, limits, as_json)
        return
    config = VerifyConfig.of(
        found.name,
        found.solvable(),
        model=str(model),
        translator=translator,
        repeats=repeats,
        attempts=attempts,
        manner=feedback,
        unit=unit,
        disguised=not plain,
        inverted=not usual_order,
        seat=seat - 1,
        temperature=temperature,
        max_tokens=max_tokens,
        seed=llm_seed,
        after=tuple(after or ()),
    )
    _run(config, output_dir, limits, as_json)


@dataclass(frozen=True, slots=True)
class _TextOptions:
    """How a given text is checked."""

    path: Path
    translator: str
    manner: str
    unit: str
    engine: str
    seat: int
    max_tokens: int

    def __post_init__(self) -> None:
        from bestresponse.core.errors import UsageError

        if self.manner not in ("positive", "negative"):
            raise UsageError(f"--feedback {self.manner!r}: expected positive or negative")
        if self.unit not in ("text", "paragraph"):
            raise UsageError(f"--unit {self.unit!r}: expected text or paragraph")

    def read(self) -> str:
        """The reasoning; bytes that are no text are replaced, not refused."""
        from bestresponse.core.errors import UsageError

        try:
            data = sys.stdin.buffer.read() if str(self.path) == "-" else self.path.read_bytes()
        except OSError as error:
            raise UsageError(f"--text {self.path}: {error.strerror}") from None
        return data.decode("utf-8", "replace")


def _check_text(
    game: NormalForm | Tree, options: _TextOptions, output_dir: Path, limits: Limits, as_json: bool
) -> None:
    from bestresponse.cli.commands.check import engine_for
    from bestresponse.cli.commands.verify_files import exit_code, print_review, review_to_json
    from bestresponse.cli.models_open import opened_models
    from bestresponse.core.errors import UsageError
    from bestresponse.formal.claims.review import Reviewer
    from bestresponse.formal.claims.subject import Subject
    from bestresponse.formal.claims.translators.model import ModelTranslator
    from bestresponse.formal.claims.translators.rules import RulesTranslator
    from bestresponse.formal.claims.translators.translation import Translator

    if options.seat >= game.num_players:
        raise UsageError(f"--seat {options.seat + 1}: the game has {game.num_players} players")
    text = options.read()
    subject = Subject(game, options.seat)
    engine = engine_for(options.engine)

    def review(translator: Translator) -> int:
        reviewer = Reviewer(translator, lambda: engine, tone=options.manner, unit=options.unit)  # type: ignore[arg-type]
        found = reviewer.review(text, subject)
        if as_json:
            print(json.dumps(review_to_json(found, translator.name), indent=2, ensure_ascii=False))
        else:
            print_review(found, translator.name)
        return exit_code(found)

    try:
        if options.translator == "rules":
            code = review(RulesTranslator())
        else:
            with opened_models((options.translator,), output_dir, limits) as opened:
                code = review(ModelTranslator(opened.models[options.translator]))
    finally:
        engine.close()
    if code:
        raise typer.Exit(code)


def _run(config: VerifyConfig, output_dir: Path, limits: Limits, as_json: bool) -> None:
    from bestresponse.cli.models_open import opened_models
    from bestresponse.studies.verify.setup import scene_of

    most = config.repeats * config.attempts * scene_of(config).decisions
    calls = most if config.translator == "rules" else 2 * most
    print(f"{config.repeats} runs of at most {config.attempts} attempts: up to {calls} calls", file=sys.stderr)
    with opened_models(config.models, output_dir, limits) as opened:
        folder, outcome = _play(config, output_dir, opened.models, opened.workers)
    _publish(folder, outcome, as_json)


def _play(
    config: VerifyConfig, output_dir: Path, models: Mapping[str, Model], workers: int
) -> tuple[RunFolder, Outcome]:
    from bestresponse.cli.invocation import occasion
    from bestresponse.cli.running import play_run
    from bestresponse.studies.verify import session

    def run(folder: RunFolder, tell: Callable[[Progress], None]) -> Outcome:
        return session.run(config, folder, models, workers=workers, on_progress=tell)

    return play_run(session.manifest_of(config, models, occasion()), output_dir, config.repeats, "runs", run)


def _publish(folder: RunFolder, outcome: Outcome, as_json: bool) -> None:
    """Report, files and the table on the screen; exit code 1 where runs are missing."""
    from bestresponse.cli.commands.verify_files import write_files
    from bestresponse.cli.running import explain, show_findings
    from bestresponse.studies.verify import session
    from bestresponse.studies.verify.findings import summary_of

    measured = session.read_results(folder)
    if measured.rows:
        document, files = write_files(folder, measured)
        show_findings(document, files, summary_of(measured), as_json=as_json)
    explain(outcome)
    if not outcome.complete:
        raise typer.Exit(1)
