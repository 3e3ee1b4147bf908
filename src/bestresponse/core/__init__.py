"""The ground floor: asks, games, players, episodes, records. Standard library only.

Names are imported when first used: `theory` needs no more of this package than its errors.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.core.ask import (
        Amount as Amount,
        Ask as Ask,
        Choice as Choice,
        Form as Form,
        Lottery as Lottery,
        Mixture as Mixture,
        Words as Words,
    )
    from bestresponse.core.capabilities import (
        Question as Question,
        find_known_equilibrium as find_known_equilibrium,
        measure_decision_cost as measure_decision_cost,
    )
    from bestresponse.core.conformance import (
        check_game as check_game,
    )
    from bestresponse.core.episode import (
        Episode as Episode,
        Record as Record,
        play as play,
    )
    from bestresponse.core.game import (
        NATURE as NATURE,
        REFEREE as REFEREE,
        Action as Action,
        Game as Game,
        Role as Role,
        View as View,
        find_first_asks as find_first_asks,
    )
    from bestresponse.core.player import (
        Decision as Decision,
        Nature as Nature,
        Player as Player,
        Reading as Reading,
        Status as Status,
    )
    from bestresponse.core.told import (
        Aim as Aim,
        AtOnce as AtOnce,
        Cell as Cell,
        Cells as Cells,
        GameEvent as GameEvent,
        GameRule as GameRule,
        Made as Made,
        Options as Options,
        Over as Over,
        Players as Players,
        YourTurn as YourTurn,
        prose as prose,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
