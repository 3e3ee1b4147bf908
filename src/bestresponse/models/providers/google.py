"""Google's Gemini API, method `generateContent` (https://ai.google.dev/api/generate-content).

Choices are asked for by the response type `text/x.enum`, schemas by `responseJsonSchema`.
Parameters that a model does not take are left out, and the reply says so. Thoughts are counted as
reasoning tokens and are no part of the text. Tools are offered as functions; a reply that may call
one cannot be held to a form, so a schema is then told in words and choices are left out.
"""

import json
from dataclasses import replace

from bestresponse.core.errors import BadReply
from bestresponse.core.json import JsonMapping, JsonObject, canonical
from bestresponse.models.base import (
    Abilities,
    Finish,
    Honoured,
    Message,
    Reply,
    Request,
    TokenChances,
    Usage,
    effective_seed,
)
from bestresponse.models.http import Rejected
from bestresponse.models.providers.network_model import HttpModel, SchemaMode
from bestresponse.models.providers.reading import (
    read_alternatives,
    read_answers,
    read_count,
    read_field,
)
from bestresponse.models.schema import read_schema

_LOGPROBS = frozenset({"responseLogprobs", "logprobs"})
_MOST_ALTERNATIVES = 20  # the API takes no more
_REFUSALS = (
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "LANGUAGE",
)
_FINISH = {
    "STOP": Finish.STOP,
    "MAX_TOKENS": Finish.LENGTH,
    **dict.fromkeys(_REFUSALS, Finish.REFUSAL),
}


def _declare_function(tool: JsonObject) -> JsonObject:
    """Declare a tool as a function."""
    return {
        "name": tool["name"],
        "description": tool["description"],
        "parametersJsonSchema": tool["parameters"],
    }


