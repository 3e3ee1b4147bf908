"""The dataset card of an export: what the rows are, how many there are, and how they were made."""

from __future__ import annotations

from bestresponse.studies.improve.rows import ExportCounts, ExportSettings

_COLUMNS = {
    "sft": (
        "| `messages` | the conversation: system, user, assistant |\n"
        "| `answer` | what the assistant says |"
    ),
    "rl": (
        "| `prompt` | what is asked, as messages |\n"
        "| `answer` | the solver's answer, for comparison |"
    ),
}
_LICENSE = "MIT"
_TAGS = ("game-theory", "nash-equilibrium", "reasoning")


def write_card(settings: ExportSettings, written: ExportCounts) -> str:
    """Write the card as Hugging Face reads it: a header in YAML, then Markdown."""
    counts = written["counts"]
    paths = "\n".join(
        f'      - split: {name}\n        path: "{name}-*.jsonl"'
        for name, count in counts.items()
        if count
    )
    tags = "\n".join(f"  - {tag}" for tag in _TAGS)
    rows = "\n".join(f"| {name} | {count:,} |" for name, count in counts.items())
    made = "\n".join(f"| {name} | {_write(value)} |" for name, value in settings.items())
    notes = "".join(f"- {note}\n" for note in written["notes"])
    return f"""---
license: {_LICENSE.lower()}
language:
  - en
tags:
{tags}
configs:
  - config_name: default
    data_files:
{paths}
---

# Solved games: {settings["games"]}

Questions about games as `bestresponse bench` asks them, with the solver's answers. Every game is
drawn and solved by `bestresponse export`; nothing comes from a model or a person.

| column | |
|---|---|
{_COLUMNS[settings["purpose"]]}
| `task` | the game as JSON text, by which `bestresponse.rewards.score_reply` measures any answer |

| split | rows |
|---|---|
{rows}

Two games that differ by the order of actions, by who is which player or by a positive affine change
of payoffs are of one class. A class is in one split only, so no game of a test is a relabelled game
of the training.
{notes}
## How it was made

| setting | |
|---|---|
{made}

The hash of the prompts is `{written["prompts"]}`; `manifest.json` holds the SHA-256 of every file.
Licence: {_LICENSE}.
"""


def _write(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)
