"""Where plays are made: threads, or processes of this machine.

Threads of this process are the default.

The driver is the only one who writes the run's folder; budgets, limits and the cache of replies are
shared by all workers, wherever they are.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.runs.execution import (
        Ended as Ended,
        Executor as Executor,
        Job as Job,
        Task as Task,
        Threads as Threads,
    )
    from bestresponse.runs.executors.processes import Processes as Processes
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
