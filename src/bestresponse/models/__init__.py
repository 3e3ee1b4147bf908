"""Language models: requests, replies, providers, and wrappers that cache, retry, limit and meter.

Names are loaded on first use, so that importing this package costs next to nothing.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.models.base import (
        Abilities as Abilities,
    )
    from bestresponse.models.base import (
        Finish as Finish,
    )
    from bestresponse.models.base import (
        Message as Message,
    )
    from bestresponse.models.base import (
        Model as Model,
    )
    from bestresponse.models.base import (
        Reply as Reply,
    )
    from bestresponse.models.base import (
        Request as Request,
    )
    from bestresponse.models.base import (
        TokenChances as TokenChances,
    )
    from bestresponse.models.base import (
        Usage as Usage,
    )
    from bestresponse.models.base import (
        ask as ask,
    )
    from bestresponse.models.base import (
        effective_seed as effective_seed,
    )
    from bestresponse.models.codec import (
        reply_from_json as reply_from_json,
    )
    from bestresponse.models.codec import (
        reply_to_json as reply_to_json,
    )
    from bestresponse.models.codec import (
        request_from_json as request_from_json,
    )
    from bestresponse.models.codec import (
        request_to_json as request_to_json,
    )
    from bestresponse.models.http import (
        HttpClients as HttpClients,
    )
    from bestresponse.models.http import (
        Secret as Secret,
    )
    from bestresponse.models.prices import (
        estimate_price as estimate_price,
    )
    from bestresponse.models.prices import (
        find_price as find_price,
    )
    from bestresponse.models.providers.anthropic import (
        AnthropicModel as AnthropicModel,
    )
    from bestresponse.models.providers.function import (
        FunctionModel as FunctionModel,
    )
    from bestresponse.models.providers.function import (
        from_function as from_function,
    )
    from bestresponse.models.providers.google import (
        GoogleModel as GoogleModel,
    )
    from bestresponse.models.providers.inspect import (
        InspectModel as InspectModel,
    )
    from bestresponse.models.providers.local import (
        LocalModel as LocalModel,
    )
    from bestresponse.models.providers.local import (
        LocalSettings as LocalSettings,
    )
    from bestresponse.models.providers.openai import (
        OpenAIModel as OpenAIModel,
    )
    from bestresponse.models.providers.pool import (
        LocalPool as LocalPool,
    )
    from bestresponse.models.providers.recorded import (
        RecordedModel as RecordedModel,
    )
    from bestresponse.models.providers.scripted import (
        ScriptedModel as ScriptedModel,
    )
    from bestresponse.models.providers.token_probabilities import (
        Chances as Chances,
    )
    from bestresponse.models.providers.token_probabilities import (
        choice_chances as choice_chances,
    )
    from bestresponse.models.providers.weights import (
        WEIGHTS as WEIGHTS,
    )
    from bestresponse.models.providers.weights import (
        default_folder as default_folder,
    )
    from bestresponse.models.providers.weights import (
        pull as pull,
    )
    from bestresponse.models.registry import (
        KnownModel as KnownModel,
    )
    from bestresponse.models.registry import (
        ModelSettings as ModelSettings,
    )
    from bestresponse.models.registry import (
        known_models as known_models,
    )
    from bestresponse.models.registry import (
        open_model as open_model,
    )
    from bestresponse.models.registry import (
        read_default_settings as read_default_settings,
    )
    from bestresponse.models.schema import (
        make_strict as make_strict,
    )
    from bestresponse.models.tokens import (
        estimate_request_tokens as estimate_request_tokens,
    )
    from bestresponse.models.tokens import (
        estimate_tokens as estimate_tokens,
    )
    from bestresponse.models.wrappers.cached import (
        Cache as Cache,
    )
    from bestresponse.models.wrappers.cached import (
        Cached as Cached,
    )
    from bestresponse.models.wrappers.cached import (
        CacheMode as CacheMode,
    )
    from bestresponse.models.wrappers.meter import (
        Budget as Budget,
    )
    from bestresponse.models.wrappers.meter import (
        Cost as Cost,
    )
    from bestresponse.models.wrappers.meter import (
        Meter as Meter,
    )
    from bestresponse.models.wrappers.meter import (
        Metered as Metered,
    )
    from bestresponse.models.wrappers.pacing import (
        Gate as Gate,
    )
    from bestresponse.models.wrappers.pacing import (
        Limited as Limited,
    )
    from bestresponse.models.wrappers.pacing import (
        Retried as Retried,
    )
    from bestresponse.models.wrappers.pacing import (
        RetryPolicy as RetryPolicy,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
