"""A person and a model refine a game together: the person sees it and remarks, the model revises it."""

from __future__ import annotations

import sys
from pathlib import Path

from bestresponse.formal.formalize.autoformalizer import Formalization, Formalizer
from bestresponse.formal.formalize.candidates import Election, elect
from bestresponse.games.logic.words import describe_table
from bestresponse.report.files import write_text
from bestresponse.report.text import visible

__all__ = ["talk"]

_INVITATION = (
    "What should be different? (an empty line: it is good; `program` shows the program; `undo` takes the last change "
    "back)"
)


def talk(formalizer: Formalizer, election: Election, target: Path) -> Election:
    """Show the game, read remarks until an empty line or the end of input, and give the last good state."""
    states = [election.winner]
    _show(states[-1])
    while remark := _read():
        if remark == "program":
            _print(states[-1].source)
        elif remark == "undo":
            states = states[:-1] or states
            _show(states[-1])
        else:
            states = _revised(formalizer, states, remark)
            _keep(states[-1], target)
    return elect([states[-1]])


def _revised(formalizer: Formalizer, states: list[Formalization], remark: str) -> list[Formalization]:
    after = formalizer.revise(states[-1], remark)
    if after.ok or not states[-1].ok:
        _show(after)
        return [*states, after]
    _print(f"That did not become a game ({after.trouble}); the game before it is kept.")
    return states


def _keep(state: Formalization, target: Path) -> None:
    """Write each good state at once, so that an interrupted talk loses nothing."""
    if state.ok:
        write_text(target, state.source + "\n")


def _show(state: Formalization) -> None:
    _print(describe_table(state.table) if state.table is not None else f"There is no game yet: {state.trouble}")


def _read() -> str:
    _print(_INVITATION)
    return sys.stdin.readline().strip()


def _print(text: str) -> None:
    print(visible(text), flush=True)
