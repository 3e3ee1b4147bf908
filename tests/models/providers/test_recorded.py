"""A model that only has a record."""

from dataclasses import replace

import pytest

from bestresponse.core.errors import NotCached
from bestresponse.models import Abilities, Reply, Usage, ask
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.models.providers.recorded import RecordedModel

FULL = Reply("A", usage=Usage(3, 1), logprobs=((("A", -0.5),),), provider_id="r-1", latency=0.25)


def test_it_answers_what_a_run_recorded_and_nothing_else():
    call = {"request": request_to_json(ask("x")), "reply": reply_to_json(FULL)}
    model = RecordedModel("m", {"provider": "openai", "model": "m"}, Abilities(schema=True), [call])
    assert model.complete(ask("x")) == FULL
    assert (model.id, model.identity, model.abilities) == (
        "m",
        {"provider": "openai", "model": "m"},
        Abilities(schema=True),
    )
    with pytest.raises(NotCached, match=r"this call of m was never recorded$"):
        model.complete(replace(ask("x"), replicate=1))


def test_a_record_that_was_read_from_a_file_is_found_whatever_its_key_order():
    data = request_to_json(ask("x"))
    call = {"request": dict(reversed(data.items())), "reply": reply_to_json(FULL)}
    assert RecordedModel("m", calls=[call]).complete(ask("x")).text == "A"


def test_without_a_record_it_is_silent():
    with pytest.raises(NotCached, match=r"this call of m was never recorded$"):
        RecordedModel("m").complete(ask("x"))
