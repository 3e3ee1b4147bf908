import errno
import fcntl
import json
import os
import platform
import sys
from dataclasses import replace

import pytest

from bestresponse.core import Decision, Reading, Status
from bestresponse.core.episode import Record, Submission, Void
from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.player import Call
from bestresponse.report.files import explain_os_error
from bestresponse.runs import Manifest, RunFolder
from bestresponse.runs.store.folder import (
    FolderLock,
    HostMachine,
    Lines,
    StoredPlay,
    decode_answer,
    decode_play,
    encode_answer,
    encode_plays,
    encode_rows,
    environment,
    read_lines,
    read_raw,
)

MANIFEST = Manifest("abc", "bench", {"seed": 1}, ("bestresponse", "bench"))


def a_record(action="A"):
    return Record("g", 1, {"row": "me"}, (Submission("row", Decision(action)),), {"row": 2.0})


def test_what_was_finished_is_read_back_and_what_was_begun_goes_on(tmp_path):
    with RunFolder.open(tmp_path / "run", MANIFEST) as folder:
        folder.submit(
            "s1", Submission("row", Decision("A", calls=(Call("m", {"q": 1}, {"text": "A"}),)))
        )
        folder.finish("s1", {"game": 0}, a_record())
        folder.submit(
            "s2",
            Submission("row", Decision((0.5, 0.5), reading=Reading(Status.REPAIRED, "scaled"))),
        )
    with RunFolder.open(tmp_path / "run", MANIFEST) as folder:
        assert folder.finished() == {"s1"}
        (begun,) = folder.begun({"s1"})["s2"]
        assert (begun.decision.action, begun.decision.reading.how) == ((0.5, 0.5), "scaled")
        (play,) = folder.plays()
        assert (play.spec, play.data, play.record) == ("s1", {"game": 0}, a_record())
        assert list(folder.calls()) == [
            {"spec": "s1", "role": "row", "model": "m", "request": {"q": 1}, "reply": {"text": "A"}}
        ]


def test_a_run_that_was_begun_with_other_prompts_is_not_gone_on_with(tmp_path):
    before = replace(MANIFEST, prompts={"a.txt": "1", "b.txt": "1", "c.txt": "1"})
    RunFolder.open(tmp_path, before).close()
    # a.txt has other words now, b.txt is gone, d.txt is new; c.txt is as it was
    now = replace(MANIFEST, prompts={"a.txt": "2", "c.txt": "1", "d.txt": "1"})
    with pytest.raises(StoreError, match=r"other prompts \(a\.txt, b\.txt, d\.txt\)"):
        RunFolder.open(tmp_path, now)
    with RunFolder.open(tmp_path, before) as folder:
        assert folder.manifest == before


def test_a_line_that_was_cut_off_by_a_kill_is_dropped_and_writing_goes_on(tmp_path):
    with RunFolder.open(tmp_path, MANIFEST) as folder:
        folder.finish("s1", {}, a_record())
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write('{"spec":"s2","da')
    assert RunFolder.read(tmp_path).finished() == {"s1"}
    with RunFolder.open(tmp_path, MANIFEST) as folder:
        folder.finish("s3", {}, a_record("B"))
    assert RunFolder.read(tmp_path).finished() == {"s1", "s3"}


def test_a_void_record_survives(tmp_path):
    refused = Decision(None, "no", Reading(Status.REFUSED, "declines"))
    record = Record("g", 1, {}, (Submission("row", refused),), {}, Void("row", "refused: declines"))
    with RunFolder.open(tmp_path, MANIFEST) as folder:
        folder.finish("s", {}, record)
    assert next(RunFolder.read(tmp_path).plays()).record == record


def test_two_writers_cannot_share_a_run(tmp_path):
    with RunFolder.open(tmp_path, MANIFEST), pytest.raises(StoreError, match="another process"):
        RunFolder.open(tmp_path, MANIFEST)


def test_a_folder_of_another_run_is_not_written_into(tmp_path):
    RunFolder.open(tmp_path, MANIFEST).close()
    with pytest.raises(StoreError, match="holds another run"):
        RunFolder.open(tmp_path, Manifest("xyz", "bench", {}))


