"""A check without ground truth: the game told back in words, and compared with the story by a model.

The words are made by rule from the table (`games.logic.game`), so they say what the program does and not what a
model believes it does. The model only compares two texts; its verdict is an opinion and is recorded as one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bestresponse.formal.formalize.texts import TEXTS
from bestresponse.games.logic.game import describe_table
from bestresponse.logic.programs.table import GameTable
from bestresponse.models.base import Model, Reply, Request, ask

_VERDICT = re.compile(r"\b(AGREES|AGREE|DIFFERS|DIFFER)\b[ \t:.*-]{0,10}([^\n]{0,300})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BackCheck:
    """What the model says: `agrees` is None where its answer could not be read."""

    agrees: bool | None
    why: str
    request: Request
    reply: Reply


def compare(story: str, table: GameTable, model: Model, *, max_tokens: int = 150, seed: int | None = None) -> BackCheck:
    """Ask `model` whether the game is that of the story."""
    plain = ask(TEXTS.fill("compare", story=story.strip(), game=describe_table(table)), max_tokens=max_tokens)
    request = Request(plain.messages, max_tokens=max_tokens, temperature=0.0, seed=seed)
    reply = model.complete(request)
    found = _VERDICT.search(reply.text)
    if found is None:
        return BackCheck(None, "the answer is neither AGREES nor DIFFERS", request, reply)
    agrees = found.group(1).upper().startswith("AGREE")
    return BackCheck(agrees, "" if agrees else found.group(2).strip(), request, reply)
