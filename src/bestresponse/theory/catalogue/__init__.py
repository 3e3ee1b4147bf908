"""The classic games by name, each with a description and its source."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.theory.catalogue.tables import (
        entries as entries,
        entry as entry,
        load as load,
        names as names,
    )
    from bestresponse.theory.catalogue.trees import (
        load_tree as load_tree,
        tree_entry as tree_entry,
        tree_names as tree_names,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
