"""Calls that a store of answers writes down."""

import pytest

from bestresponse.models import Cache, ScriptedModel, ask
from bestresponse.models.wrappers.cached import assemble
from bestresponse.runs.store.folder import read_lines
from bestresponse.studies.steer.building import open_answers

QUESTION = ask("What do you say?")


def ask_in_two_runs(folder, cache):
    """Ask the same in two runs, of which the first ends before it kept the answer; return the replies on record."""
    model = assemble(ScriptedModel(["Monday", "Tuesday"]), cache=cache)
    for _ in range(2):
        with open_answers(folder, {"speaker": model}) as (_, recording):
            recording["speaker"].complete(QUESTION)
    return [row["reply"]["text"] for row in read_lines(folder / "calls.jsonl")]


@pytest.mark.parametrize(
    ("cached", "recorded"),
    [
        (True, ["Monday"]),  # the second run got the stored reply: one call was made, so one is counted and priced
        (False, ["Monday", "Tuesday"]),  # without a cache the model was called, and paid, twice
    ],
)
def test_a_call_that_an_interrupted_run_made_is_counted_once_if_its_reply_is_stored(tmp_path, cached, recorded):
    cache = Cache(tmp_path / "replies.sqlite") if cached else None
    assert ask_in_two_runs(tmp_path / "dialogues", cache) == recorded
