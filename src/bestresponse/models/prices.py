"""Price a call before it is made: tokens by one rule, dollars by the open list of genai-prices.

No tokenizer of a provider is at hand before a call, and they differ most on what prompts about games are full of:
numbers. The rule here counts every digit and every mark of punctuation as a token, and every three bytes of the rest.
On the tokenizer of SmolLM2, which splits numbers into digits, it gives 67 for a table of payoffs that has 69 tokens and
57 for a described game that has 47; tokenizers that keep groups of digits together need fewer. It is an estimate: a
budget is kept by `wrappers.limits`, which counts every byte as a token.

A model in this process costs nothing. For any other model that the list does not hold, the price is not known.
"""

import re
from collections.abc import Mapping
from importlib.util import find_spec

from bestresponse.models.base import Json, Model, Usage
from bestresponse.models.providers.weights import WEIGHTS
from bestresponse.models.wrappers.limits import Price

_ALONE = re.compile(r"[!-@\[-`{-~]")
_BYTES_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text.

    >>> estimate_tokens("Which row do you play?"), estimate_tokens("12.50"), estimate_tokens("")
    (8, 5, 0)
    """
    rest, alone = _ALONE.subn("", text)
    return alone + -(-len(rest.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def estimate_price(name: str, prompt: int, completion: int) -> float | None:
    """Return what tokens of a model cost in US dollars, by the name a user types; None where that is not known.

    >>> estimate_price("smollm2", 1_000_000, 1_000_000), estimate_price("http://localhost:8000/v1#m", 1, 1)
    (0.0, None)
    """
    provider, _, rest = name.partition("/")
    if name in WEIGHTS or name.endswith(".gguf"):
        provider, rest = "local", name
    return find_price_by_identity({"provider": provider, "model": rest} if rest else {})(Usage(prompt, completion))


def find_price(model: Model) -> Price:
    """Return the price function of a model."""
    return find_price_by_identity(model.identity)


def find_price_by_identity(identity: Mapping[str, Json]) -> Price:
    """Return the price function of whoever has this identity, by its provider and name.

    Only the providers' own services have the list's prices: another server's model of the same name has not.
    """
    provider, name = str(identity.get("provider")), str(identity.get("model"))
    if provider in ("local", "scripted"):
        return lambda usage: 0.0
    if provider == "inspect":
        provider, _, name = name.partition("/")
    if provider not in ("openai", "anthropic", "google") or find_spec("genai_prices") is None:
        return _unknown
    return _listed(provider, name)


def _listed(provider: str, name: str) -> Price:
    """Return the price as the list has it today; looked up once, because that takes longer than to compute with it."""
    import genai_prices

    nothing = genai_prices.Usage(input_tokens=0, output_tokens=0)
    try:
        tariff = genai_prices.calc_price(nothing, model_ref=name, provider_id=provider).model_price
    except LookupError:
        return _unknown

    def price(usage: Usage) -> float | None:
        if usage.prompt is None or usage.completion is None:
            return None
        cached = min(usage.cached or 0, usage.prompt)
        tokens = genai_prices.Usage(input_tokens=usage.prompt, cache_read_tokens=cached, output_tokens=usage.completion)
        return float(tariff.calc_price(tokens)["total_price"])

    return price


def _unknown(usage: Usage) -> None:
    return None
