"""HTTP for network models.

Provides secrets, clients with a deadline, bounded replies, and one JSON request at a time.
"""

from bestresponse.models.http.clients import HttpClients
from bestresponse.models.http.endpoint import Endpoint, Rejected
from bestresponse.models.http.secret import Secret

__all__ = ["Endpoint", "HttpClients", "Rejected", "Secret"]
