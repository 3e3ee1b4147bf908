"""A run in the formats of other places: what each demands, and the numbers of results.csv."""

import hashlib
import json

import pytest
from jsonschema import Draft7Validator
from sample_runs import MAKERS, bench_run, tree_run

import bestresponse as br
from bestresponse.core.errors import StoreError, UsageError
from bestresponse.runs.publishing import identify_model, publish_run
from bestresponse.runs.reporting.results import list_results

TEXT = {"type": "string"}
TEXTS = {"type": "object", "additionalProperties": TEXT}
NUMBER = {"type": "number"}


def closed(required, optional=()):
    """An object with these fields and no others."""
    fields = {**required, **dict(optional)}
    return {
        "type": "object",
        "required": list(required),
        "properties": fields,
        "additionalProperties": False,
    }


RESULT = closed(
    {
        "evaluation_result_id": TEXT,
        "evaluation_name": TEXT,
        "evaluation_timestamp": TEXT,
        "source_data": closed(
            {
                "dataset_name": TEXT,
                "source_type": {"const": "other"},
                "source_id": TEXT,
                "source_version": TEXT,
            }
        ),
        "metric_config": closed(
            {
                "evaluation_description": TEXT,
                "metric_id": TEXT,
                "metric_name": TEXT,
                "lower_is_better": {"type": "boolean"},
            },
            {"score_type": {"const": "continuous"}, "min_score": NUMBER, "max_score": NUMBER},
        ),
        "score_details": closed(
            {"score": NUMBER, "details": TEXTS},
            {
                "uncertainty": closed(
                    {
                        "confidence_interval": closed(
                            {
                                "lower": NUMBER,
                                "upper": NUMBER,
                                "confidence_level": {"type": "number", "minimum": 0, "maximum": 1},
                                "method": TEXT,
                            }
                        ),
                        "num_samples": {"type": "integer"},
                    }
                )
            },
        ),
        "generation_config": closed({"generation_args": closed({"execution_command": TEXT})}),
    }
)
RECORD = closed(
    {
        "schema_version": {"const": "0.2.2"},
        "evaluation_id": TEXT,
        "evaluation_timestamp": TEXT,
        "retrieved_timestamp": {"type": "string", "pattern": r"^\d+$"},
        "source_metadata": closed(
            {
                "source_name": TEXT,
                "source_type": {"const": "evaluation_run"},
                "source_organization_name": TEXT,
                "evaluator_relationship": {"const": "other"},
                "additional_details": TEXTS,
            }
        ),
        "eval_library": closed({"name": TEXT, "version": TEXT, "additional_details": TEXTS}),
        "model_info": closed(
            {
                "name": TEXT,
                "id": {"type": "string", "pattern": r"^[\w.-]+/[\w.-]+$"},
                "developer": TEXT,
                "additional_details": TEXTS,
            }
        ),
        "evaluation_results": {"type": "array", "minItems": 1, "items": RESULT},
    },
    {
        "detailed_evaluation_results": closed(
            {
                "format": {"const": "jsonl"},
                "file_path": TEXT,
                "hash_algorithm": {"const": "sha256"},
                "checksum": TEXT,
                "total_rows": {"type": "integer"},
            }
        )
    },
)
"""What Every Eval Ever demands of the fields that are written, in words of our own: its schema has
more fields."""


@pytest.fixture(scope="module", params=list(MAKERS))
def sample(request, tmp_path_factory):
    return MAKERS[request.param][0](tmp_path_factory.mktemp(request.param))


def read_records(folder):
    return [json.loads(path.read_text("utf-8")) for path in sorted(folder.rglob("*.json"))]


