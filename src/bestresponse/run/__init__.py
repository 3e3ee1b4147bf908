"""Playing a plan: what is missing, with many seats at work, resumable at any moment."""

from bestresponse.run.execute import Outcome, Progress, execute
from bestresponse.run.spec import Spec

__all__ = ["Outcome", "Progress", "Spec", "execute"]
