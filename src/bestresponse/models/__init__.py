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
        TokenChances as TokenChances,
        Usage as Usage,
        ask as ask,
        effective_seed as effective_seed,
    )
    from bestresponse.models.codec import (
        reply_from_json as reply_from_json,
        reply_to_json as reply_to_json,
        request_from_json as request_from_json,
        request_to_json as request_to_json,
    )
    from bestresponse.models.http import HttpClients as HttpClients, Secret as Secret
    from bestresponse.models.prices import (
        estimate_price as estimate_price,
        estimate_request_tokens as estimate_request_tokens,
        estimate_tokens as estimate_tokens,
        find_price as find_price,
    )
    from bestresponse.models.providers.anthropic import AnthropicModel as AnthropicModel
    from bestresponse.models.providers.function import FunctionModel as FunctionModel, from_function as from_function
    from bestresponse.models.providers.google import GoogleModel as GoogleModel
    from bestresponse.models.providers.inspect import InspectModel as InspectModel
    from bestresponse.models.providers.local import LocalModel as LocalModel, LocalSettings as LocalSettings
    from bestresponse.models.providers.openai import OpenAIModel as OpenAIModel
    from bestresponse.models.providers.pool import LocalPool as LocalPool
    from bestresponse.models.providers.recorded import RecordedModel as RecordedModel
    from bestresponse.models.providers.scripted import ScriptedModel as ScriptedModel
    from bestresponse.models.providers.token_probabilities import Chances as Chances, choice_chances as choice_chances
    from bestresponse.models.providers.weights import WEIGHTS as WEIGHTS, default_folder as default_folder, pull as pull
    from bestresponse.models.registry import (
        KnownModel as KnownModel,
        ModelSettings as ModelSettings,
        known_models as known_models,
        open_model as open_model,
        read_default_settings as read_default_settings,
    )
    from bestresponse.models.schema import make_strict as make_strict
    from bestresponse.models.wrappers.cached import Cache as Cache, Cached as Cached, CacheMode as CacheMode
    from bestresponse.models.wrappers.limits import (
        Budget as Budget,
        Cost as Cost,
        Gate as Gate,
        Limited as Limited,
        Meter as Meter,
        Metered as Metered,
        Retried as Retried,
        RetryPolicy as RetryPolicy,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
