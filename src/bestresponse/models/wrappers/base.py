"""What every wrapper of a model shares: it has the name, identity and abilities of the model inside."""

from collections.abc import Mapping

from bestresponse.models.base import Abilities, Json, Model, Reply, Request

__all__ = ["Wrapper"]


class Wrapper:
    """Pass everything through; a subclass changes `complete`."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def id(self) -> str:
        """The name of the model inside."""
        return self._model.id

    @property
    def identity(self) -> Mapping[str, Json]:
        """The identity of the model inside: a wrapper does not change who answers."""
        return self._model.identity

    @property
    def abilities(self) -> Abilities:
        """The abilities of the model inside."""
        return self._model.abilities

    def complete(self, request: Request) -> Reply:
        """Let the model inside answer."""
        return self._model.complete(request)

    def close(self) -> None:
        """Free what the innermost model holds, if it holds anything."""
        close = getattr(self._model, "close", None)
        if close is not None:
            close()
