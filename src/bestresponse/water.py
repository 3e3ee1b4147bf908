"""The water game of Alympics: its rules, its plays, and the judging of what residents said."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.games.water.bidders import (
        play_many as play,
    )
    from bestresponse.games.water.game import (
        water as make_game,
    )
    from bestresponse.games.water.rules import (
        RESIDENTS,
        WaterRules,
        allocate,
    )
    from bestresponse.players.llm.bids import (
        read_bid,
    )
    from bestresponse.studies.water.judging import (
        WaterScores,
        judge_run as judge,
        make_sheets,
        read_sheets as read_scores,
    )
    from bestresponse.studies.water.study import (
        water as simulate,
    )

    __all__ = [
        "RESIDENTS",
        "WaterRules",
        "WaterScores",
        "allocate",
        "judge",
        "make_game",
        "make_sheets",
        "play",
        "read_bid",
        "read_scores",
        "simulate",
    ]
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
