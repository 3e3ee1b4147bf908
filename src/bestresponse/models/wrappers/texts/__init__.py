"""What a model is told about the tools that it can use."""

from bestresponse.core.texts import Texts

TEXTS = Texts(__name__)
