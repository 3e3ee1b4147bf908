"""Google's Gemini API, method `generateContent` (https://ai.google.dev/api/generate-content).

Choices are asked for by the response type `text/x.enum`, schemas by `responseJsonSchema`. Parameters that a model does
not take are left out, and the reply says so. Thoughts are counted as reasoning tokens and are no part of the text.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from bestresponse.core.errors import BadReply
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.models.base import (
    Abilities,
    Finish,
    Honoured,
    Json,
    Reply,
    Request,
    TokenChances,
    Usage,
    effective_seed,
)
from bestresponse.models.http import Endpoint, HttpClients, KeyHeader, Rejected, Secret
from bestresponse.models.providers.reading import read_alternatives, read_count, read_field, read_id
from bestresponse.models.providers.schema_modes import SchemaMode, add_instruction, choose_mode, find_refused_mode
from bestresponse.models.providers.unsupported_params import Negotiated, find_complaints
from bestresponse.models.schema import finish_structured, read_schema

__all__ = ["GOOGLE_URL", "GoogleModel"]

GOOGLE_URL = "https://generativelanguage.googleapis.com/v1beta"
_OPTIONAL = ("temperature", "topP", "seed", "stopSequences", "responseLogprobs", "logprobs")
_LOGPROBS = frozenset({"responseLogprobs", "logprobs"})
_MOST_ALTERNATIVES = 20
_FINISH = {"STOP": Finish.STOP, "MAX_TOKENS": Finish.LENGTH}
_REFUSALS = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"})


class GoogleModel:
    """A Gemini model."""

    def __init__(
        self,
        name: str,
        clients: HttpClients,
        key: Secret,
        *,
        base_url: str = GOOGLE_URL,
        timeout: float = 300.0,
        concurrency: int = 16,
    ) -> None:
        base = base_url.rstrip("/")
        self.id = f"google/{name}"
        self.identity: Mapping[str, Json] = {"provider": "google", "model": name, "base_url": base}
        self.abilities = Abilities(
            schema=True, choices=True, logprobs=_MOST_ALTERNATIVES, seed=True, concurrency=concurrency
        )
        endpoint = Endpoint(
            clients,
            f"{base}/models/{quote(name, safe='')}:generateContent",
            who=self.id,
            key=key,
            auth=KeyHeader("x-goog-api-key", key),
            variable="GEMINI_API_KEY",
            timeout=timeout,
        )
        self._endpoint = Negotiated(endpoint)

    def complete(self, request: Request) -> Reply:
        """Answer, leaving out what this model has refused before."""
        answer, latency, body, refused = self._endpoint.post(
            lambda refused: _body(request, refused),
            lambda error, refused: find_refused_mode(request, error, refused) or _complaints(error),
        )
        mode = choose_mode(request, refused)
        reply = _reply(answer, self.id, latency, _honoured(request, body["generationConfig"], mode))
        return finish_structured(request, reply, plain=mode is not SchemaMode.SCHEMA)


def _complaints(error: Rejected) -> frozenset[str]:
    """As elsewhere; Google writes "Logprobs is not enabled", and the two settings of log-probabilities go together."""
    found = find_complaints(error, _OPTIONAL)
    return found | _LOGPROBS if "Logprobs is not enabled" in str(error) or found & _LOGPROBS else found


def _settings(request: Request, refused: frozenset[str], mode: SchemaMode | None) -> JsonObject:
    settings: JsonObject = {
        "maxOutputTokens": request.max_tokens,
        "temperature": request.temperature,
        "topP": request.top_p,
        "seed": effective_seed(request),
        "stopSequences": list(request.stop) or None,
    }
    if mode in (SchemaMode.SCHEMA, SchemaMode.JSON):
        settings["responseMimeType"] = "application/json"
    if mode is SchemaMode.SCHEMA:
        settings["responseJsonSchema"] = read_schema(request)
    if request.choices:
        enum = {"type": "STRING", "enum": list(request.choices)}
        settings |= {"responseMimeType": "text/x.enum", "responseSchema": enum}
    if request.logprobs:
        settings |= {"responseLogprobs": True, "logprobs": min(request.logprobs, _MOST_ALTERNATIVES)}
    return {name: value for name, value in settings.items() if value is not None and name not in refused}


def _body(request: Request, refused: frozenset[str]) -> JsonObject:
    mode = choose_mode(request, refused)
    messages = add_instruction(request) if mode in (SchemaMode.JSON, SchemaMode.WORDS) else request.messages
    system = [{"text": message.content} for message in messages if message.role == "system"]
    turns = [
        {"role": "model" if message.role == "assistant" else "user", "parts": [{"text": message.content}]}
        for message in messages
        if message.role != "system"
    ]
    body: JsonObject = {"contents": turns, "generationConfig": _settings(request, refused, mode)}
    return body | ({"systemInstruction": {"parts": system}} if system else {})


def _reply(data: object, who: str, latency: float, honoured: Honoured) -> Reply:
    if not isinstance(data, dict):
        raise BadReply(f"{who} answered with {type(data).__name__} instead of an object")
    usage, provider_id = _usage(data.get("usageMetadata"), who), read_id(data, "responseId")
    blocked = data.get("promptFeedback")
    if isinstance(blocked, dict) and blocked.get("blockReason") and not data.get("candidates"):
        return Reply("", Finish.REFUSAL, usage, (), provider_id, latency, honoured=honoured)
    candidates = read_field(data, "candidates", list, who)
    if not candidates or not isinstance(candidates[0], dict):
        raise BadReply(f"{who} answered without any candidate")
    first = candidates[0]
    return Reply(
        _text(first.get("content"), who),
        _finish(first.get("finishReason")),
        usage,
        _logprobs(first.get("logprobsResult"), who),
        provider_id,
        latency,
        honoured=honoured,
    )


def _finish(reason: object) -> Finish:
    return Finish.REFUSAL if str(reason) in _REFUSALS else _FINISH.get(str(reason), Finish.OTHER)


def _text(content: object, who: str) -> str:
    """The parts that are no thoughts; none at all when everything went into thought, or was withheld."""
    parts = content.get("parts") if isinstance(content, dict) else None
    if not isinstance(parts, list):
        return ""
    return "".join(
        read_field(part, "text", str, who) for part in parts if isinstance(part, dict) and not part.get("thought")
    )


def _usage(data: object, who: str) -> Usage:
    """Google counts thoughts beside the reply; here they are a part of the completion."""
    said, thought = read_count(data, "candidatesTokenCount", who), read_count(data, "thoughtsTokenCount", who)
    completion = None if said is None and thought is None else (said or 0) + (thought or 0)
    return Usage(
        read_count(data, "promptTokenCount", who), completion, read_count(data, "cachedContentTokenCount", who), thought
    )


def _logprobs(data: object, who: str) -> tuple[TokenChances, ...]:
    if not isinstance(data, dict) or not isinstance(data.get("topCandidates"), list):
        return ()
    return tuple(
        _alternatives(read_field(position, "candidates", list, who), who) for position in data["topCandidates"]
    )


def _alternatives(listed: list[Any], who: str) -> TokenChances:
    return read_alternatives([(read_field(one, "token", str, who), one.get("logProbability")) for one in listed], who)


def _honoured(request: Request, settings: JsonMapping, mode: SchemaMode | None) -> Honoured:
    wishes: list[tuple[str, str | int | float | bool | None]] = [("temperature", settings.get("temperature"))]
    if request.seed is not None:
        wishes.append(("seed", settings.get("seed")))
    if mode is not None:
        wishes.append(("schema", "sent" if mode is SchemaMode.SCHEMA else mode.value))
    if request.choices:
        wishes.append(("choices", "sent"))
    if request.logprobs and "logprobs" not in settings:
        wishes.append(("logprobs", "left out"))
    return tuple(wishes)
