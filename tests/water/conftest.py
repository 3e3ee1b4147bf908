from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def recorded_folder() -> Path:
    folder = Path(__file__).parents[2].parent / "shared" / "reference" / "water"
    if not folder.is_dir():
        pytest.skip("the recorded games of the published study are not at hand (expected in ../shared/reference/water)")
    return folder
