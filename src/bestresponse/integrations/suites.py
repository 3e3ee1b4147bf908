"""The questions of a suite in the formats of other tools.

    hf-dataset     a dataset for Hugging Face, with its card and `eval.yaml`
    inspect-task   a task of Inspect
    lm-eval        a task of lm-evaluation-harness
    verifiers      an environment of verifiers

All of them are the same file `questions.jsonl` and a few lines that hand it to
`bestresponse.integrations`, which reads and measures replies as `bench` does.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

from bestresponse.core.errors import SettingError, UsageError
from bestresponse.integrations.bench_questions import (
    MODEL,
    SCORED,
    BenchQuestion,
    list_bench_questions,
)
from bestresponse.report.files import write_text
from bestresponse.runs.run import load_run
from bestresponse.studies.bench.config import BenchConfig

_FILE = "questions.jsonl"
_SUITES = get_args(get_type_hints(BenchConfig)["suite"])


def publish_suite(what: str, form: str, folder: Path) -> list[Path]:
    """Write the questions of a suite, or of a run of `bench`, for another tool."""
    config = choose_suite(what)
    name = f"bestresponse_{re.sub(r'[^a-z0-9]+', '_', Path(what).name.lower()).strip('_')}"
    questions = list(list_bench_questions(config))
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    written = [write_text(folder / _FILE, lines)]
    for file, text in SUITE_FORMS[form](name, questions).items():
        written.append(write_text(folder / file, text))
    return written


def choose_suite(what: str) -> BenchConfig:
    """Return the settings of a suite by its name, or of the questions of a run of `bench`."""
    if what in _SUITES:
        return BenchConfig(MODEL, suite=cast(Any, what), elicit="mixed")
    if not Path(what).exists():
        raise UsageError(
            f"there is no suite and no run {what!r}: expected one of {', '.join(_SUITES)}, or the"
            " folder of a run of `bench`"
        )
    run = load_run(what)
    settings = {**run.manifest.config, "model": [MODEL], "elicit": ["mixed"]}
    if run.study.name != "bench":
        raise UsageError(
            f"{what} is a run of {run.study.name}: only those of `bench` have questions"
        )
    try:
        config = BenchConfig.from_json(settings)
    except SettingError as error:
        raise UsageError(f"{what}: its questions have no mixed strategy ({error})") from None
    if config.is_in_turn:
        raise UsageError(f"{what} is about a game played in turn: only payoff tables are published")
    return config


def _write_dataset(name: str, questions: Sequence[BenchQuestion]) -> Mapping[str, str]:
    evaluation = {
        "name": name,
        "description": "Mixed strategies in payoff tables, measured against exact solutions.",
        "evaluation_framework": "inspect-ai",
        "tasks": [
            {
                "id": f"bench.{figure}",
                "split": "test",
                "field_spec": {"input": "prompt", "target": "measured_by"},
                "solvers": [
                    {"name": "system_message", "args": {"template": questions[0]["system"]}},
                    {"name": "generate"},
                ],
                "scorers": [{"name": "bestresponse/nash_gap_scorer"}],
            }
            for figure in SCORED
        ],
    }
    card = f"""---
license: mit
tags: [game-theory, nash-equilibrium]
configs:
- config_name: default
  data_files:
  - {{split: test, path: {_FILE}}}
---

# {name}

{len(questions):,} questions of `bestresponse bench`. A row holds what a model is asked (`system`,
`prompt`) and by what `bestresponse.integrations.bench_questions.measure_reply` measures its reply
(`measured_by`): {", ".join(SCORED)}, all 0 for an optimal one.
"""
    return {"README.md": card, "eval.yaml": json.dumps(evaluation, indent=2) + "\n"}


def _write_inspect(name: str, questions: Sequence[BenchQuestion]) -> Mapping[str, str]:
    text = f"""from pathlib import Path

from inspect_ai import Task, task

from bestresponse.integrations.inspect.tasks import ask_questions


@task
def {name}() -> Task:
    return ask_questions(Path(__file__).with_name("{_FILE}"))
"""
    return {f"{name}.py": text}


def _write_lm_eval(name: str, questions: Sequence[BenchQuestion]) -> Mapping[str, str]:
    helper = f"""from pathlib import Path

from datasets import Dataset

from bestresponse.integrations.bench_questions import measure_results, read_questions


def load(**settings):
    return {{"test": Dataset.from_list(read_questions(Path(__file__).with_name("{_FILE}")))}}


def write_prompt(question):
    return "\\n\\n".join(filter(None, (question["system"], question["prompt"])))
"""
    first = questions[0]
    metrics = "".join(
        f"  - {{metric: {figure}, aggregation: mean, higher_is_better: {figure == 'read'}}}\n"
        for figure in ("read", *SCORED)
    )
    task = f"""task: {name}
tag: bestresponse
custom_dataset: !function {name}_questions.load
output_type: generate_until
test_split: test
doc_to_text: !function {name}_questions.write_prompt
doc_to_target: ""
process_results: !function {name}_questions.measure_results
generation_kwargs:
  until: []
  max_gen_toks: {first["max_tokens"]}
  do_sample: {bool(first["temperature"])}
  temperature: {first["temperature"] or 0.0}
metric_list:
{metrics}metadata:
  version: 2.0
"""
    return {f"{name}.yaml": task, f"{name}_questions.py": helper}


def _write_verifiers(name: str, questions: Sequence[BenchQuestion]) -> Mapping[str, str]:
    text = f"""from pathlib import Path

from bestresponse.integrations.verifiers.environments import (
    ChatHarness,
    NashGapEnv,
    NashGapTaskset,
)


class Questions(NashGapTaskset):
    file = Path(__file__).with_name("{_FILE}")


__all__ = ["ChatHarness", "NashGapEnv", "Questions"]
"""
    return {f"{name}.py": text}


SUITE_FORMS: Mapping[str, Callable[[str, Sequence[BenchQuestion]], Mapping[str, str]]] = {
    "hf-dataset": _write_dataset,
    "inspect-task": _write_inspect,
    "lm-eval": _write_lm_eval,
    "verifiers": _write_verifiers,
}
"""How the questions of a suite are published."""
