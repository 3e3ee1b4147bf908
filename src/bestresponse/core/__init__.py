"""The ground floor: asks, games, players, episodes, records. Standard library only.

Names are imported when first used: `theory` needs no more of this package than its errors.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.core.ask import (
        PASS as PASS,
    )
    from bestresponse.core.ask import (
        Amount as Amount,
    )
    from bestresponse.core.ask import (
        Ask as Ask,
    )
    from bestresponse.core.ask import (
        Choice as Choice,
    )
    from bestresponse.core.ask import (
        Form as Form,
    )
    from bestresponse.core.ask import (
        Lottery as Lottery,
    )
    from bestresponse.core.ask import (
        Mixture as Mixture,
    )
    from bestresponse.core.ask import (
        Words as Words,
    )
    from bestresponse.core.episode import (
        Episode as Episode,
    )
    from bestresponse.core.episode import (
        Record as Record,
    )
    from bestresponse.core.episode import (
        Submission as Submission,
    )
    from bestresponse.core.episode import (
        Void as Void,
    )
    from bestresponse.core.episode import (
        play as play,
    )
    from bestresponse.core.game import (
        NATURE as NATURE,
    )
    from bestresponse.core.game import (
        REFEREE as REFEREE,
    )
    from bestresponse.core.game import (
        Action as Action,
    )
    from bestresponse.core.game import (
        Game as Game,
    )
    from bestresponse.core.game import (
        Role as Role,
    )
    from bestresponse.core.game import (
        View as View,
    )
    from bestresponse.core.player import (
        Call as Call,
    )
    from bestresponse.core.player import (
        Decision as Decision,
    )
    from bestresponse.core.player import (
        Nature as Nature,
    )
    from bestresponse.core.player import (
        Player as Player,
    )
    from bestresponse.core.player import (
        Reading as Reading,
    )
    from bestresponse.core.player import (
        Status as Status,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
