"""What models of other people's services have in common: they refuse settings, each its own.

No table of model names can keep up with providers. What a server calls unsupported is left out (or
renamed by the adapter), the call is made again at once, and the model remembers it for all further
calls. A schema that is refused is asked for in the next weaker way: as plain JSON, then in words
only; for this schema where the schema is at fault, for all where schemas are not supported.
"""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import ClassVar
from urllib.parse import quote

from bestresponse.core.json import JsonMapping, digest
from bestresponse.models.base import (
    Abilities,
    Honoured,
    Json,
    Message,
    Reply,
    Request,
    add_to_question,
)
from bestresponse.models.http import Endpoint, HttpClients, Rejected, Secret
from bestresponse.models.schema import finish_structured

_NOT_TAKEN = re.compile(
    r"unsupported|not support|n't support|not enabled|not"
    r" available|unavailable|deprecated|unknown|unrecognized|"
    r"not permitted|unexpected|both",
    re.I,
)
_ABOUT_FORMAT = re.compile(
    r"schema|response_?format|json_object|json mode|structured"
    r" output|response_?mime_?type|grammar|tool",
    re.I,
)
_INSTRUCTION = (
    "Answer with one JSON object and nothing else. It must follow this JSON schema:\n{schema}"
)


class SchemaMode(StrEnum):
    """In which way a schema is asked for, strongest first."""

    SCHEMA = "schema"
    JSON = "json"
    WORDS = "words"


class NetworkModel(ABC):
    """A model that learns which settings and ways to ask its service refuses.

    A subclass says which settings are `optional`, and what becomes of a schema and of choices that
    are sent.
    """

    optional: ClassVar[tuple[str, ...]] = ()
    has_json_mode: ClassVar[bool] = True
    schema_is: ClassVar[str] = "sent"
    choices_are: ClassVar[str] = "left out"

    def __init__(
        self,
        id: str,
        identity: Mapping[str, Json],
        abilities: Abilities,
    ) -> None:
        self.id = id
        self.identity = identity
        self.abilities = abilities
        self._refused: frozenset[str] = frozenset()

    @abstractmethod
    def write_settings(
        self,
        request: Request,
        mode: SchemaMode | None,
        refused: frozenset[str],
    ) -> dict[str, object]:
        """Return all settings by the service's names; None where a setting is not wanted."""

    @abstractmethod
    def _ask(
        self,
        messages: tuple[Message, ...],
        settings: dict[str, object],
        request: Request,
    ) -> Reply:
        """Make one call and return what was answered, without its latency.

        Raise `Rejected` where the service does not take it.
        """

    def complete(self, request: Request) -> Reply:
        """Answer, leaving out what this model has refused before."""
        while True:
            refused = self._refused
            mode = self._choose_mode(request, refused)
            settings = {}
            for name, value in self.write_settings(request, mode, refused).items():
                if value is not None and name not in refused:
                    settings[name] = value
            messages = request.messages
            if mode not in (None, SchemaMode.SCHEMA):
                told = _INSTRUCTION.format(schema=request.schema)
                messages = add_to_question(messages, behind=told)
            began = time.perf_counter()
            try:
                reply = self._ask(messages, settings, request)
            except Rejected as error:
                fresh = self._find_refused(request, mode, error) - refused
                if not fresh:
                    raise
                self._refused |= fresh
                continue
            latency = time.perf_counter() - began
            reply = replace(
                reply,
                latency=latency,
                honoured=self._list_honoured(request, mode, settings),
            )
            if reply.tool_calls:  # no answer yet, so there is nothing that could keep to a schema
                return reply
            return finish_structured(request, reply, plain=mode is not SchemaMode.SCHEMA)

    def _choose_mode(self, request: Request, refused: frozenset[str]) -> SchemaMode | None:
        """Return the strongest way that was not refused; None where the request has no schema."""
        if request.schema is None:
            return None
        if SchemaMode.SCHEMA not in refused and _name_schema(request) not in refused:
            return SchemaMode.SCHEMA
        return (
            SchemaMode.JSON
            if self.has_json_mode and SchemaMode.JSON not in refused
            else SchemaMode.WORDS
        )

    def _find_refused(
        self,
        request: Request,
        mode: SchemaMode | None,
        error: Rejected,
    ) -> frozenset[str]:
        """Return the names under which to remember what the error complains of.

        They are none if it is of something else.
        """
        text = str(error)
        parameter = error.parameter
        unsupported = _NOT_TAKEN.search(text) is not None
        if mode in (SchemaMode.SCHEMA, SchemaMode.JSON) and _ABOUT_FORMAT.search(
            f"{text} {parameter or ''}"
        ):
            at_fault = (
                _name_schema(request)
                if mode is SchemaMode.SCHEMA and not unsupported
                else mode.value
            )
            return frozenset({at_fault})
        words = {parameter.split(".")[0]} if parameter else set(re.findall(r"\w+", text))
        return frozenset(self.optional) & words if unsupported else frozenset()

    def _list_honoured(
        self,
        request: Request,
        mode: SchemaMode | None,
        settings: JsonMapping,
    ) -> Honoured:
        """Say what was sent, and what could not be.

        A seed is a wish: hardly any service promises to repeat.
        """
        honoured: list[tuple[str, str | int | float | bool | None]] = [
            ("temperature", settings.get("temperature"))
        ]
        if request.seed is not None:
            honoured.append(("seed", settings.get("seed")))
        if mode is not None:
            honoured.append(("schema", self.schema_is if mode is SchemaMode.SCHEMA else mode.value))
        if request.choices:
            honoured.append(("choices", self.choices_are))
        if request.logprobs and "logprobs" not in settings:
            honoured.append(("logprobs", "left out"))
        if request.tools:
            honoured.append(("tools", "offered" if "tools" in settings else "left out"))
        return tuple(honoured)


