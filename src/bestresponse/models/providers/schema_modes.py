"""How a schema is asked for: as a schema, as plain JSON, or in words only.

Not every server takes schemas, and those that do refuse some. What a server refuses is asked for in the next weaker
way, at once, and the model remembers it: for this schema where the schema is at fault, for all where schemas are not
supported.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from bestresponse.core.json import digest
from bestresponse.models.base import Message, Request
from bestresponse.models.http import Rejected
from bestresponse.models.providers.unsupported_params import is_unsupported

__all__ = ["SchemaMode", "add_instruction", "choose_mode", "find_refused_mode"]

_ABOUT_FORMAT = re.compile(
    r"schema|response_?format|json_object|json mode|structured output|response_?mime_?type|grammar|tool", re.I
)
_INSTRUCTION = "Answer with one JSON object and nothing else. It must follow this JSON schema:\n{schema}"


class SchemaMode(StrEnum):
    """In which way a schema is asked for, strongest first."""

    SCHEMA = "schema"
    JSON = "json"
    WORDS = "words"


def choose_mode(request: Request, refused: frozenset[str]) -> SchemaMode | None:
    """Return the strongest way that was not refused; None where the request has no schema."""
    if request.schema is None:
        return None
    if SchemaMode.SCHEMA not in refused and _name_schema(request) not in refused:
        return SchemaMode.SCHEMA
    return SchemaMode.WORDS if SchemaMode.JSON in refused else SchemaMode.JSON


def find_refused_mode(request: Request, error: Exception, refused: frozenset[str]) -> frozenset[str]:
    """Return the name under which to remember that the server refused the mode of this request; empty if it did not."""
    mode = choose_mode(request, refused)
    if mode is None or mode is SchemaMode.WORDS or not _ABOUT_FORMAT.search(f"{error} {_name_parameter(error)}"):
        return frozenset()
    if mode is SchemaMode.SCHEMA and not is_unsupported(str(error)):
        return frozenset({_name_schema(request)})
    return frozenset({mode.value})


def add_instruction(request: Request) -> tuple[Message, ...]:
    """Return the messages with the schema in words, at the end of the last one of the user."""
    messages = list(request.messages)
    text = _INSTRUCTION.format(schema=request.schema)
    last = max((n for n, message in enumerate(messages) if message.role == "user"), default=None)
    if last is None:
        return (*messages, Message("user", text))
    messages[last] = Message("user", f"{messages[last].content}\n\n{text}")
    return tuple(messages)


def _name_schema(request: Request) -> str:
    return f"schema {digest(request.schema)}"


def _name_parameter(error: Exception) -> Any:
    complaint = error.complaint if isinstance(error, Rejected) else None
    return complaint.get("param") if isinstance(complaint, Mapping) else ""