def test_every_study_is_published_as_the_schema_demands(sample, tmp_path):
    rows = [row for row in list_results(sample) if row["group"] != "baseline" and row["better"]]
    if not rows:
        with pytest.raises(UsageError, match="whether lower or higher is better"):
            publish_run(sample, "every-eval-ever", tmp_path)
        return
    publish_run(sample, "every-eval-ever", tmp_path)
    records = read_records(tmp_path)
    for record in records:
        assert not list(Draft7Validator(RECORD).iter_errors(record))
        try:
            from every_eval_ever.validate import validate  # type: ignore[import-not-found]
        except ImportError:
            continue
        assert not validate(record)
    results = [result for record in records for result in record["evaluation_results"]]
    scores = sorted(result["score_details"]["score"] for result in results)
    assert scores == sorted(row["value"] for row in rows)
    assert len({record["evaluation_id"] for record in records}) == len(records)


def test_every_question_has_a_line_with_its_loss(tmp_path):
    run = bench_run(tmp_path / "run", num_games=2)
    publish_run(run, "every-eval-ever", tmp_path / "published")
    [record] = read_records(tmp_path / "published")
    [path] = (tmp_path / "published").rglob("*_samples.jsonl")
    details = record["detailed_evaluation_results"]
    assert (details["file_path"], details["total_rows"]) == (path.name, 2)
    assert details["checksum"] == hashlib.sha256(path.read_bytes()).hexdigest()
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    asked = [row for row in run.rows() if row["model"] == "scripted"]
    for line, row in zip(lines, asked, strict=True):
        assert line["sample_id"] == row["spec"]
        assert line["evaluation"]["score"] == row["exploitability_normalised"]
        assert line["evaluation"]["is_correct"] == (row["exploitability_normalised"] <= 0.01)
        assert (line["interaction_type"], line["messages"]) == ("single_turn", None)
        assert line["output"]["raw"] == ['{"A": 0.5, "B": 0.5}']
        assert "Your possible actions" in line["input"]["raw"]
    mean = next(
        result["score_details"]["score"]
        for result in record["evaluation_results"]
        if result["metric_config"]["metric_id"] == "bestresponse.bench.exploitability_normalised"
    )
    assert mean == pytest.approx(sum(line["evaluation"]["score"] for line in lines) / 2)


def test_a_question_that_is_asked_again_is_a_conversation(tmp_path):
    answers = iter(["no idea", "ANSWER: A: 0.5, B: 0.5"])
    run = br.bench(
        lambda prompt: next(answers),
        num_games=1,
        num_rows=2,
        num_cols=2,
        attempts=2,
        workers=1,
        output_dir=tmp_path / "run",
    )
    publish_run(run, "every-eval-ever", tmp_path / "published")
    [path] = (tmp_path / "published").rglob("*_samples.jsonl")
    line = json.loads(path.read_text("utf-8"))
    said = [turn["content"] for turn in line["messages"] if turn["role"] == "assistant"]
    assert (line["interaction_type"], line["output"]) == ("multi_turn", None)
    assert said == ["no idea", "ANSWER: A: 0.5, B: 0.5"]
    assert line["evaluation"]["num_turns"] == 2


def test_the_entries_of_hugging_face_name_dataset_task_and_value(tmp_path):
    run = tree_run(tmp_path / "run")
    files = publish_run(run, "hf", tmp_path / "published", "someone/games")
    [path] = [file for file in files if "unknown--scripted" in str(file)]
    assert path.parent.name == ".eval_results"
    entries = json.loads(path.read_text("utf-8"))
    known = {
        row["metric"]: row["value"]
        for row in list_results(run)
        if row["model"] == "scripted" and row["better"]
    }
    for entry in entries:
        assert entry["dataset"]["id"] == "someone/games"
        assert entry["value"] == known[entry["dataset"]["task_id"]]
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    assert len(hub.parse_eval_result_entries(entries)) == len(entries)