def test_another_part_of_the_run_is_not_written_into_either(tmp_path):
    RunFolder.open(tmp_path, replace(MANIFEST, shard="1/3")).close()
    with pytest.raises(
        StoreError, match=r"holds shard 1/3 and not shard 2/3; choose another output folder"
    ):
        RunFolder.open(tmp_path, replace(MANIFEST, shard="2/3"))
    with pytest.raises(StoreError, match="holds shard 1/3 and not the whole run"):
        RunFolder.open(tmp_path, MANIFEST)
    RunFolder.open(tmp_path, replace(MANIFEST, shard="1/3")).close()


def test_a_folder_below_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="file is a file; expected a folder for results"):
        RunFolder.open(tmp_path / "file" / "run", MANIFEST)


def test_whoever_was_refused_or_has_closed_holds_nothing(tmp_path):
    folder = RunFolder.open(tmp_path / "a" / "b", MANIFEST)
    folder.close()
    folder.close()
    with pytest.raises(StoreError, match="holds another run"):
        RunFolder.open(tmp_path / "a" / "b", Manifest("xyz", "bench", {}))
    RunFolder.open(tmp_path / "a" / "b", MANIFEST).close()


def test_the_answers_of_a_begun_play_come_in_order_and_need_no_calls(tmp_path):
    with RunFolder.open(tmp_path, MANIFEST) as folder:
        for action in "ABC":
            folder.submit("s1", Submission("row", Decision(action)), {"seconds": 2})
        assert [one.decision.action for one in folder.begun(set())["s1"]] == ["A", "B", "C"]
        assert folder.begun({"s1"}) == {}
        assert list(folder.calls()) == []
        assert [row["seconds"] for row in read_lines(tmp_path / "submissions.jsonl")] == [2, 2, 2]


def test_sorted_plays_do_not_depend_on_who_finished_first(tmp_path):
    with RunFolder.open(tmp_path, MANIFEST) as folder:
        for spec in ("s2", "s1"):
            folder.finish(spec, {}, a_record())
        assert [play.spec for play in folder.plays()] == ["s2", "s1"]
        assert [play.spec for play in folder.sorted_plays()] == ["s1", "s2"]


def test_a_line_that_is_no_record_is_named(tmp_path):
    RunFolder.open(tmp_path, MANIFEST).close()
    (tmp_path / "records.jsonl").write_bytes(encode_rows([{"spec": "s1", "data": {}}]))
    with pytest.raises(
        StoreError, match=r"records\.jsonl holds a line that is no record: KeyError"
    ):
        list(RunFolder.read(tmp_path).plays())


def test_a_manifest_says_what_can_change_a_number():
    found = environment("abc123")
    assert found["python"] == platform.python_version()
    assert found["platform"].startswith(sys.platform)
    assert {"bestresponse", "numpy", "scipy"} <= set(found["packages"])
    assert found["revision"] == "abc123"
    assert environment()["revision"] is None
    footer = replace(MANIFEST, environment={"packages": {"bestresponse": "1.2"}}).footer
    assert footer == "bestresponse 1.2, run abc"


def test_a_manifest_without_a_format_is_of_the_first(tmp_path):
    data = MANIFEST.to_json()
    del data["format"]
    assert Manifest.from_json(data).format == 1


