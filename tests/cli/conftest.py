"""A model server for every test that wants one."""

import pytest
from model_server import ModelServer


@pytest.fixture
def serve():
    opened = []

    def start(*args, **kwargs):
        opened.append(ModelServer(*args, **kwargs))
        return opened[-1]

    yield start
    for server in opened:
        server.close()
