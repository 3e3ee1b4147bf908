"""What an answer to a training question is worth."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.studies.improve.rewards import (
        reward_replies as reward_replies,
        reward_reply as reward_reply,
        score_reply as score_reply,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
