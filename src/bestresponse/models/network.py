"""Open models behind a network address.

These are providers with an API key, and servers of the OpenAI protocol.
"""

from functools import partial
from urllib.parse import urlsplit

from bestresponse.core.errors import MissingKey, UsageError
from bestresponse.models.base import Model
from bestresponse.models.http import HttpClients, Secret
from bestresponse.models.providers.anthropic import AnthropicModel
from bestresponse.models.providers.google import GoogleModel
from bestresponse.models.providers.network_model import HttpModel
from bestresponse.models.providers.openai import OpenAIModel
from bestresponse.models.registry import KEYS, ModelSettings

_SERVER_KEY = "BESTRESPONSE_API_KEY"


def open_server(spec: str, settings: ModelSettings) -> Model:
    """Open a model of a server: its address, `#`, and the model's name there."""
    _refuse_credentials(spec, "an address", _SERVER_KEY)
    parts = urlsplit(spec)
    if not parts.fragment:
        raise UsageError(
            f"{spec} does not say which model of that server is meant: add it as {spec}#name"
        )
    key = Secret(settings.environ.get(_SERVER_KEY, ""), _SERVER_KEY)
    base_url = spec.partition("#")[0]
    return _open(
        OpenAIModel,
        parts.fragment,
        key,
        settings,
        base_url=base_url,
        id=spec,
        variable=_SERVER_KEY,
    )


def open_openai(name: str, settings: ModelSettings) -> Model:
    """Open a model of OpenAI, or of the server that OPENAI_BASE_URL names."""
    base_url = settings.environ.get("OPENAI_BASE_URL") or None
    if base_url is not None:
        # no model is named behind "#" here, so whatever stands there is refused too
        _refuse_credentials(base_url.replace("#", "?"), "OPENAI_BASE_URL", "OPENAI_API_KEY")
    return _open_hosted(OpenAIModel, name, settings, base_url)


def _refuse_credentials(address: str, what: str, variable: str) -> None:
    """Refuse an address that may hold a key, before anything quotes it: runs keep addresses."""
    try:
        parts = urlsplit(address)
    except ValueError:  # brackets that are no IPv6 address
        raise UsageError(f"{what} is not one that can be read") from None
    if "@" in parts.netloc or parts.query or "?" in parts.fragment or "=" in parts.fragment:
        raise UsageError(
            f"{what} must not hold a name, password or query, also not after '#': put the key into"
            f" {variable}"
        )


def _open_hosted(
    kind: type[HttpModel],
    name: str,
    settings: ModelSettings,
    base_url: str | None = None,
) -> Model:
    for variable in KEYS[kind.provider]:
        if key := settings.environ.get(variable, "").strip():
            return _open(kind, name, Secret(key, variable), settings, base_url=base_url)
    raise MissingKey(f"{kind.provider} needs an API key: set {' or '.join(KEYS[kind.provider])}")


def _open(
    kind: type[HttpModel],
    name: str,
    key: Secret,
    settings: ModelSettings,
    **more: str | None,
) -> Model:
    clients = settings.clients or HttpClients()
    return kind(
        name,
        clients,
        key,
        timeout=settings.timeout,
        concurrency=settings.concurrency,
        **more,
    )


open_anthropic = partial(_open_hosted, AnthropicModel)
open_google = partial(_open_hosted, GoogleModel)
