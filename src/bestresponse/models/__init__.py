"""Language models: requests, replies, providers, and wrappers that cache, retry, limit and meter.

Names are loaded on first use, so that importing this package costs next to nothing.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.models.base import (
        Abilities as Abilities,
        Finish as Finish,
        Message as Message,
        Model as Model,
        Reply as Reply,
        Request as Request,
        Usage as Usage,
        ask as ask,
    )
    from bestresponse.models.http import (
        HttpClients as HttpClients,
        Secret as Secret,
    )
    from bestresponse.models.providers.function import (
        from_function as from_function,
    )
    from bestresponse.models.providers.network_model import (
        HttpModel as HttpModel,
    )
    from bestresponse.models.providers.openai import (
        OpenAIModel as OpenAIModel,
    )
    from bestresponse.models.providers.scripted import (
        ScriptedModel as ScriptedModel,
    )
    from bestresponse.models.providers.token_probabilities import (
        choice_chances as choice_chances,
    )
    from bestresponse.models.registry import (
        ModelSettings as ModelSettings,
        open_model as open_model,
    )
    from bestresponse.models.schema import (
        make_strict as make_strict,
    )
    from bestresponse.models.wrappers.cached import (
        Cache as Cache,
        Cached as Cached,
        CacheMode as CacheMode,
        assemble as assemble,
    )
    from bestresponse.models.wrappers.limits import (
        Budget as Budget,
        Meter as Meter,
        estimate_price as estimate_price,
        estimate_tokens as estimate_tokens,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
