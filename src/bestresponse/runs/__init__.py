"""Run studies: plans, run folders, execution, replay and costs."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.runs.execution import Outcome as Outcome
    from bestresponse.runs.execution import Progress as Progress
    from bestresponse.runs.execution import execute as execute
    from bestresponse.runs.launch import run_study as run_study
    from bestresponse.runs.models import ModelLimits as ModelLimits
    from bestresponse.runs.models import open_models as open_models
    from bestresponse.runs.run import Run as Run
    from bestresponse.runs.run import load_run as load_run
    from bestresponse.runs.spec import Spec as Spec
    from bestresponse.runs.store.folder import RunFolder as RunFolder
    from bestresponse.runs.store.folder import StoredPlay as StoredPlay
    from bestresponse.runs.store.manifest import Manifest as Manifest
    from bestresponse.runs.store.manifest import environment as environment
    from bestresponse.runs.study import Estimate as Estimate
    from bestresponse.runs.study import Study as Study
    from bestresponse.runs.study import find_study as find_study
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
