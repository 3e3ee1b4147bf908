"""A program under the pen: diagnostics by line, the game it tells, its equilibria and its picture.

And a model's help.

Everything is worked out from the text alone, each time it changes. Programs that are games can be
saved with their story, by a plain name.
"""

import re
import signal
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from bestresponse.analysis.solve.document import as_document, drawable, picture_section
from bestresponse.analysis.solve.solve import solve_loaded_game
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.formal.formalize.autoformalizer import (
    Attempt,
    Formalization,
    Formalizer,
    Settings,
)
from bestresponse.formal.formalize.forms import what_is_wrong
from bestresponse.formal.formalize.plan import Example
from bestresponse.games.describing import describe_table
from bestresponse.games.logic.game import program_game, read_program_text
from bestresponse.games.lookup import LoadedGame
from bestresponse.logic.confined.server import SAMPLE
from bestresponse.logic.engine import open_engine
from bestresponse.logic.language.diagnostics import Diagnostic
from bestresponse.logic.programs.validate import Report, validate
from bestresponse.logic.settings import settings
from bestresponse.models.base import Message, Model, Reply, Request
from bestresponse.report.document import Note, Section
from bestresponse.report.files import write_text
from bestresponse.web.services.checks import CheckQueue
from bestresponse.web.sessions.setup import take_turn, validate_program

_ATTEMPTS = 3
_START_SECONDS = 60.0
_PROCESSES = get_context("forkserver")
_PROCESSES.set_forkserver_preload(["__main__", __name__])
_idle: list[tuple[BaseProcess, Connection]] = []
"""Processes that have solved a game and wait for another."""
_queue = CheckQueue()


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """What is known of a program: its errors and, if it is a game, all about the game."""

    ok: bool
    diagnostics: tuple[Diagnostic, ...]
    words: str = ""
    sections: tuple[Section, ...] = ()


def check_program(source: str) -> CheckedProgram:
    """The program through all stages, then solved and drawn as far as that goes.

    Busy where too many are checked already.
    """
    if not source.strip():
        return CheckedProgram(False, ())
    return _queue.run((source, settings.limits), lambda: _check(source))


def _check(source: str) -> CheckedProgram:
    report = validate_program(source)
    if not report.ok or report.table is None:
        return CheckedProgram(False, report.diagnostics)
    sections = _solve_apart(report, settings.limits.seconds)
    return CheckedProgram(True, report.diagnostics, describe_table(report.table), sections)


def _solve_apart(report: Report, seconds: float) -> tuple[Section, ...]:
    """Solve and draw a game in another process.

    The process ends itself after so many seconds of processor time, and is asked again otherwise.
    """
    process, connection = _idle.pop() if _idle else _start_solver()
    with suppress(EOFError, OSError):  # the process has ended: its time is up, or memory ran out
        connection.send((report, seconds))
        # Only a process that is stuck is ended by the clock.
        if connection.poll(settings.limits.clock + _START_SECONDS):
            sections: tuple[Section, ...] = connection.recv()
            _idle.append((process, connection))
            return sections
    process.kill()
    process.join()
    connection.close()
    note = (
        f"They were not worked out within {seconds:g} seconds of processor time; `bestresponse"
        " solve` may take longer."
    )
    return (Section("Equilibria", (Note(note),)),)


def prepare_solver() -> None:
    """Load what checks and solves games before the first program comes."""
    _solve_apart(validate_program(SAMPLE), _START_SECONDS)


def _start_solver() -> tuple[BaseProcess, Connection]:
    ours, theirs = _PROCESSES.Pipe()
    process = _PROCESSES.Process(target=_send_solutions, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _send_solutions(connection: Connection) -> None:
    """Solve one game after the other, until nobody asks any more.

    A game may take so many seconds of processor time, of all threads together; the signal that
    comes then ends the process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends it
    with suppress(EOFError, OSError):
        while True:
            report, seconds = connection.recv()
            signal.setitimer(signal.ITIMER_PROF, seconds)
            sections = _solve(LoadedGame("this game", "file", program_game(report, "this game")))
            signal.setitimer(signal.ITIMER_PROF, 0)
            connection.send(sections)


def _solve(loaded: LoadedGame) -> tuple[Section, ...]:
    try:
        sections = as_document(loaded, solve_loaded_game(loaded)).sections
    except BestResponseError as error:
        return (Section("Equilibria", (Note(f"They could not be worked out: {error}."),)),)
    wanted = tuple(
        section
        for section in sections
        if section.title in ("Payoffs", "Equilibria", "Kind of game")
    )
    try:
        return (
            *wanted[:2],
            picture_section(drawable(loaded.solvable())),
            *wanted[2:],
        )
    except BestResponseError:
        return wanted


@dataclass(frozen=True, slots=True)
class WrittenProgram:
    """The best program of a model, with a line for each of its attempts and one for the end."""

    program: str
    lines: list[str]


def write_program(model: Model, story: str, program: str, remark: str) -> WrittenProgram:
    """Let a model write the game of a story, or change its program as `remark` says.

    That may take minutes.
    """
    with take_turn(), closing(open_engine("embedded")) as engine:
        formalizer = Formalizer(model, engine, Settings(attempts=_ATTEMPTS))
        if program.strip():
            report = validate(program, engine)
            begun = Attempt(Request((Message("user", story),)), Reply(program), program, report)
            wrong = (
                what_is_wrong(report, "")
                or "Does the program tell the whole story? If not, complete it."
            )
            result = formalizer.revise(
                Formalization(story, model.id, (), (begun,)), remark.strip() or wrong
            )
        else:
            result = formalizer.formalize(story)
    lines = []
    for attempt in result.attempts:
        lines.append("This is a game." if attempt.ok else f"Not yet a game: {attempt.trouble}")
    return WrittenProgram(result.source or "", [*lines, result.trouble or "Done."])


_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def list_saved_games(output: Path) -> tuple[str, ...]:
    """The names, in alphabetical order."""
    return tuple(
        sorted(path.stem for path in output.glob("games/*.pl") if _NAME.fullmatch(path.stem))
    )


def load_game(output: Path, name: str) -> Example:
    """Load the program of that name, with the story beside it if there is one.

    The name is looked up among those that are there.
    """
    if name not in list_saved_games(output):
        raise UsageError(f"there is no saved game named {name!r}")
    story = output / "games" / f"{name}.txt"
    story_text = story.read_text("utf-8", "replace") if story.exists() else ""
    return Example(name, story_text, read_program_text(story.with_suffix(".pl")))


def save_game(output: Path, name: str, story: str, program: str) -> None:
    """Keep a program that is a game.

    UsageError or InvalidGame where it is none or the name is taken.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            "a name has small letters, digits and hyphens, such as my-first-game, at most 60 of"
            " them"
        )
    if name in list_saved_games(output):
        raise UsageError(f"there is a game named {name!r} already; choose another name")
    _queue.run((program, name), lambda: program_game(validate_program(program), name))
    folder = output / "games"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / f"{name}.txt", story)
    write_text(folder / f"{name}.pl", program)