def test_a_log_for_inspect_has_what_was_said_and_every_number(tmp_path):
    run = bench_run(tmp_path / "run", num_games=2)
    [path] = publish_run(run, "inspect-log", tmp_path / "published")
    log = json.loads(path.read_text("utf-8"))
    assert (log["version"], log["status"]) == (2, "success")
    assert (log["eval"]["task"], log["eval"]["model"]) == ("bestresponse/bench", "unknown/scripted")
    scores = {score["name"]: score["metrics"] for score in log["results"]["scores"]}
    rows = [row for row in list_results(run) if row["model"] == "scripted"]
    assert len(scores) == len(rows)
    for row in rows:
        score = scores[f"{row['metric']} {row['group']}".strip()]
        assert score["value"]["value"] == row["value"]
        assert ("low" in score) == (row["low"] is not None)
    asked = [row for row in run.rows() if row["model"] == "scripted"]
    for sample, row in zip(log["samples"], asked, strict=True):
        assert [message["role"] for message in sample["messages"]] == [
            *(message["role"] for message in sample["input"]),
            "assistant",
        ]
        assert sample["messages"][-1]["content"] == '{"A": 0.5, "B": 0.5}'
        value = sample["scores"]["bestresponse"]["value"]
        assert value["exploitability_normalised"] == row["exploitability_normalised"]
        assert value["gap_normalised"] == row["gap_normalised"]


def test_a_paper_gets_figures_tables_and_the_numbers(tmp_path):
    run = bench_run(tmp_path / "run")
    files = publish_run(run, "paper", tmp_path / "published")
    assert {file.suffix for file in files} == {".tex", ".md", ".svg", ".pdf", ".csv"}


def test_a_run_that_is_not_finished_is_refused(tmp_path):
    run = bench_run(tmp_path / "run")
    records = run.path / "records.jsonl"
    records.write_bytes(b"".join(records.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(UsageError, match="is not finished: run its command again"):
        publish_run(br.load_run(run.path), "paper", tmp_path / "published")


@pytest.mark.parametrize("dataset", ["", "games", "a/b/c", "../x"])
def test_a_dataset_that_is_none_is_refused(dataset, tmp_path):
    run = bench_run(tmp_path / "run")
    with pytest.raises(UsageError, match=r"OWNER/NAME"):
        publish_run(run, "hf", tmp_path / "published", dataset)


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("openai/gpt-4o", "openai/gpt-4o"),
        ("vllm/Qwen/Qwen3-0.6B", "vllm/Qwen3-0.6B"),
        ("smollm2", "unknown/smollm2"),
        ("http://localhost:8000/v1#my model", "unknown/my-model"),
        ("../../etc/passwd", "etc/passwd"),
        ("模型", f"unknown/{hashlib.sha256('模型'.encode()).hexdigest()[:12]}"),
    ],
)
def test_a_name_that_can_be_no_id_elsewhere_becomes_one(name, identity):
    assert identify_model(name) == identity


def test_a_metric_without_an_interval_has_no_uncertainty(tmp_path):
    run = tree_run(tmp_path / "run")
    publish_run(run, "every-eval-ever", tmp_path / "published")
    stated = {row["value"]: row["low"] for row in list_results(run) if row["group"] != "baseline"}
    for record in read_records(tmp_path / "published"):
        for result in record["evaluation_results"]:
            details = result["score_details"]
            known = stated[details["score"]] is not None
            assert ("uncertainty" in details) == known
    assert None in stated.values()


@pytest.mark.parametrize("form", ["hf", "every-eval-ever"])
def test_nothing_is_published_through_a_link(form, tmp_path):
    run = tree_run(tmp_path / "run")
    first, second = tmp_path / "first", tmp_path / "second"
    file, *_ = publish_run(run, form, first, "someone/games")
    inside = file.relative_to(first).parts[0]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    second.mkdir()
    (second / inside).symlink_to(elsewhere)
    with pytest.raises(StoreError, match="leads through a symbolic link"):
        publish_run(run, form, second, "someone/games")
    assert list(elsewhere.iterdir()) == []


def test_numbers_of_attempts_name_the_model_and_the_game(tmp_path):
    run = br.verify_model(
        lambda prompt: "I follow my heart.\nANSWER: R",
        "hawk-dove-lelma",
        repeats=1,
        translator="rules",
        output_dir=tmp_path,
    )
    rows = list_results(run)
    assert {row["suite"] for row in rows} == {"hawk-dove-lelma"}
    assert "first" in {row["group"] for row in rows}
    assert "first" not in {row["model"] for row in rows}
