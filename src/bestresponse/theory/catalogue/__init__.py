"""The classic games by name, each with a description and its source."""

from typing import TYPE_CHECKING

from bestresponse.core.lazy import lazy_exports

if TYPE_CHECKING:
    from bestresponse.theory.catalogue.tables import Entry as Entry
    from bestresponse.theory.catalogue.tables import entries as entries
    from bestresponse.theory.catalogue.tables import entry as entry
    from bestresponse.theory.catalogue.tables import load as load
    from bestresponse.theory.catalogue.tables import names as names
    from bestresponse.theory.catalogue.trees import TreeEntry as TreeEntry
    from bestresponse.theory.catalogue.trees import load_tree as load_tree
    from bestresponse.theory.catalogue.trees import tree_entry as tree_entry
    from bestresponse.theory.catalogue.trees import tree_names as tree_names
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
