"""A person and a model refine a game together: the person sees it, answers and remarks, the model revises it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from bestresponse.formal.formalize.autoformalizer import Election, Formalization, Formalizer, elect
from bestresponse.games.logic.game import describe_changes, describe_table
from bestresponse.report.files import write_text
from bestresponse.report.text import visible

_INVITATION = (
    "What should be different? (an empty line: it is good; `program` shows the program; `game` the whole game; `undo` "
    "takes the last change back)"
)


def talk(formalizer: Formalizer, election: Election, target: Path) -> Election:
    """Show the game, ask its questions, read remarks until an empty line, and return the last good state."""
    states = [election.winner]
    _show(states[-1])
    while True:
        states[-1], answers = _ask(states[-1])
        remark = answers or _read(_INVITATION)
        if not remark:
            return elect([states[-1]])
        if remark == "program":
            _print(states[-1].source)
        elif remark == "game":
            _show(states[-1])
        elif remark == "undo":
            states = states[:-1] or states
            _show(states[-1])
        else:
            states = _revise(formalizer, states, remark)
            _keep(states[-1], target)


def _ask(state: Formalization) -> tuple[Formalization, str]:
    """Ask what the story leaves open; return the answers as one remark, and keep the assumptions that are accepted."""
    given = []
    for question in state.questions:
        assumed = question.assumed or "as you think best"
        answer = _read(f"{question.text} (an empty line: {assumed})")
        if answer:
            given.append(f"{question.text} {answer}")
        else:
            state = replace(state, remarks=(*state.remarks, f"{question.text} {assumed}"))
    return state, " ".join(given)


def _revise(formalizer: Formalizer, states: list[Formalization], remark: str) -> list[Formalization]:
    before = states[-1]
    after = formalizer.revise(before, remark)
    if before.ok and after.best is before.best:
        trouble = after.attempts[-1].trouble or "the model finds no game in it"
        _print(f"That did not become a game ({trouble}); the game before it is kept.")
        return states
    if before.table is None or after.table is None:
        _show(after)
    else:
        changes = describe_changes(before.table, after.table) or ("Nothing in the game has changed.",)
        _print("\n".join(f"- {line}" for line in changes))
    return [*states, after]


def _keep(state: Formalization, target: Path) -> None:
    """Write each good state at once, so that an interrupted talk loses nothing."""
    if state.ok:
        write_text(target, state.source + "\n")


def _show(state: Formalization) -> None:
    _print(describe_table(state.table) if state.table is not None else f"There is no game yet: {state.trouble}")


def _read(question: str) -> str:
    _print(question)
    return sys.stdin.readline().strip()


def _print(text: str) -> None:
    print(visible(text), flush=True)
