"""Run studies: plans, run folders, execution, replay and costs."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.runs import executors as executors
    from bestresponse.runs.comparison import RunComparison as RunComparison
    from bestresponse.runs.inputs import (
        ModelSetting as ModelSetting,
    )
    from bestresponse.runs.run import (
        Run as Run,
        load_run as load_run,
    )
    from bestresponse.runs.settings import (
        RunSettings as RunSettings,
        setting as setting,
        settings as study_settings,  # noqa: F401
    )
    from bestresponse.runs.store.folder import (
        Manifest as Manifest,
        RunFolder as RunFolder,
        Spec as Spec,
        StoredPlay as StoredPlay,
        environment as environment,
    )
    from bestresponse.runs.study import (
        Measured as Measured,
        Study as Study,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
