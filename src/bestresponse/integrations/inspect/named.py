"""What Inspect finds under the name of this package: tasks, and scanners where Scout is there."""

from importlib import import_module
from importlib.util import find_spec

import_module("bestresponse.integrations.inspect.tasks")
if find_spec("inspect_scout") is not None:
    import_module("bestresponse.integrations.inspect.scanner")
