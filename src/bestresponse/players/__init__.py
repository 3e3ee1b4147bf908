"""Whoever can sit in a seat.

These are strategies, mixed strategies, language models, people at a terminal, and wrappers.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.core.ask import (
        Choice as Choice,
    )
    from bestresponse.core.episode import (
        play as play_seats,  # noqa: F401
    )
    from bestresponse.core.game import (
        View as View,
    )
    from bestresponse.core.player import (
        Decision as Decision,
        Nature as Nature,
    )
    from bestresponse.players.llm.agent import (
        Agent as Agent,
        WithFailurePolicy as WithFailurePolicy,
        memory as make_memory,  # noqa: F401
        published_personas as published_personas,
        reasoning as make_reasoning,  # noqa: F401
    )
    from bestresponse.players.llm.player import (
        LlmPlayer as LlmPlayer,
        Sampling as Sampling,
    )
    from bestresponse.players.llm.verified import (
        Verified as Verified,
    )
    from bestresponse.players.lookup import (
        find_strategy as find_strategy,
        list_strategies as list_strategies,
        seat_model as seat_model,
    )
    from bestresponse.players.strategies import (
        FixedMix as FixedMix,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
