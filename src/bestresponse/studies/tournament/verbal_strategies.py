"""A strategy told in words as one who takes part: a model writes its rules for the game at hand."""

from __future__ import annotations

from pathlib import Path

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.files import read_text_file
from bestresponse.formal.strategies.table_program import write_program
from bestresponse.formal.strategies.verbal import WordsSettings, formalize_strategy
from bestresponse.logic.engine import open_engine
from bestresponse.models.base import Model
from bestresponse.studies.tournament.config import Entry, Stage

__all__ = ["formalize_entry"]


def formalize_entry(path: Path, stage: Stage, model: Model, settings: WordsSettings | None = None) -> Entry:
    """The strategy in a text file, under the file's name; InvalidGame says what was wrong with the last attempt."""
    try:
        words = read_text_file(path)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: expected text in UTF-8; byte {error.start} is none") from None
    engine = open_engine()
    try:
        found = formalize_strategy(words, stage.program or write_program(stage.form), model, engine, settings)
    finally:
        engine.close()
    if not found.ok:
        raise InvalidGame(f"{path}: {found.trouble}")
    return Entry(path.stem, "rules", f"{path.name}, formalized by {model.id}", found.rules, found.words)
