"""The water game of Alympics: its rules, its plays, and the judging of what residents said."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.api.judging import (
        WaterScores as WaterScores,
        judge_water as judge,  # noqa: F401
        make_judging_sheets as make_sheets,  # noqa: F401
        read_scores as read_scores,
    )
    from bestresponse.games.water.bidders import (
        play_many as play,  # noqa: F401
    )
    from bestresponse.games.water.game import (
        water as make_game,  # noqa: F401
    )
    from bestresponse.games.water.rules import (
        RESIDENTS as RESIDENTS,
        WaterRules as WaterRules,
        allocate as allocate,
    )
    from bestresponse.players.llm.bids import (
        read_bid as read_bid,
    )
    from bestresponse.studies.water.study import (
        water as simulate,  # noqa: F401
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
