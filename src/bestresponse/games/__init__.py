"""Games that can be played: rules over immutable states, shown to any player by asks and views."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.games.blotto.rules import (
        Blotto as Blotto,
    )
    from bestresponse.games.matrix.game import (
        MatrixGame as MatrixGame,
    )
    from bestresponse.games.trees.game import (
        TreeGame as TreeGame,
    )
    from bestresponse.games.trust.rules import (
        Trust as Trust,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
