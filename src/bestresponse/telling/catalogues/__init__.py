"""The sentences of every language, one file each.

Models are asked in English, so the hash of the English sentences goes into the manifest of a run.
Translations and the texts of pages change no prompt, and are left out of it.
"""

import hashlib

from bestresponse.core.json import canonical
from bestresponse.core.texts import Texts
from bestresponse.telling.language import ENGLISH, PAGE, load_language

__all__ = ["CATALOGUES"]


class _Catalogues(Texts):
    def hashes(self) -> dict[str, str]:
        """The first 16 digits of the SHA-256 of all English sentences in which games are told."""
        told = {
            key: text
            for key, text in load_language(ENGLISH).messages.items()
            if not key.startswith(PAGE)
        }
        text = canonical(told)
        digits = hashlib.sha256(text.encode()).hexdigest()
        return {f"{ENGLISH}.po": digits[:16]}


CATALOGUES = _Catalogues(__name__)
