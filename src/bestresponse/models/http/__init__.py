"""HTTP for network models: secrets, clients with a deadline, bounded replies, and one JSON request at a time."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.models.http.clients import HttpClients as HttpClients
    from bestresponse.models.http.endpoint import (
        Endpoint as Endpoint,
        Rejected as Rejected,
        parse_retry_after as parse_retry_after,
    )
    from bestresponse.models.http.secret import KeyHeader as KeyHeader, Secret as Secret
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
