"""Run studies: plans, run folders, execution, replay and costs."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.runs.run import Run as Run, load_run as load_run
    from bestresponse.runs.store.folder import (
        Manifest as Manifest,
        RunFolder as RunFolder,
        Spec as Spec,
        StoredPlay as StoredPlay,
        environment as environment,
    )
    from bestresponse.runs.study import Study as Study
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
