"""The settings of a steering run, as they are stored."""

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.games.dialogue.domain import read_domain_text
from bestresponse.studies.steer.config import SteerConfig


def test_settings_survive_their_json():
    config = SteerConfig(domain="meeting", model="scripted")
    assert SteerConfig.from_json(config.to_json()) == config


def test_a_stored_name_is_never_opened_as_a_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(read_domain_text("meeting"))
    stored = SteerConfig(domain="meeting", model="scripted").to_json() | {"domain": str(file), "domain_text": ""}
    with pytest.raises(UsageError, match="do not hold its text"):
        SteerConfig.from_json(stored)
