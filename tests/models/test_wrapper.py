"""A wrapper answers as the model inside does."""

from bestresponse.models import Abilities, ScriptedModel, ask
from bestresponse.models.base import Wrapper


def test_a_wrapper_is_as_able_as_the_model_inside():
    inside = ScriptedModel(["A"], name="m", abilities=Abilities(schema=True, concurrency=4))
    outside = Wrapper(Wrapper(inside))
    assert (outside.id, outside.identity, outside.abilities) == (
        inside.id,
        inside.identity,
        inside.abilities,
    )
    assert outside.complete(ask("x")).text == "A"
