"""One process of a pool: loads a GGUF, then answers a JSON line for every JSON line, until its input ends.

python -m bestresponse.models.providers.pool_worker '{"path": "...", "settings": {...}, "name": "..."}'
"""

import json
import os
import sys
from pathlib import Path
from typing import TextIO

from bestresponse.core.errors import BestResponseError
from bestresponse.core.json import JsonObject
from bestresponse.models.codec import reply_to_json, request_from_json
from bestresponse.models.providers.local import LocalModel, LocalSettings

__all__ = ["main"]


def main(order: str, lines: TextIO, out: TextIO) -> None:
    """Serve one model; the first line sent says that it is loaded, or why not."""
    given = json.loads(order)
    try:
        model = LocalModel(Path(given["path"]), LocalSettings(**given["settings"]), name=given["name"])
    except BestResponseError as error:
        _send(out, {"error": type(error).__name__, "why": str(error)})
        return
    _send(out, {"ready": True})
    for line in lines:
        _send(out, _answer(model, line))


def _answer(model: LocalModel, line: str) -> JsonObject:
    try:
        return {"reply": reply_to_json(model.complete(request_from_json(json.loads(line))))}
    except BestResponseError as error:
        return {"error": type(error).__name__, "why": str(error)}


def _send(out: TextIO, data: JsonObject) -> None:
    out.write(json.dumps(data) + "\n")
    out.flush()


if __name__ == "__main__":
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    main(sys.argv[1], sys.stdin, answers)
