"""The sentences of every language, one file each.

Models are asked in English, so the hash of the English sentences goes into the manifest of a run.
Translations and the texts of pages change no prompt, and are left out of it.
"""

import hashlib

from bestresponse.core.json import canonical
from bestresponse.core.registry import games
from bestresponse.core.texts import Texts
from bestresponse.telling.language import ENGLISH, PAGE, load_language

__all__ = ["CATALOGUES"]


class _Catalogues(Texts):
    def hashes(self) -> dict[str, str]:
        """The first 16 digits of the SHA-256 of the English sentences that tell built-in games."""
        english = load_language(ENGLISH)
        for home in sorted({games.find_package(name) for name in games.built_in}):
            english = english.within(home)
        told = {key: text for key, text in english.messages.items() if not key.startswith(PAGE)}
        text = canonical(told)
        digits = hashlib.sha256(text.encode()).hexdigest()
        return {f"{ENGLISH}.po": digits[:16]}


CATALOGUES = _Catalogues(__name__)
