"""Open models behind a network address.

These are providers with an API key, and servers of the OpenAI protocol.
"""

import re
from functools import partial
from urllib.parse import urlsplit

from bestresponse.core.errors import BadReply, MissingKey, UsageError
from bestresponse.models.base import Json, Model, Reply
from bestresponse.models.http import Endpoint, HttpClients, Secret
from bestresponse.models.providers.anthropic import AnthropicModel
from bestresponse.models.providers.google import GoogleModel
from bestresponse.models.providers.network_model import HttpModel
from bestresponse.models.providers.openai import OpenAIModel
from bestresponse.models.registry import KEYS, SERVERS, ModelSettings

_SERVER_KEY = "BESTRESPONSE_API_KEY"
_SECONDS_TO_LIST = 20.0
_MOST_SHOWN = 20
"""Names of models in an error; some servers have hundreds."""


def open_server(spec: str, settings: ModelSettings) -> Model:
    """Open a model of a server: its address, `#`, and the model's name there.

    Without a name the server is asked which models it has, and its only one is opened.
    """
    _refuse_credentials(spec, "an address", _SERVER_KEY)
    base_url, _, name = spec.partition("#")
    name = name or _find_only_model(base_url.rstrip("/"), settings)
    return _open_at(base_url, name, f"{base_url}#{name}", settings)


def _open_local(program: str, name: str, settings: ModelSettings) -> Model:
    """Open a model of a program that serves models on this machine, at its usual port or where its
    variable says, such as VLLM_BASE_URL."""
    variable = re.sub(r"\W", "_", program).upper() + "_BASE_URL"
    base_url = settings.environ.get(variable) or f"http://localhost:{SERVERS[program]}/v1"
    _refuse_credentials(base_url.replace("#", "?"), variable, _SERVER_KEY)
    return _open_at(base_url, name, f"{program}/{name}", settings)


def _open_at(base_url: str, name: str, id: str, settings: ModelSettings) -> Model:
    key = Secret(settings.environ.get(_SERVER_KEY, ""), _SERVER_KEY)
    return _open(
        OpenAIModel,
        name,
        key,
        settings,
        base_url=base_url,
        id=id,
        variable=_SERVER_KEY,
    )


def _find_only_model(base_url: str, settings: ModelSettings) -> str:
    """Ask a server for its models and return its only one."""
    key = Secret(settings.environ.get(_SERVER_KEY, ""), _SERVER_KEY)
    with HttpClients() as clients:
        endpoint = Endpoint(
            clients,
            url=f"{base_url}/models",
            server=base_url,
            key=key,
            key_header="authorization",
            prefix="Bearer ",
            variable=_SERVER_KEY,
            timeout=_SECONDS_TO_LIST,
        )
        names = endpoint.post(None, _read_names).text.splitlines()
    if len(names) == 1:
        return names[0]
    found = f"it has {', '.join(names[:_MOST_SHOWN])}" if names else "it lists none"
    raise UsageError(
        f"{base_url} does not say which model of that server is meant: add it as"
        f" {base_url}#NAME; {found}"
    )


def _read_names(answer: Json) -> Reply:
    """Read the list of models of the OpenAI protocol, one name a line."""
    listed = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise BadReply("the server did not answer with a list of models")
    names = [str(each["id"]) for each in listed if isinstance(each, dict) and "id" in each]
    return Reply("\n".join(filter(str.isprintable, names)))


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


open_vllm = partial(_open_local, "vllm")
open_ollama = partial(_open_local, "ollama")
open_lm_studio = partial(_open_local, "lm-studio")
open_llama_cpp = partial(_open_local, "llama.cpp")
open_anthropic = partial(_open_hosted, AnthropicModel)
open_google = partial(_open_hosted, GoogleModel)
