"""Why nothing can be done with a session, a lobby or a seat."""

from bestresponse.core.errors import BestResponseError, NotAsked, UsageError


class NotFound(BestResponseError):
    """There is no session, lobby or seat of that name."""


class NoSeatLeft(UsageError):
    """Every seat of a lobby is taken."""


class AlreadyAnswered(NotAsked):
    """The answer came twice, or too late."""


class StoodIn(AlreadyAnswered):
    """A stand-in had answered before the person."""


class BrokenSession(BestResponseError):
    """The session cannot be rebuilt from its answers; nothing is added to it."""
