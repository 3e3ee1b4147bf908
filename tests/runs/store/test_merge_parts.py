"""Which play is taken from which part: parts written by hand, a line for each answer, call and
record."""

from dataclasses import replace

import pytest

import bestresponse as br
from bestresponse.core.errors import StoreError, UsageError
from bestresponse.runs.store.folder import (
    Manifest,
    RunFolder,
    encode_rows,
    identify_settings,
    read_lines,
)
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench as bench_study

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* lacks plays"
)  # most parts here are not the whole
PART_FILES = ("submissions.jsonl", "calls.jsonl", "records.jsonl")
CONFIG = BenchConfig(model=("scripted",), num_games=1)
RUN = identify_settings("bench", CONFIG.to_json())
MANIFEST = Manifest(RUN, "bench", CONFIG.to_json(), created="2026-01-01")


def write_part(path, records="", answers="", calls="", **settings):
    """Write the folder of a part by hand; the lines of its files are (spec, content)."""
    folder = RunFolder(path, replace(MANIFEST, **settings))
    path.mkdir()
    folder.write_manifest()
    for name, text in (("records", records), ("submissions", answers), ("calls", calls)):
        rows = [dict(zip(("spec", "data"), word.split(":"), strict=True)) for word in text.split()]
        (path / f"{name}.jsonl").write_bytes(encode_rows(rows))
    return path


def read_merged(path):
    return {
        name: [(row["spec"], row["data"]) for row in read_lines(path / name)] for name in PART_FILES
    }


@pytest.fixture
def merge(tmp_path):
    return lambda *parts: read_merged(br.merge_runs(parts, tmp_path / "all").path)


def test_every_play_is_taken_whole_from_one_part(tmp_path, merge):
    one = write_part(tmp_path / "one", "p:1 p:1", "p:a p:b q:c r:d", "p:x q:y r:z s:lost")
    two = write_part(tmp_path / "two", "p:1", "p:a p:b q:e q:f r:g", "p:u q:v r:w")
    # p is finished in both and q has more answers in the second; r has as many in both, and nobody
    # answered in s.
    assert merge(two, one) == {
        "records.jsonl": [("p", "1")],
        "submissions.jsonl": [("p", "a"), ("p", "b"), ("r", "d"), ("q", "e"), ("q", "f")],
        "calls.jsonl": [("p", "x"), ("r", "z"), ("q", "v")],
    }


def test_a_play_finished_in_one_part_is_not_taken_from_one_that_has_more_answers(tmp_path, merge):
    one = write_part(tmp_path / "one", "", "p:a p:b p:c")
    two = write_part(tmp_path / "two", "p:1", "p:d")
    assert merge(one, two)["submissions.jsonl"] == [("p", "d")]


def test_an_output_that_is_there_is_written_over_only_as_a_part_of_the_whole(tmp_path, merge):
    one, two = write_part(tmp_path / "one", "p:1"), write_part(tmp_path / "two", "q:2")
    assert merge(one)["records.jsonl"] == [("p", "1")]
    with pytest.raises(
        UsageError, match="already exists: name it as a part too, or choose another output"
    ):
        merge(one, two)
    assert merge(two, tmp_path / "all")["records.jsonl"] == [("p", "1"), ("q", "2")]


def test_more_lines_than_are_written_at_a_time_are_all_there(tmp_path, merge):
    answers = [f"p{number}:a" for number in range(600)]
    found = merge(write_part(tmp_path / "one", answers=" ".join(answers)))
    assert [f"{spec}:{data}" for spec, data in found["submissions.jsonl"]] == answers


def test_what_an_interrupted_merging_left_is_not_taken(tmp_path, merge):
    part = write_part(tmp_path / "one", answers="p:a")
    (tmp_path / "all" / f"bench-{RUN}").mkdir(parents=True)
    (tmp_path / "all" / f"bench-{RUN}" / "submissions.merging").write_text(
        '{"spec":"old","data":"b"}\n'
    )
    assert merge(part)["submissions.jsonl"] == [("p", "a")]


