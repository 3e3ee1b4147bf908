"""What every wrapper of a model shares: it is who it wraps."""

from collections.abc import Mapping

from bestresponse.models.base import Abilities, Json, Model, Reply, Request

__all__ = ["Wrapper"]


class Wrapper:
    """Passes everything through; a subclass changes `complete`."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def identity(self) -> Mapping[str, Json]:
        return self._model.identity

    @property
    def abilities(self) -> Abilities:
        return self._model.abilities

    def complete(self, request: Request) -> Reply:
        return self._model.complete(request)

    def close(self) -> None:
        """Free what the innermost model holds, if it holds anything."""
        close = getattr(self._model, "close", None)
        if close is not None:
            close()
