"""Real weights for the tests that run a real model: pulled once into the user's cache folder."""

import os
from pathlib import Path

import pytest
from outlines import outlined_figures  # noqa: F401 - for all tests below

from bestresponse.core.errors import ModelUnavailable
from bestresponse.models.providers.local import LocalModel
from bestresponse.models.providers.weights import default_folder, pull


@pytest.fixture(scope="session")
def smollm2_path():
    try:
        return pull("smollm2", default_folder(os.environ, Path.home()))
    except ModelUnavailable as error:
        pytest.skip(f"the embedded model cannot be had: {error}")


@pytest.fixture(scope="session")
def smollm2(smollm2_path):
    pytest.importorskip("xllamacpp", reason="the engine is not installed: pip install '.[local]'")
    model = LocalModel(smollm2_path, name="smollm2")
    yield model
    model.close()
