"""The sentences of every language, one file each; their hashes go into the manifest of a run."""

from bestresponse.core.texts import Texts

__all__ = ["CATALOGUES"]

CATALOGUES = Texts(__name__)
