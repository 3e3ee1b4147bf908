"""The rubric for judging play, and what a model judge is told."""

from bestresponse.core.texts import Texts

TEXTS = Texts(__name__)
