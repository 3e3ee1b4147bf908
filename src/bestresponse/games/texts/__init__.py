"""The texts games show to players."""

from bestresponse.core.texts import Texts

__all__ = ["TEXTS"]

TEXTS = Texts(__name__)
