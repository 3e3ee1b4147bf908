"""The settings of a steering run, as they are stored."""

import pytest

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.games.dialogue.domain import read_domain_text
from bestresponse.studies.steer.config import SteerConfig


def test_settings_survive_their_json():
    config = SteerConfig(domain="meeting", model="scripted")
    assert SteerConfig.from_json(config.to_json()) == config


def test_a_stored_name_is_never_opened_as_a_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(read_domain_text("meeting"))
    stored = SteerConfig(domain="meeting", model="scripted").to_json() | {
        "domain": str(file),
        "domain_text": "",
    }
    with pytest.raises(UsageError, match="do not hold its text"):
        SteerConfig.from_json(stored)


@pytest.mark.parametrize(
    ("solver", "name", "value", "why"),
    [
        ("cfr", "oracle", "better", "it belongs to the solver psro"),
        ("cfr", "meta", "welfare", "it belongs to the solver psro"),
        ("cfr", "candidates", 4, "it belongs to the solver psro"),
        ("cfr", "plays", 30, "it belongs to the solver psro"),
        ("cfr", "second_judge", "other", "it belongs to second"),
        ("psro", "credible", False, "it belongs to cfr"),
        ("psro", "second", "score", "it belongs to cfr"),
        ("psro", "embed", "minilm", "it belongs to cfr"),
        ("psro", "farthest", 0.4, "it belongs to cfr"),
    ],
)
def test_a_setting_that_the_solver_does_not_read_is_refused(solver, name, value, why):
    with pytest.raises(SettingError, match=f"{name}: {why}"):
        SteerConfig("meeting", "m", solver=solver, **{name: value})
