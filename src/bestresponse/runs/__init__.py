"""Run studies: plans, run folders, execution, replay and costs."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.runs import executors
    from bestresponse.runs.comparison import RunComparison
    from bestresponse.runs.inputs import (
        ModelSetting,
    )
    from bestresponse.runs.run import (
        Run,
        load_run,
    )
    from bestresponse.runs.settings import (
        RunSettings,
        setting,
        settings as study_settings,
    )
    from bestresponse.runs.store.folder import (
        Manifest,
        RunFolder,
        Spec,
        StoredPlay,
        environment,
    )
    from bestresponse.runs.study import (
        Measured,
        Study,
    )

    __all__ = [
        "Manifest",
        "Measured",
        "ModelSetting",
        "Run",
        "RunComparison",
        "RunFolder",
        "RunSettings",
        "Spec",
        "StoredPlay",
        "Study",
        "environment",
        "executors",
        "load_run",
        "setting",
        "study_settings",
    ]
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
