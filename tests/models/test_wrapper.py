"""A wrapper answers as the model inside does, and frees it."""

from bestresponse.models import Abilities, ScriptedModel, ask
from bestresponse.models.base import Wrapper


class Held(ScriptedModel):
    closed = 0

    def close(self):
        self.closed += 1


def test_a_wrapper_is_as_able_as_the_model_inside_and_closes_it():
    inside = Held(["A"], name="m", abilities=Abilities(schema=True, concurrency=4))
    outside = Wrapper(Wrapper(inside))
    assert (outside.id, outside.identity, outside.abilities) == (inside.id, inside.identity, inside.abilities)
    assert outside.complete(ask("x")).text == "A"
    outside.close()
    assert inside.closed == 1


def test_a_model_that_holds_nothing_need_not_be_closed():
    Wrapper(ScriptedModel([])).close()