@pytest.mark.parametrize("name", ["submissions", "calls"])
def test_a_line_that_belongs_to_no_play_is_named(tmp_path, merge, name):
    part = write_part(tmp_path / "one", answers="p:a")
    (part / f"{name}.jsonl").write_bytes(encode_rows([{"spec": "p"}, {"spec": 3}]))
    with pytest.raises(StoreError, match=rf"{name}\.jsonl, line 2: expected the id of a spec"):
        merge(part)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"study": "water"}, r"study differs \('bench' and 'water'\)"),
        ({"run": "xyz"}, rf"run differs \('{RUN}' and 'xyz'\)"),
        (
            {"config": replace(CONFIG, seed=7, num_rows=5).to_json()},
            r"config differs \(num_rows, seed\)",
        ),
        ({"prompts": {"bench/mixed": "f00"}}, r"prompts differs \(bench/mixed\)"),
    ],
)
def test_parts_that_differ_are_refused_with_what_differs(tmp_path, merge, settings, why):
    one = write_part(tmp_path / "one", "p:1")
    other = write_part(tmp_path / "two", "q:1", **settings)
    with pytest.raises(UsageError, match=f"one and .*two are not parts of one run: {why}"):
        merge(one, other)


def test_the_whole_is_as_old_as_its_first_part_and_has_the_models_of_all(tmp_path, merge):
    one = write_part(
        tmp_path / "one", "p:1", created="2026-01-03", models={"a": {"identity": {"model": "a"}}}
    )
    two = write_part(
        tmp_path / "two", "q:1", created="2026-01-02", models={"b": {"identity": {"model": "b"}}}
    )
    merge(one, two)
    manifest = RunFolder.read(tmp_path / "all" / f"bench-{RUN}").manifest
    assert (manifest.created, sorted(manifest.models)) == ("2026-01-02", ["a", "b"])


def test_the_whole_is_complete_when_every_planned_play_has_its_record(tmp_path):
    one, two = (spec.id for spec in bench_study.list_specs(replace(CONFIG, num_games=2)))
    config = replace(CONFIG, num_games=2).to_json()
    settings = {"config": config, "run": identify_settings("bench", config)}
    first = write_part(tmp_path / "first", f"{one}:1", f"{two}:a", **settings)
    second = write_part(tmp_path / "second", f"{two}:1", **settings)
    assert not br.merge_runs([first], tmp_path / "some").complete
    assert br.merge_runs([first, second], tmp_path / "all").complete


def test_parts_without_a_play_make_no_run(tmp_path, merge):
    with pytest.raises(
        UsageError, match=f"the parts of bench {RUN} hold no plays: there is nothing to merge"
    ):
        merge(write_part(tmp_path / "one"))


def test_a_folder_of_several_runs_is_refused_with_their_names(tmp_path, merge):
    (tmp_path / "both").mkdir()
    write_part(tmp_path / "both" / "one", "p:1")
    write_part(tmp_path / "both" / "two", "q:1")
    with pytest.raises(UsageError, match=r"both holds several runs \(one, two\); name one of them"):
        merge(tmp_path / "both")
    assert merge(tmp_path / "both" / "one")["records.jsonl"] == [("p", "1")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("run", "/../../victim"),
        ("run", "abc"),
        ("run", ""),
        ("study", "bench/../../victim"),
        ("study", "/../victim"),
    ],
)
def test_a_part_that_names_another_folder_writes_nothing_into_it(tmp_path, name, value):
    part = write_part(tmp_path / "part", "p:1", **{name: value})
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "report.html").write_text("of somebody else")
    with pytest.raises(StoreError, match=r"names the run|cannot be read here"):
        br.merge_runs([part], tmp_path / "all")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["part", "victim"]
    assert [(path.name, path.read_text()) for path in victim.iterdir()] == [
        ("report.html", "of somebody else")
    ]


def test_a_run_that_is_not_that_of_its_settings_is_refused_with_both(tmp_path, merge):
    part = write_part(tmp_path / "part", "p:1", run="/../../victim")
    why = rf"names the run '/\.\./\.\./victim', but its settings are those of run {RUN}"
    with pytest.raises(StoreError, match=why):
        merge(part)
