"""The texts with which a language model is asked for its move."""

from bestresponse.core.texts import Texts

__all__ = ["TEXTS"]

TEXTS = Texts(__name__)
