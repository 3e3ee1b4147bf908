"""A recorded run in the formats of places where results are published.

    every-eval-ever   one JSON file for each model with all its numbers, and beside it one line for
                      each question that was asked (schema 0.2.2 of Every Eval Ever)
    hf                what a model repository on Hugging Face keeps in `.eval_results`
    inspect-log       one log of Inspect for each model, for `inspect view` and Inspect Scout
    paper             every figure and table as LaTeX, Markdown, PDF and SVG, and results.csv

All are written from the numbers of results.csv and from the recorded calls.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.report.files import write_text
from bestresponse.report.frames import Frame
from bestresponse.report.stats.statistics import as_interval
from bestresponse.runs.reporting.results import SHARES, ResultRow, list_results, name_suite
from bestresponse.runs.run import Run
from bestresponse.runs.settings import RunSettings

FinishedRun = Run[RunSettings]
Turns = list[tuple[str, str]]
"""Who said what."""
SCHEMA = "0.2.2"
_RIGHT = 0.01
"""An answer that loses at most this share of the payoff range counts as right."""
_LOSSES = ("exploitability_normalised", "gap_normalised", "regret_normalised")
"""What a question may have lost: the first that its row has."""
_DATASET = re.compile(r"\w[\w.-]{0,95}/\w[\w.-]{0,95}", re.ASCII)


def publish_run(run: FinishedRun, form: str, folder: Path, dataset: str = "") -> list[Path]:
    """Write a finished run in one of the `RUN_FORMS` into a folder, and return the files.

    `dataset` is OWNER/NAME on Hugging Face.
    """
    if not run.complete:
        raise UsageError(
            f"{run.path} is not finished: run its command again, which plays what is missing, and"
            " publish it then"
        )
    rows = [row for row in list_results(run) if row["group"] != "baseline"]
    if not any(row["better"] for row in rows):
        raise UsageError(
            f"{run.path} holds no number of which is known whether lower or higher is better"
        )
    if dataset and not _DATASET.fullmatch(dataset):
        raise UsageError(f"--data: expected OWNER/NAME on Hugging Face, got {dataset!r}")
    folder.mkdir(parents=True, exist_ok=True)
    return RUN_FORMS[form](run, rows, folder, dataset)


def _make_folder(folder: Path, place: Path) -> Path:
    """Make a folder inside another; StoreError where a link leads out of it."""
    made = folder / place
    if made.resolve() != folder.resolve() / place:
        raise StoreError(f"{made} leads through a symbolic link; nothing was written there")
    made.mkdir(parents=True, exist_ok=True)
    return made


def identify_model(name: str) -> str:
    """Return an id of the form DEVELOPER/MODEL, without signs that no such id may have.

    >>> identify_model("openai/gpt-4o"), identify_model("http://localhost:8000/v1#my model")
    ('openai/gpt-4o', 'unknown/my-model')
    """
    served = name.rpartition("#")[2] if "://" in name else name
    parts = (re.sub(r"[^\w.-]+", "-", part, flags=re.ASCII) for part in served.split("/"))
    kept = list(filter(None, (part.strip(".-") for part in parts)))
    if not kept:
        kept = [hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12]]
    return f"{kept[0] if len(kept) > 1 else 'unknown'}/{kept[-1]}"


def _write_paper(
    run: FinishedRun, rows: Sequence[ResultRow], folder: Path, dataset: str
) -> list[Path]:
    results = write_text(folder / "results.csv", Frame(ResultRow, rows).to_csv())
    return [*run.write_figures(folder), results]


def _write_hub(
    run: FinishedRun, rows: Sequence[ResultRow], folder: Path, dataset: str
) -> list[Path]:
    """Write a file of `.eval_results` for each model; JSON is YAML too."""
    if not dataset:
        raise UsageError(
            "name the dataset on Hugging Face that these numbers are about: --data OWNER/NAME"
            " (`bestresponse publish SUITE --as hf-dataset` writes one)"
        )
    written: list[Path] = []
    for model, known in _group_by_model(rows).items():
        entries = [_describe_entry(row, dataset) for row in known if row["better"]]
        place = Path(identify_model(model).replace("/", "--"), ".eval_results")
        path = _make_folder(folder, place)
        text = json.dumps(entries, indent=2) + "\n"
        written.append(write_text(path / f"bestresponse-{run.manifest.run}.yaml", text))
    return written


def _describe_entry(row: ResultRow, dataset: str) -> dict[str, object]:
    """Describe a number as an entry of `.eval_results`; its task is the id of its metric."""
    ends = "" if row["low"] is None else f", {row['level']:.0%} [{row['low']}, {row['high']}]"
    return {
        "dataset": {"id": dataset, "task_id": row["metric"]},
        "value": row["value"],
        "date": row["date"][:10],
        "notes": (
            f"{row['title']}, {row['better']} is better{ends}; {row['group']}; {row['suite']};"
            f" {row['version']}, run {row['run']}"
        ),
    }


def _group_by_model(rows: Sequence[ResultRow]) -> Mapping[str, list[ResultRow]]:
    groups: dict[str, list[ResultRow]] = defaultdict(list)
    for row in rows:
        groups[row["model"]].append(row)
    return groups


def _write_every_eval_ever(
    run: FinishedRun, rows: Sequence[ResultRow], folder: Path, dataset: str
) -> list[Path]:
    written: list[Path] = []
    calls = _group_calls(run)
    directed = [row for row in rows if row["better"]]
    for model, known in _group_by_model(directed).items():
        named = Path("data", _as_name(known[0]["suite"]), identify_model(model))
        place = _make_folder(folder, named)
        record = _describe_run(run, model, known)
        stem = f"{run.manifest.run}-{_as_name(model)}"
        samples = list(_list_samples(run, record, model, calls))
        if samples:
            text = "".join(json.dumps(sample) + "\n" for sample in samples)
            path = write_text(place / f"{stem}_samples.jsonl", text)
            written.append(path)
            record["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": path.name,
                "hash_algorithm": "sha256",
                "checksum": hashlib.sha256(path.read_bytes()).hexdigest(),
                "total_rows": len(samples),
            }
        text = json.dumps(record, indent=2) + "\n"
        written.append(write_text(place / f"{stem}.json", text))
    return written


def _as_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII).strip(".-") or "unnamed"


def _describe_run(run: FinishedRun, model: str, rows: Sequence[ResultRow]) -> dict[str, object]:
    """Describe all numbers of a model as one record."""
    manifest = run.manifest
    seconds = str(int(datetime.fromisoformat(manifest.created).timestamp()))
    identity = identify_model(model)
    suite = rows[0]["suite"]
    version = manifest.environment.get("packages", {}).get("bestresponse", "unknown")
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"bestresponse.{suite}/{identity.replace('/', '_')}/{seconds}",
        "evaluation_timestamp": manifest.created,
        "retrieved_timestamp": seconds,
        "source_metadata": {
            "source_name": "bestresponse",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": {"run": manifest.run},
        },
        "eval_library": {
            "name": "bestresponse",
            "version": version,
            "additional_details": {
                "revision": str(manifest.environment.get("revision") or "unknown"),
                "prompts": json.dumps(dict(manifest.prompts)),
            },
        },
        "model_info": {
            "name": model,
            "id": identity,
            "developer": identity.partition("/")[0],
            "additional_details": {"settings": json.dumps(dict(manifest.config), default=str)},
        },
        "evaluation_results": [_describe_result(row) for row in rows],
    }


def _describe_result(row: ResultRow) -> dict[str, object]:
    metric = row["metric"]
    config: dict[str, object] = {
        "evaluation_description": row["title"],
        "metric_id": f"bestresponse.{metric}",
        "metric_name": row["title"],
        "lower_is_better": row["better"] == "lower",
    }
    if metric.partition(".")[2] in SHARES:
        config |= {"score_type": "continuous", "min_score": 0.0, "max_score": 1.0}
    details: dict[str, object] = {"score": row["value"], "details": {"group": row["group"]}}
    if row["low"] is not None:
        details["uncertainty"] = {
            "confidence_interval": {
                "lower": row["low"],
                "upper": row["high"],
                "confidence_level": row["level"],
                "method": row["method"],
            },
            "num_samples": row["n"],
        }
    return {
        "evaluation_result_id": f"{metric}/{row['group']}",
        "evaluation_name": f"bestresponse {row['suite']}",
        "evaluation_timestamp": row["date"],
        "source_data": {
            "dataset_name": f"bestresponse {row['suite']}",
            "source_type": "other",
            "source_id": row["run"],
            "source_version": row["version"],
        },
        "metric_config": config,
        "score_details": details,
        "generation_config": {"generation_args": {"execution_command": row["command"]}},
    }


def _group_calls(run: FinishedRun) -> Mapping[str, list[Turns]]:
    """Return by question what was said in each call, without replies that are repeated."""
    calls: dict[str, list[Turns]] = defaultdict(list)
    for call in run.folder.calls():
        turns = [(role, text) for role, text in call["request"]["messages"] if role != "assistant"]
        calls[call["spec"]].append([*turns, ("assistant", call["reply"]["text"])])
    return calls


@dataclass(frozen=True, slots=True)
class _Question:
    """What a model was asked, what it said, call by call, and what its answer lost."""

    spec: str
    asked: Sequence[Turns]
    answer: object
    losses: Mapping[str, float]
    """By the names in `_LOSSES`; empty where there was nothing to be read."""

    @property
    def turns(self) -> Turns:
        return list(chain.from_iterable(self.asked))


def _list_questions(
    run: FinishedRun,
    model: str,
    calls: Mapping[str, Sequence[Turns]],
) -> Iterator[_Question]:
    """Yield the questions that a model was asked."""
    for row in run.rows():
        asked = calls.get(str(row.get("spec")), ())
        known = {name: row[name] for name in _LOSSES if row.get(name) is not None}
        if asked and row.get("model") == model:
            losses = {name: as_interval(value).estimate for name, value in known.items()}  # type: ignore[arg-type]
            yield _Question(str(row["spec"]), asked, row.get("strategy"), losses)


def _list_samples(
    run: FinishedRun,
    record: Mapping[str, object],
    model: str,
    calls: Mapping[str, Sequence[Turns]],
) -> Iterator[Mapping[str, object]]:
    """Describe each question whose loss is known as a line of Every Eval Ever."""
    for question in _list_questions(run, model, calls):
        if not question.losses:
            continue
        name, loss = next(iter(question.losses.items()))
        turns = question.turns
        text = "\n\n".join(said for role, said in turns if role != "assistant")
        single = len(question.asked) == 1
        sample: dict[str, object] = {
            "schema_version": SCHEMA,
            "evaluation_id": record["evaluation_id"],
            "model_id": identify_model(model),
            "evaluation_name": f"bestresponse {name_suite(run.manifest)}",
            "sample_id": question.spec,
            "sample_hash": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
            "interaction_type": "single_turn" if single else "multi_turn",
            "input": {"raw": text, "reference": []},
            "output": {"raw": [turns[-1][1]]} if single else None,
            "messages": None,
            "answer_attribution": [
                {
                    "turn_idx": 0 if single else len(turns) - 1,
                    "source": "output.raw" if single else f"messages[{len(turns) - 1}].content",
                    "extracted_value": json.dumps(question.answer),
                    "extraction_method": "custom",
                    "is_terminal": True,
                }
            ],
            "evaluation": {
                "score": loss,
                "is_correct": loss <= _RIGHT,
                "num_turns": len(question.asked),
            },
            "metadata": {"score": name},
        }
        if not single:
            sample["messages"] = [
                {"turn_idx": place, "role": role, "content": said}
                for place, (role, said) in enumerate(turns)
            ]
        yield sample


def _write_inspect_log(
    run: FinishedRun, rows: Sequence[ResultRow], folder: Path, dataset: str
) -> list[Path]:
    """Write a log of Inspect (version 2 of its format) for each model."""
    written: list[Path] = []
    calls = _group_calls(run)
    for model, known in _group_by_model(rows).items():
        questions = list(_list_questions(run, model, calls))
        record = _describe_log(run, model, known, questions)
        # Inspect lists files in a folder only if their names begin with a time like this.
        begun = run.manifest.created[:19].replace(":", "-")
        path = folder / f"{begun}_{run.manifest.run}_{_as_name(model)}.json"
        written.append(write_text(path, json.dumps(record, indent=2) + "\n"))
    return written


def _describe_log(
    run: FinishedRun,
    model: str,
    rows: Sequence[ResultRow],
    questions: Sequence[_Question],
) -> dict[str, object]:
    manifest = run.manifest
    suite = rows[0]["suite"]
    named = [question.spec for question in questions]
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "run_id": manifest.run,
            "created": manifest.created,
            "task": f"bestresponse/{manifest.study}",
            "task_id": manifest.run,
            "task_args": json.loads(json.dumps(dict(manifest.config), default=str)),
            "dataset": {"name": suite, "samples": len(named), "sample_ids": named},
            "model": identify_model(model),
            "config": {},
            "metadata": {"model": model, "command": rows[0]["command"]},
        },
        "plan": {"name": "plan", "steps": []},
        "results": {
            "total_samples": len(named),
            "completed_samples": len(named),
            "scores": [_describe_score(row) for row in rows],
        },
        "stats": {"started_at": manifest.created, "completed_at": rows[0]["date"]},
        "samples": [_describe_sample(question, identify_model(model)) for question in questions],
    }


def _describe_score(row: ResultRow) -> dict[str, object]:
    numbers = {name: row[name] for name in ("value", "low", "high") if row[name] is not None}
    metrics = {name: {"name": name, "value": number} for name, number in numbers.items()}
    return {
        "name": f"{row['metric']} {row['group']}".strip(),
        "scorer": "bestresponse",
        "metrics": metrics,
        "metadata": {"title": row["title"], "better": row["better"], "n": row["n"]},
    }


def _describe_sample(question: _Question, model: str) -> dict[str, object]:
    *before, (_, reply) = question.turns
    said = [{"role": role, "content": text} for role, text in before]
    answer = {"role": "assistant", "content": reply, "source": "generate"}
    scored = {"value": question.losses, "answer": json.dumps(question.answer)}
    return {
        "id": question.spec,
        "epoch": 1,
        "input": said[: len(question.asked[0]) - 1],
        "target": "",
        "messages": [*said, answer],
        "output": {"model": model, "choices": [{"message": answer, "stop_reason": "stop"}]},
        "scores": {"bestresponse": scored} if question.losses else {},
    }


Form = Callable[[FinishedRun, Sequence[ResultRow], Path, str], list[Path]]
RUN_FORMS: Mapping[str, Form] = {
    "every-eval-ever": _write_every_eval_ever,
    "hf": _write_hub,
    "inspect-log": _write_inspect_log,
    "paper": _write_paper,
}
"""How a run is published."""
