"""A model with all its wrappers, in the one order that makes sense.

From the outside in: the cache (a hit costs nothing), retries (a call that waits holds no place), limits, the meter
(every attempt counts), the model.
"""

from bestresponse.models.base import Model
from bestresponse.models.prices import find_price
from bestresponse.models.wrappers.cached import Cache, Cached, CacheMode
from bestresponse.models.wrappers.limits import Gate, Limited, Meter, Metered, Retried, RetryPolicy


def assemble(
    model: Model,
    *,
    cache: Cache | None = None,
    mode: CacheMode = CacheMode.READ_WRITE,
    meter: Meter | None = None,
    gate: Gate | None = None,
    policy: RetryPolicy | None = None,
) -> Model:
    """Wrap a model in whatever is given; retries always, with the default policy if none is given."""
    if meter is not None:
        model = Metered(model, meter, find_price(model))
    if gate is not None:
        model = Limited(model, gate)
    model = Retried(model, policy)
    return model if cache is None else Cached(model, cache, mode)
