"""Whoever can sit in a seat.

These are strategies, mixed strategies, language models, people at a terminal, and wrappers.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.core.ask import (
        Choice,
    )
    from bestresponse.core.episode import (
        play as play_seats,
    )
    from bestresponse.core.game import (
        View,
    )
    from bestresponse.core.player import (
        Decision,
        Nature,
    )
    from bestresponse.players.llm.agent import (
        Agent,
        WithFailurePolicy,
        memory as make_memory,
        published_personas,
        reasoning as make_reasoning,
    )
    from bestresponse.players.llm.player import (
        LlmPlayer,
        Sampling,
    )
    from bestresponse.players.llm.verified import (
        Verified,
    )
    from bestresponse.players.lookup import (
        find_strategy,
        list_strategies,
        seat_model,
    )
    from bestresponse.players.strategies import (
        FixedMix,
    )

    __all__ = [
        "Agent",
        "Choice",
        "Decision",
        "FixedMix",
        "LlmPlayer",
        "Nature",
        "Sampling",
        "Verified",
        "View",
        "WithFailurePolicy",
        "find_strategy",
        "list_strategies",
        "make_memory",
        "make_reasoning",
        "play_seats",
        "published_personas",
        "seat_model",
    ]
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
