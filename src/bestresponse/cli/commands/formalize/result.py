"""What `formalize` leaves and shows: the program or what there is of it, the game as a table, and its equilibria."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from bestresponse.analysis.solve.data import as_data
from bestresponse.analysis.solve.document import as_document
from bestresponse.analysis.solve.solve import solve_found
from bestresponse.cli.commands.games.check import messages_of
from bestresponse.cli.terminal import console, notes
from bestresponse.cli.terminal_document import print_document
from bestresponse.core.errors import BestResponseError
from bestresponse.core.json import JsonObject
from bestresponse.formal.evaluate.named_games import find_names
from bestresponse.formal.formalize.autoformalizer import Attempt, Formalization
from bestresponse.formal.formalize.back_translation import BackCheck
from bestresponse.formal.formalize.candidates import Election
from bestresponse.formal.formalize.story_claims import ClaimCheck
from bestresponse.formal.formalize.table_data import table_to_data
from bestresponse.games.logic.game import as_game
from bestresponse.games.lookup import Found
from bestresponse.logic.programs.validate import feedback
from bestresponse.report.files import write_text
from bestresponse.report.text import visible


@dataclass(frozen=True, slots=True)
class Checks:
    """What was compared with the story: the game told back in words, and the story's claims."""

    told_back: BackCheck | None = None
    claims: ClaimCheck | None = None

    @property
    def agree(self) -> bool:
        """Whether no check has found a difference."""
        differs = self.told_back is not None and self.told_back.agrees is False
        return not differs and not (self.claims is not None and self.claims.broken)


def publish(election: Election, checks: Checks, target: Path, money: float | None, as_json: bool) -> bool:
    """Write the files and show the result; return whether there is a game, no question and no difference."""
    winner = election.winner
    files = _written(winner, target)
    if as_json:
        print(json.dumps(_data(election, checks, files, money), indent=2, ensure_ascii=False))
    elif winner.ok:
        _print_game(winner, target.stem)
    if not as_json:
        _print_remarks(election, checks, money)
    for path in files:
        notes().print(f"wrote {path}", markup=False, soft_wrap=True)
    if not winner.ok:
        print(f"bestresponse: {visible(winner.trouble)}", file=sys.stderr)
    for question in winner.questions:
        print(f"bestresponse: the story leaves open: {visible(str(question))}", file=sys.stderr)
    return winner.ok and not winner.questions and checks.agree


def _written(winner: Formalization, target: Path) -> list[Path]:
    if winner.ok or winner.no_game is not None:
        for old in _partial(target):
            old.unlink(missing_ok=True)
        return [write_text(target, winner.source + "\n")] if winner.ok else []
    return keep_partial(winner.best, target, winner.trouble) if winner.best is not None else []


def _partial(target: Path) -> tuple[Path, Path]:
    return target.with_suffix(".partial.pl"), target.with_suffix(".messages.txt")


def keep_partial(attempt: Attempt, target: Path, trouble: str = "") -> list[Path]:
    """Write what an attempt gave, as far as it came, and what is wrong with it."""
    answer = attempt.reply.text[:100_000].splitlines()
    source = attempt.source or "\n".join(f"% {line}" for line in answer)
    said = feedback(attempt.report) if attempt.report is not None else attempt.problem
    partial, messages = _partial(target)
    return [
        write_text(partial, source + "\n"),
        write_text(messages, visible(f"{trouble}\n\n{said}".strip()) + "\n"),
    ]


def _print_game(winner: Formalization, name: str) -> None:
    assert winner.table is not None
    found = _found(winner, name)
    names = find_names(winner.table)
    if names:
        console().print(f"satisfies the constraints of: {', '.join(names)}", markup=False)
    try:
        print_document(console(), as_document(found, solve_found(found)))
    except BestResponseError as error:
        print(f"bestresponse: the game cannot be solved here: {visible(str(error))}", file=sys.stderr)


def _found(winner: Formalization, name: str) -> Found:
    assert winner.table is not None
    story = " ".join(winner.story.split())
    return Found(name, "file", as_game(winner.table, name), story if len(story) <= 200 else f"{story[:199]}…")


def _print_remarks(election: Election, checks: Checks, money: float | None) -> None:
    winner = election.winner
    prompt, completion = winner.tokens
    cost = f", {money:.4f} US dollars" if money is not None else ""
    lines = [
        f"{len(winner.attempts)} attempts, {prompt:,} prompt tokens, {completion:,} reply tokens{cost}; "
        f"examples shown: {', '.join(winner.examples) or 'none'}"
    ]
    if len(election.candidates) > 1:
        sizes = ", ".join(str(len(group)) for group in election.groups)
        lines.append(f"{election.votes} of {len(election.candidates)} candidates describe this game (votes: {sizes})")
    check = checks.told_back
    if check is not None:
        verdict = {True: "agrees with the story", False: "differs from the story", None: "cannot be judged"}
        lines.append(f"told back in words, the game {verdict[check.agrees]}{f': {check.why}' if check.why else ''}")
    for line in [*lines, *_tell_claims(checks.claims)]:
        notes().print(visible(line), markup=False, soft_wrap=True)


def _tell_claims(found: ClaimCheck | None) -> list[str]:
    if found is None:
        return []
    unread = len(found.claims) - found.held - len(found.broken)
    lines = [f"of {len(found.claims)} statements of the story {found.held} hold in the game, {unread} cannot be tested"]
    return [*lines, *(f"does not hold: {claim.words!r}: {claim.why}" for claim in found.broken)]


def _data(election: Election, checks: Checks, files: list[Path], money: float | None) -> JsonObject:
    check, claims = checks.told_back, checks.claims
    winner = election.winner
    prompt, completion = winner.tokens
    best = winner.best
    data: JsonObject = {
        "ok": winner.ok,
        "trouble": winner.trouble,
        "files": [str(path) for path in files],
        "model": winner.model,
        "examples": list(winner.examples),
        "attempts": len(winner.attempts),
        "tokens": {"prompt": prompt, "completion": completion},
        "cost": money,
        "questions": [{"question": one.text, "assumed": one.assumed} for one in winner.questions],
        "messages": messages_of(best.report) if best is not None and best.report is not None else [],
        "program": winner.source,
        "table": table_to_data(winner.table) if winner.table is not None else None,
        "names": list(find_names(winner.table)) if winner.table is not None else [],
        "votes": [len(group) for group in election.groups],
        "back_check": None if check is None else {"agrees": check.agrees, "why": check.why},
        "claims": None if claims is None else [asdict(claim) for claim in claims.claims],
        "solution": None,
    }
    if winner.ok:
        found = _found(winner, Path(files[0]).stem)
        try:
            data["solution"] = as_data(found, solve_found(found))
        except BestResponseError as error:
            data["solution"] = {"error": str(error)}
    return data
