"""The one place where what a player may know becomes words.

It turns statements and events into sentences of a language.
"""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.telling.language import (
        Language as Language,
        list_catalogues as list_catalogues,
        load_language as load_language,
    )
    from bestresponse.telling.render import (
        list_sentences as list_sentences,
        write_history as write_history,
        write_rules as write_rules,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
