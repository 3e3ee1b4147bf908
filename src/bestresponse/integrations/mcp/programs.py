"""Prolog for assistants: load a program, ask it, repair it.

A session is a program that was loaded; its name is made from its text, so that loading it twice
gives the same session, and a repair gives another. A few are kept, each a text alone: every
question runs in a confined process of its own, within the limits of `logic.settings`.
"""

import hashlib
from collections import OrderedDict
from typing import Annotated

from pydantic import BaseModel, Field

from bestresponse.api.formalizing import query
from bestresponse.core.errors import LogicError, ProgramRefused, UsageError
from bestresponse.logic.engine import open_engine

_MOST = 16
_programs: OrderedDict[str, str] = OrderedDict()
"""By session, the one that was used last at the end."""

Session = Annotated[str, Field(description="The session that prolog_load returned.")]


class LoadedProgram(BaseModel):
    """A session, and whether its program can be asked."""

    session: str
    ok: bool
    defined: list[str] = Field(description="The predicates that can be asked, such as path/2.")
    problem: str = Field(description="What to repair; empty where the program can be asked.")


class ProgramAnswers(BaseModel):
    """The first answers; one without entries means yes, and none means no."""

    answers: list[dict[str, str]]
    more: bool


def load_program(
    program: Annotated[str, Field(description="The text of a Prolog program.")],
) -> LoadedProgram:
    """Load a Prolog program and open a session for prolog_ask. Pure Prolog only: no files, no
    assert, no strings; numbers are exact fractions. Example: program "p(1). p(2)."."""
    name = hashlib.sha256(program.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    _programs[name] = program
    _programs.move_to_end(name)
    if len(_programs) > _MOST:
        _programs.popitem(last=False)
    engine = open_engine()
    try:
        defined = sorted(engine.load(program).gated.defined)
    except ProgramRefused as refused:
        return LoadedProgram(session=name, ok=False, defined=[], problem=str(refused))
    finally:
        engine.close()
    return LoadedProgram(session=name, ok=True, defined=defined, problem="")


def ask_program(
    session: Session,
    goal: Annotated[str, Field(description="A goal, such as p(X), X > 1.")],
    most: Annotated[int, Field(description="How many answers.", ge=1, le=1000)] = 20,
) -> ProgramAnswers:
    """Ask the program of a session. Example: goal "p(X)" answers X = 1 and X = 2."""
    program = _find_program(session)
    try:
        found = query(f"{program}\n", goal, most=most)
    except LogicError as error:
        why = str(error).removesuffix(".")
        raise UsageError(f"{why}; mend the goal, or the program by prolog_repair") from None
    return ProgramAnswers(answers=[dict(answer) for answer in found], more=found.more)


def repair_program(
    session: Session,
    old: Annotated[str, Field(description="A passage that occurs once in the program.")],
    new: Annotated[str, Field(description="What takes its place.")],
) -> LoadedProgram:
    """Change a passage of the program of a session; the result has a session of its own. Example:
    old "p(2)." and new "p(3)."."""
    program = _find_program(session)
    count = program.count(old) if old else 0
    if count != 1:
        raise UsageError(
            f"the passage occurs {count} times in the program; quote one that occurs once"
        )
    return load_program(program.replace(old, new))


def _find_program(session: str) -> str:
    if session not in _programs:
        raise UsageError(
            f"there is no session {session!r}: at most {_MOST} are kept, and none after a call that"
            " was ended by a limit; load the program again by prolog_load"
        )
    _programs.move_to_end(session)
    return _programs[session]
