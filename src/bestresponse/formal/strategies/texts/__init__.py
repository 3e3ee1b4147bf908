"""The texts with which a model is asked to write a strategy as rules."""

from bestresponse.core.texts import Texts

__all__ = ["TEXTS"]

TEXTS = Texts(__name__)
