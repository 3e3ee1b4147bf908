"""Language models: requests, replies, providers, and wrappers that cache, retry, limit and meter.

Names are loaded on first use, so that importing this package costs next to nothing.
"""

from bestresponse.core.lazy import lazy

_EXPORTS = {
    "Abilities": "base",
    "AnthropicModel": "anthropic",
    "Budget": "meter",
    "Cache": "cached",
    "CacheMode": "cached",
    "Cached": "cached",
    "Chances": "chances",
    "Finish": "base",
    "Gate": "limits",
    "GoogleModel": "google",
    "HttpClients": "wire",
    "InspectModel": "inspect_adapter",
    "KnownModel": "registry",
    "Ledger": "meter",
    "Limited": "limits",
    "LocalModel": "local",
    "LocalPool": "pool",
    "LocalSettings": "local",
    "Message": "base",
    "Meter": "meter",
    "Metered": "meter",
    "Model": "base",
    "ModelSettings": "registry",
    "OpenAIModel": "openai",
    "ReplayedModel": "scripted",
    "Reply": "base",
    "Request": "base",
    "Retried": "retry",
    "RetryPolicy": "retry",
    "ScriptedModel": "scripted",
    "Secret": "wire",
    "TokenChances": "base",
    "Usage": "base",
    "WEIGHTS": "weights",
    "ask": "base",
    "choice_chances": "chances",
    "default_folder": "weights",
    "effective_seed": "base",
    "known_models": "registry",
    "open_model": "registry",
    "price_of": "prices",
    "pull": "weights",
    "read_json": "schema",
    "reply_from_json": "codec",
    "reply_to_json": "codec",
    "request_from_json": "codec",
    "request_to_json": "codec",
    "violations": "schema",
}

__all__ = sorted(_EXPORTS)  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__, __dir__ = lazy(__name__, _EXPORTS)
