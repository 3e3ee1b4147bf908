"""A provider whose model `echo/WORD` answers WORD to everything."""

from bestresponse.models import Model, ModelSettings, ScriptedModel


def open_echo(name: str, settings: ModelSettings) -> Model:
    """Open `echo/NAME`."""
    return ScriptedModel(lambda request: f"ANSWER: {name}", name=f"echo/{name}")
