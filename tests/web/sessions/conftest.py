"""A store of sessions with a folder of its own, without a server."""

import pytest

from bestresponse.web.sessions.journal import Journal
from bestresponse.web.sessions.store import SessionStore


@pytest.fixture
def store(tmp_path):
    journal = Journal(tmp_path)
    yield SessionStore(journal)
    journal.close()
