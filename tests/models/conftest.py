"""Real weights for the tests that run a real model: pulled once into the user's cache folder."""

import importlib.util
import os
from pathlib import Path

import pytest

from bestresponse.core.errors import ModelUnavailable
from bestresponse.models.local import LocalModel
from bestresponse.models.weights import default_folder, pull


@pytest.fixture(scope="session")
def smollm2_path():
    try:
        return pull("smollm2", default_folder(os.environ, Path.home()))
    except ModelUnavailable as error:
        pytest.skip(f"the embedded model cannot be had: {error}")


@pytest.fixture(scope="session")
def smollm2(smollm2_path):
    pytest.importorskip("xllamacpp", reason="the engine is not installed: pip install 'bestresponse[local]'")
    model = LocalModel(smollm2_path, name="smollm2")
    yield model
    model.close()


@pytest.fixture(scope="session")
def faulty():
    """The module of the misbehaving server, which lies beside this file."""
    spec = importlib.util.spec_from_file_location("faulty_server", Path(__file__).with_name("faulty.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
