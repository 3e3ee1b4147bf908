"""A recorded steering run done again from the raw replies of its models, and compared answer by answer."""

from __future__ import annotations

import json

from bestresponse.core.errors import BestResponseError
from bestresponse.core.json import canonical
from bestresponse.games.dialogue.recorded import PERSON, Book, Entry
from bestresponse.runs.replay import Replay, recorded_models
from bestresponse.runs.store.folder import RunFolder
from bestresponse.studies.steer.answers import MemoryAnswers, read_answers
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.session import SteerResults, find_answers, run
from bestresponse.studies.steer.summary import summarise

__all__ = ["replay_answers"]

_DECIMALS = 6
_COMPARED = ("nash_conv", "unguided_nash_conv", "cfr_gain", "margin", "fresh", "follow_rate", "second_referee",
             "payoffs", "prompts", "table", "held_out")  # fmt: skip


def replay_answers(config: SteerConfig, folder: RunFolder) -> Replay:
    """Ask everything again, of models that give only the replies on record; compare the answers and the figures."""
    path = find_answers(config, folder.manifest, folder.path.parent)
    recorded = read_answers(path)
    kept = MemoryAnswers(Book(entry for entry in recorded.entries if entry.by == PERSON))
    models = recorded_models(RunFolder(path, folder.manifest))
    try:
        steered, _ = run(config, models, kept)
    except BestResponseError as error:
        return Replay(0, (f"the run cannot be made again: {error}",), "answers")
    different = [_difference(entry, recorded) for entry in kept.book.entries]
    wrong = [why for why in different if why]
    missing = [f"game {one.number}: {one.built.last_failure}" for one in steered.games if one.built.failed]
    return Replay(len(different) - len(wrong), (*_other_figures(folder, steered), *missing, *wrong), "answers")


def _difference(entry: Entry, recorded: Book) -> str:
    """How an answer differs from the recorded one; empty where it does not."""
    before = recorded.get(entry.key, entry.number)
    if before == entry:
        return ""
    was = "none" if before is None else repr(before.text)[:80]
    return f"{entry.by}, draw {entry.number} of {entry.key}: {repr(entry.text)[:80]}, recorded {was}"


def _other_figures(folder: RunFolder, steered: SteerResults) -> list[str]:
    """The figures that do not come out as the finished run told them."""
    try:
        told = json.loads((folder.path / "summary.json").read_text("utf-8"))
    except FileNotFoundError:
        return []
    found = summarise(steered)
    return [
        f"the figure {name} came out differently"
        for name in _COMPARED
        if name in told and _rounded(told[name]) != _rounded(found.get(name))
    ]


def _rounded(value: object) -> str:
    """Plain data in one spelling, numbers to some decimals."""
    return canonical(json.loads(json.dumps(value), parse_float=lambda text: str(round(float(text), _DECIMALS) + 0.0)))