class GoogleModel(HttpModel):
    """A Gemini model."""

    provider = "google"
    url = "https://generativelanguage.googleapis.com/v1beta"
    path = "/models/{name}:generateContent"
    variable = "GEMINI_API_KEY"
    key_header = "x-goog-api-key"
    offers = Abilities(
        schema=True,
        choices=True,
        logprobs=_MOST_ALTERNATIVES,
        seed=True,
        tools=True,
    )
    optional = (
        "temperature",
        "topP",
        "seed",
        "stopSequences",
        "thinkingConfig",
        "tools",
        *_LOGPROBS,
    )
    choices_are = "sent"

    def _find_refused(
        self,
        request: Request,
        mode: SchemaMode | None,
        error: Rejected,
    ) -> frozenset[str]:
        """Find refused settings, also in Google's words.

        Google writes "Logprobs is not enabled", and the two settings of log-probabilities go
        together.
        """
        refused = super()._find_refused(request, mode, error)
        if request.tools and "function calling" in str(error).casefold():
            refused |= {"tools"}
        if refused & _LOGPROBS or "Logprobs is not enabled" in str(error):
            return refused | _LOGPROBS
        return refused

    def write_settings(
        self,
        request: Request,
        mode: SchemaMode | None,
        refused: frozenset[str],
    ) -> dict[str, object]:
        """Return all settings by the names of this service; None where one is not wanted."""
        settings: JsonObject = {
            "maxOutputTokens": request.max_tokens,
            "temperature": request.temperature,
            "topP": request.top_p,
            "seed": effective_seed(request),
            "stopSequences": list(request.stop) or None,
            "responseMimeType": (
                "application/json" if mode in (SchemaMode.SCHEMA, SchemaMode.JSON) else None
            ),
            "responseJsonSchema": read_schema(request) if mode is SchemaMode.SCHEMA else None,
        }
        if (budget := request.reasoning_budget) is not None:
            settings |= {
                "thinkingConfig": {"thinkingBudget": budget},
                "maxOutputTokens": request.max_tokens + budget,
            }
        if request.tools and "tools" not in refused:
            declared = [_declare_function(json.loads(tool)) for tool in request.tools]
            settings["tools"] = [{"functionDeclarations": declared}]
        elif request.choices:
            enum = {"type": "STRING", "enum": list(request.choices)}
            settings |= {"responseMimeType": "text/x.enum", "responseSchema": enum}
        if request.logprobs:
            settings |= {
                "responseLogprobs": True,
                "logprobs": min(request.logprobs, _MOST_ALTERNATIVES),
            }
        return settings

    def _choose_mode(self, request: Request, refused: frozenset[str]) -> SchemaMode | None:
        mode = super()._choose_mode(request, refused)
        offered = request.tools and "tools" not in refused
        return SchemaMode.WORDS if offered and mode is not None else mode

    def _list_honoured(
        self,
        request: Request,
        mode: SchemaMode | None,
        settings: JsonMapping,
    ) -> Honoured:
        if request.choices and "tools" in settings:
            unheld = super()._list_honoured(replace(request, choices=()), mode, settings)
            return (*unheld, ("choices", "left out"))
        return super()._list_honoured(request, mode, settings)

    def write_body(
        self,
        messages: tuple[Message, ...],
        settings: dict[str, object],
    ) -> JsonObject:
        """Write the body of a request."""
        settings = dict(settings)
        tools = settings.pop("tools", None)
        system = [{"text": message.content} for message in messages if message.role == "system"]
        turns = [
            {
                "role": "model" if message.role == "assistant" else "user",
                "parts": [{"text": message.content}],
            }
            for message in messages
            if message.role != "system"
        ]
        body: JsonObject = {"contents": turns, "generationConfig": settings}
        if tools is not None:
            body["tools"] = tools
        return body | ({"systemInstruction": {"parts": system}} if system else {})

    def read_reply(self, answer: object, request: Request) -> Reply:
        """Read the reply out of what came back."""
        if not isinstance(answer, dict):
            raise BadReply(f"{self.id} answered with {type(answer).__name__} instead of an object")
        usage = self._read_usage(answer.get("usageMetadata"))
        name = answer.get("responseId")
        blocked = answer.get("promptFeedback")
        if (
            isinstance(blocked, dict)
            and blocked.get("blockReason")
            and not answer.get("candidates")
        ):
            first: JsonObject = {"finishReason": "SAFETY"}
        else:
            first = read_answers(answer, "candidates", self.id)[0]
            if not isinstance(first, dict):
                raise BadReply(f"{self.id} answered without any candidate")
        content = first.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        # There are no parts at all when everything went into thought, or was withheld.
        listed = parts if isinstance(parts, list) else []
        spoken = [part for part in listed if isinstance(part, dict) and not part.get("thought")]
        calls = [part["functionCall"] for part in spoken if "functionCall" in part]
        texts = [part for part in spoken if "functionCall" not in part]
        written = [read_field(part, "text", str, self.id) for part in texts]
        reason = str(first.get("finishReason"))
        return Reply(
            "".join(written),
            _FINISH.get(reason, Finish.OTHER),
            usage,
            self._read_logprobs(first.get("logprobsResult")),
            provider_id=name if isinstance(name, str) else None,
            tool_calls=tuple(map(self._read_call, calls)),
        )

    def _read_call(self, call: object) -> tuple[str, str]:
        """Return the name and the arguments of a function that the model calls."""
        data = call if isinstance(call, dict) else {}
        try:
            arguments = canonical(read_field({"args": {}, **data}, "args", dict, self.id))
        except ValueError:
            raise BadReply(
                f"{self.id} called a tool with a number that JSON does not have"
            ) from None
        return read_field(data, "name", str, self.id), arguments

    def _read_usage(self, data: object) -> Usage:
        """Google counts thoughts beside the reply; here they are a part of the completion."""
        candidates = read_count(data, "candidatesTokenCount", self.id)
        thought = read_count(data, "thoughtsTokenCount", self.id)
        completion = (
            None if candidates is None and thought is None else (candidates or 0) + (thought or 0)
        )
        cached = read_count(data, "cachedContentTokenCount", self.id)
        return Usage(
            read_count(data, "promptTokenCount", self.id),
            completion,
            cached,
            thought,
        )

    def _read_logprobs(self, data: object) -> tuple[TokenChances, ...]:
        if not isinstance(data, dict) or not isinstance(data.get("topCandidates"), list):
            return ()
        listed = (
            read_field(
                position,
                "candidates",
                list,
                self.id,
            )
            for position in data["topCandidates"]
        )
        return tuple(
            read_alternatives(alternatives, self.id, "logProbability") for alternatives in listed
        )
