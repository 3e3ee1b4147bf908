"""The frames of texts that all domains of dialogue share."""

from bestresponse.core.texts import Texts

__all__ = ["TEXTS"]

TEXTS = Texts(__name__)
