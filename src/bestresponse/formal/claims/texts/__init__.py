"""What translators are asked, and how feedback is put to a reasoner."""

from bestresponse.core.texts import Texts

__all__ = ["TEXTS"]

TEXTS = Texts(__name__)
