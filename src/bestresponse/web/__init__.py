"""People at the table: games in a browser, played and watched.

They use the same asks and records as everywhere.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.web.experiments.reading import check_experiment as check_experiment
    from bestresponse.web.sessions.setup import (
        GameChoice as GameChoice,
        Setup as Setup,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
