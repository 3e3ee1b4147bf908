"""What a training is told to do, and what is read of it: no torch is needed."""

from types import SimpleNamespace

import pytest

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.runs.execution import Execution
from bestresponse.runs.settings import list_settings, read_extra
from bestresponse.runs.store.folder import Manifest, RunFolder, write_rows
from bestresponse.studies.improve import study
from bestresponse.studies.improve.study import TrainConfig, run_training, train


@pytest.fixture
def examples(tmp_path):
    """A folder that looks like an export to what only hashes it."""
    folder = tmp_path / "examples"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    return folder


def test_training_without_its_packages_is_refused(tmp_path, examples, monkeypatch):
    monkeypatch.setattr(study, "find_spec", lambda name: None if name == "torch" else object())
    config = TrainConfig("smollm2", data=(str(examples),), output=tmp_path / "student")
    with (
        RunFolder.open(tmp_path / "run", Manifest("run", "train", {})) as folder,
        pytest.raises(UsageError, match="training needs torch: pip"),
    ):
        run_training(config, folder, {}, Execution())


def test_a_run_without_any_row_is_measured_as_empty(tmp_path):
    measured = train.measure(None, SimpleNamespace(path=tmp_path))
    assert measured.answered == 0
    assert {name: len(frame) for name, frame in measured.frames.items()} == {
        "training": 0,
        "tests": 0,
        "abilities": 0,
        "time": 0,
    }


def test_what_a_training_has_written_is_what_its_report_reads(tmp_path):
    row = {"when": "before", "asked": 60, "right": 0.75, "perplexity": 50.5}
    write_rows(tmp_path / "abilities.jsonl", [row])
    measured = train.measure(None, SimpleNamespace(path=tmp_path))
    assert list(measured.frames["abilities"]) == [row]


def test_a_training_needs_data_and_shows_four_tables_and_a_hundred_percent():
    with pytest.raises(SettingError, match="at least one folder"):
        TrainConfig("smollm2", data=())
    with pytest.raises(UsageError, match="there are no weights at nowhere"):
        TrainConfig("nowhere", data=())
    assert train.count_tables(None) == 4
    assert train.count_plays(None) == 100


def test_where_a_student_is_written_and_trained_is_no_part_of_its_identity(examples):
    extra = {name: read_extra(field) for name, field in list_settings(TrainConfig).items()}
    assert extra["model"]["argument"]
    assert [name for name in ("output", "device", "seed", "minutes") if extra[name]["how"]] == [
        "output",
        "device",
    ]
    assert TrainConfig("smollm2", data=(str(examples),)).seed == 0
    with pytest.raises(UsageError):
        TrainConfig("smollm2", data=(str(examples),), seed=-1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lora": 4, "optimizer": "muon"}, "adapters are trained by adamw"),
        ({"keep": 0.6}, "keep"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(examples, settings, message):
    with pytest.raises(UsageError, match=message):
        TrainConfig("smollm2", data=(str(examples),), **settings)
