"""What tokens cost, from the open price list `genai-prices` (extra `cost`, https://github.com/pydantic/genai-prices).

A model in this process costs nothing. For any other model that the list does not hold, the price is not known.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import cast

from bestresponse.models.base import Json, Model, Usage
from bestresponse.models.meter import Price

__all__ = ["price_by_identity", "price_of"]


def price_of(model: Model) -> Price:
    """The price function of a model."""
    return price_by_identity(model.identity)


def price_by_identity(identity: Mapping[str, Json]) -> Price:
    """The price function of whoever has this identity, by its provider and name."""
    provider, name = identity.get("provider"), identity.get("model")
    if provider in ("local", "scripted"):
        return lambda usage: 0.0
    if find_spec("genai_prices") is None or not isinstance(provider, str) or not isinstance(name, str):
        return lambda usage: None
    return lambda usage: _listed(provider, name, usage)


def _listed(provider: str, name: str, usage: Usage) -> float | None:
    import genai_prices

    if usage.prompt is None or usage.completion is None:
        return None
    tokens = genai_prices.Usage(
        input_tokens=usage.prompt, cache_read_tokens=usage.cached or 0, output_tokens=usage.completion
    )
    try:
        price = genai_prices.calc_price(tokens, model_ref=name, provider_id=provider)
    except LookupError:
        return None
    return float(cast(float, price.total_price))