def _name_schema(request: Request) -> str:
    return f"schema {digest(request.schema)}"


class HttpModel(NetworkModel):
    """A model behind an HTTP endpoint that takes a key.

    A subclass says where, and what the service `offers`.

    In `path`, `{name}` stands for the name of the model.
    """

    provider: ClassVar[str]
    url: ClassVar[str]
    path: ClassVar[str]
    variable: ClassVar[str]
    key_header: ClassVar[str]
    prefix: ClassVar[str] = ""
    headers: ClassVar[dict[str, str]] = {}
    offers: ClassVar[Abilities]
    service: ClassVar[Mapping[str, Json]] = {}
    """What else tells who answers there."""

    def __init__(
        self,
        name: str,
        clients: HttpClients,
        key: Secret,
        *,
        base_url: str | None = None,
        id: str | None = None,
        variable: str | None = None,
        timeout: float = 300.0,
        concurrency: int = 16,
    ) -> None:
        base = (base_url or self.url).rstrip("/")
        # Another server that speaks the protocol of a provider is not that provider.
        provider = self.provider if base == self.url else f"{self.provider}-compatible"
        identity: dict[str, Json] = {
            "provider": provider,
            "model": name,
            "base_url": base,
            **self.service,
        }
        super().__init__(
            id or f"{self.provider}/{name}",
            identity,
            replace(self.offers, concurrency=concurrency),
        )
        self._name = name
        url = base + self.path.format(name=quote(name, safe=""))
        where = variable or self.variable
        self._endpoint = Endpoint(
            clients=clients,
            url=url,
            server=self.id,
            key=key,
            key_header=self.key_header,
            prefix=self.prefix,
            headers=self.headers,
            variable=where,
            timeout=timeout,
        )

    @abstractmethod
    def write_body(
        self,
        messages: tuple[Message, ...],
        settings: dict[str, object],
    ) -> dict[str, Json]:
        """Return the JSON object to send."""

    @abstractmethod
    def read_reply(self, answer: object, request: Request) -> Reply:
        """Return the fields of an answer that are kept; nothing else of it is."""

    def _ask(
        self,
        messages: tuple[Message, ...],
        settings: dict[str, object],
        request: Request,
    ) -> Reply:
        body = self.write_body(messages, settings)
        return self._endpoint.post(body, partial(self.read_reply, request=request))
