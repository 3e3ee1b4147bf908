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
    from bestresponse.core.episode import Episode as Episode, Record as Record
    from bestresponse.core.game import (
        NATURE as NATURE,
        REFEREE as REFEREE,
        Action as Action,
        Game as Game,
        Role as Role,
        View as View,
    )
    from bestresponse.core.player import (
        Decision as Decision,
        Nature as Nature,
        Player as Player,
        Reading as Reading,
        Status as Status,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
