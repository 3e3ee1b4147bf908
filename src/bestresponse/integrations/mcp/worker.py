"""The process that carries out calls: one JSON object a line in, one a line out.

It may be killed at any time. What goes wrong on purpose comes back as a sentence, anything else as the kind of error.
"""

from __future__ import annotations

import json
import os
import sys

from bestresponse.core.errors import BestResponseError
from bestresponse.core.json import JsonObject
from bestresponse.integrations.mcp.tools import call_tool
from bestresponse.logic.settings import Limits, settings

__all__ = ["answer", "main"]


def answer(line: str) -> JsonObject:
    """Carry out one call: `{"result": ...}`, or `{"error": sentence}`."""
    call = json.loads(line)
    try:
        return {"result": call_tool(call["tool"], call["arguments"])}
    except BestResponseError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "this needs more memory than a call may have; ask for a smaller game"}
    except RecursionError:
        return {"error": "this is nested too deeply; ask for a smaller game"}
    except Exception as error:  # noqa: BLE001 - the process must go on, and no trace may reach the client
        return {"error": f"this call failed ({type(error).__name__}); please report the game that caused it"}


def _limit_memory(megabytes: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def main() -> None:
    """Answer calls until the input ends; whatever a library prints goes to standard error."""
    _limit_memory(int(sys.argv[1]))
    settings.limits = Limits(**json.loads(sys.argv[2]))
    wire = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    print("{}", file=wire, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(line)), file=wire, flush=True)


if __name__ == "__main__":
    main()
