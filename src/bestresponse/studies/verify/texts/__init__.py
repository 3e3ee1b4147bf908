"""How the reasoner is spoken to."""

from bestresponse.core.texts import Texts

__all__ = ["TEXTS"]

TEXTS = Texts(__name__)