def test_folders_that_hold_no_run_are_named(tmp_path):
    with pytest.raises(StoreError, match=r"no manifest\.json"):
        RunFolder.read(tmp_path)
    (tmp_path / "manifest.json").write_text("[1]")
    with pytest.raises(StoreError, match="not the manifest"):
        RunFolder.read(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        RunFolder.read(tmp_path)


def test_a_damaged_line_in_the_middle_is_an_error_with_its_number(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(encode_rows([{"a": 1}]) + b"nonsense\n" + encode_rows([{"b": 2}]))
    with pytest.raises(StoreError, match="line 2"):
        list(read_lines(path))


def test_text_with_lone_surrogates_and_control_characters_is_kept(tmp_path):
    lines = Lines(tmp_path / "x.jsonl")
    lines.append({"text": "a\ud800b\x00\u202e\n"})
    lines.close()
    assert next(read_lines(tmp_path / "x.jsonl")) == {"text": "a\ud800b\x00\u202e\n"}


def test_the_words_of_numbers_that_are_none_and_deep_lists_are_kept(tmp_path):
    deep = "end"
    for _ in range(300):
        deep = [deep]
    lines = Lines(tmp_path / "x.jsonl")
    lines.append({"text": "NaN of Infinity"}, {"deep": deep})
    lines.close()
    assert list(read_lines(tmp_path / "x.jsonl")) == [{"text": "NaN of Infinity"}, {"deep": deep}]


def test_a_disk_that_fills_up_in_the_middle_of_a_line_is_a_sentence_and_leaves_whole_lines(
    tmp_path, monkeypatch
):
    lines = Lines(tmp_path / "x.jsonl")
    lines.append({"a": 1})
    write, room = os.write, [4]

    def write_until_full(file, block):
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = write(file, block[: room[0]])
        room[0] -= written
        return written

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write_until_full)
        with pytest.raises(StoreError, match="the disk is full"):
            lines.append({"b": 2})
    assert list(read_raw(tmp_path / "x.jsonl")) == [encode_rows([{"a": 1}])]
    lines.append({"c": 3})
    lines.close()
    assert list(read_lines(tmp_path / "x.jsonl")) == [{"a": 1}, {"c": 3}]


def test_an_answer_whose_calls_cannot_be_kept_is_not_kept_either(tmp_path):
    # NaN is not JSON, so the line of the call cannot be written; an answer on disk always has its
    # calls on disk.
    answer = Submission("row", Decision("A", calls=(Call("m", {}, {"logprob": float("nan")}),)))
    with RunFolder.open(tmp_path, MANIFEST) as folder:
        with pytest.raises(ValueError, match="not JSON compliant"):
            folder.submit("s1", answer)
        assert folder.begun(set()) == {}


def test_refusals_of_the_system_come_with_advice():
    assert "choose another output folder" in str(
        explain_os_error(PermissionError(13, "no"), "writing x")
    )


def test_the_manifest_is_written_once_and_is_plain_json(tmp_path):
    RunFolder.open(tmp_path, MANIFEST).close()
    data = json.loads((tmp_path / "manifest.json").read_text())
    assert (data["run"], data["study"], data["config"], data["format"]) == (
        "abc",
        "bench",
        {"seed": 1},
        5,
    )
    assert RunFolder.read(tmp_path).manifest == MANIFEST


def test_a_run_of_another_version_is_refused_in_one_sentence(tmp_path):
    RunFolder.open(tmp_path, MANIFEST).close()
    file = tmp_path / "manifest.json"
    file.write_text(file.read_text().replace('"format": 5', '"format": 1'))
    with pytest.raises(StoreError, match="written by another version of bestresponse"):
        RunFolder.read(tmp_path)


def test_what_a_worker_encodes_is_read_back_as_it_was():
    play = StoredPlay("s1", {"game": 0}, a_record())
    assert decode_play(encode_plays([play])) == play
    calls, answer = encode_answer("s1", Submission("row", Decision("A")), {"seconds": 2})
    assert calls == b""
    assert decode_answer(answer) == Submission("row", Decision("A"))
    assert json.loads(answer)["seconds"] == 2
    assert json.loads(encode_answer("s1", Submission("row", Decision("A")))[1])["action"] == "A"


def test_another_function_of_the_same_name_does_not_go_on_with_a_run(tmp_path):
    def made_with(source):
        return replace(MANIFEST, models={"mine": {"identity": {"source": source}}})

    RunFolder.open(tmp_path, made_with("a1")).close()
    RunFolder.open(tmp_path, made_with("a1")).close()
    with pytest.raises(StoreError, match="made with another function called mine; rename yours"):
        RunFolder.open(tmp_path, made_with("b2"))


@pytest.mark.parametrize("mark", ["provider", "model", "sha256"])
def test_another_model_of_the_same_name_does_not_go_on_with_a_run(tmp_path, mark):
    def made_with(value):
        return replace(MANIFEST, models={"mine": {"identity": {mark: value, "threads": 1}}})

    RunFolder.open(tmp_path, made_with("a1")).close()
    with pytest.raises(StoreError, match="made with another model called mine; rename yours"):
        RunFolder.open(tmp_path, made_with("b2"))


def test_a_model_of_the_same_weights_goes_on_whatever_engine_it_runs_in(tmp_path):
    for engine in ("torch 1", "torch 2"):
        identity = {"sha256": "a1", "engine": engine, "threads": len(engine)}
        RunFolder.open(tmp_path, replace(MANIFEST, models={"mine": {"identity": identity}})).close()
    assert RunFolder.read(tmp_path).manifest.models["mine"]["identity"]["engine"] == "torch 1"


def test_a_model_that_is_no_function_may_join_a_run(tmp_path):
    RunFolder.open(tmp_path, MANIFEST).close()
    joined = replace(MANIFEST, models={"gpt": {"identity": {"model": "gpt"}}})
    RunFolder.open(tmp_path, joined).close()
    assert RunFolder.read(tmp_path).manifest == MANIFEST


def test_a_manifest_is_written_to_be_read_by_people(tmp_path):
    RunFolder.open(tmp_path, replace(MANIFEST, config={"name": "Zoë"})).close()
    lines = (tmp_path / "manifest.json").read_text("utf-8").splitlines()
    assert lines[:5] == [
        "{",
        '  "run": "abc",',
        '  "study": "bench",',
        '  "config": {',
        '    "name": "Zoë"',
    ]


def test_writing_beside_a_run_tells_where(tmp_path):
    with RunFolder.open(tmp_path, MANIFEST) as folder:
        assert folder.write_text("note.txt", "done") == tmp_path / "note.txt"
    assert (tmp_path / "note.txt").read_text("utf-8") == "done"


def sit_at(monkeypatch, name):
    """Let this process be on another machine."""
    monkeypatch.setattr(HostMachine, "find", classmethod(lambda cls: cls(f"boot-{name}", name)))


@pytest.fixture
def locked_for_one_machine(monkeypatch):
    """A network folder whose locks do not hold between machines."""
    monkeypatch.setattr(fcntl, "flock", lambda file, how: None)


def test_a_run_that_another_machine_is_writing_is_refused(
    tmp_path, monkeypatch, locked_for_one_machine
):
    sit_at(monkeypatch, "north")
    with RunFolder.open(tmp_path, MANIFEST) as folder:
        folder.finish("s1", {}, a_record())
        sit_at(monkeypatch, "south")
        with pytest.raises(StoreError, match=r"'north' wrote into .* seconds ago; wait"):
            RunFolder.open(tmp_path, MANIFEST)
        sit_at(monkeypatch, "north")
    sit_at(monkeypatch, "south")  # north has ended
    with RunFolder.open(tmp_path, MANIFEST) as folder:
        assert folder.finished() == {"s1"}


def test_a_machine_that_was_stopped_is_not_waited_for_forever(
    tmp_path, monkeypatch, locked_for_one_machine
):
    sit_at(monkeypatch, "north")
    lock = FolderLock(tmp_path)  # never released, as after a power cut
    lines = tmp_path / "records.jsonl"
    lines.touch()
    sit_at(monkeypatch, "south")
    # Six minutes ago, by the clock of the folder.
    now = lines.stat().st_mtime
    os.utime(lines, (now - 360, now - 360))
    FolderLock(tmp_path).release()
    assert (tmp_path / ".lock").read_bytes() == b""
    os.close(lock._file)


def test_a_lock_names_its_machine_while_it_is_held(tmp_path):
    lock = FolderLock(tmp_path)
    assert HostMachine.parse((tmp_path / ".lock").read_bytes()) == HostMachine.find()
    lock.release()
    assert HostMachine.parse((tmp_path / ".lock").read_bytes()) is None


def test_a_folder_that_cannot_be_locked_is_refused_in_a_sentence(tmp_path, monkeypatch):
    def refuse(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreError, match="No locks available"):
        FolderLock(tmp_path)
