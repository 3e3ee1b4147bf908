"""How the reasoner is spoken to."""

from bestresponse.core.texts import Texts

TEXTS = Texts(__name__)
